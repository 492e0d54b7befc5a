# SPDX-License-Identifier: BSD-3-Clause
"""Which devices there are, which one is meant, and what is kept for each that is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.backends._backend import DeviceToolchain


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDevice:
    """A device in use.

    Attributes:
        key: Its backend and its number among that backend's devices.
        info: What it says of itself.
        device: Its queue and memory.
        compiler: Makes its programs.
        mirror: Keeps Maps and plans on it.
    """

    key: tuple[str, int]
    info: _core.DeviceInfo
    device: _core.RuntimeDevice
    compiler: _core.DeviceCompiler
    mirror: _core.DeviceMirror


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
    if not devices:
        raise ConfigurationError("option 'device': there is no device")
    fitting = [
        number
        for number, info in enumerate(devices)
        if platform.lower() in info.platform.lower() and _is_meant(device, number, info)
    ]
    if not fitting:
        wanted = [f"device {device!r}"] * bool(device) + [f"platform {platform!r}"] * bool(platform)
        raise ConfigurationError(
            f"options 'device' and 'platform': there is no {' on '.join(wanted)}; there are: "
            + ", ".join(f"{n}: {info.name} ({info.platform})" for n, info in enumerate(devices))
        )
    return next((n for n in fitting if not devices[n].is_cpu), fitting[0])


def _is_meant(device: str, number: int, info: _core.DeviceInfo) -> bool:
    if device.isdecimal():
        return int(device) == number
    return device.lower() in info.name.lower()


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
    opened, compiler = toolchain.open_device(number)
    return OpenDevice(
        key=(opened.info.backend, number),
        info=opened.info,
        device=opened,
        compiler=compiler,
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
