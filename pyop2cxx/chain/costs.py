# SPDX-License-Identifier: BSD-3-Clause
"""Measured costs of a chain: as a whole, loop by loop, and without each of the passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx.chain.compile import PASSES
from pyop2cxx.chain.trial import key_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import PASSES as KIND
from pyop2cxx.runtime.tuned_file import times_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.chain.compile import Compiled
    from pyop2cxx.runtime.tuned_file import Entry

CHAIN, IN_A_ROW, ALONE = "as a chain", "in a row", "alone"
WITHOUT = "without "


@dataclass(frozen=True, slots=True)
class Costs:
    """The measurement of a chain; `print` shows a table.

    Attributes:
        name: Names of the loops.
        us: Microseconds of the chain as a whole.
        in_a_row: Microseconds of the loops in sequence.
        alone: Sum of the microseconds of the loops, each measured alone.
        without: Microseconds of the chain without a pass, by the name of the pass; passes without
            an influence on the functions are missing.
        refused: Ways that were not measured, with reasons.
    """

    name: str
    us: float
    in_a_row: float
    alone: float
    without: Mapping[str, float]
    refused: Mapping[str, str]

    def gain(self, name: str) -> float:
        """Return the time without a pass divided by the time with all passes; 1: no influence."""
        return self.without.get(name, self.us) / self.us

    @property
    def unused(self) -> tuple[str, ...]:
        """Passes without an influence on the functions; tuple."""
        left_out = {name.removeprefix(WITHOUT) for name in self.refused}
        return tuple(one for one in PASSES if one not in self.without and one not in left_out)

    def lines(self) -> list[str]:
        """Return the sums and the table, line by line."""
        rows = [("pass", "us with", "us without", "gain")]
        for name, us in self.without.items():
            rows.append((name, f"{self.us:.1f}", f"{us:.1f}", f"{self.gain(name):.2f}"))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        table = [
            "  ".join(text.ljust(n) for text, n in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return [
            f"{self.name}: {self.alone:.1f} us loop by loop, each measured alone; "
            f"{self.in_a_row:.1f} us in a row; {self.us:.1f} us as a chain",
            *(table if self.without else ()),
            *([f"the same functions without: {', '.join(self.unused)}"] if self.unused else ()),
            *(f"not measured {way}: {why}" for way, why in self.refused.items()),
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def costs_of(entry: Entry) -> Costs | None:
    """Return the contents of an entry; None if of another kind, or incomplete."""
    times = times_of(entry) if entry.kind == KIND else None
    if times is None or not {CHAIN, IN_A_ROW, ALONE} <= times.keys():
        return None
    without = {name: times[WITHOUT + name] for name in PASSES if WITHOUT + name in times}
    return Costs(
        entry.name, times[CHAIN], times[IN_A_ROW], times[ALONE], without, dict(entry.refused)
    )


def identity(chain: Compiled, passes: int) -> tuple[str, str, str, int]:
    """Return the identity of a chain's measurement; see `Entry.identity`.

    Args:
        chain: The chain.
        passes: Number of the set of passes.
    """
    key, size = key_of([chain], passes)
    return KIND, key, "deterministic" if runtime.configuration["deterministic"] else "", size


def known_costs(chain: Compiled, passes: int) -> Costs | None:
    """Return the stored measurement of a chain; None: not measured.

    Args:
        chain: The chain.
        passes: Number of the set of passes.
    """
    tuned = runtime.engine.tuned
    entries = tuned.entries(runtime.backend, KIND) if tuned.is_on else []
    if not entries:
        return None
    wanted = identity(chain, passes)
    return next((costs_of(one) for one in entries if one.identity == wanted), None)
