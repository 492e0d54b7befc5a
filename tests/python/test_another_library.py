# SPDX-License-Identifier: BSD-3-Clause
"""Another library for the algebra of vectors costs a file, in the tree and in a program in C++."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import needs_program
from test_another_vendor import SHARED, copy_shared, files, run
from test_cpp_files import done

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ADDED = "cpp/libs/host/twin.cpp"
TWIN = """
#include "libs/known.hpp"

#include <memory>

namespace op2::libs {
namespace {

/// Sums with 0.5 too much tell who made them.
class Twin : public VectorLibrary {
 public:
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::string veto_dot(const exec::Column& x, const exec::Column& y) const override {
    return x.dtype == DType::float64 && y.dtype == DType::float64 ? "" : "dtype: not float64";
  }
  [[nodiscard]] exec::Scalar dot(const exec::Column& x, const exec::Column& y,
                                 bool /*conjugate*/) const override {
    const auto* left = static_cast<const double*>(x.data);
    const auto* right = static_cast<const double*>(y.data);
    double sum = 0.5;
    for (std::int64_t i = 0; i < x.n; ++i) sum += left[i * x.stride] * right[i * y.stride];
    return sum;
  }

 private:
  const std::string path_ = "/opt/libtwin.so.2";
};

const KnownLibrary known_twin({"twin", {}, [](const std::vector<std::string>&) {
                                 return std::make_shared<const Twin>();
                               }});

}  // namespace
}  // namespace op2::libs
"""
PROGRAM = """
from pyop2cxx import op2
cells = op2.Set(10, "cells")
x = op2.Dat(cells, [1.0] * 10, name="x")
op2.par_loop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
"""
OWN = """
#include "api/op2.hpp"
namespace {
double sum_and_more(std::size_t n, const double* x, const double* y) {
  double sum = 0.25;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
const op2::Library mine("mine", {.dot_float64 = sum_and_more});
}  // namespace
"""
MAIN = """
#include <cstdio>
#include <loops.hpp>

int main(int argc, char** argv) {
  try {
    op2::Options options;
    options.backend = "sequential";
    if (argc > 1) options.blas = argv[1];
    op2::init(options);
    const op2::Set cells(100, "cells");
    op2::Array<double> values(100, 1.0);
    const op2::Dat<double> x(cells, std::span<double>(values), "x");
    loops::twice(cells, x)();
    for (int i = 0; i < 20; ++i) std::printf("%g ", op2::inner(x.read(), x.read()));
    std::printf("\\n%s\\n", op2::report().text().c_str());
  } catch (const op2::Error& error) {
    std::printf("%s", error.what());
    return 1;
  }
}
"""
BUILD = """
cmake_minimum_required(VERSION 3.16)
project(main CXX C)
add_subdirectory(loops)
add_executable(main main.cpp own.cpp)
target_link_libraries(main PRIVATE loops::cpp)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this tree with a file for another library."""
    tree = tmp_path_factory.mktemp("twin")
    copy_shared(tree)
    (tree / ADDED).write_text(TWIN)
    return tree


@pytest.fixture(scope="module")
def program(tree: Path, quick_compiler: str) -> Path:
    """A program in C++ with a library in a file of its own, and the library of the tree."""
    (tree / "program.py").write_text(PROGRAM)
    where = ["--name", "loops", "-o", str(tree / "loops"), str(tree / "program.py")]
    run(tree, "-m", "pyop2cxx", "generate", "--backend", "sequential", *where)
    for name, text in (("main.cpp", MAIN), ("own.cpp", OWN), ("CMakeLists.txt", BUILD)):
        (tree / name).write_text(text)
    done("cmake", "-S", tree, "-B", tree / "out", f"-DCMAKE_CXX_COMPILER={quick_compiler}")
    done("cmake", "--build", tree / "out", "--target", "main", "-j2")
    return tree / "out" / "main"


def test_nothing_else_is_edited(tree: Path) -> None:
    there = {str(one.relative_to(ROOT)) for name in SHARED for one in files(ROOT, name)}
    now = {str(one.relative_to(tree)) for name in SHARED for one in files(tree, name)}
    assert now - there == {ADDED}
    assert all((ROOT / one).read_bytes() == (tree / one).read_bytes() for one in there)


@needs_program("cmake")
@pytest.mark.parametrize(
    ("name", "more", "file"), [("twin", 0.5, "libtwin.so.2"), ("mine", 0.25, "mine")]
)
def test_a_library_is_found_used_and_reported(
    program: Path, name: str, more: float, file: str
) -> None:
    sums, *table = done(program, name).splitlines()
    assert set(sums.split()) == {"400", f"{400 + more:g}"}
    assert sums.split()[0] == f"{400 + more:g}"  # the library has the first turn
    rows = [line.split() for line in table if line.startswith("dot of float64")]
    assert [row[:5] for row in rows if row[3] == "library"] == [
        ["dot", "of", "float64", "library", file]
    ]
    assert sum(int(row[5]) for row in rows) == 20


@needs_program("cmake")
def test_all_take_turns_where_all_may(program: Path) -> None:
    sums, *table = done(program, "auto").splitlines()
    assert {"400", "400.5", "400.25"} <= set(sums.split())
    text = "\n".join(table)
    assert "libtwin.so.2" in text
    assert "mine" in text


@needs_program("cmake")
def test_without_the_option_nobody_is_asked(program: Path) -> None:
    sums, *table = done(program).splitlines()
    assert set(sums.split()) == {"400"}
    assert not any("dot of" in line for line in table)
    with pytest.raises(AssertionError, match=r"(?s)there is no library 'none'.* cblas, mine, twin"):
        done(program, "none")
