# SPDX-License-Identifier: BSD-3-Clause
"""Dats and Globals as PETSc vectors: the common base class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, RW, WRITE, Access
from pyop2cxx.exceptions import ModeValueError
from pyop2cxx.interop import petsc

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class AsVec:
    """Contexts that show values as a ``petsc4py.PETSc.Vec``, if petsc4py is installed.

    Each Dat, Global and MixedDat has one vector, the same in all contexts, which a solver may keep.
    The vector of a Dat or a Global shares the memory of the values on the host; loops must not use
    them in a context. The vector of a MixedDat is a copy of the concatenated fields, copied back at
    the end of the context.

    Entering a context raises MissingExtraError without petsc4py, and ContractError if the dtype is
    not PETSc's scalar type.
    """

    @property
    def petsc_vector(self) -> petsc.Vector | None:
        """The vector, once there was a context."""
        return self.__dict__.get("petsc_vector")

    def keep_vector(self, vector: petsc.Vector) -> petsc.Vector:
        """Make a vector the one of all contexts to come."""
        self.__dict__["petsc_vector"] = vector
        return vector

    @property
    def vec(self) -> AbstractContextManager[Any]:
        """A context with a vector to read and write; counts as a write."""
        return self.vec_context(RW)

    @property
    def vec_ro(self) -> AbstractContextManager[Any]:
        """A context with a vector to read; petsc4py cannot prevent writes."""
        return self.vec_context(READ)

    @property
    def vec_wo(self) -> AbstractContextManager[Any]:
        """A context with a vector to be overwritten; counts as a write."""
        return self.vec_context(WRITE)

    def vec_context(self, access: Access) -> AbstractContextManager[Any]:
        """Return a context with a vector.

        Args:
            access: READ, WRITE or RW.

        Raises:
            ModeValueError: The access does not exist, or is not allowed here.
        """
        if access not in (READ, WRITE, RW):
            raise ModeValueError(
                f"vec_context: the access must be READ, WRITE or RW, got {access!r}"
            )
        return petsc.vector(self, read=access != WRITE, write=access != READ)
