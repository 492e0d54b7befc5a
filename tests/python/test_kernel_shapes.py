# SPDX-License-Identifier: BSD-3-Clause
"""Expressions of every shape on every backend: what C converts, compares and takes for granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from kernel_shapes import Shapes

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.op2 import READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
DEVICES = [name for name in BACKENDS if name in ("opencl", "cuda")]
N_STATEMENTS = 6


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def loop_over(text: str) -> tuple[op2.ParLoop, op2.Dat]:
    cells = op2.Set(12)
    rng = np.random.default_rng(3)
    pairs = cells**2
    out = op2.Dat(cells**N_STATEMENTS, dtype=complex)
    real = op2.Dat(pairs, rng.uniform(-1, 1, (12, 2)))
    number = op2.Dat(
        pairs, rng.uniform(-1, 1, (12, 2)) + 1j * rng.uniform(-1, 1, (12, 2)), dtype=complex
    )
    whole = op2.Dat(pairs, rng.integers(0, 5, (12, 2)), dtype=np.int32)
    factor = op2.Global(1, 2.0)
    args = (out(RW), real(READ), number(READ), whole(READ), factor(READ))
    return op2.ParLoop(op2.Kernel(text, "k"), cells, *args), out


def computed(text: str, backend: str) -> NDArray[np.complex128]:
    with op2.backend(backend):
        loop, out = loop_over(text)
        loop()
        return np.array(out.data_ro)


@pytest.mark.parametrize("backend", ["sequential", "opencl", "cuda"])
def test_every_shape_is_printed(backend: str) -> None:
    op2.init(static=True)
    for seed in range(40):
        text = Shapes(seed).kernel(N_STATEMENTS, depth=1 + seed % 4)
        with op2.backend(backend):
            loop, _ = loop_over(text)
            assert loop.kernel.opaque_reason == ""
            assert "void " in str(loop.generate())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "sequential"])
def test_every_shape_means_the_same(backend: str, seed: int) -> None:
    text = Shapes(seed).kernel(N_STATEMENTS, depth=2)
    expected = computed(text, "sequential")
    np.testing.assert_allclose(computed(text, backend), expected, rtol=1e-5, atol=1e-5)


TABLES = """
#include <complex.h>
static const double v[3] = {10, 20, 30};
static const double complex z[2] = {1, 2 * I};
static double h(const double *v) { return v[0] + v[1]; }
static double c(const double complex *z) { return creal(z[0]); }
static double own(const double *x) { double v[2] = {x[0], 1}; return h(v); }
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a[0] += -(0)[b];", -3.0),
        ("a[0] += 1[b] * 2;", 8.0),
        ("double t[2] = {z[1], 1.0}; a[0] += t[0] + h(t);", 1.0),
        ("a[0] = b[0] ? 1.0 : 2.0; a[0] += !b[1] + (b[0] && b[1]) + (0.0 || b[0]);", 3.0),
        ("if (b[0] - 3) a[0] = 1; else a[0] = 2; while (a[0]) a[0] -= 1; a[0] = 7;", 7.0),
        ("do a[0] -= 0.5; while (a[0]); for (double q = 2; q; q -= 1) a[0] += q;", 3.0),
        ("double complex y[2] = {b[0], 1}; a[0] += h(b) + own(b) + c(y) + h(v) + c(z);", 45.0),
        ("{ const double *v = b; a[0] += h(v) + v[0]; } a[0] += v[0];", 20.0),
    ],
)
def test_values(backend: str, text: str, expected: float) -> None:
    with op2.backend(backend):
        cells = op2.Set(2)
        a, b = op2.Dat(cells, [0.5, 0.5]), op2.Dat(cells**2, [[3.0, 4.0]] * 2)
        start = 0.0 if "+=" in text else 0.5
        a.data[:] = 0.5 if "do a" in text else start
        code = f"{TABLES}void k(double *a, const double *b) {{ {text} }}"
        op2.par_loop(op2.Kernel(code, "k"), cells, a(RW), b(READ))
        np.testing.assert_allclose(a.data_ro, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_helper_gets_a_table_and_an_array_of_the_kernel(backend: str) -> None:
    """In OpenCL these lie in two address spaces, and the helper is needed once for each."""
    code = """static const double t[2] = {1, 2};
    static double sum(const double *p, int n) { double s = 0; while (n--) s += *p++; return s; }
    void k(double *a, const double *b) {
      double w[2] = {3, 4};
      a[0] = sum(t, 2) + 10 * sum(w, 2) + 100 * sum(b, 1);
    }"""
    with op2.backend(backend):
        cells = op2.Set(2)
        a, b = op2.Dat(cells), op2.Dat(cells, [5.0, 6.0])
        op2.par_loop(op2.Kernel(code, "k"), cells, a(WRITE), b(READ))
        assert a.data_ro.tolist() == [573.0, 673.0]


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_an_element_stored_where_data_says_has_a_value(backend: str) -> None:
    """On lanes, too: the value of the assignment itself is used."""
    code = """void k(double *a, const int *i) {
      double y[4] = {1, 2, 3, 4};
      if ((y[i[0] & 3] -= 2)) a[0] = y[0] + 1;
      a[0] += 10 * ++y[i[0] & 1];
      a[0] += 0.5 * (y[i[0] & 3] = 5) + y[1];
    }"""
    found = []
    with op2.backend(backend):
        for lanes in (0, 4):
            cells = op2.Set(9)
            a, i = op2.Dat(cells), op2.Dat(cells, np.arange(9), dtype=np.int32)
            op2.par_loop(op2.Kernel(code, "k"), cells, a(RW), i(READ), lanes=lanes)
            found.append(a.data_ro.tolist())
    assert found[0] == found[1]


def test_elements_that_meet_are_not_computed_side_by_side() -> None:
    """A WRITE in front of an RW argument, both through a Map whose targets elements share."""
    code = "void k(double *w, double *y, const double *x) { w[0] = x[0]; y[0] = 2 * y[0] + x[0]; }"
    targets = np.arange(24) * 7 % 5
    expected = np.arange(5.0)
    for element, target in enumerate(targets):
        expected[target] = 2 * expected[target] + element
    cells, nodes = op2.Set(24), op2.Set(5)
    to = op2.Map(cells, nodes, 1, targets[:, None])
    w, y = op2.Dat(nodes), op2.Dat(nodes, np.arange(5.0))
    args = (w(WRITE, to), y(RW, to), op2.Dat(cells, np.arange(24.0))(READ))
    with op2.backend("sequential"):
        with pytest.raises(UnsupportedError, match="arg 1 is RW through a Map whose targets"):
            op2.par_loop(op2.Kernel(code, "k"), cells, *args, lanes=4)
        op2.par_loop(op2.Kernel(code, "k"), cells, *args)
    np.testing.assert_array_equal(y.data_ro, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["abs", "labs", "sqrtf", "lround", "exp", "isnan", "cabs"])
def test_a_kernels_own_function_is_not_that_of_the_library(backend: str, name: str) -> None:
    """A smooth absolute value, for instance, got its argument cut to an int on a device."""
    cells = op2.Set(5, "cells")
    x, y = op2.Dat(cells, np.linspace(0.1, 2.9, 5)), op2.Dat(cells)
    text = f"""
static double {name}(double v) {{ return 2 * v + 0.25; }}
void k(double *y, const double *x) {{ *y = {name}(x[0]) + 1; }}"""
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(text, "k"), cells, y(WRITE), x(READ))
        np.testing.assert_allclose(y.data_ro, 2 * x.data_ro + 1.25, rtol=1e-15)
