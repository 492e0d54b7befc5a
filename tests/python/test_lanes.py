# SPDX-License-Identifier: BSD-3-Clause
"""Loops on lanes: the same answers as one element after the other, or a reason why not."""

from __future__ import annotations

import itertools
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import with_program
from random_kernels import carriers, loop_of, many_kernels

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.op2 import INC, READ, RW, WRITE
from pyop2cxx.pipeline.together import compile_together
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Engine

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case, Problem, loops_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Cases that lanes must refuse, with a piece of the reason.
REFUSED = {
    "extruded_updates_on_the_base": "RW through a Map",
    "indirect_rw_shared": "RW through a Map whose targets elements share",
    "inc_of_what_is_read": "incremented is also read",
    "min_of_what_was_there": "the kernel uses its value",
    "one_global_reduced_twice": "share written memory",
    "two_dats_one_array": "share written memory",
    "overlapping_slices": "overlaps",
    "overlapping_slices_through_map": "overlaps",
    "overlapping_dats_on_two_sets": "overlaps",
    "one_dat_directly_and_through_map": "overlaps",
    "complex_effects": "a function returns a pointer",
    "kernel_in_cpp": "opaque",
    "kernel_with_header": "llabs",
    "view_and_whole_dat": "overlaps",
    **{
        case.name: "rows of a ragged Map differ in length"
        for case in CASES
        if case.name.startswith("ragged_")
    },
}
# What a grid of a CPU runs on lanes, by strategy: each takes loops of another kind. A program takes
# its compiler a while, so there is one for each strategy.
ON_GRIDS = {
    "direct": ("globals_reduced", "direct_read_write", "indirect_read", "matrix_that_is_set"),
    "colour": (
        "inc_two_dats_through_two_maps",
        "kernel_with_functions_of_math",
        "permuted_and_plain_map",
        "extruded_variable",
        "matrix_of_blocks_and_vector",
        "indirect_rw_shared",
    ),
    "atomic": ("inc_and_globals", "consts_by_name", "matrix_without_some_rows", "arities_1_to_8"),
    "block": (
        "inc_and_globals",
        "kernel_with_tables_and_helpers",
        "min_max_through_map",
        "extruded_facets",
        "subset_inc",
    ),
    "owner": (
        "inc_and_globals",
        "min_max_through_map",
        "extruded_layer_argument",
        "matrix_of_blocks_and_vector",
        "mixed_min_of_one_set",
        "subset_inc_with_ghosts",
    ),
    "scratch": ("inc_and_globals", "kernel_that_returns_early", "mixed_matrix_with_a_global"),
}
THREADED = ("block", "colour", "atomic", "scratch")


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def values_of(carrier: Any) -> NDArray[Any]:
    if isinstance(carrier, op2.Mat):
        values: NDArray[Any] = carrier.array
        return values
    return carrier.data_ro_with_halos if isinstance(carrier, op2.Dat) else carrier.data_ro


def compute(problem: Problem, backend: str, **how: Any) -> None:
    try:
        with op2.backend(backend):
            how = {**problem.options, **how}
            op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **how).compute()
    finally:
        for constant in problem.constants:
            constant.remove_from_namespace()


def check(problem: Problem, tolerance: float) -> None:
    for carrier, want in problem.expected:
        got = values_of(carrier)
        if got.dtype.kind in "iu" or got.size == 0:
            np.testing.assert_array_equal(got, want)
        else:
            bound = max(tolerance, np.finfo(got.dtype).eps * 4)
            np.testing.assert_allclose(got, want, rtol=0, atol=bound * np.abs(want).max())
    if problem.check is not None:
        problem.check()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_corpus(case: Case) -> None:
    problem = case.problem()
    if case.name in REFUSED:
        why = f"lanes=8 cannot be used: .*{REFUSED[case.name]}"
        with pytest.raises(UnsupportedError, match=why):
            compute(problem, "sequential", lanes=8)
        return
    compute(problem, "sequential", lanes=8)
    check(problem, case.tolerance)


@pytest.mark.parametrize("strategy", THREADED)
@pytest.mark.parametrize("name", ["kernel_with_tables_and_helpers", "kernel_that_returns_early"])
def test_strategies(name: str, strategy: str) -> None:
    case = next(case for case in CASES if case.name == name)
    problem = case.problem()
    op2.init(threads=3)
    compute(problem, "openmp", strategy=strategy, lanes=4)
    check(problem, case.tolerance)


def test_colour_makes_rw_through_a_map_possible() -> None:
    case = next(case for case in CASES if case.name == "indirect_rw_shared")
    problem = case.problem()
    op2.init(threads=2)
    compute(problem, "openmp", strategy="colour", lanes=8)
    check(problem, case.tolerance)


def cpu_grid() -> str:
    """Name a backend whose device is a CPU on which a grid's lanes are threads."""
    for backend in op2.backends():
        if not backend.available:
            continue
        known = runtime.engine.backend(backend.name)
        if known.facts.lanes == _core.Lanes.grid:
            device = runtime.engine.chosen_device(known)
            if device is not None and device.info.is_cpu:
                return backend.name
    pytest.skip("no device is a CPU")


