# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes in the forms in which users write them; each function is a program with one, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CheckError
from pyop2cxx.op2 import INC, MAX, READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BACKENDS = [backend.name for backend in op2.backends() if backend.available]

pytestmark = pytest.mark.filterwarnings("ignore::pyop2cxx.exceptions.KernelWarning")


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


class World:
    """Four cells in a row between five nodes, and data on both."""

    def __init__(self) -> None:
        self.cells, self.nodes = op2.Set(4, "cells"), op2.Set(5, "nodes")
        self.c2n = op2.Map(self.cells, self.nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 4]], "c2n")
        self.following = op2.Map(self.cells, self.cells, 1, [[1], [2], [3], [0]], "following")
        self.y = op2.Dat(self.cells, [1.0, 2.0, 3.0, 4.0], name="y")
        self.x = op2.Dat(self.nodes, [5.0, 4.0, 3.0, 0.0, -1.0], name="x")
        self.i = op2.Dat(self.cells, np.array([0, 1, 2, 3], np.int32), name="i")
        self.j = op2.Dat(self.cells, np.array([0, 1, 2, 3], np.int32), name="j")
        self.v = op2.Dat(self.cells**2, np.ones((4, 2)), name="v")
        self.z = op2.Dat(self.nodes, np.ones(5), name="z")
        sparsity = op2.Sparsity((self.nodes, self.nodes), [(self.c2n, self.c2n)])
        self.a = op2.Mat(sparsity, name="a")
        fields = [op2.Dat(self.cells, np.ones(4)), op2.Dat(self.nodes, np.ones(5))]
        here = op2.Map(self.cells, self.cells, 1, [0, 1, 2, 3], "here")
        self.mixed, self.paths = op2.MixedDat(fields), op2.MixedMap([here, self.c2n])
        self.columns = op2.ExtrudedSet(op2.Set(2, "base"), 4)
        levels = op2.Set(8, "levels")
        self.up = op2.Map(self.columns, levels, 2, [[0, 1], [4, 5]], "up", offset=[1, 1])
        self.h = op2.Dat(levels, np.arange(8.0), name="h")

    def run(self, code: str, *args: Any, over: Any = None, **options: Any) -> None:
        """Run a kernel over the cells."""
        iterset = self.cells if over is None else over
        op2.par_loop(op2.Kernel(code, "k"), iterset, *args, **options)


class Mistake(NamedTuple):
    """What has to be reported; nothing stands for anything, no check for no report at all."""

    check: str = ""
    line: int | None = None
    argument: int | None = None
    element: int | None = None


PROGRAMS: dict[str, tuple[Callable[[World], None], Mistake]] = {}


def dat(on: Any, values: Any, dtype: Any = float, name: str | None = None) -> op2.Dat:
    return op2.Dat(on, np.array(values, dtype), name=name)


def program(*found: Any) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    def note(function: Callable[[World], None]) -> Callable[[World], None]:
        PROGRAMS[function.__name__] = (function, Mistake(*found))
        return function

    return note


@program("bounds", 4, None, 3)
def countdown(w: World) -> None:
    code = (
        "void k(double *y, int *i) {\n"
        "  double w[3] = {1,2,3};\n"
        "  for (int c = 2; c >= 2 - i[0]; --c)\n"
        "    y[0] += w[c];\n"
        "}"
    )
    w.run(code, w.y(RW), w.i(READ))


