# SPDX-License-Identifier: BSD-3-Clause
"""Assembly: forms become numbers, vectors and matrices, by parallel loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DatTypeError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.conditions import DirichletBC, given_values
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.loops import Form
from pyop2cxx.runtime.tracebacks import ends_traceback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pyop2cxx.base.arrays import Array


def compiled(form: Any, dtype: DTypeLike | None = None) -> Form:
    """Return a form with its kernels; compiled once for each `ufl.Form`.

    Args:
        form: A form of UFL's, or a `Form`.
        dtype: As of `Form`.

    Raises:
        UsageError: As of `Form`.
        DataTypeError: As of `Form`.
    """
    if isinstance(form, Form):
        return form
    kept = getattr(form, "_cache", {})
    key = ("pyop2cxx", None if dtype is None else np.dtype(dtype))
    if key not in kept:
        kept[key] = Form(form, dtype)
    found: Form = kept[key]
    return found


@ends_traceback
def assemble(
    form: Any,
    bcs: Sequence[DirichletBC] = (),
    tensor: Function | Mat | None = None,
    *,
    dtype: DTypeLike | None = None,
    diagonal: float = 1.0,
    keep_columns: bool = False,
) -> Any:
    """Assemble a form.

    Args:
        form: Of UFL's, with functions of `pyop2cxx.fem`; or a `Form`.
        bcs: Boundary conditions. Of a matrix, rows and columns of given dofs are left out, and
            their diagonal entries set; of a vector, given dofs get their values. Lifting, which
            belongs to leaving columns out, is part of `assemble_system`.
        tensor: What to assemble into, from an earlier call with the same spaces; its values are
            replaced.
        dtype: Of scalars; None means that of the functions, float64 if there are none.
        diagonal: What stands on the diagonal of given dofs.
        keep_columns: Whether only rows are left out: then no lifting is needed, but the matrix is
            not symmetric.

    Returns:
        Of a form without arguments a number; of a linear form a `Function` with the vector; of a
        bilinear form a `Mat`.

    Raises:
        UsageError: This is no such form, or one of `bcs` is none.
        DatTypeError: The tensor is of another kind or space.
    """
    found = compiled(form, dtype)
    if found.rank == 0:
        return _number(found)
    if found.rank == 1:
        return _vector(found, bcs, tensor)
    return _matrix(found, bcs, tensor, diagonal, keep_columns)


def _number(form: Form) -> float | complex:
    with form.lock:
        value = form.number
        value.data = 0.0
        form.add_to(value)
        found: float | complex = value.data_ro[0].item()
    return found


def _vector(form: Form, bcs: Sequence[DirichletBC], tensor: Any) -> Function:
    space = form.spaces[0]
    if tensor is None:
        tensor = Function(space, form.dtype, "b")
    if not isinstance(tensor, Function) or tensor.space.dof_set is not space.dof_set:
        raise DatTypeError("assemble: a linear form is assembled to a Function of its space")
    held, values = given_values(space, bcs)
    tensor.dat.zero()
    form.add_to(tensor.dat)
    if held.any():
        tensor.dat.data.reshape(-1)[held] = values[held]
    return tensor


def _matrix(
    form: Form, bcs: Sequence[DirichletBC], tensor: Any, diagonal: float, keep_columns: bool
) -> Mat:
    if tensor is None:
        tensor = form.tensor()
    if not isinstance(tensor, Mat) or tensor.sparsity is not form.sparsity:
        raise DatTypeError("assemble: a bilinear form is assembled to a Mat of its Sparsity")
    rows, columns = (given_values(space, bcs)[0] for space in form.spaces)
    tensor.zero()
    lgmaps = None
    if rows.any() or columns.any():
        lgmaps = (form.mask(0, rows), None if keep_columns else form.mask(1, columns))
    form.add_to(tensor, lgmaps)
    if form.spaces[0].dof_set is form.spaces[1].dof_set:
        _set_diagonal(tensor, rows, diagonal)
    tensor.assemble()
    return tensor


def _set_diagonal(matrix: Mat, held: Array, value: float) -> None:
    by_component = held.reshape(-1, matrix.block_dims[0])
    for component, chosen in enumerate(by_component.T):
        if chosen.any():
            matrix.set_local_diagonal_entries(np.flatnonzero(chosen), value, component)


@ends_traceback
def assemble_system(
    a: Any, L: Any, bcs: Sequence[DirichletBC] = (), *, dtype: DTypeLike | None = None
) -> tuple[Mat, Function]:
    """Assemble a linear problem, with its boundary conditions lifted: a symmetric one stays so.

    Args:
        a: The bilinear form.
        L: The linear form.
        bcs: Boundary conditions.
        dtype: Of scalars, as of `assemble`.

    Returns:
        The matrix and the vector; the solution has the given values.

    Raises:
        UsageError: These are no such forms.
    """
    left = compiled(a, dtype)
    if left.rank != 2:
        raise UsageError(f"assemble_system: expected a bilinear form, got one of rank {left.rank}")
    return assembled_again(left, compiled(L, left.dtype), bcs)


def assembled_again(
    left: Form,
    right: Form,
    bcs: Sequence[DirichletBC],
    matrix: Mat | None = None,
    vector: Function | None = None,
) -> tuple[Mat, Function]:
    """Assemble a linear problem as `assemble_system` does, into an earlier one's tensors.

    Args:
        left: The bilinear form.
        right: The linear form.
        bcs: Boundary conditions.
        matrix: As of `assemble`.
        vector: As of `assemble`.
    """
    matrix = assemble(left, bcs, matrix)
    vector = assemble(right, (), vector)
    lift(vector, left, bcs)
    return matrix, vector


def _lifting(a: Form) -> tuple[Function, Form]:
    """Return a function, and what a bilinear form applied to it takes from a right-hand side."""
    given = Function(a.spaces[1], a.dtype, "given")
    return given, Form(-ufl.action(a.form, given), a.dtype)


def lift(vector: Function, a: Form, bcs: Sequence[DirichletBC]) -> None:
    """Subtract from a vector what given dofs add to the other rows, and set theirs.

    Args:
        vector: The right-hand side, of the space of rows.
        a: The bilinear form.
        bcs: Boundary conditions.
    """
    rows, columns = a.spaces
    held, values = given_values(columns, bcs)
    if held.any() and values.any():
        given, action = a.derived("lifting", lambda: _lifting(a))
        given.dat.data_wo.reshape(-1)[:] = values
        action.add_to(vector.dat)
    held, values = given_values(rows, bcs)
    if held.any():
        vector.dat.data.reshape(-1)[held] = values[held]
