# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CompilationError, DataTypeError, StaticModeError, UsageError
from pyop2cxx.pyop2 import compilation
from pyop2cxx.runtime.communicators import OneProcess

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("extension", "code"),
    [
        ("c", "double scaled(double x) { return FACTOR * x; }"),
        ("cpp", '#include <cmath>\nextern "C" double scaled(double x) { return FACTOR * x; }'),
    ],
)
def test_a_programs_own_code(extension: str, code: str) -> None:
    library = compilation.load(code, extension, ["-DFACTOR=3"], ["-lm"], comm=OneProcess())
    function = library.scaled
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    assert function(2.0) == 6.0


@pytest.mark.parametrize(
    ("code", "extension", "error"),
    [
        (3, "c", DataTypeError),
        ("int f;", "f90", UsageError),
        ("no C", "c", CompilationError),
    ],
)
def test_bad_code(code: Any, extension: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        compilation.load(code, extension)


def test_static_mode_compiles_nothing() -> None:
    op2.init(static=True)
    try:
        with pytest.raises(StaticModeError):
            compilation.load("int f;", "c")
    finally:
        op2.exit()


@pytest.mark.parametrize("option", ["-I{}", "-isystem{}"])
@pytest.mark.parametrize("extension", ["c", "cpp"])
def test_an_edited_header_is_compiled_anew(option: str, extension: str, tmp_path: Path) -> None:
    linkage = 'extern "C" ' if extension == "cpp" else ""
    for n in (1, 2):
        (tmp_path / "n.h").write_text(f"#define N {n}\n")
        code = f"#include <n.h>\n{linkage}int number(void) {{ return N; }}"
        library = compilation.load(code, extension, [option.format(tmp_path)])
        assert library.number() == n
