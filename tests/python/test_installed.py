# SPDX-License-Identifier: BSD-3-Clause
"""The run-time of programs in C++ that is compiled once, for all projects."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import needs_program
from test_cpp_files import done

from pyop2cxx import op2
from pyop2cxx.ahead import installed
from pyop2cxx.exceptions import CompilationError, ToolchainError
from pyop2cxx.reports.cli import main

pytestmark = pytest.mark.usefixtures("exits")

PROGRAM = """
from pyop2cxx import op2
cells = op2.Set(10, "cells")
x = op2.Dat(cells, [1.0] * 10, name="x")
op2.par_loop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
"""


@pytest.mark.slow
@needs_program("cmake")
def test_projects_link_what_was_compiled_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quick_compiler: str,
) -> None:
    monkeypatch.setenv("CXX", quick_compiler)
    cache = tmp_path / "cache"
    op2.configuration["cache_dir"] = str(cache)
    assert main(["cmake-dir"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert (folder / "pyop2cxxConfig.cmake").is_file()
    (library,) = folder.parents[2].rglob("libop2_runtime.a")
    made = library.stat().st_mtime_ns
    assert installed.cmake_dir() == str(folder)
    assert library.stat().st_mtime_ns == made
    assert sorted(one.suffix for one in (cache / installed.FOLDER).iterdir()) == ["", ".lock"]
    (tmp_path / "program.py").write_text(PROGRAM)
    where = ["-o", str(tmp_path / "loops"), str(tmp_path / "program.py")]
    assert main(["generate", "--backend", "sequential", *where]) == 0
    op2.exit()
    found = f"-Dpyop2cxx_DIR={folder}"
    said = done("cmake", "-S", tmp_path / "loops", "-B", tmp_path / "out", found)
    assert f"the run-time is that of {folder}" in said
    done("cmake", "--build", tmp_path / "out", "--target", "program_check")
    op2.configuration["cache_dir"] = str(cache)
    assert main(["cache", "clear"]) == 0
    assert not (cache / installed.FOLDER).exists()
    assert "twice on sequential: as in Python" in done(tmp_path / "out" / "program_check")


@needs_program("cmake")
def test_a_compiler_that_fails_is_told_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = tmp_path / "cxx"
    failing.write_text('#!/bin/sh\nexec c++ "$@" --no-such-option\n')
    failing.chmod(0o755)
    monkeypatch.setenv("CXX", str(failing))
    cache = tmp_path / "cache"
    op2.configuration["cache_dir"] = str(cache)
    with pytest.raises(CompilationError, match="no-such-option"):
        installed.cmake_dir()
    assert {one.suffix for one in (cache / installed.FOLDER).iterdir()} <= {".lock"}


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(
        ToolchainError, match=r"(?s)'(cmake|no-such-compiler)'.*apt-get install cmake"
    ):
        installed.cmake_dir()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="needs 'cmake'"):
        installed.cmake_dir()
