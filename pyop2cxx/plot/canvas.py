# SPDX-License-Identifier: BSD-3-Clause
"""Axes of pictures: the caller's, or axes of a new figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataValueError, UnsupportedError, UsageError
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.topology import refuse_shared

if TYPE_CHECKING:
    import os

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.topology import Marker

_DOTS_PER_INCH = 150
# Corners of a flat cell, in cyclic order.
_AROUND = {"triangle": (0, 1, 2), "quadrilateral": (0, 1, 3, 2)}
_FACE_TYPES = {"tetrahedron": "triangle", "hexahedron": "quadrilateral"}


def axes_for(axes: Any, gdim: int, title: str) -> Any:
    """Return axes to draw on.

    Args:
        axes: The caller's; None for new axes.
        gdim: 3 for axes in perspective.
        title: Title of new axes.

    Raises:
        UsageError: The caller's are flat, but the picture is not, or the other way round.
        MissingExtraError: matplotlib is not installed.
    """
    if axes is not None:
        if (getattr(axes, "name", "") == "3d") != (gdim == 3):
            kind = "projection='3d'" if gdim == 3 else "flat axes"
            raise UsageError(f"the picture of a mesh in {gdim}-D needs {kind}")
        return axes
    figure_module = extras.load("matplotlib.figure", "plotting")
    # Figure is used without pyplot, since pyplot would choose a window system and keep the figure
    # alive.
    figure = figure_module.Figure(layout="constrained")
    if gdim == 3:
        extras.load("mpl_toolkits.mplot3d", "plotting")  # registers the projection
        return figure.add_subplot(projection="3d", title=title)
    return figure.add_subplot(title=title)


def finished(axes: Any, path: str | os.PathLike[str] | None) -> Any:
    """Return the figure, and write a file if a path is given; whole or not at all."""
    figure = axes.figure
    if path is not None:
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=_DOTS_PER_INCH)
    return figure


def check_mesh(mesh: object, what: str) -> Mesh:
    """Return a mesh, checked for drawing.

    Raises:
        UsageError: The argument is no mesh.
        UnsupportedError: Processes share the mesh.
    """
    if not isinstance(mesh, Mesh):
        raise UsageError(f"{what}: expected a Mesh, got {mesh!r} of type {type(mesh).__name__}")
    refuse_shared(mesh.cells, what, "draw before op2.distribute, or write a file by write_vtu")
    return mesh


def polygons(mesh: Mesh, where: Marker | None = None) -> tuple[Array, Array]:
    """Return the drawn polygons of the cells: the cells, or the boundary of solid cells.

    Args:
        mesh: The mesh.
        where: Takes the middles of the cells, shape (gdim, n), and returns whether to draw each;
            None means all.

    Returns:
        The nodes at the corners of each polygon, in cyclic order, int, shape (n, corners); and the
        cell of each polygon, int, shape (n,).

    Raises:
        UnsupportedError: Cells are intervals.
        DataValueError: The function returns something else.
    """
    if mesh.tdim == 1:
        raise UnsupportedError("intervals have no polygons; plot_values draws their values")
    kept = _kept(mesh, where)
    if mesh.tdim == 2:
        cells = np.flatnonzero(kept)
        return mesh.cell_nodes.values[cells][:, list(_AROUND[mesh.cell_type])], cells
    corners = list(_AROUND[_FACE_TYPES[mesh.cell_type]])
    outer = mesh.exterior_facets
    chosen = kept[outer.cells.values[:, 0]]
    rows, owners = outer.nodes.values[chosen], outer.cells.values[chosen, 0]
    if not kept.all():  # at a cut, facets have a single drawn cell
        inner = mesh.interior_facets
        first, second = kept[inner.cells.values].T
        chosen = first != second
        pairs = inner.cells.values[chosen]
        rows = np.concatenate([rows, inner.nodes.values[chosen]])
        owners = np.concatenate([owners, np.where(first[chosen], pairs[:, 0], pairs[:, 1])])
    return rows[:, corners], owners


def _kept(mesh: Mesh, where: Marker | None) -> Array:
    n = mesh.cells.size
    if where is None:
        return np.ones(n, np.bool_)
    middles = mesh.shape.corners().mean(axis=1).T
    found = np.asarray(where(middles))
    if found.shape != (n,) or found.dtype.kind != "b":
        raise DataValueError(
            f"where: takes the middles of {n} cells, shape {middles.shape}, and returns {n} truth "
            f"values; got shape {found.shape} of {found.dtype}"
        )
    return found


def collection(mesh: Mesh, corners: Array, **style: Any) -> Any:
    """Return matplotlib's collection of polygons with the given corners."""
    if mesh.gdim == 3:
        art = extras.load("mpl_toolkits.mplot3d.art3d", "plotting")
        return art.Poly3DCollection(corners, **style)
    return extras.load("matplotlib.collections", "plotting").PolyCollection(corners, **style)


def add(axes: Any, drawn: Any, points: Array) -> None:
    """Add polygons to axes, and show the whole range of the points at a common scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    if points.shape[1] == 3:
        axes.add_collection3d(drawn)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        axes.set_box_aspect(np.maximum(high - low, 1e-12 * (high - low).max()))
        return
    axes.add_collection(drawn, autolim=False)
    margin = 0.02 * (high - low).max()
    axes.set(
        xlim=(low[0] - margin, high[0] + margin),
        ylim=(low[1] - margin, high[1] + margin),
        aspect="equal",
        xlabel="x",
        ylabel="y",
    )
