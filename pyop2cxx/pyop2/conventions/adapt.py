# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of other conventions, wrapped in a function of today's convention.

`Kernel(..., abi="2016")` and `abi="2013"` choose the convention of a kernel; the loop's arguments
choose the form:

- ``dat(access)``, ``dat(access, map[k])``, Globals: ``T *``, as always.
- ``dat(access, map)``: ``T **``, a pointer to the values of each entry; for a MixedDat, of all
  fields.
- ``dat(access, map, flatten=True)``: ``T **``, a pointer to each value, all entries of a component
  before the next component.
- ``dat(access, map[op2.i[0]])``: in 2016 ``T *`` to the values of all entries, ordered by component
  first if flattened; in 2013 ``T *`` to a single entry, or if flattened to a single value, and the
  kernel is called for each with the number as an additional argument.
- ``mat(access, (map[op2.i[0]], map[op2.i[1]]))``: ``T A[rows][columns]``, ordered by component
  first if flattened; in 2013 the part of a single pair of entries, or if flattened of values, and
  the kernel is called for each pair.
- 2013, extruded: the layer as the last argument.

In all conventions, today's included, a parameter may be declared as an array of arrays,
``double x[3][2]``; and a function declared without parameters, ``void k()``, takes any arguments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyop2cxx.base.access import INC, RW, WRITE
from pyop2cxx.data.dats import DatArg
from pyop2cxx.data.mixed_dats import MixedDatArg
from pyop2cxx.kernel.shapes import calling, check_parameters, takes_anything
from pyop2cxx.loop.kernel_checks import check_text
from pyop2cxx.pyop2.conventions.forms import Form, check_space, extents_of_space, form_of, shaped
from pyop2cxx.pyop2.conventions.last_element import LastElement as LastElement  # of the seam
from pyop2cxx.pyop2.conventions.live import uses_value
from pyop2cxx.pyop2.conventions.text import taken
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parts import Arg


def adapted(
    kernel: Kernel, args: tuple[Arg, ...], *, layer: bool, facets: bool = False
) -> tuple[Kernel, tuple[Arg, ...]]:
    """Return a wrapper with flat pointers around a kernel, and the arguments.

    Args:
        kernel: The kernel of another convention.
        args: The arguments of a loop.
        layer: Whether the kernel gets the layer, after all else.
        facets: Whether an element is a pair of vertically adjacent cells.

    Raises:
        IndexValueError: Arguments run over spaces of different sizes.
        UsageError: The kernel has a wrong number of parameters, or a parameter of another shape.
    """
    forms = tuple(form_of(kernel, i, arg, 2 if facets else 1) for i, arg in enumerate(args))
    check_space(kernel.name, args, forms)
    extents = extents_of_space(kernel.name, forms)
    check_text(kernel)
    untyped: tuple[int, ...] = ()
    if not takes_anything(kernel):
        untyped = check_parameters(kernel, args, len(args) + len(extents) + layer)
        forms = tuple(shaped(kernel, i, form) for i, form in enumerate(forms))
    passed = tuple(
        _passed(kernel, i, *pair) for i, pair in enumerate(zip(args, forms, strict=True))
    )
    forms = tuple(
        form if arg.access == form.access else replace(form, access=int(arg.access))
        for arg, form in zip(passed, forms, strict=True)
    )
    return _wrapped(kernel, forms, extents, layer, untyped), passed


def _passed(kernel: Kernel, i: int, arg: Arg, form: Form) -> Arg:
    """Return the argument of today's convention.

    Kernels of older conventions see the values in place: unwritten values stay, and incremented
    values may also be read.
    """
    if not isinstance(arg, DatArg | MixedDatArg) or arg.map_ is None:
        return arg
    access = arg.access
    sees_values = form.kind in ("rows", "scalars", "live", "point") and not form.extents
    if sees_values and (access == WRITE or (access == INC and _uses_value(kernel, i))):
        access = RW
    if isinstance(arg, MixedDatArg):
        return MixedDatArg(arg.data, arg.map_, access)
    return DatArg(arg.data, arg.map_, access)


def _uses_value(kernel: Kernel, i: int) -> bool:
    if i >= len(kernel.parameters):
        return False
    parameter = kernel.parameters[i]
    return uses_value(kernel.text, kernel.name, parameter.name, parameter.type.depth)


@until_exit(256)
def _wrapped(
    kernel: Kernel,
    forms: tuple[Form, ...],
    extents: tuple[int, ...],
    layer: bool,
    untyped: tuple[int, ...],
) -> Kernel:
    name = f"{kernel.name}_packed"
    args = [taken(i, form) for i, form in enumerate(forms)]
    return calling(kernel, name, args, extents, layer, untyped)
