# SPDX-License-Identifier: BSD-3-Clause
"""Templates' view of arguments in older conventions, for the calling function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.kernel.shapes import argument
from pyop2cxx.pyop2.conventions.forms import components_first, size_of

if TYPE_CHECKING:
    from pyop2cxx.pyop2.conventions.forms import Field, Form


def taken(i: int, form: Form) -> dict[str, object]:
    """Describe for `packed` how a kernel takes argument i."""
    extents, how = form.extents, _HOW.get(form.kind, _plain)(form)
    if form.kind == "block":
        extents = extents or (form.point_dim(form.fields), form.point_dim(form.columns))
    if form.kind == "tensor":
        extents = size_of(form.fields), size_of(form.columns)
    return argument(i, form.c_type, form.access, extents, **how)


def _plain(form: Form) -> dict[str, object]:
    return {}


def _rows(form: Form) -> dict[str, object]:
    """Pointers to the values of each entry."""
    places = _entries(form.fields)
    return {"kind": "rows", "places": places, "n": len(places)}


def _scalars(form: Form) -> dict[str, object]:
    """Pointers to all values, by component first."""
    places = components_first(form.fields)
    return {"kind": "rows", "places": places, "n": len(places)}


def _flattened(form: Form) -> dict[str, object]:
    """Values by component first."""
    return {**_scalars(form), "kind": "flattened"}


def _block(form: Form) -> dict[str, object]:
    """Block (i0, i1) of the element's matrix."""
    n_columns = size_of(form.columns)
    inner = {"n_columns": n_columns, "is_inner": True}
    if form.flatten:
        tables = _table("s", form.fields), _table("t", form.columns)
        return {"place": "block_of_tables", "tables": tables, **inner}
    dims = form.point_dim(form.fields), form.point_dim(form.columns)
    return {"place": "block", "row_dim": dims[0], "column_dim": dims[1], **inner}


def _tensor(form: Form) -> dict[str, object]:
    """The element's matrix, by component first."""
    tables = _table("s", form.fields), _table("t", form.columns)
    n_columns, is_flat = size_of(form.columns), not form.extents
    return {"place": "tensor", "tables": tables, "n_columns": n_columns, "is_flat": is_flat}


def _point(form: Form) -> dict[str, object]:
    """The values of a single point of the space."""
    point = {"index": form.index, "is_inner": True}
    if form.flatten:
        return {"start": "table", "tables": (_table("s", form.fields),), **point}
    return {"start": "entry", "dim": form.fields[0].dim, **point}


_HOW = {
    "rows": _rows,
    "scalars": _scalars,
    "flattened": _flattened,
    "block": _block,
    "tensor": _tensor,
    "point": _point,
}


def _entries(fields: tuple[Field, ...]) -> list[int]:
    """Return where the values of each entry begin."""
    places: list[int] = []
    start = 0
    for field in fields:
        places += [start + k * field.dim for k in range(field.n_entries)]
        start += field.size
    return places


def _table(letter: str, fields: tuple[Field, ...]) -> dict[str, object]:
    """Return the places of values counted by component first."""
    places = components_first(fields)
    return {"letter": letter, "places": places, "n": len(places)}
