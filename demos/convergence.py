# SPDX-License-Identifier: BSD-3-Clause
"""What demos share: options, time steps, the time per loop, pictures, the order of convergence."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def run(
    doc: str,
    solve: Callable[[int], tuple[float, Any]],
    order: float,
    cells: int,
    argv: list[str] | None = None,
    **look: Any,
) -> int:
    """Solve on two meshes, and say whether the error falls as it should.

    Args:
        doc: What the demo is about; its first line is shown by ``--help``.
        solve: Solves with that many cells a side, and returns the error and what `draw` takes.
        order: The least order of convergence.
        cells: Cells a side of the coarser mesh, by default.
        argv: The command line.
        look: What the picture looks like, as of `draw`.

    Returns:
        0, or 1 where the order is less.
    """
    given = started(doc, cells, argv)
    coarse, _ = solve(given.cells)
    with op2.profile(every=1) as profile:
        fine, found = solve(2 * given.cells)
    print(profile)
    draw(given, found, **look)
    rate = float(np.log2(coarse / fine))
    errors = f"errors {coarse:.3e} and {fine:.3e}"
    return verdict(rate >= order, f"{errors}, order {rate:.2f}, at least {order}")


def started(
    doc: str, cells: int, argv: list[str] | None, n_steps: int | None = None
) -> argparse.Namespace:
    """Take the options of a demo and start its backend.

    Args:
        doc: As of `run`.
        cells: Cells a side, by default.
        argv: The command line.
        n_steps: How many time steps there are, by default; None if there are none to choose.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=cells, help="a side; default: %(default)s")
    parser.add_argument("--picture", metavar="FILE", help="draw what is found into this file")
    if n_steps is not None:
        parser.add_argument("--steps", type=int, default=n_steps, help="default: %(default)s")
        parser.add_argument("--chain", action="store_true", help="combine the loops of a step")
    given = parser.parse_args(argv)
    if given.cells < 2 or (n_steps is not None and given.steps < 1):
        parser.error("--cells must be at least 2, and --steps at least 1")
    op2.init(backend=given.backend)
    return given


def steps(given: argparse.Namespace) -> Iterator[int]:
    """Go through the steps of `started`, each a chain if asked for; at last print the profile."""
    with op2.profile() as profile:
        for step in op2.progress(range(given.steps), "steps"):
            with op2.chain() if given.chain else nullcontext():
                yield step
    print(profile)


def draw(given: argparse.Namespace, found: Any, *, moved: float = 0.0, **look: Any) -> None:
    """Draw what a demo found, where a picture is asked for.

    Args:
        given: The options.
        found: A Function, or a Mesh and a Dat on it.
        moved: What a displacement is multiplied by to be shown; 0 if it is none.
        look: As `plot_values` takes it.
    """
    if not given.picture:
        return
    from pyop2cxx.plot import plot_values

    if not isinstance(found, tuple):
        from pyop2cxx import fem

        found = found.space.mesh, fem.on_mesh(found)
    mesh, values = found
    displacement = values * moved if moved else None
    plot_values(mesh, values, given.picture, displacement=displacement, **look)


def verdict(passed: bool, found: str) -> int:
    """Say whether a demo passed and what it found; return what its program exits with."""
    print(f"check: {'passed' if passed else 'FAILED'}: {found}")
    return 0 if passed else 1
