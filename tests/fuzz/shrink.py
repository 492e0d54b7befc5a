# SPDX-License-Identifier: BSD-3-Clause
"""Makes a loop that fails as small as it can while it fails in the same way."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from fuzz import make
from fuzz.text import source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.loops import Loop
    from fuzz.tree import Expr, Stmt

    Edit = Callable[[Loop], bool]


def shrunk(loop: Loop, fails: Callable[[Loop], bool], most: int = 2000) -> Loop:
    """Return a smaller loop that fails, too.

    Args:
        loop: One that fails.
        fails: Whether another one does in the same way.
        most: How many are tried at most.
    """
    n_tried, again = 0, True
    while again and n_tried < most:
        again = False
        number = 0
        while n_tried < most:
            smaller = deepcopy(loop)
            edit = next((e for i, e in enumerate(edits(smaller)) if i == number), None)
            if edit is None:
                break
            n_tried += 1
            if edit() and fails(smaller):
                loop, again = smaller, True
            else:
                number += 1
    return loop


def edits(loop: Loop) -> Iterator[Callable[[], bool]]:
    """Yield what may make a loop smaller; each returns whether it did anything."""
    kernel = loop.kernel
    for f in kernel.functions:
        for body in bodies(f.body):
            for i in range(len(body)):
                yield lambda body=body, i=i: drop(body, i)
                yield lambda body=body, i=i: hoist(body, i)
    yield lambda: drop_unused(loop)
    for i in range(len(loop.args)):
        yield lambda i=i: drop_argument(loop, i)
    yield lambda: fewer_cells(loop, loop.sets["cells"][0] // 2)
    yield lambda: fewer_cells(loop, loop.sets["cells"][0] - 1)
    yield lambda: plain_iteration(loop)
    for f in kernel.functions:
        for stmt in statements(f.body):
            for i, e in enumerate(stmt.exprs):
                if stmt.is_best or (stmt.op == "set" and (i == 0 or stmt.word)):
                    continue
                for simpler in simplified(e):
                    yield lambda stmt=stmt, i=i, e=simpler: put(stmt, i, e)


def bodies(body: list[Stmt]) -> Iterator[list[Stmt]]:
    """Yield a body and all within it."""
    yield body
    for stmt in body:
        for inner in stmt.bodies:
            yield from bodies(inner)


def statements(body: list[Stmt]) -> Iterator[Stmt]:
    for inner in bodies(body):
        yield from inner


def drop(body: list[Stmt], i: int) -> bool:
    if body[i].keep:
        return False
    del body[i]
    return True


def hoist(body: list[Stmt], i: int) -> bool:
    """Put what is in a statement in its place."""
    if not body[i].bodies or body[i].is_best:
        return False
    body[i : i + 1] = [stmt for inner in body[i].bodies for stmt in inner if stmt.op != "break"]
    return True


def drop_unused(loop: Loop) -> bool:
    text = source(loop.kernel)
    before = len(loop.kernel.functions) + len(loop.kernel.tables) + len(loop.constants)

    def is_used(name: str) -> bool:
        return len(re.findall(rf"\b{name}\b", text)) > 1

    loop.kernel.functions = [
        f for f in loop.kernel.functions if f is loop.kernel.main or is_used(f.name)
    ]
    loop.kernel.tables = [table for table in loop.kernel.tables if is_used(table.name)]
    loop.constants = [c for c in loop.constants if re.search(rf"\b{c[0]}\b", text)]
    after = len(loop.kernel.functions) + len(loop.kernel.tables) + len(loop.constants)
    return after < before


def drop_argument(loop: Loop, i: int) -> bool:
    """Drop an argument that the kernel does not use."""
    main = loop.kernel.main
    name = main.parameters[i].name
    main.body = [s for s in main.body if not (s.keep and s.op == "set" and s.exprs[0].word == name)]
    if len(loop.args) == 1 or len(re.findall(rf"\b{name}\b", source(loop.kernel))) > 1:
        return False
    del loop.args[i], main.parameters[i]
    used = {path.target for path in loop.paths_used()} | {"cells"}
    loop.sets = {name: size for name, size in loop.sets.items() if name in used}
    return True


def fewer_cells(loop: Loop, n: int) -> bool:
    """Leave out the last elements."""
    old, total = loop.sets["cells"]
    if n >= old or n < 1:
        return False
    loop.sets["cells"] = (n, n)
    if loop.part is not None:
        loop.part = [i for i in loop.part if i < n]
    loop.layers = loop.layers[:n]
    for path in loop.paths_used():
        path.rows = path.rows[:n]
        path.through = path.through[:n]
        path.more = path.more[:n]
    for data in {
        id(arg.data): arg.data for arg in loop.leaves() if arg.data.on == "cells"
    }.values():
        data.values = data.values[: n * data.width]
    return total > n


def plain_iteration(loop: Loop) -> bool:
    """Run over all elements of a Set that is not extruded."""
    was_plain = loop.part is None and not loop.extruded and not loop.layer
    loop.part, loop.region = None, ""
    if loop.layer:
        if re.search(r"\blayer\b.*\blayer\b", source(loop.kernel), re.DOTALL):
            return False
        loop.layer = False
        loop.kernel.main.parameters.pop()
    loop.extruded, loop.periodic, loop.layers = False, False, []
    for path in loop.paths_used():
        path.offsets, path.quotients = [], []
    return not was_plain


def simplified(e: Expr) -> Iterator[Expr]:
    """Yield what may stand where an expression stands."""
    if e.op in ("literal", "name", "+p"):
        return
    if e.facts.low <= 1 <= e.facts.high and e.op != "at":
        literal = make.integer(1) if e.type.is_integer else make.real(1.0)
        if make.cast(literal, e.type) is not None:
            yield literal
    for arg in e.args:
        if arg.type is e.type and arg.facts.within(e.facts) and e.op not in ("at", "call"):
            yield arg
    for i, arg in enumerate(e.args):
        for simpler in simplified(arg):
            if simpler.facts.within(arg.facts) and simpler.type is arg.type:
                yield replace(e, args=(*e.args[:i], simpler, *e.args[i + 1 :]))


def put(stmt: Stmt, i: int, e: Expr) -> bool:
    stmt.exprs[i] = e
    return True
