# SPDX-License-Identifier: BSD-3-Clause
"""Statements: from the parser's tree to wire tuples.

The tuples, after ``kind`` and ``line``::

    declare   is_static, variables      for     init, condition, step, body
    evaluate  value                     while   condition, body, is_do
    block     body                      switch  value, cases of (label, body)
    if        condition, then, else     return  value
                                        break, continue
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.arithmetic import converted, number_of, promoted
from pyop2cxx.kernel.parser.expressions import read_expr
from pyop2cxx.kernel.parser.places import mistake
from pyop2cxx.kernel.parser.scope import Binding, Scope, completed
from pyop2cxx.kernel.parser.structures import arranged
from pyop2cxx.kernel.parser.typing import (
    Specifiers,
    name_in,
    read_constant,
    read_declarator,
    read_specifiers,
    read_type,
    text_of,
)
from pyop2cxx.kernel.parser.wire import Body, Expr, OpaqueKernel, Stmt, Type, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tree_sitter import Node

    from pyop2cxx.kernel.parser.arithmetic import Number

_IGNORED = {"comment", ";", "{", "}"}


def read_block(node: Node, scope: Scope) -> Body:
    """The statements of a block, in a scope of their own."""
    scope.enter()
    body = read_all(node.children, scope)
    scope.leave()
    return body


def read_all(nodes: Iterable[Node], scope: Scope) -> Body:
    """Read statements in the innermost block."""
    body: list[Stmt] = []
    for node in nodes:
        if node.type not in _IGNORED:
            body += read_statement(node, scope)
    return tuple(body)


def read_statement(node: Node, scope: Scope) -> Body:
    """Read a statement; a declaration of several variables becomes several statements.

    Arrays made in place, ``(double[]){1, 2}``, are declared before the statement: at their possible
    places C leaves the order of evaluation open.

    Raises:
        OpaqueKernel: A part of the statement is missing in the AST.
    """
    reader = _READERS.get(node.type)
    if reader is None:
        what = node.type.replace("_", " ")
        raise OpaqueKernel(f"'{what}' is not supported", scope.line(node))
    literals: list[Variable] = []
    with scope.making(literals):
        body = scope.descend(reader, node)
    return (*(("declare", one[3], False, (one,)) for one in literals), *body)


def read_variable(node: Node, specifiers: Specifiers, scope: Scope) -> Variable | None:
    """Read a declarator, declared in `scope`; None for a function prototype."""
    value_node = None
    if node.type == "init_declarator":
        value_node = node.child_by_field_name("value")
    inner = node.child_by_field_name("declarator") if node.type == "init_declarator" else node
    declared = read_declarator(inner, specifiers.type, scope, read_expr)
    if declared.parameters is not None:
        scope.results[declared.name] = declared.type
        return None
    line = scope.line(node)
    if first := scope.line_of_first(declared.name):
        what = f"'{declared.name}' is declared twice in one block"
        raise mistake(name_in(node), scope, what, first)
    scope.declare(declared.name, Binding(declared.type, line=line))
    value = None if value_node is None else read_expr(value_node, scope)
    value = None if value is None else arranged(value, declared.type, scope)
    type_ = completed(declared.name, declared.type, value, line)
    scope.declare(declared.name, Binding(type_, _constant(type_, value, scope), line=line))
    return (declared.name, type_, value, line)


def is_constant(type_: Type) -> bool:
    """True if a variable of `type_` never changes."""
    _, is_const, steps = type_
    outer = next((step for step in steps if step[0] == "*"), None)
    return is_const if outer is None else outer[2]


def _constant(type_: Type, value: Expr | None, scope: Scope) -> int | None:
    base, is_const, steps = type_
    is_integer = not steps and base.removeprefix("u").startswith(("int", "bool"))
    number = number_of(value, scope) if is_const and is_integer and value is not None else None
    found = None if number is None else converted(number, base).value
    return None if found is None else int(found)


def _read_declaration(
    node: Node, scope: Scope, *, in_loop: bool = False
) -> tuple[bool, list[Variable]]:
    """The variables of a declaration; arrays made in place stand before theirs.

    Args:
        node: The declaration.
        scope: Scope of the declaration.
        in_loop: Whether the declaration is the head of a loop, which declares nothing else.
    """
    specifiers = read_specifiers(node, scope, read_expr)
    if "extern" in specifiers.storage:
        return False, []  # defined elsewhere: a Const, by bare name
    is_static = "static" in specifiers.storage
    variables: list[Variable] = []
    declarators = node.children_by_field_name("declarator")
    literals = variables if not in_loop else scope.literals if len(declarators) == 1 else None
    for child in declarators:
        with scope.making(None if is_static else literals):
            variable = read_variable(child, specifiers, scope)
        if variable is None:
            continue
        if is_static and not is_constant(variable[1]):
            raise UsageError(
                f"line {variable[3]}: 'static {text_of(child)}' keeps a value from one call to"
                " the next, but calls run in any order and on many threads; make it const, or"
                " pass a Dat or a Global"
            )
        variables.append(variable)
    return is_static, variables


def _declaration(node: Node, scope: Scope) -> Body:
    is_static, variables = _read_declaration(node, scope)
    return tuple(("declare", variable[3], is_static, (variable,)) for variable in variables)


def _type_definition(node: Node, scope: Scope) -> Body:
    specifiers = read_specifiers(node, scope, read_expr)
    for child in node.children_by_field_name("declarator"):
        declared = read_declarator(child, specifiers.type, scope, read_expr)
        scope.declare(declared.name, Binding(declared.type, is_type=True))
    return ()


def _own_type(node: Node, scope: Scope) -> Body:
    read_type(node, scope, read_expr)
    return ()


def _evaluate(node: Node, scope: Scope) -> Body:
    value = next((child for child in node.named_children if child.type != "comment"), None)
    return () if value is None else (("evaluate", scope.line(node), read_expr(value, scope)),)


def _block(node: Node, scope: Scope) -> Body:
    return (("block", scope.line(node), read_block(node, scope)),)


def _required(node: Node, field: str, scope: Scope) -> Node:
    child = node.child_by_field_name(field)
    if child is None or child.is_missing:
        raise OpaqueKernel(f"'{node.type.replace('_', ' ')}' is incomplete", scope.line(node))
    return child


def _nested(node: Node | None, scope: Scope) -> Body:
    """The body of an if or a loop, with or without braces."""
    if node is None:
        return ()
    if node.type == "compound_statement":
        return read_block(node, scope)
    scope.enter()
    body = read_statement(node, scope)
    scope.leave()
    return body


def _if(node: Node, scope: Scope) -> Body:
    condition = read_expr(_required(node, "condition", scope), scope)
    then_body = _nested(_required(node, "consequence", scope), scope)
    otherwise = node.child_by_field_name("alternative")
    if otherwise is not None:
        otherwise = next(child for child in otherwise.named_children if child.type != "comment")
    return (("if", scope.line(node), condition, then_body, _nested(otherwise, scope)),)


def _for(node: Node, scope: Scope) -> Body:
    scope.enter()
    init: Body = ()
    initializer = node.child_by_field_name("initializer")
    if initializer is not None and initializer.type == "declaration":
        is_static, variables = _read_declaration(initializer, scope, in_loop=True)
        init = (("declare", scope.line(initializer), is_static, tuple(variables)),)
    elif initializer is not None:
        init = (("evaluate", scope.line(initializer), read_expr(initializer, scope)),)
    parts = [node.child_by_field_name(name) for name in ("condition", "update")]
    with scope.making(None):
        condition, step = (None if part is None else read_expr(part, scope) for part in parts)
    body = _nested(_required(node, "body", scope), scope)
    scope.leave()
    return (("for", scope.line(node), init, condition, step, body),)


def _while(node: Node, scope: Scope) -> Body:
    with scope.making(None):
        condition = read_expr(_required(node, "condition", scope), scope)
    body = _nested(_required(node, "body", scope), scope)
    return (("while", scope.line(node), condition, body, node.type == "do_statement"),)


def _switch(node: Node, scope: Scope) -> Body:
    value = read_expr(_required(node, "condition", scope), scope)
    cases: list[tuple[Expr | None, Body]] = []
    first: dict[int | None, int] = {}
    switched = number_of(value, scope)
    scope.enter()
    for child in _required(node, "body", scope).named_children:
        if child.type == "comment":
            continue
        if child.type != "case_statement":
            raise OpaqueKernel("a statement before the first case", scope.line(child))
        label = child.child_by_field_name("value")
        colon = next(i for i, part in enumerate(child.children) if part.type == ":")
        read = None if label is None else read_expr(label, scope)
        _check_case(child, label, switched, first, scope)
        cases.append((read, read_all(child.children[colon + 1 :], scope)))
    scope.leave()
    return (("switch", scope.line(node), value, tuple(cases)),)


def _check_case(
    case: Node,
    label: Node | None,
    switched: Number | None,
    first: dict[int | None, int],
    scope: Scope,
) -> None:
    """Check for a repeated case value in a switch; lines so far are in `first`."""
    value = None
    if label is not None:
        number = read_constant(label, scope, read_expr)
        if number is None:
            return  # no known constant: the compiler reports the error
        base = promoted((switched or number).base)
        value = int(converted(number, base).value or 0)
    if value in first:
        two = "defaults" if label is None else f"cases of value {value}"
        what = f"this switch has two {two}"
        raise mistake(label or case.children[0], scope, what, first[value])
    first[value] = scope.line(case)


def _return(node: Node, scope: Scope) -> Body:
    value = next((child for child in node.named_children if child.type != "comment"), None)
    return (("return", scope.line(node), None if value is None else read_expr(value, scope)),)


_LOOPS = {"for_statement", "while_statement", "do_statement"}


def _jump(node: Node, scope: Scope) -> Body:
    kind = node.type.removesuffix("_statement")
    left = _LOOPS if kind == "continue" else _LOOPS | {"switch_statement"}
    around = node.parent
    while around is not None and around.type not in left:
        around = around.parent
    if around is None:
        raise OpaqueKernel(f"'{kind}' stands in nothing that it could leave", scope.line(node))
    return ((kind, scope.line(node)),)


_READERS: dict[str, Callable[[Node, Scope], Body]] = {
    "declaration": _declaration,
    "type_definition": _type_definition,
    "enum_specifier": _own_type,
    "struct_specifier": _own_type,
    "union_specifier": _own_type,
    "expression_statement": _evaluate,
    "compound_statement": _block,
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "do_statement": _while,
    "switch_statement": _switch,
    "return_statement": _return,
    "break_statement": _jump,
    "continue_statement": _jump,
}
