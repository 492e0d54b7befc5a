# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that tests of several modules use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def static() -> Iterator[None]:
    """Static mode, until the test ends."""
    op2.init(static=True)
    yield
    op2.exit()
