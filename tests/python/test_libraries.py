# SPDX-License-Identifier: BSD-3-Clause
"""Sums and multiples of Dats that are left to a library, where that is asked for."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import ToolchainError, UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TURNS = 10  # until both ways were measured


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    op2.init(backend="sequential")
    op2.dispatch.clear()
    yield
    op2.exit()


def needs_blas() -> None:
    op2.configuration["blas"] = "auto"
    if runtime.engine.vectors is _core:
        pytest.skip("neither NumPy nor the system has a BLAS with an interface for C")


def dats(n: int = 1000, dtype: str = "float64") -> tuple[Any, Any]:
    cells = op2.Set(n, "cells")
    values = np.arange(n) % 11 - 5
    return op2.Dat(cells, values, dtype, "x"), op2.Dat(cells, values[::-1], dtype, "y")


def rows() -> list[tuple[str, str, str, int]]:
    """What was decided between the core and a library."""
    report = [row for row in op2.dispatch.report() if row.provider == "library" or row.rejected]
    return [(r.loop, r.provider, r.rejected, r.count) for r in report]


def test_without_the_option_no_library_is_opened() -> None:
    x, y = dats()
    assert x.inner(y) == float(x.data_ro @ y.data_ro)
    assert rows() == []
    assert runtime.engine._vectors == {}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_sums_are_the_same_by_whoever_does_them(dtype: str) -> None:
    needs_blas()
    x, y = dats(dtype=dtype)
    wanted = np.vdot(y.data_ro.astype("complex128"), x.data_ro)
    for _ in range(TURNS + 3):
        assert x.inner(y) == wanted
        assert x.norm == pytest.approx(np.linalg.norm(x.data_ro), rel=1e-15)
    found = rows()
    assert {provider for _, provider, _, _ in found} == {"builtin", "library"}
    assert sum(count for *_, count in found) == 2 * (TURNS + 3)
    assert (f"dot of {dtype}", "library", "") in [one[:3] for one in found]
    assert (f"dot of {dtype}", "builtin", "cblas: measured in turns", TURNS // 2) in found


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_multiples_are_added(dtype: str) -> None:
    needs_blas()
    x, y = dats(dtype=dtype)
    wanted = y.data_ro + TURNS * 2.0 * x.data_ro
    version = y.dat_version
    for _ in range(TURNS):
        y.axpy(2.0, x)
    assert np.array_equal(y.data_ro, wanted)
    assert y.dat_version == version + TURNS
    assert (f"axpy of {dtype}", "library", "", TURNS // 2) in rows()


def test_what_the_library_cannot_do_is_said() -> None:
    needs_blas()
    x, y = dats()
    whole = op2.Dat(x.dataset, y.data_ro.astype("int64"), name="whole")
    assert x.inner(whole) == float(x.data_ro @ whole.data_ro)
    x.axpy(1.0, x)
    narrow, other = dats(dtype="float32")
    narrow.axpy(0.5, other)
    empty, none = dats(0)
    assert empty.inner(none) == 0.0
    assert sorted(why for _, provider, why, _ in rows() if provider == "builtin") == [
        "cblas: dtype: float32 and float32; it takes two of float64 or complex128",
        "cblas: dtype: float64 and int64; it takes two of float32, float64 or complex128",
        "cblas: length: there are no values",
        "cblas: overlap: both are the same memory",
    ]
    assert y.data_ro.size == 1000


def test_components_have_a_stride() -> None:
    needs_blas()
    cells = op2.Set(50, "cells")
    q = op2.Dat(cells**3, np.arange(150.0).reshape(50, 3), name="q")
    for _ in range(TURNS):
        assert op2.DatView(q, 1).inner(op2.DatView(q, 2)) == float(
            q.data_ro[:, 1] @ q.data_ro[:, 2]
        )
    assert ("dot of float64", "library", "", TURNS // 2) in rows()


def test_deterministic_programs_ask_no_library() -> None:
    needs_blas()
    op2.dispatch.clear()
    op2.configuration["deterministic"] = True
    x, y = dats()
    x.inner(y)
    assert rows() == []


def test_expect_says_whether_a_library_may_be_asked() -> None:
    needs_blas()
    x, y = dats()
    with op2.dispatch.expect("ahead"):
        x.inner(y)
    assert rows() == []
    with op2.dispatch.expect("ahead", "library"):
        x.inner(y)
    with op2.dispatch.expect("library"):
        x.inner(y)
    assert sum(count for *_, count in rows()) == 2
    for tiers in ((), ("ahead", "blas")):
        message = "tiers are: 'ahead', 'library'"
        with pytest.raises(UsageError, match=message), op2.dispatch.expect(*tiers):
            pass


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    x, y = dats()
    before = x.data_ro.copy()
    for path in (str(tmp_path / "none.so"), "libm.so.6"):
        op2.configuration["blas"] = path
        with pytest.raises(ToolchainError, match=r"BLAS.*was not found|has no interface for C"):
            x.inner(y)
        with pytest.raises(ToolchainError, match="apt-get install libopenblas0"):
            x.axpy(2.0, y)
    assert np.array_equal(x.data_ro, before)


STAND_IN = """
#include <stdio.h>
double cblas_ddot(int n, const double *x, int dx, const double *y, int dy)
{ (void)x; (void)y; return n * 1000 + dx * 10 + dy; }
double cblas_dsdot(int n, const float *x, int dx, const float *y, int dy)
{ (void)n; (void)x; (void)dx; (void)y; (void)dy; return 0; }
void cblas_zdotu_sub(int n, const void *x, int dx, const void *y, int dy, void *s)
{ (void)n; (void)x; (void)dx; (void)y; (void)dy; (void)s; }
void cblas_zdotc_sub(int n, const void *x, int dx, const void *y, int dy, void *s)
{ (void)n; (void)x; (void)dx; (void)y; (void)dy; (void)s; }
void cblas_daxpy(int n, double a, const double *x, int dx, double *y, int dy)
{ y[0] = a; y[dy] = n; y[2 * dy] = x[dx]; }
void cblas_zaxpy(int n, const void *a, const void *x, int dx, void *y, int dy)
{ (void)n; (void)a; (void)x; (void)dx; (void)y; (void)dy; }
"""


@needs_program("cc")
def test_the_library_that_is_named_gets_lengths_and_strides(tmp_path: Path) -> None:
    library = tmp_path / "stand_in.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"],
        input=STAND_IN,
        text=True,
        check=True,
    )
    op2.configuration["blas"] = str(library)
    cells = op2.Set(7, "cells")
    q, x = op2.Dat(cells**3, name="q"), op2.Dat(cells, np.arange(7.0), name="x")
    assert op2.DatView(q, 1).inner(x) == 7000 + 30 + 1  # the first call is the library's
    y = op2.Dat(cells, name="y")
    y.axpy(0.5, x)
    assert y.data_ro.tolist() == [0.5, 7.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    (row,) = [one for one in op2.dispatch.report() if one.loop == "axpy of float64"]
    assert (row.provider, row.strategy) == ("library", "stand_in.so")
