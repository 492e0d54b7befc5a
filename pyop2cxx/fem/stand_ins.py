# SPDX-License-Identifier: BSD-3-Clause
"""Forms of expressions, shared by expressions that differ only in functions and constants.

A program may write an expression anew in each step over time, with the same functions or with
others. In a kept form, functions and constants are therefore replaced by placeholders. The form
then keeps no values alive, and fits all expressions of the same structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.functions import Constant, Function

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.fem.domain import Domain
    from pyop2cxx.fem.loops import Form


def form_of(
    expression: Any, domain: Domain, about: tuple[Any, ...], make: Callable[[Any], Form]
) -> Form:
    """Return a form made of an expression, with the expression's functions and constants.

    Args:
        expression: Of UFL's.
        domain: The mesh; forms are kept there, until `pyop2cxx.op2.exit`.
        about: Further parameters of the form; hashable.
        make: Makes the form of an expression with placeholders.

    Raises:
        UsageError: As of `Form`.
        DataTypeError: As of `Form`.
    """
    used = _used(expression)
    general = ufl.replace(expression, used) if used else expression
    form: Form = domain.derived.made((*about, general), lambda: make(general))
    return form.of({stand_in: one for one, stand_in in used.items()})


def _used(expression: Any) -> dict[Any, Any]:
    """Return the functions and constants of an expression, each with a placeholder.

    Placeholders are numbered within each space, or among constants of a shape, in the order of
    creation.
    """
    found: dict[Any, Any] = {}
    numbers: dict[Any, int] = {}
    for one in ufl.algorithms.extract_coefficients(expression):
        if isinstance(one, Function):
            space, dtype = one.space, one.dat.compute
            numbers[space, dtype] = number = numbers.get((space, dtype), -1) + 1
            found[one] = _function(space, dtype, number)
    for one in sorted(ufl.algorithms.analysis.extract_constants(expression), key=_count):
        if isinstance(one, Constant):
            mesh, shape, dtype = one.ufl_domain(), one.ufl_shape, one.data.dtype
            numbers[mesh, shape, dtype] = number = numbers.get((mesh, shape, dtype), -1) + 1
            found[one] = _constant(mesh, shape, dtype, number)
    return found


def _count(constant: Any) -> int:
    number: int = constant.count()
    return number


def _function(space: Any, dtype: Any, number: int) -> Function:
    kept: dict[Any, Any] = space.domain.stand_ins
    key = (space, dtype, number)
    if key not in kept:
        kept[key] = Function(space, dtype)  # values get no memory while unused
    found: Function = kept[key]
    return found


def _constant(mesh: Any, shape: tuple[int, ...], dtype: Any, number: int) -> Constant:
    domain: Domain = mesh.ufl_cargo()
    key = (shape, dtype, number)
    if key not in domain.stand_ins:
        domain.stand_ins[key] = Constant(domain.mesh, np.zeros(shape), dtype)
    found: Constant = domain.stand_ins[key]
    return found
