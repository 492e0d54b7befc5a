# SPDX-License-Identifier: BSD-3-Clause
"""Loops that every backend and every strategy must run to the same end.

A case builds its Sets, Maps and values from a seed of its own and says, by plain NumPy, what the
loop must leave behind. Each also lists the strategies that must work on a backend with threads;
every other one must be refused. Most loops have enough elements for three threads.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyop2cxx import op2
from pyop2cxx.op2 import INC, MAX, MIN, READ, RW, WRITE

Array: TypeAlias = NDArray[Any]
Values: TypeAlias = op2.Dat | op2.Global | op2.Mat

# Fewer where a simulator runs them (test_races.py).
N_ELEMENTS = int(os.environ.get("CORPUS_ELEMENTS", "2000"))
N_TARGETS = int(os.environ.get("CORPUS_TARGETS", "600"))

# Strategies that are legal with threads, by what a loop writes.
ALL = frozenset({"direct", "owner", "scratch", "atomic", "block", "colour"})
NO_RACE = ALL - {"owner", "scratch"}  # nothing is reduced through a Map
SUMS = ALL - {"direct"}  # reductions through Maps to one Set
TEAM_SUMS = SUMS | {"team"}  # ... of sums along dimensions; `team` is for blocks of lanes
IMPURE_SUMS = SUMS - {"owner"}  # ... by a kernel that must be called once an element
SUMS_ON_TWO_SETS = SUMS - {"owner", "scratch"}
OVERWRITES = frozenset({"block", "colour"})  # values seen or set through a Map that collides
IN_ORDER = frozenset({"block"})  # memory overlaps in ways that Maps do not show

# Cells of a column see one another's values from the bottom up: a GPU's blocks may split a column.
BLOCKS_SPLIT_COLUMNS = frozenset({"block"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A loop that has not run, and what it must leave behind.

    Attributes:
        kernel: The kernel.
        iterset: The Set.
        args: The arguments.
        expected: All that is written, ghosts too. What else the arguments hold must not change.
        check: If given, asserts what is certain where the outcome depends on the order.
        constants: Consts by name, to be removed after the run.
        options: More keywords for `ParLoop`.
    """

    kernel: op2.Kernel
    iterset: op2.Set
    args: tuple[Any, ...]
    expected: tuple[tuple[Values, Array], ...] = ()
    check: Callable[[], None] | None = None
    constants: tuple[op2.Const, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


Build: TypeAlias = Callable[[np.random.Generator], Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A loop by its name.

    Attributes:
        name: The name.
        build: Makes the loop anew from random numbers.
        strategies: Those that must work on a backend with threads; elsewhere `direct` does too.
        not_on_gpus: Those of them that a GPU must refuse.
        tolerance: Of floating-point values, relative to the largest one expected. Integers and
            what is only read must be exact.
        needs: What not every backend has: 'complex' numbers, kernels in 'cpp', 'headers' of the
            user, memory that may 'overlap' in part.
    """

    name: str
    build: Build
    strategies: frozenset[str]
    tolerance: float
    needs: frozenset[str] = frozenset()
    not_on_gpus: frozenset[str] = frozenset()

    def problem(self) -> Problem:
        """Return the loop and its data, the same each time."""
        return self.build(np.random.default_rng(zlib.crc32(self.name.encode())))


CASES: list[Case] = []


def case(
    strategies: frozenset[str],
    *,
    tolerance: float = 1e-13,
    name: str = "",
    needs: frozenset[str] = frozenset(),
    not_on_gpus: frozenset[str] = frozenset(),
) -> Callable[[Build], Build]:
    """Add what the decorated function builds to the corpus."""

    def add(build: Build) -> Build:
        CASES.append(
            Case(
                name=name or build.__name__,
                build=build,
                strategies=strategies,
                tolerance=tolerance,
                needs=needs,
                not_on_gpus=not_on_gpus,
            )
        )
        return build

    return add


# Meshes


def random_map(
    rng: np.random.Generator, source: op2.Set, target: op2.Set, arity: int
) -> tuple[op2.Map, Array]:
    """Return a Map that collides, also within a row, and its values."""
    values = rng.integers(target.total_size, size=(source.total_size, arity))
    return op2.Map(source, target, arity, values), values


def distinct_map(
    rng: np.random.Generator, source: op2.Set, target: op2.Set, arity: int
) -> tuple[op2.Map, Array]:
    """Return a Map that collides, but not within a row, and its values."""
    keys = rng.random((source.total_size, target.total_size))
    values = np.argsort(keys, axis=1)[:, :arity]
    return op2.Map(source, target, arity, values), values


def injective_map(
    rng: np.random.Generator, source: op2.Set, target: op2.Set, arity: int
) -> tuple[op2.Map, Array]:
    """Return a Map that leads nowhere twice, and its values."""
    n_values = source.total_size * arity
    values = rng.permutation(target.total_size)[:n_values].reshape(-1, arity)
    return op2.Map(source, target, arity, values), values


def grid_edges(n: int) -> tuple[Array, Array]:
    """Return the nodes and the cells of the inner upright edges of n by n squares."""
    column, row = (a.ravel() for a in np.meshgrid(np.arange(1, n), np.arange(n)))
    lower = row * (n + 1) + column
    right = row * n + column
    return np.stack([lower, lower + n + 1], axis=1), np.stack([right - 1, right], axis=1)


def grid_cells(n: int) -> Array:
    """Return the four nodes of each of n by n squares, around it."""
    column, row = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n)))
    corner = row * (n + 1) + column
    return np.stack([corner, corner + 1, corner + n + 2, corner + n + 1], axis=1)


def added(start: Array, values: Array, shares: Array) -> Array:
    """Return what elements' shares add up to; shares of shape (*values.shape, *dim)."""
    total = start.copy()
    np.add.at(total, values, shares)
    return total


def elements(n: int = N_ELEMENTS) -> op2.Set:
    """Return a Set to iterate over."""
    return op2.Set(n, "elements")


def targets(n: int = N_TARGETS) -> op2.Set:
    """Return a Set that Maps lead to."""
    return op2.Set(n, "targets")


# Direct loops


@case(NO_RACE)
def direct_read_write(rng: np.random.Generator) -> Problem:
    cells = elements()
    x = rng.standard_normal(N_ELEMENTS)
    read, written = op2.Dat(cells, x.copy()), op2.Dat(cells**2)
    text = "void split(const double *x, double *y) { y[0] = 2 * x[0]; y[1] = x[0] - 1; }"
    return Problem(
        kernel=op2.Kernel(text, "split"),
        iterset=cells,
        args=(read(READ), written(WRITE)),
        expected=((written, np.stack([2 * x, x - 1], axis=1)),),
    )


@case(NO_RACE)
def direct_rw_inc(rng: np.random.Generator) -> Problem:
    cells = elements()
    x, y = rng.standard_normal((N_ELEMENTS, 2)), rng.standard_normal(N_ELEMENTS)
    both, sums = op2.Dat(cells**2, x.copy()), op2.Dat(cells, y.copy())
    text = "void step(double *x, double *y) { x[0] += x[1]; y[0] += x[0]; }"
    first = x[:, 0] + x[:, 1]
    return Problem(
        kernel=op2.Kernel(text, "step"),
        iterset=cells,
        args=(both(RW), sums(INC)),
        expected=((both, np.stack([first, x[:, 1]], axis=1)), (sums, y + first)),
    )


@case(NO_RACE)
def direct_min_max(rng: np.random.Generator) -> Problem:
    cells = elements()
    x, low, high = rng.standard_normal((3, N_ELEMENTS))
    value, lowest, highest = (op2.Dat(cells, a.copy()) for a in (x, low, high))
    text = """
    void limit(const double *x, double *low, double *high) {
      if (x[0] < low[0]) low[0] = x[0];
      high[0] = fmax(high[0], x[0]);
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "limit"),
        iterset=cells,
        args=(value(READ), lowest(MIN), highest(MAX)),
        expected=((lowest, np.minimum(low, x)), (highest, np.maximum(high, x))),
    )


@case(NO_RACE)
def direct_extrema_of_negated_integers(rng: np.random.Generator) -> Problem:
    """Two extrema of one value, one of them of a negated number: one instruction on some GPUs."""
    cells = elements()
    x, y, z, low, high = rng.integers(-9, 9, (5, N_ELEMENTS)).astype(np.int32)
    values = [op2.Dat(cells, a.copy()) for a in (x, y, z)]
    lowest, highest = (op2.Dat(cells, a.copy()) for a in (low, high))
    text = """
    void limit(const int *x, const int *y, const int *z, int *low, int *high) {
      if (-(x[0] + y[0]) < low[0]) low[0] = -(x[0] + y[0]);
      if (z[0] < low[0]) low[0] = z[0];
      if (-x[0] > high[0]) high[0] = -x[0];
      if (z[0] > high[0]) high[0] = z[0];
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "limit"),
        iterset=cells,
        args=(*(value(READ) for value in values), lowest(MIN), highest(MAX)),
        expected=(
            (lowest, np.minimum(np.minimum(low, -(x + y)), z)),
            (highest, np.maximum(np.maximum(high, -x), z)),
        ),
    )


# Reading through Maps


@case(NO_RACE)
def indirect_read(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 3)
    x = rng.standard_normal((N_TARGETS, 2))
    at_nodes, mean = op2.Dat(nodes**2, x.copy()), op2.Dat(cells**2)
    text = """
    void mean(const double *x, double *y) {
      for (int c = 0; c < 2; ++c) y[c] = (x[c] + x[2 + c] + x[4 + c]) / 3;
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "mean"),
        iterset=cells,
        args=(at_nodes(READ, c2n), mean(WRITE)),
        expected=((mean, x[values].mean(axis=1)),),
    )


@case(NO_RACE)
def one_dat_read_twice(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    x = rng.standard_normal(N_TARGETS)
    at_nodes, result = op2.Dat(nodes, x.copy()), op2.Dat(cells)
    text = "void both(const double *x, const double *y, double *z) { z[0] = x[0] * y[1]; }"
    return Problem(
        kernel=op2.Kernel(text, "both"),
        iterset=cells,
        args=(at_nodes(READ, c2n), at_nodes(READ, c2n), result(WRITE)),
        expected=((result, x[values[:, 0]] * x[values[:, 1]]),),
    )


@case(NO_RACE)
def one_dat_read_in_three_ways(rng: np.random.Generator) -> Problem:
    nodes = targets(N_ELEMENTS)
    following, after = random_map(rng, nodes, nodes, 1)
    preceding, before = random_map(rng, nodes, nodes, 2)
    x = rng.standard_normal(N_ELEMENTS)
    value, result = op2.Dat(nodes, x.copy()), op2.Dat(nodes)
    text = """
    void stencil(const double *x, const double *after, const double *before, double *y) {
      y[0] = after[0] - 2 * x[0] + before[1];
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "stencil"),
        iterset=nodes,
        args=(value(READ), value(READ, following), value(READ, preceding), result(WRITE)),
        expected=((result, x[after[:, 0]] - 2 * x + x[before[:, 1]]),),
    )


