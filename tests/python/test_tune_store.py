# SPDX-License-Identifier: BSD-3-Clause
"""``pyop2cxx tune show|export|import|forget|probe``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports import tune_store
from pyop2cxx.reports.cli import main
from pyop2cxx.runtime.tuned_file import Entry, Place, change, read

if TYPE_CHECKING:
    from pathlib import Path

HERE, THERE = Place("sequential", "A", "", "gcc 12", 1), Place("cuda", "B", "13.0", "", 132)


def entry(name: str, us: float = 1.0) -> Entry:
    way = {"strategy": "direct", "lanes": 4, "tuning": {"block_elements": 7}}
    return Entry(kind="loop", key=name, size=9, name=name, way=way, us=us, rule_us=2.0)


@pytest.fixture
def folder(tmp_path: Path, exits: None) -> Path:
    """The folder of the store, with files of two devices."""
    (tmp_path / "cache").mkdir(mode=0o700)
    op2.init(cache_dir=str(tmp_path / "cache"), tune="use", backend="sequential")
    found = tmp_path / "cache" / "tuned"
    assert not change(found, HERE, lambda _: [entry("flux"), entry("step")])
    assert not change(found, THERE, lambda _: [entry("flux", 0.5)])
    return found


def test_all_is_shown(folder: Path) -> None:
    (folder / "broken.json").write_text("{")
    shown = tune_store.show()
    assert "sequential, A, gcc 12, 1 threads or units\n" in shown
    assert "flux     loop  2^9   2.0      0.5      4.00  direct, 4 lanes, block_elements 7" in shown
    assert "broken.json' are not used: it is cut short" in shown


def test_what_is_exported_is_imported(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    assert tune_store.export(str(file)) == "2 devices, 3 measurements"
    assert tune_store.forget() == "3 measurements deleted"
    assert tune_store.show() == f"no measurements in '{folder}'"
    with pytest.raises(UsageError, match="tune export: no measurements"):
        tune_store.export(str(file))
    assert not change(folder, HERE, lambda _: [entry("add"), entry("flux", 0.1)])
    assert tune_store.import_(str(file)) == "2 devices, 3 measurements"
    found = {one.name: one.us for one in read(folder / HERE.file_name).entries}
    assert found == {"add": 1.0, "flux": 1.0, "step": 1.0}
    assert len(read(folder / THERE.file_name).entries) == 1
    assert tune_store.import_(str(folder / HERE.file_name)) == "1 devices, 3 measurements"


def test_a_damaged_export_adds_nothing(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    tune_store.export(str(file))
    tune_store.forget()
    good = json.loads(file.read_text())
    good[1]["entries"][0]["us"] = 1e-9
    file.write_text(json.dumps(good))
    with pytest.raises(UsageError, match="its checksum is wrong; export the file again"):
        tune_store.import_(str(file))
    file.write_text("[")
    with pytest.raises(UsageError, match="tune import: cannot read"):
        tune_store.import_(str(file))
    assert tune_store.show() == f"no measurements in '{folder}'"


def test_loops_are_forgotten_by_name(folder: Path) -> None:
    assert tune_store.forget("flux") == "2 measurements deleted"
    assert [one.name for one in read(folder / HERE.file_name).entries] == ["step"]
    assert not (folder / THERE.file_name).exists()
    with pytest.raises(UsageError, match="no measurement of 'flux'; there are: step"):
        tune_store.forget("flux")


def test_the_device_is_probed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune_store, "_N_PROBED", 1000)
    assert main(["tune", "--backend", "openmp", "probe"]) == 0
    shown = capsys.readouterr().out
    for what in ("copy", "launch", "atomic sums, float64", "sum into a Global"):
        assert what in shown
    assert "million a second" in shown


def test_arguments_of_actions_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "export"]) == 1
    assert "tune export: got 0 arguments" in capsys.readouterr().err
    assert main(["tune", "show"]) == 0
    assert "flux" in capsys.readouterr().out
