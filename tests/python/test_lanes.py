# SPDX-License-Identifier: BSD-3-Clause
"""Loops on lanes: the same answers as one element after the other, or a reason why not."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.op2 import INC, MAX, READ, RW, WRITE

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Cases that lanes must refuse, with a piece of the reason.
REFUSED = {
    "indirect_rw_shared": "RW through a Map whose targets elements share",
    "inc_of_what_is_read": "incremented is also read",
    "min_of_what_was_there": "the kernel uses its value",
    "one_global_reduced_twice": "share written memory",
    "dtypes_complex": "complex",
    "complex_direct": "complex",
    "two_dats_one_array": "share written memory",
    "overlapping_slices": "overlaps",
    "overlapping_slices_through_map": "overlaps",
    "overlapping_dats_on_two_sets": "overlaps",
    "one_dat_directly_and_through_map": "overlaps",
    "kernel_in_cpp": "opaque",
    "kernel_with_header": "llabs",
    "permuted_map": "more than the entries of one Map",
    "permuted_and_plain_map": "more than the entries of one Map",
    "view_and_whole_dat": "overlaps",
}
# ... and kinds of them, by what their names begin with.
REFUSED_KINDS = {
    "extruded_": "cells of columns",
    "mixed_": "joined from several Dats",
    "matrix_": "adds to a matrix",
}
THREADED = ("block", "colour", "atomic", "scratch")


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def values_of(carrier: Any) -> NDArray[Any]:
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
    kinds = [why for kind, why in REFUSED_KINDS.items() if case.name.startswith(kind)]
    if reasons := [*kinds, *(REFUSED[name] for name in REFUSED if name == case.name)]:
        why = f"lanes=8 cannot be used: .*{reasons[0]}"
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


def test_owner_is_not_on_lanes_yet() -> None:
    case = next(case for case in CASES if case.name == "kernel_with_tables_and_helpers")
    with pytest.raises(UnsupportedError, match=r"lanes=8 cannot be used: .*; use lanes=0"):
        compute(case.problem(), "openmp", strategy="owner", lanes=8)


# Random kernels


class Grammar:
    """Random kernels of doubles and ints: branches, loops, arrays, tables, helpers, early ends.

    Values stay small: a sum is damped and a quotient has a divisor of at least one.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["p", "r"]
        self.n_loops = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def value(self, depth: int = 3) -> str:
        if depth == 0:
            return self.pick(
                *self.names, "x[0]", "x[1]", "y[2]", "0.5", "table[1][2]", "c[0]", "v[2]", "i[0]"
            )
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.pick(
            f"0.5 * ({a} + {b})",
            f"({a} - {b}) / 2",
            f"{a} / (1.0 + ({b}) * ({b}))",
            f"sqrt(fabs({a}))",
            f"fmin({a}, {b})",
            f"fmax({a}, {b}) * 0.25",
            f"({self.test(depth - 1)} ? {a} : {b})",
            f"helper(v, {a}, {self.number(depth - 1)})",
            f"table[{self.number(depth - 1)} & 1][{self.number(0)} & 1]",
            f"v[{self.number(depth - 1)} & 3]",
            f"(float)({a}) * 0.5f",
            f"sin({a})",
        )

    def number(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.pick("i[0]", "i[1]", "3", "(int)x[0]", "k")
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"(({a}) + ({b})) % 7",
            f"(({a}) ^ ({b}))",
            f"({a}) / (1 + (({b}) & 3))",
            f"(({a}) & 15) << 1",
            f"-(({a}) & 255)",
            f"({self.test(depth - 1)})",
        )

    def test(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.pick("x[0] < y[1]", "i[0] > 0", "c[0] > 0.0", "!(i[1] & 1)")
        return self.pick(
            f"{self.value(depth - 1)} <= {self.value(depth - 1)}",
            f"({self.test(depth - 1)}) && ({self.test(depth - 1)})",
            f"({self.test(depth - 1)}) || i[0] % 3 == 1",
            f"!({self.test(depth - 1)})",
        )

    def statement(self, depth: int = 2) -> str:
        kinds = ["set", "add", "array", "slot", "out", "count"]
        kind = self.random.choice(kinds if depth == 0 else [*kinds, "if", "else", "for", "switch"])
        if kind == "set":
            return f"{self.pick('p', 'r')} = {self.value()};"
        if kind == "add":
            return f"{self.pick('p', 'r')} -= 0.5 * {self.value(2)};"
        if kind == "array":
            return f"v[{self.pick('0', '1', 'k & 3')}] = {self.value(2)};"
        if kind == "slot":
            return f"v[{self.number(1)} & 3] = {self.value(2)};"
        if kind == "out":
            return f"a[{self.pick('0', '1')}] += {self.value(2)};"
        if kind == "count":
            return f"k = {self.number()};"
        if kind == "if":
            return f"if ({self.test()}) {{ {self.block(depth)} }}"
        if kind == "else":
            return f"if ({self.test()}) {{ {self.block(depth)} }} else {{ {self.block(depth)} }}"
        if kind == "switch":
            return (
                f"switch (({self.number(1)}) & 3) {{ case 0: {self.block(0)} break; case 1: "
                f"case 2: {self.block(0)} break; default: {self.block(0)} }}"
            )
        self.n_loops += 1
        j = f"j{self.n_loops}"
        return f"for (int {j} = 0; {j} < 3; ++{j}) {{ {self.block(depth)} p += 0.1 * v[{j}]; }}"

    def block(self, depth: int) -> str:
        return " ".join(self.statement(depth - 1 if depth else 0) for _ in range(2))

    def function(self, name: str) -> str:
        body = "\n  ".join(self.statement() for _ in range(4))
        end = f"if ({self.test()}) return;" if self.random.random() < 0.5 else ""
        return f"""
static void {name}(const double *x, const double *y, const int *i, const double *c, double *a)
{{
  double p = x[0], r = y[0], v[4] = {{0.0}};
  int k = i[0];
  {body}
  {end}
  for (int j = 0; j < 2; ++j) a[j] += 0.125 * v[j] + p * r / (1.0 + p * p + r * r);
  a[1] += k;
}}"""


HEAD = """
static const double table[2][3] = {{0.5, -0.25, 1.0}, {2.0, -1.5, 0.75}};
static double helper(const double *v, double s, int n)
{
  double t = 0.0;
  for (int q = 0; q < 4; ++q) {
    if (v[q] > s) { t += 0.125 * v[q]; } else if (n > q) { t -= 0.0625; }
  }
  if (n == 2) return s;
  return t;
}
"""
KERNELS_IN_ONE = 6


def many_kernels(seed: int) -> str:
    """Several random kernels behind one entry, so that one compilation tries them all."""
    parts = [Grammar(100 * seed + k).function(f"part{k}") for k in range(KERNELS_IN_ONE)]
    calls = "\n".join(f"  part{k}(x, y, i, c, b + {2 * k});" for k in range(KERNELS_IN_ONE))
    return f"""{HEAD}{"".join(parts)}
static void many(const double *x, const double *y, const int *i, const double *c, double *a,
                 double *w, double *z, double *total, double *most)
{{
  double b[{2 * KERNELS_IN_ONE}] = {{0.0}};
{calls}
  for (int j = 0; j < {2 * KERNELS_IN_ONE}; ++j) a[j] += b[j];
  w[0] = b[0] - b[3];
  z[0] += 0.5 * b[1];
  if (x[0] > 0) z[1] = b[2];
  total[0] += b[4];
  if (b[5] > most[0]) most[0] = b[5];
}}
"""


def run_many(kernel: op2.Kernel, n: int, lanes: int, seed: int) -> list[NDArray[Any]]:
    rng = np.random.default_rng(seed)
    cells, nodes = op2.Set(n), op2.Set(17)
    c2n = op2.Map(cells, nodes, 3, rng.integers(0, 17, (n, 3)))
    x = op2.Dat(nodes, rng.standard_normal(17))
    y = op2.Dat(cells**3, rng.standard_normal((n, 3)))
    i = op2.Dat(cells**2, rng.integers(-9, 9, (n, 2)), dtype=np.int32)
    c = op2.Global(1, 0.75)
    a = op2.Dat(nodes ** (2 * KERNELS_IN_ONE // 3))
    w, z = op2.Dat(cells), op2.Dat(cells**2, rng.standard_normal((n, 2)))
    total, most = op2.Global(1, 1.0), op2.Global(1, -1e30)
    args = (x(READ, c2n), y(READ), i(READ), c(READ), a(INC, c2n))
    args += (w(WRITE), z(RW), total(INC), most(MAX))
    op2.par_loop(kernel, cells, *args, lanes=lanes)
    return [d.data_ro.copy() for d in (a, w, z, total, most)]


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
    "while (x[0] > s) s += 1.0;": "how often a loop runs depends on data",
    "for (int i = 0; i < 3; ++i) { if (x[0] > i) break; s += 1; }": "leaves a loop",
    "const double *p = x[0] > 0 ? x : y; s = *p;": "a pointer depends on data",
    "int e; s = frexp(x[0], &e);": "frexp",
    "s = unknown(x[0]);": "unknown",
}


@pytest.mark.parametrize("body", REFUSALS)
def test_refusals(body: str) -> None:
    text = (
        f"void f(const double *x, const double *y, double *a) {{ double s = 0; {body} a[0] = s; }}"
    )
    cells = op2.Set(3)
    x, y, a = (op2.Dat(cells) for _ in range(3))
    loop = op2.ParLoop(op2.Kernel(text, "f"), cells, x(READ), y(READ), a(WRITE), lanes=8)
    with pytest.raises(UnsupportedError, match=f"lanes=8 cannot be used: .*{REFUSALS[body]}"):
        loop.generate()
