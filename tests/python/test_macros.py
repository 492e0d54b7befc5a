# SPDX-License-Identifier: BSD-3-Clause
"""Directives of a kernel's text, carried out by pcpp."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import preambles
import pytest
from preambles import PREAMBLES, taken_in
from test_by_compiler import by_judge

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.macros import expanded
from pyop2cxx.kernel.parser.preprocess import preprocess
from pyop2cxx.kernel.parser.tokens import token_stream
from pyop2cxx.kernel.parser.wire import Asked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def asked(text: str, **others: object) -> Asked:
    return Asked(text, (), (), (), (), cpp=False)._replace(**others)


def test_macros_are_replaced_and_lines_are_the_users() -> None:
    text = "#define N 2\n#if N > SIZE\nint a = N;\n#endif\nint b;\n"
    given = asked(text, extra_headers=("<stdlib.h>",), options=("-DSIZE=1",))
    found = expanded(given, text)
    rows = dict(zip(found.lines, found.rows, strict=True))
    assert (rows[3].strip(), rows[5].strip()) == ("int a = 2;", "int b;")
    assert found.elsewhere == ("stdlib.h",)


def test_a_header_of_the_users_is_read(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("static int two(void) { return 2; }\n")
    text = '#include "two.h"\nint a;\n'
    found = expanded(asked(text, include_dirs=(str(tmp_path),)), text)
    assert "return 2" in found.declarations
    assert "return 2" not in "".join(found.rows)
    assert found.own == (("two.h", str(tmp_path / "two.h")),)
    assert found.elsewhere == ()


def test_a_mistake_has_the_users_line() -> None:
    text = "int a;\n#error no\n"
    with pytest.raises(UsageError, match=r"<kernel>, line 2: the preprocessor says: #error no"):
        expanded(asked(text, extra_headers=("<a.h>",)), text)


@pytest.mark.parametrize(
    ("definition", "use", "expected"),
    [
        ("NEGATIVE(x) -x", "b = NEGATIVE(-a);", "b = - -a;"),
        ("LOSS -a", "b = -LOSS;", "b = - -a;"),
        ("LOSS -2", "b = a-LOSS;", "b = a- -2;"),
        ("PLUS +", "b = a PLUS+ a;", "b = a + + a;"),
        ("LESS <", "b = a LESS<1;", "b = a < <1;"),
        ("AT(x) *x", "b = 4/AT(p); /**/", "b = 4/ *p;"),
        ("ALSO(x) &x", "b = a&ALSO(a);", "b = a& &a;"),
    ],
)
def test_tokens_of_macros_do_not_become_others(definition: str, use: str, expected: str) -> None:
    text = f"#define {definition}\n{use}\n"
    assert token_stream("\n".join(expanded(asked(text), text).rows)) == token_stream(expected)


def test_tokens_that_a_macro_has_stay() -> None:
    body = "a >>= 1, a <<= b--, c->d++, a && b || !c, a != 1.5e-3 - 0x1p-3f, a ^= 3, x == y"
    squeezed = body.replace(" ", "")
    text = f"#define ALL {squeezed}\nALL;\n"
    assert token_stream("\n".join(expanded(asked(text), text).rows)) == token_stream(body + ";")


@pytest.fixture
def without_compiler() -> Iterator[None]:
    """A program that only generates text."""
    op2.exit()
    op2.init(static=True)
    yield
    op2.exit()


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
@pytest.mark.usefixtures("without_compiler")
def test_branches_without_a_compiler_are_those_that_gcc_takes(tmp_path: Path) -> None:
    preambles.write_headers(tmp_path)
    wrong = []
    expected = by_judge("gcc", tmp_path)
    for one, right in zip(PREAMBLES, expected, strict=True):
        if one.is_general:
            found = preprocess(one.text, one.headers, [str(tmp_path)], one.options)
            if not taken_in(found.text) == taken_in(found.resolved) == right:
                wrong.append((one, found.text, right))
    assert wrong == []
