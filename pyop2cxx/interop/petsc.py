# SPDX-License-Identifier: BSD-3-Clause
"""PETSc views of Mats and Dats through petsc4py, without copies."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import finalize, ref

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import ContractError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt


def matrix(mat: Any) -> Any:
    """Return a PETSc matrix over the values of a Mat.

    Args:
        mat: A Mat of PETSc's scalar type. A mixed Mat gives a nest of the blocks; with a Sparsity
            not nested, a copy of all blocks in a single matrix.

    Returns:
        AIJ by ``MatCreateSeqAIJWithArrays``, sharing the values; of square blocks, BAIJ with a copy
        of them, since PETSc stores blocks by columns; of other blocks, a copy as AIJ.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
        UnsupportedError: PETSc's integers are too narrow for the matrix.
    """
    petsc = extras.load("petsc4py.PETSc", f"{mat.label}: handle")
    _check_scalar(petsc, mat.dtype, mat.label)
    if mat.is_mixed:
        rows = [[matrix(block) for block in row] for row in mat.blocks]
        nest = petsc.Mat().createNest(rows, comm=petsc.COMM_SELF)
        return nest if mat.sparsity.nested else nest.convert("aij")
    integer = np.dtype(petsc.IntType)
    sparsity = mat.sparsity
    if sparsity.rowptr[-1] > np.iinfo(integer).max:
        raise UnsupportedError(
            f"{mat.label} has {sparsity.rowptr[-1]} places, but this PETSc counts with "
            f"{integer.name}; build PETSc with 64-bit indices"
        )
    index = (sparsity.rowptr.astype(integer), sparsity.colidx.astype(integer, copy=False))
    shape = (mat.n_stored(0), mat.n_stored(1))
    values = mat.stored("handle", write=False)
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
        made = petsc.Mat().createBAIJ(
            size=shape, bsize=rows_dim, csr=(*index, values.reshape(-1)), comm=petsc.COMM_SELF
        )
    made.assemble()
    return made


def operator(
    multiply: Callable[[npt.NDArray[Any]], npt.ArrayLike],
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    what: str,
) -> Any:
    """Return a PETSc matrix without entries, a shell with products by a function.

    Args:
        multiply: Takes the values of a vector, shape (shape[1],), read-only, and returns the values
            of the product, shape (shape[0],).
        shape: Numbers of rows and columns.
        dtype: PETSc's scalar type.
        what: Name in messages.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
    """
    petsc = extras.load("petsc4py.PETSc", what)
    _check_scalar(petsc, dtype, what)
    products = _Products(multiply)
    made = petsc.Mat().createPython(shape, products, comm=petsc.COMM_SELF)
    made.setUp()
    finalize(products, _end, ref(products), made.handle, petsc.__file__)
    return made


class _Products:
    """Context of PETSc's shell matrix."""

    def __init__(self, multiply: Callable[[npt.NDArray[Any]], npt.ArrayLike]) -> None:
        self._multiply = multiply

    def mult(self, _: Any, x: Any, y: Any) -> None:
        """Compute ``y = A x``."""
        y.setArray(self._multiply(x.getArray(readonly=True)))


def _end(products: ref[_Products], handle: int, library: str) -> None:
    """Detach Python from a matrix outliving the program, in the program's last moments.

    The matrix owns the products. If a solver still holds the matrix, petsc4py frees both while
    modules are torn down, and then crashes (3.18.5). A matrix of another type does not call Python.
    """
    if products() is not None:
        ctypes.CDLL(library).MatSetType(ctypes.c_void_p(handle), b"shell")


@contextmanager
def vector(data: Any, *, read: bool, write: bool) -> Iterator[Any]:
    """Return a PETSc vector over the values of a Dat's owned entities, or of a Global.

    Args:
        data: A Dat, a Global or a MixedDat, of PETSc's scalar type. A MixedDat's fields are copied,
            in sequence, and copied back if they may be changed.
        read: Whether the values are read. If not, a MixedDat's vector starts with the final values
            of the last vector.
        write: Whether the values may be changed. A Dat's version grows only for changes known to
            PETSc.

    Yields:
        The vector, until the context ends. Later uses raise ContractError, and PETSc objects still
        holding the vector, for example a KSP with a solution, keep a copy of the values.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
    """
    fields = data.split
    petsc = extras.load("petsc4py.PETSc", f"{fields[0].label}: vec")
    for field in fields:
        _check_scalar(petsc, field.dtype, field.label)
    to_count = False
    if len(fields) == 1:
        shown, to_count = fields[0].lent(write=write)
        values, block = shown.reshape(-1), fields[0].cdim
    else:
        values, block = data.gathered(read=read), 1
    made = _kinds(petsc.Vec)[0]().createWithArray(
        values, size=(values.size, None), bsize=max(block, 1), comm=petsc.COMM_SELF
    )
    state = made.stateGet()
    try:
        yield made
    finally:
        if to_count and made.stateGet() != state:
            fields[0].increment_dat_version()
        _detach(petsc, made)
        if write and len(fields) > 1:
            data.scatter()


def _detach(petsc: Any, vector: Any) -> None:
    """End a vector over borrowed memory.

    A destroyed vector would be a null pointer, read by PETSc (3.18). An empty vector is refused by
    checks of sizes.
    """
    if vector.refcount > 1:
        vector.placeArray(vector.getArray(readonly=True).copy())
    vector.createSeq(0, comm=petsc.COMM_SELF)
    vector.__class__ = _kinds(petsc.Vec)[1]


@lru_cache(maxsize=1)
def _kinds(vec: type) -> tuple[type, type]:
    """Return the class of vectors in their contexts, and the class of vectors after their contexts.

    Args:
        vec: PETSc's class.
    """

    def refuse(*_: Any) -> Any:
        raise ContractError(
            "this PETSc vector showed values of a Dat or Global in a 'with' block, which has "
            "ended; use it in the block, or keep vec.copy()"
        )

    kept = ("__new__", "__doc__", "__pyx_vtable__")
    refused = {name: refuse for name in vars(vec) if name.startswith("__") and name not in kept}
    refused["__getattribute__"] = refuse
    return type("LentVec", (vec,), {}), type("EndedVec", (vec,), refused)


def _check_scalar(petsc: Any, dtype: np.dtype[Any], what: str) -> None:
    scalar = np.dtype(petsc.ScalarType)
    if dtype != scalar:
        raise ContractError(
            f"{what} has dtype {dtype.name}, but this PETSc computes with {scalar.name}"
        )
