# SPDX-License-Identifier: BSD-3-Clause
"""Operators without a matrix: the action of a bilinear form, computed by loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import UsageError
from pyop2cxx.fem.assembly import applied, compiled
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.held import held_of
from pyop2cxx.fem.loops import compile_first
from pyop2cxx.interop import petsc
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.fem.conditions import DirichletBC


@ends_tracebacks("__init__")
class action:
    """Operator of a bilinear form: ``y = A x`` without a matrix.

    Rows and columns of given dofs are rows and columns of the identity, as in an assembled matrix.

    Args:
        a: The bilinear form, of a single space.
        bcs: Boundary conditions.
        dtype: Of scalars, as of `pyop2cxx.fem.assemble`.

    Attributes:
        source: Input of the loops: a function of the space.
        target: Output of the loops.
        shape: Numbers of rows and columns.
        dtype: Of scalars.

    Raises:
        UsageError: The form is not bilinear, or of two spaces.

    Example:
        ``op2.solve(fem.action(a, bcs), u.dat, b.dat, pc_type="none")``, or SciPy's methods with
        ``fem.action(a, bcs).to_scipy()``, or PETSc's with ``to_petsc()``.
    """

    def __init__(
        self, a: Any, bcs: Sequence[DirichletBC] = (), dtype: DTypeLike | None = None
    ) -> None:
        left = compiled(a, dtype)
        if left.rank != 2 or left.spaces[0].dof_set is not left.spaces[1].dof_set:
            raise UsageError("action: expected a bilinear form whose arguments are of one space")
        space = left.spaces[0]
        self.dtype = left.dtype
        self.shape = (space.size, space.size)
        self.source = Function(space, self.dtype, "source")
        self.target = Function(space, self.dtype, "target")
        form = applied(left, self.source)
        compile_first((form, self.target.dat))
        self._loops = form.loops(self.target.dat)
        self._held = held_of(space, bcs)[0]

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"{self!r}: an operator can neither be copied nor pickled, for its functions are its "
            "own; make another one of its form"
        )

    def __repr__(self) -> str:
        space = self.source.space
        return f"<action, {self.shape[0]} x {self.shape[1]} of {self.dtype.name}, on {space}>"

    def __call__(self, x: Dat, y: Dat) -> None:
        """Compute ``y = A x``, by loops, where the Dats are.

        Args:
            x: On the dofs of the space.
            y: The same; not x itself.
        """
        if self._held:
            take = self._held.kernel("take", self.dtype)
            given = (self._held.flags()(READ), x(READ), self.source.dat(WRITE))
            par_loop(take, self.source.space.dof_set, *given)
        else:
            x.copy(self.source.dat)
        self.target.dat.zero()
        for loop in self._loops:
            loop.compute()
        self.target.dat.copy(y)
        if self._held:
            self._held.give(x, y)

    def __matmul__(self, vector: Array) -> Array:
        """Return the product with an array of shape (n,)."""
        space = self.source.space
        x, y = (Dat(space.dof_set**space.dim, dtype=self.dtype) for _ in range(2))
        x.data_wo.reshape(-1)[:] = np.asarray(vector).reshape(-1)
        self(x, y)
        return np.array(y.data_ro).reshape(-1)

    def to_scipy(self) -> Any:
        """Return a ``LinearOperator`` of SciPy.

        Raises:
            MissingExtraError: SciPy is not installed.
        """
        linalg = extras.load("scipy.sparse.linalg", "fem.action.to_scipy()")
        return linalg.LinearOperator(self.shape, matvec=self.__matmul__, dtype=self.dtype)

    def to_petsc(self) -> Any:
        """Return a shell matrix of PETSc, for Krylov methods of PETSc.

        Raises:
            MissingExtraError: petsc4py is not installed.
            ContractError: The dtype is not PETSc's scalar type.
        """
        return petsc.operator(self.__matmul__, self.shape, self.dtype, "fem.action.to_petsc()")
