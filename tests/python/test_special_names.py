# SPDX-License-Identifier: BSD-3-Clause
"""What `generate` writes is C++ whatever objects and kernels are called, and of every dtype."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.ahead.functions import identifier

if TYPE_CHECKING:
    from pathlib import Path

WORDS = tuple(
    word
    for line in """
    std op2 main Dat Set Map Global Const Backend Region loop run table recorded index data size
    NULL EOF BUFSIZ EXIT_SUCCESS CHAR_BIT INT_MAX UINT8_C M_PI INFINITY NAN I HUGE_VAL SEEK_SET
    assert errno stdin stdout stderr offsetof va_list va_arg alloca size_t int32_t uint8_t bool_t
    true false and or not xor bitand compl new delete class template this operator namespace using
    typename virtual export concept requires mutable friend private public try catch throw
    constexpr consteval nullptr_t decltype wchar_t char16_t static_cast
    int double while struct restrict _Bool signed
    vector string map pair array span move swap begin end sqrt sin exp y0 j1 abs printf exit free
    time read write open close select malloc signal kernel __kernel __global __global__ global local
    float4 get_global_id threadIdx blockIdx warpSize atomicAdd near far small min max argv context
""".splitlines()
    for word in line.split()
)
"""Of C, C++, their headers' macros and functions, of OpenCL and CUDA, and of what we write."""
C_TYPES = {
    "bool": "unsigned char",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
REFUSED = {"main", "int", "double", "while", "struct", "restrict", "_Bool", "signed", "constexpr"}


def text(name: str, types: list[str], n_written: int = 99) -> str:
    parameters = ", ".join(f"{of} *a{i}" for i, of in enumerate(types))
    signs = ["" if i < n_written else "+" for i in range(len(types))]
    stores = " ".join(f"a{i}[0] {sign}= 1;" for i, sign in enumerate(signs))
    return f"void {name}({parameters}) {{ {stores} }}"


def run_all() -> None:
    """Run a loop for each kernel's name, some for objects of all names, and one of all dtypes."""
    cells = op2.Set(3, "cells")
    for word in WORDS:
        if word not in REFUSED:
            x = op2.Dat(cells, name="x")
            op2.par_loop(op2.Kernel(text(word, ["double"]), word), cells, x(op2.WRITE))
    for number, words in enumerate([WORDS[i : i + 40] for i in range(0, len(WORDS), 40)]):
        visited, name = op2.Set(3, words[0]), f"objects_{number}"
        args = []
        for word in words:
            reached = op2.Set(3, word)
            path = op2.Map(visited, reached, 1, [0, 1, 2], word)
            args.append(op2.Dat(reached, name=word)(op2.WRITE, path))
        op2.par_loop(op2.Kernel(text(name, ["double"] * len(args)), name), visited, *args)
    dats = [op2.Dat(cells**2, dtype=of, name=of) for of in C_TYPES]
    sums = [op2.Global(1, dtype=of, name=f"sum_{of}") for of in C_TYPES if of != "bool"]
    types = [C_TYPES[one.dtype.name] for one in (*dats, *sums)]
    args = [dat(op2.WRITE) for dat in dats] + [total(op2.INC) for total in sums]
    op2.par_loop(op2.Kernel(text("dtypes", types, len(dats)), "dtypes"), cells, *args)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated") / "project"
    with op2.dispatch.record(folder, backends=["sequential"], name="recorded", build=False):
        run_all()
    return folder


@pytest.mark.parametrize(("c", "cpp"), [("gcc", "g++"), ("clang", "clang++")])
def test_both_compilers_read_all_of_it(written: Path, c: str, cpp: str) -> None:
    if shutil.which(c) is None or shutil.which(cpp) is None:
        pytest.skip(f"{c} is not installed")
    sources = sorted(written.glob("src/*.c"))
    assert len(sources) > len(WORDS) - len(REFUSED)
    quick = ("-fsyntax-only", "-O0", "-w", "-I.", "-Iruntime", '-Drecorded_CHECK="."')
    programs = ("check.cpp", "recorded.cpp", "example.cpp")
    for command in (
        [c, "-std=gnu11", *quick, "table.c", *sources],
        [cpp, "-std=c++20", *quick, *programs],
    ):
        done = subprocess.run(command, cwd=written, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.returncode == 0


def test_other_names_stay_as_they_are() -> None:
    for name in ("edges", "E2N", "EDGES", "Q", "res_calc", "M_lumped", "MAX", "x_max", "W_cells"):
        assert identifier(name) == name
    assert [identifier(name) for name in ("a b", "1d", "errno", "class")] == [
        *("a_b", "_1d", "errno_", "class_")
    ]
