# SPDX-License-Identifier: BSD-3-Clause
"""PETSc vectors of Dats and Globals through petsc4py, without copies, and shell matrices."""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import finalize, ref

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import ContractError
from pyop2cxx.interop.petsc_spaces import petsc_comm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt


_OWN_REFERENCES = 2
"""Of a vector: the attribute that holds it, and the count's own argument."""


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
    check_scalar(petsc, dtype, what)
    return python_matrix(petsc, shape, _Products(multiply), petsc.COMM_SELF)


def python_matrix(petsc: Any, shape: Any, context: Any, comm: Any) -> Any:
    """Return a PETSc matrix with products by the methods of an object."""
    made = petsc.Mat().createPython(shape, context, comm=comm)
    made.setUp()
    finalize(context, _end, ref(context), made.handle, petsc.__file__)
    return made


class _Products:
    """Context of PETSc's shell matrix."""

    def __init__(self, multiply: Callable[[npt.NDArray[Any]], npt.ArrayLike]) -> None:
        self._multiply = multiply

    def mult(self, _: Any, x: Any, y: Any) -> None:
        """Compute ``y = A x``."""
        y.setArray(self._multiply(x.getArray(readonly=True)))


def _end(products: ref[Any], handle: int, library: str) -> None:
    """Detach Python from a matrix outliving the program, in the program's last moments.

    The matrix owns the products. If a solver still holds the matrix, petsc4py frees both while
    modules are torn down, and then crashes (3.18.5). A matrix of another type does not call Python.
    """
    if products() is not None:
        ctypes.CDLL(library).MatSetType(ctypes.c_void_p(handle), b"shell")


class Vector:
    """The PETSc vector of a Dat, a Global or a MixedDat, for the life of both.

    A Dat's vector shares the memory of the values, without a reference that would count as a holder
    of them; once the Dat goes, the vector keeps the memory (`keep`).

    Attributes:
        vec: The vector.
        seen: `changes` when a context ended last.
    """

    __slots__ = ("_is_placed", "_n_told", "_place", "seen", "vec")

    def __init__(self, petsc: Any, values: npt.NDArray[Any], block: int, comm: Any) -> None:
        self._place = _place_of(values)
        self._is_placed = False
        self.vec = petsc.Vec().createWithArray(
            _same_memory(values), size=(values.size, None), bsize=max(block, 1), comm=comm
        )
        self._n_told = 0
        self.seen = self.changes

    @property
    def is_held(self) -> bool:
        """Whether somebody else holds the vector, and may use it outside of contexts."""
        return sys.getrefcount(self.vec) > _OWN_REFERENCES or self.vec.getRefCount() > 1

    @property
    def changes(self) -> int:
        """Number of changes known to PETSc."""
        return int(self.vec.stateGet()) - self._n_told

    def tell(self) -> None:
        """Let PETSc forget norms of older values."""
        self.vec.stateIncrease()
        self._n_told += 1

    def point_at(self, values: npt.NDArray[Any]) -> None:
        """Show other memory, of as many values."""
        if _place_of(values) == self._place:
            return
        if self._is_placed:
            self.vec.resetArray()
        self.vec.placeArray(_same_memory(values))
        self._place, self._is_placed = _place_of(values), True

    def keep(self, values: npt.NDArray[Any] | None) -> None:
        """Hold the memory from now on: the carrier goes, but others may hold the vector."""
        if values is not None and values.ctypes.data == self._place[0]:
            self.vec.setAttr("__pyop2cxx__", values)


def _place_of(values: npt.NDArray[Any]) -> tuple[int, int]:
    return values.ctypes.data, values.size


def _same_memory(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a flat, writeable array of the same memory, which holds no reference to the owner."""
    if values.size == 0:
        return np.zeros(0, values.dtype)
    raw: Any = (ctypes.c_char * values.nbytes).from_address(values.ctypes.data)
    return np.frombuffer(raw, values.dtype)


def free(data: Any, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the owned values without those of constrained entities, the last of the Set."""
    n = getattr(getattr(data, "set", None), "constrained_size", 0)
    return values[: len(values) - n] if n else values


@contextmanager
def vector(data: Any, *, read: bool, write: bool) -> Iterator[Any]:
    """Return the PETSc vector of a Dat's owned entities, of a Global or of a MixedDat.

    Args:
        data: A Dat, a Global or a MixedDat, of PETSc's scalar type. A MixedDat's fields are copied,
            in sequence, and copied back if they may be changed.
        read: Whether the values are read. If not, a MixedDat's vector starts with the final values
            of the last context.
        write: Whether the values may be changed. A Dat's version grows only for changes known to
            PETSc.

    Yields:
        The vector: the same object each time, so solvers may keep it. Only in contexts are the
        values those of the Dat; a change after a context is noted by the next.

    Raises:
        MissingExtraError: petsc4py is not installed.
        ContractError: The dtype is not PETSc's scalar type.
    """
    fields = data.split
    petsc = extras.load("petsc4py.PETSc", f"{fields[0].label}: vec")
    for field in fields:
        check_scalar(petsc, field.dtype, field.label)
    to_count = False
    if len(fields) == 1:
        shown, to_count = fields[0].lent(write=write)
        values, block = free(fields[0], shown).reshape(-1), fields[0].cdim
    else:
        values, block = data.gathered(read=read), 1
    held: Vector | None = data.petsc_vector
    if held is None or held.vec.getLocalSize() != values.size:
        held = data.keep_vector(Vector(petsc, values, block, petsc_comm(petsc, data.comm)))
    held.point_at(values)
    if len(fields) > 1:
        held.keep(values)  # the array is of the vector alone
    if len(fields) == 1 and held.changes != held.seen:
        fields[0].increment_dat_version()  # changed after the last context
    held.tell()
    before = held.seen = held.changes
    try:
        yield held.vec
    finally:
        held.seen = held.changes
        if to_count and held.seen != before:
            fields[0].increment_dat_version()
        if write and len(fields) > 1:
            data.scatter()


def check_scalar(petsc: Any, dtype: np.dtype[Any], what: str) -> None:
    """Raise ContractError if a dtype is not PETSc's scalar type."""
    scalar = np.dtype(petsc.ScalarType)
    if dtype != scalar:
        raise ContractError(
            f"{what} has dtype {dtype.name}, but this PETSc computes with {scalar.name}"
        )
