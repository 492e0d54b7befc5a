# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that are loopy's programs: the C that loopy writes for them goes the way of any C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import DataTypeError, UsageError
from pyop2cxx.pyop2.global_kernel import LocalKernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.base.access import Access


class LoopyLocalKernel(LocalKernel):
    """A Kernel that is a program of loopy's; it needs the extra ``loopy``.

    loopy schedules it and writes C, on all backends the same, whatever the program's target is.
    Arrays must be of known shape and dtype, since arguments arrive as one flat pointer each.

    Args:
        code: A ``loopy.TranslationUnit`` or ``loopy.LoopKernel``.
        name: Of the kernel in it that loops call.
        accesses: How each array is used, if that is known before there is a loop.
        **options: As for `pyop2cxx.kernel.kernel.Kernel`.

    Attributes:
        code: As given.
        dtypes: Of the kernel's arrays, as loopy knows them.

    Raises:
        DataTypeError: `code` is no program of loopy's.
        UsageError: It has no kernel of that name, or loopy cannot write C for it.
        MissingExtraError: loopy is not installed.

    Example:
        >>> import loopy  # doctest: +SKIP
        >>> twice = loopy.make_kernel(
        ...     "{[i]: 0 <= i < 3}", "y[i] = 2 * x[i]", name="twice", lang_version=(2018, 2)
        ... )  # doctest: +SKIP
        >>> typed = loopy.add_dtypes(twice, {"x": "float64", "y": "float64"})  # doctest: +SKIP
        >>> op2.Kernel(typed, "twice").parameters  # doctest: +SKIP
        [double *y, const double *x]
    """

    def __init__(
        self, code: Any, name: str, accesses: Iterable[Access] | None = None, **options: Any
    ) -> None:
        if not is_loopy(code):
            raise DataTypeError(
                f"Kernel '{name}': expected a TranslationUnit or LoopKernel of loopy, got "
                f"{type(code).__name__}"
            )
        text, dtypes = written(code, name)
        super().__init__(text, name, accesses, **{"dtypes": dtypes, "abi": "2026"} | options)
        self.code = code

    @property
    def text(self) -> str:
        """The C that loopy wrote."""
        return self.core.text


def is_loopy(code: object) -> bool:
    """Say whether this is a program of loopy's, without importing loopy."""
    return any(
        kind.__name__ in ("TranslationUnit", "LoopKernel")
        and kind.__module__.partition(".")[0] == "loopy"
        for kind in type(code).__mro__
    )


def written(code: Any, name: str) -> tuple[str, tuple[np.dtype[Any], ...]]:
    """Let loopy write C.

    Args:
        code: As for `LoopyLocalKernel`.
        name: As for `LoopyLocalKernel`.

    Returns:
        The text, and the dtypes of the kernel's arrays.
    """
    loopy = extras.load("loopy", f"Kernel '{name}'")
    if isinstance(code, loopy.LoopKernel):
        code = extras.load("loopy.translation_unit", f"Kernel '{name}'").make_program(code)
    if name not in code.callables_table:
        there = ", ".join(f"'{known}'" for known in sorted(map(str, code.callables_table)))
        raise UsageError(f"Kernel '{name}': loopy's program has none of that name, but {there}")
    if not isinstance(code.target, loopy.CTarget):
        code = code.copy(target=loopy.CWithGNULibcTarget())  # backends are chosen later, by us
    try:
        program = loopy.infer_unknown_types(code.with_entrypoints(name))
        text: str = loopy.generate_code_v2(program).device_code()
    except Exception as error:  # loopy's parts raise what they like
        kind = type(error).__name__
        raise UsageError(f"Kernel '{name}': loopy cannot write C for it: {kind}: {error}") from None
    arrays = (a for a in program[name].args if isinstance(a, loopy.ArrayArg))
    return text, tuple(np.dtype(array.dtype.numpy_dtype) for array in arrays)
