# SPDX-License-Identifier: BSD-3-Clause
"""
Edges and facets of a mesh.
"""

from __future__ import annotations
import numpy
import numpy.typing
import pyop2cxx._core
import typing

__all__: list[str] = ["Entities", "find_entities", "number_entities"]

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

def find_entities(
    vertices: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    rows: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    n_corners: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.int64]: ...
def number_entities(
    cells: pyop2cxx._core.MapTable,
    corners: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    n_corners: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> Entities: ...