@program("bounds", 3, None, 2)
def two_d(w: World) -> None:
    code = (
        "void k(double *y, int *i) {\n"
        "  double w[2][3] = {{1,2,3},{4,5,6}};\n"
        "  y[0] = w[i[0]][1];\n"
        "}"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("bounds", 3, None, 3)
def two_d_inner(w: World) -> None:
    code = (
        "void k(double *y, int *i) {\n"
        "  double w[2][3] = {{1,2,3},{4,5,6}};\n"
        "  y[0] = w[0][i[0]];\n"
        "}"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("bounds", 3, None, 2)
def struct_array(w: World) -> None:
    code = (
        "struct P { double a; int b; };\n"
        "void k(double *y, int *i) { struct P p[2] = {{1,2},{3,4}};\n"
        "  y[0] = p[i[0]].a;\n"
        "}"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("bounds", 3, None, 2)
def struct_member_array(w: World) -> None:
    code = (
        "struct P { double a[2]; };\n"
        "void k(double *y, int *i) { struct P p = {{1,2}};\n"
        "  y[0] = p.a[i[0]];\n"
        "}"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("bounds", 3, None, 2)
def macro(w: World) -> None:
    code = (
        "#define AT(a, i) ((a)[(i)])\n"
        "void k(double *y, double *x, int *i) {\n"
        "  y[0] = AT(x, i[0]);\n"
        "}"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n), w.i(READ))


@program("bounds", 2, 0, 2)
def pointer_walk(w: World) -> None:
    code = (
        "void put(double *p, int n) { while (n-- > 0) {\n"
        "  *p++ = 1; } }\n"
        "void k(double *v, int *i) { v[0]=v[1]=0; put(v, i[0] + 1);\n"
        "}"
    )
    w.run(code, w.v(WRITE), w.i(READ))


@program("result", 2, None, 2)
def helper_that_returns_on_some_paths_only(w: World) -> None:
    code = (
        "enum { A };\n"
        "static double sign(int i) { if (i == 0) { return 1; } else if (i < 2) return 2; }\n"
        "void k(double *y, int *i) { y[0] = sign(i[0]); }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("")
def helpers_that_return_nothing_that_is_used(w: World) -> None:
    code = (
        "static int put(double *y, int i) { if (i > 9) return 1; y[0] = i; }\n"
        "static double sign(int i) { while (1) { if (i < 9) return i; i -= 9; } }\n"
        "static double other(int i) { switch (i) { case 0: return 1; default: return 2; } }\n"
        "void k(double *y, int *i) { put(y, i[0]); y[0] += sign(i[0]) + other(i[0]); }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("bounds", 2, 1, 0)
def search_without_an_end(w: World) -> None:
    """The value that stands in for what lies beyond the array would never end the loop."""
    code = "void k(double *y, double *x) { int c = 0;\n  while (x[c] > -9) ++c;\n  y[0] = c; }"
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("bounds", 3, None, 0)
def chain_of_indices_without_an_end(w: World) -> None:
    code = (
        "void k(double *y) { int next[3] = {1, 2, 7}, n = 0;\n"
        "  for (int c = 0; c != -1; n++) {\n"
        "    c = next[c]; }\n"
        "  y[0] = n; }"
    )
    w.run(code, w.y(WRITE))


@program("bounds", 1, None, 1)
def negative(w: World) -> None:
    w.run(
        "void k(double *y, double *x, int *i) { y[0] = x[-i[0]]; }",
        w.y(WRITE),
        w.x(READ, w.c2n),
        w.i(READ),
    )


@program("store", 2, 1, 0)
def read_written_by_helper(w: World) -> None:
    code = (
        "void scale(double *p) {\n"
        "  p[0] *= 2; }\n"
        "void k(double *y, double *x) { scale(x); y[0] = x[0]; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("written", 2, 0, 3)
def write_struct_half(w: World) -> None:
    code = (
        "struct V { double a, b; };\n"
        "void k(double *v, int *i) { struct V s = {1, 2}; v[0] = s.a; "
        "if (i[0] < 3) v[1] = s.b; }"
    )
    w.run(code, w.v(WRITE), w.i(READ))


@program("written", None, 0, 0)
def write_loop_short(w: World) -> None:
    w.run(
        "void k(double *v, int *n) { for (int c = 0; c < n[0]; c++) v[c] = 0; }",
        dat(w.cells**3, np.ones((4, 3)), name="v")(WRITE),
        op2.Global(1, 2, np.int32)(READ),
    )


@program("store", 1, 0, 0)
def inc_subtract_assign(w: World) -> None:
    w.run("void k(double *z) { z[0] = -1; z[1] -= 1; }", w.z(INC, w.c2n))


@program("store", 1, 0, 0)
def inc_multiply(w: World) -> None:
    w.run("void k(double *z) { z[0] *= 2; }", w.z(INC, w.c2n))


@program("load", 1, 0, 0)
def inc_adds_itself(w: World) -> None:
    w.run("void k(double *z) { z[0] += z[0]; z[1] += 1; }", w.z(INC, w.c2n))


@program("load", 1, 0, 0)
def inc_adds_itself_spelled_out(w: World) -> None:
    w.run("void k(double *z) { z[0] = z[0] + 3 * z[0]; z[1] += 1; }", w.z(INC, w.c2n))


@program("")
def fine_forms_of_inc(w: World) -> None:
    code = "void k(double *z) { z[0] = z[0] + 1; z[1] = 2 + z[1] + 1; z[0] = z[0] - 1; z[1]--; }"
    w.run(code, w.z(INC, w.c2n))


@program("store", None, 0, None)
def inc_memset(w: World) -> None:
    w.run("void k(double *z) { memset(z, 0, 2 * sizeof(double)); z[0] += 1; }", w.z(INC, w.c2n))


@program("extreme", None, 0, None)
def max_lowered(w: World) -> None:
    w.run(
        "void k(double *m, double *y) { if (y[0] > 2) m[0] = -y[0]; }",
        op2.Global(1, 0.0, name="m")(MAX),
        w.y(READ),
    )


@program("races", None, 0, 1)
def rw_race_dat(w: World) -> None:
    w.run("void k(double *z) { z[0] = 2 * z[1]; z[1] = 1; }", w.z(RW, w.c2n))


@program("races")
def direct_write_map_read(w: World) -> None:
    z = dat(w.cells, np.ones(4), name="z")
    w.run("void k(double *a, double *b) { a[0] = b[0]; }", z(WRITE), z(READ, w.following))


@program("races")
def views_overlap(w: World) -> None:
    w.run(
        "void k(double *a, double *b) { a[0] = b[0]; }",
        op2.DatView(w.v, 0)(WRITE),
        op2.DatView(w.v, 0)(READ, w.following),
    )


@program("")
def views_apart(w: World) -> None:
    w.run(
        "void k(double *a, double *b) { a[0] = b[0]; }",
        op2.DatView(w.v, 0)(WRITE),
        op2.DatView(w.v, 1)(READ, w.following),
    )


@program("races")
def global_written_over_dat(w: World) -> None:
    m = np.ones(4)
    a = op2.Dat(w.cells, m, name="a")
    b = op2.Dat(w.cells, m[:4], name="b")
    w.run("void k(double *a, double *b) { a[0] += b[0]; }", a(RW), b(READ, w.following))


@program("made", None, None, 3)
def helper_returns_inf(w: World) -> None:
    code = (
        "static double inv(double a) { return 1 / a; }\n"
        "void k(double *y, double *x) { y[0] = inv(x[0]); }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("made", None, None, 3)
def swallowed_by_argument(w: World) -> None:
    code = (
        "static double clip(double a) { return a > 10 ? 10 : a; }\n"
        "void k(double *y, double *x) { y[0] = clip(1 / x[0]); }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("made", None, None, 3)
def complex_div(w: World) -> None:
    z = dat(w.nodes, np.array([1, 2, 3, 0, 1j]), complex, name="z")
    quotient = op2.Dat(w.cells, dtype=complex, name="quotient")
    w.run(
        "void k(double complex *w, double complex *z) { w[0] = 1.0 / z[0]; }",
        quotient(WRITE),
        z(READ, w.c2n),
    )


@program("made", None, 0, 3)
def float_overflow(w: World) -> None:
    f = op2.Dat(w.cells, np.zeros(4, np.float32), name="f")
    code = "void k(float *f, double *x, int *i) { f[0] = i[0] == 3 ? x[0] + 1e300 : 1; }"
    w.run(code, f(WRITE), w.x(READ, w.c2n), w.i(READ))


@program("made", None, None, 3)
def sum_in_loop(w: World) -> None:
    code = (
        "void k(double *y, double *x) { double s = 0; for (int c = 0; c < 2; "
        "++c) s += 1 / x[c]; y[0] = s; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n), over=op2.Subset(w.cells, [0, 3]))


@program("divisor", None, None, 0)
def modulo_zero_update(w: World) -> None:
    w.run("void k(int *i, int *j) { i[0] %= j[0]; }", w.j(RW), w.i(READ))


@program("shift", None, None, 3)
def shift_negative(w: World) -> None:
    w.run(
        "void k(int *j, int *i) { j[0] = 1 >> (2 - i[0]); }",
        op2.Dat(w.cells, dtype=np.int32)(WRITE),
        w.i(READ),
    )


@program("unset", None, None, 2)
def unset_switch(w: World) -> None:
    code = (
        "void k(double *y, int *i) { double t; switch (i[0]) { case 0: t = 1; break; "
        "case 1: t = 2; break; case 3: t = 3; } y[0] = t; }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("unset", None, None, None)
def unset_struct(w: World) -> None:
    code = (
        "struct P { double a, b; };\n"
        "void k(double *y, int *i) { struct P p; p.a = 1; y[0] = p.a + p.b; }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("unset", None, None, None)
def unset_loop(w: World) -> None:
    code = "void k(double *y, int *i) { double t; for (int c = 0; c < i[0]; ++c) t = c; y[0] = t; }"
    w.run(code, w.y(WRITE), w.i(READ))


@program("unset", 2, None, 0)
def unset_sum(w: World) -> None:
    code = (
        "void k(double *y, double *x) { double s;\n"
        "  for (int c = 0; c < 2; ++c) s += x[c];\n  y[0] = s; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("unset", 1, None, 0)
def unset_product(w: World) -> None:
    code = "void k(double *y, double *x) { double p; p *= x[0]; y[0] = p; }"
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("unset", 1, None, 0)
def unset_bits(w: World) -> None:
    code = "void k(int *j, int *i) { int bits; bits |= i[0]; j[0] = bits; }"
    w.run(code, w.j(WRITE), w.i(READ))


@program("")
def fine_sum_that_is_begun_in_its_loop(w: World) -> None:
    code = (
        "void k(double *y, double *x) { double s; for (int c = 0; c < 2; ++c) { "
        "if (c == 0) s = 0; s += x[c]; } y[0] = s; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("update", None, None, 1)
def write_read_before(w: World) -> None:
    w.run(
        "void k(double *y, int *i) { if (i[0] != 1) y[0] = 0; y[0] += 1; }", w.y(WRITE), w.i(READ)
    )


@program("overflow", None, None, 3)
def long_product(w: World) -> None:
    code = "void k(long *l, int *i) { long a = 3037000499L + i[0] / 3; l[0] = a * a; }"
    w.run(code, op2.Dat(w.cells, dtype=np.int64)(WRITE), w.i(READ))


@program("overflow")
def abs_least(w: World) -> None:
    w.run(
        "void k(int *j) { j[0] = abs(j[0]); }",
        dat(w.cells, [1, 2, 3, -(2**31)], np.int32, name="j")(RW),
    )


@program("conversion", None, None, 3)
def narrow_return(w: World) -> None:
    code = (
        "static short f(int a) { return a * 20000; }\n"
        "void k(double *y, int *i) { y[0] = f(i[0] / 2 + i[0] / 3); }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("conversion", None, None, 3)
def narrow_struct(w: World) -> None:
    code = (
        "struct P { signed char c; };\n"
        "void k(double *y, int *i) { struct P p = {50 * i[0]}; y[0] = p.c; }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("conversion", None, None, 3)
def narrow_struct_assign(w: World) -> None:
    code = (
        "struct P { signed char c; };\n"
        "void k(double *y, int *i) { struct P p; p.c = 50 * i[0]; y[0] = p.c; }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


@program("truncation", None, None, None)
def nan_to_int(w: World) -> None:
    w.run(
        "void k(double *y, double *x) { int n = x[0]; y[0] = n; }",
        w.y(WRITE),
        dat(w.nodes, [1, np.nan, 3, 4, 5], name="x")(READ, w.c2n),
    )


@program("load", None, 0, None)
def matrix_read(w: World) -> None:
    w.run(
        "void k(double *a) { for (int i = 0; i < 4; ++i) a[i] += a[0]; }", w.a(INC, (w.c2n, w.c2n))
    )


@program("bounds")
def matrix_bounds(w: World) -> None:
    w.run("void k(double *a, int *i) { a[i[0] + 1] += 1; }", w.a(INC, (w.c2n, w.c2n)), w.i(READ))


@program("made", None, None, 3)
def matrix_inf(w: World) -> None:
    code = "void k(double *a, double *x) { for (int i = 0; i < 4; ++i) a[i] += 1 / x[0]; }"
    w.run(code, w.a(INC, (w.c2n, w.c2n)), w.x(READ, w.c2n))


@program("made", None, 0, 3)
def matrix_nan(w: World) -> None:
    code = "void k(double A[2][2], double *x) { A[0][1] += 1; A[1][0] += sqrt(x[1]); }"
    w.run(code, w.a(INC, (w.c2n, w.c2n)), w.x(READ, w.c2n))


@program("made", None, 0, 1)
def matrix_set_to_inf(w: World) -> None:
    code = "void k(double *a, double *x) { for (int i = 0; i < 4; ++i) a[i] = 1 / (x[0] - 4); }"
    w.run(code, w.a(WRITE, (w.c2n, w.c2n)), w.x(READ, w.c2n), equal_writes=True)


@program("store", None, 0, 0)
def matrix_assigned(w: World) -> None:
    w.run("void k(double A[2][2]) { A[0][0] += 1; A[1][1] = 1; }", w.a(INC, (w.c2n, w.c2n)))


@program("sum", None, 0, 3)
def matrix_too_large(w: World) -> None:
    code = "void k(double *a, double *x) { a[3] += 4e307 * x[1]; a[0] += 4e307 * x[0]; }"
    w.run(code, w.a(INC, (w.c2n, w.c2n)), dat(w.nodes, [0, 1, 2, 4, 0])(READ, w.c2n))


@program("store", None, None, None)
def mixed_read_written(w: World) -> None:
    w.run(
        "void k(double *y, double *d) { d[2] = 0; y[0] = d[0]; }",
        w.y(WRITE),
        w.mixed(READ, w.paths),
    )


@program("bounds", None, 1, 3)
def mixed_bounds(w: World) -> None:
    w.run(
        "void k(double *y, double *d, int *i) { y[0] = d[i[0]]; }",
        w.y(WRITE),
        w.mixed(READ, w.paths),
        w.i(READ),
    )


@program("written", None, 0, 2)
def subset_written(w: World) -> None:
    w.run(
        "void k(double *y, int *i) { if (i[0] != 2) y[0] = 1; }",
        w.y(WRITE),
        w.i(READ),
        over=op2.Subset(w.cells, [1, 2, 3]),
    )


@program("bounds", None, None, 2)
def const_table(w: World) -> None:
    code = "static const double t[2] = {1, 2};\nvoid k(double *y, int *i) { y[0] = t[i[0]]; }"
    w.run(code, w.y(WRITE), w.i(READ))


@program("bounds", None, None, 2)
def const_array(w: World) -> None:
    op2.Const(2, [1.0, 2.0], "hostile_c")
    w.run("void k(double *y, int *i) { y[0] = hostile_c[i[0]]; }", w.y(WRITE), w.i(READ))


@program("bounds")
def ternary_pointer(w: World) -> None:
    code = (
        "void k(double *y, double *x, int *i) { double w[1] = {1}; "
        "double *p = i[0] > 1 ? w : x; y[0] = p[1]; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n), w.i(READ))


@program("bounds")
def memcpy_over(w: World) -> None:
    code = (
        "void k(double *y, double *x, int *i) { double w[2] = {0, 0}; "
        "memcpy(w, x, i[0] * sizeof(double)); y[0] = w[0]; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n), w.i(READ))


@program("store")
def memcpy_into_read(w: World) -> None:
    code = (
        "void k(double *y, double *x) { double w[2] = {0, 0}; memcpy(x, w, sizeof w); "
        "y[0] = x[0]; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("overflow", None, None, 2)
def const_product(w: World) -> None:
    op2.Const(1, 1000000000, "hostile_n", dtype=np.int32)
    w.run("void k(int *j, int *i) { j[0] = (i[0] + 1) * hostile_n; }", w.j(WRITE), w.i(READ))


@program("divisor", None, None, 0)
def const_divided(w: World) -> None:
    op2.Const(2, [6, 7], "hostile_d", dtype=np.int32)
    w.run("void k(int *j, int *i) { j[0] = hostile_d[1] / i[0]; }", w.j(WRITE), w.i(READ))


@program("conversion", None, None, 0)
def const_among_unsigned(w: World) -> None:
    op2.Const(1, 3, "hostile_u", dtype=np.int32)
    count = op2.Dat(w.cells, dtype=np.int64)
    many = op2.Dat(w.cells, np.array([7, 7, 7, 7], np.uint64))
    code = "void k(long *n, unsigned long *u) { n[0] -= (u[0] - hostile_u) & 7; }"
    w.run(code, count(INC), many(READ))


@program("")
def fine_hash(w: World) -> None:
    code = (
        "void k(int *i) { unsigned h = i[0] * 2654435761u; h ^= h >> 13; h <<= 7; "
        "i[0] = (int)(h % 100u); }"
    )
    w.run(code, w.j(RW))


@program("")
def fine_nan_flag(w: World) -> None:
    code = (
        "void k(double *y, double *x) { double t = INFINITY; for (int c = 0; c < 2; "
        "++c) t = fmin(t, x[c]); y[0] = t; }"
    )
    w.run(code, w.y(WRITE), w.x(READ, w.c2n))


@program("")
def fine_masked(w: World) -> None:
    w.run(
        "void k(double *y, double *x) { y[0] = x[0] != 0 ? 1 / x[0] : 0; }",
        w.y(WRITE),
        w.x(READ, w.c2n),
    )


@program("")
def fine_char_table(w: World) -> None:
    code = (
        "static const signed char t[3] = {-1, 0, 1};\n"
        "void k(double *y, int *i) { signed char s = t[i[0] % 3]; "
        "short q = s * 4 + (i[0] > 2); y[0] = q + (char)(i[0] + 48); }"
    )
    w.run(code, w.y(WRITE), w.i(READ))


def values_of(w: World) -> list[Any]:
    """Return a copy of all that the programs may write."""
    dats = [w.y, w.x, w.i, w.j, w.v, w.z, w.h, *w.mixed]
    return [w.a.values, *(one.data_ro.copy() for one in dats)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_mistake_is_reported_where_it_is(name: str, backend: str) -> None:
    op2.init(backend=backend, check=True)
    function, wanted = PROGRAMS[name]
    if not wanted.check:
        function(World())
        return
    world = World()
    before = values_of(world)
    with pytest.raises(CheckError, match="par_loop 'k'") as caught:
        function(world)
    for old, new in zip(before, values_of(world), strict=True):
        np.testing.assert_array_equal(old, new)
    error: Any = caught.value
    found = Mistake(error.check, error.line, error.argument, error.element)
    expected = [b if a is None else a for a, b in zip(wanted, found, strict=True)]
    assert list(found) == expected, str(error)
