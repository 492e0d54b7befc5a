# SPDX-License-Identifier: BSD-3-Clause
"""Types as declared: specifiers and declarators."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.kernel.parser.arithmetic import Number, common_base, following, held, integer_in
from pyop2cxx.kernel.parser.disambiguate import WORDS
from pyop2cxx.kernel.parser.places import mistake
from pyop2cxx.kernel.parser.scope import MOST_LEVELS, Binding, Scope, size_of
from pyop2cxx.kernel.parser.wire import OpaqueKernel, Parameter, Step, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from pyop2cxx.kernel.parser.wire import Expr

_INTEGERS = {
    ("char",): "int8",
    ("char", "signed"): "int8",
    ("char", "unsigned"): "uint8",
    (): "int32",
    ("short",): "int16",
    ("long",): "int64",
    ("long", "long"): "int64",
    ("unsigned",): "uint32",
    ("short", "unsigned"): "uint16",
    ("long", "unsigned"): "uint64",
    ("long", "long", "unsigned"): "uint64",
}
_IGNORED_QUALIFIERS = {"const", "restrict", "__restrict__", "__restrict", "__extension__"}
_RESTRICT = {"restrict", "__restrict__", "__restrict"}
_MOST_BYTES = 2**63 - 1
"""Of an array in C, where differences of pointers have 64 bits."""
_OF_STRUCTURES = {"struct", "type_identifier", "field_declaration_list", "comment"}

_POINTER = "a function pointer; call the function by its name"
_UNION = "a union (what it holds cannot be followed); use a variable for each member"


class Specifiers(NamedTuple):
    """The specifiers of a declaration, before the declarators."""

    type: Type
    storage: frozenset[str]


class Declarator(NamedTuple):
    """A declared name with its type; for a function, also the list of parameters."""

    name: str
    type: Type
    parameters: Node | None


def text_of(node: Node) -> str:
    """The source of `node`."""
    return (node.text or b"").decode()


def read_specifiers(
    node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]
) -> Specifiers:
    """The type and the storage classes of a declaration, parameter or function definition."""
    storage = set()
    is_const = False
    for child in node.children:
        if child.type == "storage_class_specifier":
            storage.add(text_of(child))
        elif child.type == "type_qualifier":
            qualifier = text_of(child)
            is_const = is_const or qualifier == "const"
            if qualifier not in _IGNORED_QUALIFIERS and not qualifier.startswith(
                ("alignas", "_Alignas")
            ):
                raise OpaqueKernel(f"'{qualifier}' is not supported", scope.line(child))
    specifier = node.child_by_field_name("type")
    if specifier is None:
        raise OpaqueKernel("a declaration without a type", scope.line(node))
    base, base_const, steps = read_type(specifier, scope, read_expr)
    if is_const and steps and steps[0][0] == "*":
        steps = ((*steps[0][:2], True, steps[0][3]), *steps[1:])
        is_const = False
    return Specifiers((base, base_const or is_const, steps), frozenset(storage))


def read_type(node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]) -> Type:
    """Return the type named or defined by a specifier."""
    name = text_of(node)
    if node.type in ("primitive_type", "type_identifier"):
        binding = scope.find(name)
        if binding is not None and binding.is_type and binding.type is not None:
            return binding.type
        if name in WORDS:
            return (WORDS[name], False, ())
    elif node.type == "sized_type_specifier":
        words = sorted(word for word in name.split() if word not in ("int", "const"))
        if words != ["signed"] and "signed" in words and "char" not in words:
            words.remove("signed")
        base = _INTEGERS.get(() if words == ["signed"] else tuple(words))
        if base is not None:
            return (base, False, ())
    elif node.type == "enum_specifier":
        return (read_enum(node, scope, read_expr), False, ())
    elif node.type == "struct_specifier":
        name = scope.descend(lambda one, scope: _read_structure(one, scope, read_expr), node)
        return (f"struct {name}", False, ())
    elif node.type == "union_specifier":
        raise OpaqueKernel(_UNION, scope.line(node))
    raise OpaqueKernel(f"the type '{name}' is not known", scope.line(node))


def _read_structure(node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]) -> str:
    """Return the name of a structure, defined if there is a body."""
    line = scope.line(node)
    tag = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if any(child.type not in _OF_STRUCTURES for child in node.children):
        raise OpaqueKernel("a struct with attributes; leave them out", line)
    if body is None:
        known = None if tag is None else scope.find_tag(text_of(tag))
        if known is None:
            raise OpaqueKernel(f"'{text_of(node)}' is not defined before it is used", line)
        return known
    own = "" if tag is None else text_of(tag)
    name = scope.declare_structure(own, own or _name_of_type(node), line)
    members = []
    names: dict[str, int] = {}
    for child in body.named_children:
        if child.type != "comment":
            members += _read_members(child, name, names, scope, read_expr)
    if not members:
        raise OpaqueKernel("a struct without members", line)
    scope.structures[name] = (name, tuple(members), line)
    return name


def _name_of_type(node: Node) -> str:
    """Return the name given by a typedef to a structure without a tag."""
    parent = node.parent
    named = None
    if parent is not None and parent.type == "type_definition":
        named = parent.child_by_field_name("declarator")
    is_name = named is not None and named.type == "type_identifier"
    return text_of(named) if named is not None and is_name else "unnamed"


def _read_members(
    node: Node,
    of: str,
    names: dict[str, int],
    scope: Scope,
    read_expr: Callable[[Node, Scope], Expr],
) -> list[Parameter]:
    line = scope.line(node)
    if node.type != "field_declaration":
        raise OpaqueKernel(f"'{text_of(node)}' is not supported in a struct", line)
    if any(child.type == "bitfield_clause" for child in node.children):
        raise OpaqueKernel("a bit-field; use an integer", line)
    specifiers = read_specifiers(node, scope, read_expr)
    members = []
    for child in node.children_by_field_name("declarator"):
        declared = read_declarator(child, specifiers.type, scope, read_expr)
        base, _, steps = declared.type
        if declared.parameters is not None:
            raise OpaqueKernel(_POINTER, line)
        if any(kind == "[" and extent < 0 for kind, extent, _, _ in steps):
            raise OpaqueKernel(
                f"the extent of '{declared.name}' is not given; write the number", line
            )
        if base == f"struct {of}" and not any(step[0] == "*" for step in steps):
            raise OpaqueKernel(f"'struct {of}' contains itself", line)
        _check_new(name_in(child), names, "member", scope)
        members.append((declared.name, declared.type, line))
    if not members:
        raise OpaqueKernel("a member without a name", line)
    return members


def read_enum(node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]) -> str:
    """Declare the constants of an enum, if there is a body, and return the type.

    An `int` holds most enums. Otherwise constants within `int` have type `int`, as in compilers,
    and the others have the type of the enum.
    """
    tag, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if body is None:
        known = None if tag is None else scope.find(f"enum {text_of(tag)}")
        return "int32" if known is None or known.type is None else known.type[0]
    before = Number("int32", -1)
    names: dict[str, int] = {}
    values: dict[str, Number] = {}
    for one in body.named_children:
        name = one.child_by_field_name("name") if one.type == "enumerator" else None
        if name is None:
            continue
        given = one.child_by_field_name("value")
        value = following(before) if given is None else read_constant(given, scope, read_expr)
        if value is None:
            raise OpaqueKernel("an enumerator that is not a constant", scope.line(one))
        _check_new(name, names, "enumerator", scope)
        before = value._replace(base="int32") if held(value, "int32") else value
        values[text_of(name)] = before
        _declare_enumerator(text_of(name), before, scope)
    base = common_base(values.values())
    for text, value in values.items():
        if not held(value, "int32"):
            _declare_enumerator(text, value._replace(base=base), scope)
    if tag is not None:
        scope.declare(f"enum {text_of(tag)}", Binding((base, False, ()), is_type=True))
    return base


def _declare_enumerator(name: str, number: Number, scope: Scope) -> None:
    type_: Type = (number.base, False, ())
    scope.declare(name, Binding(type_, int(number.value or 0), is_enumerator=True))


def read_constant(
    node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]
) -> Number | None:
    """Read an integer required to be constant in C; None if not known to be constant.

    Raises:
        UsageError: The expression has no value in C, as ``1 << -1``.
    """
    number = integer_in(read_expr(node, scope), scope)
    if number is not None and number.fault:
        what = f"'{text_of(node)}' has no value in C: {number.fault}"
        raise mistake(node, scope, what)
    return number


def read_declarator(
    node: Node | None, type_: Type, scope: Scope, read_expr: Callable[[Node, Scope], Expr]
) -> Declarator:
    """Return the declaration of `node` for specifiers of `type_`; works from the outside in."""
    parameters = None
    while node is not None:
        kind = node.type.removeprefix("abstract_")
        if len(type_[2]) > MOST_LEVELS:
            raise OpaqueKernel(f"more than {MOST_LEVELS} '*' or '[]' in a type", scope.line(node))
        if kind in ("identifier", "type_identifier", "field_identifier", "primitive_type"):
            _check_size(node, type_, scope)
            return Declarator(text_of(node), type_, parameters)
        if kind == "pointer_declarator":
            type_ = _prepended(_pointer(node, scope), type_)
        elif kind == "array_declarator":
            type_ = _prepended(("[", _extent(node, scope, read_expr), False, False), type_)
        elif kind == "function_declarator" and parameters is None:
            parameters = node.child_by_field_name("parameters")
            inner = node.child_by_field_name("declarator")
            if inner is None or inner.type != "identifier":
                raise OpaqueKernel(_POINTER, scope.line(node))
        elif kind != "parenthesized_declarator":
            raise OpaqueKernel(f"'{text_of(node)}' is not supported", scope.line(node))
        node = _inner(node)
    return Declarator("", type_, parameters)


def name_in(declarator: Node | None) -> Node:
    """Return the name declared by a declarator."""
    assert declarator is not None  # read before as the declaration of a name
    while (inner := _inner(declarator)) is not None:
        declarator = inner
    return declarator


def _check_new(name: Node, names: dict[str, int], what: str, scope: Scope) -> None:
    """Check for a repeated name, and add the name."""
    text, line = text_of(name), scope.line(name)
    if text in names:
        raise mistake(name, scope, f"{what} '{text}' is declared twice", names[text])
    names[text] = line


def _inner(node: Node) -> Node | None:
    inner = node.child_by_field_name("declarator")
    if inner is None and node.type.endswith("parenthesized_declarator"):
        inner = next((child for child in node.named_children if child.type != "comment"), None)
    return inner


def _prepended(step: Step, type_: Type) -> Type:
    return (type_[0], type_[1], (step, *type_[2]))


def _pointer(node: Node, scope: Scope) -> Step:
    qualifiers = {text_of(child) for child in node.children if child.type == "type_qualifier"}
    if not qualifiers <= _IGNORED_QUALIFIERS:
        raise OpaqueKernel(f"'{text_of(node)}' is not supported", scope.line(node))
    return ("*", 0, "const" in qualifiers, bool(qualifiers & _RESTRICT))


def _extent(node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]) -> int:
    size = node.child_by_field_name("size")
    if size is None:
        return -1
    extent = read_constant(size, scope, read_expr) if size.type != "*" else None
    if extent is None:
        raise OpaqueKernel(
            f"the extent of '{text_of(node)}' is not a constant (arrays in kernels have a fixed"
            " size)",
            scope.line(node),
        )
    value = int(extent.value or 0)
    if not 0 <= value <= _MOST_BYTES:
        what = f"'{text_of(node)}' would have {value} elements; C has no such array"
        raise mistake(size, scope, what)
    return value


def _check_size(name: Node, type_: Type, scope: Scope) -> None:
    n_bytes = size_of(type_)
    if n_bytes is not None and n_bytes > _MOST_BYTES:
        what = f"'{text_of(name)}' would have {n_bytes} bytes; C has no such array"
        raise mistake(name, scope, what)


def read_descriptor(node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]) -> Type:
    """The type in a cast or a sizeof."""
    specifiers = read_specifiers(node, scope, read_expr)
    declared = read_declarator(
        node.child_by_field_name("declarator"), specifiers.type, scope, read_expr
    )
    return declared.type


def read_parameters(
    node: Node, scope: Scope, read_expr: Callable[[Node, Scope], Expr]
) -> tuple[Parameter, ...]:
    """Return the parameters of a function, each with the declared type."""
    parameters = []
    names: dict[str, int] = {}
    for child in node.named_children:
        if child.type == "comment":
            continue
        if child.type != "parameter_declaration":
            raise OpaqueKernel("a function with '...'; name its parameters", scope.line(child))
        specifiers = read_specifiers(child, scope, read_expr)
        inner = child.child_by_field_name("declarator")
        declared = read_declarator(inner, specifiers.type, scope, read_expr)
        if declared.parameters is not None:
            raise OpaqueKernel(_POINTER, scope.line(child))
        if declared.type == ("void", False, ()) and not declared.name:
            continue
        if declared.name:
            _check_new(name_in(inner), names, "parameter", scope)
        parameters.append((declared.name, declared.type, scope.line(child)))
    return tuple(parameters)
