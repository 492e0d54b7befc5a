# SPDX-License-Identifier: BSD-3-Clause
"""Directives of a kernel's text, carried out by pcpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.macros import expanded
from pyop2cxx.kernel.parser.tokens import token_stream

if TYPE_CHECKING:
    from pathlib import Path


def test_macros_are_replaced_and_lines_are_the_users() -> None:
    text = "#define N 2\n#if N > SIZE\nint a = N;\n#endif\nint b;\n"
    found = expanded("#include <stdlib.h>\n", text, ["<stdlib.h>"], [], ["SIZE 1"])
    rows = dict(zip(found.lines, found.text.split("\n"), strict=True))
    assert (rows[3].strip(), rows[5].strip()) == ("int a = 2;", "int b;")
    assert found.seen == {"stdlib.h"} == found.elsewhere


def test_a_header_of_the_users_is_read(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("static int two(void) { return 2; }\n")
    found = expanded("", '#include "two.h"\nint a;\n', ['"two.h"'], [str(tmp_path)], [])
    assert "return 2" in found.declarations
    assert "return 2" not in found.text
    assert found.seen == {"two.h"}
    assert found.elsewhere == set()


def test_a_mistake_has_the_users_line() -> None:
    with pytest.raises(UsageError, match=r"<kernel>, line 2: the preprocessor says: #error no"):
        expanded("#include <a.h>\n", "int a;\n#error no\n", ["<a.h>"], [], [])


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
    found = expanded("", f"#define {definition}\n{use}\n", [], [], [])
    assert token_stream(found.text) == token_stream(expected)


def test_tokens_that_a_macro_has_stay() -> None:
    body = "a >>= 1, a <<= b--, c->d++, a && b || !c, a != 1.5e-3 - 0x1p-3f, a ^= 3, x == y"
    squeezed = body.replace(" ", "")
    found = expanded("", f"#define ALL {squeezed}\nALL;\n", [], [], [])
    assert token_stream(found.text) == token_stream(body + ";")
