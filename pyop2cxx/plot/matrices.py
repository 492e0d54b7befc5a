# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of where matrices have places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.blocks import row_of_each
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import SparsityTypeError, UnsupportedError
from pyop2cxx.plot.canvas import axes_for, finished
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    import os

_MOST_DOTS = 1000
"""Rows of the picture: larger matrices show how full parts of them are."""


def plot_sparsity(
    matrix: Sparsity | Mat,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the places of a matrix; for a large matrix the number in each part.

    Args:
        matrix: A Sparsity or a Mat, not mixed.
        path: File of the picture, if given; the suffix selects the format.
        axes: Matplotlib's axes to draw on; None makes a figure.
        title: Written above.

    Returns:
        The figure.

    Raises:
        SparsityTypeError: The argument is neither.
        UnsupportedError: The matrix is mixed.
        MissingExtraError: matplotlib is not installed.
        OSError: The file cannot be written.

    Example:
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.mesh import square_mesh
        >>> mesh = square_mesh(4)
        >>> c2v, nodes = mesh.cell_vertices, mesh.vertices ** 1
        >>> sparsity = op2.Sparsity((nodes, nodes), [(c2v, c2v, None)])
        >>> plot_sparsity(sparsity).axes[0].get_title()
        '25 x 25, 137 places'
    """
    sparsity = matrix.sparsity if isinstance(matrix, Mat) else matrix
    if not isinstance(sparsity, Sparsity):
        raise SparsityTypeError(
            f"plot_sparsity: expected a Sparsity or a Mat, got {matrix!r} of type "
            f"{type(matrix).__name__}"
        )
    if sparsity.shape != (1, 1):
        raise UnsupportedError("plot_sparsity: the matrix is mixed; draw its blocks")
    colours = extras.load("matplotlib.colors", "plotting")
    n_rows, n_columns = (part.set.total_size for part in sparsity.dsets)
    heading = title or f"{n_rows} x {n_columns}, {len(sparsity.colidx)} places"
    plane = axes_for(axes, 2, heading)
    rows = row_of_each(sparsity.rowptr)
    bins = (min(n_rows, _MOST_DOTS), min(n_columns, _MOST_DOTS))
    counts, _, _ = np.histogram2d(
        rows, sparsity.colidx, bins=bins, range=((0, n_rows), (0, n_columns))
    )
    shown = np.ma.masked_equal(counts, 0)
    norm = colours.LogNorm(vmin=0.5, vmax=max(counts.max(), 1))
    plane.imshow(
        shown, cmap="Blues", norm=norm, extent=(0, n_columns, n_rows, 0), interpolation="nearest"
    )
    plane.set(xlabel="column", ylabel="row")
    return finished(plane, path)
