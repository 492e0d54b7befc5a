# SPDX-License-Identifier: BSD-3-Clause
"""Calls of dense algebra in kernels: what check mode sees, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.op2 import READ, RW, WRITE

N = 5


def test_check_mode_sees_inside_of_functions() -> None:
    cells = op2.Set(N)
    a, x = op2.Dat(cells**4, np.ones((N, 4))), op2.Dat(cells**3)
    kernel = op2.Kernel("void f(double *x, const double *A) { op2_gemv(2, 4, A, A, x); }", "f")
    with pytest.raises(UsageError, match="index 4 is outside of 'A'"):
        op2.par_loop(kernel, cells, x(WRITE), a(READ), check=True)


def test_own_functions_of_the_same_name_are_kept() -> None:
    text = """static int op2_det(int n, double a) { return n + (int)a; }
    void f(double *x) { *x = op2_det(3, 4.5); }"""
    cells = op2.Set(N)
    x = op2.Dat(cells)
    op2.par_loop(op2.Kernel(text, "f"), cells, x(RW))
    assert (x.data_ro == 7).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("op2_solve(A, b)", r"expected op2_solve\(n, A, B\) or op2_solve\(n, m, A, B\); got 2"),
        ("op2_solve(i, A, b)", "size 'n' is a constant integer from 1 to 64; got 'i'"),
        ("op2_solve(65, A, b)", "size 'n' is a constant integer from 1 to 64; got 65; larger"),
        ("op2_solve(0, A, b)", "got 0"),
        ("op2_solve(2.0, A, b)", r"got '2\.0'"),
        ("op2_solve(2, A, c)", "A is of double, B of float; make them of one type"),
        ("op2_solve(2, A, i)", "op2_solve: B is an array or a pointer to float, double"),
        ("op2_solve(2, A, p)", "'p' is numbers of type int32"),
        ("op2_solve(2, b, A)", "op2_solve stores to B, but 'A' is const"),
        ("op2_cholesky(2, z, z)", "op2_cholesky is for real numbers"),
        ("op2_det(2, q)", "holds pointers, not numbers"),
    ],
)
def test_mistakes_are_named_with_their_line(call: str, message: str) -> None:
    text = f"""void f(const double *A, double *b, float *c, double _Complex *z, int *p) {{
        int i = 2; double *q[2] = {{b, b}};
        {call};
    }}"""
    with pytest.raises(UsageError, match=f"(?s)Kernel 'f': line 3: .*{message}"):
        op2.Kernel(text, "f")


def test_kernels_without_a_tree_are_refused_by_name() -> None:
    text = "void f(double *A, double *b) { goto end; end: op2_solve(2, A, b); }"
    with pytest.raises(UsageError, match="'op2_solve' is known to kernels with an"):
        op2.Kernel(text, "f")
    with pytest.raises(UsageError, match="C\\+\\+"):
        op2.Kernel("void f(double *A, double *b) { op2_solve(2, A, b); }", "f", cpp=True)
