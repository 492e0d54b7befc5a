# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of PyOP2's older conventions: wrapped in a function of the one that there is.

`Kernel(..., abi="2016")` and `abi="2013"` say how a kernel takes its arguments; what a loop passes
says which form it is:

- ``dat(access)``, ``dat(access, map[k])``, Globals: ``T *``, as always.
- ``dat(access, map)``: ``T **``, a pointer to the values of each entry.
- ``dat(access, map, flatten=True)``: ``T **``, a pointer to each value, one component of all
  entries after the other.
- ``dat(access, map[op2.i[0]])``: in 2016 ``T *`` to the values of all entries, ordered by
  component first if flattened; in 2013 ``T *`` to one entry, and the kernel is called for each
  with its number as an additional argument.
- 2013, extruded: the layer as the last argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.exceptions import IndexValueError, UsageError
from pyop2cxx.types.access import READ, RW, WRITE
from pyop2cxx.types.args import DatArg, LegacyDatArg

if TYPE_CHECKING:
    from pyop2cxx.kernel import Kernel
    from pyop2cxx.symbolic import Arg


@dataclass(frozen=True, slots=True)
class _Form:
    """How one argument is taken.

    Attributes:
        kind: 'live', 'rows', 'scalars', 'flat', 'flattened' or 'point'.
        c_type: The C type of a value.
        arity: Entries of the Map; 1 without one.
        dim: Values of an entry.
        access: The number of the access.
        index: The dimension of the space the kernel is called over; of 'point' only.
    """

    kind: str
    c_type: str
    arity: int
    dim: int
    access: int
    index: int = 0


def adapted(
    kernel: Kernel, args: tuple[Arg, ...], *, layer: bool
) -> tuple[Kernel, tuple[Arg, ...]]:
    """Return a kernel of today's convention that calls one of an older one, and its arguments.

    Args:
        kernel: The older kernel.
        args: The arguments of a loop.
        layer: Whether the kernel gets the layer, after all else.

    Raises:
        IndexValueError: Arguments run over spaces of different sizes.
        UsageError: The kernel has not as many parameters as this needs.
    """
    forms = tuple(_form(arg, kernel.abi) for arg in args)
    extents = _extents(kernel.name, forms)
    _check_parameters(kernel, args, len(args) + len(extents) + layer)
    # what these kernels see of a WRITE argument is the values themselves
    passed = tuple(
        DatArg(arg.data, arg.map_, RW)
        if isinstance(arg, DatArg)
        and arg.map_ is not None
        and arg.access == WRITE
        and form.kind in ("rows", "scalars", "live")
        else arg
        for arg, form in zip(args, forms, strict=True)
    )
    return _wrapped(kernel, forms, extents, layer), passed


def _form(arg: Arg, abi: str) -> _Form:
    c_type = _core.c_name_of(_core.dtype_from_name(arg.data.dtype.name))
    flatten = isinstance(arg, LegacyDatArg) and arg.flatten
    index = arg.index if isinstance(arg, LegacyDatArg) else None
    if not isinstance(arg, DatArg) or arg.map_ is None:
        return _Form("live", c_type, 1, 1, int(arg.access))
    arity, dim, access = arg.map_.arity, arg.data.cdim, int(arg.access)
    if index is None:
        # one entry of a Map is a Map of one entry
        kind = "scalars" if flatten else "live" if arg.map_._is_slot else "rows"
        return _Form(kind, c_type, arity, dim, access)
    if abi == "2013":
        return _Form("point", c_type, arity, dim, access, index)
    return _Form("flattened" if flatten and dim > 1 else "flat", c_type, arity, dim, access)


def _extents(name: str, forms: tuple[_Form, ...]) -> tuple[int, ...]:
    """Return the sizes of the space that a kernel of 2013 is called over."""
    found: dict[int, int] = {}
    for form in forms:
        if form.kind != "point":
            continue
        size = found.setdefault(form.index, form.arity)
        if size != form.arity:
            raise IndexValueError(
                f"Kernel '{name}': op2.i[{form.index}] runs over {size} entries of one Map and "
                f"{form.arity} of another"
            )
    return tuple(found[index] for index in sorted(found))


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
        if found is not None and found.name != dtype.name:
            raise UsageError(
                f"Kernel '{kernel.name}': parameter '{parameter!r}' gets argument {i}, "
                f"{type(arg.data).__name__} '{arg.data.name}' of dtype {dtype.name}"
            )


@lru_cache(maxsize=256)
def _wrapped(
    kernel: Kernel, forms: tuple[_Form, ...], extents: tuple[int, ...], layer: bool
) -> Kernel:
    name = f"{kernel.name}_packed"
    parameters, before, passed, after = [], [], [], []
    for i, form in enumerate(forms):
        x = f"a{i}"
        const = "const " if form.access == READ else ""
        parameters.append(f"{const}{form.c_type} *{x}")
        # older kernels seldom declare const what they only read
        plain = f"({form.c_type} *){x}" if const else x
        if form.kind == "rows":
            entries = ", ".join(f"{plain} + {k * form.dim}" for k in range(form.arity))
            before.append(f"{form.c_type} *r{i}[{form.arity}] = {{{entries}}};")
            passed.append(f"r{i}")
        elif form.kind == "scalars":
            entries = ", ".join(
                f"{plain} + {k * form.dim + c}" for c in range(form.dim) for k in range(form.arity)
            )
            before.append(f"{form.c_type} *r{i}[{form.arity * form.dim}] = {{{entries}}};")
            passed.append(f"r{i}")
        elif form.kind == "flattened":
            size = form.arity * form.dim
            before.append(f"{form.c_type} r{i}[{size}];")
            pairs = [
                (c * form.arity + k, k * form.dim + c)
                for k in range(form.arity)
                for c in range(form.dim)
            ]
            before += [f"r{i}[{to}] = {x}[{at}];" for to, at in pairs]
            if form.access != READ:
                after += [f"{x}[{at}] = r{i}[{to}];" for to, at in pairs]
            passed.append(f"r{i}")
        elif form.kind == "point":
            passed.append(f"{plain} + i{form.index} * {form.dim}")
        else:
            passed.append(plain)
    passed += [f"i{k}" for k in range(len(extents))]
    if layer:
        parameters.append("int layer")
        passed.append("layer")
    call = f"{kernel.name}({', '.join(passed)});"
    for k in reversed(range(len(extents))):
        call = f"for (int i{k} = 0; i{k} < {extents[k]}; ++i{k}) {{ {call} }}"
    body = "\n  ".join([*before, call, *after])
    code = f"{kernel.code}\nvoid {name}({', '.join(parameters)}) {{\n  {body}\n}}\n"
    return kernel.with_code(code, name)
