# SPDX-License-Identifier: BSD-3-Clause
"""What makes many loops cheaper to compile, and changes nothing of what they compute."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

COMPILERS = ("clang", "clang", "clang", "gcc")
"""Which batch of the host is compiled by which: with -O0 Clang takes half of GCC's time."""

_LINKER = """#!/bin/sh
case "$*" in *"$POCL_CACHE_DIR"/*)
  for word do
    shift
    case $word in -lc | -lm | -lgcc_s) ;; *) set -- "$@" "$word" ;; esac
  done
esac
exec {linker} "$@"
"""


def compilers() -> list[str]:
    """Return those of COMPILERS that are here; an empty name, the usual one, if none is."""
    return [name for name in COMPILERS if shutil.which(name)] or [""]


def choose_compiler(name: str) -> None:
    """Compile for the host by this one from now on; if it has no name, by the usual one."""
    if name:
        op2.init(cc=name)


def quick_programs(folder: Path) -> None:
    """Let OpenCL's compilers do as little as a host's with -O0: PoCL takes a third of the time.

    Faults of its optimiser, or of how it is asked to optimise, need loops with other flags
    (docs/adr/0073-ranges.md).

    PoCL links each kernel as a library of its own. That it needs those of C, which this process
    has, takes a linker eight times as long as the kernel.
    """
    backend = runtime.engine.backend("opencl")
    toolchain = replace(backend.toolchain, flags=(*backend.toolchain.flags, "-cl-opt-disable"))
    runtime.engine._backends["opencl"] = replace(backend, toolchain=toolchain)
    linker = shutil.which("ld")
    if linker:
        place = folder / "linker"
        place.mkdir()
        (place / "ld").write_text(_LINKER.format(linker=linker))
        (place / "ld").chmod(0o755)
        os.environ["COMPILER_PATH"] = str(place)
