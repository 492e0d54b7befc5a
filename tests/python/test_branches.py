# SPDX-License-Identifier: BSD-3-Clause
"""What stands in a branch that is taken is the kernel, wherever and however it runs."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import branches

if TYPE_CHECKING:
    from pathlib import Path

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
TEXT = """/* #if 0
#endif */
#if 1 /* a
 b */
int x;
#define Y \\
  2
#elif FOO(
int y;
#else
#endif
int z; // #if
"""


def test_a_preprocessor_leaves_the_marks_of_what_is_taken() -> None:
    marked = branches.marked(TEXT)
    said = subprocess.run(
        ["cc", "-E", "-P", "-"], input=marked.text, capture_output=True, text=True, check=True
    )
    taken, others = branches.found_in(said.stdout.split("\n"))
    assert len(marked.ends) == 4
    assert taken == {0, 3}
    assert [row for row in others if row] == ["int x;", "int z;"]
    inside = branches.found_in(["f(1,op2_branch_4_is_taken 2)", "g"])
    assert inside == (frozenset({4}), ["f(1,2)", "g"])


def test_a_line_is_where_it_stands() -> None:
    text = (
        '#line 40 "other.c"\nint n = __LINE__;\n#define L __LINE__ // "__LINE__"\n# 7\n// __LINE__'
    )
    assert (
        branches.numbered(text) == '\nint n = 2;\n#define L __LINE__ // "__LINE__"\n\n// __LINE__'
    )


def test_lines_keep_their_numbers_and_the_rest_is_gone() -> None:
    marked = branches.marked(TEXT)
    left = branches.resolved(TEXT, marked, frozenset({0, 3}))
    assert left.count("\n") == TEXT.count("\n")
    rows = left.split("\n")
    assert rows[:6] == ["/* #if 0", "#endif */", "", "", "int x;", "#define Y \\"]
    assert rows[7:] == ["", "", "", "", "int z; // #if", ""]
    lines = branches.lines_of(marked.text)
    assert lines == [1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 10, 11, 11, 12, 13]


OPAQUE = "goto end; end: ;"
MEANINGS = {
    "float.h": (
        "#include <float.h>\n#ifndef DBL_EPSILON\n#define DBL_EPSILON 1e-3\n#endif\n",
        "DBL_EPSILON",
        2.0**-52,
    ),
    "no header": ("#ifndef DBL_EPSILON\n#define DBL_EPSILON 1e-3\n#endif\n", "DBL_EPSILON", 1e-3),
    "a header that only a function needs": (
        "#ifdef M_PI\n#define TAU (2 * M_PI)\n#else\n#define TAU 6.0\n#endif\n",
        "TAU + fabs(-1.0)",
        7.0,
    ),
    "arithmetic": (
        "#include <limits.h>\n#if INT_MAX > 32767 && LONG_MAX > 2147483647\n#define A 1\n"
        "#else\n#define A 2\n#endif\n",
        "A",
        1.0,
    ),
    "the compiler": (
        "#if __STDC_VERSION__ >= 199901L && defined __GNUC__\n#define A 1\n#else\n#define A 2\n"
        "#endif\n",
        "A",
        1.0,
    ),
    "a value of the compiler": ("", "__SIZEOF_LONG__ + (__CHAR_BIT__ == 8)", 9.0),
    "taken back": (
        "#include <limits.h>\n#undef INT_MAX\n#define INT_MAX 5\n#if INT_MAX == 5\n#define A 1\n"
        "#endif\n",
        "A + INT_MAX",
        6.0,
    ),
    "an error in another branch": (
        "#ifndef __STDC__\n#error no C\n#else\n#define A 3\n#endif\n",
        "A",
        3.0,
    ),
    "before the header": (
        "#ifndef M_PI\n#define A 1\n#else\n#define A 2\n#endif\n#include <math.h>\n",
        "A + (M_PI > 3.1)",
        2.0,
    ),
    "a branch among arguments": (
        "#define SUM(a, b) ((a) + (b))\n",
        "SUM(1,\n#ifdef __STDC__\n2\n#else\n3\n#endif\n)",
        3.0,
    ),
    "lines": ("#line 90\n#define A 1\n\n", "__LINE__ + A", 5.0),
    "a header behind a macro": (
        "#define _GNU_SOURCE\n#include <math.h>\n#ifdef M_PIl\n#define A exp10(2.0)\n#endif\n",
        "A + fabs(-1.0)",
        101.0,
    ),
    "a function of the user's": ("#define CUBE(x) ((x) * (x) * (x))\n", "CUBE(1 + 1)", 8.0),
}


@pytest.mark.parametrize("meaning", MEANINGS)
@pytest.mark.parametrize("how", ["parsed", "opaque", "in a header", "C++"])
def test_a_kernel_means_the_same_however_it_is_read(meaning: str, how: str, tmp_path: Path) -> None:
    preamble, value, expected = MEANINGS[meaning]
    if how == "in a header":
        (tmp_path / "mine.h").write_text(preamble)
        preamble = '#include "mine.h"\n'
    if how == "in a header" and meaning == "lines":
        return  # they stand elsewhere
    if how == "C++" and ("<" in preamble or "STDC" in preamble):
        return  # headers and macros of C++ are other ones
    text = f"{preamble}void k(double *x) {{ x[0] = {value}; {OPAQUE if how == 'opaque' else ''} }}"
    kernel = op2.Kernel(text, "k", include_dirs=[str(tmp_path)], cpp=how == "C++")
    is_opaque = how in ("opaque", "C++") or (how == "parsed" and "_GNU_SOURCE" in preamble)
    assert (kernel.opaque_reason != "") == is_opaque
    x = op2.Dat(op2.Set(2))
    is_whole = not kernel.opaque_reason and not kernel.core.headers
    backends = [name for name in BACKENDS if is_whole or name == "sequential"]
    for backend in backends:
        with op2.backend(backend):
            op2.par_loop(kernel, x.dataset.set, x(op2.WRITE))
        assert x.data_ro.tolist() == [expected] * 2, backend
        x.zero()


@pytest.mark.parametrize("opaque", ["", OPAQUE])
def test_headers_that_a_text_needs_do_not_change_the_users(opaque: str, tmp_path: Path) -> None:
    """A function of C's that the user's header calls brings its header, and that other macros."""
    (tmp_path / "own.h").write_text(
        "#ifndef M_PI\n#define M_PI 3.0\n#endif\n"
        "static double scaled(double x) {\n  return fabs(x) * M_PI; // twice\n}\n"
    )
    text = f"""#include "own.h"
