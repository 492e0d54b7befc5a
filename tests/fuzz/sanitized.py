# SPDX-License-Identifier: BSD-3-Clause
"""Runs the corpus as host code that AddressSanitizer and UndefinedBehaviorSanitizer watch.

Every case by every strategy, with and without lanes, on `sequential` and `openmp`:
`python tests/fuzz/sanitized.py`, with `--jobs 4` and names of cases if wanted. Each case that is
reported is named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.jobs import Lost, Task, results

FLAGS = "-O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
BACKENDS = ("sequential", "openmp")
LANES = (0, 4)
N_IN_TASK = 10  # cases
OVERRUN = "overrun"  # no case: what must be found


def environment() -> dict[str, str]:
    """Return the environment of a process that may load sanitized code."""
    found = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    options = "detect_leaks=0:abort_on_error=0:exitcode=66"
    return {**os.environ, "LD_PRELOAD": " ".join(found), "ASAN_OPTIONS": options}


def run_cases(names: list[str]) -> None:
    """Run cases, in a process that has the sanitizers."""
    from corpus import CASES
    from race_check import run_case_by

    from pyop2cxx import _core, op2
    from pyop2cxx.exceptions import UnsupportedError

    warnings.simplefilter("ignore")
    if OVERRUN in names:
        overrun()
    for case in CASES:
        if case.name not in names or case.needs & {"cpp", "headers"}:
            continue
        print(f"== {case.name}", flush=True)
        for backend in BACKENDS:
            op2.init(backend=backend, cflags=FLAGS, threads=3)
            for strategy in _core.STRATEGIES:
                for lanes in LANES:
                    try:
                        run_case_by(case, {"strategy": strategy, "lanes": lanes})
                    except UnsupportedError:
                        continue


def overrun() -> None:
    """Read behind the end of a Dat, which is not known before the loop runs."""
    from pyop2cxx import op2

    print(f"== {OVERRUN}", flush=True)
    op2.init(cflags=FLAGS)
    cells = op2.Set(3)
    far, x = op2.Dat(cells, [0, 0, 1], dtype="int32"), op2.Dat(cells)
    kernel = op2.Kernel("void f(const int *i, double *x) { x[i[0]] = 1; }", "f")
    op2.par_loop(kernel, cells, far(op2.READ), x(op2.RW))


def watch(names: list[str]) -> dict[str, str]:
    """Run cases in children, a new one after each report; return the reports by case."""
    reports: dict[str, str] = {}
    left = list(names)
    while left:
        at, report = _first_report(left)
        if not at:
            break
        print(report, flush=True)
        reports[at] = report
        left = left[left.index(at) + 1 :]
    return reports


def _first_report(names: list[str]) -> tuple[str, str]:
    """Run cases until one is reported; return which, and what was said."""
    command = [sys.executable, __file__, "--child", *names]
    at = names[0]
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=said, text=True
        )
        assert child.stdout is not None
        for line in child.stdout:
            print(line, end="", flush=True)
            at = line.removeprefix("== ").strip() if line.startswith("== ") else at
        if child.wait() == 0:
            return "", ""
        said.seek(0)
        text = said.read()
    begin = max(text.find("ERROR: "), text.find("runtime error: ") - 99, 0)
    return at, text[begin : begin + 3000]


def watch_all(names: list[str], jobs: int) -> dict[str, str]:
    """Run cases in several processes; return the reports by case."""
    parts = [names[at : at + N_IN_TASK] for at in range(0, len(names), N_IN_TASK)]
    reports: dict[str, str] = {}
    for task, found in results((Task("cases", watch, (part,)) for part in parts), jobs):
        reports |= {task.args[0][0]: found.why} if isinstance(found, Lost) else found
    return reports


def main() -> int:
    parser = argparse.ArgumentParser(description="the corpus under ASan and UBSan")
    parser.add_argument("names", nargs="*", help="of cases; none means all")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        run_cases(given.names)
        return 0
    from corpus import CASES

    names = given.names or [case.name for case in CASES]
    start = time.monotonic()
    reports = watch_all(names, given.jobs)
    spent = time.monotonic() - start
    print(f"{len(names)} cases, {len(reports)} with findings: {', '.join(reports)}; {spent:.0f} s")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
