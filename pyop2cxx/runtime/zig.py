# SPDX-License-Identifier: BSD-3-Clause
"""The compiler in the wheel `ziglang` of PyPI: Clang with a linker, for machines without others."""

from __future__ import annotations

import importlib.util
import os
import shutil
from functools import cache


def zig_command(option: str, mode: str) -> str:
    """Return the command line for an option `cc` or `cxx`.

    Args:
        option: The option's value.
        mode: Zig's command: ``cc`` for C, ``c++`` for C++.

    Returns:
        For ``zig``, the program in PATH, or else of the wheel, with the command; anything else
        unchanged. The compile service reports a missing program.
    """
    if option != "zig":
        return option
    program = _program()
    return f"{program} {mode}" if program else option


@cache
def _program() -> str | None:
    """Return the path of the program, or None if there is none."""
    if found := shutil.which("zig"):
        return found
    wheel = importlib.util.find_spec("ziglang")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        if found := shutil.which(os.path.join(folder, "zig")):
            return found
    return None
