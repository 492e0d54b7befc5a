# SPDX-License-Identifier: BSD-3-Clause
"""Forms of arguments in older conventions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.dats import DatArg
from pyop2cxx.data.mat_args import MatArg, MixedMatArg
from pyop2cxx.data.mixed_dats import MixedDatArg
from pyop2cxx.exceptions import IndexValueError, UsageError
from pyop2cxx.kernel.shapes import fitting_extents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parts import Arg
    from pyop2cxx.sets.maps import Map


@dataclass(frozen=True, slots=True)
class Field:
    """Concatenated values of the entries of a Map.

    Attributes:
        arity: Entries of the Map, for a single cell.
        dim: Values of an entry.
        cells: Of an element: 2 of a facet, else 1.
    """

    arity: int
    dim: int
    cells: int = 1

    @property
    def n_entries(self) -> int:
        """Entries of an element."""
        return self.cells * self.arity

    @property
    def size(self) -> int:
        """Values of an element."""
        return self.n_entries * self.dim


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an argument.

    Attributes:
        kind: 'live', 'rows', 'scalars', 'flat', 'flattened', 'point', 'array', 'block' or
            'tensor'.
        c_type: The C type of a value.
        access: The number of the access.
        fields: The fields; for a matrix, the rows.
        columns: Of a matrix only.
        index: The dimension of the space the kernel is called over; of 'point' only.
        flatten: Whether values are ordered by component first.
        extents: Extents of an array-of-arrays parameter.
    """

    kind: str
    c_type: str
    access: int
    fields: tuple[Field, ...]
    columns: tuple[Field, ...] = ()
    index: int = 0
    flatten: bool = False
    extents: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Values of an element."""
        return size_of(self.fields) * (size_of(self.columns) if self.columns else 1)

    def n_points(self, side: tuple[Field, ...]) -> int:
        """Return the number of calls in a dimension of the space."""
        return size_of(side) if self.flatten else _n_entries(side)

    def point_dim(self, side: tuple[Field, ...]) -> int:
        """How many values the kernel then sees."""
        return 1 if self.flatten else side[0].dim

    @property
    def seen(self) -> int:
        """Number of values seen by the kernel in a call."""
        if self.kind == "block":
            return self.point_dim(self.fields) * self.point_dim(self.columns)
        return self.point_dim(self.fields) if self.kind == "point" else self.size


def size_of(fields: Iterable[Field]) -> int:
    """Return the number of values of concatenated fields."""
    return sum(field.size for field in fields)


def _n_entries(fields: Iterable[Field]) -> int:
    return sum(field.n_entries for field in fields)


def components_first(fields: Iterable[Field]) -> tuple[int, ...]:
    """Return the places of values ordered by field, cell, component, entry."""
    places: list[int] = []
    start = 0
    for field in fields:
        places += [
            start + (cell * field.arity + k) * field.dim + c
            for cell in range(field.cells)
            for c in range(field.dim)
            for k in range(field.arity)
        ]
        start += field.size
    return tuple(places)


def form_of(kernel: Kernel, i: int, arg: Arg, cells: int) -> Form:
    """Return how a kernel takes an argument.

    Args:
        kernel: The kernel.
        i: The number of the argument, for messages.
        arg: The argument.
        cells: Of an element: 2 of a facet, else 1.

    Raises:
        UsageError: The kernel would get single entries of fields with different dims.
    """
    c_type = c_name(arg.compute)
    access = int(arg.access)
    if isinstance(arg, MatArg | MixedMatArg):
        rows, columns = _sides(arg, cells)
        flatten = arg.form is not None and _reorders(rows + columns)
        kind = "block" if kernel.abi == "2013" else "tensor" if flatten else "live"
        form = Form(kind, c_type, access, rows, columns, flatten=flatten)
    else:
        fields = _fields(arg, cells)
        index, flatten = _asked(arg, fields)
        form = Form(_kind(arg, kernel.abi, index, flatten), c_type, access, fields)
        form = replace(form, index=index or 0, flatten=flatten)
    if form.kind in ("block", "point") and not flatten:
        for side in filter(None, (form.fields, form.columns)):
            if len({field.dim for field in side}) > 1:
                raise UsageError(
                    f"Kernel '{kernel.name}': argument {i} has fields of {[f.dim for f in side]} "
                    "values on an entity, which a kernel of 2013 cannot take one by one; pass "
                    "flatten=True, or each field by itself"
                )
    return form


def _asked(arg: Arg, fields: tuple[Field, ...]) -> tuple[int | None, bool]:
    """Return the dimension of ``op2.i`` and whether values change places."""
    if arg.form is None:
        return None, False
    index = arg.form.index
    return index, arg.form.flatten and (index is None or _reorders(fields))


def _kind(arg: Arg, abi: str, index: int | None, flatten: bool) -> str:
    if not isinstance(arg, DatArg | MixedDatArg) or arg.map_ is None:
        return "live"
    if index is not None:
        return "point" if abi == "2013" else "flattened" if flatten else "flat"
    if flatten:
        return "scalars"
    # a single entry of a Map is a Map of arity 1
    return "live" if isinstance(arg, DatArg) and arg.map_.is_slot else "rows"


def _fields(arg: Arg, cells: int) -> tuple[Field, ...]:
    if isinstance(arg, MixedDatArg):
        maps = [None] * len(arg.data) if arg.map_ is None else arg.map_.split
        return tuple(
            _field(map_, dat.cdim, cells) for dat, map_ in zip(arg.data, maps, strict=True)
        )
    return (_field(arg.map_ if isinstance(arg, DatArg) else None, arg.data.cdim, cells),)


def _field(map_: Map | None, dim: int, cells: int) -> Field:
    return Field(1, dim) if map_ is None else Field(map_.arity, dim, cells)


def _sides(arg: MatArg | MixedMatArg, cells: int) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """Return the rows and the columns of an element's matrix."""
    mat, (row_maps, col_maps) = arg.data, arg.map_.maps
    if isinstance(arg, MatArg):
        dims = mat.block_dims
        return (_field(arg.maps[0], dims[0], cells),), (_field(arg.maps[1], dims[1], cells),)
    rows, columns = (tuple(part.cdim for part in side) for side in mat.sparsity.dsets)
    return (
        tuple(_field(m, dim, cells) for m, dim in zip(row_maps, rows, strict=True)),
        tuple(_field(m, dim, cells) for m, dim in zip(col_maps, columns, strict=True)),
    )


