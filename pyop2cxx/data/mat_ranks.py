# SPDX-License-Identifier: BSD-3-Clause
"""Matrices with rows shared by processes: their distribution, and the whole matrix again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.blocks import scalar_places
from pyop2cxx.data.dats import Dat
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mat_values import MatValues


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """The values of a matrix before the distribution.

    Attributes:
        mat: The matrix, not mixed.
        keys: Row times number of columns plus column of each place; ascending.
        n_columns: Number of columns.
        values: The values at the places, a copy; None for zeros.
    """

    mat: MatValues
    keys: Array
    n_columns: int
    values: Array | None

    @staticmethod
    def of(mat: MatValues) -> Whole:
        """Return the values of a matrix."""
        offsets, columns = mat.sparsity.rowptr, mat.sparsity.colidx
        n = mat.sparsity.dsets[1].set.total_size
        values = mat.stored("op2.distribute", write=False)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return Whole(mat, rows * n + columns, n, values.copy() if values.any() else None)

    def share(self) -> None:
        """Give the matrix the rows of this rank, after the Sets got their entities."""
        if self.values is None:
            self.mat.become_shared(None)
            return
        rows, columns = _numbers(self.mat, ghosts=True)
        wanted = rows * self.n_columns + columns
        self.mat.become_shared(self.values[np.searchsorted(self.keys, wanted)])


def _numbers(mat: MatValues, *, ghosts: bool) -> tuple[Array, Array]:
    """Return row and column of each place in the whole matrix; rows of ghosts if asked."""
    on_rows, on_columns = (dset.set for dset in mat.sparsity.dsets)
    n = on_rows.total_size if ghosts else on_rows.size
    offsets = mat.sparsity.rowptr[: n + 1]
    rows = np.repeat(on_rows.global_numbers[:n], np.diff(offsets))
    return rows, on_columns.global_numbers[mat.sparsity.colidx[: offsets[-1]]]


def gathered(mat: Any) -> Any:
    """Return the whole matrix as a ``scipy.sparse.csr_array``; see `Mat.gathered`."""
    sparse = extras.load("scipy.sparse", "Mat.gathered()")
    if not mat.is_distributed:
        return mat.to_scipy().tocsr().copy()
    if mat.is_mixed:
        blocks = [[gathered(block) for block in row] for row in mat.blocks]
        return sparse.block_array(blocks, format="csr")
    rows, columns = _numbers(mat, ghosts=False)
    values = mat.stored("gathered", write=False)[: len(rows)]
    sets = [dset.set for dset in mat.sparsity.dsets]
    mine, what = (rows, columns, values), f"the entries of {mat.label}"
    pieces = runtime.processes.all_of(sets[0].ranks, mine, what)
    rows, columns, values = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
    shape = tuple(one.global_size * n for one, n in zip(sets, mat.block_dims, strict=True))
    places = scalar_places(rows, columns, mat.block_dims)
    return sparse.coo_array((values.reshape(-1), places), shape=shape).tocsr()


def numbers_by_rank(on: Any) -> Array:
    """Return numbers of entities that ascend by rank, as PETSc has them; int64, of ghosts, too.

    Args:
        on: The Set, shared by processes; all must call this.
    """
    sizes = runtime.processes.all_of(on.ranks, on.size, f"the sizes of Set '{on.name}'")
    first = sum(sizes[: on.ranks.rank])
    made = Dat(on, np.arange(first, first + on.total_size), np.int64, "numbers")
    made.halo_valid = False
    return np.asarray(made.data_ro_with_halos)
