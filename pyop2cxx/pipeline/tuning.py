# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that steer a loop's text and launches, by name: defaults of a backend, and the user's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyop2cxx import _core
from pyop2cxx.exceptions import UsageError

Overrides: TypeAlias = tuple[tuple[str, bool | int | float], ...]
"""What a user has set, sorted by name; hashable."""


def checked(given: object, what: str) -> Overrides:
    """Return the numbers that a user has set.

    Args:
        given: A mapping from names to values; None for none.
        what: The loop, for messages.

    Raises:
        UsageError: There is no number of that name, or it cannot have that value.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise UsageError(
            f"{what}: tuning must be a dict from names to numbers, such as "
            f"{{'block_elements': 1024}}, got {given!r}"
        )
    found = tuple(sorted(given.items()))
    tuning = _core.Tuning()
    for name, value in found:
        if not isinstance(value, bool | int | float):
            raise UsageError(f"{what}: tuning: '{name}' must be a number, got {value!r}")
        try:
            tuning = tuning.with_value(name, value)
        except UsageError as error:
            raise UsageError(f"{what}: {error}") from None
    return found


def tuning_of(facts: _core.Facts, overrides: Overrides) -> _core.Tuning:
    """Return all numbers for a backend."""
    tuning = _core.usual_tuning(facts)
    for name, value in overrides:
        tuning = tuning.with_value(name, value)
    return tuning


def changed(facts: _core.Facts, tuning: _core.Tuning) -> dict[str, bool | int | float]:
    """Return those numbers that are not the defaults of a backend."""
    usual = dict(_core.usual_tuning(facts).values())
    return {name: value for name, value in tuning.values() if value != usual[name]}
