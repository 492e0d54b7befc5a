# SPDX-License-Identifier: BSD-3-Clause
"""The tree of a random kernel: made by `grammar`, printed by `text`, run by `interpreter`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fuzz.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.c_types import CType

_MARK = re.compile(r"«(\d+):(\w*)»")


def both(c: str, python: str) -> str:
    """Return a text in C and the same in Python, in which expressions stand as marks."""
    return f"{c}\0{python}"


def filled(text: str, language: int, write: Callable[[int, str], str]) -> str:
    """Return the C, 0, or the Python, 1, of what `both` joined.

    Args:
        text: It.
        language: Which.
        write: Takes the number of an expression, and the type that it is converted to or nothing.
    """
    return _MARK.sub(lambda m: write(int(m[1]), m[2]), text.split("\0")[language])


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression.

    Attributes:
        op: 'literal', 'name', 'at' (an entry), 'cast', '?', ',', 'call', 'function' (of the
            library), 'sign', 'piece' (a number in a value of a structure: `word` has it in C and in
            Python, as `both` joins them) and the operators of two operands by their spelling.
        type: By C's rules.
        facts: What is certain of its value.
        args: Operands.
        word: The name, the spelling of a literal, the operator of a sign.
    """

    op: str
    type: CType
    facts: Facts
    args: tuple[Expr, ...] = ()
    word: str = ""


@dataclass(slots=True)
class Stmt:
    """A statement.

    Attributes:
        op: 'declare', 'array', 'set', 'if', 'for', 'while', 'do', 'switch', 'return', 'break',
            'continue', 'pointer', 'block', 'call', 'structure' (`numbers` say how many, 0 is one
            alone, and `how` where its values are from), 'treat' (`how` says what is done to one),
            'aggregate' (`word` has it in C and in Python, as `both` joins them).
        word: A name, or an operator of assignment.
        exprs: Expressions, in the order of the text.
        bodies: Bodies, in the order of the text.
        type: Of what is declared.
        numbers: Extents, bounds of a loop, or labels.
        keep: Whether the loop would break its contract without it.
        is_best: Whether it lowers or raises an argument, which nothing else in its place does.
    """

    op: str
    word: str = ""
    exprs: list[Expr] = field(default_factory=list)
    bodies: list[list[Stmt]] = field(default_factory=list)
    type: CType | None = None
    numbers: tuple[int, ...] = ()
    keep: bool = False
    is_best: bool = False
    structure: Structure | None = None
    how: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: a number, or where `size` is not 0 a pointer to as many.

    Attributes:
        name: Its name.
        type: Of the number, or of what is pointed to.
        facts: What is certain of it.
        size: Of what is pointed to.
        const: Whether it is only read.
        spelling: Which of the type's names is written.
    """

    name: str
    type: CType
    facts: Facts
    size: int = 0
    const: bool = True
    spelling: int = 0


@dataclass(slots=True)
class Function:
    """A function.

    Attributes:
        name: Its name.
        parameters: Its parameters.
        body: Its statements.
        type: What it returns; None for nothing.
        facts: What is certain of that.
        head: Of one of structures: what stands before its statements, as `both` joins them.
    """

    name: str
    parameters: list[Parameter]
    body: list[Stmt]
    type: CType | None = None
    facts: Facts = field(default_factory=lambda: Facts(0, 0))
    head: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A constant table at file scope.

    Attributes:
        name: Its name.
        type: Of its entries.
        facts: What is certain of each.
        shape: One or two extents.
        values: The entries, row by row.
    """

    name: str
    type: CType
    facts: Facts
    shape: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure, with three functions on it.

    `NAME_of` makes one, with the same value in all entries of an array; `NAME_turn` moves the
    entries of arrays on by one, of what it points to; `NAME_turned` returns a copy so treated.

    Attributes:
        name: Its name.
        members: Name, type, what is certain of it, and the extent of an array or 0.
    """

    name: str
    members: tuple[tuple[str, CType, Facts, int], ...]


@dataclass(slots=True)
class Kernel:
    """A kernel: tables and functions, of which the last one is what the loop calls.

    Attributes:
        tables: Constant tables.
        functions: Functions.
        structures: Structures.
        definitions: Of structures that hold others, in C.
        effects: The seed of the effects that its text has beside its meaning; None: none.
    """

    tables: list[Table]
    functions: list[Function]
    structures: list[Structure] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    effects: int | None = None

    @property
    def main(self) -> Function:
        return self.functions[-1]
