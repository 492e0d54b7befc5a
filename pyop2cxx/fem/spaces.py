# SPDX-License-Identifier: BSD-3-Clause
"""Function spaces and the numbering of their dofs."""

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
from pyop2cxx.sets.maps import Map, map_here
from pyop2cxx.sets.origins import follow_tables
from pyop2cxx.sets.sets import Set, joined, numbers_of

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.fem.domain import MeshLike


@dataclass(frozen=True)
class Numbering:
    """Dofs of an element on a mesh.

    Attributes:
        dofs: The Set of them; of a vector element each stands for a block of values.
        cell_dofs: Dofs of each cell, in the order of the element.
        signs: Signs of the dofs in each cell, a Dat on the cells with a value for each dof; None
            if all are positive.
        is_apart: Whether all dofs are inside of cells.
    """

    dofs: Set
    cell_dofs: Map
    signs: Dat | None
    is_apart: bool = False


@ends_tracebacks("__init__")
class FunctionSpace(ufl.FunctionSpace, Shown):
    """Space of functions on a mesh, of a finite element on each cell.

    Dofs are numbered by vertices, then edges, faces, and cells; dofs of P1 are numbered as the
    vertices. Of a vector element the components lie together, in a Dat of as many values. Of a
    mixed element the dofs of the first part precede the dofs of the second, and all have dim 1.

    Args:
        mesh: A mesh; see `pyop2cxx.fem.domain.MeshLike`.
        element: An element of ``basix.ufl``; or ``(family, degree)`` or ``(family, degree,
            shape)``, such as ``("P", 2, (3,))`` or ``("P", 2, 3)``; or a list of elements, for a
            mixed space.

    Attributes:
        mesh: As given; of an extruded mesh the `flat`.
        dof_set: The dofs; of a vector element each stands for a block of values.
        cell_dofs: The dofs of each cell, in the order of the element.
        is_apart: Whether all dofs are inside of cells, as of DG.
        dim: Values on each dof.

    Raises:
        UsageError: No mesh, or no element, or an element for other cells.
        UnsupportedError: The element is not available on the cells of the mesh.

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
        self.is_apart = numbering.is_apart
        self._signs: dict[np.dtype[Any], Dat] = {}
        self._places: tuple[bool, Array] | None = None
        self.held = Memo(8)  # given dofs, by conditions
        self.dim = 1 if found.is_mixed else found.block_size

    def __reduce__(self) -> tuple[Any, ...]:
        numbering = Numbering(self.dof_set, self.cell_dofs, self.signs, self.is_apart)
        return _made_again, (self.mesh, as_recipe(self.element), numbering)

    @property
    def element(self) -> Any:
        """The element, of ``basix.ufl``."""
        return self.ufl_element()

    @property
    def domain(self) -> Domain:
        """The mesh with data for forms."""
        return self._domain

    @property
    def size(self) -> int:
        """Number of values of a function: dofs times `dim`."""
        return self.dof_set.size * self.dim

    def signs_of(self, dtype: np.dtype[Any]) -> Dat:
        """Return the signs of dofs in cells, in a precision."""
        assert self.signs is not None
        if self.signs.dtype == dtype:
            return self.signs
        if dtype not in self._signs:
            values = self.signs.data_ro_with_halos.astype(dtype)
            self._signs[dtype] = Dat(self.signs.dataset, values, dtype, "signs")
        return self._signs[dtype]

    @property
    def n_held(self) -> int:
        """Number of values with ghosts."""
        return self.dof_set.total_size * self.dim

    @property
    def dof_coordinates(self) -> Array:
        """Coordinates of the dofs, shape (dof_set.size, gdim); for dofs that are values at points.

        Raises:
            UnsupportedError: The dofs are not values at points.
        """
        is_shared = self._domain.is_shared
        if self._places is not None and self._places[0] == is_shared:
            return self._places[1]
        points = node_points(self.element)
        if points is None or self.element.is_mixed:
            raise UnsupportedError(
                f"FunctionSpace: the dofs of {element_name(self.element)} are no values at points"
            )
        places = np.zeros((self.dof_set.total_size, self._domain.gdim))
        places[self.cell_dofs.computed_values] = self._domain.at(points)
        self._places = (is_shared, places[: self.dof_set.size])
        return self._places[1]

    @cached_property
    def parts(self) -> tuple[FunctionSpace, ...]:
        """The spaces of the parts of a mixed element; empty for other elements."""
        if not self.element.is_mixed:
            return ()
        return tuple(FunctionSpace(self.mesh, part) for part in self.element.sub_elements)

    def sub(self, i: int) -> Subspace:
        """Return a part of a mixed space, for boundary conditions.

        Raises:
            IndexValueError: The part does not exist.
        """
        if not 0 <= i < len(self.parts):
            raise IndexValueError(
                f"FunctionSpace: there is no part {i}; it has {len(self.parts)} of them"
            )
        start = sum(part.size for part in self.parts[:i])
        return Subspace(self, self.parts[i], start)

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
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
    """Part of a mixed space.

    Attributes:
        whole: The mixed space.
        space: The part as a space of its own.
        start: First dof of the part in the mixed space; component ``c`` of dof ``n`` of the part
            is ``start + n * space.dim + c``.
    """

    whole: FunctionSpace
    space: FunctionSpace
    start: int

    def numbers_in_whole(self, own: Array) -> Array:
        """Return numbers of values in the mixed space; -1 for those that the process has not.

        Args:
            own: Numbers of values of the part.
        """
        if self.whole is self.space:
            return own
        part, whole = self.space.dof_set, self.whole.dof_set
        if not whole.is_distributed:
            return self.start + own
        start = self.start_in(whole)
        entities, components = np.divmod(own, self.space.dim)
        wanted = start + part.global_numbers[entities] * self.space.dim + components
        return numbers_of(whole, wanted)

    def start_in(self, whole: Set) -> int:
        """Return the first dof of the part in the numbers before `op2.distribute`."""
        parts = self.whole.parts
        i = next(i for i, part in enumerate(parts) if part.dof_set is self.space.dof_set)
        return sum(part.dof_set.global_size * part.dim for part in parts[:i])


def _made_again(mesh: MeshLike, recipe: Any, numbering: Numbering) -> FunctionSpace:
    """Return a pickled or copied space; dofs keep their Set and their numbers."""
    element = of_recipe(recipe)
    domain_of(mesh).numberings[element] = numbering
    return FunctionSpace(mesh, element)


def node_points(element: Any) -> Array | None:
    """Return the points of the scalar part's dofs; None if dofs are not values at points."""
    part = scalar_part(element)
    if part.has_custom_quadrature:
        points: Array = part.custom_quadrature()[0]
        return points
    inner = getattr(part, "basix_element", None)
    if inner is None or not inner.interpolation_is_identity:
        return None
    return np.asarray(inner.points)


