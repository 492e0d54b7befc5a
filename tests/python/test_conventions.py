# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as PyOP2 took them in 2013 and 2016, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import (
    IndexValueError,
    ToolchainError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.pyop2.conventions.live import uses_value
from pyop2cxx.runtime import runtime

RNG = np.random.default_rng(3)
EDGES, NODES = op2.Set(40), op2.Set(15)
VALUES = np.argsort(RNG.random((40, 15)), axis=1)[:, :2]
E2N = op2.Map(EDGES, NODES, 2, VALUES)
X = RNG.standard_normal((15, 3))

both = pytest.mark.parametrize("abi", ["2013", "2016"])


def added(shares: Any) -> Any:
    total = np.zeros((15, *np.shape(shares)[2:]))
    np.add.at(total, VALUES, shares)
    return total


def run(text: str, abi: str, *args: Any, **how: Any) -> None:
    op2.par_loop(op2.Kernel(text, "k", abi=abi), EDGES, *args, **how)


@both
@pytest.mark.parametrize("strategy", [None, "owner", "scratch", "atomic"])
def test_pointers_to_entries(abi: str, strategy: str | None) -> None:
    x, y = op2.Dat(NODES**3, X), op2.Dat(NODES)
    text = "void k(double **x, double **y) { y[0][0] += x[1][2]; y[1][0] -= 2 * x[0][1]; }"
    run(text, abi, x(op2.READ, E2N), y(op2.INC, E2N), strategy=strategy)
    first, second = X[VALUES[:, 0]], X[VALUES[:, 1]]
    wanted = added(np.stack([second[:, 2], -2 * first[:, 1]], axis=1))
    np.testing.assert_allclose(y.data_ro, wanted, rtol=0, atol=1e-13)


@both
@pytest.mark.parametrize("lanes", [None, 0])
def test_pointers_to_entries_where_there_is_much_to_compute(abi: str, lanes: int | None) -> None:
    """So much that the default rule would take vectors, which such pointers do not lead to."""
    x, y = op2.Dat(NODES**3, X), op2.Dat(NODES)
    power = " * ".join(["(x[1][2] - x[0][0])"] * 30)
    text = f"void k(double **x, double **y) {{ y[0][0] += {power}; y[1][0] += x[0][1]; }}"
    run(text, abi, x(op2.READ, E2N), y(op2.INC, E2N), lanes=lanes)
    first, second = X[VALUES[:, 0]], X[VALUES[:, 1]]
    wanted = added(np.stack([(second[:, 2] - first[:, 0]) ** 30, first[:, 1]], axis=1))
    np.testing.assert_allclose(y.data_ro, wanted, rtol=1e-12)


@both
def test_single_entries(abi: str) -> None:
    """The form of airfoil's edge loop."""
    x, y = op2.Dat(NODES**3, X), op2.Dat(NODES)
    total = op2.Global(1, 1.0)
    text = """
    void k(double *x1, double *x2, double *y1, double *y2, double *g) {
      double d = x1[0] - x2[0];
      *y1 += d; *y2 -= d; *g += d * d;
    }
    """
    ends = [x(op2.READ, E2N[i]) for i in range(2)] + [y(op2.INC, E2N[i]) for i in range(2)]
    run(text, abi, *ends, total(op2.INC))
    d = X[VALUES[:, 0], 0] - X[VALUES[:, 1], 0]
    np.testing.assert_allclose(y.data_ro, added(np.stack([d, -d], axis=1)), rtol=0, atol=1e-13)
    assert total.data_ro[0] == pytest.approx(1 + (d * d).sum())


@both
def test_pointers_to_values_by_component(abi: str) -> None:
    x, y = op2.Dat(NODES**3, X), op2.Dat(EDGES)
    text = "void k(double **x, double *y) { *y = x[0][0] + 10 * x[1][0] + 100 * x[4][0]; }"
    run(text, abi, x(op2.READ, E2N, flatten=True), y(op2.WRITE))
    seen = X[VALUES]
    np.testing.assert_allclose(y.data_ro, seen[:, 0, 0] + 10 * seen[:, 1, 0] + 100 * seen[:, 0, 2])


