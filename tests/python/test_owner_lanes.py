# SPDX-License-Identifier: BSD-3-Clause
"""Owners on lanes: a target in each, by columns of one slot, and incidences in turn."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lanes import REFUSED, assemble, check, compute, cpu_grid, values_of

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.op2 import INC, MAX, MIN, READ
from pyop2cxx.pipeline.together import compile_together
from pyop2cxx.runtime import runtime

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case, Problem, loops_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# One of each kind of path, access and iteration that `owner` takes.
OWNED = (
    "inc_two_dats_through_two_maps",
    "inc_and_globals",
    "min_max_through_map",
    "kernel_that_returns_early",
    "kernel_with_tables_and_helpers",
    "matrix_of_blocks_and_vector",
    "matrix_without_some_rows",
    "subset_inc_with_ghosts",
    "permuted_and_plain_map",
    "extruded_facets",
    "extruded_variable",
    "arities_1_to_8",
)
BY_SLOT = [case for case in CASES if "owner" in case.strategies and case.name not in REFUSED]
ON_GRID = (
    "matrix_of_blocks_and_vector",
    "inc_and_globals",
    "min_max_through_map",
    "extruded_layer_argument",
    "mixed_min_of_one_set",
    "subset_inc_with_ghosts",
)


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def force(monkeypatch: pytest.MonkeyPatch, *, by_slot: bool) -> None:
    """Let targets be side by side however full columns are, or never."""
    monkeypatch.setattr(_core, "least_fill", lambda *_: 0.0 if by_slot else 2.0)


def ready(name: str) -> tuple[Case, Problem]:
    case = next(case for case in CASES if case.name == name)
    return case, case.problem()


@pytest.mark.parametrize("name", OWNED)
def test_incidences_in_turn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, by_slot=False)
    case, problem = ready(name)
    op2.init(threads=2)
    if name in REFUSED:
        with pytest.raises(UnsupportedError, match=REFUSED[name]):
            compute(problem, "openmp", strategy="owner", lanes=8)
        return
    compute(problem, "openmp", strategy="owner", lanes=8)
    check(problem, case.tolerance)


@pytest.mark.parametrize("case", BY_SLOT, ids=lambda case: case.name)
def test_corpus_by_slot(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, by_slot=True)
    problem = case.problem()
    op2.init(threads=2)
    compute(problem, "openmp", strategy="owner", lanes=8)
    check(problem, case.tolerance)


def test_by_slot_on_a_grid_of_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, by_slot=True)
    op2.init(backend=cpu_grid())
    cases = [case for case in CASES if case.name in ON_GRID]
    assert len(cases) == len(ON_GRID)
    compile_together(loops_of(cases, lambda _: ("owner",), lanes=8))
    for case in cases:
        problem = case.problem()
        compute(problem, runtime.backend, strategy="owner", lanes=8)
        check(problem, case.tolerance)


@pytest.mark.parametrize("on_grid", [False, True])
def test_bits_depend_on_no_number_of_threads(
    on_grid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    force(monkeypatch, by_slot=True)
    backend = cpu_grid() if on_grid else "openmp"
    found = []
    for n in (1, 2, 3, 2):
        op2.init(threads=n, deterministic=True)
        case, problem = ready("inc_and_globals")
        how = {"block_size": 2 * n} if on_grid else {}
        compute(problem, backend, strategy="owner", lanes=4, **how)
        check(problem, case.tolerance)
        found.append([values_of(carrier).tobytes() for carrier, _ in problem.expected])
    assert all(one == found[0] for one in found)


# Random meshes

SUMS = """
void sums(const double *x, const double *w, const double *z, double *y, double *v, double *low,
          double *total, double *most) {
  const double s = w[0] * (x[0] - x[2]) + z[0] * z[1];
  for (int i = 0; i < 3; ++i) { y[2 * i] += s * (i + 1); y[2 * i + 1] -= x[1] * x[3] + i; }
  v[0] += s > 0 ? s : w[0];
  for (int i = 0; i < 3; ++i) low[i] = fmin(low[i], s - i);
  total[0] += s;
  most[0] = fmax(most[0], s);
}"""
LANES = 4


@cache
def sums_kernel() -> op2.Kernel:
    return op2.Kernel(SUMS, "sums")


def sums_data(n: int, n_nodes: int, seed: int) -> tuple[op2.Set, tuple[Any, ...]]:
    """A Dat of two values, one through another Map to the same nodes, an extremum, Globals."""
    rng = np.random.default_rng(seed)
    cells, nodes, corners = op2.Set(n), op2.Set(n_nodes), op2.Set(5)
    c2n = op2.Map(cells, nodes, 3, rng.integers(0, n_nodes, (n, 3)))
    other = op2.Map(cells, nodes, 1, rng.integers(0, n_nodes, (n, 1)))
    c2c = op2.Map(cells, corners, 2, rng.integers(0, 5, (n, 2)))
    x = op2.Dat(corners**2, rng.standard_normal((5, 2)))
    w = op2.Dat(cells, rng.standard_normal(n))
    z = op2.Dat(corners, rng.standard_normal(5))
    y, v = op2.Dat(nodes**2, rng.standard_normal((n_nodes, 2))), op2.Dat(nodes)
    low = op2.Dat(nodes, rng.standard_normal(n_nodes))
    total, most = op2.Global(1, 0.5), op2.Global(1, -9.0)
    args = (x(READ, c2c), w(READ), z(READ, c2c), y(INC, c2n), v(INC, other), low(MIN, c2n))
    return cells, (*args, total(INC), most(MAX))


def sums_of(cells: op2.Set, args: tuple[Any, ...], lanes: int) -> op2.ParLoop:
    return op2.ParLoop(sums_kernel(), cells, *args, strategy="owner", lanes=lanes)


def sums(n: int, n_nodes: int, seed: int, lanes: int) -> list[NDArray[Any]]:
    cells, args = sums_data(n, n_nodes, seed)
    sums_of(cells, args, lanes).compute()
    return [arg.data.data_ro.copy() for arg in args[3:]]


def agree(n: int, n_nodes: int, seed: int) -> None:
    found, want = sums(n, n_nodes, seed, LANES), sums(n, n_nodes, seed, 0)
    for got, expected in zip(found, want, strict=True):
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


def test_tails_of_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """For every number of targets up to two groups, with few elements and with many."""
    force(monkeypatch, by_slot=True)
    op2.init(backend="openmp", threads=2)
    for n_nodes in range(1, 2 * LANES + 2):
        for n in (1, 3, 40):
            agree(n, n_nodes, n + 100 * n_nodes)


def test_tails_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a matrix, a vector and a Global from mixed arguments."""
    force(monkeypatch, by_slot=True)
    op2.init(backend="openmp", threads=2)
    for n in (*range(1, 2 * LANES + 2), 103):
        want, found = assemble(n, 0), assemble(n, LANES, strategy="owner")
        for got, expected in zip(found, want, strict=True):
            scale = max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


