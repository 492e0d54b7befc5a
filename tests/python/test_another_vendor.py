# SPDX-License-Identifier: BSD-3-Clause
"""What another vendor's GPUs cost: files of their own, and no edit of any that is there.

MUSA stands for one whose driver and compiler have CUDA's functions by other names: its files are
HIP's, with its name in them. Its adaptor is compiled with the projects of programs in C++, and
pyop2cxx is not built anew for it, so HIP's compiler serves it, which is a stand-in itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structure
from programs import needs_program

from pyop2cxx import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SHARED = ("cpp", "pyop2cxx", "templates", "CMakeLists.txt")
HIP = {
    "cpp/runtime/hip": "cpp/runtime/musa",
    "cpp/jit/hiprtc": "cpp/jit/musartc",
    "templates/hip": "templates/musa",
    "pyop2cxx/backends/hip.py": "pyop2cxx/backends/musa.py",
}
WORDS = "cpp/cg/words.cpp"
"""What kernels of CUDA's kind cannot be called, for all its vendors."""
PROGRAM = """
from pyop2cxx import op2
cells = op2.Set(10, "cells")
x = op2.Dat(cells, [1.0] * 10, name="x")
op2.par_loop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
"""
MAIN = """
#include <cstdio>

#include "api/op2.hpp"
#include "loops.hpp"

int main(int argc, char** argv) {
  const op2::Set cells(2, "cells");
  std::vector<double> values{1.0, 2.0};
  try {
    op2::init({argv[argc - 1]});
    const op2::Dat<double> x(cells, std::span<double>(values), "x");
    loops::twice(cells, x)();
    std::printf("%g %g", x.read()[0], x.read()[1]);
  } catch (const op2::Error& error) {
    std::printf("%s", error.what());
  }
}
"""


def files(root: Path, name: str) -> Iterator[Path]:
    place = root / name
    found = sorted(place.rglob("*")) if place.is_dir() else [place]
    yield from (one for one in found if one.is_file() and one.suffix not in (".pyc", ".so"))


