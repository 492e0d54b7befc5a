# SPDX-License-Identifier: BSD-3-Clause
"""What the finite-element demos share: options, the time per loop, the order of convergence."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def run(
    doc: str,
    solve: Callable[[int], float],
    order: float,
    cells: int,
    argv: Sequence[str] | None = None,
) -> int:
    """Solve on two meshes, and say whether the error falls as it should.

    Args:
        doc: What the demo is about; its first line is shown by ``--help``.
        solve: Solves with that many cells a side, and returns the error.
        order: The least order of convergence.
        cells: Cells a side of the coarser mesh, by default.
        argv: The command line.

    Returns:
        0, or 1 where the order is less.
    """
    n = started(doc, cells, argv)
    coarse = solve(n)
    with op2.profile() as profile:
        fine = solve(2 * n)
    print(profile)
    found = float(np.log2(coarse / fine))
    errors = f"errors {coarse:.3e} and {fine:.3e}"
    return verdict(found >= order, f"{errors}, order {found:.2f}, at least {order}")


def started(doc: str, cells: int, argv: Sequence[str] | None = None) -> int:
    """Take the options of a demo, start its backend, and return how many cells a side it has."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=cells, help="a side; default: %(default)s")
    given = parser.parse_args(argv)
    if given.cells < 2:
        parser.error("--cells must be at least 2")
    op2.init(backend=given.backend)
    return int(given.cells)


def verdict(passed: bool, found: str) -> int:
    """Say whether a demo passed and what it found; return what its program exits with."""
    print(f"check: {'passed' if passed else 'FAILED'}: {found}")
    return 0 if passed else 1
