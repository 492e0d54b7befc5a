# SPDX-License-Identifier: BSD-3-Clause
"""Backends, a file each, with data only; found by listing the folder.

Each backend has a class of loops, made from the name of the backend when first asked for:
`pyop2cxx.backends.opencl.ParLoop`. Backends of other packages lie here by their names, too.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from pyop2cxx.base.folders import backend_names, is_backend


class _Backends(ModuleType):
    """The folder of backends; modules imported from here get a class of loops."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and is_backend(name):
            _give_loops(value, name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if is_backend(name):
            return importlib.import_module(f"{__name__}.{name}")
        if name.startswith("_"):
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        plugged = importlib.import_module(f"{__name__}._plugged")
        others = plugged.entry_points()
        if name not in others:
            known = ", ".join(sorted({*backend_names(), *others}))
            raise AttributeError(f"there is no backend '{name}'; there are: {known}")
        made = ModuleType(f"{__name__}.{name}", f"The backend '{name}' of another package.")
        made.BACKEND = plugged.plugged_backend(name)  # type: ignore[attr-defined]
        _give_loops(made, name)
        setattr(self, name, made)
        return made


def _give_loops(module: ModuleType, backend: str) -> None:
    """Let a module have the attribute `ParLoop`."""

    def attribute(name: str) -> Any:
        if name != "ParLoop":
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
        # far above this room
        return importlib.import_module("pyop2cxx.loop.on_backend").loops_on(backend)

    module.__getattr__ = attribute  # type: ignore[method-assign]


sys.modules[__name__].__class__ = _Backends
