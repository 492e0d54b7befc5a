# SPDX-License-Identifier: BSD-3-Clause
"""Available devices, the choice of a device, and the state of open devices."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.exceptions import ConfigurationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.backends._backend import DeviceToolchain


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDevice:
    """A device in use.

    Attributes:
        key: Name of the backend, and index among the backend's devices.
        info: Description by the driver.
        device: Queue and memory.
        make_compiler: Returns the compiler.
        mirror: Keeps Maps and plans on the device.
    """

    key: tuple[str, int]
    info: _core.DeviceInfo
    device: _core.RuntimeDevice
    make_compiler: Callable[[], _core.DeviceCompiler]
    mirror: _core.DeviceMirror

    @property
    def compiler(self) -> _core.DeviceCompiler:
        """The compiler, made on first use and kept.

        Raises:
            ToolchainError: The compiler is missing.
        """
        return self.make_compiler()


def choose_device(devices: Sequence[_core.DeviceInfo], platform: str, device: str) -> int:
    """Return the index of the device chosen by the options.

    Args:
        devices: All there are.
        platform: Part of the platform's name; empty means any.
        device: Index in `devices`, or part of the device's name; empty means the first that is not
            a CPU, else the first.

    Raises:
        ConfigurationError: No device fits; the message lists all.

    Example:
        >>> from pyop2cxx.backends._devices import choose_device
        >>> choose_device([], "", "")
        Traceback (most recent call last):
        ...
        pyop2cxx.exceptions.ConfigurationError: option 'device': there is no device
    """
    labels = [(info.name, info.platform, info.is_cpu) for info in devices]
    try:
        return _core.chosen_device(labels, platform, device)
    except UsageError as error:
        raise ConfigurationError(str(error)) from None


def device_of_rank(
    devices: Sequence[_core.DeviceInfo], first: int, place: tuple[int, int]
) -> tuple[int, bool]:
    """Return the device of a process on its node, and whether others use the same.

    Args:
        devices: All there are.
        first: Index of the device that a single process takes.
        place: Number of the process on its node, and how many there are.

    Example:
        >>> from types import SimpleNamespace
        >>> gpu = SimpleNamespace(platform="CUDA", is_cpu=False)
        >>> [device_of_rank([gpu, gpu], 0, (rank, 3)) for rank in range(3)]
        [(0, True), (1, True), (0, True)]
    """
    like = devices[first]
    alike = [
        i
        for i, info in enumerate(devices)
        if info.platform == like.platform and info.is_cpu == like.is_cpu
    ]
    return alike[place[0] % len(alike)], place[1] > len(alike)


def open_chosen(
    toolchain: DeviceToolchain,
    platform: str,
    device: str,
    coherence: _core.Coherence,
    place: tuple[int, int] = (0, 1),
) -> OpenDevice:
    """Open the device chosen by the options, or that of the process among those of a node.

    Raises:
        ConfigurationError: No device fits.
        ToolchainError: A library, platform or device is missing; the message lists the searched
            names.
    """
    vendor = _core.vendor(toolchain.vendor)
    devices = vendor.list_devices()
    number = choose_device(devices, platform, device)
    if not device and place[1] > 1:
        number, is_shared = device_of_rank(devices, number, place)
        if is_shared and not devices[number].is_cpu and place[0] == 0:
            logging.getLogger("pyop2cxx").warning(
                "%d processes of this node share its devices; start as many as there are devices",
                place[1],
            )
    opened = vendor.open_device(number)
    info = opened.info
    return OpenDevice(
        key=(info.backend, number),
        info=info,
        device=opened,
        make_compiler=cache(partial(toolchain.make_compiler, number, info)),
        mirror=_core.DeviceMirror(device=opened, coherence=coherence),
    )


def describe(info: _core.DeviceInfo) -> str:
    """Return a description of a device in a line.

    Args:
        info: Description by the driver.
    """
    parts = [
        f"{info.name} ({info.platform})",
        f"{info.memory_bytes / 2**30:.1f} GiB",
        info.capability,
        f"driver {info.driver}",
        f"{info.n_units} units",
    ]
    return ", ".join(parts + ["no float64"] * (not info.float64))
