# SPDX-License-Identifier: BSD-3-Clause
"""Macros, conditions and includes; lines stay the user's."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.parser.preprocess import preprocess, without_pragmas

if TYPE_CHECKING:
    from pathlib import Path

BACKENDS = [backend.name for backend in op2.backends() if backend.available]


def test_text_without_directives_is_left_alone() -> None:
    text = "#include <math.h>\n#pragma omp simd\nvoid k() {}\n"
    result = preprocess(text, (), (), ())
    assert without_pragmas(result.text, result.lines) == "\n\nvoid k() {}\n"
    assert result.lines is None


def test_lines_survive_macros() -> None:
    code = (
        "#define SQ(x) \\\n  ((x) * (x))\n#if 1\n#define N 2\n#else\nbad\n#endif\n"
        "void k(double *x) {\n  x[0] = SQ(x[1]\n    + 1);\n  x[N] = 0;\n}"
    )
    kernel = Kernel(code, "k")
    text = _core.kernel_text(kernel.core, line_markers=True)
    assert '#line 9 "<kernel k>"\n' in text.replace("  #line", "#line")
    assert "x[0] = (x[1] + 1) * (x[1] + 1);" in text
    marked = [line.strip() for line in text.splitlines()]
    assert marked[marked.index("x[2] = 0;") - 1] == '#line 11 "<kernel k>"'


def test_options_define_macros() -> None:
    code = "void k(double *x) {\n#ifdef FAST\n  x[N] = 1;\n#endif\n}"
    kernel = Kernel(code, "k", opts=["-O2", "-DN=3", "-DFAST"])
    assert "x[3] = 1;" in _core.kernel_text(kernel.core, line_markers=False)
    assert kernel.core.options == ["-O2", "-DN=3", "-DFAST"]


def test_the_users_headers_give_macros_types_and_functions(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text(
        "#ifndef MINE\n#define MINE\n#include <math.h>\n#define N 3\n"
        "typedef float real;\nstatic inline real twice(real x) { return 2 * x; }\n#endif\n"
    )
    code = '#include "mine.h"\nvoid k(real *x) { for (int i = 0; i < N; ++i) x[i] = twice(x[i]); }'
    kernel = Kernel(code, "k", include_dirs=[str(tmp_path)])
    assert kernel.opaque_reason == ""
    text = _core.kernel_text(kernel.core, line_markers=False)
    assert kernel.core.headers == []
    assert "float twice(float x)" in text
    assert "float *x" in text
    assert "i < 3" in text
    assert "twice(x[i])" in text


def test_a_kernel_may_live_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("static void k(double *x) { x[0] = 1; }\n")
    kernel = Kernel('\n#include "mine.h"', "k", include_dirs=[str(tmp_path)])
    assert kernel.opaque_reason == ""
    assert '#line 2 "<kernel k>"' in _core.kernel_text(kernel.core, line_markers=True)
    (tmp_path / "yours.h").write_text('#include "other.h"\nstatic void k(double *x) { x[0] = 1; }')
    kernel = Kernel('#include "yours.h"', "k", include_dirs=[str(tmp_path)])
    assert "in a header" in kernel.opaque_reason
    assert kernel.core.headers == []  # the text, which is passed on, has the line itself


@pytest.mark.parametrize(
    "header",
    [
        "#include <stdlib.h>\ntypedef double real;\n#define ONE abs(-1)\n",
        "static int calls;\ntypedef double real;\n#define ONE 1\n",
        "union pair { double a, b; };\ntypedef double real;\n#define ONE 1\n",
    ],
    ids=["another header", "state", "a union"],
)
def test_headers_that_are_more_than_a_kernel_may_be_are_included(
    tmp_path: Path, header: str
) -> None:
    (tmp_path / "mine.h").write_text(header)
    code = '#include "mine.h"\nvoid k(real *x) { x[0] = ONE; }'
    kernel = Kernel(code, "k", include_dirs=[str(tmp_path)])
    assert kernel.opaque_reason == ""
    assert kernel.core.headers == ['"mine.h"']


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_users_headers_are_part_of_the_kernel(tmp_path: Path, backend: str) -> None:
    """On devices, too, which have no headers: what one includes, tables, complex numbers."""
    (tmp_path / "inner.h").write_text("#pragma once\n#define WEIGHT weights[1]\n")
    (tmp_path / "mine.h").write_text(
        '#include <complex.h>\n#include <math.h>\n#include "inner.h"\n'
        "static const double weights[2] = {0.5, 2.0};\nenum { N = 2 };\n"
        "static double complex turned(double complex z) { return I * z * WEIGHT; }\n"
    )
    code = """void k(double _Complex *z, const double *x) {
      for (int i = 0; i < N; ++i) z[i] = turned(z[i]) + fabs(x[i]);
    }"""
    kernel = Kernel(code, "k", include_dirs=[str(tmp_path)], headers=["mine.h"])
    assert kernel.core.headers == []
    cells = op2.Set(3)
    z = op2.Dat(cells**2, np.arange(6) + 1j)
    x = op2.Dat(cells**2, -np.arange(6.0))
    with op2.backend(backend):
        op2.par_loop(kernel, cells, z(op2.RW), x(op2.READ))
    expected = 2j * (np.arange(6) + 1j) + np.arange(6)
    np.testing.assert_array_equal(z.data_ro.reshape(-1), expected)


def test_a_header_in_a_branch_that_is_not_taken_is_not_included() -> None:
    code = "#ifdef NOPE\n#include <nope.h>\n#endif\nvoid k(double *x) { x[0] = 1; }"
    assert Kernel(code, "k").core.headers == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("void k() {}\n#error no luck\n", "line 2: .*no luck"),
        ("#if 1\nvoid k() {}\n", "line 1: "),
    ],
)
def test_bad_directives_are_errors(code: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Kernel(code, "k", headers=["stdlib.h"])


def test_a_header_that_comes_later_is_found(tmp_path: Path) -> None:
    """The text is read without it, as whoever compiles has to say that it is not there."""
    text = '#include "late.h"\n#ifndef N\n#define N 1\n#endif\nvoid k(double *x) { x[0] = N; }'
    kernel = Kernel(text, "k", include_dirs=[str(tmp_path)])
    assert "x[0] = 1;" in _core.kernel_text(kernel.core, line_markers=False)
    (tmp_path / "late.h").write_text("#define N 2\n")
    kernel = Kernel(text, "k", include_dirs=[str(tmp_path)])
    assert "x[0] = 2;" in _core.kernel_text(kernel.core, line_markers=False)
    assert kernel.core.headers == []


@pytest.mark.parametrize("body", ["", "goto end; end: ;"])
@pytest.mark.parametrize(
    "line",
    [
        '/**/ #include "n.h"',
        '# /* a */ include /* b */ "n.h" // c',
        '%:include "n.h"',
        '#in\\\nclude "n.h"',
        '#include/**/"n.h"',
        '#define H "n.h"\n#include H',
        '/*\n*/#/*\n*/include "n.h"',
    ],
)
def test_includes_are_found_however_they_are_written(line: str, body: str, tmp_path: Path) -> None:
    (tmp_path / "n.h").write_text("#define N 7\n")
    text = f"{line}\nvoid k(double *x) {{ x[0] = N; {body} }}"
    x = op2.Dat(op2.Set(1))
    kernel = Kernel(text, "k", include_dirs=[str(tmp_path)])
    with op2.backend("sequential"):
        op2.par_loop(kernel, x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [7.0]
    assert kernel.description.header_contents[::2] == ("n.h",)


def test_another_compiler_is_asked_anew(tmp_path: Path) -> None:
    """Its macros are other ones, and so is the kernel."""
    text = "#ifdef __clang__\n#define N 2\n#else\n#define N 1\n#endif\nint n = N;"
    found = {}
    for name in filter(shutil.which, ("gcc", "clang")):
        op2.exit()
        op2.init(cc=name, cache_dir=str(tmp_path))
        found[name] = preprocess(text, (), (), ()).text.split()[-1]
    op2.exit()
    assert found == {name: {"gcc": "1;", "clang": "2;"}[name] for name in found}


def test_the_programs_options_count(tmp_path: Path) -> None:
    text = "#ifndef N\n#define N 1\n#endif\nvoid k(double *x) { x[0] = N; }"
    for static in (False, True):
        op2.exit()
        op2.init(cflags="-DN=3", static=static, cache_dir=str(tmp_path))
        assert "x[0] = 3;" in _core.kernel_text(Kernel(text, "k").core, line_markers=False)
    op2.exit()


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("text", ["\r\n", "\udc80", "\U0001f600", "\0", "\f", "\u00e4"])
def test_any_character_may_stand_in_a_comment(text: str, static: bool) -> None:
    op2.exit()
    op2.init(static=static)
    code = f"/* {text} */\n#if 1\nint n = 1;\n#endif\n"
    assert preprocess(code, (), (), ()).resolved.count("int n = 1;") == 1
    op2.exit()


def test_folders_that_are_relative_are_those_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (1, 2):
        (tmp_path / str(n) / "inc").mkdir(parents=True)
        (tmp_path / str(n) / "inc" / "n.h").write_text(f"#define N {n}\n")
        monkeypatch.chdir(tmp_path / str(n))
        found = preprocess('#include "n.h"\nint n = N;', (), ["inc"], ())
        assert found.text.split()[-1] == f"{n};"
        assert found.contents[0] == "n.h"
