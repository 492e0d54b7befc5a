# SPDX-License-Identifier: BSD-3-Clause
"""What FFCx writes, with arguments as loops have them.

UFCx packs all coefficients into one array ``w``, all constants into ``c``, and gives three
coordinates to each vertex whatever the dimension. Here each coefficient and each constant is an
argument of its own, and a vertex has as many coordinates as there are dimensions: loops then read
Dats in place. Only the indices of these arrays are rewritten; nothing is copied in the kernel.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.exceptions import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

UFCX_DIM = 3
"""Coordinates of a vertex in UFCx."""
_BODY = re.compile(
    r"void\* custom_data\)\s*\{\n(.*?)\n\}\s*\n+(?:bool|ufcx_integral|int|static)", re.DOTALL
)
_POWER = re.compile(r"\bc?powf?\((\w+), ([234])(?:\.0*)?\)")


class Part(NamedTuple):
    """A piece of one of UFCx's arrays.

    Attributes:
        name: What the piece is called where it is an argument of its own.
        start: Where it begins.
        size: How many values it has.
    """

    name: str
    start: int
    size: int


def body_of(implementation: str) -> str:
    """Return the body of the function in what FFCx writes for an integral."""
    found = _BODY.search(implementation)
    if found is None:
        raise InternalError("FFCx wrote an integral in which no function could be found")
    return found[1]


def with_products(body: str) -> str:
    """Write small powers of values as products.

    UFL's ``x**2`` becomes ``pow(x, 2)``, which costs as much as an exponential and a logarithm; and
    vectors of PoCL's ``pow`` make a NaN of the square of zero.

    Args:
        body: C text.
    """
    return _POWER.sub(lambda found: f"({' * '.join([found[1]] * int(found[2]))})", body)


def uses(body: str, name: str) -> bool:
    """Say whether a text uses a name."""
    return re.search(rf"\b{name}\b", body) is not None


def split(body: str, array: str, parts: Sequence[Part]) -> str:
    """Make the pieces of an array arrays of their own.

    Args:
        body: C text.
        array: Its name.
        parts: The pieces, in ascending order.
    """

    def renamed(index: str) -> str:
        constant, factors = _linear(index, array)
        part = next((p for p in parts if p.start <= constant < p.start + p.size), None)
        if part is None:
            raise InternalError(f"FFCx reads {array}[{index}], which belongs to no argument")
        return f"{part.name}[{_written(constant - part.start, factors)}]"

    return _each_index(body, array, renamed)


def narrowed(body: str, array: str, dim: int) -> str:
    """Give each vertex in an array of coordinates as many of them as there are dimensions.

    Args:
        body: C text.
        array: The array's name.
        dim: Of the space.
    """

    def renamed(index: str) -> str:
        if dim == UFCX_DIM:
            return f"{array}[{index}]"
        try:
            constant, factors = _linear(index, array)
        except InternalError:  # the number of a vertex comes from a table
            return f"{array}[({index}) / {UFCX_DIM} * {dim} + ({index}) % {UFCX_DIM}]"
        vertex, component = divmod(constant, UFCX_DIM)
        scaled = {name: factor // UFCX_DIM * dim for name, factor in factors.items()}
        if any(factor % UFCX_DIM for factor in factors.values()):
            raise InternalError(f"FFCx reads {array}[{index}], which is no vertex's coordinate")
        return f"{array}[{_written(vertex * dim + component, scaled)}]"

    return _each_index(body, array, renamed)


def _each_index(body: str, array: str, renamed: Callable[[str], str]) -> str:
    """Replace each ``array[index]`` by what is made of its index."""
    pieces, at = [], 0
    for found in re.finditer(rf"\b{array}\[", body):
        if found.start() < at:
            continue
        end, depth = found.end(), 1
        while depth:
            depth += {"[": 1, "]": -1}.get(body[end], 0)
            end += 1
        pieces += [body[at : found.start()], renamed(body[found.end() : end - 1])]
        at = end
    return "".join((*pieces, body[at:]))


def _linear(index: str, array: str) -> tuple[int, dict[str, int]]:
    """Return the constant of an index and the factor of each variable in it."""
    tree = ast.parse(index.strip(), mode="eval")
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    constant = _value(tree.body, dict.fromkeys(names, 0), array)
    factors = {
        name: _value(tree.body, {n: int(n == name) for n in names}, array) - constant
        for name in names
    }
    twice = _value(tree.body, dict.fromkeys(names, 2), array)
    if twice != constant + 2 * sum(factors.values()):
        raise InternalError(f"FFCx reads {array}[{index}], whose index is not linear")
    return constant, factors


def _value(node: ast.expr, values: dict[str, int], array: str) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.Sub):
        left, right = _value(node.left, values, array), _value(node.right, values, array)
        if isinstance(node.op, ast.Mult):
            return left * right
        return left + right if isinstance(node.op, ast.Add) else left - right
    raise InternalError(f"FFCx reads {array} at an index that is not known: {ast.unparse(node)}")


def _written(constant: int, factors: dict[str, int]) -> str:
    terms = [name if factor == 1 else f"{factor} * {name}" for name, factor in factors.items()]
    if constant or not terms:
        terms.append(str(constant))
    return " + ".join(terms)
