# SPDX-License-Identifier: BSD-3-Clause
"""Programs in C++ on generated projects, built by CMake and run without Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from programs import has_nvrtc, needs_program

from pyop2cxx import op2
from pyop2cxx.ahead import records
from pyop2cxx.ahead.cpp_files import runtime_files
from pyop2cxx.base.folders import core_folder
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import write_mesh
from pyop2cxx.reports.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.usefixtures("host_by_default"), pytest.mark.each_backend]

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "demos" / "cpp"
ITERATIONS = 3
THREADS = 2

# What the C++ program has to equal. Its loops are generated while it runs.
AIRFOIL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from airfoil import Airfoil
from pyop2cxx import op2
from pyop2cxx.mesh.files import read_mesh
op2.init(backend=sys.argv[3], threads=int(sys.argv[4]), deterministic=True)
flow = Airfoil(read_mesh(sys.argv[2]))
for _ in range(int(sys.argv[5])):
    flow.iterate()
Path(sys.argv[6]).write_bytes(flow.q.data_ro.tobytes())
print(f"rms {flow.change():.17g}")
"""


def done(*command: str | Path, **options: object) -> str:
    """Run a command, which must succeed, and return what it says.

    The environment is Python's, not C's: a loader of OpenCL cuts the list of drivers in the latter.
    """
    options = {"env": os.environ} | options
    found = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


# A matrix with blocks, and loops over a Subset, on triangles of a strip.
MATRIX = """
import sys
import numpy as np
from pyop2cxx import op2
n = int(sys.argv[1])
cells, nodes = op2.Set(2 * n, "cells"), op2.Set(2 * n + 2, "nodes")
corners = [[2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3][j:j + 3] for i in range(n) for j in (0, 1)]
c2n = op2.Map(cells, nodes, 3, corners, "c2n")
size = op2.Dat(cells, np.arange(2 * n) % 7 + 0.5, name="size")
total = op2.Global(1, 0.0, name="total")
sparsity = op2.Sparsity((nodes ** 2, nodes ** 2), [(c2n, c2n, None)])
mass = op2.Mat(sparsity, name="mass")
block = op2.Kernel('''
void block(double *a, const double *size) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      a[6 * i + j] += size[0] * (i % 2 == j % 2 ? 1.0 + (i == j) : 0.25);
}''', "block")
add = op2.Kernel("void add(double *t, const double *size) { *t += *size; }", "add")
grow = op2.Kernel("void grow(double *size) { *size *= 3; }", "grow")
op2.par_loop(block, cells, mass(op2.INC, (c2n, c2n)), size(op2.READ))
mass.assemble()
some = op2.Subset(cells, range(1, 2 * n, 3))
op2.par_loop(grow, some, size(op2.RW))
op2.par_loop(add, some, total(op2.INC), size(op2.READ))
op2.par_loop(block, some, mass(op2.INC, (c2n, c2n)), size(op2.READ))
mass.assemble()
if len(sys.argv) > 2:
    mass.values.tofile(sys.argv[2])
    print(f"{total.data_ro[0]:.17g}")
"""

MATRIX_CPP = """
#include <matrix.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 5) return 2;
  const int n = std::stoi(argv[1]);
  op2::init({argv[2], 2});
  const op2::Set cells(2 * n, "cells"), nodes(2 * n + 2, "nodes");
  std::vector<int> corners, some;
  for (int i = 0; i < 2 * n; ++i) corners.insert(corners.end(), {i, i + 1, i + 2});
  for (int i = 1; i < 2 * n; i += 3) some.push_back(i);
  if (std::string(argv[4]) == "unsorted") std::swap(some[0], some[1]);
  const op2::Map<3> c2n(cells, nodes, corners, "c2n");
  std::vector<double> sizes(2 * n), sum(1);
  for (int i = 0; i < 2 * n; ++i) sizes[i] = i % 7 + 0.5;
  const op2::Dat<double> size(cells, sizes, "size");
  const op2::Global<double> total(sum, "total");
  const op2::Sparsity sparsity(nodes, nodes, {{c2n, c2n}});
  std::vector<double> values(4 * sparsity.n_entries());
  const op2::Mat<double, 2, 2> mass(sparsity, values, "mass");
  const op2::Subset part(cells, some, "some");
  if (std::string(argv[4]) == "elsewhere") {
    matrix::grow(op2::Subset(nodes, some, "of_nodes"), size);
  }
  const op2::GraphBuilder builder("mass");
  const auto first = builder.then(matrix::block(cells, mass, c2n, size));
  const auto grown = first.then(matrix::grow(part, size));
  (std::string(argv[4]) == "race" ? first : grown).then(matrix::add(part, total, size));
  builder.when_all({first, grown}).then(matrix::block_2(part, mass, c2n, size));
  builder.instantiate().submit();
  std::cerr << op2::report().text() << '\\n';
  std::ofstream file(argv[3], std::ios::binary);
  // as a dense matrix, row by row
  const std::size_t width = 2 * (2 * n + 2);
  std::vector<double> dense(width * width);
  for (std::size_t row = 0; row < width / 2; ++row) {
    for (auto at = sparsity.row_offset()[row]; at < sparsity.row_offset()[row + 1]; ++at) {
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t column = 2 * sparsity.columns()[at] + k % 2;
        dense[(2 * row + k / 2) * width + column] = mass.read()[4 * at + k];
      }
    }
  }
  file.write(reinterpret_cast<const char*>(dense.data()), dense.size() * sizeof(double));
  std::printf("%.17g\\n", total.read()[0]);
} catch (const op2::Error& error) {
  std::cerr << error.what() << '\\n';
  return 1;
}
"""

