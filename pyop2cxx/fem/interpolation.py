# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation: functions with the degrees of freedom of a given function."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.waiting import waiting
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DataValueError, UnsupportedError, UsageError
from pyop2cxx.fem._packages import basix, elements, ufl
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.loops import Form
from pyop2cxx.fem.spaces import FunctionSpace, element_name, node_points, scalar_part
from pyop2cxx.fem.stand_ins import form_of
from pyop2cxx.fem.values import called, constants, shown
from pyop2cxx.runtime.tracebacks import ends_traceback

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array


@ends_traceback
def interpolate(given: Any, target: Function | FunctionSpace) -> Function:
    """Interpolate into a space.

    Args:
        given: A number, or an array with a value for each component; a function of coordinates,
            of shape (gdim, n), returning (components, n) values, n of a scalar, or constants,
            or a sequence of components; an expression of UFL's, of functions on the same mesh,
            evaluated by a loop over the cells; or for a mixed space a sequence with a value for
            each part.
        target: The function to set; or a space, for a new one.

    Returns:
        The function. Where two cells give a dof different values, the later cell counts.

    Raises:
        DataValueError: The number of values or components is wrong, or values are no numbers, or
            complex for a real function.
        UsageError: `given` cannot be interpolated, or `target` is of another kind.
        UnsupportedError: The dofs of the element are moments of derivatives.
    """
    function = Function(target) if isinstance(target, FunctionSpace) else target
    if not isinstance(function, Function):
        raise UsageError(
            f"interpolate: expected a Function or a FunctionSpace, got {type(target).__name__}"
        )
    return interpolated(given, function, "interpolate")


def interpolated(given: Any, function: Function, what: str) -> Function:
    """Interpolate as `interpolate` does, with the beginning of messages as an argument.

    Args:
        given: As of `interpolate`.
        function: The function to set.
        what: Begins messages.
    """
    with waiting(f"interpolate: {function.space.size} values"):
        _interpolate(given, function, what)
    return function


def _interpolate(given: Any, function: Function, what: str) -> None:
    space, dtype = function.space, function.dat.compute
    if isinstance(given, ufl.constantvalue.Zero):  # UFL gives zeros no mesh
        given = np.zeros(given.ufl_shape)
    if space.parts:
        if not isinstance(given, list | tuple) or len(given) != len(space.parts):
            raise UsageError(
                f"{what}: expected a sequence for the {len(space.parts)} parts of the space, got "
                f"{shown(given)}"
            )
        pairs = zip(given, space.parts, strict=True)
        function.join([interpolated(one, Function(part, dtype), what) for one, part in pairs])
    elif isinstance(given, ufl.core.expr.Expr) and not isinstance(given, int | float | complex):
        with space.domain.lock:  # held while the values at points are in use
            _set(function, _evaluated(given, function, what))
    elif callable(given):
        _set_by_call(function, given, what)
    else:
        if isinstance(given, list | tuple) and any(_is_no_number(one) for one in given):
            raise UsageError(
                f"{what}: a sequence has numbers only; write ufl.as_vector([...]) of expressions, "
                "and of functions of coordinates one that returns all components"
            )
        values = constants(given, space.value_shape, dtype, what)
        _set_by_call(function, lambda x: values[:, None], what)


def _is_no_number(one: Any) -> bool:
    return callable(one) or isinstance(one, ufl.core.expr.Expr)


def on_mesh(u: Function) -> Dat:
    """Return the values of a function at the vertices of the mesh, for pictures and files.

    Args:
        u: The function, of a space that is not mixed.

    Returns:
        A Dat on ``mesh.vertices``, of a curved mesh on ``mesh.nodes``, or on ``mesh.cells`` if the
        function is constant in each cell; with the function's name and with separate memory.
        Where a function jumps, the value of the later cell counts.

    Raises:
        UsageError: No function, or of a mixed space.

    Example:
        ``plot_values(mesh, u)`` and ``write_vtu("u.vtu", mesh, u)`` show these values.
    """
    if not isinstance(u, Function):
        raise UsageError(f"on_mesh: expected a Function, got {type(u).__name__}")
    space, mesh = u.space, u.space.mesh
    if space.parts:
        raise UsageError(f"on_mesh: Function '{u.name}' is of a mixed space; take one of u.split()")
    constant = space.element.embedded_superdegree == 0
    degree = space.domain.degree
    element = ("DG", 0, u.ufl_shape) if constant else ("P", degree, u.ufl_shape)
    target = Function(FunctionSpace(mesh, element), u.dat.compute)
    found = u if space.element == target.space.element else interpolate(u, target)
    dofs, dim = target.space.cell_dofs, target.space.dim
    n = mesh.cells.exec_size  # of a shared mesh each owned vertex lies in one of these cells
    if constant:
        on, places = mesh.cells, np.arange(n)[:, None]
    else:
        corners = space.domain.cell_vertices if degree == 1 else space.domain.cell_nodes
        on, places = corners.toset, corners.computed_values
    values = np.zeros((on.total_size, dim), u.dat.dtype)
    by_dof = found.dat.data_ro_with_halos.reshape(-1, dim)
    values[places] = by_dof[dofs.computed_values]
    made = Dat(on**dim, values, u.dat.dtype, u.name)
    made.halo_valid = not on.is_distributed
    return made


def _set_by_call(function: Function, given: Callable[[Array], Any], what: str) -> None:
    space = function.space
    about = (space.value_shape, function.dat.dtype, what)
    if node_points(space.element) is not None:
        values = _independent(space, called(given, space.dof_coordinates, *about))
        function.set_values(values)
        return
    where = space.domain.at(_points(space))
    values = called(given, where.reshape(-1, where.shape[-1]), *about)
    _set(function, values.reshape(*where.shape[:2], values.shape[-1]))


