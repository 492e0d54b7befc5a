# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pyop2.profiling import (
    Timer,
    get_timers,
    profile,
    regions,
    reset,
    summary,
    tic,
    timed_function,
    timed_region,
    timed_stage,
    toc,
)

if TYPE_CHECKING:
    from pathlib import Path


@timed_function("twice")
def twice(x: int, *, more: int = 0) -> int:
    return 2 * x + more


def test_regions_add_up() -> None:
    op2.exit()
    with timed_stage("outer"):
        assert twice(2, more=1) == 5
        assert twice(1) == 2
    with pytest.raises(ValueError, match="x"), timed_region("outer"):
        raise ValueError("x")
    found = regions()
    assert {name: region["calls"] for name, region in found.items()} == {"outer": 2, "twice": 2}
    assert 0 <= found["twice"]["seconds"] <= found["outer"]["seconds"]
    op2.exit()
    assert regions() == {}


def test_timers_of_2013(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    op2.exit()
    tic("solve")
    toc("solve")
    watch = Timer("solve")
    assert (watch.ncalls, watch.elapsed) == (1, 0)
    watch.start()
    with pytest.raises(UsageError, match="'solve' is running"):
        tic("solve")
    watch.stop()
    assert watch.ncalls == 2
    assert 0 < watch.elapsed <= watch.total
    assert watch.average == watch.total / 2
    with pytest.raises(UsageError, match="'solve' is not running"):
        toc("solve")

    @profile
    def thrice(x: int) -> int:
        return 3 * x

    assert thrice(2) == 6
    name = thrice.__qualname__
    assert list(get_timers()) == ["solve", name]
    assert repr(get_timers()["solve"]) == "Timer('solve')"
    summary()
    shown = capsys.readouterr().out.splitlines()
    assert [line.split("|")[0].strip() for line in shown] == ["Timer", "solve", name]
    assert [line.split("|")[2].strip() for line in shown] == ["Calls", "2", "1"]
    summary(tmp_path / "times.csv")
    rows = (tmp_path / "times.csv").read_text().splitlines()
    assert rows[0] == "Timer,Total time,Calls,Average time"
    assert rows[2].startswith(f"{name},")
    assert set(get_timers(reset=True)) == {"solve", name}
    assert get_timers() == {}
    tic("left")
    reset()
    tic("left")
    op2.exit()
    tic("left")
    op2.exit()
