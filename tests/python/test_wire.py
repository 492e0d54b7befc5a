# SPDX-License-Identifier: BSD-3-Clause
"""The tuples cross into C++ and mean the same there."""

from __future__ import annotations

from pyop2cxx import _core
from pyop2cxx.kernel.parser.wire import Function, OpaqueKernel, call, literal

DOUBLE = ("float64", False, ())
POINTER = ("float64", False, (("*", 0, False, False),))


def body(value: object, line: int = 1) -> _core.KernelBody:
    target = ("unary", line, "*", None, (("name", line, "x", None, ()),))
    statement = ("evaluate", line, ("assign", line, "", None, (target, value)))
    function = Function(
        *("k", ("void", False, ()), (("x", POINTER, 1),), (statement,), line),
        *(frozenset[str](), frozenset[str]()),
    )
    return _core.KernelBody((function,), (), ())


def test_a_body_made_by_hand() -> None:
    made = body(call("sqrt", 1, literal("2.0", 1)))
    assert [repr(parameter) for parameter in made.parameters] == ["double *x"]
    assert made.parameters[0].type.dtype == _core.DType.float64
    assert made.equals(body(call("sqrt", 1, literal("2.0", 1))))
    assert not made.equals(body(call("sqrt", 1, literal("3.0", 1))))


def test_lines_take_no_part_in_equality() -> None:
    assert body(literal("1", 1), 1).equals(body(literal("1", 7), 7))


def test_the_verdict_names_its_line() -> None:
    assert str(OpaqueKernel("a struct", 3)) == "line 3: a struct"