def copy_shared(tree: Path) -> None:
    """Copy the sources of this tree, with a link to the extension."""
    for name in SHARED:
        for file in files(ROOT, name):
            target = tree / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    extension = Path(_core.__file__)
    (tree / "pyop2cxx" / extension.name).symlink_to(extension)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this tree with the files of the other vendor, its compiler in a folder beside."""
    tree = tmp_path_factory.mktemp("musa")
    copy_shared(tree)
    for name, new in HIP.items():
        for file in files(ROOT, name):
            target = tree / new / file.relative_to(ROOT / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text().replace("hip", "musa").replace("HIP", "MUSA")
            target.write_text(text.replace('_core.vendor("musa")', '_core.vendor("hip")'))
    compiler = ["cc", "-shared", "-fPIC", "-o", str(tree / "libhiprtc.so.6")]
    subprocess.run([*compiler, str(ROOT / "tests/hip/rtc.c")], check=True)
    return tree


def run(tree: Path, *command: str) -> str:
    """Run Python with the copied package, and return what it says."""
    # -S: the finder of an editable installation, a .pth file, would show the original sources
    path = os.pathsep.join([str(tree), *(one for one in sys.path if one.endswith("-packages"))])
    environment = {**os.environ, "PYTHONPATH": path, "LD_LIBRARY_PATH": str(tree)}
    environment["PYOP2CXX_CACHE_DIR"] = str(tree / "cache")
    started = [sys.executable, "-S", *command]
    found = subprocess.run(
        started, env=environment, cwd=tree, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    return found.stdout


@pytest.fixture(scope="module")
def project(tree: Path) -> Path:
    (tree / "program.py").write_text(PROGRAM)
    out = tree / "loops"
    backends = ["--backend", "sequential,musa", "--arch", "native,gfx90a"]
    where = ["--name", "loops", "-o", str(out), str(tree / "program.py")]
    run(tree, "-m", "pyop2cxx", "generate", *backends, *where)
    return out


def test_it_costs_files_of_its_own_and_no_edit(tree: Path) -> None:
    there = {str(one.relative_to(ROOT)) for name in SHARED for one in files(ROOT, name)}
    now = {str(one.relative_to(tree)) for name in SHARED for one in files(tree, name)}
    edited = [one for one in there if (ROOT / one).read_bytes() != (tree / one).read_bytes()]
    assert edited == []
    new = sorted(now - there)
    assert [one for one in new if one.endswith(".py")] == ["pyop2cxx/backends/musa.py"]
    assert {str(Path(one).parent) for one in new} == {
        *("cpp/jit/musartc", "cpp/runtime/musa", "pyop2cxx/backends", "templates/musa")
    }


def test_no_shared_file_names_such_a_vendor() -> None:
    """What HIP has costs it nothing either: its name stands in its own files only."""
    own = tuple(HIP)
    naming = {
        name
        for one in SHARED
        for file in files(ROOT, one)
        if file.suffix in (".cpp", ".hpp", ".h", ".py", ".j2", ".txt")
        and not (name := str(file.relative_to(ROOT))).startswith(own)
        and re.search(r"(?i)\bhip", re.sub(r"//[^\n]*", "", file.read_text()))
    }
    assert naming == {WORDS}


@pytest.mark.parametrize(
    "breaches",
    [
        structure.include_breaches,
        structure.import_breaches,
        structure.late_breaches,
        structure.backend_name_breaches,
        structure.unnamed_breaches,
        structure.template_breaches,
        structure.state_breaches,
    ],
)
def test_its_files_keep_the_rules(breaches: object, tree: Path) -> None:
    assert breaches(tree) == []  # type: ignore[operator]


def test_python_emits_sources_for_it(tree: Path) -> None:
    said = run(
        tree,
        "-c",
        PROGRAM.replace("op2.par_loop(", "loop = op2.ParLoop(")
        + "with op2.backend('musa'):\n    code = loop.generate()\n"
        + "print(*code.files)\nprint(code)\n"
        + "(found,) = [one for one in op2.backends() if one.name == 'musa']\nprint(found.reason)\n",
    )
    assert said.startswith("twice_musa_direct.musa\n")
    assert "__global__ void" in said
    assert "there is no adaptor for devices of 'musa'" in said  # this `_core` was built before


def test_projects_have_its_code_and_its_adaptor(project: Path) -> None:
    sources = sorted((project / "src").glob("*.musa"))
    images = sorted((project / "images").glob("*.gfx90a.bin"))
    assert [one.stem for one in sources] == [one.name.partition(".")[0] for one in images]
    for source, image in zip(sources, images, strict=True):
        assert image.read_text().startswith("code for\n")
        assert "--offload-arch=gfx90a" in image.read_text()
        assert source.read_text() in image.read_text()
    unit = (project / "loops.cpp").read_text()
    assert '{"musa", &op2::runtime::musa::device_vendor},' in unit
    assert '{"sequential", nullptr},' in unit
    assert (project / "runtime/runtime/musa/adaptor.cpp").is_file()


@pytest.mark.slow
@needs_program("cmake")
def test_programs_in_cpp_ask_for_it_by_its_name(project: Path, quick_compiler: str) -> None:
    """Without such a GPU its adaptor says what was looked for: it is there, and was asked."""
    demo = project.parent / "demo"
    demo.mkdir()
    (demo / "main.cpp").write_text(MAIN)
    (demo / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(demo LANGUAGES C CXX)\n"
        f"add_subdirectory({project} loops)\nadd_executable(demo main.cpp)\n"
        "target_link_libraries(demo PRIVATE loops::cpp)\n"
    )
    out = project.parent / "out"
    options = ["-DPYOP2CXX_ARCH=native", f"-DCMAKE_CXX_COMPILER={quick_compiler}"]
    subprocess.run(["cmake", "-S", demo, "-B", out, *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", out, "--target", "demo"], check=True, capture_output=True)

    def said(backend: str) -> str:
        return subprocess.run([out / "demo", backend], capture_output=True, text=True).stdout

    assert said("sequential") == "2 4"
    assert "MUSA run-time" in said("musa")
    assert "libamdmusa64.so" in said("musa")
    assert said("hip").startswith(
        "there is no backend 'hip' in this program; there are: musa, openmp, sequential;"
    )


@needs_program("g++")
def test_its_compiler_compiles(tree: Path) -> None:
    unit = tree / "cpp/jit/musartc/compiler.cpp"
    folders = [f"-I{tree / 'cpp'}", f"-I{tree / 'cpp/base/standalone'}"]
    command = ["g++", "-std=c++20", "-fsyntax-only", *folders, str(unit)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""
