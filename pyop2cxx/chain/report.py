# SPDX-License-Identifier: BSD-3-Clause
"""Report of the functions of a chain, with reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.chain.costs import known_costs
from pyop2cxx.chain.kernel_lines import deciding_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx import _core
    from pyop2cxx.chain.compile import Compiled, StepReport
    from pyop2cxx.chain.costs import Costs


class Report:
    """The functions of a chain's loops. `print` the report, or read the attributes.

    Attributes:
        chains: Chains run, each once.
        why_at_once: Reason why the loops of the block ran at once; `chains` are then from an
            earlier block. Empty: the loops were recorded.
        refused: Loops run at once, by name, with the reason.
        passes: Number of the set of passes.
    """

    def __init__(
        self,
        chains: Sequence[Compiled],
        why_at_once: str,
        refused: dict[str, str],
        passes: int = 0,
    ) -> None:
        self.passes = passes
        self.chains = chains
        self.why_at_once = why_at_once
        self.refused = refused

    @property
    def steps(self) -> tuple[StepReport, ...]:
        """The functions of the first chain, in the order of their run; tuple."""
        return self.chains[0].reports if self.chains else ()

    @property
    def decisions(self) -> tuple[_core.chain.Decision, ...]:
        """The decisions of the passes on the first chain; tuple."""
        return self.chains[0].decisions if self.chains else ()

    @property
    def n_bytes(self) -> int:
        """Bytes moved by a run of all chains, by the model."""
        return sum(step.n_bytes for chain in self.chains for step in chain.reports)

    @property
    def eager_bytes(self) -> int:
        """Bytes moved by the loops in sequence, by the model."""
        return sum(chain.eager_bytes for chain in self.chains)

    @property
    def costs(self) -> tuple[Costs | None, ...]:
        """What ``pyop2cxx tune`` has measured for each chain, for each pass; None: nothing."""
        return tuple(known_costs(chain, self.passes) for chain in self.chains)

    def __str__(self) -> str:
        lines = []
        for chain, costs in zip(self.chains, self.costs, strict=True):
            lines += _lines(chain)
            if costs is not None:
                first, *others = costs.lines()
                lines += [f"  measured: {first}", *(f"    {line}" for line in others)]
        lines += [f"  {name} runs at once: {why}" for name, why in self.refused.items()]
        if self.why_at_once:
            lines.append(f"  at once: {self.why_at_once}")
        return "\n".join(lines) or "no loops ran"


def _lines(chain: Compiled) -> list[str]:
    after = sum(step.n_bytes for step in chain.reports)
    lines = [
        f"{len(chain.names)} loops became {len(chain.reports)} functions; "
        f"{chain.eager_bytes / 1e6:.1f} MB to move became {after / 1e6:.1f} MB"
    ]
    lines += [f"  {described(step, chain.names)}" for step in chain.reports]
    refused: dict[str, None] = {}  # each reason once, in order
    for one in chain.decisions:
        if not one.applied:
            refused.setdefault(f"  {_reason(one, chain.names)}")
            for line in deciding_lines(one.why, chain.codes):
                refused.setdefault(f"    {line}")
    for step in chain.reports:
        refused |= dict.fromkeys(f"  geometry: {why}" for why in step.why_no_corners)
    return [*lines, *refused, *(f"  {line}" for line in chain.left_out)]


def described(step: StepReport, names: Sequence[str]) -> str:
    """Return the members of a function, in a line.

    Args:
        step: The function.
        names: Of the chain's loops.
    """
    members = [
        f"{names[i]} seen from its targets" if i in step.inverted else names[i] for i in step.loops
    ]
    text = " + ".join(members)
    if step.renamed:
        text += f"; second buffers: {', '.join(step.renamed)}"
    if step.dropped:
        text += f"; not stored: {', '.join(step.dropped)}"
    if step.redirected:
        text += f"; read where they were copied from: {', '.join(step.redirected)}"
    if step.corners:
        taken = (f"{elements} taken from {targets}" for elements, targets in step.corners)
        text += f"; entries of {', of '.join(taken)}"
    if step.zeroed:
        text += f"; sums that start at 0: {', '.join(step.zeroed)}"
    if step.lanes:
        text += f"; on {step.lanes} lanes: {step.why_lanes}"
    return text


def _reason(one: _core.chain.Decision, names: Sequence[str]) -> str:
    *group, loop = (names[i] for i in one.loops)
    if one.passed == "copy":
        return f"the copy within {' + '.join([*group, loop])} is made: {one.why}"
    return f"{loop} does not join {' + '.join(group)} ({one.passed}): {one.why}"
