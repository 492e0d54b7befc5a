# SPDX-License-Identifier: BSD-3-Clause
"""From a kernel's text to functions and tables, as wire tuples."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter_c
from tree_sitter import Language, Parser

from pyop2cxx.base.quoting import quoted
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import headers
from pyop2cxx.kernel.parser.brackets import mistake_in
from pyop2cxx.kernel.parser.disambiguate import unambiguous
from pyop2cxx.kernel.parser.expressions import read_expr
from pyop2cxx.kernel.parser.kept_values import refuse_kept_values
from pyop2cxx.kernel.parser.places import column_of, mistake, place_of
from pyop2cxx.kernel.parser.preprocess import includes_otherwise, preprocess, without_pragmas
from pyop2cxx.kernel.parser.scope import Binding, Scope, decayed
from pyop2cxx.kernel.parser.statements import is_constant, read_all, read_statement, read_variable
from pyop2cxx.kernel.parser.typing import read_declarator, read_parameters, read_specifiers, text_of
from pyop2cxx.kernel.parser.wire import (
    Function,
    OpaqueKernel,
    Parameter,
    ParsedKernel,
    Structure,
    TeamFunction,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node, Tree

    from pyop2cxx.kernel.parser.preprocess import Preprocessed

_SKIPPED = {"comment", ";", "expression_statement"}


@lru_cache(maxsize=1)
def _language() -> Language:
    return Language(tree_sitter_c.language())


def _parsed_c(text: str) -> Tree:
    """Return the syntax tree of a text by the grammar of C."""
    return Parser(_language()).parse(text.encode())  # each thread needs a separate parser


def parse_c(
    text: str,
    name: str,
    *,
    extra_headers: Sequence[str] = (),
    include_dirs: Sequence[str] = (),
    options: Sequence[str] = (),
    source: Preprocessed | None = None,
) -> ParsedKernel:
    """Parse the C text of the kernel `name`.

    Args:
        text: The user's text.
        name: The entry function.
        extra_headers: Headers not named in the text, with delimiters.
        include_dirs: Where the user's own headers are.
        options: Compiler options; ``-D`` defines macros.
        source: Result of `preprocess`; None: computed here.

    Raises:
        UsageError: No function has the name, or the kernel keeps state between calls.
    """
    source = source or preprocess(text, extra_headers, include_dirs, options)
    text = source.resolved
    named = (*extra_headers, *headers.included(text))
    includes = tuple(dict.fromkeys(header for header in named if not headers.is_known(header)))
    if any(header.startswith("<petsc") for header in includes):
        return ParsedKernel(_signature(text, name), (), (), includes, "the kernel calls PETSc")
    try:
        if "tgmath.h" in source.elsewhere:
            raise OpaqueKernel("functions of <tgmath.h> are of any type; include <math.h>", 1)
        source = source._replace(text=without_pragmas(source.text, source.lines))
    except OpaqueKernel as reason:
        refuse_kept_values(text)
        return ParsedKernel(_signature(text, name), (), (), includes, str(reason))
    _check_brackets(source, text)
    has_complex = "<complex.h>" in named or "complex.h" in source.elsewhere
    own = _own_headers(source, _line_of_include(text, includes), has_complex)
    hides = headers.follow_macros(text, source.headers) or includes_otherwise(text)
    if own is None and hides:
        refuse_kept_values(text)
        why = "a header stands behind macros of the text, which may change what it says"
        return ParsedKernel(_signature(text, name), (), (), includes, why)
    if own is None:
        scope = Scope(source.lines, has_complex, text)
        scope.has_structures = False  # they are included by the compiler
        imported = _read_declarations(source.declarations, scope)
        scope.has_structures = True
        own = _OwnHeaders(scope, [], [])
    else:
        scope, imported, source = own.scope, set(), source._replace(headers=())
        scope.lines, scope.text = source.lines, text
    tree = _tree_of(source.text, scope)
    known = {text_of(declarator) for declarator in _function_names(tree.root_node)}
    known |= {function.name for function in own.functions}
    if name not in known:
        if name not in imported and not source.headers:
            _check_tree(tree, scope, name)
        return _elsewhere(text, name, known, imported, source.headers)
    try:
        defined, tables = _read_file(tree, scope)
        functions = _reachable([*own.functions, *_dense_functions(scope), *defined], name)
        tables = [*own.tables, *tables]
    except OpaqueKernel as reason:
        refuse_kept_values(source.text, source.lines)
        return ParsedKernel(_signature(text, name), (), (), includes, str(reason))
    used = frozenset().union(*(function.names for function in functions))
    needed = _closure(used, tables)
    kept = tuple(table for table in tables if table[0] in needed)
    structures = _structures_of((functions, kept), scope)
    called = frozenset().union(*(function.calls for function in functions))
    called -= {function.name for function in functions}
    everywhere = (*named, *(f"<{header}>" for header in source.elsewhere))
    more = headers.missing(called, scope.unknown_names, everywhere)
    if more and headers.follow_macros(text, more, reserved=True):
        why = "a header of C's stands behind macros of the text, which it goes by"
        return ParsedKernel(_signature(text, name), (), (), source.headers, why)
    includes = (*source.headers, *more)
    signature = functions[-1].parameters
    return ParsedKernel(signature, functions, kept, includes, "", structures, _teams(scope))


def _check_brackets(source: Preprocessed, text: str) -> None:
    """Raise if a bracket or a quote is never closed; macros of headers unseen may hide some."""
    found = None if source.elsewhere else mistake_in(source.text)
    if found is None:
        return
    row = source.text.split("\n")[found.row]
    line = found.row + 1 if source.lines is None else source.lines[found.row]
    column = column_of(text, line, row, found.column, row[found.column])
    raise UsageError(f"line {line}: {found.what}\n{quoted(text, line, column)}")


def _check_tree(tree: Tree, scope: Scope, name: str) -> None:
    """Raise if the text is understood only in part: a missing function may be there."""
    if tree.root_node.has_error:
        error = _first_error(tree.root_node, scope)
        shown = quoted(scope.text, error.line, error.column)
        raise UsageError(
            f"the text defines no function '{name}' that can be read; line {error.line}: "
            f"{error.what}\n{shown}"
        )


class _OwnHeaders(NamedTuple):
    """The contents of the user's own headers, read as a part of the kernel."""

    scope: Scope
    functions: list[Function]
    tables: list[Variable]


