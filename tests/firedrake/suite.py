# SPDX-License-Identifier: BSD-3-Clause
"""Firedrake's own tests over pyop2cxx and over its own PyOP2, test by test.

``python suite.py TESTS [FOLDER...]``: TESTS is the folder ``tests/firedrake`` of Firedrake's
sources. The files of ``suite.txt`` run by folder, each folder in a process for either PyOP2; the
tests that pass over Firedrake's PyOP2 only are listed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

LIST = Path(__file__).with_name("suite.txt")
PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"
_START = """
import sys
if sys.argv.pop(1) == "ours":
    import pyop2cxx.pyop2
    pyop2cxx.pyop2.install(replace=True)
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def by_folder(names: list[str]) -> dict[str, list[str]]:
    """Return the listed files by their first folder; all folders, or those of names."""
    found: dict[str, list[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        folder = line.partition("/")[0]
        if not names or folder in names:
            found.setdefault(folder, []).append(line)
    return found


def results(tests: Path, files: list[str], whose: str) -> dict[str, tuple[str, float]]:
    """Run files in a process; return outcome and seconds of each test.

    Raises:
        RuntimeError: The process ended before all tests had run.
    """
    there = [str(tests / file) for file in files if (tests / file).exists()]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-m", "not parallel", "-p", "no:cacheprovider", f"--junitxml={report}"]
        options.append("--continue-on-collection-errors")
        command = [sys.executable, "-c", _START, whose, *options, *there]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tests)
        if not report.exists():
            raise RuntimeError(f"{whose}: exit status {done.returncode}: {done.stdout[-500:]}")
        cases = ET.parse(report).iter("testcase")
        return {
            f"{case.get('classname')}::{case.get('name')}": (
                _outcome(case),
                float(case.get("time", 0)),
            )
            for case in cases
        }


def _outcome(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return FAILED
    return SKIPPED if case.find("skipped") is not None else PASSED


def main(arguments: list[str]) -> int:
    """Compare both; return how many tests pass over Firedrake's PyOP2 only."""
    if not arguments or not Path(arguments[0]).is_dir():
        print("pass the folder tests/firedrake of Firedrake's sources")
        return 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    n_passed = n_lost = 0
    for folder, files in by_folder(arguments[1:]).items():
        own, ours = (results(Path(arguments[0]), files, whose) for whose in ("own", "ours"))
        passed = [name for name, (outcome, _) in own.items() if outcome == PASSED]
        lost = [name for name in passed if ours.get(name, ("", 0))[0] != PASSED]
        n_passed, n_lost = n_passed + len(passed), n_lost + len(lost)
        seconds = [sum(found.get(name, ("", 0))[1] for name in passed) for found in (ours, own)]
        print(
            f"{folder}: {len(passed) - len(lost)} of {len(passed)} pass; {seconds[0]:.0f} s, "
            f"PyOP2 {seconds[1]:.0f} s",
            flush=True,
        )
        for name in lost:
            print(f"  lost: {name}", flush=True)
    print(f"{n_passed - n_lost} of {n_passed} tests that pass over PyOP2 pass over pyop2cxx")
    return n_lost


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
