# SPDX-License-Identifier: BSD-3-Clause
"""A kernel against the arguments of a loop."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ
from pyop2cxx.base.arrays import c_name, core_dtype
from pyop2cxx.exceptions import KernelWarning, UsageError
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from pyop2cxx.kernel.kernel import Kernel

    Kinds = tuple[tuple[np.dtype[np.generic] | None, int | None], ...]

_ADVICE_POINTER = (
    "arguments arrive packed, one flat pointer each: declare {expected} and write"
    " {name}[i * n + j] for {name}[i][j]; a kernel of PyOP2's convention of 2016 says so: "
    "Kernel(..., abi='2016')"
)


_WIDE = {"float32": "float64", "complex64": "complex128"}
"""What kernels may see instead of what memory holds."""


class Descriptor(NamedTuple):
    """An argument of a loop, as seen by the kernel.

    Attributes:
        position: In the call, from 0.
        what: For messages, e.g. ``"Dat 'q'"``.
        dtype: Dtype of the scalars; None for addresses passed on.
        access: A `pyop2cxx.base.access.Access` or the number; None for a number passed by value.
    """

    position: int
    what: str
    dtype: np.dtype[np.generic] | None
    access: int | None


def fitting(kernel: Kernel, descriptors: Sequence[tuple[int, str, object, int | None]]) -> Kernel:
    """Return the kernel adapted to a loop: unused parameters may have any dtype.

    Args:
        kernel: The user's.
        descriptors: As for `check`, which raised, and must be called again if another kernel is
            returned.
    """
    parameters = kernel.core.parameters
    if kernel.core.body is None or len(parameters) != len(descriptors):
        return kernel
    arguments = [Descriptor(*descriptor) for descriptor in descriptors]  # type: ignore[arg-type] # dtype
    other = [
        argument.position
        for parameter, argument in zip(parameters, arguments, strict=True)
        if argument.access is not None
        and parameter.type.depth == 1
        and argument.dtype is not None
        and not _has_dtype(parameter, argument.dtype)
        and parameter.type.base != "void"
    ]
    return kernel.with_untyped(other) if other else kernel


def _has_dtype(parameter: _core.KernelParameter, dtype: np.dtype[np.generic]) -> bool:
    return parameter.type.dtype == core_dtype(dtype)


def check_text(kernel: Kernel) -> None:
    """Check that a kernel has a text to run, since kernels may be made without.

    Raises:
        UsageError: There is no text.
    """
    if not kernel.text.strip():
        raise UsageError(f"Kernel '{kernel.name}' has no text; pass C code that defines it")


def passes(kernel: Kernel, kinds: Kinds) -> bool:
    """Return whether `check` has nothing to say about arguments of these dtypes and accesses.

    Args:
        kernel: The kernel.
        kinds: Dtype and access of each argument, see `Descriptor`.
    """
    return not kernel.core.has_signature or _passes(kernel.core, kinds)


@until_exit(512)
def _passes(core: _core.Kernel, kinds: Kinds) -> bool:
    """Return the same for a core, once: equal descriptions of kernels share a core."""
    parameters = core.parameters
    arguments = [Descriptor(i, "", *kind) for i, kind in enumerate(kinds)]
    if len(parameters) != len(arguments) or not all(map(_fits, parameters, arguments)):
        return False
    if core.body is None:
        return True
    known = _core.kernel_facts(core).parameters
    return all(message is None for message in map(_misuse, parameters, arguments, known))


def check(
    kernel: Kernel,
    descriptors: Sequence[tuple[int, str, object, int | None]],
    *,
    stacklevel: int = 3,
    strict: bool = False,
) -> None:
    """Check a kernel's parameters against the arguments of a loop.

    Args:
        kernel: Opaque kernels are checked as far as their parameters could be read.
        descriptors: A description of each argument, see `Descriptor`.
        stacklevel: Level of warnings, to show the user's call of ``par_loop``.
        strict: Raise errors instead of warnings.

    Raises:
        UsageError: Wrong number of arguments, or a parameter with a wrong type; with `strict` also
            the cases of warnings.

    Warns:
        KernelWarning: The kernel writes a READ argument, or uses or overwrites an INC argument.
    """
    core = kernel.core
    if not core.has_signature:
        return
    arguments = [Descriptor(*descriptor) for descriptor in descriptors]  # type: ignore[arg-type] # dtype
    _check_count(kernel, arguments)
    for parameter, argument in zip(core.parameters, arguments, strict=True):
        _check_type(kernel, parameter, argument)
    facts = kernel.facts
    if facts is None:
        return
    for parameter, argument, known in zip(
        core.parameters, arguments, facts.parameters, strict=True
    ):
        message = _misuse(parameter, argument, known)
        if message is None:
            continue
        if strict:
            raise UsageError(f"Kernel '{kernel.name}': {message}; strict=True allows no such thing")
        warnings.warn(f"Kernel '{kernel.name}': {message}", KernelWarning, stacklevel=stacklevel)


def _check_count(kernel: Kernel, arguments: Sequence[Descriptor]) -> None:
    parameters = kernel.core.parameters
    if len(parameters) == len(arguments):
        return
    raise UsageError(
        f"Kernel '{kernel.name}' has {len(parameters)} parameters"
        f" ({', '.join(map(repr, parameters))}) but the loop passes {len(arguments)} arguments"
        f" ({', '.join(argument.what for argument in arguments)});"
        " pass one argument for each parameter, in their order"
    )


def _fits(parameter: _core.KernelParameter, argument: Descriptor) -> bool:
    type_ = parameter.type
    if argument.dtype is None or (type_.base == "void" and type_.depth > 0):
        return True
    depth = 0 if argument.access is None else 1
    return type_.depth == depth and _has_dtype(parameter, argument.dtype)


def _check_type(kernel: Kernel, parameter: _core.KernelParameter, argument: Descriptor) -> None:
    if _fits(parameter, argument):
        return
    assert argument.dtype is not None  # any parameter takes what has no dtype
    type_ = parameter.type
    depth = 0 if argument.access is None else 1
    has_right_scalar = _has_dtype(parameter, argument.dtype)
    wanted = argument.dtype.name
    wanted = "uint8" if wanted == "bool" else wanted
    star = "" if argument.access is None else "*"
    expected = f"'{c_name(wanted)} {star}{parameter.name}'"
    advice = f"declare it {expected}"
    if type_.depth > 1:
        advice = _ADVICE_POINTER.format(expected=expected, name=parameter.name)
    elif not has_right_scalar and type_.depth == depth:
        advice += f", or make the data {type_.base}"
        wide = _WIDE.get(wanted)
        if wide is not None and type_.dtype == core_dtype(wide):
            advice += (
                f", or leave memory as it is and let kernels see {type_.base}: op2.Dat(..., "
                f"dtype='{wanted}', compute='{wide}')"
            )
    raise UsageError(
        f"Kernel '{kernel.name}', line {parameter.line}: parameter '{parameter!r}' gets argument"
        f" {argument.position}, {argument.what}, of dtype {argument.dtype.name}:"
        f" expected {expected}, got '{parameter!r}'; {advice}"
    )


def _misuse(
    parameter: _core.KernelParameter, argument: Descriptor, known: _core.ParameterFacts
) -> str | None:
    access = argument.access
    line = known.foreign_read_line(_core.Access.inc) if access == INC else 0
    is_wrong = known.is_written if access == READ else line or (access == INC and known.store_line)
    if not is_wrong:
        return None
    shown = f"parameter '{parameter.name}' (argument {argument.position}, {argument.what})"
    if access == READ:
        return (
            f"line {known.first_write_line} writes to {shown}, which the loop only READs;"
            " pass it with RW, WRITE or INC, or declare it const"
        )
    if line:
        return (
            f"line {line} uses the value of {shown}, which the loop INCrements: it holds this"
            " element's share only, or a sum that others are still adding to; use a local"
            " variable, or pass it with RW"
        )
    return (
        f"line {known.store_line} overwrites {shown}, which the loop INCrements: what it holds"
        " is added to the Dat, and may be a sum already; write +=, or pass it with WRITE"
    )
