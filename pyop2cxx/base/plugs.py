# SPDX-License-Identifier: BSD-3-Clause
"""Entry points of other packages: backends, solvers and libraries, without a change here."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import ConfigurationError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of installed packages by name, found once in some milliseconds.

    Args:
        group: The group, such as ``pyop2cxx.backends``.
    """
    metadata = importlib.import_module("importlib.metadata")  # slow import, avoided if no plug-ins
    return {point.name: point for point in metadata.entry_points(group=group)}


def loaded(what: str, name: str, group: str, points: dict[str, EntryPoint]) -> tuple[Any, str]:
    """Return the target of an entry point, and words for messages about the target.

    Args:
        what: Kind of the target: "backend", "solver" or "library".
        name: Name of the entry point.
        group: The group.
        points: The entry points of the group.

    Raises:
        ConfigurationError: There is no such entry point, or the target cannot be imported or fails
            during the import.
    """
    point = points.get(name)
    if point is None:
        there = ", ".join(sorted(points)) or "none"
        raise ConfigurationError(
            f"there is no {what} '{name}': no installed package has an entry point of that name "
            f"in group '{group}' (there are: {there}); install the package that has it"
        )
    of = f"{what} '{name}': the entry point '{point.value}' of group '{group}'"
    try:
        return point.load(), of
    except Exception as error:  # any exception of foreign code
        is_missing = isinstance(error, ImportError | AttributeError)
        kind = "" if is_missing else f"{type(error).__name__}: "
        raise ConfigurationError(f"{of} cannot be loaded: {kind}{error}") from error
