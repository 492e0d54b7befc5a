# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import hashlib

import numpy as np
import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh import airfoil_arrays, free_stream, shuffle_mesh
from pyop2cxx.mesh.airfoil import FAR_FIELD, WALL

SHAPES = {
    "x": (6171, 2),
    "cell2node": (6000, 4),
    "edge2node": (11870, 2),
    "edge2cell": (11870, 2),
    "bedge2node": (260, 2),
    "bedge2cell": (260,),
    "bound": (260,),
}


def test_standard_mesh_has_the_published_sizes():
    mesh = airfoil_arrays(400, 600)
    sizes = (mesh.n_nodes, mesh.n_cells, mesh.n_edges, mesh.n_bedges)
    assert sizes == (721801, 720000, 1438600, 2800)


def test_arrays_are_contiguous_and_of_the_documented_types():
    arrays = airfoil_arrays(40, 50).arrays()
    assert {name: array.shape for name, array in arrays.items()} == SHAPES
    assert arrays["x"].dtype == np.float64
    assert all(array.flags.c_contiguous for array in arrays.values())
    assert {array.dtype for name, array in arrays.items() if name != "x"} == {np.dtype(np.int32)}


def test_the_6k_mesh_is_the_reference_bit_for_bit():
    arrays = airfoil_arrays(40, 50).arrays()
    digest = hashlib.sha256(b"".join(arrays[name].tobytes() for name in SHAPES)).hexdigest()
    assert digest == "ad0c3f5b17680af0f874c307198c837e80c0cd9abff339a1794afd8de67839c9"


def test_coordinates_survive_six_decimals():
    x = airfoil_arrays(12, 9).x.ravel()
    assert [float(f"{value:f}") for value in x] == x.tolist()
    assert not np.signbit(x[x == 0]).any()


def test_edges_and_boundary_edges_are_the_sides_of_the_cells():
    mesh = airfoil_arrays(7, 5)
    corners = mesh.cell2node
    sides = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], -1).reshape(-1, 2), axis=1)
    once_per_cell = np.concatenate([np.repeat(mesh.edge2node, 2, axis=0), mesh.bedge2node])
    # The wake cut has two nodes at each place, so its edges carry the numbers of one side only.
    place = {tuple(point): number for number, point in enumerate(mesh.x.tolist())}
    number = np.array([place[tuple(point)] for point in mesh.x.tolist()])

    def rows(pairs):
        return sorted(map(tuple, np.sort(number[pairs], axis=1).tolist()))

    assert rows(sides) == rows(once_per_cell)


def test_the_fluxes_of_a_uniform_flow_cancel_in_every_cell():
    """Each cell's sides, oriented as the columns of the maps say, form a closed curve."""
    mesh = airfoil_arrays(9, 6)
    outward = np.zeros((mesh.n_cells, 2))
    along = mesh.x[mesh.edge2node[:, 0]] - mesh.x[mesh.edge2node[:, 1]]
    np.add.at(outward, mesh.edge2cell[:, 0], along)
    np.subtract.at(outward, mesh.edge2cell[:, 1], along)
    np.add.at(
        outward, mesh.bedge2cell, mesh.x[mesh.bedge2node[:, 0]] - mesh.x[mesh.bedge2node[:, 1]]
    )
    np.testing.assert_allclose(outward, 0.0, atol=1e-12)


def test_walls_lie_on_the_section_and_the_far_field_does_not():
    mesh = airfoil_arrays(40, 50)
    on_wall = mesh.bedge2node[mesh.bound == WALL]
    assert len(on_wall) == 40
    assert np.abs(mesh.x[on_wall]).max() < 1.1
    assert np.count_nonzero(mesh.bound == FAR_FIELD) == 260 - 40


def test_shuffling_keeps_the_geometry_of_every_cell_and_edge():
    mesh = airfoil_arrays(8, 6)
    shuffled = shuffle_mesh(mesh, 5)
    for name in ("cell2node", "edge2node"):
        before = mesh.x[mesh.arrays()[name]].reshape(len(mesh.arrays()[name]), -1)
        after = shuffled.x[shuffled.arrays()[name]].reshape(before.shape)
        assert sorted(before.tolist()) == sorted(after.tolist())
    centres = mesh.x[mesh.cell2node].mean(axis=1)[mesh.edge2cell].reshape(mesh.n_edges, -1)
    moved = shuffled.x[shuffled.cell2node].mean(axis=1)[shuffled.edge2cell]
    assert sorted(centres.tolist()) == sorted(moved.reshape(centres.shape).tolist())


def test_shuffling_depends_on_the_seed_alone():
    a, b, c = (airfoil_arrays(4, 3, shuffle=seed).edge2cell.tolist() for seed in (1, 1, 2))
    assert a == b
    assert a != c


@pytest.mark.parametrize(("n_around", "n_away"), [(1, 5), (5, 1), (0, 0), (-3, 4)])
def test_too_small_meshes_are_refused(n_around, n_away):
    with pytest.raises(UsageError, match=f"at least 2, got {n_around} and {n_away}"):
        airfoil_arrays(n_around, n_away)


def test_free_stream_has_mach_number_0_4():
    density, momentum, cross, energy = free_stream()
    gam = float(np.float32(1.4))
    pressure = (gam - 1) * (energy - 0.5 * momentum**2 / density)
    assert (density, cross) == (1.0, 0.0)
    assert pressure == pytest.approx(1.0, rel=1e-14)
    assert momentum / np.sqrt(gam * pressure / density) == pytest.approx(float(np.float32(0.4)))
