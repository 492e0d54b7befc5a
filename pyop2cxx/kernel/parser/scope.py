# SPDX-License-Identifier: BSD-3-Clause
"""Meanings of names while a kernel is read, and the types of expressions."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyop2cxx.kernel.parser.wire import POINTER, OpaqueKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

    from pyop2cxx.kernel.parser.dense import Dense
    from pyop2cxx.kernel.parser.wire import Expr, Parameter, Structure, Type, Variable

_BYTES = {"bool": 1, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16} | {
    f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}

MOST_LEVELS = 2500
"""Largest depth of nested expressions and statements: all later passes recurse."""
_LEVELS_OF_A_STACK = 60
"""Few enough for Python, which allows a thread about a thousand nested calls."""

Result = TypeVar("Result")


class Binding(NamedTuple):
    """Meaning of a name: a type if `is_type`, else a variable or an enumerator.

    `value` is set for constant integers in the sense of C++: enumerators, and const integer
    variables with a constant initialiser. `line` is the user's, for a variable.
    """

    type: Type | None
    value: int | None = None
    is_type: bool = False
    line: int = 0
    is_enumerator: bool = False


@dataclass(slots=True)
class Scope:
    """The reader's state: nested names, and the names used by the present function."""

    lines: tuple[int, ...] | None
    has_complex: bool
    text: str = ""
    names: list[dict[str, Binding]] = field(default_factory=lambda: [{}])
    functions: set[str] = field(default_factory=set)
    used_names: set[str] = field(default_factory=set)
    used_functions: set[str] = field(default_factory=set)
    unknown_names: set[str] = field(default_factory=set)
    tags: list[dict[str, str]] = field(default_factory=lambda: [{}])
    structures: dict[str, Structure] = field(default_factory=dict)
    results: dict[str, Type] = field(default_factory=dict)
    dense: dict[Dense, int] = field(default_factory=dict)  # with the lines of the first calls
    has_structures: bool = True
    literals: list[Variable] | None = None
    # Arrays made in place by the present statement, to be declared before the statement; None if
    # parts are carried out more than once, or not always.
    n_literals: int = 0
    depth: int = 0
    deepest: int = 0

    def descend(self, read: Callable[[Any, Scope], Result], what: Any) -> Result:
        """Call `read` for a nested node.

        Raises:
            OpaqueKernel: The nesting is too deep for kernels.
        """
        self.depth += 1
        self.deepest = max(self.depth, self.deepest)
        try:
            if self.depth % _LEVELS_OF_A_STACK == 0:
                return self._on_another_stack(read, what)
            return read(what, self)
        finally:
            self.depth -= 1

    def _on_another_stack(self, read: Callable[[Any, Scope], Result], what: Any) -> Result:
        """Call `read` on a thread, with a new limit of Python's nested calls."""
        if self.depth > MOST_LEVELS:
            line = self.line(what) if hasattr(what, "start_point") else what[1]
            raise OpaqueKernel(
                f"more than {MOST_LEVELS} expressions or statements inside of each other", line
            )
        found: list[Result] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                found.append(read(what, self))
            except BaseException as error:  # raised again in the waiting thread
                failed.append(error)

        thread = Thread(target=run)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return found[0]

    def line(self, node: Node) -> int:
        """The user's line of `node`, from 1."""
        row = node.start_point[0]
        return row + 1 if self.lines is None else self.lines[row]

    def enter(self) -> None:
        """Open a block."""
        self.names.append({})
        self.tags.append({})

    def leave(self) -> None:
        """Close the innermost block."""
        self.names.pop()
        self.tags.pop()

    def declare(self, name: str, binding: Binding) -> None:
        """Declare `name` in the innermost block."""
        self.names[-1][name] = binding

    def line_of_first(self, name: str) -> int:
        """Return the line of a variable of the innermost block, 0 if there is none of the name.

        Outside of functions C allows several declarations.
        """
        known = self.names[-1].get(name) if len(self.names) > 1 else None
        return 0 if known is None else known.line

    @contextmanager
    def making(self, literals: list[Variable] | None) -> Iterator[None]:
        """Collect arrays made in place in the given list; None: they are not allowed."""
        before, self.literals = self.literals, literals
        try:
            yield
        finally:
            self.literals = before

    def find(self, name: str) -> Binding | None:
        """The innermost declaration of `name`."""
        for names in reversed(self.names):
            if name in names:
                return names[name]
        return None

    def declare_structure(self, tag: str, name: str, line: int) -> str:
        """Declare a structure in the innermost block.

        Args:
            tag: Empty if there is no tag.
            name: The wanted name.
            line: Line of the definition.

        Returns:
            The unique name.

        Raises:
            OpaqueKernel: The structure is defined there already, or a header defines the structure
                for the compiler.
        """
        if not self.has_structures:
            raise OpaqueKernel(f"'struct {tag}' of a header; define one in the kernel's text", line)
        if tag and tag in self.tags[-1]:
            raise OpaqueKernel(f"'struct {tag}' is defined twice", line)
        taken = {*self.structures, *(name for tags in self.tags for name in tags.values())}
        stem, n = name, 1
        while name in taken:
            n += 1
            name = f"{stem}_{n}"
        if tag:
            self.tags[-1][tag] = name
        return name

    def find_tag(self, tag: str) -> str | None:
        """Return the structure meant by `tag`."""
        return next((tags[tag] for tags in reversed(self.tags) if tag in tags), None)

    def members(self, type_: Type) -> tuple[Parameter, ...] | None:
        """Return the members of a value of `type_`, None for other types than structures."""
        structure = self.structures.get(type_[0].removeprefix("struct "))
        return None if type_[2] or structure is None else structure[1]

    def scalar_aliases(self) -> dict[str, str]:
        """Return the type names of plain scalars, with the scalar types."""
        return {
            name: binding.type[0]
            for name, binding in self._type_names()
            if binding.type is not None
            and not binding.type[2]
            and not binding.type[1]
            and not binding.type[0].startswith("struct ")
        }

    def other_types(self) -> frozenset[str]:
        """Return the type names of pointers, arrays, structures and const types."""
        return frozenset(name for name, _ in self._type_names()) - set(self.scalar_aliases())

    def _type_names(self) -> Iterable[tuple[str, Binding]]:
        return ((name, known) for name, known in self.names[0].items() if known.is_type)


