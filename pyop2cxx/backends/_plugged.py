# SPDX-License-Identifier: BSD-3-Clause
"""Backends of other packages, found as entry points; no code here changes.

A package with a `pyproject.toml` containing ::

    [project.entry-points."pyop2cxx.backends"]
    abacus = "abacus.backend:BACKEND"

provides a `Backend` called "abacus". Templates may lie in a folder of the package. The folder
``demos/plugin`` is a package to begin with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.backends._backend import Backend
from pyop2cxx.base import plugs
from pyop2cxx.exceptions import ConfigurationError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pyop2cxx.backends"


def entry_points() -> dict[str, EntryPoint]:
    """Return the entry points of backends by name."""
    return plugs.entry_points(GROUP)


def plugged_backend(name: str) -> Backend:
    """Return the backend of another package.

    Args:
        name: A key of `entry_points()`.

    Raises:
        ConfigurationError: The target of the entry point cannot be imported, fails during the
            import, is no `Backend`, or has another name.
    """
    found, of = plugs.loaded("backend", name, GROUP, entry_points())
    if not isinstance(found, Backend):
        kind = type(found).__name__
        raise ConfigurationError(f"{of} is of type {kind}; name an object of type Backend")
    if found.name != name:
        raise ConfigurationError(
            f"{of} is a backend called '{found.name}'; name both of them the same"
        )
    return found
