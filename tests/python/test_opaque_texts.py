# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that are compiled as they are written, several of them in one library."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import op2
from pyop2cxx.op2 import READ, RW, WRITE

pytestmark = pytest.mark.usefixtures("host_by_default")

C = """
const double table[2] = {{1.0, 2.0}};
static double own(int n) {{ return n; }}
int count(int n) {{ int s = 0; again: s += {step} * n; if (--n > 0) goto again; return s; }}
const double *pointed(const double *p) {{ return p; }}
void {name}(double *y, const double *x) {{ y[0] = x[0] + *pointed(table) + own(count(3)); }}
"""
CXX = """
#include <algorithm>
#ifdef NEVER
#include <no_such_header>
#endif
using namespace std;
extern "C" {{ double sqrt(double); }}
extern "C" double scaled(double x) {{ return {step} * x; }}
template <class T> T sum(T a, T b) {{ return a + b; }}
double helper(double x) {{ return max(0.0, sum(x, scaled(1.0))); }}
double helper(int n) {{ return n; }}
struct Held {{ double value; double twice() const {{ return 2 * value; }} }};
const double table[1] = {{1.0}};
void {name}(double *y, const double *x) {{
  y[0] = helper(x[0]) + ::helper(3) + Held{{table[0]}}.twice() + sqrt(4.0);
}}
"""
OTHERS = """
#include <limits>
#define ALONE __attribute__((noinline))
namespace other {{
template <class T> ALONE T least() {{ return {step} + std::numeric_limits<T>::min(); }}
ALONE inline double most(double x) {{ return {step} * x; }}
double plain(double x) {{ return {step} - x; }}
struct Held {{ double value; ALONE double twice() const {{ return {step} * value; }} }};
}}
extern "C" void {name}(double *y, const double *x) {{
  y[0] = other::least<double>() + other::most(x[0]) + other::plain(1) + other::Held{{x[0]}}.twice();
}}
"""
IN_HEADER = """
#include "steps.h"
void {name}(double *y, const double *x) {{ again: y[0] = in_header(x[0]); if (0) goto again; }}
"""
STEPS = """
#ifdef __cplusplus
template <class T> __attribute__((noinline)) T scaled(T x) { return STEP * x; }
#else
#define DEFINED(name) double name(double x) { return STEP * x; }
DEFINED(scaled)
#endif
double in_header(double x) { return scaled(x); }
"""
TEXTS = {
    "C": (C, {}),
    "C++": (CXX, {"cpp": True}),
    "namespaces": (OTHERS, {"cpp": True}),
    "headers of C": (IN_HEADER, {}),
    "headers of C++": (IN_HEADER, {"cpp": True}),
}


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_kernels_with_the_same_names_are_in_one_library(
    backend: str, language: str, tmp_path: Path
) -> None:
    """Two kernels with helpers of the same names, one of them in two loops."""
    text, options = TEXTS[language]
    cells, nodes = op2.Set(4, "cells"), op2.Set(4, "nodes")
    there = op2.Map(cells, nodes, 1, [[3], [2], [1], [0]], "there")
    x = op2.Dat(cells, [1.0, 2.0, 3.0, 4.0], name="x")
    (tmp_path / "steps.h").write_text(STEPS)
    one, two = (
        op2.Kernel(
            text.format(name=name, step=step),
            name,
            opts=[f"-DSTEP={step}"],
            include_dirs=[str(tmp_path)],
            **options,
        )
        for name, step in (("one", 1), ("two", 2))
    )
    assert one.core.body is None
    ys = [op2.Dat(cells), op2.Dat(cells), op2.Dat(nodes)]

    def run() -> list[np.ndarray]:
        op2.par_loop(one, cells, ys[0](WRITE), x(READ))
        op2.par_loop(two, cells, ys[1](WRITE), x(READ))
        op2.par_loop(one, cells, ys[2](WRITE, there), x(READ))
        values = [y.data_ro.copy() for y in ys]
        for y in ys:
            y.zero()
        return values

    with op2.backend(backend):
        with op2.dispatch.record(tmp_path / "lib", backends=[backend]):
            expected = run()
        op2.dispatch.load(tmp_path / "lib")
        with op2.dispatch.expect("ahead"):
            found = run()
    assert not np.array_equal(expected[0], expected[1])
    np.testing.assert_array_equal(expected[2], expected[0][::-1])
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize("option", ["-I", "-isystem"])
def test_names_in_cpp_do_not_depend_on_folders(option: str, tmp_path: Path) -> None:
    """Two kernels of one name, whose functions have a part of their texts' digests in theirs."""
    names = []
    y = op2.Dat(op2.Set(2), name="y")
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        with op2.dispatch.record(folder / "lib", backends=["openmp"], build=False):
            for step in (1, 2):
                text = f"void k(double *y) {{ y[0] += {step}; }}"
                kernel = op2.Kernel(text, "k", opts=[option, str(folder), f"-DSTEP={step}"])
                op2.par_loop(kernel, y.dataset.set, y(RW))
        header = (folder / "lib" / "recorded.hpp").read_text()
        names.append(re.findall(r"op2::Loop (\w+)\(", header))
    assert names[0] == names[1]
    assert len(set(names[0])) == 2
    assert all(re.fullmatch(r"k_[0-9a-f]+", name) for name in names[0])


