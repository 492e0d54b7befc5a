# SPDX-License-Identifier: BSD-3-Clause
"""Ragged Maps in programs in C++: functions generated for them, built by CMake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import needs_program, said

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.usefixtures("host_by_default"), pytest.mark.each_backend]

PROGRAM = """
import numpy as np
from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ, WRITE
cells, faces = op2.Set(40, "cells"), op2.Set(30, "faces")
rows = [np.arange(n, n + n % 5) % 30 for n in range(40)]
faces_of = op2.RaggedMap(cells, faces, rows, name="faces_of")
count = faces_of.counts(READ)
q, total = op2.Dat(faces, np.arange(30.0), name="q"), op2.Dat(cells, name="total")
gather = op2.Kernel("void gather(double *total, const double *q, const int *n) {"
                    " total[0] = 0; for (int i = 0; i < *n; i++) total[0] += q[i]; }", "gather")
op2.par_loop(gather, cells, total(WRITE), q(READ, faces_of), count)
share = op2.Kernel("void share(double *flux, const double *total, const int *n) {"
                   " for (int i = 0; i < *n; i++) flux[i] += total[0] + i; }", "share")
flux = op2.Dat(faces, name="flux")
op2.par_loop(share, cells, flux(INC, faces_of), total(READ), count)
mass = op2.Kernel("void mass(double *A, const int *n) {"
                  " for (int i = 0; i < *n * *n; i++) A[i] += i + 1; }", "mass")
A = op2.Mat(op2.Sparsity(faces, faces_of), name="A")
op2.par_loop(mass, cells, A(INC, (faces_of, faces_of)), count)
"""

PROGRAM_CPP = """
#include <iostream>
#include <string>
#include <vector>
#include "ragged.hpp"

int main(int argc, char** argv) try {
  const std::string backend = argv[1], mistake = argc > 2 ? argv[2] : "";
  op2::init({backend, 2});
  const int n = 500, m = 90;
  const op2::Set cells(n, "cells"), faces(m, "faces");
  std::vector<int> offsets{0}, entries;
  for (int row = 0; row < n; ++row) {
    const int length = mistake == "long" && row == 7 ? 65 : row % 6;
    for (int i = 0; i < length; ++i) entries.push_back((row * 7 + i) % m);
    offsets.push_back(static_cast<int>(entries.size()));
  }
  if (mistake == "offsets") offsets[3] = 1000000;
  const op2::RaggedMap<> faces_of(cells, faces, offsets, entries, "faces_of");
  std::vector<double> q_values(m), totals(n), fluxes(m);
  for (int i = 0; i < m; ++i) q_values[i] = i;
  const op2::Dat<double> q(faces, q_values, "q"), flux(faces, fluxes, "flux");
  const op2::Dat<double> total(cells, totals, "total");
  ragged::gather(cells, total, q, faces_of)();
  ragged::share(cells, flux, faces_of, total)();
  const op2::Sparsity places(faces, faces, {{faces_of, faces_of}});
  std::vector<double> values(places.n_entries());
  const op2::Mat<double> matrix(places, values, "A");
  ragged::mass(cells, matrix, faces_of)();
  std::vector<double> wanted_totals(n), wanted_fluxes(m), dense(m * m), got(m * m);
  for (int row = 0; row < n; ++row) {
    const int length = faces_of.counts()[row], *own = &entries[offsets[row]];
    for (int i = 0; i < length; ++i) wanted_totals[row] += q_values[own[i]];
    for (int i = 0; i < length; ++i) wanted_fluxes[own[i]] += wanted_totals[row] + i;
    for (int i = 0; i < length; ++i)
      for (int j = 0; j < length; ++j) dense[own[i] * m + own[j]] += i * length + j + 1;
  }
  (void)total.read(), (void)flux.read(), (void)matrix.read();
  for (int row = 0; row < m; ++row)
    for (auto k = places.row_offset()[row]; k < places.row_offset()[row + 1]; ++k)
      got[row * m + places.columns()[k]] = values[k];
  const bool right = totals == wanted_totals && fluxes == wanted_fluxes && got == dense;
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
    return built_in_cpp("ragged", PROGRAM, PROGRAM_CPP, BACKENDS)


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_by_ragged_maps_are_functions(built: Path, backend: str) -> None:
    done = said(built / "out" / "program", backend)
    assert done.stdout == "right\n", done.stderr


@pytest.mark.slow
@needs_program("cmake")
def test_counts_come_with_their_map(built: Path) -> None:
    header = (built / "loops" / "ragged.hpp").read_text()
    assert (
        "gather(const op2::Set& cells, const op2::Dat<double, 1>& total, const op2::Dat<double, 1>&"
        " q, const op2::RaggedMap<>& faces_of);" in header
    )
    assert "/// - faces_of: its counts are read" in header
    assert "Not in C++" not in header


@pytest.mark.slow
@needs_program("cmake")
def test_the_project_repeats_what_python_did(built: Path) -> None:
    (check,) = (built / "out").rglob("ragged_check")
    done = said(check)
    lines = {
        f"{one} on {on}: as in Python" for one in ("gather", "share", "mass") for on in BACKENDS
    }
    assert lines <= {*done.stdout.splitlines()}, done.stdout + done.stderr
    (example,) = (built / "out").rglob("ragged_example")
    assert said(example).returncode == 0


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("offsets", "RaggedMap 'faces_of': offsets fall at row 3, from 1000000 to"),
        ("long", "row 7 of Map 'faces_of' has 65 entries, and here a row may have 64"),
    ],
)
def test_wrong_ragged_maps_are_errors(built: Path, mistake: str, message: str) -> None:
    done = said(built / "out" / "program", "sequential", mistake)
    assert done.returncode == 1
    assert message in done.stderr
