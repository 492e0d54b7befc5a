# SPDX-License-Identifier: BSD-3-Clause
"""The text of the function that takes flat pointers and calls a kernel that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.access import READ
from pyop2cxx.kernel.shapes import Text, copied, flat_place, function, parameter, plain_pointer
from pyop2cxx.pyop2.conventions.forms import components_first, size_of

if TYPE_CHECKING:
    from pyop2cxx.pyop2.conventions.forms import Field, Form


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
    outer, inner = Text([], []), Text([], [])
    passed = [_passed(i, form, parameters, outer, inner) for i, form in enumerate(forms)]
    passed += [f"i{k}" for k in range(len(extents))]
    if layer:
        parameters.append("int layer")
        passed.append("layer")
    call = f"{kernel}({'' if silent else ', '.join(passed)});"
    call = " ".join([*inner.before, call, *inner.after])
    for k in reversed(range(len(extents))):
        call = f"for (int i{k} = 0; i{k} < {extents[k]}; ++i{k}) {{ {call} }}"
    return function(name, parameters, call, outer)


def _passed(i: int, form: Form, parameters: list[str], outer: Text, inner: Text) -> str:
    """Return what the kernel is passed for one argument, after writing what that needs."""
    x = f"a{i}"
    parameters.append(parameter(i, form.c_type, form.access))
    plain = plain_pointer(i, form.c_type, form.access)
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
        return copied(i, form.c_type, form.access, form.extents or dims, at, inner)
    if form.kind == "tensor":
        sizes = size_of(form.fields), size_of(form.columns)
        rows, columns = _tables(i, form, outer)
        copy = copied(
            i, form.c_type, form.access, sizes, f"{rows}[p0] * {sizes[1]} + {columns}[p1]", outer
        )
        return copy if form.extents else f"{copy}[0]"
    start = "" if form.kind != "point" else _start(i, form, outer)
    if form.extents:
        at = " + ".join(filter(None, (start, flat_place(form.extents))))
        return copied(i, form.c_type, form.access, form.extents, at, inner if start else outer)
    return f"{plain} + {start}" if start else plain


def _entries(fields: tuple[Field, ...]) -> list[int]:
    """Return where the values of each entry begin."""
    places: list[int] = []
    start = 0
    for field in fields:
        places += [start + k * field.dim for k in range(field.n_entries)]
        start += field.size
    return places


def _start(i: int, form: Form, outer: Text) -> str:
    """Return where the values of the point begin."""
    if not form.flatten:
        return f"i{form.index} * {form.fields[0].dim}"
    return f"{_table(f's{i}', form.fields, outer)}[i{form.index}]"


def _table(name: str, fields: tuple[Field, ...], outer: Text) -> str:
    places = components_first(fields)
    outer.before.append(
        f"static const int {name}[{len(places)}] = {{{', '.join(map(str, places))}}};"
    )
    return name


def _tables(i: int, form: Form, outer: Text) -> tuple[str, str]:
    """Write tables of the places of rows and of columns."""
    return _table(f"s{i}", form.fields, outer), _table(f"t{i}", form.columns, outer)


def _place_in_block(i: int, form: Form, outer: Text) -> str:
    """Return where value ``[p0][p1]`` of the block (i0, i1) lies in the element's matrix."""
    n_columns = size_of(form.columns)
    if form.flatten:
        rows, columns = _tables(i, form, outer)
        return f"({rows}[i0] + p0) * {n_columns} + {columns}[i1] + p1"
    row_dim, col_dim = form.point_dim(form.fields), form.point_dim(form.columns)
    return f"(i0 * {row_dim} + p0) * {n_columns} + i1 * {col_dim} + p1"
