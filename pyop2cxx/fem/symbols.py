# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of UFL on a mesh: coordinates, normals, measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyop2cxx.exceptions import IndexValueError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.domain import FIRST_NAMED, domain_of


def SpatialCoordinate(mesh: Any) -> Any:
    """Return the coordinates of a mesh in UFL."""
    return ufl.SpatialCoordinate(domain_of(mesh).ufl)


def FacetNormal(mesh: Any) -> Any:
    """Return the unit normal of facets in UFL, out of the cell."""
    return ufl.FacetNormal(domain_of(mesh).ufl)


def dx(mesh: Any, *tags: str | int, **options: Any) -> Any:
    """Return the measure of cells, all or of tags; see `ds`."""
    return _measure("dx", "cell", mesh, tags, options)


def ds(mesh: Any, *tags: str | int, **options: Any) -> Any:
    """Return the measure of facets on the boundary, all or of tags.

    Args:
        mesh: The mesh.
        *tags: Names of tags of ``mesh.exterior_facets``, or numbers. Of a tag with facets on the
            boundary and inside, `ds` takes the former and `dS` the latter.
        **options: Of ``ufl.Measure``, such as ``degree``.

    Raises:
        IndexValueError: The tag does not exist.
        UsageError: The first argument is no mesh.
    """
    return _measure("ds", "exterior_facet", mesh, tags, options)


def dS(mesh: Any, *tags: str | int, **options: Any) -> Any:
    """Return the measure of facets between cells, all or of tags; see `ds`."""
    return _measure("dS", "interior_facet", mesh, tags, options)


def _measure(
    name: str, kind: str, mesh: Any, tags: tuple[str | int, ...], options: dict[str, Any]
) -> Any:
    if isinstance(mesh, str | int):
        raise UsageError(f"fem.{name}: expected a mesh first: fem.{name}(mesh, {mesh!r})")
    domain = domain_of(mesh)
    measure = ufl.Measure(name, domain=domain.ufl)
    if tags:
        known = domain.tags(kind)
        names = list(known) if isinstance(known, Mapping) else []
        for tag in tags:
            if domain.tagged(kind, tag) is None:
                raise IndexValueError(f"fem.{name}: {domain.no_tag(kind, tag)}")
        options["subdomain_id"] = tuple(
            FIRST_NAMED + names.index(tag) if isinstance(tag, str) else tag for tag in tags
        )
    return measure(**options) if options else measure
