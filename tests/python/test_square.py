# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh import square_arrays


@pytest.mark.parametrize("n", [1, 2, 5])
def test_triangles_tile_the_unit_square_counter_clockwise(n):
    mesh = square_arrays(n)
    a, b, c = (mesh.x[mesh.cell2vertex[:, corner]] for corner in range(3))
    twice_area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    np.testing.assert_allclose(twice_area, 1 / n**2)
    assert mesh.n_vertices == (n + 1) ** 2


@pytest.mark.parametrize("n", [1, 3])
def test_boundary_facets_go_round_the_square_and_belong_to_their_cells(n):
    mesh = square_arrays(n)
    assert mesh.facet2vertex[:, 1].tolist() == np.roll(mesh.facet2vertex[:, 0], -1).tolist()
    for facet, cell in zip(mesh.facet2vertex, mesh.facet2cell, strict=True):
        corners = mesh.cell2vertex[cell].tolist()
        sides = list(zip(corners, corners[1:] + corners[:1], strict=True))
        assert tuple(facet.tolist()) in sides


def test_an_empty_square_is_refused():
    with pytest.raises(UsageError, match="at least 1, got 0"):
        square_arrays(0)
