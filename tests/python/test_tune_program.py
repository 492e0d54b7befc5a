# SPDX-License-Identifier: BSD-3-Clause
"""``pyop2cxx tune PROGRAM``: loops in all their ways, wrong and crashing ways by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_tune import WRONG

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.cli import main
from pyop2cxx.reports.tune_program import tune_program
from pyop2cxx.runtime.tuned_file import read

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")

PROGRAM = """
import sys
sys.path.insert(0, TESTS)
from test_tune import flux_loop
from pyop2cxx import op2
if len(sys.argv) > 1:
    op2.init(templates=sys.argv[1])
loop, flow = flux_loop(2000)
loop.compute()
print("the program's output")
assert abs(flow.data_ro).sum() > 0
if "fails" in sys.argv:
    sys.exit(3)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A program whose processes have an empty cache directory."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("PYOP2CXX_CACHE_DIR", str(cache))
    op2.exit()
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("TESTS", repr(str(request.path.parent))))
    return str(path)


def frames(folder: Path, instead: str) -> str:
    """Frames of the user's that break the strategy 'atomic', and no other."""
    frame = folder / "mine" / "host" / "translation_unit.j2"
    frame.parent.mkdir(parents=True)
    frame.write_text(WRONG.replace("(double)(seen + 1.5 * value)", instead))
    return str(folder / "mine")


def test_a_crashing_way_is_noted_and_the_rest_is_measured(program: str, tmp_path: Path) -> None:
    told: list[str] = []
    given = [frames(tmp_path, "*(double *)8")]
    found = tune_program(program, given, "openmp", tell=told.append)
    (entry,) = found.entries
    assert {way.partition(",")[0] for way in entry.refused} == {"atomic"}
    assert "the process ended with signal SIGSEGV" in "".join(entry.refused.values())
    assert "SIGSEGV" in told[0]
    assert entry.n > 3
    assert entry.us <= entry.rule_us
    shown = str(found)
    assert "not atomic, 0 lanes: the process ended with signal SIGSEGV" in shown
    (file,) = (tmp_path / "cache" / "tuned").glob("openmp-*.json")
    assert read(file).entries == (entry,)
    again = tune_program(program, given, "openmp", tell=told.append)
    assert again.entries == (entry,)  # known, so neither measured nor tried again


def test_the_command(program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--backend", "sequential", program]) == 0
    shown, progress = capfd.readouterr()
    assert "flux     loop  2^11" in shown
    assert "the program's output" not in shown
    assert "'flux' on sequential, 1999 elements: " in progress
    assert main(["tune", "--backend", "sequential", program, "", "fails"]) == 0
    assert "the program ended with status 3" in capfd.readouterr().out


def test_bad_input(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    for minutes in (0.0, -1.0, float("nan")):
        with pytest.raises(UsageError, match="expected a number above 0"):
            tune_program(program, [], minutes=minutes)
    with pytest.raises(UsageError, match=r"there is no file 'none\.py'"):
        tune_program("none.py", [])
    with pytest.raises(UsageError, match="there is no backend 'metal'"):
        tune_program(program, [], "metal")


def test_a_program_without_loops(program: str, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("import os")
    found = tune_program(str(tmp_path / "empty.py"), [], "sequential", tell=lambda _: None)
    assert (found.entries, found.left_out, found.notes) == ((), (), ())
    (tmp_path / "ends.py").write_text("import os; os._exit(0)")
    found = tune_program(str(tmp_path / "ends.py"), [], "sequential", tell=lambda _: None)
    assert found.notes == ("the program ended the process itself: nothing is known of its loops",)