@pytest.mark.parametrize("strategy", ON_GRIDS)
def test_grids_of_a_cpu(strategy: str) -> None:
    """Where a device's lanes are threads of a CPU, each takes several elements."""
    op2.init(backend=cpu_grid())
    cases = [case for case in CASES if case.name in ON_GRIDS[strategy]]
    assert len(cases) == len(ON_GRIDS[strategy])
    how = {"strategy": strategy, "lanes": 4}
    compile_together(loops_of(cases, lambda _: (strategy,), lanes=4))  # what is not known yet
    for case in cases:
        problem = case.problem()
        compute(problem, runtime.backend, **how)
        check(problem, case.tolerance)


@pytest.mark.parametrize(
    ("name", "strategy"), [("globals_reduced", "direct"), ("inc_and_globals", "owner")]
)
def test_deterministic_bits_on_a_grid(name: str, strategy: str) -> None:
    """They depend neither on the lanes of a block nor on the number of blocks."""
    case = next(case for case in CASES if case.name == name)
    op2.init(backend=cpu_grid(), deterministic=True)
    found = []
    for block_size in (None, 1, 8):
        problem = case.problem()
        compute(problem, runtime.backend, strategy=strategy, lanes=4, block_size=block_size)
        check(problem, case.tolerance)
        found.append([values_of(carrier).tobytes() for carrier, _ in problem.expected])
    assert found[0] == found[1] == found[2]


NEIGHBOURS = [  # a large number beside a small one
    ("pow(x[0], 2)", "float64"),
    ("pow(x[0], z[0])", "float64"),
    ("fmod(x[0], z[0])", "float64"),
    ("sinf(x[0])", "float32"),
    ("tanf(x[0])", "float32"),
]


@pytest.mark.parametrize(("function", "dtype"), NEIGHBOURS)
def test_functions_of_one_lane_do_not_spoil_others(function: str, dtype: str) -> None:
    values = [0.0, -1.0, 2.0, -3.5, 1e-5, -2e-3, 7.0, 6e5, 1e-3, -0.1, 5e-310, 1e30, 0.5, 700.0]
    others = [2.0, 3.0, -1.7, 0.5, -2.5, 1e-8, 7.0, 3e-3, 40.0, 2.0, 0.3, -2.0, 1.5, 11.0]
    real = "double" if dtype == "float64" else "float"
    code = f"void k({real} *y, const {real} *x, const {real} *z) {{ y[0] = {function}; }}"
    kernel, found = op2.Kernel(code, "k"), []
    some = op2.Set(len(values) * 8)
    x = op2.Dat(some, np.repeat(values, 8)[::-1].reshape(8, -1).T.ravel(), dtype)
    z = op2.Dat(some, np.tile(others, 8), dtype)
    for backend, lanes in [("sequential", 0), (cpu_grid(), 8)]:
        y = op2.Dat(some, np.zeros(some.size), dtype)
        with op2.backend(backend):
            op2.par_loop(kernel, some, y(op2.WRITE), x(op2.READ), z(op2.READ), lanes=lanes)
        found.append(y.data_ro)
    scale = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(found[1], found[0], rtol=scale, atol=np.finfo(dtype).tiny)


def test_tables_whose_addresses_are_used_are_looked_up() -> None:
    code = """static const double t[3] = {5, -7.25, 5.25};
        void k(double *y, const int *i) {
          const double *q = t + 1;
          y[0] = q[0] + t[i[0]] + t[(t[i[0]] > 5) + 1] + (t + 1 ? 1 : 0);
        }"""
    some = op2.Set(12)
    i = op2.Dat(some, np.arange(12) % 3, np.int32)
    y = op2.Dat(some, np.zeros(12))
    with op2.backend(cpu_grid()):
        op2.par_loop(op2.Kernel(code, "k"), some, y(op2.WRITE), i(op2.READ), lanes=4)
    assert y.data_ro.tolist() == [-8.5, -20.75, 4.25] * 4


EITHER = """void k(int *y, const int *a, const int *b) {
  y[0] = b[0] == 0 || a[0] / b[0] > 2;
  y[1] = b[0] != 0 && a[0] / b[0] > 2;
  if (b[0] == 0 || 12 % b[0] || a[0] / b[0] == 3) y[2] = 1;
  if (a[0] < 4 || (b[0] && 5 / b[0] == 5)) y[3] = 1;
}"""


