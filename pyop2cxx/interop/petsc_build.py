# SPDX-License-Identifier: BSD-3-Clause
"""Compiler settings for kernels that call PETSc, from petsc4py and PETSc's headers."""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pyop2cxx.base import extras


class Build(NamedTuple):
    """Settings for compiling with PETSc.

    Attributes:
        include_dirs: Folders of the headers of PETSc and MPI.
        ldargs: For the link.
    """

    include_dirs: tuple[str, ...] = ()
    ldargs: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def build() -> Build | None:
    """Find the PETSc of petsc4py; None if PETSc or its headers are not installed."""
    if not extras.installed()["petsc4py"]:
        return None
    config = extras.load("petsc4py", "a kernel that calls PETSc").get_config()
    places = [Path(config["PETSC_DIR"], config["PETSC_ARCH"]), Path(config["PETSC_DIR"])]
    variables = places[0] / "lib" / "petsc" / "conf" / "petscvariables"
    folders = [str(place / "include") for place in places]
    if not variables.is_file() or not any(Path(f, "petscts.h").is_file() for f in folders):
        return None
    said = dict(line.split("=", 1) for line in variables.read_text().splitlines() if "=" in line)
    values = {name.strip(): value.strip() for name, value in said.items()}
    words = shlex.split(values.get("PETSC_CC_INCLUDES", "")) + _wrapped(values.get("CC", ""))
    folders += [word[2:] for word in words if word.startswith("-I")]
    libraries = shlex.split(values.get("PETSC_LIB_BASIC", "-lpetsc"))
    where = places[0] / "lib"
    return Build(
        tuple(f for f in dict.fromkeys(folders) if os.path.isdir(f)),
        (f"-L{where}", f"-Wl,-rpath,{where}", *libraries),
    )


def _wrapped(compiler: str) -> list[str]:
    """Return the flags added by MPI's compiler, if PETSc was built with that compiler."""
    if "mpi" not in compiler:
        return []
    try:
        asked = subprocess.run(
            [*shlex.split(compiler), "-show"],
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError):
        return []  # the compiler will report missing headers
    return shlex.split(asked.stdout)
