# SPDX-License-Identifier: BSD-3-Clause
"""Named parameters of a loop's text and launches: defaults of a backend, and the user's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.options import numbers_in

Overrides: TypeAlias = tuple[tuple[str, bool | int | float], ...]
"""The user's numbers, sorted by name; hashable."""


def checked(given: object, what: str) -> Overrides:
    """Return the user's numbers, checked.

    Args:
        given: A mapping from names to values; None for none.
        what: The loop, for messages.

    Raises:
        UsageError: The name does not exist, or the value is invalid.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise UsageError(
            f"{what}: tuning must be a dict from names to numbers, such as "
            f"{{'block_elements': 1024}}, got {given!r}"
        )
    items = ((name, x.item() if isinstance(x, np.generic) else x) for name, x in given.items())
    found = tuple(sorted(items, key=lambda item: item[0]))
    tuning = _core.Tuning()
    for name, value in found:
        is_number = isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 63)
        usual = None if is_number else dict(tuning.values()).get(name)
        if usual is not None:
            wanted = "True or False" if isinstance(usual, bool) else "a number of at most 64 bits"
            raise UsageError(f"{what}: tuning: '{name}' must be {wanted}, got {value!r}")
        try:
            tuning = tuning.with_value(name, value if is_number else 0)
        except UsageError as error:
            raise UsageError(f"{what}: {error}") from None
    return found


def configured(tuning: _core.Tuning) -> _core.Tuning:
    """Return numbers with those that the option `tuning` sets."""
    for name, value in numbers_in(runtime.configuration["tuning"]):
        tuning = tuning.with_value(name, value)
    return tuning


def tuning_of(facts: _core.Facts, overrides: Overrides) -> _core.Tuning:
    """Return all numbers for a backend: what a loop is given wins over what is configured."""
    tuning = configured(_core.usual_tuning(facts))
    for name, value in overrides:
        tuning = tuning.with_value(name, value)
    return tuning


def changed(facts: _core.Facts, tuning: _core.Tuning) -> dict[str, bool | int | float]:
    """Return the numbers other than a backend's defaults."""
    usual = dict(_core.usual_tuning(facts).values())
    return {name: value for name, value in tuning.values() if value != usual[name]}
