# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of a loop and the parts that they are made of."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ, RW, WRITE
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.mat_args import DenseBlockArg, MatArg, MixedMatArg
from pyop2cxx.data.mixed_dats import MixedDatArg
from pyop2cxx.kernel.shapes import Value
from pyop2cxx.sets.derived_maps import ColumnMap
from pyop2cxx.sets.mixed_sets import MixedMap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.data.constants import ConstantArg
    from pyop2cxx.data.globals import GlobalArg
    from pyop2cxx.data.handles import PassthroughArg
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set

    Part = DatArg | GlobalArg | ConstantArg | PassthroughArg | MatArg | DenseBlockArg
    Arg = Part | MixedDatArg | MixedMatArg


def parts_of(args: Sequence[Arg]) -> tuple[tuple[Part, ...], list[int]]:
    """Take arguments apart that are made of several, as a MixedDat is of its fields.

    Returns:
        The parts, and for each the number of its argument; no numbers where nothing was taken
        apart.
    """
    parts: list[Part] = []
    numbers: list[int] = []
    for i, arg in enumerate(args):
        # blocks of matrices have their places by now
        found: Any = arg.parts if isinstance(arg, MixedDatArg | MixedMatArg) else (arg,)
        parts += found
        numbers += [i] * len(found)
    return tuple(parts), ([] if len(parts) == len(args) else numbers)


def cells_of(arg: MixedMatArg, arities: Mapping[int, int]) -> list[tuple[int, int, int, int]]:
    """Say for each part of a mixed matrix where it lies in the kernel's tensor.

    Args:
        arg: The argument.
        arities: Of its Maps in the loop, by number.

    Returns:
        First row, first column and number of columns of each part, and the tensor's width.
    """
    heights, widths = (
        [
            dset.cdim * (1 if map_ is None else arities[map_._uid])
            for dset, map_ in zip(dsets, maps, strict=True)
        ]
        for dsets, maps in zip(arg.data.sparsity.dsets, arg.map_.maps, strict=True)
    )
    return [
        (sum(heights[:i]) + k, sum(widths[:j]), widths[j], sum(widths)) for i, j, k in arg.cells
    ]


def maps_of(arg: Part) -> tuple[Map, ...]:
    """Return the Maps of an argument: none, one, or a matrix's two."""
    if isinstance(arg, MatArg):
        return arg.maps
    return () if arg.map_ is None else (arg.map_,)


def target_map(arg: Part) -> Map | None:
    """Return the Map to what an argument's elements may fight over: a matrix's rows, if many."""
    if isinstance(arg, MatArg):
        return arg.map_.cols if arg.map_.by_columns else arg.map_.rows
    return arg.map_


def is_masked(arg: MatArg) -> bool:
    """Say whether entries of a matrix may have no place."""
    return arg.map_.is_masked or any(map_._is_partial for map_ in arg.maps)


def layout_of(arg: Part) -> tuple[int, int, int]:
    """Return values on an entity, from one to the next or 0, and where they begin among those."""
    if isinstance(arg, DenseBlockArg):
        return arg.dim, arg.stride, arg.component
    return arg.data.cdim, arg.data._stride, arg.data._component


def through_columns(arg: Arg, base: Set) -> Arg:
    """Return an argument of a loop over cells, by columns if it updates values of the base Set.

    A kernel sees the values themselves, as it does without a Map: WRITE becomes RW, because what it
    leaves alone must stay.

    Args:
        arg: The argument.
        base: The Set below the cells.
    """
    if not isinstance(arg, DatArg | MixedDatArg) or arg.map_ is not None or arg.access == READ:
        return arg
    access = RW if arg.access == WRITE else arg.access
    if isinstance(arg, DatArg):
        return DatArg(arg.data, _column_map(base), access)
    maps = [_column_map(base) if isinstance(dat, Dat) else None for dat in arg.data.split]
    if all(map_ is None for map_ in maps):
        return arg
    return MixedDatArg(arg.data, MixedMap(maps), access)


def _column_map(base: Set) -> Map:
    if base._column_map is None:
        base._column_map = ColumnMap(base)
    found: Map = base._column_map
    return found


def values_of(args: Sequence[Arg], cells: int) -> tuple[Value, ...]:
    """Say what a kernel of today's convention gets for each argument.

    Args:
        args: The arguments.
        cells: Of an element: 2 of a facet, else 1.
    """
    return tuple(
        Value(
            _core.c_name_of(_core.dtype_from_name(arg.data.dtype.name)),
            int(arg.access),
            _n_scalars(arg, cells),
        )
        for arg in args
    )


def _n_scalars(arg: Arg, cells: int) -> int:
    """Return how many scalars of an argument belong to one element."""
    if isinstance(arg, MatArg):
        (rows, cols), (row_dim, col_dim) = arg.maps, arg.data.block_dims
        return _n_of(rows, row_dim, cells) * _n_of(cols, col_dim, cells)
    if isinstance(arg, MixedMatArg):
        sides = zip(arg.map_.maps, arg.data.sparsity.dsets, strict=True)
        return prod(
            sum(_n_of(map_, dset.cdim, cells) for map_, dset in zip(maps, dsets, strict=True))
            for maps, dsets in sides
        )
    if isinstance(arg, MixedDatArg) and arg.map_ is not None:
        fields = zip(arg.data.split, arg.map_.split, strict=True)
        return sum(_n_of(map_, dat.cdim, cells) for dat, map_ in fields)
    return _n_of(arg.map_ if isinstance(arg, DatArg) else None, arg.data.cdim, cells)


def _n_of(map_: Map | None, dim: int, cells: int) -> int:
    return dim if map_ is None else map_.arity * dim * cells
