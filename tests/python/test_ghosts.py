# SPDX-License-Identifier: BSD-3-Clause
"""Halos in one process: a ring whose ghosts are the entities at its other end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import HaloFrozenError, ModeValueError

N = 5
OWNERS = [N - 1, 0]  # of the ghosts N and N + 1


class Ring(op2.Halo):
    """Brings values by copying; counts what it is asked."""

    comm = None
    local_to_global_numbering = (*range(N), *OWNERS)

    def __init__(self) -> None:
        self.asked: list[tuple[str, op2.Access]] = []

    def global_to_local_begin(self, dat: Any, insert_mode: op2.Access) -> None:
        self.asked.append(("g2l", insert_mode))
        values = dat.data_with_halos
        values[N:] = values[OWNERS]

    def global_to_local_end(self, dat: Any, insert_mode: op2.Access) -> None:
        self.asked.append(("g2l end", insert_mode))

    def local_to_global_begin(self, dat: Any, insert_mode: op2.Access) -> None:
        self.asked.append(("l2g", insert_mode))
        combine = {op2.INC: np.add, op2.MIN: np.minimum, op2.MAX: np.maximum}[insert_mode]
        combine.at(dat._data, OWNERS, dat._data[N:])

    def local_to_global_end(self, dat: Any, insert_mode: op2.Access) -> None:
        self.asked.append(("l2g end", insert_mode))

    def took(self) -> list[str]:
        names = [name for name, _ in self.asked if " " not in name]
        self.asked.clear()
        return names


@pytest.fixture
def halo() -> Ring:
    return Ring()


@pytest.fixture
def nodes(halo: Ring) -> op2.Set:
    return op2.Set((N - 2, N, N + 2), "nodes", halo=halo)


@pytest.fixture
def links(nodes: op2.Set) -> op2.Map:
    """From each node to those on its left and right; at the ends these are ghosts."""
    left, right = np.arange(N) - 1, np.arange(N) + 1
    left[0], right[-1] = N, N + 1
    owned = op2.Set(N, "cells")
    return op2.Map(owned, nodes, 2, np.stack([left, right], axis=1))


SUM = op2.Kernel("void k(double *y, const double *x) { y[0] = x[0] + x[1]; }", "k")
ADD = op2.Kernel("void k(double *x, const double *y) { x[0] += y[0]; x[1] += y[0]; }", "k")
LEAST = op2.Kernel("void k(double *x) { x[0] = fmin(x[0], 1.0); }", "k")


def test_ghosts_are_read_after_they_were_brought(
    halo: Ring, nodes: op2.Set, links: op2.Map
) -> None:
    x, y = op2.Dat(nodes), op2.Dat(links.iterset)
    x.data[:] = np.arange(1.0, N + 1)
    for _ in range(2):
        op2.par_loop(SUM, links.iterset, y(op2.WRITE), x(op2.READ, links))
        assert y.data_ro.tolist() == [7.0, 4.0, 6.0, 8.0, 5.0]
        assert x.halo_valid
    assert halo.took() == ["g2l"]
    x.data[0] = 11.0
    op2.par_loop(SUM, links.iterset, y(op2.WRITE), x(op2.READ, links))
    assert y.data_ro.tolist() == [7.0, 14.0, 6.0, 8.0, 15.0]
    assert halo.took() == ["g2l"]


def test_owners_get_what_ghosts_gathered(halo: Ring, nodes: op2.Set, links: op2.Map) -> None:
    x = op2.Dat(nodes, np.full(N + 2, 100.0))
    y = op2.Dat(links.iterset, np.arange(1.0, N + 1))
    op2.par_loop(ADD, links.iterset, x(op2.INC, links), y(op2.READ))
    assert x.data_ro.tolist() == [107.0, 104.0, 106.0, 108.0, 105.0]
    assert halo.took() == ["l2g"]
    assert not x.halo_valid


def test_a_direct_argument_leaves_ghosts_alone(halo: Ring, nodes: op2.Set) -> None:
    x = op2.Dat(nodes, np.full(N + 2, 2.0))
    op2.par_loop(LEAST, nodes, x(op2.RW))
    assert halo.took() == []
    assert x.data_ro_with_halos.tolist() == [1.0] * (N + 2)
    assert halo.took() == ["g2l"]
    assert x.data_ro_with_halos.tolist() == [1.0] * (N + 2)
    x.data_wo_with_halos[:] = 3.0
    assert halo.took() == []


def test_a_frozen_halo_is_exchanged_once(halo: Ring, nodes: op2.Set, links: op2.Map) -> None:
    x = op2.Dat(nodes)
    y = op2.Dat(links.iterset, np.arange(1.0, N + 1))
    with x.frozen_halo(op2.INC):
        for _ in range(3):
            op2.par_loop(ADD, links.iterset, x(op2.INC, links), y(op2.READ))
        assert halo.took() == []
        with pytest.raises(HaloFrozenError, match="frozen with INC"):
            op2.par_loop(SUM, links.iterset, y(op2.WRITE), x(op2.READ, links))
    assert halo.took() == ["l2g"]
    assert x.data_ro.tolist() == [21.0, 12.0, 18.0, 24.0, 15.0]


@pytest.mark.parametrize(
    ("dtype", "access", "least"),
    [
        ("float64", op2.MIN, np.inf),
        ("float32", op2.MAX, -np.inf),
        ("int16", op2.MIN, 2**15 - 1),
        ("uint8", op2.MAX, 0),
        ("complex128", op2.INC, 0),
    ],
)
def test_ghosts_start_with_what_changes_nothing(
    halo: Ring, nodes: op2.Set, dtype: str, access: op2.Access, least: float
) -> None:
    x = op2.Dat(nodes, np.full(N + 2, 3), dtype)
    x.global_to_local_begin(access)
    x.global_to_local_end(access)
    assert (halo.took(), x.halo_valid) == ([], False)
    assert x._data.tolist() == [3] * N + [least] * 2


def test_a_view_has_its_parents_halo(halo: Ring, nodes: op2.Set) -> None:
    x = op2.Dat(nodes**2)
    x.data[:] = np.arange(2 * N).reshape(N, 2)
    view = op2.DatView(x, 1)
    view.global_to_local_begin(op2.READ)
    view.global_to_local_end(op2.READ)
    assert view.data_ro_with_halos.tolist() == [1, 3, 5, 7, 9, 9, 1]
    assert (halo.took(), x.halo_valid) == (["g2l"], True)


def test_without_a_halo_nothing_happens() -> None:
    both = op2.MixedDat((op2.Dat(op2.Set(2)), op2.Dat(op2.Set((1, 2, 3)))))
    for one in (both, both[0], op2.Global(1, 2.0)):
        for access in op2.Access:
            one.global_to_local_begin(access)
            one.global_to_local_end(access)
            one.local_to_global_begin(access)
            one.local_to_global_end(access)
        with one.frozen_halo(op2.INC):
            pass
    with pytest.raises(ModeValueError):
        both[0].global_to_local_begin("X")  # type: ignore[arg-type]


def test_a_mixed_dat_is_frozen_whole_or_not_at_all() -> None:
    both = op2.MixedDat((op2.Dat(op2.Set(2)), op2.Dat(op2.Set(3))))
    with both[1].frozen_halo(op2.READ):
        with pytest.raises(HaloFrozenError, match="already frozen"):
            both.freeze_halo(op2.READ)
        both[0].freeze_halo(op2.INC)
    both[0].unfreeze_halo()


def test_exchanges_by_their_older_names(halo: Ring, nodes: op2.Set) -> None:
    x = op2.Dat(nodes, np.arange(N + 2.0))
    x.needs_halo_update = True
    assert not x.halo_valid
    x.halo_exchange_begin()
    x.halo_exchange_end()
    assert halo.took() == ["g2l"]
    assert not x.needs_halo_update
    assert x.data_ro_with_halos.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 0.0]
    x.halo_exchange_begin(reverse=True)
    x.halo_exchange_end(reverse=True)
    assert halo.took() == ["l2g"]
    assert x.data_ro.tolist() == [0.0, 1.0, 2.0, 3.0, 8.0]
