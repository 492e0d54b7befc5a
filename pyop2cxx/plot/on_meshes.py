# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of meshes and of values on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DatTypeError, UsageError
from pyop2cxx.mesh.nodes import on_mesh
from pyop2cxx.plot.canvas import add, axes_for, check_mesh, collection, finished, polygons

if TYPE_CHECKING:
    import os

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.mesh import Mesh
    from pyop2cxx.mesh.topology import Marker

_ARROWS = 20
"""How many there are along the longer side of a picture."""


def plot_mesh(
    mesh: Mesh,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the cells of a mesh; of a solid mesh the boundary.

    Args:
        mesh: The mesh, of triangles, quadrilaterals, tetrahedra or hexahedra.
        path: File of the picture, if given; the suffix selects the format.
        axes: Matplotlib's axes to draw on; None makes a figure.
        title: Written above; by default a description of the mesh.

    Returns:
        The figure.

    Raises:
        UsageError: The argument is no mesh, or the axes have another dimension.
        UnsupportedError: The cells are intervals.
        MissingExtraError: matplotlib is not installed.
        OSError: The file cannot be written.

    Example:
        >>> from pyop2cxx.mesh import disk_mesh
        >>> type(plot_mesh(disk_mesh(4))).__name__
        'Figure'
    """
    check_mesh(mesh, "plot_mesh")
    rows, _ = polygons(mesh)
    plane = axes_for(axes, mesh.gdim, title or f"{mesh.name}: {mesh.cells.size} cells")
    points = _points(mesh)
    style = {"facecolors": "#dfe8f0", "edgecolors": "#30506e", "linewidths": 0.4}
    add(plane, collection(mesh, points[rows], **style), points)
    return finished(plane, path)


def plot_values(
    mesh: Mesh,
    values: Dat,
    path: str | os.PathLike[str] | None = None,
    *,
    component: int | None = None,
    arrows: bool = False,
    displacement: Dat | None = None,
    where: Marker | None = None,
    axes: Any = None,
    title: str | None = None,
    label: str | None = None,
    cmap: str = "viridis",
) -> Any:
    """Draw values on a mesh in colours, shaded between vertices.

    Of solid meshes the boundary is drawn; of intervals a line, or steps for values of cells.

    Args:
        mesh: The mesh.
        values: A Dat on the vertices or the cells, or a `fem.Function`, real.
        component: Index of the drawn component of an entity; None draws the magnitude.
        arrows: Whether arrows on a flat mesh say where values of two components point, too.
        displacement: A Dat on the vertices: displacements, in the picture only.
        where: Selects the drawn cells, to look into solid meshes: takes their middles, shape (gdim,
            n), and returns n truth values.
        path: As of `plot_mesh`.
        axes: As of `plot_mesh`.
        title: Written above; by default the name of the Dat.
        label: Beside the scale.
        cmap: The name of matplotlib's colour map.

    Returns:
        The figure.

    Raises:
        DatTypeError: The values are not a Dat.
        UsageError: The values are on another Set or complex, or the component does not exist; or as
            of `plot_mesh`.
        DataValueError: `where` returns something else.
        MissingExtraError: matplotlib is not installed.
        OSError: The file cannot be written.

    Example:
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.mesh import square_mesh
        >>> mesh = square_mesh(4)
        >>> figure = plot_values(mesh, op2.Dat(mesh.vertices, 1.0, name="u"))
        >>> figure.axes[0].get_title()
        'u'
    """
    check_mesh(mesh, "plot_values")
    values, displacement = on_mesh(values), on_mesh(displacement)
    shown = _scalars(mesh, values, component)
    if arrows and (mesh.gdim != 2 or values.cdim != 2):
        raise UsageError(
            f"plot_values: arrows are for two components on a flat mesh; Dat '{values.name}' has "
            f"{values.cdim} in {mesh.gdim}-D"
        )
    on_vertices = values.dataset.set is not mesh.cells
    plane = axes_for(axes, 2 if mesh.tdim == 1 else mesh.gdim, title or values.name)
    points = _points(mesh) if displacement is None else _moved(mesh, displacement)
    if mesh.tdim == 1:
        _draw_line(plane, mesh, points[:, 0], shown, on_vertices)
        plane.set(xlabel="x", ylabel=label or values.name)
        return finished(plane, path)
    rows, cells = polygons(mesh, where)
    if on_vertices and mesh.gdim == 2:
        # Each quadrilateral as two triangles, since only triangles can be shaded.
        triangles = (
            rows if rows.shape[1] == 3 else np.concatenate([rows[:, :3], rows[:, [0, 2, 3]]])
        )
        drawn = plane.tripcolor(*points.T, triangles, shown, shading="gouraud", cmap=cmap)
        plane.set(aspect="equal", xlabel="x", ylabel="y")
    else:
        colours = shown[rows].mean(axis=1) if on_vertices else shown[cells]
        # Edges in the colour of their cell hide the seams of antialiasing between cells. In
        # perspective, matplotlib cannot return the colour before the axes are there.
        edges = "none" if mesh.gdim == 3 else "face"
        drawn = collection(mesh, points[rows], cmap=cmap, edgecolors=edges, linewidths=0.2)
        drawn.set_array(colours)
        add(plane, drawn, points)
    plane.figure.colorbar(drawn, ax=plane, label=label or "", shrink=0.85)
    if arrows:
        at = points if on_vertices else points[mesh.cell_nodes.values].mean(axis=1)
        _draw_arrows(plane, at, _rows_of(mesh, values))
    return finished(plane, path)


def _moved(mesh: Mesh, displacement: Dat) -> Array:
    """Return where vertices are after a displacement, shape (n_vertices, gdim).

    Raises:
        UsageError: The displacement is not on the mesh's vertices.
    """
    is_dat = isinstance(displacement, Dat) and displacement.dtype.kind == "f"
    on = displacement.dataset.set if is_dat else None
    if on is not mesh.vertices or displacement.cdim != mesh.gdim:
        raise UsageError(
            f"plot_values: expected as displacement a real Dat on mesh.vertices with {mesh.gdim} "
            f"values each, got {displacement!r}"
        )
    found: Array = _points(mesh) + _rows_of(mesh, displacement)
    return found


def _draw_arrows(axes: Any, points: Array, values: Array) -> None:
    """Draw an arrow in each square of a grid with a point inside."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = (high - low).max() / _ARROWS
    square = np.floor((points - low) / width).astype(np.int64) @ [1, 2 * _ARROWS]
    middle = low + (np.stack([square % (2 * _ARROWS), square // (2 * _ARROWS)], 1) + 0.5) * width
    order = np.lexsort((np.linalg.norm(points - middle, axis=1), square))
    first = order[np.unique(square[order], return_index=True)[1]]
    axes.quiver(
        *points[first].T,
        *values[first].T,
        color="white",
        edgecolor="black",
        linewidth=0.4,
        width=0.005,
    )


def _points(mesh: Mesh) -> Array:
    found: Array = np.asarray(mesh.coordinates.data_ro).reshape(mesh.nodes.size, -1)
    return found


def _rows_of(mesh: Mesh, values: Dat) -> Array:
    """Return the values of each cell, or at each node of the geometry, shape (n, components)."""
    on = values.dataset.set
    rows: Array = np.asarray(values.data_ro).reshape(on.size, -1)
    return mesh.at_nodes(rows) if on is mesh.vertices else rows


def _scalars(mesh: Mesh, values: Dat, component: int | None) -> Array:
    """Return a number for each entity; shape (size,)."""
    if not isinstance(values, Dat):
        raise DatTypeError(
            f"plot_values: expected a Dat, got {values!r} of type {type(values).__name__}"
        )
    if values.dataset.set not in (mesh.vertices, mesh.nodes, mesh.cells):
        raise UsageError(
            f"plot_values: Dat '{values.name}' is on Set '{values.dataset.set.name}'; it must be "
            "on mesh.vertices, mesh.nodes or mesh.cells"
        )
    if values.dtype.kind == "c":
        raise UsageError(f"plot_values: Dat '{values.name}' is complex; draw its real part")
    rows = _rows_of(mesh, values)
    if component is None:
        found: Array = rows[:, 0] if rows.shape[1] == 1 else np.linalg.norm(rows, axis=1)
        return found
    if not 0 <= component < rows.shape[1]:
        raise UsageError(
            f"plot_values: Dat '{values.name}' has components 0 to {rows.shape[1] - 1}, got "
            f"{component!r}"
        )
    chosen: Array = rows[:, component]
    return chosen


def _draw_line(axes: Any, mesh: Mesh, x: Array, shown: Array, on_vertices: bool) -> None:
    if on_vertices:
        order = np.argsort(x)
        axes.plot(x[order], shown[order])
        return
    ends = np.sort(x[mesh.cell_nodes.values[:, :2]], axis=1)
    order = np.argsort(ends[:, 0])
    axes.stairs(shown[order], np.append(ends[order, 0], ends[order[-1], 1]), baseline=None)