# Writing through Maps


@case(NO_RACE)
def indirect_write(rng: np.random.Generator) -> Problem:
    """Components that the kernel leaves alone become 0; targets of no element stay."""
    cells, nodes = elements(), targets(2 * N_ELEMENTS + 100)
    c2n, values = injective_map(rng, cells, nodes, 2)
    x, start = rng.standard_normal(N_ELEMENTS), rng.standard_normal((2 * N_ELEMENTS + 100, 3))
    read, written = op2.Dat(cells, x.copy()), op2.Dat(nodes**3, start.copy())
    expected = start.copy()
    expected[values] = 0
    expected[values[:, 0], 1] = x
    expected[values[:, 1], 2] = -x
    text = "void put(const double *x, double *y) { y[1] = x[0]; y[3 + 2] = -x[0]; }"
    return Problem(
        kernel=op2.Kernel(text, "put"),
        iterset=cells,
        args=(read(READ), written(WRITE, c2n)),
        expected=((written, expected),),
    )


@case(OVERWRITES)
def indirect_write_shared(rng: np.random.Generator) -> Problem:
    """Any element of a target may come last, but its values come together."""
    cells, nodes = elements(), targets(50)
    c2n, values = random_map(rng, cells, nodes, 2)
    number = op2.Dat(cells, np.arange(N_ELEMENTS), dtype=np.int64)
    written = op2.Dat(nodes**8, np.full((50, 8), -1), dtype=np.int64)
    text = """
    void mark(const int64_t *number, int64_t *y) {
      for (int i = 0; i < 16; ++i) y[i] = number[0];
    }
    """

    def check() -> None:
        found = written.data_ro
        assert (found == found[:, :1]).all(), "values of two elements are mixed"
        assert (values[found[:, 0]] == np.arange(50)[:, None]).any(axis=1).all()

    return Problem(
        kernel=op2.Kernel(text, "mark"),
        iterset=cells,
        args=(number(READ), written(WRITE, c2n)),
        check=check,
    )


