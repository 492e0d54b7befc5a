# SPDX-License-Identifier: BSD-3-Clause
"""Graphs that are saved, and run again in other programs: of Python, and of C++."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import op2
from pyop2cxx.ahead import graph_files, records
from pyop2cxx.ahead.manifest import MANIFEST
from pyop2cxx.exceptions import NonUniqueNameError, UnsupportedError, UsageError
from pyop2cxx.mesh import airfoil_arrays

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "demos"))
from airfoil import Airfoil  # noqa: E402  # a demo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N = 30


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """Leave neither options nor tables to the next test."""
    yield
    op2.exit()


class Heat:
    """A graph with every kind of node that can be saved."""

    def __init__(self) -> None:
        self.cells, self.edges = op2.Set(N, "cells"), op2.Set(N - 1, "edges")
        ends = op2.Map(self.edges, self.cells, 2, [[i, i + 1] for i in range(N - 1)], "ends")
        self.heat = op2.Dat(self.cells, np.linspace(0, 1, N) ** 2, name="heat")
        self.flow, self.most = op2.Dat(self.cells, name="flow"), op2.Global(1, 7.0, name="most")
        self.count = op2.Dat(self.cells, np.arange(N), "int32", "count")
        self.offset = op2.Dat(self.cells, dtype="int32", name="offset")
        self.highest = op2.Dat(self.cells, dtype="int32", name="greatest")
        self.joined = op2.Dat(self.cells, dtype="int32", name="joined")
        latest = op2.Kernel(
            "void latest(int *a, const int *b) { if (b[0] % 3) *a = *b; }", "latest"
        )
        self.kept = op2.Dat(self.cells, dtype="complex128", name="new")
        op2.Const(1, 0.25, "saved_rate")
        flux = op2.Kernel(
            "void flux(double *f, const double *h) {"
            "  double d = h[1] - h[0]; f[0] += d; f[1] -= d; }",
            "flux",
        )
        step = op2.Kernel("void step(double *h, double *f) { h[0] += saved_rate * f[0]; }", "step")
        peak = op2.Kernel("void peak(double *h, double *m) { if (*h > *m) *m = *h; }", "peak")
        read, inc = op2.READ, op2.INC

        def pass_(place: Any) -> Any:
            moved = place.then_fill(self.flow).then(
                flux, self.edges, self.flow(inc, ends), self.heat(read, ends)
            )
            return moved.then(step, self.cells, self.heat(op2.RW), self.flow(read)).then_fill(
                self.most, -np.inf
            )

        part = op2.Subset(self.cells, range(0, N, 3))
        inner = op2.create_graph(
            lambda root: (
                root.then_scan(self.count, self.offset)
                .then_scan(self.count, self.highest, op2.MAX, inclusive=True)
                .then_scan(self.count, self.joined, latest, identity=0)
            ),
            name="offsets",
        )
        with op2.graph("heat") as g:
            first = pass_(g).then(peak, part, self.heat(read), self.most(op2.MAX))
            with first.while_(self.most > 0.7, most=50) as again:
                pass_(again).then(peak, part, self.heat(read), self.most(op2.MAX))
            assert again.node is not None
            again.node.then_copy(self.heat, self.kept)
            g.then_graph(inner)
        self.graph = g.instantiate()


def outcome(graph: op2.Graph) -> dict[str, Any]:
    """What a graph has made of its outputs."""
    return {
        name: np.array(data.values if isinstance(data, op2.Mat) else data.data_ro)
        for name, data in graph.outputs.items()
    }


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert list(found) == list(wanted)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def run(code: str, *arguments: object) -> str:
    """Run a program in a process of its own, where no compiler is found."""
    folders = [*sys.path, str(ROOT)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env=os.environ | {"PATH": "", "PYTHONPATH": os.pathsep.join(p for p in folders if p)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOAD = """
