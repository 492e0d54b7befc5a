# SPDX-License-Identifier: BSD-3-Clause
"""The pictures that notebooks show below tables."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from test_showing import pretty

from pyop2cxx import op2
from pyop2cxx.mesh import cube_mesh, disk_mesh, interval_mesh, square_mesh

if TYPE_CHECKING:
    from pyop2cxx import _core


def shapes(html: str) -> dict[str, int]:
    """Count what is in the picture of a table, which has to be well-formed."""
    if "<svg" not in html:
        return {}
    svg = ElementTree.fromstring(html[html.index("<svg") :])
    names = [element.tag.partition("}")[2] for element in svg.iter()]
    return {name: names.count(name) for name in ("polygon", "rect", "text")}


def test_meshes_show_their_cells_and_large_ones_where_they_are() -> None:
    assert shapes(square_mesh(3)._repr_html_())["polygon"] == 18
    assert shapes(cube_mesh(2, cell="hexahedron")._repr_html_())["polygon"] == 24
    large = shapes(square_mesh(40)._repr_html_())
    assert large["polygon"] == 0
    assert large["rect"] == 36 * 36
    assert 100 < shapes(disk_mesh(40)._repr_html_())["rect"] < 36 * 36
    assert shapes(interval_mesh(3)._repr_html_()) == {}


def test_matrices_show_their_places() -> None:
    mesh = interval_mesh(8)
    nodes, c2v = mesh.vertices, mesh.cell_vertices
    sparsity = op2.Sparsity((nodes, nodes), [(c2v, c2v, None)])
    assert shapes(sparsity._repr_html_())["rect"] == sparsity.nz == 25
    assert shapes(op2.Mat(sparsity)._repr_html_())["rect"] == 25
    assert "9 x 9" in pretty(sparsity)
    one = op2.Global(1, 0.0)
    beside = op2.Sparsity((nodes**1, one.dataset), [(c2v, None, None)])
    assert "places" in beside._repr_html_()
    both, ends = op2.MixedDataSet([nodes, nodes]), op2.MixedMap([c2v, c2v])
    mixed = op2.Sparsity((both, both), [(ends, ends, None)])
    assert shapes(mixed._repr_html_()) == {}


def test_values_show_how_they_are_spread() -> None:
    nodes = op2.Set(100)
    found = op2.Dat(nodes, np.arange(100.0))._repr_html_()
    assert shapes(found) == {"polygon": 0, "rect": 36, "text": 2}
    assert ">99</text>" in found
    for values in (np.ones(100), np.full(100, np.nan), np.full(100, 1j)):
        assert shapes(op2.Dat(nodes, values, values.dtype)._repr_html_()) == {}
    assert shapes(op2.Dat(nodes)._repr_html_()) == {}


def test_functions_show_their_values() -> None:
    pytest.importorskip("basix")
    from pyop2cxx import fem

    u = fem.interpolate(lambda x: x[0], fem.FunctionSpace(square_mesh(4), ("P", 1)))
    assert shapes(u._repr_html_())["rect"] == 5


def test_a_picture_copies_nothing(device: _core.Device, strictly: None) -> None:
    q = op2.Dat(op2.Set(4), np.arange(4.0))
    q.to_device()
    op2.par_loop(op2.Kernel("void k(double *x) { x[0] += 2; }", "k"), q.dataset.set, q(op2.RW))
    assert shapes(q._repr_html_()) == {}