@pytest.mark.parametrize("lanes", [0, 4, 8])
def test_lanes_whose_left_side_decides_do_not_evaluate_the_right_one(lanes: int) -> None:
    """They would divide by zero, which ends a process."""
    a, b = (values.ravel() for values in np.meshgrid(np.arange(9), [0, 1, 5, 0, -3, 2, 0]))
    divisor = np.where(b == 0, 1, b)
    quotient = np.sign(a * divisor) * (a // abs(divisor))
    wanted = [(b == 0) | (quotient > 2), (b != 0) & (quotient > 2)]
    wanted += [(b == 0) | (12 % abs(divisor) > 0) | (quotient == 3), (a < 4) | (b == 1)]
    some = op2.Set(a.size)
    for backend in ("sequential", "openmp"):
        y = op2.Dat(some**4, dtype=np.int32)
        given = [op2.Dat(some, values, np.int32)(op2.READ) for values in (a, b)]
        with op2.backend(backend):
            op2.par_loop(op2.Kernel(EITHER, "k"), some, y(op2.RW), *given, lanes=lanes)
        np.testing.assert_array_equal(y.data_ro, np.stack(wanted, axis=1))


SMALL = """
static T half(T a, T b) { a += b; return a / 2; }
void k(T *y, T *z, int *w, const T *a, const T *b) {
  T t = a[0];
  y[0] = a[0] + b[0];
  z[0] = (a[0] + b[0]) / 2;
  w[0] = a[0] + b[0];
  w[1] = half(a[0] + b[0], b[0]);
  t += b[0];
  w[2] = t / 2;
  t++;
  w[3] = (t-- - b[0]) / 3 + (y[0] += b[0]) * 2;
  w[4] = a[0] + b[0] > 100 ? ~a[0] >> 1 : -b[0] * 2;
}
"""


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16"])
def test_small_integers_are_promoted_and_truncated(dtype: str) -> None:
    limits, n = np.iinfo(dtype), 41
    ends = [limits.min, limits.max, limits.min + 1, limits.max - 1, limits.max // 2 + 1, 0, 1, 2, 3]
    a, b = np.array(np.meshgrid(ends, ends)).reshape(2, -1)[:, ::2].astype(np.int64)
    some, name = op2.Set(n), f"{dtype}_t"

    def cut(values: NDArray[Any]) -> NDArray[Any]:
        return values.astype(dtype).astype(np.int64)

    def quotient(values: NDArray[Any], by: int) -> NDArray[Any]:
        return np.sign(values) * (abs(values) // by)

    t, y = cut(a + b), cut(cut(a + b) + b)
    w = [a + b, quotient(cut(cut(a + b) + b), 2), quotient(t, 2)]
    w += [quotient(cut(t + 1) - b, 3) + 2 * y, np.where(a + b > 100, ~a >> 1, -b * 2)]
    wanted = [y, cut(quotient(a + b, 2)), np.stack(w, axis=1)]
    w[1] = cut(w[1])
    for backend, lanes in itertools.product(("sequential", "openmp"), (0, 4, 8)):
        got = [op2.Dat(some, np.zeros(n), dtype), op2.Dat(some, np.zeros(n), dtype)]
        got.append(op2.Dat(some**5, np.zeros((n, 5)), np.int32))
        given = [op2.Dat(some, values, dtype) for values in (a, b)]
        args = [one(op2.RW) for one in got] + [one(op2.READ) for one in given]
        with op2.backend(backend):
            op2.par_loop(op2.Kernel(SMALL.replace("T ", name + " "), "k"), some, *args, lanes=lanes)
        for one, values in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one.data_ro, values)


# Random kernels


def test_random_kernels_on_a_grid() -> None:
    """Tables, arrays and branches in a language whose tables are in a space of their own."""
    kernel, backend = op2.Kernel(many_kernels(11), "many"), cpu_grid()
    for n in (1, 4, 5, 203):
        want = run_many(kernel, n, 0, n)
        with op2.backend(backend):
            found = run_many(kernel, n, 4, n)
        for got, expected in zip(found, want, strict=True):
            scale = max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * scale)


def run_many(kernel: op2.Kernel, n: int, lanes: int, seed: int) -> list[NDArray[Any]]:
    data = carriers(n, seed)
    loop_of(kernel, data, lanes).compute()
    return [data[name].data_ro.copy() for name in ("a", "w", "z", "total", "most")]


@pytest.mark.optimised  # GCC 12 breaks down on some of these vectors without optimisation
@pytest.mark.parametrize("seed", range(4))
def test_random_kernels(seed: int) -> None:
    """Scalar against lanes, for every number of elements up to two passes."""
    kernel = op2.Kernel(many_kernels(seed), "many")
    lanes = (8, 2, 4, 16)[seed]
    for n in (*range(1, 2 * lanes + 1), 203):
        want = run_many(kernel, n, 0, n)
        for got, expected in zip(run_many(kernel, n, lanes, n), want, strict=True):
            scale = max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * scale)


# Tails of everything that is stored lane by lane

ASSEMBLE = """
void assemble(double *A, double *b, const double *x, const double *u, double *total) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 6; ++j) A[6 * i + j] += x[i % 2] * (1 + i) + u[j] * (j - i);
    b[2 * i] += x[0] > u[i] ? x[0] : u[i];
    b[2 * i + 1] -= sqrt(fabs(x[1] * u[5 - i]));
  }
  total[0] += x[0] * u[2];
}"""
LANES_OF_TAILS = 4


