# SPDX-License-Identifier: BSD-3-Clause
"""Numbers in kernels are C's on every backend: long sums, minima, long doubles."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError

BACKENDS = ("sequential", "openmp", "opencl")
N_SUMMANDS = (1 << 24) + 4096
"""A float that has 2^24 takes no 1.0f any more."""

pytestmark = pytest.mark.usefixtures("exits")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("dtype", "c_name"), [(np.float32, "float"), (np.complex64, "float _Complex")]
)
def test_sums_of_32_bits_take_any_number_of_summands(
    backend: str, dtype: type, c_name: str
) -> None:
    op2.init(backend=backend)
    total = op2.Global(2, [1, 0], dtype=dtype)
    kernel = op2.Kernel(f"void add({c_name} *t) {{ t[0] += 1.0f; t[1] += 2.0f; }}", "add")
    op2.par_loop(kernel, op2.Set(N_SUMMANDS), total(op2.INC))
    assert list(total.data) == [N_SUMMANDS, 2 * N_SUMMANDS]  # 1 + n is rounded to n


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
@pytest.mark.parametrize("options", [{"strategy": s} for s in ("owner", "colour", "block")])
def test_sums_of_32_bits_beside_sums_through_maps(backend: str, options: dict[str, str]) -> None:
    n = 10_000
    op2.init(backend=backend)
    edges, nodes = op2.Set(n), op2.Set(n + 1)
    ends = op2.Map(edges, nodes, 2, np.c_[np.arange(n), np.arange(1, n + 1)])
    total, degree = op2.Global(1, 1 << 24, dtype=np.float32), op2.Dat(nodes, dtype=np.float32)
    kernel = op2.Kernel("void add(float *t, float *d) { t[0] += 1; d[0] += 1; d[1] += 1; }", "add")
    op2.ParLoop(kernel, edges, total(op2.INC), degree(op2.INC, ends), **options).compute()
    assert total.data[0] == (1 << 24) + n  # one by one none of them would count
    assert degree.data.sum() == 2 * n


@pytest.mark.parametrize("lanes", [0, 4])
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
@pytest.mark.parametrize(("dtype", "letter"), [(np.float64, ""), (np.float32, "f")])
def test_minima_and_maxima_have_the_values_of_the_library(
    backend: str, lanes: int, dtype: type, letter: str
) -> None:
    op2.init(backend=backend)
    special = np.array([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan], dtype)
    left, right = (part.ravel() for part in np.meshgrid(special, special))
    pairs = op2.Set(left.size)
    a, b = op2.Dat(pairs, left), op2.Dat(pairs, right)
    real = "float" if letter else "double"
    text = """
    void both(const R *a, const R *b, R *found) {
      OPAQUE
      found[0] = fminL(a[0], b[0]);
      found[1] = fmaxL(a[0], b[0]);
    }
    """.replace("R ", f"{real} ").replace("L(", f"{letter}(")
    found = []
    for opaque in ("", "goto next; next:;"):  # such a kernel is compiled as it is written
        results = op2.Dat(pairs**2, dtype=dtype)
        kernel = op2.Kernel("#include <math.h>\n" + text.replace("OPAQUE", opaque), "both")
        given = {"lanes": lanes} if not opaque else {}
        loop = op2.ParLoop(kernel, pairs, a(op2.READ), b(op2.READ), results(op2.WRITE), **given)
        loop.compute()
        found.append(results.data_ro.copy())
    own, library = found
    assert np.array_equal(np.isnan(own), np.isnan(library))
    assert np.array_equal(own[~np.isnan(own)], library[~np.isnan(own)])  # any sign of a zero


def test_a_function_of_the_kernel_named_as_the_librarys_stays_its_own() -> None:
    op2.init(backend="sequential")
    ones = op2.Set(1)
    d = op2.Dat(ones, [3.0])
    text = "double fmin(double a, double b) { return 7; }\nvoid k(double *d) { *d = fmin(*d, 1); }"
    op2.par_loop(op2.Kernel(text, "k"), ones, d(op2.RW))
    assert d.data[0] == 7


LONG = "void scale(const double *a, double *b) { b[0] = sqrt(a[0]) * 0.25L + 1.5e0L; }"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "text",
    [LONG, "void scale(const double *a, double *b) {"
     " const double w[2] = {0.25L, 1.5L}; b[0] = sqrt(a[0]) * w[0] + w[1]; }"],
)  # fmt: skip
def test_long_doubles_work_without_a_word(backend: str, text: str) -> None:
    op2.init(backend=backend)
    things = op2.Set(5)
    a, b = op2.Dat(things, [1.0, 4, 9, 16, 25]), op2.Dat(things)
    op2.par_loop(
        op2.Kernel("#include <math.h>\n" + text, "scale"), things, a(op2.READ), b(op2.WRITE)
    )
    assert b.data.tolist() == [1.75, 2.0, 2.25, 2.5, 2.75]


def test_there_are_no_lanes_of_long_doubles() -> None:
    op2.init(backend="sequential")
    things = op2.Set(5)
    a, b = op2.Dat(things), op2.Dat(things)
    with pytest.raises(UnsupportedError, match=r"it computes with 1.5e0L, a long double"):
        op2.ParLoop(op2.Kernel(LONG, "scale"), things, a(op2.READ), b(op2.WRITE), lanes=4).compute()
