# SPDX-License-Identifier: BSD-3-Clause
"""Wrappers of one element, compiled with a kernel by a C compiler and called."""

from __future__ import annotations

import ctypes
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.op2 import INC, READ
from pyop2cxx.parloop import generate_single_cell_wrapper

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


def test_what_has_no_wrapper() -> None:
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**1), [(C2N, C2N, None)]))
    with pytest.raises(UnsupportedError, match="entries of matrices"):
        generate_single_cell_wrapper(CELLS, [mat(INC, (C2N, C2N))], (), "f")
    columns = op2.ExtrudedSet(CELLS, [[0, 2], [0, 3], [1, 3]])
    with pytest.raises(UnsupportedError, match="layers of their own"):
        generate_single_cell_wrapper(columns, [], (), "f")
    with pytest.raises(UsageError, match="the kernel's name is missing"):
        generate_single_cell_wrapper(CELLS, [])
