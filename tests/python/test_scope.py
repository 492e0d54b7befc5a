# SPDX-License-Identifier: BSD-3-Clause
"""Names in nested blocks, and extents of arrays."""

from __future__ import annotations

import pytest

from pyop2cxx.kernel.parser.parse import parse_c
from pyop2cxx.kernel.parser.scope import Binding, Scope, size_of


def test_inner_names_hide_outer_ones() -> None:
    scope = Scope(None, has_complex=False)
    scope.declare("n", Binding(("int32", True, ()), 3))
    scope.enter()
    scope.declare("n", Binding(("float64", False, ())))
    inner = scope.find("n")
    assert inner is not None
    assert inner.value is None
    scope.leave()
    outer = scope.find("n")
    assert outer is not None
    assert outer.value == 3
    assert scope.find("m") is None


@pytest.mark.parametrize(
    ("extent", "value"),
    [
        ("2 * N + 1", 7),
        ("(N << 2) / 5 % 2 + -1 + 2", 1),
        ("N > 2 ? FIVE : 1", 5),
        ("sizeof(double) / sizeof(float)", 2),
        ("sizeof(t) / sizeof(t[0])", 4),
        ("(int)3u", 3),
        ("0x10 - 010", 8),
        ("-7 / 2 + 4", 1),
        ("-7 % 2 + 4", 3),
        ("~-8", 7),
    ],
)
def test_extents_are_constant_expressions(extent: str, value: int) -> None:
    code = (
        "enum { FOUR = 4, FIVE };\nstatic const int N = 3;\n"
        f"void k(double *x) {{ double t[FOUR]; double a[{extent}]; a[0] = t[0] = x[0]; }}"
    )
    parsed = parse_c(code, "k")
    assert parsed.opaque_reason == ""
    assert parsed.functions[0].body[1][3][0][1] == ("float64", False, (("[", value, False, False),))


@pytest.mark.parametrize("extent", ["n", "x[0]", "f(2)", "1.5"])
def test_other_extents_are_not(extent: str) -> None:
    code = f"enum {{ N = 1 }};\nvoid k(double *x, int n) {{\n  double a[{extent}];\n}}"
    assert "line 3: the extent of" in parse_c(code, "k").opaque_reason


def test_a_shadowed_constant_is_none() -> None:
    code = "void k(int *p) { const int n = 2; { int n = p[0]; double a[n]; a[0] = 1; } }"
    assert "the extent of 'a[n]'" in parse_c(code, "k").opaque_reason


def test_sizes() -> None:
    array = ("[", 3, False, False)
    pointer = ("*", 0, False, False)
    assert size_of(("float64", False, (array, array))) == 72
    assert size_of(("float64", False, (array, pointer))) == 24
    assert size_of(("float64", False, (pointer, array))) == 8
    assert size_of(("void", False, ())) is None
