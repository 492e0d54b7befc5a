# SPDX-License-Identifier: BSD-3-Clause
"""Kernels declared otherwise than by flat pointers: ``double x[3][2]``, and ``void k()``.

Each is wrapped in a function of flat pointers.
"""

from __future__ import annotations

import re
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ, WRITE
from pyop2cxx.base.arrays import core_dtype
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.kernel.kernel import Kernel


class Value(NamedTuple):
    """An argument of a loop as passed to a kernel.

    Attributes:
        c_type: The C type of a scalar.
        access: The number of the access.
        size: Number of scalars of an element.
    """

    c_type: str
    access: int
    size: int


def needs_wrapper(kernel: Kernel) -> bool:
    """Say whether a kernel of today's convention has to be called in another form or by name."""
    return _needs_wrapper(kernel.core, kernel.name, kernel.text)


@until_exit(512)
def _needs_wrapper(core: _core.Kernel, name: str, text: str) -> bool:
    is_renamed = core.body is None and name in _core.local_names()
    return is_renamed or _takes_anything(core, name, text) or any(map(extents_of, core.parameters))


def wrapped(kernel: Kernel, args: Sequence[Any], values: Sequence[Value], *, layer: bool) -> Kernel:
    """Return a wrapper with flat pointers around a kernel with other parameters.

    Args:
        kernel: The kernel.
        args: The arguments of a loop, for messages.
        values: The values passed for each argument.
        layer: Whether the layer is passed, behind all others.

    Raises:
        UsageError: The kernel has not as many parameters, or of another shape or dtype.
    """
    if takes_anything(kernel):
        return _wrapped(kernel, tuple(values), ((),) * len(values), layer, ())
    untyped = check_parameters(kernel, args, len(args) + layer)
    extents = tuple(fitting_extents(kernel, i, value.size) for i, value in enumerate(values))
    return _wrapped(kernel, tuple(values), extents, layer, untyped)


@until_exit(256)
def _wrapped(
    kernel: Kernel,
    values: tuple[Value, ...],
    extents: tuple[tuple[int, ...], ...],
    layer: bool,
    untyped: tuple[int, ...],
) -> Kernel:
    name = f"{kernel.name}_packed"
    taken = [
        argument(i, value.c_type, value.access, shape)
        for i, (value, shape) in enumerate(zip(values, extents, strict=True))
    ]
    return calling(kernel, name, taken, (), layer, untyped)


def calling(
    kernel: Kernel,
    name: str,
    taken: Sequence[dict[str, object]],
    extents: tuple[int, ...],
    layer: bool,
    untyped: tuple[int, ...],
) -> Kernel:
    """Return a kernel that calls another kernel.

    Args:
        kernel: The called kernel.
        name: Name of the calling function.
        taken: Passing of each argument, see `argument`.
        extents: Sizes of the space of calls; empty for a single call.
        layer: Whether the layer is passed, behind all others.
        untyped: Parameters of the called kernel accepting any type.
    """
    silent = takes_anything(kernel)
    text = partial(packed, kernel.name, name, taken, extents, layer, silent=silent)
    made = written_behind(kernel, name, text(), untyped)
    made.to_watch = partial(_watched, kernel, name, text, untyped)
    return made


def _watched(
    kernel: Kernel, name: str, text: Callable[..., str], untyped: tuple[int, ...]
) -> Kernel | None:
    """Return the kernel for check mode, whose text few programs need; None: the same kernel."""
    watched = text(is_watched=True)
    return None if watched == text() else written_behind(kernel, name, watched, untyped)


def written_behind(kernel: Kernel, name: str, text: str, untyped: tuple[int, ...] = ()) -> Kernel:
    """Return a kernel of another function, whose text stands behind the text of the called kernel.

    Args:
        kernel: The called kernel, shown in messages.
        name: Name of the calling function.
        text: The calling function.
        untyped: As for `calling`.
    """
    made = kernel.with_code(f"{kernel.text}\n{text}", name)
    made.calls = kernel
    made.shown_name, made.shown_code = kernel.shown_name, kernel.shown_code
    made.is_written_here = kernel.is_written_here
    return made.with_untyped(untyped, kernel.name) if untyped else made


def takes_anything(kernel: Kernel) -> bool:
    """Return whether the kernel is declared as ``void k()``, callable in C with any arguments."""
    return _takes_anything(kernel.core, kernel.name, kernel.text)


def _takes_anything(core: _core.Kernel, name: str, text: str) -> bool:
    if not core.has_signature or core.parameters:
        return False
    return re.search(rf"\b{name}\s*\(\s*\)", text) is not None


def extents_of(parameter: _core.KernelParameter) -> tuple[int, ...]:
    """Return the extents of an array of arrays, 0 for a missing first; () otherwise."""
    if parameter.type.depth < 2:  # an array of arrays
        return ()
    found = re.findall(r"\[(\d*)\]", parameter.type.c_text(parameter.name))
    return tuple(int(n or 0) for n in found) if len(found) == parameter.type.depth else ()


