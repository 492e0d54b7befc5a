# SPDX-License-Identifier: BSD-3-Clause
"""Sets, Maps, Dats and Globals from an HDF5 file in PyOP2's layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ArityTypeError, DataValueError, DimTypeError, SizeTypeError
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import write_mesh

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

h5py = pytest.importorskip("h5py")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Any]:
    with h5py.File(tmp_path / "grid.h5", "w") as found:
        found["cells"] = np.array([4])
        found["ends"] = np.array([[0, 1], [1, 2], [2, 3], [3, 0]], np.int64)
        found["x"] = np.arange(8, dtype=np.float32).reshape(4, 2)
        found["x"].attrs["type"] = "float"
        found["q"] = np.arange(4.0)
        found["q"].attrs["type"] = np.bytes_("double:soa")
        found["gam"] = np.array([1.4])
        found["qinf"] = np.ones((2, 3), np.int32)
        found["lone"] = 3.0
        found.create_group("group")
        yield found


def test_a_set(file: Any) -> None:
    cells = op2.Set.fromhdf5(file, name="cells")
    assert (cells.size, cells.name) == (4, "cells")
    with pytest.raises(SizeTypeError, match=r"'q' in .*grid.h5: expected one number.* \(4,\)"):
        op2.Set.fromhdf5(file, "q")


def test_a_map(file: Any) -> None:
    cells = op2.Set(4)
    ends = op2.Map.fromhdf5(cells, cells, file, "ends")
    assert (ends.arity, ends.name, ends.iterset) == (2, "ends", cells)
    assert ends.values.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    with pytest.raises(ArityTypeError, match=r"shape \(entities, arity\), got shape \(4,\)"):
        op2.Map.fromhdf5(cells, cells, file, "q")
    with pytest.raises(DataValueError, match="Map 'ends'"):
        op2.Map.fromhdf5(cells, op2.Set(3), file, "ends")


def test_dats(file: Any) -> None:
    cells = op2.Set(4)
    x, q = op2.Dat.fromhdf5(cells**2, file, "x"), op2.Dat.fromhdf5(cells, file, "q")
    assert (x.dtype, x.name, x.layout) == (np.float32, "x", "aos")
    assert x.data_ro.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert q.layout == "soa"
    x.data[0] = 7  # its own memory, writeable
    assert file["x"][0, 0] == 0
    with pytest.raises(DataValueError, match=r"Dat 'x'.* expected 12 values"):
        op2.Dat.fromhdf5(cells**3, file, "x")


def test_what_belongs_to_no_set(file: Any) -> None:
    for kind in (op2.Global, op2.Constant, op2.Const):
        found = kind.fromhdf5(file, "qinf")
        assert (type(found), found.dim, found.name) == (kind, (2, 3), "qinf")
        assert found.dtype == np.int32
        assert found.data_ro.sum() == 6
    found.remove_from_namespace()
    with pytest.raises(DimTypeError, match=r"'lone' in .* has no dim"):
        op2.Const.fromhdf5(file, "lone")
    assert "lone" not in op2.Global(1).name


def test_what_is_not_there(file: Any) -> None:
    with pytest.raises(DataValueError, match="no dataset 'edges'; it has: cells, ends, gam, group"):
        op2.Set.fromhdf5(file, "edges")
    with pytest.raises(DataValueError, match=r"'group' in .* is not a dataset"):
        op2.Dat.fromhdf5(op2.Set(4), file, "group")


def test_a_mesh_that_we_wrote(tmp_path: Path) -> None:
    mesh = airfoil_arrays(8, 4)
    write_mesh(mesh, tmp_path / "mesh.h5")
    with h5py.File(tmp_path / "mesh.h5") as found:
        cells, nodes = op2.Set.fromhdf5(found, "cells"), op2.Set.fromhdf5(found, "nodes")
        pcell = op2.Map.fromhdf5(cells, nodes, found, "pcell")
        x = op2.Dat.fromhdf5(nodes**2, found, "p_x")
        bound = op2.Dat.fromhdf5(op2.Set.fromhdf5(found, "bedges"), found, "p_bound")
    assert pcell.values.tolist() == mesh.cell2node.tolist()
    np.testing.assert_array_equal(x.data_ro, mesh.x)
    assert bound.ctype == "int"