@case(NO_RACE)
def indirect_rw(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets(2 * N_ELEMENTS + 7)
    c2n, values = injective_map(rng, cells, nodes, 2)
    start = rng.standard_normal((2 * N_ELEMENTS + 7, 2))
    both = op2.Dat(nodes**2, start.copy())
    expected = start.copy()
    expected[values[:, 0], 0] += start[values[:, 1], 1]
    text = "void mix(double *x) { x[0] += x[2 + 1]; }"
    return Problem(
        kernel=op2.Kernel(text, "mix"),
        iterset=cells,
        args=(both(RW, c2n),),
        expected=((both, expected),),
    )


@case(OVERWRITES)
def indirect_rw_shared(rng: np.random.Generator) -> Problem:
    """Elements take turns, so that no count is lost."""
    cells, nodes = elements(), targets(60)
    c2n, values = distinct_map(rng, cells, nodes, 3)
    count = op2.Dat(nodes**2, np.zeros((60, 2)), dtype=np.int32)
    degree = np.bincount(values.ravel(), minlength=60)
    text = """
    void count(int *x) {
      for (int i = 0; i < 3; ++i) {
        x[2 * i] = x[2 * i + 1] + 1;
        x[2 * i + 1] = x[2 * i];
      }
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "count"),
        iterset=cells,
        args=(count(RW, c2n),),
        expected=((count, np.stack([degree, degree], axis=1)),),
    )


# Incrementing through Maps


@case(SUMS_ON_TWO_SETS)
def inc_on_two_sets(rng: np.random.Generator) -> Problem:
    ends, sides = grid_edges(50)
    edges, nodes, cells = elements(len(ends)), op2.Set(51 * 51), op2.Set(50 * 50)
    e2n, e2c = op2.Map(edges, nodes, 2, ends), op2.Map(edges, cells, 2, sides)
    x = rng.standard_normal((51 * 51, 2))
    start = rng.standard_normal(51 * 51), rng.standard_normal((50 * 50, 2))
    place = op2.Dat(nodes**2, x.copy())
    length, flux = op2.Dat(nodes, start[0].copy()), op2.Dat(cells**2, start[1].copy())
    text = """
    void edge(const double *x, double *length, double *flux) {
      double d[2];
      for (int c = 0; c < 2; ++c) d[c] = x[2 + c] - x[c];
      for (int i = 0; i < 2; ++i) length[i] += sqrt(d[0] * d[0] + d[1] * d[1]);
      for (int c = 0; c < 2; ++c) {
        flux[c] += d[c];
        flux[2 + c] -= d[c];
      }
    }
    """
    d = x[ends[:, 1]] - x[ends[:, 0]]
    norm = np.sqrt((d * d).sum(axis=1))
    return Problem(
        kernel=op2.Kernel(text, "edge"),
        iterset=edges,
        args=(place(READ, e2n), length(INC, e2n), flux(INC, e2c)),
        expected=(
            (length, added(start[0], ends, np.stack([norm, norm], axis=1))),
            (flux, added(start[1], sides, np.stack([d, -d], axis=1))),
        ),
    )


@case(SUMS)
def inc_two_dats(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    w = rng.standard_normal(N_ELEMENTS)
    a, b = rng.standard_normal((N_TARGETS, 3)), rng.standard_normal(N_TARGETS)
    weight, first, second = op2.Dat(edges, w), op2.Dat(nodes**3, a.copy()), op2.Dat(nodes, b.copy())
    text = """
    void spread(const double *w, double *a, double *b) {
      for (int c = 0; c < 3; ++c) {
        a[c] += w[0] * (c + 1);
        a[3 + c] -= w[0];
      }
      b[1] += 0.5 * w[0];
    }
    """
    shares = np.stack([w[:, None] * [1, 2, 3], -w[:, None] * [1, 1, 1]], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "spread"),
        iterset=edges,
        args=(weight(READ), first(INC, e2n), second(INC, e2n)),
        expected=((first, added(a, values, shares)), (second, added(b, values[:, 1], w / 2))),
    )


@case(SUMS)
def inc_through_two_maps(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    left, at_left = random_map(rng, edges, nodes, 1)
    right, at_right = random_map(rng, edges, nodes, 2)
    count = op2.Dat(nodes, np.arange(N_TARGETS), dtype=np.int32)
    text = "void add(int *a, int *b) { a[0] += 1; b[0] += 10; b[1] += 100; }"
    expected = added(np.arange(N_TARGETS), at_left[:, 0], np.array(1))
    expected = added(expected, at_right, np.array([[10, 100]]))
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=edges,
        args=(count(INC, left), count(INC, right)),
        expected=((count, expected),),
    )


@case(SUMS)
def inc_two_dats_through_two_maps(rng: np.random.Generator) -> Problem:
    """The Dats share a Map, and one of them is reached through another as well.

    Either Map alone is injective, so only together they collide.
    """
    edges, nodes = elements(), targets(N_ELEMENTS)
    left, at_left = injective_map(rng, edges, nodes, 1)
    right, at_right = injective_map(rng, edges, nodes, 1)
    a, b = (op2.Dat(nodes, np.zeros(N_ELEMENTS), dtype=np.int64) for _ in range(2))
    number = op2.Dat(edges, np.arange(N_ELEMENTS), dtype=np.int64)
    text = """
    void add(const int64_t *number, int64_t *a, int64_t *b, int64_t *c) {
      a[0] += number[0];
      b[0] += 3;
      c[0] -= 2 * number[0];
    }
    """
    n = np.arange(N_ELEMENTS)
    at_a = added(np.zeros_like(n), at_left[:, 0], n)
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=edges,
        args=(number(READ), a(INC, left), b(INC, left), a(INC, right)),
        expected=((a, added(at_a, at_right[:, 0], -2 * n)), (b, np.full(N_ELEMENTS, 3))),
    )


@case(SUMS)
def inc_one_dat_twice(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    w = rng.standard_normal(N_ELEMENTS)
    weight, total = op2.Dat(edges, w.copy()), op2.Dat(nodes)
    text = "void twice(const double *w, double *a, double *b) { a[0] += w[0]; b[1] -= w[0]; }"
    return Problem(
        kernel=op2.Kernel(text, "twice"),
        iterset=edges,
        args=(weight(READ), total(INC, e2n), total(INC, e2n)),
        expected=((total, added(np.zeros(N_TARGETS), values, np.stack([w, -w], axis=1))),),
    )


@case(TEAM_SUMS)
def sums_along_dimensions(rng: np.random.Generator) -> Problem:
    """An evaluation and the transpose, which become one sum for each dimension."""
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 9)
    table, weights = rng.random((4, 3)), rng.random((4, 4))
    x, y = op2.Dat(nodes, rng.random(N_TARGETS)), op2.Dat(nodes)
    text = "".join(
        f"static const double {name}[4][{of.shape[1]}] = {{"
        + ", ".join(f"{{{', '.join(map(repr, row.tolist()))}}}" for row in of)
        + "};\n"
        for name, of in (("B", table), ("w", weights))
    )
    text += """
    void action(double *y, const double *x) {
      for (int p = 0; p < 4; ++p) for (int q = 0; q < 4; ++q) {
        double s = 0;
        for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j)
          s += x[3 * i + j] * B[p][i] * B[q][j];
        const double f = w[p][q] * s;
        for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j)
          y[3 * i + j] += f * B[p][i] * B[q][j];
      }
    }
    """
    at_points = np.einsum("cij,pi,qj->cpq", x.data_ro[values].reshape(-1, 3, 3), table, table)
    shares = np.einsum("cpq,pq,pi,qj->cij", at_points, weights, table, table)
    return Problem(
        kernel=op2.Kernel(text, "action"),
        iterset=cells,
        args=(y(INC, c2n), x(READ, c2n)),
        expected=((y, added(np.zeros(N_TARGETS), values, shares.reshape(-1, 9))),),
    )


@case(TEAM_SUMS, tolerance=1e-11)
def dense_functions(rng: np.random.Generator) -> Problem:
    """A system of each element: its matrix, its solution and the solution's sums at nodes."""
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 4)
    halves = rng.standard_normal((N_ELEMENTS, 4, 4))
    loads = rng.standard_normal(N_TARGETS)
    half, load, y = op2.Dat(cells ** (4, 4), halves), op2.Dat(nodes, loads), op2.Dat(nodes)
    text = """
    void local(double *y, const double *load, const double *half) {
      double matrix[4][4] = {{0}}, x[4];
      for (int i = 0; i < 4; ++i) { matrix[i][i] = 1; x[i] = load[i]; }
      op2_gemm_nt(4, 4, 4, 1.0, half, half, 2.0, matrix);
      op2_spd_solve(4, matrix, x);
      for (int i = 0; i < 4; ++i) y[i] += x[i];
    }
    """
    matrices = halves @ halves.transpose(0, 2, 1) + 2 * np.eye(4)
    solved = np.linalg.solve(matrices, loads[values][..., None])[..., 0]
    return Problem(
        kernel=op2.Kernel(text, "local"),
        iterset=cells,
        args=(y(INC, c2n), load(READ, c2n), half(READ)),
        expected=((y, added(np.zeros(N_TARGETS), values, solved)),),
    )


@case(NO_RACE, tolerance=1e-9)
def dense_with_pivots(rng: np.random.Generator) -> Problem:
    """LU factors with pivots found by each lane; the number says where none was found."""
    cells = elements()
    matrices = rng.integers(-2, 3, (N_ELEMENTS, 5, 5)).astype(float)
    matrices[::7, 2] = 0  # no pivot in the third column or a later one
    a, b, info = (
        op2.Dat(cells ** (5, 5), matrices),
        op2.Dat(cells**5),
        op2.Dat(cells, dtype="int32"),
    )
    text = """
    void solve(double *x, int *info, const double *a) {
      double y[5] = {1, 2, 3, 4, 5};
      info[0] = op2_solve(5, a, y);
      for (int i = 0; i < 5; ++i) x[i] = info[0] ? -1 : y[i];
    }
    """

    def check() -> None:
        whole = info.data_ro == 0
        assert not whole[::7].any()
        regular = np.abs(np.linalg.det(matrices)) > 0.5  # integers
        assert (regular <= whole).all()
        right = np.broadcast_to(np.arange(1.0, 6)[:, None], (N_ELEMENTS, 5, 1))[regular]
        solved = np.linalg.solve(matrices[regular], right)[..., 0]
        np.testing.assert_allclose(b.data_ro[regular], solved, rtol=1e-9, atol=1e-9)
        assert (b.data_ro[~whole] == -1).all()

    return Problem(
        kernel=op2.Kernel(text, "solve"),
        iterset=cells,
        args=(b(WRITE), info(WRITE), a(READ)),
        check=check,
    )


@case(IMPURE_SUMS)
def inc_and_direct_write(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    w = rng.standard_normal(N_ELEMENTS)
    weight, total = op2.Dat(edges, w.copy()), op2.Dat(nodes)
    text = "void halve(double *w, double *a) { w[0] /= 2; a[0] += w[0]; a[1] += w[0]; }"
    shares = np.stack([w / 2, w / 2], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "halve"),
        iterset=edges,
        args=(weight(RW), total(INC, e2n)),
        expected=((weight, w / 2), (total, added(np.zeros(N_TARGETS), values, shares))),
    )


@case(SUMS)
def inc_and_globals(rng: np.random.Generator) -> Problem:
    """The kernel counts once an element, however often a strategy calls it."""
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    w = rng.integers(-99, 99, N_ELEMENTS)
    weight, total = op2.Dat(edges, w.copy()), op2.Dat(nodes, dtype=np.int64)
    sums = op2.Global(2, [1000, -7], dtype=np.int64)
    low, high = op2.Global(1, -3, dtype=np.int64), op2.Global(1, 500, dtype=np.int64)
    text = """
    void tally(const int64_t *w, int64_t *a, int64_t *sums, int64_t *low, int64_t *high) {
      a[0] += w[0];
      a[1] += 1;
      sums[0] += w[0];
      sums[1] += 1;
      if (w[0] < low[0]) low[0] = w[0];
      if (w[0] > high[0]) high[0] = w[0];
    }
    """
    shares = np.stack([w, np.ones_like(w)], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "tally"),
        iterset=edges,
        args=(weight(READ), total(INC, e2n), sums(INC), low(MIN), high(MAX)),
        expected=(
            (total, added(np.zeros(N_TARGETS, np.int64), values, shares)),
            (sums, np.array([1000 + w.sum(), N_ELEMENTS - 7])),
            (low, np.array([w.min()])),
            (high, np.array([500])),
        ),
    )


@case(OVERWRITES)
def inc_of_what_is_read(rng: np.random.Generator) -> Problem:
    """The component that is read is not the one that grows, so the order is not seen."""
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    x = rng.integers(-9, 9, (N_TARGETS, 2))
    value = op2.Dat(nodes**2, x.copy())
    text = """
    void flow(const int64_t *x, int64_t *y) {
      y[0] += x[2 + 1];
      y[2] += x[1];
    }
    """
    expected = x.copy()
    expected[:, 0] = added(x[:, 0], values, x[values[:, ::-1], 1])
    return Problem(
        kernel=op2.Kernel(text, "flow"),
        iterset=edges,
        args=(value(READ, e2n), value(INC, e2n)),
        expected=((value, expected),),
    )


