# SPDX-License-Identifier: BSD-3-Clause
"""Values of objects as whole arrays for files, also where `op2.distribute` has shared them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import MOST_INT32
from pyop2cxx.base.blocks import row_of_each
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set
from pyop2cxx.sets.spread import Spread, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.arrays import Array

    Arrays = dict[str, Array | Spread]


class Parts:
    """The arrays of objects; where processes share a Set, all must make this.

    Args:
        objects: Sets, Maps, Dats, Globals and Mats, in the same order on all ranks.

    Attributes:
        comm: The communicator of the processes that share the Sets; None if none does.
        sizes: The sizes of each Set, as of a single process.
        all: The arrays.
    """

    def __init__(self, objects: Sequence[Any]) -> None:
        sets = dict.fromkeys(one for thing in objects for one in sets_of(thing))
        shared = [one for one in sets if one.is_distributed]
        self.comm = shared[0].ranks if shared else None
        self.sizes = {
            one: (one.global_size,) * 3 if one.is_distributed else one.sizes for one in sets
        }
        self._found = {thing: self._arrays_of(thing) for thing in objects}
        self.all = [array for found in self._found.values() for array in found.values()]

    def of(self, thing: Any) -> Arrays:
        """Return the arrays of an object, by their names in the file."""
        return self._found[thing]

    def _arrays_of(self, thing: Any) -> Arrays:
        if isinstance(thing, Set):
            return {}
        if isinstance(thing, Mat):
            return _of_mat(thing)
        if isinstance(thing, RaggedMap):
            return self._of_ragged(thing)
        if isinstance(thing, Map):
            return {"values": self._of_map(thing)}
        if isinstance(thing, Dat):
            on = thing.dataset.set
            rows = thing.data_ro if on.is_distributed else thing.data_ro_with_halos
            return {"values": spread(on, np.asarray(rows))}
        return {"values": thing.data_ro}

    def _of_map(self, thing: Map) -> Array | Spread:
        start = thing.iterset
        values = np.asarray(thing.values_with_halo)
        if not start.is_distributed:
            return values
        return spread(start, self._numbers_of(thing)[values[: start.size]])

    def _of_ragged(self, thing: RaggedMap) -> Arrays:
        start, begins, values = thing.iterset, thing.offsets, np.asarray(thing.values)
        if not start.is_distributed:
            return {"begins": begins, "values": thing.values_with_halo}
        whole, places = _of_rows(start, begins[: start.size + 1])
        numbers = self._numbers_of(thing, len(whole) + int(whole[-1]))
        entries = Spread(start.ranks, int(whole[-1]), places, numbers[values])
        return {"begins": whole.astype(numbers.dtype), "values": entries}

    def _numbers_of(self, thing: Map, least: int = 0) -> Array:
        """Return the numbers of targets in the whole Set, and -1 behind; wide if need be."""
        is_wide = max(self.sizes[thing.toset][0], least) > MOST_INT32
        numbers = np.append(thing.toset.global_numbers, -1)
        found: Array = numbers.astype(np.int64 if is_wide else np.int32)
        return found


def sets_of(thing: Any) -> Sequence[Set]:
    """Return the whole Sets of a Set, Map, Dat or Mat; none of anything else."""
    if isinstance(thing, Set):
        return (thing,)
    if isinstance(thing, Map):
        return thing.iterset, thing.toset
    if isinstance(thing, Mat):
        return [dset.set for dset in thing.sparsity.dsets if type(dset.set) is Set]
    return (thing.dataset.set,) if isinstance(thing, Dat) else ()


def _of_mat(mat: Mat) -> Arrays:
    sparsity, values = mat.sparsity, mat.stored("save", write=False)
    if not mat.is_distributed:
        return {"rowptr": sparsity.rowptr, "colidx": sparsity.colidx, "values": values}
    rows, columns = (dset.set for dset in sparsity.dsets)
    begins = sparsity.rowptr[: rows.size + 1]
    whole, places = _of_rows(rows, begins)
    here = row_of_each(begins)
    targets = columns.global_numbers[sparsity.colidx[: len(here)]]
    order = np.lexsort((targets, here))  # columns ascend in each row of the whole matrix
    own = values[: len(here)]

    def entries(given: Array) -> Spread:
        return Spread(rows.ranks, int(whole[-1]), places, given[order])

    return {
        "rowptr": whole.astype(sparsity.rowptr.dtype),
        "colidx": entries(targets.astype(sparsity.colidx.dtype)),
        "values": entries(own),
    }


def _of_rows(on: Set, begins: Array) -> tuple[Array, Array]:
    """Return the begins of all rows of different lengths, and the places of the own entries.

    Args:
        on: The Set of the rows.
        begins: Where the entries of owned rows begin, and the end.
    """
    numbers = on.global_numbers[: on.size]
    counts = np.zeros(on.global_size + 1, np.int64)
    mine = numbers, np.diff(begins)
    for theirs, n in runtime.processes.all_of(on.ranks, mine, f"rows of Set '{on.name}'"):
        counts[theirs + 1] = n
    whole = np.cumsum(counts)
    here = row_of_each(begins)
    return whole, whole[numbers[here]] + np.arange(len(here)) - begins[here]
