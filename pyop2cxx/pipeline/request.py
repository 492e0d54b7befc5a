# SPDX-License-Identifier: BSD-3-Clause
"""What decides the text of a loop, what was chosen, and the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.runtime.showing import Told

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from pyop2cxx.backends._backend import Backend
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.pipeline.tuning import Overrides

    Lowering: TypeAlias = tuple[
        _core.Loop, str, _core.Facts, list[_core.plan.MapFacts], _core.LoweringOptions
    ]
    """A loop, its strategy, and facts, Maps and options that lowering goes by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that decides the text of a loop.

    Attributes:
        name: What messages call the loop: the name of the user's kernel.
        line: Where the user made the loop, for messages.
        kernel: The user's kernel, or a function that calls it.
        loop: The symbolic loop.
        backend: Where it shall run.
        map_facts: What is known of each Map.
        options: Deterministic, debug, widths of plan arrays, calling convention.
        strategy: Forced by the user, or None.
        lanes: Elements side by side, forced by the user; 0 or 1 for none, or None.
        tuning: Numbers that the user has set; `options` has all of them.
        column_fill: How full columns of one slot are, for so many targets side by side; they are
            kept if they are at least so full. Costs as much as a plan at the first call.
        elsewhere: Of two Maps by their numbers, from elements and from the targets that they add
            to, how many of all incidences lead from an element to an entry that the target does not
            lead to, as a part of 1; None where it is not known. None: do not look for such Maps.
    """

    name: str
    line: str
    kernel: Kernel
    loop: _core.Loop
    backend: Backend
    map_facts: tuple[_core.plan.MapFacts, ...]
    options: _core.LoweringOptions
    strategy: str | None
    lanes: int | None
    tuning: Overrides
    column_fill: Callable[[int, _core.Tuning, float], float]
    elsewhere: Callable[[int, int], float | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was the fastest way of a loop on some backend, when it was measured.

    Attributes:
        strategy: How racing updates are resolved.
        lanes: Elements side by side; 0 for one after the other.
        tuning: Numbers that are not the defaults.
        why: For messages: how long it took, and how long what the rules choose.
    """

    strategy: str
    lanes: int
    tuning: Overrides
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corners:
    """Two Maps to one Set: from elements, and from the targets that the elements add to.

    Attributes:
        of_elements: Number of the former.
        of_targets: Number of the latter.
        why_not: Why the entries of the former are not taken from those of the latter; empty: they
            are.
    """

    of_elements: int
    of_targets: int
    why_not: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A strategy and a number of lanes, why they were taken, and the key of their text.

    Attributes:
        strategy: How racing updates are resolved.
        why: Why this strategy.
        options: What else decides the text.
        why_lanes: Why so many lanes, or why none.
        key: Canonical key of the text.
        corners: Maps whose entries may be taken from those of others, and whether they are.
    """

    strategy: str
    why: str
    options: _core.LoweringOptions
    why_lanes: str
    key: str
    corners: tuple[Corners, ...] = ()


class GeneratedCode(Told, str):
    """The text of a loop: all that is compiled, and nothing of what the user called things.

    Attributes:
        files: Text by file name; the first one is this string.
        signature: The wrapper's prototype, in the order of the calling convention.
        strategy: How racing updates are resolved.
        why: Why this strategy.
        lanes: Elements computed side by side in vectors; 0 for one after the other.
        why_lanes: Why so many, or why none.
        module: What the text was printed from.
        ir: KernelIR after each stage of lowering, by the stage's name.
        key: Canonical key of the text: signature of the loop, backend, strategy, options.
        header: What the user called things, for reading beside the text.
        symbol: What the function that launches it is called.
        written: What an Executable needs besides the compiled text, as canonical text.
        choice: What was chosen, and why.
        dialect: Of the backend.
        lowering: What the loop was lowered by.
    """

    files: dict[str, str]
    header: str
    symbol: str
    written: str
    choice: Choice
    dialect: _core.cg.Dialect
    lowering: Lowering

    # found out when asked for: a loop that only runs needs none of them
    module = property(lambda self: _core.lower(*self.lowering))
    ir = property(lambda self: dict(_core.stages_of(*self.lowering)))
    signature = property(lambda self: "\n".join(_core.prototypes(self.module, self.dialect)))
    strategy = property(lambda self: self.choice.strategy)
    why = property(lambda self: self.choice.why)
    lanes = property(lambda self: self.choice.options.lanes)
    why_lanes = property(lambda self: self.choice.why_lanes)
    key = property(lambda self: self.choice.key)

    @classmethod
    def chosen(cls, text: str, choice: Choice, **rest: Any) -> GeneratedCode:
        """Return a text as what was chosen for it.

        Args:
            text: The text, or a known one for which the same was chosen for another reason.
            choice: What was chosen.
            **rest: Other attributes; what is not given is as of the known text.
        """
        made = cls(text)
        made.__dict__ |= getattr(text, "__dict__", {}) | rest | {"choice": choice}
        return made
