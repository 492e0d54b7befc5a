# SPDX-License-Identifier: BSD-3-Clause
"""The promises of docs/compatibility.md between versions."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import Op2Error, UsageError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compatibility.md").read_text()
OTHER = "99.1"
PROGRAM = """
from pyop2cxx import op2
cells = op2.Set(3, "cells")
x = op2.Dat(cells, [1.0, 2.0, 3.0], name="x")
op2.par_loop(op2.Kernel("void twice(double *x) { *x *= 2; }", "twice"), cells, x(op2.RW))
"""


@pytest.mark.parametrize("room", ["op2", "mesh", "io", "plot", "fem"])
def test_public_names_exist_and_are_in_the_reference(room: str) -> None:
    if room == "fem":
        pytest.importorskip("ufl")
    module = importlib.import_module(f"pyop2cxx.{room}")
    assert module.__all__
    for name in module.__all__:
        assert hasattr(module, name), name
        assert not name.startswith("_")
    page = (ROOT / "docs" / "reference" / f"{room}.rst").read_text()
    assert f".. public-names:: pyop2cxx.{room}" in page


def run(extra: str, folder: Path) -> int:
    """Run the program with a cache, and return the number of compiled files there."""
    head = f"from pyop2cxx import _core, op2\n{extra}\n"
    head += f"op2.init(backend='sequential', cache_dir={str(folder)!r})\n"
    subprocess.run([sys.executable, "-c", head + PROGRAM], check=True)
    return len(list(folder.rglob("*.so")))


def test_the_cache_of_another_version_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    first = run("", folder)
    assert first > 0
    assert run("", folder) == first
    assert run(f"_core.__version__ = '{OTHER}'", folder) == 2 * first


def test_tables_of_another_version_are_refused_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, lib = tmp_path / "program.py", tmp_path / "lib"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "pyop2cxx", "build", "--backend", "sequential", "-o"]
    subprocess.run([*command, str(lib), str(program)], check=True, capture_output=True)
    current = _core.__version__
    monkeypatch.setattr(_core, "__version__", OTHER)
    with pytest.raises(UsageError, match=rf"'{current}', this .*'{OTHER}'; build it again"):
        op2.dispatch.load(str(lib))


def test_graphs_of_another_version_are_refused_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(2, "cells")
        u = op2.Dat(cells, [1.0, 2.0], name="u")
        twice = op2.Kernel("void twice(double *u) { *u *= 2; }", "twice")
        graph = op2.create_graph(lambda root: root.then(twice, cells, u(op2.RW)), name="twice")
        graph.save(str(tmp_path / "saved"), build=False)
        assert op2.load_graph(str(tmp_path / "saved")).outputs
        current = _core.__version__
        monkeypatch.setattr(_core, "__version__", OTHER)
        with pytest.raises(UsageError, match=rf"'{current}', this .*'{OTHER}'"):
            op2.load_graph(str(tmp_path / "saved"))
    op2.exit()


def test_checkpoints_of_0_2_0_are_read() -> None:
    io = pytest.importorskip("pyop2cxx.io")
    pytest.importorskip("h5py")
    file = ROOT / "tests" / "files" / "checkpoint-0.2.0.h5"
    found = io.load(file)
    assert sorted(found) == ["A", "cell_vertices", "g", "u"]
    assert found["u"].data_ro.tolist() == [[i, 0.5 * i] for i in range(9)]
    assert found["g"].data_ro.tolist() == [1.0, 2.0]
    assert found["cell_vertices"].values.shape == (8, 3)
    assert np.array_equal(found["A"].values, 2 * np.eye(9))
    u = op2.Dat(found["u"].dataset, name="u")
    assert io.restore(file, {"u": u}) == {"time": 1.5}
    assert u.data_ro[8].tolist() == [8.0, 4.0]


def test_the_rows_on_the_upgrade_are_true() -> None:
    mesh = importlib.import_module("pyop2cxx.mesh")
    assert isinstance(mesh.unit_square_mesh(2), mesh.Mesh)
    assert isinstance(mesh.airfoil_mesh(4, 3), mesh.Mesh)
    assert isinstance(mesh.square_arrays(2), mesh.SquareMesh)
    assert isinstance(mesh.airfoil_arrays(4, 3), mesh.AirfoilMesh)
    cells = op2.Set(3)
    with pytest.raises(Op2Error):
        op2.Dat(cells**2, np.zeros((2, 3)), name="entities_last")
    x = op2.Dat(cells)
    loop = op2.ParLoop(op2.Kernel("void f(double *x) { *x = 1; }", "f"), cells, x(op2.WRITE))
    for thing, name in ((loop, "args"), (loop.kernel, "name")):
        with pytest.raises(UsageError, match="cannot be assigned"):
            setattr(thing, name, None)
    with pytest.raises(Op2Error):
        op2.Dat(cells, [1, 2, 300], np.int8)
    build = (ROOT / "CMakeLists.txt").read_text().lower()
    assert not re.search(r"find_package\((fmt|xxhash)", build)


def test_a_form_has_no_mask() -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    assert not hasattr(fem.Form, "mask")


def test_the_version_stands_in_one_place() -> None:
    [version] = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version == _core.__version__
    assert f"Upgrading to {version}" in PAGE
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text()
