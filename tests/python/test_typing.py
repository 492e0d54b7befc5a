# SPDX-License-Identifier: BSD-3-Clause
"""Declared types, as C reads them."""

from __future__ import annotations

import pytest

from pyop2cxx.kernel.parser.parse import parse_c


def step(kind: str, *, const: bool = False, restrict: bool = False) -> tuple[str, int, bool, bool]:
    return ("*", 0, const, restrict) if kind == "*" else ("[", int(kind), const, restrict)


@pytest.mark.parametrize(
    ("declared", "base", "is_const", "steps"),
    [
        ("double a", "float64", False, ()),
        ("unsigned a", "uint32", False, ()),
        ("unsigned long long int a", "uint64", False, ()),
        ("long signed a", "int64", False, ()),
        ("signed a", "int32", False, ()),
        ("short int a", "int16", False, ()),
        ("signed char a", "int8", False, ()),
        ("unsigned char a", "uint8", False, ()),
        ("size_t a", "uint64", False, ()),
        ("enum e a", "int32", False, ()),
        ("const double *a", "float64", True, (step("*"),)),
        ("double const *const a", "float64", True, (step("*", const=True),)),
        ("double *restrict a", "float64", False, (step("*", restrict=True),)),
        ("double *__restrict__ const a", "float64", False, (step("*", const=True, restrict=True),)),
        ("double **a", "float64", False, (step("*"), step("*"))),
        ("double a[3][4]", "float64", False, (step("3"), step("4"))),
        ("double (*a)[4]", "float64", False, (step("*"), step("4"))),
        ("double *a[3]", "float64", False, (step("3"), step("*"))),
        ("double a[]", "float64", False, (step("-1"),)),
        ("pair a", "float64", False, (step("2"),)),
        ("const pair a", "float64", True, (step("2"),)),
        ("const handle a", "float64", False, (step("*", const=True),)),
        ("pair *a", "float64", False, (step("*"), step("2"))),
    ],
)
def test_parameters(declared: str, base: str, is_const: bool, steps: tuple[object, ...]) -> None:
    code = f"typedef double pair[2]; typedef double *handle;\nvoid k({declared}) {{}}"
    parsed = parse_c(code, "k")
    assert parsed.opaque_reason == ""
    assert parsed.parameters == (("a", (base, is_const, steps), 2),)


def test_void_is_no_parameter() -> None:
    assert parse_c("void k(void) {}", "k").parameters == ()


def test_what_a_function_returns() -> None:
    parsed = parse_c("const double *k(double *x) { return x; }", "k")
    assert parsed.functions[0].result == ("float64", True, (step("*"),))


@pytest.mark.parametrize(
    "declared", ["volatile int a", "int (*a)(void)", "int a, ...", "_Atomic int a"]
)
def test_what_is_not_supported_is_told(declared: str) -> None:
    assert parse_c(f"void k({declared}) {{}}", "k").opaque_reason != ""
