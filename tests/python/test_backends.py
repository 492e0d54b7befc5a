# SPDX-License-Identifier: BSD-3-Clause
"""A backend is a file of data, found by listing its folder."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from small_world import World

import pyop2cxx.backends
from pyop2cxx import op2
from pyop2cxx.backends._backend import Backend, HostToolchain
from pyop2cxx.exceptions import ConfigurationError
from pyop2cxx.runtime import runtime

pytestmark = pytest.mark.each_backend
FOLDER = Path(pyop2cxx.backends.__file__).parent
NAMES = runtime.backend_names()


def test_they_are_the_files_of_the_folder() -> None:
    assert {"sequential", "openmp"} <= set(NAMES)
    assert set(NAMES) == {p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_each_file_holds_one_backend_of_its_name_and_no_code(name: str) -> None:
    backend = runtime.engine.backend(name)
    assert isinstance(backend, Backend)
    assert backend.name == name
    assert backend.summary
    takes_cpp = isinstance(backend.toolchain, HostToolchain)
    assert (backend.suffix[0] != backend.suffix[1]) is takes_cpp
    kinds = {type(node) for node in ast.parse((FOLDER / f"{name}.py").read_text()).body}
    assert kinds <= {ast.Expr, ast.ImportFrom, ast.Assign}


@pytest.mark.parametrize("name", NAMES)
def test_each_generates_text_under_its_name(name: str) -> None:
    with op2.backend(name):
        code = World().loop().generate()
    assert all(f"_{name}_" in file for file in code.files)


def test_an_unknown_one_is_refused_with_a_list() -> None:
    for choose in (lambda: op2.init(backend="abacus"), lambda: op2.backend("abacus").__enter__()):
        with pytest.raises(ConfigurationError, match=r"'abacus'; there are: .*openmp.*sequential"):
            choose()


def test_data_cannot_be_changed_by_accident() -> None:
    with pytest.raises(AttributeError):
        runtime.engine.backend("openmp").name = "mine"  # type: ignore[misc]  # the point
