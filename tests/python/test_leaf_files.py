# SPDX-License-Identifier: BSD-3-Clause
"""Explicit instantiations of what programs in C++ would compile otherwise."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from programs import needs_program

from pyop2cxx.ahead import leaf_files
from pyop2cxx.base.folders import core_folder

if TYPE_CHECKING:
    from pathlib import Path

CLIENT = """
#include "api/leaves.hpp"
#include <cstdio>
#include <vector>

int main() {
  const std::vector<REAL> x{1, 2, 3};
  std::vector<double> y(3);
  op2::convert(x, y);
  const std::vector<int> rows{2, 0, 2};
  std::vector<REAL> z(3);
  op2::gather(x, rows, z);
  op2::scan(z, z);
  const auto sum = static_cast<double>(op2::inner(x, z));
  op2::axpy(2, x, z);
  std::printf("%g %g %g\\n", y[1], static_cast<double>(z[2]), sum);
}
"""


def compiled(
    folder: Path, real: str, *options: str, of: str = "client"
) -> subprocess.CompletedProcess[str]:
    """Compile a program that uses the leaves with a type, and no libraries for them."""
    (folder / f"{of}.cpp").write_text(CLIENT)
    command = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", f"-DREAL={real}"]
    command += ["-DOP2_NO_LIBRARIES", "-I", str(folder), "-I", str(core_folder()), *options]
    return subprocess.run(
        [*command, "-c", f"{of}.cpp", "-o", f"{of}.o"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def leaves_in(folder: Path, file: str, *, defined: bool) -> set[str]:
    """The leaves of an object file: those that it has, or those that it needs."""
    which = "--defined-only" if defined else "--undefined-only"
    done = subprocess.run(
        ["nm", "-C", which, file], cwd=folder, capture_output=True, text=True, check=True
    )
    names = (line.partition("op2::leaves::")[2] for line in done.stdout.splitlines())
    return {name.partition("::run")[0] for name in names if "::run" in name}


def built(folder: Path, units: list[str]) -> None:
    """Compile the units of the run-time, as its project does: all in one."""
    (folder / "all.cpp").write_text("".join(f'#include "{unit}"\n' for unit in units))
    options = ["-std=c++20", "-O2", "-DOP2_COMPILES_LEAVES", "-I", ".", "-I", str(core_folder())]
    subprocess.run(["g++", *options, "-c", "all.cpp", "-o", "all.o"], cwd=folder, check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("leaves")
    built(made, leaf_files.write(made))
    return made


@pytest.mark.slow
@needs_program("g++")
def test_listed_types_are_not_instantiated_by_programs(folder: Path) -> None:
    done = compiled(folder, "float")
    assert done.returncode == 0, done.stderr
    wanted = {
        "Convert<double, float, true>",
        "Gather<float, int, true>",
        "Inner<float, true, false>",
        "Axpy<float, true, false>",
        "Scan<float, true>",
    }
    assert leaves_in(folder, "client.o", defined=True) == set()
    assert leaves_in(folder, "client.o", defined=False) == wanted
    assert wanted <= leaves_in(folder, "all.o", defined=True)
    subprocess.run(["g++", "client.o", "all.o", "-o", "client"], cwd=folder, check=True)
    said = subprocess.run(["./client"], cwd=folder, capture_output=True, text=True, check=True)
    assert said.stdout == "2 10 18\n"


@pytest.mark.slow
@needs_program("g++")
def test_other_types_work_unless_only_listed_ones_may(folder: Path) -> None:
    done = compiled(folder, "long double", of="other")
    assert done.returncode == 0, done.stderr
    assert leaves_in(folder, "other.o", defined=False) == set()
    refused = compiled(folder, "long double", "-DOP2_ETI_ONLY", of="other")
    assert refused.returncode != 0
    assert "OP2_ETI_ONLY: op2::inner is not compiled for this type; add it" in refused.stderr
    assert "long double" in refused.stderr
    assert compiled(folder, "double", "-DOP2_ETI_ONLY", of="other").returncode == 0


@pytest.mark.slow
@needs_program("g++")
def test_adding_a_type_touches_only_the_list(tmp_path: Path) -> None:
    listed = json.loads((core_folder() / leaf_files.LIST).read_text())
    for axis in ("real", "number"):
        listed["types"][axis].append("long double")
    changed = tmp_path / "eti.json"
    changed.write_text(json.dumps(listed))
    units = leaf_files.write(tmp_path, changed)
    assert "eti/convert_long_double_float.cpp" in units
    built(tmp_path, units)
    assert compiled(tmp_path, "long double", "-DOP2_ETI_ONLY").returncode == 0
    assert leaves_in(tmp_path, "client.o", defined=True) == set()
    subprocess.run(["g++", "client.o", "all.o", "-o", "client"], cwd=tmp_path, check=True)
    said = subprocess.run(["./client"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout == "2 10 18\n"


def test_each_combination_has_a_unit_of_its_name(tmp_path: Path) -> None:
    units = leaf_files.write(tmp_path)
    listed = json.loads((core_folder() / leaf_files.LIST).read_text())
    n = {axis: len(types) for axis, types in listed["types"].items()}
    assert (
        len(units) == len(set(units)) == n["real"] ** 2 + n["number"] * (n["index"] + 2) + n["real"]
    )
    assert "eti/gather_complex_double_int64.cpp" in units
    for unit in units:
        assert (tmp_path / unit).read_text().count("template struct op2::leaves::") == 1
