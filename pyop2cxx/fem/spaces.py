# SPDX-License-Identifier: BSD-3-Clause
"""Function spaces: which numbers a function on a mesh is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct, is_integer
from pyop2cxx.base.waiting import waiting
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import IndexValueError, UnsupportedError, UsageError
from pyop2cxx.fem import cells as reference
from pyop2cxx.fem._packages import elements, ufl
from pyop2cxx.fem.domain import Domain, domain_of
from pyop2cxx.fem.recipes import as_recipe, of_recipe
from pyop2cxx.fem.values import shown
from pyop2cxx.runtime.memo import Memo
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import follow_tables
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.fem.domain import MeshLike


@dataclass(frozen=True)
class Numbering:
    """Dofs of an element on a mesh.

    Attributes:
        dofs: The Set of them; of a vector element each stands for a block of values.
        cell_dofs: Those of each cell, in the order of the element.
        signs: The sign with which each cell sees them, a Dat on the cells of as many values as the
            element has; None if all are positive.
    """

    dofs: Set
    cell_dofs: Map
    signs: Dat | None


@ends_tracebacks("__init__")
class FunctionSpace(ufl.FunctionSpace, Shown):
    """Functions on a mesh that are made of a finite element on each cell.

    Dofs are numbered by vertices, then edges, faces, and cells; those of P1 are numbered as the
    vertices. Of a vector element the components lie together, in a Dat of that dim. Of a mixed
    element the dofs of the first part come before those of the second, and all have dim 1.

    Args:
        mesh: A mesh; see `pyop2cxx.fem.domain.MeshLike`.
        element: An element of ``basix.ufl``; or ``(family, degree)`` or ``(family, degree,
            shape)``, such as ``("P", 2, (3,))`` or ``("P", 2, 3)``; or a list of these, for a mixed
            space.

    Attributes:
        mesh: As given; of an extruded mesh its `flat`.
        dof_set: The dofs; of a vector element each stands for a block of values.
        cell_dofs: The dofs of each cell, in the order of the element.
        dim: Values on each dof.

    Raises:
        UsageError: This is no mesh, or no element, or one for other cells.
        UnsupportedError: There are no such elements on such cells here.

    Example:
        >>> from pyop2cxx import fem, op2
        >>> from types import SimpleNamespace
        >>> cells, vertices = op2.Set(2, "cells"), op2.Set(4, "vertices")
        >>> corners = op2.Map(cells, vertices, 3, [[0, 1, 2], [1, 2, 3]])
        >>> x = op2.Dat(vertices**2, [[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
        >>> mesh = SimpleNamespace(cell_type="triangle", cells=cells, vertices=vertices,
        ...                        cell_vertices=corners, coordinates=x)
        >>> V = fem.FunctionSpace(mesh, ("P", 2))
        >>> V.dof_set.size, V.cell_dofs.values.tolist()
        (9, [[0, 1, 2, 6, 5, 4], [1, 2, 3, 8, 7, 6]])
    """

    def __init__(self, mesh: MeshLike, element: Any) -> None:
        self._domain = domain_of(mesh)
        found = _as_element(element, self._domain)
        super().__init__(self._domain.ufl, found)
        numbering = _numbering(self._domain, found)
        self.mesh = self._domain.mesh
        self.dof_set = numbering.dofs
        self.cell_dofs = numbering.cell_dofs
        self.signs = numbering.signs
        self._signs: dict[np.dtype[Any], Dat] = {}
        self._held = Memo(8)  # given dofs, by conditions
        self.dim = 1 if found.is_mixed else found.block_size

    def __reduce__(self) -> tuple[Any, ...]:
        numbering = Numbering(self.dof_set, self.cell_dofs, self.signs)
        return _made_again, (self.mesh, as_recipe(self.element), numbering)

    @property
    def element(self) -> Any:
        """The element, of ``basix.ufl``."""
        return self.ufl_element()

    @property
    def domain(self) -> Domain:
        """The mesh as forms see it."""
        return self._domain

    @property
    def size(self) -> int:
        """How many numbers a function is made of."""
        return self.dof_set.size * self.dim

    def signs_of(self, dtype: np.dtype[Any]) -> Dat:
        """Return the signs with which cells see dofs, in a precision."""
        assert self.signs is not None
        if self.signs.dtype == dtype:
            return self.signs
        if dtype not in self._signs:
            values = self.signs.data_ro.astype(dtype)
            self._signs[dtype] = Dat(self.signs.dataset, values, dtype, "signs")
        return self._signs[dtype]

    @cached_property
    def dof_coordinates(self) -> Array:
        """Where the dofs are, shape (dof_set.size, gdim); of elements whose dofs are point values.

        Raises:
            UnsupportedError: The dofs are none.
        """
        points = node_points(self.element)
        if points is None or self.element.is_mixed:
            raise UnsupportedError(
                f"FunctionSpace: the dofs of {element_name(self.element)} are no values at points"
            )
        places = np.zeros((self.dof_set.size, self._domain.gdim))
        places[self.cell_dofs.values] = self._domain.at(points)
        return places

    @cached_property
    def parts(self) -> tuple[FunctionSpace, ...]:
        """The spaces of the parts of a mixed element; empty if it is none."""
        if not self.element.is_mixed:
            return ()
        return tuple(FunctionSpace(self.mesh, part) for part in self.element.sub_elements)

    def sub(self, i: int) -> Subspace:
        """Return a part of a mixed space, for boundary conditions.

        Raises:
            IndexValueError: There is no such part.
        """
        if not 0 <= i < len(self.parts):
            raise IndexValueError(
                f"FunctionSpace: there is no part {i}; it has {len(self.parts)} of them"
            )
        start = sum(part.size for part in self.parts[:i])
        return Subspace(self, self.parts[i], start)

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        rows = [("element", str(self.element)), ("mesh", str(self.mesh))]
        rows += [("dofs", f"Set '{self.dof_set.name}', {self.dof_set.size} entities")]
        return "FunctionSpace", [*rows, ("values on each", str(self.dim))]

    def __str__(self) -> str:
        about = f"{self._domain.cell_type}, {self.dof_set.size} dofs of dim {self.dim}"
        return f"FunctionSpace({element_name(self.element)}, {about})"

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True)
class Subspace:
    """A part of a mixed space.

    Attributes:
        whole: The mixed space.
        space: The part as a space of its own.
        start: The first of its dofs in the mixed space; component ``c`` of dof ``n`` of the part is
            ``start + n * space.dim + c``.
    """

    whole: FunctionSpace
    space: FunctionSpace
    start: int


def _made_again(mesh: MeshLike, recipe: Any, numbering: Numbering) -> FunctionSpace:
    """Return a space that was pickled or copied, whose dofs keep their Set and their numbers."""
    element = of_recipe(recipe)
    domain_of(mesh).numberings[element] = numbering
    return FunctionSpace(mesh, element)


def node_points(element: Any) -> Array | None:
    """Return the points whose values are the dofs of an element's scalar part; None if none are."""
    part = scalar_part(element)
    if part.has_custom_quadrature:
        points: Array = part.custom_quadrature()[0]
        return points
    inner = getattr(part, "basix_element", None)
    if inner is None or not inner.interpolation_is_identity:
        return None
    return np.asarray(inner.points)


def scalar_part(element: Any) -> Any:
    """Return what a vector element repeats; of others the element itself."""
    return element.sub_elements[0] if element.block_size > 1 else element


def element_name(element: Any) -> str:
    """Return an element as it is written in ``FunctionSpace``, where it can be; short otherwise."""
    if element.is_mixed:
        return f"[{', '.join(map(element_name, element.sub_elements))}]"
    part = scalar_part(element)
    if part.has_custom_quadrature:
        family = "quadrature"
    else:
        family = "DG" if part.family_name == "P" and part.discontinuous else part.family_name
    shape = f", {element.reference_value_shape}" if element.block_size > 1 else ""
    return f"({family!r}, {part.degree}{shape})"


def _as_element(given: Any, domain: Domain) -> Any:
    if isinstance(given, list) and given:
        return elements.mixed_element([_as_element(one, domain) for one in given])
    if isinstance(given, tuple) and 2 <= len(given) <= 3:
        family, degree, *shape = given
        shape = [(one,) if is_integer(one) else one for one in shape]
        try:
            given = elements.element(
                family, domain.cell_type, degree, **({"shape": shape[0]} if shape else {})
            )
        except (RuntimeError, ValueError, TypeError) as error:
            raise UsageError(f"FunctionSpace: Basix has no element {given!r}: {error}") from None
    if not isinstance(given, elements._ElementBase):
        raise UsageError(
            "FunctionSpace: expected an element of basix.ufl, or (family, degree), or (family, "
            f"degree, shape), or a list of these, got {shown(given)}"
        )
    if given.cell.cellname != domain.cell_type:
        raise UsageError(
            f"FunctionSpace: the element is for a {given.cell.cellname}, but the mesh has cells of "
            f"type {domain.cell_type}"
        )
    if given.is_real:
        raise UnsupportedError("FunctionSpace: there are no elements 'Real'; take a Constant")
    return given


def _numbering(domain: Domain, element: Any) -> Numbering:
    """Return the numbering of an element on a mesh, made once."""
    if element not in domain.numberings:
        make = _mixed_numbering if element.is_mixed else _plain_numbering
        with waiting(f"FunctionSpace: numbering dofs of {domain.mesh.cells.size} cells"):
            domain.numberings[element] = make(domain, element)
    found: Numbering = domain.numberings[element]
    return found


def _plain_numbering(domain: Domain, element: Any) -> Numbering:
    scalar = scalar_part(element)
    n_cells = domain.mesh.cells.size
    dofs = np.empty((n_cells, scalar.dim), np.int64)
    signs = np.ones((n_cells, scalar.dim))
    start = 0
    for dim, of_entities in enumerate(scalar.entity_dofs):
        n_each = len(of_entities[0])
        if n_each:
            numbers, n = domain.entities(dim)
            for entity, local in enumerate(of_entities):
                base = start + numbers[:, entity, None] * n_each + np.arange(n_each)
                _place(domain, scalar, dim, entity, (local, base), dofs, signs)
            start += n * n_each
    family = "quadrature" if scalar.has_custom_quadrature else scalar.family_name
    name = f"{family}{scalar.degree}_dofs"
    dof_set = Set(start, name)
    map_ = Map(domain.mesh.cells, dof_set, scalar.dim, dofs, f"cell_{name}")
    counts = [len(of_entities[0]) for of_entities in scalar.entity_dofs]
    whole = {0: domain.mesh.vertices, domain.tdim: domain.mesh.cells}
    like = next((on for dim, on in whole.items() if sum(counts) == counts[dim] == 1), None)
    follow_tables(dof_set, (domain.mesh.cell_vertices, map_), like)
    signs = np.repeat(signs, element.block_size, axis=1)
    return Numbering(dof_set, map_, _as_signs(domain, signs, name))


def _place(
    domain: Domain,
    scalar: Any,
    dim: int,
    entity: int,
    numbers: tuple[list[int], Array],
    dofs: Array,
    signs: Array,
) -> None:
    """Give the dofs of one edge, face, ... of each cell their numbers, turned as it is."""
    local, base = numbers
    if not 0 < dim < domain.tdim or domain.cell_type in reference.SIMPLICES:
        dofs[:, local] = base
        return
    states = domain.states(dim, entity)
    for state in distinct(states):
        chosen = np.flatnonzero(states == state)
        places, sign = reference.turned(
            scalar.basix_element, domain.cell_type, dim, entity, int(state)
        )
        dofs[chosen[:, None], places] = base[chosen]
        signs[chosen[:, None], places] = sign


def _as_signs(domain: Domain, signs: Array, name: str) -> Dat | None:
    if (signs > 0).all():
        return None
    return Dat(domain.mesh.cells ** signs.shape[1], signs, name=f"signs_of_{name}")


def _mixed_numbering(domain: Domain, element: Any) -> Numbering:
    columns, signs, start = [], [], 0
    for part in element.sub_elements:
        found, dim = _numbering(domain, part), 1 if part.is_mixed else part.block_size
        blocks = found.cell_dofs.values[:, :, None].astype(np.int64) * dim + np.arange(dim)
        columns.append(start + blocks.reshape(len(blocks), -1))
        one = np.ones(columns[-1].shape) if found.signs is None else found.signs.data_ro
        signs.append(one.reshape(len(blocks), -1))
        start += found.dofs.size * dim
    dofs = np.concatenate(columns, axis=1)
    dof_set = Set(start, "mixed_dofs")
    map_ = Map(domain.mesh.cells, dof_set, dofs.shape[1], dofs, "cell_mixed_dofs")
    follow_tables(dof_set, (domain.mesh.cell_vertices, map_))
    return Numbering(dof_set, map_, _as_signs(domain, np.concatenate(signs, axis=1), "mixed_dofs"))
