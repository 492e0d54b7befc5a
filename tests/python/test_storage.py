# SPDX-License-Identifier: BSD-3-Clause
"""Values in narrower memory than kernels compute with."""

from __future__ import annotations

import pickle
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    ExecutionError,
    MatTypeError,
    SolverOptionError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.together import compile_together
from pyop2cxx.runtime import runtime

sys.path.insert(0, str(Path(__file__).parents[1]))

from compiled_groups import fixtures
from corpus import CASES, loops_of
from corpus_storage import narrowed_cases
from test_corpus import (
    BACKENDS,
    EVERYTHING,
    GPUS,
    GRIDS,
    PARALLEL,
    compare,
    lacks,
    legal,
    n_programs,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpus import Case

STORED = narrowed_cases()
OF_HOSTS = [n for n in BACKENDS if runtime.engine.backend(n).facts.lanes != _core.Lanes.grid]
EPS = float(np.finfo(np.float32).eps)

FLUX = op2.Kernel(
    """
    static double mean(double a) { return 0.5 * a; }
    void flux(const double *q, const double *w, double *r, double *most) {
      for (int i = 0; i < 2; ++i) {
        const double f = w[0] * mean(q[i] + q[2 + i]);
        r[i] += f; r[2 + i] -= f;
        if (f > most[0]) most[0] = f;
      }
    }
    """,
    "flux",
)


N_TOGETHER = 12  # cases


def group_of(item: pytest.Item) -> int:
    """Return the number of the group of a test's case; -1: the test has none."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec else None
    return STORED.index(case) // N_TOGETHER if case else -1


options, forgotten_at_the_end = fixtures(group_of, lambda: compile_neighbours.cache_clear())
Way = tuple["Case", "str | None", str]


def ways() -> Iterator[Way]:
    """Yield each loop by each strategy on one parallel backend, and on the sequential one."""
    for i, case in enumerate(STORED):
        for j, strategy in enumerate((None, *_core.STRATEGIES)):
            other = PARALLEL[(i + j) % len(PARALLEL)]
            for backend in ("sequential", other) if strategy is None else (other,):
                if strategy is None or strategy in legal(case, backend):
                    yield case, strategy, backend


def pairs() -> list[Any]:
    """Return the cases of a test, with their names."""
    return [
        pytest.param(*way, id=f"{way[0].name}-{way[1] or 'default'}-{way[2]}") for way in ways()
    ]


def lanes_of(case: Case, strategy: str | None) -> tuple[int, ...]:
    """Return the lanes that a loop is tried with."""
    turn = STORED.index(case) + (strategy or "").count("o")
    return (0, 2, 4, 8, 16) if EVERYTHING else (0, (2, 4, 8, 16)[turn % 4])


@cache
def compile_neighbours(group: int, backend: str) -> None:
    """Compile the loops of some cases as one program: each program costs PoCL a quarter second."""

    def loops() -> Iterator[op2.ParLoop]:
        for case, strategy, name in ways():
            if name != backend or case.needs & lacks(backend):
                continue
            if STORED.index(case) // N_TOGETHER == group:
                for lanes in lanes_of(case, strategy):
                    for loop in loops_of([case], lambda _, name=strategy: [name], lanes=lanes):
                        if is_possible(loop):
                            yield loop

    with op2.backend(backend):
        compile_together(loops())


def is_possible(loop: op2.ParLoop) -> bool:
    """Return whether the backend has a loop with its lanes; a test says why not."""
    try:
        flow.wanted(loop.current_request())
    except UnsupportedError:
        return False
    return True


@pytest.mark.parametrize(("case", "strategy", "backend"), pairs())
def test_the_corpus_in_narrow_memory(case: Case, strategy: str | None, backend: str) -> None:
    if case.needs & lacks(backend):
        pytest.skip("the backend lacks what the loop needs")
    n_loaded = None
    if backend in GRIDS and backend not in GPUS:
        compile_neighbours(STORED.index(case) // N_TOGETHER, backend)
        n_loaded = n_programs()
    for lanes in lanes_of(case, strategy):
        problem = case.problem()
        try:
            found = run(problem, backend, strategy=strategy, lanes=lanes)
        except UnsupportedError as error:
            if f"lanes={lanes or 'none'} cannot be used" not in str(error):
                raise
            continue
        compare(found, [want for _, want in problem.expected], case.tolerance)
    assert n_loaded in (None, n_programs()), "the loop is not in the program of its group"


def test_some_run_through_all_of_the_corpus() -> None:
    assert sum(case.name.startswith("narrow_") for case in CASES) == 6


def ring(n: int) -> tuple[op2.Set, op2.Set, op2.Map]:
    edges, nodes = op2.Set(n, "edges"), op2.Set(n, "nodes")
    ends = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    return edges, nodes, op2.Map(edges, nodes, 2, ends)


def fluxes(dtype: str, q: Any, w: Any, r: Any, backend: str, **how: Any) -> tuple[Any, float]:
    """Return sums and the greatest flux of a ring, with Dats in memory of a dtype."""
    edges, nodes, ends = ring(len(q))
    with op2.backend(backend):
        state = op2.Dat(nodes**2, q, dtype, "q", compute="float64")
        weight = op2.Dat(edges, w, dtype, "w", compute="float64")
        sums = op2.Dat(nodes**2, r, dtype, "r", compute="float64", copy=True)
        most = op2.Global(1, -np.inf)
        args = (state(op2.READ, ends), weight(op2.READ), sums(op2.INC, ends), most(op2.MAX))
        op2.par_loop(FLUX, edges, *args, **how)
        return sums.data_ro.astype(float), float(most.data_ro[0])


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 70), lanes=st.sampled_from([0, 4]))
def test_the_error_is_that_of_rounding_what_is_read_and_written(
    backend: str, seed: int, n: int, lanes: int
) -> None:
    rng = np.random.default_rng(seed)
    q, w, r = (rng.standard_normal(shape).astype(np.float32) for shape in ((n, 2), n, (n, 2)))
    how: dict[str, Any] = {"lanes": lanes} if backend != "cuda" else {}
    found, most = fluxes("float32", q, w, r, backend, **how)
    wide, most_wide = fluxes("float64", q, w, r, backend, **how)
    # inputs are the same numbers, so each of three additions to a sum rounds by half a digit
    size = np.abs(r).max() + 2 * np.abs(w).max() * np.abs(q).max()
    assert np.abs(found - wide).max() <= 1.5 * EPS * size
    assert most == most_wide


@pytest.mark.parametrize("strategy", ["owner", "scratch"])
def test_private_sums_are_rounded_once(strategy: str) -> None:
    """One and many halves of the last digit: added one by one in float32 they are lost."""
    cells, one = op2.Set(4096), op2.Set(1)
    to_one = op2.Map(cells, one, 1, np.zeros(4096, int))
    total = op2.Dat(one, [1.0], "float32", compute="float64")
    share = op2.Dat(cells, np.full(4096, EPS / 4), "float32", compute="float64")
    kernel = op2.Kernel("void add(const double *x, double *s) { s[0] += x[0]; }", "add")
    op2.par_loop(kernel, cells, share(op2.READ), total(op2.INC, to_one), strategy=strategy)
    assert total.data_ro[0] == np.float32(1 + 1024 * EPS)


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl", "cuda"])
def test_the_kernel_is_that_of_double_memory(backend: str) -> None:
    texts = []
    op2.init(backend=backend, static=True)
    edges, nodes, ends = ring(5)
    for dtype in ("float32", "float64"):
        q, w, r = (
            op2.Dat(where, None, dtype, compute="float64") for where in (nodes**2, edges, nodes**2)
        )
        most = op2.Global(1, 0.0)
        loop = op2.ParLoop(
            FLUX, edges, q(op2.READ, ends), w(op2.READ), r(op2.INC, ends), most(op2.MAX)
        )
        text = loop.generate({"any_device": True})
        begin = text.index("mean(double a)")
        texts.append(text[begin : text.index("wrap_flux(", begin)].rsplit("\n}\n", 1)[0])
        assert "r[2 + i]" in texts[-1]
        assert ("float *" in text) == (dtype == "float32")
    assert texts[0] == texts[1]


# What is refused, and before anything happens


def test_the_error_for_another_type_names_a_way_out() -> None:
    cells = op2.Set(2)
    kernel = op2.Kernel("void f(double *x) { x[0] = 1; }", "f")
    dat = op2.Dat(cells, dtype="float32")
    with pytest.raises(UsageError, match=r"dtype='float32', compute='float64'"):
        op2.par_loop(kernel, cells, dat(op2.WRITE))
    again = op2.Dat(cells, dtype="float32", compute="float64")
    op2.par_loop(kernel, cells, again(op2.WRITE))
    assert again.data_ro.tolist() == [1.0, 1.0]
    assert again.data_ro.dtype == np.float32


def test_a_kernel_of_floats_is_refused_where_doubles_are_seen() -> None:
    cells = op2.Set(2)
    kernel = op2.Kernel("void f(float *x) { x[0] = 1; }", "f")
    dat = op2.Dat(cells, dtype="float32", compute="float64")
    with pytest.raises(UsageError, match=r"of dtype float64: expected 'double \*x'"):
        op2.par_loop(kernel, cells, dat(op2.WRITE))


@pytest.mark.parametrize(
    ("dtype", "compute", "message"),
    [
        ("float64", "float32", "compute float32 is narrower than dtype float64"),
        ("int32", "float64", "compute must be of the kind of the values"),
        ("float32", "int64", "compute must be of the kind of the values"),
        ("int32", "int64", "compute must be of the kind of the values"),
        ("float32", "complex128", "compute must be of the kind of the values"),
        ("float32", "float80", "is not a dtype"),
    ],
)
def test_what_cannot_be_computed_with(dtype: str, compute: str, message: str) -> None:
    with pytest.raises(DataTypeError, match=message):
        op2.Dat(op2.Set(2), None, dtype, compute=compute)


def test_values_beyond_the_range_of_memory_change_nothing() -> None:
    dat = op2.Dat(op2.Set(2), [1.0, 2.0], "float32", compute="float64")
    wide = op2.Dat(dat.dataset.set, [3.0, 1e300])
    with pytest.raises(DataValueError, match="1e"):
        dat.assign(wide)
    with pytest.raises(DataValueError, match="1e"):
        dat.data = np.array([3.0, 1e300])
    with pytest.raises(DataValueError, match="1e"):
        wide.copy(dat)
    assert dat.data_ro.tolist() == [1.0, 2.0]


def test_fields_of_a_mixed_dat_are_seen_alike() -> None:
    cells = op2.Set(2)
    narrow = op2.Dat(cells, None, "float32", compute="float64")
    with pytest.raises(DataValueError, match="same compute"):
        op2.MixedDat((narrow, op2.Dat(cells, None, "float32")))


# Dats of that kind among others


def test_what_is_made_of_one_is_seen_the_same_way() -> None:
    dat = op2.Dat(op2.Set(3) ** 2, np.arange(6.0), "float32", compute="float64")
    assert dat.dtype == np.float32
    assert dat.compute == np.float64
    made = [op2.Dat(dat), dat * 2, dat + dat, pickle.loads(pickle.dumps(dat)), op2.DatView(dat, 1)]
    assert {(one.dtype.name, one.compute.name) for one in made} == {("float32", "float64")}
    assert op2.Dat(dat, dtype="float64").compute == np.float64
    assert op2.Dat(op2.Set(2)).compute == np.float64


@pytest.mark.parametrize("backend", BACKENDS)
def test_components_fields_and_python_kernels(backend: str) -> None:
    cells = op2.Set(5)
    values = np.arange(10.0).reshape(5, 2) / 3
    dat = op2.Dat(cells**2, values, "float32", compute="float64")
    both = op2.MixedDat((dat, op2.Dat(cells, None, "float32", compute="float64")))
    with op2.backend(backend):
        one = op2.Kernel("void f(double *x) { x[0] = x[0] / 3; }", "f")
        op2.par_loop(one, cells, op2.DatView(dat, 1)(op2.RW))
        add = op2.Kernel("void g(double *x) { x[2] = x[0] + x[1]; }", "g")
        op2.par_loop(add, cells, both(op2.RW))
    wide = values.astype(np.float32).astype(float)
    wide[:, 1] = (wide[:, 1] / 3).astype(np.float32)
    np.testing.assert_array_equal(dat.data_ro, wide.astype(np.float32))
    np.testing.assert_array_equal(both[1].data_ro, wide.sum(axis=1).astype(np.float32))

    def halve(x: Any, y: Any) -> None:
        assert x.dtype == y.dtype == np.float64
        x /= 2
        y[0] += 1e-9

    op2.par_loop(halve, cells, dat(op2.RW), both[1](op2.INC))
    np.testing.assert_array_equal(dat.data_ro, (wide / 2).astype(np.float32))


@pytest.mark.parametrize("backend", BACKENDS)
def test_algebra_and_matrices(backend: str) -> None:
    cells = op2.Set(40)
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 40, 3)).astype(np.float32)
    with op2.backend(backend):
        x = op2.Dat(cells**3, a, compute="float64", copy=True)
        y = op2.Dat(cells**3, b, compute="float64", copy=True)
        op2.par_loop(
            op2.Kernel("void f(double *x, double *y) { x[0] *= 2; y[1] += x[0]; }", "f"),
            cells,
            x(op2.RW),
            y(op2.RW),
        )
        a[:, 0] *= 2
        b[:, 1] += a[:, 0]
        y += x
        y.axpy(0.5, x)
        product = float(x.inner(y))
        z = op2.Dat(cells**3, None, compute=None)
        x.copy(z)
        part = op2.Subset(cells, [1, 5])
        y.zero(part)
        top = x.max() if hasattr(x, "max") else None
        found = y.data_ro.copy()
    want = (b + a).astype(np.float32) + np.float32(0.5) * a
    assert product == pytest.approx(float((a.astype(float) * want).sum()), rel=1e-5)
    want[[1, 5]] = 0
    np.testing.assert_allclose(found, want, rtol=0, atol=4 * EPS * np.abs(want).max())
    np.testing.assert_array_equal(z.data_ro, a)
    assert top is None or np.max(top) == a.max()


@pytest.mark.parametrize("backend", BACKENDS)
def test_chains_are_right(backend: str) -> None:
    edges, nodes, ends = ring(64)
    q0 = np.random.default_rng(1).standard_normal(64)
    square = op2.Kernel("void f(const double *q, double *s) { s[0] = q[0] * q[0]; }", "f")
    spread = op2.Kernel(
        "void g(const double *s, double *r) { r[0] += s[1]; r[1] -= s[0] / 3; }", "g"
    )
    results = []
    for chained in (False, True):
        with op2.backend(backend):
            q = op2.Dat(nodes, q0, "float32", compute="float64")
            s, r = (op2.Dat(nodes, None, "float32", compute="float64") for _ in range(2))
            for _ in range(3):
                if chained:
                    with op2.chain():
                        op2.par_loop(square, nodes, q(op2.READ), s(op2.WRITE))
                        op2.par_loop(spread, edges, s(op2.READ, ends), r(op2.INC, ends))
                        q.zero()
                        r.copy(q)
                else:
                    op2.par_loop(square, nodes, q(op2.READ), s(op2.WRITE))
                    op2.par_loop(spread, edges, s(op2.READ, ends), r(op2.INC, ends))
                    q.zero()
                    r.copy(q)
            results.append(q.data_ro.copy())
    bound = 16 * EPS * np.abs(results[0]).max()
    np.testing.assert_allclose(results[1], results[0], rtol=0, atol=bound)


def test_rows_of_a_global_stay_in_their_own_memory() -> None:
    problem = next(case for case in CASES if case.name == "mixed_matrix_with_a_global").problem()
    mat = op2.Mat(problem.args[0].data.sparsity, "float32", compute="float64")
    args = (problem.args[0].of(mat), *problem.args[1:])
    with pytest.raises(UnsupportedError, match="a row of a Global is summed in its own memory"):
        op2.par_loop(problem.kernel, problem.iterset, *args)


def test_scans_and_products_of_matrices() -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2, 2, 3])
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]), "float32",
                  compute="float64")  # fmt: skip
    text = "void k(double *A) { A[0] += 1; A[1] -= 1.0 / 3; A[2] -= 1.0 / 3; A[3] += 1; }"
    op2.par_loop(op2.Kernel(text, "k"), cells, mat(op2.INC, (ends, ends)))
    assert mat.array.dtype == np.float32
    assert mat.duplicate().compute == np.float64
    dense = np.zeros((4, 4), np.float32)
    for i in range(3):
        dense[i : i + 2, i : i + 2] += np.array([[1, -1 / 3], [-1 / 3, 1]])
    np.testing.assert_allclose(mat.values, dense, rtol=EPS)
    x = op2.Dat(nodes, [1.0, 2.0, 3.0, 4.0], "float32", compute="float64")
    product = mat * x
    np.testing.assert_allclose(product.data_ro, dense @ x.data_ro, rtol=4 * EPS)


def test_forms_see_compute() -> None:
    ufl = pytest.importorskip("ufl")
    pytest.importorskip("ffcx")
    from pyop2cxx import fem, mesh

    square = mesh.square_mesh(4)
    space = fem.FunctionSpace(square, ("P", 2))
    found = []
    for dtype in ("float32", "float64"):
        k = fem.Function(space, dtype, "k", compute="float64")
        fem.interpolate(lambda x: 1 + x[0] * x[1] / 3, k)
        u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
        form = fem.Form(k * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
        matrix = fem.assemble(form, tensor=op2.Mat(form.sparsity, dtype, compute="float64"))
        vector = fem.assemble(
            k * v * ufl.dx, tensor=fem.Function(space, dtype, "b", compute="float64")
        )
        assert form.dtype == np.float64
        assert matrix.array.dtype == vector.values.dtype == np.dtype(dtype)
        copied = k.copy()
        assert (copied.dat.dtype, copied.dat.compute) == (np.dtype(dtype), np.dtype("float64"))
        found.append((matrix.array.astype(float), vector.values.astype(float)))
    for narrow, wide in zip(*found, strict=True):
        np.testing.assert_allclose(narrow, wide, rtol=0, atol=8 * EPS * np.abs(wide).max())
    with pytest.raises(UsageError, match="a Dat has a compute of its own"):
        fem.Function(space, dat=k.dat, compute="float64")


def test_problems_are_solved_for_narrow_functions() -> None:
    ufl = pytest.importorskip("ufl")
    pytest.importorskip("ffcx")
    from pyop2cxx import fem, mesh

    space = fem.FunctionSpace(mesh.square_mesh(8), ("P", 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    a = (ufl.inner(ufl.grad(u), ufl.grad(v)) + u * v) * ufl.dx
    found = []
    for dtype in ("float32", "float64"):
        x = fem.Function(space, dtype, "x", compute="float64")
        fem.solve(a == v * ufl.dx, x, ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-10)
        found.append(x.values.astype(float))
    np.testing.assert_allclose(found[0], found[1], rtol=4 * EPS)


def test_airfoil_with_narrow_state() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "demos"))
    from airfoil import Airfoil

    from pyop2cxx.mesh.airfoil import airfoil_arrays

    changes = []
    for stored in ("float64", "float32"):
        problem = Airfoil(airfoil_arrays(8, 12), stored=stored)
        for _ in range(5):
            problem.iterate()
        assert problem.q.dtype == np.dtype(stored)
        changes.append(problem.change())
    assert changes[1] == pytest.approx(changes[0], rel=1e-3)


# What watches and keeps loops


def test_check_mode_names_the_first_value_beyond_memory() -> None:
    op2.init(check=True)
    dat = op2.Dat(op2.Set(4), [np.inf, 1.0, 3.0, 4.0], "float32", "d", compute="float64")
    text = "void f(double *x) { x[0] = x[0] > 2.5 ? x[0] * 1e39 : x[0]; }"
    with pytest.raises(ExecutionError, match="element 2, component 0 became infinite"):
        op2.par_loop(op2.Kernel(text, "f"), dat.dataset.set, dat(op2.RW))


@pytest.mark.parametrize("backend", OF_HOSTS)
def test_graphs_are_saved_with_compute(backend: str, tmp_path: Path) -> None:
    edges, nodes, ends = ring(7)
    with op2.backend(backend):
        q = op2.Dat(nodes, np.arange(7) / 3, "float32", "q", compute="float64")
        r = op2.Dat(nodes, None, "float32", "r", compute="float64")
        kernel = op2.Kernel(
            "void f(const double *q, double *r) { r[0] += q[1] / 3; r[1] -= q[0]; }", "f"
        )
        with op2.graph("narrow") as builder:
            builder.then(kernel, edges, q(op2.READ, ends), r(op2.INC, ends))
        graph = builder.instantiate()
        graph.submit()
        expected = r.data_ro.copy()
        r.zero()
        graph.save(tmp_path / "saved")
        again = op2.load_graph(tmp_path / "saved")
        again.submit()
        found = again.outputs["r"]
        assert (found.dtype, found.compute) == (np.dtype("float32"), np.dtype("float64"))
        np.testing.assert_array_equal(found.data_ro, expected)


@pytest.mark.parametrize("kind", ["jacobi", "ilu", "lu"])
def test_a_narrow_preconditioner_under_a_double_solve(kind: str) -> None:
    pytest.importorskip("scipy")
    edges, nodes, ends = ring(50)
    sparsity = op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)])
    text = "void k(double *A) { A[0] += 1.1; A[1] -= 1; A[2] -= 1; A[3] += 1.1; }"
    wide, narrow = op2.Mat(sparsity), op2.Mat(sparsity, "float32", compute="float64")
    for mat in (wide, narrow):
        op2.par_loop(op2.Kernel(text, "k"), edges, mat(op2.INC, (ends, ends)))
    b, x = op2.Dat(nodes, np.sin(np.arange(50.0))), op2.Dat(nodes)
    went = op2.solve(wide, x, b, P=narrow, ksp_type="gmres", pc_type=kind, ksp_rtol=1e-12)
    assert went.converged
    exact = np.linalg.solve(wide.values, b.data_ro)
    np.testing.assert_allclose(x.data_ro, exact, rtol=0, atol=1e-10 * np.abs(exact).max())
    if kind == "lu":
        assert went.n_iterations <= 4


def test_other_uses_of_a_preconditioners_matrix_are_refused() -> None:
    _, nodes, ends = ring(5)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    large = op2.Mat(op2.Sparsity((nodes**2, nodes**2), [(ends, ends, None)]))
    x, b = op2.Dat(nodes), op2.Dat(nodes, np.ones(5))
    for options in (
        {"package": "own"},
        {"pc_type": "none"},
        {"ksp_type": "preonly", "pc_type": "lu"},
    ):
        with pytest.raises(
            SolverOptionError, match=r"Solver: (a preconditioner|P is for a method)"
        ):
            op2.solve(mat, x, b, P=mat, **options)
    with pytest.raises(MatTypeError, match="P must be a Mat"):
        op2.solve(mat, x, b, P=x)
    with pytest.raises(DataValueError, match="10 x 10 entries, the system 5 x 5"):
        op2.solve(mat, x, b, P=large)


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_of_a_chain_hand_on_what_they_compute(backend: str) -> None:
    """What the next loop gets is not rounded, and what memory gets is."""
    cells = op2.Set(100)
    third = op2.Kernel("void a(const double *q, double *s) { s[0] = q[0] / 3; }", "a")
    text = "void b(const double *q, const double *s, double *r) { r[0] = 3 * s[0] - q[0]; }"
    with op2.backend(backend):
        q = op2.Dat(cells, np.arange(1, 101), "float32", compute="float64")
        s, r = op2.Dat(cells, None, "float32", compute="float64"), op2.Dat(cells)
        with op2.chain():
            op2.par_loop(third, cells, q(op2.READ), s(op2.WRITE))
            op2.par_loop(op2.Kernel(text, "b"), cells, q(op2.READ), s(op2.READ), r(op2.WRITE))
        wide = np.arange(1, 101) / 3
        np.testing.assert_array_equal(s.data_ro, wide.astype(np.float32))
        assert np.abs(r.data_ro).max() < 1e-12
