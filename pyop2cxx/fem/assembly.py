# SPDX-License-Identifier: BSD-3-Clause
"""Assembly of forms into numbers, vectors and matrices, by parallel loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.waiting import waiting
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DatTypeError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.functions import Function, check_function
from pyop2cxx.fem.held import Held, checked, held_of
from pyop2cxx.fem.loops import Form, compile_first
from pyop2cxx.fem.values import number
from pyop2cxx.runtime.tracebacks import ends_traceback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pyop2cxx.fem.conditions import DirichletBC


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
            their diagonal entries set; of a vector, given dofs get their values. Lifting, needed
            when columns are left out, is part of `assemble_system`.
        tensor: The result of an earlier call with the same spaces; the values are replaced.
        dtype: Of scalars; None means the dtype of the functions, float64 if there are none.
        diagonal: The diagonal entry of given dofs.
        keep_columns: True leaves out rows only: then no lifting is needed, but the matrix is
            not symmetric.

    Returns:
        Of a form without arguments a number; of a linear form a `Function` with the vector; of a
        bilinear form a `Mat`.

    Raises:
        UsageError: The form cannot be assembled, or an element of `bcs` is no condition.
        DatTypeError: The tensor is of another kind or space.
    """
    found = compiled(form, dtype)
    if found.rank == 0:
        if tensor is not None:
            raise DatTypeError("assemble: a form without arguments is a number, it has no tensor")
        return _number(found)
    if found.rank == 1:
        vector = _checked_vector(found, tensor, "assemble")
        compile_first((found, vector.dat))
        return _put_vector(found, bcs, vector)
    matrix = _checked_matrix(found, tensor, "assemble")
    rows = held_of(found.spaces[0], bcs)[0]
    columns = None if keep_columns else held_of(found.spaces[1], bcs)[0]
    compile_first((found, matrix))
    matrix.zero()
    found.add_to(matrix)
    return _finish_matrix(found, matrix, rows, columns, diagonal)


def _number(form: Form) -> float | complex:
    with form.lock:
        value = form.number
        value.data = 0.0
        compile_first((form, value))
        form.add_to(value)
        found: float | complex = value.data_ro[0].item()
    return found


def _checked_vector(form: Form, tensor: Any, who: str) -> Function:
    """Return a tensor that a linear form can be assembled to, or a new one."""
    space = form.spaces[0]
    if tensor is None:
        return Function(space, form.dtype, "b")
    check_function(tensor, space, f"{who}: a linear form is assembled to a Function of its space")
    _check_dtype(form, tensor.dat, who)
    if any(one.dat is tensor.dat for one in form.coefficients):
        raise UsageError(
            f"{who}: Function '{tensor.name}' is in the form, so that it cannot be assembled to; "
            "its values would be lost first"
        )
    found: Function = tensor
    return found


def _checked_matrix(form: Form, tensor: Any, who: str) -> Mat:
    """Return a tensor that a bilinear form can be assembled to, or a new one."""
    if tensor is None:
        return Mat(form.sparsity, form.dtype, "A")
    if not isinstance(tensor, Mat) or tensor.sparsity is not form.sparsity:
        raise DatTypeError(
            f"{who}: a bilinear form is assembled to a Mat of its Sparsity, from form.tensor() or "
            f"an earlier call with the same form; got {type(tensor).__name__}"
        )
    _check_dtype(form, tensor, who)
    return tensor


def _check_dtype(form: Form, tensor: Any, who: str) -> None:
    if tensor.compute != form.dtype:
        raise DatTypeError(
            f"{who}: the form has dtype {form.dtype}, but '{tensor.name}' has {tensor.compute}"
        )


def _put_vector(form: Form, bcs: Sequence[DirichletBC], vector: Function) -> Function:
    held, own = held_of(form.spaces[0], bcs)
    values = held.values_of(own)
    vector.check_holds(values)
    vector.dat.zero()
    form.add_to(vector.dat)
    held.put(vector, values)
    return vector


