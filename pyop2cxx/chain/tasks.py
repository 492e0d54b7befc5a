# SPDX-License-Identifier: BSD-3-Clause
"""Calls of a known chain, without Python between the loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.lent import recalling
from pyop2cxx.pipeline.tuning import tuning_of
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.chain.entries import Entry
    from pyop2cxx.data.lent import Lent


def row(tasks: Sequence[_core.GraphTask], lent: Iterable[Lent]) -> Callable[[], bool]:
    """Return a function running tasks in order; on a device, enqueuing them.

    The function returns whether values were copied between host and device.

    Args:
        tasks: In their order.
        lent: Arrays with memory taken over by a device.
    """
    return recalling(_core.TaskRow(list(tasks)).run, lent)


def exchanges(
    pairs: Iterable[tuple[_core.Buffer, _core.Buffer]],
) -> list[_core.GraphTask]:
    """Return tasks to exchange Buffers with second buffers on the device of loops.

    Args:
        pairs: Buffers of Dats, each with the second buffer.
    """
    device = mirror_of_loops()
    if device is None:
        return []
    return [_core.graph.ExchangeTask(device, mine, second) for mine, second in pairs]


def mirror_of_loops() -> _core.DeviceMirror | None:
    """Return the mirror of values on the device of loops; None if loops run on the host."""
    device = opened_device()
    return None if device is None else device.mirror


def opened_device() -> OpenDevice | None:
    """Return the device of loops; None if they run on the host."""
    engine = runtime.engine
    return engine.chosen_device(engine.backend(runtime.backend))


def machine() -> _core.Tuning:
    """Return the numbers of the machine that the model of chains counts with."""
    facts, device = runtime.engine.backend(runtime.backend).facts, opened_device()
    if device is not None:  # the class of a device decides on the numbers
        facts = facts.on(is_processor=device.info.is_cpu, has_float64=device.info.float64)
    return tuning_of(facts, ())


def task_of(entry: Entry) -> tuple[_core.GraphTask, Lent] | None:
    """Return the task of an action without Python, and the lent arrays; None if impossible.

    Args:
        entry: An action of the library.
    """
    if not entry.zeroes:
        return None
    ((carrier, _),) = entry.uses
    if not is_plain(carrier) or runtime.has_renumbered:  # then `zero` notes the numbering
        return None
    carrier.host_array("zero")
    return _core.graph.FillTask(mirror_of_loops(), carrier.buffer, b""), carrier.lent_out


def is_whole(data: Any) -> bool:
    """Say whether values have memory of their own: no components of another Dat."""
    if isinstance(data, Global):
        return True
    return isinstance(data, Dat) and not (data.stride or runtime.static)


def is_plain(data: Any) -> bool:
    """Say whether values are all there is: no ghosts, and no components of another Dat."""
    if not is_whole(data) or isinstance(data, Global):
        return is_whole(data)
    on = data.dataset.set
    return on.halo is None and bool(on.size == on.total_size)
