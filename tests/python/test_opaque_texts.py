# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that are compiled as they are written, several of them in one library."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import op2
from pyop2cxx.ahead.opaque_texts import of_its_own
from pyop2cxx.op2 import READ, RW, WRITE

if TYPE_CHECKING:
    from pathlib import Path

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
# specialises what is another's; declares a function that is one's own, and is not wrapped either
OTHERS = """
#include <limits>
namespace other {{ template <class T> T least() {{ return numeric<T>(); }} }}
double helper(double x) {{ return {step} * x; }}
extern "C" void {name}(double *y, const double *x) {{ y[0] = helper(x[0]); }}
""".replace("numeric<T>()", "std::numeric_limits<T>::min()")
TEXTS = {"C": (C, {}), "C++": (CXX, {"cpp": True}), "namespaces": (OTHERS, {"cpp": True})}


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
    one = op2.Kernel(text.format(name="one", step=1), "one", **options)
    two = op2.Kernel(text.format(name="two", step=2), "two", **options)
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


@pytest.mark.slow
@needs_program("cmake")
def test_cmake_links_what_kernels_need_in_their_order(tmp_path: Path) -> None:
    """A library by its path, another that it needs, and definitions with quotes and spaces."""
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
double first(void);
void k(double *y) { again: if (first() < 0) goto again; y[0] = first() + sizeof TEXT - SUM(1); }
"""
    kernel = op2.Kernel(
        text,
        "k",
        opts=['-DTEXT="a; $b"', "-DSUM(a)=(a + 5)"],
        ldargs=[str(tmp_path / "libfirst.a"), f"-L{tmp_path}", "-lsecond"],
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
    build = ["cmake", "--build", out, "--target", "recorded"]
    subprocess.run(build, check=True, capture_output=True)
    assert ctypes.CDLL(str(out / "librecorded.so"), os.RTLD_NOW)  # nothing is undefined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void k(double *x) {}", "namespace {\nvoid k(double *x) {}\n}  // namespace"),
        ("#include <k>", "#include <k>\nnamespace {\n// k(\n}  // namespace"),
        (
            "#if A\n#include <k>\n#endif\nvoid k(double *x) {}",
            "#if A\n#include <k>\n#endif\nnamespace {\nvoid k(double *x) {}\n}  // namespace",
        ),
        (
            '// #include <no>\nconst auto s = "#include"; /* namespace a {\n#include <no>\n*/',
            "namespace {\n"
            '// #include <no>\nconst auto s = "#include"; /* namespace a {\n#include <no>\n*/'
            "\n}  // namespace",
        ),
        ("namespace a { }", "namespace a { }"),
        ("struct s {\n#include <k>\n};", "struct s {\n#include <k>\n};"),
        ("double other(double);", "double other(double);"),
    ],
)
def test_cpp_is_put_in_an_unnamed_namespace_where_that_is_right(text: str, expected: str) -> None:
    named = f"{text}\n// k(" if "k(" not in text else text
    kernel = op2.Kernel(named, "k", cpp=True)
    made = of_its_own(kernel.core.text, kernel, "op2_launch_k_12ab")
    assert made.replace("\n// k(", "") == expected.replace("\n// k(", "")
