# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that programs have written: thousands of terms, branches and brackets in each other."""

from __future__ import annotations

import pickle

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.kernel.parser import wire
from pyop2cxx.kernel.parser.parse import parse_c
from pyop2cxx.kernel.parser.scope import MOST_LEVELS

TERMS = 2000
BRANCHES = 1000


def repeated(before: str, n: int, inside: str, after: str = "") -> str:
    return before * n + inside + after * n


def total(n: int) -> str:
    return f"x[0] = {' + '.join(f'x[{i % 4}]' for i in range(n))};"


def branches(n: int) -> str:
    more = "".join(f" else if (x[1] < {i}) x[0] = {i};" for i in range(1, n))
    return f"if (x[1] < 0) x[0] = -1;{more}"


def choices(n: int) -> str:
    return f"x[0] = {''.join(f'x[1] < {i} ? {i} : ' for i in range(n))}-1;"


DEEP = {
    "sum": total,
    "else if": branches,
    "choices": choices,
    "conditions": lambda n: f"x[0] = {' && '.join(f'x[1] > -{i + 1}' for i in range(n))};",
    "sum in brackets": lambda n: f"x[0] = {repeated('(', n, 'x[1]', ' + x[2])')};",
    "sum to the right": lambda n: f"x[0] = {repeated('x[1] + (', n, 'x[2]', ')')};",
    "brackets": lambda n: f"x[0] = {repeated('(', n, 'x[1]', ')')};",
    "blocks": lambda n: repeated("{ ", n, "x[0] = x[1];", " }"),
    "calls": lambda n: f"x[0] = {repeated('fmax(x[2], ', n, 'x[1]', ')')};",
    "signs": lambda n: f"x[0] = {repeated('- ', n, 'x[1]')};",
    "casts": lambda n: f"x[0] = {repeated('(double)', n, 'x[1]')};",
    "assignments": lambda n: f"double a; x[0] = {repeated('a = ', n, 'x[1]')};",
    "commas": lambda n: f"x[0] = ({repeated('x[1], ', n, 'x[2]')});",
    "subscripts": lambda n: f"int p[1] = {{0}}; x[0] = {repeated('p[', n, '0', ']')};",
    "loops": lambda n: repeated("while (x[1] > 5) ", n, "x[1] = 0;"),
    "lists": lambda n: f"double a = {repeated('{', n, 'x[1]', '}')}; x[0] = a;",
    "structures": lambda n: f"{repeated('struct {', n, 'int a;', '} b;')} x[0] = 1;",
    "constant": lambda n: f"const int n = {' + '.join('1' for _ in range(n))}; double a[n];",
    "size": lambda n: f"double a[sizeof({repeated('-', n, '1')})];",
    "pointers": lambda n: f"double {'*' * n}p; x[0] = 1;",
    "dimensions": lambda n: f"double a{'[1]' * n}; x[0] = 1;",
    "declarators": lambda n: f"double {repeated('(', n, 'a', ')')} = x[1]; x[0] = a;",
}


CONDITIONS = (branches(BRANCHES), choices(BRANCHES), DEEP["conditions"](BRANCHES))


def kernel(body: str) -> str:
    return f"void k(double *x) {{\n {body}\n}}"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (total(TERMS), 1.5 * TERMS),
        (branches(BRANCHES), 2.0),
        (choices(BRANCHES), 2.0),
        (DEEP["conditions"](BRANCHES), 1.0),
        (DEEP["sum in brackets"](BRANCHES), 1.0 + 2.0 * BRANCHES),
        (DEEP["calls"](100), 2.0),
        (DEEP["blocks"](100), 1.0),
        ("x[0] += x[2];" * TERMS, 2.0 * TERMS),
    ],
    ids=["sum", "else if", "choices", "conditions", "brackets", "calls", "blocks", "statements"],
)
@pytest.mark.parametrize(
    ("backend", "options"),
    [
        ("sequential", {}),
        ("sequential", {"check": True}),
        ("sequential", {"lanes": 4}),
        ("opencl", {}),
    ],
    ids=["sequential", "checked", "lanes", "opencl"],
)
def test_they_run(backend: str, options: dict[str, int], body: str, value: float) -> None:
    if "lanes" in options and body in CONDITIONS:
        pytest.skip("refused, see below")
    cells = op2.Set(4)
    x = op2.Dat(cells**4, [[0.0, 1.0, 2.0, 3.0]] * 4)
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(kernel(body), "k"), cells, x(op2.RW), **options)
    assert x.data_ro[:, 0].tolist() == [value] * 4


@pytest.mark.parametrize("name", ["else if", "choices", "conditions", "blocks"])
def test_lanes_are_refused_where_branches_lie_deep(name: str) -> None:
    cells = op2.Set(4)
    x = op2.Dat(cells**4)
    with pytest.raises(Op2Error, match="has more than 200 blocks or conditions in each"):
        op2.par_loop(op2.Kernel(kernel(DEEP[name](300)), "k"), cells, x(op2.RW), lanes=4)


@pytest.mark.parametrize("write", DEEP.values(), ids=DEEP.keys())
@pytest.mark.parametrize("n", [800, 20_000])
def test_all_that_nests_is_read_or_left_to_the_compiler(write: object, n: int) -> None:
    parsed = parse_c(kernel(write(n)), "k")  # type: ignore[operator]
    assert isinstance(parsed.opaque_reason, str)


@pytest.mark.parametrize("name", ["sum", "else if", "blocks"])
def test_what_is_too_deep_is_told_with_its_line(name: str) -> None:
    reason = parse_c(kernel(DEEP[name](2 * MOST_LEVELS)), "k").opaque_reason
    assert reason.startswith("line 2: more than 2500 expressions or statements inside of each")


def test_deep_tuples_are_pickled_in_a_list() -> None:
    parsed = parse_c(kernel(total(TERMS)), "k")
    again = wire.nested(pickle.loads(pickle.dumps(wire.flattened(parsed))))
    assert type(again) is wire.ParsedKernel
    assert wire.flattened(again) == wire.flattened(parsed)
