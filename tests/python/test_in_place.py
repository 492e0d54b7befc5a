# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that expressions of a kernel make in place: C's compound literals."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CheckError, UnsupportedError

CELLS = op2.Set(5, "cells")
SUM = """static double sum(const double *v, int n) {
  double s = 0;
  while (n-- > 0) s += v[n];
  return s;
}"""
TEXT = (
    SUM
    + """
typedef struct { double x[2]; int n; } Pair;
static double of(Pair p) { return p.x[0] + p.x[1] + p.n; }
void k(double *y, const double *x) {
  double in_place_0 = 1000;
  const double *v = (const double[3]){x[0], 1};   // the rest is 0
  double t = 2 * x[0], *w = (double[]){t, [3] = 4, 5}, u = w[4];
  w[1] = sum((double[]){1, 2, x[0]}, 3) + sum((double[]){x[0], x[0]}, 2);
  for (int i = 0; i < 3; i++) {
    double *fresh = (double[2]){i};
    fresh[1] += 10;
    y[0] += fresh[0] + fresh[1];
  }
  int i = 0;
  for (int *at = (int[]){2, 1, 0}; i < 3; i++) y[1] += v[at[i]] * (i + 1);
  if (sum((double[]){x[0], -2}, 2) > 0) y[2] += sum((double[]){7, 8}, 2);
  else if (x[0] > 1) y[2] += ((int[]){3, 4, 5})[(int)x[0]];
  else y[2] += *(double[]){9};
  *&(int){3};
  y[2] += (int){3.9} + (double){x[0]} + of((Pair){{1, 2}, 3}) + sum((double *){w}, 2);
  y[3] += w[0] + w[1] + w[2] + w[3] + u + in_place_0;
}"""
)


def expected(x: float) -> list[float]:
    w = [2 * x, 3 + x + 2 * x, 0, 4, 5]
    branch = 15 if x > 2 else [3, 4, 5][int(x)] if x > 1 else 9
    return [
        sum(i + 10 for i in range(3)),
        0 * 1 + 1 * 2 + x * 3,
        branch + 3 + x + 6 + w[0] + w[1],
        w[0] + w[1] + w[3] + 5 + 1000,
    ]


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("lanes", [None, 4])
def test_arrays_made_in_place_are_what_c_says(backend: str, lanes: int | None, check: bool) -> None:
    x, y = op2.Dat(CELLS, [1.0, 3.0, 0.5, 2.0, 8.0]), op2.Dat(CELLS**4)
    kernel = op2.Kernel(TEXT, "k")
    assert not kernel.opaque_reason
    try:
        op2.par_loop(kernel, CELLS, y(op2.RW), x(op2.READ), lanes=lanes, check=check)
    except UnsupportedError as error:
        assert lanes is not None
        pytest.skip(str(error))
    assert np.allclose(y.data_ro, [expected(value) for value in x.data_ro], rtol=1e-14)


@pytest.mark.parametrize("lanes", [0, 4])
@pytest.mark.parametrize(
    ("part", "factor", "more"),
    [
        ("double w[2] = {x[0], 1}; double *v = {w}; y[0] = sum(v, 2);", 1, 1),
        ("double w = {x[0]}, v = {{2}}; y[0] = w + v;", 1, 2),
        ("double w[2] = {{x[0]}, 3}; y[0] = sum(w, 2);", 1, 3),
        ("double w[2][2] = {{{x[0]}, 1}, x[0]}; y[0] = sum(w[0], 4);", 2, 1),
    ],
)
def test_braces_around_a_single_value_are_no_list(
    part: str, factor: float, more: float, lanes: int
) -> None:
    x, y = op2.Dat(CELLS, np.arange(5.0)), op2.Dat(CELLS)
    kernel = op2.Kernel(f"{SUM}\nvoid k(double *y, const double *x) {{ {part} }}", "k")
    with op2.backend("sequential"):
        op2.par_loop(kernel, CELLS, y(op2.WRITE), x(op2.READ), lanes=lanes)
    assert y.data_ro.tolist() == [factor * i + more for i in range(5)]


def test_their_bounds_are_watched(backend: str) -> None:
    x, y = op2.Dat(CELLS, [0, 1, 0, 2, 1], "int32"), op2.Dat(CELLS)
    text = "void k(double *y, const int *x) { y[0] = ((double[]){1, 2})[x[0]]; }"
    with pytest.raises(CheckError, match="index 2 is outside") as caught:
        op2.par_loop(op2.Kernel(text, "k"), CELLS, y(op2.WRITE), x(op2.READ), check=True)
    assert caught.value.element == 3


@pytest.mark.parametrize(
    "part",
    [
        "y[0] = x[0] > 0 && sum((double[]){x[0]}, 1) > 1;",
        "y[0] = x[0] > 0 ? sum((double[]){x[0]}, 1) : 0;",
        "double t; t = x[0], y[0] = sum((double[]){t}, 1);",
        "while (sum((double[]){y[0], 1}, 2) < 3) y[0] += 1;",
        "for (int i = 0; sum((double[]){y[0], i}, 2) < 3; i++) y[0] += 1;",
        "do y[0] += 1; while (sum((double[]){y[0], 1}, 2) < 3);",
    ],
)
def test_where_they_are_made_often_or_not_always_compilers_take_them(part: str) -> None:
    has_opencl = any(one.name == "opencl" and one.available for one in op2.backends())
    kernel = op2.Kernel(f"{SUM}\nvoid k(double *y, const double *x) {{ {part} }}", "k")
    assert "made in place where it is not carried out just once" in kernel.opaque_reason
    with op2.backend("sequential"):
        x, y = op2.Dat(CELLS, 2.0), op2.Dat(CELLS)
        op2.par_loop(kernel, CELLS, y(op2.RW), x(op2.READ))
        assert y.data_ro.all()
    with (
        op2.backend("opencl") if has_opencl else pytest.skip("there is no OpenCL"),
        pytest.raises(UnsupportedError, match="made in place"),
    ):
        op2.par_loop(kernel, CELLS, y(op2.RW), x(op2.READ))
