# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for elements whose dofs a cell may see with the other sign.

On quadrilaterals and hexahedra the basis functions of Raviart-Thomas and Nedelec elements point
along or against an edge or a face, as the reference cell has it. FFCx's kernel works with the
reference cell's; the kernel here calls it with values of that sign, and gives its tensor that sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.access import READ
from pyop2cxx.fem.compiler import SCALARS, Integral, Parameter, build, header, real

if TYPE_CHECKING:
    from collections.abc import Collection


def with_signs(
    integral: Integral, arguments: Collection[int], coefficients: Collection[int]
) -> Integral:
    """Return an integral whose kernel takes signs, too.

    Args:
        integral: As FFCx made it.
        arguments: Numbers of the form's arguments that have signs.
        coefficients: Numbers of its coefficients that have signs.

    Returns:
        The same integral if there are none.
    """
    given = integral.parameters
    turned = [p for p in given if p.role == "coefficient" and p.number in coefficients]
    sides = [i for i in range(len(integral.shape)) if i in arguments]
    if not turned and not sides:
        return integral
    tensor = given[0]
    scalar, dtype = SCALARS[tensor.dtype.name][0], real(tensor.dtype)
    signs = [Parameter("signs", f"s{i}", READ, dtype, integral.shape[i], i) for i in sides] + [
        Parameter("coefficient_signs", f"s_{p.name}", READ, dtype, p.size, p.number) for p in turned
    ]
    lines = [f"{scalar} B[{tensor.size}] = {{0}};"]
    for p in turned:
        lines.append(f"{scalar} v_{p.name}[{p.size}];")
        lines.append(
            f"for (int k = 0; k < {p.size}; ++k) v_{p.name}[k] = s_{p.name}[k] * {p.name}[k];"
        )
    called = ["B"] + [f"v_{p.name}" if p in turned else p.name for p in given[1:]]
    name = integral.kernel.name
    lines.append(f"{name}_reference({', '.join(called)});")
    lines.append(_added(integral.shape, sides))
    inner = f"{header(f'{name}_reference', list(given))}\n{{\n{integral.body}\n}}\n"
    return build(
        name,
        integral.kind,
        integral.subdomains,
        [*given, *signs],
        integral.shape,
        "\n".join(lines),
        inner,
    )


def _added(shape: tuple[int, ...], sides: list[int]) -> str:
    """Return the loops that add the tensor, row by row, with its signs."""
    indices = "ij"[: len(shape)]
    loops = "".join(
        f"for (int {i} = 0; {i} < {n}; ++{i}) " for i, n in zip(indices, shape, strict=True)
    )
    place = {0: "0", 1: "i", 2: f"{shape[-1] if shape else 1} * i + j"}[len(shape)]
    factors = "".join(f"s{side}[{indices[side]}] * " for side in sides)
    return f"{loops}A[{place}] += {factors}B[{place}];"