import sys
import numpy as np
from pyop2cxx import op2
folder, backend, eti_only, n, out = sys.argv[1:]
op2.init(backend=backend, eti_only=eti_only == "True", deterministic=True, threads=2)
graph = op2.load_graph(folder)
graph.submit(int(n))
values = {k: v.values if isinstance(v, op2.Mat) else v.data_ro for k, v in graph.outputs.items()}
np.savez(out, **values)
assert {row.provider for row in op2.dispatch.report()} - {"builtin"} == {"ahead"}
print(*graph.inputs, "->", *graph.outputs)
"""


@pytest.mark.parametrize("eti_only", [False, True])
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_a_graph_runs_in_another_process_without_a_compiler(
    tmp_path: Path, backend: str, eti_only: bool
) -> None:
    op2.init(backend=backend, deterministic=True, threads=2)
    problem = Heat()
    before = problem.heat.data_ro.copy()
    problem.graph.save(tmp_path / "saved")
    np.testing.assert_array_equal(problem.heat.data_ro, before)  # of the program nothing ran
    problem.graph.submit(3)
    said = run(LOAD, tmp_path / "saved", backend, eti_only, 3, tmp_path / "out.npz")
    assert said == "heat saved_rate count -> flow heat most new offset greatest joined\n"
    assert_same(dict(np.load(tmp_path / "out.npz")), outcome(problem.graph))


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_a_step_of_airfoil_is_saved(tmp_path: Path, backend: str) -> None:
    op2.init(backend=backend, deterministic=True, threads=2)
    graph = op2.record(Airfoil(airfoil_arrays(12, 16)).iterate)
    graph.save(tmp_path / "saved", name="airfoil")
    graph.submit(5)
    run(LOAD, tmp_path / "saved", backend, False, 5, tmp_path / "out.npz")
    found = dict(np.load(tmp_path / "out.npz"))
    assert_same(found, outcome(graph))
    assert np.abs(found["res"]).max() < 1.0
    assert found["rms"] > 0.0


def test_it_is_saved_from_a_device_too(tmp_path: Path, device: object) -> None:
    problem = Heat()
    problem.graph.submit()
    problem.graph.save(tmp_path / "saved")
    problem.graph.submit()
    wanted = outcome(problem.graph)
    op2.init(backend="openmp")
    graph = op2.load_graph(tmp_path / "saved")
    graph.submit()
    for name, values in wanted.items():
        np.testing.assert_allclose(outcome(graph)[name], values, rtol=1e-13, atol=1e-15)


def assembly() -> tuple[op2.Graph, op2.Mat]:
    """A matrix that is set to zero and assembled."""
    cells, nodes = op2.Set(6, "cells"), op2.Set(7, "nodes")
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(6)], "ends")
    size = op2.Dat(cells, np.arange(6) + 1.0, name="size")
    mat = op2.Mat(op2.Sparsity((nodes**2, nodes**2), [(ends, ends, None)]), name="stiff")
    text = "void block(double *a, double *s) { for (int i = 0; i < 16; ++i) a[i] += i * *s; }"
    block = op2.Kernel(text, "block")

    def assemble() -> None:
        mat.zero()
        op2.par_loop(block, cells, mat(op2.INC, (ends, ends)), size(op2.READ))

    return op2.record(assemble), mat


def test_matrices_are_saved_with_their_sparsity(tmp_path: Path) -> None:
    graph, mat = assembly()
    graph.submit()
    graph.save(tmp_path / "saved")
    wanted = mat.values.copy()
    again = op2.load_graph(tmp_path / "saved")
    np.testing.assert_array_equal(again.outputs["stiff"].values, wanted)
    again.inputs["size"].data[:] *= 2
    again.submit()
    np.testing.assert_array_equal(again.outputs["stiff"].values, 2 * wanted)
    np.testing.assert_array_equal(mat.values, wanted)


def columns() -> op2.Graph:
    """Loops over columns of one number of layers, and of layers of their own."""
    base, nodes = op2.Set(N, "base"), op2.Set(8 * N, "nodes")
    bottoms = [[8 * i, 8 * ((i + 1) % N)] for i in range(N)]
    same = op2.ExtrudedSet(base, 5)
    own = op2.ExtrudedSet(base, [[i % 2, i % 2 + 2 + i % 5] for i in range(N)])
    up = op2.Map(same, nodes, 2, bottoms, "up", offset=[1, 1])
    other = op2.Map(own, nodes, 2, bottoms, "other", offset=[1, 1])
    heat = op2.Dat(nodes, np.arange(8.0 * N) % 11, name="heat")
    flow, sums = op2.Dat(nodes, name="flow"), op2.Dat(base, name="sums")
    jump = op2.Kernel("void jump(const double *h, double *f) { f[0] += h[2] - h[0]; }", "jump")
    ground = op2.Kernel("void ground(double *f, int layer) { f[1] += 3 + layer; }", "ground")
    add = op2.Kernel("void add(const double *h, double *s) { *s += h[0] * h[1]; }", "add")

    def step() -> None:
        facets = {"iteration_region": op2.ON_INTERIOR_FACETS}
        op2.par_loop(jump, same, heat(op2.READ, up), flow(op2.INC, up), **facets)
        layer = {"iteration_region": op2.ON_BOTTOM, "pass_layer_arg": True}
        op2.par_loop(ground, same, flow(op2.INC, up), **layer)
        op2.par_loop(add, own, heat(op2.READ, other), sums(op2.INC))

    return op2.record(step)


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_columns_are_saved(tmp_path: Path, backend: str) -> None:
    op2.init(backend=backend, deterministic=True, threads=2)
    graph = columns()
    graph.save(tmp_path / "saved", name="columns")
    graph.submit(2)
    run(LOAD, tmp_path / "saved", backend, True, 2, tmp_path / "out.npz")
    assert_same(dict(np.load(tmp_path / "out.npz")), outcome(graph))
    unit = (tmp_path / "saved" / "columns.cpp").read_text()
    assert "const op2::ExtrudedSet base_extruded(base, 5, false);" in unit
    assert "(base_extruded, flow, up, op2::Region::bottom);" in unit


def test_a_kernel_may_run_on_several_objects(tmp_path: Path) -> None:
    """The library has one function for loops that differ in their objects alone."""
    op2.init(backend="sequential")
    cells, edges = op2.Set(4, "cells"), op2.Set(3, "edges")
    ends = op2.Map(edges, cells, 2, [[0, 1], [1, 2], [2, 3]], "ends")
    back = op2.Map(edges, cells, 2, [[3, 2], [2, 1], [1, 0]], "back")
    p, q = op2.Dat(cells, np.arange(4.0), name="p"), op2.Dat(cells, name="q")
    twice = op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
    add = op2.Kernel("void add(double *y, const double *x) { y[0] += x[1]; }", "add")

    def step() -> None:
        op2.par_loop(twice, cells, p(op2.RW))
        op2.par_loop(add, edges, q(op2.INC, ends), p(op2.READ, ends))
        q.assign(p)
        op2.par_loop(twice, cells, q(op2.RW))
        op2.par_loop(add, edges, p(op2.INC, back), q(op2.READ, back))

    graph = op2.record(step, to_save=True)
    graph.save(tmp_path / "saved", name="several")
    loaded = op2.load_graph(tmp_path / "saved")
    for one in (graph, loaded):
        one.submit(2)
    assert_same(outcome(loaded), outcome(graph))
    text = (tmp_path / "saved" / "several.cpp").read_text()
    assert text.count("several::twice(cells, p)") == text.count("several::twice(cells, q)") == 1


def test_data_are_bound_by_name(tmp_path: Path) -> None:
    Heat().graph.save(tmp_path / "saved")
    graph = op2.load_graph(tmp_path / "saved")
    heat = graph.inputs["heat"]
    other = op2.Dat(heat.dataset, np.full(N, 0.25), name="other")
    bound = graph.bind({"heat": other})
    bound.submit()
    assert bound.outputs["most"].data_ro == 0.25
    assert heat.data_ro[-1] == 1.0
    assert "other" in bound.inputs
    with pytest.raises(UsageError, match="'heit' is no slot; slots are: 'flow', 'heat'"):
        graph.bind({"heit": other})


def test_values_of_a_parameter_are_those_of_the_submit(tmp_path: Path) -> None:
    Heat().graph.save(tmp_path / "saved")
    graph = op2.load_graph(tmp_path / "saved")
    graph.inputs["saved_rate"].data = 0.0
    before = graph.inputs["heat"].data_ro.copy()
    graph.submit()
    np.testing.assert_array_equal(graph.outputs["heat"].data_ro, before)


def test_a_const_that_gets_another_value_is_told(tmp_path: Path) -> None:
    graph = Heat().graph
    graph.save(tmp_path / "saved", build=False)
    op2.load_graph(tmp_path / "saved")  # the same value
    rate = op2.Const(1, 0.5, "saved_rate")
    with pytest.warns(RuntimeWarning, match=r"'saved_rate' is \[0.25\] now.* it was \[0.5\]"):
        op2.load_graph(tmp_path / "saved")
    assert rate.data_ro == 0.25


def test_a_const_of_another_kind_is_refused(tmp_path: Path) -> None:
    graph = Heat().graph
    graph.save(tmp_path / "saved", build=False)
    graph.data["saved_rate"].remove_from_namespace()
    other = op2.Const(2, [1.0, 2.0], "saved_rate")
    with pytest.raises(NonUniqueNameError, match="saved_rate"):
        op2.load_graph(tmp_path / "saved")
    other.remove_from_namespace()


def test_empty_graphs_and_empty_sets_are_saved(tmp_path: Path) -> None:
    none = op2.Set(0, "none")
    x = op2.Dat(none, name="x")
    one = op2.Kernel("void one(double *x) { *x = 1; }", "one")
    op2.create_graph(lambda root: root.then(one, none, x(op2.RW)), name="a b").save(tmp_path / "a")
    op2.create_graph(lambda root: None, name="empty").save(tmp_path / "b")
    for folder in ("a", "b"):
        graph = op2.load_graph(tmp_path / folder)
        graph.submit(2)
    assert graph.stats().nodes == 0
    assert json.loads((tmp_path / "a" / MANIFEST).read_text())["name"] == "a_b"


@pytest.mark.parametrize("backends", [("sequential",), ("openmp", "sequential")])
def test_loops_of_one_kernel_over_other_objects_are_saved_as_one_function(
    tmp_path: Path, backends: tuple[str, ...]
) -> None:
    """As over inner edges and those of the boundary."""
    cells, inner, rim = op2.Set(5, "cells"), op2.Set(4, "inner"), op2.Set(1, "rim")
    ends = op2.Map(inner, cells, 2, [[i, i + 1] for i in range(4)], "ends")
    round_ = op2.Map(rim, cells, 2, [[4, 0]], "round")
    u, flow = op2.Dat(cells, np.arange(5.0), name="u"), op2.Dat(cells, name="flow")
    other = op2.Dat(cells, name="other")
    text = "void flux(double *f, double *u) { double d = u[1] - u[0]; f[0] += d; f[1] -= d; }"
    flux = op2.Kernel(text, "flux")

    def step() -> None:
        flow.zero()
        op2.par_loop(flux, inner, flow(op2.INC, ends), u(op2.READ, ends))
        op2.par_loop(flux, rim, flow(op2.INC, round_), u(op2.READ, round_))
        op2.par_loop(flux, inner, other(op2.INC, ends), flow(op2.READ, ends))

    with op2.backend("sequential"):
        graph = op2.record(step)
        graph.save(tmp_path / "saved", name="ring", backends=backends)
        again = op2.load_graph(tmp_path / "saved")
        again.submit()
        graph.submit()
    assert_same(outcome(again), outcome(graph))
    assert other.sum() == 0.0
    assert abs(other.data_ro).max() == 5.0
    header = (tmp_path / "saved" / "ring.hpp").read_text()
    assert header.count("Loop flux(") == 1, header


def test_kernels_of_one_name_are_saved_together(tmp_path: Path) -> None:
    cells = op2.Set(3, "cells")
    x, y = op2.Dat(cells, name="x"), op2.Dat(cells, name="y")
    one = op2.Kernel("void add(double *x) { x[0] += 1; }", "add")
    other = op2.Kernel("void add(double *x) { x[0] = 2 * x[0] + 20; }", "add")

    def step() -> None:
        op2.par_loop(one, cells, x(op2.RW))
        op2.par_loop(other, cells, y(op2.RW))
        op2.par_loop(one, cells, y(op2.RW))

    graph = op2.record(step, name="steps", to_save=True)
    graph.save(tmp_path / "steps", backends=("sequential", "openmp"))
    code = """
        import sys
        from pyop2cxx import op2
        op2.init(backend="sequential", eti_only=True)
        graph = op2.load_graph(sys.argv[1])
        graph.submit(2)
        print(*(dat.data_ro[0] for dat in graph.outputs.values()))
    """
    assert run(code, tmp_path / "steps").split() == ["2.0", "63.0"]


def sharing() -> op2.Graph:
    values = np.zeros(6)
    cells = op2.Set(3, "cells")
    x, y = op2.Dat(cells, values[:3], name="x"), op2.Dat(cells, values[:3], name="y")
    with op2.graph("shared") as g:
        g.then_fill(x, 1.0).then_fill(y, 2.0)
    return g.instantiate()


def calling() -> op2.Graph:
    x = op2.Global(1, 0.0, name="x")
    with op2.graph("calling") as g, g.while_(x < 3, most=3) as again:
        again.then_fill(x, 9.0).then_host(lambda: None, reads=[x], name="look")
    return g.instantiate()


def narrowing() -> op2.Graph:
    cells = op2.Set(3, "cells")
    x, y = op2.Dat(cells, name="x"), op2.Dat(cells, dtype="float32", name="y")
    return op2.create_graph(lambda root: root.then_copy(x, y), name="narrow")


def permuted() -> op2.Graph:
    cells, nodes = op2.Set(1, "cells"), op2.Set(2, "nodes")
    ends = op2.PermutedMap(op2.Map(cells, nodes, 2, [0, 1], "ends"), [1, 0])
    x = op2.Dat(nodes, name="x")
    one = op2.Kernel("void one(double *x) { *x += 1; }", "one")
    return op2.create_graph(lambda root: root.then(one, cells, x(op2.RW, ends)), name="turned")


def chained() -> op2.Graph:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells, name="x")
    one = op2.Kernel("void one(double *x) { *x += 1; }", "one")

    def step() -> None:
        with op2.chain():
            op2.par_loop(one, cells, x(op2.RW))
            op2.par_loop(one, cells, x(op2.RW))

    return op2.record(step)


def summing() -> op2.Graph:
    cells = op2.Set(3, "cells")
    x, y = op2.Dat(cells, dtype="int32", name="x"), op2.Dat(cells, dtype="int64", name="y")
    return op2.create_graph(lambda root: root.then_scan(x, y), name="sums")


def comparing() -> op2.Graph:
    x, y = op2.Global(1, 0.0, name="x"), op2.Global(1, 3, "int64", "y")
    with op2.graph("compared") as g, g.while_(x < y, most=3) as again:
        again.then_fill(x, 9.0)
    return g.instantiate()


def of_ghosts() -> op2.Graph:
    cells = op2.Set((1, 2, 3), "cells")
    x = op2.Dat(cells, name="x")
    one = op2.Kernel("void one(double *x) { *x += 1; }", "one")
    return op2.record(lambda: op2.par_loop(one, cells, x(op2.RW)))


def of_headers() -> op2.Graph:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells, name="x")
    folder = Path(os.environ["PYOP2CXX_TEST_HEADERS"])
    (folder / "mine.h").write_text("#define MINE 2\n")
    k = op2.Kernel(
        "void k(double *x) { *x = MINE; }", "k", [], [str(folder)], ['#include "mine.h"']
    )
    return op2.create_graph(lambda root: root.then(k, cells, x(op2.WRITE)), name="headers")


@pytest.mark.parametrize("how", ["record", "closure", "block"])
def test_what_cannot_be_saved_is_refused_when_it_is_recorded_if_asked_for(how: str) -> None:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells, name="x")
    one = op2.Kernel("void one(double *x) { *x += 1; }", "one")

    def chain() -> None:
        with op2.chain():
            op2.par_loop(one, cells, x(op2.RW))
            op2.par_loop(one, cells, x(op2.RW))

    def look(root: op2.graph) -> None:
        root.then_host(lambda: None, reads=[x], name="look")

    with op2.graph() as g:
        look(g)
    make = {
        "record": lambda: op2.record(chain, to_save=True),
        "closure": lambda: op2.create_graph(look, to_save=True),
        "block": lambda: g.instantiate(to_save=True),
    }
    with pytest.raises(UnsupportedError, match=r"cannot be saved:\n.*node 0"):
        make[how]()
    graph = op2.record(lambda: op2.par_loop(one, cells, x(op2.RW)), to_save=True)
    graph.submit()
    assert x.data_ro.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (sharing, "'x' and 'y' share memory; give each its own"),
        (
            calling,
            r"node 0 'while x < 3' \(.*\), node 1 'look' \(.*\): it calls a function of the",
        ),
        (narrowing, r"node 0 'copy x to y' \(.*\): it converts float64 to float32, which may not"),
        (permuted, r"node 0 'one' \(.*\): 'permuted_ends' is of PermutedMap, which saved"),
        (chained, r"node 0 'chain of one \+ one' \(.*\): it is a chain"),
        (summing, r"node 0 'scan x' \(.*\): it adds up int32 into int64"),
        (comparing, r"node 0 'while x < y' \(.*\): it compares float64 with int64"),
        (of_ghosts, r"node 0 'one' \(.*\): Set 'cells' has ghosts: 2 of 3 entities are owned"),
        (of_headers, r"node 0 'k' \(.*\): kernel 'k' includes headers of the program's own"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], op2.Graph], reason: str
) -> None:
    monkeypatch.setenv("PYOP2CXX_TEST_HEADERS", str(tmp_path))
    graph = make()
    with pytest.raises(
        UnsupportedError, match=rf"graph '{graph.name}' cannot be saved:\n  {reason}"
    ):
        graph.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_wrong_places_and_options_are_refused(tmp_path: Path) -> None:
    graph = Heat().graph
    with pytest.raises(UsageError, match="the name must be a C identifier, got 'a-b'"):
        graph.save(tmp_path / "saved", name="a-b")
    with pytest.raises(UsageError, match="loops are compiled for sequential or openmp, got 'cuda'"):
        graph.save(tmp_path / "saved", backends=["cuda"])
    (tmp_path / "mine").write_text("")
    with pytest.raises(UsageError, match="holds other files"):
        graph.save(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph without a library."""
    folder = tmp_path_factory.mktemp("graph") / "saved"
    Heat().graph.save(folder, build=False)
    op2.exit()
    return folder


