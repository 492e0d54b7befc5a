# SPDX-License-Identifier: BSD-3-Clause
"""
Edges and facets of a mesh.
"""

from __future__ import annotations
import numpy
import numpy.typing
import pyop2cxx._core
import typing

__all__: list[str] = [
    "Entities",
    "MshBlock",
    "MshLink",
    "MshMesh",
    "MshName",
    "find_entities",
    "is_readable_msh",
    "number_entities",
    "read_msh",
]

class Entities:
    @property
    def crowded(self) -> int: ...
    @property
    def first_use(self) -> numpy.ndarray: ...
    @property
    def n_corners(self) -> int: ...
    @property
    def of_cells(self) -> numpy.ndarray: ...
    @property
    def second_use(self) -> numpy.ndarray: ...
    @property
    def vertices(self) -> numpy.ndarray: ...

class MshBlock:
    @property
    def group_of(self) -> numpy.ndarray: ...
    @property
    def groups(self) -> list[int]: ...
    @property
    def kind(self) -> str: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def nodes(self) -> numpy.ndarray: ...

class MshName:
    @property
    def dim(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def name(self) -> str: ...

class MshLink:
    @property
    def dim(self) -> int: ...
    @property
    def nodes(self) -> numpy.ndarray: ...

class MshMesh:
    def block(self, i: typing.SupportsInt | typing.SupportsIndex) -> MshBlock: ...
    def link(self, i: typing.SupportsInt | typing.SupportsIndex) -> MshLink: ...
    @property
    def n_blocks(self) -> int: ...
    @property
    def n_links(self) -> int: ...
    @property
    def names(self) -> list[MshName]: ...
    @property
    def points(self) -> numpy.ndarray: ...

def find_entities(
    vertices: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    rows: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    n_corners: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.int64]: ...
def is_readable_msh(data: bytes) -> bool: ...
def number_entities(
    cells: pyop2cxx._core.MapTable,
    corners: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    n_corners: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> Entities: ...
def read_msh(data: bytes, with_links: bool) -> MshMesh: ...
