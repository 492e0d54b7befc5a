# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of a loop's arguments, made once and used by all later steps.

Only this file knows the kinds of arguments. Arguments defined elsewhere register their arrays by
``@arrays_of.register``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import singledispatch
from math import prod
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.constants import GlobalArg
from pyop2cxx.data.dats import DatArg
from pyop2cxx.data.handles import PassthroughArg
from pyop2cxx.data.mat_args import DenseBlockArg, MatArg, MixedMatArg, PlacedBlockArg
from pyop2cxx.data.mat_paths import placed
from pyop2cxx.data.mixed_dats import MixedDatArg
from pyop2cxx.data.views import DatView
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.shapes import Value
from pyop2cxx.sets.derived_maps import ColumnMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from pyop2cxx import _core
    from pyop2cxx.base.access import Access
    from pyop2cxx.data.mat_args import MatPath
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set

    Arg = DatArg | GlobalArg | PassthroughArg | MatArg | MixedDatArg | MixedMatArg


class Kind(Enum):
    """Ways from elements to the values of a part."""

    ROWS = "a row on each entity: of a Dat, or of a matrix beside a Global"
    TOTAL = "the same for all elements"
    PLACES = "entries of a matrix, where rows and columns meet"
    HANDLE = "an address that is passed on"


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a part lies in the tensor of a matrix of several blocks.

    Attributes:
        rows: For each field the number of values on an entity, and the Map; None for a Global.
        columns: The same for columns.
        row: The field of the rows.
        column: The field of the columns.
        within: The row within the block.
        is_alone: Whether the part fills the tensor.
    """

    rows: tuple[tuple[int, Map | None], ...]
    columns: tuple[tuple[int, Map | None], ...]
    row: int
    column: int
    within: int
    is_alone: bool

    def place(self, arities: Mapping[int, int]) -> tuple[int, int, int, int]:
        """Return first row, first column and number of columns, and the tensor's width.

        Args:
            arities: Of the Maps in the loop, by number.
        """
        heights, widths = (
            [dim * (1 if map_ is None else arities[map_.uid]) for dim, map_ in side]
            for side in (self.rows, self.columns)
        )
        first = sum(heights[: self.row]) + self.within
        return first, sum(widths[: self.column]), widths[self.column], sum(widths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An array of a loop: of an argument, or of a field or block of an argument.

    Attributes:
        number: The argument.
        field: Index of the field or block.
        kind: How elements find their values.
        data: The object with the values: a Dat, Global or Constant, a Mat, not mixed, or a handle.
        access: How the loop uses them.
        maps: Maps to the values: none, a single Map, or the Maps to rows and columns.
        dim: Values of a row; of a matrix, of a block.
        stride: Values between rows, if `dim` does not cover all of them; else 0.
        component: Where the part begins among them.
        n_scalars: Values passed to the kernel for an element.
        home: The Set of a Dat; None for others.
        path: The places of a matrix; None for others.
        is_field: Whether the kernel gets the part concatenated with the argument's other parts.
        cell: Place among the blocks of a matrix; None for others.
    """

    number: int
    field: int = 0
    kind: Kind
    data: Any
    access: Access
    maps: tuple[Map, ...] = ()
    dim: int
    stride: int = 0
    component: int = 0
    n_scalars: int
    home: Set | None = None
    path: MatPath | None = None
    is_field: bool = False
    cell: Cell | None = None

    @property
    def buffer(self) -> _core.Buffer:
        """The memory of the values."""
        found: _core.Buffer = self.data.buffer
        return found

    @property
    def owner(self) -> Any:
        """The object with the values: for a component the whole Dat."""
        return self.data.parent if isinstance(self.data, DatView) else self.data

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        found: np.dtype[Any] = self.data.dtype
        return found

    @property
    def compute(self) -> np.dtype[Any]:
        """The dtype of a value that the kernel sees."""
        return self.dtype if self.kind is Kind.HANDLE else self.data.compute

    @property
    def map_(self) -> Map | None:
        """The Map to rows of values; None for no Map, or several."""
        return self.maps[0] if self.kind is Kind.ROWS and self.maps else None

    @property
    def target(self) -> Map | None:
        """The Map to entities with possible races: a matrix's rows, if there are many."""
        by_columns = self.path is not None and self.path.by_columns
        return self.maps[by_columns] if self.maps else None

    @property
    def layout(self) -> tuple[int, int, int]:
        """Values of a row, distance of rows or 0, and begin of the part in a row; tuple of int."""
        return self.dim, self.stride, self.component

    @property
    def is_of_matrix(self) -> bool:
        """Whether the values are a matrix's, found by places or in memory as a Dat's are."""
        return self.path is not None or self.cell is not None

    @property
    def is_masked(self) -> bool:
        """Whether entries of a matrix may have no place."""
        partial = any(map_.is_partial for map_ in self.maps)
        return self.path is not None and (self.path.is_masked or partial)


def parts_of(args: Iterable[Any], items: Items, what: str = "par_loop") -> tuple[Part, ...]:
    """Return the arrays of a loop, in the order of the arguments.

    Args:
        args: The arguments.
        items: The visited items.
        what: The loop, for messages.

    Raises:
        UsageError: An object is no argument of a loop.
    """
    parts: list[Part] = []
    for number, arg in enumerate(args):
        try:
            parts += arrays_of(arg, number, items)
        except NotAnArgumentError:
            raise UsageError(
                f"{what}: arg {number} must be made by calling a Dat or Global with an access, "
                f"such as dat(op2.READ, map), got {_called(arg)} of type {type(arg).__name__}"
            ) from None
    return tuple(parts)


