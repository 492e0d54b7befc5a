# SPDX-License-Identifier: BSD-3-Clause
"""Scans whose operation is a kernel of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import _core, op2
from pyop2cxx.algebra.scans import ScanLoops
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import (
    CheckError,
    DataValueError,
    ToolchainError,
    UsageError,
)
from pyop2cxx.graph.joins import Join
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


BACKENDS = [one.name for one in op2.backends() if one.available]


class Case(NamedTuple):
    """An operation in C and in Python."""

    kernel: op2.Kernel
    dim: Any
    dtype: str
    identity: Any
    fold: Callable[[Any, Any], Any]


def _after(f: NDArray[Any], g: NDArray[Any]) -> NDArray[Any]:
    """First x -> f0 x + f1, then g; integers modulo 2**32."""
    return np.array([g[0] * f[0], g[0] * f[1] + g[1]], f.dtype)


def _greater(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return b if b[0] > a[0] else a


def _word(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The last value that is not zero: the order matters."""
    return b if b != 0 else a


AFFINE = op2.Kernel(
    """
#define OUT(i) f[i]
static uint32_t twice(uint32_t x) { return 2 * x; }
static void after(uint32_t *f, const uint32_t *g) {
  uint32_t value = twice(g[0] * OUT(0)) - g[0] * f[0];
  OUT(1) = g[0] * f[1] + g[1];
  OUT(0) = value;
}
""",
    "after",
)
CASES = {
    "affine maps": Case(AFFINE, 2, "uint32", [1, 0], _after),
    "products of matrices": Case(
        op2.Kernel(
            """
void multiply(int64_t a[2][2], const int64_t b[2][2]) {
  int64_t c[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) a[i][j] = c[i][j];
}
""",
            "multiply",
        ),
        (2, 2),
        "int64",
        [[1, 0], [0, 1]],
        lambda a, b: a @ b,
    ),
    "the greatest key, and where": Case(
        op2.Kernel(
            "void greater(double *a, const double *b) "
            "{ if (b[0] > a[0]) { a[0] = b[0]; a[1] = b[1]; } }",
            "greater",
        ),
        2,
        "float64",
        [-np.inf, -1],
        _greater,
    ),
    "the last that is set": Case(
        op2.Kernel("void last(int8_t *a, const int8_t *b) { if (b[0]) a[0] = b[0]; }", "last"),
        1,
        "int8",
        0,
        _word,
    ),
}


def _folded(case: Case, rows: NDArray[Any], inclusive: bool) -> NDArray[Any]:
    """The same by a Python loop, exactly: no operation here rounds."""
    shape = rows.shape[1:]
    value = np.broadcast_to(np.asarray(case.identity, case.dtype), shape).copy()
    expected = np.empty_like(rows)
    with np.errstate(over="ignore"):
        for i, row in enumerate(rows):
            joined = case.fold(value, row)
            expected[i] = joined if inclusive else value
            value = joined
    return expected


def _rows(case: Case, n: int, seed: int) -> NDArray[Any]:
    shape = (n, *np.atleast_1d(case.dim)) if case.dim != 1 else (n,)
    low = 0 if case.dtype.startswith("u") else -3
    return np.random.default_rng(seed).integers(low, 4, shape).astype(case.dtype)


def _scan(case: Case, x: op2.Dat, y: op2.Dat, inclusive: bool) -> op2.Graph:
    with op2.graph() as g:
        g.then_scan(x, y, case.kernel, inclusive=inclusive, identity=case.identity)
    return g.instantiate()


