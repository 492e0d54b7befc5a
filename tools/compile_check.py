# SPDX-License-Identifier: BSD-3-Clause
"""Compile every C++ unit and every header alone, without output, as errors-on-warning.

Usage: ``python tools/compile_check.py COMPILER [--built FOLDER]``. A header that is the first
thing a unit includes is compiled alone with that unit. FOLDER is a build with errors on warnings by
the same compiler: units that were built there by themselves are left out, as are those that begin
a batch; the others of a batch, which may live on what one before them includes, are compiled as
there, with the precompiled headers, but alone. Those of tests are left out, which nobody includes
or builds by themselves. The bindings, which no sanitized build has, share
headers that are precompiled here. A unit that passed is not compiled again until it, something it
includes, or the command changes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pybind11

if TYPE_CHECKING:
    from collections.abc import Iterator

FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
FOLDERS = ("-Icpp", "-Icpp/base/standalone")
DEFINES = ('-DPYOP2CXX_VERSION="0"',)
SYSTEM = ("-isystem", pybind11.get_include(), "-isystem", sysconfig.get_path("include"))
ALONE = (*FLAGS, *FOLDERS, *DEFINES, *SYSTEM)
"""All flags of a unit that is in no batch."""
STAMPS = Path("build/lint")
OF_BINDINGS = "#include <pybind11/numpy.h>\n#include <pybind11/stl.h>\n"
"""What clang reads once for all units of `bind`, as CMakeLists.txt has it."""


class Unit(NamedTuple):
    """One source and the compiler that has to accept it.

    Attributes:
        compiler: Its name or path.
        source: Path from the root of the repository.
        flags: All of them, but for those that say where dependencies are written.
        language: What the compiler is told that it is.
    """

    compiler: str
    source: Path
    flags: tuple[str, ...] = ALONE
    language: str = "c++"

    @property
    def stamp(self) -> Path:
        """Where the dependencies and the command of the last success are kept."""
        return STAMPS / Path(self.compiler).name / f"{self.source}.d"

    @property
    def is_header(self) -> bool:
        """Whether the source is included, from standard input, rather than compiled itself."""
        # A header given as the main file would be warned about for its `#pragma once`.
        return self.source.suffix != ".cpp"

    @property
    def command(self) -> list[str]:
        """The command line."""
        rules = ("-MD", "-MF", str(self.stamp.with_suffix(".new")), "-MT", "unit")
        source = "-" if self.is_header else str(self.source)
        return [self.compiler, *self.flags, *rules, "-x", self.language, source]


def built_units(folder: Path) -> dict[Path, tuple[str, ...] | None]:
    """The sources that a build folder's list of commands names.

    Returns:
        For each that is in a batch the flags it was compiled with; None if it was built by itself,
        or before the others of its batch.
    """
    found: dict[Path, tuple[str, ...] | None] = {}
    for command in json.loads((folder / "compile_commands.json").read_text()):
        file = Path(command["file"]).resolve()
        if file.parent.name == "Unity":  # CMake put the units together in a file of its own
            included = re.findall(r'^#include "(.+)"', file.read_text(), re.MULTILINE)
            first, *others = map(Path, included)
            found[first] = None
            found |= dict.fromkeys(others, flags_of(command["command"]))
        else:
            found[file] = None
    return found


def flags_of(command: str) -> tuple[str, ...]:
    """The flags of a compilation without what it reads and writes; nothing is to be written."""
    _, *words = shlex.split(command)
    kept, after = [], ""
    for word in words:
        if word not in ("-o", "-c") and after not in ("-o", "-c"):
            kept.append(word)
        after = word
    return (*kept, "-fsyntax-only")


def first_include(source: Path) -> str:
    """What a unit includes before anything else, as it is written there."""
    found = re.search(r'^#include ["<](.+)[">]', source.read_text(), re.MULTILINE)
    return found[1] if found else ""


def precompiled(compiler: str) -> tuple[str, ...]:
    """Flags for units that include pybind11, whose headers clang then reads once.

    A header that cannot be compiled is left to the units, which say why.
    """
    name = Path(compiler).name
    if "clang" not in name:  # GCC gains little
        return ALONE
    header = STAMPS / name / "bindings.hpp"
    if not header.exists() or header.read_text() != OF_BINDINGS:
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(OF_BINDINGS)
    made = header.with_suffix(".pch")
    kept = tuple(flag for flag in ALONE if flag != "-fsyntax-only")
    flags = (*kept, "-Xclang", "-fpch-instantiate-templates", "-o", str(made))
    if check(Unit(compiler, header, flags, "c++-header")) or not made.exists():
        return ALONE
    return (*ALONE, "-include-pch", str(made))


def units(compiler: str, built: dict[Path, tuple[str, ...] | None]) -> Iterator[Unit]:
    """Every source that is to be compiled here."""
    folders = (Path("cpp"), Path("tests/cpp"))
    sources = [source for folder in folders for source in sorted(folder.rglob("*.cpp"))]
    leading = {first_include(source) for source in sources}
    of_bindings = precompiled(compiler)
    for source in sources:
        alone = of_bindings if source.parent.name == "bind" else ALONE
        flags = built.get(source.resolve(), alone)
        is_told = built and source.is_relative_to("tests")
        if flags is not None and not is_told:
            yield Unit(compiler, source, flags)
    for pattern in ("*.hpp", "*.h"):
        for folder in folders:
            for header in sorted(folder.rglob(pattern)):
                if header.relative_to(folder).as_posix() not in leading:
                    yield Unit(compiler, header)


def is_fresh(unit: Unit) -> bool:
    """Whether the unit passed before and nothing it was made from is newer."""
    try:
        command, rule = unit.stamp.read_text().split("\n", 1)
        passed = unit.stamp.stat().st_mtime
        if command != " ".join(unit.command):
            return False
        paths = re.sub(r"\\\n", " ", rule).split(":", 1)[1].split()
        return all(os.stat(path).st_mtime < passed for path in paths if path != "-")
    except (OSError, ValueError, IndexError):
        return False


def check(unit: Unit) -> str:
    """Compile one unit.

    Returns:
        What the compiler printed if it refused the unit, else nothing.
    """
    if is_fresh(unit):
        return ""
    unit.stamp.parent.mkdir(parents=True, exist_ok=True)
    include = f'#include "{unit.source.resolve()}"\n' if unit.is_header else ""
    done = subprocess.run(unit.command, input=include, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unit.stamp.unlink(missing_ok=True)
        return done.stderr or f"{unit.compiler} {unit.source}: exit status {done.returncode}\n"
    rule = unit.stamp.with_suffix(".new")
    unit.stamp.write_text(" ".join(unit.command) + "\n" + rule.read_text())
    rule.unlink()
    return ""


def main(arguments: list[str]) -> int:
    """Check everything, as many units at a time as there are cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compiler")
    parser.add_argument("--built", type=Path, metavar="FOLDER", help="a build by the same compiler")
    given = parser.parse_args(arguments)
    built = built_units(given.built) if given.built else {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = [text for text in pool.map(check, units(given.compiler, built)) if text]
    sys.stderr.write("".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