@settings(max_examples=40)
@given(n=st.integers(0, 900), n_nodes=st.integers(1, 700), seed=st.integers(0, 1000))
def test_random_meshes(n: int, n_nodes: int, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        force(patch, by_slot=True)
        agree(n, n_nodes, seed)


# Which of the two, and what it says

GATHER = """
void gather(const double *x, double *y) {
  for (int k = 0; k < 20; ++k) { y[0] += x[0] * k - x[1]; y[1] += x[1] * k * x[0]; }
}"""


# 30 operations: too few for lanes where incidences go in turn
LIGHT = """
void light(const double *x, double *y) {
  double s = x[0];
  for (int k = 0; k < 14; ++k) s = s * x[1] + k;
  y[0] += s; y[1] -= s;
}"""


def edges(
    values: NDArray[Any], n_nodes: int, lanes: int | None = 4, text: str = GATHER
) -> op2.ParLoop:
    links, nodes = op2.Set(len(values)), op2.Set(n_nodes)
    l2n = op2.Map(links, nodes, 2, values)
    x, y = op2.Dat(nodes, np.arange(float(n_nodes))), op2.Dat(nodes)
    kernel = op2.Kernel(text, "light" if text is LIGHT else "gather")
    args = (x(READ, l2n), y(INC, l2n))
    return op2.ParLoop(kernel, links, *args, strategy="owner", lanes=lanes)


def ring(n: int) -> NDArray[Any]:
    return np.stack([np.arange(n), (np.arange(n) + 1) % n], 1)


@pytest.mark.usefixtures("host")
def test_regular_meshes_go_by_slot() -> None:
    loop = edges(ring(64), 64)
    why = "a target in each, with columns of one slot that are 100% full"
    assert loop.explain().why_lanes.endswith(why)
    code = loop.generate()
    assert code.why_lanes.endswith(why)
    assert "column_slot" in code
    assert "l2n" not in code  # no name of the user's


@pytest.mark.usefixtures("host")
def test_a_star_goes_in_turn() -> None:
    """One target has nearly all incidences: lanes beside it would have nothing to do."""
    star = np.stack([np.zeros(64, int), 1 + np.arange(64)], 1)
    loop = edges(star, 65)
    assert "incidences one after the other: columns of one slot would be" in (
        loop.explain().why_lanes
    )
    assert "column_slot" not in loop.generate()
    loop.compute()


@pytest.mark.usefixtures("host")
def test_light_kernels_go_by_slot_or_not_on_lanes() -> None:
    star = np.stack([np.zeros(64, int), 1 + np.arange(64)], 1)
    for values, n, on_lanes in ((ring(64), 64, True), (star, 65, False)):
        loop = edges(values, n, None, LIGHT)
        found = loop.explain()
        assert (found.lanes > 1) == on_lanes
        assert found.least_operations == (25 if on_lanes else 40)
        assert ("column_slot" in loop.generate()) == on_lanes


@pytest.mark.usefixtures("host")
def test_static_text_goes_by_slot() -> None:
    op2.init(static=True)
    assert "column_slot" in edges(ring(8), 8).generate()


def test_one_element_after_the_other_says_nothing_of_slots() -> None:
    assert edges(ring(8), 8, lanes=0).explain().why_lanes == "asked for"


def test_plans_follow_their_maps() -> None:
    """New values of a Map give new columns; their memory is counted."""
    loop = edges(ring(64), 64)
    loop.compute()
    n_columns, lanes, arity = 32, 4, 2
    own = 8 * (64 // lanes + 1) + 4 * n_columns + 4 * n_columns * lanes + 4 * 64
    assert loop.prepared.plan_bytes == own + 4 * n_columns * lanes * arity
    before = runtime.engine.plans.statistics().misses
    loop.compute()
    assert runtime.engine.plans.statistics().misses == before
    map_ = loop.args[0].map_
    map_.update_values(ring(64)[::-1])
    y = loop.args[1].data
    y.zero()
    loop.compute()
    found = y.data_ro.copy()
    y.zero()
    op2.ParLoop(loop.kernel, loop.iterset, *loop.args, lanes=0).compute()
    np.testing.assert_allclose(found, y.data_ro, rtol=1e-14)
