# SPDX-License-Identifier: BSD-3-Clause
"""Which devices there are, which one is meant, and what is kept for each that is open."""

from __future__ import annotations

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
        key: Its backend and its number among that backend's devices.
        info: What it says of itself.
        device: Its queue and memory.
        make_compiler: Returns what makes its programs.
        mirror: Keeps Maps and plans on it.
    """

    key: tuple[str, int]
    info: _core.DeviceInfo
    device: _core.RuntimeDevice
    make_compiler: Callable[[], _core.DeviceCompiler]
    mirror: _core.DeviceMirror

    @property
    def compiler(self) -> _core.DeviceCompiler:
        """What makes its programs; it is looked for when it is needed, and kept.

        Raises:
            ToolchainError: There is none.
        """
        return self.make_compiler()


def choose_device(devices: Sequence[_core.DeviceInfo], platform: str, device: str) -> int:
    """Return the number of the device that the options mean.

    Args:
        devices: All there are.
        platform: Part of the name of its platform; empty means any.
        device: Its number among `devices`, or part of its name; empty means the first that is not
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


def open_chosen(
    toolchain: DeviceToolchain, platform: str, device: str, coherence: _core.Coherence
) -> OpenDevice:
    """Open the device that the options mean.

    Raises:
        ConfigurationError: No device fits.
        ToolchainError: There is no library, platform or device: what was looked for.
    """
    devices = toolchain.list_devices()
    number = choose_device(devices, platform, device)
    opened = toolchain.open_device(number)
    info = opened.info
    return OpenDevice(
        key=(info.backend, number),
        info=info,
        device=opened,
        make_compiler=cache(partial(toolchain.make_compiler, number, info)),
        mirror=_core.DeviceMirror(device=opened, coherence=coherence),
    )


def describe(info: _core.DeviceInfo) -> str:
    """Say what a device is in one line.

    Args:
        info: What it says of itself.
    """
    parts = [
        f"{info.name} ({info.platform})",
        f"{info.memory_bytes / 2**30:.1f} GiB",
        info.capability,
        f"driver {info.driver}",
        f"{info.n_units} units",
    ]
    return ", ".join(parts + ["no float64"] * (not info.float64))
