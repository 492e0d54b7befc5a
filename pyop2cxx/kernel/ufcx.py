# SPDX-License-Identifier: BSD-3-Clause
"""FFCx output, with arguments in the form of loops.

UFCx packs all coefficients into an array ``w``, all constants into ``c``, and gives three
coordinates to each vertex in any dimension. Here each coefficient and each constant is a separate
argument, and a vertex has as many coordinates as there are dimensions, so loops read Dats in place.
Only the indices of the arrays are rewritten; nothing is copied in the kernel.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.exceptions import InternalError, KernelTypeError, UnsupportedError, UsageError
from pyop2cxx.kernel.parser.tokens import COMMENT, STRING
from pyop2cxx.kernel.ufcx_quotients import with_reciprocals
from pyop2cxx.kernel.ufcx_sums import with_joined_sums
from pyop2cxx.kernel.ufcx_tables import with_tables
from pyop2cxx.runtime.frames import render_once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

UFCX_DIM = 3
"""Coordinates of a vertex in UFCx."""
_FUNCTION = re.compile(r"\bvoid\s+(\w+)\s*\(([^()]*)\)\s*\{")
_PARAMETERS = "A, w, c, coordinate_dofs, entity_local_index, quadrature_permutation, custom_data"
"""Parameters of UFCx's functions, under any names; FFCx before 0.10 lacks the last."""
_BRACE = re.compile(rf"{COMMENT}|{STRING}|(?P<brace>[{{}}])", re.DOTALL)
_PREFIX = "tabulate_tensor_"
_SCALARS = {"float": "float32", "double": "float64", "double _Complex": "complex128"}
_DTYPES = {**_SCALARS, "int32_t": "int32", "uint8_t": "uint8"}
"""Names of types in C by FFCx, and in NumPy."""
_POWER = re.compile(r"\bc?powf?\((\w+), ([234])(?:\.0*)?\)")


class Part(NamedTuple):
    """A piece of an array of UFCx.

    Attributes:
        name: Name of the piece as a separate argument.
        start: Begin of the piece.
        size: Number of values.
    """

    name: str
    start: int
    size: int


class Described(NamedTuple):
    """A function of UFCx's as a kernel.

    Attributes:
        code: The kernel's text.
        name: Name of the function.
        dtypes: Dtypes of the arguments, the element tensor first.
    """

    code: str
    name: str
    dtypes: tuple[str, ...]


def described(
    source: str,
    integral: str | None,
    name: str | None,
    sizes: tuple[Sequence[int], Sequence[int]],
    gdim: int,
) -> Described:
    """Make a kernel of FFCx output for an integral; see `Kernel.from_ufcx`.

    Args:
        source: C text.
        integral: Name of the integral; None for the only integral.
        name: Name of the kernel; None means the integral's name.
        sizes: How many values each coefficient has, and each constant.
        gdim: Coordinates of a vertex.

    Raises:
        UsageError: The function does not exist, or reads undescribed data.
        UnsupportedError: The integral has dtype ``complex64``.
    """
    called, parameters, body = _function(source, integral)
    if gdim not in (1, 2, 3):
        raise UsageError(f"Kernel.from_ufcx: gdim must be 1, 2 or 3, got {gdim!r}")
    scalar = parameters[0].partition("*")[0].strip()
    if scalar not in _SCALARS:
        raise UnsupportedError(f"Kernel.from_ufcx: there are no loops over values of '{scalar}'")
    real = scalar.partition(" ")[0]
    tensor, w, c, coordinates, facets, permutations = (one.split()[-1] for one in parameters[:6])
    arguments = [(tensor, scalar)]
    for array, kind, given in zip((w, c), ("coefficient", "constant"), sizes, strict=True):
        pieces = [Part(f"{kind}{i}", sum(given[:i]), size) for i, size in enumerate(given)]
        try:
            body = split(body, array, pieces)
        except InternalError as error:
            raise UsageError(
                f"Kernel.from_ufcx: integral '{called}': {error}; '{kind}s' says how many values "
                f"each of them has, got {[*given]}"
            ) from None
        arguments += [(one.name, scalar) for one in pieces]
    try:
        body = narrowed(body, coordinates, gdim)
    except InternalError as error:
        raise UsageError(f"Kernel.from_ufcx: integral '{called}': {error}") from None
    arguments.append((coordinates, real))
    arguments += [
        (array, ctype)
        for array, ctype in ((facets, "int32_t"), (permutations, "uint8_t"))
        if uses(body, array)
    ]
    headers = ["math.h", "stdint.h"] + ["complex.h"] * (scalar != real)
    pointers = [(one, ctype, i > 0) for i, (one, ctype) in enumerate(arguments)]
    code = function(name or called, pointers, body, headers)
    return Described(code, name or called, tuple(_DTYPES[ctype] for _, ctype in arguments))


def function(
    name: str,
    parameters: Sequence[tuple[str, str, bool]],
    body: str,
    headers: Sequence[str] = (),
    before: str = "",
) -> str:
    """Return the text of a function.

    Args:
        name: Of the function.
        parameters: Name and target type of each pointer, and whether the target is only read.
        body: The statements.
        headers: Headers included before.
        before: Other functions.
    """
    written = [{"name": p, "type": ctype, "is_const": const} for p, ctype, const in parameters]
    context = {"name": name, "parameters": written, "body": body, "headers": headers}
    return render_once("kernels/function.c.j2", {**context, "before": before})