def _own_headers(source: Preprocessed, line: int, has_complex: bool) -> _OwnHeaders | None:
    """Read headers as a part of the kernel, to run without the files.

    Returns:
        None if some are not to be found, or are more than a kernel may be: then the compiler
        includes them.
    """
    others = (name for name in source.elsewhere if not headers.is_known(f"<{name}>"))
    if not source.can_inline or any(others):
        return None
    if not source.headers and not source.declarations.strip():
        return None
    # the only line of the user's is the line naming the header
    scope = Scope((line,) * (source.declarations.count("\n") + 1), has_complex)
    try:
        functions, tables = _read_file(_tree_of(source.declarations, scope), scope)
    except (OpaqueKernel, UsageError):
        return None
    return _OwnHeaders(scope, functions, tables)


def _line_of_include(text: str, includes: Sequence[str]) -> int:
    """Return the line, from 1, of the first of the headers; 1 if none is named in the text."""
    lines = enumerate(text.splitlines(), 1)
    return next((n for n, line in lines if {*headers.included(line)} & {*includes}), 1)


def parse_opaque(text: str, name: str, extra_headers: Sequence[str]) -> ParsedKernel:
    """Return the known facts of a kernel in another language than C.

    Raises:
        UsageError: The text has no similar function, or the kernel keeps state between calls.
    """
    if f"{name}(" not in text.replace(" ", "").replace("\n", "") and not headers.included(text):
        raise UsageError(f"the text defines no function '{name}'")
    refuse_kept_values(text)
    others = tuple(dict.fromkeys(extra_headers))
    reason = "the kernel is C++ (cpp=True), which has no AST"
    return ParsedKernel(_signature(text, name), (), (), others, reason)


def _tree_of(text: str, scope: Scope) -> Tree:
    """Parse; parse again if the text defines type names unknown to the first pass."""
    first = unambiguous(text, scope.scalar_aliases(), scope.other_types())
    tree = _parsed_c(first)
    if "typedef" not in text:
        return tree
    before = dict(scope.tags[0]), dict(scope.structures)
    for node in tree.root_node.children:
        if node.type == "type_definition":
            _try_statement(node, scope)
    scope.tags[0], scope.structures = before  # read again below
    second = unambiguous(text, scope.scalar_aliases(), scope.other_types())
    return _parsed_c(second)


