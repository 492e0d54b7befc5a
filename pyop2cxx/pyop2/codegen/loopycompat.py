# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.codegen.loopycompat`` by programs for PyOP2."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from pyop2cxx.base import extras
from pyop2cxx.exceptions import UsageError


def _match_caller_callee_argument_dimension_(program: Any, callee_function_name: str) -> Any:
    """Return a loopy program, in which a called kernel has arguments of its caller's shapes.

    The values lie in the same order, row by row: only subscripts are written anew.

    Args:
        program: A ``loopy.TranslationUnit``.
        callee_function_name: A kernel called at a single place.

    Raises:
        UsageError: There is no such kernel, or there are several calls of it.
        MissingExtraError: loopy is not installed.
    """
    interface = extras.load("loopy.kernel.function_interface", "a loopy kernel that calls another")
    calls = [
        (kernel, insn)
        for kernel in _kernels(program)
        for insn in kernel.instructions
        if _called(insn) == callee_function_name
    ]
    if callee_function_name not in program.callables_table or len(calls) != 1:
        raise UsageError(
            f"loopycompat: expected a single call of a kernel '{callee_function_name}', found "
            f"{len(calls)}"
        )
    ((caller, insn),) = calls
    callee = program[callee_function_name]
    names = interface.get_kw_pos_association(callee)[1]
    shapes: dict[str, tuple[int, ...]] = {}
    for number, arg in insn.arg_id_to_arg().items():
        found = interface.get_arg_descriptor_for_expression(caller, arg)
        shapes[names[number]] = tuple(getattr(found, "shape", ())) or (1,)
    changed = _shaped(callee, shapes)
    return program.with_kernel(changed)


def _kernels(program: Any) -> list[Any]:
    return [
        known.subkernel for known in program.callables_table.values() if hasattr(known, "subkernel")
    ]


def _called(insn: Any) -> str | None:
    function = getattr(getattr(insn, "expression", None), "function", None)
    name: str | None = getattr(function, "name", None)
    return name


def _shaped(callee: Any, shapes: dict[str, tuple[int, ...]]) -> Any:
    """Return a kernel whose arrays have other shapes."""
    array = extras.load("loopy.kernel.array", "a loopy kernel").ArrayBase
    auto = extras.load("loopy.kernel.data", "a loopy kernel").auto
    arrays = {arg.name: arg for arg in callee.args if isinstance(arg, array)}
    tags = {name: [tag.stride for tag in arg.dim_tags] for name, arg in arrays.items()}
    write = _subscripts()(tags, shapes)
    instructions = [
        insn.with_transformed_expressions(write) if hasattr(insn, "assignees") else insn
        for insn in callee.instructions
    ]
    args = [
        arg.copy(shape=shapes[arg.name], dim_tags=None, strides=auto, order="C")
        if arg.name in arrays
        else arg
        for arg in callee.args
    ]
    return callee.copy(instructions=instructions, args=args)


@lru_cache(maxsize=1)
def _subscripts() -> type[Any]:
    """Return the class that writes subscripts anew, made on first use: the base is loopy's."""
    base: Any = extras.load("loopy.symbolic", "a loopy kernel").IdentityMapper
    simplify = extras.load("loopy.symbolic", "a loopy kernel").simplify_via_aff

    class Subscripts(base):  # type: ignore[misc]  # loopy's
        def __init__(self, strides: Any, shapes: Any) -> None:
            self.strides, self.shapes = strides, shapes
            super().__init__()

        def map_subscript(self, expr: Any) -> Any:
            name = expr.aggregate.name
            if name not in self.strides:
                return super().map_subscript(expr)
            pairs = zip(self.strides[name], expr.index_tuple, strict=True)
            rest: Any = sum(stride * index for stride, index in pairs)
            shape, indices = self.shapes[name], []
            for axis in range(len(shape)):
                below = prod(shape[axis + 1 :])
                indices.append(simplify(rest // below))
                rest = rest - below * (rest // below)
            return expr.aggregate[tuple(indices)]

    return Subscripts
