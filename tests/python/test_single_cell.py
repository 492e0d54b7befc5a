# SPDX-License-Identifier: BSD-3-Clause
"""Wrappers of one element, compiled with a kernel by a C compiler and called."""

from __future__ import annotations

import ctypes
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.op2 import INC, READ
from pyop2cxx.pyop2._single_cell import generate_single_cell_wrapper

if TYPE_CHECKING:
    from pathlib import Path

CELLS, NODES = op2.Set(3, "cells"), op2.Set(8, "nodes")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2, 2, 3], "c2n")


def compiled(text: str, folder: Path) -> ctypes.CDLL:
    source, target = folder / "one.c", folder / "one.so"
    source.write_text(text)
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-Wno-unused-function"]
    subprocess.run(["cc", *flags, "-o", target, source], check=True)
    return ctypes.CDLL(str(target))


def pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def test_one_element(tmp_path: Path) -> None:
    """Two wrappers in one file, by Maps with and without a permutation."""
    x, y = op2.Dat(NODES**2, np.arange(16.0)), op2.Dat(NODES)
    w = op2.Dat(CELLS, [1.0, 2.0, 3.0])
    g = op2.Global(1, 10.0)
    kernel = """
    static void add(double *seen, int factor, const double *x, double *y, const double *w,
                    const double *g) {
      for (int i = 0; i < 4; ++i) seen[i] = x[i];
      y[0] += factor * w[0]; y[1] += g[0];
    }
    """
    turned = op2.PermutedMap(C2N, (1, 0))
    types = ["double *", "int"]
    texts = [
        generate_single_cell_wrapper(
            CELLS, [x(READ, map_), y(INC, map_), w(READ), g(READ)], types, "add", name
        )
        for map_, name in ((C2N, "plain"), (turned, "turned"))
    ]
    library = compiled(kernel + "".join(texts), tmp_path)
    seen = np.zeros(4)
    for name, pairs, sums in (
        ("plain", [2, 3, 4, 5], [14, 10]),
        ("turned", [4, 5, 2, 3], [10, 14]),
    ):
        y.zero()
        values = [x.data_ro, y.data, w.data_ro, g.data_ro, C2N.values]
        library[name](pointer(seen), 7, 1, 2, *map(pointer, values))
        assert seen.tolist() == pairs
        assert y.data_ro.tolist() == [0, *sums, 0, 0, 0, 0, 0]
    assert "wrap_add" in generate_single_cell_wrapper(CELLS, [w(READ)], (), "add")


def test_one_cell_of_a_column(tmp_path: Path) -> None:
    columns = op2.ExtrudedSet(op2.Set(2), 4)
    up = op2.Map(columns, NODES, 2, [0, 1, 4, 5], offset=[1, 1])
    both = op2.MixedDat((op2.Dat(NODES, np.arange(8.0)), op2.Dat(NODES, 10 * np.arange(8.0))))
    maps = op2.MixedMap((up, up))
    text = """
    static void look(double *seen, const double *x) {
      for (int i = 0; i < 4; ++i) seen[i] = x[i];
    }
    """ + generate_single_cell_wrapper(columns, [both(READ, maps)], ["double *"], "look", "at")
    library = compiled(text, tmp_path)
    seen, layers = np.zeros(4), np.array([0, 1 + 2], np.int32)  # the second level
    fields = [pointer(field.data_ro) for field in both]
    library.at(pointer(seen), 1, 2, pointer(layers), *fields, pointer(up.values_with_halo))
    assert seen.tolist() == [5, 6, 50, 60]


def test_names_are_needed() -> None:
    with pytest.raises(UsageError, match="the kernel's name is missing"):
        generate_single_cell_wrapper(CELLS, [])


COUNT = "static void k(double *A) { for (int i = 0; i < 25; ++i) A[i] += i + 1; }\n"


def of_matrix(mat: op2.Mat) -> list[Any]:
    """What a wrapper takes for a matrix."""
    return [mat.array, mat.sparsity.rowptr, mat.sparsity.colidx]


def test_matrices(tmp_path: Path) -> None:
    """Element by element the same as a loop, beside a Dat on elements; by Maps of its own."""
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**2), [(C2N, C2N, None)]))
    w, y = op2.Dat(CELLS**2, np.arange(6.0)), op2.Dat(NODES)
    turned = op2.PermutedMap(C2N, (1, 0))
    kernel = """
    static void k(double *A, const double *w, double *y) {
      for (int i = 0; i < 8; ++i) A[i] += w[0] + i;
      y[0] += w[1];
    }
    """
    args = [mat(INC, (turned, C2N)), w(READ), y(INC, C2N)]
    text = generate_single_cell_wrapper(CELLS, args, (), "k", "one")
    library = compiled(kernel + text, tmp_path)
    op2.par_loop(op2.Kernel(kernel.replace("static ", ""), "k"), CELLS, *args)
    expected, sums = mat.values, y.data_ro.copy()
    mat.zero()
    y.zero()
    values = [*of_matrix(mat), w.data_ro, y.data, C2N.values, C2N.values, C2N.values]
    for cell in range(3):
        assert library.one(cell, cell + 1, *map(pointer, values)) == 0
    np.testing.assert_array_equal(mat.values, expected)
    assert y.data_ro.tolist() == sums.tolist()
    other = np.array([[0, 1], [1, 3], [2, 3]], np.int32)  # 1 and 3 are not coupled
    values[-3:] = [other] * 3
    assert library.one(1, 2, *map(pointer, values)) == 1
    other[1] = -1  # none of its Maps leads nowhere
    assert library.one(1, 2, *map(pointer, values)) == 1
    np.testing.assert_array_equal(mat.values, expected)
    assert y.data_ro.tolist() == sums.tolist()


