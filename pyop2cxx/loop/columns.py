# SPDX-License-Identifier: BSD-3-Clause
"""Dats on the base Set that the cells of a column update together.

To a loop over an extruded Set such a Dat is not one value for each element: all cells of a column
lead to the same entity. So it is seen through a Map that says this, and what is updated is resolved
as behind any other Map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.access import READ, RW, WRITE
from pyop2cxx.data.args import DatArg, MixedDatArg
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mixed import MixedMap
from pyop2cxx.sets.maps import Map

if TYPE_CHECKING:
    from pyop2cxx.loop.symbolic import Arg
    from pyop2cxx.sets.sets import Set


class ColumnMap(Map):
    """From each column, with all its cells, to the entity of the base Set that it stands on.

    Between two cells it leads to one entity, not to one for each.

    Args:
        base: The base Set.
    """

    _is_of_columns = True

    def __init__(self, base: Set) -> None:
        values = np.arange(base.total_size) if base.is_sized else None
        super().__init__(base, base, 1, values, f"column_of_{base.name}")


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
    return base._column_map
