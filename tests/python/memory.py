# SPDX-License-Identifier: BSD-3-Clause
"""What a test that needs much memory asks before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyop2cxx.runtime import runtime

_MEMINFO = Path("/proc/meminfo")
_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_bytes(meminfo: Path = _MEMINFO, limits: tuple[tuple[str, str], ...] = _LIMITS) -> int:
    """Return what this machine, and the group that this process is in, could give now."""
    lines = meminfo.read_text().splitlines() if meminfo.exists() else []
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    for limit, used in ((Path(a), Path(b)) for a, b in limits):
        if limit.exists() and used.exists() and limit.read_text().strip() != "max":
            found.append(int(limit.read_text()) - int(used.read_text()))
    return min(found, default=0)


def require_memory(n_bytes: int) -> None:
    """Skip the test, saying why, unless an array of this size fits here and where loops run now.

    Args:
        n_bytes: Of one array, which a device needs besides the host.
    """
    device = runtime.device
    if device is not None and device.info.largest_bytes < n_bytes:
        pytest.skip(
            f"{device.info.name}: its largest single buffer has {device.info.largest_bytes} bytes, "
            f"and this needs one of {n_bytes}"
        )
    needed = 2 * n_bytes if device is not None and device.info.is_cpu else n_bytes
    if available_bytes() < needed:
        pytest.skip(f"this machine has {available_bytes()} bytes free, and this needs {needed}")