def _reorders(fields: tuple[Field, ...]) -> bool:
    return any(field.dim > 1 for field in fields)


def shaped(kernel: Kernel, i: int, form: Form) -> Form:
    """Return the form of an argument with an array-of-arrays parameter.

    Raises:
        UsageError: The array has not as many values as the argument.
    """
    if form.kind in ("rows", "scalars", "flattened"):
        return form
    extents = fitting_extents(kernel, i, form.seen)
    if not extents:
        return form
    kind = form.kind if form.kind in ("block", "point", "tensor") else "array"
    return replace(form, kind=kind, extents=extents)


def check_space(name: str, args: Iterable[Arg], forms: Iterable[Form]) -> None:
    """Check that all arguments of a 2016 kernel by ``op2.i[k]`` have equal numbers of entries.

    Flattened arguments have as many values for each entry as the Dat has, possibly different.

    Raises:
        IndexValueError: Two arguments do not.
    """
    found: dict[int, tuple[int, int]] = {}
    for i, (arg, form) in enumerate(zip(args, forms, strict=True)):
        spaces: list[tuple[int, int]] = []
        if form.kind in ("flat", "flattened"):
            spaces = [(form.index, _n_entries(form.fields))]
        elif isinstance(arg, MatArg | MixedMatArg) and form.kind != "block":
            spaces = [(0, _n_entries(form.fields)), (1, _n_entries(form.columns))]
        for index, size in spaces:
            first, wanted = found.setdefault(index, (i, size))
            if size != wanted:
                raise IndexValueError(
                    f"Kernel '{name}': op2.i[{index}] runs over {wanted} entries of argument "
                    f"{first} and over {size} of argument {i}; pass one of the two by its Map "
                    "without op2.i"
                )


def extents_of_space(name: str, forms: tuple[Form, ...]) -> tuple[int, ...]:
    """Return the sizes of the space of calls of a 2013 kernel.

    Raises:
        IndexValueError: Two arguments run over different numbers of entries.
    """
    found: dict[int, int] = {}
    spaces = [(f.index, f.n_points(f.fields)) for f in forms if f.kind == "point"]
    for form in forms:
        if form.kind == "block":
            spaces += [(0, form.n_points(form.fields)), (1, form.n_points(form.columns))]
    for index, n_points in spaces:
        size = found.setdefault(index, n_points)
        if size != n_points:
            raise IndexValueError(
                f"Kernel '{name}': op2.i[{index}] runs over {size} entries of one Map and "
                f"{n_points} of another"
            )
    return tuple(found[index] for index in sorted(found))
