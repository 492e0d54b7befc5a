# SPDX-License-Identifier: BSD-3-Clause
"""From a par_loop's arguments to the symbolic Loop: aliases, unique Maps, constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.data.args import DatArg, DenseBlockArg, MatArg, MixedDatArg, MixedMatArg
from pyop2cxx.data.handles import PassthroughArg
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import path_of
from pyop2cxx.sets.masked import MaskedMap

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyop2cxx.data.args import ConstantArg, GlobalArg
    from pyop2cxx.data.constants import Const
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.maps import Map

    Part = DatArg | GlobalArg | ConstantArg | PassthroughArg | MatArg | DenseBlockArg
    Arg = Part | MixedDatArg | MixedMatArg


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbolic:
    """A loop without its data, and which objects stand behind its numbers.

    Attributes:
        loop: The symbolic loop.
        maps: Unique Maps in order of first use.
        spaces: For each Map the class of memory it leads to.
        constants: The Consts that the kernel uses by name, sorted.
    """

    loop: _core.Loop
    maps: tuple[Map, ...]
    spaces: tuple[int, ...]
    constants: tuple[Const, ...]


def parts_of(args: Sequence[Arg]) -> tuple[tuple[Part, ...], list[int]]:
    """Take arguments apart that are made of several, as a MixedDat is of its fields.

    Returns:
        The parts, and for each the number of its argument; no numbers where nothing was taken
        apart.
    """
    parts: list[Part] = []
    numbers: list[int] = []
    for i, arg in enumerate(args):
        # blocks of matrices have their places by now
        found: Any = arg.parts if isinstance(arg, MixedDatArg | MixedMatArg) else (arg,)
        parts += found
        numbers += [i] * len(found)
    return tuple(parts), ([] if len(parts) == len(args) else numbers)


def build(kernel: Kernel, arguments: Sequence[Arg], items: Items) -> Symbolic:
    """Number what the arguments share and make the symbolic Loop.

    Args:
        kernel: The user's kernel.
        arguments: The arguments, already checked.
        items: What the loop visits.
    """
    args, parameters = parts_of(arguments)
    maps = tuple({map_._uid: map_ for arg in args for map_ in maps_of(arg)}.values())
    map_index = {map_._uid: i for i, map_ in enumerate(maps)}
    tosets = _numbered([map_.toset._uid for map_ in maps])
    data, memory = _aliases(args)
    nodes = [
        _node(arg, map_index, _core.Alias(data=data[i], memory=memory[i]))
        for i, arg in enumerate(args)
    ]
    paths = [path_of(m, items, t) for m, t in zip(maps, tosets, strict=True)]
    arities = {map_._uid: path.arity for map_, path in zip(maps, paths, strict=True)}
    arities |= {m.map_._uid: arities[m._uid] for m in maps if isinstance(m, MaskedMap)}
    names = runtime.constants
    constants = tuple(names[name] for name in free_names(kernel) if name in names)
    loop = _core.Loop(
        kernel=kernel.core,
        args=nodes,
        maps=paths,
        constants=[_core.ConstRef(name=c.name, dtype=_dtype(c), dim=c.cdim) for c in constants],
        parameters=parameters,
        iteration=items.iteration,
        places=_places(arguments, arities),
    )
    spaces = _spaces(args, maps, memory)
    return Symbolic(loop=loop, maps=maps, spaces=spaces, constants=constants)


def _places(arguments: Sequence[Arg], arities: Mapping[int, int]) -> list[_core.Place]:
    """Say where the blocks of matrices lie in the kernel's tensors; nothing if there are none."""
    places: list[_core.Place] = []
    for arg in arguments:
        n_parts = len(arg.parts) if isinstance(arg, MixedDatArg | MixedMatArg) else 1
        if isinstance(arg, MixedMatArg) and n_parts > 1:
            places += _places_of(arg, arities)
        else:
            places += [_core.Place(row=0, column=0, n_columns=0, width=0)] * n_parts
    has_blocks = any(isinstance(arg, MixedMatArg) and len(arg.parts) > 1 for arg in arguments)
    return places if has_blocks else []


def _places_of(arg: MixedMatArg, arities: Mapping[int, int]) -> list[_core.Place]:
    return [
        _core.Place(row=row, column=column, n_columns=n_columns, width=width)
        for row, column, n_columns, width in cells_of(arg, arities)
    ]


def cells_of(arg: MixedMatArg, arities: Mapping[int, int]) -> list[tuple[int, int, int, int]]:
    """Say for each part of a mixed matrix where it lies in the kernel's tensor.

    Args:
        arg: The argument.
        arities: Of its Maps in the loop, by number.

    Returns:
        First row, first column and number of columns of each part, and the tensor's width.
    """
    heights, widths = (
        [
            dset.cdim * (1 if map_ is None else arities[map_._uid])
            for dset, map_ in zip(dsets, maps, strict=True)
        ]
        for dsets, maps in zip(arg.data.sparsity.dsets, arg.map_.maps, strict=True)
    )
    return [
        (sum(heights[:i]) + k, sum(widths[:j]), widths[j], sum(widths)) for i, j, k in arg.cells
    ]


def maps_of(arg: Part) -> tuple[Map, ...]:
    """Return the Maps of an argument: none, one, or a matrix's two."""
    if isinstance(arg, MatArg):
        return arg.maps
    return () if arg.map_ is None else (arg.map_,)


def target_map(arg: Part) -> Map | None:
    """Return the Map to what an argument's elements may fight over: a matrix's rows, if many."""
    if isinstance(arg, MatArg):
        return arg.map_.cols if arg.map_.by_columns else arg.map_.rows
    return arg.map_