@cache
def assembly_kernel() -> op2.Kernel:
    return op2.Kernel(ASSEMBLE, "assemble")


def assemble(n: int, lanes: int, **how: Any) -> list[NDArray[Any]]:
    """A matrix, a vector through its rows' Map and a Global, from a mixed Dat and a direct one."""
    rng = np.random.default_rng(n)
    cells, nodes, edges = op2.Set(n), op2.Set(11), op2.Set(7)
    c2n = op2.Map(cells, nodes, 3, rng.integers(0, 11, (n, 3)))
    c2e = op2.Map(cells, edges, 3, rng.integers(0, 7, (n, 3)))
    fields = op2.MixedDat(
        (op2.Dat(nodes, rng.standard_normal(11)), op2.Dat(edges, rng.standard_normal(7)))
    )
    x = op2.Dat(cells**2, rng.standard_normal((n, 2)))
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**2), [(c2n, c2n, None)]))
    vector, total = op2.Dat(nodes**2), op2.Global(1, 0.5)
    args = (mat(INC, (c2n, c2n)), vector(INC, c2n), x(READ))
    args += (fields(READ, op2.MixedMap([c2n, c2e])), total(INC))
    op2.ParLoop(assembly_kernel(), cells, *args, lanes=lanes, **how).compute()
    return [mat.array.copy(), vector.data_ro.copy(), total.data_ro.copy()]


@pytest.mark.parametrize("strategy", [None, "colour", "atomic", "scratch", "owner"])
def test_tails(strategy: str | None) -> None:
    """For every number of elements up to two passes, and one of many."""
    op2.init(backend="openmp", threads=2)
    for n in (*range(1, 2 * LANES_OF_TAILS + 1), 103):
        want = assemble(n, 0)
        found = assemble(n, LANES_OF_TAILS, strategy=strategy)
        for got, expected in zip(found, want, strict=True):
            scale = max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("strategy", ["block", "owner"])
def test_tails_on_a_grid(strategy: str) -> None:
    """The same where a grid's lanes are threads, and Globals are folded in a tree."""
    backend = cpu_grid()
    for n in (*range(1, 2 * LANES_OF_TAILS + 1), 103):
        want = assemble(n, 0)
        with op2.backend(backend):
            found = assemble(n, LANES_OF_TAILS, strategy=strategy)
        for got, expected in zip(found, want, strict=True):
            scale = max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


WAVES = """
#include <complex.h>
#define real REAL
#define number REAL _Complex
static const number table[3] = {1.0 + 0.5 * I, -2.0 * I, 0.25};
static number turned(const number *z, number by, int k) {
  number sum = 0;
  for (int i = 0; i < 2; ++i) sum += z[i] * by;
  if (creal(by) > 0) return sum / (by - 3);
  return -sum + table[k];
}
void waves(const number *z, const real *x, const int *k, number *y, number *w, number *total) {
  number v[3] = {0}, q = z[0] / (z[1] + 4);
  v[k[0]] = conj(q) * x[0];
  v[1] += x[0] > 0 ? z[1] : 2 * z[0];
  if (z[0] != z[1]) { q *= z[1]; v[2] -= 1; } else { q++; }
  y[0] += turned(z, q, k[0]) + v[k[0]];
  y[1] -= cimag(v[1]) + v[2] * cabs(q);
  if (!q) y[1] += 1;
  w[0] = q == v[0] ? table[1] : x[0] + I * cexp(-q * q / (1 + cabs(q * q)));
  total[0] += v[1] * v[2];
}"""


@pytest.mark.parametrize(
    ("real", "lanes", "on_grid"), [("double", 4, False), ("float", 8, False), ("double", 4, True)]
)
def test_complex_numbers(real: str, lanes: int, on_grid: bool) -> None:
    """Two vectors each, in every kind of expression, with all tails."""
    backend = cpu_grid() if on_grid else "sequential"
    dtype = np.complex128 if real == "double" else np.complex64
    text = WAVES.replace("REAL", real)
    kernel = op2.Kernel(text, "waves")
    for n in (*range(1, 2 * lanes + 1), 77):
        found = []
        for w in (0, lanes):
            rng = np.random.default_rng(n)
            cells, nodes = op2.Set(n), op2.Set(9)
            c2n = op2.Map(cells, nodes, 2, rng.integers(0, 9, (n, 2)))
            z = op2.Dat(nodes, rng.standard_normal(9) + 1j * rng.standard_normal(9), dtype=dtype)
            x = op2.Dat(cells, rng.standard_normal(n), dtype=dtype(0).real.dtype)
            k = op2.Dat(cells, rng.integers(0, 3, n), dtype=np.int32)
            y, out, total = (
                op2.Dat(nodes, dtype=dtype),
                op2.Dat(cells, dtype=dtype),
                op2.Global(1, 0.0, dtype=dtype),
            )
            args = (z(READ, c2n), x(READ), k(READ), y(INC, c2n), out(WRITE), total(INC))
            with op2.backend(backend if w else "sequential"):
                op2.ParLoop(kernel, cells, *args, lanes=w).compute()
                found.append([d.data_ro.copy() for d in (y, out, total)])
        for want, got in zip(*found, strict=True):
            bound = 50 * np.finfo(dtype).eps * max(1.0, float(np.abs(want).max()))
            np.testing.assert_allclose(got, want, rtol=0, atol=bound)


