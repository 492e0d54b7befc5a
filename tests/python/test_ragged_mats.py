# SPDX-License-Identifier: BSD-3-Clause
"""Matrices by the rows and columns of ragged Maps, against SciPy's assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import CheckError, MapValueError, UnsupportedError, UsageError
from pyop2cxx.op2 import INC, READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
KINDS = ("same", "ragged", "rows", "columns")

LAPLACE = """
void laplace(double *A, const int *n) {
  for (int i = 0; i < *n; i++)
    for (int j = 0; j < *n; j++) A[i * *n + j] += i == j ? *n : -1;
}
"""
"""Sums of each row are n - (n - 1) = 1, and the matrix is definite."""


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


class Assembly:
    """A loop by a pair of Maps of a kind, and what SciPy makes of the same tensors.

    Attributes:
        maps: The Maps to rows and columns.
        mat: The matrix, zero.
        args: Of the loop.
    """

    def __init__(
        self, kind: str, lengths: list[int], dims: tuple[int, int], seed: int, **of_mat: Any
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.cells, self.dims = op2.Set(len(lengths), "cells"), dims
        self.nodes = op2.Set(13, "nodes"), op2.Set(9, "others")
        if kind == "same":
            self.nodes = self.nodes[0], self.nodes[0]
        first, one = self.ragged(lengths, 0), self.ragged(lengths[::-1], 1)
        pairs = {
            "same": (first, first),
            "ragged": (first, one),
            "rows": (first, self.plain(1)),
            "columns": (self.plain(0), one),
        }
        self.maps = pairs[kind]
        dsets = self.nodes[0] ** dims[0], self.nodes[1] ** dims[1]
        self.mat = op2.Mat(op2.Sparsity(dsets, [self.maps]), name="A", **of_mat)
        self.x = op2.Dat(self.cells, self.rng.integers(-9, 9, len(lengths)).astype(float))
        counts = [map_.counts for map_ in self.maps if isinstance(map_, op2.RaggedMap)]
        self.counts = tuple(one(READ) for one in dict.fromkeys(counts))
        self.kernel = self.text(kind)

    def ragged(self, lengths: list[int], side: int) -> op2.RaggedMap:
        values = [self.rng.integers(self.nodes[side].size, size=n) for n in lengths]
        return op2.RaggedMap(self.cells, self.nodes[side], values, name=f"ragged_{side}")

    def plain(self, side: int) -> op2.Map:
        values = self.rng.integers(self.nodes[side].size, size=(self.cells.size, 3))
        return op2.Map(self.cells, self.nodes[side], 3, values, f"plain_{side}")

    def text(self, kind: str) -> op2.Kernel:
        n, m, counts = {
            "same": ("*n", "*n", "const int *n"),
            "ragged": ("*n", "*m", "const int *n, const int *m"),
            "rows": ("*n", "3", "const int *n"),
            "columns": ("3", "*m", "const int *m"),
        }[kind]
        r, c = self.dims
        return op2.Kernel(
            f"""
            void add(double *A, const double *x, {counts}) {{
              for (int i = 0; i < {n} * {r}; i++)
                for (int j = 0; j < {m} * {c}; j++)
                  A[i * ({m} * {c}) + j] += x[0] * (1 + i) - 2 * j;
            }}""",
            "add",
        )

    def args(self, access: Any = INC, **options: Any) -> tuple[Any, ...]:
        return (self.mat(access, self.maps, **options), self.x(READ), *self.counts)

    def rows_of(self, map_: op2.Map, cell: int) -> Any:
        if isinstance(map_, op2.RaggedMap):
            return map_.values[map_.offsets[cell] : map_.offsets[cell + 1]]
        return map_.values[cell]

    def expected(self, cells: Sequence[int] | None = None, keep: Any = None) -> Any:
        """Return the matrix, as array, of elements' tensors added by SciPy."""
        dims = self.dims
        shape = tuple(nodes.size * dim for nodes, dim in zip(self.nodes, dims, strict=True))
        whole = scipy.sparse.csr_matrix(shape)
        for cell in range(self.cells.size) if cells is None else cells:
            at = [
                (np.repeat(self.rows_of(map_, cell), dim) * dim)
                + np.tile(np.arange(dim), len(self.rows_of(map_, cell)))
                for map_, dim in zip(self.maps, dims, strict=True)
            ]
            i, j = np.meshgrid(np.arange(len(at[0])), np.arange(len(at[1])), indexing="ij")
            tensor = self.x.data_ro[cell] * (1 + i) - 2.0 * j
            places = at[0][i].ravel(), at[1][j].ravel()
            whole += scipy.sparse.coo_matrix((tensor.ravel(), places), shape).tocsr()
        found = whole.toarray()
        if keep is not None:
            found[~keep[0]] = 0
            found[:, ~keep[1]] = 0
        return found

    def assembled(self, **options: Any) -> Any:
        self.mat.zero()
        op2.ParLoop(self.kernel, self.cells, *self.args(), **options).compute()
        self.mat.assemble()
        return self.mat.values


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=30),
    dims=st.sampled_from([(1, 1), (2, 1), (2, 3)]),
    seed=st.integers(0, 2**32 - 1),
    strategy=st.sampled_from([None, "atomic", "block", "colour"]),
)
def test_is_what_scipy_adds_up(
    kind: str, backend: str, lengths: list[int], dims: tuple[int, int], seed: int, strategy: Any
) -> None:
    with op2.backend(backend):
        made = Assembly(kind, lengths, dims, seed)
        np.testing.assert_array_equal(made.assembled(strategy=strategy), made.expected())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_sparsities_have_the_places_of_elements(kind: str, backend: str) -> None:
    with op2.backend(backend):
        made = Assembly(kind, [0, 3, 5, 1, 0, 9], (1, 1), 5)
        sparsity = made.mat.sparsity
        wanted = np.zeros((made.nodes[0].size, made.nodes[1].size), bool)
        if kind == "same":
            np.fill_diagonal(wanted, val=True)
        for cell in range(6):
            wanted[np.ix_(*(made.rows_of(map_, cell) for map_ in made.maps))] = True
        rows = np.repeat(np.arange(len(wanted)), np.diff(sparsity.rowptr))
        np.testing.assert_array_equal(np.argwhere(wanted), np.stack([rows, sparsity.colidx], 1))
        assert made.maps in sparsity


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_conditions_leave_out_rows_and_columns(kind: str, unroll: bool, backend: str) -> None:
    """Of blocks whole entities, or some of their scalars."""
    with op2.backend(backend):
        made = Assembly(kind, [2, 0, 7, 3, 4, 1, 9, 5], (2, 2), 8)
        masks, keep = [], []
        for nodes in made.nodes:
            n = nodes.size * (2 if unroll else 1)
            kept = made.rng.random(n) < 0.7
            masks.append(np.where(kept, np.arange(n), -1))
            keep.append(kept if unroll else np.repeat(kept, 2))
        args = made.args(lgmaps=tuple(masks), unroll_map=unroll)
        op2.par_loop(made.kernel, made.cells, *args)
        made.mat.assemble()
        np.testing.assert_array_equal(made.mat.values, made.expected(keep=keep))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_loops_over_subsets(kind: str, backend: str) -> None:
    with op2.backend(backend):
        made = Assembly(kind, [2, 0, 7, 3, 4, 1, 9, 5], (1, 2), 9)
        part = op2.Subset(made.cells, [1, 2, 5, 6])
        op2.par_loop(made.kernel, part, *made.args())
        made.mat.assemble()
        np.testing.assert_array_equal(made.mat.values, made.expected([1, 2, 5, 6]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_writes_set_the_entries_of_elements(backend: str) -> None:
    """Elements without common nodes; what a kernel leaves alone becomes 0, as by other Maps."""
    rows = [[0, 3], [], [4, 1, 2], [5]]
    with op2.backend(backend):
        cells, nodes = op2.Set(4, "cells"), op2.Set(6, "nodes")
        paths = op2.RaggedMap(cells, nodes, rows, name="paths")
        mat = op2.Mat(op2.Sparsity(nodes, (paths, paths)), name="A")
        kernel = op2.Kernel(
            "void set(double *A, const int *n) {"
            " for (int i = 0; i < *n; i++) A[i * *n + i] = i + 1; }",
            "set",
        )
        for _ in range(2):
            op2.par_loop(kernel, cells, mat(WRITE, (paths, paths)), paths.counts(READ))
        mat.assemble()
        wanted = np.zeros((6, 6))
        for row in rows:
            wanted[row, row] = np.arange(len(row)) + 1
        np.testing.assert_array_equal(mat.values, wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_narrow_memory_under_kernels_of_doubles(backend: str) -> None:
    with op2.backend(backend):
        narrow = {"dtype": np.float32, "compute": np.float64}
        made = Assembly("same", [2, 0, 7, 3], (1, 1), 3, **narrow)
        np.testing.assert_array_equal(made.assembled(), made.expected())


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_matrices_in_one_loop(backend: str) -> None:
    """One by ragged Maps and one by others: each finds its own positions."""
    with op2.backend(backend):
        cells, nodes = op2.Set(3, "cells"), op2.Set(6, "nodes")
        paths = op2.RaggedMap(cells, nodes, [[0, 1, 2], [], [4, 2]], name="paths")
        pairs = op2.Map(cells, nodes, 2, [[0, 5], [1, 2], [3, 3]], "pairs")
        mats = [op2.Mat(op2.Sparsity(nodes, map_), name="A") for map_ in (pairs, paths)]
        kernel = op2.Kernel(
            """
            void both(double *P, double *R, const int *n) {
              for (int i = 0; i < 4; i++) P[i] += i;
              for (int i = 0; i < *n * *n; i++) R[i] += 1;
            }""",
            "both",
        )
        first, second = mats[0](INC, (pairs, pairs)), mats[1](INC, (paths, paths))
        op2.par_loop(kernel, cells, first, second, paths.counts(READ))
        wanted = np.zeros((2, 6, 6))
        for cell in range(3):
            row = paths.values[paths.offsets[cell] : paths.offsets[cell + 1]]
            np.add.at(wanted[0], np.ix_(pairs.values[cell], pairs.values[cell]), [[0, 1], [2, 3]])
            np.add.at(wanted[1], np.ix_(row, row), 1)
        for mat, one in zip(mats, wanted, strict=True):
            mat.assemble()
            np.testing.assert_array_equal(mat.values, one)


def definite(backend: str) -> tuple[op2.Mat, op2.Set, op2.RaggedMap]:
    """Return a definite matrix of a ring of polygons."""
    rng = np.random.default_rng(4)
    cells, nodes = op2.Set(30, "cells"), op2.Set(40, "nodes")
    rows = [rng.permutation(40)[: 1 + n % 6] for n in range(29)]
    paths = op2.RaggedMap(cells, nodes, [*rows, np.arange(40)], name="paths")
    mat = op2.Mat(op2.Sparsity(nodes, paths), name="A")
    kernel = op2.Kernel(LAPLACE, "laplace")
    op2.par_loop(kernel, cells, mat(INC, (paths, paths)), paths.counts(READ))
    mat.assemble()
    return mat, nodes, paths


@pytest.mark.parametrize("backend", BACKENDS)
def test_products_and_solutions(backend: str) -> None:
    with op2.backend(backend):
        mat, nodes, _ = definite(backend)
        x = op2.Dat(nodes, np.random.default_rng(1).random(40))
        dense = mat.values
        b = op2.Dat(nodes)
        mat.mult(x, b)
        np.testing.assert_allclose(b.data_ro, dense @ x.data_ro)
        found = op2.Dat(nodes)
        op2.solve(mat, found, b, ksp_type="cg", ksp_rtol=1e-12)
        np.testing.assert_allclose(found.data_ro, x.data_ro, rtol=1e-8)
        mat.zero_rows([3, 5], 2.0)
        dense[[3, 5]] = 0
        dense[[3, 5], [3, 5]] = 2
        np.testing.assert_array_equal(mat.values, dense)


def test_chains_and_graphs_do_the_same() -> None:
    for way in ("chain", "graph"):
        made = Assembly("ragged", [2, 0, 7, 3, 4, 1, 9, 5], (1, 1), 9)

        def run(made: Assembly = made) -> None:
            op2.par_loop(made.kernel, made.cells, *made.args())

        if way == "chain":
            with op2.chain():
                run()
        else:
            op2.record(run).submit()
        made.mat.assemble()
        np.testing.assert_array_equal(made.mat.values, made.expected())


def test_python_functions_get_tensors() -> None:
    made = Assembly("ragged", [2, 0, 3], (2, 1), 7)

    def add(tensor: Any, x: Any, n: Any, m: Any) -> None:
        assert tensor.shape == (2 * n[0], m[0])
        i, j = np.indices(tensor.shape)
        tensor += x[0] * (1 + i) - 2 * j

    op2.par_loop(add, made.cells, *made.args())
    made.mat.assemble()
    np.testing.assert_array_equal(made.mat.values, made.expected())


def test_renumbering_before_the_matrix() -> None:
    made = Assembly("same", [2, 0, 7, 3, 4, 1, 9, 5], (1, 1), 6)
    before = np.linalg.eigvals(made.assembled())
    made.maps = made.maps[:1] * 2
    del made.mat
    op2.renumber([made.maps[0]], [made.x])
    made.mat = op2.Mat(op2.Sparsity(made.nodes[0], made.maps), name="A")
    np.testing.assert_array_equal(made.assembled(), made.expected())
    np.testing.assert_allclose(
        np.sort(np.linalg.eigvals(made.mat.values)), np.sort(before), atol=1e-9
    )


# Check mode


@pytest.mark.parametrize("kind", KINDS)
def test_check_mode_knows_the_extents(kind: str) -> None:
    made = Assembly(kind, [2, 0, 7, 3], (2, 1), 6)
    np.testing.assert_array_equal(made.assembled(check=True), made.expected())
    sizes = {"same": "*n * *n", "ragged": "*n * *m", "rows": "*n * 3", "columns": "3 * *m"}
    head = "void k(double *A, const double *x, "
    head += ", ".join(f"const int *{one}" for one in ("n", "m") if f"*{one}" in sizes[kind])
    body = f"{{ for (int i = 0; i <= 2 * {sizes[kind]}; i++) A[i] += 1; }}"
    beyond = op2.Kernel(f"{head}) {body}", "k")
    with pytest.raises(CheckError, match=r"element 0 .*outside of 'A'"):
        op2.par_loop(beyond, made.cells, *made.args(), check=True)


def test_check_mode_finds_races_of_entries() -> None:
    cells, nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
    paths = op2.RaggedMap(cells, nodes, [[0, 1, 2], [2]], name="paths")
    mat = op2.Mat(op2.Sparsity(nodes, paths), name="A")
    one = op2.Kernel(
        "void k(double *A, const int *n) { for (int i = 0; i < *n * *n; i++) A[i] = 1; }", "k"
    )
    args = mat(WRITE, (paths, paths)), paths.counts(READ)
    with pytest.raises(CheckError, match=r"elements 0 and 1 both WRITE the entry of row 2 and col"):
        op2.par_loop(one, cells, *args, check=True)


# Bad input


def in_a_loop(made: Assembly, *args: Any, **options: Any) -> None:
    op2.ParLoop(made.kernel, made.cells, *(args or made.args()), **options).compute()


@pytest.mark.parametrize("strategy", ["owner", "scratch"])
def test_strategies_by_equal_rows_are_refused(strategy: str) -> None:
    made = Assembly("columns", [2, 0, 7], (1, 1), 6)
    with pytest.raises(UnsupportedError, match="rows of a ragged Map differ in length"):
        in_a_loop(made, strategy=strategy)
    with pytest.raises(UnsupportedError, match="rows of a ragged Map differ in length"):
        in_a_loop(made, lanes=4)
    assert not made.mat.values.any()


def test_counts_of_another_map() -> None:
    made = Assembly("same", [2, 0, 7], (1, 1), 6)
    other = made.ragged([1, 1, 1], 0)
    args = made.mat(INC, made.maps), made.x(READ), other.counts(READ)
    with pytest.raises(MapValueError, match=r"counts of Map 'ragged_0', .*pass ragged_0.counts"):
        in_a_loop(made, *args)


@pytest.mark.parametrize("kind", KINDS)
def test_long_rows(kind: str) -> None:
    made = Assembly(kind, [65, 1, 65], (1, 1), 6)
    with pytest.raises(UsageError, match=r"row 0 of Map 'ragged_[01]' has 65 entries, .*64.*INC"):
        in_a_loop(made)
    assert not made.mat.values.any()


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_without_counts_stay_within_the_shortest_rows(kind: str) -> None:
    made = Assembly(kind, [4, 2, 2], (1, 1), 6)
    least = {"same": 4, "ragged": 4, "rows": 6, "columns": 6}[kind]
    for n in (least, least + 1):
        text = f"void k(double *A) {{ for (int i = 0; i < {n}; i++) A[i] += 1; }}"
        loop = (op2.Kernel(text, "k"), made.cells, made.mat(INC, made.maps))
        if n == least:
            op2.par_loop(*loop)
            continue
        with pytest.raises(UsageError, match=rf"index {least} is outside of 'A' .*{least} values"):
            op2.par_loop(*loop)


def test_mixed_matrices_are_refused_as_a_whole() -> None:
    """Each block is an argument."""
    cells, nodes = op2.Set(3, "cells"), op2.Set(6, "nodes")
    paths = op2.RaggedMap(cells, nodes, [[0, 1, 2], [], [4, 2]], name="paths")
    both = op2.MixedMap([paths, paths])
    mat = op2.Mat(op2.Sparsity(op2.MixedSet([nodes, nodes]), [(both, both)]), name="A")
    kernel = op2.Kernel(LAPLACE, "laplace")
    with pytest.raises(UnsupportedError, match=r"a mixed Mat by the ragged Map 'paths'.*its parts"):
        op2.par_loop(kernel, cells, mat(INC, (both, both)), paths.counts(READ))
    op2.par_loop(kernel, cells, mat[0, 1](INC, (paths, paths)), paths.counts(READ))
    mat.assemble()
    assert mat[0, 1].values.sum() == 5
    assert not mat[0, 0].values.any()


def test_rows_of_a_global_are_refused() -> None:
    cells, nodes = op2.Set(3, "cells"), op2.Set(6, "nodes")
    paths = op2.RaggedMap(cells, nodes, [[0, 1, 2], [], [4, 2]], name="paths")
    total = op2.Global(1, 0.0)
    mat = op2.Mat(op2.Sparsity((total.dataset, nodes**1), [(None, paths)]), name="A")
    kernel = op2.Kernel("void k(double *A, const int *n) { A[0] += *n; }", "k")
    with pytest.raises(UnsupportedError, match=r"a mixed Mat by the ragged Map 'paths'"):
        op2.par_loop(kernel, cells, mat(INC, (None, paths)), paths.counts(READ))


def test_saved_graphs_name_the_map(tmp_path: Path) -> None:
    made = Assembly("columns", [2, 0, 7], (1, 1), 6)
    graph = op2.record(lambda: in_a_loop(made))
    with pytest.raises(UnsupportedError, match="'ragged_1' is of RaggedMap, which saved"):
        graph.save(tmp_path / "graph")


def test_other_pairs_than_those_of_the_sparsity() -> None:
    made = Assembly("rows", [2, 0, 7], (1, 1), 6)
    other = made.ragged([2, 0, 7], 0)
    with pytest.raises(MapValueError, match="no pair that Sparsity"):
        made.mat(INC, (other, made.maps[1]))
