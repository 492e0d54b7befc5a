# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners by inverses of dense blocks of a matrix: block Jacobi, overlapping patches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx.algebra.preconditioners import NotFactorised, arrays_of
from pyop2cxx.base import extras
from pyop2cxx.base.blocks import row_of_each, scalar_places
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import SolverOptionError
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.algebra.libraries import Library
    from pyop2cxx.algebra.preconditioners import Kept
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.sets import Set

KINDS = ("bjacobi", "patch")
_MOST_AT_ONCE = 1 << 24
"""Values of blocks that are looked up together."""


class Inverse(NamedTuple):
    """Sum of the inverses of blocks, in their places: compressed rows of runs of columns.

    Attributes:
        offsets: Shape (n_rows + 1,), int64, where the runs of a row begin.
        columns: Shape (n_runs,), int32, the first column of each run.
        width: Columns of a run.
        values: Shape (n_runs * width,).
    """

    offsets: Array
    columns: Array
    width: int
    values: Array


class Blocks:
    """Blocks of scalars of a matrix.

    Attributes:
        kind: bjacobi or patch.
        stored: The dtype of the inverses; empty for the dtype of the matrix.
        key: Identifies the blocks, with a matrix.
        ranks: The communicator of the processes that share the matrix, or None. Blocks of bjacobi
            have rows of a process only, patches have ghosts, too.
        n_ghosts: Scalars of ghosts behind the rows.
        reads_ghosts: Whether the inverse has columns of ghosts, on some process.
    """

    def __init__(self, A: Any, options: Mapping[str, Any]) -> None:
        self.kind, self.stored = options["pc_type"], options["pc_dtype"]
        what = f"Solver: pc_type {self.kind!r}"
        if not isinstance(A, Mat) or A.is_mixed or A.sparsity.is_dense:
            raise SolverOptionError(f"{what} needs a Mat, not mixed")
        (rows,), _ = A.sparsity.dsets
        self._set = rows.set
        self.ranks = rows.set.ranks if A.is_distributed else None
        self._n, self._dim = A.nrows, A.block_dims[0]
        self._n_columns = A.n_stored(1)
        self.reads_ghosts = self.ranks is not None and self.kind == "patch"
        self.n_ghosts = self._n_columns - self._n
        self._map: Any = options["pc_patches"]
        if self.kind == "bjacobi":
            pairs = (one[0] for one in A.sparsity.given.get((0, 0), ()))
            is_apart = partial(_is_apart, n=self._n // self._dim, ranks=self.ranks)
            self._map = next(filter(is_apart, pairs), None)
        elif not isinstance(self._map, Map) or self._map.toset is not rows.set:
            raise SolverOptionError(
                f"{what} needs pc_patches, a Map to '{rows.set.name}' with the entities of each "
                "patch, such as fem.vertex_stars(V)"
            )
        table = None if self._map is None else self._map.table
        self.key = (self.kind, self.stored, table and (self._map.uid, table.version))

    def inverse(self, operator: tuple[Array, Array, Array, int]) -> Inverse:
        """Return the sum of the inverses of all blocks.

        Args:
            operator: Starts of rows, columns, values and the dim of blocks; see `complete`.

        Raises:
            NotFactorised: A block is singular; the first row is named.
        """
        groups = self._groups()
        of_rows = _Entries(operator, self._n_columns, self._numbers)
        inverses = [of_rows.inverses(one, self.kind) for one in groups]
        dtype = np.dtype(self.stored or inverses[0].dtype)
        first, n = groups[0], groups[0].shape[1]
        if len(groups) == 1 and np.array_equal(first.reshape(-1), np.arange(self._n)):
            offsets, columns = np.arange(self._n + 1), np.repeat(first[:, 0], n)
            values = inverses[0].reshape(-1).astype(dtype, copy=False)
            return Inverse(offsets, columns.astype(np.int32), n, values)
        wide = self._n_columns
        keys = [(one[:, :, None] * wide + one[:, None, :]).reshape(-1) for one in groups]
        key, values = np.concatenate(keys), np.concatenate([one.reshape(-1) for one in inverses])
        key, values = key[key < self._n * wide], values[key < self._n * wide]  # of owned rows
        order = np.argsort(key, kind="stable")
        key, values = key[order], values[order]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        values = np.add.reduceat(values, begins).astype(dtype, copy=False)
        rows, columns = np.divmod(key[begins], max(wide, 1))
        offsets = np.searchsorted(rows, np.arange(self._n + 1))
        return Inverse(offsets, columns.astype(np.int32), 1, values)

    def complete(self, rows: tuple[Array, Array, Array, int]) -> tuple[Array, Array, Array, int]:
        """Return owned rows with the rows of ghosts, sent by owners, if the inverse needs them.

        Args:
            rows: Starts of rows, columns, values and the dim of blocks, of owned rows.
        """
        return with_ghost_rows(self._set, rows) if self.reads_ghosts else rows

    def _numbers(self, scalars: Array) -> Array:
        """Return the numbers of scalars in the whole matrix."""
        entities, components = np.divmod(scalars, self._dim)
        found: Array = self._set.global_numbers[entities] * self._dim + components
        return found

    def _groups(self) -> list[Array]:
        """Return the scalars of the blocks, shape (n_blocks, n) for each size n; none is left."""
        if self._map is None:
            return [np.arange(self._n).reshape(-1, self._dim)]
        rows = np.asarray(self._map.computed_values if self.reads_ghosts else self._map.values)
        groups = [rows]
        if self._map.is_ragged:
            rows = self._map.padded(np.arange(self._map.iterset.exec_size))
            counts = (rows >= 0).sum(axis=1)
            groups = [rows[counts == n, :n] for n in np.unique(counts[counts > 0])]
        left = np.ones(self._n_columns // self._dim, bool)
        left[self._n // self._dim :] = False
        for one in groups:
            left[one] = False
        groups += [np.flatnonzero(left)[:, None]] if left.any() or not groups else []
        parts = np.arange(self._dim)
        return [
            (one[:, :, None].astype(np.int64) * self._dim + parts).reshape(
                len(one), one.shape[1] * self._dim
            )
            for one in groups
        ]


def of_blocks(library: Library, operator: Any, blocks: Blocks, kept: Kept) -> Any:
    """Return the preconditioner of blocks, SciPy's M.

    Args:
        library: SciPy.
        operator: The matrix.
        blocks: The blocks.
        kept: The solver's cache.

    Raises:
        NotFactorised: A block is singular.
    """

    def make() -> Any:
        rows = operator.tocsr()
        rows.sort_indices()
        found = blocks.inverse((rows.indptr.astype(np.int64), rows.indices, rows.data, 1))
        columns = (found.columns[:, None] + np.arange(found.width)).reshape(-1)
        sparse = extras.load("scipy.sparse", "op2.solve()")
        entries = found.values, columns, found.offsets * found.width
        inverse = sparse.csr_matrix(entries, shape=operator.shape)

        def apply(v: Any) -> Any:
            return (inverse @ v.reshape(-1).astype(inverse.dtype)).astype(operator.dtype)

        return library.methods.LinearOperator(operator.shape, matvec=apply, dtype=operator.dtype)

    return kept.get((library.name, blocks.key), arrays_of(operator), make)


class _Entries:
    """Scalars of a matrix, found by row and column."""

    def __init__(
        self,
        operator: tuple[Array, Array, Array, int],
        n: int,
        numbers: Callable[[Array], Array],
    ) -> None:
        offsets, columns, values, dim = operator
        rows, columns = scalar_places(row_of_each(offsets), columns.astype(np.int64), (dim, dim))
        keys, values = rows * n + columns, np.asarray(values).reshape(-1)
        if dim > 1:
            order = np.argsort(keys)
            keys, values = keys[order], values[order]
        self._n, self._keys, self._values, self._numbers = n, keys, values, numbers

    def inverses(self, blocks: Array, kind: str) -> Array:
        """Return the inverses of blocks of equal size, shape (n_blocks, n, n)."""
        n_blocks, n = blocks.shape
        found = np.empty((n_blocks, n, n), self._values.dtype)
        step = max(_MOST_AT_ONCE // (n * n), 1)
        for begin in range(0, n_blocks, step):
            some = blocks[begin : begin + step]
            wanted = some[:, :, None] * self._n + some[:, None, :]
            at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
            dense = np.where(self._keys[at] == wanted, self._values[at], 0)
            try:
                found[begin : begin + step] = np.linalg.inv(dense)
            except np.linalg.LinAlgError:
                bad = int(np.argmax([_is_singular(one) for one in dense]))
                raise NotFactorised(
                    kind,
                    f"the block of rows {', '.join(map(str, self._numbers(some[bad][:8])))}"
                    f"{', ...' if n > 8 else ''} is singular",
                ) from None
        return found


def _is_singular(matrix: Array) -> bool:
    try:
        np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return True
    return False


def _is_apart(map_: Map | None, n: int, ranks: Any) -> bool:
    """Say whether each of n entities of a Map's target belongs to a single row: on all ranks."""
    if map_ is None:
        return False
    values = np.asarray(map_.values)
    is_whole = values.size == n == map_.toset.size
    found = is_whole and values.ndim == 2 and (np.bincount(values.reshape(-1)) == 1).all()
    what = f"rows of Map '{map_.name}'"
    return bool(runtime.processes.combined(ranks, np.array(found, int), "min", what))


def with_ghost_rows(
    on: Set, rows: tuple[Array, Array, Array, int]
) -> tuple[Array, Array, Array, int]:
    """Return owned rows of a matrix, and behind them the rows of ghosts, sent by their owners.

    Columns that this rank does not have are left out. All ranks must call.

    Args:
        on: The Set of rows and columns, shared by processes.
        rows: Starts of owned rows, columns, values and the dim of blocks.
    """
    begins, columns, values, dim = rows
    blocks, lists = values.reshape(-1, dim * dim), on.halo.lists
    sent: list[Any] = [None] * on.ranks.size
    for rank, some in lists.owned.items():
        counts = begins[some + 1] - begins[some]
        at = np.repeat(begins[some] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        sent[rank] = counts, on.global_numbers[columns[at]], blocks[at]
    parts = [(row_of_each(begins), columns.astype(np.int64), blocks)]
    runtime.processes.combined(on.ranks, np.zeros(1), "sum", "rows of ghosts")
    for rank, got in enumerate(on.ranks.alltoall(sent)):
        if got is not None:
            counts, numbers, some = got
            here = numbers_of(on, numbers)
            of_rows = np.repeat(lists.ghosts[rank], counts)
            parts.append((of_rows[here >= 0], here[here >= 0], some[here >= 0]))
    of_rows, columns, blocks = (np.concatenate(one) for one in zip(*parts, strict=True))
    order = np.lexsort((columns, of_rows))
    offsets = np.searchsorted(of_rows[order], np.arange(on.total_size + 1))
    return offsets, columns[order], blocks[order].reshape(-1), dim
