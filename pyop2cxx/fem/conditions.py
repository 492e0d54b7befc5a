# SPDX-License-Identifier: BSD-3-Clause
"""Dirichlet boundary conditions: dofs with given values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct, is_integer, plain_array
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import DataValueError, IndexValueError, MapValueError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.functions import Constant, Function, check_function
from pyop2cxx.fem.held import digest_of, held_of
from pyop2cxx.fem.interpolation import interpolated
from pyop2cxx.fem.spaces import FunctionSpace, Subspace, scalar_part
from pyop2cxx.fem.values import answer, number, shown
from pyop2cxx.mesh.topology import with_owners
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.sets import Set, Subset, numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array


@ends_tracebacks("__init__")
class DirichletBC(Shown):
    """Given values of a function on a part of the boundary.

    Args:
        space: The space, or ``space.sub(i)`` of a mixed one.
        value: A number, or an array with a value for each component; a function of coordinates, of
            shape (gdim, n), returning shape (n,) or (components, n); a `Function` of the space;
            or an expression of UFL's.
        where: The dofs: the name or number of a tag of facets, or a list of them, on the boundary
            and inside, or of vertices; a Subset of the Set of exterior, interior or all facets, or
            of the vertices; a mask of booleans, shape (dof_set.size,); numbers of dofs, a NumPy
            array of integers, shape (n,); a function of coordinates returning n booleans, for dofs
            that are values at points; or None for the whole boundary.
        component: Of vectors the only component with given values; None means all.

    Attributes:
        digest: Identifies the dofs.
        space: The whole space.
        dofs: Numbers of the given values, ``dof * dim + component``, ascending; int64, shape (n,).
        values: The given values, shape (n,).

    Raises:
        UsageError: `space` is no space, or `where` is of another kind.
        MapValueError: The Subset is a part of another Set.
        IndexValueError: The component or tag does not exist.
        DataValueError: The mask has another shape.
    """

    values: Array

    def __init__(
        self,
        space: FunctionSpace | Subspace,
        value: Any,
        where: Any = None,
        component: int | None = None,
    ) -> None:
        if isinstance(space, FunctionSpace):
            space = Subspace(space, space, 0)
        if not isinstance(space, Subspace):
            raise UsageError(
                f"DirichletBC: expected a FunctionSpace or space.sub(i), got {type(space).__name__}"
            )
        part = space.space
        if component is not None and not (is_integer(component) and 0 <= component < part.dim):
            raise IndexValueError(
                f"DirichletBC: there is no component {shown(component)}; dofs have {part.dim} of "
                "them, from 0 on"
            )
        components = np.arange(part.dim) if component is None else np.array([component])
        with waiting(f"DirichletBC: finding dofs among {part.dof_set.size}"):
            held = _held(part, where)
        self.uid = runtime.next_uid()
        self._place, self._part = space, part
        own = (held[:, None] * part.dim + components).reshape(-1)
        dofs = space.numbers_in_whole(own)
        self._own, self.dofs = own[dofs >= 0], dofs[dofs >= 0]
        self._components = components
        self.space = space.whole
        self.digest = digest_of(self.dofs)
        self.set(value)
        runtime.processes.note(self)

    def __repr__(self) -> str:
        return f"<DirichletBC: {self.dofs.size} of {self.space.size} values of {self.space}>"

    def on_sets(self) -> list[Set]:
        """Return the Sets of the dofs."""
        return [self._part.dof_set, self.space.dof_set]

    def prepare_to_share(self) -> None:
        """Nothing is missing before `op2.distribute`."""

    def become_shared(self) -> None:
        """Have the dofs of this rank, ghosts too."""
        entities, components = np.divmod(self._own, self._part.dim)
        entities = numbers_of(self._part.dof_set, entities)
        own = entities * self._part.dim + components
        dofs = np.where(entities < 0, -1, self._place.numbers_in_whole(np.maximum(own, 0)))
        there = np.flatnonzero(dofs >= 0)
        there = there[np.argsort(dofs[there])]
        self._own, self.dofs, self.values = own[there], dofs[there], self.values[there]
        self.digest = digest_of(self.dofs)

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows, for notebooks."""
        n_dofs = f"{self.dofs.size} of {self.space.size}"
        rows = [("space", str(self.space)), ("given values", n_dofs)]
        if self.values.size and not np.iscomplexobj(self.values):
            rows.append(("from, to", f"{self.values.min():.4g}, {self.values.max():.4g}"))
        return "DirichletBC", rows

    def set(self, value: Any) -> None:
        """Change the values; the argument is as of `DirichletBC`."""
        function = value
        if not (isinstance(value, Function) and value.space.dof_set is self._part.dof_set):
            target = Function(self._part, _dtype_of(value))
            function = interpolated(self._spread(value), target, "DirichletBC")
        found = np.array(np.asarray(function.dat.data_ro_with_halos).reshape(-1)[self._own])
        self.values = found if np.imag(found).any() else np.array(found.real)

    def apply(
        self, target: Function, x0: Function | None = None, scale: float | complex = 1.0
    ) -> None:
        """Give the dofs of a function, or of a right-hand side, ``scale * (values - x0)``.

        Without `x0` and `scale` the dofs get the values of the condition.

        Args:
            target: A function of the space; changed.
            x0: Subtracted from the values. For a residual the current solution, so that Newton's
                step ends at the values.
            scale: A factor.

        Raises:
            DatTypeError: `target` or `x0` is of another space.
            DataValueError: The values are complex, and the function is real.

        Example:
            >>> from pyop2cxx import fem
            >>> from pyop2cxx.mesh import interval_mesh
            >>> V = fem.FunctionSpace(interval_mesh(2), ("P", 1))
            >>> u = fem.interpolate(3.0, V)
            >>> fem.DirichletBC(V, 1.0, "left").apply(u)
            >>> u.values.tolist()
            [1.0, 3.0, 3.0]
        """
        check_function(target, self.space, "DirichletBC.apply")
        factor = number(scale, "DirichletBC.apply: scale")
        if x0 is not None:
            check_function(x0, self.space, "DirichletBC.apply: x0")
        held, own = held_of(self.space, [self])
        held.put(target, held.values_of(own), x0, factor)

    def _spread(self, value: Any) -> Any:
        """Return a value of a single component as a value of all components."""
        if len(self._components) == self._part.dim:
            return value
        component, n = self._components[0], self._part.dim

        def among_others(found: Any) -> Any:
            return [found if i == component else 0.0 for i in range(n)]

        if isinstance(value, ufl.core.expr.Expr):
            return value if value.ufl_shape else ufl.as_vector(among_others(value))
        if callable(value):
            return lambda x: _spread_answer(answer(value, x.T, "DirichletBC"), x, among_others)
        return value if np.ndim(value) else among_others(value)


