# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature of element matrices ahead of time, in FFCx output.

On affine cells with constant coefficients only the geometry differs from cell to cell: the element
matrix is ``g0 * T0 + g1 * T1 + ...`` with tables common to all cells, the sums over the quadrature
points of weights and basis functions. FFCx leaves the sums to each cell. Here they are computed
once, if the number of operations decreases: for the stiffness of quadratic tetrahedra 6 tables in
place of 4 points with 3 products each; for their mass matrix a table in place of 14 points.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array

MOST_VALUES = 4096
"""In all tables together: they should stay in the first cache, and in a GPU's constant memory."""

_TABLE = re.compile(r"static const (\w+) (\w+)(?:\[\d+\])+ = (\{.*?\});\n", re.DOTALL)
_LOOP = re.compile(
    r"^for \(int iq = 0; iq < (?P<n>\d+); \+\+iq\)\n\{\n(?P<body>.*?)^\}\n",
    re.DOTALL | re.MULTILINE,
)
_FIRST = re.compile(r"\{ [\w ]+ temp_0\[")
_COMMENT = re.compile(r"//[^\n]*\n")
_FACTOR = re.compile(
    r"(?:[\w ]+ (?P<declared>fw\d+) = 0;|"
    r"(?P<name>fw\d+) = (?P<value>\w+) \* (?P<weights>weights_\w+)\[iq\];|\{|\})"
)
_VECTOR = re.compile(
    r"[\w ]+ (?P<name>temp_\d+)\[\d+\] = \{0\}; for \(int j = 0; j < (?P<end>\d+); \+\+j\) "
    r"\{ (?P=name)\[j\] = (?P<factor>fw\d+) \* "
    r"(?P<table>\w+)\[0\]\[0\]\[(?P<point>iq|0)\]\[j\]; \} "
)
_NEST = re.compile(
    r"for \(int j = 0; j < (?P<columns>\d+); \+\+j\) \{ "
    r"for \(int i = 0; i < (?P<rows>\d+); \+\+i\) \{ (?P<terms>[^{}]*)\} \} "
)
_TERM = re.compile(
    r"A\[(?P<place>[^;=]*?)\] \+= (?P<table>\w+)\[0\]\[0\]\[(?P<point>iq|0)\]\[i\] \* "
    r"(?P<vector>temp_\d+)\[j\]; "
)


class _Block(NamedTuple):
    """Contribution of a nest of loops to a part of the element matrix.

    Attributes:
        place: The index of the element matrix, by i and j.
        shape: How far i and j go.
        tables: For each factor of the geometry the sum over the points.
        n_products: Number of products of each entry at each point, with equal rows joined.
    """

    place: str
    shape: tuple[int, int]
    tables: dict[str, Array]
    n_products: int


class _Unknown(Exception):
    """The text does not look as expected."""


def with_tables(body: str) -> str:
    """Replace loops over quadrature points by sums of tables, if cheaper.

    Args:
        body: C text of FFCx's; other text is returned unchanged.
    """
    known = {found[2]: (found[1], found[3]) for found in _TABLE.finditer(body)}
    written: dict[tuple[float, ...], str] = {}
    definitions: list[str] = []

    def replaced(loop: re.Match[str]) -> str:
        try:
            blocks = _blocks(loop["body"], int(loop["n"]), known)
        except _Unknown:
            return loop[0]
        if not _worth(blocks, int(loop["n"]), written):
            return loop[0]
        ctype = next(kind for name, (kind, _) in known.items() if name.startswith("FE"))
        return "".join(_text(block, ctype, written, definitions) for block in blocks)

    found = _LOOP.sub(replaced, body)
    if not definitions:
        return body
    found = _TABLE.sub(lambda t: t[0] if len(re.findall(rf"\b{t[2]}\b", found)) > 1 else "", found)
    return "".join(definitions) + found


def _blocks(text: str, n_points: int, known: dict[str, tuple[str, str]]) -> list[_Block]:
    """Read the computation of a loop over points.

    Raises:
        _Unknown: The loop contains other code, for example a coefficient varying between points.
    """
    flat = " ".join(_COMMENT.sub("\n", text).split()) + " "
    first = _FIRST.search(flat)
    if first is None:
        raise _Unknown
    factors = _factors(flat[: first.start()])
    blocks: list[_Block] = []
    at = first.start()
    while at < len(flat):
        at = _section(flat, at, n_points, factors, known, blocks)
    return blocks