def truncate(folder: Path) -> None:
    file = folder / graph_files.FILE
    file.write_bytes(file.read_bytes()[:-3])


def flip(folder: Path) -> None:
    file = folder / graph_files.FILE
    values = bytearray(file.read_bytes())
    values[-1] ^= 1
    file.write_bytes(values)


def retitle(folder: Path) -> None:
    file = folder / graph_files.FILE
    file.write_bytes(b"pyop2cxx graph 0" + file.read_bytes()[16:])


def rewrite(**changed: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(manifest | changed))

    return change


def reorder(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["graph"]["nodes"].reverse()
    (folder / MANIFEST).write_text(json.dumps(manifest))


def ungraph(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["graph"]
    (folder / MANIFEST).write_text(json.dumps(manifest))


def cut_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text((folder / MANIFEST).read_text()[:-100])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, r"should have \d+ bytes of values, but has \d+"),
        (flip, "was changed after it was written"),
        (retitle, "is of another graph, or of another version"),
        (lambda folder: (folder / graph_files.FILE).unlink(), "cannot read"),
        (lambda folder: shutil.rmtree(folder), "there is no manifest"),
        (cut_manifest, "is damaged"),
        (rewrite(format=0), "is of format 0, this is pyop2cxx of format"),
        (rewrite(pyop2cxx="0.0.1"), "is of pyop2cxx '0.0.1'"),
        (rewrite(graph={}), "is damaged: KeyError"),
        (reorder, "was changed after it was written"),
        (ungraph, "holds loops, but no graph"),
    ],
)
def test_damaged_graphs_are_refused(
    saved: Path, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    shutil.copytree(saved, tmp_path / "saved")
    damage(tmp_path / "saved")
    with pytest.raises(UsageError, match=rf"load_graph: .*{message}"):
        op2.load_graph(tmp_path / "saved")


def test_what_was_saved_is_replaced(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "saved")
    sums = op2.Global(1, 0.0, name="sums")
    op2.create_graph(lambda root: root.then_fill(sums, 2.0), name="fill").save(tmp_path / "saved")
    graph = op2.load_graph(tmp_path / "saved")
    graph.submit()
    assert graph.data["sums"].data_ro == 2.0
    assert [one.name for one in tmp_path.iterdir()] == ["saved"]


@pytest.mark.parametrize("cpp", [False, True])
def test_kernels_may_include_what_belongs_to_the_compiler(cpp: bool, tmp_path: Path) -> None:
    x = op2.Dat(op2.Set(3, "cells"), [-1.0, 2.0, 3.0], name="x")
    include = "#include <algorithm>" if cpp else "#include <stdlib.h>"
    positive = "std::max(x[0], 0.0)" if cpp else "abs((int)x[0])"
    text = f"{include}\nvoid k(double *x) {{ again: x[0] = {positive}; if (0) goto again; }}"
    k = op2.Kernel(text, "k", cpp=cpp)
    graph = op2.create_graph(lambda root: root.then(k, x.dataset.set, x(op2.RW)), name="own")
    graph.save(tmp_path / "own")
    graph.submit()
    again = op2.load_graph(tmp_path / "own")
    with op2.dispatch.expect("ahead"):
        again.submit()
    assert again.outputs["x"].data_ro.tolist() == x.data_ro.tolist()


def test_a_graph_without_a_library_is_compiled_where_it_is_loaded(saved: Path) -> None:
    graph = op2.load_graph(saved)
    graph.submit()
    problem = Heat()
    problem.graph.submit()
    assert_same(outcome(graph), outcome(problem.graph))


def test_large_values_are_saved_but_not_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_BYTES", 100)
    Heat().graph.save(tmp_path / "saved", build=False)
    assert not (tmp_path / "saved" / "check.cpp").exists()


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, "float64", "0.1"),
        (0.1, "float32", "0.10000000149011612f"),
        (-np.inf, "float64", "-std::numeric_limits<double>::infinity()"),
        (np.nan, "float32", "std::numeric_limits<float>::quiet_NaN()"),
        (-3, "int8", "std::int8_t{-3}"),
        (2**64 - 1, "uint64", "std::uint64_t{18446744073709551615U}"),
        (-(2**63), "int64", "std::numeric_limits<std::int64_t>::min()"),
        ([1.0, -0.5], "complex128", "std::complex<double>(1.0, -0.5)"),
        (2.0, "complex64", "std::complex<float>(2.0f, 0.0f)"),
    ],
)
def test_numbers_in_cpp_have_all_their_bits(value: Any, dtype: str, text: str) -> None:
    assert graph_files.literal(value, np.dtype(dtype)) == text


