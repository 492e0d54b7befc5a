# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a loop's order of cells, and of colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx._core import plan as room
from pyop2cxx.base.arrays import is_integer
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.plot.canvas import add, axes_for, check_mesh, collection, finished, polygons
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.mesh import Mesh


def plot_numbering(
    mesh: Mesh,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the order of cells in loops: by colour, from the first to the last.

    Similar colours of neighbours mean loops find their data in the caches.

    Args:
        mesh: The mesh, not of intervals.
        path: As of `plot_mesh`.
        axes: As of `plot_mesh`.
        title: Written above.

    Returns:
        The figure.

    Raises:
        UsageError, UnsupportedError, MissingExtraError, OSError: As of `plot_mesh`.

    Example:
        >>> from pyop2cxx.mesh import square_mesh
        >>> plot_numbering(square_mesh(4)).axes[0].get_title()
        'order of 32 cells'
    """
    check_mesh(mesh, "plot_numbering")
    number = np.arange(mesh.cells.size)
    heading = title or f"order of {mesh.cells.size} cells"
    return _coloured(mesh, number, path, axes, heading, "turbo", "number")


def plot_colours(
    mesh: Mesh,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Any = None,
    title: str | None = None,
) -> Any:
    """Draw colours of the cells: cells of equal colour have no common vertex.

    Cells of equal colour can add to their vertices at the same time. The picture shows the
    colouring of single cells; loops with the strategy "colour" also make blocks of cells, with
    colours of their own.

    Args:
        mesh: The mesh, not of intervals.
        path: As of `plot_mesh`.
        axes: As of `plot_mesh`.
        title: Written above.

    Returns:
        The figure.

    Raises:
        UsageError, UnsupportedError, MissingExtraError, OSError: As of `plot_mesh`.

    Example:
        >>> from pyop2cxx.mesh import square_mesh
        >>> figure = plot_colours(square_mesh(4))
    """
    check_mesh(mesh, "plot_colours")
    colours = colours_of(mesh)
    heading = title or f"{colours.max() + 1} colours of {mesh.cells.size} cells"
    return _coloured(mesh, colours, path, axes, heading, "tab20", "colour")


def plot_partition(
    mesh: Mesh,
    parts: int | npt.ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the part of each cell, with the number of facets between parts.

    Args:
        mesh: The mesh, not of intervals.
        parts: The part of each cell, from 0, shape (n_cells,); or the number of parts with
            consecutive cells, as for threads of a loop.
        path: As of `plot_mesh`.
        axes: As of `plot_mesh`.
        title: Written above.

    Returns:
        The figure.

    Raises:
        DataValueError: The number of parts differs from the number of cells, or a part is no number
            from 0.
        UsageError, UnsupportedError, MissingExtraError, OSError: As of `plot_mesh`.

    Example:
        >>> from pyop2cxx.mesh import square_mesh
        >>> plot_partition(square_mesh(4), 2).axes[0].get_title()
        '2 parts of 32 cells, 4 facets between them'
    """
    check_mesh(mesh, "plot_partition")
    found = _parts(mesh, parts)
    first, second = found[mesh.interior_facets.cells.values].T
    heading = title or (
        f"{found.max() + 1} parts of {mesh.cells.size} cells, {(first != second).sum()} facets "
        "between them"
    )
    return _coloured(mesh, found, path, axes, heading, "tab20", "part")


def _parts(mesh: Mesh, parts: int | npt.ArrayLike) -> Array:
    n = mesh.cells.size
    if is_integer(parts):
        if not 0 < int(parts) <= n:
            raise DataValueError(f"plot_partition: expected 1 to {n} parts, got {parts!r}")
        return np.arange(n) * int(parts) // n
    found = np.asarray(parts)
    if found.shape != (n,) or found.dtype.kind not in "iu" or found.min() < 0:
        raise DataValueError(
            f"plot_partition: expected a number from 0 for each of {n} cells, got shape "
            f"{found.shape} of {found.dtype}"
        )
    return found


def colours_of(mesh: Mesh) -> Array:
    """Return the colour of each cell, shape (n_cells,), from 0."""
    table = mesh.cell_vertices.current_table()
    assert table is not None  # a mesh's Map has values
    conflict = room.Conflict(table, room.all_slots, 0)
    n = mesh.cells.size
    plan = room.colour_elements(n, None, [conflict], runtime.engine.n_threads)  # type: ignore[arg-type]  # None is taken
    colours = np.empty(mesh.cells.size, np.int64)
    for colour, (begin, end) in enumerate(
        zip(plan.colour_offset[:-1], plan.colour_offset[1:], strict=True)
    ):
        colours[plan.elements[begin:end]] = colour
    return colours


def _coloured(
    mesh: Mesh,
    numbers: Array,
    path: str | os.PathLike[str] | None,
    axes: Any,
    title: str,
    cmap: str,
    label: str,
) -> Any:
    rows, cells = polygons(mesh)
    plane = axes_for(axes, mesh.gdim, title)
    points = np.asarray(mesh.coordinates.data_ro).reshape(mesh.nodes.size, -1)
    drawn = collection(mesh, points[rows], cmap=cmap, edgecolors="white", linewidths=0.2)
    drawn.set_array(numbers[cells])
    add(plane, drawn, points)
    few = np.unique(numbers)
    ticks = few if few.size <= 20 else None  # else Matplotlib writes halves between whole numbers
    plane.figure.colorbar(drawn, ax=plane, label=label, shrink=0.85, ticks=ticks)
    return finished(plane, path)
