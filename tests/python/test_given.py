# SPDX-License-Identifier: BSD-3-Clause
"""What `Mesh.from_arrays` makes of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.mesh import Mesh

POINTS = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
QUAD = [[0, 1, 2, 3]]


def test_vertices_of_no_cell_are_named(caplog: pytest.LogCaptureFixture) -> None:
    mesh = Mesh.from_arrays("triangle", POINTS, [[0, 1, 2]])
    assert mesh.vertices.size == 4
    assert "1 of 4 vertices belong to no cell" in caplog.text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"periodic": [[[1, 0, 2]]]}, r"seam 0: expected pairs of vertices, .* shape \(1, 3\)"),
        ({"periodic": [[[1.5, 0.0]]]}, "seam 0: expected pairs of vertices"),
        ({"periodic": [[[1, 7]]]}, "seam 0: vertices are 0 to 3, got 7"),
        ({"periodic": [[[1, 0], [1, 2]]]}, "seam 0: a vertex .* is joined to two others"),
        ({"periodic": [[[1, 0]]]}, "seam 0: no facet of the boundary lies on it"),
        ({"periodic": [[[1, 0], [3, 2]], [[1, 0], [3, 3]]]}, "seam 1: a facet is joined to"),
    ],
)
def test_wrong_seams_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(DataValueError, match=message):
        Mesh.from_arrays("quadrilateral", POINTS, QUAD, **more)


@pytest.mark.parametrize(
    ("points", "cells", "message"),
    [
        (np.zeros((2, 4, 2)), QUAD, r"have shape \(1, 4, gdim\), got \(2, 4, 2\)"),
        (np.zeros((1, 3, 2)), QUAD, r"have shape \(1, 4, gdim\), got \(1, 3, 2\)"),
        (np.full((1, 4, 2), np.nan), QUAD, "point 0 is not finite"),
        (np.zeros((1, 4, 2)), [[0, 0, 1, 1]], "cell 0 names a vertex twice"),
        (np.zeros((1, 4, 2)), [[0, 1, 2]], r"expected integers of shape \(n, 4\)"),
    ],
)
def test_wrong_points_of_corners_are_refused(points: Any, cells: Any, message: str) -> None:
    with pytest.raises(DataValueError, match=message):
        Mesh.from_arrays("quadrilateral", points, cells)


def test_points_of_corners_say_what_is_joined() -> None:
    with pytest.raises(UsageError, match="omit periodic"):
        Mesh.from_arrays("quadrilateral", np.array([POINTS]), QUAD, periodic=[[[1, 0]]])


def test_cells_of_a_plain_mesh_keep_their_numbers() -> None:
    mesh = Mesh.from_arrays("quadrilateral", np.array([POINTS]), QUAD)
    assert (mesh.vertices.size, mesh.nodes.size, mesh.exterior_facets.set.size) == (4, 4, 4)
    assert mesh.cell_volumes.data_ro.tolist() == [1.0]
