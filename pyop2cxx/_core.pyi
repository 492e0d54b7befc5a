# SPDX-License-Identifier: BSD-3-Clause
"""
The C++ core of pyop2cxx. Not public: use pyop2cxx.op2.
"""

from __future__ import annotations
import typing
import typing_extensions

__all__: list[str] = [
    "Access",
    "Buffer",
    "DType",
    "MapTable",
    "c_name_of",
    "digest",
    "dtype_from_name",
]

class DType:
    """
    Members:

      int8

      int16

      int32

      int64

      uint8

      uint16

      uint32

      uint64

      float32

      float64

      complex64

      complex128
    """

    __members__: typing.ClassVar[dict[str, DType]]
    complex128: typing.ClassVar[DType]
    complex64: typing.ClassVar[DType]
    float32: typing.ClassVar[DType]
    float64: typing.ClassVar[DType]
    int16: typing.ClassVar[DType]
    int32: typing.ClassVar[DType]
    int64: typing.ClassVar[DType]
    int8: typing.ClassVar[DType]
    uint16: typing.ClassVar[DType]
    uint32: typing.ClassVar[DType]
    uint64: typing.ClassVar[DType]
    uint8: typing.ClassVar[DType]
    @typing.overload
    def __eq__(self, other: DType) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: DType) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Access:
    """
    Members:

      read

      write

      rw

      inc

      min

      max
    """

    __members__: typing.ClassVar[dict[str, Access]]
    inc: typing.ClassVar[Access]
    max: typing.ClassVar[Access]
    min: typing.ClassVar[Access]
    read: typing.ClassVar[Access]
    rw: typing.ClassVar[Access]
    write: typing.ClassVar[Access]
    @typing.overload
    def __eq__(self, other: Access) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Access) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Buffer:
    def __init__(
        self: Buffer,
        address: typing.SupportsInt | typing.SupportsIndex,
        n_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def increment_version(self: Buffer) -> None: ...
    def reset(
        self: Buffer,
        address: typing.SupportsInt | typing.SupportsIndex,
        n_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def version(self) -> int: ...

class MapTable:
    def __init__(
        self,
        address: typing.SupportsInt | typing.SupportsIndex,
        index_bytes: typing.SupportsInt | typing.SupportsIndex,
        n_rows: typing.SupportsInt | typing.SupportsIndex,
        arity: typing.SupportsInt | typing.SupportsIndex,
        n_targets: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def increment_version(self) -> None: ...
    @property
    def arity(self) -> int: ...
    @property
    def index_bytes(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_targets(self) -> int: ...
    @property
    def version(self) -> int: ...

def c_name_of(dtype: DType) -> str: ...
def digest(bytes: str) -> str: ...
def dtype_from_name(name: str) -> DType: ...

__version__: str
