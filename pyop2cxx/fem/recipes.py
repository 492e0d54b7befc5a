# SPDX-License-Identifier: BSD-3-Clause
"""Plain values for making elements again, because Basix' elements cannot be pickled."""

from __future__ import annotations

from typing import Any

from pyop2cxx.exceptions import UsageError
from pyop2cxx.fem._packages import basix, elements


def as_recipe(element: Any) -> tuple[Any, ...]:
    """Return plain values for making an element again.

    Args:
        element: Of ``basix.ufl``.

    Raises:
        UsageError: The element cannot be made again, such as a custom element.
    """
    recipe = _parts_of(element)
    if recipe is None or of_recipe(recipe) != element:
        raise UsageError(
            f"FunctionSpace: a space of the element {element} can neither be pickled nor copied "
            "deeply; save the values of its functions, and make the element and the space again"
        )
    return recipe


def _parts_of(element: Any) -> tuple[Any, ...] | None:
    if element.is_mixed:
        return ("mixed", *map(as_recipe, element.sub_elements))
    if element.block_size > 1:
        is_symmetric = getattr(element.pullback, "_symmetry", None) is not None
        shape = element.reference_value_shape
        return ("blocked", as_recipe(element.sub_elements[0]), tuple(shape), is_symmetric)
    if element.has_custom_quadrature:
        points, weights = element.custom_quadrature()
        return ("quadrature", element.cell.cellname, points, weights, element.degree)
    inner = getattr(element, "basix_element", None)
    if inner is None or inner.family == basix.ElementFamily.custom:
        return None
    variants = (inner.lagrange_variant.name, inner.dpc_variant.name)
    about = (inner.family.name, inner.cell_type.name, inner.degree)
    return ("element", *about, *variants, bool(inner.discontinuous))


def of_recipe(recipe: tuple[Any, ...]) -> Any:
    """Return the element described by `as_recipe`."""
    kind, *parts = recipe
    if kind == "mixed":
        return elements.mixed_element([of_recipe(part) for part in parts])
    if kind == "blocked":
        part, shape, is_symmetric = parts
        return elements.blocked_element(
            of_recipe(part), shape=shape, symmetry=True if is_symmetric else None
        )
    if kind == "quadrature":
        cell, points, weights, degree = parts
        about = {"points": points, "weights": weights, "degree": degree}
        return elements.quadrature_element(cell, **about)
    family, cell, degree, lagrange, dpc, is_discontinuous = parts
    return elements.element(
        basix.ElementFamily[family],
        basix.CellType[cell],
        degree,
        basix.LagrangeVariant[lagrange],
        basix.DPCVariant[dpc],
        is_discontinuous,
    )
