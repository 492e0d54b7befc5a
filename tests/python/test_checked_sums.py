# SPDX-License-Identifier: BSD-3-Clause
"""Sums over elements in check mode: of integers that wrap, and of real numbers that overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.check.checked_sums import first_element
from pyop2cxx.exceptions import CheckError

if TYPE_CHECKING:
    from collections.abc import Iterator

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
each_backend = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def failure(code: str, iterset: Any, *args: Any) -> Any:
    with pytest.raises(CheckError, match="Nothing was written by this loop") as caught:
        op2.par_loop(op2.Kernel(code, "k"), iterset, *args)
    return caught.value


@pytest.mark.parametrize("wanted", [0, 1, 2, 3, 4, 5, 63, 64, 65, 1000])
def test_the_first_element_is_found_by_halves(wanted: int) -> None:
    asked: list[int] = []

    def is_wrong(last: int) -> bool:
        asked.append(last)
        return last >= wanted

    assert first_element(is_wrong) == wanted
    assert len(asked) <= 2 * 11 + 2


def test_a_sum_that_is_not_wrong_again_has_no_element() -> None:
    assert first_element(lambda _: False) == -1


@each_backend
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_sums_of_every_width(backend: str, dtype: type) -> None:
    op2.init(backend=backend, check=True)
    cells, most = op2.Set(9, "cells"), np.iinfo(dtype).max
    n = op2.Global(2, [most - 5, 0], dtype, name="n")
    code = f"void k({np.dtype(dtype).name}_t *n) {{\n  n[1] += 2;\n  n[0] += 1;\n}}"
    error = failure(code, cells, n(op2.INC))
    assert (error.check, error.line, error.argument, error.element) == ("sum", 2, 0, 5)
    assert n.data_ro.tolist() == [most - 5, 0]
    n.data[0] = most - 9
    op2.par_loop(op2.Kernel(code, "k"), cells, n(op2.INC))
    assert n.data_ro.tolist() == [most, 18]


@each_backend
def test_what_wraps_in_between_and_comes_back_is_right(backend: str) -> None:
    op2.init(backend=backend, check=True)
    cells = op2.Set(4)
    x = op2.Dat(cells, np.array([100, 100, -100, -50], np.int8))
    n = op2.Global(1, 10, np.int8)
    op2.par_loop(
        op2.Kernel("void k(signed char *n, signed char *x) { n[0] += x[0]; }", "k"),
        cells,
        n(op2.INC),
        x(op2.READ),
    )
    assert n.data_ro[0] == 60


@each_backend
def test_unsigned_sums_wrap_as_c_says(backend: str) -> None:
    op2.init(backend=backend, check=True)
    n = op2.Global(1, 254, np.uint8)
    op2.par_loop(op2.Kernel("void k(unsigned char *n) { n[0] += 1; }", "k"), op2.Set(4), n(op2.INC))
    assert n.data_ro[0] == 2


@each_backend
def test_components_mixed_and_extruded(backend: str) -> None:
    op2.init(backend=backend, check=True)
    cells, nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3]], "ends")
    v = op2.Dat(nodes**3, np.full((4, 3), 120, np.int8), name="v")
    code = "void k(signed char *v) {\n  v[0] += 5;\n  v[1] += 4;\n}"
    error = failure(code, cells, op2.DatView(v, 1)(op2.INC, ends))
    assert (error.check, error.argument, error.element) == ("sum", 0, 1)
    assert "at entity 1 of Set 'nodes'" in str(error)
    assert (v.data_ro == 120).all()

    both = op2.MixedDat([op2.Dat(cells, np.zeros(3, np.int8)), op2.Dat(nodes, v.data_ro[:, 0])])
    maps = op2.MixedMap([op2.Map(cells, cells, 1, [0, 1, 2]), ends])
    code = "void k(signed char *v) {\n  v[0] += 100;\n  v[1] += 5;\n  v[2] += 4;\n}"
    error = failure(code, cells, both(op2.INC, maps))
    assert (error.check, error.argument, error.element) == ("sum", 0, 1)

    columns = op2.ExtrudedSet(op2.Set(2, "base"), 4)
    total = op2.Global(1, 125, np.int8, name="total")
    error = failure("void k(signed char *n) { n[0] += 1; }", columns, total(op2.INC))
    assert "column 0, cell 2 of Set" in str(error)


@each_backend
def test_two_arguments_may_add_to_one_dat(backend: str) -> None:
    """Each share is counted once; together they stay in range."""
    op2.init(backend=backend, check=True)
    cells, nodes = op2.Set(1, "cells"), op2.Set(1, "nodes")
    here = op2.Map(cells, nodes, 1, [[0]], "here")
    v = op2.Dat(nodes, np.array([-100], np.int8), name="v")
    code = (
        "void k(signed char *a, signed char *b) {\n"
        "  for (int i = 0; i < 20; ++i) { a[0] += 6; b[0] += 5; }\n}"
    )
    op2.par_loop(op2.Kernel(code, "k"), cells, v(op2.INC, here), v(op2.INC, here))
    assert v.data_ro[0] == 120
    v.data[0] = 0
    error = failure(code, cells, v(op2.INC, here), v(op2.INC, here))
    assert error.check == "sum"


@each_backend
def test_infinite_sums_are_told_from_infinite_shares(backend: str) -> None:
    op2.init(backend=backend, check=True)
    cells, nodes = op2.Set(3, "cells"), op2.Set(2, "nodes")
    to = op2.Map(cells, nodes, 1, [[0], [1], [1]], "to")
    x = op2.Dat(cells, [1.0, 1e308, 1e308], name="x")
    y = op2.Dat(nodes, name="y")
    code = "void k(double *y, double *x) {\n  y[0] += x[0];\n}"
    error = failure(code, cells, y(op2.INC, to), x(op2.READ))
    assert (error.check, error.argument, error.line, error.element) == ("sum", 0, 2, 2)
    assert "entity 1 of Set 'nodes' became infinite" in str(error)
    assert (y.data_ro == 0).all()
    x.data[...] = [1.0, np.inf, 2.0]  # what comes in is no mistake of this loop
    op2.par_loop(op2.Kernel(code, "k"), cells, y(op2.INC, to), x(op2.READ))
    assert y.data_ro.tolist() == [1.0, np.inf]
    x.data[...] = 1.0
    op2.par_loop(op2.Kernel(code, "k"), cells, y(op2.INC, to), x(op2.READ))
    assert y.data_ro.tolist() == [2.0, np.inf]


@each_backend
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_sums_of_complex_numbers(backend: str, dtype: type) -> None:
    op2.init(backend=backend, check=True)
    cells, nodes = op2.Set(3, "cells"), op2.Set(2, "nodes")
    to = op2.Map(cells, nodes, 1, [[0], [1], [1]], "to")
    large = np.finfo(dtype).max * 0.7
    x = op2.Dat(cells, np.array([1, 1j * large, 1j * large], dtype), name="x")
    c, y = op2.Global(1, 2.0, dtype, name="c"), op2.Dat(nodes, dtype=dtype, name="y")
    scalar = "double complex" if dtype == np.complex128 else "float complex"
    code = f"void k({scalar} *y, {scalar} *x) {{\n  y[0] += x[0];\n}}"
    error = failure(code, cells, y(op2.INC, to), x(op2.READ))
    assert (error.check, error.argument, error.line, error.element) == ("sum", 0, 2, 2)
    assert "at entity 1 of Set 'nodes' became infinite" in str(error)
    assert (y.data_ro == 0).all()
    error = failure(code, cells, c(op2.INC), x(op2.READ))
    assert (error.check, error.element) == ("sum", 2)
    assert c.data_ro[0] == 2
    x.data[2] = -1j * large
    op2.par_loop(op2.Kernel(code, "k"), cells, c(op2.INC), x(op2.READ))
    assert c.data_ro[0] == 3


class Squares:
    """Three cells of two nodes in a row, and a matrix between the nodes."""

    def __init__(self, dtype: Any, dim: int = 1) -> None:
        self.cells, self.nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
        self.c2n = op2.Map(self.cells, self.nodes, 2, [[0, 1], [1, 2], [2, 3]], "c2n")
        rows = self.nodes**dim
        sparsity = op2.Sparsity((rows, rows), [(self.c2n, self.c2n, None)])
        self.a = op2.Mat(sparsity, dtype, name="a")
        self.path = self.c2n, self.c2n


@each_backend
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.float32, np.float64, np.complex128])
def test_sums_in_matrices(backend: str, dtype: type) -> None:
    op2.init(backend=backend, check=True)
    world, kind = Squares(dtype), np.dtype(dtype)
    limits = np.iinfo(dtype) if kind.kind == "i" else np.finfo(dtype)
    scalar = "double complex" if kind.kind == "c" else f"{kind.name}_t"
    scalar = {"f": {4: "float", 8: "double"}}.get(kind.kind, {}).get(kind.itemsize, scalar)
    code = (
        f"void k({scalar} A[2][2], {scalar} *x) {{\n  A[0][1] += 1;\n"
        "  A[1][1] += x[0];\n  A[0][0] += x[0];\n}"
    )
    half = limits.max * 0.75 if kind.kind != "i" else limits.max * 3 // 4
    x = op2.Dat(world.cells, np.array([1, half, half], dtype), name="x")
    error = failure(code, world.cells, world.a(op2.INC, world.path), x(op2.READ))
    assert (error.check, error.argument, error.line, error.element) == ("sum", 0, 2, 2)
    assert "of 'A' (argument 0, Mat 'a') in the entry of row 2 and column 2" in str(error)
    assert (world.a.values == 0).all()
    x.data[...] = [1, 2, 3]
    op2.par_loop(op2.Kernel(code, "k"), world.cells, world.a(op2.INC, world.path), x(op2.READ))
    assert world.a.values.diagonal().tolist() == [1, 3, 5, 3]


@each_backend
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_a_matrix_without_entries(backend: str, dtype: type) -> None:
    op2.init(backend=backend, check=True)
    cells, nodes = op2.Set(0), op2.Set(3)
    c2n = op2.Map(cells, nodes, 2, np.zeros((0, 2), np.int32))
    mat = op2.Mat(
        op2.Sparsity((nodes**2, nodes**2), [(c2n, c2n, None)], diagonal_block=False), dtype
    )
    scalar = "int" if dtype == np.int32 else "double"
    kernel = op2.Kernel(f"void k({scalar} *A) {{ A[0] += 1; }}", "k")
    op2.par_loop(kernel, cells, mat(op2.INC, (c2n, c2n)))
    assert (mat.values == 0).all()


@each_backend
@pytest.mark.parametrize("dtype", [np.int16, np.float64])
def test_sums_in_blocks_and_in_mixed_matrices(backend: str, dtype: type) -> None:
    """The second sums of one block are those of the whole matrix, whoever adds to it."""
    op2.init(backend=backend, check=True)
    world, scalar = Squares(dtype, 2), "short" if dtype == np.int16 else "double"
    large = 20000 if dtype == np.int16 else 1e308
    code = f"void k({scalar} *A) {{\n  A[5] += {large}; A[15] += {large};\n}}"
    error = failure(code, world.cells, world.a(op2.INC, world.path))
    assert (error.check, error.element, error.value) == ("sum", 1, 3)
    assert "in the entry of row 1 and column 1" in str(error)
    nodes, cells = world.nodes**1, world.cells**1
    own = op2.Map(world.cells, world.cells, 1, [0, 1, 2], "own")
    both = op2.MixedDataSet((nodes, cells))
    maps = op2.MixedMap((world.c2n, own))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)]), dtype, name="mixed")
    code = (
        f"void k({scalar} A[3][3], {scalar} *B) {{\n"
        f"  A[2][2] += 1; A[1][0] += 1; A[0][0] += {large};\n  B[0] += {large};\n}}"
    )
    error = failure(code, world.cells, mat(op2.INC, (maps, maps)), mat[0, 0](op2.INC, world.path))
    assert (error.check, error.argument, error.line) == ("sum", 0, 2)
    assert "in the entry of row 0 and column 0" in str(error)
    assert (mat.values == 0).all()
