# SPDX-License-Identifier: BSD-3-Clause
"""The shape in which a kernel's AST crosses into C++: nested tuples, decoded once in ``cpp/bind``.

A step of a type is ``(kind, extent, is_const, is_restrict)``, kind ``*`` or ``[``; a type is
``(base, is_const, steps)``, outermost step first; the base of a structure is ``struct`` and its
name. An expression is
``(kind, line, text, type, operands)``. A statement is ``(kind, line, ...)``, see ``statements``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Step = tuple[str, int, bool, bool]
Type = tuple[str, bool, tuple[Step, ...]]
Expr = tuple[str, int, str, Type | None, tuple[Any, ...]]
Stmt = tuple[Any, ...]
Body = tuple[Stmt, ...]
Variable = tuple[str, Type, Expr | None, int]
Parameter = tuple[str, Type, int]
Structure = tuple[str, tuple[Parameter, ...], int]  # name, members, line

SOURCE = "<kernel>"
"""What a kernel's text is called as a file."""

POINTER: Step = ("*", 0, False, False)
VOID_POINTER: Type = ("void", False, (POINTER,))


class Asked(NamedTuple):
    """A text whose directives are to be carried out.

    Attributes:
        text: C or C++.
        extra_headers: What is included before it, with delimiters.
        include_dirs: Where headers are looked for first.
        options: The kernel's, for the compiler.
        flags: The program's, for all kernels of this language.
        cpp: Whether it is C++.
    """

    text: str
    extra_headers: tuple[str, ...]
    include_dirs: tuple[str, ...]
    options: tuple[str, ...]
    flags: tuple[str, ...]
    cpp: bool


class Expanded(NamedTuple):
    """What directives and macros have become.

    Attributes:
        rows: The text's own lines, one for each run of tokens from one of them, and its marks.
        lines: The line of the text of each row.
        declarations: The text of the user's own headers.
        elsewhere: The headers that the text and the user's headers name, and that are neither.
        own: Name and path of each file of the user's that was read.
        read: The paths of all files that were read.
        folders: Where headers were looked for.
        is_final: Whether it holds as long as these files are as they are.
    """

    rows: list[str]
    lines: list[int]
    declarations: str
    elsewhere: tuple[str, ...]
    own: tuple[tuple[str, str], ...]
    read: tuple[str, ...]
    folders: tuple[str, ...]
    is_final: bool = True


class Function(NamedTuple):
    """A function definition; what it calls and names decides what is kept of a kernel's text."""

    name: str
    result: Type
    parameters: tuple[Parameter, ...]
    body: Body
    line: int
    calls: frozenset[str]
    names: frozenset[str]


class ParsedKernel(NamedTuple):
    """What the front end knows of a kernel.

    Attributes:
        parameters: Of the entry function; None if they were not understood.
        functions: Callee first, the entry function last; empty for an opaque kernel.
        tables: The file-scope constants these use.
        structures: The structures these are made of, members before what contains them.
        headers: What must be included, with delimiters.
        opaque_reason: Why there is no AST, with a line; empty if there is one.
    """

    parameters: tuple[Parameter, ...] | None
    functions: tuple[Function, ...]
    tables: tuple[Variable, ...]
    headers: tuple[str, ...]
    opaque_reason: str
    structures: tuple[Structure, ...] = ()


def flattened(whole: tuple[Any, ...]) -> list[Any]:
    """Return nested tuples as a list: for each its class and length, and behind them its items.

    What lies thousands of levels deep cannot be pickled as it is.
    """
    flat: list[Any] = []
    pending: list[Any] = [whole]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            flat.append((type(part), len(part)))
            pending += reversed(part)
        else:
            flat.append(part)
    return flat


def nested(flat: list[Any]) -> Any:
    """Return the tuples that `flattened` has taken apart."""
    made: list[Any] = []
    for part in reversed(flat):
        if not isinstance(part, tuple):
            made.append(part)
            continue
        kind, length = part
        items = tuple(made.pop() for _ in range(length))
        made.append(items if kind is tuple else kind(*items))
    return made[0]


def literal(spelling: str, line: int) -> Expr:
    """A literal as spelled."""
    return ("literal", line, spelling, None, ())


def call(function: str, line: int, *arguments: Expr) -> Expr:
    """A call of a named function."""
    return ("call", line, function, None, arguments)


class OpaqueKernel(Exception):
    """The text is C that the AST does not hold: the kernel is kept verbatim."""

    def __init__(self, reason: str, line: int, column: int = 0) -> None:
        super().__init__(f"line {line}{f', column {column}' if column else ''}: {reason}")
