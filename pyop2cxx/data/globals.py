# SPDX-License-Identifier: BSD-3-Clause
"""Globals: values without a Set, read by loops or reduced into."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import GLOBAL_ACCESSES, ORDERED_ACCESSES, Access
from pyop2cxx.base.arrays import as_array, as_copy, is_under_pyop2
from pyop2cxx.base.conversions import check_casting, first_unfit, limits
from pyop2cxx.data.algebra import Algebra, at_device, unfit
from pyop2cxx.data.carrier import SetFreeCarrier, copied
from pyop2cxx.data.conditions import Condition
from pyop2cxx.data.constants import Constant, GlobalArg
from pyop2cxx.data.lent import Lent
from pyop2cxx.data.petsc_vectors import AsVec
from pyop2cxx.exceptions import DataValueError, DatTypeError
from pyop2cxx.runtime import communicators, runtime
from pyop2cxx.runtime.seams import device_algebra
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.global_sets import GlobalDataSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array


def _is_overwritten() -> bool:
    """Say whether loops may overwrite Globals: by PyOP2's name, and without its checks of types."""
    return is_under_pyop2() and not runtime.configuration["type_check"]


@ends_tracebacks("__init__", "copy", "assign")
class Global(SetFreeCarrier, Algebra, AsVec):
    """Values without a Set, read by loops or reduced into: a time step, a residual.

    Args:
        dim: The number of values, or their shape; or a Global or Constant to copy.
        data: As many values; None means zeros.
        dtype: The dtype; None means the data's, or float64 without data.
        name: Used in messages; does not affect the generated code.
        comm: The communicator of the reducing processes; None means that of each loop's Set.
        copy: As for `Dat`.

    Raises:
        DimTypeError: The dim is not an integer or a tuple of integers.
        DataTypeError: The dtype is not supported by kernels.
        DataValueError: The data are of another number, or do not convert.
        NameTypeError: The name is not a string.

    Example:
        >>> rms = Global(1, 0.0, name="rms")
        >>> rms.data = 2
        >>> print(rms)
        OP2 Global Argument: rms with dim (1,) and value [2.]
    """

    kind = "Global"
    _kind_accesses = GLOBAL_ACCESSES

    def __init__(
        self,
        dim: int | Iterable[int] | Global | Constant,
        data: ArrayLike | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        comm: Any = None,
        *,
        copy: bool | None = None,
    ) -> None:
        if isinstance(dim, Global | Constant):
            if isinstance(dim, Global):
                comm = dim.given_comm if comm is None else comm
            dim, data, name = copied(dim, data, name)
        super().__init__(dim, data, dtype, name, copy)
        self.given_comm: Any = communicators.as_comm(comm, self.label)
        self._accesses = (
            GLOBAL_ACCESSES - ORDERED_ACCESSES if self.dtype.kind == "c" else GLOBAL_ACCESSES
        )

    def __call__(self, access: Access, path: None = None) -> GlobalArg:
        """Return the Global as an argument of a loop.

        Raises:
            ModeValueError: The access is not READ, INC, MIN or MAX, or not for complex values.
            ContractError: A Map was given: a Global belongs to no Set.
        """
        is_usual = access.__class__ is Access and access in self._accesses and path is None
        if not is_usual and (access is not Access.WRITE or path or not _is_overwritten()):
            access = self._checked_call(access, path)
        return GlobalArg(self, access)

    def check_readable(self, member: str) -> None:
        """Raise an error if a member may not read the values."""
        runtime.require_running(self.label, member)
        super().check_readable(member)

    @property
    def data_with_halos(self) -> Array:
        """The same as `data`, shape `dim`: a Global has no ghosts."""
        return self._writeable("data_with_halos", _core.Use.read_write)

    @property
    def data_ro_with_halos(self) -> Array:
        """The same as `data_ro`, shape `dim`: a Global has no ghosts."""
        return self.data_ro

    @property
    def data_wo_with_halos(self) -> Array:
        """The same as `data_wo`, shape `dim`: a Global has no ghosts."""
        return self._writeable("data_wo_with_halos", _core.Use.write)

    @property
    def global_data(self) -> Array:
        """A copy of the values, equal on all processes; shape `dim`."""
        return as_copy(self.data_ro, self.label)

    @property
    def _data(self) -> Array:
        """The values, as PyOP2's programs reach around `data`: nothing is counted."""
        return self.lent_out.lend(self.read_values("_data")[...])

    @property
    def comm(self) -> Any:
        """The communicator of the reducing processes."""
        return communicators.comm_of(self.given_comm, self.label)

    def _put(self, given: Array) -> None:
        recorder = runtime.recorder
        if (
            recorder is None
            or Lent.any_held((self.lent_out,))
            or not recorder.takes_values(self, given)
        ):
            self.put_now(given)

    def put_now(self, given: Array) -> None:
        """Write values at once, past a recorder."""
        super()._put(given)

    def zero(self, subset: Any = None) -> None:
        """Set the values to zero.

        Args:
            subset: As of a Dat, for Globals among Dats; a Global is on no Set, so has no effect.
        """
        if self._zero_waits():
            return
        self.settle(write=True)
        self.zero_values()
        self.buffer.increment_version()

    def copy(self, other: Global, subset: Any = None, *, casting: str = "fitting") -> None:
        """Copy the values into another Global of equal size, converting them to the target's dtype.

        Args:
            other: The Global written.
            subset: As for `zero`: has no effect.
            casting: As for `Dat.copy`. On a device integers are waited for, to be compared with the
                range of the other dtype; real numbers are not, and may become infinite.

        Raises:
            DatTypeError: The other is not a Global.
            DataValueError: The other has another number of values, complex values would become
                real, or a value does not fit.
        """
        check_casting(casting, f"{self.label}: copy")
        if not isinstance(other, Global):
            raise DatTypeError(
                f"{self.label}: copy writes into a Global, got {other!r} of type "
                f"{type(other).__name__}"
            )
        is_like = (other.dim, other.dtype) == (self._dim, self._dtype)
        if other is self or (is_like and self._copy_waits(other, casting)):
            return
        if casting != "unsafe":
            self.check_fits(other, casting=casting)
        if other.dim == self._dim and self._copied_on_device(other):
            other.lent_out.recall()
            other.buffer.increment_version()
        else:
            given = self.data_ro
            what = f"{self.label}: copy"
            other.data = as_array(given, other.dtype, given.shape, what, "unsafe")

    def check_fits(
        self,
        other: Global,
        subset: None = None,
        operation: str = "copy",
        casting: str = "fitting",
    ) -> None:
        """Check for a copy without loss; on a device real numbers in range are not waited for."""
        is_waited_for = other.dtype.kind in "iu" or casting == "exact"
        if casting == "fitting" and (
            limits(self.dtype, other.dtype) is None
            or (at_device(self, other) and not is_waited_for)
        ):
            return
        self.use_on_host(_core.Use.read, "copy", is_explicit=is_waited_for)
        place = first_unfit(self.host_values, other.dtype, casting)
        if place is not None and operation != "copy":
            raise unfit(other, operation, self.host_values[place], place)
        if place is not None:
            raise DataValueError(
                f"{self.label}: copy: the value {self.host_values[place]} at {list(place)} does "
                f"not {'fit into' if casting == 'fitting' else 'keep all digits in'} "
                f"{other.dtype.name} of {other.label}; nothing was copied. Pass "
                "casting='unsafe' to convert it all the same"
            )

    def _copied_on_device(self, other: Global) -> bool:
        """Copy on the device of the values, and return whether possible."""
        self.settle(write=False)
        other.settle(write=True)
        if self.dtype == other.dtype:
            return other.buffer.copy_on_device(self.buffer)
        if not at_device(self, other) or (self.dtype.kind == "c" and other.dtype.kind != "c"):
            return False
        return bool(device_algebra().combine("=", other, self, None, whole=True))

    def assign(self, value: ArrayLike | Global, *, casting: str = "fitting") -> None:
        """Set the values, from another Global, or from numbers.

        On a device the assignment is enqueued like a loop: without waiting, and without a copy.

        Args:
            value: A Global of as many values, or an array of them.
            casting: As for `Dat.copy`.

        Raises:
            DataValueError: They are of another number, or do not convert.

        Example:
            >>> step, half = Global(1, 2.0, name="step"), Global(1, 0.0, name="half")
            >>> half.assign(step)
            >>> half *= 0.5
            >>> print(half.data_ro)
            [1.]
        """
        if isinstance(value, Global):
            value.copy(self, casting=casting)
        else:
            check_casting(casting, f"{self.label}: assign")
            self.data = as_array(value, self.dtype, self._dim, f"{self.label}: assign", casting)

    @property
    def dataset(self) -> GlobalDataSet:
        """The replacement of a DataSet."""
        return GlobalDataSet(self)

    def _alike(self, dtype: np.dtype[Any] | None = None) -> Global:
        return Global(self._dim, None, self.dtype if dtype is None else dtype, comm=self.given_comm)

    def family(self) -> type[Global]:
        """Return the class whose objects may be combined."""
        return Global

    def __float__(self) -> float:
        """Return the single value, for ``float(error)`` and ``math.sqrt(total)``."""
        return float(self._single("float"))

    def __int__(self) -> int:
        """Return the single value, truncated to an integer."""
        return int(self._single("int"))

    def __complex__(self) -> complex:
        """Return the single value."""
        return complex(self._single("complex"))

    def _single(self, to: str) -> Any:
        if self._cdim != 1:
            raise DataValueError(
                f"{self.label} has {self._cdim} values, and {to}() is of one: take it of data_ro[i]"
            )
        return self.data_ro.item()

    def __gt__(self, other: float | Global) -> Condition:
        """Compare the single value with a number, now or later: see `Condition`."""
        return Condition(self, ">", other)

    def __ge__(self, other: float | Global) -> Condition:
        """Compare the single value with a number, now or later: see `Condition`."""
        return Condition(self, ">=", other)

    def __lt__(self, other: float | Global) -> Condition:
        """Compare the single value with a number, now or later: see `Condition`."""
        return Condition(self, "<", other)

    def __le__(self, other: float | Global) -> Condition:
        """Compare the single value with a number, now or later: see `Condition`."""
        return Condition(self, "<=", other)

    def check_same(self, other: Global, operation: str) -> None:
        """Raise an error if an operation cannot combine both objects."""
        if other.dim != self._dim:
            raise DataValueError(
                f"{self.label} has dim {self._dim}: '{operation}' with {other.label} of dim "
                f"{other.dim}"
            )

    def has_ghosts(self) -> bool:
        """Return whether ghosts are up to date, and take part in an operation."""
        return True

    def operand(self, whole: bool) -> Array:
        """Return the values to compute with, with ghosts if `whole`."""
        return self.data_ro

    def outcome(self, whole: bool, *, fresh: bool) -> Array:
        """Return the array of a result, with ghosts if `whole`; `fresh`: all values are written."""
        return self.data_wo if fresh else self.data

    def lent(self, *, write: bool) -> tuple[Array, bool]:
        """Show the values to another library: as a Dat does, but a write always counts."""
        return (self.data if write else self.data_ro), False

    def duplicate(self) -> Global:
        """Return a separate Global with the same values and name."""
        values = as_copy(self.read_values("duplicate"), self.label)
        return Global(self._dim, values, None, self._name, self.given_comm)

    # Part of a Dat's interface, for Globals among Dats

    @property
    def halo_valid(self) -> bool:
        """True: a Global has no ghosts. Assigning has no effect."""
        return True

    @halo_valid.setter
    def halo_valid(self, valid: bool) -> None:
        """Do nothing: a Global has no ghosts."""

    def global_to_local_begin(self, access_mode: Access) -> None:
        """Do nothing: a Global has no ghosts."""

    def global_to_local_end(self, access_mode: Access) -> None:
        """Do nothing: a Global has no ghosts."""

    def local_to_global_begin(self, insert_mode: Access) -> None:
        """Do nothing: a Global has no ghosts."""

    def local_to_global_end(self, insert_mode: Access) -> None:
        """Do nothing: a Global has no ghosts."""

    @contextmanager
    def frozen_halo(self, access_mode: Access) -> Iterator[None]:
        """Do nothing: a Global has no ghosts."""
        yield

    def freeze_halo(self, access_mode: Access) -> None:
        """Do nothing: a Global has no ghosts."""

    def refuse_frozen(self) -> None:
        """Do nothing: a Global has no ghosts."""

    def unfreeze_halo(self) -> None:
        """Do nothing: a Global has no ghosts."""

    def __str__(self) -> str:
        return f"OP2 Global Argument: {self._name} with dim {self._dim} and value {self._shown}"

    def __repr__(self) -> str:
        return f"Global({self._dim!r}, {self._shown!r}, {self.dtype!r}, {self._name!r})"
