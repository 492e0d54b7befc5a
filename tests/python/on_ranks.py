# SPDX-License-Identifier: BSD-3-Clause
"""Programs on several processes, started by mpiexec. A program that hangs fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from functools import cache
from pathlib import Path

TREE = Path(__file__).parents[2]
SECONDS = 120
"""Longest time of a program: a hang is a failure."""
ASLEEP = """
#include <time.h>
int sched_yield(void) {
  const struct timespec moment = {0, 50000};
  return nanosleep(&moment, 0);
}
"""
_kept: list[tempfile.TemporaryDirectory[str]] = []


@cache
def asleep() -> dict[str, str]:
    """Return environment variables for processes of MPI to sleep while waiting.

    MPICH polls, and gives its turn to others by `sched_yield`. With more processes than cores these
    turns are most of the time of a test, while a single process computes or compiles.
    """
    if (compiler := shutil.which("cc")) is None:
        return {}
    _kept.append(tempfile.TemporaryDirectory())
    library = Path(_kept[0].name, "asleep.so")
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-", "-o", str(library)]
    subprocess.run(command, input=ASLEEP, text=True, check=True)
    return {"LD_PRELOAD": " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))}


def started(text: str, n: int, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program on n processes, and return the output of all."""
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    assert mpiexec, "mpi4py is installed, but mpiexec is not: pip install mpich"
    paths = os.pathsep.join(filter(None, [str(TREE), os.environ.get("PYTHONPATH", "")]))
    given = {
        "PYTHONPATH": paths,
        "PYOP2CXX_THREADS": "1",
        "PYTHONUNBUFFERED": "",
        "PYOP2CXX_PATIENCE": "20",
        **asleep(),
        **environment,
    }
    with tempfile.TemporaryDirectory() as folder:
        # a launcher may break long lines of two processes into each other
        head = (
            f"import sys, os; sys.stdout = open(f'{folder}/{{os.getpid()}}.out', 'w', buffering=1)"
        )
        imports = "\nimport numpy as np\nfrom pyop2cxx import op2\n"
        program = Path(folder) / "program.py"
        program.write_text(head + imports + textwrap.dedent(text))
        done = subprocess.run(
            [mpiexec, "-n", str(n), sys.executable, str(program), *args],
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        done.stdout += "".join(one.read_text() for one in sorted(Path(folder).glob("*.out")))
        return done


def outputs(text: str, n: int, *args: str, **environment: str) -> list[str]:
    """Run a program that must succeed, and return the lines of all processes, sorted."""
    found = started(text, n, *args, **environment)
    assert found.returncode == 0, found.stdout + found.stderr
    return sorted(found.stdout.splitlines())


def failure(text: str, n: int, *args: str, **environment: str) -> str:
    """Run a program that must fail, and return what the processes say."""
    found = started(text, n, *args, **environment)
    assert found.returncode != 0, found.stdout
    return found.stderr
