# SPDX-License-Identifier: BSD-3-Clause
"""Loops over Subsets and extruded Sets, through other paths than Maps, with views and mixed Dats.

They are part of the corpus of `corpus.py`, which imports this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from corpus import (
    BLOCKS_SPLIT_COLUMNS,
    IN_ORDER,
    N_ELEMENTS,
    N_TARGETS,
    NO_RACE,
    OVERWRITES,
    SUMS,
    SUMS_ON_TWO_SETS,
    Array,
    Problem,
    added,
    case,
    distinct_map,
    elements,
    random_map,
    targets,
)

from pyop2cxx import op2
from pyop2cxx.op2 import INC, MAX, MIN, READ, RW, WRITE

# Subsets


def some(rng: np.random.Generator, whole: op2.Set, n: int) -> tuple[op2.Subset, Array]:
    """Return a Subset of this many entities, and their numbers."""
    numbers = np.sort(rng.permutation(whole.total_size)[:n])
    return op2.Subset(whole, numbers), numbers


@case(NO_RACE)
def narrowed_negations(rng: np.random.Generator) -> Problem:
    """The least value of a narrow type is its own negation: CUDA's assembler once lost that."""
    cells = elements()
    v = rng.choice(np.array([0, 1, 127, 128, 384, -128, 16384, -16384, 32768]), N_ELEMENTS)
    v = v.astype(np.int32)
    text = """
    #include <stdint.h>
    void narrow(const int *v, uint16_t *a, int *b, long long *c) {
      const uint16_t bits = (uint16_t)(signed char)-v[0];
      if (bits > a[0]) a[0] = bits;
      b[0] = (short)-(v[0] << 1);
      c[0] = (int8_t)-(v[0] * 3);
    }
    """
    bits = (-v).astype(np.int8).astype(np.uint16)
    a, b, c = (op2.Dat(cells, dtype=d) for d in (np.uint16, np.int32, np.int64))
    return Problem(
        kernel=op2.Kernel(text, "narrow"),
        iterset=cells,
        args=(op2.Dat(cells, v.copy())(READ), a(RW), b(WRITE), c(WRITE)),
        expected=(
            (a, bits),
            (b, (-(v * 2)).astype(np.int16).astype(np.int32)),
            (c, (-(v * 3)).astype(np.int8).astype(np.int64)),
        ),
    )


@case(NO_RACE)
def subset_direct(rng: np.random.Generator) -> Problem:
    cells = elements()
    part, numbers = some(rng, cells, 1300)
    x, y = rng.standard_normal((2, N_ELEMENTS))
    read, written = op2.Dat(cells, x.copy()), op2.Dat(cells, y.copy())
    total = op2.Global(1, 3.0)
    text = "void f(const double *x, double *y, double *g) { *y = 2 * *x; *g += *x; }"
    expected = y.copy()
    expected[numbers] = 2 * x[numbers]
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=part,
        args=(read(READ), written(WRITE), total(INC)),
        expected=((written, expected), (total, np.array([3.0 + x[numbers].sum()]))),
    )


