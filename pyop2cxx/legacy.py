# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of other conventions: wrapped in a function of the one that there is.

`Kernel(..., abi="2016")` and `abi="2013"` say how a kernel takes its arguments; what a loop passes
says which form it is:

- ``dat(access)``, ``dat(access, map[k])``, Globals: ``T *``, as always.
- ``dat(access, map)``: ``T **``, a pointer to the values of each entry.
- ``dat(access, map, flatten=True)``: ``T **``, a pointer to each value, one component of all
  entries after the other.
- ``dat(access, map[op2.i[0]])``: in 2016 ``T *`` to the values of all entries, ordered by
  component first if flattened; in 2013 ``T *`` to one entry, and the kernel is called for each
  with its number as an additional argument.
- ``mat(access, (map[op2.i[0]], map[op2.i[1]]))``: ``T A[rows][columns]``; in 2013 those of one pair
  of entries, and the kernel is called for each pair.
- 2013, extruded: the layer as the last argument.

In all of them, and in today's convention, a parameter may be declared as an array of arrays,
``double x[3][2]``; and a function declared without parameters, ``void k()``, takes whatever it
gets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.exceptions import IndexValueError, UsageError
from pyop2cxx.types.access import INC, READ, RW, WRITE
from pyop2cxx.types.args import DatArg, LegacyDatArg, MatArg, MixedDatArg

if TYPE_CHECKING:
    from pyop2cxx.kernel import Kernel
    from pyop2cxx.symbolic import Arg


@dataclass(frozen=True, slots=True)
class _Form:
    """How one argument is taken.

    Attributes:
        kind: 'live', 'rows', 'scalars', 'flat', 'flattened', 'point', 'array' or 'block'.
        c_type: The C type of a value.
        arity: Entries of the Map, of all cells of an element; 1 without one.
        dim: Values of an entry.
        access: The number of the access.
        index: The dimension of the space the kernel is called over; of 'point' only.
        cells: Of an element: 2 of a facet, else 1.
        extents: Of the array of arrays that the kernel takes.
        block: Of a matrix: entries of the Map to its rows, and of that to its columns; rows and
            columns of one entry.
    """

    kind: str
    c_type: str
    arity: int
    dim: int
    access: int
    index: int = 0
    cells: int = 1
    extents: tuple[int, ...] = ()
    block: tuple[int, int, int, int] = (1, 1, 1, 1)


def needs_adapting(kernel: Kernel) -> bool:
    """Say whether a kernel of today's convention has to be called in another form or by name."""
    is_renamed = kernel.core.body is None and kernel.name in _core.local_names()
    return is_renamed or _takes_anything(kernel) or any(_extents_of(p) for p in kernel.parameters)


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
    forms = tuple(_form(arg, kernel.abi, 2 if facets else 1) for arg in args)
    extents = _extents(kernel.name, forms)
    if not _takes_anything(kernel):
        _check_parameters(kernel, args, len(args) + len(extents) + layer)
        forms = tuple(_shaped(kernel, i, form) for i, form in enumerate(forms))
    if kernel.abi == "2026":
        return _wrapped(kernel, forms, extents, layer), args
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


def _form(arg: Arg, abi: str, cells: int) -> _Form:
    c_type = _core.c_name_of(_core.dtype_from_name(arg.data.dtype.name))
    access = int(arg.access)
    if isinstance(arg, MatArg):
        rows, cols = arg.maps
        block = (cells * rows.arity, cells * cols.arity, *arg.data.block_dims)
        size, dim = block[0] * block[2], block[1] * block[3]
        kind = "block" if abi == "2013" else "live"
        return _Form(kind, c_type, size, dim, access, block=block)
    if isinstance(arg, MixedDatArg):
        maps = [None] * len(arg.data) if arg.map_ is None else arg.map_.split
        counts = [dat.cdim for dat in arg.data]
        sizes = [n if m is None else cells * n * m.arity for n, m in zip(counts, maps, strict=True)]
        return _Form("live", c_type, 1, sum(sizes), access)
    flatten = isinstance(arg, LegacyDatArg) and arg.flatten
    index = arg.index if isinstance(arg, LegacyDatArg) else None
    if not isinstance(arg, DatArg) or arg.map_ is None:
        return _Form("live", c_type, 1, arg.data.cdim, access)
    arity, dim = cells * arg.map_.arity, arg.data.cdim
    if abi == "2026":
        kind = "live"
    elif index is None:
        # one entry of a Map is a Map of one entry
        kind = "scalars" if flatten else "live" if arg.map_._is_slot else "rows"
    elif abi == "2013":
        kind = "point"
    else:
        kind = "flattened" if flatten and dim > 1 else "flat"
    return _Form(kind, c_type, arity, dim, access, index or 0, cells=cells)


