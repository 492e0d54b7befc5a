# SPDX-License-Identifier: BSD-3-Clause
"""Given dofs of a space, kept where the loops run: masks, values and places in matrices."""

from __future__ import annotations

from hashlib import blake2b
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyop2cxx.algebra.mat_rows import subtract_product
from pyop2cxx.base.access import READ, RW
from pyop2cxx.base.arrays import c_name, distinct
from pyop2cxx.data import mat_rows
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mat_rows import Places
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import Memo
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mats import Mat
    from pyop2cxx.fem.functions import Function
    from pyop2cxx.fem.spaces import FunctionSpace


class Condition(Protocol):
    """Given values of dofs, as of `pyop2cxx.fem.DirichletBC`."""

    space: FunctionSpace
    dofs: Array
    values: Array
    digest: bytes


class Held:
    """The dofs of a space whose values are given by some conditions.

    The values are sent to a device when they change; applying them is a loop over the given dofs.

    Attributes:
        space: The space.
        dofs: Numbers of the given values, ``dof * dim + component``, ascending; int64, shape (n,).
        mask: True for given values; shape (space.size,).
    """

    def __init__(self, space: FunctionSpace, bcs: Sequence[Condition]) -> None:
        given = [bc.dofs for bc in bcs]
        self.space = space
        self.dofs = distinct(np.concatenate([np.empty(0, np.int64), *given])).astype(np.int64)
        self.mask = np.zeros(space.n_held, bool)
        self.mask[self.dofs] = True
        self._where = [np.searchsorted(self.dofs, one) for one in given]
        # of a shared mesh all processes have the same answer
        self._is_any = self.dofs.size > 0 or (space.dof_set.is_distributed and len(given) > 0)
        self.key = (space.dof_set.uid, runtime.n_distributions, *(bc.digest for bc in bcs))
        self._lock = RLock()
        self._kept = Memo(16)

    def __bool__(self) -> bool:
        return self._is_any

    def values_of(self, bcs: Iterable[Condition]) -> Array:
        """Return the given values, shape (n,); for a dof of several conditions the last counts.

        Args:
            bcs: The conditions of the space, in the order given to `held_of`.
        """
        found = np.zeros(self.dofs.size)
        for where, bc in zip(self._where, bcs, strict=True):
            found = found.astype(np.result_type(found, bc.values), copy=False)
            found[where] = bc.values
        return found

    def put(
        self,
        target: Function,
        values: Array | None = None,
        x0: Function | None = None,
        scale: float | complex = 1,
    ) -> None:
        """Set the given dofs of a function to ``scale * (values - x0)``, where loops run.

        Args:
            target: A function of the space.
            values: Shape (n,); None means 0.
            x0: A function of the space; None means 0.
            scale: A factor.

        Raises:
            DataValueError: The values are complex, and the function is real.
        """
        if not self:
            return
        is_zero = values is None
        values = np.zeros(self.dofs.size) if values is None else values
        if x0 is not None and (scale != 1 or x0.dat.compute != target.dat.compute):
            start = np.asarray(x0.dat.data_ro_with_halos).reshape(-1)[self.dofs]
            values, x0 = values - start, None  # on the host
        values = values if scale == 1 else scale * values
        target.check_holds(values)
        with self._lock:
            given = self._sent(values, target.dat.compute, "zero" if is_zero else "given")
            self.give(given, target.dat, x0 and x0.dat)

    def give(self, source: Dat, target: Dat, x0: Dat | None = None) -> None:
        """Set the given values of a Dat to ``source - x0``, by a loop over the given dofs.

        Args:
            source: On the dofs of the space.
            target: Likewise, of the same dtype.
            x0: Likewise; None means 0.
        """
        others = () if x0 is None else (x0(READ),)
        kernel = self.kernel("give", target.compute, has_start=x0 is not None)
        par_loop(kernel, self._part(), self.flags()(READ), source(READ), *others, target(RW))

    def _sent(self, values: Array, dtype: np.dtype[Any], what: str) -> Dat:
        """Return a Dat with the values at given dofs, and 0 elsewhere."""
        space = self.space

        def made() -> tuple[Dat, list[Array | None]]:
            return Dat(space.dof_set**space.dim, dtype=dtype, name=what), [None]

        dat, last = self._kept.made((what, dtype), made)
        if last[0] is None or not np.array_equal(last[0], values):
            whole = np.zeros(space.n_held, dtype)
            whole[self.dofs] = values
            dat.data_wo_with_halos.reshape(-1)[:] = whole
            dat.halo_valid = True
            dat.to_device()  # requested by the call
            last[0] = values.copy()
        found: Dat = dat
        return found

    def _part(self) -> Subset:
        def made() -> Subset:
            return Subset(self.space.dof_set, distinct(self.dofs // self.space.dim))

        found: Subset = self._kept.made("part", made)
        return found

    def flags(self) -> Dat:
        """Return a Dat on ``dof_set ** dim``, uint8: 1 for given values, 0 for others."""
        space = self.space

        def made() -> Dat:
            flags = Dat(space.dof_set**space.dim, self.mask, np.uint8, "held")
            flags.to_device()
            return flags

        found: Dat = self._kept.made("flags", made)
        return found

    def kernel(self, name: str, dtype: np.dtype[Any], *, has_start: bool = False) -> Kernel:
        """Return a kernel of ``templates/kernels/held.c.j2``.

        Args:
            name: ``"take"`` or ``"give"``.
            dtype: Of the values.
            has_start: Whether `give` subtracts a third Dat.
        """

        def made() -> Kernel:
            facts = {"name": name, "type": c_name(dtype), "dim": self.space.dim}
            text = render("kernels/held.c.j2", {**facts, "has_start": has_start})
            return Kernel(text, name).written_here()

        found: Kernel = self._kept.made((name, dtype, has_start), made)
        return found

    # Matrices

    def clear(self, matrix: Mat, columns: Held | None, diagonal: float | None = None) -> None:
        """Set the entries of given rows and columns to 0, and diagonal entries of given rows.

        Places of the entries are found once for each Sparsity.

        Args:
            matrix: Of this space's rows.
            columns: Given dofs of the columns; None keeps the columns.
            diagonal: The diagonal entry of given rows; None leaves 0.

        Raises:
            IndexValueError: A row has no place for the diagonal entry.
            DataValueError: The dtype of the matrix does not hold the value.
        """
        if not self and not columns:
            return
        key: Any = (matrix.sparsity.uid, self.key, columns and columns.key)
        cleared = self._kept.made(key, lambda: self._places(matrix, columns, key))
        changes: list[tuple[Places, Any]] = [(found, 0) for found in cleared]
        if diagonal is not None:
            value = matrix.as_scalar(diagonal, "assemble")
            key = (matrix.sparsity.uid, self.key, "diagonal")
            found = self._kept.made(key, lambda: self._diagonal_places(matrix, key))
            changes += [(places, value) for places in found]
        mat_rows.put(matrix, changes, "assemble")

    def _diagonal_places(self, matrix: Mat, key: Any) -> list[Places]:
        """Return the places of diagonal entries of given rows, for each component."""
        found = []
        for component, chosen in enumerate(self.mask.reshape(-1, self.space.dim).T):
            rows = np.flatnonzero(chosen)
            if rows.size:
                blocks, offsets = matrix.diagonal_places(rows, component)
                found.append(Places.of(matrix, blocks, offsets, (*key, component)))
        return found

    def _places(self, matrix: Mat, columns: Held | None, key: Any) -> list[Places]:
        """Return the places of entries to clear, for each value of a block."""
        rows, cols = _entries(matrix)
        n_rows, n_cols = matrix.block_dims
        held_rows = self.mask.reshape(-1, n_rows)
        held_cols = None if columns is None else columns.mask.reshape(-1, n_cols)
        found = []
        for i in range(n_rows):
            for j in range(n_cols):
                chosen = held_rows[rows, i]
                if held_cols is not None:
                    chosen = chosen | held_cols[cols, j]
                offset = i * n_cols + j
                blocks = np.flatnonzero(chosen)
                found.append(Places.of(matrix, blocks, (offset,), (*key, offset)))
        return [places for places in found if places.blocks.size]

    def lift(self, matrix: Mat, values: Array, vector: Dat) -> None:
        """Subtract from a vector the product of the given columns of a matrix and their values.

        Args:
            matrix: Assembled, with its given columns.
            values: Of the given dofs of the columns, shape (n,).
            vector: On the rows' dofs.
        """
        if not values.any() and not matrix.is_distributed:
            return
        key = ("lift", self.key)

        def made() -> tuple[Array, Array, Array]:
            rows, cols = _entries(matrix)
            held: Array = np.any(self.mask.reshape(-1, self.space.dim), axis=1)
            places = np.flatnonzero(held[cols])
            return places, rows[places], cols[places]

        places = self._kept.made((matrix.sparsity.uid, *key), made)
        if matrix.is_distributed:
            self._subtract(matrix, values, places, vector)
            return
        with self._lock:
            given = self._sent(values, matrix.compute, "given")
            subtract_product(matrix, key, places, given, vector)

    def _subtract(
        self, matrix: Mat, values: Array, entries: tuple[Array, Array, Array], vector: Dat
    ) -> None:
        """Subtract the product of entries in owned rows, on the host."""
        whole = np.zeros(self.space.n_held, matrix.dtype)
        whole[self.dofs] = values
        places, rows, cols = (one[entries[1] < matrix.nblock_rows] for one in entries)
        blocks = matrix.stored("assemble", write=False)[places]
        given = whole.reshape(-1, self.space.dim)[cols]
        target = vector.data.reshape(-1, vector.cdim)
        np.subtract.at(target, rows, np.einsum("prc,pc->pr", blocks, given))


def _entries(matrix: Mat) -> tuple[Array, Array]:
    """Return the row and the column of each block of a matrix."""
    offsets = matrix.sparsity.rowptr
    rows = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    return rows, np.asarray(matrix.sparsity.colidx)


def held_of(space: FunctionSpace, bcs: Sequence[Condition]) -> tuple[Held, list[Condition]]:
    """Return the given dofs of a space, and the conditions that are of it.

    Objects for the same dofs are the same, so that nothing is computed twice.

    Args:
        space: The space.
        bcs: Conditions, also of other spaces.

    Raises:
        UsageError: An element of `bcs` is no condition.
    """
    own = [bc for bc in checked(bcs) if bc.space.dof_set is space.dof_set]
    kept: Memo = space.held
    key = (runtime.n_distributions, *(bc.digest for bc in own))
    found: Held = kept.made(key, lambda: Held(space, own))
    return found, own


def checked(bcs: Any) -> Sequence[Condition]:
    """Return conditions.

    Raises:
        UsageError: This is no sequence of conditions.
    """
    if hasattr(bcs, "digest"):
        raise UsageError("pyop2cxx.fem: bcs are a sequence of DirichletBC; write [bc] for one")
    found: list[Condition] = list(bcs)
    for bc in found:
        if not hasattr(bc, "digest"):
            raise UsageError(
                f"pyop2cxx.fem: bcs are a sequence of DirichletBC, got {type(bc).__name__} in it"
            )
    return found


def digest_of(dofs: Array) -> bytes:
    """Return a digest of numbers of dofs."""
    return blake2b(dofs.tobytes(), digest_size=16).digest()
