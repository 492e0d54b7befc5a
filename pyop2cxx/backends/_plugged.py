# SPDX-License-Identifier: BSD-3-Clause
"""Backends of other packages, found as entry points; no code here changes.

A package with a `pyproject.toml` containing ::

    [project.entry-points."pyop2cxx.backends"]
    abacus = "abacus.backend:BACKEND"

provides a `Backend` called "abacus". Templates may lie in a folder of the package.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from pyop2cxx.backends._backend import Backend
from pyop2cxx.exceptions import ConfigurationError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pyop2cxx.backends"


@cache
def entry_points() -> dict[str, EntryPoint]:
    """Return the entry points of installed packages by name, found once in some milliseconds."""
    metadata = importlib.import_module("importlib.metadata")  # slow import, avoided if no plug-ins
    return {point.name: point for point in metadata.entry_points(group=GROUP)}


def plugged_backend(name: str) -> Backend:
    """Return the backend of another package.

    Args:
        name: A key of `entry_points()`.

    Raises:
        ConfigurationError: The target of the entry point cannot be imported, fails during the
            import, is no `Backend`, or has another name.
    """
    point = entry_points().get(name)
    if point is None:
        there = ", ".join(sorted(entry_points())) or "none"
        raise ConfigurationError(
            f"there is no backend '{name}': no installed package has an entry point of that name "
            f"in group '{GROUP}' (there are: {there}); install the package that has it"
        )
    of = f"backend '{name}': the entry point '{point.value}' of group '{GROUP}'"
    try:
        found = point.load()
    except Exception as error:  # any exception of foreign code
        is_missing = isinstance(error, ImportError | AttributeError)
        kind = "" if is_missing else f"{type(error).__name__}: "
        raise ConfigurationError(f"{of} cannot be loaded: {kind}{error}") from error
    if not isinstance(found, Backend):
        kind = type(found).__name__
        raise ConfigurationError(f"{of} is of type {kind}; name an object of type Backend")
    if found.name != name:
        raise ConfigurationError(
            f"{of} is a backend called '{found.name}'; name both of them the same"
        )
    return found