def scalar_part(element: Any) -> Any:
    """Return the scalar element of a vector element; other elements are returned unchanged."""
    return element.sub_elements[0] if element.block_size > 1 else element


def element_name(element: Any) -> str:
    """Return an element as written in ``FunctionSpace``; a short text if impossible."""
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
    counts = [len(of_entities[0]) for of_entities in scalar.entity_dofs]
    family = "quadrature" if scalar.has_custom_quadrature else scalar.family_name
    name = f"{family}{scalar.degree}_dofs"
    mesh, chosen = domain.mesh, [dim for dim, n in enumerate(counts) if n]
    is_apart = chosen == [domain.tdim]
    entities = [domain.entities(dim) for dim in chosen]
    homes = [domain.entity_set(dim, n) for dim, (_, n) in zip(chosen, entities, strict=True)]
    parts = [(home, counts[dim], None) for dim, home in zip(chosen, homes, strict=True)]
    dof_set, firsts = joined(parts, name)
    n_cells = len(domain.corners)
    dofs = np.empty((n_cells, scalar.dim), np.int64)
    signs = np.ones((n_cells, scalar.dim))
    for dim, (numbers, _), first in zip(chosen, entities, firsts, strict=True):
        for entity, local in enumerate(scalar.entity_dofs[dim]):
            base = first[numbers[:, entity], None] + np.arange(counts[dim])
            _place(domain, scalar, dim, entity, (local, base), dofs, signs)
    if is_apart:  # of all cells, for facets between them
        dofs = np.empty((mesh.cells.total_size, scalar.dim), np.int64)
        dofs[:, scalar.entity_dofs[domain.tdim][0]] = firsts[0][:, None] + np.arange(scalar.dim)
    map_ = map_here(mesh.cells, dof_set, dofs, f"cell_{name}", is_inside=is_apart)
    whole = {0: mesh.vertices, domain.tdim: mesh.cells}
    like = next((on for dim, on in whole.items() if sum(counts) == counts[dim] == 1), None)
    _note_origin(domain, dof_set, map_, like)
    signs = np.repeat(signs, element.block_size, axis=1)
    return Numbering(dof_set, map_, _as_signs(domain, signs, name), is_apart)


def _note_origin(domain: Domain, dof_set: Set, map_: Map, like: Set | None) -> None:
    if not domain.is_shared:
        follow_tables(dof_set, (domain.mesh.cell_vertices, map_), like)
    elif like is not None:
        dof_set.reordering.order = like.reordering.order


def _place(
    domain: Domain,
    scalar: Any,
    dim: int,
    entity: int,
    numbers: tuple[list[int], Array],
    dofs: Array,
    signs: Array,
) -> None:
    """Number the dofs of an edge, face, ... of each cell, by the orientation."""
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
    cells = domain.mesh.cells
    if not domain.is_any((signs <= 0).any(), f"signs of {name}"):
        return None
    rows = np.ones((cells.total_size, signs.shape[1]))
    rows[: len(signs)] = signs
    made = Dat(cells ** signs.shape[1], rows, name=f"signs_of_{name}")
    made.halo_valid = not cells.is_distributed
    return made


def _mixed_numbering(domain: Domain, element: Any) -> Numbering:
    parts = [
        (_numbering(domain, part), 1 if part.is_mixed else part.block_size)
        for part in element.sub_elements
    ]
    dof_set, firsts = joined([(found.dofs, dim, None) for found, dim in parts], "mixed_dofs")
    columns, signs = [], []
    for (found, dim), first in zip(parts, firsts, strict=True):
        dofs = found.cell_dofs.computed_values
        n_cells, n = dofs.shape
        columns.append((first[dofs][:, :, None] + np.arange(dim)).reshape(n_cells, n * dim))
        shape = columns[-1].shape
        one = None if found.signs is None else found.signs.data_ro_with_halos[:n_cells]
        signs.append(np.ones(shape) if one is None else one.reshape(shape))
    cells = domain.mesh.cells
    is_apart = all(found.is_apart for found, _ in parts)
    map_ = map_here(cells, dof_set, np.concatenate(columns, axis=1), "cell_mixed_dofs")
    _note_origin(domain, dof_set, map_, None)
    found_signs = _as_signs(domain, np.concatenate(signs, axis=1), "mixed_dofs")
    return Numbering(dof_set, map_, found_signs, is_apart)
