# SPDX-License-Identifier: BSD-3-Clause
"""What docs/pyop2.md says of PyOP2's programs, where no other test does."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ConfigurationError, MapTypeError, SizeTypeError, UnsupportedError

PAGE = (Path(__file__).parents[2] / "docs/pyop2.md").read_text()
MODULES = {
    "types": "Dat",
    "configuration": "configuration",
    "parloop": "Parloop",
    "global_kernel": "GlobalKernel",
    "local_kernel": "CStringLocalKernel",
    "logger": "set_log_level",
    "base": "ParLoop",
    "utils": "verify_reshape",
    "datatypes": "as_cstr",
    "profiling": "timed_function",
    "caching": "memory_cache",
    "compilation": "load",
    "codegen.rep2loopy": "function_text",
}


@pytest.mark.parametrize("module", MODULES)
def test_modules_that_are_there(module: str) -> None:
    assert f"`{module}`" in PAGE
    assert hasattr(importlib.import_module(f"pyop2cxx.pyop2.{module}"), MODULES[module])


@pytest.mark.parametrize("name", ["DecoratedMap", "cfg", "generate_single_cell_wrapper"])
def test_names_that_are_not_there(name: str) -> None:
    assert re.search(rf"`(op2\.)?{name}\b", PAGE)
    assert not hasattr(op2, name)


def test_types_of_petsc() -> None:
    text = """
    void f(PetscScalar *x) {
      PetscInt i = 2;
      PetscReal r = 3;
      *x = (sizeof(PetscInt) == 4) * (sizeof(PetscReal) == 8) * (i + r);
    }
    """
    x = op2.Dat(op2.Set(3))
    op2.par_loop(op2.Kernel(text, "f"), x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [5, 5, 5]


def test_three_sizes_and_no_four() -> None:
    assert op2.Set((1, 2, 3)).sizes == (1, 2, 3)
    with pytest.raises(SizeTypeError):
        op2.Set((1, 2, 3, 4))


def test_an_rw_argument_of_2016_is_written_back() -> None:
    cells, nodes = op2.Set(2), op2.Set(4)
    ends = op2.Map(cells, nodes, 2, [[0, 1], [2, 3]])
    x = op2.Dat(nodes, np.arange(4.0))
    kernel = op2.Kernel("void f(double *x) { x[0] += 10; }", "f", abi="2016")
    op2.par_loop(kernel, cells, x(op2.RW, ends[op2.i[0]]))
    assert x.data_ro.tolist() == [10, 1, 12, 3]


def test_a_write_argument_of_2016_keeps_what_is_not_written() -> None:
    cells, nodes = op2.Set(1), op2.Set(2)
    ends = op2.Map(cells, nodes, 2, [0, 1])
    for abi, text, wanted in (
        ("2016", "void f(double **x) { x[0][0] = 10; }", [10, 2]),
        ("2026", "void f(double *x) { x[0] = 10; }", [10, 0]),
    ):
        x = op2.Dat(nodes, [1.0, 2.0])
        op2.par_loop(op2.Kernel(text, "f", abi=abi), cells, x(op2.WRITE, ends))
        assert x.data_ro.tolist() == wanted


def test_maps_of_mixed_maps_start_together() -> None:
    a, b = op2.Set(1), op2.Set(1)
    with pytest.raises(MapTypeError):
        op2.MixedMap((op2.Map(a, a, 1, [0]), op2.Map(b, a, 1, [0])))


def test_options() -> None:
    op2.init(type_check=False, debug=0)
    assert op2.configuration["type_check"] is False
    with pytest.raises(ConfigurationError, match="unknown option 'foo'"):
        op2.init(foo="bar")
    op2.exit()


def test_columns_have_no_values() -> None:
    with pytest.raises(UnsupportedError):
        op2.ExtrudedSet(op2.Set(2), 3) ** 1
