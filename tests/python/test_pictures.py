# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from pyop2cxx.exceptions import DataValueError, MissingExtraError
from pyop2cxx.mesh import airfoil_arrays, free_stream
from pyop2cxx.mesh.pictures import mach_number, plot_mach


@pytest.fixture(scope="module")
def mesh():
    return airfoil_arrays(40, 50)


@pytest.fixture(scope="module")
def undisturbed(mesh):
    return np.tile(free_stream(), (mesh.n_cells, 1))


def colours_in(path):
    from matplotlib.image import imread

    pixels = (imread(path)[..., :3] * 255).round().astype(int).reshape(-1, 3)
    return {tuple(colour) for colour in pixels.tolist()}


def test_mach_number_is_speed_over_the_speed_of_sound():
    gam = float(np.float32(1.4))
    density, speed, pressure = 2.0, 0.3, 1.7
    energy = pressure / (gam - 1) + 0.5 * density * speed**2
    along_y = np.array([[density, 0.0, density * speed, energy]])
    expected = speed / np.sqrt(gam * pressure / density)
    np.testing.assert_allclose(mach_number(along_y), [expected], rtol=1e-14)


def test_a_flow_at_rest_has_mach_number_zero():
    assert mach_number(np.array([[1.0, 0.0, 0.0, 2.5]])).tolist() == [0.0]


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_the_picture_is_written_whole(mesh, undisturbed, tmp_path, suffix):
    path = tmp_path / f"mach{suffix}"
    plot_mach(mesh, undisturbed, path)
    assert os.listdir(tmp_path) == [path.name]
    signature = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(signature)


def test_cells_are_coloured_by_their_own_mach_number(mesh, undisturbed, tmp_path):
    """Cells before x = 0.5 and behind it move at two speeds, so two of the map's ends appear."""
    from matplotlib import colormaps

    q = undisturbed.copy()
    q[mesh.x[mesh.cell2node].mean(axis=1)[:, 0] < 0.5, 1] = 0.0
    plot_mach(mesh, q, tmp_path / "mach.png")
    ends = {
        tuple((np.array(colormaps["viridis"](end)[:3]) * 255).round().astype(int).tolist())
        for end in (0.0, 1.0)
    }
    assert ends <= colours_in(tmp_path / "mach.png")


def test_only_cells_in_the_window_are_drawn(mesh, undisturbed, tmp_path):
    """Outside it the flow is not a flow at all, which must not matter."""
    q = undisturbed.copy()
    far = (np.abs(mesh.x[mesh.cell2node]) > 3).all(axis=(1, 2))
    assert far.any()
    q[far] = np.nan
    plot_mach(mesh, q, tmp_path / "window.png", window=(-0.5, 1.5, -0.7, 0.7))
    plot_mach(mesh, undisturbed, tmp_path / "whole.png", window=(-0.5, 1.5, -0.7, 0.7))
    assert (tmp_path / "window.png").read_bytes() == (tmp_path / "whole.png").read_bytes()


def test_values_of_another_mesh_are_refused(mesh, tmp_path):
    with pytest.raises(DataValueError, match=r"expected q of shape \(6000, 4\), got \(3, 4\)"):
        plot_mach(mesh, np.ones((3, 4)), tmp_path / "mach.png")
    with pytest.raises(DataValueError, match=r"shape \(n_cells, 4\), got \(3,\)"):
        mach_number(np.ones(3))


def test_without_matplotlib_the_extra_is_named(mesh, undisturbed, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pyop2cxx\[plot\]"):
        plot_mach(mesh, undisturbed, tmp_path / "mach.png")
