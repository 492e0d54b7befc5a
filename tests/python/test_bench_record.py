# SPDX-License-Identifier: BSD-3-Clause
"""`make bench-record` appends to a record without names of machines, for the manual."""

from __future__ import annotations

import getpass
import importlib.util
import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import write_mesh

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "benchmarks" / "record.py"
RECORD = ROOT / "benchmarks" / "record.json"


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.slow
def test_measurements_are_appended(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    before = json.loads(RECORD.read_text())[:1]
    file.write_text(json.dumps(before))
    mesh = tmp_path / "mesh.dat"
    write_mesh(airfoil_arrays(60, 40), mesh)
    options = ["--record", str(file), "--repeats", "1", "--iterations", "3", "--mesh", str(mesh)]
    subprocess.run([sys.executable, str(PROGRAM), *options], check=True, capture_output=True)
    assert {one.name for one in tmp_path.iterdir()} == {"record.json", "mesh.dat"}
    *kept, entry = json.loads(file.read_text())
    assert kept == before
    bounds = {
        "import pyop2cxx.op2": (0.01, 60),
        "first loop, cold, edges": (0.01, 60),
        "compute(), 8 arguments, empty set": (1e-8, 1e-3),
        "aerofoil, openmp, an iteration": (1e-6, 60),
    }
    assert bounds.keys() <= entry["seconds"].keys()
    for name, (least, most) in bounds.items():
        assert least < entry["seconds"][name] < most, name


def test_the_record_names_commits_and_machines_but_no_places() -> None:
    text = RECORD.read_text()
    entries = json.loads(text)
    assert entries
    for entry in entries:
        assert re.fullmatch(r"[0-9a-f]{8}\+?", entry["commit"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"])
        keys = ["processor", "cores", "memory_gib", "compiler", "python", "numpy"]
        assert [*entry["machine"]] == keys
    assert socket.gethostname() not in text
    assert not re.search(r"(^|[\" ])/\w", text)  # no path
    assert getpass.getuser() not in re.findall(r"\w+", text)


def test_a_machine_is_described_without_its_name() -> None:
    found = module(PROGRAM).machine()
    assert found["cores"] >= 1
    assert found["memory_gib"] >= 1
    assert re.fullmatch(r"(gcc|clang) \d+\.\d+(\.\d+)?", found["compiler"])


def entry(date: str, processor: str, **seconds: float) -> dict[str, Any]:
    machine = dict.fromkeys(("cores", "memory_gib", "compiler", "python", "numpy"), 2)
    return {
        "date": date,
        "commit": "0123abcd",
        "machine": {"processor": processor, **machine},
        "load": 0.5,
        "seconds": seconds,
    }


def test_the_page_has_the_last_measurement_and_the_history() -> None:
    pages = module(ROOT / "docs" / "record_pages.py")
    lines = pages.tables(
        [
            entry("2026-01-01", "A", loop=2.5e-6),
            entry("2026-02-01", "B", loop=5e-3, step=1.5),
            entry("2026-03-01", "A", loop=2e-6),
        ]
    )
    text = "\n".join(lines)
    last, first, second = re.split(r"## History of machine \d\n", text)
    assert "| loop | 2 µs | 5 ms |" in last
    assert "| step |  | 1.5 s |" in last
    assert "| measured | 2026-01-01 `0123abcd` load 0.5 | 2026-03-01" in first
    assert "| loop | 2.5 µs | 2 µs |" in first
    assert "| loop | 5 ms |" in second