def _factors(text: str) -> dict[str, tuple[str, str]]:
    """Return the geometry and the weights of each factor, a product of both."""
    found: dict[str, tuple[str, str]] = {}
    at = 0
    while at < len(text):
        part = _FACTOR.match(text, at)
        if part is None:
            raise _Unknown
        if part["name"]:
            found[part["name"]] = (part["value"], part["weights"])
        at = part.end() + 1  # and a blank
    return found


def _section(
    flat: str,
    at: int,
    n_points: int,
    factors: dict[str, tuple[str, str]],
    known: dict[str, tuple[str, str]],
    blocks: list[_Block],
) -> int:
    """Read a section; return the end."""
    if flat[at : at + 2] != "{ ":
        raise _Unknown
    at += 2
    vectors = {}
    while (vector := _VECTOR.match(flat, at)) is not None:
        vectors[vector["name"]] = vector
        at = vector.end()
    nest = _NEST.match(flat, at)
    if nest is None or flat[nest.end() : nest.end() + 2] != "} ":
        raise _Unknown
    terms = [*_TERM.finditer(nest["terms"])]
    if "".join(term[0] for term in terms) != nest["terms"]:
        raise _Unknown
    shape = (int(nest["rows"]), int(nest["columns"]))
    for place in dict.fromkeys(term["place"] for term in terms):
        tables: dict[str, Array] = {}
        here = [term for term in terms if term["place"] == place]
        for term in here:
            vector = vectors.get(term["vector"])
            if vector is None or vector["factor"] not in factors or int(vector["end"]) != shape[1]:
                raise _Unknown
            value, weights = factors[vector["factor"]]
            if not {weights, term["table"], vector["table"]} <= known.keys():
                raise _Unknown
            rows, columns = (_values(known, one["table"], n_points) for one in (term, vector))
            scale = np.array(_read(known[weights][1])).ravel()
            if (rows.shape[1], columns.shape[1]) != shape or scale.shape != (n_points,):
                raise _Unknown
            table = np.einsum("q,qi,qj->ij", scale, rows, columns)
            tables[value] = tables.get(value, 0) + table
        n_products = len({term["table"] for term in here})
        blocks.append(_Block(place, shape, tables, n_products))
    return nest.end() + 2


def _values(known: dict[str, tuple[str, str]], name: str, n_points: int) -> Array:
    """Return a table's values, shape (points, functions)."""
    found = np.array(_read(known[name][1]))
    if found.ndim != 4 or found.shape[:2] != (1, 1) or found.shape[2] not in (1, n_points):
        raise _Unknown
    return np.broadcast_to(found[0, 0], (n_points, found.shape[3]))


def _read(initializer: str) -> object:
    try:
        return ast.literal_eval(initializer.replace("{", "[").replace("}", "]"))
    except (SyntaxError, ValueError):
        raise _Unknown from None


def _worth(blocks: list[_Block], n_points: int, written: dict[tuple[float, ...], str]) -> bool:
    now = sum(n_points * block.n_products * block.shape[0] * block.shape[1] for block in blocks)
    then = sum(len(block.tables) * block.shape[0] * block.shape[1] for block in blocks)
    all_tables = {key: len(key) for block in blocks for key in map(_key, block.tables.values())}
    n_values = sum(all_tables.values()) + sum(map(len, written))
    return then < now and n_values <= MOST_VALUES


def _key(table: Array) -> tuple[float, ...]:
    return tuple(np.asarray(table).ravel().tolist())


def _text(
    block: _Block, ctype: str, written: dict[tuple[float, ...], str], definitions: list[str]
) -> str:
    """Write the loops of a block, and the tables not yet written."""
    terms = []
    for value, table in block.tables.items():
        key = _key(table)
        if key not in written:
            written[key] = name = f"quadrature_{len(written)}"
            n, m = table.shape
            values = {"n_rows": n, "columns": m, "rows": table.tolist()}
            definitions.append(
                render("kernels/table.c.j2", {"type": ctype, "name": name, **values})
            )
        terms.append({"value": value, "table": written[key]})
    n, m = block.shape
    context = {"rows": n, "columns": m, "place": block.place, "terms": terms}
    return render("kernels/quadrature.c.j2", context)
