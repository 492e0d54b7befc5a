# SPDX-License-Identifier: BSD-3-Clause
"""Statements, from the parser's tree to wire tuples."""

from __future__ import annotations

import pytest

from pyop2cxx.kernel.parser.parse import parse_c
from pyop2cxx.kernel.parser.wire import Body, Expr, literal

N: Expr = ("name", 2, "n", None, ())
ONE = literal("1", 2)
INT = ("int32", False, ())
SET = ("evaluate", 2, ("assign", 2, "", None, (N, ONE)))


def read(text: str) -> Body:
    parsed = parse_c(f"void k(int n) {{\n  {text}\n}}", "k")
    assert parsed.opaque_reason == ""
    return parsed.functions[0].body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (";", ()),
        ("n = 1;", (SET,)),
        ("{ n = 1; }", (("block", 2, (SET,)),)),
        ("if (n) n = 1;", (("if", 2, N, (SET,), ()),)),
        ("if (n) { n = 1; } else { n = 1; }", (("if", 2, N, (SET,), (SET,)),)),
        ("if (n) ; else if (1) n = 1;", (("if", 2, N, (), (("if", 2, ONE, (SET,), ()),)),)),
        ("for (;;) n = 1;", (("for", 2, (), None, None, (SET,)),)),
        ("for (n = 1; n; n) ;", (("for", 2, (SET,), N, N, ()),)),
        ("while (n) { n = 1; }", (("while", 2, N, (SET,), False),)),
        ("do n = 1; while (n);", (("while", 2, N, (SET,), True),)),
        ("return;", (("return", 2, None),)),
        ("return n;", (("return", 2, N),)),
        ("while (n) break;", (("while", 2, N, (("break", 2),), False),)),
        ("while (n) continue;", (("while", 2, N, (("continue", 2),), False),)),
    ],
)
def test_each_kind(text: str, expected: Body) -> None:
    assert read(text) == expected


def test_a_declaration_of_several_becomes_several() -> None:
    pointer = ("int32", False, (("*", 0, False, False),))
    assert read("int a = 1, *b;") == (
        ("declare", 2, False, (("a", INT, ONE, 2),)),
        ("declare", 2, False, (("b", pointer, None, 2),)),
    )


def test_but_not_in_the_head_of_a_loop() -> None:
    ((_, _, init, _, _, _),) = read("for (int i = 1, j = 1; ; ) ;")
    assert init == (("declare", 2, False, (("i", INT, ONE, 2), ("j", INT, ONE, 2))),)


def test_cases_run_on() -> None:
    ((kind, _, value, cases),) = read("switch (n) { case 1: /* on */ default: n = 1; break; }")
    assert (kind, value) == ("switch", N)
    assert cases == ((ONE, ()), (None, (SET, ("break", 2))))


def test_an_extent_is_completed_by_its_initialiser() -> None:
    ((_, _, is_static, ((_, type_, _, _),)),) = read("static const int t[] = {1, 1, 1};")
    assert is_static
    assert type_ == ("int32", True, (("[", 3, False, False),))


def test_types_and_foreign_declarations_leave_nothing() -> None:
    assert read("typedef int t; enum { A }; extern int b; int f(int); n = 1;") == (SET,)


@pytest.mark.parametrize(
    "text",
    [
        *("goto a; a: ;", "switch (n) { n = 1; case 1: ; }", "int t[];", "int f(int a) { }"),
        *("break;", "continue;", "if (n) { break; }", "switch (n) { case 1: continue; }"),
    ],
)
def test_what_has_no_tuple_is_told_with_its_line(text: str) -> None:
    parsed = parse_c(f"void k(int n) {{\n  {text}\n}}", "k")
    assert parsed.opaque_reason.startswith("line 2: ")