def test_what_is_left_out(tmp_path: Path) -> None:
    """Components of boundary nodes beside a Global, in a mixed matrix."""
    both = op2.MixedDataSet((NODES**2, op2.GlobalDataSet(op2.Global(1))))
    maps = op2.MixedMap((C2N, None))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)]))
    some, one = np.arange(16), np.array([0])
    some[[0, 5]] = -1
    lgmaps = [(some, some), (some, one), (one, some), (None, None)]
    for unroll in (True, False):
        if not unroll:
            some = np.array([0, -1, 2, 3, 4, 5, 6, 7])
            lgmaps = [(some, some), (some, one), (None, some), (None, None)]
        arg = mat(INC, (maps, maps), lgmaps=lgmaps, unroll_map=unroll)
        name = f"one{int(unroll)}"
        text = generate_single_cell_wrapper(CELLS, [arg], (), "k", name)
        folder = tmp_path / name
        folder.mkdir()
        library = compiled(COUNT + text, folder)
        mat.zero()
        op2.par_loop(op2.Kernel(COUNT.replace("static ", ""), "k"), CELLS, arg)
        expected = mat.values
        mat.zero()
        held: list[Any] = []
        for block, pair in zip(mat, lgmaps, strict=True):
            meets = (block.nrows, block.ncols) == (1, 1)  # two Globals: a sum, which needs no place
            held += [block.array] if meets else of_matrix(block)
            if any(k is not None for k in pair):
                held += [None if k is None else k.astype(np.int64) for k in pair]
        given = [None if array is None else pointer(array) for array in held]
        for cell in range(3):
            assert library[name](cell, cell + 1, *given, pointer(C2N.values)) == 0
        np.testing.assert_array_equal(mat.values, expected)


@pytest.mark.parametrize("periodic", [False, True], ids=["", "periodic"])
@pytest.mark.parametrize("layers", [4, [[0, 3], [1, 5]]], ids=["constant", "variable"])
def test_cells_of_columns(tmp_path: Path, layers: Any, periodic: bool) -> None:
    """A matrix, and Dats on nodes, on the cells' base and updated there."""
    base, nodes = op2.Set(2), op2.Set(12)
    columns = op2.ExtrudedSet(base, layers, periodic)
    quotient = [0, 1] if periodic else None
    up = op2.Map(columns, nodes, 2, [[0, 1], [6, 7]], "up", [1, 1], quotient)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(up, up, None)]))
    x, w, total = op2.Dat(nodes, np.arange(12.0)), op2.Dat(base, [1.0, 2.0]), op2.Dat(base)
    kernel = """
    static void k(double *A, const double *x, const double *w, double *total) {
      for (int i = 0; i < 4; ++i) A[i] += w[0] * (i + 1);
      total[0] += x[0];
    }
    """
    args = [mat(INC, (up, up)), x(READ, up), w(READ), total(INC)]
    bare = [x(READ, up), w(READ), total(INC)]
    texts = [
        generate_single_cell_wrapper(columns, args, (), "k", "one"),
        generate_single_cell_wrapper(columns, bare, (), "f", "two"),
    ]
    text = "void f(const double *x, const double *w, double *total) { total[0] += w[0] * x[1]; }\n"
    library = compiled(kernel + text + "".join(texts), tmp_path)
    op2.par_loop(op2.Kernel(kernel.replace("static ", ""), "k"), columns, *args)
    expected, sums = mat.values, total.data_ro.copy()
    total.zero()
    op2.par_loop(op2.Kernel(text, "f"), columns, *bare)
    other_sums = total.data_ro.copy()
    mat.zero()
    total.zero()
    own = columns.layers_array.astype(np.int32)
    bounds = [pointer(own)] if periodic and not columns.constant_layers else []
    data = [x.data_ro, w.data_ro, total.data, up.values_with_halo]
    for name, matrix, wanted in (("one", of_matrix(mat), sums), ("two", [], other_sums)):
        total.zero()
        for n in range(2):
            first, last = own[0 if columns.constant_layers else n]
            for layer in range(first, last - 1):
                seen = np.zeros((2, 2), np.int32)
                seen[0 if columns.constant_layers else n] = first, layer + 2
                given = [pointer(values) for values in (*matrix, *data)]
                library[name](n, n + 1, pointer(seen), *bounds, *given)
        assert total.data_ro.tolist() == wanted.tolist()
    np.testing.assert_array_equal(mat.values, expected)
