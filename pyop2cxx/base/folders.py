# SPDX-License-Identifier: BSD-3-Clause
"""Places of the package's files: found here, so modules may move."""

import os
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
BACKENDS = PACKAGE / "backends"


def backend_names(folder: Path = BACKENDS) -> tuple[str, ...]:
    """Return the backends of a folder, sorted: Python files without leading underscore."""
    files = (name for name in os.listdir(folder) if name.endswith(".py"))
    return tuple(sorted(name.removesuffix(".py") for name in files if not name.startswith("_")))


def is_backend(name: str) -> bool:
    """Return whether the package has a backend of the name, without listing all."""
    is_name = name.isidentifier() and not name.startswith("_")
    return is_name and os.path.isfile(os.path.join(BACKENDS, f"{name}.py"))


@cache
def template_folder() -> Path:
    """Return the folder of the templates: installed, or in the source tree."""
    inside = PACKAGE / "templates"
    return inside if inside.is_dir() else PACKAGE.parent / "templates"


def demo_folder() -> Path:
    """Return the folder of the demos: installed, or in the source tree."""
    inside = PACKAGE / "demos"
    return inside if inside.is_dir() else PACKAGE.parent / "demos"


def core_folder() -> Path:
    """Return the folder of the C++ rooms' sources: installed, or in the source tree.

    Only files needed by C++ programs are installed.
    """
    inside = PACKAGE / "cpp"
    return inside if inside.is_dir() else PACKAGE.parent / "cpp"