def _called(arg: object) -> str:
    """Return the name of an object other than an argument, for messages."""
    name = getattr(arg, "name", None)
    return repr(name) if isinstance(name, str) else repr(arg)


class NotAnArgumentError(Exception):
    """Something stands where an argument of a loop is expected."""


@singledispatch
def arrays_of(arg: object, number: int, items: Items) -> Sequence[Part]:
    """Return the arrays of an argument.

    Args:
        arg: The argument.
        number: Index of the argument.
        items: The visited items.
    """
    raise NotAnArgumentError


@arrays_of.register(DatArg)
def _of_dat(arg: DatArg, number: int, items: Items) -> Sequence[Part]:
    """Return the array of a Dat.

    Values on the base Set are updated once for each column: a kernel sees the values in place, as
    without a Map, so WRITE becomes RW, since values not written must stay.
    """
    dat, access, map_, home = arg.data, arg.access, arg.map_, arg.data.dataset.set
    if items.extruded and map_ is None and access != READ and home is items.base:
        access, map_ = (RW if access == WRITE else access), _column_map(items.base)
    maps = () if map_ is None else (map_,)
    return (
        Part(
            number=number,
            kind=Kind.ROWS,
            data=dat,
            access=access,
            maps=maps,
            dim=dat.cdim,
            stride=dat.stride,
            component=dat.component,
            n_scalars=_n_scalars(maps, (dat.cdim,), items),
            home=home,
        ),
    )


def _column_map(base: Set) -> Map:
    if base.column_map is None:
        base.column_map = ColumnMap(base)
    found: Map = base.column_map
    return found


@arrays_of.register(GlobalArg)
def _of_global(arg: GlobalArg, number: int, items: Items) -> Sequence[Part]:
    dim = arg.data.cdim
    return (_total(number, arg.data, arg.access, dim),)


def _total(number: int, data: Any, access: Access, dim: int) -> Part:
    return Part(
        number=number, kind=Kind.TOTAL, data=data, access=access, dim=dim, n_scalars=data.cdim
    )


@arrays_of.register(PassthroughArg)
def _of_handle(arg: PassthroughArg, number: int, items: Items) -> Sequence[Part]:
    # a row of no values: the pointer is passed on, and each element is called once
    return (Part(number=number, kind=Kind.HANDLE, data=arg, access=arg.access, dim=0, n_scalars=0),)


@arrays_of.register(MixedDatArg)
def _of_fields(arg: MixedDatArg, number: int, items: Items) -> Sequence[Part]:
    return [
        replace(part, field=k, is_field=True)
        for k, field in enumerate(arg.parts)
        for part in arrays_of(field, number, items)
    ]


@arrays_of.register(MatArg)
def _of_matrix(arg: MatArg, number: int, items: Items) -> Sequence[Part]:
    return (
        Part(
            number=number,
            kind=Kind.PLACES,
            data=arg.data,
            access=arg.access,
            maps=arg.maps,
            dim=arg.data.cdim,
            n_scalars=_n_scalars(arg.maps, arg.data.block_dims, items),
            path=arg.map_,
        ),
    )


@arrays_of.register(DenseBlockArg)
def _of_dense_block(arg: DenseBlockArg, number: int, items: Items) -> Sequence[Part]:
    if arg.map_ is None:
        return (_total(number, arg.data, arg.access, arg.dim),)
    return (
        Part(
            number=number,
            kind=Kind.ROWS,
            data=arg.data,
            access=arg.access,
            maps=(arg.map_,),
            dim=arg.dim,
            stride=arg.stride,
            component=arg.component,
            n_scalars=_n_scalars((arg.map_,), (arg.dim,), items),
        ),
    )


@arrays_of.register(PlacedBlockArg)
def _of_placed_block(arg: PlacedBlockArg, number: int, items: Items) -> Sequence[Part]:
    return arrays_of(placed(arg, items.whole), number, items)


@arrays_of.register(MixedMatArg)
def _of_blocks(arg: MixedMatArg, number: int, items: Items) -> Sequence[Part]:
    rows, columns = (
        tuple((dset.cdim, map_) for dset, map_ in zip(dsets, maps, strict=True))
        for dsets, maps in zip(arg.data.sparsity.dsets, arg.map_.maps, strict=True)
    )
    is_alone = len(arg.parts) == 1
    return [
        replace(part, field=k, cell=Cell(rows, columns, *cell, is_alone))
        for k, (block, cell) in enumerate(zip(arg.parts, arg.cells, strict=True))
        for part in arrays_of(block, number, items)
    ]


def _n_scalars(maps: Sequence[Map], dims: Sequence[int], items: Items) -> int:
    """Return the number of values of an element, behind Maps or direct."""
    both = 2 if items.facets else 1
    reached = (map_.typical_arity * (1 if map_.is_of_columns else both) for map_ in maps)
    return prod(dims) * prod(reached)


def uses_of(args: Iterable[Arg]) -> list[tuple[Any, bool]]:
    """Return the objects with values, each with whether it is written."""
    parts = (part for arg in args for part in getattr(arg, "parts", (arg,)))
    return [(p.data, p.access is not READ) for p in parts if hasattr(p.data, "buffer")]


def values_of(args: Sequence[Arg], parts: Sequence[Part]) -> tuple[Value, ...]:
    """Return the kernel's view of each argument, in today's convention."""
    sizes = [0] * len(args)
    for part in parts:
        sizes[part.number] += part.n_scalars
    names = (c_name(arg.compute) for arg in args)
    given = zip(names, args, sizes, strict=True)
    return tuple(Value(name, int(arg.access), size) for name, arg, size in given)
