# SPDX-License-Identifier: BSD-3-Clause
"""The run-time of programs in C++, compiled once for all projects and kept in the cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from pyop2cxx import _core
from pyop2cxx.ahead.cpp_files import write_runtime
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import CompilationError, ToolchainError
from pyop2cxx.runtime import runtime

FOLDER = "cpp"
"""Folder of run-times in the cache directory, each in a folder named by a digest."""
_CONFIG = "lib/cmake/pyop2cxx"


def cmake_dir() -> str:
    """Return the folder of a compiled run-time, for ``cmake -Dpyop2cxx_DIR=...``.

    The run-time is compiled first if there is none of these sources and of this compiler: CXX of
    the environment, else c++. Processes that ask at the same time wait for the first.

    Raises:
        CompilationError: CMake or the compiler fails; the message has the output.
        ToolchainError: CMake or the compiler is missing, or there is no cache directory.
    """
    cache = _core.jit.cache_directory(str(runtime.configuration["cache_dir"]))
    if not cache:
        raise ToolchainError(
            "the run-time has no place: there is no cache directory; set PYOP2CXX_CACHE_DIR"
        )
    compiler = os.environ.get("CXX", "").strip() or "c++"
    for program in ("cmake", compiler.split()[0]):
        if shutil.which(program) is None:
            raise ToolchainError(
                f"the run-time of programs in C++ needs '{program}', which was not found on the "
                "PATH; on Debian or Ubuntu: 'apt-get install cmake g++'"
            )
    folder = Path(cache, FOLDER)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        sources = Path(scratch, "runtime")
        sources.mkdir()
        write_runtime(sources)
        version = _done([*compiler.split(), "--version"])
        installed = folder / _core.digest("\0".join([compiler, version, *_texts(sources)]))
        with (folder / f"{installed.name}.lock").open("w") as lock, waiting("compiling") as say:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not installed.is_dir():
                say("compiling the run-time of programs in C++")
                made, prefix = str(Path(scratch, "out")), str(Path(scratch, "installed"))
                where = ["-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Release"]
                _done(["cmake", "-S", str(sources), "-B", made, *where])
                _done(["cmake", "--build", made, "-j", str(os.cpu_count() or 1)])
                _done(["cmake", "--install", made, "--prefix", prefix])
                Path(prefix).rename(installed)
    return str(installed / _CONFIG)


def _texts(folder: Path) -> list[str]:
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    return [text for one in files for text in (str(one.relative_to(folder)), one.read_text())]


def _done(command: list[str]) -> str:
    """Run a command to its end, and return its output."""
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        error = CompilationError(
            f"'{' '.join(command)}' failed: {(found.stdout + found.stderr)[-4000:]}"
        )
        error.command, error.stderr = " ".join(command), found.stderr
        raise error
    return found.stdout
