# SPDX-License-Identifier: BSD-3-Clause
"""The report about this machine, and what it says when something is missing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import __version__, _core, op2
from pyop2cxx.base import extras
from pyop2cxx.reports import machine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path) -> Iterator[None]:
    op2.init(cache_dir=str(tmp_path / "cache"))
    yield
    op2.exit()


def test_the_report_has_every_section_and_is_plain_data() -> None:
    report = machine.collect()
    sections = [
        "versions",
        "backends",
        "devices",
        "compilers",
        "threads",
        "cache",
        "tuning",
        "extras",
    ]
    assert list(report) == sections
    assert json.loads(json.dumps(report)) == report
    assert report["versions"]["pyop2cxx"]["version"] == __version__
    assert set(report["extras"]) == set(extras.EXTRAS)
    assert report["threads"]["available"]["count"] == _core.available_threads()


def test_every_backend_is_listed_with_a_reason_where_it_is_unavailable() -> None:
    found = machine.collect()["backends"]
    assert {"sequential", "openmp"} <= set(found)
    for entry in found.values():
        assert bool(entry["available"]) is not bool(entry["problem"])


def test_compilers_and_openmp_are_found_here() -> None:
    compilers = machine.collect()["compilers"]
    assert compilers["C"]["problem"] == ""
    assert str(compilers["C"]["target"]).startswith("-march=")
    assert re.fullmatch(r"\d\.\d|\d{6}", str(compilers["OpenMP"]["version"]))


def test_threads_of_a_loop_follow_the_option() -> None:
    op2.init(threads=3)
    assert machine.collect()["threads"]["of a loop"]["count"] == 3


def test_a_missing_compiler_is_a_problem_and_not_an_error() -> None:
    op2.init(cc="no-such-compiler")
    report = machine.collect()
    for entry in (report["compilers"]["C"], report["compilers"]["OpenMP"]):
        assert "no-such-compiler" in str(entry["problem"])
    assert not report["backends"]["sequential"]["available"]
    assert "no-such-compiler" in machine.as_text(report)


def test_a_cache_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    op2.init(cache_dir=str(tmp_path / "file"))
    assert machine.collect()["cache"]["on disk"]["problem"]


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "EXTRAS", {"no-such-package": "io"})
    assert "pip install 'pyop2cxx[io]'" in machine.as_text(machine.collect())


def test_text_is_aligned_and_names_every_entry() -> None:
    report: machine.Report = {
        "backends": {
            "fast": {"available": True, "summary": "all cores", "problem": ""},
            "absent": {"available": False, "summary": "a device", "problem": "none found"},
        },
        "cache": {"on disk": {"path": "/c", "entries": 2, "bytes": 3 << 20, "problem": ""}},
        "compilers": {"C": {"problem": "not found\ninstall gcc"}},
    }
    assert machine.as_text(report).splitlines() == [
        "backends",
        "  fast     available, all cores",
        "  absent   a device, unavailable: none found",
        "cache",
        "  on disk  /c, 2 loops, 3.0 MiB",
        "compilers",
        "  C        not found",
        "           install gcc",
    ]
