# SPDX-License-Identifier: BSD-3-Clause
"""Every form of `switch`, on every backend."""

from __future__ import annotations

import numpy as np
import pytest
from programs import is_gpu

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


SELECTORS = {
    "mask": "i[0] & 3",
    "bits": "(i[0] & 1) * 2 + (i[1] & 1)",
}
ALL_CASES = {
    "on into the next": """switch (n) {
      case 2: a[0] += 1;
      case 0: b[0] += 2;
      case 3: a[0] += 3;
      case 1: b[0] += 4;
    }""",
    "with a default": """switch (n) {
      case 2: a[0] += 1;
      case 0: b[0] += 2; break;
      case 3: a[0] += 3;
      case 1: b[0] += 4; break;
      default: b[0] += 5;
    }""",
    "as ifs": """double v = 0;
    if (n == 2) { v = 1; if (a[0] > 3) b[0] += v; }
    else if (n == 0) { v = 2; b[0] += i[0]; }
    else if (n == 3) { v = i[0]; for (int j = 0; j < n; ++j) b[0] += 1; }
    else if (n == 1) v = 7;
    a[0] += v;""",
    "the last by order": """double v = 0;
    if (!n) { v = 1; if (a[0] > 3) b[0] += v; }
    else if (n == 1) { v = 2; b[0] += i[0]; }
    else if (n == 2) { v = i[0]; for (int j = 0; j < n; ++j) b[0] += 1; }
    else if (n > 2) v = 7;
    a[0] += v;""",
}


def _all_cases(code: str, n: int, is_reduced: bool) -> list[list[float]]:
    cells, nodes = op2.Set(n), op2.Set(7)
    ends = op2.Map(cells, nodes, 1, np.arange(n).reshape(n, 1) % 7)
    i = op2.Dat(cells**2, np.arange(2 * n).reshape(n, 2) * 7 % 19, np.int32)
    a = op2.Dat(cells, np.arange(n) % 5.0)
    b = op2.Global(1, 0.0) if is_reduced else op2.Dat(nodes, np.zeros(7))
    last = b(op2.INC) if is_reduced else b(op2.INC, ends)
    op2.par_loop(op2.Kernel(code, "k"), cells, i(op2.READ), a(op2.RW), last)
    return [a.data_ro.tolist(), np.ravel(b.data_ro).tolist()]


@pytest.mark.parametrize("is_reduced", [False, True], ids=["node", "global"])
@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("cases", ALL_CASES)
def test_every_value_has_a_case(cases: str, selector: str, is_reduced: bool, backend: str) -> None:
    """LLVM knows that nothing else is left: PoCL's loops over a group got lost there."""
    code = f"""void k(const int *i, double *a, double *b) {{
      int n = {SELECTORS[selector]};
      {ALL_CASES[cases]}
    }}"""
    found = _all_cases(code, 100, is_reduced)
    with op2.backend("sequential"):
        assert found == _all_cases(code, 100, is_reduced)


COUNTED = {
    "of a loop that is not unrolled": """for (int j = 0; j < m[0]; ++j) {
      switch (j & 3) {
        case 2: a[0] += 1;
        case 0: b[0] += 2; if (i[1] > 3) a[0] += i[0];
        case 3: a[0] += 3;
        case 1: b[0] += 4;
      }
    }""",
    "by a name of a counter": """for (int n = 0; n < 2; ++n) a[0] += n;
    int n = i[0] & 3;
    switch (n) {
      case 2: a[0] += 1;
      case 0: b[0] += 2;
      case 3: a[0] += 3;
      case 1: b[0] += 4;
    }""",
    # on lanes a condition is declared as a mask, behind the label
    "with branches behind its labels": """for (int j = 0; j < 4; ++j) {
      switch (j) {
        case 2: if (a[0] > 2.5) b[0] += 1;
        case 0: if (a[0] > 3.5) { a[0] += 0.25 * sin(a[0]); b[0] += sin(a[0]); }
        case 3: if (a[0] < 1.5) b[0] += sin(a[0] + 1);
        case 1: b[0] += 4;
      }
    }""",
}


@pytest.mark.parametrize("cases", COUNTED)
def test_a_switch_by_what_a_loop_counts(cases: str, backend: str) -> None:
    code = f"void k(const int *i, double *a, double *b, const int *m) {{ {COUNTED[cases]} }}"

    def found(**how: int) -> list[object]:
        some = op2.Set(100)
        i = op2.Dat(some**2, np.arange(200).reshape(100, 2) * 7 % 19, np.int32)
        a, b = op2.Dat(some, np.arange(100) % 5.0), op2.Global(1, 0.0)
        m = op2.Global(1, 7, np.int32)
        args = (i(op2.READ), a(op2.RW), b(op2.INC), m(op2.READ))
        op2.par_loop(op2.Kernel(code, "k"), some, *args, **how)
        return [a.data_ro.copy(), b.data_ro.copy()]

    is_on_lanes = cases == "with branches behind its labels" and not is_gpu(backend)
    got = found(**({"lanes": 4} if is_on_lanes else {}))
    with op2.backend("sequential"):
        for one, other in zip(got, found(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
