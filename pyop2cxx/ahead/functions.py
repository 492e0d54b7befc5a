# SPDX-License-Identifier: BSD-3-Clause
"""Loops as functions of C++ that take Sets, Maps, Dats, Mats, Globals, Consts of ``op2.hpp``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.data.dats import Dat
from pyop2cxx.loop.parts import Kind
from pyop2cxx.loop.symbolic import aliases
from pyop2cxx.pipeline import tuning as tuning_numbers
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.loop.symbolic import Symbolic
    from pyop2cxx.pipeline.request import Request

_WIDE = 8  # bytes of an entry
_TYPES = {
    "float32": "float",
    "float64": "double",
    "complex64": "std::complex<float>",
    "complex128": "std::complex<double>",
}
_RESERVED = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long main mutable namespace new noexcept not "
    "not_eq nullptr op2 operator or or_eq private protected public register reinterpret_cast "
    "requires return short signed sizeof static static_assert static_cast std struct switch "
    "template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq"
)


class NoFunctionError(Exception):
    """A loop is about things that the C++ interface does not have; the text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A loop of C++, but for its code.

    Attributes:
        name: Of the kernel, as C++ may call it.
        kernel: Its name for messages.
        parameters: Type and name of each object, in the order of first use.
        uses: What is done with each object, for the header.
        iterset: What the Set or Subset that is visited is called.
        data: For each argument of the loop the name of its object, and the numbers of the Maps to
            its rows and to a matrix's columns; -1 for none.
        maps: Names of the Maps.
        constants: Names of the Consts.
        spaces: For each Map the class of memory that it leads to.
        index_bytes: Of a Subset's indices.
        slots: Ways by which an element reaches what it writes.
    """

    name: str
    kernel: str
    parameters: tuple[tuple[str, str], ...]
    uses: tuple[tuple[str, str], ...]
    iterset: str
    data: tuple[tuple[str, int, int], ...]
    maps: tuple[str, ...]
    constants: tuple[str, ...]
    spaces: tuple[int, ...]
    index_bytes: int
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What C++ has to know of the code of a loop for one backend.

    Attributes:
        backend: The backend.
        symbol: The function; on a device what the names of its images begin with.
        executable: What runs it, as canonical text.
        block_size: Elements of a block; 0 for chosen from the size.
        injective: For each Map whether the code needs it to lead nowhere twice.
        position_bytes: Of places in rows of matrices.
        tuning: Numbers that are not the defaults.
        images: What devices load: for which kind of them each is, and its name.
        options: Of the compiler of a device's driver.
        for_processor: Whether it is for devices that are processors.
        padded: Whether columns of incidences are padded.
        wide_bytes: Of index arithmetic on a device.
    """

    backend: str
    symbol: str
    executable: str
    block_size: int
    injective: tuple[bool, ...]
    position_bytes: int
    tuning: Mapping[str, bool | int | float]
    images: tuple[tuple[str, str], ...]
    options: str
    for_processor: bool
    padded: bool
    wide_bytes: int


def compiled_of(
    loop: Any, request: Request, symbol: str, about: Mapping[str, Any], targets: Sequence[str]
) -> Compiled:
    """Return what C++ has to know of a loop's code.

    Args:
        loop: The `ParLoop`.
        request: What it was generated from.
        symbol: Its function.
        about: What the manifest says of it.
        targets: What devices load: for which kinds of them.
    """
    facts, options = request.backend.facts, request.options
    return Compiled(
        backend=request.backend.name,
        symbol=symbol,
        executable=about["executable"],
        block_size=loop._block_size,
        injective=tuple(facts.injective for facts in request.map_facts),
        position_bytes=options.position_bytes,
        tuning=tuning_numbers.changed(facts, options.tuning),
        images=tuple((target, f"{symbol}_{n}") for n, target in enumerate(targets)),
        options=about.get("options", ""),
        for_processor=facts.in_turn,
        padded=options.padded,
        wide_bytes=options.index_bytes,
    )


def function_of(loop: Any, built: Symbolic, name: str) -> tuple[Function, tuple[Any, ...]]:
    """Return a loop as a function of C++, and the objects that are its parameters.

    Args:
        loop: The `ParLoop`.
        built: The same without its data.
        name: What messages call it.

    Raises:
        NoFunctionError: The C++ interface does not have what the loop is about.
    """
    _check_visited(loop)
    for part in loop._parts:
        _check_part(part)
    _check_memory(loop._parts)
    names = _Names()
    iterset = names.of(loop.iterset)
    data = tuple((names.of(part.owner), *_map_numbers(part, built)) for part in loop._parts)
    maps = tuple(names.of(map_) for map_ in built.maps)
    constants = tuple(names.of(constant) for constant in built.constants)
    things: list[tuple[str, Any]] = [(type(loop.iterset).__name__, loop.iterset)]
    for part in loop._parts:
        things.append((_data_type(part), part.owner))
        things += [(map_type(map_), map_) for map_ in part.maps]
    things += [
        (f"Const<{scalar(constant.dtype)}, {constant.cdim}>", constant)
        for constant in built.constants
    ]
    parameters = {names.of(thing): (of_type, thing) for of_type, thing in things}
    made = Function(
        name=identifier(name),
        kernel=name,
        parameters=tuple((of_type, name) for name, (of_type, _) in parameters.items()),
        uses=tuple(_uses(loop, names)),
        iterset=iterset,
        data=data,
        maps=maps,
        constants=constants,
        spaces=built.spaces,
        index_bytes=next((table.index_bytes for table in loop._items.tables), 4),
        slots=built.loop.n_slots(),
    )
    return made, tuple(thing for _, thing in parameters.values())


