# SPDX-License-Identifier: BSD-3-Clause
"""Loops that add to matrices over extruded Sets, by other paths than Maps, and by blocks.

They are part of the corpus of `corpus.py`, which imports this file. What is expected of a matrix
are the values at its places, in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from corpus import (
    IMPURE_SUMS,
    N_ELEMENTS,
    N_TARGETS,
    SUMS,
    SUMS_ON_TWO_SETS,
    Array,
    Problem,
    added,
    at_places,
    case,
    elements,
    random_map,
    targets,
)
from corpus_types import N_COLUMNS, Prism, varying

from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ


def kernel(n_rows: int, n_columns: int) -> tuple[op2.Kernel, Array]:
    """Return a kernel that adds a tensor times x, and the tensor."""
    text = f"""
    void assemble(double *A, const double *x) {{
      for (int i = 0; i < {n_rows}; ++i)
        for (int j = 0; j < {n_columns}; ++j) A[{n_columns} * i + j] += x[0] * (1 + i - 3 * j);
    }}
    """
    tensor = np.arange(n_rows)[:, None] - 3.0 * np.arange(n_columns) + 1
    return op2.Kernel(text, "assemble"), tensor


@case(SUMS)
def matrix_by_paths(rng: np.random.Generator) -> Problem:
    facets, cells, nodes = elements(), targets(300), targets()
    f2c, outer = random_map(rng, facets, cells, 1)
    c2n, inner = random_map(rng, cells, nodes, 3)
    f2n, values = random_map(rng, facets, nodes, 2)
    rows, columns = op2.PermutedMap(f2n, [1, 0]), op2.ComposedMap(c2n, f2c)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**2), [(rows, columns, None)]))
    x = rng.standard_normal(N_ELEMENTS)
    body, tensor = kernel(2, 6)
    tensors = x[:, None, None, None, None] * tensor.reshape(2, 1, 3, 2)
    return Problem(
        kernel=body,
        iterset=facets,
        args=(mat(INC, (rows, columns)), op2.Dat(facets, x.copy())(READ)),
        expected=((mat, at_places(mat, values[:, ::-1], inner[outer[:, 0]], tensors)),),
    )


def on_prisms(
    rng: np.random.Generator, prism: Prism, region: op2.IterationRegion, part: Array | None = None
) -> Problem:
    """Return a loop that couples the nodes of each cell, or of two cells that share a facet."""
    columns, _, rows = prism.cells(region, part)
    arity = rows.shape[1]
    dsets = (prism.nodes**2, prism.nodes**1)
    mat = op2.Mat(op2.Sparsity(dsets, [(prism.map, prism.map, (region,))]))
    x = rng.standard_normal(N_COLUMNS)
    body, tensor = kernel(2 * arity, arity)
    tensors = x[columns, None, None, None, None] * tensor.reshape(arity, 2, arity, 1)
    return Problem(
        kernel=body,
        iterset=prism.columns if part is None else op2.Subset(prism.columns, part),
        args=(mat(INC, (prism.map, prism.map)), op2.Dat(prism.base, x.copy())(READ)),
        expected=((mat, at_places(mat, rows, rows, tensors)),),
        options={"iteration_region": region},
    )


@case(SUMS)
def extruded_matrix(rng: np.random.Generator) -> Problem:
    return on_prisms(rng, Prism(rng, 5), op2.ALL)


@case(SUMS)
def extruded_matrix_of_periodic_facets(rng: np.random.Generator) -> Problem:
    part = np.flatnonzero(rng.random(N_COLUMNS) < 0.7)
    return on_prisms(rng, Prism(rng, 5, periodic=True), op2.ON_INTERIOR_FACETS, part)


@case(SUMS)
def extruded_matrix_of_tops(rng: np.random.Generator) -> Problem:
    return on_prisms(rng, Prism(rng, varying(rng)), op2.ON_TOP)


def blocks_of(tensor: Array, heights: list[int], widths: list[int]) -> list[list[Array]]:
    """Cut a tensor into blocks."""
    rows = np.split(tensor, np.cumsum(heights)[:-1], axis=0)
    return [np.split(row, np.cumsum(widths)[:-1], axis=1) for row in rows]


@case(SUMS_ON_TWO_SETS)
def mixed_matrix(rng: np.random.Generator) -> Problem:
    """Nodes with two values and facets with one; some nodes' rows are left out of one block."""
    cells, nodes, facets = elements(), targets(), targets(400)
    c2n, at = random_map(rng, cells, nodes, 3)
    c2f, on = random_map(rng, cells, facets, 2)
    both, dset = op2.MixedMap((c2n, c2f)), op2.MixedDataSet((nodes, facets), (2, 1))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)]))
    x = rng.standard_normal(N_ELEMENTS)
    body, tensor = kernel(8, 8)
    numbers = np.arange(N_TARGETS)
    is_held = numbers % 7 == 0
    masks = [(np.where(is_held, -1, numbers), None), None, None, None]
    expected = []
    for i, row in enumerate(blocks_of(tensor, [6, 2], [6, 2])):
        for j, block in enumerate(row):
            shape = ((3, 2), (2, 1))[i] + ((3, 2), (2, 1))[j]
            tensors = x[:, None, None, None, None] * block.reshape(shape)
            if i == j == 0:
                tensors = tensors * ~is_held[at][:, :, None, None, None]
            places = at_places(mat[i, j], (at, on)[i], (at, on)[j], tensors)
            expected.append((mat[i, j], places))
    return Problem(
        kernel=body,
        iterset=cells,
        args=(mat(INC, (both, both), lgmaps=masks), op2.Dat(cells, x.copy())(READ)),
        expected=tuple(expected),
    )


