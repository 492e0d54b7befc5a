# SPDX-License-Identifier: BSD-3-Clause
"""A kernel with the checks of check mode inside, and the messages of failed checks."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.kernel.parser import known
from pyop2cxx.kernel.parser.known import Description
from pyop2cxx.loop.bounds import Given
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.kernel.parser.wire import ParsedKernel

_A, _B = 1 << 40, 1 << 39  # prelude.j2 packs a parameter and an index into a single number


@dataclass(frozen=True, slots=True)
class Site:
    """A check in a kernel.

    Attributes:
        check: The watched property: a name of the core's, or ``"written"`` and ``"extreme"``.
        line: Of the kernel.
        name: Of the array or variable; may be empty.
        parameter: The kernel's, or -1.
        extent: Values of the array, or -1; of an overflow, bits of the result.
    """

    check: str
    line: int
    name: str
    parameter: int
    extent: int

    def place(self, value: int) -> tuple[int, int]:
        """Return the parameter of a finding, or -1, and the index."""
        if self.check == "unset":
            return self.parameter, 0
        if self.check not in ("bounds", "load", "store", "update"):
            return self.parameter, value
        who = (value + _B) // _A
        return (self.parameter if who < 0 else who), value - who * _A


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """A kernel with two more arguments, and the element after all others.

    Attributes:
        kernel: The arguments are the user's, then `long *` for the first finding, MIN of two,
            `const long *` for the number of the finding whose value is wanted and the last element
            with counted shares of sums, and `double *` for each sum, INC.
        sites: Checks by index; the number of a finding is (element * n_sites + site).
    """

    kernel: Kernel
    sites: tuple[Site, ...]


def checked(
    kernel: Kernel,
    given: _core.CheckInput,
    *,
    layer: bool,
    matrices: frozenset[int] = frozenset(),
    sums: tuple[int, ...] = (),
) -> CheckedKernel:
    """Return a kernel with checks.

    Args:
        kernel: The user's, not opaque.
        given: Size and use of each parameter.
        layer: Whether the last parameter is the layer.
        matrices: Parameters with entries of matrices: all 0 before a write.
        sums: Parameters of access INC with shares also summed as double; for real numbers the sum
            is 0 for finite shares, else NaN.
    """
    return _checked(kernel, Given(given, kernel.text), layer, matrices, sums)


@until_exit(128)
def _checked(
    kernel: Kernel, key: Given, layer: bool, matrices: frozenset[int], sums: tuple[int, ...]
) -> CheckedKernel:
    assert kernel.core.body is not None
    given = key.given
    made = _core.with_checks(kernel.core.body, given)
    sites = [Site(s.check, s.line, s.name, s.parameter, s.extent) for s in made.sites]
    text = _shell(kernel, made, given, sites, layer=layer, matrices=matrices, sums=sums)
    shell, _ = known.parsed(_description(text, kernel.name))
    body = _core.checked_kernel(_prelude(), made, _core.KernelBody(shell.functions, shell.tables))
    tokens = ("checked", kernel.core.key, text, repr(given.key()), _prelude_text())
    result = _with_body(kernel, shell.parameters, body, tokens)
    return CheckedKernel(result, tuple(sites))


def suspicious(kernel: Kernel, given: _core.CheckInput) -> CheckedKernel | None:
    """Return a kernel with an additional argument, which stays 0 if no check of `checked` can fail.

    Args:
        kernel: The user's, not opaque.
        given: As of `checked`.

    Returns:
        The kernel, with `double *`, INC, as last argument: a value not finite puts NaN there, or
        into another argument of access INC. None if checks may fail for other reasons. Without
        `sites` no check can fail.
    """
    return _suspicious(kernel, Given(given, kernel.text))


@until_exit(128)
def _suspicious(kernel: Kernel, key: Given) -> CheckedKernel | None:
    assert kernel.core.body is not None
    given = key.given
    made = _core.with_suspicion(kernel.core.body, given)
    if made is None or any(access in _WRONG_WAY for access in given.accesses):
        return None
    own = kernel.core.parameters
    if any(parameter.type.depth != 1 for parameter in own):
        return None
    parameters = [p.type.c_text(p.name or f"op2_a{i}") for i, p in enumerate(own)]
    text = f"void {kernel.name}({', '.join([*parameters, 'double *op2_check'])}) {{}}"
    shell, _ = known.parsed(_description(text, kernel.name))
    tokens = ("suspicious", kernel.core.key, repr(given.key()))
    result = _with_body(kernel, shell.parameters, made.body, tokens)
    sites = [Site(s.check, s.line, s.name, s.parameter, s.extent) for s in made.sites]
    return CheckedKernel(result, tuple(sites))


def _with_body(
    kernel: Kernel,
    parameters: Any,
    body: _core.KernelBody,
    tokens: tuple[str, ...],
) -> Kernel:
    """Return the kernel with other parameters and another body."""
    core = kernel.core
    result = copy.copy(kernel)
    result.core = _core.Kernel(
        name=kernel.name,
        text=core.text,
        parameters=parameters,
        body=body,
        opaque_reason="",
        cpp=False,
        headers=core.headers,
        include_dirs=core.include_dirs,
        options=core.options,
        ldargs=core.ldargs,
        requires_zeroed_output_arguments=core.requires_zeroed_output_arguments,
        flop_count=core.flop_count,
        tokens=tokens,
        header_contents=(),
        abi=kernel.abi,
    )
    return result


def _shell(
    kernel: Kernel,
    made: _core.CheckedBody,
    given: _core.CheckInput,
    sites: list[Site],
    *,
    layer: bool,
    matrices: frozenset[int],
    sums: tuple[int, ...],
) -> str:
    """Return the text of the function called by the loop, including checks of arguments."""
    own = kernel.core.parameters
    names = [parameter.name or f"op2_a{i}" for i, parameter in enumerate(own)]
    parameters = [p.type.c_text(name) for p, name in zip(own, names, strict=True)]
    hidden = ["long *op2_found", "const long *op2_wanted"]
    is_complex = [own[i].type.base.startswith("complex") for i in sums]
    hidden += [
        f"double {'complex ' if two else ''}*op2_total_{names[i]}"
        for i, two in zip(sums, is_complex, strict=True)
    ]
    at = len(own) - layer
    watched, kept, promised = [], [], []
    line = made.line
    for i, (access, extent) in enumerate(zip(given.accesses, given.extents, strict=True)):
        if access is None:
            continue
        known_facts = kernel.facts.parameters[i] if kernel.facts else None
        array = _array(names, i, given)
        if made.has_bits:
            watched.append(array | {"bits": _BITS[access] | (_HAS_VALUE if i in matrices else 0)})
        if i in matrices:
            continue
        if access == _core.Access.write and (i in given.rows or made.n_stored[i] < extent):
            promised.append(array | {"site": len(sites)})
            sites.append(Site("written", line, own[i].name, i, extent))
        commutes = known_facts is not None and known_facts.commutes(access)
        if access in _WRONG_WAY and not commutes and own[i].type.depth == 1:
            c_type = own[i].type.scalar_text
            relation = _WRONG_WAY[access]
            kept.append(array | {"site": len(sites), "c_type": c_type, "relation": relation})
            sites.append(Site("extreme", line, own[i].name, i, extent))
    bits = [f"op2_bits_{array['name']}" for array in watched]
    shares = [
        _array(names, i, given)
        | {
            "c_type": own[i].type.scalar_text,
            "is_whole": not own[i].type.base.startswith(("float", "complex")),
        }
        for i in sums
    ]
    passed = [f"op2_share_{name}" if i in sums else name for i, name in enumerate(names)]
    return render(
        "check/shell.j2",
        {
            "name": kernel.name,
            "parameters": [*parameters[:at], *hidden, *parameters[at:], "long op2_element"],
            "arguments": [*passed, *bits, "op2_check"],
            "entry": made.entry,
            "n_sites": max(len(sites), 1),
            "watched": watched,
            "kept": kept,
            "promised": promised,
            "shares": shares,
        },
    )


def _array(names: Sequence[str], i: int, given: _core.CheckInput) -> dict[str, Any]:
    """Return name and extent of a parameter's array, and in C how many values it has."""
    if i not in given.rows:
        extent = max(given.extents[i], 1)
        return {"name": names[i], "extent": extent, "n": extent}
    counts, dim = given.rows[i]
    return {
        "name": names[i],
        "extent": max(_core.MOST_RAGGED ** len(counts) * dim, 1),
        "n": f"({' * '.join(f'*{names[one]}' for one in counts)} * {dim})",
    }


_HAS_VALUE = 1
_BITS = {
    _core.Access.read: 1,
    _core.Access.write: 2,
    _core.Access.inc: 4,
    _core.Access.rw: 3,
    _core.Access.min: 3,
    _core.Access.max: 3,
}
_WRONG_WAY = {_core.Access.min: ">", _core.Access.max: "<"}


@lru_cache(maxsize=1)
def _prelude_text() -> str:
    return render("check/prelude.j2", {})


@until_exit(1)
def _prelude() -> _core.KernelBody:
    parsed: ParsedKernel = known.parsed(_description(_prelude_text(), "op2_prelude"))[0]
    return _core.KernelBody(parsed.functions, parsed.tables)


def _description(text: str, name: str) -> Description:
    return Description(
        code=text,
        name=name,
        headers=(),
        include_dirs=(),
        options=(),
        ldargs=(),
        cpp=False,
        flop_count=-1,
        abi="2026",
        requires_zeroed_output_arguments=False,
        header_contents=(),
    )
