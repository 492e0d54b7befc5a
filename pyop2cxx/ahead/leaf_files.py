# SPDX-License-Identifier: BSD-3-Clause
"""Explicit instantiations of the leaves of ``api/leaves.hpp``, for the types of a list."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.folders import core_folder
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "eti"
LIST = "api/eti.json"
HEADERS = (f"{FOLDER}/leaves_avail.hpp", f"{FOLDER}/leaves_decl.hpp")


def write(folder: Path, listed: Path | None = None) -> list[str]:
    """Write the list of leaves, the declarations, and a source file for each leaf.

    Args:
        folder: Of the run-time's sources.
        listed: The list of leaves and types; None means the list of the core.

    Returns:
        The source files, relative to the folder.
    """
    text = (listed or core_folder() / LIST).read_text()
    version = _core.__version__
    instances = list(_instances(text))
    (folder / FOLDER).mkdir()
    for header in HEADERS:
        name = header.rpartition("/")[2]
        made = render(f"ahead/{name}.j2", {"version": version, "instances": instances})
        (folder / header).write_text(made)
    units = []
    for one in instances:
        unit = f"{FOLDER}/{_file_name(one['leaf'], one['types'])}.cpp"
        (folder / unit).write_text(render("ahead/leaf.cpp.j2", {"version": version, **one}))
        units.append(unit)
    return units


def _instances(text: str) -> Iterator[dict[str, Any]]:
    """Yield each leaf with the types to compile: the product of the axes."""
    listed = json.loads(text)
    for leaf, axes in listed["leaves"].items():
        for types in product(*(listed["types"][axis] for axis in axes)):
            named = {"leaf": leaf, "types": ", ".join(types)}
            yield {**named, "has_libraries": leaf in listed["with_libraries"]}


def _file_name(leaf: str, types: str) -> str:
    """Return a file name made of leaf and types: ``convert_double_int32``."""
    words = re.findall(r"\w+", types.replace("std::", "").replace("_t", ""))
    return "_".join([leaf.lower(), *words])