@pytest.mark.parametrize("name", CASES)
def test_a_scan_is_the_fold_of_python(backend: str, name: str) -> None:
    case = CASES[name]

    @settings(max_examples=15)
    @given(
        n=st.one_of(st.integers(0, 40), st.sampled_from([255, 256, 257, 4096, 5003])),
        seed=st.integers(0, 2**16),
        inclusive=st.booleans(),
        in_place=st.booleans(),
        layout=st.sampled_from(["aos", "soa"]),
    )
    def agrees(n: int, seed: int, inclusive: bool, in_place: bool, layout: str) -> None:
        cells = op2.Set(n)
        rows = _rows(case, n, seed)
        x = op2.Dat(cells**case.dim, rows.copy(), case.dtype, "x", layout=layout)
        y = x if in_place else op2.Dat(cells**case.dim, None, case.dtype, "y", layout=layout)
        _scan(case, x, y, inclusive).submit()
        np.testing.assert_array_equal(y.data_ro, _folded(case, rows, inclusive))
        if not in_place:
            np.testing.assert_array_equal(x.data_ro, rows)

    agrees()


def test_replays_have_the_same_bits_and_no_python(backend: str) -> None:
    """Products of rounded numbers, 9 times: rows behind the last stay neutral."""
    n = 4099
    cells = op2.Set(n)
    turns = op2.Kernel(
        "void turn(double *a, const double *b) { double c = a[0] * b[0] - a[1] * b[1]; "
        "a[1] = a[0] * b[1] + a[1] * b[0]; a[0] = c; }",
        "turn",
    )
    grow = op2.Kernel("void grow(double *x) { x[0] *= 1.0; }", "grow")
    angles = np.random.default_rng(3).random(n)
    x = op2.Dat(cells**2, np.stack([np.cos(angles), np.sin(angles)], 1), name="x")
    y = op2.Dat(cells**2, name="y")
    with op2.graph() as g:
        g.then(grow, cells, x(op2.RW)).then_scan(x, y, turns, inclusive=True, identity=[1, 0])
    graph = g.instantiate()
    assert graph.stats().segments == 1
    found = []
    for _ in range(9):
        graph.submit()
        found.append(y.data_ro.copy())
    exact = np.cumsum(angles)
    np.testing.assert_allclose(found[0], np.stack([np.cos(exact), np.sin(exact)], 1), atol=1e-9)
    assert all((other == found[0]).all() for other in found)


def test_the_number_of_threads_does_not_change_bits() -> None:
    if not {one.name: one for one in op2.backends()}["openmp"].available:
        pytest.skip("there is no OpenMP")
    found = []
    mean = op2.Kernel("void add(double *a, const double *b) { a[0] += b[0]; }", "add")
    values = np.random.default_rng(5).random(70_001)
    for name in ("sequential", "openmp"):
        with op2.backend(name):
            cells = op2.Set(len(values))
            x = op2.Dat(cells, values.copy(), name="x")
            _scan(Case(mean, 1, "float64", 0, np.add), x, x, True).submit()
            found.append(x.data_ro.copy())
    assert (found[0] == found[1]).all()


def test_rows_are_seen_in_the_wider_dtype(backend: str) -> None:
    cells = op2.Set(50)
    add = op2.Kernel("void add(double *a, const double *b) { a[0] += b[0]; }", "add")
    x, y = (op2.Dat(cells, 0.1, "float32", compute="float64") for _ in range(2))
    _scan(Case(add, 1, "float32", 0, np.add), x, y, True).submit()
    expected = np.cumsum(x.data_ro.astype("float64")).astype("float32")
    np.testing.assert_allclose(y.data_ro, expected, rtol=1e-7)


def test_consts_are_read_and_named(backend: str) -> None:
    cells = op2.Set(21)
    sign = op2.Const(1, 1.0, "scan_sign")
    try:
        extreme = op2.Kernel(
            "void most(double *a, const double *b) "
            "{ if (b[0] * scan_sign > a[0] * scan_sign) a[0] = b[0]; }",
            "most",
        )
        values = np.random.default_rng(2).random(21)
        x, y = op2.Dat(cells, values, name="x"), op2.Dat(cells, name="y")
        with op2.graph() as g:
            g.then_scan(x, y, extreme, inclusive=True, identity=values[0])
        graph = g.instantiate()
        assert set(graph.inputs) == {"x", "scan_sign"}
        graph.submit()
        np.testing.assert_array_equal(y.data_ro, np.maximum.accumulate(values))
        sign.data = -1.0
        graph.submit()
        np.testing.assert_array_equal(y.data_ro, np.minimum.accumulate(values))
    finally:
        sign.remove_from_namespace()


