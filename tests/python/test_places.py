# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes in kernels that no C compiler takes are told by the user's names and lines."""

from __future__ import annotations

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError

MISTAKES = {
    "cases": (
        "void k(double *a) {\n  switch ((int)a[0]) {\n    case 0: a[0] = 1; break;\n"
        "    case 1: case 1 - 1: a[0] = 2;\n  }\n}",
        "line 4: this switch has two cases of value 0; the first is in line 3\n"
        "  4 |     case 1: case 1 - 1: a[0] = 2;\n    |                  ^",
    ),
    "cases of an enum": (
        "enum { A, B = 0 };\nvoid k(double *a) {\n  switch ((int)a[0]) { case A: break;\n"
        "    case B: a[0] = 2; }\n}",
        "line 4: this switch has two cases of value 0; the first is in line 3\n"
        "  4 |     case B: a[0] = 2; }\n    |          ^",
    ),
    "defaults": (
        "void k(double *a) {\n  switch ((int)a[0]) {\n    default: a[0] = 1; break;\n"
        "    default: a[0] = 2;\n  }\n}",
        "line 4: this switch has two defaults; the first is in line 3\n"
        "  4 |     default: a[0] = 2;\n    |     ^",
    ),
    "a parameter again": (
        "void k(double *a) {\n  double a;\n}",
        "line 2: 'a' is declared twice in one block; the first is in line 1\n"
        "  2 |   double a;\n    |          ^",
    ),
    "a parameter of a helper again": (
        "static int h(int n) { double *n = 0; return 1; }\nvoid k(double *a) { a[0] = h(2); }",
        "line 1: 'n' is declared twice in one block; the first is in line 1\n"
        "  1 | static int h(int n) { double *n = 0; return 1; }\n",
    ),
    "a variable again": (
        "void k(double *a) {\n  int i = 1,\n      j = 2, *i = 0;\n}",
        "line 3: 'i' is declared twice in one block; the first is in line 2\n"
        "  3 |       j = 2, *i = 0;\n    |               ^",
    ),
    "two parameters": (
        "void k(double *a,\n       const double a[3]) { a[0] = 1; }",
        "line 2: parameter 'a' is declared twice; the first is in line 1\n"
        "  2 |        const double a[3]) { a[0] = 1; }\n",
    ),
    "functions": (
        "static double h(double x) { return x; }\nstatic double h(double x) { return 2 * x; }\n"
        "void k(double *a) { a[0] = h(1); }",
        "line 2: function 'h' is defined twice; the first is in line 1\n"
        "  2 | static double h(double x) { return 2 * x; }\n    |               ^",
    ),
    "enumerators": (
        "enum e { A, B,\n         A };\nvoid k(double *a) { a[0] = A; }",
        "line 2: enumerator 'A' is declared twice; the first is in line 1\n"
        "  2 |          A };\n    |          ^",
    ),
    "members": (
        "void k(double *a) {\n  struct s { int q;\n    double q; } v;\n  a[0] = v.q = 1;\n}",
        "line 3: member 'q' is declared twice; the first is in line 2\n"
        "  3 |     double q; } v;\n    |            ^",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_told_by_the_users_names_and_lines(what: str) -> None:
    text, message = MISTAKES[what]
    with pytest.raises(UsageError) as caught:
        op2.Kernel(text, "k")
    assert message in str(caught.value)
    assert "k_1" not in str(caught.value)


def test_what_c_takes_is_no_mistake(backend: str) -> None:
    text = """
enum { A, B = A };
static const double half;
static const double half = 0.5;
static double twice(double x);
static double twice(double x) { return 2 * x; }
void k(double *a) {
  double x = a[0];
  extern double elsewhere;
  extern double elsewhere;
  for (int i = 0; i < 2; i++) { double i = 1, x = 2; a[0] += i + x; }
  for (int i = 0; i < 2; i++) a[0] += 1;
  { int x = 3; a[0] += x; }
  if (x > 0) { int x = 1; a[0] += x; } else { int x = 2; a[0] += x; }
  switch (A) { case 0: { switch (1) { case 0: break; case 1: a[0] += 1; } } break; case 1: break; }
  struct { int x, a; } p = {1, 2};
  a[0] += twice(p.x) + half + x + B;
}"""
    cells = op2.Set(2)
    a = op2.Dat(cells, 1.0)
    kernel = op2.Kernel(text, "k")
    assert not kernel.opaque_reason
    op2.par_loop(kernel, cells, a(op2.RW))
    assert a.data_ro.tolist() == [1 + 6 + 2 + 3 + 1 + 1 + 2 + 0.5 + 1] * 2