# Columns as deep as the lake of `demos/column_sum.py`, and others of one number of layers, one of
# them periodic: all regions, a part, the layer, a matrix.
COLUMNS = """
import sys
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[1])
from column_sum import COLUMN, depth
from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh
op2.init(deterministic=True)
n = int(sys.argv[2])
surface = square_mesh(n)
deep = depth(surface.coordinates.data_ro.T)[surface.cell_vertices.values].mean(axis=1)
n_cells = np.ceil(n * deep).astype(np.int32)
lake = surface.extruded(n_cells, lambda x, s: depth(x) * (s - 1), continuous=False)
volume, light = op2.Dat(surface.cells, name="volume"), op2.Dat(surface.cells, name="light")
x, up = lake.coordinates, lake.cell_vertices
op2.par_loop(
    op2.Kernel(COLUMN, "column_sum"), lake.columns, x(op2.READ, up), volume(op2.INC),
    light(op2.INC)
)
wet = op2.Subset(lake.columns, range(0, surface.cells.size, 3))
shine = op2.Kernel("void shine(const double *x, double *l) { *l += 0.1 * x[2]; }", "shine")
op2.par_loop(shine, wet, x(op2.READ, up), light(op2.INC), iteration_region=op2.ON_TOP)

base, nodes = op2.Set(n, "base"), op2.Set(8 * n, "nodes")
values = [[8 * i, 8 * ((i + 1) % n)] for i in range(n)]
columns = op2.ExtrudedSet(base, 5)
sides = op2.Map(columns, nodes, 2, values, "sides", offset=[1, 1])
heat = op2.Dat(nodes, np.arange(8.0 * n) % 7, name="heat")
flow = op2.Dat(nodes, name="flow")
jump = op2.Kernel('''
void jump(const double *h, double *f) {
  for (int i = 0; i < 2; ++i) f[i] += h[2 + i] - h[i], f[2 + i] -= 0.5 * (h[2 + i] - h[i]);
}''', "jump")
op2.par_loop(
    jump, columns, heat(op2.READ, sides), flow(op2.INC, sides),
    iteration_region=op2.ON_INTERIOR_FACETS
)
ground = op2.Kernel("void ground(double *f, int layer) { f[0] += 3 + layer; }", "ground")
op2.par_loop(
    ground, columns, flow(op2.INC, sides), iteration_region=op2.ON_BOTTOM, pass_layer_arg=True
)
mass = op2.Mat(op2.Sparsity((nodes, nodes), [(sides, sides, None)]), name="mass")
couple = op2.Kernel(
    "void couple(double *m, const double *h) { for (int i = 0; i < 4; ++i) m[i] += i + h[i / 2]; }",
    "couple",
)
op2.par_loop(couple, columns, mass(op2.INC, (sides, sides)), heat(op2.READ, sides))
mass.assemble()
ring = op2.ExtrudedSet(base, 6, extruded_periodic=True)
turns = op2.Map(
    ring, nodes, 2, [[8 * i, 8 * i + 1] for i in range(n)], "turns", offset=[1, 1],
    offset_quotient=[0, 1]
)
turn = op2.Kernel("void turn(double *f, const double *h) { f[0] += h[1]; }", "turn")
op2.par_loop(turn, ring, flow(op2.INC, turns), heat(op2.READ, turns))
last = op2.Kernel("void last(double *f) { f[0] *= 2; }", "last")
backwards = op2.PermutedMap(op2.Map(base, nodes, 2, values, "flat"), [1, 0])
op2.par_loop(last, base, flow(op2.RW, backwards))
limit = op2.Kernel('''
void limit(const int *x, int *low, int *high) {
  if (-(x[0] + x[1]) < low[0]) low[0] = -(x[0] + x[1]);
  if (x[2] < low[0]) low[0] = x[2];
  if (-x[0] > high[0]) high[0] = -x[0];
  if (x[2] > high[0]) high[0] = x[2];
}''', "limit")
some = np.arange(24 * n, dtype=np.int32)
whole = op2.Dat(nodes ** 3, some * 7 % 19 - 9, dtype=np.int32, name="whole")
low = op2.Dat(nodes, some[: 8 * n] % 5 - 3, dtype=np.int32, name="low")
high = op2.Dat(nodes, some[: 8 * n] % 7 - 4, dtype=np.int32, name="high")
op2.par_loop(limit, nodes, whole(op2.READ), low(op2.MIN), high(op2.MAX))
if len(sys.argv) > 3:
    folder = Path(sys.argv[3])
    for name, array in (
        ("layers", lake.columns.layers_array.astype(np.int64)), ("up", up.values), ("x", x.data_ro),
        ("volume", volume.data_ro), ("light", light.data_ro), ("flow", flow.data_ro),
        ("low", low.data_ro), ("high", high.data_ro)
    ):
        array.tofile(folder / f"columns_{name}.bin")
"""

