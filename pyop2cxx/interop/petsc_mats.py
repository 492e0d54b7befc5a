# SPDX-License-Identifier: BSD-3-Clause
"""PETSc matrices of Mats: one for the life of each Mat, brought up to date when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.arrays import is_under_pyop2
from pyop2cxx.base.blocks import row_of_each, scalar_places
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.interop.petsc import check_scalar, python_matrix
from pyop2cxx.interop.petsc_payloads import DatMatPayload, GlobalMatPayload
from pyop2cxx.interop.petsc_spaces import petsc_comm
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


def matrix(mat: Any) -> Any:
    """Return the PETSc matrix of a Mat, the same object each time, with the values of now.

    Args:
        mat: A Mat of PETSc's scalar type. A mixed Mat gives a nest of the blocks' matrices; with a
            Sparsity not nested, a single matrix with all blocks.

    Returns:
        AIJ by ``MatCreateSeqAIJWithArrays``: of scalars, sharing the values; of blocks, sharing a
        copy. Square blocks give BAIJ unless the Sparsity was made with ``block_sparse=False`` or
        the Mat with ``mat_type="aij"``. ``mat_type="dense"`` gives a dense copy; what PETSc changes
        outside of the Sparsity stays there. Under PyOP2's name a matrix with the rows or columns of
        a Global of one value is a Python matrix around a Dat or Global of the same memory.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
        UnsupportedError: PETSc's integers are too narrow for the matrix.
    """
    petsc = extras.load("petsc4py.PETSc", f"{mat.label}: handle")
    held: Handle | None = mat.petsc_handle
    if held is None:
        check_scalar(petsc, mat.dtype, mat.label)
        held = mat.petsc_handle = Handle(petsc, mat)
    held.refresh(mat)
    return held.matrix


def of_ranks(mat: Any, rows: Array, columns: Array) -> Any:
    """Return an MPIAIJ of PETSc with the owned rows of a Mat shared by processes, copied.

    Args:
        mat: A Mat of PETSc's scalar type, not mixed.
        rows: For each entity of the rows the number, ascending by rank, shape (total_size,).
        columns: The same of the columns.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
        UnsupportedError: PETSc's integers are too narrow for the matrix.
    """
    petsc = extras.load("petsc4py.PETSc", f"{mat.label}: handle")
    check_scalar(petsc, mat.dtype, mat.label)
    integer = petsc.IntType
    numbers = [
        (given[:, None] * dim + np.arange(dim)).reshape(-1)
        for given, dim in zip((rows, columns), mat.block_dims, strict=True)
    ]
    if max(int(one.max(initial=0)) for one in numbers) > np.iinfo(integer).max:
        raise UnsupportedError(f"{mat.label}: handle: PETSc's integers are too narrow for its rows")
    here = row_of_each(mat.sparsity.rowptr[: mat.nblock_rows + 1])
    wide = columns[mat.sparsity.colidx[: len(here)]]
    at_rows, at_columns = scalar_places(here, wide, mat.block_dims)
    order = np.lexsort((at_columns, at_rows))
    begins = np.searchsorted(at_rows[order], np.arange(mat.nrows + 1))
    index = [one.astype(integer) for one in (begins, at_columns[order])]
    values = mat.stored("handle", write=False)[: len(here)].reshape(-1)[order]
    size = (mat.nrows, None), (mat.ncols, None)
    made = petsc.Mat().createAIJWithArrays(size, (*index, values), comm=mat.comm)
    made.setLGMap(*(petsc.LGMap().create(n.astype(integer), comm=mat.comm) for n in numbers))
    return made


class _Entries(NamedTuple):
    """Places of scalars in rows.

    Attributes:
        rowptr: Start of each row.
        colidx: Column of each place.
        order: For each place the index among the values of all blocks, end to end.
    """

    rowptr: Array
    colidx: Array
    order: Array

    @property
    def rows(self) -> Array:
        """Row of each place."""
        return row_of_each(self.rowptr)


class Handle:
    """A PETSc matrix, and the state of the values that it shows.

    The Mat holds the object; nothing here holds the Mat.

    Attributes:
        matrix: The matrix.
    """

    __slots__ = (
        *("_copy", "_entries", "_is_nest", "_is_payload", "_state", "_version", "_zeroed"),
        "matrix",
    )

    def __init__(self, petsc: Any, mat: Any) -> None:
        self._version, self._state = -1, -1
        self._copy: Array | None = None
        self._zeroed: int | None = None
        self._entries: _Entries | None = None
        self._is_payload = False
        self._is_nest = bool(mat.is_mixed and mat.sparsity.nested)
        rows, cols = mat.sparsity.dsets
        comm = petsc_comm(petsc, mat.comm)
        if self._is_nest:
            blocks = [[matrix(block) for block in row] for row in mat.blocks]
            self.matrix = petsc.Mat().createNest(
                blocks, isrows=rows.field_ises, iscols=cols.field_ises, comm=comm
            )
            self.matrix.setLGMap(rows.unblocked_lgmap, cols.unblocked_lgmap)
            return
        if is_under_pyop2() and mat.is_vector:
            self._is_nest, self._is_payload = False, True
            self.matrix = _around_values(petsc, mat, comm)
            return
        _check_width(petsc, mat)
        size = ((sum(_free(mat, 0)), None), (sum(_free(mat, 1)), None))
        if _is_baij(mat):
            index = _index(petsc, mat.sparsity.rowptr, mat.sparsity.colidx)
            self.matrix = petsc.Mat().createBAIJ(
                size=size, bsize=mat.block_dims[0], csr=(*index, None), comm=comm
            )
        elif mat.mat_type == "dense":
            self._entries = _entries(mat)
            self.matrix = petsc.Mat().createDense(size, comm=comm)
        else:
            self.matrix = self._aij(petsc, mat, size, comm)
        self.matrix.setLGMap(rows.lgmap, cols.lgmap)

    def _aij(self, petsc: Any, mat: Any, size: Any, comm: Any) -> Any:
        if not mat.is_mixed and mat.cdim == 1 and not _is_cut(mat):
            index = _index(petsc, mat.sparsity.rowptr, mat.sparsity.colidx)
            values = mat.stored("handle", write=False).reshape(-1)
            return petsc.Mat().createAIJWithArrays(size=size, csr=(*index, values), comm=comm)
        self._entries = _entries(mat)
        self._copy = np.zeros(len(self._entries.order), mat.dtype)
        csr = (*_index(petsc, self._entries.rowptr, self._entries.colidx), self._copy)
        made = petsc.Mat().createAIJWithArrays(size=size, csr=csr, comm=comm)
        if not mat.is_mixed:
            made.setBlockSizes(*mat.block_dims)
        return made

    def note_zero(self, mat: Any) -> None:
        """Note that all values of the Mat are zero now: the next refresh has nothing to copy."""
        self._zeroed = _version(mat)

    def refresh(self, mat: Any) -> None:
        """Bring values to PETSc that the Mat has got since, or to the Mat if PETSc changed them."""
        if self._is_payload:
            return  # the values are the Dat's
        parts = tuple(mat)
        if self._is_nest:
            for block in parts:
                matrix(block)
        values = [part.stored("handle", write=False) for part in parts]
        version = _version(mat)
        if version == self._version:
            if self.matrix.stateGet() == self._state:
                return
            self._pull(mat, parts, values)
            version = _version(mat)
        else:
            is_zero = version == self._zeroed and not any(p.lent_out.held for p in parts)
            if is_zero and self._copy is not None:
                self._copy.fill(0)
            else:
                self._push(mat, values)
            self.matrix.assemble()
            self.matrix.stateIncrease()
        self._version, self._state = version, self.matrix.stateGet()

    def _push(self, mat: Any, values: list[Array]) -> None:
        if self._entries is not None:
            flat = [block.reshape(-1) for block in values]
            together = flat[0] if len(flat) == 1 else np.concatenate(flat)
            if self._copy is not None:
                # "clip" takes into the memory of the copy; places are in range
                np.take(together, self._entries.order, out=self._copy, mode="clip")
            else:
                dense = self.matrix.getDenseArray()
                dense[self._entries.rows, self._entries.colidx] = together[self._entries.order]
        elif not self._is_nest and mat.cdim != 1:
            integer = self._integer
            index = (mat.sparsity.rowptr.astype(integer), mat.sparsity.colidx.astype(integer))
            self.matrix.setValuesBlockedCSR(*index, values[0].reshape(-1))

    @property
    def _integer(self) -> Any:
        return extras.load("petsc4py.PETSc", "handle").IntType

    def _pull(self, mat: Any, parts: tuple[Any, ...], values: list[Array]) -> None:
        if self._is_nest:
            return  # the blocks are brought one by one
        if (found := self._entries) is not None:
            together = np.concatenate([block.reshape(-1) for block in values])
            changed = self._copy
            if changed is None:
                changed = self.matrix.getDenseArray(readonly=True)[found.rows, found.colidx]
            together[found.order] = changed
            start = 0
            for block in values:
                block.reshape(-1)[:] = together[start : start + block.size]
                start += block.size
        elif mat.cdim != 1:
            r, c = mat.block_dims
            dense = self.matrix.convert("aij", out=type(self.matrix)()).getValuesCSR()[2]
            together = np.empty(dense.size, mat.dtype)
            together[_entries(mat).order] = dense
            values[0][...] = together.reshape(-1, r, c)
        for part in parts:
            part.buffer.increment_version()


def _version(mat: Any) -> int:
    """Return a number that grows with each change of the values of any block."""
    return sum(part.buffer.version for part in mat)


def _around_values(petsc: Any, mat: Any, comm: Any) -> Any:
    """Return a matrix with the rows or columns of a Global, around a Dat or Global of the values.

    Raises:
        UnsupportedError: Loops run on a device: two objects would have the values there.
    """
    if runtime.device is not None:
        raise UnsupportedError(
            f"{mat.label}: PETSc's matrix with the rows or the columns of a Global works on host "
            "backends; choose PYOP2CXX_BACKEND=sequential or openmp"
        )
    rows, cols = mat.sparsity.dsets
    vector, is_row = mat.as_vector()
    single = is_row is None
    payload: Any = GlobalMatPayload(vector) if single else DatMatPayload(vector, bool(is_row))
    return python_matrix(petsc, ((rows.n_local, None), (cols.n_local, None)), payload, comm)


def _is_baij(mat: Any) -> bool:
    if mat.is_mixed or mat.cdim == 1 or mat.block_dims[0] != mat.block_dims[1] or _is_cut(mat):
        return False
    if mat.mat_type is not None:
        return bool(mat.mat_type == "baij")
    return mat.sparsity.block_sparse is not False


def _is_cut(mat: Any) -> bool:
    """Whether entities are constrained, and so PETSc's matrix is without their rows or columns."""
    return any(p.set.constrained_size for side in mat.sparsity.dsets for p in side)


