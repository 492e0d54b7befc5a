# SPDX-License-Identifier: BSD-3-Clause
"""Which tests do without the folder that bears PyOP2's tree, and how it is hidden from them."""

from __future__ import annotations

import ast
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import structure

import pyop2cxx
from pyop2cxx import op2
from pyop2cxx.runtime import seams

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent
ROOT = TESTS.parents[1]
FOLDER = "pyop2cxx.pyop2"
KEPT_BY = (seams.older_options, seams.conventions)
"""Functions of the core that remember what they found in the folder, or that they found none."""
NAMES = tuple(name for name, (module, _) in op2._PLACES.items() if module.startswith(FOLDER))
"""What `op2` imports from the folder when it is asked for, and keeps."""


@cache
def core_suite() -> frozenset[Path]:
    """Return the corpus, and the tests of all modules but PyOP2's."""
    units = structure.tests_of_units(ROOT)
    of_core = {unit for unit in units if unit.startswith("pyop2cxx/")}
    of_core -= {unit for unit in of_core if unit.startswith("pyop2cxx/pyop2/")}
    found = {ROOT / test for unit in of_core for test in units[unit]} | {TESTS / "test_corpus.py"}
    return frozenset(path for path in found if path.exists() and not needs_folder(path))


def needs_folder(path: Path) -> bool:
    """Whether a test imports the folder at its top."""
    text = path.read_text()
    if "pyop2cxx.pyop2" not in text and "import pyop2" not in text:
        return False
    imports = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    lines = [ast.unparse(n) for n in imports]
    return any(FOLDER in line or "pyop2cxx import pyop2" in line for line in lines)


def is_of_folder(name: str) -> bool:
    """Whether that is the folder's name, or that of a module there."""
    return f"{name}.".startswith(f"{FOLDER}.")


def _forget() -> None:
    for kept in KEPT_BY:
        kept.cache_clear()
    for name in NAMES:
        vars(op2).pop(name, None)


@contextmanager
def hidden() -> Iterator[None]:
    """Inside, the folder can neither be imported nor be found, as if it were not there."""
    names = [name for name in sys.modules if name.startswith(FOLDER) and is_of_folder(name)]
    modules = {name: sys.modules[name] for name in names}
    for name in modules:
        del sys.modules[name]
    room = vars(pyop2cxx).pop("pyop2", None)
    sys.modules[FOLDER] = None  # type: ignore[assignment]  # for `import`: there is none
    _forget()
    try:
        yield
    finally:
        del sys.modules[FOLDER]
        sys.modules.update(modules)
        if room is not None:
            vars(pyop2cxx)["pyop2"] = room
        _forget()