CPP = """
#include <both.hpp>
#include <matrix.hpp>
#include <cstdio>
#include <fstream>
#include <string>

int main(int, char** argv) try {
  const bool is_alone = std::string(argv[3]) == "sequential";
  op2::init({is_alone ? "sequential" : "openmp", 2});
  op2::Graph graph = both::heat(argv[1]);
  graph.submit(2);
  graph.submit();
  std::ofstream file(argv[4], std::ios::binary);
  for (const std::string& name : graph.outputs()) {
    if (name == "offset" || name == "greatest" || name == "joined") {
      file.write(reinterpret_cast<const char*>(graph.values<int>(name).data()), 4 * 30);
    } else if (name == "new") {
      const auto values = graph.values<std::complex<double>>(name);
      file.write(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    } else {
      const auto values = graph.values<double>(name);
      file.write(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
  }
  op2::Graph other = matrix::assemble(argv[2]);
  other.submit(2);
  for (double value : other.values<double>("stiff")) file << value;
  // the same steps on objects of this program
  const op2::Set cells(2), nodes(3);
  const std::vector<int> to{0, 1, 1, 2};
  std::vector<double> sizes{1.0, 1.0};
  const op2::Map<2> ends(cells, nodes, to);
  const op2::Sparsity sparsity(nodes, nodes, {{ends, ends}});
  std::vector<double> values(4 * sparsity.n_entries(), 5.0);
  const op2::Mat<double, 2, 2> stiff(sparsity, values);
  const op2::Dat<double> size(cells, sizes);
  matrix::assemble(cells, stiff, ends, size).submit();
  double sum = 0.0;
  for (double value : values) sum += value;
  std::printf("%g\\n", sum);
  for (const std::string& name : graph.inputs()) std::printf("%s ", name.c_str());
  (void)graph.values<float>("heat");
} catch (const op2::Error& error) {
  std::puts(error.what());
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(program LANGUAGES C CXX)
add_subdirectory(saved)
add_subdirectory(matrix)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE both_cpp matrix_cpp)
"""


