# SPDX-License-Identifier: BSD-3-Clause
"""Forms on quadrilaterals and hexahedra by elements made of tensor factors.

FFCx writes sums over products of one-dimensional tables for such elements, which the kernel's
contraction computes dimension by dimension. Their dofs are in lexicographic order. The subscripts
of dofs in FFCx output are looked up in a table, so kernels keep the order of the user's elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.fem._packages import basix, elements, ufl
from pyop2cxx.fem.spaces import node_points, scalar_part
from pyop2cxx.kernel import ufcx
from pyop2cxx.runtime.frames import render_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.arrays import Array

_CELLS = ("quadrilateral", "hexahedron")


def factored(form: Any) -> Any | None:
    """Return a form on elements made of tensor factors; None if an element has none.

    None, too, if all are of degree 1: a sum over two values gains nothing by dimension.
    Arguments, coefficients and constants have the order of those of the given form.

    Args:
        form: A ``ufl.Form`` with integrals over cells only.
    """
    domains = form.ufl_domains()
    if len(domains) != 1 or domains[0].ufl_cell().cellname not in _CELLS:
        return None
    rules = {one.metadata().get("quadrature_rule", "default") for one in form.integrals()}
    if rules != {"default"}:
        return None
    (domain,) = domains
    geometry = factored_element(domain.ufl_coordinate_element())
    functions = [*form.arguments(), *form.coefficients()]
    found = [factored_element(one.ufl_element()) for one in functions]
    if geometry is None or None in found or max((one.degree for one in found), default=0) < 2:
        return None
    mesh = ufl.Mesh(geometry)
    mapping: dict[Any, Any] = {}
    for one, element in zip(functions, found, strict=True):
        space = ufl.FunctionSpace(mesh, element)
        is_argument = isinstance(one, ufl.Argument)
        mapping[one] = (
            ufl.Argument(space, one.number(), one.part()) if is_argument else ufl.Coefficient(space)
        )
    for constant in form.constants():
        mapping[constant] = ufl.Constant(mesh, constant.ufl_shape)
    integrals = []
    for one in form.integrals():
        of_cells = {
            part: type(part)(mesh)
            for part in ufl.corealg.traversal.unique_pre_traversal(one.integrand())
            if isinstance(part, ufl.geometry.GeometricQuantity)
        }
        integrand = ufl.replace(one.integrand(), mapping | of_cells)
        integrals.append(one.reconstruct(integrand=integrand, domain=mesh))
    return ufl.Form(integrals)


@cache
def factored_element(element: Any) -> Any:
    """Return the element with the same functions, in the order of tensor factors; None if none is.

    Args:
        element: An element of ``basix.ufl``.
    """
    if element.is_mixed or element.is_real:
        return None
    scalar = scalar_part(element)
    inner = None if scalar.has_custom_quadrature else getattr(scalar, "basix_element", None)
    if inner is None or inner.family != basix.ElementFamily.P:
        return None
    try:
        made = basix.create_tp_element(
            inner.family, inner.cell_type, inner.degree, inner.lagrange_variant,
            discontinuous=inner.discontinuous,
        )  # fmt: skip
    except (RuntimeError, ValueError):
        return None
    found = elements.wrap_element(made)
    if element.block_size > 1:
        found = elements.blocked_element(found, shape=element.reference_value_shape)
    return found if found.dim == element.dim else None  # symmetric tensors have fewer components


def order(element: Any) -> Array:
    """Return the number in an element of each dof of the factored element, in blocks; int array.

    Args:
        element: An element with a `factored_element`.
    """
    points, places = node_points(element), node_points(factored_element(element))
    assert points is not None
    assert places is not None
    distances = np.linalg.norm(places[:, None] - points[None], axis=2)
    numbers = distances.argmin(axis=1)
    assert len({*numbers.tolist()}) == len(points)
    size = element.block_size
    found: Array = (numbers[:, None] * size + np.arange(size)).reshape(-1)
    return found


@dataclass(frozen=True, slots=True)
class Orders:
    """Numbers of dofs of a form's elements, for the subscripts in FFCx output.

    Attributes:
        rows: The `order` of each argument.
        coefficients: The `order` of each coefficient.
        coordinates: The `order` of the coordinates.
    """

    rows: tuple[Array, ...]
    coefficients: tuple[Array, ...]
    coordinates: Array

    def applied(self, body: str, names: Sequence[tuple[str, int]]) -> str:
        """Return C text with the subscripts of dofs looked up in tables.

        Args:
            body: Statements.
            names: Name and number of each coefficient in the text.
        """
        tables: dict[tuple[int, ...], str] = {}

        def looked_up(index: str, numbers: Array) -> str:
            key = tuple(numbers.tolist())
            if key == tuple(range(len(key))):
                return index
            return f"{tables.setdefault(key, f'op2_order{len(tables)}')}[{index}]"

        def in_tensor(index: str) -> str:
            if len(self.rows) == 1:
                return f"A[{looked_up(index, self.rows[0])}]"
            n = len(self.rows[1])
            row, column = ufcx.divided(index, "A", n)
            row, column = looked_up(row, self.rows[0]), looked_up(column, self.rows[1])
            return f"A[{n} * {row} + {column}]"

        def in_vector(name: str, numbers: Array) -> str:
            return ufcx.each_index(body, name, lambda index: f"{name}[{looked_up(index, numbers)}]")

        body = in_vector("coordinate_dofs", self.coordinates)
        for name, number in names:
            body = in_vector(name, self.coefficients[number])
        if self.rows:
            body = ufcx.each_index(body, "A", in_tensor)
        declared = [{"name": name, "values": key} for key, name in tables.items()]
        return render_once("kernels/orders.c.j2", {"tables": declared}) + body


def orders(form: Any) -> Orders:
    """Return the orders of the elements of a form that is `factored`.

    Args:
        form: The form on the user's elements.
    """
    (domain,) = form.ufl_domains()
    return Orders(
        tuple(order(one.ufl_element()) for one in form.arguments()),
        tuple(order(one.ufl_element()) for one in form.coefficients()),
        order(domain.ufl_coordinate_element()),
    )
