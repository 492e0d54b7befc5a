# SPDX-License-Identifier: BSD-3-Clause
"""From the arguments of loops to symbolic Loops: aliases, unique Maps, constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.arrays import core_dtype
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.kernel.kernel import free_names
from pyop2cxx.loop.parts import Kind
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import path_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyop2cxx.data.constants import Const
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.maps import Map

    Memory: TypeAlias = tuple[tuple[_core.Buffer, int, int], ...]
    """Where each argument's values are: a buffer, its address and its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbolic:
    """A loop without data, and the objects behind the numbers.

    Attributes:
        loop: The symbolic loop; None for actions.
        aliases: The memory of each argument.
        numbers: Numbers of the data, and of groups with shared memory.
        maps: Unique Maps in order of first use.
        spaces: For each Map the memory space of the target.
        constants: The Consts used by the kernel by name, sorted.
        epoch: Epoch of the construction.
        memory: Where each argument's values were then.
    """

    loop: Any
    aliases: tuple[_core.Alias, ...]
    numbers: tuple[tuple[int, int], ...]
    maps: tuple[Map, ...]
    spaces: tuple[int, ...]
    constants: tuple[Const, ...]
    epoch: int
    memory: Memory

    @property
    def is_current(self) -> bool:
        """Whether a new construction would give the same result."""
        return self.epoch == runtime.epoch and all(
            buffer.address == address and buffer.n_bytes == n_bytes
            for buffer, address, n_bytes in self.memory
        )

    def renewed(self, parts: Sequence[Part]) -> Symbolic | None:
        """Return an updated copy if data have only been allocated, which happens on first use.

        Args:
            parts: The arguments of the construction, for a single loop.

        Returns:
            None if a new construction is needed.
        """
        if self.epoch != runtime.epoch:
            return None
        memory = memory_of(parts)
        if self.numbers != tuple(zip(*aliases(parts, memory), strict=True)):
            return None
        return replace(self, memory=memory)


def build(kernel: Kernel, parts: Sequence[Part], items: Items) -> Symbolic:
    """Number the shared objects of the arguments and make the symbolic Loop.

    Args:
        kernel: The user's kernel.
        parts: The arguments, already checked.
        items: The visited items.
    """
    return build_together([Member(kernel, parts, items)])[0]


class Member(NamedTuple):
    """A loop among several numbered together.

    Attributes:
        kernel: The user's kernel; None for an action, with numbered arguments all the same.
        parts: The arguments.
        items: The visited items.
    """

    kernel: Kernel | None
    parts: Sequence[Part]
    items: Items | None


def build_together(members: Sequence[Member]) -> list[Symbolic]:
    """Make symbolic Loops with common numbers: equal numbers mean equal objects.

    Args:
        members: The loops.
    """
    parts = [part for member in members for part in member.parts]
    maps = maps_of(parts)
    tosets = _numbered([map_.toset.uid for map_ in maps])
    found = memory_of(parts)
    data, memory = aliases(parts, found)
    names = runtime.constants
    used = {name for member in members if member.kernel for name in free_names(member.kernel)}
    shared: dict[str, Any] = {
        "maps": maps,
        "spaces": _spaces(parts, maps, memory),
        "constants": tuple(names[name] for name in sorted(used) if name in names),
        "epoch": runtime.epoch,
        "memory": found,
    }
    numbers = tuple(zip(data, memory, strict=True))
    sets = _set_numbers(members, maps, tosets)
    built, first = [], 0
    for member, number in zip(members, sets, strict=True):
        own = numbers[first : first + len(member.parts)]
        first += len(own)
        alias = tuple(_core.Alias(data=d, memory=m) for d, m in own)
        loop = _loop(member, alias, number, tosets, shared)
        built.append(Symbolic(loop=loop, aliases=alias, numbers=own, **shared))
    return built


