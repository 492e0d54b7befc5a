# SPDX-License-Identifier: BSD-3-Clause
"""The demos of the package: a list, and running a demo."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pyop2cxx.ahead.programs import run_program
from pyop2cxx.base import extras
from pyop2cxx.base.folders import demo_folder
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def demos() -> dict[str, str]:
    """Return the subject of each demo, in a line, by name."""
    found = {}
    for path in sorted(demo_folder().glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text:  # others are shared by several demos
            about = ast.get_docstring(ast.parse(text)) or ""
            found[path.stem] = " ".join(about.partition("\n\n")[0].split())
    return found


def demo_list() -> str:
    """Return the demos as a table."""
    found = demos()
    width = max(map(len, found), default=0)
    return "\n".join(f"{name.ljust(width)}  {about}" for name, about in found.items())


def run_demo(name: str, arguments: Sequence[str]) -> int:
    """Run a demo.

    Args:
        name: A key of `demos`.
        arguments: Command line of the demo, as ``--backend openmp``.

    Returns:
        The exit status: 0 if the demo's check passed.

    Raises:
        UsageError: The demo does not exist.
        MissingExtraError: A needed package is not installed.
    """
    if name not in demos():
        raise UsageError(f"there is no demo {name!r}; there are: {', '.join(demos())}")
    try:
        run_program(str(demo_folder() / f"{name}.py"), arguments, "demo")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in extras.EXTRAS or extras.installed()[package]:
            raise  # an existing package is broken
        raise extras.missing(package, f"demo '{name}'") from None
    return 0