def _takes_anything(kernel: Kernel) -> bool:
    """Say whether the kernel is declared as ``void k()``, which C calls with any arguments."""
    if not kernel.core.has_signature or kernel.parameters:
        return False
    return re.search(rf"\b{kernel.name}\s*\(\s*\)", kernel.code) is not None


def _extents_of(parameter: _core.KernelParameter) -> tuple[int, ...]:
    """Return the extents of an array of arrays, 0 for a first one left out; () for all else."""
    if parameter.type.depth < 2:  # an array of arrays
        return ()
    found = re.findall(r"\[(\d*)\]", parameter.type.c_text(parameter.name))
    return tuple(int(n or 0) for n in found) if len(found) == parameter.type.depth else ()


def _shaped(kernel: Kernel, i: int, form: _Form) -> _Form:
    """Return the form of an argument that its parameter takes as an array of arrays."""
    if i >= len(kernel.parameters) or form.kind in ("rows", "scalars", "flattened"):
        return form
    extents = _extents_of(kernel.parameters[i])
    if not extents:
        return form
    size = form.arity * form.dim
    if form.kind == "block":
        size = form.block[2] * form.block[3]
    elif form.kind == "point":
        size = form.dim
    if extents[0] == 0:
        extents = (size // max(prod(extents[1:]), 1), *extents[1:])
    if prod(extents) != size:
        raise UsageError(
            f"Kernel '{kernel.name}': parameter '{kernel.parameters[i]!r}' has {prod(extents)} "
            f"values, but argument {i} has {size} of one element"
        )
    kind = form.kind if form.kind in ("block", "point") else "array"
    return replace(form, kind=kind, extents=extents)


def _extents(name: str, forms: tuple[_Form, ...]) -> tuple[int, ...]:
    """Return the sizes of the space that a kernel of 2013 is called over."""
    found: dict[int, int] = {}
    spaces = [(f.index, f.arity) for f in forms if f.kind == "point"]
    spaces += [(k, f.block[k]) for f in forms if f.kind == "block" for k in range(2)]
    for index, arity in spaces:
        size = found.setdefault(index, arity)
        if size != arity:
            raise IndexValueError(
                f"Kernel '{name}': op2.i[{index}] runs over {size} entries of one Map and "
                f"{arity} of another"
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
        if found is not None and found != _core.dtype_from_name(dtype.name):
            raise UsageError(
                f"Kernel '{kernel.name}': parameter '{parameter!r}' gets argument {i}, "
                f"{type(arg.data).__name__} '{arg.data.name}' of dtype {dtype.name}"
            )


@lru_cache(maxsize=256)
def _wrapped(
    kernel: Kernel, forms: tuple[_Form, ...], extents: tuple[int, ...], layer: bool
) -> Kernel:
    name = f"{kernel.name}_packed"
    parameters: list[str] = []
    # around all calls, and around each one where the kernel is called for points of a space
    outer, inner = _Text([], []), _Text([], [])
    passed = [
        _passed(i, form, parameters, inner if form.kind in ("block", "point") else outer)
        for i, form in enumerate(forms)
    ]
    passed += [f"i{k}" for k in range(len(extents))]
    if layer:
        parameters.append("int layer")
        passed.append("layer")
    if _takes_anything(kernel):
        passed = []
    call = " ".join([*inner.before, f"{kernel.name}({', '.join(passed)});", *inner.after])
    for k in reversed(range(len(extents))):
        call = f"for (int i{k} = 0; i{k} < {extents[k]}; ++i{k}) {{ {call} }}"
    body = "\n  ".join([*outer.before, call, *outer.after])
    code = f"{kernel.code}\nvoid {name}({', '.join(parameters)}) {{\n  {body}\n}}\n"
    return kernel.with_code(code, name)


@dataclass(frozen=True, slots=True)
class _Text:
    """Statements before and after a call."""

    before: list[str]
    after: list[str]


def _passed(i: int, form: _Form, parameters: list[str], text: _Text) -> str:
    """Return what the kernel is passed for one argument, after writing what that needs."""
    x = f"a{i}"
    const = "const " if form.access == READ else ""
    parameters.append(f"{const}{form.c_type} *{x}")
    # older kernels seldom declare const what they only read
    plain = f"({form.c_type} *){x}" if const else x
    if form.kind == "rows":
        entries = ", ".join(f"{plain} + {k * form.dim}" for k in range(form.arity))
        text.before.append(f"{form.c_type} *r{i}[{form.arity}] = {{{entries}}};")
        return f"r{i}"
    if form.kind == "scalars":
        entries = ", ".join(f"{plain} + {at}" for at in _components_first(form))
        text.before.append(f"{form.c_type} *r{i}[{form.arity * form.dim}] = {{{entries}}};")
        return f"r{i}"
    if form.kind == "flattened":
        text.before.append(f"{form.c_type} r{i}[{form.arity * form.dim}];")
        pairs = list(enumerate(_components_first(form)))
        text.before.extend(f"r{i}[{to}] = {x}[{at}];" for to, at in pairs)
        if form.access != READ:
            text.after.extend(f"{x}[{at}] = r{i}[{to}];" for to, at in pairs)
        return f"r{i}"
    if form.kind == "block":
        return _copied(i, form, form.extents or form.block[2:], _place_in_block(form), text)
    start = f"i{form.index} * {form.dim} + " if form.kind == "point" else ""
    if form.extents:
        return _copied(i, form, form.extents, start + _flat(form.extents), text)
    return f"{plain} + i{form.index} * {form.dim}" if start else plain


def _components_first(form: _Form) -> list[int]:
    """Return where values lie that are ordered by cell, then component, then entry."""
    per_cell = form.arity // form.cells
    return [
        (cell * per_cell + k) * form.dim + c
        for cell in range(form.cells)
        for c in range(form.dim)
        for k in range(per_cell)
    ]


def _flat(extents: tuple[int, ...]) -> str:
    """Return where value ``[p0][p1]...`` of an array lies."""
    return " + ".join(f"p{k} * {prod(extents[k + 1 :])}" for k in range(len(extents)))


def _place_in_block(form: _Form) -> str:
    """Return where value ``[p0][p1]`` of the block (i0, i1) lies in the element's matrix."""
    _, n_columns, row_dim, col_dim = form.block
    return f"(i0 * {row_dim} + p0) * {n_columns * col_dim} + i1 * {col_dim} + p1"


def _copied(i: int, form: _Form, extents: tuple[int, ...], at: str, text: _Text) -> str:
    """Write the copies into an array of arrays and back; return its name."""
    array = f"r{i}" + "".join(f"[{n}]" for n in extents)
    value = f"r{i}" + "".join(f"[p{k}]" for k in range(len(extents)))
    loops = " ".join(f"for (int p{k} = 0; p{k} < {n}; ++p{k})" for k, n in enumerate(extents))
    first = "0" if form.access == INC else f"a{i}[{at}]"
    text.before.append(f"{form.c_type} {array}; {loops} {value} = {first};")
    if form.access != READ:
        added = "+=" if form.access == INC else "="
        text.after.append(f"{loops} a{i}[{at}] {added} {value};")
    return f"r{i}"
