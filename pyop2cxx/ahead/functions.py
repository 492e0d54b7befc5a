# SPDX-License-Identifier: BSD-3-Clause
"""Loops as C++ functions of Sets, Maps, Dats, Mats, Globals and Consts of ``op2.hpp``."""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.arrays import MOST_INT32
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.ragged import Counts, RaggedMap
from pyop2cxx.loop.parts import Kind
from pyop2cxx.loop.symbolic import aliases
from pyop2cxx.pipeline import tuning as tuning_numbers
from pyop2cxx.sets.derived_maps import ColumnMap
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.items import rows_of
from pyop2cxx.sets.maps import EntriesOfMap, Map
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.loop.symbolic import Symbolic
    from pyop2cxx.pipeline.request import Request
    from pyop2cxx.sets.items import Items

REGION = "region"
MOST_LETTERS = 120
"""Limit of file names: the name of a chain joins all names of kernels."""
_WIDE = 8  # bytes of an entry
_TYPES = {
    "bool": "std::uint8_t",  # storage type of bool
    "float32": "float",
    "float64": "double",
    "complex64": "std::complex<float>",
    "complex128": "std::complex<double>",
    "float16": "op2::Float16",
    "bfloat16": "op2::Bfloat16",
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

_MACROS = re.compile(
    r"alloca|assert|(be|le|htobe|htole)\d+(toh)?|errno|i386|issubnormal|linux|math_errhandling"
    r"|offsetof|pthread_cleanup_\w+|sched_priority|std(err|in|out)|unix|va_(arg|copy|end|start)"
    r"|(BIG|LITTLE|PDP)_ENDIAN|BYTE_ORDER|(CHAR|LONG|WORD)_BIT|BUFSIZ|EOF|NULL|NZERO|MAXFLOAT|CSIGNAL"
    r"|MAX_(CANON|INPUT)|NFDBITS|PIPE_BUF|P_tmpdir|TEMP_FAILURE_RETRY|INFINITY|S?NAN\w*|HUGE_VAL\w*"
    r"|W(EOF|CONTINUED|EXITED|EXITSTATUS|IFCONTINUED|IFEXITED|IFSIGNALED|IFSTOPPED|NOHANG|NOWAIT)"
    r"|W(STOPPED|STOPSIG|TERMSIG|UNTRACED)|[RWXF]_OK|F_(LOCK|TEST|TLOCK|ULOCK)|L_(INCR|SET|XTND)"
    r"|L_(ctermid|cuserid|tmpnam)|STD(ERR|IN|OUT)_FILENO|U?INT(MAX|\d+)_C|[A-Z][A-Z\d_]*_(MAX|MIN)"
    r"|(ADJ|ATOMIC|CLOCKS?|CLONE|CLOSE|CPU|DBL|DEC\d*|EXIT|FD|FE|FLT\d*X?|FP|LC|LDBL|MATH|MOD|NL)"
    r"_[A-Z\d][A-Z\d_]*"
    r"|M_[A-Z\d_]+([fl]|f\d+x?)?"
    r"|(OP2|PTHREAD|RENAME|SCHED|SEEK|STA|TIME|TIMER)_[A-Z\d][A-Z\d_]*|SYS_\w+|FOPEN_MAX|[A-Z\d_]+_WIDTH|EHWPOISON"
)
"""Macros of headers included by programs: the names cannot be used."""


_Path = tuple[int, int, tuple[tuple[int, int, int, int], ...]]


class NoFunctionError(Exception):
    """A loop needs a feature missing in the C++ interface, named by the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A loop in C++, without the code.

    Attributes:
        name: Name of the kernel, valid in C++.
        kernel: Name of the kernel for messages.
        parameters: Type and name of each object, in the order of first use.
        uses: Uses of each object, for the header.
        iterset: Name of the visited Set or Subset.
        data: For each argument of the loop: name of the object, index of the Map to rows, index of
            the Map to a matrix's columns; -1 for none.
        counts: The arguments with the counts of ragged Maps: they name the Map.
        maps: Names of the Maps; for the Map from each column to the base entity, the bytes of an
            entry.
        constants: Names of the Consts.
        spaces: For each Map the number of the memory space of the target.
        index_bytes: Of a Subset's indices, and of lists of columns.
        slots: Ways from an element to the written entities.
        columns: Kind of the columns of an extruded Set: "constant", "variable"; empty: no columns.
        periodic: Whether the top of the columns is the bottom.
        facets: Whether pairs of vertically adjacent cells are visited.
        paths: Of each Map arity, width and the entries used: slot, offset, quotient, above.
        region: Name of the parameter for the visited part of each column; empty: none.
    """

    name: str
    kernel: str
    parameters: tuple[tuple[str, str], ...]
    uses: tuple[tuple[str, str], ...]
    iterset: str
    data: tuple[tuple[str, int, int], ...]
    maps: tuple[str | int, ...]
    constants: tuple[str, ...]
    spaces: tuple[int, ...]
    index_bytes: int
    slots: int
    counts: tuple[int, ...] = ()
    columns: str = ""
    periodic: bool = False
    facets: bool = False
    paths: tuple[_Path, ...] = ()
    region: str = ""

    def unnamed(self) -> Function:
        """Return the function with numbers for objects: equal loops of different objects agree."""
        numbers = {name: str(n) for n, (_, name) in enumerate(self.parameters)}
        return replace(
            self,
            parameters=tuple((of_type, numbers[name]) for of_type, name in self.parameters),
            uses=(),  # follows from the loop, and names objects
            iterset=numbers[self.iterset],
            data=tuple((numbers[name], rows, columns) for name, rows, columns in self.data),
            maps=tuple(numbers[one] if isinstance(one, str) else one for one in self.maps),
            constants=tuple(numbers[name] for name in self.constants),
            region="region" if self.region else "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The facts of C++ about a loop's code for a backend.

    Attributes:
        backend: The backend.
        symbol: Name of the function; on a device, prefix of the names of the images.
        executable: The executable, as canonical text.
        block_size: Elements of a block; 0 for chosen from the size.
        injective: For each Map whether the code requires distinct targets.
        longest: For each Map how many entries a row may have; 0 for any number.
        position_bytes: Of places in rows of matrices.
        tuning: Tuning numbers other than the defaults.
        images: Images for devices: kind of device, and name.
        options: Of the compiler of a device's driver.
        for_processor: Whether the code is for devices that are processors.
        padded: Whether columns of incidences are padded.
        wide_bytes: Of index arithmetic on a device.
        key: Key of the loop's measurements.
        way: Strategy, lanes and numbers, as measurements word them.
    """

    backend: str
    symbol: str
    executable: str
    block_size: int
    injective: tuple[bool, ...]
    longest: tuple[int, ...]
    position_bytes: int
    tuning: Mapping[str, bool | int | float]
    images: tuple[tuple[str, str], ...]
    options: str
    for_processor: bool
    padded: bool
    wide_bytes: int
    key: str = ""
    way: str = ""


def compiled_of(
    loop: Any, request: Request, symbol: str, about: Mapping[str, Any], targets: Sequence[str]
) -> Compiled:
    """Return the facts of C++ about a loop's code.

    Args:
        loop: The `ParLoop`.
        request: The request for the generated code.
        symbol: Name of the function.
        about: Entry of the manifest.
        targets: Kinds of devices of the images.
    """
    facts, options = request.backend.facts, request.options
    return Compiled(
        backend=request.backend.name,
        symbol=symbol,
        executable=about["executable"],
        block_size=loop.options.block_size,
        injective=tuple(facts.injective for facts in request.map_facts),
        longest=_longest(loop, request),
        position_bytes=options.widths.position_bytes,
        tuning=tuning_numbers.changed(facts, options.tuning),
        images=tuple((target, f"{symbol}_{n}") for n, target in enumerate(targets)),
        options=about.get("options", ""),
        for_processor=facts.device_class == "processor",
        padded=options.widths.padded,
        wide_bytes=options.widths.index_bytes,
    )


def _longest(loop: Any, request: Request) -> tuple[int, ...]:
    """Return the entries that a row of each Map may have, where elements' values are packed."""
    maps = loop.symbolic().maps
    packed = _core.packed_ragged(request.loop, list(request.map_facts), request.options)
    found = {map_.uid for i in packed for map_ in loop.parts[i].maps if map_.is_ragged}
    return tuple(_core.MOST_RAGGED if map_.uid in found else 0 for map_ in maps)


def function_of(loop: Any, built: Symbolic, name: str) -> tuple[Function, tuple[Any, ...]]:
    """Return a loop as a function of C++, and the objects for the parameters.

    Args:
        loop: The `ParLoop`.
        built: The loop without data.
        name: Name in messages.

    Raises:
        NoFunctionError: A feature of the loop is missing in the C++ interface.
    """
    _check_visited(loop)
    for part in loop.parts:
        _check_part(part)
    _check_memory(loop.parts)
    names = _Names()
    iterset = names.of(loop.iterset)
    owners = [_owner(part) for part in loop.parts]
    data = tuple(
        (names.of(owner), *_map_numbers(part, built))
        for owner, part in zip(owners, loop.parts, strict=True)
    )
    maps = tuple(
        _entry_bytes(map_) if map_.is_of_columns else names.of(_whole(map_)) for map_ in built.maps
    )
    constants = tuple(names.of(constant) for constant in built.constants)
    things: list[tuple[str, Any]] = [(type(loop.iterset).__name__, loop.iterset)]
    for owner, part in zip(owners, loop.parts, strict=True):
        things.append((_data_type(part) if owner is part.owner else map_type(owner), owner))
        whole = (_whole(map_) for map_ in part.maps if not map_.is_of_columns)
        things += [(map_type(map_), map_) for map_ in whole]
    things += [
        (f"Const<{scalar(constant.dtype)}, {constant.cdim}>", constant)
        for constant in built.constants
    ]
    parameters = {names.of(thing): (of_type, thing) for of_type, thing in things}
    items = loop.items
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
        index_bytes=_index_bytes(items),
        slots=built.loop.n_slots(),
        counts=tuple(i for i, part in enumerate(loop.parts) if isinstance(part.data, Counts)),
        paths=_paths(built, items),
        **_columns(items, [*parameters]),
    )
    return made, tuple(thing for _, thing in parameters.values())


def _owner(part: Part) -> Any:
    """Return the object that C++ is given for an argument: for counts the ragged Map."""
    return part.data.of_map if isinstance(part.data, Counts) else part.owner


def region_of(loop: Any) -> str:
    """Return the visited part of each column, in C++; empty: no columns."""
    items = loop.items
    return f"op2::Region::{items.of_cells[0].name.lower()}" if items.extruded else ""


def _columns(items: Items, taken: Sequence[str]) -> dict[str, Any]:
    """Return the facts of a function about the visited columns."""
    whole = items.whole
    if not isinstance(whole, ExtrudedSet):
        return {}
    return {
        "columns": "constant" if whole.constant_layers else "variable",
        "periodic": whole.extruded_periodic,
        "facets": items.facets,
        "region": "" if items.facets else unused(REGION, taken),
    }


def _index_bytes(items: Items) -> int:
    if items.extruded:
        return _WIDE if items.whole.is_sized and items.whole.total_size > MOST_INT32 else 4
    return next((table.index_bytes for table in items.tables), 4)


def _paths(built: Symbolic, items: Items) -> tuple[_Path, ...]:
    """Return the used entries of the Maps; empty if all are used in order."""
    rows = [tuple(rows_of(map_, items)) for map_ in built.maps]
    if not any(rows):
        return ()
    return tuple(
        (0, 0, ()) if map_.is_ragged else (len(own) or map_.arity, map_.width, own)
        for own, map_ in zip(rows, built.maps, strict=True)
    )


def _whole(map_: Map) -> Map:
    """Return the Map with the values read by a path: for a Map of some entries, the whole Map."""
    while isinstance(map_, EntriesOfMap):
        map_ = map_.whole_map
    return map_


def _entry_bytes(map_: Map) -> int:
    table = map_.current_table() if map_.has_values else None
    return 4 if table is None else table.index_bytes


def _map_numbers(part: Part, built: Symbolic) -> tuple[int, int]:
    numbers = [built.maps.index(map_) for map_ in part.maps]
    row, column, *_ = (*numbers, -1, -1)
    return row, column


def identifier(name: str) -> str:
    """Return a valid name in C++: other characters become _, reserved names get a _ appended."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not found or found[0].isdigit():
        found = f"_{found}"
    is_taken = found in _RESERVED.split() or found in dir(errno) or _MACROS.fullmatch(found)
    return f"{found}_" if is_taken else found


def unused(wanted: str, taken: Collection[str]) -> str:
    """Return a name, followed by a number if already taken.

    Args:
        wanted: The name.
        taken: Names already taken.
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
        if thing.uid not in self.known:
            self.known[thing.uid] = unused(identifier(thing.name), self.known.values())
        return self.known[thing.uid]


def _check_visited(loop: Any) -> None:
    if type(loop.iterset) not in (Set, Subset, ExtrudedSet):
        raise NoFunctionError(f"'{loop.iterset.name}' is mixed")
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
    for map_ in part.maps:
        if type(_whole(map_)) not in (Map, RaggedMap) and not isinstance(map_, ColumnMap):
            raise NoFunctionError(f"'{name}' is reached by Map '{map_.name}', made of others")


def _check_matrix(part: Part) -> None:
    name = part.data.name
    if part.path is None or (part.cell is not None and not part.cell.is_alone):
        raise NoFunctionError(f"'{name}' is a matrix of several blocks, or of a Global")
    if part.is_masked or part.path.unrolled:
        raise NoFunctionError(f"entries of '{name}' are left out")


def _check_memory(parts: Sequence[Part]) -> None:
    """The C++ interface takes different objects for different memory.

    Parts of the same object share memory in every object of the kind.
    """
    _, memory = aliases(parts)
    for part, place in zip(parts, memory, strict=True):
        for other, there in zip(parts, memory, strict=True):
            if place == there and part.owner is not other.owner:
                raise NoFunctionError(f"'{part.data.name}' and '{other.data.name}' share memory")


def scalar(dtype: Any) -> str:
    """Return the C++ name of a dtype."""
    return _TYPES.get(dtype.name, f"std::{dtype.name}_t")


def _data_type(part: Part) -> str:
    if part.path is not None:
        rows, columns = part.data.block_dims
        return f"Mat<{scalar(part.dtype)}, {rows}, {columns}>"
    kind = "Global" if part.home is None else "Dat"
    return f"{kind}<{scalar(part.dtype)}, {part.stride or part.dim}>"


def object_type(thing: Any) -> str:
    """Return the type of an object of a saved graph.

    Raises:
        NoFunctionError: The object has no type.
    """
    if isinstance(thing, Counts):
        thing = thing.of_map
    if type(thing) in (Set, Subset, ExtrudedSet):
        return set_type(thing)
    if type(thing) is Map:
        return map_type(thing)
    kind = getattr(thing, "kind", "")
    if kind == "Mat" and not thing.is_mixed and not thing.sparsity.is_dense:
        rows, columns = thing.block_dims
        return f"Mat<{scalar(thing.dtype)}, {rows}, {columns}>"
    if isinstance(thing, Dat) and kind == "Dat" and not thing.stride:
        return f"Dat<{scalar(thing.dtype)}, {thing.cdim}>"
    if kind in ("Global", "Constant", "Const"):
        return f"{'Const' if kind == 'Const' else 'Global'}<{scalar(thing.dtype)}, {thing.cdim}>"
    raise NoFunctionError(
        f"'{thing.name}' is of {type(thing).__name__}, which saved graphs do not have"
    )


def set_type(one: Set) -> str:
    """Return the type of a Set, or of a part of a Set."""
    return type(one).__name__


def offset_of(thing: Any) -> list[str]:
    """Return how entries of a Map move between layers, as C++ is told; nothing if they do not."""
    if not isinstance(thing, Map) or (thing.offset is None and thing.offset_quotient is None):
        return []
    given = [
        f"{{{', '.join(map(str, [] if one is None else one.tolist()))}}}"
        for one in (thing.offset, thing.offset_quotient)
    ]
    return [f"op2::Offset{{{', '.join(given)}}}"]


def map_type(map_: Map) -> str:
    """Return the type of a Map."""
    is_wide = _entry_bytes(map_) == _WIDE
    if map_.is_ragged:
        return f"RaggedMap<{'std::int64_t' if is_wide else ''}>"
    return f"Map<{map_.arity}, std::int64_t>" if is_wide else f"Map<{map_.arity}>"


def _by(map_: Map, names: _Names) -> str:
    whole = names.of(_whole(map_))
    return whole if map_.slots is None else f"{whole} (entries {', '.join(map(str, map_.slots))})"


def _uses(loop: Any, names: _Names) -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for part in loop.parts:
        how = part.access.name
        if part.stride:
            how += f" of value {part.component}"
        if part.maps and not part.maps[0].is_of_columns:
            how += f" by {' and '.join(_by(map_, names) for map_ in part.maps)}"
        if isinstance(part.data, Counts):
            how = "its counts are read"
        found.setdefault(names.of(_owner(part)), []).append(how)
        if isinstance(loop, GroupLoop):
            if part.data.name in loop.dropped and part.access != READ:
                found[names.of(part.owner)].append("not stored")
            if part.data.name in loop.zeroed:
                found[names.of(part.owner)].append("known to be zero, not read")
    return [(name, ", ".join(dict.fromkeys(ways))) for name, ways in found.items()]
