# SPDX-License-Identifier: BSD-3-Clause
"""Values that belong to no Set: Global, Constant, and Const, which kernels use by its name."""

from __future__ import annotations

import re
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import (
    ContractError,
    DataValueError,
    DatTypeError,
    IndexValueError,
    NameTypeError,
    NoDataError,
    NonUniqueNameError,
    UsageError,
    user_line,
)
from pyop2cxx.runtime import runtime
from pyop2cxx.types.access import (
    CONSTANT_ACCESSES,
    GLOBAL_ACCESSES,
    ORDERED_ACCESSES,
    Access,
    checked_access,
)
from pyop2cxx.types.args import ConstantArg, GlobalArg
from pyop2cxx.types.checks import address_of, as_array, as_dim, as_dtype, as_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Self

    from pyop2cxx.types.checks import Array

_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _SetFree:
    """What Global, Constant and Const share. Equal only to itself."""

    _kind: ClassVar[str]
    _kind_accesses: ClassVar[frozenset[Access]]

    def __init__(
        self,
        dim: int | Iterable[int],
        data: ArrayLike | None,
        dtype: DTypeLike,
        name: str | None,
    ) -> None:
        self._uid = runtime.next_uid()
        self._name = as_name(name, self._kind, f"{self._kind.lower()}_#x{self._uid:x}")
        self._dim = as_dim(dim, self._what)
        self._cdim = prod(self._dim)
        self._values: Array = (
            np.zeros(self._dim, as_dtype("float64" if dtype is None else dtype, self._what))
            if data is None
            else as_array(data, dtype, self._dim, self._what)
        )
        self._buffer = _core.Buffer(address=address_of(self._values), n_bytes=self._values.nbytes)

    def _checked_call(self, access: object, path: object) -> Access:
        is_complex = self.dtype.kind == "c"
        mode = checked_access(access, self._kind_accesses, is_complex, self._what)
        if path is not None:
            raise ContractError(f"{self._what} belongs to no Set; call it without {path!r}")
        return mode

    def _check_readable(self, member: str) -> None:
        """Raise if there is nothing to read."""
        if self._cdim == 0:
            raise NoDataError(f"{self._what}: '{member}' was asked for, but its dim is {self._dim}")

    @property
    def data(self) -> Array:
        """The values, writeable; shape `dim`. Assigning copies new values into them."""
        return self._writeable("data")

    @data.setter
    def data(self, values: ArrayLike) -> None:
        self._values[...] = as_array(values, self.dtype, self._dim, self._what)
        self._buffer.increment_version()

    @property
    def data_ro(self) -> Array:
        """The values, read-only; shape `dim`."""
        self._check_readable("data_ro")
        view = self._values.view()
        view.flags.writeable = False
        return view

    @property
    def data_wo(self) -> Array:
        """The values, to be overwritten; shape `dim`."""
        return self._writeable("data_wo")

    def _writeable(self, member: str) -> Array:
        self._check_readable(member)
        self._buffer.increment_version()
        return self._values.view()

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        """Let NumPy read the values: ``np.asarray(g)`` copies nothing."""
        values = self.data_ro
        if dtype is None or values.dtype == dtype:
            return values.copy() if copy else values
        if copy is False:
            raise DataValueError(f"{self._what}: dtype {self.dtype} to {dtype} needs a copy")
        return values.astype(dtype)

    @property
    def dat_version(self) -> int:
        """Grows by one with every use that may write: by loops, and by taking writeable data."""
        return self._buffer.version

    def increment_dat_version(self) -> None:
        """Say that the values were changed by other means."""
        self._buffer.increment_version()

    @property
    def dim(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self._dim

    @property
    def cdim(self) -> int:
        """The number of values."""
        return self._cdim

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self._dim

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        return self._values.dtype

    @property
    def ctype(self) -> str:
        """The C type of a value."""
        return _core.c_name_of(_core.dtype_from_name(self.dtype.name))

    @property
    def nbytes(self) -> int:
        """The bytes of the values."""
        return self._values.nbytes

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @property
    def split(self) -> tuple[Self, ...]:
        """The components: there is one."""
        return (self,)

    @property
    def _what(self) -> str:
        return f"{self._kind} '{self._name}'"

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Self:
        if index != 0:
            raise IndexValueError(
                f"{self._what} has one component, 0; got index {index!r}. Its values are in "
                "data and data_ro"
            )
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._dim, self._values, self.dtype, self._name))


