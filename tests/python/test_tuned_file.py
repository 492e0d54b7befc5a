# SPDX-License-Identifier: BSD-3-Clause
"""The file of measured choices: whole whatever happens, and a line for each kind of damage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx.runtime.tuned_file import SCHEMA, Entry, Place, change, merged, read, written

if TYPE_CHECKING:
    from collections.abc import Callable

PLACE = Place("sequential", "A processor (R) @ 3 GHz", "", "gcc 12", 1)
WAY = {"strategy": "direct", "lanes": 4, "tuning": {}}


def entry(key: str, size: int = 7, **rest: Any) -> Entry:
    given = {"kind": "loop", "name": key, "way": WAY, "us": 1.0, "rule_us": 2.0, **rest}
    return Entry(key=key, size=size, **given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of two entries."""
    found = tmp_path / "tuned"
    assert not change(found, PLACE, lambda old: [*old, entry("a"), entry("b")])
    return found


def names(folder: Path) -> list[str]:
    return [one.key for one in read(folder / PLACE.file_name).entries]


def test_what_is_written_is_read(folder: Path) -> None:
    path = folder / PLACE.file_name
    assert path.name.startswith("sequential-A-processor-R-3-GHz-")
    place, entries, problem = read(path)
    assert (place, problem) == (PLACE, "")
    assert entries == (entry("a"), entry("b"))
    assert entries[0].gain == 2.0
    assert folder.stat().st_mode & 0o777 == 0o700
    assert json.loads(path.read_text())["entries"][1]["name"] == "b"


def test_a_new_entry_replaces_its_predecessor(folder: Path) -> None:
    new = [entry("a", us=0.5), entry("a", size=8)]
    assert not change(folder, PLACE, lambda old: merged(old, new))
    found = read(folder / PLACE.file_name).entries
    assert [(one.key, one.size, one.us) for one in found] == [
        ("a", 7, 0.5),
        ("a", 8, 1.0),
        ("b", 7, 1.0),
    ]
    assert not change(folder, PLACE, lambda _: [])
    assert not (folder / PLACE.file_name).exists()


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: text[: len(text) // 2], "it is cut short"),
        (lambda _: "", "it is cut short"),
        (lambda text: text.replace(f'"schema": {SCHEMA}', '"schema": 99'), "it has schema 99"),
        (lambda text: text.replace('"lanes": 4', '"lanes": 8'), "its checksum is wrong"),
        (lambda _: "[" * 100_000, "no file of this kind"),
        (lambda _: f'{{"schema": {SCHEMA}, "checksum": "", "place": 7, "entries": 7}}', "checksum"),
    ],
)
def test_damage_is_a_line_and_the_next_write_mends_it(
    folder: Path, damage: Callable[[str], str], why: str
) -> None:
    path = folder / PLACE.file_name
    path.write_text(damage(path.read_text()))
    place, entries, problem = read(path)
    assert (place, entries) == (None, ())
    assert why in problem
    assert str(path) in problem
    assert why in change(folder, PLACE, lambda old: merged(old, [entry("c")]))
    assert names(folder) == ["c"]


def test_an_entry_of_wrong_types_is_damage(folder: Path) -> None:
    path = folder / PLACE.file_name
    path.write_text(written(PLACE, [entry("a", size="large")]))  # type: ignore[arg-type]
    assert "no file of this kind" in read(path).problem


def test_a_file_that_others_may_change_is_not_read(folder: Path) -> None:
    path = folder / PLACE.file_name
    path.chmod(0o666)
    assert "others" in read(path).problem
    folder.chmod(0o777)
    assert "tuned choices are not kept: " in change(folder, PLACE, lambda old: old)


def test_a_folder_that_cannot_be_made_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    problem = change(tmp_path / "file" / "tuned", PLACE, lambda _: [entry("a")])
    assert problem.startswith("tuned choices are not kept in")


def test_several_writers_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    each = 15

    def write(who: int) -> None:
        for i in range(each):
            new = [entry(f"{who}-{i}")]
            assert not change(folder, PLACE, lambda old, new=new: merged(old, new))

    threads = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(names(folder)) == 3 * each


WRITER = """
import sys
from pathlib import Path
from pyop2cxx.runtime.tuned_file import Entry, Place, change, merged
place, i = Place(*eval(sys.argv[2])), 0
print("ready", flush=True)
while True:
    i += 1
    way = {"strategy": "direct", "lanes": i, "tuning": {}}
    new = [
        Entry(kind="loop", key=str(k), size=i % 30, name="n" * 99, way=way, us=1.0, rule_us=1.0)
        for k in range(20)
    ]
    assert not change(Path(sys.argv[1]), place, lambda old: merged(old, new))
"""


def test_a_killed_writer_leaves_a_whole_file(folder: Path) -> None:
    """50 kills, at moments of the writer's life spread over some writes."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    command = [sys.executable, "-c", WRITER, str(folder), repr(tuple(PLACE))]
    # a stopped process stands anywhere; each stop could have been a kill, so files are read then
    with subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        for i in range(45):
            time.sleep(0.0007 * (i % 9))
            child.send_signal(signal.SIGSTOP)
            assert not read(folder / PLACE.file_name).problem
            child.send_signal(signal.SIGCONT)
        child.kill()
    for i in range(5):
        with subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.001 + 0.0013 * i)
            child.kill()
        assert not read(folder / PLACE.file_name).problem
        assert not change(folder, PLACE, lambda old: merged(old, [entry("after")]))
    assert {"a", "b", "after"} <= set(names(folder))
    assert sorted(one.name for one in folder.iterdir()) == [".lock", PLACE.file_name]