def _finish_matrix(
    form: Form, matrix: Mat, rows: Held, columns: Held | None, diagonal: float = 1.0
) -> Mat:
    """Clear given rows and columns of an assembled matrix, and set the diagonal."""
    is_square = form.spaces[0].dof_set is form.spaces[1].dof_set
    rows.clear(matrix, columns, diagonal if is_square else None)
    matrix.assemble()
    return matrix


@ends_traceback
def assemble_system(
    a: Any,
    L: Any,
    bcs: Sequence[DirichletBC] = (),
    *,
    dtype: DTypeLike | None = None,
    tensors: tuple[Mat | None, Function | None] = (None, None),
) -> tuple[Mat, Function]:
    """Assemble a linear problem with lifted boundary conditions; symmetry is kept.

    Args:
        a: The bilinear form.
        L: The linear form; or 0.
        bcs: Boundary conditions.
        dtype: Of scalars, as of `assemble`.
        tensors: The matrix and the vector to assemble into, from an earlier call with the same
            forms; their values are replaced. None stands for a new tensor.

    Returns:
        The matrix and the vector; the solution has the given values.

    Raises:
        UsageError: The forms are not a bilinear and a linear form.
        DatTypeError: A tensor is of another kind, space or dtype.
    """
    left = compiled(a, dtype)
    if left.rank != 2:
        raise UsageError(f"assemble_system: expected a bilinear form, got one of rank {left.rank}")
    if not isinstance(tensors, tuple | list) or len(tensors) != 2:
        raise UsageError(
            "assemble_system: tensors are a matrix and a vector, (A, b), got "
            f"{type(tensors).__name__}"
        )
    return assembled_again(left, right_side(L, left, "assemble_system"), bcs, *tensors)


def right_side(L: Any, left: Form, who: str) -> Form:
    """Return the linear form of a problem, compiled; a form without integrals for 0.

    Args:
        L: A form; 0, or UFL's zero for forms that vanish.
        left: The bilinear form.
        who: The caller, for messages.

    Raises:
        UsageError: The form is not linear, or not of the rows' space.
    """
    if is_zero(L):
        zero: Form = left.derived("zero", lambda: _zero(left))
        return zero
    found = compiled(L, left.dtype)
    if found.rank != 1:
        raise UsageError(
            f"{who}: expected a linear form on the right, got one of rank {found.rank}"
        )
    if found.spaces[0].dof_set is not left.spaces[0].dof_set:
        raise UsageError(
            f"{who}: the test functions of both sides are of one space; these are of "
            f"{left.spaces[0]} and {found.spaces[0]}"
        )
    return found


def is_zero(L: Any) -> bool:
    """Say whether a right-hand side is empty: the number 0, or UFL's zero."""
    if isinstance(L, int | float | complex | np.number):
        return bool(L == 0)
    parts = [one.integrand() for one in L.integrals()] if isinstance(L, ufl.Form) else [L]
    return all(isinstance(one, ufl.ZeroBaseForm | ufl.constantvalue.Zero) for one in parts)


def _zero(left: Form) -> Form:
    return Form(ufl.ZeroBaseForm((ufl.TestFunction(left.spaces[0]),)), left.dtype)


def applied(a: Form, function: Function, factor: int = 1) -> Form:
    """Return a bilinear form whose trial function is a function, times a factor.

    Args:
        a: The bilinear form.
        function: Of the space of the columns.
        factor: 1 or -1.
    """
    if not a.integrals:  # UFL has no action of an empty form
        return _zero(a)
    return Form(factor * ufl.action(a.form, function), a.dtype)


def assembled_again(
    left: Form,
    right: Form,
    bcs: Sequence[DirichletBC],
    matrix: Mat | None = None,
    vector: Function | None = None,
) -> tuple[Mat, Function]:
    """Assemble a linear problem as `assemble_system` does, into earlier tensors.

    Args:
        left: The bilinear form.
        right: The linear form.
        bcs: Boundary conditions.
        matrix: As of `assemble`.
        vector: As of `assemble`.
    """
    matrix = _checked_matrix(left, matrix, "assemble_system")
    vector = _checked_vector(right, vector, "assemble_system")
    rows, own = held_of(left.spaces[0], bcs)
    columns, others = held_of(left.spaces[1], bcs)
    values, lifted = rows.values_of(own), columns.values_of(others)
    vector.check_holds(values)
    vector.check_holds(lifted)
    compile_first((left, matrix), (right, vector.dat))
    matrix.zero()
    left.add_to(matrix)
    vector.dat.zero()
    right.add_to(vector.dat)
    columns.lift(matrix, lifted, vector.dat)
    _finish_matrix(left, matrix, rows, columns)
    rows.put(vector, values)
    return matrix, vector


