# SPDX-License-Identifier: BSD-3-Clause
"""Periods of repeating entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def period_of(keys: Sequence[object]) -> int:
    """Return the period of a sequence of entries; the length if nothing repeats.

    Args:
        keys: Of the entries.
    """
    border = [0] * len(keys)  # length of the longest proper prefix of the first i + 1 and suffix
    n = 0
    for i in range(1, len(keys)):
        while n and keys[i] != keys[n]:
            n = border[n - 1]
        n += keys[i] == keys[n]
        border[i] = n
    return len(keys) - n


def whole_periods(keys: Sequence[object]) -> int:
    """Return the number of entries in whole repetitions.

    Args:
        keys: Of the entries.

    Returns:
        The largest multiple of the period, if the period occurs at least twice; otherwise the
        number of all entries.
    """
    period = period_of(keys)
    return len(keys) - len(keys) % period if 0 < 2 * period <= len(keys) else len(keys)