def test_all_entries_of_2016() -> None:
    x, y = op2.Dat(NODES**3, X), op2.Dat(NODES**3)
    text = "void k(double *x, double *y) { for (int i = 0; i < 6; ++i) y[i] += i * x[i]; }"
    run(text, "2016", x(op2.READ, E2N[op2.i[0]]), y(op2.INC, E2N[op2.i[0]]))
    np.testing.assert_allclose(y.data_ro, added(np.arange(6).reshape(2, 3) * X[VALUES]), atol=1e-13)
    y.zero()
    flat = (x(op2.READ, E2N[op2.i[0]], flatten=True), y(op2.INC, E2N[op2.i[0]], flatten=True))
    run(text, "2016", *flat)
    weights = np.arange(6).reshape(3, 2).T
    np.testing.assert_allclose(y.data_ro, added(weights * X[VALUES]), atol=1e-13)


def test_one_entry_at_a_time_in_2013() -> None:
    x, y = op2.Dat(NODES**3, X), op2.Dat(NODES)
    text = "void k(double **x, double *y, int i) { *y += (i + 1) * x[1 - i][2]; }"
    run(text, "2013", x(op2.READ, E2N), y(op2.INC, E2N[op2.i[0]]))
    seen = X[VALUES][:, ::-1, 2]
    np.testing.assert_allclose(y.data_ro, added([1, 2] * seen), atol=1e-13)


@both
def test_what_is_not_written_stays(abi: str) -> None:
    """WRITE arguments were the values themselves."""
    nodes = op2.Set(80)
    apart = op2.Map(EDGES, nodes, 2, np.arange(80))
    y = op2.Dat(nodes, np.ones(80))
    run("void k(double **y) { y[0][0] = 5; }", abi, y(op2.WRITE, apart))
    np.testing.assert_array_equal(y.data_ro, np.tile([5.0, 1.0], 40))


@both
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_what_is_incremented_may_be_read(abi: str, backend: str) -> None:
    """INC arguments were the values, too: a kernel may ask whether anybody was there before."""
    x = op2.Dat(NODES**2)
    text = "void k(double *x[]) { for (int i = 0; i < 2; ++i) if (x[i][1] == 0) x[i][1] += 5; }"
    one = op2.Dat(NODES)
    single = "void k(double *x) { if (*x < 2) *x += 1; }"
    with op2.backend(backend):
        run(text, abi, x(op2.INC, E2N))
        run(single, abi, one(op2.INC, E2N[0]))
        seen = np.bincount(VALUES.ravel(), minlength=15) > 0
        assert x.data_ro[:, 1].tolist() == (5.0 * seen).tolist()
        counts = np.bincount(VALUES[:, 0], minlength=15)
        assert one.data_ro.tolist() == np.minimum(counts, 2).tolist()


@pytest.mark.parametrize(
    ("text", "depth", "is_used"),
    [
        ("x[0][0] += x[1][0];", 2, True),
        ("x[0][0] += y; x[1][2] -= y; ++x[0][1]; x[0][1]--;", 2, False),
        ("x[0][0] = y;", 2, True),
        ("x[i][j + x0] += 2 * y;", 2, False),
        ("f(x[0], x[1]); f(x); (*x[0]) += 1; (**x) += 2;", 2, False),
        ("y = (*x[0]);", 2, True),
        ("y = y * x[0][0];", 2, True),
        ("*x += 1; (*x) -= y * 2; x[0] += 2;", 1, False),
        ("f(*x);", 1, True),
        ("f(x); y = x2[0];", 1, False),
        ("if (*x) y = 1;", 1, True),
        ("return x[0];", 1, True),
    ],
)
def test_uses_of_what_is_incremented(text: str, depth: int, is_used: bool) -> None:
    code = f"static void f(double *a) {{ a[0] = x[0]; }} void k(double *x, double y) {{ {text} }}"
    assert uses_value(code, "k", "x", depth) is is_used
    assert not uses_value(code, "gone", "x", depth)


def test_layers_of_2013() -> None:
    columns = op2.ExtrudedSet(op2.Set(2), 4)
    nodes = op2.Set(8)
    up = op2.Map(columns, nodes, 2, [[0, 1], [4, 5]], offset=[1, 1])
    y = op2.Dat(nodes)
    kernel = op2.Kernel("void k(double **y, int j) { y[1][0] += j + 1; }", "k", abi="2013")
    op2.par_loop(kernel, columns, y(op2.INC, up))
    assert y.data_ro.tolist() == [0, 1, 2, 3] * 2