COLUMN = """
void spread(const double *x, const double *h, double *y, double *z, int layer) {
  double s = 0.0;
  for (int i = 0; i < 4; ++i) s += x[i] * (layer % 3 - i);
  if (layer > 1 && s > h[0]) s *= 0.5;
  for (int i = 0; i < 4; ++i) y[i] += s * (i + 1);
  z[0] = s - layer;
}"""


def spread(
    n: int, layers: int, lanes: int, strategy: str | None, block_size: int | None = None
) -> list[NDArray[Any]]:
    rng = np.random.default_rng(n + 100 * layers)
    base = op2.Set(n)
    columns = op2.ExtrudedSet(base, layers + 1)
    points, cells = op2.Set(9 * (layers + 1)), op2.Set(n * layers)
    start = rng.integers(0, 9, (n, 2)) * (layers + 1)
    c2p = op2.Map(
        columns, points, 4, np.hstack([start, start + 1])[:, [0, 2, 1, 3]], offset=[1] * 4
    )
    own = op2.Map(columns, cells, 1, np.arange(n)[:, None] * layers, offset=[1])
    x, h = op2.Dat(points, rng.standard_normal(points.size)), op2.Dat(base, rng.random(n))
    y, z = op2.Dat(points), op2.Dat(cells)
    args = (x(READ, c2p), h(READ), y(INC, c2p), z(WRITE, own))
    loop = op2.ParLoop(
        op2.Kernel(COLUMN, "spread"),
        columns,
        *args,
        lanes=lanes,
        strategy=strategy,
        block_size=block_size,
        pass_layer_arg=True,
    )
    loop.compute()
    return [y.data_ro.copy(), z.data_ro.copy()]


@pytest.mark.parametrize(
    ("strategy", "block_size"),
    [("block", None), ("block", 5), ("block", 11), ("colour", None)],
)
def test_tails_of_columns(strategy: str, block_size: int | None) -> None:
    """Passes and ranges that end inside a column, at its top, and behind the last one."""
    op2.init(backend="openmp", threads=3)
    for n, layers in ((1, 1), (1, 3), (1, 4), (2, 3), (5, 1), (3, 5), (9, 2), (20, 7)):
        want = spread(n, layers, 0, strategy)
        found = spread(n, layers, LANES_OF_TAILS, strategy, block_size)
        for got, expected in zip(found, want, strict=True):
            np.testing.assert_allclose(
                got, expected, rtol=0, atol=1e-13 * (1 + abs(expected).max())
            )


