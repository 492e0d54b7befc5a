# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for elements with dofs of opposite signs in neighbouring cells.

On quadrilaterals and hexahedra the basis functions of Raviart-Thomas and Nedelec elements point
along or against an edge or a face. FFCx's kernel assumes the direction of the reference cell. The
kernel here applies signs to coefficients before the call, and to the tensor afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.access import READ
from pyop2cxx.base.arrays import c_name
from pyop2cxx.fem.compiler import Integral, Parameter, build, function, real
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Collection


def with_signs(
    integral: Integral, arguments: Collection[int], coefficients: Collection[int]
) -> Integral:
    """Return an integral with signs as further arguments of the kernel.

    Args:
        integral: As FFCx made the integral.
        arguments: Numbers of the form's arguments with signs.
        coefficients: Numbers of the form's coefficients with signs.

    Returns:
        The same integral if there are none.
    """
    given = integral.parameters
    turned = [p for p in given if p.role == "coefficient" and p.number in coefficients]
    sides = [i for i in range(len(integral.shape)) if i in arguments]
    if not turned and not sides:
        return integral
    tensor = given[0]
    scalar, dtype = c_name(tensor.dtype), real(tensor.dtype)
    signs = [Parameter("signs", f"s{i}", READ, dtype, integral.shape[i], i) for i in sides] + [
        Parameter("coefficient_signs", f"s_{p.name}", READ, dtype, p.size, p.number) for p in turned
    ]
    name, indices = integral.kernel.name, "ij"
    context = {
        "scalar": scalar,
        "size": tensor.size,
        "name": name,
        "given": [{"name": p.name, "size": p.size, "is_turned": p in turned} for p in given[1:]],
        "loops": [{"index": i, "n": n} for i, n in zip(indices, integral.shape, strict=False)],
        "columns": integral.shape[-1] if integral.shape else 1,
        "is_vector": len(integral.shape) == 1,
        "is_matrix": len(integral.shape) == 2,
        "signs": [{"side": side, "index": indices[side]} for side in sides],
    }
    body = render("kernels/signed.c.j2", context).rstrip("\n")
    inner = function(f"{name}_reference", given, integral.body)
    parameters = [*given, *signs]
    subdomains, shape = integral.subdomains, integral.shape
    return build(name, integral.kind, subdomains, parameters, shape, body, inner)