def test_other_data_and_components_of_dats(backend: str) -> None:
    case, cells = CASES["the greatest key, and where"], op2.Set(5)
    rows = np.array([[3.0, 0], [1, 1], [5, 2], [2, 3], [5, 4]])
    x, y, z = (op2.Dat(cells**2, rows.copy(), name=name) for name in "xyz")
    with op2.graph() as g:
        g.slot(y)
        g.then_scan(x, y, case.kernel, inclusive=True, identity=case.identity)
    g.instantiate().bind({y: z}).submit()
    assert z.data_ro.tolist() == [[3, 0], [3, 0], [5, 2], [5, 2], [5, 2]]
    assert (y.data_ro == rows).all()
    both = op2.Dat(cells**2, rows.copy(), name="both")
    last = op2.Kernel("void last(double *a, const double *b) { if (b[0]) a[0] = b[0]; }", "last")
    with op2.graph() as g:
        g.then_scan(op2.DatView(both, 0), op2.DatView(both, 1), last, identity=0)
    g.instantiate().submit()
    assert both.data_ro[:, 1].tolist() == [0, 3, 1, 5, 2]


ADD = op2.Kernel("void add(double *a, const double *b) {\n  a[0] += b[0];\n}", "add")
LESS = op2.Kernel("void less(double *a, const double *b) {\n  a[0] -= b[0];\n}", "less")
REACH = op2.Kernel(
    "void reach(double *a, const double *b) {\n  int i = b[0];\n  a[0] += b[i];\n}", "reach"
)


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize("backend", BACKENDS)
def test_check_mode_groups_otherwise(backend: str) -> None:
    """Broken promises are found, and mistakes of the kernel; nothing is written."""
    n = 50
    cells = op2.Set(n, "cells")
    values = np.random.default_rng(1).random(n) + 1
    x, y = op2.Dat(cells, values, name="x"), op2.Dat(cells, 7.0, name="y")
    op2.init(backend=backend, check=True)
    _scan(Case(ADD, 1, "float64", 0, np.add), x, y, True).submit()
    np.testing.assert_allclose(y.data_ro, np.cumsum(values))
    y.assign(7.0)
    with pytest.raises(CheckError, match=r"kernel 'less' joins the rows up to .* otherwise"):
        _scan(Case(LESS, 1, "float64", 0, np.add), x, y, False).submit()
    with pytest.raises(CheckError, match=r"identity=\[1.0\] neutral. 'y' is unchanged") as met:
        _scan(Case(ADD, 1, "float64", 1, np.add), x, y, True).submit()
    assert (met.value.loop, met.value.check) == ("add", "scan")
    with pytest.raises(CheckError, match=r"kernel line 3: 'a\[0\] \+= b\[i\];': index 1"):
        _scan(Case(REACH, 1, "float64", 0, np.add), x, y, True).submit()
    assert (y.data_ro == 7.0).all()


def test_kernels_that_cannot_join_are_refused_at_the_call() -> None:
    cells = op2.Set(5)
    x, i = op2.Dat(cells, name="x"), op2.Dat(cells, dtype="int32", name="i")
    count = op2.Kernel("void count(int *a, const int *b) { *a += *b; }", "count")
    three = op2.Kernel("void three(double *a, double *b, double *c) {}", "three")
    swapped = op2.Kernel("void swapped(double *a, double *b) { b[0] += a[0]; }", "swapped")
    beyond = op2.Kernel("void beyond(double *a, const double *b) { a[0] += b[1]; }", "beyond")
    refused: list[tuple[tuple[Any, ...], str]] = [
        ((x, x, three, 0), r"then_scan by 'three': .* has 3 parameters"),
        ((x, x, count, 0), r"then_scan by 'count': .*parameter 'int \*a'"),
        ((x, x, swapped, 0), r"kernel line 1 writes to 'b', the row; join into 'a'"),
        ((x, x, beyond, 0), r"index 1 is outside of 'b'"),
        ((x, i, ADD, 0), r"'x' is float64, computed in float64, but 'i' is int32"),
        ((x, x, ADD, None), "identity is missing"),
        ((x, x, ADD, [1, 2]), r"of shape \(1,\), of dtype float64, got \[1, 2\]"),
        ((x, x, ADD, "zero"), "of dtype float64, got 'zero'"),
        ((i, i, count, 0.5), r"identity=0.5 does not fit int32, the dtype of 'i'"),
        ((x, x, op2.INC, 0), "INC has a neutral value already; leave out identity=0"),
    ]
    with op2.graph() as g:
        for (source, target, operation, identity), message in refused:
            with pytest.raises(UsageError, match=message):
                g.then_scan(source, target, operation, identity=identity)
        with pytest.raises(DataValueError):
            g.then_scan(x, i, ADD, identity=0)
        g.then_scan(x, x, ADD, identity=0)
    assert g.instantiate().stats().nodes == 1