def _lifting(a: Form) -> tuple[Function, Form]:
    """Return a function for given values, and the action of a bilinear form on the function."""

    def made() -> tuple[Function, Form]:
        given = Function(a.spaces[1], a.dtype, "given")
        return given, applied(a, given, -1)

    found: tuple[Function, Form] = a.derived("lifting", made)
    return found


@ends_traceback
def lift(
    b: Function,
    a: Any,
    bcs: Sequence[DirichletBC],
    x0: Function | None = None,
    scale: float | complex = 1.0,
) -> None:
    """Subtract the columns of given values from a right-hand side: ``b -= scale * A (g - x0)``.

    For a matrix without the given columns, as of ``assemble(a, bcs)``. Rows of given dofs get
    their values by `DirichletBC.apply` afterwards.

    Args:
        b: The right-hand side, of the space of test functions; changed.
        a: The bilinear form.
        bcs: Boundary conditions of the trial functions.
        x0: Subtracted from given values, such as the last step of Newton's method; None means 0.
        scale: A factor.

    Raises:
        UsageError: The form is not bilinear, or an element of `bcs` is no condition.
        DatTypeError: b or x0 is of another kind, space or dtype.

    Example:
        >>> import ufl
        >>> from pyop2cxx import fem
        >>> from pyop2cxx.mesh import interval_mesh
        >>> V = fem.FunctionSpace(interval_mesh(2), ("P", 1))
        >>> u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        >>> a, bcs = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, [fem.DirichletBC(V, 1.0, "left")]
        >>> b = fem.Function(V)
        >>> fem.lift(b, a, bcs)
        >>> for bc in bcs:
        ...     bc.apply(b)
        >>> b.values.tolist()
        [1.0, 2.0, 0.0]
    """
    form = compiled(a, b.dat.compute if isinstance(b, Function) else None)
    if form.rank != 2:
        raise UsageError(f"lift: expected a bilinear form, got one of rank {form.rank}")
    _lift(_checked_vector(form, b, "lift"), form, bcs, x0, scale)


def _lift(
    vector: Function,
    a: Form,
    bcs: Sequence[DirichletBC],
    x0: Function | None = None,
    scale: float | complex = 1.0,
) -> None:
    held, own = held_of(a.spaces[1], bcs)
    values = held.values_of(own)
    factor = number(scale, "lift: scale")
    if x0 is not None:
        check_function(x0, a.spaces[1], "lift: x0")
    is_zero = x0 is None and not values.any() and not vector.dat.dataset.set.is_distributed
    if not held or factor == 0 or is_zero:
        return
    given, action = _lifting(a)
    given.dat.zero()
    held.put(given, values, x0, factor)
    action.add_to(vector.dat)


@ends_traceback
def compile_together(
    *forms: Any, bcs: Sequence[DirichletBC] = (), dtype: DTypeLike | None = None
) -> list[Form]:
    """Compile forms and their loops at the same time, before a time loop for instance.

    Args:
        *forms: Forms of UFL, or objects of `Form`.
        bcs: Boundary conditions that matrices will be assembled with.
        dtype: As of `Form`.

    Returns:
        The forms with their kernels, as `assemble` takes them later.

    Raises:
        UsageError: As of `Form`.
        DataTypeError: As of `Form`.
    """
    found = []
    with waiting(f"compiling form 1 of {len(forms)}") as say:
        for n, form in enumerate(forms, 1):
            say(f"compiling form {n} of {len(forms)}")
            found.append(compiled(form, dtype))
    checked(bcs)
    compile_first(*((form, form.tensor()) for form in found))
    return found
