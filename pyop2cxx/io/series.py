# SPDX-License-Identifier: BSD-3-Clause
"""Time series for ParaView: .pvd with a .vtu file for each step, or .xdmf with .h5 files."""

from __future__ import annotations

import os
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.exceptions import UsageError
from pyop2cxx.io import vtu, xdmf
from pyop2cxx.io.fields import named, show

if TYPE_CHECKING:
    from pathlib import Path

    from pyop2cxx.data.dats import Dat
    from pyop2cxx.io.fields import Shown
    from pyop2cxx.mesh.mesh import Mesh


class TimeSeries:
    """Values on a mesh at several times.

    Every step is written whole, followed by a new index file of all steps. So ParaView can read the
    series while the program runs, and a killed program leaves all steps but the last.

    Args:
        path: A file ending in .pvd or .xdmf, with the files of the steps beside.
        mesh: The mesh.
        numbering: As of `write_vtu`.

    Raises:
        UsageError: The path has another ending.

    Example:
        >>> import tempfile
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.mesh import square_mesh
        >>> mesh = square_mesh(4)
        >>> u = op2.Dat(mesh.cells, name="u")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     series = TimeSeries(f"{folder}/heat.pvd", mesh)
        ...     for step in range(2):
        ...         series.write(0.1 * step, u)
        ...     sorted(os.listdir(folder))
        ['heat.pvd', 'heat_000000.vtu', 'heat_000001.vtu']
    """

    def __init__(
        self, path: str | os.PathLike[str], mesh: Mesh, *, numbering: str = "original"
    ) -> None:
        self._path = as_path(path)
        if self._path.suffix not in (".pvd", ".xdmf"):
            raise UsageError(
                f"TimeSeries: the file must end in .pvd or .xdmf, got {os.fspath(path)!r}"
            )
        self._mesh = mesh
        self._numbering = numbering
        self._times: list[float] = []
        self._geometry: list[str] = []
        self._steps: list[list[str]] = []

    def __repr__(self) -> str:
        return f"TimeSeries('{self._path}', {self._mesh!r}: {len(self._times)} steps)"

    @property
    def times(self) -> tuple[float, ...]:
        """The times written so far; tuple of float."""
        return tuple(self._times)

    def write(self, time: float, *dats: Dat, **fields: Dat) -> None:
        """Write a further step.

        Args:
            time: Later than the last time.
            *dats: As of `write_vtu`.
            **fields: As of `write_vtu`.

        Raises:
            UsageError: The time is not finite or not later; or as of `write_vtu`.
            DatTypeError, DataTypeError: As of `write_vtu`.
            MissingExtraError: h5py is not installed, but needed by XDMF.
        """
        if not isfinite(time) or (self._times and time <= self._times[-1]):
            last = self._times[-1] if self._times else "none"
            raise UsageError(f"TimeSeries: times must grow, got {time!r} after {last}")
        whole = named(dats, fields, "TimeSeries")
        write = self._write_pvd if self._path.suffix == ".pvd" else self._write_xdmf
        show(self._mesh, whole, self._numbering, "TimeSeries", partial(write, float(time)))
        self._times.append(float(time))

    def _beside(self, ending: str) -> Path:
        return self._path.with_name(f"{self._path.stem}_{ending}")

    def _write_pvd(self, time: float, found: Shown) -> None:
        file = self._beside(f"{len(self._times):06d}.vtu")
        vtu.write_document(file, found)
        self._steps.append([f'<DataSet timestep="{time!r}" part="0" file="{file.name}"/>'])
        lines = [
            '<?xml version="1.0"?>',
            '<VTKFile type="Collection" version="1.0">',
            "<Collection>",
            *(line for step in self._steps for line in step),
            "</Collection>",
            "</VTKFile>",
            "",
        ]
        with replacing(self._path) as temporary:
            temporary.write_text("\n".join(lines), encoding="utf-8")

    def _write_xdmf(self, time: float, found: Shown) -> None:
        if not self._geometry:
            self._geometry = xdmf.write_geometry(found, self._beside("mesh.h5"), {})
        file = self._beside(f"{len(self._times):06d}.h5")
        xdmf.write_arrays(file, xdmf.field_arrays(found))
        values = xdmf.attributes(found, file.name)
        step = [
            '<Grid GridType="Uniform">',
            f'<Time Value="{time!r}"/>',
            *self._geometry,
            *values,
            "</Grid>",
        ]
        self._steps.append(step)
        lines = [line for one in self._steps for line in one]
        head = '<Grid Name="series" GridType="Collection" CollectionType="Temporal">'
        xdmf.write_document(self._path, [head, *lines, "</Grid>"])