def fitting_extents(kernel: Kernel, i: int, size: int) -> tuple[int, ...]:
    """Return the extents of a kernel's array-of-arrays parameter; () otherwise.

    Args:
        kernel: The kernel.
        i: The number of the argument.
        size: Number of values of the argument seen by the kernel.

    Raises:
        UsageError: The array has not as many.
    """
    if i >= len(kernel.parameters):
        return ()
    extents = extents_of(kernel.parameters[i])
    if not extents:
        return ()
    if extents[0] == 0:
        extents = (size // max(prod(extents[1:]), 1), *extents[1:])
    if prod(extents) != size:
        raise UsageError(
            f"Kernel '{kernel.name}': parameter '{kernel.parameters[i]!r}' has {prod(extents)} "
            f"values, but argument {i} has {size} of one element"
        )
    return extents


def users_name(kernel: Kernel, own: str) -> tuple[str, int] | None:
    """Return the parameter of a called kernel for a name in the calling function.

    Args:
        kernel: The called kernel.
        own: The function's name for an argument, or for a copy.

    Returns:
        Name and number of the parameter; None for other names.
    """
    found = _OWN_NAME.fullmatch(own)
    if found is None or int(found[1]) >= len(kernel.parameters):
        return None
    if re.search(rf"\b{own}\b", kernel.text):
        return None  # the kernel uses the same name
    return kernel.parameters[int(found[1])].name, int(found[1])


_OWN_NAME = re.compile(r"[ar](\d+)")  # as in templates/kernels/packed.c.j2


def check_parameters(kernel: Kernel, args: Sequence[Any], wanted: int) -> tuple[int, ...]:
    """Raise unless the number of parameters is right, each of the argument's dtype or unused.

    Returns:
        Indices of unused parameters with another dtype.
    """
    parameters = kernel.core.parameters
    if not kernel.core.has_signature:
        return ()
    if len(parameters) != wanted:
        raise UsageError(
            f"Kernel '{kernel.name}' has {len(parameters)} parameters "
            f"({', '.join(map(repr, parameters))}), but the loop passes {wanted}"
        )
    untyped = []
    for i, (parameter, arg) in enumerate(zip(parameters, args, strict=False)):
        found, dtype = parameter.type.dtype, getattr(arg.data, "compute", arg.data.dtype)
        if found is None or found == core_dtype(dtype):
            continue
        if kernel.with_untyped((i,)) is kernel:
            raise UsageError(
                f"Kernel '{kernel.name}': parameter '{parameter!r}' gets argument {i}, "
                f"{type(arg.data).__name__} '{arg.data.name}' of dtype {dtype.name}"
            )
        untyped.append(i)
    return tuple(untyped)


# Text


def argument(
    number: int, c_type: str, access: int, extents: tuple[int, ...] = (), **how: object
) -> dict[str, object]:
    """Describe how a kernel takes an argument, for `packed`.

    Args:
        number: Of the argument.
        c_type: C type of the values.
        access: Number of the access.
        extents: Extents of an array of arrays; empty for a pointer.
        **how: Changes of the defaults, by the names in ``templates/kernels/packed.c.j2``.
    """
    return {
        "number": number,
        "type": c_type,
        "is_const": access == READ,
        "is_sum": access == INC,
        "is_given": access != WRITE,
        "kind": "array" if extents else "plain",
        "extents": extents,
        "row_extents": extents[1:],
        "strides": [prod(extents[k + 1 :]) for k in range(len(extents))],
        "place": "",
        "start": "",
        "tables": (),
        "is_inner": False,
        "is_flat": False,
        **how,
    }


def packed(
    kernel: str,
    name: str,
    taken: Sequence[dict[str, object]],
    extents: tuple[int, ...],
    layer: bool,
    *,
    silent: bool,
    is_watched: bool = False,
) -> str:
    """Return the text of a function with flat pointers that calls a kernel.

    Args:
        kernel: The name of the kernel.
        name: The name of the function.
        taken: How the kernel takes each argument, see `argument`.
        extents: Sizes of the space of calls; empty for a single call.
        layer: Whether the layer is passed, behind all others.
        silent: Whether the kernel is declared without parameters, and gets none.
        is_watched: Whether the text is for check mode: the kernel then gets the values in place if
            their layout fits, and otherwise no initial values of written arguments without input.
    """
    also_passed = [f"i{k}" for k in range(len(extents))] + ["layer"] * layer
    passed = {"passed": taken, "also_passed": also_passed}
    if silent:
        passed = {"passed": (), "also_passed": ()}
    context = {"kernel": kernel, "name": name, "taken": taken, "extents": extents}
    how = {"has_layer": layer, "is_watched": is_watched}
    return render("kernels/packed.c.j2", {**context, **passed, **how})