def structure_of(parts: Sequence[Part]) -> tuple[Memory, tuple[Map, ...], Hashable] | None:
    """Return the arguments of a loop as the analysis sees them.

    Args:
        parts: The arguments.

    Returns:
        The memory, the unique Maps, and the rest as a key; None for matrices and handles.
    """
    memory = memory_of(parts)
    kinds: list[Hashable] = []
    for part, (buffer, _, _) in zip(parts, memory, strict=True):
        if part.kind not in (Kind.ROWS, Kind.TOTAL) or part.is_of_matrix:
            return None
        home = None if part.home is None else part.home.uid
        through = tuple(map_.uid for map_ in part.maps)
        what = (part.number, part.kind, part.access, part.layout, part.n_scalars, part.is_field)
        types = (part.dtype.str, part.compute.str, buffer.is_soa, type(part.data))
        kinds.append((what, types, through, home))
    return memory, maps_of(parts), (*kinds, *map(tuple, aliases(parts, memory)))


def maps_of(parts: Sequence[Part]) -> tuple[Map, ...]:
    """Return the unique Maps of arguments in order of first use."""
    return tuple({map_.uid: map_ for part in parts for map_ in part.maps}.values())


def memory_of(parts: Sequence[Part]) -> Memory:
    """Return where the values of arguments are now."""
    return tuple((b, b.address, b.n_bytes) for b in (part.buffer for part in parts))


def _loop(
    member: Member,
    own: Sequence[_core.Alias],
    number: int,
    tosets: Sequence[int],
    shared: Mapping[str, Any],
) -> Any:
    kernel, parts, items = member
    if kernel is None or items is None:
        return None
    maps, constants = shared["maps"], shared["constants"]
    paths = [path_of(m, items, t) for m, t in zip(maps, tosets, strict=True)]
    arities = {map_.uid: path.arity for map_, path in zip(maps, paths, strict=True)}
    index = {map_.uid: i for i, map_ in enumerate(maps)}
    return _core.Loop(
        kernel=kernel.core,
        args=[
            _core.Operand(
                arg=_node(part, index, alias),
                parameter=part.number,
                place=_place(part, arities),
            )
            for part, alias in zip(parts, own, strict=True)
        ],
        maps=paths,
        constants=[
            _core.ConstRef(name=c.name, dtype=core_dtype(c.dtype), dim=c.cdim) for c in constants
        ],
        iteration=items.iteration,
        set=number,
    )


def _set_numbers(
    members: Sequence[Member], maps: Sequence[Map], tosets: Sequence[int]
) -> list[int]:
    """Number the visited Sets like the targets of Maps, followed by others.

    In a single loop, a Set without Maps leading there needs no number.
    """
    numbers: dict[object, int] = {
        m.toset.uid: number for m, number in zip(maps, tosets, strict=True)
    }
    if len(members) == 1:
        items = members[0].items
        return [numbers.get(items.whole.uid if items else -1, _core.VISITED_ALONE)]
    return [
        _core.VISITED_ALONE
        if member.items is None
        else numbers.setdefault(_visited(member.items), len(numbers))
        for member in members
    ]


def _visited(items: Items) -> object:
    """Identify the visited elements of a Set: the owned, or near ghosts as well."""
    whole = items.whole
    has_ghosts = whole.is_distributed and not items.tables and items.n > whole.size
    return (whole.uid, items.n) if has_ghosts else whole.uid


def _place(part: Part, arities: Mapping[int, int]) -> _core.Place | None:
    """Say where the block of a matrix lies in the kernel's tensor; None of what is no block."""
    if part.cell is None or part.cell.is_alone:
        return None
    row, column, n_columns, width = part.cell.place(arities)
    return _core.Place(row=row, column=column, n_columns=n_columns, width=width)


