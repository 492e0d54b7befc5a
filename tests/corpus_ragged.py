# SPDX-License-Identifier: BSD-3-Clause
"""Loops by ragged Maps, whose rows have entries of their own number.

They are part of the corpus of `corpus.py`, which imports this file.
"""

from __future__ import annotations

import numpy as np
from corpus import N_ELEMENTS, N_TARGETS, Array, Problem, case, elements, targets

from pyop2cxx import op2
from pyop2cxx.op2 import INC, MAX, MIN, READ, WRITE

READS = frozenset({"direct", "atomic", "block", "colour"})
SUMS = frozenset({"atomic", "block", "colour"})
OVERWRITES = frozenset({"block", "colour"})


def ragged_map(
    rng: np.random.Generator, source: op2.Set, target: op2.Set, *, longest: int = 12
) -> tuple[op2.RaggedMap, Array, Array]:
    """Return a ragged Map that collides, also within a row, and for each entry row and target."""
    lengths = rng.integers(longest + 1, size=source.total_size)
    rows = np.repeat(np.arange(source.total_size), lengths)
    values = rng.integers(target.total_size, size=len(rows))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return op2.RaggedMap(source, target, offsets, values), rows, values


def summed(n: int, rows: Array, shares: Array) -> Array:
    """Return for each of n rows what shares add up to."""
    total = np.zeros((n, *shares.shape[1:]))
    np.add.at(total, rows, shares)
    return total


