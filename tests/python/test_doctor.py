# SPDX-License-Identifier: BSD-3-Clause
"""The command `pyop2cxx doctor`: every part with its state and a remedy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.reports import doctor
from pyop2cxx.reports.cli import main
from pyop2cxx.reports.doctor import Finding

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def diagnosed(folder: Path, **environment: str) -> tuple[int, dict[str, Finding]]:
    """Run the command in a process with an environment of its own."""
    variables = {**os.environ, "PYOP2CXX_CACHE_DIR": str(folder / "cache"), **environment}
    command = [sys.executable, "-m", "pyop2cxx", "doctor", "--json"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    findings = [Finding(**one) for one in json.loads(done.stdout)]
    return done.returncode, {one.part: one for one in findings}


def test_a_sound_installation_has_no_errors(tmp_path: Path) -> None:
    status, found = diagnosed(tmp_path)
    assert status == 0
    assert found["C compiler"].state == "ok"
    assert " version " in found["C compiler"].found
    assert found["cache"].state == "ok"
    assert str(tmp_path / "cache") in found["cache"].found
    assert found["a loop"].state == "ok"
    assert {"OpenMP", "threads", "MPI", "temporary files"} <= found.keys()
    assert all(one.remedy for one in found.values() if one.state != "ok")


def test_no_compiler_prevents_all_work(tmp_path: Path) -> None:
    status, found = diagnosed(tmp_path, PATH="", PYOP2CXX_BACKEND="sequential")
    assert status == 1
    assert found["C compiler"].state == "error"
    assert "apt-get install gcc" in found["C compiler"].found
    assert found["a loop"].state == "error"
    assert "no C compiler" in found["a loop"].found


def test_an_old_compiler_is_named(tmp_path: Path) -> None:
    old = tmp_path / "old-cc"
    old.write_text(
        '#!/bin/sh\ncase "$*" in *-###*) cc "$@" 2>&1 | '
        "sed 's/version 1[0-9][.0-9]*/version 4.8.5/' >&2;; *) exec cc \"$@\";; esac\n"
    )
    old.chmod(0o755)
    status, found = diagnosed(tmp_path, PYOP2CXX_CC=str(old), PYOP2CXX_BACKEND="sequential")
    assert status == 0
    assert found["C compiler"].state == "warning"
    assert "older than GCC 11 and Clang 13" in found["C compiler"].found
    assert "version 4.8.5" in found["C compiler"].found


def test_a_cache_that_others_may_write_to_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    status, found = diagnosed(tmp_path)
    assert status == 0
    assert found["cache"].state == "warning"
    assert f"of user {os.geteuid()}" in found["cache"].found
    assert "chmod go-w" in found["cache"].found


def test_more_threads_than_cores_are_a_warning(tmp_path: Path) -> None:
    _, found = diagnosed(tmp_path, PYOP2CXX_THREADS="5000")
    assert found["threads"].state == "warning"
    assert "PYOP2CXX_THREADS=" in found["threads"].remedy


def test_processes_without_mpi4py_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "version", missing)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    [found] = doctor._mpi({})
    assert found.state == "warning"
    assert "OMPI_COMM_WORLD_SIZE=4" in found.found
    assert "pip install" in found.remedy


def test_the_text_has_remedies_below_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    text = doctor.as_text(
        [Finding("C compiler", "ok", "gcc"), Finding("cache", "warning", "open", "chmod go-w x")]
    )
    assert text.splitlines() == [
        "ok       C compiler  gcc",
        "warning  cache       open",
        "                     do: chmod go-w x",
        "0 errors, 1 warnings",
    ]
    assert main(["doctor"]) == 0
    assert "a loop" in capsys.readouterr().out
    op2.exit()
