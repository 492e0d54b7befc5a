# SPDX-License-Identifier: BSD-3-Clause
"""What joins the step before, and what could be done beyond the passes, and why it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.chain.periods import period_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx import _core
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part

NO_PASSES = {
    "recompute": "what neighbours need is stored; explain() says for each value what it would take "
    "to compute it again",
    "tile": "loops that are not combined run one after the other over all elements",
}
"""Names under which somebody may look for a pass, and what there is instead."""
_OPERATIONS_A_BYTE = 7.0
"""Of double precision, for each byte that an H200 moves at the same time; processors have fewer."""


class Step(Protocol):
    """What is asked of a function's report."""

    @property
    def loops(self) -> tuple[int, ...]:
        """Numbers of the loops that it is made of."""

    @property
    def inverted(self) -> tuple[int, ...]:
        """Those that are visited from their targets."""


def lines_on(
    keys: Sequence[object],
    loops: Sequence[ParLoop | None],
    reports: Sequence[Step],
    names: Sequence[str],
    decisions: Sequence[_core.chain.Decision],
) -> tuple[str, ...]:
    """Return what `explain` says of rotation and of values computed again.

    Args:
        keys: Of the entries.
        loops: Those of the program; None for actions.
        reports: The functions.
        names: Of the entries.
        decisions: What was tried.
    """
    lines = [*_on_rotation(keys, names, decisions), *_on_recomputing(loops, reports)]
    return tuple(dict.fromkeys(lines))


def _on_rotation(
    keys: Sequence[object], names: Sequence[str], decisions: Sequence[_core.chain.Decision]
) -> Iterator[str]:
    period = period_of(keys)
    if period < len(keys):
        joined = [one.loops for one in decisions if one.passed == "rotate" and one.applied]
        for *before, loop in joined:
            members = " + ".join(names[i] for i in before)
            yield f"rotate: {names[loop]} joins {members} of the step before"
        if not joined:
            yield (
                f"rotate: the same comes again after {period} loops, and none of them joins those "
                "of the step before"
            )
    elif len(keys) > 1:
        yield (
            "rotate: these loops come once; of several steps in one block the end of each could "
            "join the beginning of the next"
        )


def _on_recomputing(loops: Sequence[ParLoop | None], reports: Sequence[Step]) -> Iterator[str]:
    step_of = {loop: number for number, step in enumerate(reports) for loop in step.loops}
    for at, writer in enumerate(loops):
        for made in [] if writer is None else _made(writer):
            for later, reader in enumerate(loops[at + 1 :], at + 1):
                assert writer is not None
                if reader is None:
                    continue
                used = [part for part in reader._parts if part.data is made.data]
                is_gathered = any(part.map_ is not None and part.access == READ for part in used)
                if is_gathered and step_of[at] != step_of[later]:
                    yield _why_stored(writer, made, reader)
                if any(part.access != READ for part in used):
                    break


def _made(loop: ParLoop) -> list[Part]:
    """Dats that a loop writes at its own elements, and changes nothing else."""
    if any(part.access not in (READ, WRITE) or part.is_of_matrix for part in loop._parts):
        return []
    return [
        part
        for part in loop._parts
        if part.access == WRITE and part.map_ is None and part.home is not None
    ]


def _why_stored(writer: ParLoop, made: Part, reader: ParLoop) -> str:
    what = f"recompute: {made.data.name}, which {reader.kernel.name} reads through a Map, is stored"
    for part in writer._parts:
        if part.map_ is not None:
            return (
                f"{what}: {writer.kernel.name} reads {part.data.name} through Map "
                f"'{part.map_.name}', and no Map leads there from the elements of "
                f"{reader.kernel.name}"
            )
    saved, added, n_operations = _costs(writer, made, reader)
    if added >= saved:
        return (
            f"{what}: what it is made of would be {added / 1e6:.1f} MB to read, and "
            f"{saved / 1e6:.1f} MB are saved"
        )
    each = n_operations / (saved - added)
    said = f"{what}: to compute it again would take {each:.1f} operations for each byte saved"
    if each > _OPERATIONS_A_BYTE:
        return f"{said}, and {_OPERATIONS_A_BYTE:.0f} is what a GPU has"
    return f"{said}, which could pay, but there is no such pass"


def _costs(writer: ParLoop, made: Part, reader: ParLoop) -> tuple[int, int, int]:
    """Return the bytes that are neither stored nor read, those read instead, and operations."""
    gathering = [part for part in reader._parts if part.map_ is not None]
    n_calls = sum(
        reader._items.n * part.map_.arity
        for part in gathering
        if part.map_ is not None and part.data is made.data
    )
    rows = min(writer._items.n, n_calls)
    known = {id(part.data) for part in gathering}
    added = sum(
        rows * part.dim * part.dtype.itemsize
        for part in writer._parts
        if part.access == READ and part.home is not None and id(part.data) not in known
    )
    saved = (writer._items.n + rows) * made.dim * made.dtype.itemsize
    return saved, added, writer.kernel.num_flops * n_calls
