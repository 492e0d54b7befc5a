# SPDX-License-Identifier: BSD-3-Clause
"""What a user sees of every public class at a prompt: what it is, not where it lies in memory."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.io import TimeSeries
from pyop2cxx.mesh import airfoil_arrays, square_arrays, square_mesh

MODULES = ("op2", "mesh", "io", "plot", "fem")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def public_classes() -> list[tuple[str, type]]:
    found = []
    for module in MODULES:
        if module == "fem":
            pytest.importorskip("ffcx")
        inside = importlib.import_module(f"pyop2cxx.{module}")
        classes = ((name, getattr(inside, name)) for name in inside.__all__)
        found += [(f"{module}.{name}", one) for name, one in classes if inspect.isclass(one)]
    return found


def test_no_public_class_has_the_repr_of_object() -> None:
    classes = public_classes()
    assert len(classes) > 50
    nobody_makes = ("op2.Halo", "fem.MeshLike")  # an abstract class and a protocol
    bare = [name for name, one in classes if one.__repr__ is object.__repr__]
    assert [name for name in bare if name not in nobody_makes] == []


class World:
    """One of many things."""

    def __init__(self) -> None:
        self.mesh = mesh = square_mesh(3)
        self.c2v = mesh.cell_vertices
        self.u = op2.Dat(mesh.vertices, name="u")
        self.x = mesh.coordinates
        self.kernel = op2.Kernel("void k(double *u, const double *x) { u[0] += x[0]; }", "k")
        self.args = (self.u(op2.INC, self.c2v), self.x(op2.READ, self.c2v))
        self.loop = op2.ParLoop(self.kernel, mesh.cells, *self.args)
        pair = [(self.c2v, self.c2v, None)]
        self.matrix = op2.Mat(op2.Sparsity((mesh.vertices, mesh.vertices), pair), name="A")


@pytest.fixture
def world() -> World:
    return World()


def things_of(world: World) -> list[Any]:
    mesh, c2v = world.mesh, world.c2v
    with op2.graph() as graph:
        pass
    mixed = op2.MixedDat([world.u, world.u])
    return [
        *(op2.READ, op2.ALL, world.kernel, world.loop, *world.args, world.matrix),
        *(mesh.cells, mesh.vertices**2, c2v, world.u, mixed, mixed(op2.READ), graph),
        *(world.matrix.sparsity, world.matrix(op2.INC, (c2v, c2v)), op2.Solver(), op2.chain()),
        *(op2.Global(1, 1.0), op2.Const(1, 1.0, "g_of_reprs"), op2.Constant(1, 2.0)),
        *(op2.ExtrudedSet(mesh.cells, 3), op2.Subset(mesh.cells, [1]), op2.DatView(world.x, 0)),
        *(op2.MixedSet([mesh.cells, mesh.cells]), op2.MixedMap([c2v, c2v]), c2v[0]),
        *(mesh, mesh.exterior_facets, mesh.facets, mesh.exterior_facets.tags, mesh.cell),
        *(airfoil_arrays(4, 5), square_arrays(2), TimeSeries("u.pvd", mesh), op2.profile()),
        *(world.loop.explain(), op2.backends()[0], op2.configuration),
    ]


def test_nothing_says_where_it_lies_in_memory(world: World) -> None:
    for thing in things_of(world):
        for shown in (repr(thing), str(thing)):
            assert not ADDRESS.search(shown), type(thing)
            assert len(shown) < 1500, type(thing)


def test_finite_elements_do_not_either(world: World) -> None:
    pytest.importorskip("ffcx")
    ufl, fem = importlib.import_module("ufl"), importlib.import_module("pyop2cxx.fem")
    V = fem.FunctionSpace(world.mesh, ("P", 1))
    u, v = fem.Function(V, name="speed"), ufl.TestFunction(V)
    form = fem.Form(u * ufl.TrialFunction(V) * v * ufl.dx)
    bc, operator = fem.DirichletBC(V, 0.0), fem.action(form.form)
    things = [V, u, fem.Constant(world.mesh, 1.0), form, form.integrals[0], bc, operator]
    things += [form.integrals[0].parameters[0], V.domain, V.domain.facets("exterior_facet")]
    for thing in things:
        for shown in (repr(thing), str(thing)):
            assert not ADDRESS.search(shown), type(thing)
            assert len(shown) < 300, type(thing)
    assert repr(form) == "<Form of rank 2 over cell, float64>"
    assert repr(bc).startswith("<DirichletBC: 12 of 16 values of FunctionSpace(")
    assert str(u) == "speed"
    assert "speed" in str(form.form)
    assert "16 x 16" in repr(operator)
    for thing in (V, u, form, fem.Constant(world.mesh, 2.5)):
        assert thing._repr_html_().startswith("<table>")
    assert "2.5" in fem.Constant(world.mesh, 2.5)._repr_html_()


def test_a_loop_says_what_it_does(world: World) -> None:
    uses = "u INC by cell_vertices, coordinates READ by cell_vertices"
    assert repr(world.loop) == f"<ParLoop 'k' over Set 'cells': {uses}>"
    html = world.loop._repr_html_()
    assert "18 entities" in html
    assert "INC by cell_vertices" in html
    add = op2.Kernel("void add(double *A, double *g) { A[0] += 1; g[0] += 1; }", "add")
    both = (world.matrix(op2.INC, (world.c2v, world.c2v)), op2.Global(1, 0.0, name="g")(op2.INC))
    loop = op2.ParLoop(add, world.mesh.cells, *both)
    assert "A INC by cell_vertices x cell_vertices, g INC>" in repr(loop)
    columns = op2.ExtrudedSet(world.mesh.cells, 3)
    one = op2.Kernel("void one(double *g) { g[0] += 1; }", "one")
    loop = op2.ParLoop(one, columns, both[1], iteration_region=op2.ON_TOP)
    assert "TOP" in loop._repr_html_()


def test_a_kernel_shows_its_code(world: World) -> None:
    assert "u[0] += x[0]" in world.kernel._repr_html_()
    lines = op2.Kernel("void k(double *x)\n{ x[0] = x[0] < 1; }", "k")._repr_html_()
    assert "<pre>void k(double *x)\n{ x[0] = x[0] &lt; 1; }</pre>" in lines


def test_what_is_made_to_be_read_is_shown_so_in_notebooks(world: World) -> None:
    class Printer:
        shown = ""

        def text(self, text: str) -> None:
            self.shown += text

    with op2.profile() as profile:
        world.loop.compute()
    text = world.loop.generate()
    for thing in (world.loop.explain(), text, op2.transfers.report(), profile):
        printer = Printer()
        thing._repr_pretty_(printer, False)
        assert printer.shown == str(thing)
        as_it_prints = "<pre>" if thing is text else "<table>"
        assert thing._repr_html_().startswith(as_it_prints)


def test_a_solver_says_what_differs() -> None:
    assert repr(op2.Solver(ksp_type="gmres", ksp_rtol=1e-7)) == "Solver(ksp_type='gmres')"
