# SPDX-License-Identifier: BSD-3-Clause
"""Calls of dense algebra in kernels: their sizes, arrays and mistakes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.base.arrays import c_name
from pyop2cxx.kernel.parser import headers
from pyop2cxx.kernel.parser.dense import DTYPES, MOST, REAL, Dense
from pyop2cxx.kernel.parser.places import mistake
from pyop2cxx.kernel.parser.scope import type_of
from pyop2cxx.kernel.parser.typing import read_constant, text_of
from pyop2cxx.kernel.parser.wire import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from pyop2cxx.kernel.parser.scope import Scope
    from pyop2cxx.kernel.parser.wire import Expr


class _Form(NamedTuple):
    """Arguments of a function: sizes, then numbers (``alpha``, ``beta``) and arrays.

    Attributes:
        sizes: Names of constant sizes.
        passed: Names of the rest; the arrays are in capital letters.
        written: Arrays stored to.
    """

    sizes: tuple[str, ...]
    passed: tuple[str, ...]
    written: str

    def __str__(self) -> str:
        return ", ".join((*self.sizes, *self.passed))


_PRODUCT = _Form(("m", "n", "k"), ("A", "B", "C"), "C")
_SCALED = _PRODUCT._replace(passed=("alpha", "A", "B", "beta", "C"))
_TIMES = _Form(("m", "n"), ("A", "X", "Y"), "Y")
_TIMES_SCALED = _TIMES._replace(passed=("alpha", "A", "X", "beta", "Y"))
_ONE, _MANY = _Form(("n",), ("A", "B"), "B"), _Form(("n", "m"), ("A", "B"), "B")
_FORMS: dict[str, tuple[_Form, ...]] = {
    **dict.fromkeys(("op2_gemm", "op2_gemm_tn", "op2_gemm_nt"), (_PRODUCT, _SCALED)),
    **dict.fromkeys(("op2_gemv", "op2_gemv_t"), (_TIMES, _TIMES_SCALED)),
    **dict.fromkeys(("op2_solve", "op2_spd_solve"), (_ONE, _MANY)),
    "op2_inverse": (_Form(("n",), ("A", "X"), "X"),),
    "op2_det": (_Form(("n",), ("A",), ""),),
    "op2_cholesky": (_Form(("n",), ("A", "L"), "L"),),
    **dict.fromkeys(("op2_trsm", "op2_trsm_t"), (_Form(("n", "m"), ("L", "B"), "B"),)),
}
NAMES = frozenset(_FORMS)
"""Functions known to kernels."""


def called(tokens: Sequence[str]) -> str | None:
    """Return a function of `NAMES` that a text calls without a definition, or None."""
    found = {name for name, after in pairwise(tokens) if after == "(" and name in NAMES}
    return min(found - headers.declared(tokens), default=None)


def read_call(
    name: str,
    node: Node,
    passed: Sequence[Node],
    scope: Scope,
    read_expr: Callable[[Node, Scope], Expr],
) -> tuple[Dense, list[Expr]]:
    """Return the function for a call, and the arguments without sizes.

    Raises:
        UsageError: The number of arguments, a size or an array is wrong.
    """
    forms = _FORMS[name]
    form = next((f for f in forms if len(f.sizes) + len(f.passed) == len(passed)), None)
    if form is None:
        usual = " or ".join(f"{name}({form})" for form in forms)
        raise mistake(node, scope, f"expected {usual}; got {len(passed)} arguments")
    sizes = []
    for size, given in zip(form.sizes, passed, strict=False):
        number = read_constant(given, scope, read_expr)
        value = None if number is None or not isinstance(number.value, int) else number.value
        if value is None or not 1 <= value <= MOST:
            shown = f"'{text_of(given)}'" if value is None else str(value)
            what = f"{name}: size '{size}' is a constant integer from 1 to {MOST}; got {shown}"
            raise mistake(given, scope, what + "; larger systems: op2.Mat and op2.solve")
        sizes.append((size, value))
    values: list[Expr] = []
    dtypes: dict[str, str] = {}  # with the first array of each
    for argument, given in zip(form.passed, passed[len(sizes) :], strict=True):
        value_read = read_expr(given, scope)
        if argument.isupper():
            dtype, value_read = _array(f"{name}: {argument}", given, value_read, scope)
            dtypes.setdefault(dtype, argument)
            if argument in form.written and _is_const(value_read, scope):
                what = f"{name} stores to {argument}, but '{text_of(given)}' is const"
                raise mistake(given, scope, what)
        values.append(value_read)
    if len(dtypes) > 1:
        (one, first), (other, second) = [*dtypes.items()][:2]
        what = f"{name}: {first} is of {c_name(one)}, {second} of {c_name(other)}"
        raise mistake(node, scope, f"{what}; make them of one type")
    (dtype,) = dtypes
    if dtype in REAL and name in ("op2_spd_solve", "op2_cholesky"):
        raise mistake(node, scope, f"{name} is for real numbers; op2_solve takes complex ones")
    is_scaled = "alpha" in form.passed
    return Dense(name.removeprefix("op2_"), tuple(sizes), dtype, is_scaled), values


def _array(what: str, node: Node, value: Expr, scope: Scope) -> tuple[str, Expr]:
    """Return the dtype of an array's numbers, and the address of its first."""
    type_ = type_of(value, scope)
    if type_ is None or not type_[2] or type_[0] not in DTYPES:
        got = "no array" if type_ is None or not type_[2] else f"numbers of type {type_[0]}"
        expected = "an array or a pointer to float, double, or complex numbers"
        raise mistake(node, scope, f"{what} is {expected}; '{text_of(node)}' is {got}")
    if any(kind == "*" for kind, *_ in type_[2][1:]):
        raise mistake(node, scope, f"{what}: '{text_of(node)}' holds pointers, not numbers")
    for _ in type_[2][1:]:
        value = ("index", value[1], "", None, (value, literal("0", value[1])))
    return type_[0], value


def _is_const(value: Expr, scope: Scope) -> bool:
    type_ = type_of(value, scope)
    return type_ is not None and type_[1]
