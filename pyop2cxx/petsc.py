# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's view of Mats and Dats, through petsc4py where it is installed; no values are copied."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import extras
from pyop2cxx.exceptions import ContractError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.types.dats import Dat
    from pyop2cxx.types.mats import Mat


def matrix(mat: Mat) -> Any:
    """Return a PETSc matrix over the values of a Mat.

    Args:
        mat: Not mixed; its dtype is PETSc's scalar type. A mixed one gives a nest of its blocks.

    Returns:
        AIJ by ``MatCreateSeqAIJWithArrays``, sharing the values; of blocks, BAIJ with a copy of
        them, since PETSc stores blocks by columns.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
        UnsupportedError: PETSc's integers are too narrow for the matrix.
    """
    petsc = extras.load("petsc4py.PETSc", f"{mat._what}: handle")
    _check_scalar(petsc, mat.dtype, mat._what)
    if mat.is_mixed:
        rows = [[matrix(block) for block in row] for row in mat.blocks]
        return petsc.Mat().createNest(rows, comm=petsc.COMM_SELF)
    integer = np.dtype(petsc.IntType)
    sparsity = mat.sparsity
    if sparsity.rowptr[-1] > np.iinfo(integer).max:
        raise UnsupportedError(
            f"{mat._what} has {sparsity.rowptr[-1]} places, but this PETSc counts with "
            f"{integer.name}; build PETSc with 64-bit indices"
        )
    index = (sparsity.rowptr.astype(integer), sparsity.colidx.astype(integer, copy=False))
    shape = (mat._n_stored(0), mat._n_stored(1))
    values = mat._stored("handle", write=False)
    if mat.cdim == 1:
        made = petsc.Mat().createAIJWithArrays(
            size=shape, csr=(*index, values.reshape(-1)), comm=petsc.COMM_SELF
        )
    else:
        rows_dim, cols_dim = mat.block_dims
        if rows_dim != cols_dim:
            scalar = mat.to_scipy().tocsr()
            csr = (scalar.indptr.astype(integer), scalar.indices.astype(integer), scalar.data)
            return petsc.Mat().createAIJ(size=shape, csr=csr, comm=petsc.COMM_SELF)
        blocks = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1)
        made = petsc.Mat().createBAIJ(
            size=shape, bsize=rows_dim, csr=(*index, blocks), comm=petsc.COMM_SELF
        )
    made.assemble()
    return made


@contextmanager
def vector(dat: Dat, *, read: bool, write: bool) -> Iterator[Any]:
    """Return a PETSc vector over the values of a Dat's owned entities.

    Args:
        dat: Its dtype is PETSc's scalar type.
        read: Whether the values are looked at.
        write: Whether they are changed.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
    """
    petsc = extras.load("petsc4py.PETSc", f"{dat._what}: vec")
    _check_scalar(petsc, dat.dtype, dat._what)
    values = dat.data if write and read else dat.data_wo if write else dat.data_ro
    size = (values.size, None)
    made = petsc.Vec().createWithArray(
        values.reshape(-1), size=size, bsize=max(dat.cdim, 1), comm=petsc.COMM_SELF
    )
    if not write:
        made.setReadOnly(True) if hasattr(made, "setReadOnly") else made.lockReadPush()
    try:
        yield made
    finally:
        made.destroy()


def _check_scalar(petsc: Any, dtype: np.dtype[Any], what: str) -> None:
    scalar = np.dtype(petsc.ScalarType)
    if dtype != scalar:
        raise ContractError(
            f"{what} has dtype {dtype.name}, but this PETSc computes with {scalar.name}"
        )
