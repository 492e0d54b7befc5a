# SPDX-License-Identifier: BSD-3-Clause
"""Which provider ran which loop: ``op2.dispatch.report()``."""

from __future__ import annotations

from dataclasses import dataclass

from pyop2cxx.runtime import runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often a loop was resolved one way.

    Attributes:
        loop: The kernel's name.
        provider: Who had it; empty if nobody did, see `origin`.
        strategy: How racing updates are resolved.
        rejected: Who was asked before, and why they had nothing.
        count: How often.
        origin: If nobody had it, what was done: 'compiled'; 'disk' or 'memory' if loaded from
            a cache; empty if it failed.
        seconds: That this took, generating the text included.
    """

    loop: str
    provider: str
    strategy: str
    rejected: str
    count: int
    origin: str = ""
    seconds: float = 0.0


class Report(tuple[Row, ...]):
    """Rows that print as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        head = ("loop", "provider", "strategy", "count", "ms", "rejected")
        cells = [head]
        for row in self:
            cells.append(
                (
                    row.loop,
                    row.provider or row.origin or "-",
                    row.strategy or "-",
                    str(row.count),
                    f"{1e3 * row.seconds:.1f}" if row.origin else "-",
                    row.rejected,
                )
            )
        widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
        lines = ("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in cells)
        return "\n".join(line.rstrip() for line in lines)


def report() -> Report:
    """Return who was asked for the loops so far, and what they answered.

    Example:
        >>> from pyop2cxx import op2
        >>> isinstance(str(op2.dispatch.report()), str)
        True
    """
    return Report(
        Row(
            loop=event.loop,
            provider=event.provider,
            strategy=event.strategy,
            rejected=event.rejected,
            count=event.n_resolved,
            origin=event.origin,
            seconds=event.nanoseconds * 1e-9,
        )
        for event in runtime.engine.dispatcher.events()
    )


def clear() -> None:
    """Forget the events so far."""
    runtime.engine.dispatcher.clear_events()
