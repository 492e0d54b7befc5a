# SPDX-License-Identifier: BSD-3-Clause
"""Homes, caches and tools that are missing or full: the true cause is said, and work goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyop2cxx import op2

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, resource, sys
from pyop2cxx import op2
from pyop2cxx.exceptions import CompilationError, ToolchainError

op2.init(backend=sys.argv[1])
x = op2.Dat(op2.Set(3))
one = op2.Kernel("void one(double *x) { x[0] += 1.25; }", "one")

def run():
    op2.par_loop(one, x.dataset.set, x(op2.RW))

def limited(what, soft):
    before = resource.getrlimit(what)
    resource.setrlimit(what, (soft, before[1]))
    try:
        run()
    except ToolchainError as error:
        print(type(error).__name__, error)
    finally:
        resource.setrlimit(what, before)
    run()  # works afterwards

exec(sys.argv[2])
print(x.data_ro.tolist())
"""


def launch(backend: str, code: str, **environment: str | None) -> str:
    """Run the program in another process, whose caches are all its own; return what it says."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CCACHE_DISABLE": "1"}
    for name in ("XDG_CACHE_HOME", "POCL_CACHE_DIR", "PYOP2CXX_CACHE_DIR", "PYOP2CXX_BACKEND"):
        variables.pop(name, None)
    for name, value in environment.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, backend, code],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def needs_opencl() -> None:
    (found,) = [one for one in op2.backends() if one.name == "opencl"]
    if not found.available:
        pytest.skip(found.reason)


HOMES = ["/dev/null/home", "{folder}/file/home", "{folder}/none/home", "/proc/self/fdinfo/home"]


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_a_home_that_cannot_be_used_is_told_and_not_made(
    backend: str, home: str, tmp_path: Path
) -> None:
    if backend == "opencl":
        needs_opencl()
    (tmp_path / "file").write_text("")
    home = home.format(folder=tmp_path)
    (tmp_path / "tmp").mkdir()
    said = launch(backend, "run()", HOME=home, TMPDIR=str(tmp_path / "tmp"))
    assert "[1.25, 1.25, 1.25]" in said
    assert f"cannot use the cache directory {home}/.cache/pyop2cxx" in said
    assert "set PYOP2CXX_CACHE_DIR" in said
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("variables", [{"XDG_CACHE_HOME": "/dev/null/x"}, {"HOME": None}])
def test_opencl_runs_without_a_cache_of_its_driver(
    variables: dict[str, str | None], tmp_path: Path
) -> None:
    needs_opencl()
    said = launch("opencl", "run()", TMPDIR=str(tmp_path), **variables)
    assert "[1.25, 1.25, 1.25]" in said


def test_a_cache_of_pocl_that_the_user_names_wrongly_is_the_cause(tmp_path: Path) -> None:
    needs_opencl()
    code = "try: run()\nexcept ToolchainError as error: print(error)"
    said = launch("opencl", code, POCL_CACHE_DIR="/dev/null/x", HOME=str(tmp_path))
    if "[1.25, 1.25, 1.25]" in said:
        pytest.skip("this driver needs no cache")
    assert "cannot write its cache, /dev/null/x: set POCL_CACHE_DIR" in said


LIMITS = {
    "files": (
        # the hard limit, too: a compiler would raise the other one
        "n = len(os.listdir('/proc/self/fd')) + 3\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))\n"
        "try: run()\n"
        "except ToolchainError as error: print(type(error).__name__, error)",
        ("Too many open files",),
    ),
    "size": (
        "limited(resource.RLIMIT_FSIZE, 4000)",
        ("File size limit exceeded", "File too large"),
    ),
    "memory": (
        "limited(resource.RLIMIT_AS, 400_000)",
        ("Cannot allocate memory", "Resource temporarily unavailable"),
    ),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_no_verdict_on_the_kernel(limit: str, tmp_path: Path) -> None:
    code, causes = LIMITS[limit]
    said = launch("sequential", code, HOME=str(tmp_path))
    assert "CompilationError" not in said
    assert "rejects the kernel" not in said
    assert said.startswith("ToolchainError"), said
    assert any(cause in said for cause in causes), said
    if limit == "files":
        said = launch("sequential", "run()", HOME=str(tmp_path))
    assert "[1.25, 1.25, 1.25]" in said


@pytest.mark.parametrize("missing", ["as", "ld"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_missing_tool_is_named(compiler: str, missing: str, tmp_path: Path) -> None:
    place = shutil.which(compiler)
    if place is None or (compiler, missing) == ("clang", "as"):
        pytest.skip(f"{compiler} is not installed, or needs no {missing}")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / compiler).symlink_to(place)
    for other in {"as", "ld"} - {missing}:
        (tools / other).symlink_to(str(shutil.which(other)))
    code = (
        "path = os.environ['PATH']\n"
        "os.environ['PATH'] = os.environ['TOOLS']\n"
        "try: run()\n"
        "except ToolchainError as error: print(type(error).__name__, error)\n"
        "os.environ['PATH'] = path\n"
        "run()"
    )
    said = launch(
        "sequential", code, HOME=str(tmp_path), TOOLS=str(tools), PYOP2CXX_CC=str(tools / compiler)
    )
    assert said.startswith("ToolchainError"), said
    assert f"'{missing}'" in said or f'"{missing}"' in said
    assert "[1.25, 1.25, 1.25]" in said


def test_opencl_says_that_its_linker_is_missing(tmp_path: Path) -> None:
    needs_opencl()
    code = (
        "os.environ['PATH'] = '/dev/null'\n"
        "try: run()\n"
        "except ToolchainError as error: print(type(error).__name__, error)"
    )
    said = launch("opencl", code, HOME=str(tmp_path))
    if "[1.25, 1.25, 1.25]" in said:
        pytest.skip("this driver needs no linker")
    assert said.startswith("ToolchainError"), said
    assert "links each kernel by 'ld'" in said


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20k,mode=700", "tmpfs", str(cache)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        said = launch("sequential", "run()", PYOP2CXX_CACHE_DIR=str(cache), HOME=str(tmp_path))
    finally:
        subprocess.run(["umount", str(cache)], check=True)
    assert "takes no new entries" in said
    assert "No space left on device" in said
    assert "[1.25, 1.25, 1.25]" in said


def test_a_missing_folder_for_temporary_files_is_no_matter(tmp_path: Path) -> None:
    said = launch("sequential", "run()", TMPDIR="/dev/null/tmp", HOME="/dev/null/home")
    assert "[1.25, 1.25, 1.25]" in said