@case(READS)
def ragged_read(rng: np.random.Generator) -> Problem:
    cells, faces = elements(), targets()
    paths, rows, values = ragged_map(rng, cells, faces, longest=90)
    q = rng.standard_normal((N_TARGETS, 2))
    g = op2.Dat(cells**2)
    text = """
    void gather(double *g, const double *q, const int *n) {
      g[0] = g[1] = 0;
      for (int i = 0; i < *n; i++)
        for (int c = 0; c < 2; c++) g[c] += (c + 1) * q[2 * i + c];
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "gather"),
        iterset=cells,
        args=(g(WRITE), op2.Dat(faces**2, q.copy())(READ, paths), paths.counts(READ)),
        expected=((g, summed(N_ELEMENTS, rows, q[values] * [1, 2])),),
    )


@case(READS)
def ragged_read_packed(rng: np.random.Generator) -> Problem:
    """The kernel hands its argument on, so that the rows are packed."""
    cells, faces = elements(), targets()
    paths, rows, values = ragged_map(rng, cells, faces, longest=64)
    q = rng.standard_normal(N_TARGETS)
    g = op2.Dat(cells)
    text = """
    static double sum_of(const double *q, int n) {
      double s = 0;
      for (int i = 0; i < n; i++) s += q[i];
      return s;
    }
    void gather(double *g, const double *q, const int *n) { g[0] = sum_of(q, *n); }
    """
    return Problem(
        kernel=op2.Kernel(text, "gather"),
        iterset=cells,
        args=(g(WRITE), op2.Dat(faces, q.copy())(READ, paths), paths.counts(READ)),
        expected=((g, summed(N_ELEMENTS, rows, q[values])),),
    )


@case(SUMS)
def ragged_inc(rng: np.random.Generator) -> Problem:
    cells, faces = elements(), targets()
    paths, rows, values = ragged_map(rng, cells, faces)
    x = rng.standard_normal((N_ELEMENTS, 3))
    s = op2.Dat(faces**3)
    text = """
    void spread(double *s, const double *x, const int *n) {
      for (int i = 0; i < *n; i++)
        for (int c = 0; c < 3; c++) s[3 * i + c] += x[c] / *n;
    }
    """
    lengths = np.bincount(rows, minlength=N_ELEMENTS)[:, None]
    shares = (x / np.maximum(lengths, 1))[rows]
    return Problem(
        kernel=op2.Kernel(text, "spread"),
        iterset=cells,
        args=(s(INC, paths), op2.Dat(cells**3, x.copy())(READ), paths.counts(READ)),
        expected=((s, summed(N_TARGETS, values, shares)),),
    )


@case(SUMS)
def ragged_extrema(rng: np.random.Generator) -> Problem:
    cells, faces = elements(), targets()
    paths, rows, values = ragged_map(rng, cells, faces)
    x = rng.integers(-1000, 1000, N_ELEMENTS)
    least, most = op2.Dat(faces, 100, np.int32), op2.Dat(faces, 100, np.int32)
    text = """
    void bound(int *least, int *most, const int *x, const int *n) {
      for (int i = 0; i < *n; i++) {
        if (x[0] + i < least[i]) least[i] = x[0] + i;
        if (x[0] + i > most[i]) most[i] = x[0] + i;
      }
    }
    """
    slots = np.arange(len(rows)) - np.searchsorted(rows, rows)
    lower, upper = np.full(N_TARGETS, 100, np.int32), np.full(N_TARGETS, 100, np.int32)
    np.minimum.at(lower, values, (x[rows] + slots).astype(np.int32))
    np.maximum.at(upper, values, (x[rows] + slots).astype(np.int32))
    return Problem(
        kernel=op2.Kernel(text, "bound"),
        iterset=cells,
        args=(
            least(MIN, paths),
            most(MAX, paths),
            op2.Dat(cells, x.astype(np.int32), np.int32)(READ),
            paths.counts(READ),
        ),
        expected=((least, lower), (most, upper)),
    )


@case(OVERWRITES)
def ragged_write(rng: np.random.Generator) -> Problem:
    """Targets that several elements write get the same value from each."""
    cells, faces = elements(), targets()
    paths, _, values = ragged_map(rng, cells, faces)
    x = rng.standard_normal(N_TARGETS)
    y = op2.Dat(faces, 7.0)
    text = """
    void copy(double *y, const double *x, const int *n) {
      for (int i = 0; i < *n; i++) y[i] = 2 * x[i];
    }
    """
    reached = np.isin(np.arange(N_TARGETS), values)
    return Problem(
        kernel=op2.Kernel(text, "copy"),
        iterset=cells,
        args=(y(WRITE, paths), op2.Dat(faces, x.copy())(READ, paths), paths.counts(READ)),
        expected=((y, np.where(reached, 2 * x, 7.0)),),
    )


@case(SUMS)
def ragged_of_a_subset_with_total(rng: np.random.Generator) -> Problem:
    """Elements without entries are visited, too, and a Global takes part."""
    cells, faces = elements(), targets()
    paths, rows, values = ragged_map(rng, cells, faces, longest=3)
    visited = np.flatnonzero(rng.random(N_ELEMENTS) < 0.6)
    q = rng.integers(-9, 9, N_TARGETS).astype(float)
    s, total = op2.Dat(faces), op2.Global(1, 0.0)
    text = """
    void add(double *s, const double *q, double *total, const int *n) {
      for (int i = 0; i < *n; i++) { s[i] += 3 * q[i]; *total += q[i]; }
      *total += 1;
    }
    """
    is_visited = np.isin(rows, visited)
    used = values[is_visited]
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=op2.Subset(cells, visited),
        args=(
            s(INC, paths),
            op2.Dat(faces, q.copy())(READ, paths),
            total(INC),
            paths.counts(READ),
        ),
        expected=(
            (s, summed(N_TARGETS, used, 3 * q[used])),
            (total, np.array([q[used].sum() + len(visited)])),
        ),
    )


@case(SUMS)
def ragged_matrix(rng: np.random.Generator) -> Problem:
    """Rows by one ragged Map and columns by another, in blocks."""
    cells, faces, nodes = elements(), targets(), targets(50)
    paths, rows, values = ragged_map(rng, cells, faces, longest=5)
    others, columns, ends = ragged_map(rng, cells, nodes, longest=4)
    mat = op2.Mat(op2.Sparsity((faces**1, nodes**2), [(paths, others)]))
    x = rng.standard_normal(N_ELEMENTS)
    text = """
    void couple(double *A, const double *x, const int *n, const int *m) {
      for (int i = 0; i < *n; i++)
        for (int j = 0; j < *m; j++)
          for (int c = 0; c < 2; c++) A[(i * *m + j) * 2 + c] += x[0] * (1 + c) + i - j;
    }
    """
    dense = np.zeros((N_TARGETS, 50, 2))
    slots = np.arange(len(rows)) - np.searchsorted(rows, rows)
    for row, value, slot in zip(rows, values, slots, strict=True):
        own = ends[columns == row]
        shares = x[row] * np.array([1, 2]) + slot - np.arange(len(own))[:, None]
        np.add.at(dense, (value, own), shares)
    sparsity = mat.sparsity
    at = np.repeat(np.arange(N_TARGETS), np.diff(sparsity.rowptr)), sparsity.colidx
    return Problem(
        kernel=op2.Kernel(text, "couple"),
        iterset=cells,
        args=(
            mat(INC, (paths, others)),
            op2.Dat(cells, x.copy())(READ),
            paths.counts(READ),
            others.counts(READ),
        ),
        expected=((mat, dense[at].reshape(-1)),),
    )
