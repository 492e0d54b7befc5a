# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a mesh shared by ranks: owners, ghosts, and their order on a rank.

All functions see the whole mesh, and give equal results on each rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array

    Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The values of a Map between two Sets.

    Attributes:
        start: Index of the source Set.
        end: Index of the target Set.
        values: Shape (n, arity); -1 leads nowhere. For columns of cells all levels, the lowest
            first: shape (n, n_levels * arity).
        arity: How many of the columns are of the lowest level; None: there are no levels.
    """

    start: int
    end: int
    values: Array
    arity: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The entities of a Set on a rank, in order: core, other owned, computed again, other ghosts.

    Attributes:
        numbers: Their global numbers, int64.
        sizes: How many are core; owned; owned or computed again; there at all.
    """

    numbers: Numbers
    sizes: tuple[int, int, int, int]


def runs_of(n_entities: Sequence[int], tables: Sequence[Table]) -> list[Array | None]:
    """Return the entities that must stay one after the other, since Maps have offsets.

    Args:
        n_entities: Of each Set.
        tables: The Maps.

    Returns:
        For each Set the number of the run of each entity, ascending; None: no Map has offsets.
    """
    found: list[Array | None] = [None] * len(n_entities)
    for end, n in enumerate(n_entities):
        ends = []
        for table in tables:
            if table.end != end or table.arity is None or not table.values.size:
                continue
            levels = table.values.reshape(len(table.values), -1, table.arity)
            low = np.where(levels < 0, n, levels).min(axis=1).reshape(-1)
            ends.append(np.stack([low, levels.max(axis=1).reshape(-1)]))
        if not ends:
            continue
        low, high = np.concatenate(ends, axis=1)
        is_joined = np.zeros(n + 1, np.int64)  # to the entity before
        used = (high >= 0) & (low < high)
        np.add.at(is_joined, low[used] + 1, 1)
        np.add.at(is_joined, high[used] + 1, -1) if used.any() else None
        found[end] = np.cumsum(np.cumsum(is_joined)[:n] == 0) - 1
    return found


def _of_runs(owners: Array, runs: Array | None) -> Array:
    """Return the owners, where each run belongs to the owner of the first entity."""
    if runs is None or not len(runs):
        return owners
    first = np.flatnonzero(np.append(True, runs[1:] != runs[:-1]))
    return owners[first][runs]


def spread(
    n_entities: Sequence[int],
    tables: Sequence[Table],
    base: int,
    of_base: Array,
    n_ranks: int,
    runs: Sequence[Array | None],
) -> list[Array]:
    """Return the owner of each entity of all Sets.

    An element belongs to the owner of the least target, a target to that of the first element.
    Entities that no Map reaches are dealt out evenly.

    Args:
        n_entities: Of each Set.
        tables: The Maps; they connect all Sets with the base.
        base: Index of the Set with a partition.
        of_base: The partition: a rank for each entity.
        n_ranks: How many ranks there are.
        runs: Entities with a common owner, see `runs_of`.

    Returns:
        For each Set an array of int32, shape (n,).
    """
    owners: dict[int, Array] = {base: _of_runs(np.asarray(of_base, np.int32), runs[base])}
    waiting = True
    while waiting:
        waiting = False
        for table in tables:
            if table.end in owners and table.start not in owners:
                found = _of_elements(table, owners[table.end], n_ranks)
                owners[table.start] = _of_runs(found, runs[table.start])
                waiting = True
                break
        else:
            for table in tables:
                if table.start in owners and table.end not in owners:
                    n = n_entities[table.end]
                    of_targets = _of_targets(table, owners[table.start], n, n_ranks)
                    owners[table.end] = _of_runs(of_targets, runs[table.end])
                    waiting = True
                    break
    return [owners[i] for i in range(len(n_entities))]


def _of_elements(table: Table, of_targets: Array, n_ranks: int) -> Array:
    n = len(table.values)
    least = np.full(n, len(of_targets), np.int64)
    for column in table.values.T:
        np.minimum(least, np.where(column < 0, len(of_targets), column), out=least)
    return _filled(np.append(of_targets, np.int32(-1))[least], n_ranks)