@case(ALL)
def inc_through_injective_map(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets(3 * N_ELEMENTS)
    c2n, values = injective_map(rng, cells, nodes, 2)
    x = rng.standard_normal(3 * N_ELEMENTS)
    total = op2.Dat(nodes, x.copy())
    text = "void add(double *a) { a[0] += 1.5; a[1] -= 2.5; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(total(INC, c2n),),
        expected=((total, added(x, values, np.array([[1.5, -2.5]]))),),
    )


@case(SUMS)
def inc_around_grid_cells(rng: np.random.Generator) -> Problem:
    values = grid_cells(45)
    cells, nodes = elements(45 * 45), op2.Set(46 * 46)
    c2n = op2.Map(cells, nodes, 4, values)
    w = rng.standard_normal(45 * 45)
    weight, total = op2.Dat(cells, w.copy()), op2.Dat(nodes)
    text = "void area(const double *w, double *a) { for (int i = 0; i < 4; ++i) a[i] += *w / 4; }"
    shares = np.repeat(w[:, None] / 4, 4, axis=1)
    return Problem(
        kernel=op2.Kernel(text, "area"),
        iterset=cells,
        args=(weight(READ), total(INC, c2n)),
        expected=((total, added(np.zeros(46 * 46), values, shares)),),
    )


@case(SUMS)
def inc_repeated_in_a_row(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    one = rng.integers(N_TARGETS, size=N_ELEMENTS)
    values = np.stack([one, one, (one + 1) % N_TARGETS, one], axis=1)
    e2n = op2.Map(edges, nodes, 4, values)
    count = op2.Dat(nodes, dtype=np.int32)
    text = "void add(int *a) { for (int i = 0, p = 1; i < 4; ++i, p *= 10) a[i] += p; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=edges,
        args=(count(INC, e2n),),
        expected=((count, added(np.zeros(N_TARGETS), values, np.array([[1, 10, 100, 1000]]))),),
    )


@case(SUMS)
def inc_few_targets(rng: np.random.Generator) -> Problem:
    """A boundary: most entities are no element's target."""
    edges, cells = elements(1700), targets(9000)
    values = rng.choice(9000, 800, replace=False)[rng.integers(800, size=(1700, 1))]
    inner = op2.Map(edges, cells, 1, values)
    w, start = rng.standard_normal(1700), rng.standard_normal((9000, 4))
    weight, flux = op2.Dat(edges, w.copy()), op2.Dat(cells**4, start.copy())
    text = "void bound(const double *w, double *f) { f[1] += w[0]; f[2] -= 2 * w[0]; }"
    shares = np.stack([0 * w, w, -2 * w, 0 * w], axis=1)[:, None, :]
    return Problem(
        kernel=op2.Kernel(text, "bound"),
        iterset=edges,
        args=(weight(READ), flux(INC, inner)),
        expected=((flux, added(start, values, shares)),),
    )


# The smallest and the largest through Maps


@case(SUMS)
def min_max_through_map(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    x, k = rng.standard_normal(N_ELEMENTS), rng.integers(-99, 99, N_ELEMENTS).astype(np.int16)
    low = rng.standard_normal((N_TARGETS, 2)).astype(np.float32)
    value, number = op2.Dat(edges, x.astype(np.float32)), op2.Dat(edges, k.copy())
    lowest, highest = op2.Dat(nodes**2, low.copy()), op2.Dat(nodes, dtype=np.int16)
    text = """
    void limit(const float *x, const int16_t *k, float *low, int16_t *high) {
      for (int i = 0; i < 2; ++i) {
        low[2 * i] = fminf(low[2 * i], x[0]);
        if (-x[0] < low[2 * i + 1]) low[2 * i + 1] = -x[0];
        if (high[i] < k[0]) high[i] = k[0];
      }
    }
    """
    pair = np.stack([x, -x], axis=1).astype(np.float32)
    expected_low, expected_high = low.copy(), np.zeros(N_TARGETS, np.int16)
    for slot in range(2):
        np.minimum.at(expected_low, values[:, slot], pair)
        np.maximum.at(expected_high, values[:, slot], k)
    return Problem(
        kernel=op2.Kernel(text, "limit"),
        iterset=edges,
        args=(value(READ), number(READ), lowest(MIN, e2n), highest(MAX, e2n)),
        expected=((lowest, expected_low), (highest, expected_high)),
    )


@case(SUMS)
def min_max_of_every_width(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 1)
    names = ("int8", "uint8", "uint32", "int64", "uint64", "float64")
    number = rng.integers(0, 99, N_ELEMENTS).astype(np.int8)
    read = op2.Dat(edges, number.copy())
    dats = [op2.Dat(nodes, np.full(N_TARGETS, 50), dtype=name) for name in names]
    parameters = ", ".join(
        f"{'double' if name == 'float64' else name + '_t'} *a{i}" for i, name in enumerate(names)
    )
    ways = "<>" * 3
    body = " ".join(f"if (k[0] {way} a{i}[0]) a{i}[0] = k[0];" for i, way in enumerate(ways))
    low, high = np.full(N_TARGETS, 50), np.full(N_TARGETS, 50)
    np.minimum.at(low, values[:, 0], number)
    np.maximum.at(high, values[:, 0], number)
    return Problem(
        kernel=op2.Kernel(f"void limit(const int8_t *k, {parameters}) {{ {body} }}", "limit"),
        iterset=edges,
        args=(
            read(READ),
            *(d(MIN if way == "<" else MAX, e2n) for d, way in zip(dats, ways, strict=True)),
        ),
        expected=tuple((d, low if way == "<" else high) for d, way in zip(dats, ways, strict=True)),
    )


@case(OVERWRITES)
def min_of_what_was_there(rng: np.random.Generator) -> Problem:
    """The kernel starts from the target's value, so elements of a target must take turns."""
    edges, nodes = elements(), targets(60)
    e2n, values = distinct_map(rng, edges, nodes, 2)
    least = op2.Dat(nodes, np.arange(60), dtype=np.int32)
    text = "void lower(int *m) { m[0] = m[0] - 1; m[1] = m[1] - 1; }"
    return Problem(
        kernel=op2.Kernel(text, "lower"),
        iterset=edges,
        args=(least(MIN, e2n),),
        expected=((least, np.arange(60) - np.bincount(values.ravel(), minlength=60)),),
    )


# Globals, Constants and Consts


@case(NO_RACE, tolerance=1e-12)
def globals_reduced(rng: np.random.Generator) -> Problem:
    cells = elements()
    x, k = rng.standard_normal((N_ELEMENTS, 3)), rng.integers(-500, 500, N_ELEMENTS)
    value, number = op2.Dat(cells**3, x.copy()), op2.Dat(cells, k.astype(np.int32))
    total, sums = op2.Global(1, 10.0), op2.Global(3, [1.0, -2.0, 1e3])
    low, high = op2.Global(3, [0.0, -9.0, 0.0]), op2.Global(1, -1000, dtype=np.int32)
    count = op2.Global(1, 5, dtype=np.uint8)
    text = """
    void reduce(const double *x, const int *k, double *total, double *sums, double *low, int *high,
                uint8_t *count) {
      for (int c = 0; c < 3; ++c) {
        *total += x[c] * x[c];
        sums[c] += x[c];
        if (x[c] < low[c]) low[c] = x[c];
      }
      if (*k > *high) *high = *k;
      *count += 1;
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "reduce"),
        iterset=cells,
        args=(value(READ), number(READ), total(INC), sums(INC), low(MIN), high(MAX), count(INC)),
        expected=(
            (total, np.array([10 + (x * x).sum()])),
            (sums, x.sum(axis=0) + np.array([1.0, -2.0, 1e3])),
            (low, np.minimum(x.min(axis=0), [0.0, -9.0, 0.0])),
            (high, np.array([k.max()])),
            (count, np.array([(5 + N_ELEMENTS) % 256])),
        ),
    )


@case(NO_RACE)
def globals_reduced_over_a_few(rng: np.random.Generator) -> Problem:
    """Threads without an element must not add anything of their own."""
    cells = elements(2)
    value = op2.Dat(cells, [3.0, 4.0])
    total, low, high = op2.Global(1, 0.5), op2.Global(1, 99.0), op2.Global(1, -99.0)
    text = """
    void reduce(const double *x, double *total, double *low, double *high) {
      *total += *x;
      *low = fmin(*low, *x);
      *high = fmax(*high, *x);
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "reduce"),
        iterset=cells,
        args=(value(READ), total(INC), low(MIN), high(MAX)),
        expected=((total, np.array([7.5])), (low, np.array([3.0])), (high, np.array([4.0]))),
    )


