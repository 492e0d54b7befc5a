# SPDX-License-Identifier: BSD-3-Clause
"""Values in 16 bits of memory: bits, sums, refusals, and other uses of the Dats."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from on_ranks import outputs

from pyop2cxx import _core, fem, io, mesh, op2
from pyop2cxx.ahead import functions
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.base import extras
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    ExecutionError,
    MissingExtraError,
    UnsupportedError,
    UsageError,
)

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES
from corpus_storage import narrowed_cases
from programs import has_nvrtc
from test_corpus import BACKENDS, EVERYTHING, PARALLEL, compare, lacks, run
from test_nvrtc import service

if TYPE_CHECKING:
    from corpus import Case

    Array = np.ndarray[Any, Any]

needs_bfloat16 = pytest.mark.skipif(
    not extras.installed()["ml_dtypes"], reason="ml_dtypes is not installed"
)
HALVES = ["float16", pytest.param("bfloat16", marks=needs_bfloat16)]
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
C_NAMES = {"float32": "float", "float64": "double"}
LANES = {"sequential": (0, 2, 4, 8, 16), "openmp": (0, 8), "opencl": (0, 4)}
RING = 64

ADD = op2.Kernel(
    "void add(const double *q, double *r) { r[0] += q[1] / 3 + q[0]; r[1] -= q[0]; }", "add"
)


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(extras.load("ml_dtypes", "a test").bfloat16 if name == "bfloat16" else name)


def rounded(values: Array, name: str) -> Array:
    """Return values in 16 bits, rounded once. ml_dtypes rounds doubles to floats on its way."""
    with np.errstate(all="ignore"):
        if values.dtype == np.float64 and name == "bfloat16":
            bits, gone = values.view(np.uint64), np.uint64(2**43 - 1)
            values = ((bits | ((bits & gone) + gone)) & ~gone).view(np.float64).astype(np.float32)
        found: Array = values.astype(dtype_of(name))
    return found


def assert_same_bits(found: Array, wanted: Array) -> None:
    """Assert that numbers have equal bits, and NaN is NaN."""
    is_nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(found), is_nan)
    bits = np.dtype(f"u{found.dtype.itemsize}")
    np.testing.assert_array_equal(found.view(bits)[~is_nan], wanted.view(bits)[~is_nan])


def moved(values: Array, to: Any, compute: str, lanes: int) -> Array:
    """Return what a loop makes of values in memory of another dtype."""
    cells = op2.Set(len(values))
    source = op2.Dat(cells, values, compute=compute)
    target = op2.Dat(cells, None, to, compute=compute)
    c_name = C_NAMES[compute]
    kernel = op2.Kernel(f"void put(const {c_name} *a, {c_name} *b) {{ *b = *a; }}", "put")
    op2.par_loop(kernel, cells, source(op2.READ), target(op2.WRITE), lanes=lanes)
    return target.data_ro.copy()


def lanes_on(backend: str) -> tuple[int, ...]:
    return LANES.get(backend, (0,))


# Bits


@pytest.mark.each_backend
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compute", C_NAMES)
@pytest.mark.parametrize("name", HALVES)
def test_all_patterns_are_widened_and_their_neighbours_narrowed(
    name: str, compute: str, backend: str
) -> None:
    patterns = np.arange(65536, dtype=np.uint16).view(dtype_of(name))
    with np.errstate(all="ignore"):
        wide = patterns.astype(compute)
        ordered = np.sort(wide[np.isfinite(wide)].astype(float))
        middle = ((ordered[1:] + ordered[:-1]) / 2).astype(compute)
        ends = np.array([np.inf, -np.inf], compute)
        near = [np.nextafter(one, end) for one in (wide, middle) for end in ends]
    values = np.concatenate([wide, middle, *near])
    with op2.backend(backend):
        for lanes in lanes_on(backend):
            assert_same_bits(moved(patterns, compute, compute, lanes), wide)
            assert_same_bits(moved(values, dtype_of(name), compute, lanes), rounded(values, name))


@pytest.mark.parametrize("name", HALVES)
@settings(max_examples=60, deadline=None)
@given(
    values=arrays.arrays(np.float64, st.integers(1, 40), elements=st.floats(width=64)),
    lanes=st.sampled_from([0, 8]),
)
@example(np.array([1 + 2.0**-11 + 2.0**-40, 65520, 65519.99, 2.0**-25, 3.0 * 2**-26]), 0)
def test_doubles_are_rounded_once(name: str, values: Array, lanes: int) -> None:
    wanted = rounded(values, name)
    assert_same_bits(moved(values, dtype_of(name), "float64", lanes), wanted)
    held = values[np.isinf(values) | ~np.isinf(wanted.astype(float))]
    copied = op2.Dat(op2.Set(len(values)), None, dtype_of(name), compute="float64")
    op2.Dat(copied.dataset, values).copy(copied, casting="unsafe")  # by the engine of the core
    assert_same_bits(copied.data_ro, wanted)
    if len(held):
        stored = op2.Dat(op2.Set(len(held)), held, dtype_of(name), compute="float32")
        assert_same_bits(stored.data_ro, rounded(held, name))


# Loops


def cases() -> list[Any]:
    """Return loops of the corpus by backends, each strategy with one of the parallel ones."""
    found = []
    for i, case in enumerate(narrowed_cases("float16")):
        if i % 4 and not EVERYTHING:
            continue
        for j, strategy in enumerate((None, "owner", "scratch", "colour")):
            other = PARALLEL[(i // 4 + j) % len(PARALLEL)]
            for backend in ("sequential", other) if strategy is None else (other,):
                name = f"{case.name}-{strategy or 'default'}-{backend}"
                found.append(pytest.param(case.name, strategy, backend, id=name))
    return found


def case_of(name: str, dtype: str) -> Case:
    return next(case for case in narrowed_cases(dtype) if case.name == name)


@pytest.mark.parametrize(("case", "strategy", "backend"), cases())
def test_the_corpus(case: str, strategy: str | None, backend: str) -> None:
    """Equal to what was expected but for rounding, and to one thread but for a last digit."""
    one = case_of(case, "float16")
    if one.needs & lacks(backend):
        pytest.skip("the backend lacks what the loop needs")
    try:
        found = run(one.problem(), backend, strategy=strategy)
        first = run(one.problem(), "sequential")
    except UnsupportedError as error:
        assert "is a sum in memory of" in str(error) or strategy is not None  # noqa: PT017
        return
    compare(found, [want for _, want in one.problem().expected], one.tolerance)
    for mine, theirs in zip(found, first, strict=True):
        if mine.dtype.kind == "f" and mine.size:
            bound = EPS["float16"] * np.abs(theirs.astype(float)).max()
            np.testing.assert_allclose(mine.astype(float), theirs.astype(float), 0, bound)


def ring() -> tuple[op2.Set, op2.Set, op2.Map]:
    edges, nodes = op2.Set(RING, "edges"), op2.Set(RING, "nodes")
    ends = np.stack([np.arange(RING), (np.arange(RING) + 1) % RING], axis=1)
    return edges, nodes, op2.Map(edges, nodes, 2, ends)


def added(name: str, backend: str, **how: Any) -> tuple[Array, Array]:
    """Return the sums of a ring in 16 bits, and those of the same values in double."""
    edges, nodes, ends = ring()
    values = rounded(np.random.default_rng(1).standard_normal(RING), name)
    found = []
    with op2.backend(backend):
        for dtype in (dtype_of(name), np.dtype(float)):
            q = op2.Dat(nodes, values, dtype, "q", compute="float64")
            r = op2.Dat(nodes, values, dtype, "r", compute="float64", copy=True)
            op2.par_loop(ADD, edges, q(op2.READ, ends), r(op2.INC, ends), **how)
            found.append(r.data_ro.copy())
    return found[0], found[1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", [None, "owner", "scratch"])
@pytest.mark.parametrize("name", HALVES)
def test_sums_are_rounded_once(name: str, strategy: str | None, backend: str) -> None:
    found, wide = added(name, backend, strategy=strategy)
    distance = np.abs(found.astype(float) - wide)
    assert (distance <= EPS[name] / 2 * np.abs(wide) * (1 + 1e-12)).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", ["direct", "block", "colour", "atomic", "team"])
def test_no_share_is_rounded(strategy: str, backend: str) -> None:
    with pytest.raises(UnsupportedError, match=r"'r'.* is a sum in memory of float16, and each"):
        added("float16", backend, strategy=strategy)


def test_lanes_that_add_one_by_one_are_refused() -> None:
    cells, one = op2.Set(4096), op2.Set(1)
    to_one = op2.Map(cells, one, 1, np.zeros(4096, int))
    total = op2.Dat(one, [1.0], "float16", compute="float64")
    share = op2.Dat(cells, np.full(4096, 2.0**-12), "float16", compute="float64")
    kernel = op2.Kernel("void add(const double *x, double *s) { s[0] += x[0]; }", "add")
    args = (share(op2.READ), total(op2.INC, to_one))
    with pytest.raises(UnsupportedError, match="a sum in 16 bits of memory is rounded once"):
        op2.par_loop(kernel, cells, *args, strategy="owner", lanes=4)
    op2.par_loop(kernel, cells, *args)
    assert total.data_ro[0] == 2.0  # one by one each share is lost


def test_sums_without_a_strategy_are_refused_before_anything_changes() -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    corners = op2.RaggedMap(cells, nodes, [[0, 1], [1, 2, 3], [0]])
    s = op2.Dat(nodes, np.ones(4), "float16", "s", compute="float64")
    text = "void f(double *s, const int *n) { for (int i = 0; i < *n; ++i) s[i] += 1; }"
    with pytest.raises(UnsupportedError, match=r"rows of a ragged Map differ.*take dtype float32"):
        op2.par_loop(op2.Kernel(text, "f"), cells, s(op2.INC, corners), corners.counts(op2.READ))
    assert s.data_ro.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", HALVES)
def test_minima_and_what_is_written_by_maps(name: str, backend: str) -> None:
    edges, nodes, ends = ring()
    values = np.random.default_rng(2).standard_normal(RING)
    text = "void f(const double *w, double *m, double *t) { if (*w < m[0]) m[0] = *w; t[0] = *w; }"
    first = op2.Map(edges, nodes, 1, ends.values[:, :1])
    with op2.backend(backend):
        w = op2.Dat(edges, values, dtype_of(name), compute="float64")
        least = op2.Dat(nodes, np.zeros(RING), dtype_of(name), compute="float64")
        taken = op2.Dat(nodes, None, dtype_of(name), compute="float64")
        args = (w(op2.READ), least(op2.MIN, first), taken(op2.WRITE, first))
        op2.par_loop(op2.Kernel(text, "f"), edges, *args)
        wanted = rounded(values, name)
        np.testing.assert_array_equal(taken.data_ro, wanted)
        np.testing.assert_array_equal(least.data_ro, np.minimum(wanted, wanted * 0))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", HALVES)
def test_chains_hand_on_what_they_compute(name: str, backend: str) -> None:
    edges, nodes, ends = ring()
    third = op2.Kernel("void a(const double *q, double *s) { s[0] = q[0] / 3; }", "a")
    text = "void b(const double *q, const double *s, double *r) { r[0] = 3 * s[0] - q[0]; }"
    with op2.backend(backend):
        q = op2.Dat(nodes, np.arange(1, RING + 1), dtype_of(name), compute="float64")
        s, t = (op2.Dat(nodes, None, dtype_of(name), compute="float64") for _ in range(2))
        r = op2.Dat(nodes)
        with op2.chain():
            op2.par_loop(third, nodes, q(op2.READ), s(op2.WRITE))
            op2.par_loop(op2.Kernel(text, "b"), nodes, q(op2.READ), s(op2.READ), r(op2.WRITE))
            op2.par_loop(ADD, edges, q(op2.READ, ends), t(op2.INC, ends))
            t.copy(q)
            t.zero()
        n = np.arange(1, RING + 1)
        assert_same_bits(s.data_ro, rounded(n / 3, name))
        assert np.abs(r.data_ro).max() < 1e-12
        assert_same_bits(q.data_ro, rounded(n + np.roll(n, -1) / 3 - np.roll(n, 1), name))


@pytest.mark.usefixtures("exits")
@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
@pytest.mark.parametrize("compute", C_NAMES)
@pytest.mark.parametrize("name", HALVES)
def test_text_for_gpus_compiles(name: str, compute: str) -> None:
    op2.init(backend="cuda", static=True)
    edges, nodes, ends = ring()
    c_name = C_NAMES[compute]
    kernel = op2.Kernel(f"void f(const {c_name} *q, {c_name} *r) {{ r[0] += q[1]; }}", "f")
    for strategy in ("owner", "scratch"):
        q, r = (op2.Dat(nodes, None, dtype_of(name), compute=compute) for _ in range(2))
        args = (q(op2.READ, ends), r(op2.INC, ends))
        text = op2.ParLoop(kernel, edges, *args, strategy=strategy).generate({"any_device": True})
        assert ("cvt.rn.f16" in text) == (name == "float16")
        made = service().compile(nvrtc.compiler("sm_90"), text, [], "")
        assert made.origin == _core.jit.Origin.compiled


# Other uses


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", HALVES)
def test_algebra(name: str, backend: str) -> None:
    cells, dtype = op2.Set(300), dtype_of(name)
    a, b = (rounded(v, name) for v in np.random.default_rng(3).standard_normal((2, 300, 2)))
    wide, other, eps = a.astype(float), b.astype(float), EPS[name]
    double = op2.Kernel("void f(double *x) { x[0] *= 2; x[1] *= 2; }", "f")
    with op2.backend(backend):
        x, y = (op2.Dat(cells**2, v, compute="float64", copy=True) for v in (a, b))
        op2.par_loop(double, cells, x(op2.RW))  # on a device, if there is one
        wide = wide * 2
        for found, wanted in ((x + y, wide + other), (x * y, wide * other), (x - 0.5, wide - 0.5)):
            assert (found.dtype, found.compute) == (dtype, np.dtype("float64"))
            np.testing.assert_allclose(found.data_ro.astype(float), wanted, eps, eps / 8)
        assert x.norm == pytest.approx(np.linalg.norm(wide), rel=1e-6)
        assert x.inner(y) == pytest.approx((wide * other).sum(), rel=1e-4)
        np.testing.assert_array_equal(np.asarray(x.min(), float), wide.min(axis=0))
        np.testing.assert_allclose(np.asarray(x.sum(), float), wide.sum(axis=0), 1e-6, 1e-6)
        x += y
        y.axpy(-0.5, x)
        np.testing.assert_allclose(x.data_ro.astype(float), wide + other, eps)
        z = op2.Dat(cells**2)
        x.copy(z)
        np.testing.assert_array_equal(z.data_ro, x.data_ro.astype(float))
        z.copy(y)
        assert_same_bits(y.data_ro, x.data_ro)
        y.assign(2.5)
        y.data[3] = 7
        assert y.data_ro[3:5, 0].astype(float).tolist() == [7, 2.5]
        again = pickle.loads(pickle.dumps(y))
        assert (again.dtype, again.compute) == (dtype, np.dtype("float64"))
        assert_same_bits(again.data_ro, y.data_ro)


@pytest.mark.parametrize(("name", "beyond"), [("float16", 65520.0), ("bfloat16", 3.4e38)])
def test_values_beyond_the_range_change_nothing(name: str, beyond: float) -> None:
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    cells = op2.Set(3)
    dat = op2.Dat(cells, [1.0, 2.0, 3.0], dtype_of(name), compute="float64")
    large = op2.Dat(cells, [1.0, beyond, 3.0])
    for call in (
        lambda: dat.assign(beyond),
        lambda: dat.assign([1.0, beyond, 3.0]),
        lambda: large.copy(dat),
        lambda: dat.assign(np.full(3, 10**39 if name == "bfloat16" else 65520, dtype=object)),
        lambda: op2.Dat(cells, [beyond] * 3, name, compute="float64"),
    ):
        with pytest.raises(DataValueError):
            call()
    assert dat.data_ro.astype(float).tolist() == [1, 2, 3]
    dat.assign([np.inf, np.nan, -np.inf])
    assert np.isinf(dat.data_ro[0])


@pytest.mark.parametrize("name", HALVES)
def test_what_takes_no_half(name: str) -> None:
    nodes = op2.Set(2)
    one = op2.Map(nodes, nodes, 1, [0, 1])
    sparsity = op2.Sparsity((nodes, nodes), [(one, one, None)])
    for call, message in (
        (lambda: op2.Dat(nodes, dtype=name), "pass compute='float32' or compute='float64'"),
        (lambda: op2.Dat(nodes, np.zeros(2, dtype_of(name))), "pass compute="),
        (lambda: op2.Global(1, 0.0, name), "take float32 here"),
        (lambda: op2.Mat(sparsity, name, compute="float64"), "take float32 here"),
        (lambda: op2.Dat(nodes, dtype="float32", compute=name), "take float32 here"),
        (lambda: op2.Dat(nodes, dtype=name, compute="int32"), "must be of the kind"),
        (lambda: op2.Dat(nodes, dtype=name, compute="complex64"), "must be of the kind"),
    ):
        with pytest.raises(DataTypeError, match=message):
            call()
    kernel = op2.Kernel("void f(unsigned short *x) { x[0] = 1; }", "f")
    with pytest.raises(UsageError, match=r"expected 'double \*x'"):
        op2.par_loop(kernel, nodes, op2.Dat(nodes, dtype=name, compute="float64")(op2.WRITE))


def test_the_package_for_bfloat16_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyop2cxx\[bfloat16\]'"):
        op2.Dat(op2.Set(1), dtype="bfloat16", compute="float32")


@pytest.mark.parametrize("name", HALVES)
def test_files(name: str, tmp_path: Path) -> None:
    x = op2.Dat(op2.Set(5), np.arange(5) / 3, dtype_of(name), "x", compute="float64")
    again = op2.Dat(x.dataset, None, dtype_of(name), compute="float64")
    x.save(tmp_path / "x.npy")
    again.load(tmp_path / "x.npy")
    assert_same_bits(again.data_ro, x.data_ro)
    pytest.importorskip("h5py")
    if name == "bfloat16":
        with pytest.raises(DataTypeError, match="'x' is bfloat16, of which HDF5 has none"):
            io.save(tmp_path / "x.h5", {"x": x})
        return
    io.save(tmp_path / "x.h5", {"x": x})
    found = io.load(tmp_path / "x.h5")["x"]
    assert (found.dtype, found.compute) == (x.dtype, x.compute)
    assert_same_bits(found.data_ro, x.data_ro)


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize("name", HALVES)
def test_check_mode_names_what_became_infinite(name: str) -> None:
    op2.init(check=True)
    dat = op2.Dat(op2.Set(4), np.ones(4), dtype_of(name), "d", compute="float64")
    text = "void f(double *x) { x[0] = x[0] * 1e39; }"
    with pytest.raises(ExecutionError, match="element 0, component 0 became infinite"):
        op2.par_loop(op2.Kernel(text, "f"), dat.dataset.set, dat(op2.RW))


@pytest.mark.parametrize("name", HALVES)
def test_graphs_keep_compute(name: str, tmp_path: Path) -> None:
    edges, nodes, ends = ring()
    q = op2.Dat(nodes, np.arange(RING) / 3, dtype_of(name), "q", compute="float64")
    r = op2.Dat(nodes, None, dtype_of(name), "r", compute="float64")
    with op2.graph("halves") as builder:
        builder.then(ADD, edges, q(op2.READ, ends), r(op2.INC, ends))
    graph = builder.instantiate()
    graph.submit()
    expected = r.data_ro.copy()
    r.zero()
    graph.save(tmp_path / "saved")
    again = op2.load_graph(tmp_path / "saved")
    again.submit()
    found = again.outputs["r"]
    assert (found.dtype, found.compute) == (r.dtype, r.compute)
    assert_same_bits(found.data_ro, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", HALVES)
def test_scans_are_rounded_once(name: str, backend: str) -> None:
    cells = op2.Set(5000)
    with op2.backend(backend):
        x = op2.Dat(cells, np.full(5000, 0.125), dtype_of(name), compute="float64")
        y, z = op2.Dat(cells, None, dtype_of(name), compute="float64"), op2.Dat(cells)
        with op2.graph("scans") as builder:
            builder.then_scan(x, y)
            builder.then_scan(x, z, inclusive=True)
        builder.instantiate().submit()
    assert_same_bits(y.data_ro, rounded(np.arange(5000) / 8, name))
    np.testing.assert_array_equal(z.data_ro, np.arange(1, 5001) / 8)


@pytest.mark.parametrize("name", HALVES)
def test_renumbering_and_views(name: str) -> None:
    _, nodes, ends = ring()
    q = op2.Dat(nodes**2, np.arange(2 * RING), dtype_of(name), compute="float64")
    before = np.sort(q.data_ro.astype(float)[ends.values].sum(axis=1), axis=0)
    op2.renumber(ends, [q])
    after = np.sort(q.data_ro.astype(float)[ends.values].sum(axis=1), axis=0)
    np.testing.assert_array_equal(after, before)
    kernel = op2.Kernel("void f(double *x) { x[0] = 1; }", "f")
    op2.par_loop(kernel, nodes, op2.DatView(q, 1)(op2.WRITE))
    assert (q.data_ro[:, 1].astype(float) == 1).all()


def test_functions_of_forms_may_be_narrow() -> None:
    ufl = pytest.importorskip("ufl")
    pytest.importorskip("ffcx")
    space = fem.FunctionSpace(mesh.square_mesh(4), ("P", 1))
    found = []
    for dtype in ("float16", "float32"):
        k = fem.Function(space, dtype, "k", compute="float32")
        fem.interpolate(lambda x: 1 + x[0], k)
        b = fem.Function(space, dtype, "b", compute="float32")
        fem.assemble(k * ufl.TestFunction(space) * ufl.dx, tensor=b)
        assert b.values.dtype == np.dtype(dtype)
        found.append(b.values.astype(float))
    np.testing.assert_allclose(found[0], found[1], rtol=2 * EPS["float16"])


def test_a_second_run_in_double_says_what_is_lost() -> None:
    edges, nodes, ends = ring()
    q, r = (op2.Dat(nodes, np.arange(RING) / 3, "float16", compute="float64") for _ in range(2))
    with op2.profile(shadow="float64") as found:
        op2.par_loop(ADD, edges, q(op2.READ, ends), r(op2.INC, ends))
    assert "add" in str(found)


def test_programs_in_cpp_name_the_type() -> None:
    assert functions.scalar(np.dtype("float16")) == "op2::Float16"


ON_RANKS = """
op2.init(backend="sequential")
n = 60
edges, nodes = op2.Set(n, "edges"), op2.Set(n, "nodes")
ends = op2.Map(edges, nodes, 2, np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1))
rng = np.random.default_rng(3)
q = op2.Dat(nodes**2, rng.standard_normal((n, 2)), sys.argv[1], "q", compute="float64")
r = op2.Dat(nodes**2, None, sys.argv[1], "r", compute="float64")
op2.distribute(nodes, coordinates=op2.Dat(nodes**2, rng.random((n, 2))))
text = "void f(const double *q, double *r) { for (int i = 0; i < 4; ++i) r[i] += 0.3 * q[3 - i]; }"
for _ in range(3):
    op2.par_loop(op2.Kernel(text, "f"), edges, q(op2.READ, ends), r(op2.INC, ends))
    r.copy(q)
q.assign(q + r)
values = q.gathered().astype(float)
print(f"{np.abs(values).sum():.6e} {q.dtype} {q.norm:.7e} {float(q.max()[0]):.5e}")
"""


@pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")
@pytest.mark.parametrize("name", HALVES)
def test_processes_find_what_one_finds(name: str) -> None:
    alone = outputs(ON_RANKS, 1, name, PYOP2CXX_COMM="world")
    assert outputs(ON_RANKS, 2, name, PYOP2CXX_COMM="world") == alone * 2


def test_some_run_through_all_of_the_corpus() -> None:
    assert sum(case.name.startswith("half_") for case in CASES) == 3