class Global(_SetFree):
    """Values that belong to no Set, read by loops or reduced into: a time step, a residual.

    Args:
        dim: The number of values, or their shape; or a Global, to get a copy of it.
        data: As many values; None means zeros.
        dtype: The dtype; None means the data's, or float64 without data.
        name: What messages call it; it never enters generated text.
        comm: The communicator whose processes reduce together; None means this process alone.

    Raises:
        DimTypeError: The dim is not an integer or a tuple of integers.
        DataTypeError: The dtype is not one that kernels can work on.
        DataValueError: The data are of another number, or do not convert.
        NameTypeError: The name is not a string.

    Example:
        >>> rms = Global(1, 0.0, name="rms")
        >>> rms.data = 2
        >>> print(rms)
        OP2 Global Argument: rms with dim (1,) and value [2.]
    """

    _kind = "Global"
    _kind_accesses = GLOBAL_ACCESSES

    def __init__(
        self,
        dim: int | Iterable[int] | Global,
        data: ArrayLike | None = None,
        dtype: DTypeLike = None,
        name: str | None = None,
        comm: Any = None,
    ) -> None:
        if isinstance(dim, Global):
            dim, data, dtype, name, comm = _copied(dim, data, dtype, name, comm)
        super().__init__(dim, data, dtype, name)
        self._comm = comm
        self._accesses = (
            GLOBAL_ACCESSES - ORDERED_ACCESSES if self.dtype.kind == "c" else GLOBAL_ACCESSES
        )

    def __call__(self, access: Access, path: None = None) -> GlobalArg:
        """Return this Global as an argument of a loop.

        Raises:
            ModeValueError: The access is not READ, INC, MIN or MAX, or not for complex values.
            ContractError: A Map was given: a Global belongs to no Set.
        """
        if access.__class__ is not Access or access not in self._accesses or path is not None:
            access = self._checked_call(access, path)
        return GlobalArg(self, access)

    def _check_readable(self, member: str) -> None:
        runtime.require_running(self._what, member)
        super()._check_readable(member)

    @property
    def data_with_halos(self) -> Array:
        """The same as `data`: a Global has no ghosts."""
        return self._writeable("data_with_halos")

    @property
    def data_ro_with_halos(self) -> Array:
        """The same as `data_ro`: a Global has no ghosts."""
        return self.data_ro

    @property
    def data_wo_with_halos(self) -> Array:
        """The same as `data_wo`: a Global has no ghosts."""
        return self._writeable("data_wo_with_halos")

    @property
    def comm(self) -> Any:
        """The communicator whose processes reduce together; None means this process alone."""
        return self._comm

    def zero(self) -> None:
        """Set the values to zero."""
        self._values.fill(0)
        self._buffer.increment_version()

    def copy(self, other: Global) -> None:
        """Copy the values into another Global of the same number, converting them to its dtype.

        Raises:
            DatTypeError: The other is not a Global.
            DataValueError: It holds another number of values, or complex ones would become real.
        """
        if not isinstance(other, Global):
            raise DatTypeError(
                f"{self._what}: copy writes into a Global, got {other!r} of type "
                f"{type(other).__name__}"
            )
        other.data = self.data_ro

    def duplicate(self) -> Global:
        """Return a Global of its own with the same values and name."""
        return Global(self._dim, self._values.copy(), None, self._name, self._comm)

    # Part of a Dat's interface, so that a Global can stand among Dats

    @property
    def halo_valid(self) -> bool:
        """True: a Global has no ghosts."""
        return True

    @contextmanager
    def frozen_halo(self, access: Access) -> Iterator[None]:
        """Do nothing: a Global has no ghosts."""
        yield

    def freeze_halo(self, access: Access) -> None:
        """Do nothing: a Global has no ghosts."""

    def unfreeze_halo(self) -> None:
        """Do nothing: a Global has no ghosts."""

    def __str__(self) -> str:
        return f"OP2 Global Argument: {self._name} with dim {self._dim} and value {self._values}"

    def __repr__(self) -> str:
        return f"Global({self._dim!r}, {self._values!r}, {self.dtype!r}, {self._name!r})"


