# SPDX-License-Identifier: BSD-3-Clause
"""What a kernel leaves behind is not claimed of memory that it writes as another type."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.usefixtures("exits")

N = 50
ADD = "void add(double *x, const double *y) { for (int i = 0; i < 3; ++i) x[i] += y[i]; }"
KERNELS = {
    "bytes behind a void pointer": (
        "void z(double *x, const double *y) {"
        " void *v = x; unsigned char *c = v; for (int i = 0; i < 8; ++i) c[i] = 0; }"
    ),
    "bytes of a helper": (
        "static void copy(void *to, const void *from, int n) {"
        " char *a = to; const char *b = from; for (int i = 0; i < n; ++i) a[i] = b[i]; }\n"
        "void z(double *x, const double *y) { copy(x, y, 8); }"
    ),
    "a place counted in bytes": (
        "void z(double *x, const double *y) {"
        " void *v = x; unsigned char *c = v; v = c + 8; double *d = v; d[0] = 0; }"
    ),
    "a local called as a constant": (
        "static const int n = 3;\nvoid z(double *x, const double *y) {"
        " int n = 1; if (y[0] > 5) n = 2; for (int i = 0; i < n; ++i) x[i] = 0; }"
    ),
    "a counter called as a constant": (
        "static const int n = 1;\nvoid z(double *x, const double *y) {"
        " double t = 0; for (int n = 0; n < 3; ++n) t += y[n];"
        " for (int i = 0; i < n; ++i) x[i] = 0; }"
    ),
    "a parameter called as a constant": (
        "static const int n = 3;\nstatic void set(double *x, double t, int n) {"
        " if (t > 0) n = 1; for (int i = 0; i < n; ++i) x[i] = 0; }\n"
        "void z(double *x, const double *y) { set(x, y[0], 2); }"
    ),
    "a constant cut by a cast": (
        "static const int n = (unsigned char)258;\nvoid z(double *x, const double *y) {"
        " for (int i = 0; i < n; ++i) x[i] = 0; }"
    ),
    "a constant by a comparison without signs": (
        "static const int n = (-1 < 1u) ? 3 : 1;\nvoid z(double *x, const double *y) {"
        " for (int i = 0; i < n; ++i) x[i] = 0; }"
    ),
    "a constant cut by another one": (
        "static const unsigned char m = 258;\nstatic const int n = m;\n"
        "void z(double *x, const double *y) { for (int i = 0; i < n; ++i) x[i] = 0; }"
    ),
}


def result(kernel: str, *, chained: bool) -> NDArray[np.float64]:
    cells = op2.Set(N, "cells")
    x = op2.Dat(cells**3, np.arange(3.0 * N) + 1, np.float64, "x")
    y = op2.Dat(cells**3, np.ones(3 * N), np.float64, "y")
    with op2.chain() if chained else contextlib.nullcontext():
        op2.par_loop(op2.Kernel(kernel, "z"), cells, x(op2.RW), y(op2.READ))
        op2.par_loop(op2.Kernel(ADD, "add"), cells, x(op2.INC), y(op2.READ))
    return x.data_ro.copy()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_a_chain_keeps_what_is_not_overwritten(backend: str, name: str) -> None:
    """The other backends and chains are compared with one loop after the other in order."""
    op2.init(backend="sequential")
    wanted = result(KERNELS[name], chained=False)
    op2.exit()
    op2.init(backend=backend)
    np.testing.assert_array_equal(result(KERNELS[name], chained=False), wanted)
    np.testing.assert_array_equal(result(KERNELS[name], chained=True), wanted)


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("bytes behind a void pointer", 0),
        ("bytes of a helper", 0),
        ("a place counted in bytes", 0),
        ("a local called as a constant", 1),
        ("a counter called as a constant", 1),
    ],
)
def test_facts_claim_what_is_true(name: str, n: int) -> None:
    (x, _) = op2.Kernel(KERNELS[name], "z").facts.parameters
    assert x.n_surely_written <= n
    assert len(x.constants) <= n
    assert x.copies == {}
