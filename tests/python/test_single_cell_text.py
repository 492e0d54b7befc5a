# SPDX-License-Identifier: BSD-3-Clause
"""What a function of one element takes; what it computes is in test_single_cell."""

from __future__ import annotations

from pyop2cxx import op2
from pyop2cxx.loop.parts import parts_of
from pyop2cxx.op2 import INC, READ
from pyop2cxx.pyop2._single_cell_text import Wrapping, parameters_of
from pyop2cxx.sets.items import items_of

CELLS, NODES = op2.Set(2, "cells"), op2.Set(3, "nodes")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2], "c2n")


def test_parameters_behind_the_range() -> None:
    text = """
    void f(long begin, long end);
    static void f(long begin, long end,
        double *__restrict__ x,
        const int *__restrict__ x_map) {
    }
    """
    assert parameters_of(text, "f") == ["x", "x_map"]


def test_pointers_are_moved_where_the_loop_sees_one_element_only() -> None:
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**1), [(C2N, C2N, None)]))
    w = op2.Dat(CELLS**3)
    parts = parts_of((mat(INC, (C2N, C2N)), w(READ)), items_of(CELLS, None, False, "loop"))
    wrapping = Wrapping("one", "k", (), parts, CELLS)
    wanted = ["arg0", "arg0_row_map", "arg0_col_map", "arg1", "arg0_row_start", "arg0_position"]
    search, *lines = wrapping.text(wanted).splitlines()
    assert search.startswith("static int one_places(")
    begin = next(i for i, line in enumerate(lines) if line.startswith("int one("))
    head, *_, call, brace, end, _ = lines[begin:]
    assert head == (
        "int one(int start, int end, double *arg0, const long *arg0_rowptr, "
        "const int *arg0_colidx, const double *arg1, const int *map0) {"
    )
    assert call == (
        "    wrap_k(0, 1, arg0, map0 + element * 2, map0 + element * 2, arg1 + element * 3, "
        "arg0_rowptr, arg0_places);"
    )
    assert (brace, end) == ("  }", "  return 0;")
    plain = Wrapping("two", "k", (), parts[1:], CELLS).text(["arg1"]).splitlines()
    assert plain[1] == "  wrap_k(start, end, arg0);"