def of_global(mat: op2.Mat, values: Array, tensors: Array, *, is_row: bool) -> Array:
    """Return a Global's block after adding tensors of shape (n, arity, dim, the Global's dim)."""
    total = np.zeros((mat.sparsity.dsets[1 if is_row else 0].set.size, *tensors.shape[2:]))
    np.add.at(total, values, tensors)
    return (total.transpose(0, 2, 1) if is_row else total).reshape(-1)


@case(SUMS)
def mixed_matrix_with_a_global(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 3)
    both = op2.MixedMap((c2n, None))
    dset = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(op2.Global(2))))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)]))
    x = rng.standard_normal(N_ELEMENTS)
    body, tensor = kernel(5, 5)
    (a, b), (c, d) = blocks_of(tensor, [3, 2], [3, 2])

    def shares(block: Array, shape: tuple[int, ...]) -> Array:
        return x.reshape(-1, *[1] * len(shape)) * block.reshape(shape)

    corner = (d * x.sum()).reshape(-1)
    return Problem(
        kernel=body,
        iterset=cells,
        args=(mat(INC, (both, both)), op2.Dat(cells, x.copy())(READ)),
        expected=(
            (mat[0, 0], at_places(mat[0, 0], values, values, shares(a, (3, 1, 3, 1)))),
            (mat[0, 1], of_global(mat[0, 1], values, shares(b, (3, 1, 2)), is_row=False)),
            (mat[1, 0], of_global(mat[1, 0], values, shares(c.T, (3, 1, 2)), is_row=True)),
            (mat[1, 1], corner),
        ),
    )


@case(SUMS)
def mixed_matrix_of_rows_of_a_global(rng: np.random.Generator) -> Problem:
    prism: Any = Prism(rng, 4)
    columns, _, rows = prism.cells()
    dsets = (op2.GlobalDataSet(op2.Global(3)), prism.nodes**2)
    mat = op2.Mat(op2.Sparsity(dsets, [(None, prism.map, None)]))
    x = rng.standard_normal(N_COLUMNS)
    body, tensor = kernel(3, 8)
    tensors = x[columns, None, None, None] * tensor.T.reshape(4, 2, 3)
    return Problem(
        kernel=body,
        iterset=prism.columns,
        args=(mat(INC, (None, prism.map)), op2.Dat(prism.base, x.copy())(READ)),
        expected=((mat, of_global(mat, rows, tensors, is_row=True)),),
    )