def _function(source: str, integral: str | None) -> tuple[str, list[str], str]:
    """Return the name of an integral, the function's parameters, and the body."""
    if not isinstance(integral, str | None):
        raise KernelTypeError(
            f"Kernel.from_ufcx: 'integral' is the name of one, or None; got {integral!r}"
        )
    found = {
        one[1].removeprefix(_PREFIX): (one.end(), parameters)
        for one in _FUNCTION.finditer(source)
        if _are_ufcx(parameters := [" ".join(p.split()) for p in one[2].split(",")])
    }
    called = (integral or "").removeprefix(_PREFIX)
    if integral is None and len(found) == 1:
        called = next(iter(found))
    if called not in found:
        which = "one integral only" if integral is None else f"integral '{integral}'"
        raise UsageError(
            f"Kernel.from_ufcx: expected C text of FFCx's with {which}; it has: "
            f"{', '.join(found) or 'none'}. An integral is a function 'void {_PREFIX}NAME' of "
            f"UFCx's parameters: {_PARAMETERS}"
        )
    start, parameters = found[called]
    depth = 1
    for brace in _BRACE.finditer(source, start):
        depth += {"{": 1, "}": -1}.get(brace["brace"], 0)
        if depth == 0:
            return called, parameters, simplified(source[start : brace.start()].strip("\n"))
    raise UsageError(f"Kernel.from_ufcx: the text ends within integral '{called}'")


def _are_ufcx(parameters: list[str]) -> bool:
    """Return whether a function's parameters belong to an integral."""
    if len(parameters) not in (6, 7):
        return False
    numbers, permutations = parameters[4:6]
    return all("*" in one for one in parameters) and "int" in numbers and "uint8_t" in permutations


def simplified(body: str) -> str:
    """Return equivalent code with fewer operations, up to rounding.

    Args:
        body: C text of FFCx's.
    """
    return with_reciprocals(with_joined_sums(with_tables(with_products(body))))


def with_products(body: str) -> str:
    """Write small powers of values as products.

    UFL's ``x**2`` becomes ``pow(x, 2)``, as expensive as an exponential and a logarithm; and
    vectors in PoCL's ``pow`` turn the square of zero into NaN.

    Args:
        body: C text.
    """
    if "pow" not in body:
        return body
    return _POWER.sub(lambda found: f"({' * '.join([found[1]] * int(found[2]))})", body)


def uses(body: str, name: str) -> bool:
    """Say whether a text uses a name."""
    return re.search(rf"\b{name}\b", body) is not None


def split(body: str, array: str, parts: Sequence[Part]) -> str:
    """Make the pieces of an array arrays of their own.

    Args:
        body: C text.
        array: Name of the array.
        parts: The pieces, in ascending order.
    """

    def renamed(index: str) -> str:
        constant, factors = _linear(index, array)
        part = next((p for p in parts if p.start <= constant < p.start + p.size), None)
        if part is None:
            raise InternalError(f"FFCx reads {array}[{index}], which belongs to no argument")
        return f"{part.name}[{_written(constant - part.start, factors)}]"

    return each_index(body, array, renamed)


def narrowed(body: str, array: str, dim: int) -> str:
    """Reduce the coordinates of each vertex in an array to the number of dimensions.

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

    return each_index(body, array, renamed)


def each_index(body: str, array: str, renamed: Callable[[str], str]) -> str:
    """Replace the index of each ``array[index]``.

    Args:
        body: C text.
        array: The array's name.
        renamed: Returns the new text of an index.

    Raises:
        InternalError: The array is used in another way, which would stay unchanged.
    """
    pieces, at = [], 0
    pattern = rf"{COMMENT}|{STRING}|(?P<array>\b{array}\b)(?P<bracket>\s*\[)?"
    for found in re.finditer(pattern, body, re.DOTALL):
        if found["array"] is None or found.start() < at:
            continue
        if found["bracket"] is None:
            line = body[body.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0].strip()
            raise InternalError(f"FFCx uses {array} otherwise than by {array}[index]: {line}")
        end, depth = found.end(), 1
        while depth:
            depth += {"[": 1, "]": -1}.get(body[end], 0)
            end += 1
        pieces += [body[at : found.start()], renamed(body[found.end() : end - 1])]
        at = end
    return "".join((*pieces, body[at:]))


def divided(index: str, array: str, n: int) -> tuple[str, str]:
    """Return the row and the column of an index ``n * row + column``.

    Args:
        index: Text of a linear index.
        array: Name of the array, for messages.
        n: Number of columns.

    Raises:
        InternalError: The index is not linear.
    """
    constant, factors = _linear(index, array)
    rows = {name: factor // n for name, factor in factors.items() if factor % n == 0}
    columns = {name: factor for name, factor in factors.items() if name not in rows}
    row, column = divmod(constant, n)
    return _written(row, rows), _written(column, columns)


def _linear(index: str, array: str) -> tuple[int, dict[str, int]]:
    """Return the constant of an index and the factor of each variable."""
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
