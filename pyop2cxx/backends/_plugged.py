# SPDX-License-Identifier: BSD-3-Clause
"""Backends of other packages, which name them as entry points; nothing here has to be changed.

A package that has `pyproject.toml` with ::

    [project.entry-points."pyop2cxx.backends"]
    abacus = "abacus.backend:BACKEND"

has a `Backend` called "abacus" there. Its templates may lie in a folder of its own.
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
    """Return those of all installed packages by name, found once: it takes some milliseconds."""
    metadata = importlib.import_module("importlib.metadata")  # who has none does not wait for it
    return {point.name: point for point in metadata.entry_points(group=GROUP)}


def plugged_backend(name: str) -> Backend:
    """Return the backend of another package.

    Args:
        name: One of `entry_points()`.

    Raises:
        ConfigurationError: What the entry point names cannot be imported, fails while it is, is no
            `Backend`, or is one of another name.
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
    except Exception as error:  # whatever their code raises; others list all backends, too
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
