# SPDX-License-Identifier: BSD-3-Clause
"""Names in a text of C, or of C++ as far as it looks like C, that a linker sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.kernel.parser.parse import parsed_c
from pyop2cxx.kernel.parser.typing import function_declarator, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_AROUND_NAMES = {
    "function_declarator",
    "pointer_declarator",
    "array_declarator",
    "init_declarator",
    "parenthesized_declarator",
    "attributed_declarator",
}
_AROUND_DECLARATIONS = ("preproc_", "linkage_", "declaration_list", "ERROR")
_STORAGE = "storage_class_specifier"


class Linked(NamedTuple):
    """Functions and variables at file scope that are not static.

    Attributes:
        defined: Here, with the language's own linkage.
        defined_as_c: Here, within `extern "C"`.
        declared: With the language's own linkage, and not defined here.
    """

    defined: frozenset[str]
    defined_as_c: frozenset[str]
    declared: frozenset[str]


def linked_names(text: str) -> Linked:
    """Return what a linker sees of a text."""
    own: set[str] = set()
    as_c: set[str] = set()
    declared: set[str] = set()
    declared_as_c: set[str] = set()
    for node, is_c in _declarations(parsed_c(text).root_node, is_c=False):
        storage = {text_of(child) for child in node.children if child.type == _STORAGE}
        for declarator in node.children_by_field_name("declarator"):
            name = _name(declarator)
            if name is None or storage & {"static", "typedef"}:
                continue
            is_function = function_declarator(declarator) is not None
            is_other = "extern" in storage and declarator.type != "init_declarator"
            if node.type == "declaration" and (is_function or is_other):
                (declared_as_c if is_c else declared).add(name)
            elif node.type == "declaration" or is_function:  # and no namespace
                (as_c if is_c else own).add(name)
    as_c |= own & declared_as_c  # the first declaration says what linkage a name has
    return Linked(frozenset(own - as_c), frozenset(as_c), frozenset(declared - own))


def _declarations(node: Node, *, is_c: bool) -> Iterator[tuple[Node, bool]]:
    for child in node.children:
        if child.type in ("function_definition", "declaration"):
            yield child, is_c
        elif child.type.startswith(_AROUND_DECLARATIONS):
            yield from _declarations(child, is_c=is_c or child.type == "linkage_specification")


def _name(declarator: Node | None) -> str | None:
    while declarator is not None and declarator.type in _AROUND_NAMES:
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next(iter(declarator.named_children), None)
    is_name = declarator is not None and declarator.type == "identifier"
    return text_of(declarator) if is_name and declarator is not None else None
