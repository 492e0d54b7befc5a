# SPDX-License-Identifier: BSD-3-Clause
"""PyOP2's module tree, with functions only needed by PyOP2's programs.

Programs importing PyOP2's modules write ``pyop2cxx.pyop2`` for ``pyop2``, or call `install` first
and stay unchanged; ``python -m pyop2cxx.pyop2 enable`` does it for all programs of an environment.
The rest of pyop2cxx does not need the folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from types import ModuleType

_THEIRS = "pyop2"
takes_c_order = True
"""Values of another shape are taken in C order, as PyOP2 takes them; see `install`."""


class _Loader:
    """Finds ``pyop2`` and its modules here, each the same object by both names."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Answer for ``pyop2`` and ``pyop2.*``, with modules that a program added to the tree."""
        if name != _THEIRS and not name.startswith(f"{_THEIRS}."):
            return None
        ours = __name__ + name[len(_THEIRS) :]
        if ours not in sys.modules and importlib.util.find_spec(ours) is None:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]  # it has what is called

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module by the package's name."""
        made = importlib.import_module(__name__ + spec.name[len(_THEIRS) :])
        spec.loader_state = made.__spec__
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Restore the name of the module, which has run already."""
        found = module.__spec__
        if found is not None and found.loader_state is not None:
            module.__spec__ = found.loader_state


def finder() -> Any:
    """Return a finder for `sys.meta_path`, by which ``import pyop2`` finds the tree."""
    return _Loader()


def install(replace: bool = False) -> None:
    """Let programs import the tree as ``pyop2``. Calling again does nothing.

    Args:
        replace: Whether to take the place of an installed PyOP2. Firedrake's wheel has one that
            cannot be uninstalled alone.

    Raises:
        UsageError: A PyOP2 was imported before, or is installed and shall not be replaced.

    Example:
        >>> install()  # doctest: +SKIP
        >>> from pyop2.types.dat import Dat  # doctest: +SKIP
        >>> import pyop2cxx.pyop2.types.dat
        >>> Dat is pyop2cxx.pyop2.types.dat.Dat  # doctest: +SKIP
        True
    """
    this = sys.modules[__name__]
    if sys.modules.get(_THEIRS) is this:
        return
    imported = [name for name in sys.modules if name.partition(".")[0] == _THEIRS]
    if imported:
        raise UsageError(
            f"pyop2cxx.pyop2.install(): '{imported[0]}' was imported before, as "
            f"{sys.modules[imported[0]]!r}; call install() before the first import of pyop2, "
            "firedrake and other packages that import pyop2"
        )
    there = importlib.util.find_spec(_THEIRS)
    if there is not None and not replace and not isinstance(there.loader, _Loader):
        raise UsageError(
            f"pyop2cxx.pyop2.install(): a PyOP2 is installed, {there.origin}; pass replace=True to "
            "take its place in this program, or import pyop2cxx.pyop2 instead of pyop2"
        )
    sys.modules[_THEIRS] = this
    sys.meta_path.insert(0, _Loader())


def __getattr__(name: str) -> Any:
    """Find all names of `op2`, as in ``pyop2``, and `op2`."""
    if name == "op2":
        return importlib.import_module("pyop2cxx.op2")
    is_module = importlib.util.find_spec(f"{__name__}.{name}") is not None
    if name.startswith("_") or is_module:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module("pyop2cxx.op2"), name)
