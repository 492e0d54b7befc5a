# SPDX-License-Identifier: BSD-3-Clause
"""The input of a loop's text, the choice made, and the text."""

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

LANES = (0, 1, 2, 4, 8, 16)
"""Numbers of elements side by side; 0 and 1 for no vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All input of the text of a loop.

    Attributes:
        name: Name of the loop in messages: the name of the user's kernel.
        line: Where the user made the loop, for messages.
        kernel: The user's kernel, or a wrapper.
        loop: The symbolic loop.
        backend: Backend of the run.
        map_facts: Known facts of each Map.
        n_elements: Number of visited elements, to find measurements; the text never depends on it.
        options: Deterministic, debug, widths of plan arrays, calling convention.
        strategy: Forced by the user, or None.
        lanes: Elements side by side, forced by the user; 0 or 1 for none, or None.
        tuning: Numbers set by the user; `options` has all numbers.
        column_fill: Returns the fill of columns of a slot, for so many targets side by side; the
            columns are kept if at least as full as given. The first call costs as much as a plan.
        elsewhere: Returns for two Maps by index, from elements and from their targets, and a number
            of lanes, the share of all incidences with an entry missing in the target's row, or of
            columns whose lanes have entries in different places; None if unknown. None: do not
            search for such Maps.
    """

    name: str
    line: str
    kernel: Kernel
    loop: _core.Loop
    backend: Backend
    map_facts: tuple[_core.plan.MapFacts, ...]
    n_elements: int
    options: _core.LoweringOptions
    strategy: str | None
    lanes: int | None
    tuning: Overrides
    column_fill: Callable[[int, _core.Tuning, float], float]
    elsewhere: Callable[[int, int, int], float | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corners:
    """Two Maps to a common Set: from elements, and from the targets of increments.

    Attributes:
        of_elements: Number of the former.
        of_targets: Number of the latter.
        why_not: Reason why the entries of the former are not taken from the latter; empty: they
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
        why: Reason for the strategy.
        options: Other input of the text.
        why_lanes: Why so many lanes, or why none.
        level: Source of the choice: ``"rule"``, or the level of a measurement, see `op2.tune`.
        key: Canonical key of the text.
        signature: Canonical text of the loop.
        corners: Maps with entries possibly taken from others, and whether they are.
    """

    strategy: str
    why: str
    options: _core.LoweringOptions
    why_lanes: str
    key: str
    signature: str
    corners: tuple[Corners, ...] = ()
    level: str = "rule"


class GeneratedCode(Told, str):
    """The text of a loop: all compiled text, without any of the user's names.

    Attributes:
        files: Text by file name; the first is the string.
        signature: The wrapper's prototype, in the order of the calling convention.
        strategy: How racing updates are resolved.
        why: Reason for the strategy.
        lanes: Elements computed side by side in vectors; 0 for no vectors.
        why_lanes: Why so many, or why none.
        module: The module behind the text.
        ir: KernelIR after each stage of lowering, by the stage's name.
        key: Canonical key of the text: signature of the loop, backend, strategy, options.
        header: Names of the user's objects, for reading beside the text.
        symbol: Name of the launch function.
        written: Input of an Executable besides the compiled text, as canonical text.
        choice: The choice, with reasons.
        dialect: Of the backend.
        lowering: Input of the lowering.
    """

    files: dict[str, str]
    header: str
    symbol: str
    written: str
    choice: Choice
    dialect: _core.cg.Dialect
    lowering: Lowering

    # computed on first use: a loop that only runs needs none of them
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
        """Return a text with the choice behind it.

        Args:
            text: The text, or a known text with the same choice for another reason.
            choice: The choice.
            **rest: Other attributes; missing attributes are as in the known text.
        """
        made = cls(text)
        made.__dict__ |= getattr(text, "__dict__", {}) | rest | {"choice": choice}
        return made
