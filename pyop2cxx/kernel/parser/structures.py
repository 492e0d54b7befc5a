# SPDX-License-Identifier: BSD-3-Clause
"""Initialisers with designators, or of structures, as fully braced lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.kernel.parser.scope import type_of
from pyop2cxx.kernel.parser.wire import OpaqueKernel, literal

if TYPE_CHECKING:
    from pyop2cxx.kernel.parser.scope import Scope
    from pyop2cxx.kernel.parser.wire import Expr, Step, Type

_MOST_ITEMS = 1_000_000
"""Largest size of a list with designators: items between them are written out."""


def arranged(value: Expr, type_: Type, scope: Scope) -> Expr:
    """Return an initialiser of `type_` with a list for each array and structure, items in order.

    Raises:
        OpaqueKernel: There are more items than the type has, or the list continues inside of a
            designated part.
    """
    plain = not type_[0].startswith("struct ") and not _needs_rules(value, type_[2])
    return value if plain or value[0] != "list" else _Arranger(scope).braced(type_, value)


def _needs_rules(value: Expr, steps: tuple[Step, ...]) -> bool:
    """Whether there are designators, or braces around a single number or pointer: ``x = {1}``."""
    if value[0] == "list":
        is_array = bool(steps) and steps[0][0] == "["
        return not is_array or any(_needs_rules(item, steps[1:]) for item in value[4])
    return value[0] == "designated"


class _Arranger:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def braced(self, type_: Type, value: Expr) -> Expr:
        """Return the list of `type_` for the contents of a pair of braces."""
        line, items = value[1], value[4]
        if not self._is_aggregate(type_):
            if len(items) != 1:
                raise OpaqueKernel("a list for a single value", line)
            return self._inside(type_, items[0])
        slots: dict[int, Expr] = {}
        at = position = 0
        while position < len(items):
            item: Expr = items[position]
            if item[0] == "designated":
                at = self._place(type_, item)
                slots[at] = self._designated(type_, at, item, slots.get(at))
                position += 1
            else:
                slots[at], position = self._next(self._part(type_, at, line), items, position)
            at += 1
        return self._filled(type_, slots, line)

    def _next(self, type_: Type, items: tuple[Expr, ...], position: int) -> tuple[Expr, int]:
        """Return the value of the next part, and the position behind the items used."""
        item = items[position]
        whole = item[0] == "list" or not self._is_aggregate(type_) or self._is_one(item, type_)
        if whole:
            return self._inside(type_, item), position + 1
        slots: dict[int, Expr] = {}  # the inner braces are omitted
        for at in range(self._n_parts(type_)):
            if position == len(items) or items[position][0] == "designated":
                break
            slots[at], position = self._next(self._part(type_, at, item[1]), items, position)
        return self._filled(type_, slots, item[1]), position

    def _inside(self, type_: Type, item: Expr) -> Expr:
        if item[0] != "list":
            return item
        return self._scope.descend(lambda inner, _: self.braced(type_, inner), item)

    def _designated(self, type_: Type, at: int, item: Expr, before: Expr | None) -> Expr:
        _, line, _, _, (path, value) = item
        part = self._part(type_, at, line)
        if len(path) == 1:
            return self._next(part, (value,), 0)[0]
        if before is not None:
            raise OpaqueKernel("a part is given in pieces", line)
        inner: Expr = ("designated", line, "", None, (path[1:], value))
        return self.braced(part, ("list", line, "", None, (inner,)))

    def _place(self, type_: Type, item: Expr) -> int:
        first = item[4][0][0]
        if isinstance(first, int):
            if type_[2] and first >= 0:
                return first
        elif not type_[2]:
            members = self._scope.members(type_) or ()
            found = [i for i, (name, _, _) in enumerate(members) if name == first]
            if found:
                return found[0]
        raise OpaqueKernel(f"'{first}' designates no part of it", item[1])

    def _is_aggregate(self, type_: Type) -> bool:
        _, _, steps = type_
        return steps[0][0] == "[" if steps else self._scope.members(type_) is not None

    def _is_one(self, item: Expr, type_: Type) -> bool:
        """True for a value of an array or structure."""
        if type_[2]:
            return item[0] == "literal" and item[2].startswith('"')
        found = type_of(item, self._scope)
        return found is not None and (found[0], found[2]) == (type_[0], type_[2])

    def _n_parts(self, type_: Type) -> int:
        return int(type_[2][0][1]) if type_[2] else len(self._scope.members(type_) or ())

    def _part(self, type_: Type, at: int, line: int) -> Type:
        n = self._n_parts(type_)
        if at >= n >= 0:  # the extent of `[]` is the number of items
            raise OpaqueKernel(f"an initialiser has more than {n} items", line)
        if type_[2]:
            return (type_[0], type_[1], type_[2][1:])
        return (self._scope.members(type_) or ())[at][1]

    def _filled(self, type_: Type, slots: dict[int, Expr], line: int) -> Expr:
        slots = slots or {0: self._zero(self._part(type_, 0, line), line)}
        if max(slots) > _MOST_ITEMS:
            raise OpaqueKernel(f"an initialiser of more than {_MOST_ITEMS} items", line)
        parts = (
            slots[at] if at in slots else self._zero(self._part(type_, at, line), line)
            for at in range(max(slots) + 1)
        )
        return ("list", line, "", None, tuple(parts))

    def _zero(self, type_: Type, line: int) -> Expr:
        return self._filled(type_, {}, line) if self._is_aggregate(type_) else literal("0", line)
