# SPDX-License-Identifier: BSD-3-Clause
"""Explicit instantiations of the leaves of ``api/leaves.hpp``, for the types of a list."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING

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
    """Write which leaves there are, their declarations, and a unit for each.

    Args:
        folder: Of the run-time's sources.
        listed: The list of leaves and types; None means that of the core.

    Returns:
        The units, from that folder on.
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
        unit = f"{FOLDER}/{_file_name(**one)}.cpp"
        (folder / unit).write_text(render("ahead/leaf.cpp.j2", {"version": version, **one}))
        units.append(unit)
    return units


def _instances(text: str) -> Iterator[dict[str, str]]:
    """Yield each leaf with the types that it is compiled for: the product of its axes."""
    listed = json.loads(text)
    for leaf, axes in listed["leaves"].items():
        for types in product(*(listed["types"][axis] for axis in axes)):
            yield {"leaf": leaf, "types": ", ".join(types)}


def _file_name(leaf: str, types: str) -> str:
    """Return a name that says the leaf and its types: ``convert_double_int32``."""
    words = re.findall(r"\w+", types.replace("std::", "").replace("_t", ""))
    return "_".join([leaf.lower(), *words])
