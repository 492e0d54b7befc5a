# SPDX-License-Identifier: BSD-3-Clause
"""Every form of `switch`, on every backend."""

from __future__ import annotations

import numpy as np

from pyop2cxx import op2

FORMS = """static int h(int n, unsigned char c) {
  switch (n) {
    case -1: return 7;
    case 0:
    case 1: { c += 2; }
    default: c += 1; break;
    case 3: c *= 2;
  }
  switch (c) { case 200: return 1; default: switch (n & 1) { case 0: return c; } }
  return -c;
}
void k(int *y, const int *i) {
  for (int j = 0; j < 3; ++j) {
    switch (i[0] + j) {
      case 2: continue;
      case 4: y[0] += 100; break;
      case 5: y[0] += 1000;
      case 6: if (i[0] > 4) break;
        y[0] += 5;
    }
    y[0] += h(i[0] + j, 200 - 3 * j);
  }
}"""


def test_forms(backend: str) -> None:
    some = op2.Set(10)
    y = op2.Dat(some, np.zeros(10), np.int32)
    i = op2.Dat(some, np.arange(10) - 2, np.int32)
    op2.par_loop(op2.Kernel(FORMS, "k"), some, y(op2.RW), i(op2.READ))
    assert y.data_ro.tolist() == [405, -189, 204, -335, 157, 964, 1308, 802, 198, -198]


REDUCED = """struct s { int a[3]; float b[3]; unsigned short c; };
void k(double *x, int *y, const double *p, double *least) {
  struct s v = {.a = {1, 1.0, 1.0}, .b = {1.0, 1.0, 1}, .c = (uint16_t)fmax(fmin(x[0], 3.0), 0.0)};
  struct s w = {.a = {1.0, v.a[1], 1.0}, .b = {1, 1.0, 1.0}, .c = 1};
  switch (v.c & 3) {
    case 0:
      y[1] -= (int)fmax(fmin(fabs(v.b[v.c % 3] - t_of_3[1])
        - ((t_of_3[w.c % 3] >= w.a[w.c & 1]) - (v.b[w.c % 3] > x[0] ? v.c : p[0])), 9.0), -9.0);
    case 1:
      y[2] -= !(int16_t)(w.b[w.c & 1] - p[0]);
    case 2:
    case 3:;
  }
}"""


def test_cases_that_run_on_in_a_loop_that_reduces(backend: str) -> None:
    """PoCL's code for them read what elements beyond the last have in the Map, and crashed."""
    cells, nodes = op2.Set(1), op2.Set(5)
    ends = op2.PermutedMap(op2.Map(cells, nodes, 1, [[4]]), [0])
    x, y = (
        op2.Dat(
            nodes**3,
            np.array(
                [
                    -14.5,
                    5.5,
                    -5.125,
                    9.625,
                    11.625,
                    4.875,
                    -10.375,
                    9.0,
                    15.25,
                    -4.875,
                    12.5,
                    -12.0,
                    12.625,
                    -12.25,
                    -5.875,
                ]
            ),
        ),
        op2.Dat(cells**4, [-9, -9, 9, -9], np.int32),
    )
    p, least = op2.Global(1, 8.375), op2.Global(1, -13.25)
    table = op2.Const(3, [6.25, 6.0, -5.25], "t_of_3")
    try:
        kernel = op2.Kernel(REDUCED, "k")
        args = (x[0](op2.RW, ends), y(op2.INC), p(op2.READ), least(op2.MIN))
        op2.par_loop(kernel, cells, *args)
        assert y.data_ro.tolist() == [[-9, -9, 9, -9]]
    finally:
        table.remove_from_namespace()
