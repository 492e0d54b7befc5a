#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a wheel in a new virtual environment: `python tools/wheel_check.py WHEEL`.

The environment has no build tools: PATH holds a C compiler alone, and for the last check also
CMake and a C++ compiler. Installed are the wheel and its requirements. Then run the example of the
README, the first demo, `info`, `doctor`, a table in a process without compiler, and a C++ project
on the run-time of the wheel. Each check is a line with its seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
MOST_INSTALL_SECONDS = 20.0
"""Bound of the processor time of an installation, without downloads: pip waits for nothing else."""
LOAD = """
from pyop2cxx import op2
table = op2.dispatch.load({lib!r})
op2.init(eti_only=True)
exec(open({program!r}).read())
"""


class CheckError(Exception):
    """A check that failed, with the output of its command."""


def processor_time() -> float:
    """Return the processor time of all programs that have run here, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Installed:
    """A virtual environment with the wheel, and nothing of this tree on its paths.

    Args:
        place: A new folder.
        wheel: The wheel.
        links: A folder of further wheels; pip asks the index for others.
        seconds: Bound of the installation.
    """

    def __init__(self, place: Path, wheel: Path, links: Path | None, seconds: float) -> None:
        self.place, self._wheel, self._links, self._seconds = place, wheel, links, seconds
        self.python = place / "venv" / "bin" / "python"
        self._tools = place / "tools"
        self._tools.mkdir()

    def allow(self, *names: str) -> None:
        """Put programs of this machine on the path of the checks."""
        for name in names:
            if found := shutil.which(name):
                (self._tools / name).symlink_to(found)
            else:
                raise CheckError(f"there is no {name} on this machine")

    def run(self, *command: str | Path, path: str | None = None, cwd: Path | None = None) -> str:
        """Run a command with a path and a cache of its own, and return the output."""
        environment = {
            "PATH": str(self._tools) if path is None else path,
            "HOME": str(self.place),
            "PYOP2CXX_CACHE_DIR": str(self.place / "cache"),
            "LC_ALL": "C.UTF-8",
        }
        done = subprocess.run(
            [str(one) for one in command],
            cwd=cwd or self.place,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            shown = f"{done.stdout}{done.stderr}".strip()
            raise CheckError(f"{' '.join(map(str, command))}: status {done.returncode}\n{shown}")
        return done.stdout

    def install(self) -> str:
        """Make the environment, fetch the requirements, and time the installation alone."""
        subprocess.run([sys.executable, "-m", "venv", self.python.parents[1]], check=True)
        pip = [self.python, "-m", "pip", "--disable-pip-version-check"]
        wheels = self.place / "wheels"
        links = [] if self._links is None else ["--find-links", self._links]
        self.run(*pip, "download", "-q", "-d", wheels, *links, self._wheel, path=os.environ["PATH"])
        start, used = time.perf_counter(), processor_time()
        self.run(*pip, "install", "-q", "--no-index", "--find-links", wheels, self._wheel)
        seconds, used = time.perf_counter() - start, processor_time() - used
        if used > self._seconds:
            raise CheckError(
                f"{used:.1f} s of a processor; at most {self._seconds:.0f} s are allowed"
            )
        return f"{used:.1f} s of a processor, {seconds:.1f} s on the wall, without downloads"


def readme(installed: Installed) -> str:
    """Run the example of the README, and compare the output."""
    text = (ROOT / "README.md").read_text("utf-8")
    match = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    if match is None:
        raise CheckError("README.md has no example with an output")
    (installed.place / "readme.py").write_text(match[1])
    found = installed.run(installed.python, "readme.py")
    if found != match[2]:
        raise CheckError(f"expected\n{match[2]}got\n{found}")
    return "the output is the README's"


def demo(installed: Installed) -> str:
    """Run the first demo of the manual, the aerofoil, for a few iterations."""
    program = installed.python.parent / "pyop2cxx"
    installed.run(program, "demo", "airfoil", "--iterations", "2")
    return "airfoil, 720 000 cells"


def info(installed: Installed) -> str:
    """Run `info` and `doctor`: the package lies in the environment, and nothing is wrong."""
    program = installed.python.parent / "pyop2cxx"
    report = json.loads(installed.run(program, "info", "--json"))
    path = report["versions"]["pyop2cxx"]["path"]
    if not Path(path).is_relative_to(installed.python.parents[1]):
        raise CheckError(f"the package is {path}, not the one of the wheel")
    findings = json.loads(installed.run(program, "doctor", "--json"))
    wrong = [one for one in findings if one["state"] == "error"]
    if wrong:
        raise CheckError(json.dumps(wrong, indent=2))
    return f"version {report['versions']['pyop2cxx']['version']}"


def table(installed: Installed) -> str:
    """Compile the README's loop ahead, and run it where no compiler is."""
    program, lib = installed.place / "readme.py", installed.place / "lib"
    command = installed.python.parent / "pyop2cxx"
    installed.run(command, "build", "--backend", "sequential,openmp", "-o", lib, program)
    script = installed.place / "load.py"
    script.write_text(LOAD.format(lib=str(lib), program=str(program)))
    expected = installed.run(installed.python, program)
    found = installed.run(installed.python, script, path="")
    if found != expected:
        raise CheckError(f"expected\n{expected}got\n{found}")
    return "runs without a compiler"


def project(installed: Installed) -> str:
    """Generate a project of the README's loop, and build and test it by CMake."""
    installed.allow("c++", "cmake", "make", "sh", "ar", "ranlib", "uname")
    command, out = installed.python.parent / "pyop2cxx", installed.place / "project"
    program = installed.place / "readme.py"
    installed.run(command, "generate", "--backend", "sequential", "-o", out, program)
    build = out / "out"
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-Dreadme_CHECK=ON"]
    installed.run("cmake", "-S", out, "-B", build, "-G", "Unix Makefiles", *options)
    installed.run("cmake", "--build", build, "-j", str(os.cpu_count()))
    [check] = build.rglob("readme_check")
    said = installed.run(check)
    if "as in Python" not in said:
        raise CheckError(said)
    return said.strip().splitlines()[-1]


def check(wheel: Path, links: Path | None, seconds: float) -> bool:
    """Run all checks, print a line for each, and return whether all have passed.

    Args:
        wheel: The wheel.
        links: A folder of further wheels.
        seconds: Bound of the installation.
    """
    with tempfile.TemporaryDirectory(prefix="wheel-check-") as folder:
        installed = Installed(Path(folder), wheel.resolve(), links, seconds)
        installed.allow("cc", "as", "ld", "gcc")
        checks: list[Callable[[Installed], str]] = [
            Installed.install,
            readme,
            demo,
            info,
            table,
            project,
        ]
        for one in checks:
            start = time.perf_counter()
            try:
                said = one(installed)
            except CheckError as error:
                print(f"FAILED {one.__name__}: {error}", file=sys.stderr)
                return False
            print(f"{one.__name__:<8} {time.perf_counter() - start:6.1f} s  {said}", flush=True)
    return True


def main() -> int:
    """Check a wheel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--find-links", type=Path, help="a folder of further wheels")
    parser.add_argument(
        "--seconds",
        type=float,
        default=MOST_INSTALL_SECONDS,
        help="bound of the installation's processor time",
    )
    given = parser.parse_args()
    return 0 if check(given.wheel, given.find_links, given.seconds) else 1


if __name__ == "__main__":
    raise SystemExit(main())