COLUMNS_CPP = """
#include <api/renumber.hpp>
#include <columns.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

template <class T>
std::vector<T> held(const std::string& file) {
  std::ifstream from(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(from), {}};
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

template <class T>
bool same(const std::string& what, const op2::Dat<T>& dat, const std::string& file) {
  const std::vector<T> wanted = held<T>(file);
  const auto got = dat.read();
  const bool equal = std::equal(wanted.begin(), wanted.end(), got.begin(), got.end());
  std::cout << what << (equal ? ": same bits\\n" : ": OTHER BITS\\n");
  return equal;
}

int main(int argc, char** argv) try {
  if (argc != 5) return 2;
  const std::string files = std::string(argv[1]) + "/columns_", mistake = argv[4];
  const int n = std::stoi(argv[2]);
  op2::init({argv[3], 2});

  const auto layers = held<std::int64_t>(files + "layers.bin");
  auto up_values = held<int>(files + "up.bin");
  std::vector<double> points = held<double>(files + "x.bin");
  const op2::Set surface(layers.size() / 2, "surface"), vertices(points.size() / 3, "vertices");
  const op2::ExtrudedSet lake(surface, layers);
  const op2::Map<6> up(lake, vertices, up_values, op2::Offset{{1, 1, 1, 1, 1, 1}}, "up");
  const op2::Dat<double, 3> x(vertices, points, "x");
  if (mistake == "numbers") {
    const op2::Map<6> corners(surface, vertices, up_values, "corners");
    op2::Renumbering way = op2::renumber({{corners, up_values}}, {}, x);
    std::ofstream file(files + "orders.bin", std::ios::binary);
    for (const op2::Set& set : {vertices, surface}) {
      const auto order = way.order(set);
      file.write(reinterpret_cast<const char*>(order.data()), order.size_bytes());
    }
    way.undo();
    return points == held<double>(files + "x.bin") ? 0 : 3;
  }
  std::vector<double> volumes(surface.size()), lights(surface.size());
  const op2::Dat<double> volume(surface, volumes, "volume"), light(surface, lights, "light");
  columns::column_sum(lake, x, up, volume, light)();
  std::vector<int> wet;
  for (int i = 0; i < surface.size(); i += 3) wet.push_back(i);
  columns::shine(op2::Subset(lake, wet, "wet"), x, up, light, op2::Region::top)();

  const op2::Set base(n, "base"), nodes(8 * n, "nodes");
  std::vector<int> sides_values, turns_values;
  for (int i = 0; i < n; ++i) {
    sides_values.insert(sides_values.end(), {8 * i, 8 * ((i + 1) % n)});
    turns_values.insert(turns_values.end(), {8 * i, 8 * i + 1});
  }
  const op2::ExtrudedSet five(base, mistake == "layers" ? 10 : 5), ring(base, 6, true);
  const op2::Offset upwards = mistake == "offset" ? op2::Offset{} : op2::Offset{{1, 1}};
  const op2::Map<2> sides(five, nodes, sides_values, upwards, "sides");
  const op2::Map<2> turns(ring, nodes, turns_values, op2::Offset{{1, 1}, {0, 1}}, "turns");
  const op2::Map<2> flat(base, nodes, sides_values, "flat");
  std::vector<double> heat_values(8 * n), flow_values(8 * n);
  for (int i = 0; i < 8 * n; ++i) heat_values[i] = i % 7;
  const op2::Dat<double> heat(nodes, heat_values, "heat"), flow(nodes, flow_values, "flow");
  const auto cells = mistake == "facets" ? op2::Region::interior_facets : op2::Region::bottom;
  columns::jump(five, heat, sides, flow)();
  columns::ground(five, flow, sides, cells)();
  columns::turn(mistake == "ring" ? five : ring, flow, turns, heat)();
  columns::last(base, flow, flat)();
  std::vector<int> whole_values(24 * n), low_values(8 * n), high_values(8 * n);
  for (int i = 0; i < 24 * n; ++i) whole_values[i] = i * 7 % 19 - 9;
  for (int i = 0; i < 8 * n; ++i) low_values[i] = i % 5 - 3, high_values[i] = i % 7 - 4;
  const op2::Dat<int, 3> whole(nodes, whole_values, "whole");
  const op2::Dat<int> low(nodes, low_values, "low"), high(nodes, high_values, "high");
  columns::limit(nodes, whole, low, high)();
  bool right = same("low", low, files + "low.bin");
  right = same("high", high, files + "high.bin") && right;
  right = same("volume", volume, files + "volume.bin") && right;
  right = same("light", light, files + "light.bin") && right;
  right = same("flow", flow, files + "flow.bin") && right;
  return right ? 0 : 3;
} catch (const op2::Error& error) {
  std::cerr << error.what() << '\\n';
  return 1;
}
"""

BUILD = """
cmake_minimum_required(VERSION 3.16)
project(both LANGUAGES C CXX)
add_subdirectory({demo} demo)
add_subdirectory(matrix_loops)
add_executable(mass matrix.cpp)
target_link_libraries(mass PRIVATE matrix_cpp)
add_subdirectory(columns_loops)
add_executable(lake columns.cpp)
target_link_libraries(lake PRIVATE columns_cpp)
"""


def needs(backend: str) -> None:
    """Skip a test where there is no device."""
    (found,) = [one for one in op2.backends() if one.name == backend]
    if not found.available:
        pytest.skip(found.reason)


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory, installed_runtime: Callable[[Path], Path]
) -> Path:
    """The airfoil demo in C++ and a program with a matrix, built on what was generated for them."""
    folder = tmp_path_factory.mktemp("cpp")
    (folder / "airfoil_run.py").write_text(AIRFOIL)
    write_mesh(airfoil_arrays(30, 40), folder / "mesh.dat")
    program = [str(part) for part in _python(folder, "openmp")]
    everywhere = ["--backend", "sequential,openmp,opencl"]
    if has_nvrtc():
        everywhere = ["--backend", "sequential,openmp,opencl,cuda", "--arch", "sm_80,sm_90"]
    options = [*everywhere, "--name", "airfoil", "-o", str(folder / "loops")]
    assert main(["generate", *options, *program]) == 0
    op2.exit()
    (folder / "matrix.py").write_text(MATRIX)
    options = [*everywhere, "-o", str(folder / "matrix_loops")]
    assert main(["generate", *options, str(folder / "matrix.py"), "40"]) == 0
    op2.exit()
    (folder / "matrix.cpp").write_text(MATRIX_CPP)
    (folder / "columns.py").write_text(COLUMNS)
    options = [*everywhere, "-o", str(folder / "columns_loops"), str(folder / "columns.py")]
    assert main(["generate", *options, str(ROOT / "demos"), "6"]) == 0
    op2.exit()
    (folder / "columns.cpp").write_text(COLUMNS_CPP)
    (folder / "CMakeLists.txt").write_text(BUILD.format(demo=DEMO))
    loops = f"-DLOOPS={folder / 'loops'}"
    quick = (
        "-DCMAKE_CXX_FLAGS_RELEASE=-O0"  # of the run-time; loops are compiled as they always are
    )
    # the run-time by itself, and then what finds it
    (folder / "installed").symlink_to(installed_runtime(folder / "loops" / "runtime"))
    checks = ["-Dairfoil_CHECK=ON", "-Dmatrix_CHECK=ON"]
    checks += ["-Dairfoil_EXAMPLE=ON", "-Dmatrix_EXAMPLE=ON"]
    checks += ["-Dcolumns_CHECK=ON", "-Dcolumns_EXAMPLE=ON"]
    prefix = f"-DCMAKE_PREFIX_PATH={folder / 'installed'}"
    said = done("cmake", "-S", folder, "-B", folder / "out", loops, quick, prefix, *checks)
    assert "airfoil: the run-time is that of" in said
    done("cmake", "--build", folder / "out")
    return folder


