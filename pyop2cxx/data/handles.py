# SPDX-License-Identifier: BSD-3-Clause
"""Addresses passed to kernels unchanged: handles of other libraries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import Access
from pyop2cxx.base.arrays import is_integer
from pyop2cxx.base.listing import Listed
from pyop2cxx.exceptions import DataTypeError, DataValueError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """The type of an opaque handle.

    Attributes:
        name: The library's name of the type, for messages.
    """

    name: str


class PassthroughArg(Listed):
    """An address as an argument of a loop: the kernel gets the address unchanged, as ``void *``.

    The kernel must avoid races on the memory behind the address, and the program must keep the
    memory alive until the loop has run. Only backends with kernels in the same process support
    handles.

    Args:
        dtype: Type of the handle.
        data_ptr: The address.

    Raises:
        DataTypeError: The type is not an OpaqueType.
        DataValueError: The address is not a positive integer.

    Example:
        >>> from pyop2cxx import op2
        >>> box, cells = np.zeros(1), op2.Set(3)
        >>> arg = op2.PassthroughArg(op2.OpaqueType("box"), box.ctypes.data)
        >>> put = op2.Kernel("void put(void *box) { *(double *)box += 2; }", "put")
        >>> with op2.backend("sequential"):
        ...     op2.par_loop(put, cells, arg)
        >>> box.tolist()
        [6.0]
    """

    access: ClassVar[Access] = Access.RW
    map_: ClassVar[None] = None
    form: ClassVar[None] = None
    cdim: ClassVar[int] = 0

    def __init__(self, dtype: OpaqueType, data_ptr: int) -> None:
        if not isinstance(dtype, OpaqueType):
            raise DataTypeError(
                f"PassthroughArg: the type must be an OpaqueType, got {dtype!r}; pass a Dat or "
                "Global where there are numbers"
            )
        if not is_integer(data_ptr) or data_ptr < 1:
            raise DataValueError(
                f"PassthroughArg: the address must be a positive integer, got {data_ptr!r}"
            )
        self.uid = runtime.next_uid()
        self._type = dtype
        self.buffer = _core.Buffer(
            coherence=runtime.coherence,
            what=f"handle '{dtype.name}'",
            is_soa=False,
            dim=0,
            item_bytes=1,
        )
        self.buffer.reset(address=int(data_ptr), n_bytes=0, is_zero=False)

    @property
    def compute(self) -> Any:
        """The type of the handle."""
        return self.data.dtype

    @property
    def data(self) -> Self:
        """The argument: a handle has no other data."""
        return self

    def of(self, data: Self) -> Self:
        """Return another handle as the same argument: unchanged."""
        return data

    @property
    def split(self) -> tuple[Self, ...]:
        """The components: only the argument."""
        return (self,)

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._type.name

    @property
    def opaque_type(self) -> OpaqueType:
        """The type of the handle."""
        return self._type

    @property
    def dtype(self) -> np.dtype[Any]:
        """Bytes, for the compiler."""
        return np.dtype(np.uint8)

    def __repr__(self) -> str:
        return f"PassthroughArg({self._type!r}, {self.buffer.address:#x})"
