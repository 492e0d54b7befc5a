# SPDX-License-Identifier: BSD-3-Clause
"""From a par_loop's arguments to the symbolic Loop: aliases, unique Maps, constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.data.dats import DatArg
from pyop2cxx.data.handles import PassthroughArg
from pyop2cxx.data.mat_args import DenseBlockArg, MatArg, MixedMatArg
from pyop2cxx.data.mixed_dats import MixedDatArg
from pyop2cxx.kernel.kernel import free_names
from pyop2cxx.loop.parts import cells_of, is_masked, layout_of, maps_of, parts_of, target_map
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.derived_maps import MaskedMap
from pyop2cxx.sets.items import path_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyop2cxx.data.constants import Const
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parts import Arg, Part
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.maps import Map


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
        set=_set_number(items, maps, tosets),
    )
    spaces = _spaces(args, maps, memory)
    return Symbolic(loop=loop, maps=maps, spaces=spaces, constants=constants)


def _set_number(items: Items, maps: Sequence[Map], tosets: Sequence[int]) -> int:
    """Return the number of the visited Set among those that Maps lead to, or that of none."""
    numbers = {m.toset._uid: number for m, number in zip(maps, tosets, strict=True)}
    return numbers.get(items.whole._uid, _core.VISITED_ALONE)


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
