# SPDX-License-Identifier: BSD-3-Clause
"""Matrices whose elements are summed block by block in shared memory, as on GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.op2 import INC, READ
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

GRIDS = [
    backend.name
    for backend in op2.backends()
    if backend.available and runtime.engine.backend(backend.name).facts.lanes == _core.Lanes.grid
]
C_TYPES = {
    "float64": "double",
    "float32": "float",
    "int32": "int",
    "int64": "long",
    "complex128": "double complex",
}

pytestmark = [
    pytest.mark.skipif(not GRIDS, reason="no backend of devices is available"),
    pytest.mark.parametrize("backend", GRIDS),
]


@pytest.fixture(autouse=True)
def texts_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor runs them, too."""
    monkeypatch.setattr(flow, "suited_to", lambda request, device: request)


def assembled(n: int, dims: tuple[int, int] = (1, 1), dtype: str = "float64", **more: Any) -> Any:
    """Assemble elements of three nodes and two others: loop, matrix, and what it must be."""
    rng = np.random.default_rng(n)
    cells, nodes, others = op2.Set(n), op2.Set(40), op2.Set(30)
    rows = rng.integers(0, 40, (n, 3), dtype=np.int32)
    columns = rng.integers(0, 30, (n, 2), dtype=np.int32)
    c2n, c2o = op2.Map(cells, nodes, 3, rows), op2.Map(cells, others, 2, columns)
    x = rng.integers(-8, 8, n).astype(dtype)
    row_dim, col_dim = dims
    n_rows, n_columns = 3 * row_dim, 2 * col_dim
    kernel = op2.Kernel(
        f"void assemble({C_TYPES[dtype]} *A, const {C_TYPES[dtype]} *x) {{"
        f" for (int i = 0; i < {n_rows}; ++i) for (int j = 0; j < {n_columns}; ++j)"
        f" A[{n_columns} * i + j] += x[0] * (i + 10 * j); }}",
        "assemble",
    )
    mat = op2.Mat(op2.Sparsity((nodes**row_dim, others**col_dim), [(c2n, c2o, None)]), dtype=dtype)
    held = more.pop("held", None)
    lgmaps = (np.where(held, -1, np.arange(40)), None) if held is not None else None
    given = {"lgmaps": lgmaps} if lgmaps is not None else {}
    loop = op2.ParLoop(
        kernel, cells, mat(INC, (c2n, c2o), **given), op2.Dat(cells, x)(READ), **more
    )
    wanted = np.zeros((40 * row_dim, 30 * col_dim), dtype)
    tensor = np.add.outer(np.arange(n_rows), 10 * np.arange(n_columns))
    for e in range(n):
        for i in range(n_rows):
            row = rows[e, i // row_dim] * row_dim + i % row_dim
            if held is not None and held[row // row_dim]:
                continue
            for j in range(n_columns):
                column = columns[e, j // col_dim] * col_dim + j % col_dim
                wanted[row, column] += x[e] * tensor[i, j]
    return loop, mat, wanted


def check(backend: str, *args: Any, **more: Any) -> None:
    """Assemble twice and compare: sums of small whole numbers are exact."""
    with op2.backend(backend):
        loop, mat, wanted = assembled(*args, **more)
        assert loop.generate().strategy == "block"
        loop.compute()
        np.testing.assert_array_equal(mat.values, wanted)
        loop.compute()
        np.testing.assert_array_equal(mat.values, 2 * wanted)


@pytest.mark.parametrize("n", [3, 127, 128, 129, 1000])
def test_any_number_of_elements(backend: str, n: int) -> None:
    check(backend, n)


@pytest.mark.parametrize("dims", [(2, 1), (1, 3), (2, 3)])
def test_blocks(backend: str, dims: tuple[int, int]) -> None:
    check(backend, 300, dims)


@pytest.mark.parametrize("dtype", [*C_TYPES][1:])
def test_dtypes(backend: str, dtype: str) -> None:
    check(backend, 300, dtype=dtype)


def test_rows_of_boundary_conditions_are_left_out(backend: str) -> None:
    check(backend, 300, held=np.arange(40) % 3 == 0)
    check(backend, 300, (2, 2), held=np.arange(40) % 3 == 0)


def test_shorter_blocks(backend: str) -> None:
    check(backend, 300, tuning={"listed_elements": 16})


def test_loads_under_way_together(backend: str) -> None:
    # 128 elements of six summands each are six for each of 128 lanes
    for n_loads, n_lanes, n in ((1, 128, 1), (2, 128, 2), (256, 128, 6), (256, 32, 24)):
        tuning = {"listed_loads": n_loads, "listed_lanes": n_lanes}
        check(backend, 300, tuning=tuning)
        with op2.backend(backend):
            text = str(assembled(300, tuning=tuning)[0].generate())
        assert f"#pragma unroll {n}\n" in text


def test_two_matrices_of_one_loop(backend: str) -> None:
    with op2.backend(backend):
        cells, nodes = op2.Set(200), op2.Set(50)
        to_nodes = op2.Map(cells, nodes, 3, np.arange(600).reshape(200, 3) % 50)
        both = op2.Kernel(
            "void both(double *A, float *B) {"
            " for (int i = 0; i < 9; ++i) { A[i] += 1 + i; B[i] += 2; } }",
            "both",
        )
        sparsity = op2.Sparsity((nodes, nodes), [(to_nodes, to_nodes, None)])
        a, b = op2.Mat(sparsity), op2.Mat(sparsity, dtype=np.float32)
        paths = (to_nodes, to_nodes)
        loop = op2.ParLoop(both, cells, a(INC, paths), b(INC, paths))
        assert loop.generate().strategy == "block"
        loop.compute()
    with op2.backend("sequential"):
        c, d = op2.Mat(sparsity), op2.Mat(sparsity, dtype=np.float32)
        op2.par_loop(both, cells, c(INC, paths), d(INC, paths))
    np.testing.assert_array_equal(a.values, c.values)
    np.testing.assert_array_equal(b.values, d.values)


def test_a_map_that_changed_is_listed_anew(backend: str) -> None:
    with op2.backend(backend):
        cells, nodes = op2.Set(3), op2.Set(4)
        to_nodes = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3]])
        ones = op2.Kernel("void ones(double *A) { for (int i = 0; i < 4; ++i) A[i] += 1; }", "ones")
        for values in ([[0, 1], [1, 2], [2, 3]], [[0, 1], [0, 1], [2, 3]]):
            to_nodes.update_values(np.array(values, np.int32))
            mat = op2.Mat(op2.Sparsity((nodes, nodes), [(to_nodes, to_nodes, None)]))
            op2.par_loop(ones, cells, mat(INC, (to_nodes, to_nodes)))
            wanted = np.zeros((4, 4))
            for i, j in values:
                wanted[np.ix_([i, j], [i, j])] += 1
            np.testing.assert_array_equal(mat.values, wanted)
