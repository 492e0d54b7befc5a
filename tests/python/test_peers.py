# SPDX-License-Identifier: BSD-3-Clause
"""Steps of other libraries in the suite of benchmarks give the values of the programs."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyop2cxx.base import extras

ROOT = Path(__file__).resolve().parents[2]
SUITE = Path("benchmarks", "suite", "run.py")
FEW = ["--size", "0.001", "--rounds", "1", "--seconds", "0.01", "--learn", "1"]
MODULES = {
    "NumPy/SciPy": "scipy",
    "numba": "numba",
    "JAX": "jax",
    "PyTorch": "torch",
    "DOLFINx": "dolfinx",
}
PLAIN = ["airfoil", "jacobi", "shallow_water", "poisson_cg", "euler", "multigrid", "hydro"]
PLAIN += ["messages_f64", "messages_f32"]
OF_FORMS = ["poisson_matrix", "aero", "matrix_p1", "matrix_p2", "hexes_q2", "hexes_q6"]

LEFT_OUT = dict.fromkeys(PLAIN, "no variational form") | {"poisson_cg": "see the one with a matrix"}

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("scipy"), reason="peers' index arrays become sparse matrices"
)


def suite(root: Path, *args: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / SUITE), *args, *FEW]
    environment = os.environ | {"PEER_COMPILED": "0"} | more
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
@pytest.mark.parametrize("library", MODULES)
def test_a_library_gives_our_values(library: str, backend: str, tmp_path: Path) -> None:
    if not importlib.util.find_spec(MODULES[library]):
        pytest.skip(f"{library} is not installed")
    names = PLAIN + (OF_FORMS if extras.installed()["ufl"] else [])
    written = tmp_path / "suite.json"
    given = ("--backends", backend, "--threads", "2", "--peers", library, "--json", str(written))
    done = suite(ROOT, *names, *given)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(written.read_text())
    rows = {row["key"]: row["peers"] for row in found["rows"]}
    assert list(rows) == names
    for name, forms in rows.items():
        assert forms, name
        for form, result in forms.items():
            left_out = name in LEFT_OUT and result.get("why") == LEFT_OUT[name]
            assert (library == "DOLFINx" and left_out) or result["ms"] > 0, (name, form, result)
    assert library in found["libraries"]
    assert f"| backend | program | ours | {library} |" in done.stdout


def copied(folder: Path) -> Path:
    for name in ("benchmarks", "demos"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def test_a_library_with_other_values_is_wrong_and_not_timed(tmp_path: Path) -> None:
    steps = copied(tmp_path) / "benchmarks" / "suite" / "peer_steps.py"
    text = steps.read_text()
    assert text.count("f = 0.5 * xp.concatenate(") == 1
    steps.write_text(text.replace("f = 0.5 * xp.concatenate(", "f = 0.4999 * xp.concatenate("))
    written = tmp_path / "suite.json"
    given = ("--backends", "sequential", "--peers", "NumPy/SciPy", "--json", str(written))
    done = suite(tmp_path, "euler", *given)
    assert done.returncode == 1
    assert re.search(r"NumPy/SciPy WRONG: \S+ from our values", done.stdout)
    (row,) = json.loads(written.read_text())["rows"]
    assert row["wrong"] == ""
    assert set(row["peers"]["NumPy/SciPy"]) == {"why"}


def test_what_is_absent_or_ends_is_named_and_the_others_run(tmp_path: Path) -> None:
    absent = ("--peers", "NumPy/SciPy", "DOLFINx", "--dolfinx-python", str(tmp_path / "python"))
    done = suite(ROOT, "jacobi", "--backends", "sequential", *absent)
    assert done.returncode == 0, done.stderr
    assert "not installed for sequential: DOLFINx\n" in done.stdout
    assert re.search(r"NumPy/SciPy \S+ \(\S+\)", done.stdout)

    process = copied(tmp_path) / "benchmarks" / "suite" / "peer_process.py"
    text = process.read_text()
    assert text.count("    peer = Peer(library)\n") == 1
    process.write_text(text.replace("    peer = Peer(library)\n", "    sys.exit(3)\n"))
    done = suite(tmp_path, "jacobi", "--backends", "sequential", "--peers", "NumPy/SciPy")
    assert done.returncode == 0, done.stderr
    assert "NumPy/SciPy its process ended" in done.stdout


def test_no_library_is_in_the_process_that_measures_us(tmp_path: Path) -> None:
    """Steps need arrays alone; libraries are imported by their own processes."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import run;"
        "print({'numba', 'jax', 'torch', 'cupy', 'dolfinx'} & set(sys.modules))"
    )
    folder = str(ROOT / SUITE.parent)
    done = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=False
    )
    assert done.stdout == "set()\n", done.stderr
