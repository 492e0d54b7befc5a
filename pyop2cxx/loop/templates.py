# SPDX-License-Identifier: BSD-3-Clause
"""Prepared loops without data: a loop like an earlier one of the same Set is not analysed again.

Programs that make a loop for each call, as assembly of a functional does, differ in their data
only. A template holds the analysis and the compiled code, and no memory of Dats or Globals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pyop2cxx import _core
from pyop2cxx.loop.symbolic import structure_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Bounded
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.loop.symbolic import Symbolic
    from pyop2cxx.sets.sets import Set

_MOST = 32


@dataclass(frozen=True, slots=True)
class Template:
    """The analysis of a loop, for loops with the same kernel, Maps and kinds of data.

    Attributes:
        built: The symbolic loop without Maps and memory.
        prepared: The compiled loop with empty buffers.
        query: The request to the dispatcher, which counts the loops.
    """

    built: Symbolic
    prepared: _core.PreparedLoop
    query: _core.Query


class Templates:
    """Templates by Set, and by the structure of the loop; a Set's Maps are not held."""

    def __init__(self) -> None:
        self._of_sets: WeakKeyDictionary[Set, Bounded] = WeakKeyDictionary()

    def find(self, loop: Any) -> None:
        """Give a loop in the making the analysis of an earlier one, if there is one.

        Args:
            loop: A `ParLoop` with items, parts and kernel; gets `template_key`, None for a loop
                without templates, `template` and `built`.
        """
        loop.template_key = loop.template = loop.built = None
        if loop.is_ragged or runtime.static or runtime.configuration["tune"] == "online":
            return
        structure = structure_of(loop.parts)
        if structure is None or (runtime.has_renumbered and isinstance(loop.iterset, Subset)):
            return
        memory, maps, kinds = structure
        state = runtime.epoch, runtime.n_distributions, runtime.same_on_ranks
        loop.template_key = (loop.kernel, loop.options, loop.keeps_elements, state, kinds)
        loop.template = self._of_sets.get(loop.iterset, Bounded(0)).find(loop.template_key)
        if loop.template is not None:
            loop.built = replace(loop.template.built, memory=memory, maps=maps)

    def keep(self, loop: Any, query: _core.Query) -> None:
        """Make a template of a loop after its preparation; nothing without a key.

        Args:
            loop: A `ParLoop`, prepared.
            query: The request that the code was found by.
        """
        key, loop.template_key = loop.template_key, None  # of the epoch of the first run
        if key is None:
            return
        empty = [_core.Buffer(runtime.coherence, "none", False, 1, 1) for _ in loop.parts]
        built = replace(loop.built, memory=(), maps=())
        template = Template(built, loop.prepared.rebound(empty), query)
        self._of_sets.setdefault(loop.iterset, Bounded(_MOST)).keep(key, template)


def launched(loop: Any, built: Symbolic) -> bool:
    """Prepare the run from the loop's template; return False if there is none for the present.

    Args:
        loop: A `ParLoop`.
        built: The loop without data, as now.
    """
    template, loop.template = loop.template, None  # of the epoch of the first run
    if template is None or template.built.loop is not built.loop or runtime.on_loop is not None:
        return False
    if runtime.engine.dispatcher.resolve(template.query) is None:
        return False
    loop.prepared = template.prepared.rebound([part.buffer for part in loop.parts])
    loop.template_key = None
    return True
