# SPDX-License-Identifier: BSD-3-Clause
"""Chains on processors that visit edges from both cells, by columns of neighbours on lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ring import heavy, kernel, record_all_blocks
from sided import FLUX, STEPS, Sided

from pyop2cxx import op2
from pyop2cxx.chain.group_loop import GroupFacts
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.chain.report import Report

COLUMNS = "a target in each, whose elements lead to neighbours in columns"
on_processors = pytest.mark.parametrize("backend", ["sequential", "openmp"])
WALL = kernel(
    "void wall(const double *q, double *r, const double *w) {"
    " r[0] += w[0] * (q[0] > 0 ? q[0] : 0.5 * q[1]); }"
)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    op2.exit()


class Stage:
    """Two stages with heavy fluxes, a boundary and a norm.

    Args:
        mesh: The cells and their edges.
        n_walls: Boundary edges, at random cells.
        strategy: Of the fluxes.
    """

    def __init__(self, mesh: Sided, n_walls: int = 3, strategy: str | None = "owner") -> None:
        self.strategy = strategy
        rng = np.random.default_rng(mesh.seed)
        self.mesh, cells, n = mesh, mesh.q.dataset.set, min(n_walls, mesh.q.dataset.set.size)
        walls = op2.Set(n, "walls")
        self.behind = op2.Map(walls, cells, 1, rng.integers(0, cells.size, (n, 1)), "behind")
        self.w = op2.Dat(walls, rng.uniform(-1, 1, n), name="w")
        self.norm = op2.Global(1, 0.0, name="norm")
        self.add = kernel("void add(const double *p, double *s) { s[0] += p[0] * p[0]; }")

    def run(self) -> None:
        """Call the loops."""
        mesh = self.mesh
        x, r, walls = mesh.x, mesh.r, self.behind.iterset
        for old, new in ((mesh.q, mesh.p), (mesh.p, mesh.q)):
            flux = (x(op2.READ, mesh.e2n), old(op2.READ, mesh.e2c), r(op2.INC, mesh.e2c))
            op2.par_loop(heavy(FLUX), mesh.e2n.iterset, *flux, strategy=self.strategy)
            at_wall = (old(op2.READ, self.behind), r(op2.INC, self.behind), self.w(op2.READ))
            op2.par_loop(WALL, walls, *at_wall)
            step = (x(op2.READ, mesh.c2n), r(op2.RW), old(op2.READ), new(op2.WRITE))
            op2.par_loop(STEPS[mesh.n_corners], mesh.c2n.iterset, *step)
            op2.par_loop(self.add, mesh.c2n.iterset, new(op2.READ), self.norm(op2.INC))

    def values(self) -> tuple[Array, ...]:
        """Return what the loops have made."""
        made = (self.mesh.p, self.mesh.q, self.mesh.r)
        return (*(dat.data_ro.copy() for dat in made), self.norm.data_ro.copy())


def compared(backend: str, n_walls: int = 3, strategy: str | None = "owner", **mesh: int) -> Report:
    """Run two blocks, compare with single loops, and return the report."""
    record_all_blocks()
    with op2.backend("sequential"):
        eager = Stage(Sided(**mesh), n_walls)
        eager.run()
        eager.run()
        expected = eager.values()
    with op2.backend(backend):
        lazy = Stage(Sided(**mesh), n_walls, strategy)
        for _ in range(2):
            with op2.chain() as chain:
                lazy.run()
        for made, wanted in zip(lazy.values(), expected, strict=True):
            np.testing.assert_allclose(made, wanted, rtol=1e-11, atol=1e-11)
    return chain.explain()


@on_processors
def test_both_cells_of_an_edge_compute_its_flux(backend: str) -> None:
    report = compared(backend, n=9)
    assert COLUMNS in str(report)
    steps = [step for step in report.steps if step.inverted]
    assert len(steps) == 2
    assert all(len(step.inverted) == 2 for step in steps)
    assert steps[0].lanes > 1


@pytest.mark.parametrize("threads", [2, 4])
def test_many_threads_compute_both_sides_without_being_asked(threads: int) -> None:
    op2.init(backend="openmp", threads=threads)
    report = str(compared("openmp", strategy=None, n=9))
    assert (COLUMNS in report) == (threads == 4)
    assert ("from 4 threads on, and here are 2" in report) == (threads == 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_few_threads_do_so_where_columns_have_one_slot(threads: int) -> None:
    op2.init(backend="openmp", threads=threads)
    report = str(compared("openmp", strategy=None, n=16, is_regular=True))
    assert COLUMNS in report
    assert "entries of e2n taken from c2n" in report
    op2.exit()
    op2.init(backend="openmp", threads=threads)
    report = str(compared("openmp", strategy=None, n=16))
    assert COLUMNS not in report
    assert "or if up to 50% of the columns of elements have both slots" in report


@on_processors
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(2, 9),
    n_corners=st.sampled_from([3, 4]),
    n_apart=st.integers(0, 6),
    seed=st.integers(0, 9),
    is_regular=st.booleans(),
)
def test_nodes_of_the_cells_or_others(
    backend: str, n: int, n_corners: int, n_apart: int, seed: int, is_regular: bool
) -> None:
    """Columns whose lanes have nodes in different places look them up, however many these are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(GroupFacts, "part_elsewhere", lambda *_: 0.0)
        mesh = {"n": n, "n_corners": n_corners, "n_apart": n_apart, "is_regular": is_regular}
        report = str(compared(backend, seed=seed, **mesh))
    assert (COLUMNS in report) <= ("entries of e2n taken from c2n" in report)