@case(SUMS)
def subset_inc(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    part, numbers = some(rng, edges, 1500)
    e2n, values = random_map(rng, edges, nodes, 3)
    w, x = rng.standard_normal(N_ELEMENTS), rng.standard_normal((N_TARGETS, 2))
    weight, at_nodes = op2.Dat(edges, w.copy()), op2.Dat(nodes**2, x.copy())
    sums = op2.Dat(nodes**2, np.ones((N_TARGETS, 2)))
    text = """
    void spread(const double *w, const double *x, double *y) {
      for (int i = 0; i < 3; ++i)
        for (int c = 0; c < 2; ++c) y[2 * i + c] += w[0] * x[2 * i + c];
    }
    """
    rows = values[numbers]
    shares = w[numbers, None, None] * x[rows]
    return Problem(
        kernel=op2.Kernel(text, "spread"),
        iterset=part,
        args=(weight(READ), at_nodes(READ, e2n), sums(INC, e2n)),
        expected=((sums, added(np.ones((N_TARGETS, 2)), rows, shares)),),
    )


@case(SUMS)
def subset_inc_with_ghosts(rng: np.random.Generator) -> Problem:
    """Loops run over the owned entities of a Subset."""
    edges, nodes = op2.Set((1000, 1600, 1800)), targets()
    part, numbers = some(rng, edges, 900)
    e2n, values = random_map(rng, edges, nodes, 2)
    sums = op2.Dat(nodes, np.zeros(N_TARGETS), dtype=np.int64)
    text = "void count(int64_t *y) { y[0] += 1; y[1] += 2; }"
    rows = values[numbers[numbers < 1600]]
    shares = np.broadcast_to([1, 2], rows.shape)
    return Problem(
        kernel=op2.Kernel(text, "count"),
        iterset=part,
        args=(sums(INC, e2n),),
        expected=((sums, added(np.zeros(N_TARGETS, np.int64), rows, shares)),),
    )


@case(NO_RACE)
def subset_of_none(rng: np.random.Generator) -> Problem:
    cells = elements()
    x = rng.standard_normal(N_ELEMENTS)
    both = op2.Dat(cells, x.copy())
    return Problem(
        kernel=op2.Kernel("void f(double *x) { *x = 0; }", "f"),
        iterset=op2.Subset(cells, []),
        args=(both(RW),),
        expected=((both, x),),
    )


# Paths


@case(SUMS)
def permuted_map(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 4)
    order = [2, 0, 3, 1]
    x = rng.standard_normal((N_TARGETS, 2))
    at_nodes, sums = op2.Dat(nodes**2, x.copy()), op2.Dat(nodes, np.zeros(N_TARGETS))
    path = op2.PermutedMap(c2n, order)
    text = """
    void f(const double *x, double *y) {
      for (int i = 0; i < 4; ++i) y[i] += (i + 1) * x[2 * i] - x[2 * i + 1];
    }
    """
    rows = values[:, order]
    shares = [1, 2, 3, 4] * x[rows, 0] - x[rows, 1]
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=cells,
        args=(at_nodes(READ, path), sums(INC, path)),
        expected=((sums, added(np.zeros(N_TARGETS), rows, shares)),),
    )


@case(SUMS)
def permuted_and_plain_map(rng: np.random.Generator) -> Problem:
    """Two paths through one Map lead to the same memory."""
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 3)
    a = op2.Dat(nodes, np.zeros(N_TARGETS), dtype=np.int64)
    path = op2.PermutedMap(c2n, [1, 2, 0])
    text = """
    void f(int64_t *x, int64_t *y) {
      for (int i = 0; i < 3; ++i) { x[i] += 1 + i; y[i] += 10 * (i + 1); }
    }
    """
    start = np.zeros(N_TARGETS, np.int64)
    once = added(start, values, np.broadcast_to([1, 2, 3], values.shape))
    twice = added(once, values[:, [1, 2, 0]], np.broadcast_to([10, 20, 30], values.shape))
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=cells,
        args=(a(INC, c2n), a(INC, path)),
        expected=((a, twice),),
    )


@case(SUMS)
def composed_map(rng: np.random.Generator) -> Problem:
    facets, cells, nodes = elements(), targets(300), targets()
    f2c, outer = random_map(rng, facets, cells, 1)
    c2n, inner = random_map(rng, cells, nodes, 3)
    x = rng.standard_normal(N_TARGETS)
    at_nodes, sums = op2.Dat(nodes, x.copy()), op2.Dat(nodes, np.zeros(N_TARGETS))
    path = op2.ComposedMap(c2n, f2c)
    text = "void f(const double *x, double *y) { y[0] += x[1]; y[2] -= x[0]; }"
    rows = inner[outer[:, 0]]
    shares = np.stack([x[rows[:, 1]], 0 * x[rows[:, 1]], -x[rows[:, 0]]], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=facets,
        args=(at_nodes(READ, path), sums(INC, path)),
        expected=((sums, added(np.zeros(N_TARGETS), rows, shares)),),
    )


# Views


@case(NO_RACE)
def view_direct(rng: np.random.Generator) -> Problem:
    cells = elements()
    x, y = rng.standard_normal((N_ELEMENTS, 3)), rng.standard_normal((N_ELEMENTS, 2))
    read, written = op2.Dat(cells**3, x.copy()), op2.Dat(cells**2, y.copy())
    expected = np.stack([y[:, 0], x[:, 2] + y[:, 1]], axis=1)
    return Problem(
        kernel=op2.Kernel("void f(const double *x, double *y) { *y += *x; }", "f"),
        iterset=cells,
        args=(op2.DatView(read, 2)(READ), op2.DatView(written, 1)(RW)),
        expected=((written, expected),),
    )


