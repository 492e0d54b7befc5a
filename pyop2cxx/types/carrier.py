# SPDX-License-Identifier: BSD-3-Clause
"""What all objects that hold values share."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import ContractError, IndexValueError, NoDataError, UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.types.access import Access, checked_access
from pyop2cxx.types.checks import address_of, as_array, as_dim, as_dtype, as_name, as_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Self

    from pyop2cxx.types.checks import Array


class DataCarrier:
    """An object that holds values, such as a Dat or a Global. Equal only to itself."""

    _kind: ClassVar[str]
    _uid: int
    _name: str
    _dtype: np.dtype[Any]
    _buffer: _core.Buffer
    _stride = 0
    """Scalars from a row to the next, where these are not all that lies between; else 0."""
    _component = 0
    """Of the row, where the values begin."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        return self._dtype

    @property
    def ctype(self) -> str:
        """The C type of a value."""
        return _core.c_name_of(_core.dtype_from_name(self._dtype.name))

    @property
    def dat_version(self) -> int:
        """Grows by one with every use that may write: by loops, and by taking writeable data."""
        return self._buffer.version

    def increment_dat_version(self) -> None:
        """Say that the values were changed by other means."""
        self._buffer.increment_version()

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


class SetFreeCarrier(DataCarrier):
    """Values that belong to no Set: what Global, Constant and Const share."""

    _kind_accesses: ClassVar[frozenset[Access]]

    def __init__(
        self,
        dim: int | Iterable[int],
        data: ArrayLike | None,
        dtype: DTypeLike | None,
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
        self._dtype = self._values.dtype
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
        view = self._values[...]
        view.flags.writeable = False
        return view

    @property
    def data_wo(self) -> Array:
        """The values, to be overwritten; shape `dim`."""
        return self._writeable("data_wo")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Let NumPy read the values: ``np.asarray(g)`` copies nothing."""
        return as_numpy(self.data_ro, dtype, copy, self._what)

    def _writeable(self, member: str) -> Array:
        self._check_readable(member)
        self._buffer.increment_version()
        return self._values[...]

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
    def nbytes(self) -> int:
        """The bytes of the values."""
        return self._values.nbytes

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._dim, self._values, self.dtype, self._name))


def copied(
    source: SetFreeCarrier, data: ArrayLike | None, name: str | None
) -> tuple[tuple[int, ...], Array, str]:
    """Return dim, data and name of a copy.

    Args:
        source: What is copied.
        data: Must be None; a copy cannot be given other values.
        name: The name asked for.
    """
    if data is not None:
        raise UsageError(
            f"{source._what}: a copy takes the values of what it copies; pass its dim to give "
            "other ones"
        )
    return source.dim, source._values.copy(), f"copy_of_{source.name}" if name is None else name