def _node(
    part: Part, map_index: Mapping[int, int], alias: _core.Alias
) -> _core.DirectDat | _core.IndirectDat | _core.GlobalRead | _core.GlobalReduce | _core.MatArg:
    dim, stride, component = part.layout
    usual: dict[str, Any] = {
        "dtype": core_dtype(part.compute),
        "access": _core.Access(int(part.access)),
        "alias": alias,
    }
    stored = None if part.compute == part.dtype else core_dtype(part.dtype)
    if part.path is not None:
        row_dim, col_dim = part.data.block_dims
        return _core.MatArg(
            row_dim=row_dim,
            col_dim=col_dim,
            row_map=map_index[part.maps[0].uid],
            col_map=map_index[part.maps[1].uid],
            masked=part.is_masked,
            unrolled=part.path.unrolled,
            by_columns=part.path.by_columns,
            stored=stored,
            **usual,
        )
    if part.kind is Kind.TOTAL:
        if stored is not None:
            raise UnsupportedError(
                f"argument {part.number}, {type(part.data).__name__} '{part.data.name}': a row of "
                "a Global is summed in its own memory, so that compute cannot differ from dtype"
            )
        if part.access != READ:
            return _core.GlobalReduce(dim=dim, **usual)
        return _core.GlobalRead(dtype=usual["dtype"], dim=dim, alias=alias)
    place: dict[str, Any] = {"dim": dim, "stride": stride, "component": component}
    place["stored"] = stored
    if not part.maps:
        return _core.DirectDat(**place, **usual)
    return _core.IndirectDat(map=map_index[part.maps[0].uid], **place, **usual)


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Number values in order of first use: equal values get equal numbers."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def aliases(parts: Sequence[Part], where: Memory | None = None) -> tuple[list[int], list[int]]:
    """Find arguments with the same array, and arguments with shared memory.

    Objects without memory (static mode, Dats not allocated) alias only themselves.

    Args:
        parts: The arguments.
        where: Result of `memory_of`, if known.
    """
    where = memory_of(parts) if where is None else where
    keys: list[Hashable] = []
    spans: list[tuple[int, int]] = []
    for part, (_, address, n_bytes) in zip(parts, where, strict=True):
        if n_bytes == 0:
            keys.append(part.data.uid)
            spans.append((0, 0))
        else:
            keys.append((address, n_bytes, part.dtype.str, part.compute.str, *part.layout))
            spans.append((address, address + n_bytes))
    data = _numbered(keys)
    memory = _overlap_classes(data, spans)
    if any(part.stride for part in parts):
        memory = _apart(parts, data, memory, [address for _, address, _ in where])
    return data, _numbered(memory)


def _apart(
    parts: Sequence[Part], data: list[int], memory: list[int], addresses: Sequence[int]
) -> list[int]:
    """Separate components of a Dat, which share no memory unless the whole Dat is used, too."""
    kinds: dict[int, set[tuple[int, int]]] = {}
    for part, found, address in zip(parts, memory, addresses, strict=True):
        kinds.setdefault(found, set()).add((address, part.stride))
    views = {m for m, seen in kinds.items() if len(seen) == 1 and next(iter(seen))[1]}
    # classes are numbers of member data, so the data's own numbers stay apart from others
    return [d if m in views else m for d, m in zip(data, memory, strict=True)]


def _spaces(parts: Sequence[Part], maps: Sequence[Map], memory: list[int]) -> tuple[int, ...]:
    """Number the Maps by target memory, if the memory is written through a Map.

    A Map has a single number, so all target memory of a Map counts as one space.
    """
    if not maps:
        return ()
    found = [(part.target, part.access, m) for part, m in zip(parts, memory, strict=True)]
    paths = [(path, m) for path, _, m in found if path is not None]
    written = {m for path, access, m in found if path is not None and access != READ}
    space = {m: m for m in memory}
    for map_ in maps:
        joined = {space[m] for path, m in paths if path is map_ and m in written}
        space = {m: min(joined) if s in joined else s for m, s in space.items()}
    leads_to = {path.uid: space[m] for path, m in paths if m in written}
    return tuple(leads_to.get(map_.uid, i + len(parts)) for i, map_ in enumerate(maps))


def _overlap_classes(data: list[int], spans: list[tuple[int, int]]) -> list[int]:
    """Return a class for each argument, shared by all arguments with overlapping memory."""
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