def free_names(kernel: Kernel) -> list[str]:
    """Names that the kernel uses but nobody declares: Consts, if there are such; sorted."""
    return [] if kernel.facts is None else kernel.facts.free_names


def _dtype(data: object) -> _core.DType:
    return _core.dtype_from_name(data.dtype.name)  # type: ignore[attr-defined]


def _node(
    arg: Part, map_index: dict[int, int], alias: _core.Alias
) -> _core.DirectDat | _core.IndirectDat | _core.GlobalRead | _core.GlobalReduce | _core.MatArg:
    dtype, dim = _dtype(arg.data), arg.data.cdim
    access = _core.Access(int(arg.access))
    if isinstance(arg, PassthroughArg):
        # a row of no values: the pointer is handed on, and elements are called once each
        return _core.DirectDat(
            dtype=dtype, dim=0, access=access, alias=alias, stride=0, component=0
        )
    if isinstance(arg, MatArg):
        row_dim, col_dim = arg.data.block_dims
        return _core.MatArg(
            dtype=dtype,
            row_dim=row_dim,
            col_dim=col_dim,
            access=access,
            row_map=map_index[arg.map_.rows._uid],
            col_map=map_index[arg.map_.cols._uid],
            masked=is_masked(arg),
            unrolled=arg.map_.unrolled,
            alias=alias,
            by_columns=arg.map_.by_columns,
        )
    if isinstance(arg, DatArg | DenseBlockArg):
        dim, stride, component = layout_of(arg)
        place = {"stride": stride, "component": component}
        if arg.map_ is None and isinstance(arg, DenseBlockArg):
            return _core.GlobalReduce(dtype=dtype, dim=dim, access=access, alias=alias)
        if arg.map_ is None:
            return _core.DirectDat(dtype=dtype, dim=dim, access=access, alias=alias, **place)
        index = map_index[arg.map_._uid]
        return _core.IndirectDat(
            dtype=dtype, dim=dim, access=access, map=index, alias=alias, **place
        )
    if arg.access == READ:
        return _core.GlobalRead(dtype=dtype, dim=dim, alias=alias)
    return _core.GlobalReduce(dtype=dtype, dim=dim, access=access, alias=alias)


def is_masked(arg: MatArg) -> bool:
    """Say whether entries of a matrix may have no place."""
    return arg.map_.is_masked or any(map_._is_partial for map_ in arg.maps)


def layout_of(arg: Part) -> tuple[int, int, int]:
    """Return values on an entity, from one to the next or 0, and where they begin among those."""
    if isinstance(arg, DenseBlockArg):
        return arg.dim, arg.stride, arg.component
    return arg.data.cdim, arg.data._stride, arg.data._component


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Number values in order of first use: equal values get equal numbers."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _aliases(args: Sequence[Part]) -> tuple[list[int], list[int]]:
    """Find which arguments are the same array, and which share memory.

    What has no memory yet (static mode, Dats not allocated) aliases nothing but itself.
    """
    keys: list[Hashable] = []
    spans: list[tuple[int, int]] = []
    for arg in args:
        buffer = arg.data._buffer
        if buffer.n_bytes == 0:
            keys.append(arg.data._uid)
            spans.append((0, 0))
        else:
            shape = (arg.data.dtype.str, *layout_of(arg))
            keys.append((buffer.address, buffer.n_bytes, *shape))
            spans.append((buffer.address, buffer.address + buffer.n_bytes))
    data = _numbered(keys)
    memory = _apart(args, data, _overlap_classes(data, spans))
    return data, _numbered(memory)


def _apart(args: Sequence[Part], data: list[int], memory: list[int]) -> list[int]:
    """Different components of one Dat share no memory, unless the whole Dat is used, too."""
    kinds: dict[int, set[tuple[int, int]]] = {}
    for arg, found in zip(args, memory, strict=True):
        kinds.setdefault(found, set()).add((arg.data._buffer.address, layout_of(arg)[1]))
    views = {m for m, seen in kinds.items() if len(seen) == 1 and next(iter(seen))[1]}
    # classes are numbers of data that are in them, so the data's own numbers stay apart from others
    return [d if m in views else m for d, m in zip(data, memory, strict=True)]


def _spaces(args: Sequence[Part], maps: Sequence[Map], memory: list[int]) -> tuple[int, ...]:
    """Give Maps that lead to the same memory the same number, if a Map is what it is written by.

    A Map has one number, so all the memory that it leads to counts as one.
    """
    found = [(target_map(arg), arg.access, m) for arg, m in zip(args, memory, strict=True)]
    paths = [(path, m) for path, _, m in found if path is not None]
    written = {m for path, access, m in found if path is not None and access != READ}
    space = {m: m for m in memory}
    for map_ in maps:
        joined = {space[m] for path, m in paths if path is map_ and m in written}
        space = {m: min(joined) if s in joined else s for m, s in space.items()}
    leads_to = {path._uid: space[m] for path, m in paths if m in written}
    return tuple(leads_to.get(map_._uid, i + len(args)) for i, map_ in enumerate(maps))


def _overlap_classes(data: list[int], spans: list[tuple[int, int]]) -> list[int]:
    """Return for each argument a class that all arguments of overlapping memory share."""
    classes = list(data)
    order = sorted((i for i, span in enumerate(spans) if span[1]), key=lambda i: spans[i])
    reach, current = 0, -1
    for i in order:
        begin, end = spans[i]
        if begin >= reach:
            current = data[i]
        classes[i] = current
        reach = max(reach, end)
    return classes