@case(NO_RACE)
def one_global_reduced_twice(rng: np.random.Generator) -> Problem:
    cells = elements()
    total = op2.Global(1, 100, dtype=np.int64)
    text = "void add(int64_t *a, int64_t *b) { *a += 1; *b += 10; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(total(INC), total(INC)),
        expected=((total, np.array([100 + 11 * N_ELEMENTS])),),
    )


@case(NO_RACE)
def globals_read(rng: np.random.Generator) -> Problem:
    cells = elements()
    step, gravity = op2.Global(1, 0.25), op2.Constant((3,), [1.0, -2.0, 3.0])
    v = rng.standard_normal((N_ELEMENTS, 3))
    speed = op2.Dat(cells**3, v.copy())
    text = """
    void fall(const double *dt, const double *g, double *v) {
      for (int c = 0; c < 3; ++c) v[c] += *dt * g[c];
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "fall"),
        iterset=cells,
        args=(step(READ), gravity(READ), speed(RW)),
        expected=((speed, v + np.array([0.25, -0.5, 0.75])),),
    )


@case(SUMS)
def consts_by_name(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    consts = (
        op2.Const(1, 1.5, "corpus_scale"),
        op2.Const(2, [2.0, -4.0], "corpus_weights"),
        op2.Const(1, 3, "corpus_count", dtype=np.int32),
    )
    total = op2.Dat(nodes)
    text = """
    static double share(int i) { return corpus_scale * corpus_weights[i]; }
    void add(double *a) {
      for (int corpus_index = 0; corpus_index < corpus_count; ++corpus_index) a[0] += share(0);
      double corpus_scale = 7.0;  /* hides the Const */
      a[1] += share(1) + corpus_scale;
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=edges,
        args=(total(INC, e2n),),
        expected=((total, added(np.zeros(N_TARGETS), values, np.array([[9.0, 1.0]]))),),
        constants=consts,
    )


# Dtypes, dims and arities


def _every_dtype(names: tuple[str, ...], c_names: tuple[str, ...]) -> Build:
    def build(rng: np.random.Generator) -> Problem:
        edges, nodes = elements(), targets()
        e2n, values = random_map(rng, edges, nodes, 2)
        weights = [rng.integers(0, 4, N_ELEMENTS).astype(name) for name in names]
        weights = [w * (1 + 2j) if w.dtype.kind == "c" else w for w in weights]
        starts = [(np.arange(N_TARGETS) % 50).astype(name) for name in names]
        read = [op2.Dat(edges, w, dtype=w.dtype) for w in weights]
        sums = [op2.Dat(nodes, s.copy(), dtype=s.dtype) for s in starts]
        parameters = [f"const {c} *w{i}, {c} *a{i}" for i, c in enumerate(c_names)]
        body = " ".join(f"a{i}[0] += w{i}[0]; a{i}[1] += 2 * w{i}[0];" for i in range(len(names)))
        args = [arg for r, s in zip(read, sums, strict=True) for arg in (r(READ), s(INC, e2n))]
        return Problem(
            kernel=op2.Kernel(f"void add({', '.join(parameters)}) {{ {body} }}", "add"),
            iterset=edges,
            args=tuple(args),
            expected=tuple(
                (dat, added(start, values, np.stack([w, w + w], axis=1)))
                for dat, start, w in zip(sums, starts, weights, strict=True)
            ),
        )

    return build


for _group, _names, _c_names in (
    (
        "signed",
        ("int8", "int16", "int32", "int64"),
        ("int8_t", "int16_t", "int32_t", "int64_t"),
    ),
    (
        "unsigned",
        ("uint8", "uint16", "uint32", "uint64"),
        ("uint8_t", "uint16_t", "uint32_t", "uint64_t"),
    ),
    ("floating", ("float32", "float64"), ("float", "double")),
    ("complex", ("complex64", "complex128"), ("float _Complex", "double _Complex")),
):
    # whole numbers this small are exact in every one of these
    case(
        SUMS,
        tolerance=0.0,
        name=f"dtypes_{_group}",
        needs=frozenset({"complex"} if _group == "complex" else ()),
    )(_every_dtype(_names, _c_names))