def _dtype_of(value: Any) -> np.dtype[Any]:
    """Return the dtype for computing values; of an expression the dtype of the functions."""
    if not isinstance(value, ufl.core.expr.Expr):
        return np.dtype(complex)  # holds any result of a function of coordinates
    used = ufl.algorithms.extract_coefficients(value)
    dtypes = [one.dat.compute for one in used if isinstance(one, Function)]
    used = ufl.algorithms.analysis.extract_constants(value)
    dtypes += [one.data.dtype for one in used if isinstance(one, Constant)]
    return dtypes[0] if dtypes else np.dtype(float)


def _spread_answer(found: Any, points: Array, spread: Callable[[Any], Any]) -> Any:
    """Return the values of a function for a single component as values of all components."""
    is_of_one = not isinstance(found, list | tuple) and np.ndim(found) <= 1
    return spread(found) if is_of_one else found


def _held(space: FunctionSpace, where: Any) -> Array:
    """Return the numbers of the dofs at a place, ascending."""
    several = isinstance(where, list | tuple | set | frozenset) and where
    names = list(where) if several else [where]
    if all(isinstance(one, str) or is_integer(one) for one in names):
        found = np.concatenate([_of_tag(space, one) for one in names])
        return with_owners(space.dof_set, found)
    if isinstance(where, Subset):
        return with_owners(space.dof_set, _of_subset(space, where))
    if where is None:
        everywhere = np.arange(space.domain.facets("exterior_facet").set.exec_size)
        found = _on_facets(space, "exterior_facet", everywhere)
        return with_owners(space.dof_set, found)
    if callable(where):
        where = answer(where, space.dof_coordinates, "DirichletBC: where")
    mask = plain_array(where, "DirichletBC")
    n_dofs = space.dof_set.size
    if isinstance(where, np.ndarray) and mask.dtype.kind in "iu" and mask.ndim == 1:
        if mask.size and not 0 <= mask.min() <= mask.max() < n_dofs:
            raise IndexValueError(
                f"DirichletBC: dofs are 0 to {n_dofs - 1}, got {mask.min()} to {mask.max()}"
            )
        if not (mask.size == n_dofs > 2 and mask.max() <= 1):  # a mask of integers
            return with_owners(space.dof_set, mask).astype(np.int64)
    if mask.dtype == bool and mask.shape == ():
        mask = np.full(n_dofs, mask)
    if mask.dtype != bool or mask.shape != (n_dofs,):
        raise DataValueError(
            f"DirichletBC: expected a mask of {n_dofs} booleans, one for each dof, got "
            f"{mask.dtype} of shape {mask.shape}"
        )
    return with_owners(space.dof_set, np.flatnonzero(mask))