def test_kernels_with_other_headers_have_functions_of_other_names(tmp_path: Path) -> None:
    y = op2.Dat(op2.Set(2), name="y")
    with op2.dispatch.record(tmp_path / "lib", backends=["sequential"]):
        for step in "12":
            folder = tmp_path / step
            folder.mkdir()
            (folder / "steps.h").write_text(f"#define STEP {step}\n{STEPS}")
            text = IN_HEADER.format(name="one").replace("x[0]", "y[0]")
            text = text.replace(", const double *x", "")
            kernel = op2.Kernel(text, "one", include_dirs=[str(folder)])
            op2.par_loop(kernel, y.dataset.set, y(op2.RW))
    header = (tmp_path / "lib" / "recorded.hpp").read_text()
    names = re.findall(r"op2::Loop (one_[0-9a-f]{6})\(", header)
    assert len({*names}) == 2


@pytest.mark.slow
@needs_program("cmake")
def test_cmake_keeps_kernels_apart(tmp_path: Path) -> None:
    """As the library that is built here: each loop calls its own kernel's functions."""
    x = op2.Dat(op2.Set(2), [1.0, 2.0])
    ys = [op2.Dat(x.dataset) for _ in range(2)]
    names = ("one", "two")
    kernels = [
        op2.Kernel(OTHERS.format(name=name, step=step), name, cpp=True)
        for step, name in enumerate(names, 1)
    ]

    def run() -> list[list[float]]:
        for kernel, y in zip(kernels, ys, strict=True):
            op2.par_loop(kernel, x.dataset.set, y(WRITE), x(READ))
        return [y.data_ro.tolist() for y in ys]

    lib, out = tmp_path / "lib", tmp_path / "out"
    with op2.backend("sequential"):
        with op2.dispatch.record(lib, backends=["sequential"]):
            expected = run()
        subprocess.run(["cmake", "-S", lib, "-B", out], check=True, capture_output=True)
        build = ["cmake", "--build", out, "--target", "recorded_loops"]
        subprocess.run(build, check=True, capture_output=True)
        op2.dispatch.load(lib, library=out / "librecorded.so")
        with op2.dispatch.expect("ahead"):
            assert run() == expected


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("root", ["", "whole"])
def test_cmake_links_what_kernels_need_in_their_order(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library by its path, another that it needs, and definitions with quotes and spaces."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path if root else Path()
    (tmp_path / "five.h").write_text("#define FIVE 5\n")
    for name, text in (
        ("first", "double second(void); double first(void) { return second() + 1; }"),
        ("second", "double second(void) { return 40; }"),
    ):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        object_ = tmp_path / f"{name}.o"
        subprocess.run(["cc", "-fPIC", "-c", source, "-o", object_], check=True)
        subprocess.run(["ar", "rcs", tmp_path / f"lib{name}.a", object_], check=True)
    text = """
#include "five.h"
double first(void);
void k(double *y) { again: if (first() < 0) goto again; y[0] = first() + sizeof TEXT - SUM(1); }
"""
    kernel = op2.Kernel(
        text,
        "k",
        opts=['-DTEXT="a; $b"', "-DSUM(a)=(a + FIVE)"],
        include_dirs=[str(place)],
        ldargs=[str(place / "libfirst.a"), f"-L{place}", "-lsecond"],
    )
    y = op2.Dat(op2.Set(2))

    def value() -> float:
        op2.par_loop(kernel, y.dataset.set, y(WRITE))
        return float(y.data_ro[0])

    lib, out = tmp_path / "lib", tmp_path / "out"
    with op2.backend("sequential"):
        with op2.dispatch.record(lib, backends=["sequential"]):
            assert value() == 41
        op2.dispatch.load(lib)
        y.zero()
        with op2.dispatch.expect("ahead"):
            assert value() == 41
    subprocess.run(["cmake", "-S", lib, "-B", out], check=True, capture_output=True)
    build = ["cmake", "--build", out, "--target", "recorded_loops"]
    subprocess.run(build, check=True, capture_output=True)
    assert ctypes.CDLL(str(out / "librecorded.so"), os.RTLD_NOW)  # nothing is undefined