@case(NO_RACE, needs=frozenset({"complex"}))
def complex_direct(rng: np.random.Generator) -> Problem:
    cells = elements()
    z = rng.standard_normal(N_ELEMENTS) + 1j * rng.standard_normal(N_ELEMENTS)
    value, total = op2.Dat(cells, z.copy()), op2.Global(1, 1 + 1j)
    text = """
    #include <complex.h>
    void turn(double complex *z, double complex *total) {
      *z *= 2.0 * I;
      *total += conj(*z);
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "turn"),
        iterset=cells,
        args=(value(RW), total(INC)),
        expected=((value, 2j * z), (total, np.array([1 + 1j + (2j * z).conj().sum()]))),
    )


@case(NO_RACE, needs=frozenset({"complex"}), tolerance=1e-5)
def complex_arithmetic(rng: np.random.Generator) -> Problem:
    """What C converts and compares by itself, and what <complex.h> has, in both widths."""
    cells = elements()
    z = rng.standard_normal(N_ELEMENTS) + 1j * rng.standard_normal(N_ELEMENTS)
    w = (2 + rng.standard_normal(N_ELEMENTS) + 0.5j).astype(np.complex64)
    a, b = op2.Dat(cells, z.copy()), op2.Dat(cells, w.copy())
    out, real = op2.Dat(cells**6, dtype=np.complex128), op2.Dat(cells**4)
    text = """
    #include <complex.h>
    #include <math.h>
    static const double complex units[2] = {1, 1.0 * I};
    static double complex turned(double complex z, double by) {
      if (!z) return by;
      return cos(by) * z + units[1] * (sin(by) * z);
    }
    static float real_part(float complex z) { return z; }
    void compute(const double complex *z, const float complex *w, double complex *out,
                 double *real) {
      double complex sum = 1, both[2] = {2, *w};
      sum += *z; sum -= 0.5f; sum *= *w; sum /= 2;
      out[0] = sum;
      out[1] = *z / *w - -both[1] * both[0];
      out[2] = turned(*z, 0.25) + ~*z;
      out[3] = csqrt(*z) + cexp(*w) + clog(*w) + cpow(*z, 2) + cproj(*z);
      out[4] = csin(*z) + ccos(*z) + ctan(*w) + csinh(*z) + ccosh(*z) + ctanh(*w);
      out[5] = *z == *z && *w != 0 ? *w : 3;
      real[0] = cabs(*z) + carg(*z) + cimag(*z);
      real[1] = *z * conj(*z);
      real[2] = 1;
      real[2] *= 2 * *z;
      real[3] = real_part(*w * I / I) + (*z ? 1 : 2) + (_Bool)*z;
    }
    """
    wide = w.astype(complex)
    expected = np.stack(
        [
            (1 + z - 0.5) * wide / 2,
            z / wide + 2 * wide,
            z * np.exp(0.25j) + z.conj(),
            np.sqrt(z) + np.exp(wide) + np.log(wide) + z**2 + z,
            *[
                np.sin(z) + np.cos(z) + np.tan(wide) + np.sinh(z) + np.cosh(z) + np.tanh(wide),
                wide,
            ],
        ],
        axis=1,
    )
    reals = [abs(z) + np.angle(z) + z.imag, abs(z) ** 2, 2 * z.real, wide.real + 2]
    return Problem(
        kernel=op2.Kernel(text, "compute"),
        iterset=cells,
        args=(a(READ), b(READ), out(WRITE), real(WRITE)),
        expected=((out, expected), (real, np.stack(reals, axis=1))),
    )


@case(NO_RACE, needs=frozenset({"complex"}))
def complex_effects(rng: np.random.Generator) -> Problem:
    """Complex numbers counted up and down, and targets whose finding changes something."""
    cells = elements()
    z = rng.standard_normal(N_ELEMENTS) + 1j * rng.standard_normal(N_ELEMENTS)
    a, out, real = op2.Dat(cells, z.copy()), op2.Dat(cells**6, dtype=complex), op2.Dat(cells**2)
    text = """
    #include <complex.h>
    static double complex *next(double complex **p) { return (*p)++; }
    static double complex old(double complex *p) { return (*p)--; }
    void compute(double complex *z, double complex *out, double *real) {
      int i = 0;
      double complex *p = out, before = (*z)++;
      for (; i < 6; z[0]++, i++) out[i] = i;
      i = 0;
      out[i++] += before;
      out[i++] *= 2 * *z;
      *(p += 2) -= ++z[0];
      out[i++ + 1]--;
      *next(&p) *= 2;
      *p++ += out[5]++ + old(&out[4]);
      real[0] = creal(--out[5]) + i;
      real[1] = 0;
      real[i - 2]++;
      real[--i - 1] *= 3 * *z;
    }
    """
    last = z + 8
    outs = [z, 2 * (z + 7), 2 * (2 - last), 3 - 1 + 5 + 4, 3 + 0 * z, 5 + 0 * z]
    reals = np.stack([np.full(N_ELEMENTS, 8.0), 3 * last.real], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "compute"),
        iterset=cells,
        args=(a(RW), out(WRITE), real(WRITE)),
        expected=(
            (a, last),
            (out, np.stack(np.broadcast_arrays(*outs), axis=1)),
            (real, reals),
        ),
    )


def _one_dim(dim: int | tuple[int, ...], cdim: int) -> Build:
    def build(rng: np.random.Generator) -> Problem:
        edges, nodes = elements(), targets(300)
        e2n, values = random_map(rng, edges, nodes, 2)
        w = rng.standard_normal((N_ELEMENTS, cdim))
        weight, total = op2.Dat(edges**dim, w.copy()), op2.Dat(nodes**dim)
        text = f"""
        void add(const double *w, double *a) {{
          for (int c = 0; c < {cdim}; ++c) {{
            a[c] += w[c];
            a[{cdim} + c] -= w[{cdim - 1} - c];
          }}
        }}
        """
        expected = added(np.zeros((300, cdim)), values, np.stack([w, -w[:, ::-1]], axis=1))
        return Problem(
            kernel=op2.Kernel(text, "add"),
            iterset=edges,
            args=(weight(READ), total(INC, e2n)),
            expected=((total, expected.reshape(total.data_ro.shape)),),
        )

    return build


case(SUMS, name="dim_2_by_3")(_one_dim((2, 3), 6))
case(SUMS, name="dim_64")(_one_dim(64, 64))


@case(SUMS)
def dim_0(rng: np.random.Generator) -> Problem:
    edges, nodes = elements(), targets()
    e2n, values = random_map(rng, edges, nodes, 2)
    nothing, empty = op2.Dat(edges**0), op2.Dat(nodes**0)
    count = op2.Dat(nodes, dtype=np.int32)
    text = "void add(const double *none, double *empty, int *a) { a[0] += 1; a[1] += 2; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=edges,
        args=(nothing(READ), empty(INC, e2n), count(INC, e2n)),
        expected=((count, added(np.zeros(N_TARGETS), values, np.array([[1, 2]]))),),
    )


def _one_arity(arity: int) -> Build:
    def build(rng: np.random.Generator) -> Problem:
        cells, nodes = elements(), targets()
        c2n, values = random_map(rng, cells, nodes, arity)
        x = rng.integers(-9, 9, N_TARGETS)
        read, total = op2.Dat(nodes, x.copy()), op2.Dat(nodes, dtype=np.int64)
        last = arity - 1
        text = f"""
        void add(const int64_t *x, int64_t *a) {{
          for (int i = 0; i < {arity}; ++i) a[i] += (i + 1) * x[{last} - i];
        }}
        """
        shares = x[values[:, ::-1]] * np.arange(1, arity + 1)
        return Problem(
            kernel=op2.Kernel(text, "add"),
            iterset=cells,
            args=(read(READ, c2n), total(INC, c2n)),
            expected=((total, added(np.zeros(N_TARGETS, np.int64), values, shares)),),
        )

    return build


for _arity in (1, 3, 8):
    case(SUMS, name=f"arity_{_arity}")(_one_arity(_arity))


@case(SUMS)
def arities_1_to_8(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    maps = [random_map(rng, cells, nodes, arity) for arity in range(1, 9)]
    total = op2.Dat(nodes, dtype=np.int64)
    parameters = ", ".join(f"int64_t *a{i}" for i in range(1, 9))
    body = " ".join(f"for (int i = 0; i < {k}; ++i) a{k}[i] += {k} + 10 * i;" for k in range(1, 9))
    expected = np.zeros(N_TARGETS, np.int64)
    for arity, (_, values) in enumerate(maps, 1):
        expected = added(expected, values, arity + 10 * np.arange(arity)[None])
    return Problem(
        kernel=op2.Kernel(f"void add({parameters}) {{ {body} }}", "add"),
        iterset=cells,
        args=tuple(total(INC, map_) for map_, _ in maps),
        expected=((total, expected),),
    )


# Small and odd Sets, Maps and memory


def _a_few_elements(n: int) -> Build:
    def build(rng: np.random.Generator) -> Problem:
        cells, nodes = elements(n), targets(9)
        c2n, values = injective_map(rng, cells, nodes, 2)
        value, start = op2.Dat(cells, np.ones(n)), rng.standard_normal(9)
        total, count = op2.Dat(nodes, start.copy()), op2.Global(1, 4, dtype=np.int32)
        text = """
        void add(const double *x, double *a, int *count) {
          a[0] += x[0];
          a[1] += 2 * x[0];
          *count += 1;
        }
        """
        return Problem(
            kernel=op2.Kernel(text, "add"),
            iterset=cells,
            args=(value(READ), total(INC, c2n), count(INC)),
            expected=(
                (total, added(start, values, np.array([[1.0, 2.0]]))),
                (count, np.array([4 + n])),
            ),
        )

    return build


case(ALL, name="empty_set")(_a_few_elements(0))
case(ALL, name="set_of_one")(_a_few_elements(1))


@case(ALL)
def nothing_at_all(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(0), targets(0)
    c2n = op2.Map(cells, nodes, 3)
    read, total = op2.Dat(cells**2), op2.Dat(nodes)
    text = "void add(const double *x, double *a) { a[2] += x[1]; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(read(READ), total(INC, c2n)),
        expected=((total, np.zeros(0)),),
    )


@case(SUMS)
def ghosts(rng: np.random.Generator) -> Problem:
    """Only owned elements are run; their targets may be ghosts."""
    cells, nodes = op2.Set((1600, 1800, 2000)), op2.Set((500, 550, 600))
    c2n, values = random_map(rng, cells, nodes, 2)
    x = rng.standard_normal(2000)
    read, total = op2.Dat(cells, x.copy()), op2.Dat(nodes)
    count = op2.Global(1, 0, dtype=np.int32)
    text = """
    void add(const double *x, double *a, int *count) {
      a[0] += x[0];
      a[1] -= x[0];
      *count += 1;
    }
    """
    shares = np.stack([x, -x], axis=1)[:1800]
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(read(READ), total(INC, c2n), count(INC)),
        expected=((total, added(np.zeros(600), values[:1800], shares)), (count, np.array([1800]))),
    )


@case(ALL)
def injective_but_for_ghosts(rng: np.random.Generator) -> Problem:
    """Rows of ghosts repeat targets, but nobody runs them."""
    cells, nodes = op2.Set((1700, 1800, 2000)), targets(2000)
    values = np.concatenate([rng.permutation(2000)[:1800], np.zeros(200, int)])[:, None]
    c2n = op2.Map(cells, nodes, 1, values)
    total = op2.Dat(nodes, dtype=np.int16)
    expected = np.zeros(2000)
    expected[values[:1800]] = 3
    return Problem(
        kernel=op2.Kernel("void add(int16_t *a) { a[0] += 3; }", "add"),
        iterset=cells,
        args=(total(INC, c2n),),
        expected=((total, expected),),
    )


@case(SUMS)
def maps_of_other_integers(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets(200)
    small = rng.integers(200, size=(N_ELEMENTS, 2)).astype(np.uint8)
    large = np.asfortranarray(rng.integers(200, size=(N_ELEMENTS, 3), dtype=np.int64))
    first, second = op2.Map(cells, nodes, 2, small), op2.Map(cells, nodes, 3, large)
    total = op2.Dat(nodes, dtype=np.int32)
    text = "void add(int *a, int *b) { a[0] += 1; a[1] += 2; b[0] += 3; b[2] += 4; }"
    expected = added(np.zeros(200), small, np.array([[1, 2]]))
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(total(INC, first), total(INC, second)),
        expected=((total, added(expected, large, np.array([[3, 0, 4]]))),),
    )


@case(SUMS)
def memory_that_c_cannot_use(rng: np.random.Generator) -> Problem:
    """Strided, transposed and byte-swapped arrays are copied in; the user's own do not change."""
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 1)
    wide = rng.standard_normal((N_ELEMENTS, 6))
    x, y = wide[:, ::2], rng.standard_normal((2, N_ELEMENTS)).T
    start = rng.standard_normal(N_TARGETS)
    strided, turned = op2.Dat(cells**3, x), op2.Dat(cells**2, y)
    total = op2.Dat(nodes, start.astype(start.dtype.newbyteorder()))
    text = "void add(const double *x, const double *y, double *a) { a[0] += x[2] * y[1]; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(strided(READ), turned(READ), total(INC, c2n)),
        expected=((total, added(start, values[:, 0], x[:, 2] * y[:, 1])),),
    )


