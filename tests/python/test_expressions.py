# SPDX-License-Identifier: BSD-3-Clause
"""Expressions, from the parser's tree to wire tuples."""

from __future__ import annotations

import pytest

from pyop2cxx.kernel.parser.parse import parse_c
from pyop2cxx.kernel.parser.wire import Expr, literal


def read(text: str) -> Expr:
    parsed = parse_c(f"void k(double *x, int n) {{\n  {text};\n}}", "k")
    assert parsed.opaque_reason == ""
    value: Expr = parsed.functions[0].body[0][2]
    return value


def name(text: str) -> Expr:
    return ("name", 2, text, None, ())


TWO = literal("2", 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", name("n")),
        ("'a'", literal("'a'", 2)),
        ('"a" "b"', literal('"a" "b"', 2)),
        ("-2", ("unary", 2, "-", None, (TWO,))),
        ("n-2", ("binary", 2, "-", None, (name("n"), TWO))),
        ("n = -2", ("assign", 2, "", None, (name("n"), ("unary", 2, "-", None, (TWO,))))),
        ("n <<= 2", ("assign", 2, "<<", None, (name("n"), TWO))),
        ("*x", ("unary", 2, "*", None, (name("x"),))),
        ("&n", ("unary", 2, "&", None, (name("n"),))),
        ("++n", ("unary", 2, "++", None, (name("n"),))),
        ("n--", ("postfix", 2, "--", None, (name("n"),))),
        ("n ? n : 2", ("ternary", 2, "", None, (name("n"), name("n"), TWO))),
        ("n, 2", ("binary", 2, ",", None, (name("n"), TWO))),
        ("x[2]", ("index", 2, "", None, (name("x"), TWO))),
        ("g(/* a */ n, 2)", ("call", 2, "g", None, (name("n"), TWO))),
        ("(g)(n)", ("call", 2, "g", None, (name("n"),))),
        ("(int)n", ("cast", 2, "", ("int32", False, ()), (name("n"),))),
        ("sizeof(int)", ("sizeof", 2, "", ("int32", False, ()), ())),
        ("sizeof n", ("sizeof", 2, "", None, (name("n"),))),
        ("((n) /* b */)", name("n")),
    ],
)
def test_each_kind(text: str, expected: Expr) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x.y = 1",
        "n->m = 1",
        "1 && (double[]){1, 2}",
        "n = _Alignof(int)",
        "n(2)",
        "(*g)(n)",
        "1.0i",
    ],
)
def test_what_has_no_tuple_is_told_with_its_line(text: str) -> None:
    parsed = parse_c(f"void k(double *x, int n) {{\n  {text};\n}}", "k")
    assert parsed.opaque_reason.startswith(("line 2: ", "line 2, "))


def test_commas_group_from_the_left() -> None:
    first = ("binary", 2, ",", None, (name("n"), TWO))
    assert read("n, 2, n") == ("binary", 2, ",", None, (first, name("n")))
    last = ("binary", 2, ",", None, (TWO, name("n")))
    assert read("n, (2, n)") == ("binary", 2, ",", None, (name("n"), last))


def test_precedence_is_the_parsers() -> None:
    assert read("n + 2 * n") == (
        *("binary", 2, "+", None),
        (name("n"), ("binary", 2, "*", None, (TWO, name("n")))),
    )


@pytest.mark.parametrize(
    "row", ["1", "-1.5e-3", "0.25, -1., +3", "{1, -2}, {3.5e+10, 4}", "1.0f, 2", "1, 2,", "x[1], 2"]
)
def test_rows_of_numbers_are_lists_as_others(row: str) -> None:
    """A comment within keeps a row from being read at once."""

    def of(text: str) -> Expr:
        body = f"void k(double *x) {{ const double t[2][2] = {{{text}}}; x[0] = t[0][0]; }}"
        value: Expr = parse_c(body, "k").functions[0].body[0][3][0][2]
        return value

    assert of(row) == of(f"{row.replace(', ', ', /* a */ ')} /* b */")