@pytest.mark.parametrize("n", [1, 16, 17, 700])
def test_a_saved_graph_has_loops_over_chunks(backend: str, n: int, tmp_path: Path) -> None:
    """And shows the program's own Dats only; other data can be bound."""
    case, cells = CASES["products of matrices"], op2.Set(n, "cells")
    rows = _rows(case, n, 4)
    x, y = (op2.Dat(cells**case.dim, rows.copy(), case.dtype, name) for name in "xy")
    with op2.graph("products") as g:
        first = g.then_scan(x, y, case.kernel, inclusive=True, identity=case.identity)
        first.then_scan(y, y, case.kernel, identity=case.identity)
    graph = g.instantiate()
    graph.submit()
    expected = _folded(case, _folded(case, rows, True), False)
    np.testing.assert_array_equal(y.data_ro, expected)
    graph.save(tmp_path / "saved")
    again = op2.load_graph(tmp_path / "saved")
    assert (list(again.inputs), list(again.outputs)) == (["x"], ["y"])
    for _ in range(3):
        again.submit()
        np.testing.assert_array_equal(again.outputs["y"].data_ro, expected)
    other = op2.Dat(again.inputs["x"].dataset, rows[::-1].copy(), case.dtype, "z")
    again.bind({"x": other}).submit()
    expected = _folded(case, _folded(case, rows[::-1], True), False)
    np.testing.assert_array_equal(again.outputs["y"].data_ro, expected)
    again.save(tmp_path / "twice")
    assert list(op2.load_graph(tmp_path / "twice").outputs) == ["y"]


def test_names_of_the_kernel_do_not_meet_those_around(backend: str) -> None:
    text = """
#define size 2
static double add_sums(double op2_value) { return op2_value; }
static double add_chunk(double x) { return add_sums(x); }
void add(double *op2_own, const double *op2_x) { op2_own[0] += size * add_chunk(op2_x[0]) / size; }
"""
    cells = op2.Set(100)
    x = op2.Dat(cells, 1.0, name="x")
    add = op2.Kernel(text, "add")
    _scan(Case(add, 1, "float64", 0, np.add), x, x, False).submit()
    assert x.data_ro.tolist() == list(range(100))


@pytest.mark.parametrize("name", CASES)
def test_texts_for_cuda_are_compiled(name: str) -> None:
    case, cells = CASES[name], op2.Set(300)
    x, y = (op2.Dat(cells**case.dim, None, case.dtype) for _ in range(2))
    try:
        compiler = nvrtc.compiler("sm_90")
    except ToolchainError as error:
        pytest.skip(str(error))
    with op2.backend("cuda"):
        loops = ScanLoops(x, y, Join(case.kernel, case.identity, x, y)).loops
        texts = [str(loop.generate({"any_device": True})) for loop in loops]
        flags = runtime.engine.backend("cuda").toolchain.flags
    service = _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 24,
        compile_timeout_seconds=60.0,
    )
    assert len(texts) > 2
    for text in texts:
        service.compile(compiler, text, flags, "")