# Dats that share memory


@case(NO_RACE)
def two_dats_one_array(rng: np.random.Generator) -> Problem:
    cells = elements()
    x = rng.standard_normal((N_ELEMENTS, 2))
    shared = x.copy()
    one, other = op2.Dat(cells**2, shared), op2.Dat(cells**2, shared)
    text = """
    void carry(const double *x, double *y) {
      y[0] = x[0] + 1;
      y[1] = x[0] + x[1];  /* sees the line above */
    }
    """
    first = x[:, 0] + 1
    return Problem(
        kernel=op2.Kernel(text, "carry"),
        iterset=cells,
        args=(one(READ), other(RW)),
        expected=((other, np.stack([first, first + x[:, 1]], axis=1)),),
    )


@case(SUMS)
def two_dats_one_array_through_map(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    shared = np.zeros(N_TARGETS, np.int32)
    one, other = op2.Dat(nodes, shared), op2.Dat(nodes, shared)
    text = "void add(int *a, int *b) { a[0] += 1; b[1] += 10; }"
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(one(INC, c2n), other(INC, c2n)),
        expected=((one, added(np.zeros(N_TARGETS), values, np.array([[1, 10]]))),),
    )


@case(IN_ORDER, needs=frozenset({"overlap"}))
def overlapping_slices(rng: np.random.Generator) -> Problem:
    """Each element reads what the one before has written."""
    cells = elements()
    memory = np.zeros(N_ELEMENTS + 1)
    memory[0] = 5
    last, now = op2.Dat(cells, memory[:-1]), op2.Dat(cells, memory[1:])
    return Problem(
        kernel=op2.Kernel("void next(const double *x, double *y) { y[0] = x[0] + 1; }", "next"),
        iterset=cells,
        args=(last(READ), now(WRITE)),
        expected=((now, np.arange(N_ELEMENTS) + 6.0),),
    )


@case(IN_ORDER, needs=frozenset({"overlap"}))
def overlapping_slices_through_map(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    memory = np.zeros(N_TARGETS + 1, np.int32)
    low, high = op2.Dat(nodes, memory[:-1]), op2.Dat(nodes, memory[1:])
    text = "void add(int *a, int *b) { a[0] += 1; a[1] += 10; b[0] += 100; b[1] += 1000; }"
    expected = added(np.zeros(N_TARGETS + 1), values, np.array([[1, 10]]))
    expected = added(expected, values + 1, np.array([[100, 1000]]))
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(low(INC, c2n), high(INC, c2n)),
        expected=((low, expected[:-1]), (high, expected[1:])),
    )


@case(IN_ORDER, needs=frozenset({"overlap"}))
def overlapping_dats_on_two_sets(rng: np.random.Generator) -> Problem:
    cells, nodes, corners = elements(), targets(), targets(70)
    c2n, at_nodes = random_map(rng, cells, nodes, 2)
    c2c, at_corners = random_map(rng, cells, corners, 1)
    memory = np.zeros(N_TARGETS, np.int32)
    whole, part = op2.Dat(nodes, memory), op2.Dat(corners, memory[100:170])
    text = "void add(int *a, int *b) { a[0] += 1; a[1] += 10; b[0] += 100; }"
    expected = added(np.zeros(N_TARGETS), at_nodes, np.array([[1, 10]]))
    expected = added(expected, at_corners + 100, np.array([[100]]))
    return Problem(
        kernel=op2.Kernel(text, "add"),
        iterset=cells,
        args=(whole(INC, c2n), part(INC, c2c)),
        expected=((whole, expected), (part, expected[100:170])),
    )


@case(IN_ORDER)
def one_dat_directly_and_through_map(rng: np.random.Generator) -> Problem:
    nodes = targets(N_ELEMENTS)
    following, values = random_map(rng, nodes, nodes, 1)
    x = rng.integers(0, 3, N_ELEMENTS)
    value = op2.Dat(nodes, x.copy())
    expected = x.copy()
    for n in range(N_ELEMENTS):
        expected[values[n, 0]] += expected[n] % 7
    text = "void pass(const int64_t *x, int64_t *y) { y[0] += x[0] % 7; }"
    return Problem(
        kernel=op2.Kernel(text, "pass"),
        iterset=nodes,
        args=(value(READ), value(INC, following)),
        expected=((value, expected),),
    )


# What kernels may contain


@case(SUMS)
def kernel_with_tables_and_helpers(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 3)
    x = rng.standard_normal((N_TARGETS, 2))
    read, total = op2.Dat(nodes**2, x.copy()), op2.Dat(nodes)
    text = """
    #define POINTS 2
    static const double weights[POINTS] = {0.25, 0.75};
    static const double basis[POINTS][3] = {{0.5, 0.25, 0.25}, {0.125, 0.5, 0.375}};
    static inline double dot(const double *a, const double b[2]) {
      return a[0] * b[0] + a[1] * b[1];
    }
    static double at(const double *x, int p) {
      double v[2] = {0};
      for (int i = 0; i < 3; ++i)
        for (int c = 0; c < 2; ++c) v[c] += basis[p][i] * x[2 * i + c];
      return dot(v, v);
    }
    void form(const double *x, double *a) {
      double t[POINTS], local[3] = {0.0};
      for (int p = 0; p < POINTS; ++p) t[p] = at(x, p);
      for (int p = 0; p < POINTS; ++p)
        for (int i = 0; i < 3; ++i) local[i] += weights[p] * t[p] * basis[p][i];
      for (int i = 0; i < 3; ++i) a[i] += local[i];
    }
    """
    weights = np.array([0.25, 0.75])
    basis = np.array([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]])
    square = (np.einsum("pi,nic->npc", basis, x[values]) ** 2).sum(axis=2)
    shares = np.einsum("p,np,pi->ni", weights, square, basis)
    return Problem(
        kernel=op2.Kernel(text, "form"),
        iterset=cells,
        args=(read(READ, c2n), total(INC, c2n)),
        expected=((total, added(np.zeros(N_TARGETS), values, shares)),),
    )


@case(SUMS, tolerance=1e-12)
def kernel_with_functions_of_math(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    x = rng.uniform(0.5, 2.0, N_ELEMENTS)
    read, total = op2.Dat(cells, x.copy()), op2.Dat(nodes**2)
    text = """
    #include <math.h>
    void mathematics(const double *x, double *a) {
      a[0] += exp(-x[0]) + log(x[0]) * pow(x[0], 1.5);
      a[1] += sin(x[0]) * cos(M_PI * x[0]) + atan2(x[0], 2.0);
      a[2] += fabs(floor(-x[0])) + hypot(x[0], 1.0) + cbrt(x[0]);
      a[3] += fmod(7.0, x[0]) > 1.0 ? tanh(x[0]) : sqrt(x[0]);
    }
    """
    first = np.exp(-x) + np.log(x) * x**1.5, np.sin(x) * np.cos(np.pi * x) + np.arctan2(x, 2)
    second = (
        np.abs(np.floor(-x)) + np.hypot(x, 1) + np.cbrt(x),
        np.where(np.fmod(7.0, x) > 1, np.tanh(x), np.sqrt(x)),
    )
    shares = np.stack([np.stack(first, axis=1), np.stack(second, axis=1)], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "mathematics"),
        iterset=cells,
        args=(read(READ), total(INC, c2n)),
        expected=((total, added(np.zeros((N_TARGETS, 2)), values, shares)),),
    )


@case(SUMS)
def kernel_that_returns_early(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    k = rng.integers(0, 10, N_ELEMENTS)
    number, total = op2.Dat(cells, k.copy()), op2.Dat(nodes, dtype=np.int64)
    text = """
    void some(const int64_t *k, int64_t *a) {
      if (k[0] % 2) return;
      a[0] += k[0];
      switch (k[0]) {
        case 0: return;
        case 4: a[1] += 40; break;
        default: a[1] += 1;
      }
    }
    """
    first = np.where(k % 2, 0, k)
    second = np.select([k % 2 == 1, k == 0, k == 4], [0, 0, 40], 1)
    shares = np.stack([first, second], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "some"),
        iterset=cells,
        args=(number(READ), total(INC, c2n)),
        expected=((total, added(np.zeros(N_TARGETS, np.int64), values, shares)),),
    )


