# SPDX-License-Identifier: BSD-3-Clause
"""Brackets that are never closed are said as such, at the user's line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import brackets
from pyop2cxx.kernel.parser.brackets import mistake_in

GOOD = [
    "",
    "void k(double *x) { x[0] = (1); }",
    "void k(double *x) { /* ( { [ */ x[0] = '('; } // ]",
    "void k(double *x) { printf(\"%d {(\\\"[\", '\\''); }",
    "void k(double *x) {\nif (1) {\n} }",
]

WRONG = [
    ("void k(double *x) {\n  if (x[0] > 0) {\n    x[0] = 2;\n}\n", "'{' is never closed", 2, 17),
    ("void k(double *x) {\n  for (;;)\n  {\n    x[0] = 2;\n}\n", "'{' is never closed", 3, 3),
    ("void f(double *x) { for (;;) { }\nvoid k(double *x) { f(x); }\n", "'{' is never", 1, 19),
    ("void k(double *x) {\n  x[0] = 1;\n}}\n", "'}' closes nothing", 3, 2),
    ("void k(double *x) {\n  x[0] = 1 + 2);\n}\n", "')' closes nothing", 2, 15),
    ("void k(double *x) {\n  x[0] = (1 + 2;\n}\n", "'(' is never closed: a '}' follows", 2, 10),
    ("void k(double *x) {\n  x[0 = 1;\n}\n", "'[' is never closed: a '}' follows", 2, 4),
    ("void k(double *x) {\n  x[0] = 'a;\n}\n", "' is never closed", 2, 10),
    ('void k(double *x) {\n  f("a\n);\n}\n', '" is never closed', 2, 5),
    ("void k(double *x) {\n  /* x[0] = 1;\n}\n", "/* is never closed", 2, 3),
]


@pytest.mark.parametrize("text", GOOD)
def test_what_is_closed(text: str) -> None:
    assert mistake_in(text) is None


@pytest.mark.parametrize(("text", "what", "line", "column"), WRONG)
def test_what_is_never_closed(text: str, what: str, line: int, column: int) -> None:
    found = mistake_in(text)
    assert found is not None
    assert found.what.startswith(what)
    assert (found.row + 1, found.column + 1) == (line, column)
    shown = text.splitlines()[line - 1]
    with pytest.raises(UsageError) as caught:
        op2.Kernel(text, "k")
    message = str(caught.value)
    assert message.startswith(f"Kernel 'k': line {line}: {what}")
    assert message.endswith(f"  {line} | {shown}\n    | {' ' * (column - 1)}^")


def test_lines_are_the_users_where_there_are_directives() -> None:
    text = "#define N 3\n#if N > 2\nvoid k(double *x) {\n  x[N - 1] = (N + f(N);\n}\n#endif\n"
    with pytest.raises(UsageError, match=re.escape("line 4: '(' is never closed")) as caught:
        op2.Kernel(text, "k")
    assert str(caught.value).endswith("  4 |   x[N - 1] = (N + f(N);\n    |              ^")
    assert op2.Kernel("#if 0\n}}\n#endif\nvoid k(double *x) {}", "k").opaque_reason == ""


def test_macros_of_headers_that_nobody_has_may_hide_brackets() -> None:
    text = "#include <nobody_has.h>\nvoid k(double *x) BEGIN x[0] = 1; }\n"
    assert op2.Kernel(text, "k").opaque_reason


PIECES = [*"()[]{}", "a", "\n", "  ", "'('", '"{"', "'", '"', "/* ( */", "// {\n", "/*", "*/", "\\"]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_nothing_is_found_exactly_where_all_is_closed(text: str) -> None:
    assert brackets._is_whole(text) == (brackets._first_mistake(text) is None)
