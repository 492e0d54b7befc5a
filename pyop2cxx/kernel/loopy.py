# SPDX-License-Identifier: BSD-3-Clause
"""Kernels from loopy programs: loopy writes C, treated like any C text."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime.memo import until_exit

_MOST_TEXTS = 256


def is_loopy(code: object) -> bool:
    """Return whether an object is a loopy program, without importing loopy."""
    return any(
        kind.__name__ in ("TranslationUnit", "LoopKernel")
        and kind.__module__.partition(".")[0] == "loopy"
        for kind in type(code).__mro__
    )


def written(code: Any, name: str) -> tuple[str, tuple[np.dtype[Any], ...]]:
    """Let loopy write C, once for equal programs.

    Args:
        code: As for `LoopyLocalKernel`.
        name: As for `LoopyLocalKernel`.

    Returns:
        The text, and the dtypes of the kernel's arrays.
    """
    try:
        hash(code)
    except TypeError:  # a program may hold what cannot be hashed
        return _written_anew(code, name)
    return _remembered(code, name)


def _written_anew(code: Any, name: str) -> tuple[str, tuple[np.dtype[Any], ...]]:
    loopy = extras.load("loopy", f"Kernel '{name}'")
    if isinstance(code, loopy.LoopKernel):
        code = extras.load("loopy.translation_unit", f"Kernel '{name}'").make_program(code)
    if name not in code.callables_table:
        there = ", ".join(f"'{known}'" for known in sorted(map(str, code.callables_table)))
        raise UsageError(f"Kernel '{name}': loopy's program has none of that name, but {there}")
    if not isinstance(code.target, loopy.CTarget):
        code = code.copy(target=loopy.CWithGNULibcTarget())  # backends are chosen later, by us
    code = code.with_kernel(_flattened(code[name]))
    untyped = [a.name for a in code[name].args if _is_untyped(loopy, a)]
    if untyped:  # PyOP2 passes integers there: layers
        code = loopy.add_dtypes(code, dict.fromkeys(untyped, np.int32))
    try:
        program = loopy.infer_unknown_types(code.with_entrypoints(name))
        text: str = loopy.generate_code_v2(program).device_code()
    except Exception as error:  # loopy raises arbitrary exceptions
        kind = type(error).__name__
        raise UsageError(f"Kernel '{name}': loopy cannot write C for it: {kind}: {error}") from None
    arrays = (a for a in program[name].args if isinstance(a, loopy.ArrayArg))
    return text, tuple(np.dtype(array.dtype.numpy_dtype) for array in arrays)


_remembered = until_exit(_MOST_TEXTS)(_written_anew)


def _flattened(kernel: Any) -> Any:
    """Drop the last axis, of length one, of arrays that are always indexed without it."""
    find = extras.load("loopy.symbolic", "Kernel").DependencyMapper(include_subscripts=True)
    used: dict[str, set[int]] = {}

    def visit(expression: Any) -> Any:
        for found in find(expression):
            if hasattr(found, "index_tuple"):
                used.setdefault(found.aggregate.name, set()).add(len(found.index_tuple))
                for index in found.index_tuple:
                    visit(index)
        return expression

    for instruction in kernel.instructions:
        instruction.with_transformed_expressions(visit)
    args = []
    for arg in kernel.args:
        shape = getattr(arg, "shape", None)
        is_flat = isinstance(shape, tuple) and shape[1:] == (1,) and used.get(arg.name) == {1}
        args.append(arg.copy(shape=shape[:1], dim_tags=None) if shape and is_flat else arg)
    return kernel.copy(args=args)


def _is_untyped(loopy: Any, argument: Any) -> bool:
    is_known = getattr(argument.dtype, "numpy_dtype", None) is not None
    return isinstance(argument, loopy.ValueArg) and not is_known
