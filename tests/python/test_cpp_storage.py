# SPDX-License-Identifier: BSD-3-Clause
"""Dats in narrower memory in programs in C++: 32 and 16 bits under kernels of doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import needs_program, said

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [
    pytest.mark.usefixtures("host_by_default"),
    pytest.mark.each_backend,
    pytest.mark.slow,
    needs_program("cmake"),
]

PROGRAM = """
import ml_dtypes
import numpy as np
from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ, RW, WRITE
cells, edges = op2.Set(40, "cells"), op2.Set(39, "edges")
ends = op2.Map(edges, cells, 2, np.stack([np.arange(39), np.arange(1, 40)], 1), "ends")
wide = {"compute": "float64"}
h = op2.Dat(cells**2, np.linspace(-3, 5, 80), "float16", "h", **wide)
b = op2.Dat(cells, np.linspace(1, 2, 40), ml_dtypes.bfloat16, "b", **wide)
s = op2.Dat(cells, None, "float32", "s", **wide)
total = op2.Global(1, 0.0, name="total")
scale = op2.Kernel("void scale(double *h, double *b, double *s) {"
                   " h[0] = h[0] / 3; h[1] = h[1] * b[0]; b[0] = b[0] / 7; s[0] = h[0] + 0.1; }",
                   "scale")
op2.par_loop(scale, cells, h(RW), b(RW), s(WRITE))
share = op2.Kernel("void share(double *h, const double *s) {"
                   " h[0] += s[1] - s[0]; h[1] += s[0]; h[2] += s[0] - s[1]; h[3] += s[1]; }",
                   "share")
op2.par_loop(share, edges, h(INC, ends), s(READ, ends))
add = op2.Kernel("void add(double *t, const double *h, const double *b) { t[0] += h[0] + b[0]; }",
                 "add")
op2.par_loop(add, cells, total(INC), h(READ), b(READ))
"""

PROGRAM_CPP = """
#include <cmath>
#include <iostream>
#include <string>
#include <vector>
#include "halves.hpp"

int main(int argc, char** argv) try {
  op2::init({argc > 1 ? argv[1] : "sequential", 2});
  const int n = 3000;
  const op2::Set cells(n, "cells"), edges(n - 1, "edges");
  std::vector<int> entries;
  for (int i = 0; i + 1 < n; ++i) entries.insert(entries.end(), {i, i + 1});
  const op2::Map<2> ends(edges, cells, entries, "ends");
  std::vector<op2::Float16> h_values(2 * n), h_wanted(2 * n);
  std::vector<op2::Bfloat16> b_values(n), b_wanted(n);
  std::vector<float> s_values(n), s_wanted(n);
  for (int i = 0; i < n; ++i) {
    h_values[2 * i] = h_wanted[2 * i] = op2::Float16(i % 37 - 18);
    h_values[2 * i + 1] = h_wanted[2 * i + 1] = op2::Float16(1.0 / (i + 1));
    b_values[i] = b_wanted[i] = op2::Bfloat16(0.3 * (i % 11));
  }
  const op2::Dat<op2::Float16, 2> h(cells, h_values, "h");
  const op2::Dat<op2::Bfloat16> b(cells, b_values, "b");
  const op2::Dat<float> s(cells, s_values, "s");
  std::vector<double> t(1);
  const op2::Global<double> total(t, "total");
  halves::scale(cells, h, b, s)();
  halves::share(edges, h, ends, s)();
  halves::add(cells, total, h, b)();
  for (int i = 0; i < n; ++i) {
    const double first = double(h_wanted[2 * i]) / 3, weight = double(b_wanted[i]);
    s_wanted[i] = float(first + 0.1);
    h_wanted[2 * i] = op2::Float16(first);
    h_wanted[2 * i + 1] = op2::Float16(double(h_wanted[2 * i + 1]) * weight);
    b_wanted[i] = op2::Bfloat16(weight / 7);
  }
  double wanted = 0;
  for (int i = 0; i < n; ++i) {
    double own[2] = {double(h_wanted[2 * i]), double(h_wanted[2 * i + 1])};
    const auto share = [&](double here, double there) { own[0] += there - here, own[1] += here; };
    if (i > 0) own[0] += double(s_wanted[i - 1]) - s_wanted[i], own[1] += s_wanted[i];
    if (i + 1 < n) share(s_wanted[i], s_wanted[i + 1]);
    h_wanted[2 * i] = op2::Float16(own[0]), h_wanted[2 * i + 1] = op2::Float16(own[1]);
    wanted += double(h_wanted[2 * i]) + double(b_wanted[i]);
  }
  (void)h.read(), (void)b.read(), (void)s.read(), (void)total.read();
  const bool same = h_values == h_wanted && b_values == b_wanted && s_values == s_wanted;
  const bool right = same && std::abs(t[0] - wanted) < 1e-9 * n;
  std::cout << (right ? "right" : "wrong") << '\\n';
  return right ? 0 : 3;
} catch (const op2::Error& error) {
  std::cerr << error.what() << '\\n';
  return 1;
}
"""

BACKENDS = [one.name for one in op2.backends() if one.available]


@pytest.fixture(scope="module")
def built(built_in_cpp: Callable[..., Path]) -> Path:
    pytest.importorskip("ml_dtypes")
    return built_in_cpp("halves", PROGRAM, PROGRAM_CPP, BACKENDS)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_in_narrow_memory_are_rounded_once(built: Path, backend: str) -> None:
    done = said(built / "out" / "program", backend)
    assert done.stdout == "right\n", done.stderr


def test_the_types_of_memory_are_those_of_functions(built: Path) -> None:
    header = (built / "loops" / "halves.hpp").read_text()
    assert "const op2::Dat<op2::Float16, 2>& h, const op2::Dat<op2::Bfloat16, 1>& b" in header


def test_the_project_repeats_what_python_did(built: Path) -> None:
    (check,) = (built / "out").rglob("halves_check")
    done = said(check)
    lines = {f"{one} on {on}: as in Python" for one in ("scale", "share", "add") for on in BACKENDS}
    assert lines <= {*done.stdout.splitlines()}, done.stdout + done.stderr
    (example,) = (built / "out").rglob("halves_example")
    assert "b: 0.0" in said(example).stdout  # values of 16 bits are printed as numbers
