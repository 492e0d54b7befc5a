# SPDX-License-Identifier: BSD-3-Clause
"""The text of the function that takes flat pointers and calls a kernel that does not."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pyop2cxx.base.access import INC, READ
from pyop2cxx.pyop2.conventions.forms import components_first, size_of

if TYPE_CHECKING:
    from pyop2cxx.pyop2.conventions.forms import Field, Form


@dataclass(frozen=True, slots=True)
class _Text:
    """Statements before and after a call."""

    before: list[str]
    after: list[str]


def wrapper(
    kernel: str,
    name: str,
    forms: tuple[Form, ...],
    extents: tuple[int, ...],
    layer: bool,
    *,
    silent: bool,
) -> str:
    """Return the text of the function that calls a kernel.

    Args:
        kernel: The name of the kernel.
        name: The name of the function.
        forms: How the kernel takes each argument.
        extents: Sizes of the space that it is called over; none if it is called once.
        layer: Whether it gets the layer, after all else.
        silent: Whether it is declared without parameters, so that it gets none.
    """
    parameters: list[str] = []
    # around all calls, and around each one where the kernel is called for points of a space
    outer, inner = _Text([], []), _Text([], [])
    passed = [_passed(i, form, parameters, outer, inner) for i, form in enumerate(forms)]
    passed += [f"i{k}" for k in range(len(extents))]
    if layer:
        parameters.append("int layer")
        passed.append("layer")
    call = f"{kernel}({'' if silent else ', '.join(passed)});"
    call = " ".join([*inner.before, call, *inner.after])
    for k in reversed(range(len(extents))):
        call = f"for (int i{k} = 0; i{k} < {extents[k]}; ++i{k}) {{ {call} }}"
    body = "\n  ".join([*outer.before, call, *outer.after])
    return f"void {name}({', '.join(parameters)}) {{\n  {body}\n}}\n"


def _passed(i: int, form: Form, parameters: list[str], outer: _Text, inner: _Text) -> str:
    """Return what the kernel is passed for one argument, after writing what that needs."""
    x = f"a{i}"
    const = "const " if form.access == READ else ""
    parameters.append(f"{const}{form.c_type} *{x}")
    # older kernels seldom declare const what they only read
    plain = f"({form.c_type} *){x}" if const else x
    if form.kind in ("rows", "scalars"):
        places = _entries(form.fields) if form.kind == "rows" else components_first(form.fields)
        entries = ", ".join(f"{plain} + {at}" for at in places)
        outer.before.append(f"{form.c_type} *r{i}[{len(places)}] = {{{entries}}};")
        return f"r{i}"
    if form.kind == "flattened":
        places = components_first(form.fields)
        outer.before.append(f"{form.c_type} r{i}[{len(places)}];")
        pairs = list(enumerate(places))
        outer.before.extend(f"r{i}[{to}] = {x}[{at}];" for to, at in pairs)
        if form.access != READ:
            outer.after.extend(f"{x}[{at}] = r{i}[{to}];" for to, at in pairs)
        return f"r{i}"
    if form.kind == "block":
        dims = form.point_dim(form.fields), form.point_dim(form.columns)
        at = _place_in_block(i, form, outer)
        return _copied(i, form, form.extents or dims, at, inner)
    if form.kind == "tensor":
        sizes = size_of(form.fields), size_of(form.columns)
        rows, columns = _tables(i, form, outer)
        copy = _copied(i, form, sizes, f"{rows}[p0] * {sizes[1]} + {columns}[p1]", outer)
        return copy if form.extents else f"{copy}[0]"
    start = "" if form.kind != "point" else _start(i, form, outer)
    if form.extents:
        at = " + ".join(filter(None, (start, _flat(form.extents))))
        return _copied(i, form, form.extents, at, inner if start else outer)
    return f"{plain} + {start}" if start else plain


def _entries(fields: tuple[Field, ...]) -> list[int]:
    """Return where the values of each entry begin."""
    places: list[int] = []
    start = 0
    for field in fields:
        places += [start + k * field.dim for k in range(field.n_entries)]
        start += field.size
    return places


def _start(i: int, form: Form, outer: _Text) -> str:
    """Return where the values of the point begin."""
    if not form.flatten:
        return f"i{form.index} * {form.fields[0].dim}"
    return f"{_table(f's{i}', form.fields, outer)}[i{form.index}]"


def _table(name: str, fields: tuple[Field, ...], outer: _Text) -> str:
    places = components_first(fields)
    outer.before.append(
        f"static const int {name}[{len(places)}] = {{{', '.join(map(str, places))}}};"
    )
    return name


def _tables(i: int, form: Form, outer: _Text) -> tuple[str, str]:
    """Write tables of the places of rows and of columns."""
    return _table(f"s{i}", form.fields, outer), _table(f"t{i}", form.columns, outer)


def _flat(extents: tuple[int, ...]) -> str:
    """Return where value ``[p0][p1]...`` of an array lies."""
    return " + ".join(f"p{k} * {prod(extents[k + 1 :])}" for k in range(len(extents)))


def _place_in_block(i: int, form: Form, outer: _Text) -> str:
    """Return where value ``[p0][p1]`` of the block (i0, i1) lies in the element's matrix."""
    n_columns = size_of(form.columns)
    if form.flatten:
        rows, columns = _tables(i, form, outer)
        return f"({rows}[i0] + p0) * {n_columns} + {columns}[i1] + p1"
    row_dim, col_dim = form.point_dim(form.fields), form.point_dim(form.columns)
    return f"(i0 * {row_dim} + p0) * {n_columns} + i1 * {col_dim} + p1"


def _copied(i: int, form: Form, extents: tuple[int, ...], at: str, text: _Text) -> str:
    """Write the copies into an array of arrays and back; return its name."""
    array = f"r{i}" + "".join(f"[{n}]" for n in extents)
    value = f"r{i}" + "".join(f"[p{k}]" for k in range(len(extents)))
    loops = " ".join(f"for (int p{k} = 0; p{k} < {n}; ++p{k})" for k, n in enumerate(extents))
    first = "0" if form.access == INC else f"a{i}[{at}]"
    text.before.append(f"{form.c_type} {array}; {loops} {value} = {first};")
    if form.access != READ:
        added = "+=" if form.access == INC else "="
        text.after.append(f"{loops} a{i}[{at}] {added} {value};")
    return f"r{i}"
