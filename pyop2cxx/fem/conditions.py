# SPDX-License-Identifier: BSD-3-Clause
"""Dirichlet's boundary conditions: dofs whose values are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct, plain_array
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import DataValueError, IndexValueError, MapValueError, UsageError
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.interpolation import interpolate
from pyop2cxx.fem.spaces import FunctionSpace, Subspace, scalar_part
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.base.arrays import Array


@ends_tracebacks("__init__")
class DirichletBC:
    """Values that a function has on a part of the boundary.

    Args:
        space: The space, or ``space.sub(i)`` of a mixed one.
        value: A number or an array of one value for each component; a function of coordinates, of
            shape (gdim, n), that returns n values or (components, n) of them; a `Function` of the
            space; or an expression of UFL's.
        where: Which dofs: the name of a tag of ``mesh.exterior_facets``, or a list of names; a
            Subset of their Set; a mask of booleans, shape (dof_set.size,); a function of
            coordinates that returns n booleans, for dofs that are values at points; or None for
            the whole boundary.
        component: Of vectors the only one whose values are given; None means all.

    Attributes:
        space: The whole space.
        dofs: The numbers of the values that are given, ``dof * dim + component``, ascending.
        values: What they are.

    Raises:
        UsageError: The space is none, or `where` is nothing of this.
        MapValueError: The Subset is a part of another Set.
        IndexValueError: There is no such component or tag.
        DataValueError: The mask has another shape.
    """

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
        if component is not None and not 0 <= component < part.dim:
            raise IndexValueError(
                f"DirichletBC: there is no component {component}; dofs have {part.dim} of them"
            )
        components = np.arange(part.dim) if component is None else np.array([component])
        with waiting(f"DirichletBC: finding dofs among {part.dof_set.size}"):
            held = _held(part, where)
        self._part = part
        self._own = (held[:, None] * part.dim + components).reshape(-1)
        self._components = components
        self.space = space.whole
        self.dofs = space.start + self._own
        self.set(value)

    def __repr__(self) -> str:
        return f"<DirichletBC: {self.dofs.size} of {self.space.size} values of {self.space}>"

    def set(self, value: Any) -> None:
        """Change the values; the argument is that of `DirichletBC`."""
        function = value
        if not (isinstance(value, Function) and value.space.dof_set is self._part.dof_set):
            function = interpolate(self._spread(value), Function(self._part))
        self.values = np.array(function.values[self._own])

    def _spread(self, value: Any) -> Any:
        """Return a value of one component as one of all."""
        if len(self._components) == self._part.dim or not np.isscalar(value):
            return value
        return np.full(self._part.dim, value)


def _held(space: FunctionSpace, where: Any) -> Array:
    """Return the numbers of the dofs at a place, ascending."""
    facets = space.domain.facets("exterior_facet")
    if isinstance(where, list | tuple) and where and all(isinstance(one, str) for one in where):
        return distinct(np.concatenate([_held(space, one) for one in where]))
    if isinstance(where, str):
        tags = facets.tags or {}
        if where not in tags:
            known = ", ".join(map(repr, tags)) or "none"
            raise IndexValueError(f"DirichletBC: there is no tag {where!r}; there are: {known}")
        where = tags[where]
    if isinstance(where, Subset):
        if where.superset is not facets.set:
            raise MapValueError(
                f"DirichletBC: expected a Subset of '{facets.set.name}', got one of "
                f"'{where.superset.name}'"
            )
        return _on_facets(space, where.indices)
    if where is None:
        return _on_facets(space, np.arange(facets.set.size))
    given = where(space.dof_coordinates.T) if callable(where) else where
    mask = plain_array(given, "DirichletBC")
    if mask.dtype != bool or mask.shape != (space.dof_set.size,):
        raise DataValueError(
            f"DirichletBC: expected a mask of {space.dof_set.size} booleans, one for each dof, got "
            f"{mask.dtype} of shape {mask.shape}"
        )
    return np.flatnonzero(mask)


def _on_facets(space: FunctionSpace, chosen: Array) -> Array:
    """Return the dofs of facets and of their edges and vertices."""
    domain = space.domain
    facets = domain.facets("exterior_facet")
    cells = facets.cells.values[chosen, 0]
    numbers = np.asarray(facets.local_numbers.data_ro).reshape(-1)[chosen]
    if space.element.is_mixed:
        raise UsageError("DirichletBC: the space is mixed; take space.sub(i)")
    closures = scalar_part(space.element).entity_closure_dofs[domain.tdim - 1]
    dofs = space.cell_dofs.values
    found = [
        dofs[cells[numbers == number][:, None], closure].reshape(-1)
        for number, closure in enumerate(closures)
    ]
    return distinct(np.concatenate(found)).astype(np.int64)


def given_values(space: FunctionSpace, bcs: Iterable[DirichletBC]) -> tuple[Array, Array]:
    """Return which values of a space are given, and what they are.

    Args:
        space: The space.
        bcs: Conditions, also of other spaces; where two meet, the later one counts.

    Returns:
        Booleans and values, both of shape (space.size,).

    Raises:
        UsageError: One of these is no condition.
    """
    if isinstance(bcs, DirichletBC):
        raise UsageError("pyop2cxx.fem: bcs are a sequence of DirichletBC; write [bc] for one")
    held, values = np.zeros(space.size, bool), np.zeros(space.size)
    for bc in bcs:
        if not isinstance(bc, DirichletBC):
            raise UsageError(
                f"pyop2cxx.fem: bcs are a sequence of DirichletBC, got {type(bc).__name__} in it"
            )
        if bc.space.dof_set is space.dof_set:
            held[bc.dofs] = True
            values = values.astype(np.result_type(values, bc.values), copy=False)
            values[bc.dofs] = bc.values
    return held, values
