# SPDX-License-Identifier: BSD-3-Clause
"""Seed faults one at a time, and say which of them the tests find.

Usage: ``python tools/mutants.py [--room ROOM] [--number N ...] [--tests FOLDER ...]
[--build COMMAND] [--json FILE]``.

Each fault is a row of ``tools/mutants.tsv``: the room, the text, the text in its place, and what
pytest is told to run. The text stands once in the room, so a file of the room may be renamed. The
sources are restored after each fault. A fault of the C++ core needs COMMAND, which builds the
extension into ``pyop2cxx``; rows of C++ are left out without the option. Every FOLDER of tests, by
default ``tests/python``, meets each fault: so two versions of the tests are compared.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".tsv")
SUFFIXES = (".py", ".cpp", ".hpp", ".h")


class Mutant(NamedTuple):
    """A fault.

    Attributes:
        number: Place in the table, from 1.
        room: Folder of the sources, from the root of the repository.
        text: What stands there; it occurs once in the room.
        fault: What stands there instead.
        tests: What pytest is given in a folder of tests: files and options.
    """

    number: int
    room: str
    text: str
    fault: str
    tests: str

    @property
    def is_cpp(self) -> bool:
        """Whether the extension has to be built."""
        return self.room.startswith("cpp/")

    def path(self) -> Path:
        """Return the source that holds the text.

        Raises:
            LookupError: No source of the room holds the text, or it occurs more than once.
        """
        sources = (path for path in (ROOT / self.room).rglob("*") if path.suffix in SUFFIXES)
        found = [path for path in sources for _ in range(path.read_text().count(self.text))]
        if len(found) != 1:
            raise LookupError(f"fault {self.number}: {self.text!r} occurs {len(found)} times")
        return found[0]


def mutants() -> list[Mutant]:
    """Return the table."""
    with TABLE.open(newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        cells = ([cell.replace("\\n", "\n") for cell in row] for row in rows)
        return [Mutant(i, *row) for i, row in enumerate(cells, 1)]


@contextmanager
def seeded(mutant: Mutant) -> Iterator[Path]:
    """Hold the fault in the sources for a while."""
    path = mutant.path()
    before = path.read_bytes()
    path.write_text(before.decode().replace(mutant.text, mutant.fault))
    try:
        yield path
    finally:
        path.write_bytes(before)


def verdict(mutant: Mutant, folder: Path, cache: str, seconds: int) -> str:
    """Run the tests of a fault.

    Returns:
        The test that failed first, or ``survived``, or ``late`` after so many seconds.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}
    try:
        ran = subprocess.run(
            [*command, *shlex.split(mutant.tests)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "late"
    if ran.returncode == 0:
        return "survived"
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", ran.stdout, re.MULTILINE)
    return failed[1] if failed else f"exit status {ran.returncode}"


def main(arguments: list[str]) -> int:
    """Try the faults that are asked for; one line each, and a record as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", help="only faults of this folder, such as pyop2cxx/fem")
    parser.add_argument("--number", type=int, nargs="+", help="only these rows of the table")
    parser.add_argument("--tests", type=Path, nargs="+", default=[ROOT / "tests" / "python"])
    parser.add_argument("--build", help="a command that builds the extension into pyop2cxx")
    parser.add_argument("--seconds", type=int, default=300, help="for the tests of a fault")
    parser.add_argument("--json", type=Path, help="where the record is written")
    given = parser.parse_args(arguments)
    record = []
    with tempfile.TemporaryDirectory() as cache:
        for mutant in mutants():
            is_left_out = given.number and mutant.number not in given.number
            if is_left_out or given.room not in (None, mutant.room):
                continue
            if mutant.is_cpp and not given.build:
                continue
            start = time.monotonic()
            with seeded(mutant) as path:
                built = not mutant.is_cpp or not subprocess.call(given.build, shell=True)
                found = [
                    verdict(mutant, folder.resolve(), cache, given.seconds) if built else "no build"
                    for folder in given.tests
                ]
            record.append([mutant.number, str(path.relative_to(ROOT)), *found])
            print(*record[-1], f"{time.monotonic() - start:.0f} s", sep="  ", flush=True)
            if given.json:
                given.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
