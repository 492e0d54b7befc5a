# SPDX-License-Identifier: BSD-3-Clause
"""Small meshes for tests of finite elements: numbered at random, cells turned at random."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from pyop2cxx import op2

DIMS = {"interval": 1, "triangle": 2, "quadrilateral": 2, "tetrahedron": 3, "hexahedron": 3}


@dataclass(frozen=True)
class Mesh:
    """No more than what `pyop2cxx.fem` asks of a mesh."""

    cell_type: str
    cells: op2.Set
    vertices: op2.Set
    cell_vertices: op2.Map
    coordinates: op2.Dat


def make_mesh(cell: str, n: int | tuple[int, ...] = 2, seed: int = 1, bend: float = 0.1) -> Mesh:
    """The unit interval, square or cube in n parts a side, its inside bent."""
    random = np.random.default_rng(seed)
    dim = DIMS[cell]
    sizes = (n,) * dim if isinstance(n, int) else n
    x, boxes = _boxes(sizes)
    rows = boxes if cell in ("quadrilateral", "hexahedron", "interval") else _simplices(boxes, dim)
    rows = np.array([row[_turn(cell, dim, random)] for row in rows])
    x = (
        x
        + bend
        * np.prod(np.sin(np.pi * x), axis=1)[:, None]
        / max(sizes)
        * (1 + np.arange(dim))
        / dim
    )
    new = random.permutation(len(x))
    where = np.empty_like(x)
    where[new] = x
    return from_arrays(cell, where, new[rows][random.permutation(len(rows))])


def from_arrays(cell: str, x: np.ndarray, rows: np.ndarray) -> Mesh:
    """A mesh of vertices and cells."""
    cells, vertices = op2.Set(len(rows), "cells"), op2.Set(len(x), "vertices")
    return Mesh(
        cell,
        cells,
        vertices,
        op2.Map(cells, vertices, rows.shape[1], rows, "cell_vertices"),
        op2.Dat(vertices ** x.shape[1], x, dtype=float, name="x"),
    )


def _boxes(sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of a grid, and its boxes with their corners in tensor order, first axis fastest."""
    dim = len(sizes)
    ticks = [np.linspace(0, 1, n + 1) for n in sizes]
    x = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, dim)
    number = np.arange(len(x)).reshape([n + 1 for n in sizes])
    corners = [
        number[
            tuple(slice(at, at + n) for at, n in zip(reversed(place), sizes, strict=True))
        ].ravel()
        for place in product((0, 1), repeat=dim)
    ]
    return x, np.stack(corners, axis=1)


def _simplices(boxes: np.ndarray, dim: int) -> np.ndarray:
    """Each box in simplices, one for each way along its edges from the first to the last corner."""
    paths = [np.cumsum([0, *(2**axis for axis in order)]) for order in permutations(range(dim))]
    return np.concatenate([boxes[:, path] for path in paths])


def _turn(cell: str, dim: int, random: np.random.Generator) -> np.ndarray:
    """One of the ways to number the vertices of a cell."""
    if cell in ("triangle", "tetrahedron", "interval"):
        return random.permutation(dim + 1)
    corners = np.array(list(product((0, 1), repeat=dim)))[:, ::-1]
    flipped = corners[:, random.permutation(dim)] ^ random.integers(0, 2, dim)
    return flipped @ 2 ** np.arange(dim)
