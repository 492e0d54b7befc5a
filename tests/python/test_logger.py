# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.pyop2 import logger

if TYPE_CHECKING:
    import pytest


def test_under_pyop2_its_logger_has_the_level_too(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = logging.getLogger("pyop2")
    monkeypatch.setattr(theirs, "level", logging.WARNING)
    logger.set_log_level("ERROR")
    assert theirs.level == logging.WARNING
    monkeypatch.setattr("pyop2cxx.runtime.state.is_under_pyop2", lambda: True)
    logger.set_log_level("CRITICAL")
    assert theirs.level == logging.CRITICAL
    op2.exit()


def test_it_is_the_programs_logger(caplog: pytest.LogCaptureFixture) -> None:
    logger.set_log_level("INFO")
    logger.info("one %d", 1)
    logger.debug("two")
    logger.log(30, "three")
    op2.exit()
    assert [(r.name, r.message) for r in caplog.records] == [
        ("pyop2cxx", "one 1"),
        ("pyop2cxx", "three"),
    ]
