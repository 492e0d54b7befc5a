# SPDX-License-Identifier: BSD-3-Clause
"""Parts of NVIDIA's toolkit are found where packages put them, of both layouts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyop2cxx.backends import _toolkit as toolkit

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_packages_of_both_layouts_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("cu12/lib", "cu13/lib", "cublas/lib", "cusparse/lib"):
        (tmp_path / "nvidia" / folder).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    found = toolkit.folders("cublas")
    root = tmp_path / "nvidia"
    assert found == [str(root / part) for part in ("cu13/lib", "cu12/lib", "cublas/lib")]


def test_without_packages_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    assert toolkit.folders("cublas") == []
