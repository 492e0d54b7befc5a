# SPDX-License-Identifier: BSD-3-Clause
"""Bars for what takes long."""

from __future__ import annotations

from typing import Any

import pytest

from pyop2cxx import op2


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_progress_changes_nothing(kind: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert list(op2.progress(kind([3, 1, 2]), "steps", total=3)) == [3, 1, 2]
    assert capfd.readouterr() == ("", "")


def test_progress_does_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyop2cxx.base.extras.installed", lambda: {"tqdm": False})
    items = [1, 2]
    assert op2.progress(items) is items
