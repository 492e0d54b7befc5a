# SPDX-License-Identifier: BSD-3-Clause
"""How entries repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def period_of(keys: Sequence[object]) -> int:
    """Return after how many entries the first ones come again; all of them if they do not.

    Args:
        keys: Of the entries.
    """
    border = [0] * len(keys)  # of the first i + 1 the longest beginning that is their end, too
    n = 0
    for i in range(1, len(keys)):
        while n and keys[i] != keys[n]:
            n = border[n - 1]
        n += keys[i] == keys[n]
        border[i] = n
    return len(keys) - n


def whole_periods(keys: Sequence[object]) -> int:
    """Return how many of some entries are whole repetitions of the first ones.

    Args:
        keys: Of the entries.

    Returns:
        The largest number of entries that is a multiple of the period, if this comes twice at
        least; all of them if nothing repeats.
    """
    period = period_of(keys)
    return len(keys) - len(keys) % period if 0 < 2 * period <= len(keys) else len(keys)
