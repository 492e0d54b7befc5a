# SPDX-License-Identifier: BSD-3-Clause
"""What is kept in the cache directory: found again, made again where the key or a file differs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.runtime.store import installed, remembered, stamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """An empty cache directory, until the test ends."""
    op2.init(cache_dir=str(tmp_path / "cache"))
    yield tmp_path / "cache"
    op2.exit()


def not_again() -> bytes:
    raise AssertionError("made again")


def test_bytes_come_back(cache: Path) -> None:
    value = bytes(range(256))
    assert remembered("note", ("a", 1), lambda: value) == value
    assert remembered("note", ("a", 1), not_again) == value
    assert [path.suffix for path in cache.glob("*.*")] == [".note"]


def test_another_key_or_kind_is_another_entry(cache: Path) -> None:
    assert remembered("note", "a", lambda: b"1") == b"1"
    assert remembered("note", "b", lambda: b"2") == b"2"
    assert remembered("mark", "a", lambda: b"3") == b"3"
    assert remembered("note", "a", not_again) == b"1"


def test_a_damaged_entry_is_made_again(cache: Path) -> None:
    remembered("note", "a", lambda: b"1")
    (file,) = cache.glob("*.note")
    file.write_bytes(file.read_bytes()[:-1])
    assert remembered("note", "a", lambda: b"2") == b"2"
    assert remembered("note", "a", not_again) == b"2"


def test_an_error_is_raised_each_time(cache: Path) -> None:
    def fail() -> bytes:
        raise KeyError("no")

    for _ in range(2):
        with pytest.raises(KeyError):
            remembered("note", "a", fail)


def test_a_package_is_identified_by_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "somebody_elses"
    package.mkdir()
    source = package / "__init__.py"
    source.write_text("raise RuntimeError('imported')")
    before = installed("somebody_elses")
    assert before == stamp([package])
    os.utime(source, ns=(1, 1))
    installed.cache_clear()
    assert installed("somebody_elses") != before
    assert installed("there_is_no_such_package") == ""
    assert "somebody_elses" not in sys.modules