@case(SUMS)
def views_of_two_components(rng: np.random.Generator) -> Problem:
    """Components of one Dat are apart, so nothing overlaps."""
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    x, start = rng.standard_normal((N_TARGETS, 2, 2)), rng.standard_normal((N_TARGETS, 3))
    read, sums = op2.Dat(nodes ** (2, 2), x.copy()), op2.Dat(nodes**3, start.copy())
    text = """
    void f(const double *x, double *a, double *b) {
      for (int i = 0; i < 2; ++i) { a[i] += x[i]; b[i] -= 2 * x[1 - i]; }
    }
    """
    seen = x[values, 1, 0]
    shares = np.zeros((*values.shape, 3))
    shares[:, :, 2] = seen
    shares[:, :, 0] = -2 * seen[:, ::-1]
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=edges,
        args=(
            op2.DatView(read, (1, 0))(READ, e2n),
            op2.DatView(sums, 2)(INC, e2n),
            op2.DatView(sums, 0)(INC, e2n),
        ),
        expected=((sums, added(start, values, shares)),),
    )


@case(IN_ORDER)
def view_and_whole_dat(rng: np.random.Generator) -> Problem:
    """A view overlaps its parent."""
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 1)
    sums = op2.Dat(nodes**2, np.zeros((N_TARGETS, 2)), dtype=np.int64)
    text = "void f(int64_t *a, int64_t *b) { a[0] += 1; a[1] += 2; b[0] += 3; }"
    shares = np.broadcast_to([1, 5], (N_ELEMENTS, 1, 2))
    start = np.zeros((N_TARGETS, 2), np.int64)
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=edges,
        args=(sums(INC, e2n), op2.DatView(sums, 1)(INC, e2n)),
        expected=((sums, added(start, values, shares)),),
    )


# Mixed Dats


@case(SUMS_ON_TWO_SETS)
def mixed_inc(rng: np.random.Generator) -> Problem:
    cells, nodes, facets = elements(), targets(), targets(400)
    c2n, at = random_map(rng, cells, nodes, 3)
    c2f, on = random_map(rng, cells, facets, 2)
    x, y = rng.standard_normal(N_TARGETS), rng.standard_normal((400, 2))
    read = op2.MixedDat((op2.Dat(nodes, x.copy()), op2.Dat(facets**2, y.copy())))
    sums = op2.MixedDat(op2.MixedDataSet((nodes, facets), (1, 2)))
    both = op2.MixedMap((c2n, c2f))
    text = """
    void f(const double *x, double *y) {
      for (int i = 0; i < 7; ++i) y[i] += (i + 1) * x[6 - i];
    }
    """
    flat = np.concatenate([x[at], y[on].reshape(-1, 4)], axis=1)
    shares = np.arange(1, 8) * flat[:, ::-1]
    first, second = sums.split
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=cells,
        args=(read(READ, both), sums(INC, both)),
        expected=(
            (first, added(np.zeros(N_TARGETS), at, shares[:, :3])),
            (second, added(np.zeros((400, 2)), on, shares[:, 3:].reshape(-1, 2, 2))),
        ),
    )


@case(SUMS)
def mixed_min_of_one_set(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = distinct_map(rng, cells, nodes, 2)
    x = rng.integers(1000, size=(N_ELEMENTS, 2))
    number = op2.Dat(cells**2, x.copy(), dtype=np.int64)
    low = op2.MixedDat([op2.Dat(nodes, np.full(N_TARGETS, 900), np.int64) for _ in range(2)])
    text = """
    void f(const int64_t *x, int64_t *y) {
      for (int i = 0; i < 4; ++i) { if (x[i / 2] < y[i]) y[i] = x[i / 2]; }
    }
    """
    expected = [np.full(N_TARGETS, 900) for _ in range(2)]
    for f in range(2):
        np.minimum.at(expected[f], values, np.stack([x[:, f]] * 2, axis=1))
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=cells,
        args=(number(READ), low(MIN, (c2n, c2n))),
        expected=tuple(zip(low.split, expected, strict=True)),
    )


@case(NO_RACE)
def mixed_direct(rng: np.random.Generator) -> Problem:
    cells = elements()
    x, y = rng.standard_normal(N_ELEMENTS), rng.standard_normal((N_ELEMENTS, 2))
    both = op2.MixedDat((op2.Dat(cells, x.copy()), op2.Dat(cells**2, y.copy())))
    text = "void f(double *x) { double t = x[0]; x[0] = x[2]; x[2] = t; }"
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=cells,
        args=(both(RW),),
        expected=((both[0], y[:, 1]), (both[1], np.stack([y[:, 0], x], axis=1))),
    )


# Extruded Sets: nodes are numbered up the columns

