# SPDX-License-Identifier: BSD-3-Clause
"""Where this package lies: found here, so that modules may move."""

import os
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
BACKENDS = PACKAGE / "backends"


def backend_names(folder: Path = BACKENDS) -> tuple[str, ...]:
    """Return the backends of a folder, sorted: its Python files without leading underscore."""
    files = (name for name in os.listdir(folder) if name.endswith(".py"))
    return tuple(sorted(name.removesuffix(".py") for name in files if not name.startswith("_")))


def is_backend(name: str) -> bool:
    """Say whether there is a backend of this package of that name, without listing them."""
    is_name = name.isidentifier() and not name.startswith("_")
    return is_name and os.path.isfile(os.path.join(BACKENDS, f"{name}.py"))


@cache
def template_folder() -> Path:
    """Where the templates are: in the installed package, or beside it in a source tree."""
    inside = PACKAGE / "templates"
    return inside if inside.is_dir() else PACKAGE.parent / "templates"


def demo_folder() -> Path:
    """Where the demos are: in the installed package, or beside it in a source tree."""
    inside = PACKAGE / "demos"
    return inside if inside.is_dir() else PACKAGE.parent / "demos"


def core_folder() -> Path:
    """Where the sources of the C++ rooms are: in the installed package, or beside it.

    Only those are installed that programs in C++ need.
    """
    inside = PACKAGE / "cpp"
    return inside if inside.is_dir() else PACKAGE.parent / "cpp"
