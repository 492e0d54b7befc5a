# SPDX-License-Identifier: BSD-3-Clause
"""The compiler of the wheel `ziglang`, and machines without any compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyop2cxx.runtime import zig

LOOP = """
import numpy as np
from pyop2cxx import op2
cells = op2.Set(5, "cells")
y = op2.Dat(cells, np.arange(5.0), name="y")
op2.par_loop(op2.Kernel("void k(double *y) { y[0] = 2 * y[0] + 1; }", "k"), cells, y(op2.RW))
print(y.data_ro.tolist())
"""


@pytest.fixture(autouse=True)
def forgotten() -> None:
    zig._program.cache_clear()


def ran(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the loop in a process with an empty cache and an environment of its own."""
    variables = {**os.environ, "PYOP2CXX_CACHE_DIR": str(folder / "cache"), **environment}
    command = [sys.executable, "-c", LOOP]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def test_without_a_compiler_the_error_says_what_to_install(tmp_path: Path) -> None:
    done = ran(tmp_path, PATH=str(tmp_path), PYOP2CXX_BACKEND="sequential")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "no C compiler: looked for 'cc', " in last
    assert "apt-get install gcc" in last
    assert "pip install ziglang, and PYOP2CXX_CC=zig" in last


def test_only_zig_itself_is_looked_for() -> None:
    assert zig.zig_command("gcc -m64", "cc") == "gcc -m64"
    assert zig.zig_command("", "cc") == ""


def test_zig_comes_from_the_path_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "zig"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert zig.zig_command("zig", "c++") == f"{program} c++"


def test_zig_comes_from_the_wheel_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.setenv("PATH", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert zig.zig_command("zig", "cc") == "zig"  # the service reports it
    (package / "zig").write_text("#!/bin/sh\n")
    (package / "zig").chmod(0o755)
    zig._program.cache_clear()
    assert zig.zig_command("zig", "cc") == f"{package / 'zig'} cc"


def test_a_loop_is_compiled_by_zig(tmp_path: Path) -> None:
    if zig.zig_command("zig", "cc") == "zig":
        pytest.skip("there is no zig: pip install ziglang")
    path = str(Path(zig.zig_command("zig", "cc").split()[0]).parent)
    done = ran(tmp_path, PATH=path, PYOP2CXX_CC="zig")
    assert done.stdout == "[1.0, 3.0, 5.0, 7.0, 9.0]\n", done.stderr
