# SPDX-License-Identifier: BSD-3-Clause
"""Partitions of a Set: of the graph of its neighbours, along a Hilbert curve, or given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import RanksError, UsageError
from pyop2cxx.ranks.partitioners import PARTITIONERS
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.ranks.owners import Table

METHODS = (*PARTITIONERS, "hilbert")
_MOST_STEPS = 64
"""Elements of a target linked with each other; of more, only close numbers are linked."""
_CORNERS = 3
"""Targets of an element from which on a common target is a corner, not a side."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """The neighbours of each entity.

    Attributes:
        begins: Where the neighbours of each entity begin in `neighbours`; shape (n + 1,).
        neighbours: The neighbours of all, one after the other.
    """

    begins: Array
    neighbours: Array

    @property
    def n(self) -> int:
        """Number of entities."""
        return len(self.begins) - 1


def graph_of(n: int, base: int, tables: Sequence[Table]) -> Graph:
    """Return the neighbours among the entities of a Set.

    Neighbours are named by a row of a Map to the Set, such as the cells of an edge. Without
    such a Map entities with common targets are neighbours.

    Args:
        n: How many entities there are.
        base: Index of the Set.
        tables: The Maps of the mesh.
    """
    ends = [t.values[:, : t.arity] for t in tables if t.end == base]
    named = [values for values in ends if values.shape[1] > 1]
    if named:
        pairs = [_pairs(values) for values in named]
    else:
        pairs = [_by_targets(t.values[:, : t.arity]) for t in tables if t.start == base]
    both = np.concatenate([*pairs, np.zeros((0, 2), np.int64)])
    both = both[(both >= 0).all(axis=1) & (both[:, 0] != both[:, 1])]
    keys = np.sort(np.concatenate([both[:, 0] * n + both[:, 1], both[:, 1] * n + both[:, 0]]))
    keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
    begins = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(keys // max(n, 1), minlength=n), out=begins[1:])
    return Graph(begins, keys % max(n, 1))


def _pairs(values: Array) -> Array:
    values = values.astype(np.int64)
    width = values.shape[1]
    return np.concatenate([values[:, [i, j]] for i in range(width) for j in range(i)])


def _by_targets(values: Array) -> Array:
    """Return pairs of elements with two common targets, or with one if they have no more."""
    flat = values.reshape(-1)
    elements = np.repeat(np.arange(len(values)), values.shape[1])[flat >= 0]
    order = np.argsort(flat[flat >= 0], kind="stable")
    targets, elements = flat[flat >= 0][order], elements[order]
    found = [np.zeros((0, 2), np.int64)]
    for step in range(1, _MOST_STEPS):
        same = np.flatnonzero(targets[step:] == targets[:-step])
        if len(same) == 0:
            break
        pair = np.stack([elements[same], elements[same + step]], axis=1)
        found.append(np.sort(pair, axis=1))
    pairs = np.concatenate(found)
    if values.shape[1] < _CORNERS:
        return pairs
    pairs = pairs[np.lexsort(pairs.T)]
    twice = (pairs[1:] == pairs[:-1]).all(axis=1)
    return pairs[1:][twice] if twice.any() else pairs


def by_graph(method: str, graph: Graph, n_ranks: int) -> Array:
    """Return a rank for each entity, with few cut pairs.

    Args:
        method: One of `PARTITIONERS`.
        graph: The neighbours of each entity.
        n_ranks: How many ranks there are.

    Raises:
        MissingExtraError: The partitioner is not installed.
    """
    if n_ranks == 1 or graph.n == 0:
        return np.zeros(graph.n, np.int32)
    return PARTITIONERS[method](graph.begins, graph.neighbours, n_ranks)


def by_curve(points: Array, n_ranks: int) -> Array:
    """Return a rank for each point: as many for each, along a Hilbert curve."""
    given = np.ascontiguousarray(points, np.float64)
    keys = _core.plan.curve_keys(
        _core.plan.Curve.hilbert, given, given.shape[1], runtime.engine.n_threads
    )
    found = np.empty(len(given), np.int32)
    found[np.argsort(keys, kind="stable")] = np.arange(len(given)) * n_ranks // max(len(given), 1)
    return found


def checked(given: Any, n: int, n_ranks: int, what: str) -> Array:
    """Return a partition given as an array, as int32.

    Raises:
        RanksError: The array has another length, or a rank does not exist.
    """
    try:
        found = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise RanksError(f"{what}: partition: {error}") from None
    if found.dtype.kind not in "iu" or found.shape != (n,):
        raise RanksError(
            f"{what}: a partition is {' or '.join(map(repr, METHODS))}, or an array of integers of "
            f"shape ({n},), got {given!r:.60} of dtype {found.dtype} and shape {found.shape}"
        )
    wrong = np.flatnonzero((found < 0) | (found >= n_ranks))
    if len(wrong):
        raise RanksError(
            f"{what}: partition[{wrong[0]}] is {found[wrong[0]]}, but there are ranks 0 to "
            f"{n_ranks - 1}"
        )
    return found.astype(np.int32)


def check_method(given: str, coordinates: Any, what: str) -> None:
    """Raise unless a partition can be made by a method.

    Raises:
        UsageError: The method does not exist, or coordinates are missing.
    """
    if given not in METHODS:
        raise UsageError(
            f"{what}: partition {given!r} is unknown; there are {', '.join(map(repr, METHODS))}, "
            "and arrays of ranks"
        )
    if given == "hilbert" and coordinates is None:
        raise UsageError(f"{what}: partition 'hilbert' needs coordinates=, a Dat of points")
