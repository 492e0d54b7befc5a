# SPDX-License-Identifier: BSD-3-Clause
"""Owners and ghosts of random meshes: each rank has all that loops need there."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from pyop2cxx.ranks.owners import Table, keeps_offsets, local_values, runs_of, shares, spread


@settings(max_examples=60, deadline=None)
@given(some.integers(0, 2**32 - 1), some.integers(1, 4))
def test_each_rank_has_what_loops_need(seed: int, n_ranks: int) -> None:
    random = np.random.default_rng(seed)
    n = [int(random.integers(1, 30)) for _ in range(3)]
    tables = [
        Table(a, b, random.integers(-1, n[b], (n[a], int(random.integers(1, 4)))))
        for a, b in [(0, 1), (2, 0), (2, 1)]
    ]
    of_base = random.integers(0, n_ranks, n[0])
    owners = spread(n, tables, 0, of_base, n_ranks, runs_of(n, tables))
    assert owners[0].tolist() == of_base.tolist()
    seen = [np.zeros(size, int) for size in n]
    for rank in range(n_ranks):
        mine = shares(owners, tables, rank, runs_of(n, tables))
        for owner, share, count in zip(owners, mine, seen, strict=True):
            core, owned, computed, total = share.sizes
            assert core <= owned <= computed <= total == len(set(share.numbers.tolist()))
            count[share.numbers[:owned]] += 1
            assert (owner[share.numbers[:owned]] == rank).all()
            assert (owner[share.numbers[owned:]] != rank).all()
        for table in tables:
            start, end = mine[table.start], mine[table.end]
            local = local_values(table, mine)
            core, owned, computed, _ = start.sizes
            wanted = table.values[start.numbers[:computed]]
            found = np.append(end.numbers, -1)[local[:computed]]
            assert (found == wanted).all()
            assert (local[computed:] == -1).all()
            assert (local[:core] < end.sizes[1]).all()
            mine_there = np.append(owners[table.end], -1)[table.values] == rank
            touching = np.flatnonzero(mine_there.any(axis=1))
            assert set(touching) <= set(start.numbers[:computed].tolist())
    assert all((count == 1).all() for count in seen)


@settings(max_examples=60, deadline=None)
@given(seed=some.integers(0, 10_000), n_ranks=some.integers(1, 4))
def test_columns_stay_together(seed: int, n_ranks: int) -> None:
    random = np.random.default_rng(seed)
    n, arity, n_levels = int(random.integers(1, 9)), int(random.integers(1, 4)), 3
    low = random.integers(0, 30, (n, arity))
    offset = random.integers(0, 3, arity)
    values = np.concatenate([low + offset * level for level in range(n_levels)], axis=1)
    sizes, tables = [n, 40], [Table(0, 1, values, arity)]
    (none, runs) = runs_of(sizes, tables)
    assert none is None
    assert runs is not None
    assert (np.diff(runs) >= 0).all()
    assert runs[0] == 0
    for start, step in zip(low.reshape(-1), np.tile(offset, n), strict=True):
        assert len(set(runs[start : start + step * (n_levels - 1) + 1])) == 1
    of_base = random.integers(n_ranks, size=n)
    owners = spread(sizes, tables, 0, of_base, n_ranks, [none, runs])
    assert all(len(set(owners[1][runs == run])) == 1 for run in runs)
    for rank in range(n_ranks):
        mine = shares(owners, tables, rank, [none, runs])
        assert keeps_offsets(tables[0], mine)
        local = local_values(tables[0], mine)
        assert local.shape[1] == arity
        rows = mine[0].numbers[: mine[0].sizes[2]]
        for level in range(n_levels):
            reached = mine[1].numbers[local[: len(rows)] + offset * level]
            assert (reached == (low + offset * level)[rows]).all()
