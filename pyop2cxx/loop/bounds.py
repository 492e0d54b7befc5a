# SPDX-License-Identifier: BSD-3-Clause
"""Kernel subscripts out of range for any data: errors of every loop."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.exceptions import KernelWarning, UsageError
from pyop2cxx.kernel.shapes import users_name
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyop2cxx.kernel.kernel import Kernel


def check_bounds(
    kernel: Kernel,
    loop: _core.Loop,
    arguments: Callable[[], Sequence[str]],
    what: str,
    *,
    stacklevel: int,
    strict: bool,
    extents: Mapping[Any, Any] | None = None,
) -> bool:
    """Check all kernel subscripts with known values against the sizes passed by the loop.

    Args:
        kernel: The loop's kernel; opaque kernels are not checked.
        loop: Gives the number of values behind each parameter.
        arguments: Returns the argument of each parameter, for messages: ``"Dat 'q'"``.
        what: The loop, for messages.
        stacklevel: Level of the warning, to show the user's call.
        strict: Raise an error instead of a warning.
        extents: Number of values behind parameters where the loop says less, by number.

    Returns:
        Whether there was a warning.

    Raises:
        UsageError: A subscript leaves its array. Under a condition equal for all elements, for
            example on a Const, a warning is given instead.

    Warns:
        KernelWarning: As said above.
    """
    if kernel.core.body is None:
        return False
    given = loop.check_input(extents or {})
    outside = _found(kernel.core, Given(given))
    for found in outside:
        message = _message(kernel, found, arguments(), what)
        if not found.is_guarded:
            raise UsageError(message)
        message += "; it stands under a condition on what is the same for all elements"
        if strict:
            raise UsageError(f"{message}; strict=True allows no such thing")
        warnings.warn(message, KernelWarning, stacklevel=stacklevel)
    return bool(outside)


class Given:
    """The input of a loop's checks, compared by value.

    Args:
        given: The input.
        code: Of the kernel: equal kernels may have other lines.
    """

    def __init__(self, given: _core.CheckInput, code: str = "") -> None:
        self.given = given
        self._text = given.key() + code

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and self._text == other._text


@until_exit(512)
def _found(core: _core.Kernel, key: Given) -> list[_core.OutOfBounds]:
    assert core.body is not None
    return _core.out_of_bounds(core.body, key.given)


def line_of(text: str, line: int) -> str:
    """Return a line of a kernel, stripped; empty for lines outside of the user's text."""
    lines = text.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def as_written(name: str, text: str, line: int) -> str:
    """Return a variable as written in a kernel: ``v_x``, made of a structure, as ``v.x``.

    Args:
        name: In the kernel without structures; a member's may end with more underscores.
        text: Of the kernel.
        line: Line of the use.
    """
    if re.search(rf"\b{re.escape(name)}\b", text):
        return name
    of_a_member = r"(?:_|(?:\s*\[[^\[\]]*\])*\s*(?:\.|->)\s*)"
    parts = map(re.escape, name.rstrip("_").split("_"))
    written = rf"\b{of_a_member.join(parts)}\b"
    for where in (line_of(text, line), text):
        for found in re.finditer(written, where):
            if not found.group().isidentifier():  # an identifier is another variable
                return found.group()
    return name


def _message(kernel: Kernel, found: _core.OutOfBounds, arguments: Sequence[str], what: str) -> str:
    name, parameter = found.array, found.parameter
    if kernel.calls is not None:
        name, parameter = users_name(kernel.calls, name) or (name, parameter)
    name = as_written(name, kernel.shown_code, found.line)
    array = f"'{name}'" if name else "an array"
    last = found.extent - 1
    holds = f"holds {found.extent} values, 0 to {last}" if found.extent > 0 else "holds no values"
    advice = "correct the index, or the array's size"
    if 0 <= parameter < len(arguments):
        array += f" (argument {parameter}, {arguments[parameter]})"
        advice = (
            "correct the index; a Dat behind a Map has arity x dim values, one row of dim values "
            "after the other"
        )
    shown = line_of(kernel.shown_code, found.line)
    return (
        f"{what}: kernel line {found.line}{f': {shown!r}' if shown else ''}: index {found.index} "
        f"is outside of {array}, which {holds}; {advice}"
    )
