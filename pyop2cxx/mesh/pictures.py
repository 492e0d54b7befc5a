# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a flow: the Mach number in the cells around the aerofoil."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh.airfoil import WALL

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from pyop2cxx.mesh.airfoil import AirfoilMesh, FloatArray

_WINDOW = (-0.6, 1.6, -0.75, 0.75)
_INCHES = (9.0, 5.4)
_DOTS_PER_INCH = 150


def mach_number(q: FloatArray) -> FloatArray:
    """Compute the local Mach number of a flow.

    Args:
        q: Density, momentum and energy per volume, shape (n_cells, 4).

    Returns:
        Speed over the speed of sound, shape (n_cells,).

    Raises:
        DataValueError: The shape is wrong.

    Example:
        >>> from pyop2cxx.mesh import free_stream
        >>> mach_number(free_stream()[None]).round(6).tolist()
        [0.4]
    """
    if q.ndim != 2 or q.shape[1] != 4:
        raise DataValueError(f"mach_number: expected q of shape (n_cells, 4), got {q.shape}")
    gam = float(np.float32(1.4))
    density, momentum_x, momentum_y, energy = q.T
    speed_squared = (momentum_x**2 + momentum_y**2) / density**2
    pressure = (gam - 1.0) * (energy - 0.5 * density * speed_squared)
    mach: FloatArray = np.sqrt(speed_squared * density / (gam * pressure))
    return mach


def plot_mach(
    mesh: AirfoilMesh,
    q: FloatArray,
    path: str | os.PathLike[str],
    *,
    title: str = "Flow around a NACA0012 section",
    window: tuple[float, float, float, float] = _WINDOW,
) -> None:
    """Draw the Mach number of every cell near the aerofoil into a file.

    Args:
        mesh: The mesh.
        q: Density, momentum and energy per volume, shape (n_cells, 4).
        path: File of the picture; the suffix selects the format, as .png or .pdf.
        title: Printed above the picture.
        window: The part to show: smallest and largest x, smallest and largest y.

    Raises:
        DataValueError: q does not fit the mesh.
        MissingExtraError: matplotlib is not installed.
        OSError: The file cannot be written.
    """
    if q.shape != (mesh.n_cells, 4):
        raise DataValueError(f"plot_mach: expected q of shape ({mesh.n_cells}, 4), got {q.shape}")
    figure_module = extras.load("matplotlib.figure", "plotting the Mach number")
    collections = extras.load("matplotlib.collections", "plotting the Mach number")
    near = _cells_in(mesh, window)
    corners = mesh.x[mesh.cell2node[near]]
    # Figure is used without pyplot, since pyplot would choose a window system and keep the figure
    # alive.
    figure = figure_module.Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot(aspect="equal", title=title, xlabel="x / chord", ylabel="y / chord")
    # Edges in the colour of their cell hide the seams of antialiasing between cells.
    cells = collections.PolyCollection(
        corners,
        array=mach_number(q[near]),
        cmap="viridis",
        edgecolors="face",
        linewidths=0.2,
        antialiased=False,
        rasterized=True,
    )
    axes.add_collection(cells, autolim=False)
    wall = mesh.x[mesh.bedge2node[mesh.bound == WALL]]
    axes.add_collection(
        collections.LineCollection(wall, colors="black", linewidths=0.8), autolim=False
    )
    axes.set(xlim=window[:2], ylim=window[2:])
    figure.colorbar(cells, ax=axes, label="Mach number", shrink=0.85)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=_DOTS_PER_INCH)


def _cells_in(
    mesh: AirfoilMesh, window: tuple[float, float, float, float]
) -> npt.NDArray[np.bool_]:
    """Mask of the cells with a corner in the window, shape (n_cells,)."""
    x, y = mesh.x.T
    inside = (window[0] <= x) & (x <= window[1]) & (window[2] <= y) & (y <= window[3])
    mask: npt.NDArray[np.bool_] = inside[mesh.cell2node].any(axis=1)
    return mask
