#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure a few programs and append the result to a record, with machine and commit.

The manual shows the last measurement of each machine and the history (`docs/history.md`). Machines
are described by processor, cores, memory and compilers, never by a name or a path.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "record.json"
AIRFOIL = """
import sys
from pyop2cxx.reports.bandwidth import measure_stream
sys.path.insert(0, sys.argv[1])
import airfoil
small = lambda n: measure_stream(n, repeats=1, array_bytes=1 << 20)
sys.exit(airfoil.main(sys.argv[2:], measure=small))
"""
"""The demo without the bandwidth of memory, which takes longer and is not recorded."""
LATENCY = re.compile(r"^(?P<name>\S.*?) {2,}(?P<us>[\d.]+)(?: |$)", re.MULTILINE)


def machine() -> dict[str, Any]:
    """Return a description of the machine."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    found = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\d+\.\d+(\.\d+)?", compiler.stdout.partition("\n")[0].split(")")[-1])
    kind = "clang" if "clang" in compiler.stdout else "gcc"
    return {
        "processor": found[1].strip() if found else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**30),
        "compiler": f"{kind} {version[0]}" if version else "none",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def commit() -> str:
    """Return the commit of the tree, with a plus sign if files differ from the commit."""
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True)
    if head.returncode:
        return "unknown"
    changed = subprocess.run(
        [*git, "status", "--porcelain", "-uno"], capture_output=True, text=True
    )
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def latency(repeats: int) -> dict[str, float]:
    """Return the costs of a loop beside its work, in processor time: `bench_latency.py --cpu`."""
    program = ROOT / "benchmarks" / "bench_latency.py"
    command = [sys.executable, str(program), "--cpu", "--repeats", str(repeats)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = said.partition("\n")[2]
    return {found["name"]: 1e-6 * float(found["us"]) for found in LATENCY.finditer(rows)}


def airfoil(iterations: int, mesh: Path | None) -> dict[str, float]:
    """Return the time of an iteration of the aerofoil."""
    found = {}
    for backend in ("sequential", "openmp"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "airfoil.json")
            command = [sys.executable, "-c", AIRFOIL, str(ROOT / "demos"), "--backend", backend]
            command += ["--iterations", str(iterations), "--json", str(file)]
            command += ["--mesh", str(mesh)] if mesh else []
            subprocess.run(command, capture_output=True, check=True)
            record = json.loads(file.read_text())
        seconds = sum(loop["seconds"] for loop in record["loops"].values())
        found[f"aerofoil, {backend}, an iteration"] = seconds / iterations
    return found


def measured(repeats: int, iterations: int, mesh: Path | None) -> dict[str, Any]:
    """Measure, and return an entry of the record."""
    load = os.getloadavg()[0]
    seconds = latency(repeats) | airfoil(iterations, mesh)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": machine(),
        "load": round(max(load, os.getloadavg()[0]), 1),
        "seconds": {name: float(f"{value:.4g}") for name, value in seconds.items()},
    }


def append(entry: dict[str, Any], file: Path) -> None:
    """Append an entry to a record; the file appears whole."""
    entries = json.loads(file.read_text()) if file.is_file() else []
    aside = file.with_suffix(".part")
    aside.write_text(json.dumps([*entries, entry], indent=1) + "\n")
    aside.replace(file)


def main() -> None:
    """Measure and append."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, default=RECORD, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=5, help="processes, default: %(default)s")
    parser.add_argument("--iterations", type=int, default=50, help="default: %(default)s")
    parser.add_argument("--mesh", type=Path, help="of the aerofoil, default: 720 000 cells")
    given = parser.parse_args()
    entry = measured(given.repeats, given.iterations, given.mesh)
    append(entry, given.record)
    print(json.dumps(entry, indent=1))


if __name__ == "__main__":
    main()
