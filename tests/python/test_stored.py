# SPDX-License-Identifier: BSD-3-Clause
"""Objects in HDF5 files: what comes back, what is noticed, and what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import StoredFileError, UnsupportedError, UsageError
from pyop2cxx.io import load, restore, save
from pyop2cxx.mesh import square_mesh

h5py = pytest.importorskip("h5py")


def world() -> dict[str, Any]:
    mesh = square_mesh(3)
    nodes = mesh.vertices
    mat = op2.Mat(
        op2.Sparsity((nodes**2, nodes**2), [(mesh.cell_vertices, mesh.cell_vertices, None)])
    )
    mat.set_local_diagonal_entries(range(nodes.size), 3.0)
    mat.assemble()
    return {
        "nodes": nodes,
        "cells": mesh.cells,
        "c2n": mesh.cell_vertices,
        "x": op2.Dat(nodes**2, np.random.default_rng(1).random((16, 2)), np.float32, "x"),
        "n": op2.Dat(mesh.cells, np.arange(18), name="n"),
        "g": op2.Global((2, 2), [[1j, 2], [3, 4]], name="g"),
        "mat": mat,
    }


def test_objects_come_back(tmp_path: Path) -> None:
    given = world()
    save(tmp_path / "a.h5", given, attributes={"time": 0.25, "step": 7, "name": "heat"})
    found: dict[str, Any] = load(tmp_path / "a.h5")
    assert set(found) == set(given)
    assert found["c2n"].toset is found["nodes"] is found["x"].dataset.set
    assert found["c2n"].iterset is found["cells"] is found["n"].dataset.set
    assert found["nodes"].sizes == given["nodes"].sizes
    assert found["nodes"].name == "vertices"
    assert np.array_equal(found["c2n"].values, given["c2n"].values)
    for name in ("x", "n", "g"):
        assert np.array_equal(found[name].data_ro, given[name].data_ro)
        assert (found[name].dtype, found[name].dim) == (given[name].dtype, given[name].dim)
        assert repr(found[name].dtype) == repr(given[name].dtype)  # not '<f4'
    kept = given["mat"].values.copy()
    for name in ("x", "n", "mat"):
        given[name].zero()
    given["g"].data = 0
    restored = {name: given[name] for name in ("x", "n", "g", "mat")}
    attributes = restore(tmp_path / "a.h5", restored)
    assert attributes == {"time": 0.25, "step": 7, "name": "heat"}
    assert np.array_equal(given["x"].data_ro, found["x"].data_ro)
    assert np.array_equal(given["g"].data_ro, found["g"].data_ro)
    assert np.array_equal(given["mat"].values, kept)


ADD = "static void add(double *a) { for (int i = 0; i < 36; ++i) a[i] += i; }"


@pytest.mark.parametrize("names", [("mat",), ("mat", "c2n"), ("mat", "nodes", "c2n", "cells")])
def test_mats_come_back_and_loops_add_to_them(tmp_path: Path, names: tuple[str, ...]) -> None:
    given = world()
    given["mat"].array[:] = np.random.default_rng(2).random(given["mat"].array.shape)
    save(tmp_path / "a.h5", {name: given[name] for name in names})
    found: dict[str, Any] = load(tmp_path / "a.h5")
    assert set(found) == set(names)
    mat = found["mat"]
    assert (mat.dtype, mat.dims, mat.name) == (
        given["mat"].dtype,
        given["mat"].dims,
        given["mat"].name,
    )
    assert np.array_equal(mat.values, given["mat"].values)
    ((rows, columns),) = mat.sparsity.maps
    assert rows is columns is found.get("c2n", rows)
    for one, c2n in ((mat, rows), (given["mat"], given["c2n"])):
        op2.par_loop(op2.Kernel(ADD, "add"), c2n.iterset, one(op2.INC, (c2n, c2n)))
    assert np.array_equal(mat.values, given["mat"].values)


def test_mats_of_several_pairs_and_other_dims_come_back(tmp_path: Path) -> None:
    mesh = square_mesh(2)
    c2c = op2.Map(mesh.cells, mesh.cells, 1, np.arange(8))
    v2v = op2.Map(mesh.vertices, mesh.vertices, 1, np.arange(9))
    v2c = op2.Map(mesh.vertices, mesh.cells, 1, [0, 7, 0, 7, 0, 7, 0, 7, 0])
    pairs = [(mesh.cell_vertices, c2c, None), (v2v, v2c, None)]
    mat = op2.Mat(op2.Sparsity((mesh.vertices**2, mesh.cells), pairs), np.float32, "B")
    mat.array[:] = np.arange(mat.array.size).reshape(mat.array.shape)
    square = op2.Mat(op2.Sparsity((mesh.cells, mesh.cells), c2c, diagonal_block=False))
    save(tmp_path / "a.h5", {"B": mat, "C": square})
    found: dict[str, Any] = load(tmp_path / "a.h5")
    assert found["B"].dtype == np.float32
    assert np.array_equal(found["B"].values, mat.values)
    assert np.array_equal(found["C"].values, square.values)


def test_mats_of_other_maps_are_left_out_and_restored(tmp_path: Path) -> None:
    mesh = square_mesh(2)
    c2v = mesh.cell_vertices
    turned = op2.PermutedMap(c2v, [2, 1, 0])
    mat = op2.Mat(op2.Sparsity((mesh.vertices, mesh.vertices), [(turned, c2v, None)]))
    mat.array[:] = 2
    save(tmp_path / "a.h5", {"mat": mat})
    assert load(tmp_path / "a.h5") == {}
    mat.zero()
    restore(tmp_path / "a.h5", {"mat": mat})
    assert (mat.array == 2).all()


def test_sets_with_ghosts_and_offsets_come_back(tmp_path: Path) -> None:
    nodes, cells = op2.Set((1, 2, 4), "nodes"), op2.Set(2, "cells")
    rows = op2.Map(cells, nodes, 2, [[0, 1], [2, 3]], "rows", offset=[1, 1])
    q = op2.Dat(nodes, [1.0, 2, 3, 4])
    save(tmp_path / "a.h5", {"rows": rows, "q": q})
    found: dict[str, Any] = load(tmp_path / "a.h5")
    assert found["q"].dataset.set.sizes == (1, 2, 4)
    assert found["q"].data_ro_with_halos.tolist() == [1, 2, 3, 4]
    assert found["rows"].offset.tolist() == [1, 1]


def test_damage_is_noticed(tmp_path: Path) -> None:
    given = world()
    path = tmp_path / "a.h5"
    save(path, given)
    whole = path.read_bytes()
    values = np.ascontiguousarray(given["x"].data_ro).tobytes()
    place = whole.index(values)
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    before = given["x"].data_ro.copy()
    for read in (lambda: load(path), lambda: restore(path, {"x": given["x"]})):
        with pytest.raises(StoredFileError, match=r"/dats/x/values is damaged"):
            read()
    assert np.array_equal(given["x"].data_ro, before)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoredFileError):
        load(path)
    path.write_text("text")
    with pytest.raises(StoredFileError, match="not an HDF5 file"):
        load(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(StoredFileError, match=r"not written by io\.save"):
        load(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load(tmp_path / "none.h5")


def test_other_objects_are_refused_before_anything_changes(tmp_path: Path) -> None:
    given = world()
    path = tmp_path / "a.h5"
    save(path, given)
    other = op2.Dat(given["nodes"] ** 2, 5.0, name="other")
    wrong = {"n": given["n"], "x": other}
    given["n"].data = 1
    with pytest.raises(StoredFileError, match=r"'x' has shape \(16, 2\) of float32, but Dat"):
        restore(path, wrong)
    assert given["n"].sum() == 18
    with pytest.raises(StoredFileError, match="no 'y' among its dats; there are: n, x"):
        restore(path, {"y": other})
    with pytest.raises(UsageError, match="must be a Dat, a Global or a Mat"):
        restore(path, {"c2n": given["c2n"]})
    smaller = square_mesh(2)
    c2v, nodes = smaller.cell_vertices, smaller.vertices**2
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2v, c2v, None)]))
    with pytest.raises(StoredFileError, match="'mat' has shape"):
        restore(path, {"mat": mat})


@pytest.mark.parametrize(
    "value", [None, {"a": 1}, object(), ["a", 1.0]], ids=["None", "dict", "object", "mixed"]
)
def test_attributes_that_cannot_be_saved_are_named(tmp_path: Path, value: Any) -> None:
    u = op2.Dat(op2.Set(2), 1.0, name="u")
    with pytest.raises(UsageError, match="attribute 'step' must be a number, a text or an array"):
        save(tmp_path / "a.h5", {"u": u}, attributes={"time": 0.5, "step": value})
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_saved_leaves_the_older_file(tmp_path: Path) -> None:
    given = world()
    path = tmp_path / "a.h5"
    save(path, given)
    before = path.read_bytes()
    nodes = given["nodes"]
    with pytest.raises(UnsupportedError, match="only whole, flat Sets"):
        save(path, {"part": op2.Subset(nodes, [0])})
    with pytest.raises(UsageError, match="must be a Set, Map, Dat, Global or Mat"):
        save(path, {"x": np.ones(3)})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="a name must be a text without '/'"):
        save(path, {"a/b": given["x"]})
    with pytest.raises(UsageError, match="expected a dict"):
        save(path, given["x"])
    with pytest.raises(UnicodeEncodeError):  # while the file is being written
        save(path, given, attributes={"time": "\udcff"})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.h5"]


PROGRAM = """
import sys
import numpy as np
from pyop2cxx import op2
from pyop2cxx.io import save

u = op2.Dat(op2.Set(200_000), dtype=float, name="u")
print("ready", flush=True)
for step in range(1, 10_000):
    u.data = step
    save(sys.argv[1], {"u": u}, attributes={"step": step})
"""


@pytest.mark.parametrize("delay", [0.05, 0.13, 0.31])
def test_a_kill_leaves_a_whole_file(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "checkpoint.h5"
    root = Path(__file__).parents[2]
    environment = dict(os.environ, PYTHONPATH=str(root))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(delay)
        program.send_signal(signal.SIGKILL)
    u = op2.Dat(op2.Set(200_000), dtype=float)
    step = restore(path, {"u": u})["step"]
    assert step >= 1
    assert (u.data_ro == step).all()
