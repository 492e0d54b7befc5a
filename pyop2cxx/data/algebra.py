# SPDX-License-Identifier: BSD-3-Clause
"""Sums, products and norms of Dats and Globals. Nothing is compiled for an expression."""

from __future__ import annotations

import warnings
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import MOST_INT64, core_dtype
from pyop2cxx.base.conversions import (
    as_number,
    check_held,
    exact_dtype,
    first_unfit,
    limits,
    range_of,
)
from pyop2cxx.base.moves import address_of, kind_of, move_between
from pyop2cxx.data.exact import exact_dot
from pyop2cxx.data.lent import Lent
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DatTypeError,
    MapValueError,
    UsageError,
    user_stacklevel,
)
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import device_algebra

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from pyop2cxx.base.arrays import Array

    Scalar = int | float | complex


_OPERATORS = ("+", "-", "*", "/")
_MOST_FACTORS = 64  # of a power computed by products


class Algebra:
    """Dats and Globals as vectors. A result has the dtype of the left operand."""

    kind: ClassVar[str]

    # Facts given by the classes

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """Kind and name, for messages."""
        raise NotImplementedError

    def _alike(self, dtype: np.dtype[Any] | None = None) -> Self:
        """Return a similar object of zeros; of another dtype if given."""
        raise NotImplementedError

    check_fits: Callable[..., None]  # raises if a dtype does not hold a value
    copy: Callable[..., None]

    def check_same(self, other: Any, operation: str) -> None:
        """Raise if the other's values do not belong to the same entities."""
        raise NotImplementedError

    def operand(self, whole: bool) -> Array:
        """Return the values to compute with, with ghosts if `whole`."""
        raise NotImplementedError

    def outcome(self, whole: bool, *, fresh: bool) -> Array:
        """Return the array of a result, with ghosts if `whole`; `fresh`: all values are written."""
        raise NotImplementedError

    def has_ghosts(self) -> bool:
        """Whether ghosts are up to date, so that results for them are, too."""
        raise NotImplementedError

    # Operations

    def __add__(self, other: Any) -> Self:
        return self._result("+", self, other)

    def __radd__(self, other: Any) -> Self:
        return self._result("+", other, self)

    def __iadd__(self, other: Any) -> Self:
        return self._update("+", other)

    def __sub__(self, other: Any) -> Self:
        return self._result("-", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._result("-", other, self)

    def __isub__(self, other: Any) -> Self:
        return self._update("-", other)

    def __mul__(self, other: Any) -> Self:
        return self._result("*", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._result("*", other, self)

    def __imul__(self, other: Any) -> Self:
        return self._update("*", other)

    def __truediv__(self, other: Any) -> Self:
        return self._result("/", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._result("/", other, self)

    def __itruediv__(self, other: Any) -> Self:
        return self._update("/", other)

    def __neg__(self) -> Self:
        if self.dtype.kind in "cu":  # unsigned integers hold no -1
            return self._result("-", 0, self)
        return self._result("*", self, -1)

    def __pos__(self) -> Self:
        return self._result("+", self, 0)

    def __pow__(self, exponent: Any) -> Self:
        """Return every value raised to a power, a real number.

        A whole number from -64 to 64 is multiplied out, where the values are; others are computed
        on the host, as C's `pow` does. Roots of negative numbers are NaN.

        Raises:
            DataValueError: Integers to a negative power, or to a power beyond 64 bits.
        """
        number = number_of(exponent, f"{self.label}: '**'")
        if number is None or number.dtype.kind == "c":
            return NotImplemented
        exponent = number.item()
        if exponent < 0 and self.dtype.kind in "iu":
            raise DataValueError(f"{self.label}: '**': integers to a negative power, {exponent!r}")
        if self.dtype.kind in "iu" and not exponent <= MOST_INT64:  # nor is NaN
            raise DataValueError(f"{self.label}: '**': integers to the power {exponent!r}")
        if not float(exponent).is_integer() or abs(exponent) > _MOST_FACTORS:
            return self._mapped("**", lambda values: _power(values, exponent))
        found = self._multiplied_out(abs(int(exponent)))
        return found if exponent >= 0 else 1 / found

    def __ipow__(self, exponent: Any) -> Self:
        found: Any = self.__pow__(exponent)
        if found is NotImplemented:
            return NotImplemented
        found.copy(self)
        return self

    def __abs__(self) -> Self:
        """Return the absolute value of every value, also complex, computed on the host."""
        return self._mapped("abs", np.abs)

    # NumPy must leave `array_scalar * dat` to us
    __array_ufunc__ = None

    def inner(self, other: Self) -> Scalar:
        """Return the sum of products with the other's complex conjugates, over owned entities.

        The sum does not depend on the number of threads, unless the option `blas` chooses a
        library; float32 is summed in float64.

        Raises:
            DatTypeError, MapValueError, DataValueError: The operand does not match.
        """
        return self._dot("inner", other, conjugate=True)

    def dot(self, other: Self) -> Scalar:
        """Return the sum of products, over owned entities; errors as for `inner`."""
        return self._dot("dot", other, conjugate=False)

    def inner_into(self, other: Self, target: Any) -> None:
        """Put the result of `inner` into a single-valued Global; on a device, without waiting.

        Raises:
            DatTypeError, MapValueError, DataValueError: The operand does not match, or the target
                is no Global with a single value, or is real while the sum is complex.
        """
        self._dot_into("inner_into", other, target, conjugate=True)

    def dot_into(self, other: Self, target: Any) -> None:
        """Put the result of `dot` into a Global with a single value; see `inner_into`."""
        self._dot_into("dot_into", other, target, conjugate=False)

    @property
    def norm(self) -> float:
        """The square root of the sum of squares, over owned entities."""
        return sqrt(complex(self._dot("norm", self, conjugate=True)).real)

    def axpy(self, alpha: Scalar, other: Self) -> None:
        """Add a multiple of another object: ``self += alpha * other``, in one pass.

        Raises:
            DataTypeError: `alpha` is not a number.
            DatTypeError, MapValueError, DataValueError: The operand does not match.
        """
        self._check_like(other, "axpy")
        factor = self._number(alpha, "axpy")
        self._check_held(factor, "axpy")
        refuse_overlap("axpy", self, other)
        whole = self.has_ghosts() and other.has_ghosts()
        runtime.require_running(self.label, "axpy")
        if (dtype := exact_dtype(self.dtype, factor.dtype, other.dtype)) is not None:
            exact = self._alike(dtype)
            self.copy(exact)
            exact.axpy(factor, other)
            self._take("axpy", exact, whole)
            return
        if self._waits_in_order("axpy", lambda: self.axpy(alpha, other), factor, other):
            return
        if at_device(self, other) and device_algebra().axpy(factor, other, self, whole=whole):
            return
        factor = self.values_of(factor, whole)
        # before the other operand is read: both may be the same, and its version must not matter
        target = _column(self.outcome(whole, fresh=False))
        given = _column(factor), _column(other.operand(whole)), target, n_threads()
        self._by_vectors("axpy", *given)

    def maxpy(self, alphas: Sequence[Scalar], others: Sequence[Self]) -> None:
        """Add multiples of several others; all are checked before anything is added.

        Raises:
            DataValueError: There are not as many numbers as others.
            DataTypeError, DatTypeError, MapValueError: As for `axpy`.
        """
        if len(alphas) != len(others):
            raise DataValueError(
                f"{self.label}: maxpy got {len(alphas)} numbers, but {len(others)} others"
            )
        factors = [self._number(alpha, "maxpy") for alpha in alphas]
        for factor, other in zip(factors, others, strict=True):
            self._check_like(other, "maxpy")
            self._check_held(factor, "maxpy")
        dtypes = [one.dtype for one in (*factors, *others)]
        exact = exact_dtype(self.dtype, *dtypes) if dtypes else None
        changed = self if exact is None else self._alike(exact)
        if changed is not self:
            self.copy(changed)
        for factor, other in zip(factors, others, strict=True):
            changed.axpy(factor, other)
        if changed is not self:
            self._take("maxpy", changed, changed.has_ghosts())

    # How they are carried out

    def _multiplied_out(self, n: int) -> Self:
        """Return the n-th power by products."""
        if n == 0:
            made: Any = self._alike()
            made.assign(1)
            return made  # type: ignore[no-any-return]  # of this class
        square, found = self, None
        while True:
            if n % 2:
                found = square if found is None else found * square
            n //= 2
            if n == 0:
                return +self if found is self else found  # type: ignore[return-value]
            square = square * square

    def _mapped(self, op: str, function: Callable[[Array], Array]) -> Self:
        """Return a function of every value, computed on the host."""
        whole, made = self.has_ghosts(), self._alike()
        runtime.require_running(self.label, op)
        with np.errstate(all="ignore"):
            found = function(self.operand(whole))
        if self.dtype.kind in "iu" and found.dtype.kind not in "iu":  # integers wrap
            place = first_unfit(found, self.dtype)
            if place is not None:
                raise unfit(self, op, found[place], place)
        with np.errstate(all="ignore"):
            made.outcome(whole, fresh=True)[...] = found
        return made

    def _result(self, op: str, left: Any, right: Any) -> Self:
        pair = self._pair(op, left, right)
        if pair is None:
            return NotImplemented  # type: ignore[no-any-return]  # as operators do
        left, right, whole = pair
        made = self._alike()
        runtime.require_running(self.label, op)
        if self._exactly(op, made, left, right, whole):
            return made
        if self.computed_on_device(op, made, left, right, whole):
            return made
        left, right = self.values_of(left, whole), self.values_of(right, whole)
        self._refuse_zero(op, right)
        self.combine(op, made.outcome(whole, fresh=True), left, right)
        return made

    def _update(self, op: str, other: Any) -> Self:
        pair = self._pair(op, self, other)
        if pair is None:
            return NotImplemented  # type: ignore[no-any-return]  # as operators do
        _, right, whole = pair
        refuse_overlap(f"{op}=", self, right)
        runtime.require_running(self.label, op)
        if self._waits_in_order(f"{op}=", lambda: self._update(op, other), right):
            return self
        if self._exactly(op, self, self, right, whole):
            return self
        if self.computed_on_device(op, self, self, right, whole):
            return self
        right = self.values_of(right, whole)
        self._refuse_zero(op, right)
        out = self.outcome(whole, fresh=False)
        self.combine(op, out, out, right)
        return self

    def _exactly(self, op: str, out: Self, left: Any, right: Any, whole: bool) -> bool:
        """Combine in a dtype that holds all results, and convert them; see `exact_dtype`.

        Returns:
            Whether needed; if not, nothing is changed.
        """
        dtype = exact_dtype(self.dtype, left.dtype, right.dtype)
        if dtype is None:
            return False
        exact = self._alike(dtype)
        if not exact.computed_on_device(op, exact, left, right, whole):
            given = exact.values_of(left, whole), exact.values_of(right, whole)
            exact.combine(op, exact.outcome(whole, fresh=True), *given)
        out._take(op, exact, whole)
        return True

    def _take(self, op: str, exact: Self, whole: bool) -> None:
        """Take results of another dtype; if a value does not fit, nothing is changed.

        As NumPy does, truth values are true of all but zero.
        """
        if self.dtype.kind == "b":
            self.outcome(whole, fresh=True)[...] = exact.operand(whole)
            return
        exact.check_fits(self, None, op)
        if hasattr(self, "numbering"):
            exact.numbering = self.numbering  # type: ignore[attr-defined]  # Dats have one
        exact.copy(self, casting="unsafe")

    def _waits_in_order(self, what: str, again: Callable[[], Any], *others: Any) -> bool:
        """Let a chain change the values in order among the loops, if possible.

        Only operations that cannot fail later may wait: numbers of a single type.

        Args:
            what: Name of the operation.
            again: Carries out the operation.
            *others: Operands read besides the values; numbers are constants.
        """
        recorder = runtime.recorder
        if recorder is None or recorder.takes_all or self.dtype.kind != "f":
            return False
        used: list[Any] = [self, *(one for one in others if isinstance(one, Algebra))]
        for one in used:
            if one.dtype != self.dtype or getattr(one, "stride", None) != 0:
                return False
        if Lent.any_held([one.lent_out for one in used]):
            return False
        uses = [*((one, False) for one in used), (self, True)]
        return recorder.takes_action(f"{what} {used[0].name}", again, *uses, in_graphs=False)

    def computed_on_device(self, op: str, out: Any, left: Any, right: Any, whole: bool) -> bool:
        """Combine on the device of the values, and return whether possible."""
        if not at_device(left, right) or self._loses_imaginary(left, right):
            return False
        try:
            return device_algebra().combine(op, out, left, right, whole=whole)
        except ZeroDivisionError:
            raise DataValueError(
                f"{self.label}: '{op}': an integer would be divided by zero"
            ) from None

    def values_of(self, operand: Any, whole: bool) -> Array:
        """Return an operand's values on the host: of a number, an array without dimensions."""
        if not isinstance(operand, Algebra):
            return operand  # type: ignore[no-any-return]
        if _is_single(operand) and operand is not self:
            return operand.operand(False).reshape(())
        return operand.operand(whole)

    def _pair(self, op: str, left: Any, right: Any) -> tuple[Any, Any, bool] | None:
        """Return the operands, numbers as arrays, and whether ghosts' values are computed."""
        given = [self._given(op, operand) for operand in (left, right)]
        for one in given:
            if one is self or isinstance(one, np.ndarray) or _is_single(one):
                continue
            if not isinstance(one, Algebra) or one.family() is not self.family():
                return None
            self._check_like(one, op)
        whole = all(o.has_ghosts() for o in (left, right) if isinstance(o, Algebra))
        for one in given:
            if one is not self and (isinstance(one, np.ndarray) or _is_single(one)):
                self._check_real(one.dtype, op)
                self._check_held(one, op)
        return given[0], given[1], whole

    def _given(self, op: str, operand: Any) -> Any:
        """Return an operand; a number as an array without dimensions, other objects unchanged."""
        if isinstance(operand, Algebra):
            return operand
        number = as_number(operand, f"{self.label}: '{op}'")
        if number is None and (isinstance(operand, np.ndarray) or getattr(operand, "ndim", False)):
            raise DatTypeError(
                f"{self.label}: '{op}' with an array of shape {tuple(operand.shape)}; make a Dat "
                "or Global like this one of it, or compute with the arrays in data and data_ro"
            )
        return operand if number is None else number

    def _loses_imaginary(self, *operands: Any) -> bool:
        return self.dtype.kind != "c" and any(o.dtype.kind == "c" for o in operands)

    def combine(self, op: str, out: Array, left: Array, right: Array) -> None:
        """Write an operation's results into an array."""
        found = out
        if self._loses_imaginary(left, right):  # as in C: computed in full, then truncated
            found = np.empty(out.shape, np.result_type(left, right))
        try:
            combine_values(op, found, left, right)
        except UsageError as error:
            raise DataValueError(f"{self.label}: '{op}': {error}") from None
        if found is not out:
            out[...] = found.real

    def _refuse_zero(self, op: str, right: Array) -> None:
        """Refuse the division of integers by zero, before it counts as a write.

        A real or complex zero is refused, too: the quotient has no integer value.
        """
        if op == "/" and self.dtype.kind in "iu" and not right.all():
            raise DataValueError(f"{self.label}: '/': an integer would be divided by zero")

    def _dot(self, name: str, other: Self, *, conjugate: bool) -> Scalar:
        self._check_like(other, name)
        runtime.require_running(self.label, name)
        self.check_summed(name)
        if runtime.same_on_ranks and {kind_of(self.dtype), kind_of(other.dtype)} & {"f", "c"}:
            exact: Scalar = exact_dot(self, other, conjugate, self.ranks)
            return exact
        if at_device(self, other, write=False):
            found: Scalar | None = device_algebra().dot(self, other, conjugate=conjugate)
            if found is not None:
                return self._added(found)
        left, right = _column(self.operand(False)), _column(other.operand(False))
        total: Scalar = self._by_vectors("dot", left, right, conjugate, n_threads())
        return self._added(total)

    def _added(self, total: Scalar) -> Scalar:
        """Add the sums of all processes that share the values."""
        if self.ranks is None:
            return total
        found = runtime.processes.combined(self.ranks, np.asarray(total), "sum", "a dot product")
        added: Scalar = found.item()
        return added

    def _by_vectors(self, operation: str, *given: Any) -> Any:
        """Let the core, or a competing library added before, carry out an operation."""
        engine = runtime.engine
        operations, vectors = engine.operations, engine.vectors
        if vectors is not _core and not operations.asks_added(operation):
            return getattr(vectors, operation)(*given)
        return operations.done(operation, self.dtype, getattr(_core, operation), *given)

    def _dot_into(self, name: str, other: Self, target: Any, *, conjugate: bool) -> None:
        self._check_like(other, name)
        if not _is_single(target):
            raise DatTypeError(
                f"{self.label}: '{name}' puts a number into a Global of one value, got {target!r} "
                f"of type {type(target).__name__}"
            )
        if target.dtype.kind != "c" and "c" in (self.dtype.kind, other.dtype.kind):
            raise DataValueError(f"{target.label} is real: '{name}' of complex values is not")
        runtime.require_running(self.label, name)
        self.check_summed(name)
        target.settle(write=True)
        # a sum of integers has 64 bits, and is waited for if the target has fewer
        is_held = target.dtype.kind not in "iu" or target.dtype.itemsize == 8
        if (
            is_held
            and self.ranks is None
            and not runtime.same_on_ranks
            and at_device(self, other, write=False)
            and device_algebra().dot_into(self, other, target, conjugate=conjugate)
        ):
            return
        target.data = self._dot(name, other, conjugate=conjugate)

    def _check_like(self, other: Any, operation: str) -> None:
        if not isinstance(other, Algebra) or other.family() is not self.family():
            raise DatTypeError(
                f"{self.label}: '{operation}' with {other!r} of type {type(other).__name__}; "
                f"expected another {self.family().__name__}"
            )
        self.check_same(other, operation)
        self._check_real(other.dtype, operation)

    def check_summed(self, member: str) -> None:
        """Raise if other processes may have a part of the summed values, and nobody said so."""
        home = getattr(self, "set", None)
        if home is not None and home.ranks is None:
            runtime.processes.check_alone(home.given_comm, self.label, member)

    @property
    def ranks(self) -> Any:
        """The communicator of the processes that share the values; None if there is only one."""
        home = getattr(self, "set", None)
        return None if home is None else home.ranks

    def family(self) -> type[Any]:
        """Return the class of combinable objects."""
        raise NotImplementedError

    def _check_real(self, dtype: np.dtype[Any], operation: str) -> None:
        """Warn where an operator leaves out imaginary parts, as PyOP2 does; raise elsewhere."""
        if dtype.kind != "c" or self.dtype.kind == "c" or operation.startswith(("inner", "dot")):
            return
        message = f"{self.label} is real: '{operation}' with complex values loses imaginary parts"
        if operation not in _OPERATORS:
            raise DataValueError(message)
        category = getattr(np, "exceptions", np).ComplexWarning  # NumPy 2 moved the class
        warnings.warn(message, category, stacklevel=user_stacklevel() - 1)

    def _number(self, value: Any, operation: str) -> Any:
        """Return a number as an array without dimensions; a single-valued Global unchanged."""
        if _is_single(value):
            self._check_real(value.dtype, operation)
            return value  # read later, if at all: the value may be on a device
        found = number_of(value, f"{self.label}: '{operation}'")
        if found is None:
            raise DataTypeError(
                f"{self.label}: '{operation}' takes a number, got {value!r} of type "
                f"{type(value).__name__}"
            )
        self._check_real(found.dtype, operation)
        return found

    def _check_held(self, number: Any, operation: str) -> None:
        """Raise if the dtype does not hold a number, or a Global's value."""
        if number.dtype != self.dtype:
            value = self._known(number) if isinstance(number, Algebra) else number
            if value is not None:
                check_held(self.dtype, value, operation, self.label)

    def _known(self, single: Any) -> Array | None:
        """Return a Global's value; None if on a device without need to wait.

        Integers are waited for, since a wrapped integer cannot be told from others afterwards; a
        real number beyond the range becomes infinite.
        """
        recorder = runtime.recorder
        if limits(single.dtype, self.dtype) is None or (recorder and recorder.takes_all):
            return None
        single.settle(write=False)
        is_waited_for = self.dtype.kind in "iu"
        if single.buffer.where == _core.Where.device and not is_waited_for:
            return None
        single.use_on_host(_core.Use.read, "number", is_explicit=is_waited_for)
        found: Array = single.host_values.reshape(())
        return found


def check_same_place(one: Any, other: Any, operation: str) -> None:
    """Check two Dats for the same Set and the same dim."""
    if other.set is not one.set:
        raise MapValueError(
            f"{one.label}: '{operation}' with {other.label}; both must be on the same Set"
        )
    if other.dim != one.dim:
        raise DataValueError(
            f"{one.label} has dim {one.dim}: '{operation}' with {other.label} of dim {other.dim}"
        )


def _power(values: Array, exponent: Any) -> Array:
    """Return powers; powers of integers are computed in 64 bits, and wrap."""
    if values.dtype.kind in "iu" and float(exponent).is_integer():
        wide = np.uint64 if values.dtype.kind == "u" else np.int64
        values, exponent = values.astype(wide), wide(exponent)
    found: Array = np.power(values, exponent)
    return found


def number_of(value: object, what: str) -> Array | None:
    """Return a number like `as_number`; None for a Global, whose value may be elsewhere."""
    return None if isinstance(value, Algebra) else as_number(value, what)


def unfit(target: Any, op: str, value: Any, place: tuple[int, ...]) -> DataValueError:
    """Return the error of a result that the target's dtype does not hold.

    Args:
        target: The target; nothing was changed.
        op: The operation.
        value: The result.
        place: Index of the result: for a Dat the entity and the component.
    """
    if op == "/" and not np.isfinite(value):
        return DataValueError(f"{target.label}: '/': an integer would be divided by zero or NaN")
    return DataValueError(
        f"{target.label}: '{op}': the result {value} at {list(place)} does not fit into "
        f"{target.dtype.name}, which holds {range_of(target.dtype)}; nothing was changed. Compute "
        "in a wider dtype, or write a loop that converts it"
    )


def _is_single(value: object) -> bool:
    """Whether the object is a Global with a single value, usable as a number."""
    return isinstance(value, Algebra) and value.kind == "Global" and value.cdim == 1  # type: ignore[attr-defined]


def at_device(*operands: object, write: bool = True) -> bool:
    """Say whether loops run on a device and an operand's values are there.

    Args:
        operands: They.
        write: Whether an operand will be written.
    """
    return runtime.coherence.is_active and device_algebra().is_at(*operands, write=write)


def combine_values(op: str, out: Array, left: Array, right: Array) -> None:
    """Compute ``out = left op right`` on the host, with all threads, as C does.

    Args:
        op: A member of ``+ - * /``.
        out: The target; may be an operand.
        left: As many values, or a single value.
        right: The same.
    """
    columns = _column(out), _column(left), _column(right)
    runtime.engine.operations.done(op, out.dtype, _core.combine, op, *columns, n_threads())


def copy_values(
    target: Array, source: Array, rows: Array | None = None, casting: str = "unsafe"
) -> None:
    """Convert an array into another of equal shape, with all threads.

    Args:
        target: No part of the source's memory, but for components side by side.
        source: Of values accepted by `casting`, as checked before.
        rows: The rows copied; None for all.
        casting: A member of `pyop2cxx.base.conversions.CASTINGS`.
    """
    if rows is None:
        copy = partial(_copy, casting=casting)
        runtime.engine.operations.done("copy", target.dtype, copy, target, source)
    else:  # a library knows whole arrays
        _copy(target, source, rows, casting)


def _copy(target: Array, source: Array, rows: Array | None = None, casting: str = "") -> None:
    move_between(target, source, rows).assign(casting, n_threads(), is_checked=True)


def refuse_overlap(operation: str, target: Any, *others: Any) -> None:
    """Refuse Dats that share a part of their memory on the host: results would be read again.

    Dats over the same memory are the same values, and components of a Dat are side by side.

    Raises:
        DataValueError: They do; nothing was changed.
    """
    mine = getattr(target, "host_values", None)
    for other in others:
        theirs = getattr(other, "host_values", None)
        if other is target or mine is None or theirs is None or mine.shape != theirs.shape:
            continue
        if np.may_share_memory(mine, theirs) and move_between(mine, theirs).overlaps():
            raise DataValueError(
                f"{target.label}: '{operation}' with {other.label}: they share a part of their "
                "memory, so that values would be read after they were changed; make one of them "
                "of a copy of the array"
            )


def _column(values: Array) -> Any:
    dtype = core_dtype(values.dtype)
    stride = 1
    if values.ndim == 0:
        stride = 0  # a single value for all
    elif not values.flags.c_contiguous:
        stride = values.strides[0] // values.itemsize
    return _core.Column(
        dtype=dtype,
        address=address_of(values),
        n=values.size,
        stride=stride,
    )


def n_threads() -> int:
    """Return the number of threads of an operation on the host."""
    engine = runtime.engine
    return engine.n_threads if engine.backend(runtime.backend).facts.threads else 1