@pytest.mark.parametrize("n", [1, 2, 5, 9, 17])
def test_values_of_cells_and_maxima_over_columns(n: int) -> None:
    """Lanes without a column store what the last one stores, again."""
    op2.init(backend="openmp", threads=2)
    layers = 3
    text = """void f(const double *x, double *z, double *w, double *most) {
      for (int i = 0; i < 2; ++i) z[i] = x[0] * x[1] + i;
      w[0] = 1 + x[1] - x[0];
      for (int i = 0; i < 2; ++i) if (x[i] > most[i]) most[i] = x[i];
    }"""
    columns = op2.ExtrudedSet(op2.Set(n), layers + 1)
    points, cells = op2.Set(n * (layers + 1)), op2.Set(n * layers)
    foot = np.arange(n)[:, None] * (layers + 1) + [0, 1]
    c2p = op2.Map(columns, points, 2, foot, offset=[1, 1])
    own = op2.Map(columns, cells, 1, np.arange(n)[:, None] * layers, offset=[1])
    values = np.random.default_rng(n).standard_normal((n, layers + 1))
    x, most = op2.Dat(points, values.ravel()), op2.Dat(points, np.full(points.size, -9.0))
    z, w = op2.Dat(cells**2), op2.Dat(cells)
    args = (x(READ, c2p), z(WRITE, own), w(WRITE, own), most(op2.MAX, c2p))
    loop = op2.ParLoop(op2.Kernel(text, "f"), columns, *args, lanes=LANES_OF_TAILS, block_size=7)
    loop.compute()
    low, high = values[:, :-1].ravel(), values[:, 1:].ravel()
    np.testing.assert_allclose(z.data_ro, (low * high)[:, None] + [0, 1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(w.data_ro, 1 + high - low, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(most.data_ro, values.ravel())


def test_deterministic_bits_over_columns() -> None:
    """Chunks of a sum begin and end inside columns; they depend on no number of threads."""
    n, layers = 731, 7
    text = """void f(const double *x, double *sum, double *most) {
      *sum += x[0] * x[1];
      if (x[0] > *most) *most = x[0];
    }"""
    kernel, found = op2.Kernel(text, "f"), []
    for threads in (1, 3):
        op2.init(backend="openmp", threads=threads, deterministic=True)
        columns = op2.ExtrudedSet(op2.Set(n), layers + 1)
        foot = np.arange(n)[:, None] * (layers + 1) + [0, 1]
        points = op2.Set(n * (layers + 1))
        c2p = op2.Map(columns, points, 2, foot, offset=[1, 1])
        x = op2.Dat(points, np.random.default_rng(0).standard_normal(points.size))
        total, most = op2.Global(1, 0.0), op2.Global(1, -9.0)
        loop = op2.ParLoop(
            kernel, columns, x(READ, c2p), total(INC), most(op2.MAX), lanes=LANES_OF_TAILS
        )
        loop.compute()
        values = x.data_ro.reshape(n, layers + 1)
        want = (values[:, :-1] * values[:, 1:]).sum()
        np.testing.assert_allclose(total.data_ro[0], want, rtol=0, atol=1e-11)
        assert most.data_ro[0] == values[:, :-1].max()
        found.append(total.data_ro.tobytes())
    assert found[0] == found[1]


def test_columns_without_facets_in_between() -> None:
    """Columns of one cell have none: no position, and nothing to divide by."""
    columns = op2.ExtrudedSet(op2.Set(3), 2)
    points = op2.Set(6)
    c2p = op2.Map(columns, points, 2, [[0, 1], [2, 3], [4, 5]], offset=[1, 1])
    y = op2.Dat(points)
    kernel = op2.Kernel("void f(double *y) { for (int i = 0; i < 4; ++i) y[i] += 1.0; }", "f")
    op2.par_loop(
        kernel, columns, y(INC, c2p), iteration_region=op2.ON_INTERIOR_FACETS, lanes=LANES_OF_TAILS
    )
    assert not y.data_ro.any()


@pytest.mark.parametrize("compiler", [with_program("gcc"), with_program("clang")])
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("inc_and_globals", ""),
        ("extruded_variable", ""),
        ("extruded_constant", ""),
        ("matrix_of_blocks_and_vector", ""),
        ("kernel_with_tables_and_helpers", "-mavx2"),
        ("kernel_with_tables_and_helpers", "-mavx512f"),
    ],
)
def test_compilers_are_content(
    compiler: str, name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with gather instructions, of machines that need not be this one."""
    if target:
        bytes_of = {"-mavx2": 32, "-mavx512f": 64}[target]
        monkeypatch.setattr(Engine, "gather_bytes", property(lambda _: bytes_of))
        op2.init(hardware_gathers=True)
    problem = next(case for case in CASES if case.name == name).problem()
    path = tmp_path / "loop.c"
    with op2.backend("sequential"):  # whose text has no pragmas that need a flag
        text = op2.ParLoop(problem.kernel, problem.iterset, *problem.args, lanes=8).generate()
    assert ("__builtin_ia32_gather" in text) == bool(target)
    path.write_text(text)
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-c", "-o", str(tmp_path / "loop.o")]
    flags += [target] if target else []
    ran = subprocess.run([compiler, *flags, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{ran.stderr}\n{path.read_text()}"


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.usefixtures("host")
def test_gather_instructions(lanes: int) -> None:
    """The same answers as by rows, in doubles and floats, and by Maps of many entries."""
    if runtime.engine.gather_bytes == 0:
        pytest.skip("the machine has no gather instructions")
    op2.init(hardware_gathers=True)
    for case in CASES:
        if case.name in ("indirect_read", "arities_1_to_8", "extruded_facets"):
            problem = case.problem()
            compute(problem, "sequential", lanes=lanes)
            check(problem, case.tolerance)
    for real in ("double", "float"):
        dtype = np.float64 if real == "double" else np.float32
        cells, nodes = op2.Set(37), op2.Set(11)
        rng = np.random.default_rng(lanes)
        c2n = op2.Map(cells, nodes, 2, rng.integers(0, 11, (37, 2)))
        x = op2.Dat(nodes**3, rng.standard_normal((11, 3)), dtype=dtype)
        y = op2.Dat(cells, dtype=dtype)
        text = f"void f(const {real} *x, {real} *y) {{ *y = x[0] * x[5] - x[1] * x[4] + x[2]; }}"
        loop = op2.ParLoop(op2.Kernel(text, "f"), cells, x(READ, c2n), y(WRITE), lanes=lanes)
        loop.compute()
        assert "__builtin_ia32_gather" in loop.generate()
        a, b = x.data_ro[c2n.values[:, 0]], x.data_ro[c2n.values[:, 1]]
        want = a[:, 0] * b[:, 2] - a[:, 1] * b[:, 1] + a[:, 2]
        np.testing.assert_allclose(y.data_ro, want, rtol=0, atol=20 * np.finfo(dtype).eps)


@pytest.mark.usefixtures("host")
def test_gather_instructions_need_a_machine_that_has_them() -> None:
    op2.init(hardware_gathers=True, cflags="-mno-avx2")
    with pytest.raises(UnsupportedError, match=r"hardware_gathers.* needs AVX2 or AVX-512"):
        flux_loop(lanes=4).generate()
    assert "__builtin_ia32_gather" not in flux_loop(lanes=0).generate()


@pytest.mark.usefixtures("host")
def test_rows_of_long_maps_are_loaded_in_a_loop_that_stays_one() -> None:
    cells, nodes = op2.Set(3), op2.Set(9)
    c2n = op2.Map(cells, nodes, 9, np.tile(np.arange(9), (3, 1)))
    x, y = op2.Dat(nodes), op2.Dat(cells)
    kernel = op2.Kernel("void f(const double *x, double *y) { *y = x[0] * x[8]; }", "f")
    text = op2.ParLoop(kernel, cells, x(READ, c2n), y(WRITE), lanes=4).generate()
    assert text.count("#define op2_rolled") == 2
    assert text.count("op2_rolled for (long i = 0; i < 9; ++i) {") == 1


def test_functions_that_take_integers() -> None:
    cells = op2.Set(11)
    x, y = op2.Dat(cells, np.arange(11) - 5.5), op2.Dat(cells)
    k = op2.Dat(cells, np.arange(11), dtype=np.int32)
    text = """#include <math.h>
    void f(const double *x, const int *k, double *y) {
      y[0] = ldexp(x[0], k[0]) + scalbn(x[0], 2) + lround(x[0]);
      y[0] += isnan(x[0]) ? 1 : fma(x[0], 2, 1);
    }"""
    found = []
    for lanes in (0, 4):
        op2.par_loop(op2.Kernel(text, "f"), cells, x(READ), k(READ), y(WRITE), lanes=lanes)
        found.append(y.data_ro.copy())
    np.testing.assert_array_equal(*found)


ONE_ARGUMENT = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc"),
    *("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"),
)
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 20.0, -20.0, 80.0, 1e-10, 3.14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_of_vectors_agree_with_those_of_scalars(dtype: str) -> None:
    """Every function of the C library that has a vector form: 8 ulp between two roundings."""
    values = np.concatenate([SPECIAL, np.random.default_rng(3).uniform(-4, 4, 200)])
    cells = op2.Set(values.size)
    scalar, suffix = ("double", "") if dtype == "float64" else ("float", "f")
    names = (*ONE_ARGUMENT, "pow", "atan2", "hypot")
    x, y = op2.Dat(cells, values, dtype), op2.Dat(cells ** len(names), dtype=dtype)
    other = op2.Dat(cells, np.roll(values, 7), dtype)
    calls = [
        f"y[{i}] = {name}{suffix}({'*x' if name in ONE_ARGUMENT else '*x, *z'});"
        for i, name in enumerate(names)
    ]
    text = f"void f(const {scalar} *x, const {scalar} *z, {scalar} *y) {{ {' '.join(calls)} }}"
    kernel = op2.Kernel(text, "f")
    found = []
    for lanes in (0, 32 // x.dtype.itemsize):
        op2.par_loop(kernel, cells, x(READ), other(READ), y(WRITE), lanes=lanes)
        found.append(y.data_ro.copy())
    for got, want, name in zip(found[1].T, found[0].T, names, strict=True):
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want), name)
        np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(want[got == 0]), name)
        inside = np.isfinite(want)
        apart = np.abs(got[inside] - want[inside])
        assert (apart <= 8 * np.spacing(np.abs(want[inside]))).all(), name


@pytest.mark.usefixtures("host")
def test_a_call_of_a_function_makes_a_light_loop_worth_lanes() -> None:
    cells = op2.Set(11)
    x, y = op2.Dat(cells), op2.Dat(cells)
    for name, has_lanes in (("tanh", True), ("floor", False)):
        kernel = op2.Kernel(f"void f(const double *x, double *y) {{ *y = {name}(*x); }}", "f")
        code = op2.ParLoop(kernel, cells, x(READ), y(WRITE)).generate()
        assert (code.lanes > 0) is has_lanes, code.why_lanes


# The user's choice, and the rule's


def flux_loop(**how: Any) -> op2.ParLoop:
    text = """
    void flux(const double *q, double *r) {
      double s = 0.0;
      for (int i = 0; i < 30; ++i) s += sqrt(q[0] * q[0] + i) / (1.0 + q[1] * q[1]);
      r[0] += s;
      r[1] -= s;
    }"""
    cells, nodes = op2.Set(5), op2.Set(4)
    c2n = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    q, r = op2.Dat(nodes, np.arange(4.0)), op2.Dat(nodes)
    return op2.ParLoop(op2.Kernel(text, "flux"), cells, q(READ, c2n), r(INC, c2n), **how)


@pytest.mark.usefixtures("host")
def test_generate_says_how_many_lanes_and_why() -> None:
    code = flux_loop(lanes=4).generate()
    assert (code.lanes, code.why_lanes) == (4, "asked for")
    assert "op2_float64x4" in code
    off = flux_loop().generate({"lanes": 0})
    assert (off.lanes, off.why_lanes) == (0, "asked for")
    assert "op2_float64x" not in off
    ruled = flux_loop().generate()
    assert ruled.lanes in (0, 2, 4, 8)
    assert "operations" in ruled.why_lanes or "not known" in ruled.why_lanes


@pytest.mark.usefixtures("host")
def test_light_loops_stay_scalar() -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells)
    copy = op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
    code = op2.ParLoop(copy, cells, x(RW)).generate()
    assert code.lanes == 0
    assert "too little to gain" in code.why_lanes


@pytest.mark.parametrize("lanes", [3, -1, 32, True, "8", 8.0])
def test_wrong_lanes(lanes: object) -> None:
    with pytest.raises(UsageError, match="lanes must be None"):
        flux_loop(lanes=lanes)


REFUSALS = {
    "const double *p[2] = {x, y}; s = *p[1];": "'p' is an array of pointers",
    "while (x[0] > s) s += 1.0;": "how often a loop runs depends on data",
    "for (int i = 0; i < 3; ++i) { if (x[0] > i) break; s += 1; }": "leaves a loop",
    "const double *p = x[0] > 0 ? x : y; s = *p;": "a pointer depends on data",
    "double t[2] = {0}; double *q = &t[(int)x[0] & 1]; *q = 1; s = t[1];": "where a pointer leads",
    "int e; s = frexp(x[0], &e);": "frexp",
    "s = unknown(x[0]);": "unknown",
}


@pytest.mark.parametrize("body", REFUSALS)
@pytest.mark.usefixtures("host")
def test_refusals(body: str) -> None:
    text = (
        f"void f(const double *x, const double *y, double *a) {{ double s = 0; {body} a[0] = s; }}"
    )
    cells = op2.Set(3)
    x, y, a = (op2.Dat(cells) for _ in range(3))
    loop = op2.ParLoop(op2.Kernel(text, "f"), cells, x(READ), y(READ), a(WRITE), lanes=8)
    with pytest.raises(UnsupportedError, match=f"lanes=8 cannot be used: .*{REFUSALS[body]}"):
        loop.generate()


@pytest.mark.usefixtures("host")
def test_effects_inside_of_choices_on_data() -> None:
    """Each happens on the lanes that want it, and the value before `++` is kept."""
    text = """
    static double half(double *t) { *t *= 0.5; return *t; }
    void f(const double *x, double *a) {
      double t = x[0], u = 3, s = t++;
      int n = 0;
      s += x[0] > 1 ? (u = t) : half(&u);
      s += x[0] > 2 && (n += 2) > 1 ? n++ : --n;
      a[0] = s + 10 * t + 100 * u + 1000 * n;
    }"""
    cells = op2.Set(13)
    x, a = op2.Dat(cells, np.arange(13) * 0.375 - 0.75), op2.Dat(cells)
    kernel = op2.Kernel(text, "f")
    found = []
    for lanes in (0, 4):
        op2.par_loop(kernel, cells, x(READ), a(WRITE), lanes=lanes)
        found.append(a.data_ro.copy())
    np.testing.assert_array_equal(*found)


def test_a_refusal_has_the_users_name_of_the_kernel() -> None:
    code = "void k(double *a) { int n = 2; double t[n]; t[1] = 1; a[0] = t[1]; }"
    cells = op2.Set(3)
    with pytest.raises(UnsupportedError, match=r"^par_loop 'k': lanes=4 .* not a constant"):
        op2.par_loop(op2.Kernel(code, "k"), cells, op2.Dat(cells)(op2.WRITE), lanes=4)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_rows_of_many_vectors_are_loaded_by_a_loop(lanes: int, dtype: type) -> None:
    """A statement for each took the compiler minutes."""
    dim, n = 16 * 8 + 13, 11
    cells, nodes = op2.Set(n), op2.Set(n + 1)
    map_ = op2.Map(cells, nodes, 2, [[i + 1, i] for i in range(n)])
    values = np.arange((n + 1) * dim).reshape(n + 1, dim) % 97
    x, y = op2.Dat(nodes**dim, values, dtype), op2.Dat(cells, dtype=dtype)
    name = y.ctype
    code = (
        f"void k({name} *y, const {name} *x) {{ {name} sum = 0;"
        f" for (int i = 0; i < {2 * dim}; ++i) sum += (i % 5 + 1) * x[i]; y[0] = sum; }}"
    )
    with op2.backend("sequential"):
        loop = op2.ParLoop(op2.Kernel(code, "k"), cells, y(WRITE), x(READ, map_), lanes=lanes)
        width = 2 * dim if dtype is np.complex128 else dim
        assert f"i < {width // lanes * lanes}; i += {lanes})" in loop.generate()
        loop.compute()
    rows = np.concatenate([values[1:], values[:-1]], axis=1)
    np.testing.assert_array_equal(y.data_ro, rows @ (np.arange(2 * dim) % 5 + 1))