def done(*command: object) -> str:
    """Run a command, which must succeed, and return what it says."""
    found = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.slow
@needs_program("cmake")
def test_programs_in_cpp_replay_graphs(
    tmp_path: Path, installed_runtime: Callable[[Path], Path]
) -> None:
    wanted = {}
    for backend in ("sequential", "openmp"):
        op2.init(backend=backend, deterministic=True, threads=2)
        problem = Heat()
        if backend == "sequential":
            both = ["sequential", "openmp"]
            problem.graph.save(tmp_path / "saved", name="both", backends=both, build=False)
            assembly()[0].save(tmp_path / "matrix", name="matrix", backends=both, build=False)
        problem.graph.submit(3)
        wanted[backend] = outcome(problem.graph)
        op2.exit()
    (tmp_path / "program.cpp").write_text(CPP)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    checks = ["-Dboth_CHECK=ON", "-Dmatrix_CHECK=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
    checks.append(f"-DCMAKE_PREFIX_PATH={installed_runtime(tmp_path / 'saved' / 'runtime')}")
    said = done("cmake", "-S", tmp_path, "-B", tmp_path / "out", *checks)
    assert "both: the run-time is that of" in said
    done("cmake", "--build", tmp_path / "out")
    for backend, values in wanted.items():
        out = tmp_path / "out.bin"
        program = [tmp_path / "out" / "program", tmp_path / "saved", tmp_path / "matrix"]
        said = done(*program, backend, out)
        assert said.splitlines() == [
            "240",
            "heat saved_rate count graph 'heat': the values of 'heat' are float64, not float32",
        ]
        bytes_ = b"".join(one.tobytes() for one in values.values())
        assert out.read_bytes()[: len(bytes_)] == bytes_
    for name, graph in (("both", "heat"), ("matrix", "assemble")):
        (check,) = (tmp_path / "out").rglob(f"{name}_check")
        assert f"{graph} on openmp: as in Python" in done(check).splitlines()
    values = tmp_path / "saved" / graph_files.FILE
    right = values.read_bytes()
    for wrong, message in (
        (right[:-1], "graph.bin: it should have"),
        (right[:-1] + b"x", "graph.bin: its values were changed"),
        (b"x" + right[1:], "graph.bin: it is not the file with the title 'pyop2cxx graph "),
    ):
        values.write_bytes(wrong)
        assert message in done(*program, "openmp", tmp_path / "out.bin")
