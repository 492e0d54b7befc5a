# SPDX-License-Identifier: BSD-3-Clause
"""Generated projects elsewhere: without the user's folders, installed, found and used."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import op2
from pyop2cxx.io import write_npz
from pyop2cxx.mesh import Mesh, square_mesh
from pyop2cxx.reports.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("host_by_default")

HEADERS = {
    "kernels/flux.h": (
        '#include "inner.h"\nstatic inline double flux(double a) { return TWO * a; }\n'
    ),
    "kernels/inner.h": '#include "../common/two.h"\n',
    "common/two.h": "#define TWO 2.0\n",
    "flags/given.h": "#define GIVEN 3.0\n",
    "other/named.h": "#define NAMED 5.0\n",
    "absolute/whole.h": "#include <named.h>\n#define WHOLE NAMED\n",
}
PROGRAM = """
import sys
import numpy as np
from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh
folder = {folder!r}
mesh = square_mesh(3)
u = op2.Dat(mesh.vertices, 1.0, name="u")
s = op2.Dat(mesh.cells, name="s")
parsed = op2.Kernel(
    '#include "flux.h"\\nvoid parsed(double *s, const double *u) {{ s[0] += flux(u[0] + u[2]); }}',
    "parsed", include_dirs=[folder + "/kernels"])
op2.par_loop(parsed, mesh.cells, s(op2.INC), u(op2.READ, mesh.cell_vertices))
options = ["-I", folder + "/other", "-include", folder + "/flags/given.h", "-iquote",
           folder + "/empty"]
opaque = op2.Kernel(
    '#include "flux.h"\\n#include "' + folder + '/absolute/whole.h"\\n'
    'void opaque(double *s) {{ goto end; end: s[0] += flux(GIVEN) * WHOLE; }}',
    "opaque", include_dirs=[folder + "/kernels"], opts=options)
op2.par_loop(opaque, mesh.cells, s(op2.RW))
cpp = op2.Kernel(
    '#include "flux.h"\\n#define HEADER "named.h"\\n#include HEADER\\n'
    'static void inner(double *s) {{ *s += flux(NAMED); }}\\n'
    'extern "C" void cpp(double *s) {{ inner(s); }}',
    "cpp", include_dirs=[folder + "/kernels"], opts=["-isystem", folder + "/other"], cpp=True)
op2.par_loop(cpp, mesh.cells, s(op2.RW))
"""
EXPECTED = 2 * 2 + 6 * 5 + 10
CPP = """
#include <wave.hpp>
#include <api/mesh_file.hpp>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  op2::init({argv[1], 2});
  const op2::MeshFile mesh = op2::read_mesh(argv[2]);
  const op2::Set cells(mesh.n_cells, "cells"), vertices(mesh.n_vertices, "vertices");
  const op2::Map<3> corners(cells, vertices, mesh.cells, "corners");
  op2::Array<double> ones(mesh.n_vertices, 1.0), sums(mesh.n_cells);
  const op2::Dat<double> u(vertices, ones, "u"), s(cells, sums, "s");
  wave::parsed(cells, s, u, corners)();
  wave::opaque(cells, s)();
  wave::cpp(cells, s)();
  op2::write_vtu(argv[3], mesh, {{"u", u.read()}, {"x", mesh.reals("values.x")}},
                 {{"s", s.read()}});
  std::cout << mesh.integers("exterior_facets.tags.left").size() << '\\n';
} catch (const op2::Error& error) {
  std::cerr << error.what() << '\\n';
  return 1;
}
"""
USER = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(wave {version} CONFIG REQUIRED)
add_executable(wave main.cpp)
target_link_libraries(wave PRIVATE wave::cpp)
"""
INSIDE = """
cmake_minimum_required(VERSION 3.16)
project(wave LANGUAGES C CXX)
add_subdirectory(loops)
add_executable(wave main.cpp)
target_link_libraries(wave PRIVATE wave::cpp)
"""


