# SPDX-License-Identifier: BSD-3-Clause
"""Report: rotations made, and optimisations not applied, with reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from pyop2cxx import _core
from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.chain.periods import period_of
from pyop2cxx.chain.recompute import why_stored
from pyop2cxx.loop.facts import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyop2cxx.chain.candidate import Candidate
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part

NO_PASSES = {
    "tile": "loops that are not combined run one after the other over all elements",
}
"""Names of missing passes, with the existing alternative."""


class Step(Protocol):
    """The used part of a function's report."""

    @property
    def loops(self) -> tuple[int, ...]:
        """Indices of the loops."""

    @property
    def inverted(self) -> tuple[int, ...]:
        """Indices of the loops visited from their targets."""


def lines_on(
    keys: Sequence[object],
    loops: Sequence[Candidate | None],
    reports: Sequence[Step],
    names: Sequence[str],
    decisions: Sequence[_core.chain.Decision],
    tried: Mapping[int, str],
) -> tuple[str, ...]:
    """Return the lines of `explain` on rotation and on recomputed values.

    Args:
        keys: Of the entries.
        loops: Loops of the program as candidates; None for actions.
        reports: The functions.
        names: Of the entries.
        decisions: Decisions of the passes.
        tried: Lines on recomputable Dats, by index of the loop.
    """
    lines = [*_on_rotation(keys, names, decisions), *tried.values()]
    lines += _on_recomputing(loops, reports, tried)
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


def _on_recomputing(
    loops: Sequence[Candidate | None], reports: Sequence[Step], tried: Mapping[int, str]
) -> Iterator[str]:
    step_of = {loop: number for number, step in enumerate(reports) for loop in step.loops}
    for at, writer in enumerate(loops):
        if writer is None:
            continue
        for made in _made(writer.loop):
            if made.data.uid in tried:
                continue
            readers: list[ParLoop] = []
            for later, reader in enumerate(loops[at + 1 :], at + 1):
                if reader is None:
                    continue
                used = [part for part in reader.loop.parts if part.data is made.data]
                is_gathered = any(part.map_ is not None and part.access == READ for part in used)
                if is_gathered and step_of[at] != step_of[later]:
                    readers.append(reader.loop)
                if any(part.access != READ for part in used):
                    break
            if readers:
                yield _why_stored(writer, made, readers)


def _made(loop: ParLoop) -> list[Part]:
    """Dats written at a loop's own elements; empty if the loop changes anything else."""
    if any(part.access not in (READ, WRITE) or part.is_of_matrix for part in loop.parts):
        return []
    return [
        part
        for part in loop.parts
        if part.access == WRITE and part.map_ is None and part.home is not None
    ]


def _why_stored(candidate: Candidate, made: Part, readers: Sequence[ParLoop]) -> str:
    writer = candidate.loop
    cost = _costs(writer, made, readers)
    names = " and ".join(dict.fromkeys(reader.kernel.name for reader in readers))
    said = (
        f"recompute: {made.data.name}, which {names} read{'s' * (len(readers) == 1)} through a "
        f"Map, is stored: {cost.saved / 1e6:.1f} MB to write and read; to compute it again, "
        f"{cost.added / 1e6:.1f} MB would be read in their place"
    )
    if cost.added >= cost.saved:
        return said + "".join(
            f", {part.data.name} by a Map that leads where {writer.kernel.name} goes by "
            f"'{part.map_.name}'"
            for part in writer.parts
            if part.map_ is not None
        )
    each = cost.n_operations / (cost.saved - cost.added)
    said += f", and it would take {each:.1f} operations for each byte saved"
    gpu = _core.tuning_of_class("gpu")
    most = gpu["operation_rate"] / gpu["memory_rate"]
    if each > most:
        return f"{said}, where {most:.1f} is what a GPU has"
    return f"{said}, which could pay, but {why_stored(candidate) or 'its readers cannot do that'}"


class _Costs(NamedTuple):
    """Cost of recomputing values.

    Attributes:
        saved: Bytes neither stored nor read.
        added: Bytes read in their place.
        n_operations: Of all readers together.
    """

    saved: int
    added: int
    n_operations: int


def _costs(writer: ParLoop, made: Part, readers: Sequence[ParLoop]) -> _Costs:
    saved = writer.items.n * made.dim * made.dtype.itemsize
    added = n_operations = 0
    for reader in readers:
        gathering = [part for part in reader.parts if part.map_ is not None]
        n_calls = sum(
            reader.items.n * part.map_.arity
            for part in gathering
            if part.map_ is not None and part.data is made.data
        )
        saved += min(writer.items.n, n_calls) * made.dim * made.dtype.itemsize
        added += _read_again(writer, n_calls, {id(part.data) for part in gathering})
        n_operations += writer.kernel.num_flops * n_calls
    return _Costs(saved, added, n_operations)


def _read_again(writer: ParLoop, n_calls: int, known: set[int]) -> int:
    """Return the bytes of the inputs not read by a reader already."""
    n_bytes, maps = 0, set()
    for part in writer.parts:
        if part.access != READ or part.home is None:
            continue
        row, n_rows = part.dim * part.dtype.itemsize, min(writer.items.n, n_calls)
        if part.map_ is not None:  # readers lack the Map: it is built, and read for each call
            n_rows = min(n_calls * part.map_.arity, part.home.total_size)
            if part.map_ not in maps:
                maps.add(part.map_)
                n_bytes += n_calls * part.map_.arity * table_of(part.map_).index_bytes
        n_bytes += 0 if id(part.data) in known else n_rows * row
    return n_bytes