def _of_targets(table: Table, of_elements: Array, n: int, n_ranks: int) -> Array:
    found = np.full(n, -1, np.int32)
    flat = table.values.reshape(-1)[::-1]
    owners = np.repeat(of_elements, table.values.shape[1])[::-1]
    there = flat >= 0
    found[flat[there]] = owners[there]  # the last assignment, by the first element, holds
    return _filled(found, n_ranks)


def _filled(owners: Array, n_ranks: int) -> Array:
    lost = np.flatnonzero(owners < 0)
    owners[lost] = np.arange(len(lost)) * n_ranks // max(len(lost), 1)
    return owners


def shares(
    owners: Sequence[Array], tables: Sequence[Table], rank: int, runs: Sequence[Array | None]
) -> list[Share]:
    """Return the entities of all Sets on a rank.

    An element is computed again if a Map leads to something owned; targets of all computed elements
    are there. An element is core if all targets are owned.

    Args:
        owners: The owner of each entity, of each Set.
        tables: The Maps between the Sets.
        rank: The rank.
        runs: Entities that are there together, see `runs_of`.
    """
    owned = [found == rank for found in owners]
    reaches = [np.zeros(len(found), np.bool_) for found in owners]
    leaves = [np.zeros(len(found), np.bool_) for found in owners]
    for table in tables:
        inside = np.append(owned[table.end], False)[table.values]
        outside = ~inside & (table.values >= 0)
        reaches[table.start] |= inside.any(axis=1)
        leaves[table.start] |= outside.any(axis=1)
    computed = [mine | near for mine, near in zip(owned, reaches, strict=True)]
    needed = [found.copy() for found in computed]
    for table in tables:
        reached = table.values[computed[table.start]]
        needed[table.end][reached[reached >= 0]] = True
    for there, of_set in zip(needed, runs, strict=True):
        if of_set is not None and len(of_set):
            there |= np.bincount(of_set, weights=there)[of_set] > 0
    return [_share(*each) for each in zip(owners, owned, leaves, computed, needed, strict=True)]


def _share(owner: Array, owned: Array, leaves: Array, computed: Array, needed: Array) -> Share:
    core = np.flatnonzero(owned & ~leaves)
    boundary = np.flatnonzero(owned & leaves)
    again = np.flatnonzero(computed & ~owned)
    rest = np.flatnonzero(needed & ~computed)
    by_owner = [part[np.argsort(owner[part], kind="stable")] for part in (again, rest)]
    parts = [core, boundary, *by_owner]
    first, second, third, fourth = (int(end) for end in np.cumsum([len(part) for part in parts]))
    return Share(np.concatenate(parts).astype(np.int64), (first, second, third, fourth))


def local_values(table: Table, shares_: Sequence[Share]) -> Array:
    """Return the values of a Map in the numbers of a rank.

    Rows of other ghosts than near ghosts lead nowhere: no loop visits the rows.

    Args:
        table: The Map, in global numbers.
        shares_: The entities of all Sets on the rank.
    """
    start, end = shares_[table.start], shares_[table.end]
    place = np.full(int(max(end.numbers.max(initial=-1), table.values.max(initial=-1))) + 2, -1)
    place[end.numbers] = np.arange(len(end.numbers))
    rows = table.values[start.numbers]
    found = place[rows]  # place[-1] is -1
    found[start.sizes[2] :] = -1
    return found if table.arity is None else found[:, : table.arity]


def keeps_offsets(table: Table, shares_: Sequence[Share]) -> bool:
    """Say whether offsets of a Map lead to the right entities in the numbers of a rank."""
    if table.arity is None:
        return True
    start, end = shares_[table.start], shares_[table.end]
    rows = table.values[start.numbers[: start.sizes[2]]]
    place = np.full(int(max(end.numbers.max(initial=-1), table.values.max(initial=-1))) + 2, -1)
    place[end.numbers] = np.arange(len(end.numbers))
    n_levels = rows.shape[1] // table.arity if table.arity else 0
    steps = [np.tile(one[:, : table.arity], n_levels) for one in (rows, place[rows])]
    return bool(((rows - steps[0] == place[rows] - steps[1]) | (rows < 0)).all())
