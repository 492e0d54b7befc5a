# SPDX-License-Identifier: BSD-3-Clause
"""Files of Gmsh, version 2.2 and 4.1, read in C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx._core import mesh as room
from pyop2cxx.exceptions import MeshFileError
from pyop2cxx.mesh.blocks import Block

if TYPE_CHECKING:
    from pathlib import Path

    from pyop2cxx.base.arrays import Array


def read_msh(path: Path) -> tuple[Array, list[Block]] | None:
    """Read a file of Gmsh, as `read_msh_with_links`, without links."""
    found = read_msh_with_links(path, False)
    return None if found is None else found[:2]


def read_msh_with_links(
    path: Path, with_links: bool
) -> tuple[Array, list[Block], list[tuple[int, Array]]] | None:
    """Read a file of Gmsh.

    Args:
        path: The file.
        with_links: Whether the section $Periodic is read: for each entity the dimension, and pairs
            of equal nodes, shape (n, 2).

    Returns:
        The points, shape (n, 3), the elements with their physical groups as tags, and links; None
        for other formats: an older version, the other byte order, partitions, Fluent.

    Raises:
        MeshFileError: The file ends too early, or has an invalid entry; the message has the line,
            or the byte of a binary file.
    """
    data = path.read_bytes()
    if not room.is_readable_msh(data):
        return None
    try:
        found = room.read_msh(data, with_links)
    except MeshFileError as error:
        raise MeshFileError(f"{path}: {error}") from None
    names = {(one.group, one.dim): one.name for one in found.names}
    blocks = [_block(found.block(i), names) for i in range(found.n_blocks)]
    links = [found.link(i) for i in range(found.n_links)]
    pairs = [(link.dim, link.nodes.reshape(-1, 2)) for link in links]
    return found.points.reshape(-1, 3), blocks, pairs


def _block(found: room.MshBlock, names: dict[tuple[int, int], str]) -> Block:
    block = Block(kind=found.kind, rows=found.nodes.reshape(-1, found.n_nodes))

    def name(group: int) -> str:
        return names.get((group, block.tdim), str(group))

    for group in found.groups:
        block.tags[name(group)] = np.arange(len(block.rows))
    group_of = found.group_of
    # Elements of a group are consecutive, so changes of the group are few.
    begins = group_of[np.flatnonzero(np.diff(group_of, prepend=0))]
    for group in sorted({*begins.tolist()} - {0}):
        block.tags[name(group)] = np.flatnonzero(group_of == group)
    return block