def test_the_same_kernel_twice_is_compiled_once() -> None:
    x = op2.Dat(NODES**3, X)
    text = "void k(double **x) { x[0][0] += 1; }"
    kernel = op2.Kernel(text, "k", abi="2016")
    first = op2.ParLoop(kernel, EDGES, x(op2.INC, E2N))
    second = op2.ParLoop(op2.Kernel(text, "k", abi="2016"), EDGES, x(op2.INC, E2N))
    assert str(first.generate()) == str(second.generate())


def test_wrong_uses() -> None:
    x = op2.Dat(NODES)
    other = op2.Map(EDGES, NODES, 3, np.zeros((40, 3), int))
    with pytest.raises(UnsupportedError, match="there are: 2026, 2016, 2013"):
        op2.Kernel("void k(double *x) {}", "k", abi="2001")
    with pytest.raises(IndexValueError, match=r"op2.i\[0\] runs over 2 entries of one Map and 3"):
        run(
            "void k(double *x, double *y, int i) {}",
            "2013",
            x(op2.READ, E2N[op2.i[0]]),
            x(op2.READ, other[op2.i[0]]),
        )
    with pytest.raises(UsageError, match=r"gets argument 0, Dat .* of dtype float64"):
        run("void k(float *x) { float y = x[0]; }", "2016", x(op2.READ, E2N[0]))
    with pytest.raises(UsageError, match=r"has 1 parameters .*, but the loop passes 2"):
        run("void k(double *x) {}", "2013", x(op2.READ, E2N[op2.i[0]]))


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
@pytest.mark.parametrize("form", ["live", "rows", "flattened", "array"])
@both
def test_what_a_kernel_does_not_use_is_of_any_dtype(abi: str, form: str, backend: str) -> None:
    x, unused = op2.Dat(NODES), op2.Dat(NODES**2, np.zeros((15, 2)), "int32")
    declared = {"live": "*", "rows": "**", "flattened": "*", "array": ""}[form]
    extents = "[2][2]" if form == "array" else ""
    path = {"live": E2N[0], "rows": E2N, "array": E2N[op2.i[0]], "flattened": E2N[op2.i[0]]}[form]
    if abi == "2013" and form in ("array", "flattened"):
        return  # these are called for each point
    text = f"void k(double *x, double {declared}y{extents}) {{ x[0] += 1; }}"
    args = x(op2.INC, E2N[0]), unused(op2.READ, path, flatten=form == "flattened")
    with op2.backend(backend):
        run(text, abi, *args)
    assert x.data_ro.tolist() == np.bincount(VALUES[:, 0], minlength=15).tolist()
    with pytest.raises(UsageError, match=r"gets argument 1, Dat .* of dtype int32"):
        op2.ParLoop(op2.Kernel(text.replace("+= 1", "+= y != 0"), "k", abi=abi), EDGES, *args)


def test_spaces_of_2016_have_one_size() -> None:
    x, y = op2.Dat(NODES), op2.Dat(NODES**2)
    three = op2.Map(EDGES, NODES, 3, np.zeros((40, 3), int))
    text = "void k(double *x, double *y) { x[0] += 1; y[0] += 1; }"
    args = x(op2.INC, E2N[op2.i[0]]), y(op2.INC, three[op2.i[0]])
    wanted = r"'k': op2.i\[0\] runs over 2 entries of argument 0 and over 3 of argument 1"
    with pytest.raises(IndexValueError, match=wanted):
        run(text, "2016", *args)
    run(text, "2016", x(op2.INC, E2N[op2.i[0]]), y(op2.INC, three[op2.i[1]]))
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**1), [(three, three, None)]))
    path = (three[op2.i[0]], three[op2.i[1]])
    with pytest.raises(IndexValueError, match="over 2 entries of argument 0 and over 3"):
        run(
            "void k(double *x, double A[3][3]) {}",
            "2016",
            x(op2.READ, E2N[op2.i[0]]),
            mat(op2.INC, path),
        )


@pytest.mark.parametrize("abi", ["2013", "2016", "2026"])
def test_a_kernel_without_text_has_nothing_to_run(abi: str) -> None:
    x = op2.Dat(NODES)
    with pytest.raises(UsageError, match="Kernel 'k' has no text"):
        op2.ParLoop(op2.Kernel("", "k", abi=abi), NODES, x(op2.RW))


CELLS = op2.Set(6)
C2N = op2.Map(CELLS, NODES, 3, np.argsort(RNG.random((6, 15)), axis=1)[:, :3])


