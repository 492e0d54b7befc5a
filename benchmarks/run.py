#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark of this folder, one after the other; those that need more than is here say what.

With names, only these: ``run.py first_form plan``. One that fails is named at the end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.base import extras

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parent


def names() -> list[str]:
    """Return what the benchmarks are called."""
    return sorted(file.stem.removeprefix("bench_") for file in FOLDER.glob("bench_*.py"))


def _backend(name: str) -> Callable[[], str]:
    def missing() -> str:
        (found,) = (one for one in op2.backends() if one.name == name)
        first = found.reason.partition("\n")[0]
        return "" if found.available else f"backend '{name}', which does not work: {first}"

    return missing


def _peer() -> str:
    """Ask Debian's Python; ``bench_dolfinx.py --python`` names another one."""
    command = ["/usr/bin/python3", "-c", "import dolfinx"]
    try:
        asked = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        asked = None
    if asked is not None and asked.returncode == 0:
        return ""
    return "a Python that has DOLFINx: apt-get install python3-dolfinx, or its own option --python"


def _mpi() -> str:
    has_all = all(map(extras.is_installed, ("mpi4py", "pymetis")))
    return "" if has_all else "mpi4py and pymetis: pip install 'pyop2cxx[mpi]'"


NEEDS: dict[str, Callable[[], str]] = {
    "device": _backend("cuda"),
    "dolfinx": _peer,
    "navier_stokes": _peer,
    "opencl_lanes": _backend("opencl"),
    "ranks": _mpi,
}
"""What benchmarks need that ``make bench`` cannot install: returns what is missing, or nothing."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names()))
    parser.add_argument("--list", action="store_true", help="only say what would run")
    given = parser.parse_args()
    if unknown := set(given.names) - set(names()):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: {', '.join(names())}")
    failed = []
    for name in given.names or names():
        lacking = NEEDS.get(name, str)()
        print(f"==> {name}" + (f": not run, it needs {lacking}" if lacking else ""), flush=True)
        if lacking or given.list:
            continue
        command = [sys.executable, str(FOLDER / f"bench_{name}.py")]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