void k(double *x) {{
  x[0] = scaled(-1); x[1] = __LINE__; {opaque}
}}"""
    kernel = op2.Kernel(text, "k", include_dirs=[str(tmp_path)])
    assert (kernel.opaque_reason != "") == (opaque != "")
    x = op2.Dat(op2.Set(1) ** 2)
    with op2.backend("sequential"):
        op2.par_loop(kernel, x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [[3.0, 3.0]]


def test_where_no_compiler_is_asked_the_text_is_the_same() -> None:
    texts = []
    for static in (False, True):
        op2.exit()
        op2.init(static=static)
        for meaning, (preamble, value, _) in MEANINGS.items():
            if meaning == "a header behind a macro":
                continue  # what more headers give than C says only they know
            kernel = op2.Kernel(f"{preamble}void k(double *x) {{ x[0] = {value}; }}", "k")
            text = _core.kernel_text(kernel.core, line_markers=False)
            texts.append(re.sub(r"0x7fffffff\b", "2147483647", text))
    op2.exit()
    n = len(MEANINGS) - 1
    assert len(texts) == 2 * n
    assert texts[:n] == texts[n:]


@pytest.mark.parametrize("opaque", ["", OPAQUE])
@pytest.mark.parametrize("static", [False, True])
def test_an_error_that_is_reached_has_its_line(static: bool, opaque: str) -> None:
    op2.exit()
    op2.init(static=static)
    text = f"#if 1\n#error no luck\n#endif\nvoid k(double *x) {{ x[0] = 1; {opaque} }}"
    with pytest.raises(UsageError, match=r"'k': <kernel>, line 2: .*no luck"):
        op2.Kernel(text, "k")
    op2.exit()


def test_lines_of_errors_behind_conditions_are_the_users() -> None:
    text = "#if 1\n#define A 1\n#endif\n\nvoid k(double *x) {\n  static int n = A;\n}"
    with pytest.raises(UsageError, match="line 6"):
        op2.Kernel(text, "k")
