# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar for long iterations: ``for step in op2.progress(range(1000)):``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyop2cxx.base import extras
from pyop2cxx.base.waiting import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")


def progress(items: Iterable[T], label: str = "", *, total: int | None = None) -> Iterable[T]:
    """Iterate over items, for example time steps, with a progress bar by tqdm, on a terminal.

    Nothing is shown where the error output is no terminal, during the first second, or where tqdm
    is not installed; the items are the same.

    Args:
        items: The items.
        label: Written before the bar.
        total: How many items there are, if they do not know themselves.

    Returns:
        The items, in order.

    Example:
        >>> sum(progress(range(4), "steps"))
        6
    """
    if not extras.installed()["tqdm"]:
        return items
    tqdm = extras.load("tqdm", "op2.progress")
    bar: Iterable[T] = tqdm.tqdm(
        items, desc=label or None, total=total, disable=None, delay=SECONDS, leave=False
    )
    return bar
