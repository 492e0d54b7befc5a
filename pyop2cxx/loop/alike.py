# SPDX-License-Identifier: BSD-3-Clause
"""Loops that differ from an earlier loop in data only: bound without a new analysis."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx.data.constants import Constant, GlobalArg
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.globals import Global
from pyop2cxx.data.lent import recalling
from pyop2cxx.loop.call_data import span_of
from pyop2cxx.loop.execute import Effects, Run, run_phase
from pyop2cxx.loop.numberings import all_current
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Bounded
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx import _core
    from pyop2cxx.kernel.kernel import Kernel

_MOST_KINDS = 1024


class _Pattern(NamedTuple):
    """A loop already run, without data."""

    what: str
    effects: Effects
    prepared: _core.PreparedLoop
    is_of_device: bool


class Alike:
    """Loops already run, by all properties except data."""

    def __init__(self) -> None:
        self._known = Bounded(_MOST_KINDS)

    def keep(self, key: object, loop: Any) -> None:
        """Remember a loop already run, if others can be made from it.

        Args:
            key: Of `key_of`.
            loop: A `ParLoop`, prepared.
        """
        is_apart = all(number == (i, i) for i, number in enumerate(loop.symbolic().numbers))
        if key is None or not is_apart or not loop.bound_run.is_plain:
            return
        if runtime.has_renumbered and isinstance(loop.iterset, Subset):
            return
        is_of_device = runtime.device is not None
        pattern = _Pattern(loop.label, loop.effects, loop.prepared, is_of_device)
        self._known.keep(key, (loop.written_kernel, pattern))

    def find(self, key: object, kernel: Kernel, args: Sequence[Any]) -> Run | None:
        """Return the run of a loop with only new data; None if there is none.

        Args:
            key: Of `key_of`.
            kernel: The program's.
            args: Of the loop.
        """
        if key is None or runtime.on_loop is not None:
            return None
        found = self._known.find(key)
        if found is None or found[0] is not kernel:
            return None
        pattern: _Pattern = found[1]
        if not all_current(None, ((arg.data, arg.map_) for arg in args)):
            return None
        for arg in args:
            if type(arg) is DatArg:
                arg.data.allocated("par_loop")
        if not _are_apart(args):
            return None
        prepared = pattern.prepared.rebound([arg.data.buffer for arg in args])
        lent = tuple(arg.data.lent_out for arg in args) if pattern.is_of_device else ()
        phases = partial(run_phase, prepared, lent)
        return Run(pattern.what, pattern.effects, recalling(prepared.launch, lent), None, phases)


def key_of(options: tuple[object, ...], args: Sequence[Any]) -> tuple[object, ...] | None:
    """Return the properties of a loop without data as a key; None if the run depends on data, too.

    Args:
        options: All but the arguments.
        args: The arguments.
    """
    found: list[object] = [options]
    for arg in args:
        data = arg.data
        if type(arg) is DatArg and type(data) is Dat:
            map_ = arg.map_
            way = None if map_ is None else map_.uid
            home = data.set.uid, data.cdim, data.buffer.is_soa
            found.append((arg.access, way, data.dtype, data.stored_apart, *home))
        elif type(arg) is GlobalArg and type(data) in (Global, Constant):
            found.append((arg.access, data.dtype, data.cdim))
        else:
            return None
    return tuple(found)


def _are_apart(args: Sequence[Any]) -> bool:
    """Say whether no two arguments share memory."""
    end = None
    for begin, stop in sorted(span_of(arg.data) for arg in args):
        if end is not None and begin < end:
            return False
        end = stop
    return True
