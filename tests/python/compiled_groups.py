# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures for tests of many cases, compiled in groups as one program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx import op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def fixtures(group_of: Callable[[pytest.Item], int], clear: Callable[[], None]) -> tuple[Any, Any]:
    """Return two fixtures of a module: options end with each test, programs with their group.

    Else `compile_neighbours` would compile for one test the loops compiled again for the next ones.

    Args:
        group_of: Returns the group of a test; negative: nothing is kept after the test.
        clear: Forgets the compiled groups.
    """
    kept: list[int] = []

    def forget() -> None:
        op2.exit()
        clear()

    @pytest.fixture(autouse=True)
    def options(request: pytest.FixtureRequest) -> Iterator[None]:
        """Forget options after each test, and programs before the first test of another group."""
        group = group_of(request.node)
        wanted = [group] if group >= 0 else []
        if kept != wanted:
            forget()
            kept[:] = wanted
        yield
        runtime.configuration.reset()
        if not kept:
            op2.exit()

    @pytest.fixture(autouse=True, scope="module")
    def forgotten_at_the_end() -> Iterator[None]:
        """Leave nothing of the last group to the tests of other files."""
        yield
        forget()
        kept.clear()

    return options, forgotten_at_the_end
