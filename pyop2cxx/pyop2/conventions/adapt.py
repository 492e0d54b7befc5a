# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of other conventions: wrapped in a function of the one that there is.

`Kernel(..., abi="2016")` and `abi="2013"` say how a kernel takes its arguments; what a loop passes
says which form it is:

- ``dat(access)``, ``dat(access, map[k])``, Globals: ``T *``, as always.
- ``dat(access, map)``: ``T **``, a pointer to the values of each entry; of a MixedDat, to those of
  all its fields.
- ``dat(access, map, flatten=True)``: ``T **``, a pointer to each value, one component of all
  entries after the other.
- ``dat(access, map[op2.i[0]])``: in 2016 ``T *`` to the values of all entries, ordered by
  component first if flattened; in 2013 ``T *`` to one entry, or if flattened to one value, and the
  kernel is called for each with its number as an additional argument.
- ``mat(access, (map[op2.i[0]], map[op2.i[1]]))``: ``T A[rows][columns]``, ordered by component
  first if flattened; in 2013 those of one pair of entries, or if flattened of values, and the
  kernel is called for each pair.
- 2013, extruded: the layer as the last argument.

In all of them, and in today's convention, a parameter may be declared as an array of arrays,
``double x[3][2]``; and a function declared without parameters, ``void k()``, takes whatever it
gets.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.access import INC, RW, WRITE
from pyop2cxx.data.args import DatArg, MixedDatArg
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pyop2.conventions.forms import (
    Form,
    extents_of,
    extents_of_space,
    form_of,
    shaped,
    takes_anything,
)
from pyop2cxx.pyop2.conventions.live import uses_value
from pyop2cxx.pyop2.conventions.text import wrapper

if TYPE_CHECKING:
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.symbolic import Arg


def needs_adapting(kernel: Kernel) -> bool:
    """Say whether a kernel of today's convention has to be called in another form or by name."""
    is_renamed = kernel.core.body is None and kernel.name in _core.local_names()
    return is_renamed or takes_anything(kernel) or any(extents_of(p) for p in kernel.parameters)


def adapted(
    kernel: Kernel, args: tuple[Arg, ...], *, layer: bool, facets: bool = False
) -> tuple[Kernel, tuple[Arg, ...]]:
    """Return a kernel that takes flat pointers and calls one that does not, and its arguments.

    Args:
        kernel: The kernel of another convention.
        args: The arguments of a loop.
        layer: Whether the kernel gets the layer, after all else.
        facets: Whether an element is a cell and the one above it.

    Raises:
        IndexValueError: Arguments run over spaces of different sizes.
        UsageError: The kernel has not as many parameters as this needs, or of another shape.
    """
    forms = tuple(form_of(kernel, i, arg, 2 if facets else 1) for i, arg in enumerate(args))
    extents = extents_of_space(kernel.name, forms)
    if not takes_anything(kernel):
        _check_parameters(kernel, args, len(args) + len(extents) + layer)
        forms = tuple(shaped(kernel, i, form) for i, form in enumerate(forms))
    if kernel.abi == "2026":
        return _wrapped(kernel, forms, extents, layer), args
    passed = tuple(
        _passed(kernel, i, *pair) for i, pair in enumerate(zip(args, forms, strict=True))
    )
    forms = tuple(
        form if arg.access == form.access else replace(form, access=int(arg.access))
        for arg, form in zip(passed, forms, strict=True)
    )
    return _wrapped(kernel, forms, extents, layer), passed


def _passed(kernel: Kernel, i: int, arg: Arg, form: Form) -> Arg:
    """Return the argument of today's convention.

    Kernels of the older ones see the values themselves: what they do not write stays, and what they
    increment they may also read.
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
    return uses_value(kernel.code, kernel.name, parameter.name, parameter.type.depth)


def _check_parameters(kernel: Kernel, args: tuple[Arg, ...], wanted: int) -> None:
    parameters = kernel.core.parameters
    if not kernel.core.has_signature:
        return
    if len(parameters) != wanted:
        raise UsageError(
            f"Kernel '{kernel.name}' has {len(parameters)} parameters "
            f"({', '.join(map(repr, parameters))}), but the loop passes {wanted}"
        )
    for i, (parameter, arg) in enumerate(zip(parameters, args, strict=False)):
        found, dtype = parameter.type.dtype, arg.data.dtype
        if found is not None and found != _core.dtype_from_name(dtype.name):
            raise UsageError(
                f"Kernel '{kernel.name}': parameter '{parameter!r}' gets argument {i}, "
                f"{type(arg.data).__name__} '{arg.data.name}' of dtype {dtype.name}"
            )


@lru_cache(maxsize=256)
def _wrapped(
    kernel: Kernel, forms: tuple[Form, ...], extents: tuple[int, ...], layer: bool
) -> Kernel:
    name = f"{kernel.name}_packed"
    text = wrapper(kernel.name, name, forms, extents, layer, silent=takes_anything(kernel))
    return kernel.with_code(f"{kernel.code}\n{text}", name)
