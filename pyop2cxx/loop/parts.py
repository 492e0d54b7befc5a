# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of a loop as the arrays that it works on: made once, and read by all that follows.

Only this file knows what kinds of arguments there are. One that is made elsewhere says what its
arrays are by ``@arrays_of.register``.
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
    """How elements find the values of a part."""

    ROWS = "a row on each entity: of a Dat, or of a matrix beside a Global"
    TOTAL = "the same for all elements"
    PLACES = "entries of a matrix, where rows and columns meet"
    HANDLE = "an address that is passed on"


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a part lies in the tensor of a matrix of several blocks.

    Attributes:
        rows: For each field its values on an entity, and its Map; None of a Global.
        columns: The same for columns.
        row: The field of the rows.
        column: The field of the columns.
        within: The row within the block.
        is_alone: Whether the tensor is this part.
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
            [dim * (1 if map_ is None else arities[map_._uid]) for dim, map_ in side]
            for side in (self.rows, self.columns)
        )
        first = sum(heights[: self.row]) + self.within
        return first, sum(widths[: self.column]), widths[self.column], sum(widths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An array that a loop works on: an argument's, or that of a field or block of one.

    Attributes:
        number: The argument.
        field: Which of its fields or blocks.
        kind: How elements find their values.
        data: What holds them: a Dat, Global or Constant, a Mat that is not mixed, or a handle.
        access: How the loop uses them.
        maps: The Maps that they are found by: none, one, or those to rows and columns.
        dim: Values of a row; of a matrix, of a block.
        stride: Values from one row to the next, where `dim` are not all of them; else 0.
        component: Where the part begins among them.
        n_scalars: Values that an element's kernel gets.
        home: The Set that a Dat is on; None of others.
        path: How the places of a matrix are found; None of others.
        is_field: Whether the kernel gets it end to end with the argument's other parts.
        cell: Where it lies among the blocks of a matrix; None of others.
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
        found: _core.Buffer = self.data._buffer
        return found

    @property
    def owner(self) -> Any:
        """What holds the values: of one component of a Dat the Dat."""
        return self.data.parent if isinstance(self.data, DatView) else self.data

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        found: np.dtype[Any] = self.data.dtype
        return found

    @property
    def map_(self) -> Map | None:
        """The Map to rows of values; None where there is none, or more than one."""
        return self.maps[0] if self.kind is Kind.ROWS and self.maps else None

    @property
    def target(self) -> Map | None:
        """The Map to what elements may fight over: a matrix's rows, if there are many."""
        by_columns = self.path is not None and self.path.by_columns
        return self.maps[by_columns] if self.maps else None

    @property
    def layout(self) -> tuple[int, int, int]:
        """Values of a row, from one row to the next or 0, and where they begin among those."""
        return self.dim, self.stride, self.component

    @property
    def is_of_matrix(self) -> bool:
        """Whether the values are a matrix's, found by places or in memory as a Dat's are."""
        return self.path is not None or self.cell is not None

    @property
    def is_masked(self) -> bool:
        """Whether entries of a matrix may have no place."""
        partial = any(map_._is_partial for map_ in self.maps)
        return self.path is not None and (self.path.is_masked or partial)


def parts_of(args: Iterable[Any], items: Items, what: str = "par_loop") -> tuple[Part, ...]:
    """Return the arrays that a loop works on, in the order of its arguments.

    Args:
        args: The arguments.
        items: What the loop visits.
        what: The loop, for messages.

    Raises:
        UsageError: One is no argument of a loop.
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
    """Return what messages call something that is no argument."""
    name = getattr(arg, "name", None)
    return repr(name) if isinstance(name, str) else repr(arg)


class NotAnArgumentError(Exception):
    """Something stands where an argument of a loop is expected."""


@singledispatch
def arrays_of(arg: object, number: int, items: Items) -> Sequence[Part]:
    """Return the arrays of an argument.

    Args:
        arg: The argument.
        number: Which one it is.
        items: What the loop visits.
    """
    raise NotAnArgumentError


@arrays_of.register(DatArg)
def _of_dat(arg: DatArg, number: int, items: Items) -> Sequence[Part]:
    """Return the array of a Dat.

    Values of the base Set are updated by columns: a kernel sees the values themselves, as it does
    without a Map, so WRITE becomes RW, because what it leaves alone must stay.
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
            stride=dat._stride,
            component=dat._component,
            n_scalars=_n_scalars(maps, (dat.cdim,), items),
            home=home,
        ),
    )


def _column_map(base: Set) -> Map:
    if base._column_map is None:
        base._column_map = ColumnMap(base)
    found: Map = base._column_map
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
    # a row of no values: the pointer is handed on, and elements are called once each
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
    """Return how many values behind Maps, or without one, belong to one element."""
    both = 2 if items.facets else 1
    reached = (map_.arity * (1 if map_._is_of_columns else both) for map_ in maps)
    return prod(dims) * prod(reached)


def uses_of(args: Iterable[Arg]) -> list[tuple[Any, bool]]:
    """Return what has the values of arguments, each with whether they are written."""
    parts = (part for arg in args for part in getattr(arg, "parts", (arg,)))
    return [(p.data, p.access is not READ) for p in parts if hasattr(p.data, "_buffer")]


def values_of(args: Sequence[Arg], parts: Sequence[Part]) -> tuple[Value, ...]:
    """Say what a kernel of today's convention gets for each argument."""
    sizes = [0] * len(args)
    for part in parts:
        sizes[part.number] += part.n_scalars
    names = (c_name(arg.data.dtype) for arg in args)
    given = zip(names, args, sizes, strict=True)
    return tuple(Value(name, int(arg.access), size) for name, arg, size in given)
