# SPDX-License-Identifier: BSD-3-Clause
"""Small pictures in notebooks, below a table: meshes, matrices, distributions of values.

They are SVG, made here: nothing has to be installed, and nothing is copied from a device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.algebra.convergence import Convergence
from pyop2cxx.algebra.solvers import Solver
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array

MOST_CELLS = 1500
"""Meshes with more show where their vertices are, not their cells."""
_WIDTH = 180
_BINS = 36
_AROUND = {"triangle": (0, 1, 2), "quadrilateral": (0, 1, 3, 2)}
_FACES = {"tetrahedron": "triangle", "hexahedron": "quadrilateral"}
_BLUE = (48, 80, 110)


def picture(thing: Any) -> str:
    """Return SVG, or nothing where there is nothing to be drawn.

    Args:
        thing: The displayed object.
    """
    if isinstance(thing, Mesh):
        return _of_mesh(thing)
    if isinstance(thing, Mat) and not thing.is_mixed:
        return _of_sparsity(thing.sparsity)
    if isinstance(thing, Sparsity) and thing.shape == (1, 1):
        return _of_sparsity(thing)
    if isinstance(thing, Solver | Convergence):
        return _of_history(thing.history)
    given = getattr(thing, "dat", thing)  # of a function of finite elements
    return _of_values(given) if isinstance(given, Dat) else ""


def _of_mesh(mesh: Mesh) -> str:
    if mesh.tdim == 1:
        return ""
    points = np.asarray(mesh.coordinates.data_ro, np.float64).reshape(mesh.nodes.size, -1)
    flat, depth = _seen(points)
    if mesh.cells.size > MOST_CELLS:
        counts, _, _ = np.histogram2d(flat[:, 1], flat[:, 0], bins=_BINS)
        return _raster(counts[::-1], _span(flat))
    if mesh.tdim == 2:
        rows, kind = mesh.cell_nodes.values, mesh.cell_type
    else:
        rows, kind = mesh.exterior_facets.nodes.values, _FACES[mesh.cell_type]
    rows = np.asarray(rows)[:, list(_AROUND[kind])]
    rows = rows[np.argsort(depth[rows].mean(axis=1))]  # from back to front
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = (_WIDTH - 4) / max(high - low)
    placed = 2 + (flat - low) * scale
    height = 4 + (high[1] - low[1]) * scale
    placed[:, 1] = height - placed[:, 1]
    shapes = "".join(
        "<polygon points='" + " ".join(f"{x:.1f},{y:.1f}" for x, y in placed[row]) + "'/>"
        for row in rows
    )
    style = "fill='#dfe8f0' stroke='#30506e' stroke-width='0.5'"
    return _svg(4 + (high[0] - low[0]) * scale, height, f"<g {style}>{shapes}</g>")


def _seen(points: Array) -> tuple[Array, Array]:
    """Return where points are in the picture, and how near."""
    if points.shape[1] == 2:
        return points, np.zeros(len(points))
    x, y, z = points.T  # from a corner, somewhat above
    return np.stack([0.87 * x + 0.5 * y, 0.9 * z - 0.22 * x + 0.38 * y], 1), 0.5 * x - 0.87 * y + z


def _span(flat: Array) -> float:
    """Return the ratio of a picture's height to the width."""
    size = np.ptp(flat, axis=0)
    return float(np.clip(size[1] / max(size[0], 1e-300), 0.1, 3))


def _of_sparsity(sparsity: Sparsity) -> str:
    if not all(isinstance(part, DataSet) for part in sparsity.dsets):
        return ""  # a row or a column of a Global
    n_rows, n_columns = (part.set.total_size for part in sparsity.dsets)
    if n_rows == 0 or n_columns == 0:
        return ""
    rowptr, columns = np.asarray(sparsity.rowptr), np.asarray(sparsity.colidx)
    step = max(1, len(columns) // 1_000_000)  # as many places as are visible
    places = np.arange(0, len(columns), step)
    rows = np.searchsorted(rowptr, places, side="right") - 1
    bins = (min(_BINS, n_rows), min(_BINS, n_columns))
    ends = ((0, n_rows), (0, n_columns))
    counts, _, _ = np.histogram2d(rows, columns[places], bins=bins, range=ends)
    return _raster(counts, 1.0)


def _raster(counts: Array, span: float) -> str:
    """Draw a square for each number, the darker the larger."""
    n_rows, n_columns = counts.shape
    wide, high = _WIDTH / n_columns, _WIDTH * span / n_rows
    top = max(float(np.log1p(counts.max())), 1e-300)
    squares = "".join(
        f"<rect x='{j * wide:.1f}' y='{i * high:.1f}' width='{wide:.1f}' height='{high:.1f}' "
        f"fill-opacity='{0.15 + 0.85 * np.log1p(counts[i, j]) / top:.2f}'/>"
        for i, j in zip(*np.nonzero(counts), strict=True)
    )
    return _svg(_WIDTH, _WIDTH * span, f"<g fill='rgb{_BLUE}'>{squares}</g>")


def _of_values(dat: Dat) -> str:
    """Draw a histogram of the values on the host."""
    waits = runtime.recorder is not None and runtime.recorder.waiting
    if dat.host_values is None or waits or dat.buffer.where == _core.Where.device:
        return ""
    values = np.asarray(dat.host_values).ravel()
    if values.dtype.kind not in "iuf" or values.size < 2:
        return ""
    values = values[:: max(1, values.size // 1_000_000)].astype(np.float64)
    values = values[np.isfinite(values)]
    if values.size < 2 or not 0 < np.ptp(values) < np.inf:
        return ""
    counts, edges = np.histogram(values, bins=_BINS)
    wide, high = _WIDTH / _BINS, 50 / counts.max()
    bars = "".join(
        f"<rect x='{i * wide:.1f}' y='{50 - n * high:.1f}' width='{0.9 * wide:.1f}' "
        f"height='{n * high:.1f}'/>"
        for i, n in enumerate(counts)
        if n
    )
    text = (
        f"<text x='0' y='62'>{edges[0]:.4g}</text>"
        f"<text x='{_WIDTH}' y='62' text-anchor='end'>{edges[-1]:.4g}</text>"
    )
    return _svg(_WIDTH, 66, f"<g fill='rgb{_BLUE}' font-size='10'>{bars}{text}</g>")


def _of_history(norms: tuple[float, ...]) -> str:
    """Return the curve of a residual, on a scale of logarithms."""
    heights = np.log10(np.maximum(np.asarray(norms), np.finfo(float).tiny))
    if len(norms) < 2 or not np.isfinite(heights).all() or not np.ptp(heights):
        return ""
    x = np.linspace(2, _WIDTH - 2, len(norms))
    y = 2 + (heights.max() - heights) / np.ptp(heights) * 56
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    line = f"<polyline points='{points}' fill='none' stroke='rgb{_BLUE}' stroke-width='1.5'/>"
    text = (
        f"<text x='{_WIDTH}' y='12' text-anchor='end'>{norms[0]:.1e}</text>"
        f"<text x='0' y='70'>{norms[-1]:.1e}</text>"
        f"<text x='{_WIDTH}' y='70' text-anchor='end'>residual, {len(norms)} norms</text>"
    )
    return _svg(_WIDTH, 74, f"{line}<g fill='rgb{_BLUE}' font-size='10'>{text}</g>")


def _svg(width: float, height: float, inside: str) -> str:
    size = f"width='{width:.0f}' height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{inside}</svg>"
