# SPDX-License-Identifier: BSD-3-Clause
"""The report of the dispatcher equals what others counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_world import World, scale

from pyop2cxx import op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    op2.dispatch.clear()
    yield
    op2.exit()
    op2.dispatch.clear()


def counts(loop: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in op2.dispatch.report():
        if row.loop == loop:
            found[row.provider] = found.get(row.provider, 0) + row.count
    return found


def test_misses_equal_the_compilers_runs(tmp_path: Path) -> None:
    runs, cc = tmp_path / "runs", tmp_path / "counting-cc"
    cc.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) echo run >> {runs};; esac\nexec cc "$@"\n')
    cc.chmod(0o700)
    op2.init(backend="sequential", cc=str(cc), cache_dir=tmp_path / "cache")
    w = World()
    x = op2.Dat(w.nodes)
    for factor in (2.0, 3.0, 2.0):
        kernel = scale(factor, "counted")
        for _ in range(3):
            op2.par_loop(kernel, w.nodes, x(op2.RW))
        op2.ParLoop(kernel, w.nodes, x(op2.RW)).compute()
    with op2.backend("openmp"):
        op2.par_loop(scale(2.0, "counted"), w.nodes, x(op2.RW))
    found = counts("counted")
    assert {row.strategy for row in op2.dispatch.report() if row.loop == "counted"} == {"direct"}
    assert found[""] == len(runs.read_text().splitlines()) == 3
    assert found["jit"] == 4  # a ParLoop for each factor, and the first factor's second par_loop


@pytest.mark.usefixtures("host")
def test_rows_tell_what_was_compiled_from_what_was_loaded(tmp_path: Path) -> None:
    op2.init(cache_dir=tmp_path / "cache")
    w = World()
    for origin in ("compiled", "disk"):
        op2.dispatch.clear()
        runtime.engine.jit_table.clear()
        op2.init(cache_dir=tmp_path / "other")  # another service, without what this one remembers
        _ = runtime.engine.service
        op2.init(cache_dir=tmp_path / "cache")
        w.loop(strategy="owner").compute()
        (row,) = [row for row in op2.dispatch.report() if row.loop == "flux"]
        assert (row.provider, row.origin, row.count) == ("", origin, 1)
        assert 0 < row.generate_seconds < row.seconds < 100
        assert (row.compile_seconds > 0, row.load_seconds > 0) == (
            origin == "compiled",
            origin == "disk",
        )
        assert f" {origin} " in str(op2.dispatch.report())


def test_rows_say_who_was_asked_and_what_ran() -> None:
    w = World()
    op2.init(backend="openmp")
    w.loop(strategy="owner").compute()
    w.loop(strategy="owner").compute()
    w.loop(strategy="colour").compute()
    w.loop(strategy="colour").compute()
    rows = [row for row in op2.dispatch.report() if row.loop == "flux"]
    assert {(row.provider, row.strategy) for row in rows} >= {("jit", "owner"), ("jit", "colour")}
    assert all(row.strategy for row in rows)
    for row in rows:
        assert row.rejected == ("" if row.provider else "jit: not compiled yet")


def test_the_report_prints_as_a_table() -> None:
    w = World()
    op2.init(backend="openmp")
    w.loop(strategy="owner").compute()
    w.loop(strategy="owner").compute()
    lines = str(op2.dispatch.report()).splitlines()
    times = ["generate", "ms", "compile", "ms", "load", "ms", "run", "ms"]
    assert lines[0].split() == [
        *("loop", "tier", "provider", "strategy", "hits"),
        *times,
        *("rejected", "because"),
    ]
    assert ["flux", "jit", "jit", "owner"] in [line.split()[:4] for line in lines]
    op2.dispatch.clear()
    assert op2.dispatch.report() == ()
    assert str(op2.dispatch.report()).split() == lines[0].split()