def _map_numbers(part: Part, built: Symbolic) -> tuple[int, int]:
    numbers = [built.maps.index(map_) for map_ in part.maps]
    row, column, *_ = (*numbers, -1, -1)
    return row, column


def identifier(name: str) -> str:
    """Return a name as C++ may call something: other characters, and a name of its own, get _."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not found or found[0].isdigit():
        found = f"_{found}"
    return f"{found}_" if found in _RESERVED.split() else found


def unused(wanted: str, taken: Collection[str]) -> str:
    """Return a name, with a number behind it if something else is called so.

    Args:
        wanted: The name.
        taken: Those of others.
    """
    found, number = wanted, 2
    while found in taken:
        found, number = f"{wanted}_{number}", number + 1
    return found


@dataclass(slots=True)
class _Names:
    """Names of parameters: each object's own, made different where two have the same."""

    known: dict[int, str] = field(default_factory=dict)

    def of(self, thing: Any) -> str:
        if thing._uid not in self.known:
            self.known[thing._uid] = unused(identifier(thing.name), self.known.values())
        return self.known[thing._uid]


def _check_visited(loop: Any) -> None:
    items = loop._items
    if type(loop.iterset) not in (Set, Subset) or items.extruded:
        raise NoFunctionError(f"'{loop.iterset.name}' is extruded, or mixed")
    if loop.kernel.calls_petsc:
        raise NoFunctionError("its kernel calls PETSc")
    if isinstance(loop, GroupLoop) and loop.is_inverted:
        raise NoFunctionError("it is several loops, one of which is visited from its targets")
    if isinstance(loop, GroupLoop) and loop.renamed:
        raise NoFunctionError("it is several loops, which exchange buffers after each run")


def _check_part(part: Part) -> None:
    name = part.data.name
    if part.kind is Kind.HANDLE:
        raise NoFunctionError(f"'{name}' is an address that is passed on")
    if part.is_of_matrix:
        _check_matrix(part)
    if any(type(map_) is not Map or map_.offset is not None for map_ in part.maps):
        raise NoFunctionError(f"'{name}' is reached by a part of a Map")


def _check_matrix(part: Part) -> None:
    name = part.data.name
    if part.path is None or (part.cell is not None and not part.cell.is_alone):
        raise NoFunctionError(f"'{name}' is a matrix of several blocks, or of a Global")
    if part.is_masked or part.path.unrolled:
        raise NoFunctionError(f"entries of '{name}' are left out")


def _check_memory(parts: Sequence[Part]) -> None:
    """The C++ interface takes different objects for different memory.

    What parts of one object share is the same for every object of its kind.
    """
    _, memory = aliases(parts)
    for part, place in zip(parts, memory, strict=True):
        for other, there in zip(parts, memory, strict=True):
            if place == there and part.owner is not other.owner:
                raise NoFunctionError(f"'{part.data.name}' and '{other.data.name}' share memory")


def scalar(dtype: Any) -> str:
    """Return what C++ calls a dtype."""
    return _TYPES.get(dtype.name, f"std::{dtype.name}_t")


def _data_type(part: Part) -> str:
    if part.path is not None:
        rows, columns = part.data.block_dims
        return f"Mat<{scalar(part.dtype)}, {rows}, {columns}>"
    kind = "Global" if part.home is None else "Dat"
    return f"{kind}<{scalar(part.dtype)}, {part.stride or part.dim}>"


def object_type(thing: Any) -> str:
    """Return the type of an object.

    Raises:
        NoFunctionError: C++ has none.
    """
    if type(thing) in (Set, Subset):
        return type(thing).__name__
    if type(thing) is Map and thing.offset is None:
        return map_type(thing)
    kind = getattr(thing, "_kind", "")
    if kind == "Mat" and not thing.is_mixed and not thing.sparsity.is_dense:
        rows, columns = thing.block_dims
        return f"Mat<{scalar(thing.dtype)}, {rows}, {columns}>"
    if isinstance(thing, Dat) and kind == "Dat" and not thing._stride:
        return f"Dat<{scalar(thing.dtype)}, {thing.cdim}>"
    if kind in ("Global", "Constant", "Const"):
        return f"{'Const' if kind == 'Const' else 'Global'}<{scalar(thing.dtype)}, {thing.cdim}>"
    raise NoFunctionError(f"'{thing.name}' is of {type(thing).__name__}, which C++ has not")


def map_type(map_: Map) -> str:
    """Return the type of a Map."""
    table = map_._current_table() if map_.has_values else None
    is_wide = table is not None and table.index_bytes == _WIDE
    return f"Map<{map_.arity}, std::int64_t>" if is_wide else f"Map<{map_.arity}>"


def _uses(loop: Any, names: _Names) -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for part in loop._parts:
        how = part.access.name
        if part.stride:
            how += f" of value {part.component}"
        if part.maps:
            how += f" by {' and '.join(names.of(map_) for map_ in part.maps)}"
        found.setdefault(names.of(part.owner), []).append(how)
        if isinstance(loop, GroupLoop):
            if part.data.name in loop.dropped and part.access != READ:
                found[names.of(part.owner)].append("not stored")
            if part.data.name in loop.zeroed:
                found[names.of(part.owner)].append("known to be zero, not read")
    return [(name, ", ".join(dict.fromkeys(ways))) for name, ways in found.items()]