def _python(folder: Path, backend: str) -> list[object]:
    mesh, output = folder / "mesh.dat", folder / f"{backend}.bin"
    program = folder / "airfoil_run.py"
    return [program, ROOT / "demos", mesh, backend, THREADS, ITERATIONS, output]


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl", "cuda"])
def test_the_airfoil_in_cpp_has_the_bits_of_python(built: Path, backend: str) -> None:
    needs(backend)
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    python = done(sys.executable, *_python(built, backend), env=os.environ | {"PYTHONPATH": path})
    wanted = (built / f"{backend}.bin").read_bytes()
    assert np.isfinite(np.frombuffer(wanted)).all()
    output = built / "cpp.bin"
    program = built / "out" / "demo" / "airfoil_demo"
    for threads in (THREADS, 1):
        cpp = done(program, built / "mesh.dat", backend, threads, ITERATIONS, output)
        assert output.read_bytes() == wanted
        assert cpp.splitlines()[0] == python.splitlines()[-1]


@pytest.mark.slow
@needs_program("cmake")
def test_the_loops_of_a_chain_are_functions(built: Path) -> None:
    """The airfoil with its chain compiled in, against the same chain in Python."""
    program = built / "airfoil_chain.py"
    program.write_text(AIRFOIL.replace("    flow", "    with op2.chain():\n        flow"))
    python = [str(part) for part in (program, *_python(built, "openmp")[1:-1], built / "chain.bin")]
    loops = built / "chain_loops"
    options = ["--backend", "sequential,openmp", "--name", "airfoil", "-o", str(loops)]
    assert main(["generate", *options, *python]) == 0
    op2.exit()
    header = (loops / "airfoil.hpp").read_text()
    for name in ("save_soln_adt_calc", "update_adt_calc"):
        assert f"/// @brief Loop '{name}' over the entities of cells" in header
    assert "Not in C++" not in header
    out = built / "chain_out"
    chosen = [f"-DLOOPS={loops}", "-DCHAIN=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
    prefix = f"-DCMAKE_PREFIX_PATH={built / 'installed'}"
    done("cmake", "-S", DEMO, "-B", out, *chosen, prefix, "-Dairfoil_CHECK=ON")
    done("cmake", "--build", out)
    (check,) = out.rglob("airfoil_check")
    assert "update_adt_calc on openmp: as in Python" in done(check).splitlines()
    for threads in (THREADS, 1):
        run = [built / "mesh.dat", "openmp", threads, ITERATIONS, built / "cpp.bin"]
        done(out / "airfoil_demo", *run)
        assert (built / "cpp.bin").read_bytes() == (built / "chain.bin").read_bytes()


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl", "cuda"])
def test_matrices_and_subsets_in_cpp_are_those_of_python(built: Path, backend: str) -> None:
    needs(backend)
    _same_matrix(built, backend, built / "out" / "mass")


def _same_matrix(built: Path, backend: str, program: Path) -> None:
    n = 40
    wanted, got = built / "mass.bin", built / "mass_cpp.bin"
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path, "PYOP2CXX_BACKEND": backend}
    python = done(sys.executable, built / "matrix.py", n, wanted, env=environment)
    cpp = done(program, n, backend, got, "")
    np.testing.assert_allclose(np.fromfile(got), np.fromfile(wanted), rtol=1e-14)
    assert float(cpp) == pytest.approx(float(python), rel=1e-14)


@pytest.mark.slow
@needs_program("cmake")
def test_matrices_in_cpp_by_texts_for_gpus(built: Path) -> None:
    """A processor runs them if the table takes it for a GPU."""
    needs("opencl")
    folder = built / "for_gpus"
    loops = folder / "loops"
    options = ["--backend", "opencl", "-o", str(loops), str(built / "matrix.py"), "40"]
    assert main(["generate", *options]) == 0
    op2.exit()
    unit = loops / "matrix.cpp"
    turned = {"true": "false", "false": "true"}
    text, n = re.subn(
        r"(sizeof \w+\}\}), (true|false),",
        lambda found: f"{found[1]}, {turned[found[2]]},",
        unit.read_text(),
    )
    assert n > 0
    unit.write_text(text)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(gpus LANGUAGES C CXX)\n"
        "add_subdirectory(loops)\nadd_executable(mass ../matrix.cpp)\n"
        "target_link_libraries(mass PRIVATE matrix_cpp)\n"
    )
    chosen = ["-DCMAKE_CXX_FLAGS_RELEASE=-O0", f"-DCMAKE_PREFIX_PATH={built / 'installed'}"]
    done("cmake", "-S", folder, "-B", folder / "out", *chosen)
    done("cmake", "--build", folder / "out")
    _same_matrix(built, "opencl", folder / "out" / "mass")


