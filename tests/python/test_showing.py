# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show of objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.mesh import Mesh, square_mesh

if TYPE_CHECKING:
    from pyop2cxx import _core


class Printer:
    """What IPython gives to ``_repr_pretty_``."""

    shown = ""

    def text(self, text: str) -> None:
        self.shown += text


def pretty(thing: Any) -> str:
    printer = Printer()
    thing._repr_pretty_(printer, False)
    return printer.shown


def test_objects_say_what_they_are() -> None:
    mesh = square_mesh(2)
    nodes = mesh.vertices
    q = op2.Dat(nodes**2, np.arange(18.0), name="q <1>")
    assert pretty(q).splitlines()[:3] == [
        "Dat 'q <1>'",
        "  on         Set 'vertices', 9 entities",
        "  dtype      float64",
    ]
    assert "on the host" in pretty(q)
    assert "[[ 0.  1.]" in pretty(q)
    html = q._repr_html_()
    assert "<caption>Dat &#x27;q &lt;1&gt;&#x27;</caption>" in html
    assert "<td style='text-align: left'>(2,)</td>" in html
    assert "not allocated" in pretty(op2.Dat(nodes))
    assert "[7.]" in pretty(op2.Global(1, 7.0))
    assert "from    Set 'cells', 8 entities" in pretty(mesh.cell_vertices)
    assert "[0 4]" in pretty(op2.Subset(nodes, [4, 0]))
    assert "1, 2, 4" in pretty(op2.Set((1, 2, 4)))
    assert "8 of kind triangle" in pretty(mesh)
    sparsity = op2.Sparsity((nodes, nodes), [(mesh.cell_vertices, mesh.cell_vertices, None)])
    assert "9 x 9" in pretty(op2.Mat(sparsity))
    assert repr(q).startswith("Dat(DataSet(")  # as in PyOP2


def test_showing_copies_nothing(device: _core.Device, strictly: None) -> None:
    q = op2.Dat(op2.Set(4), np.ones(4))
    q.to_device()
    op2.par_loop(op2.Kernel("void k(double *x) { x[0] = 2; }", "k"), q.dataset.set, q(op2.WRITE))
    version = q.dat_version
    assert "on the device" in pretty(q)
    assert "values" not in pretty(q)
    assert q.dat_version == version


@pytest.mark.usefixtures("host")
def test_showing_leaves_a_chain_alone() -> None:
    q = op2.Dat(op2.Set(4), np.ones(4))
    with op2.chain():
        op2.par_loop(
            op2.Kernel("void k(double *x) { x[0] = 2; }", "k"), q.dataset.set, q(op2.WRITE)
        )
        assert "loops of a chain wait" in pretty(q)
    assert "[2. 2. 2. 2.]" in pretty(q)


def test_a_set_without_a_size_is_shown(static: None) -> None:
    cells = op2.Set(None, "cells")
    assert "unknown" in pretty(cells)
    assert "unknown" in pretty(op2.Dat(cells))


@pytest.mark.usefixtures("host")
def test_reports_are_tables() -> None:
    x = op2.Dat(op2.Set(3, "cells"), name="x")
    loop = op2.ParLoop(
        op2.Kernel("void k(double *x) { x[0] = 2 < 3; }", "k"), x.dataset.set, x(op2.WRITE)
    )
    with op2.profile() as profile:
        loop.compute()
    explained = loop.explain()._repr_html_()
    assert "<caption>par_loop &#x27;k&#x27; over Set &#x27;cells&#x27;" in explained
    assert "<td style='text-align: left'>strategy</td>" in explained
    assert "<th style='text-align: left'>ms/call</th>" in profile._repr_html_()
    assert "s in all; times are seconds</p>" in profile._repr_html_()
    assert "<th style='text-align: left'>bytes</th>" in op2.transfers.report()._repr_html_()
    assert "<th style='text-align: left'>provider</th>" in op2.dispatch.report()._repr_html_()
    for report in (loop.explain(), profile, op2.dispatch.report()):
        assert "<pre>" not in report._repr_html_()
        assert len(pretty(report).splitlines()) > 1


def test_facets_and_their_tags_are_counted() -> None:
    mesh = Mesh.from_arrays(
        "triangle", [[0, 0], [1, 0], [1, 1]], [[0, 1, 2]], facet_tags={"floor": [[0, 1]]}
    )
    assert pretty(mesh.exterior_facets).splitlines() == [
        "3 exterior_facets",
        "  cells        1 at each facet",
        "  tag 'floor'  1 facets",
    ]
    assert "<caption>3 facets</caption>" in mesh.facets._repr_html_()
    assert "3 of each of 1 cells" in pretty(mesh.edges)


def test_a_solver_shows_its_history_as_a_curve() -> None:
    pytest.importorskip("scipy")
    n = 20
    nodes, edges = op2.Set(n), op2.Set(n - 1)
    ends = op2.Map(edges, nodes, 2, [[i, i + 1] for i in range(n - 1)])
    matrix = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    add = "void add(double A[4]) { A[0] += 2; A[1] -= 1; A[2] -= 1; A[3] += 2; }"
    op2.par_loop(op2.Kernel(add, "add"), edges, matrix(op2.INC, (ends, ends)))
    solver = op2.Solver(package="own")
    assert "not used yet" in pretty(solver)
    assert "<svg" not in solver._repr_html_()
    solver.solve(matrix, op2.Dat(nodes), op2.Dat(nodes, 1.0))
    html = solver._repr_html_()
    [points] = re.findall(r"<polyline points='([^']*)'", html)
    assert len(points.split()) == len(solver.history)
    assert "CONVERGED_RTOL" in html
    assert f"iterations                  {solver.convergence.n_iterations}" in pretty(solver)
    assert "<polyline" in solver.convergence._repr_html_()


def test_backends_and_timings_are_tables() -> None:
    html = op2.backends()._repr_html_()
    assert "<td style='text-align: left'>sequential</td>" in html
    assert re.search(r"^sequential +yes +", str(op2.backends()), re.MULTILINE)
    cells = op2.Set(3)
    kernel = op2.Kernel("void shown_once(double *x) { *x = 1; }", "shown_once")
    op2.par_loop(kernel, cells, op2.Dat(cells)(op2.WRITE))
    told = op2.timings()
    assert told["shown_once"]["calls"] == 1
    assert re.search(r"^shown_once +1 +", str(told), re.MULTILINE)
    assert "<th style='text-align: left'>useful bytes</th>" in told._repr_html_()


def test_a_condition_says_where_and_what() -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    space = fem.FunctionSpace(square_mesh(2), ("P", 1))
    condition = fem.DirichletBC(space, lambda x: x[0])
    assert "  given values  8 of 9" in pretty(condition)
    assert "  from, to      0, 1" in pretty(condition)
    assert "<caption>DirichletBC</caption>" in condition._repr_html_()
