# SPDX-License-Identifier: BSD-3-Clause
"""
Memory that other libraries share.
"""

from __future__ import annotations
import collections.abc
import pyop2cxx._core
import typing
import typing_extensions

__all__: list[str] = [
    "Place",
    "SharedArray",
    "adopt",
    "from_capsule",
    "place_of",
    "share",
    "to_capsule",
    "wait_for",
]

class Place:
    @property
    def device_id(self) -> int: ...
    @property
    def device_type(self) -> int: ...
    @property
    def stream(self) -> int: ...

class SharedArray:
    def __init__(
        self,
        address: typing.SupportsInt | typing.SupportsIndex,
        device_type: typing.SupportsInt | typing.SupportsIndex,
        device_id: typing.SupportsInt | typing.SupportsIndex,
        dtype: str,
        shape: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        strides: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        is_read_only: bool,
        owner: typing.Any,
    ) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def device_id(self) -> int: ...
    @property
    def device_type(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def is_contiguous(self) -> bool: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def strides(self) -> list[int]: ...

def adopt(
    buffer: pyop2cxx._core.Buffer, device: pyop2cxx._core.Device, array: SharedArray
) -> None: ...
def from_capsule(capsule: typing_extensions.CapsuleType) -> SharedArray: ...
def place_of(device: pyop2cxx._core.Device) -> Place: ...
def share(
    buffer: pyop2cxx._core.Buffer,
    device: pyop2cxx._core.Device,
    dtype: str,
    shape: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    strides: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
) -> SharedArray: ...
def to_capsule(array: SharedArray, is_versioned: bool) -> typing_extensions.CapsuleType: ...
def wait_for(
    device: pyop2cxx._core.Device, stream: typing.SupportsInt | typing.SupportsIndex
) -> None: ...