@pytest.mark.slow
@needs_program("cmake")
def test_programs_in_cpp_report_what_was_hit(built: Path) -> None:
    command = [str(built / "out" / "mass"), "4", "sequential", str(built / "none.bin"), ""]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    head, *rows = [line.split() for line in found.stderr.splitlines()]
    assert head == ["loop", "backend", "strategy", "calls", "seconds", "plans", "s", "GB/s"]
    assert [row[:4] for row in rows] == [
        [name, "sequential", "direct", n]
        for name, n in (("add", "1"), ("block", "2"), ("grow", "1"))
    ]


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("unsorted", "Subset 'some': index 1 is 1 and comes after 4; sort the indices"),
        ("elsewhere", "Dat 'size' lives on Set 'cells', but the loop runs over 'nodes'"),
        ("race", "one of them writes it:\n  node 1 'grow' and node 2 'add': size\nput one behind"),
    ],
)
def test_wrong_subsets_in_cpp_are_errors(built: Path, mistake: str, message: str) -> None:
    command = [str(built / "out" / "mass"), "4", "sequential", "none.bin", mistake]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert message in found.stderr


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl", "cuda"])
def test_columns_in_cpp_have_the_bits_of_python(built: Path, backend: str) -> None:
    needs(backend)
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path, "PYOP2CXX_BACKEND": backend}
    done(sys.executable, built / "columns.py", ROOT / "demos", 9, built, env=environment)
    said = done(built / "out" / "lake", built, 9, backend, "").splitlines()
    assert said == [f"{name}: same bits" for name in ("low", "high", "volume", "light", "flow")]
    (check,) = (built / "out").rglob("columns_check")
    loops = ("column_sum", "shine", "jump", "ground", "couple", "turn", "last", "limit")
    assert {f"{loop} on {backend}: as in Python" for loop in loops} <= {*done(check).splitlines()}
    (example,) = (built / "out").rglob("columns_example")
    assert "volume: " in done(example, backend)


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("layers", "Map 'sides' leads from column 7, slot 1, to 72, but Set 'nodes' has entities"),
        ("offset", "Map whose entry 0 moves by 1 from a layer to the next (quotient 0), but Map "),
        ("facets", "it was generated for single cells; pass another region than interior_facets"),
        ("ring", "it was generated for a Set of periodic columns with one number of layers, but "),
    ],
)
def test_wrong_columns_in_cpp_are_errors(built: Path, mistake: str, message: str) -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path, "PYOP2CXX_BACKEND": "sequential"}
    done(sys.executable, built / "columns.py", ROOT / "demos", 9, built, env=environment)
    command = [str(built / "out" / "lake"), str(built), "9", "sequential", mistake]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert message in found.stderr


@pytest.mark.slow
@needs_program("cmake")
def test_meshes_are_renumbered_in_cpp_as_in_python(built: Path) -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path, "PYOP2CXX_BACKEND": "sequential"}
    done(sys.executable, built / "columns.py", ROOT / "demos", 9, built, env=environment)
    done(built / "out" / "lake", built, 9, "sequential", "numbers")
    values = np.fromfile(built / "columns_up.bin", np.int32).reshape(-1, 6)
    points = np.fromfile(built / "columns_x.bin").reshape(-1, 3)
    cells, vertices = op2.Set(len(values), "cells"), op2.Set(len(points), "vertices")
    corners = op2.Map(cells, vertices, 6, values)
    orders = op2.renumber(
        [corners], method="hilbert", coordinates=op2.Dat(vertices**3, points)
    ).orders
    got = np.fromfile(built / "columns_orders.bin", np.int64)
    np.testing.assert_array_equal(got, np.concatenate([orders[vertices], orders[cells]]))


@pytest.mark.slow
@needs_program("cmake")
def test_projects_test_themselves(built: Path) -> None:
    (program,) = (built / "out").rglob("matrix_check")
    lines = done(program).splitlines()
    assert "block on sequential: as in Python" in lines
    assert len(lines) == (16 if has_nvrtc() else 12)
    (other,) = (built / "out").rglob("airfoil_check")
    said = done(other).splitlines()
    assert len(said) == (20 if has_nvrtc() else 15)
    assert {line.partition(": ")[2].partition(":")[0] for line in said} <= {
        "as in Python",
        "not tested",
    }
    values = built / "matrix_loops" / "check" / "grow.bin"
    right = values.read_bytes()
    wrong = bytearray(right)
    wrong[-3] ^= 1
    values.write_bytes(wrong)
    found = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    values.write_bytes(right)
    assert found.returncode == 1
    assert "size: value 79 of 80 differs by" in found.stdout
    assert "grow on openmp: WRONG" in found.stdout


@pytest.mark.slow
@needs_program("cmake")
def test_a_project_alone_has_its_run_time_and_its_test(built: Path) -> None:
    done("cmake", "-S", built / "matrix_loops", "-B", built / "alone")
    targets = done("cmake", "--build", built / "alone", "--target", "help")
    programs = {"matrix_check", "matrix_example"}
    assert {"op2_runtime", "matrix_cpp", *programs} <= set(re.findall(r"\w+", targets))
    assert "matrix_check" in done("ctest", "-N", "-V", cwd=built / "alone")


