# SPDX-License-Identifier: BSD-3-Clause
"""The token stream that a kernel's key is made of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx.kernel.parser import tokens
from pyop2cxx.kernel.parser.tokens import substitute, token_stream

PIECES = [
    "a",
    "_b1",
    "2.5e-3",
    ".5",
    "0x1F",
    "+",
    "++",
    "->",
    "<<=",
    "...",
    "::",
    "(",
    "}",
    "'",
    '"',
]
PIECES += ["'\\''", '"a /* b"', "/* c\n*/", "// d\n", "/*", "\n", " ", "\t", "\\", "R", "."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a+b", " a /* c */ + // d\n b"),
        ("x\\\ny", "x y"),
        ('s = "a b";', 's="a b" ;'),
        ("#define N 3\nint a;", "#define  N   3 // n\n\nint a;\n"),
    ],
)
def test_texts_with_equal_tokens(one: str, other: str) -> None:
    assert token_stream(one) == token_stream(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a + +b", "a ++b"),
        ("ab", "a b"),
        ('"a b"', '"a  b"'),
        ('"/* a */"', '"/* b */"'),
        ("'\\''", "'\\\"'"),
        ("1.0e-3", "1.0e -3"),
        ("#define N 3\n-1", "#define N 3 -1\n"),
        ('R"(a  b)"', 'R"(a b)"'),
    ],
)
def test_texts_with_different_tokens(one: str, other: str) -> None:
    assert token_stream(one) != token_stream(other)


def test_tokens_are_those_of_c() -> None:
    stream = token_stream("x->y <<= 1.5e+3f... && 'a' ## 0x1p-3;")
    assert stream == (*("x", "->", "y", "<<=", "1.5e+3f...", "&&", "'a'", "##", "0x1p-3", ";"),)


def test_names_are_replaced_whole_and_outside_of_comments_and_strings() -> None:
    text = 'real x; realm y; /* real */ s = "real"; (real)z; // real'
    replaced = substitute(text, {"real": "double"})
    assert replaced == 'double x; realm y; /* real */ s = "real"; (double)z; // real'


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_texts_without_directives_are_read_at_once(text: str) -> None:
    if 'R"' not in text:
        assert token_stream(text) == tokens._with_directives(tokens._CONTINUED.sub(" ", text))


DIRECTIVES = [
    "#define N 3\n",
    "  # include <a.h> // b\n",
    "#",
    "##",
    "\f#x\n",
    "#error don't\n",
    "\n",
]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES + DIRECTIVES), max_size=10).map("".join))
def test_lines_with_directives_are_read_at_once(text: str) -> None:
    assert token_stream(text) == tokens._with_directives(tokens._CONTINUED.sub(" ", text)) or (
        "#" not in text and 'R"' not in text
    )
