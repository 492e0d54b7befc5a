# SPDX-License-Identifier: BSD-3-Clause
"""PyOP2's module tree, with functions only needed by PyOP2's programs.

Programs importing PyOP2's modules write ``pyop2cxx.pyop2`` for ``pyop2``, or call `install` first
and stay unchanged. The rest of pyop2cxx does not need the folder.
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


class _Loader:
    """Finds modules of ``pyop2`` here, each the same object by both names."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Answer for ``pyop2.*``."""
        if not name.startswith(f"{_THEIRS}."):
            return None
        ours = __name__ + name[len(_THEIRS) :]
        if importlib.util.find_spec(ours) is None:
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


def install() -> None:
    """Let programs import the tree as ``pyop2``. Calling again does nothing.

    Raises:
        UsageError: A PyOP2 is installed, or was imported.

    Example:
        >>> install()
        >>> from pyop2.types.dat import Dat
        >>> import pyop2cxx.pyop2.types.dat
        >>> Dat is pyop2cxx.pyop2.types.dat.Dat
        True
    """
    this = sys.modules[__name__]
    if sys.modules.get(_THEIRS) is this:
        return
    if _THEIRS in sys.modules or importlib.util.find_spec(_THEIRS) is not None:
        there = sys.modules.get(_THEIRS) or importlib.util.find_spec(_THEIRS)
        raise UsageError(
            f"pyop2cxx.pyop2.install(): there is a module 'pyop2' already, {there!r}; uninstall "
            "that PyOP2, or import pyop2cxx.pyop2 instead of pyop2"
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