def _free(mat: Any, side: int) -> list[int]:
    """Return the number of each field's scalars in the rows or columns of PETSc's matrix."""
    return [
        (part.set.total_size - part.set.constrained_size) * part.cdim
        for part in mat.sparsity.dsets[side]
    ]


def _index(petsc: Any, rowptr: Array, colidx: Array) -> tuple[Array, Array]:
    integer = np.dtype(petsc.IntType)
    return rowptr.astype(integer), colidx.astype(integer, copy=False)


def _check_width(petsc: Any, mat: Any) -> None:
    integer = np.dtype(petsc.IntType)
    places = max(int(block.sparsity.rowptr[-1]) * block.cdim for block in mat)
    if places > np.iinfo(integer).max:
        raise UnsupportedError(
            f"{mat.label} has {places} places, but this PETSc counts with {integer.name}; build "
            "PETSc with 64-bit indices"
        )


def _entries(mat: Any) -> _Entries:
    """Return the places of the free scalars of a Mat's blocks, by rows, and by columns in a row."""
    rows, cols, kept = [], [], []
    n_rows, n_cols = _free(mat, 0), _free(mat, 1)
    for row_start, row_end, row in zip(_starts(n_rows), n_rows, mat.blocks, strict=True):
        for col_start, col_end, block in zip(_starts(n_cols), n_cols, row, strict=True):
            at = row_of_each(block.sparsity.rowptr), block.sparsity.colidx.astype(np.int64)
            i, j = scalar_places(*at, block.block_dims)
            kept.append((i < row_end) & (j < col_end))
            rows.append(i + row_start)
            cols.append(j + col_start)
    places = np.flatnonzero(np.concatenate(kept))
    all_rows, all_cols = np.concatenate(rows)[places], np.concatenate(cols)[places]
    order = np.lexsort((all_cols, all_rows))
    rowptr = np.zeros(sum(n_rows) + 1, np.int64)
    np.cumsum(np.bincount(all_rows, minlength=len(rowptr) - 1), out=rowptr[1:])
    return _Entries(rowptr, all_cols[order], places[order])


def _starts(sizes: list[int]) -> list[int]:
    return [0, *np.cumsum(sizes)[:-1].tolist()]
