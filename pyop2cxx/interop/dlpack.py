# SPDX-License-Identifier: BSD-3-Clause
"""Memory shared with other array libraries: DLPack, ``__cuda_array_interface__``, NumPy.

Before device memory is handed out, the host waits for all loops so far. Memory taken over is
ordered by the other library's rules into the stream of loops, so that loops read finished values.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import refuse_gradients
from pyop2cxx.exceptions import DataValueError, UsageError

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array

HOST = (1, 0)
"""DLPack's name for the host."""

_ON_HOST = (1, 3)  # 3: memory pinned by CUDA
_CUDA_TYPES = (2, 13)  # 13: managed memory
_LEGACY_STREAM = 1
_ALIGNMENT = 16  # assumed by kernels


def place_of(device: _core.Device | None) -> tuple[int, int]:
    """Return a device in DLPack's terms; the host if other libraries cannot reach the memory.

    Args:
        device: The device of loops; None means the host.
    """
    if device is None:
        return HOST
    place = _core.exchange.place_of(device)
    return (place.device_type, place.device_id) if place.device_type else HOST


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in items, of an array in C order without gaps.

    Args:
        shape: Shape of the array.

    Example:
        >>> dense_strides((5, 3, 2))
        (6, 2, 1)
    """
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def host_capsule(values: Array, max_version: tuple[int, int] | None, *, copy: bool | None) -> Any:
    """Return a DLPack capsule of values on the host.

    Args:
        values: The values.
        max_version: The newest version of DLPack readable by the consumer.
        copy: True for separate memory; from version 1 on the capsule is then marked as a copy.
    """
    if max_version is not None and np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        return values.__dlpack__(max_version=max_version, copy=copy)
    return (values.copy() if copy else values).__dlpack__()


def device_capsule(array: _core.exchange.SharedArray, max_version: tuple[int, int] | None) -> Any:
    """Return a DLPack capsule of memory on a device.

    Args:
        array: The memory.
        max_version: The newest version of DLPack readable by the consumer.
    """
    versioned = max_version is not None and max_version[0] >= 1
    return _core.exchange.to_capsule(array, versioned)


def cuda_interface(array: _core.exchange.SharedArray) -> dict[str, Any]:
    """Return the dictionary of ``__cuda_array_interface__``, version 3.

    Args:
        array: The memory; no running loop uses any of the values.
    """
    dtype = np.dtype(array.dtype)
    return {
        "shape": tuple(array.shape),
        "typestr": dtype.str,
        "data": (array.address, array.is_read_only),
        "strides": tuple(stride * dtype.itemsize for stride in array.strides),
        "stream": None,
        "version": 3,
    }


def on_a_device(data: object) -> bool:
    """Return whether an object holds values on a device, by any of the protocols."""
    if isinstance(data, np.ndarray | list | tuple | int | float | complex):
        return False
    if hasattr(data, "__dlpack_device__"):
        return int(data.__dlpack_device__()[0]) not in _ON_HOST
    return hasattr(data, "__cuda_array_interface__")


def taken(
    data: Any,
    device: _core.Device | None,
    shape: tuple[int, ...],
    what: str,
    *,
    copy: bool | None = None,
) -> _core.exchange.SharedArray:
    """Take over memory on a device, without a copy.

    Args:
        data: An object accepted by `on_a_device`.
        device: The device of loops; None means the host.
        shape: The shape wanted; other shapes with as many values will do.
        what: The object, for messages: ``Dat 'q'``.
        copy: True is refused.

    Raises:
        UsageError: The memory is on another device.
        DataValueError: The tensor requires gradients, or a copy is wanted; or the values have
            another size, are read-only, or not contiguous.
    """
    if copy:
        raise DataValueError(
            f"{what}: memory of a device is used in place; copy=True needs a copy of the array"
        )
    refuse_gradients(data, what)
    array = _from_dlpack(data, device, what) if hasattr(data, "__dlpack__") else None
    if array is None:
        array = _from_cuda(data, device, what)
    if prod(array.shape) != prod(shape):
        raise DataValueError(
            f"{what}: expected {prod(shape)} values (shape {shape}), got {prod(array.shape)} "
            f"(shape {tuple(array.shape)})"
        )
    if array.is_read_only or not array.is_contiguous:
        raise DataValueError(
            f"{what}: memory of a device is used in place, so it must be writeable and contiguous "
            "in C order; pass a copy of the array"
        )
    if array.address % _ALIGNMENT:
        raise DataValueError(
            f"{what}: memory of a device is used in place, so it must begin at a multiple of "
            f"{_ALIGNMENT} bytes; pass a copy of the array"
        )
    return array


def _from_dlpack(
    data: Any, device: _core.Device | None, what: str
) -> _core.exchange.SharedArray | None:
    kind, number = (int(part) for part in data.__dlpack_device__())
    ours, our_number = place_of(device)
    if ours == HOST[0] or number != our_number or {kind, ours} - set(_CUDA_TYPES):
        raise _elsewhere(what, f"DLPack device ({kind}, {number})")
    stream = _stream(device)
    try:
        capsule = data.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a library older than the argument
        capsule = data.__dlpack__(stream=stream)
    return _core.exchange.from_capsule(capsule)


def _from_cuda(data: Any, device: _core.Device | None, what: str) -> _core.exchange.SharedArray:
    ours, number = place_of(device)
    if ours not in _CUDA_TYPES:
        raise _elsewhere(what, "a CUDA device")
    assert device is not None
    found = data.__cuda_array_interface__
    if found.get("mask") is not None:
        raise DataValueError(f"{what}: masked arrays are not taken")
    if found.get("stream") is not None:
        _core.exchange.wait_for(device, int(found["stream"]))
    dtype = np.dtype(found["typestr"])
    shape = tuple(found["shape"])
    given = found.get("strides")
    strides = [stride // dtype.itemsize for stride in given] if given else dense_strides(shape)
    address, read_only = found["data"]
    return _core.exchange.SharedArray(
        address=address,
        device_type=ours,
        device_id=number,
        dtype=dtype.name,
        shape=list(shape),
        strides=list(strides),
        is_read_only=bool(read_only),
        owner=data,
    )


def _stream(device: _core.Device | None) -> int:
    """Return the stream of foreign writes that loops must wait for."""
    assert device is not None
    return _core.exchange.place_of(device).stream or _LEGACY_STREAM


def _elsewhere(what: str, where: str) -> UsageError:
    return UsageError(
        f"{what}: the array is in memory of {where}, where the loops of the backend chosen now do "
        "not run; choose that backend and device by op2.init, or copy the array to the host"
    )