class Constant(_SetFree):
    """Values that loops may only read, passed to them as an argument.

    Args:
        dim: The number of values, or their shape; or a Constant, to get a copy of it.
        data: As many values; None means zeros.
        dtype: The dtype; None means the data's, or float64 without data.
        name: What messages call it; it never enters generated text.
        comm: Must be None: nothing is reduced.

    Raises:
        UsageError: A communicator was given.
        DimTypeError, DataTypeError, DataValueError, NameTypeError: As for `Global`.

    Example:
        >>> gravity = Constant(3, [0.0, 0.0, -9.81], name="gravity")
        >>> gravity(Access.READ).access
        <Access.READ: 1>
    """

    _kind = "Constant"
    _kind_accesses = CONSTANT_ACCESSES

    def __init__(
        self,
        dim: int | Iterable[int] | Constant,
        data: ArrayLike | None = None,
        dtype: DTypeLike = None,
        name: str | None = None,
        comm: Any = None,
    ) -> None:
        if comm is not None:
            raise UsageError(
                f"Constant: nothing is reduced, so it takes no communicator, got {comm!r}; "
                "use a Global where processes must agree"
            )
        if isinstance(dim, Constant):
            dim, data, dtype, name, _ = _copied(dim, data, dtype, name, None)
        super().__init__(dim, data, dtype, name)

    def __call__(self, access: Access, path: None = None) -> ConstantArg:
        """Return this Constant as an argument of a loop.

        Raises:
            ModeValueError: The access is not READ.
            ContractError: A Map was given: a Constant belongs to no Set.
        """
        if access is not Access.READ or path is not None:
            access = self._checked_call(access, path)
        return ConstantArg(self, access)

    def duplicate(self) -> Constant:
        """Return a Constant of its own with the same values and name."""
        return Constant(self._dim, self._values.copy(), None, self._name)

    def __str__(self) -> str:
        return f"OP2 Constant Argument: {self._name} with dim {self._dim} and value {self._values}"

    def __repr__(self) -> str:
        return f"Constant({self._dim!r}, {self._values!r}, {self.dtype!r}, {self._name!r})"


class Const(_SetFree):
    """A named constant that every kernel may use by its bare name.

    The value may change at any time, no loop is compiled anew; a name stays taken, also when the
    program drops the object, until `remove_from_namespace`.

    Args:
        dim: The number of values, or their shape.
        data: As many values; None means that they are assigned later, before the first use.
        name: A C identifier that no other Const has.
        dtype: The dtype; None means the data's, or float64 without data.

    Raises:
        NonUniqueNameError: Another Const has that name.
        NameTypeError: The name is not a string, or not a C identifier.
        DimTypeError, DataTypeError, DataValueError: As for `Global`.

    Example:
        >>> gam = Const(1, 1.4, "gam")
        >>> gam.data = 1.3
        >>> gam.remove_from_namespace()
    """

    NonUniqueNameError = NonUniqueNameError
    _kind = "Const"
    _kind_accesses = frozenset()

    def __init__(
        self,
        dim: int | Iterable[int],
        data: ArrayLike | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(dim, data, dtype, name)
        if not name:
            self._name = f"const_{self._uid}"  # unlike other default names, a C identifier
        if not _C_NAME.fullmatch(self._name):
            raise NameTypeError(
                f"Const: kernels use the name, so it must be a C identifier, got '{self._name}'"
            )
        self._is_given = data is not None
        self.declared_at = user_line()
        runtime.register_constant(self)

    def _check_readable(self, member: str) -> None:
        super()._check_readable(member)
        if not self._is_given:
            raise NoDataError(
                f"{self._what}: '{member}' was asked for, but no value was given yet; assign to "
                "its data"
            )

    @property
    def data(self) -> Array:
        """The values, writeable; shape `dim`. Assigning copies new values into them.

        Raises:
            NoDataError: None were given yet.
        """
        return self._writeable("data")

    @data.setter
    def data(self, values: ArrayLike) -> None:
        self._values[...] = as_array(values, self.dtype, self._dim, self._what)
        self._buffer.increment_version()
        self._is_given = True

    def remove_from_namespace(self) -> None:
        """Let kernels compiled from now on not know it, so that its name can be given again."""
        runtime.remove_constant(self)

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(f"{self._what}: a named constant cannot be copied, its name is taken")

    def __str__(self) -> str:
        return (
            f"OP2 Const: {self._name} of dim {self._dim} and type {self.dtype.name} "
            f"with value {self._values}"
        )

    def __repr__(self) -> str:
        values = self._values if self._is_given else None
        return f"Const({self._dim!r}, {values!r}, {self._name!r})"


def _copied(
    source: _SetFree, data: ArrayLike | None, dtype: DTypeLike, name: str | None, comm: Any
) -> tuple[tuple[int, ...], ArrayLike, DTypeLike, str, Any]:
    """Return the constructor's arguments for a copy."""
    if data is not None:
        raise UsageError(
            f"{source._what}: a copy takes the values of what it copies; pass its dim to give "
            "other ones"
        )
    values = source._values.copy()
    title = f"copy_of_{source.name}" if name is None else name
    return source.dim, values, dtype, title, getattr(source, "comm", None) if comm is None else comm
