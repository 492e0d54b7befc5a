# SPDX-License-Identifier: BSD-3-Clause
"""A mesh of four nodes and three edges, and one loop over it, for tests of all around a loop."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

FLUX = """void flux(const double *q, double *r, double *total) {
  for (int c = 0; c < 2; c++) {
    double f = q[c] - q[2 + c];
    r[c] += f;
    r[2 + c] -= f;
    total[0] += f * f;
  }
}"""
EDGES = [[0, 1], [1, 2], [2, 3]]


class World:
    """Sets, Map, Dats and a Global with names of your choice."""

    def __init__(self, prefix: str = "") -> None:
        self.nodes = op2.Set(4, prefix + "nodes")
        self.edges = op2.Set(3, prefix + "edges")
        self.e2n = op2.Map(self.edges, self.nodes, 2, EDGES, prefix + "e2n")
        self.q = op2.Dat(self.nodes**2, np.arange(8.0).reshape(4, 2) ** 2, name=prefix + "q")
        self.r = op2.Dat(self.nodes**2, name=prefix + "r")
        self.total = op2.Global(1, 0.0, name=prefix + "total")

    def args(self) -> tuple[op2.ParLoop, ...]:
        return (
            self.q(op2.READ, self.e2n),
            self.r(op2.INC, self.e2n),
            self.total(op2.INC),
        )

    def loop(self, **options: object) -> op2.ParLoop:
        return op2.ParLoop(op2.Kernel(FLUX, "flux"), self.edges, *self.args(), **options)

    def expected(self) -> np.ndarray:
        """What one call adds to r."""
        flux = self.q.data_ro[:-1] - self.q.data_ro[1:]
        result = np.zeros((4, 2))
        result[:-1] += flux
        result[1:] -= flux
        return result


QUIET = """
#include <string.h>
#include <sys/resource.h>
int getrusage(int who, struct rusage *usage) {
  (void)who;
  memset(usage, 0, sizeof *usage);
  return 0;
}
"""


def quiet_library(folder: Path) -> Path:
    """Compile what, preloaded, lets a process believe that no other program stops its threads.

    Then loops are left to a team of threads, whatever the machine is doing.
    """
    source, library = folder / "quiet.c", folder / "quiet.so"
    source.write_text(QUIET)
    command = ["cc", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return library


def scale(factor: float = 2.0, name: str = "scale") -> op2.Kernel:
    """A direct kernel; each factor is another text."""
    return op2.Kernel(f"void {name}(double *x) {{ x[0] *= {factor}; }}", name)


def statistics() -> tuple[int, int, int]:
    """What the compile service has done so far: compilations, hits in memory, hits on disk."""
    found = runtime.engine.service.statistics()
    return found.n_compiles, found.n_memory_hits, found.n_disk_hits


def run_python(script: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own with a cache of its own."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYOP2CXX_CACHE_DIR": str(tmp_path / "cache"),
        **environment,
    }
    return subprocess.run(
        [sys.executable, "-c", script],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