def _independent(space: FunctionSpace, values: Array) -> Array:
    """Return the components with dofs: of a symmetric tensor not all.

    Args:
        space: The space.
        values: Shape (..., components).
    """
    mapping = getattr(space.element.pullback, "_symmetry", None)
    if mapping is None:
        return values
    places = {k: np.ravel_multi_index(place, space.value_shape) for place, k in mapping.items()}
    return values[..., [places[k] for k in sorted(places)]]


def _points(space: FunctionSpace) -> Array:
    """Return the interpolation points of an element in the reference cell."""
    found = node_points(space.element)
    if found is not None:
        return found
    inner = scalar_part(space.element).basix_element
    if inner.interpolation_nderivs:
        name = element_name(space.element)
        raise UnsupportedError(f"interpolate: dofs of {name} are moments of derivatives")
    return np.asarray(inner.points)


def _set(function: Function, values: Array) -> None:
    """Set a function by values at the interpolation points of each cell.

    Args:
        function: The function.
        values: Shape (n_cells, n_points, components).
    """
    space = function.space
    values = _independent(space, values)
    if node_points(space.element) is None:
        values = _moments(space, values)
    dofs = space.cell_dofs.computed_values
    n_cells, n = dofs.shape
    if space.signs is not None:
        signs = np.asarray(space.signs.data_ro_with_halos)[:n_cells]
        values = values * signs.reshape(n_cells, n, space.dim)
    found = np.array(function.dat.data_ro_with_halos).reshape(-1, space.dim)
    found[dofs] = values.reshape(n_cells, n, space.dim).astype(function.dat.dtype)
    function.set_values(found[: space.dof_set.size])


def _moments(space: FunctionSpace, values: Array) -> Array:
    """Return the dofs of each cell, shape (n_cells, dofs, dim), of values at points."""
    inner = scalar_part(space.element).basix_element
    if inner.map_type != basix.MapType.identity:
        values = _pulled_back(space, inner, values)
    matrix = np.asarray(inner.interpolation_matrix)
    n_cells, n_points, _ = values.shape
    # Basix orders values by component, then by point
    shape = (n_points, space.dim, matrix.shape[1] // n_points)
    by_block = values.reshape(n_cells, *shape).transpose(0, 2, 3, 1)
    found: Array = by_block.reshape(n_cells, space.dim, matrix.shape[1]) @ matrix.T
    return np.moveaxis(found, 1, 2)


def _pulled_back(space: FunctionSpace, inner: Any, values: Array) -> Array:
    jacobian = space.domain.jacobians(_points(space))
    if jacobian.shape[-1] != jacobian.shape[-2]:
        raise UnsupportedError("interpolate: Piola's maps are known for flat meshes only")
    if inner.map_type == basix.MapType.covariantPiola:
        found: Array = np.einsum("cqdt,cqd->cqt", jacobian, values)
        return found
    if inner.map_type == basix.MapType.contravariantPiola:
        found = np.einsum("cqtd,cqd->cqt", np.linalg.inv(jacobian), values)
        return np.asarray(found * np.linalg.det(jacobian)[..., None])
    raise UnsupportedError(f"interpolate: there is no pull-back {inner.map_type.name} here")


def _evaluated(expression: Any, function: Function, what: str) -> Array:
    """Return an expression's values at the points of each cell, by a loop over the cells.

    The vector of a linear form has the values at points, if each test function is 1 at a single
    point, and the quadrature has the same points with weights 1.
    """
    space, dtype = function.space, function.dat.compute
    if ufl.algorithms.extract_arguments(expression):
        raise UsageError(
            f"{what}: the expression has test or trial functions, which have no values; take a "
            "fem.Function"
        )
    shape = expression.ufl_shape
    if tuple(shape) != tuple(space.value_shape):
        raise DataValueError(
            f"{what}: expected an expression of shape {space.value_shape}, got {shape}"
        )
    domain, points = space.domain, _points(space)
    about = ("evaluate", space.element, dtype)
    form = form_of(expression, domain, about, partial(_evaluation, space, dtype))
    test = form.spaces[0]
    about = ("values", test.element, dtype)
    values = domain.derived.made(about, lambda: Function(test, dtype, "values"))
    values.dat.zero()
    form.add_to(values.dat)
    rows = np.asarray(values.dat.data_ro_with_halos).reshape(-1, test.dim)
    dofs = test.cell_dofs.computed_values
    return rows[dofs].reshape(len(dofs), len(points), dofs.shape[1] * test.dim // len(points))


def _evaluation(space: FunctionSpace, dtype: np.dtype[Any], expression: Any) -> Form:
    """Return a linear form; the vector has an expression's values at the points of each cell."""
    points = _points(space)
    weights = np.ones(len(points))
    at_points = elements.quadrature_element(
        space.domain.cell_type, expression.ufl_shape, points=points, weights=weights
    )
    test = ufl.TestFunction(FunctionSpace(space.mesh, at_points))
    rule = {
        "quadrature_rule": "custom",
        "quadrature_points": points,
        "quadrature_weights": weights,
    }
    measure = ufl.Measure("dx", domain=space.domain.ufl, metadata=rule)
    scale = abs(ufl.JacobianDeterminant(space.domain.ufl))
    return Form(ufl.inner(expression / scale, test) * measure, dtype, "evaluate")