@pytest.mark.slow
@needs_program("cmake")
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_the_example_of_a_project_runs(built: Path, backend: str) -> None:
    needs(backend)
    (matrix,) = (built / "out").rglob("matrix_example")
    # the Subset is the first 27 cells, which grow by 3 before each of two sums
    said = done(matrix, backend).splitlines()
    assert {"size: 9", "total: 325"} < {*said}
    assert [line.partition(":")[0] for line in said] == ["mass", "size", "total"]
    (airfoil,) = (built / "out").rglob("airfoil_example")
    assert "res: " in done(airfoil, backend)
    found = subprocess.run([matrix, "vulkan"], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "vulkan" in found.stderr


GRAPH = """
import sys
import numpy as np
from pyop2cxx import op2
n = int(sys.argv[1])
cells, edges = op2.Set(n, "cells"), op2.Set(n - 1, "edges")
ends = op2.Map(edges, cells, 2, [[i, i + 1] for i in range(n - 1)], "ends")
heat = op2.Dat(cells, np.arange(n) % 5 == 0, dtype=float, name="heat")
flow, left = op2.Dat(cells, name="flow"), op2.Global(1, 1.0, name="left")
sums, lows = op2.Dat(cells, name="sums"), op2.Dat(cells, name="lows")
flux = op2.Kernel(
    "void flux(double *f, const double *h) { double d = h[1] - h[0]; f[0] += d; f[1] -= d; }",
    "flux")
step = op2.Kernel("void step(double *h, const double *f) { h[0] += 0.25 * f[0]; }", "step")
peak = op2.Kernel("void peak(const double *h, double *m) { if (h[0] > m[0]) m[0] = h[0]; }", "peak")
with op2.graph("until") as g:
    with g.while_(left > 0.25, most=100) as again:
        cleared = again.then_fill(flow, 0.0)
        moved = cleared.then(flux, edges, flow(op2.INC, ends), heat(op2.READ, ends))
        moved.then(step, cells, heat(op2.RW), flow(op2.READ)).then_fill(left, 0.0).then(
            peak, cells, heat(op2.READ), left(op2.MAX))
    again.node.then_scan(heat, sums, op2.INC, inclusive=True)
    again.node.then_scan(heat, lows, op2.MIN)
g.instantiate().submit()
if len(sys.argv) > 2:
    print(f"{left.data_ro[0]:.12g} {sums.data_ro[-1]:.12g} {lows.data_ro[0]:.12g} "
          f"{lows.data_ro[-1]:.12g}")
"""

GRAPH_CPP = """
#include <until.hpp>
#include <cstdio>
#include <iostream>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  const int n = std::stoi(argv[1]);
  op2::init({argv[2], 2});
  const op2::Set cells(n, "cells"), edges(n - 1, "edges");
  std::vector<int> both;
  for (int i = 0; i + 1 < n; ++i) both.insert(both.end(), {i, i + 1});
  const op2::Map<2> ends(edges, cells, both, "ends");
  std::vector<double> h(n), f(n), s(n), l(n), most{1.0};
  for (int i = 0; i < n; ++i) h[i] = i % 5 == 0;
  const op2::Dat<double> heat(cells, h, "heat"), flow(cells, f, "flow");
  const op2::Dat<double> sums(cells, s, "sums"), lows(cells, l, "lows");
  const op2::Global<double> left(most, "left");
  const op2::GraphBuilder builder("until");
  const bool is_race = std::string(argv[3]) == "race";
  const auto all = builder.while_(left > 0.25, 100, [&](const op2::GraphBuilder& again) {
    const auto moved = again.root().then_fill(flow, 0.0).then(until::flux(edges, flow, ends, heat));
    const auto stepped = moved.then(until::step(cells, heat, flow));
    (is_race ? moved : stepped).then_fill(left, 0.0).then(until::peak(cells, heat, left));
  });
  all.then_scan(heat, sums, op2::Access::inc, true);
  all.then_scan(heat, lows, op2::Access::min);
  op2::Graph graph = builder.instantiate();
  graph.submit();
  std::printf("%.12g %.12g %.12g %.12g\\n", left.read()[0], sums.read()[n - 1], lows.read()[0],
              lows.read()[n - 1]);
} catch (const op2::Error& error) {
  std::cerr << error.what() << '\\n';
  return 1;
}
"""

GRAPH_BUILD = """
cmake_minimum_required(VERSION 3.16)
project(graph CXX C)
add_subdirectory(loops)
add_executable(graph graph.cpp)
target_link_libraries(graph PRIVATE until::cpp)
"""


@pytest.mark.slow
@needs_program("cmake")
def test_graphs_repeat_and_scan_as_in_python(
    tmp_path: Path, installed_runtime: Callable[[Path], Path]
) -> None:
    (tmp_path / "until.py").write_text(GRAPH)
    backends = ["sequential", "openmp", "opencl"]
    options = ["--backend", ",".join(backends)]
    if has_nvrtc():
        backends.append("cuda")
        options = ["--backend", ",".join(backends), "--arch", "native,sm_80,sm_90"]
    out = tmp_path / "loops"
    assert main(["generate", *options, "-o", str(out), str(tmp_path / "until.py"), "50"]) == 0
    op2.exit()
    (tmp_path / "graph.cpp").write_text(GRAPH_CPP)
    (tmp_path / "CMakeLists.txt").write_text(GRAPH_BUILD)
    prefix = f"-DCMAKE_PREFIX_PATH={installed_runtime(out / 'runtime')}"
    quick = "-DCMAKE_CXX_FLAGS_RELEASE=-O0"
    done("cmake", "-S", tmp_path, "-B", tmp_path / "out", quick, prefix)
    done("cmake", "--build", tmp_path / "out", "--target", "graph")
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    wanted = done(sys.executable, tmp_path / "until.py", "1000", "print", env=environment)
    program = tmp_path / "out" / "graph"
    is_available = {one.name: one.available for one in op2.backends()}
    for backend in backends:
        if is_available[backend]:
            assert done(program, "1000", backend, "ordered") == wanted
    raced = subprocess.run(
        [program, "1000", "openmp", "race"], capture_output=True, text=True, check=False
    )
    assert raced.returncode == 1
    assert "graph 'while left > 0.25': nothing orders nodes that use the same data" in raced.stderr
    assert "node 2 'step' and node 4 'peak': heat" in raced.stderr


def test_loops_that_were_not_recorded_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_BYTES", 60)
    (tmp_path / "matrix.py").write_text(MATRIX)
    out = tmp_path / "out"
    arguments = ["-o", str(out), str(tmp_path / "matrix.py"), "1"]
    assert main(["generate", "--backend", "sequential", *arguments]) == 0
    op2.exit()
    check = (out / "check.cpp").read_text()
    assert "grow_is_right" in check
    assert "// Not tested:\n// - block: its values are 0.0 MB" in check
    assert not (out / "check" / "block.bin").exists()


@pytest.mark.slow
@needs_program("cmake")
def test_the_runtime_has_nothing_of_the_compiler(built: Path) -> None:
    (library,) = (built / "installed").rglob("libop2_runtime.a")
    symbols = done("nm", "-C", library)
    assert "op2::runtime::PreparedLoop::run()" in symbols
    assert "op2::plan::make_plan" in symbols
    assert not re.findall(r"op2::(?:ir|kir|lower|cg|jit|chain|bind)::", symbols)


@pytest.mark.slow
@needs_program("cmake")
def test_errors_reach_whoever_runs_the_program(built: Path) -> None:
    bad = built / "bad.dat"
    bad.write_text("4 1 0 1\n0 0\n1 0\n1 1\n0 1\n0 1 2 4\n0 1 0 1\n")
    program = built / "out" / "demo" / "airfoil_demo"
    command = [program, bad, "openmp", "1", "1", built / "none.bin"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert (
        "Map 'cell2node': row 0, slot 3 is 4, but Set 'nodes' has entities 0 to 3" in found.stderr
    )


@pytest.mark.slow
@needs_program("cmake")
def test_without_a_driver_programs_in_cpp_say_what_is_missing(built: Path) -> None:
    (found,) = [one for one in op2.backends() if one.name == "cuda"]
    if found.available:
        pytest.skip("there is a GPU")
    program = built / "out" / "demo" / "airfoil_demo"
    command = [program, built / "mesh.dat", "cuda", "1", "1", built / "none.bin"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert said.stderr.strip() == found.reason.strip()
    assert "NVIDIA's driver" in said.stderr


def test_the_airfoil_in_cpp_is_short() -> None:
    assert len((DEMO / "airfoil.cpp").read_text().splitlines()) <= 120


def test_the_runtime_is_files_of_its_rooms_only() -> None:
    rooms = {name.partition("/")[0] for name in runtime_files()}
    assert rooms == {
        *("api", "base", "dispatch", "exec", "graph", "libs", "mesh", "move", "plan", "runtime")
    }
    assert "libs/host/cblas.cpp" in runtime_files()
    assert not {"libs/cublas.cpp", "move/conversions.cpp", "move/assign.cpp"} & {*runtime_files()}
    assert "runtime/prepared_loop.cpp" in runtime_files()


def test_the_runtime_includes_nothing_that_would_have_to_be_installed() -> None:
    """Projects bring <fmt/format.h>, and leaves."""
    systems = {"dirent.h", "dlfcn.h", "link.h", "pthread.h", "sched.h"}
    systems |= {"fcntl.h", "grp.h", "pwd.h", "unistd.h"}
    systems |= {"sys/mman.h", "sys/resource.h", "sys/stat.h", "sys/utsname.h"}
    others = {
        (name, header)
        for name in runtime_files()
        for header in re.findall(
            r"^ *# *include <(?!fmt/|eti/)(.*\.h(?:pp)?)>", (core_folder() / name).read_text(), re.M
        )
    }
    assert {header for _, header in others} <= systems, others


def test_the_runtime_reads_without_streams() -> None:
    """Where the C++ library is linked into the run-time, they would be most of it."""
    large = re.compile(r"#include <(?:[io]?f?stream|sstream|iomanip|filesystem|regex|locale)>")
    found = [name for name in runtime_files() if large.search((core_folder() / name).read_text())]
    assert found == []


FORMATTED = """
#include <fmt/format.h>
#include <cstdio>
#include <set>
#include <string>
#include <vector>
int main() {
  const std::string name = "flux";
  const std::vector<int> numbers{1, -2, 3};
  const std::set<std::string> names{"a", "b"};
  std::puts(fmt::format("'{}' {} {}", name, "text", std::string_view("view")).c_str());
  std::puts(fmt::format("{} {} {} {{}}", true, 'c', 18446744073709551615ULL).c_str());
  std::puts(fmt::format("{} {} {} {} {:.1f}", 0.1, 1e300, -2.0, 1.0 / 3, 2.25).c_str());
  std::puts(fmt::format("[{}] {}", fmt::join(numbers, ", "), fmt::join(names, "/")).c_str());
  std::puts(fmt::format("no fields").c_str());
}
"""


@needs_program("g++")
def test_messages_are_formatted_without_fmt(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    out = tmp_path / "out"
    assert main(["generate", "--backend", "openmp", "-o", str(out), str(tmp_path / "main.py")]) == 0
    op2.exit()
    (tmp_path / "formatted.cpp").write_text(FORMATTED)
    standalone = out / "runtime" / "base" / "standalone"
    headers = ["-I", standalone]
    sources = [tmp_path / "formatted.cpp", standalone / "fmt" / "format.cpp"]
    done("g++", "-std=c++20", *headers, *sources, "-o", tmp_path / "formatted")
    assert done(tmp_path / "formatted").splitlines() == [
        "'flux' text view",
        "true c 18446744073709551615 {}",
        "0.1 1e+300 -2 0.3333333333333333 2.2",
        "[1, -2, 3] a/b",
        "no fields",
    ]
    if shutil.which("clang++-14"):  # units in one, as projects compile them
        units = ("api/loops.cpp", "base/tuning.cpp", "runtime/launch_list.cpp")
        (tmp_path / "units.cpp").write_text("".join(f'#include "{one}"\n' for one in units))
        headers += ["-I", out / "runtime"]
        done("clang++-14", "-std=c++20", "-fsyntax-only", *headers, tmp_path / "units.cpp")


PROGRAM = """
from pyop2cxx import op2
n = 5
cells, edges = op2.Set(n, "cells"), op2.Set(n, "class")
one = op2.Map(edges, cells, 1, [4, 3, 2, 1, 0], "one")
two = op2.Map(edges, cells, 2, [[i, (i + 1) % n] for i in range(n)], "two")
x, y = op2.Dat(cells, dtype="float32", name="new"), op2.Dat(edges ** 2, dtype="int64", name="y")
op2.Const(3, [1.0, 2.0, 3.0], "cpp_rates")
k = op2.Kernel("void k(float *x, long *y) { x[0] += cpp_rates[1] * y[1]; }", "k")
m = op2.Kernel("void m(float *x) { x[0] = 1; }", "m")
op2.par_loop(k, edges, x(op2.INC, one), y(op2.READ))
op2.par_loop(k, edges, x(op2.INC, two), y(op2.READ), block_size=64)
op2.par_loop(m, cells([0, 2]), x(op2.WRITE))
"""


PARTS = """
import sys
import numpy as np
from pyop2cxx import op2
n = int(sys.argv[1])
cells, nodes = op2.Set(n, "cells"), op2.Set(n + 1, "nodes")
ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(n)], "ends")
flow = op2.Dat(nodes ** 3, np.arange(3.0 * (n + 1)).reshape(-1, 3), name="flow")
heat = op2.Dat(cells, np.ones(n), name="heat")
both = op2.MixedDat([op2.Dat(nodes ** 2, name="speed"), op2.Dat(cells, np.zeros(n), name="load")])
where = op2.MixedMap([ends, op2.Map(cells, cells, 1, np.arange(n), "self")])
turn = op2.Kernel(
    "void turn(double *z, const double *x, const double *h) "
    "{ for (int i = 0; i < 2; ++i) z[i] += 0.5 * x[i] + h[0]; }", "turn"
)
spread = op2.Kernel(
    "void spread(double *b, const double *h) "
    "{ for (int i = 0; i < 4; ++i) b[i] += i * h[0]; b[4] += 7 * h[0]; }", "spread"
)
op2.par_loop(
    turn, cells, op2.DatView(flow, 2)(op2.INC, ends), op2.DatView(flow, 0)(op2.READ, ends),
    heat(op2.READ)
)
op2.par_loop(spread, cells, both(op2.INC, where), heat(op2.READ))
"""


@pytest.mark.slow
@needs_program("cmake")
def test_components_and_fields_are_objects_of_their_own(built: Path, tmp_path: Path) -> None:
    """The project repeats what loops over parts of Dats did in Python."""
    (tmp_path / "parts.py").write_text(PARTS)
    options = ["--backend", "sequential,openmp,opencl", "-o", str(tmp_path / "out")]
    assert main(["generate", *options, str(tmp_path / "parts.py"), "700"]) == 0
    op2.exit()
    header = (tmp_path / "out" / "parts.hpp").read_text()
    assert "turn(const op2::Set& cells, const op2::Dat<double, 3>& flow, " in header
    assert "/// - flow: INC of value 2 by ends, READ of value 0 by ends" in header
    assert "const op2::Dat<double, 2>& speed, const op2::Map<2>& ends, " in header
    assert "Not in C++" not in header
    quick = ("-DCMAKE_CXX_FLAGS_RELEASE=-O0", f"-DCMAKE_PREFIX_PATH={built / 'installed'}")
    done("cmake", "-S", tmp_path / "out", "-B", tmp_path / "built", *quick)
    done("cmake", "--build", tmp_path / "built", "--target", "parts_check")
    said = done(tmp_path / "built" / "parts_check").splitlines()
    assert len(said) == 6
    for loop in ("turn", "spread"):
        assert {f"{loop} on {one}: as in Python" for one in ("sequential", "openmp")} <= {*said}


def test_loops_become_functions_of_their_objects(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    out = tmp_path / "out"
    assert main(["generate", "--backend", "openmp", "-o", str(out), str(tmp_path / "main.py")]) == 0
    op2.exit()
    header, unit = ((out / f"main.{suffix}").read_text() for suffix in ("hpp", "cpp"))
    # names that C++ has words for, and two loops of one kernel, get others
    assert "namespace main_ {" in header
    assert (
        "op2::Loop k(const op2::Set& class_, const op2::Dat<float, 1>& new_, "
        "const op2::Map<1>& one, const op2::Dat<std::int64_t, 2>& y, "
        "const op2::Const<double, 3>& cpp_rates);" in header
    )
    assert "op2::Loop k_2(" in header
    assert "/// - new_: INC by two" in header
    assert (
        "op2::Loop m(const op2::Subset& part_of_cells, const op2::Dat<float, 1>& new_);" in header
    )
    # one leads nowhere twice, so the code takes no care; two does not
    first, second = unit.split("op2::Loop k_2(")
    assert "0, {true}, {}}" in first
    assert "64, {false}, {}}" in second


def test_programs_in_cpp_name_the_backends_that_have_functions(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "from pyop2cxx import op2\n"
        "s = op2.Set(10, 's')\n"
        "d = op2.Dat(s, [1.0] * 10, name='d')\n"
        "op2.par_loop(op2.Kernel('void k(double *x) { x[0] += 1; }', 'k'), s, d(op2.RW))\n"
    )
    out, program = tmp_path / "loops", str(tmp_path / "main.py")
    assert main(["generate", "--backend", "openmp,hip", "-o", str(out), program]) == 0
    assert len(list((out / "src").glob("*.hip"))) > 0
    assert "k: its GPU is not known: --arch gfx... compiles" in (out / "main.hpp").read_text()
    text = (out / "main.cpp").read_text()
    assert '{"openmp", nullptr},' in text
    assert '"hip"' not in text
