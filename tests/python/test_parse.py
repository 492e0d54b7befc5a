# SPDX-License-Identifier: BSD-3-Clause
"""Whole texts: what is kept, in which order, and what is said of the rest."""

from __future__ import annotations

import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.parse import parse_c, parse_opaque


def test_functions_stand_callee_first() -> None:
    code = (
        "double c(double x);\n"
        "void k(double *x) { a(x); b(x); }\n"
        "static void a(double *x) { x[0] = c(1); }\n"
        "static void b(double *x) { a(x); }\n"
        "static double c(double x) { return x; }\n"
        "static void unused(double *x) { c(2); }\n"
    )
    parsed = parse_c(code, "k")
    assert [function.name for function in parsed.functions] == ["c", "a", "b", "k"]
    assert [function.line for function in parsed.functions] == [5, 3, 4, 2]


def test_tables_are_kept_if_they_are_used() -> None:
    code = (
        "static const int a[2] = {1, 2}, b[1] = {3};\n"
        "const double c = 2 * 3;\nstatic const double d = c;\n"
        "void k(double *x) { x[a[0]] = d; }"
    )
    assert [table[0] for table in parse_c(code, "k").tables] == ["a", "c", "d"]


def test_an_extern_variable_is_a_free_name() -> None:
    parsed = parse_c("extern double gam, eps;\nvoid k(double *x) { x[0] = gam; }", "k")
    assert parsed.opaque_reason == ""
    assert parsed.tables == ()


def test_the_first_syntax_error_is_told() -> None:
    parsed = parse_c("void k(double *x) {\n  x[0] = 1\n  x[1] = 2;\n}\nvoid ()", "k")
    assert parsed.opaque_reason.startswith("line 2, column 10: syntax error: ")
    assert parsed.functions == ()


def test_a_typedef_after_its_use_in_a_comment_or_name() -> None:
    code = "/* real */ typedef double real;\nvoid k(real *x, int realm) { x[0] = (real)realm; }"
    parsed = parse_c(code, "k")
    assert parsed.opaque_reason == ""
    assert parsed.parameters is not None
    assert [name for name, _, _ in parsed.parameters] == ["x", "realm"]


def test_attributes_and_storage_do_not_matter() -> None:
    code = (
        "static inline __attribute__((always_inline)) double f(double x) { return x; }\n"
        "void k(double *restrict x) {\n  alignas(32) double t[4]; register int i = 0;\n"
        "#pragma GCC ivdep\n  for (; i < 4; ++i) t[i] = x[i] = f(i);\n}"
    )
    assert parse_c(code, "k").opaque_reason == ""


def test_opaque_text_needs_something_of_that_name() -> None:
    parsed = parse_opaque("void\nk (double *x) {}", "k", ("<vector>",))
    assert parsed.headers == ("<vector>",)
    with pytest.raises(UsageError, match="defines no function 'l'"):
        parse_opaque("void k(double *x) {}", "l", ())
