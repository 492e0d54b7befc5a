# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx.base import extras
from pyop2cxx.exceptions import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages where those that are optional have an extra of the same name."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(extras, "EXTRAS", {name: name for name in ("whole", "broken", "absent")})
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole/__init__.py").touch()
    (tmp_path / "whole/part.py").write_text("VALUE = 3\n")
    (tmp_path / "broken.py").write_text("import no_such_package\n")
    return tmp_path


def test_a_module_is_imported_when_asked_for(packages: Path) -> None:
    assert extras.load("whole.part", "this test").VALUE == 3


def test_a_missing_package_names_its_extra(packages: Path) -> None:
    with pytest.raises(ImportError, match=r"^reading needs absent, .*install 'pyop2cxx\[absent\]'"):
        extras.load("absent.part", "reading")
    with pytest.raises(MissingExtraError):
        extras.load("absent", "reading")


def test_a_broken_package_is_not_hidden(packages: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        extras.load("broken", "reading")


def test_what_is_installed_is_found_without_an_import(packages: Path) -> None:
    assert extras.installed() == {"whole": True, "broken": True, "absent": False}
    assert "broken" not in sys.modules