def dense(blocks: Any, dims: tuple[int, int]) -> Any:
    """Add (6, 3 * r, 3 * c) element matrices up."""
    total = np.zeros((15 * dims[0], 15 * dims[1]))
    for cell, block in zip(C2N.values, blocks, strict=True):
        rows = (cell[:, None] * dims[0] + np.arange(dims[0])).ravel()
        cols = (cell[:, None] * dims[1] + np.arange(dims[1])).ravel()
        total[np.ix_(rows, cols)] += block
    return total


@pytest.mark.parametrize("strategy", [None, "owner", "scratch", "atomic"])
def test_a_matrix_of_2016(strategy: str | None) -> None:
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**1), [(C2N, C2N, None)]))
    text = """
    void k(double A[3][3], double **x) {
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) A[i][j] += x[i][0] * x[j][1];
    }
    """
    path = C2N[op2.i[0]], C2N[op2.i[1]]
    x = op2.Dat(NODES**3, X)
    kernel = op2.Kernel(text, "k", abi="2016")
    op2.par_loop(kernel, CELLS, mat(op2.INC, path), x(op2.READ, C2N), strategy=strategy)
    mat.assemble()
    own = X[C2N.values]
    wanted = dense(own[:, :, None, 0] * own[:, None, :, 1], (1, 1))
    np.testing.assert_allclose(mat.values, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dims", [(1, 1), (2, 1), (2, 2)])
def test_a_matrix_of_2013(dims: tuple[int, int]) -> None:
    """The kernel is called for each pair of entries, with the block of that pair."""
    mat = op2.Mat(op2.Sparsity((NODES ** dims[0], NODES ** dims[1]), [(C2N, C2N, None)]))
    text = f"""
    void k(double A[{dims[0]}][{dims[1]}], double *x[3], int i, int j) {{
      for (int r = 0; r < {dims[0]}; ++r)
        for (int c = 0; c < {dims[1]}; ++c) A[r][c] += x[i][r] * x[j][2] + 10 * i + 100 * c;
    }}
    """
    path = C2N[op2.i[0]], C2N[op2.i[1]]
    x = op2.Dat(NODES**3, X)
    kernel = op2.Kernel(text, "k", abi="2013")
    op2.par_loop(kernel, CELLS, mat(op2.INC, path), x(op2.READ, C2N))
    mat.assemble()
    own = X[C2N.values]
    blocks = own[:, :, : dims[0], None, None] * own[:, None, None, :, 2, None]
    blocks = blocks + 10 * np.arange(3)[:, None, None, None] + 100 * np.arange(dims[1])
    wanted = dense(blocks.reshape(6, 3 * dims[0], 3 * dims[1]), dims)
    np.testing.assert_allclose(mat.values, wanted, rtol=0, atol=1e-12)


def test_a_right_hand_side_of_2013() -> None:
    """Called for each entry, with an array of its values."""
    y = op2.Dat(NODES**2)
    x = op2.Dat(NODES**3, X)
    text = "void k(double y[1][2], double **x, int i) { y[0][0] += x[i][0]; y[0][1] += i; }"
    kernel = op2.Kernel(text, "k", abi="2013")
    op2.par_loop(kernel, CELLS, y(op2.INC, C2N[op2.i[0]]), x(op2.READ, C2N))
    wanted = np.zeros((15, 2))
    np.add.at(wanted[:, 0], C2N.values, X[C2N.values, 0])
    np.add.at(wanted[:, 1], C2N.values, np.tile(np.arange(3.0), (6, 1)))
    np.testing.assert_allclose(y.data_ro, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_arrays_of_arrays_in_todays_convention(backend: str) -> None:
    x, y, z = op2.Dat(NODES**3, X), op2.Dat(NODES**2), op2.Dat(EDGES ** (2, 2))
    g = op2.Global(2)
    text = """
    void k(double x[2][3], double y[][2], double z[2][2], double g[2]) {
      y[0][1] += x[1][2]; y[1][0] += x[0][0]; z[1][0] = x[1][1]; g[1] += x[0][1];
    }
    """
    kernel = op2.Kernel(text, "k")
    args = x(op2.READ, E2N), y(op2.INC, E2N), z(op2.WRITE), g(op2.INC)
    with op2.backend(backend):
        for _ in range(2):
            op2.par_loop(kernel, EDGES, *args)
        first, second = X[VALUES[:, 0]], X[VALUES[:, 1]]
        wanted = np.zeros((15, 2))
        np.add.at(wanted[:, 1], VALUES[:, 0], 2 * second[:, 2])
        np.add.at(wanted[:, 0], VALUES[:, 1], 2 * first[:, 0])
        np.testing.assert_allclose(y.data_ro, wanted, rtol=0, atol=1e-13)
        assert z.data_ro[:, 1, 0].tolist() == second[:, 1].tolist()
        assert g.data_ro == pytest.approx([0, 2 * first[:, 1].sum()])


def test_an_array_of_another_shape_is_refused() -> None:
    x = op2.Dat(NODES**3, X)
    kernel = op2.Kernel("void k(double x[3][3]) {}", "k")
    with pytest.raises(UsageError, match="has 9 values, but argument 0 has 6 of one element"):
        op2.ParLoop(kernel, EDGES, x(op2.READ, E2N))


def test_a_kernel_without_declared_parameters_takes_any() -> None:
    x = op2.Dat(NODES**3, X)
    kernel = op2.Kernel("static int k() { return 0; }", "k")
    op2.par_loop(kernel, EDGES, x(op2.READ, E2N), op2.Global(1)(op2.INC))
    op2.par_loop(kernel, EDGES)
    with pytest.raises(UsageError, match="0 parameters"):
        op2.ParLoop(op2.Kernel("void k(void) {}", "k"), EDGES, x(op2.READ, E2N))


@pytest.mark.parametrize("flatten", [False, True])
def test_facets_have_entries_of_both_cells(flatten: bool) -> None:
    columns, nodes = op2.ExtrudedSet(op2.Set(2), 4), op2.Set(8)
    up = op2.Map(columns, nodes, 1, [[0], [4]], offset=[1])
    values = RNG.standard_normal((8, 2))
    x, y = op2.Dat(nodes**2, values), op2.Dat(nodes)
    own, above = ("x[1][0]", "x[2][0]") if flatten else ("x[0][1]", "x[1][0]")
    text = f"void k(double **x, double **y) {{ y[0][0] += {own}; y[1][0] += 2 * {above}; }}"
    kernel = op2.Kernel(text, "k", abi="2016")
    args = x(op2.READ, up, flatten=flatten), y(op2.INC, up)
    op2.par_loop(kernel, columns, *args, iterate=op2.ON_INTERIOR_FACETS)
    wanted = np.zeros((2, 4))
    cells = values.reshape(2, 4, 2)
    wanted[:, :2] += cells[:, :2, 1]
    wanted[:, 1:3] += 2 * cells[:, 1:3, 0]
    np.testing.assert_allclose(y.data_ro.reshape(2, 4), wanted, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("host")
def test_a_verbatim_kernel_may_have_any_name() -> None:
    """Nothing in C++ can be renamed, so it is called by a function that can."""
    x = op2.Dat(NODES, X[:, 0])
    text = "#include <cmath>\nstatic void k(double *x) { *x = std::abs(*x); }"
    op2.par_loop(op2.Kernel(text, "k", cpp=True), NODES, x(op2.RW))
    assert x.data_ro.tolist() == np.abs(X[:, 0]).tolist()


def by_component(n: int, dim: int) -> Any:
    """Return where the values of n entries lie, one component of all after the other."""
    return np.arange(n * dim).reshape(n, dim).T.ravel()


@pytest.mark.parametrize("abi", ["2013", "2016"])
@pytest.mark.parametrize("dims", [(2, 1), (2, 3)])
def test_a_flattened_matrix(abi: str, dims: tuple[int, int]) -> None:
    """Rows and columns by component first; in 2013 called for each pair of values."""
    mat = op2.Mat(op2.Sparsity((NODES ** dims[0], NODES ** dims[1]), [(C2N, C2N, None)]))
    m, n = 3 * dims[0], 3 * dims[1]
    x = op2.Dat(NODES**3, X)
    value = "x[i % 3][0] * x[j % 3][1] + 10 * i + j"
    loops = f"for (int i = 0; i < {m}; ++i) for (int j = 0; j < {n}; ++j) A[i][j] += {value};"
    texts = {
        "2016": f"void k(double A[{m}][{n}], double **x) {{ {loops} }}",
        "2013": f"void k(double A[1][1], double *x[3], int i, int j) {{ A[0][0] += {value}; }}",
    }
    path = C2N[op2.i[0]], C2N[op2.i[1]]
    kernel = op2.Kernel(texts[abi], "k", abi=abi)
    for _ in range(2):
        op2.par_loop(kernel, CELLS, mat(op2.INC, path, flatten=True), x(op2.READ, C2N))
    mat.assemble()
    own, i, j = X[C2N.values], np.arange(m), np.arange(n)
    blocks = own[:, i % 3, 0][:, :, None] * own[:, j % 3, 1][:, None] + 10 * i[:, None] + j
    wanted = np.zeros_like(blocks)
    wanted[:, by_component(3, dims[0])[:, None], by_component(3, dims[1])] = blocks
    np.testing.assert_allclose(mat.values, 2 * dense(wanted, dims), rtol=0, atol=1e-12)


def test_a_matrix_flattened_or_not_is_not_confused() -> None:
    """Both forms of one loop are remembered apart; one pointer will do in place of the array."""
    mat = op2.Mat(op2.Sparsity((NODES**2, NODES**1), [(C2N, C2N, None)]))
    kernel = op2.Kernel("void k(double *A) { A[1] += 1; A[3] += 2; }", "k", abi="2016")
    path = C2N[op2.i[0]], C2N[op2.i[1]]
    wanted = np.zeros((6, 6, 3))
    wanted[:, 0, 1] += 2  # two calls by entry, one by component
    wanted[:, 1, 0] += 4
    wanted[:, 0, 1] += 1
    wanted[:, 2, 0] += 2
    for flatten in (False, True, False):
        op2.par_loop(kernel, CELLS, mat(op2.INC, path, flatten=flatten))
    mat.assemble()
    np.testing.assert_array_equal(mat.values, dense(wanted, (2, 1)))
    with pytest.raises(UsageError, match="older conventions"):
        op2.par_loop(
            op2.Kernel("void k(double *A) {}", "k"), CELLS, mat(op2.INC, path, flatten=True)
        )


def test_flattened_values_one_at_a_time_in_2013() -> None:
    y = op2.Dat(NODES**2)
    kernel = op2.Kernel("void k(double *y, int i) { *y += 1 + i; }", "k", abi="2013")
    op2.par_loop(kernel, CELLS, y(op2.INC, C2N[op2.i[0]], flatten=True))
    wanted = np.zeros((15, 2))
    np.add.at(wanted, C2N.values, np.tile(1.0 + np.arange(6).reshape(2, 3).T, (6, 1, 1)))
    np.testing.assert_array_equal(y.data_ro, wanted)


OWN = op2.Map(CELLS, CELLS, 1, np.arange(6)[::-1])
BOTH = op2.MixedMap((C2N, OWN))


def fields() -> Any:
    return op2.MixedDat((op2.Dat(NODES**2, X[:, :2]), op2.Dat(CELLS, 100.0 + np.arange(6))))


@both
def test_pointers_to_the_entries_of_all_fields(abi: str) -> None:
    y = op2.Dat(CELLS**2)
    text = "void k(double **x, double *y) { y[0] = x[1][1] + x[2][0]; y[1] = x[3][0]; }"
    op2.par_loop(op2.Kernel(text, "k", abi=abi), CELLS, fields()(op2.READ, BOTH), y(op2.WRITE))
    own = X[C2N.values]
    np.testing.assert_array_equal(y.data_ro[:, 0], own[:, 1, 1] + own[:, 2, 0])
    np.testing.assert_array_equal(y.data_ro[:, 1], 100.0 + np.arange(6)[::-1])


@pytest.mark.parametrize(("abi", "flatten"), [("2016", False), ("2016", True), ("2026", False)])
def test_all_values_of_all_fields(abi: str, flatten: bool) -> None:
    seen, added = op2.Dat(CELLS**7), fields()
    added.zero()
    text = "void k(double *x, double *z, double *y)"
    text += "{ for (int i = 0; i < 7; ++i) { y[i] = x[i]; z[i] += i; } }"
    args = [
        mixed(access, BOTH[op2.i[0]], flatten=flatten)
        for mixed, access in [(fields(), op2.READ), (added, op2.INC)]
    ]
    op2.par_loop(op2.Kernel(text, "k", abi=abi), CELLS, *args, seen(op2.WRITE))
    order = by_component(3, 2) if flatten else np.arange(6)
    own = X[C2N.values][:, :, :2].reshape(6, 6)
    np.testing.assert_array_equal(seen.data_ro[:, :6], own[:, order])
    np.testing.assert_array_equal(seen.data_ro[:, 6], 100.0 + np.arange(6)[::-1])
    share = np.zeros(6)
    share[order] = np.arange(6)
    wanted = np.zeros((15, 2))
    np.add.at(wanted, C2N.values, np.tile(share.reshape(3, 2), (6, 1, 1)))
    np.testing.assert_array_equal(added[0].data_ro, wanted)
    assert added[1].data_ro.tolist() == [6.0] * 6


def test_entries_of_unlike_fields_one_by_one() -> None:
    kernel = op2.Kernel("void k(double *x, int i) { *x = i; }", "k", abi="2013")
    with pytest.raises(UsageError, match=r"fields of \[2, 1\] values"):
        op2.par_loop(kernel, CELLS, fields()(op2.WRITE, BOTH[op2.i[0]]))
    mixed = fields()
    op2.par_loop(kernel, CELLS, mixed(op2.WRITE, BOTH[op2.i[0]], flatten=True))
    assert mixed[1].data_ro.tolist() == [6.0] * 6
    today = op2.Kernel("void k(double *x) {}", "k")
    with pytest.raises(UsageError, match="older conventions"):
        op2.par_loop(today, CELLS, mixed(op2.INC, BOTH[op2.i[0]], flatten=True))


@pytest.mark.parametrize("flatten", [False, True])
def test_a_mixed_matrix_of_2016(flatten: bool) -> None:
    sets = op2.MixedDataSet((NODES**2, CELLS**1))
    mat = op2.Mat(op2.Sparsity((sets, sets), (BOTH, BOTH), "older"))
    assert mat.sparsity is op2.Sparsity(sets, BOTH)
    text = """
    void k(double A[7][7]) {
      for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 7; ++j) A[i][j] += 1 + i + 10 * j;
    }
    """
    path = BOTH[op2.i[0]], BOTH[op2.i[1]]
    op2.par_loop(op2.Kernel(text, "k", abi="2016"), CELLS, mat(op2.INC, path, flatten=flatten))
    mat.assemble()
    order = np.r_[by_component(3, 2) if flatten else np.arange(6), 6]
    block = np.zeros((7, 7))
    block[np.ix_(order, order)] = 1 + np.arange(7)[:, None] + 10 * np.arange(7)
    wanted = dense(np.tile(block[:6, :6], (6, 1, 1)), (2, 2))
    np.testing.assert_array_equal(mat[0, 0].values, wanted)
    assert mat[1, 1].values.tolist() == (block[6, 6] * np.eye(6)).tolist()


@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_what_stands_around_kernels_of_older_conventions(backend: str) -> None:
    """PyOP2 defined OP2_STRIDE, and FFC marked loops by pragmas."""
    x, y = op2.Dat(EDGES**2, np.arange(80.0)), op2.Dat(EDGES**2)
    text = """
    static inline void k(double *x, double *y) {
    #pragma pyop2 itspace
      for (int i = 0; i < 2; ++i) OP2_STRIDE(y, i) = 2 * OP2_STRIDE(x, 1 - i);
    }
    """
    kernel = op2.Kernel(text, "k", abi="2013")
    assert not kernel.opaque_reason
    with op2.backend(backend):
        op2.par_loop(kernel, EDGES, x(op2.READ), y(op2.WRITE))
        np.testing.assert_array_equal(y.data_ro, 2 * x.data_ro[:, ::-1])


def test_the_convention_of_a_whole_program() -> None:
    x, y = op2.Dat(NODES**3, X), op2.Dat(NODES)
    text = "void k(double **x, double **y) { y[0][0] += x[1][2]; }"
    op2.init(abi="2016")
    try:
        kernel = op2.Kernel(text, "k")
        assert kernel.abi == "2016"
        assert op2.Kernel(text, "k", abi="2013").abi == "2013"
        op2.par_loop(kernel, EDGES, x(op2.READ, E2N), y(op2.INC, E2N))
        y += x.inner(x)  # our own kernels are of today's
    finally:
        op2.exit()
    assert op2.Kernel("void k(double *x) {}", "k").abi == "2026"
    wanted = np.zeros(15)
    np.add.at(wanted, VALUES[:, 0], X[VALUES[:, 1], 2])
    np.testing.assert_allclose(y.data_ro, wanted + (X * X).sum(), rtol=0, atol=1e-12)


def legacy_loops() -> dict[str, Any]:
    """A loop for each way in which kernels of older conventions take arguments."""
    x, y, scalar = op2.Dat(NODES**3, X), op2.Dat(NODES**2), op2.Dat(NODES)
    mat = op2.Mat(op2.Sparsity((NODES**2, NODES**2), [(C2N, C2N, None)]))
    pair, one = (C2N[op2.i[0]], C2N[op2.i[1]]), C2N[op2.i[0]]
    blocks = mat(op2.INC, pair), mat(op2.INC, pair, flatten=True)
    return {
        "rows": (
            "2016",
            "void k(double **x, double **y) { y[1][0] += x[0][2]; }",
            (x(op2.READ, C2N), y(op2.INC, C2N)),
        ),
        "scalars": (
            "2016",
            "void k(double *x[9], double *y[6]) { y[4][0] += x[2][0]; }",
            (x(op2.READ, C2N, flatten=True), y(op2.INC, C2N, flatten=True)),
        ),
        "flattened": (
            "2016",
            "void k(double *x, double y[6]) { y[4] += x[2]; }",
            (x(op2.READ, one, flatten=True), y(op2.INC, one, flatten=True)),
        ),
        "tensor": ("2016", "void k(double A[6][6]) { A[1][2] += 1; }", blocks[1:]),
        "point": (
            "2013",
            "void k(double *x, double *y, int i) { y[0] += x[1] * i; }",
            (x(op2.READ, one), y(op2.INC, one)),
        ),
        "flattened point": (
            "2013",
            "void k(double *y, int i) { y[0] += i; }",
            (y(op2.INC, one, flatten=True),),
        ),
        "block": ("2013", "void k(double A[2][2], int i, int j) { A[0][1] += i; }", blocks[:1]),
        "flattened block": (
            "2013",
            "void k(double A[1][1], int i, int j) { A[0][0] += i * j; }",
            blocks[1:],
        ),
        "entries": (
            "2016",
            "void k(double *x, double *y) { *y += *x; }",
            (scalar(op2.READ, C2N[0]), scalar(op2.INC, C2N[1])),
        ),
        "unused": (
            "2016",
            "void k(double **x, float **y, float z[3]) { x[0][0] += 1; }",
            (y(op2.INC, C2N), x(op2.READ, C2N), x(op2.READ, one)),
        ),
        "mixed": (
            "2016",
            "void k(double **x, double *y) { y[6] += x[3][0]; }",
            (fields()(op2.READ, BOTH), fields()(op2.INC, BOTH[op2.i[0]])),
        ),
    }


@pytest.mark.parametrize("form", sorted(legacy_loops()))
def test_every_form_is_cuda(form: str) -> None:
    """Compiled without a GPU."""
    try:
        compiler = nvrtc.compiler("sm_90")
    except ToolchainError:
        pytest.skip("NVRTC is not installed")
    service = _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 24,
        compile_timeout_seconds=60.0,
    )
    abi, text, args = legacy_loops()[form]
    with op2.backend("cuda"):
        made = op2.ParLoop(op2.Kernel(text, "k", abi=abi), CELLS, *args).generate()
    service.compile(compiler, str(made), runtime.engine.backend("cuda").toolchain.flags, "")


def test_chains_call_kernels_by_the_names_that_they_have() -> None:
    """Not by those of the functions that call them."""
    cells, nodes = op2.Set(4), op2.Set(5)
    ends = op2.Map(cells, nodes, 2, np.stack([np.arange(4), np.arange(1, 5)], axis=1))
    x, y = op2.Dat(nodes, np.arange(5.0)), op2.Dat(cells)
    text = "void old(double *y, double *x[2]) { y[0] += x[0][0] + x[1][0]; }"
    more = op2.Kernel("void more(double *y) { y[0] += 1; }", "more")
    with op2.profile() as p, op2.chain() as chain:
        op2.par_loop(op2.Kernel(text, "old", abi="2016"), cells, y(op2.INC), x(op2.READ, ends))
        op2.par_loop(more, cells, y(op2.RW))
    assert y.data_ro.tolist() == [2.0, 4.0, 6.0, 8.0]
    assert [row.loop for row in p.loops] == ["old_more"]
    assert "old + more" in str(chain.explain())
