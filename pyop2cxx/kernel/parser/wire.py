# SPDX-License-Identifier: BSD-3-Clause
"""The form of a kernel's AST passed to C++: nested tuples, decoded once in ``cpp/bind``.

A step of a type is ``(kind, extent, is_const, is_restrict)``, kind ``*`` or ``[``; a type is
``(base, is_const, steps)``, outermost step first; the base of a structure is ``struct`` with the
name. An expression is ``(kind, line, text, type, operands)``. A statement is ``(kind, line, ...)``,
see ``statements``.
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
"""File name of a kernel's text."""

POINTER: Step = ("*", 0, False, False)
VOID_POINTER: Type = ("void", False, (POINTER,))


class Asked(NamedTuple):
    """A text with directives to carry out.

    Attributes:
        text: C or C++.
        extra_headers: Headers included before the text, with delimiters.
        include_dirs: Where headers are looked for first.
        options: The kernel's, for the compiler.
        flags: The program's flags, for all kernels of the language.
        cpp: Whether the text is C++.
    """

    text: str
    extra_headers: tuple[str, ...]
    include_dirs: tuple[str, ...]
    options: tuple[str, ...]
    flags: tuple[str, ...]
    cpp: bool


class Expanded(NamedTuple):
    """A text with directives and macros expanded.

    Attributes:
        rows: The text's own lines, each from a run of tokens of a source line, and the marks.
        lines: The line of the text of each row.
        declarations: The text of the user's own headers.
        elsewhere: Headers named in the text and the user's headers, but found in neither.
        own: Name and path of each of the user's files.
        read: The paths of all files read.
        folders: Where headers were looked for.
        is_final: Whether the result holds while the files are unchanged.
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
    """A function definition; the calls and names decide the kept part of a kernel's text.

    `vector_text` is a body in C for compilers of hosts, with ``$0`` for the first parameter; empty:
    there is none.
    """

    name: str
    result: Type
    parameters: tuple[Parameter, ...]
    body: Body
    line: int
    calls: frozenset[str]
    names: frozenset[str]
    vector_text: str = ""


class TeamFunction(NamedTuple):
    """A function of the kernel as the lanes of a block carry it out.

    `n_lanes` have work at the same time; they share `n_shared` numbers.
    """

    function: Function
    n_lanes: int
    n_shared: int


class ParsedKernel(NamedTuple):
    """The front end's description of a kernel.

    Attributes:
        parameters: Of the entry function; None if they were not understood.
        functions: Callee first, the entry function last; empty for an opaque kernel.
        tables: File-scope constants used by the functions.
        structures: Structures used by them, members before their container.
        headers: Headers to include, with delimiters.
        opaque_reason: Reason for the missing AST, with a line; empty if there is an AST.
        teams: Functions of the same names for the lanes of a block.
    """

    parameters: tuple[Parameter, ...] | None
    functions: tuple[Function, ...]
    tables: tuple[Variable, ...]
    headers: tuple[str, ...]
    opaque_reason: str
    structures: tuple[Structure, ...] = ()
    teams: tuple[TeamFunction, ...] = ()


def flattened(whole: tuple[Any, ...]) -> list[Any]:
    """Return nested tuples as a list: class and length of each, followed by the items.

    Thousands of nested levels cannot be pickled directly.
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
    """Return the nested tuples of a result of `flattened`."""
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
    """The text is C outside of the AST: the kernel is kept verbatim."""

    def __init__(self, reason: str, line: int, column: int = 0) -> None:
        super().__init__(f"line {line}{f', column {column}' if column else ''}: {reason}")