def completed(name: str, type_: Type, value: Expr | None, line: int) -> Type:
    """Return a declared type, completed with the extent of the initialiser.

    Raises:
        OpaqueKernel: The extent is given by neither.
    """
    base, is_const, steps = type_
    if not any(kind == "[" and extent < 0 for kind, extent, _, _ in steps):
        return type_
    if steps[0][:2] != ("[", -1) or value is None or value[0] != "list":
        raise OpaqueKernel(f"the extent of '{name}' is not given; write the number", line)
    return (base, is_const, (("[", len(value[4]), False, False), *steps[1:]))


def decayed(type_: Type) -> Type:
    """Return the type of a parameter: an array is passed as a pointer to the first element."""
    base, is_const, steps = type_
    if not steps or steps[0][0] != "[":
        return type_
    return (base, is_const, (POINTER, *steps[1:]))


def size_of(type_: Type) -> int | None:
    """Bytes of a value of `type_`."""
    base, _, steps = type_
    size = _BYTES.get(base)
    for kind, extent, _, _ in reversed(steps):
        size = 8 if kind == "*" else None if size is None else size * extent
    return size


def type_of(expr: Expr, scope: Scope) -> Type | None:
    """Return the type of a name, an element, a member, a call or an address; None otherwise."""
    return scope.descend(_type_of, expr)


def _type_of(expr: Expr, scope: Scope) -> Type | None:
    kind, _, text, target, operands = expr
    if kind == "name":
        binding = scope.find(text)
        return None if binding is None else binding.type
    if kind == "call":
        return scope.results.get(text)
    if kind == "cast":
        return target
    if kind == "index" or (kind == "unary" and text == "*"):
        types = [type_of(operand, scope) for operand in operands]
        array = next((type_ for type_ in types if type_ is not None and type_[2]), None)
        return None if array is None else (array[0], array[1], array[2][1:])
    if kind == "unary" and text == "&":
        value = type_of(operands[0], scope)
        return None if value is None else (*value[:2], (("*", 0, False, False), *value[2]))
    if kind == "member":
        return _type_of_member(text, type_of(operands[0], scope), scope)
    if kind in ("assign", "binary", "ternary", "postfix", "unary"):
        # a structure, or a pointer to one or into an array: no other types are needed
        last = operands[0] if kind in ("assign", "postfix", "unary") else operands[-1]
        sides = operands if kind == "binary" and text in "+-" else (last,)
        found = (type_of(side, scope) for side in sides)
        return next((t for t in found if t is not None and (t[2] or scope.members(t))), None)
    return None


def _type_of_member(name: str, type_: Type | None, scope: Scope) -> Type | None:
    members = None if type_ is None else scope.members(type_)
    return next((member[1] for member in members or () if member[0] == name), None)
