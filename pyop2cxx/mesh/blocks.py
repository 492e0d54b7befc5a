# SPDX-License-Identifier: BSD-3-Clause
"""Elements in the order of files: one kind after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyop2cxx.mesh.cells import CELLS
from pyop2cxx.mesh.nodes import from_gmsh_order

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.topology import Numbers

BY_MESHIO = {cell.meshio_name: cell for cell in CELLS.values()}
BY_KIND = {kind: (cell.name, cell.vtk_order) for kind, cell in BY_MESHIO.items()} | {
    "wedge": ("prism", (0, 1, 2, 3, 4, 5)),
    "pyramid": ("pyramid", (0, 1, 3, 2, 4)),
}
"""For each of meshio's kinds the name, and the corner at each place of Basix's order."""


def in_vtk_order(kind: str, rows: Array) -> Array:
    """Return the nodes of elements in VTK's order, given in Gmsh's; shape (n, nodes)."""
    return from_gmsh_order(BY_MESHIO[kind], rows) if kind in BY_MESHIO else rows


@dataclass(slots=True, kw_only=True)
class Block:
    """Elements of a single kind, in order.

    Attributes:
        kind: meshio's name, without the order: "triangle", "line", "vertex", "wedge".
        rows: The nodes of each; corners come first.
        tags: For each name the elements with the tag.
    """

    kind: str
    rows: Array
    tags: dict[str, Numbers] = field(default_factory=dict)

    @property
    def tdim(self) -> int:
        """The topological dimension."""
        if self.kind == "vertex":
            return 0
        return BY_MESHIO[self.kind].tdim if self.kind in BY_MESHIO else 3
