# SPDX-License-Identifier: BSD-3-Clause
"""Device code of loops compiled ahead of time, loaded on the first run on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.backends._devices import OpenDevice


@dataclass(frozen=True, slots=True, kw_only=True)
class AheadLoop:
    """A loop of a table, for the devices of a backend.

    Attributes:
        executable: The executable, without code, as canonical text.
        programs: Device code by the kind of devices: "sm_90", or "" for any.
    """

    executable: str
    programs: Mapping[str, bytes]


def bring(key: str, query: _core.Query, device: OpenDevice) -> None:
    """Load a loop of the tables onto a device, if available and not yet loaded.

    Args:
        key: Of the loop's text.
        query: The query for the dispatcher.
        device: Device of the run.

    Raises:
        ToolchainError: The device does not load the code.
    """
    engine = runtime.engine
    loop: AheadLoop | None = engine.ahead_loops.get(key)
    if loop is None or not engine.ahead.find(query):
        return
    targets = [*loop.programs]
    number = _core.vendor(device.info.backend).fitting(device.info.capability, targets)
    if number is None:
        engine.ahead.refuse(
            query,
            f"it has this loop for {', '.join(targets)}, but '{device.info.name}' is "
            f"{device.info.capability}: build it with --arch {device.info.capability}, too",
        )
        return
    program = device.device.load_bytes(loop.programs[targets[number]])
    engine.ahead.add(query, _core.read_device_executable(loop.executable, program, suffix=""))