@case(SUMS_ON_TWO_SETS)
def components_left_out_of_rows_of_a_global(rng: np.random.Generator) -> Problem:
    """They have places of their own, along columns; elements meet in columns of the matrix."""
    prism: Any = Prism(rng, 4)
    columns, _, rows = prism.cells()
    dsets = (op2.GlobalDataSet(op2.Global(3)), prism.nodes**2)
    mat = op2.Mat(op2.Sparsity(dsets, [(None, prism.map, None)]))
    x = rng.standard_normal(N_COLUMNS)
    numbers = np.arange(2 * prism.nodes.size)
    kept = np.where(numbers % 3 == 0, -1, numbers)
    parts = np.array([0, -1, 2])
    body, tensor = kernel(3, 8)
    tensors = x[columns, None, None, None] * tensor.T.reshape(4, 2, 3)
    tensors = tensors * (kept.reshape(-1, 2)[rows] >= 0)[..., None] * (parts >= 0)
    argument = mat(INC, (None, prism.map), lgmaps=(parts, kept), unroll_map=True)
    return Problem(
        kernel=body,
        iterset=prism.columns,
        args=(argument, op2.Dat(prism.base, x.copy())(READ)),
        expected=((mat, of_global(mat, rows, tensors, is_row=True)),),
    )


def with_partial_rows(rng: np.random.Generator, *, with_vector: bool) -> Problem:
    """Return a loop that counts every element, also those from which no row leads anywhere.

    Args:
        rng: For values.
        with_vector: Whether it adds to a Dat, too, by a Map that leads somewhere from all elements.
    """
    cells, nodes, others = elements(), targets(), op2.Set(200, "others")
    rows = rng.integers(N_TARGETS, size=(N_ELEMENTS, 2))
    rows[rng.random(rows.shape) < 0.4] = -1
    rows[::5] = -1
    c2n = op2.Map(cells, nodes, 2, rows)
    (c2o, columns), (c2t, at) = random_map(rng, cells, others, 2), random_map(rng, cells, nodes, 1)
    mat = op2.Mat(op2.Sparsity((nodes**1, others**1), [(c2n, c2o, None)]))
    x = rng.standard_normal(N_ELEMENTS)
    x[::5] *= 9  # the least and the greatest are where no row leads anywhere
    sums, least, greatest = op2.Global(2, [1.0, 2.0]), op2.Global(1, 99.0), op2.Global(1, -99.0)
    vector, tensor = op2.Dat(nodes), 1 + np.arange(2.0)[:, None] - 3 * np.arange(2)
    text = f"""
    void assemble(double *A, const double *x, double *sum, double *least, double *greatest
                  {", double *b" if with_vector else ""}) {{
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) A[2 * i + j] += x[0] * (1 + i - 3 * j);
      sum[0] += x[0];
      sum[1] += 1;
      least[0] = x[0] < least[0] ? x[0] : least[0];
      greatest[0] = x[0] > greatest[0] ? x[0] : greatest[0];
      {"b[0] += 2 * x[0];" if with_vector else ""}
    }}
    """
    tensors = (x[:, None, None] * tensor * (rows >= 0)[:, :, None])[:, :, None, :, None]
    is_kept = (rows >= 0).any(axis=1)
    held = np.where(rows < 0, rows.max(axis=1, keepdims=True), rows)[is_kept]
    expected = (
        (mat, at_places(mat, held, columns[is_kept], tensors[is_kept])),
        (sums, np.array([1 + x.sum(), 2.0 + N_ELEMENTS])),
        (least, x.min(keepdims=True)),
        (greatest, x.max(keepdims=True)),
    )
    values = (mat(INC, (c2n, c2o)), op2.Dat(cells, x.copy())(READ))
    reduced = (sums(INC), least(op2.MIN), greatest(op2.MAX))
    return Problem(
        kernel=op2.Kernel(text, "assemble"),
        iterset=cells,
        args=(*values, *reduced, *([vector(INC, c2t)] if with_vector else [])),
        expected=(
            *expected,
            *([(vector, added(np.zeros(N_TARGETS), at[:, 0], 2 * x))] if with_vector else []),
        ),
    )


@case(IMPURE_SUMS)  # no target has to do with elements whose rows lead nowhere
def matrix_by_partial_rows_and_globals(rng: np.random.Generator) -> Problem:
    return with_partial_rows(rng, with_vector=False)


@case(SUMS)
def matrix_by_partial_rows_and_globals_and_vector(rng: np.random.Generator) -> Problem:
    return with_partial_rows(rng, with_vector=True)