def _try_statement(node: Node, scope: Scope) -> None:
    try:
        read_statement(node, scope)
    except (OpaqueKernel, UsageError):
        return  # found again, and reported, when the file is read


def _function_names(root: Node) -> list[Node]:
    names = []
    for node in root.children:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type == "pointer_declarator":
            declarator = declarator.child_by_field_name("declarator")
        if node.type == "function_definition" and declarator is not None:
            inner = declarator.child_by_field_name("declarator")
            names += [] if inner is None else [inner]
    return names


def _elsewhere(
    text: str, name: str, known: set[str], imported: set[str], includes: tuple[str, ...]
) -> ParsedKernel:
    """The kernel is missing in the text: only a header can define the function."""
    if name in imported or includes:
        reason = f"'{name}' is not defined in the text but in a header"
        return ParsedKernel(None, (), (), includes, reason)
    if not text.strip():
        return ParsedKernel(None, (), (), (), "the text is empty")
    there = ", ".join(f"'{function}'" for function in sorted(known))
    raise UsageError(
        f"the text defines no function '{name}'"
        + (f"; it defines {there}" if there else "")
        + "; pass the name of the function to call"
    )


def _signature(text: str, name: str) -> tuple[Parameter, ...] | None:
    """Return the parameters of `name`, from text without an AST; None if unreadable."""
    scope = Scope(None, has_complex=True)
    tree = _parsed_c(unambiguous(text, {}, frozenset()))
    try:
        for node in tree.root_node.children:
            declarator = node.child_by_field_name("declarator")
            if node.type != "function_definition" or declarator is None or declarator.has_error:
                continue
            declared = read_declarator(declarator, ("void", False, ()), scope, read_expr)
            if declared.name == name and declared.parameters is not None:
                return read_parameters(declared.parameters, scope, read_expr)
    except OpaqueKernel:
        return None
    return None


def _read_declarations(text: str, scope: Scope) -> set[str]:
    """Take in the types, constants and function names of the user's own headers."""
    if not text:
        return set()
    tree = _tree_of(text, scope)
    for node in tree.root_node.children:
        if node.type in ("enum_specifier", "type_definition"):
            _try_statement(node, scope)
    return {text_of(declarator) for declarator in _function_names(tree.root_node)}


def _read_file(tree: Tree, scope: Scope) -> tuple[list[Function], list[Variable]]:
    root = tree.root_node
    if root.has_error:
        error = _first_error(root, scope)
        raise OpaqueKernel(error.what, error.line, error.column)
    names = _function_names(root)
    _check_functions(names, scope)
    scope.functions |= {text_of(declarator) for declarator in names}
    functions: list[Function] = []
    tables: list[Variable] = []
    for node in root.children:
        if node.type == "function_definition":
            functions.append(_read_function(node, scope))
        elif node.type == "declaration":
            tables = _with_tables(tables, _read_tables(node, scope))
        elif node.type not in _SKIPPED:
            read_statement(node, scope)
    return functions, tables


def _dense_functions(scope: Scope) -> list[Function]:
    """Read the functions of dense algebra called by the text."""
    return [
        _read_own(function.text(), line)._replace(vector_text=function.vector_text())
        for function, line in sorted(scope.dense.items())
    ]


def _teams(scope: Scope) -> tuple[TeamFunction, ...]:
    """Read the same functions for the lanes of a block."""
    found = ((function.team(), line) for function, line in sorted(scope.dense.items()))
    return tuple(
        TeamFunction(_read_own(team.text, line), team.n_lanes, team.n_shared)
        for team, line in found
        if team is not None
    )


def _read_own(text: str, line: int) -> Function:
    """Read a function of this package, called in a line of the user's."""
    scope = Scope((line,) * (text.count("\n") + 1), has_complex=True)
    (function,), _ = _read_file(_tree_of(text, scope), scope)
    return function


def _check_functions(names: Sequence[Node], scope: Scope) -> None:
    first: dict[str, Node] = {}
    for name in names:
        before = first.setdefault(text_of(name), name)
        if before is not name:
            raise mistake(
                name, scope, f"function '{text_of(name)}' is defined twice", scope.line(before)
            )