N_COLUMNS = 250
N_VERTICES = 140


class Prism:
    """Columns of cells over triangles, with nodes at the ends of vertical edges."""

    def __init__(self, rng: np.random.Generator, layers: Any, *, periodic: bool = False) -> None:
        base, vertices = op2.Set(N_COLUMNS, "triangles"), N_VERTICES
        self.columns = op2.ExtrudedSet(base, layers, extruded_periodic=periodic)
        bounds = np.broadcast_to(self.columns.layers_array, (N_COLUMNS, 2))
        self.bounds = bounds
        height = int(bounds[:, 1].max()) - (1 if periodic else 0)
        self.height = height
        corners = np.argsort(rng.random((N_COLUMNS, vertices)), axis=1)[:, :2]
        # the lower and the upper node of two vertical edges
        first = corners * height + bounds[:, :1]
        values = np.stack([first[:, 0], first[:, 0] + 1, first[:, 1], first[:, 1] + 1], axis=1)
        self.nodes = op2.Set(vertices * height, "nodes")
        self.map = op2.Map(
            self.columns,
            self.nodes,
            4,
            values,
            offset=[1, 1, 1, 1],
            offset_quotient=[0, 1, 0, 1] if periodic else None,
        )
        self.corners, self.base, self.periodic = corners, base, periodic

    def cells(
        self, region: op2.IterationRegion = op2.ALL, columns: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Return columns and layers of the cells, and their nodes; twice as many for facets."""
        n_above = 2 if region == op2.ON_INTERIOR_FACETS else 1
        # along cells, cells above, corners, both ends
        above, end_ = np.arange(n_above)[:, None, None], np.arange(2)
        found = []
        for column in range(N_COLUMNS) if columns is None else columns:
            bottom, end = (int(b) for b in self.bounds[column])
            cells = np.arange(bottom, end - 1)
            if region == op2.ON_BOTTOM:
                cells = cells[:1]
            elif region == op2.ON_TOP:
                cells = cells[-1:]
            elif region == op2.ON_INTERIOR_FACETS and not self.periodic:
                cells = cells[:-1]
            height = cells[:, None, None, None] + above + end_
            height = height % self.height if self.periodic else height
            corners = np.array(self.corners[column])[:, None] * self.height
            rows = (corners + height).reshape(cells.size, 2 * n_above * corners.size)
            found.append((np.full(cells.size, column), cells, rows))
        column, layer, nodes = map(np.concatenate, zip(*found, strict=True))
        return column, layer, nodes


def extruded_sum(
    rng: np.random.Generator,
    prism: Prism,
    region: op2.IterationRegion | None = None,
    part: Array | None = None,
) -> Problem:
    """Return a loop that adds to the nodes of each cell what is read at others and on its base."""
    columns, _, rows = prism.cells(op2.ALL if region is None else region, part)
    n = prism.nodes.size
    x, w = rng.standard_normal(n), rng.standard_normal(N_COLUMNS)
    at_nodes, weight = op2.Dat(prism.nodes, x.copy()), op2.Dat(prism.base, w.copy())
    sums = op2.Dat(prism.nodes, np.zeros(n))
    arity = rows.shape[1]
    text = f"""
    void f(const double *w, const double *x, double *y) {{
      for (int i = 0; i < {arity}; ++i) y[i] += w[0] * (i + 1) * x[{arity} - 1 - i];
    }}
    """
    shares = w[columns, None] * np.arange(1, arity + 1) * x[rows[:, ::-1]]
    iterset = prism.columns if part is None else op2.Subset(prism.columns, part)
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=iterset,
        args=(weight(READ), at_nodes(READ, prism.map), sums(INC, prism.map)),
        expected=((sums, added(np.zeros(n), rows, shares)),),
        options={} if region is None else {"iteration_region": region},
    )


def varying(rng: np.random.Generator) -> Array:
    bottom = rng.integers(3, size=N_COLUMNS)
    return np.stack([bottom, bottom + rng.integers(2, 7, size=N_COLUMNS)], axis=1)


@case(SUMS)
def extruded_constant(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 6))


@case(SUMS)
def extruded_bottom(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 6), op2.ON_BOTTOM)


@case(SUMS)
def extruded_top(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 6), op2.ON_TOP)


@case(SUMS)
def extruded_facets(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 5), op2.ON_INTERIOR_FACETS)


@case(SUMS)
def extruded_periodic(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 6, periodic=True))


@case(SUMS)
def extruded_periodic_facets(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 6, periodic=True), op2.ON_INTERIOR_FACETS)


@case(SUMS)
def extruded_subset(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, 5), part=np.flatnonzero(rng.random(N_COLUMNS) < 0.7))


@case(SUMS)
def extruded_variable(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, varying(rng)))


@case(SUMS)
def extruded_variable_top_of_subset(rng: np.random.Generator) -> Problem:
    part = np.flatnonzero(rng.random(N_COLUMNS) < 0.7)
    return extruded_sum(rng, Prism(rng, varying(rng)), op2.ON_TOP, part)


@case(SUMS)
def extruded_variable_facets(rng: np.random.Generator) -> Problem:
    return extruded_sum(rng, Prism(rng, varying(rng)), op2.ON_INTERIOR_FACETS)


@case(SUMS)
def extruded_layer_argument(rng: np.random.Generator) -> Problem:
    """The kernel gets the layer, counted from that of the lowest column."""
    prism = Prism(rng, varying(rng))
    _, layers, rows = prism.cells()
    highest = op2.Dat(prism.nodes, np.full(prism.nodes.size, -1), dtype=np.int32)
    expected = np.full(prism.nodes.size, -1, np.int32)
    np.maximum.at(expected, rows, layers[:, None].astype(np.int32))
    text = """
    void f(int *x, int layer) {
      for (int i = 0; i < 4; ++i) { if (layer > x[i]) x[i] = layer; }
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=prism.columns,
        args=(highest(MAX, prism.map),),
        expected=((highest, expected),),
        options={"pass_layer_arg": True},
    )


@case(SUMS)
def extruded_constant_along_columns(rng: np.random.Generator) -> Problem:
    """A Map without offsets leads from all cells of a column to the same entities."""
    base, nodes = op2.Set(N_COLUMNS), targets(90)
    columns = op2.ExtrudedSet(base, 7)
    c2n, values = random_map(rng, columns, nodes, 2)
    count = op2.Dat(nodes, dtype=np.int32)
    shares = np.broadcast_to([6, 12], values.shape)
    return Problem(
        kernel=op2.Kernel("void f(int *x) { x[0] += 1; x[1] += 2; }", "f"),
        iterset=columns,
        args=(count(INC, c2n),),
        expected=((count, added(np.zeros(90, np.int32), values, shares)),),
    )


@case(SUMS)
def extruded_sum_on_the_base(rng: np.random.Generator) -> Problem:
    """The cells of a column add to one entity of the base Set, also between two of them."""
    prism = Prism(rng, varying(rng))
    columns, _, rows = prism.cells(op2.ON_INTERIOR_FACETS)
    x = rng.standard_normal(prism.nodes.size)
    at_nodes = op2.Dat(prism.nodes, x.copy())
    sums = op2.Dat(prism.base**2, np.ones((N_COLUMNS, 2)))
    text = "void f(const double *x, double *y) { y[0] += x[0] * x[7]; y[1] += 1; }"
    shares = np.stack([x[rows[:, 0]] * x[rows[:, 7]], np.ones(len(rows))], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=prism.columns,
        args=(at_nodes(READ, prism.map), sums(INC)),
        expected=((sums, added(np.ones((N_COLUMNS, 2)), columns[:, None], shares[:, None])),),
        options={"iteration_region": op2.ON_INTERIOR_FACETS},
    )


@case(OVERWRITES, not_on_gpus=BLOCKS_SPLIT_COLUMNS)
def extruded_updates_on_the_base(rng: np.random.Generator) -> Problem:
    """They see one another's updates, and what a kernel does not write stays."""
    prism = Prism(rng, 7)
    h, w = rng.standard_normal(N_COLUMNS), rng.standard_normal((N_COLUMNS, 2))
    height, top = op2.Dat(prism.base, h.copy()), op2.Dat(prism.base**2, w.copy())
    both = op2.MixedDat((op2.Dat(prism.base), op2.Dat(prism.base)))
    text = "void f(double *h, double *w, double *m) { h[0] *= 2; w[1] = 5; m[1] += 1; }"
    return Problem(
        kernel=op2.Kernel(text, "f"),
        iterset=prism.columns,
        args=(height(RW), top(WRITE), both(INC)),
        expected=(
            (height, h * 2.0**6),
            (top, np.stack([w[:, 0], np.full(N_COLUMNS, 5.0)], axis=1)),
            (both[0], np.zeros(N_COLUMNS)),
            (both[1], np.full(N_COLUMNS, 6.0)),
        ),
    )