@on_processors
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(2, 7),
    n_corners=st.sampled_from([3, 4]),
    n_walls=st.integers(0, 9),
    seed=st.integers(0, 9),
)
def test_any_mesh_gives_the_same(
    backend: str, n: int, n_corners: int, n_walls: int, seed: int
) -> None:
    compared(backend, n_walls, n=n, n_corners=n_corners, seed=seed)


def test_cells_with_very_different_numbers_of_edges_are_not_padded() -> None:
    n = 40
    with op2.backend("openmp"):
        cells, edges = op2.Set(n, "cells"), op2.Set(n - 1, "edges")
        star = np.stack([np.zeros(n - 1, int), np.arange(1, n)], axis=1)
        ends = op2.Map(edges, cells, 2, star, "ends")
        q, r = op2.Dat(cells, np.arange(float(n)), name="q"), op2.Dat(cells, name="r")
        spread = heavy(
            kernel(
                "void spread(const double *q, double *r) {"
                " double f = q[0] * q[1] - 0.5 * q[1]; r[0] += f; r[1] -= f; }"
            )
        )
        take = kernel("void take(double *q, double *r) { q[0] += r[0]; r[0] = 0; }")
        record_all_blocks()
        with op2.chain() as chain:
            op2.par_loop(spread, edges, q(op2.READ, ends), r(op2.INC, ends))
            op2.par_loop(take, cells, q(op2.RW), r(op2.RW))
        assert COLUMNS not in str(chain.explain())


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_lanes_read_a_copy_where_they_overwrite_it(backend: str) -> None:
    """The kernel stores before it reads the copy, which lies in the same memory."""
    n = 203
    save = kernel("void save(const double *q, double *p) { p[0] = q[0]; p[1] = q[1]; }")
    work = " f += 0.001 * f * f; f -= 0.02 * f;" * 20  # so that lanes pay
    flux = kernel(
        f"void flux(const double *q, double *r) {{ double f = q[0] * q[3] - q[1] * q[2];{work}"
        " r[0] += f; r[1] += 0.5 * f; r[2] -= f; r[3] -= 0.5 * f; }"
    )
    step = kernel(
        "void step(const double *p, double *q, double *r) { q[0] = 0.001 * r[0];"
        " q[1] = -0.001 * r[1]; double s = p[0] + p[1]; q[0] += p[0];"
        " q[1] += p[1] + 0.001 * s; r[0] = 0; r[1] = 0; }"
    )

    def made() -> Callable[[], Array]:
        cells, edges = op2.Set(n, "cells"), op2.Set(2 * n, "edges")
        at = np.arange(2 * n)
        ends = op2.Map(edges, cells, 2, np.stack([at % n, (at * 7 + 3) % n], axis=1), "ends")
        q = op2.Dat(cells**2, np.random.default_rng(1).random((n, 2)), name="q")
        p, r = op2.Dat(cells**2, name="p"), op2.Dat(cells**2, name="r")

        def run() -> Array:
            for _ in range(4):
                op2.par_loop(save, cells, q(op2.READ), p(op2.WRITE))
                for _ in range(2):
                    sums = (q(op2.READ, ends), r(op2.INC, ends))
                    op2.par_loop(flux, edges, *sums, strategy="owner")
                    op2.par_loop(step, cells, p(op2.READ), q(op2.WRITE), r(op2.RW))
            return q

        return run

    record_all_blocks()
    with op2.backend(backend):
        eager, lazy = made(), made()
        for _ in range(2):
            expected = eager()
            with op2.chain() as chain:
                found = lazy()
            np.testing.assert_allclose(found.data_ro, expected.data_ro, rtol=1e-13, atol=1e-13)
    report = chain.explain()
    assert sum(one.redirected == ("p",) and one.lanes > 1 for one in report.steps) >= 4


def test_deterministic_sums_do_not_depend_on_chains() -> None:
    assert not runtime.configuration["deterministic"]
    op2.init(backend="openmp", deterministic=True)
    report = compared("openmp", n=6)
    assert COLUMNS not in str(report)