@case(SUMS)
def kernel_with_our_names(rng: np.random.Generator) -> Problem:
    """The kernel's names are those that the code around it would take."""
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    k = rng.integers(0, 10, N_ELEMENTS).astype(np.int32)
    number, total = op2.Dat(cells, k.copy()), op2.Dat(nodes, dtype=np.int32)
    other, count = op2.Dat(nodes, dtype=np.int32), op2.Global(1, 0, dtype=np.int32)
    text = """
    static int target(int begin, int end) { return begin * end; }
    static int wrap_launch(int argc) { return target(argc, 2); }
    void launch(const int *n, int *context, int *context_pack, int *argv) {
      const int c = n[0], context_map = 1, i = 0;
      context[i] += wrap_launch(c);
      context_pack[context_map] += c;
      *argv += c;
    }
    """
    zeros = np.zeros(N_TARGETS, np.int32)
    return Problem(
        kernel=op2.Kernel(text, "launch"),
        iterset=cells,
        args=(number(READ), total(INC, c2n), other(INC, c2n), count(INC)),
        expected=(
            (total, added(zeros, values[:, 0], 2 * k)),
            (other, added(zeros, values[:, 1], k)),
            (count, np.array([k.sum()])),
        ),
    )


@case(IMPURE_SUMS, needs=frozenset({"cpp"}))
def kernel_in_cpp(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    x = rng.standard_normal(N_ELEMENTS)
    read, total = op2.Dat(cells, x.copy()), op2.Dat(nodes)
    text = """
    template <int Factor> struct Scaled {
      const double &value;
      double operator()() const { return Factor * value; }
    };
    void add(const double *x, double *a) {
      auto shares = {Scaled<2>{x[0]}(), Scaled<3>{x[0]}()};
      for (double share : shares) *a++ += share;
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "add", cpp=True, headers=["<initializer_list>"]),
        iterset=cells,
        args=(read(READ), total(INC, c2n)),
        expected=((total, added(np.zeros(N_TARGETS), values, np.stack([2 * x, 3 * x], axis=1))),),
    )


@case(IMPURE_SUMS, needs=frozenset({"headers"}))
def kernel_with_header(rng: np.random.Generator) -> Problem:
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 2)
    k = rng.integers(-99, 99, N_ELEMENTS)
    read, total = op2.Dat(cells, k.copy()), op2.Dat(nodes, dtype=np.int64)
    text = """
    void add(const int64_t *k, int64_t *a) {
      a[0] += llabs(k[0]);
      a[1] += FACTOR;
    }
    """
    shares = np.stack([np.abs(k), np.full(N_ELEMENTS, 6)], axis=1)
    return Problem(
        kernel=op2.Kernel(text, "add", headers=["stdlib.h"], opts=["-DFACTOR=6"]),
        iterset=cells,
        args=(read(READ), total(INC, c2n)),
        expected=((total, added(np.zeros(N_TARGETS, np.int64), values, shares)),),
    )


# Matrices: what is expected are the values at their places, in order


def at_places(mat: op2.Mat, rows: Array, columns: Array, tensors: Array) -> Array:
    """Return what a matrix holds once tensors of shape (n, r, row dim, c, col dim) are added."""
    (row_dim, col_dim), sparsity = mat.block_dims, mat.sparsity
    n_columns = sparsity.dsets[1].set.total_size
    at = np.repeat(np.arange(len(sparsity.rowptr) - 1), np.diff(sparsity.rowptr))
    keys = at * n_columns + sparsity.colidx
    wanted = rows[:, :, None] * n_columns + columns[:, None, :]
    total = np.zeros((len(keys), row_dim, col_dim))
    np.add.at(total, np.searchsorted(keys, wanted), tensors.transpose(0, 1, 3, 2, 4))
    return total.reshape(-1)


@case(SUMS)
def matrix_of_blocks_and_vector(rng: np.random.Generator) -> Problem:
    cells, nodes, others = elements(), targets(), op2.Set(200, "others")
    c2n, rows = random_map(rng, cells, nodes, 3)
    c2o, columns = random_map(rng, cells, others, 2)
    x = rng.standard_normal(N_ELEMENTS)
    value = op2.Dat(cells, x.copy())
    mat = op2.Mat(op2.Sparsity((nodes**2, others**1), [(c2n, c2o, None)]))
    load = op2.Dat(nodes**2)
    text = """
    void assemble(double *A, const double *x, double *b) {
      for (int a = 0; a < 6; ++a) {
        b[a] += x[0] + a;
        for (int j = 0; j < 2; ++j) A[2 * a + j] += x[0] * (a - 3 * j);
      }
    }
    """
    a = np.arange(6.0)
    tensor = (a[:, None] - 3 * np.arange(2)).reshape(3, 2, 2, 1)
    start = np.zeros((N_TARGETS, 2))
    return Problem(
        kernel=op2.Kernel(text, "assemble"),
        iterset=cells,
        args=(mat(INC, (c2n, c2o)), value(READ), load(INC, c2n)),
        expected=(
            (mat, at_places(mat, rows, columns, x[:, None, None, None, None] * tensor)),
            (load, added(start, rows, (x[:, None] + a).reshape(-1, 3, 2))),
        ),
    )


@case(SUMS)
def matrix_without_some_rows(rng: np.random.Generator) -> Problem:
    """Rows of boundary conditions are left out; the tensor is too large to be written out."""
    cells, nodes = elements(), targets()
    c2n, values = random_map(rng, cells, nodes, 9)
    x = rng.standard_normal(N_ELEMENTS)
    value = op2.Dat(cells, x.copy())
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2n, c2n, None)]))
    numbers = np.arange(N_TARGETS)
    is_held = numbers % 5 == 0
    tensor = np.add.outer(np.arange(9.0), 10 * np.arange(9.0))
    tensors = (x[:, None, None] * tensor) * ~is_held[values][:, :, None]
    text = """
    void assemble(double *A, const double *x) {
      for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 9; ++j) A[9 * i + j] += x[0] * (i + 10 * j);
    }
    """
    return Problem(
        kernel=op2.Kernel(text, "assemble"),
        iterset=cells,
        args=(
            mat(INC, (c2n, c2n), lgmaps=(np.where(is_held, -1, numbers), None)),
            value(READ),
        ),
        expected=((mat, at_places(mat, values, values, tensors[:, :, None, :, None])),),
    )


@case(NO_RACE)
def matrix_that_is_set(rng: np.random.Generator) -> Problem:
    """Entries that the kernel leaves alone become 0; those of no element stay."""
    cells, nodes = elements(), targets(2 * N_ELEMENTS + 100)
    c2n, values = injective_map(rng, cells, nodes, 2)
    x = rng.standard_normal(N_ELEMENTS)
    value = op2.Dat(cells, x.copy())
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2n, c2n, None)]))
    tensors = np.zeros((N_ELEMENTS, 2, 1, 2, 1))
    tensors[:, 0, 0, 1, 0] = x
    expected = at_places(mat, values, values, tensors)
    mat.array[:] = 5
    untouched = np.setdiff1d(np.arange(nodes.size), values)
    expected[mat.sparsity.diagonal()[untouched]] = 5
    return Problem(
        kernel=op2.Kernel("void put(double *A, const double *x) { A[1] = x[0]; }", "put"),
        iterset=cells,
        args=(mat(WRITE, (c2n, c2n)), value(READ)),
        expected=((mat, expected),),
    )


@case(OVERWRITES)
def matrix_that_is_set_by_many(rng: np.random.Generator) -> Problem:
    """Any element of an entry may come last."""
    cells, nodes = elements(), targets(40)
    c2n, values = random_map(rng, cells, nodes, 1)
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2n, c2n, None)]), np.int64)
    number = op2.Dat(cells, np.arange(N_ELEMENTS), dtype=np.int64)

    def check() -> None:
        found = mat.array[mat.sparsity.diagonal()]
        assert (values[found, 0] == np.arange(40)).all()

    text = "void put(int64_t *A, const int64_t *x) { A[0] = x[0]; }"
    return Problem(
        kernel=op2.Kernel(text, "put"),
        iterset=cells,
        args=(mat(WRITE, (c2n, c2n)), number(READ)),
        check=check,
    )


def loops_of(
    cases: Iterable[Case], strategies_of: Callable[[Case], Iterable[str | None]], **options: Any
) -> Iterator[op2.ParLoop]:
    """Yield the loops of cases by strategies. The Consts of each are there until the next.

    Args:
        cases: Those that the backend can run at all.
        strategies_of: Those of a case that the backend can run it by; None is the default.
        **options: More keywords for `ParLoop`.
    """
    for case in cases:
        for strategy in strategies_of(case):
            problem = case.problem()
            how = {**problem.options, **options, "strategy": strategy}
            try:
                yield op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **how)
            finally:
                for constant in problem.constants:
                    constant.remove_from_namespace()


# More cases, of all kinds of Sets, Maps and Dats
import corpus_types  # noqa: E402, F401, I001  # it adds its own to CASES
import corpus_matrices  # noqa: E402, F401  # so does it
import corpus_ragged  # noqa: E402, F401  # and so does it
import corpus_storage  # noqa: E402  # and some with narrow memory

corpus_storage.add_to_corpus()