def done(*command: str | Path, **options: object) -> str:
    """Run a command, which must succeed, and return what it says."""
    found = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a generated project; those of the user are gone."""
    mine = tmp_path_factory.mktemp("user")
    for name, text in HEADERS.items():
        (mine / name).parent.mkdir(exist_ok=True)
        (mine / name).write_text(text)
    program = mine / "wave.py"
    program.write_text(PROGRAM.format(folder=str(mine)))
    folder = tmp_path_factory.mktemp("handed") / "loops"
    options = ["--backend", "sequential,openmp", "--library-version", "2.3.1", "-o", str(folder)]
    assert main(["build", *options, str(program)]) == 0
    op2.exit()
    (folder / "user").write_text(str(mine))
    shutil.rmtree(mine)
    return folder


def test_no_file_names_a_folder_of_the_user(project: Path) -> None:
    mine = (project / "user").read_text()
    folders = (mine.encode(), str(project.parent).encode())
    files = [file for file in project.rglob("*") if file.is_file() and file.name != "user"]
    assert files
    for file in files:
        assert not [one for one in folders if one in file.read_bytes()], file
    assert "-I" not in (project / "manifest.json").read_text()
    cmake = (project / "CMakeLists.txt").read_text()
    assert "${CMAKE_CURRENT_SOURCE_DIR}/include/" in cmake
    assert "empty" not in cmake


def vtu(path: Path) -> dict[str, np.ndarray]:
    meshio = pytest.importorskip("meshio")
    found = meshio.read(path)
    return {"points": found.points, **found.point_data, "s": found.cell_data["s"][0]}


def ran(program: Path, folder: Path) -> None:
    """Run a program on a mesh with values, and look at what it shows."""
    mesh = square_mesh(3)
    x = op2.Dat(mesh.vertices**2, np.array(mesh.coordinates.data_ro), name="x")
    write_npz(folder / "mesh.npz", mesh, x)
    for backend in ("sequential", "openmp"):
        out = folder / f"{backend}.vtu"
        assert done(program, backend, folder / "mesh.npz", out) == "3\n"
        found = vtu(out)
        assert np.array_equal(found["points"][:, :2], mesh.coordinates.data_ro)
        assert np.array_equal(found["x"][:, :2], mesh.coordinates.data_ro)
        assert (found["u"] == 1).all()
        assert (found["s"] == EXPECTED).all()
    damaged = (folder / "mesh.npz").read_bytes()
    (folder / "bad.npz").write_bytes(damaged[:500] + b"?" + damaged[501:])
    failed = subprocess.run(
        [program, "sequential", folder / "bad.npz", folder / "no.vtu"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 1
    assert "bad.npz: " in failed.stderr
    assert "damaged" in failed.stderr


@pytest.fixture(scope="module")
def installed(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    installed_runtime: Callable[[Path], Path],
) -> Path:
    """A prefix with the run-time, into which the project is installed, too."""
    prefix = tmp_path_factory.mktemp("prefix") / "usr"
    shutil.copytree(installed_runtime(project / "runtime"), prefix)
    out = tmp_path_factory.mktemp("out")
    done(
        "cmake",
        "-S",
        project,
        "-B",
        out,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-Dwave_CHECK=OFF",
        "-Dwave_EXAMPLE=OFF",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
    )
    done("cmake", "--build", out)
    done("cmake", "--install", out, "--prefix", prefix)
    return prefix


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("compiler", ["c++", "clang++"])
def test_another_project_finds_the_library_and_uses_it(
    installed: Path, tmp_path: Path, compiler: str
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / "main.cpp").write_text(CPP)
    (tmp_path / "CMakeLists.txt").write_text(USER.format(version="2.1"))
    done(
        "cmake",
        "-S",
        tmp_path,
        "-B",
        tmp_path / "out",
        f"-DCMAKE_PREFIX_PATH={installed}",
        f"-DCMAKE_CXX_COMPILER={compiler}",
    )
    done("cmake", "--build", tmp_path / "out")
    ran(tmp_path / "out" / "wave", tmp_path)
    headers = done("readelf", "-d", next(installed.rglob("libwave.so.2.3.1")))
    assert "[libwave.so.2]" in headers
    (tmp_path / "CMakeLists.txt").write_text(USER.format(version="3.0"))
    refused = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "new", f"-DCMAKE_PREFIX_PATH={installed}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert "2.3.1" in refused.stderr


@pytest.mark.slow
@needs_program("pkg-config")
def test_pkg_config_finds_the_library(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(CPP)
    folder = next(installed.rglob("wave.pc")).parent
    flags = done(
        "pkg-config",
        "--cflags",
        "--libs",
        "wave",
        env={**os.environ, "PKG_CONFIG_PATH": str(folder)},
    ).split()
    library = folder.parent
    program = tmp_path / "wave"
    done("c++", "-std=c++20", tmp_path / "main.cpp", *flags, f"-Wl,-rpath,{library}", "-o", program)
    ran(program, tmp_path)


@pytest.mark.slow
@needs_program("cmake")
def test_a_program_may_have_the_name_of_the_library(
    project: Path, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "main.cpp").write_text(CPP)
    shutil.copytree(project, tmp_path / "loops")
    (tmp_path / "CMakeLists.txt").write_text(INSIDE)
    done("cmake", "-S", tmp_path, "-B", tmp_path / "out", f"-DCMAKE_PREFIX_PATH={installed}")
    done("cmake", "--build", tmp_path / "out")
    ran(tmp_path / "out" / "wave", tmp_path)


LOOP = """
from pyop2cxx import op2
x = op2.Dat(op2.Set(3))
one = op2.Kernel("void one(double *x) { x[0] += 1; }", "one")
op2.par_loop(one, x.dataset.set, x(op2.RW))
"""


def test_what_is_no_function_of_cpp_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text(LOOP)
    output = ["-o", str(tmp_path / "loops"), str(tmp_path / "program.py")]
    assert main(["generate", "--backend", "cuda,hip,sequential", *output]) == 0
    said = capsys.readouterr().out
    assert (
        "callable from C++ on cuda: no loop (its GPU is not known: --arch sm_... compiles for one)"
        in said
    )
    assert "callable from C++ on hip: no loop (its GPU is not known: --arch gfx... " in said
    assert "C++ on sequential" not in said


@pytest.mark.parametrize("version", ["", "v1", "1.2.3.4", "1.a", "-1"])
def test_a_version_is_numbers(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text(LOOP)
    output = ["-o", str(tmp_path / "loops"), str(tmp_path / "program.py")]
    assert main(["generate", f"--library-version={version}", *output]) == 1
    assert "must be one to three numbers, such as 1.2.0" in capsys.readouterr().err


def test_meshes_of_all_kinds_are_written_for_cpp(tmp_path: Path) -> None:
    mesh = Mesh.from_arrays(
        "triangle",
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        [[0, 1, 2], [0, 2, 3]],
        cell_tags={"low": [0]},
        facet_tags={"floor": [[0, 1]]},
        renumber=True,
    )
    write_npz(tmp_path / "a.npz", mesh, p=op2.Dat(mesh.cells, [1.0, 2.0]))
    found = np.load(tmp_path / "a.npz")
    assert found["cell_type"].tolist() == [5]
    assert np.array_equal(found["cells"], mesh.cell_vertices.values)
    assert found["interior_facets.cells"].shape == (1, 2)
    assert found["exterior_facets.tags.floor"].shape == (1,)
    assert found["cells.tags.low"].tolist() == mesh.cell_tags["low"].indices.tolist()
    assert found["values.p"].tolist() == [1, 2]