def _kinds(space: FunctionSpace) -> tuple[str, ...]:
    """Return the kinds of facets with tags; the outer facets alone if a mesh has no others."""
    inner = hasattr(space.mesh, "interior_facets")
    return ("exterior_facet", "interior_facet") if inner else ("exterior_facet",)


def _of_tag(space: FunctionSpace, tag: str | int) -> Array:
    """Return the dofs of a tag's facets, on the boundary and inside."""
    domain = space.domain
    parts = {kind: domain.tagged(kind, tag) for kind in _kinds(space)}
    found = [
        _on_facets(space, kind, one.indices[: one.exec_size])
        for kind, one in parts.items()
        if one is not None
    ]
    points = getattr(space.mesh, "vertex_tags", {})
    if not found and tag in points:
        return _on_vertices(space, points[tag].indices)
    if not found:
        known = " or inside ".join(map(domain.known, parts))
        raise IndexValueError(f"DirichletBC: there is no tag {tag!r}; there are: {known}")
    return distinct(np.concatenate(found))


def _of_subset(space: FunctionSpace, where: Subset) -> Array:
    """Return the dofs of a part of the facets: of all, of the outer, or of the inner ones."""
    domain, mesh = space.domain, space.mesh
    whole = where.superset
    if whole is mesh.vertices:
        return _on_vertices(space, where.indices)
    for kind in _kinds(space):
        if whole is domain.facets(kind).set:
            return _on_facets(space, kind, where.indices[: where.exec_size])
    if whole is not getattr(getattr(mesh, "facets", None), "set", None):
        raise MapValueError(
            "DirichletBC: expected a Subset of the Set of exterior, interior or all facets, or of "
            f"the vertices, of the mesh, got one of '{whole.name}'"
        )
    found = []
    for kind in _kinds(space):
        numbers = getattr(mesh, f"{kind}s").facets.computed_values[:, 0]
        found.append(_on_facets(space, kind, np.flatnonzero(np.isin(numbers, where.indices))))
    return distinct(np.concatenate(found))


def _on_vertices(space: FunctionSpace, vertices: Array) -> Array:
    """Return the dofs of vertices."""
    if space.element.is_mixed:
        raise UsageError("DirichletBC: the space is mixed; take space.sub(i)")
    closures = scalar_part(space.element).entity_closure_dofs[0]
    corners, dofs = space.domain.corners, space.cell_dofs.computed_values
    found = [
        dofs[np.isin(corners[:, i], vertices)][:, closure].reshape(-1)
        for i, closure in enumerate(closures)
    ]
    return distinct(np.concatenate(found)).astype(np.int64)


def _on_facets(space: FunctionSpace, kind: str, chosen: Array) -> Array:
    """Return the dofs of facets and of their edges and vertices."""
    domain = space.domain
    facets = domain.facets(kind)
    # the first of two cells suffices: both have the dofs on the facet
    cells = facets.cells.computed_values[chosen, 0]
    numbers = np.asarray(facets.local_numbers.data_ro_with_halos)
    numbers = numbers.reshape(-1, facets.cells.arity)[chosen, 0]
    if space.element.is_mixed:
        raise UsageError("DirichletBC: the space is mixed; take space.sub(i)")
    closures = scalar_part(space.element).entity_closure_dofs[domain.tdim - 1]
    dofs = space.cell_dofs.values_with_halo
    found = [
        dofs[cells[numbers == number][:, None], closure].reshape(-1)
        for number, closure in enumerate(closures)
    ]
    return distinct(np.concatenate(found)).astype(np.int64)
