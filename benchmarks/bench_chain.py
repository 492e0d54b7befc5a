#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Airfoil eager against chained, by sets of passes, in one run.

Rounds of all forms take turns, so that a slow moment of the machine meets all of them; the ratio is
that of the fastest rounds. The values at the end are compared, too.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demos"))

from airfoil import Airfoil

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_mesh

FORMS: dict[str, tuple[str, ...] | None] = {
    "eager": None,
    "recorded only": (),
    "fused": ("fuse", "drop"),
    "inverted, too": ("fuse", "invert", "rename", "drop"),
}


def _block(passes: tuple[str, ...] | None) -> AbstractContextManager[object]:
    return nullcontext() if passes is None else op2.chain(passes=passes)


def _seconds(airfoil: Airfoil, passes: tuple[str, ...] | None, iterations: int) -> float:
    op2.wait()
    start = time.perf_counter()
    for _ in range(iterations):
        with _block(passes):
            airfoil.iterate()
    op2.wait()
    return time.perf_counter() - start


def main() -> None:
    """Print seconds and ratios of all forms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="openmp")
    parser.add_argument("--cells", default="400x600", help="cells along and away from the section")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    op2.init(backend=given.backend)
    mesh = airfoil_mesh(*map(int, given.cells.split("x")))
    print(f"airfoil, {mesh.n_cells} cells, {given.backend}, {given.iterations} iterations")
    problems = {name: Airfoil(mesh) for name in FORMS}
    best = dict.fromkeys(FORMS, float("inf"))
    for name, passes in FORMS.items():
        _seconds(problems[name], passes, 2)  # compiles
    for _ in range(given.rounds):
        for name, passes in FORMS.items():
            spent = _seconds(problems[name], passes, given.iterations)
            best[name] = min(best[name], spent)
    reference = problems["eager"].q.data_ro
    for name in FORMS:
        apart = float(np.abs(problems[name].q.data_ro - reference).max())
        print(
            f"  {name:14} {best[name]:9.4f} s  {1e6 * best[name] / given.iterations:9.1f} us each  "
            f"{best[name] / best['eager']:5.2f} of eager  largest difference {apart:.1e}"
        )
    with op2.chain() as chain:
        problems["inverted, too"].iterate()
    print(chain.explain())


if __name__ == "__main__":
    main()
