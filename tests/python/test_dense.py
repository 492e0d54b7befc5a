# SPDX-License-Identifier: BSD-3-Clause
"""Dense algebra in kernels against LAPACK."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.kernel.parser.dense import Dense
from pyop2cxx.op2 import READ, RW, WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

C_TYPES = {
    "float64": "double",
    "float32": "float",
    "complex128": "double _Complex",
    "complex64": "float _Complex",
}
N = 11


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    values = rng.standard_normal((N, *shape))
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal((N, *shape))
    return values.astype(dtype)


def run(text: str, *arrays: NDArray[Any], lanes: int | None = None) -> list[NDArray[Any]]:
    """Call kernel `f` once for each first index; arrays after the text change. Return all."""
    cells = op2.Set(N)
    dats = [op2.Dat(cells ** (a.shape[1:] or 1), a.copy(), a.dtype) for a in arrays]
    op2.par_loop(op2.Kernel(text, "f"), cells, *(d(RW) for d in dats), lanes=lanes)
    return [d.data_ro.reshape(a.shape) for d, a in zip(dats, arrays, strict=True)]


def close(got: NDArray[Any], expected: NDArray[Any], dtype: str, bound: float = 1e-11) -> None:
    bound = bound if dtype in ("float64", "complex128") else bound * 1e8
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    assert np.abs(got - expected).max(initial=0) <= bound * scale


def spd(rng: np.random.Generator, n: int, dtype: str) -> NDArray[Any]:
    half = rng.standard_normal((N, n, n))
    return (half @ half.transpose(0, 2, 1) + n * np.eye(n)).astype(dtype)


def regular(rng: np.random.Generator, n: int, dtype: str) -> NDArray[Any]:
    """Matrices with small conditions that need pivots."""
    values = numbers(rng, (n, n), dtype)
    orthogonal = np.linalg.qr(values.astype("complex128" if "complex" in dtype else "float64"))[0]
    return (orthogonal * rng.uniform(0.5, 2, (N, 1, n))).astype(dtype)


sizes = st.integers(1, 9)
dtypes = st.sampled_from([*C_TYPES])
lane_counts = st.sampled_from([None, 0, 4])
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=12, deadline=None)
@given(sizes, sizes, sizes, dtypes, st.sampled_from(["", "_tn", "_nt"]), lane_counts, seeds)
def test_products(
    m: int, n: int, k: int, dtype: str, kind: str, lanes: int | None, seed: int
) -> None:
    rng, T = np.random.default_rng(seed), C_TYPES[dtype]
    a = numbers(rng, (k, m) if kind == "_tn" else (m, k), dtype)
    b = numbers(rng, (n, k) if kind == "_nt" else (k, n), dtype)
    text = f"""void f({T} *A, {T} *B, {T} *C, {T} *D) {{
        op2_gemm{kind}({m}, {n}, {k}, A, B, C); op2_gemm{kind}({m}, {n}, {k}, 2, A, B, -0.5, D);
    }}"""
    before = numbers(rng, (m, n), dtype)
    *_, c, d = run(text, a, b, before, before, lanes=lanes)
    x = a.transpose(0, 2, 1) if kind == "_tn" else a
    y = b.transpose(0, 2, 1) if kind == "_nt" else b
    close(c, x @ y, dtype)
    close(d, 2 * (x @ y) - 0.5 * before, dtype)


@settings(max_examples=8, deadline=None)
@given(sizes, sizes, dtypes, lane_counts, seeds)
def test_products_with_a_vector(m: int, n: int, dtype: str, lanes: int | None, seed: int) -> None:
    rng, T = np.random.default_rng(seed), C_TYPES[dtype]
    a, x, z = (numbers(rng, shape, dtype) for shape in ((m, n), (n,), (m,)))
    text = f"""void f({T} *A, {T} *x, {T} *z, {T} *y, {T} *w) {{
        op2_gemv({m}, {n}, A, x, y); op2_gemv_t({m}, {n}, 3, A, z, 1, w);
    }}"""
    *_, y, w = run(text, a, x, z, np.zeros_like(z), x, lanes=lanes)
    close(y, (a @ x[..., None])[..., 0], dtype)
    close(w, 3 * (a.transpose(0, 2, 1) @ z[..., None])[..., 0] + x, dtype)


@settings(max_examples=12, deadline=None)
@given(sizes, st.integers(1, 4), dtypes, lane_counts, seeds)
def test_systems(n: int, m: int, dtype: str, lanes: int | None, seed: int) -> None:
    rng, T = np.random.default_rng(seed), C_TYPES[dtype]
    a, b = regular(rng, n, dtype), numbers(rng, (n, m), dtype)
    text = f"""void f({T} *A, {T} *B, {T} *X, {T} *d, int *info) {{
        info[0] = op2_solve({n}, {m}, A, B); info[0] += op2_inverse({n}, A, X);
        *d = op2_det({n}, A);
    }}"""
    kept, x, inverse, det, info = run(
        text, a, b, np.zeros_like(a), np.zeros((N, 1), dtype), np.ones(N, "int32"), lanes=lanes
    )
    assert (kept == a).all()
    assert not info.any()
    close(x, np.linalg.solve(a, b), dtype)
    close(inverse, np.linalg.inv(a), dtype)
    close(det[:, 0], np.linalg.det(a), dtype)


@settings(max_examples=10, deadline=None)
@given(sizes, st.integers(1, 4), st.sampled_from(["float64", "float32"]), lane_counts, seeds)
def test_positive_definite_systems(
    n: int, m: int, dtype: str, lanes: int | None, seed: int
) -> None:
    rng, T = np.random.default_rng(seed), C_TYPES[dtype]
    a, b = spd(rng, n, dtype), numbers(rng, (n, m), dtype)
    text = f"""void f({T} *A, {T} *B, {T} *L, {T} *C, int *info) {{
        info[0] = op2_spd_solve({n}, {m}, A, B); info[0] += op2_cholesky({n}, A, L);
        op2_trsm({n}, {m}, L, C); op2_trsm_t({n}, {m}, L, C);
    }}"""
    _, x, factor, by_parts, info = run(
        text, a, b, np.ones_like(a), b, np.ones(N, "int32"), lanes=lanes
    )
    assert not info.any()
    close(x, np.linalg.solve(a, b), dtype)
    close(by_parts, np.linalg.solve(a, b), dtype)
    close(factor, np.linalg.cholesky(a), dtype)


def test_largest_size_and_constants_by_name() -> None:
    rng = np.random.default_rng(3)
    a, b = spd(rng, 64, "float64"), rng.standard_normal((N, 64))
    text = """
    enum { ROWS = 32 };
    #define TWICE (2 * ROWS)
    static int solved(const double *A, double *b) { return op2_spd_solve(TWICE, A, b); }
    void f(double *A, double *b, int *info) { const int n = 64; *info = solved(A, b) + n - TWICE; }
    """
    _, x, info = run(text, a, b, np.ones(N, "int32"))
    assert not info.any()
    close(x, np.linalg.solve(a, b[..., None])[..., 0], "float64")


def test_arrays_of_two_indices_and_parts_of_arrays() -> None:
    rng = np.random.default_rng(4)
    a, b = regular(rng, 3, "float64"), rng.standard_normal((N, 2, 3))
    text = """void f(double A[3][3], double b[2][3], double *x) {
        double inverse[3][3];
        op2_inverse(3, A, inverse);
        op2_gemv(3, 3, inverse, b[1], x);
        op2_gemv(3, 3, inverse, &b[0][0], x + 3);
    }"""
    *_, x = run(text, a, b, np.zeros((N, 6)))
    solved = np.linalg.solve(a, b.transpose(0, 2, 1)).transpose(0, 2, 1)
    close(x.reshape(N, 2, 3), solved[:, ::-1], "float64")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_singular_matrices_are_told(n: int) -> None:
    a = np.zeros((N, n, n))
    a[:, range(n - 1), range(n - 1)] = 1
    a[3] = np.eye(n)
    a[5] = np.nan
    text = f"""void f(double *A, int *info) {{
        double x[{n}] = {{0}}, X[{n * n}], L[{n * n}];
        info[0] = op2_solve({n}, A, x); info[1] = op2_inverse({n}, A, X);
        info[2] = op2_spd_solve({n}, A, x); info[3] = op2_cholesky({n}, A, L);
    }}"""
    _, info = run(text, a, np.full((N, 4), -1, "int32"))
    expected = np.full((N, 4), n)
    expected[3] = 0
    expected[5] = [1, 1 if n > 3 else n, 1, 1]
    assert (info == expected).all()


def test_vectors_are_refused_by_compilers_without_them() -> None:
    text = Dense("gemm", (("m", 5), ("n", 7), ("k", 3)), "float64").vector_text()
    assert "enum { op2_has_v4 = 1 / (sizeof(op2_v4) == 32) };" in text
    without = text.replace("vector_size", "op2_unknown").replace("$0", "a").replace("$1", "b")
    source = (
        f"void f(const double *a, const double *b, double *c) {{ {without.replace('$2', 'c')} }}"
    )
    done = subprocess.run(
        ["gcc", "-x", "c", "-fsyntax-only", "-w", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "division by zero" in done.stderr or "not an integer constant" in done.stderr


@pytest.mark.parametrize(("n", "m"), [(4, 1), (9, 6), (16, 2), (33, 1), (64, 1)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("backend", ["opencl", "cuda"], indirect=True)
def test_positive_definite_systems_by_a_team(backend: str, n: int, m: int, dtype: str) -> None:
    """Only the lower triangle is read, and an element without a pivot leaves the others alone."""
    rng, T = np.random.default_rng(n), C_TYPES[dtype]
    a, b = spd(rng, n, dtype), numbers(rng, (n, m), dtype)
    lower = np.where(np.tri(n, dtype=bool), a, np.nan).astype(dtype)
    lower[3, n - 2, n - 2] = -1
    cells = op2.Set(N)
    A, B = op2.Dat(cells ** (n, n), lower, dtype), op2.Dat(cells ** (n, m), b.copy(), dtype)
    L, info = op2.Dat(cells ** (n, n), dtype=dtype), op2.Dat(cells**2, dtype="int32")
    for text, out in (
        (f"info[0] = op2_spd_solve({n}, {m}, A, out);", B),
        (f"info[1] = op2_cholesky({n}, A, out);", L),
    ):
        kernel = op2.Kernel(f"void f({T} *out, int *info, const {T} *A) {{ {text} }}", "f")
        op2.par_loop(kernel, cells, out(RW), info(RW), A(READ), strategy="team")
    others = np.arange(N) != 3
    assert not info.data_ro[others].any()
    assert (info.data_ro[3] == n - 1).all()
    solved = np.linalg.solve(a.astype("float64"), b.astype("float64"))
    close(B.data_ro.reshape(b.shape)[others], solved[others], dtype)
    close(L.data_ro.reshape(a.shape)[others], np.linalg.cholesky(a)[others], dtype)


@pytest.mark.parametrize("backend", ["opencl", "cuda"], indirect=True)
def test_each_lane_of_a_team_has_all_of_a_global(backend: str) -> None:
    """Lanes loaded a part of a Global each, and read garbage."""
    cells, n = op2.Set(N), 12
    a = numbers(np.random.default_rng(1), (n, n), "float64")
    A, C = op2.Dat(cells ** (n, n), a), op2.Dat(cells ** (n, n), np.ones((N, n, n)))
    factors = op2.Global(2, [2.0, 3.0])
    text = f"""void f(double *C, const double *A, const double *factors) {{
        op2_gemm({n}, {n}, {n}, factors[0], A, A, factors[1], C);
    }}"""
    args = C(RW), A(READ), factors(READ)
    op2.par_loop(op2.Kernel(text, "f"), cells, *args, strategy="team")
    close(C.data_ro, 2 * a @ a + 3, "float64")


@pytest.mark.optimised
@pytest.mark.parametrize("n", [9, 11, 19, 27, 35])
def test_systems_without_lanes(n: int) -> None:
    """GCC 12 stored to rows by aligned instructions: systems of 11, 19, 27, 35 rows crashed."""
    rng, cells = np.random.default_rng(n), op2.Set(N)
    a, b = regular(rng, n, "float64"), numbers(rng, (n,), "float64")
    text = f"""void f(double *x, int *info, const double *A, const double *b) {{
        for (int i = 0; i < {n}; i++) x[i] = b[i];
        info[0] = op2_solve({n}, A, x);
    }}"""
    x, info = op2.Dat(cells**n), op2.Dat(cells, dtype="int32")
    A, right = op2.Dat(cells ** (n, n), a), op2.Dat(cells**n, b)
    args = x(WRITE), info(WRITE), A(READ), right(READ)
    op2.par_loop(op2.Kernel(text, "f"), cells, *args, lanes=0)
    close(x.data_ro, np.linalg.solve(a, b[..., None])[..., 0], "float64")
