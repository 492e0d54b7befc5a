# SPDX-License-Identifier: BSD-3-Clause
"""Expressions: from the parser's tree to wire tuples."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyop2cxx.base.c_names import INTEGER_SUFFIXES
from pyop2cxx.kernel.parser import dense_calls, headers
from pyop2cxx.kernel.parser.arithmetic import Number, spelled
from pyop2cxx.kernel.parser.scope import MOST_LEVELS, Binding, completed, type_of
from pyop2cxx.kernel.parser.structures import arranged
from pyop2cxx.kernel.parser.typing import read_constant, read_descriptor, text_of
from pyop2cxx.kernel.parser.wire import Expr, OpaqueKernel, call, literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from pyop2cxx.kernel.parser.scope import Scope
    from pyop2cxx.kernel.parser.wire import Type

_SPELLING = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_NUMBER = re.compile(_SPELLING)
_NUMBERS = re.compile(rf"\{{ *{_SPELLING}(?:, *{_SPELLING})* *\}}")


def read_expr(node: Node, scope: Scope) -> Expr:
    """Read an expression.

    Raises:
        OpaqueKernel: A part of the expression is missing in the AST.
    """
    kind = node.type
    leaf = _LEAVES.get(kind)
    if leaf is not None:
        return leaf(node, scope)
    reader = _READERS.get(kind)
    if reader is None:
        shown = text_of(node).strip()
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        what = kind.replace("_", " ")
        raise OpaqueKernel(f"'{shown}' ({what}) is not supported", scope.line(node))
    return scope.descend(reader, node)


def _field(node: Node, name: str, scope: Scope) -> Expr:
    child = node.child_by_field_name(name)
    if child is None or child.is_missing:
        raise OpaqueKernel(f"'{text_of(node)}' is incomplete", scope.line(node))
    return read_expr(child, scope)


def _operator(node: Node) -> str:
    child = node.child_by_field_name("operator")
    return "" if child is None else text_of(child)


def _literal(node: Node, scope: Scope) -> Expr:
    return _number(text_of(node), scope.line(node))


def _number(spelling: str, line: int) -> Expr:
    if spelling[0] in "+-":  # the parser takes a sign for a part of the number
        return ("unary", line, spelling[0], None, (literal(spelling[1:].lstrip(), line),))
    return literal(spelling, line)


def _name(node: Node, scope: Scope) -> Expr:
    name = text_of(node)
    line = scope.line(node)
    binding = scope.find(name)
    if binding is None:
        known = headers.constant(name, line, has_complex=scope.has_complex)
        if known is not None:
            return known
    elif binding.is_enumerator and binding.type is not None:
        return spelled(Number(binding.type[0], binding.value), line)
    elif binding.is_type:
        raise OpaqueKernel(f"'{name}' is a type and used as a value", line)
    scope.used_names.add(name)
    if binding is None:
        scope.unknown_names.add(name)
    return ("name", line, name, None, ())


def _parenthesized(node: Node, scope: Scope) -> Expr:
    inner = [child for child in node.named_children if child.type != "comment"]
    if len(inner) != 1:
        raise OpaqueKernel(f"'{text_of(node)}' is not supported", scope.line(node))
    return read_expr(inner[0], scope)


def _unary(node: Node, scope: Scope) -> Expr:
    inner = node.child_by_field_name("argument")
    if inner is None or inner.type != "unary_expression":
        return _sign(node, scope)
    if _operator(node) == _operator(inner) == "+":
        return _field(inner, "argument", scope)  # signs added by disambiguate
    return _sign(node, scope)


def _sign(node: Node, scope: Scope) -> Expr:
    return ("unary", scope.line(node), _operator(node), None, (_field(node, "argument", scope),))


def _update(node: Node, scope: Scope) -> Expr:
    operator = _operator(node)
    is_prefix = text_of(node.children[0]) == operator
    kind = "unary" if is_prefix else "postfix"
    return (kind, scope.line(node), operator, None, (_field(node, "argument", scope),))


def _binary(node: Node, scope: Scope) -> Expr:
    operator = _operator(node)
    if operator in ("&&", "||"):
        with scope.making(None):
            operands = (_field(node, "left", scope), _field(node, "right", scope))
    else:
        operands = (_field(node, "left", scope), _field(node, "right", scope))
    return ("binary", scope.line(node), operator, None, operands)


def _comma(node: Node, scope: Scope) -> Expr:
    with scope.making(None):
        return _in_order(node, scope)


def _in_order(node: Node, scope: Scope) -> Expr:
    value = _field(node, "left", scope)
    line = scope.line(node)
    following = node.child_by_field_name("right")
    n_parts = 0
    while following is not None and following.type == "comma_expression":
        n_parts += 1
        if n_parts > MOST_LEVELS:
            raise OpaqueKernel(f"more than {MOST_LEVELS} expressions with ',' between them", line)
        # the parser groups from the right, C from the left
        value = ("binary", line, ",", None, (value, _field(following, "left", scope)))
        node, following = following, following.child_by_field_name("right")
    return ("binary", line, ",", None, (value, _field(node, "right", scope)))


def _assign(node: Node, scope: Scope) -> Expr:
    operands = (_field(node, "left", scope), _field(node, "right", scope))
    return ("assign", scope.line(node), _operator(node)[:-1], None, operands)


def _ternary(node: Node, scope: Scope) -> Expr:
    names = ("condition", "consequence", "alternative")
    with scope.making(None):
        operands = tuple(_field(node, name, scope) for name in names)
    return ("ternary", scope.line(node), "", None, operands)


def _index(node: Node, scope: Scope) -> Expr:
    operands = (_field(node, "argument", scope), _field(node, "index", scope))
    return ("index", scope.line(node), "", None, operands)


def _member(node: Node, scope: Scope) -> Expr:
    line = scope.line(node)
    structure = _field(node, "argument", scope)
    if _operator(node) == "->":
        structure = ("unary", line, "*", None, (structure,))
    type_ = type_of(structure, scope)
    members = None if type_ is None else scope.members(type_)
    name = node.child_by_field_name("field")
    if members is None or name is None:
        raise OpaqueKernel(f"'{text_of(node)}' is not a member of a known struct", line)
    if all(text_of(name) != member for member, _, _ in members):
        raise OpaqueKernel(f"'{text_of(node)}': there is no member '{text_of(name)}'", line)
    return ("member", line, text_of(name), None, (structure,))


def _call(node: Node, scope: Scope) -> Expr:
    function = node.child_by_field_name("function")
    while function is not None and function.type == "parenthesized_expression":
        function = function.named_children[0]
    arguments = node.child_by_field_name("arguments")
    line = scope.line(node)
    if function is None or function.type != "identifier" or arguments is None:
        raise OpaqueKernel(
            f"'{text_of(node)}' calls something other than a named function; call it by its name",
            line,
        )
    name = text_of(function)
    if scope.find(name) is not None:
        raise OpaqueKernel(f"'{name}' is not a function", line)
    passed = [child for child in arguments.named_children if child.type != "comment"]
    if name not in scope.functions:
        name = headers.RENAMED_FUNCTIONS.get(name, name)
        is_number = len(passed) == 1 and passed[0].type == "number_literal"
        if name in INTEGER_SUFFIXES and is_number:
            return literal(text_of(passed[0]) + INTEGER_SUFFIXES[name], line)
        if name in dense_calls.NAMES:
            return _dense(name, node, passed, scope)
    values = [read_expr(child, scope) for child in passed]
    if name in headers.COMPLEX_MACROS and scope.has_complex and name not in scope.functions:
        part = (headers.COMPLEX_MACROS[name], False, ())
        values = [("cast", line, "", part, (value,)) for value in values]
        name = "__builtin_complex"
    scope.used_functions.add(name)
    return call(name, line, *values)


def _dense(name: str, node: Node, passed: list[Node], scope: Scope) -> Expr:
    function, values = dense_calls.read_call(name, node, passed, scope, read_expr)
    scope.dense.setdefault(function, scope.line(node))
    scope.results[function.name] = (function.result, False, ())
    scope.used_functions.add(function.name)
    return call(function.name, scope.line(node), *values)


def _cast(node: Node, scope: Scope) -> Expr:
    target = node.child_by_field_name("type")
    if target is None:
        raise OpaqueKernel(f"'{text_of(node)}' is not supported", scope.line(node))
    type_ = read_descriptor(target, scope, read_expr)
    return ("cast", scope.line(node), "", type_, (_field(node, "value", scope),))


def _compound(node: Node, scope: Scope) -> Expr:
    """``(struct V){1, 2}``, or ``(double[]){1, 2}``, as a variable without a name."""
    line = scope.line(node)
    target, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    if target is None or value is None:
        raise OpaqueKernel(f"'{text_of(node)}' is not supported", line)
    type_ = read_descriptor(target, scope, read_expr)
    if scope.members(type_) is None:
        return _unnamed(node, type_, read_expr(value, scope), scope)
    return ("cast", line, "", type_, (arranged(read_expr(value, scope), type_, scope),))


def _unnamed(node: Node, type_: Type, value: Expr, scope: Scope) -> Expr:
    line = scope.line(node)
    if scope.literals is None:
        raise OpaqueKernel(
            f"'{text_of(node)}' is made in place where it is not carried out just once (beside "
            "'&&', '||', '?:' or ',', in the head of a loop, or outside of functions)",
            line,
        )
    name = f"in_place_{scope.n_literals}"
    while name in scope.text:
        scope.n_literals += 1
        name = f"in_place_{scope.n_literals}"
    scope.n_literals += 1
    value = arranged(value, type_, scope)
    type_ = completed(name, type_, value, line)
    scope.declare(name, Binding(type_))
    scope.literals.append((name, type_, value, line))
    return ("name", line, name, None, ())


def _sizeof(node: Node, scope: Scope) -> Expr:
    target = node.child_by_field_name("type")
    if target is not None:
        return ("sizeof", scope.line(node), "", read_descriptor(target, scope, read_expr), ())
    named = scope.find(text_of(node)[len("sizeof") :].strip("() \t\n"))
    if named is not None and named.is_type:
        return ("sizeof", scope.line(node), "", named.type, ())
    return ("sizeof", scope.line(node), "", None, (_field(node, "value", scope),))


def _list(node: Node, scope: Scope) -> Expr:
    line = scope.line(node)
    if node.start_point[0] == node.end_point[0] and _NUMBERS.fullmatch(shown := text_of(node)):
        numbers = (_number(spelling, line) for spelling in _NUMBER.findall(shown))
        return ("list", line, "", None, tuple(numbers))  # a row of a table
    items = (child for child in node.named_children if child.type != "comment")
    return ("list", line, "", None, tuple(_item(item, scope) for item in items))


def _item(node: Node, scope: Scope) -> Expr:
    if node.type != "initializer_pair":
        return read_expr(node, scope)
    path = tuple(_designator(child, scope) for child in node.children_by_field_name("designator"))
    return ("designated", scope.line(node), "", None, (path, _field(node, "value", scope)))


def _designator(node: Node, scope: Scope) -> str | int:
    inner = node.named_children[0]
    if node.type == "field_designator":
        return text_of(inner)
    is_place = node.type == "subscript_designator"
    at = read_constant(inner, scope, read_expr) if is_place else None
    if at is None:
        raise OpaqueKernel(f"'{text_of(node)}' is not a constant", scope.line(node))
    return int(at.value or 0)


def _strings(node: Node, scope: Scope) -> Expr:
    parts = (text_of(child) for child in node.named_children if child.type != "comment")
    return literal(" ".join(parts), scope.line(node))


_LEAVES: dict[str, Callable[[Node, Scope], Expr]] = {
    "number_literal": _literal,
    "char_literal": _literal,
    "string_literal": _literal,
    "identifier": _name,
    "true": _name,
    "false": _name,
    "null": _name,
}
_READERS: dict[str, Callable[[Node, Scope], Expr]] = {
    "concatenated_string": _strings,
    "parenthesized_expression": _parenthesized,
    "unary_expression": _unary,
    "pointer_expression": _unary,
    "update_expression": _update,
    "binary_expression": _binary,
    "comma_expression": _comma,
    "assignment_expression": _assign,
    "conditional_expression": _ternary,
    "subscript_expression": _index,
    "field_expression": _member,
    "compound_literal_expression": _compound,
    "call_expression": _call,
    "cast_expression": _cast,
    "sizeof_expression": _sizeof,
    "initializer_list": _list,
}