class _SyntaxError(NamedTuple):
    """An unreadable piece of text; the column, from 1, is 0 if unknown."""

    what: str
    line: int
    column: int


def _first_error(node: Node, scope: Scope) -> _SyntaxError:
    root = node
    while True:
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    what = f"expected '{node.type}'" if node.is_missing else f"cannot parse '{text_of(node)[:40]}'"
    piece = text_of(node).split("\n")[0]
    place = column_of(scope.text, scope.line(node), *place_of(node, root), piece)
    return _SyntaxError(f"syntax error: {what}", scope.line(node), place)


def _read_tables(node: Node, scope: Scope) -> list[Variable]:
    specifiers = read_specifiers(node, scope, read_expr)
    tables: list[Variable] = []
    for child in node.children_by_field_name("declarator"):
        variable = read_variable(child, specifiers, scope)
        if variable is None or "extern" in specifiers.storage:
            scope.names[-1].pop("" if variable is None else variable[0], None)
            continue
        if not is_constant(variable[1]):
            raise UsageError(
                f"line {variable[3]}: '{text_of(child)}' is a variable outside of all functions:"
                " calls run in any order, on many threads and on devices, so a kernel may keep"
                " no state; make it 'static const', or pass a Dat, a Global or a Const"
            )
        tables.append(variable)
    return tables


def _with_tables(tables: list[Variable], more: Sequence[Variable]) -> list[Variable]:
    """Add tables; a declaration without values is merged with the definition."""
    given = {name for name, _, value, _ in more if value is not None}
    kept = [table for table in tables if table[0] not in given or table[2] is not None]
    known = {table[0] for table in kept}
    return [*kept, *(one for one in more if one[2] is not None or one[0] not in known)]


def _read_function(node: Node, scope: Scope) -> Function:
    specifiers = read_specifiers(node, scope, read_expr)
    declarator = node.child_by_field_name("declarator")
    body = node.child_by_field_name("body")
    declared = read_declarator(declarator, specifiers.type, scope, read_expr)
    if declared.parameters is None or body is None:
        raise OpaqueKernel("a function without parameters or body", scope.line(node))
    scope.results[declared.name] = declared.type
    scope.used_names, scope.used_functions = set(), set()
    parameters = read_parameters(declared.parameters, scope, read_expr)
    scope.enter()
    for parameter, type_, line in parameters:
        scope.declare(parameter, Binding(decayed(type_), line=line))
    statements = read_all(body.children, scope)  # in the scope of the parameters
    scope.leave()
    return Function(
        declared.name,
        declared.type,
        parameters,
        statements,
        scope.line(node),
        frozenset(scope.used_functions),
        frozenset(scope.used_names),
    )


def _reachable(functions: Sequence[Function], entry: str) -> tuple[Function, ...]:
    """Return the functions called by `entry`, directly or not, callee first."""
    by_name = {function.name: function for function in functions}
    order: dict[str, Function] = {}
    pending: set[str] = set()

    def visit(function: Function) -> None:
        pending.add(function.name)
        for callee in sorted(function.calls & by_name.keys()):
            if callee in pending:
                raise OpaqueKernel(f"'{callee}' is recursive; write a loop", by_name[callee].line)
            if callee not in order:
                visit(by_name[callee])
        pending.discard(function.name)
        order[function.name] = function

    visit(by_name[entry])
    return tuple(order.values())


def _structures_of(wire: object, scope: Scope) -> tuple[Structure, ...]:
    """Return the structures named in `wire`, and the structures inside them, in order."""
    if not scope.structures:
        return ()
    names: set[str] = set()
    pending = [wire]
    for part in pending:
        if isinstance(part, tuple):
            pending += part
        elif isinstance(part, str) and part.startswith("struct "):
            name = part.removeprefix("struct ")
            if name in scope.structures and name not in names:
                names.add(name)
                pending.append(scope.structures[name])
    return tuple(structure for name, structure in scope.structures.items() if name in names)


def _closure(names: frozenset[str], tables: Sequence[Variable]) -> set[str]:
    """Return `names` and the names in initialisers of their tables."""
    closed = set(names)
    for name, _, value, _ in reversed(tables):
        if name in closed and value is not None:
            pending = [value]
            for expr in pending:
                closed |= {expr[2]} if expr[0] == "name" else set()
                pending += expr[4]
    return closed
