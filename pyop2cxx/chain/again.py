# SPDX-License-Identifier: BSD-3-Clause
"""Values that whoever gathers them computes again, so that storing them can wait.

A loop over a Set makes a value of each entity from others of the same entity; later loops gather it
through Maps. Whatever stores it comes in between, although nobody else needs it yet. Where readers
compute the value themselves, from what it is made of, that loop comes after them, and may become
part of a function that goes over its Set there anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.chain.entries import depends, span_of, spans_of
from pyop2cxx.chain.refusals import why_alone
from pyop2cxx.chain.tasks import opened_device
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.kernel.kernel import Kernel, free_names
from pyop2cxx.kernel.parser.tokens import token_stream
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import Kind, Part, uses_of
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyop2cxx.chain.entries import Entry, Span
    from pyop2cxx.data.dats import Dat


class _Rates(NamedTuple):
    """What the rule counts with, see docs/performance.md.

    Attributes:
        function_seconds: What one function more takes.
        bytes_a_second: Gathered, most of which caches hold.
        operations_a_second: Of all threads.
    """

    function_seconds: float
    bytes_a_second: float
    operations_a_second: float


_GPU = _Rates(3.5e-6, 1.4e13, 1e13)
_HOST = _Rates(1e-6, 2.5e10, 3e9)
_MOST_PASSED, _MOST_WAYS = 64, 4
"""A loop goes past so many others at most, and so many Dats are tried one by one, so that the work
for a long chain stays bounded."""
_WORDS = frozenset(
    """
    static inline const restrict volatile extern void bool _Bool char short int long signed unsigned
    float double complex _Complex include math h stdlib stdint string stdbool tgmath
    """.split()  # noqa: SIM905  # a list would be a line for each
)


class Read(NamedTuple):
    """A loop that computes what it gathers.

    Attributes:
        number: Its number among the loops recorded.
        n_calls: How often the kernel that makes the values is called for it.
        row_bytes: What it reads in the place of one value.
        n_operations: Of all calls.
    """

    number: int
    n_calls: int
    row_bytes: int
    n_operations: int


@dataclass(frozen=True, slots=True)
class Later:
    """A chain in which some loops come later, as others compute again what they make.

    Attributes:
        order: The number of each loop, or action, among those recorded.
        loops: All of them, in this order; None for actions.
        makers: The numbers of the loops that come later, with those that compute what they make.
        too_dear: What `explain` says of Dats that take longer to compute again than one function
            does, so that nobody tried, by their numbers.
    """

    order: list[int]
    loops: list[ParLoop | None]
    makers: dict[int, tuple[Read, ...]]
    too_dear: dict[int, str]


def ways(entries: Sequence[Entry], loops: Sequence[ParLoop | None]) -> list[Later]:
    """Return chains in which loops come after others that compute again what they make.

    Args:
        entries: What was recorded.
        loops: The loops of these; None for actions.

    Returns:
        First the one in which all do that can, also if these are none. If they make several Dats,
        also one for each of the first few Dats.
    """
    makers = [
        i
        for i, loop in enumerate(loops)
        if loop is not None and entries[i].recorded is not None and not why_stored(loop)
    ]
    first = _later(entries, loops, makers)
    of_each: dict[int, list[int]] = {}
    for number in first.makers:
        of_each.setdefault(_made(loops[number])._uid, []).append(number)
    if len(of_each) < 2:
        return [first]
    return [first, *(_later(entries, loops, own) for own in [*of_each.values()][:_MOST_WAYS])]


def _later(
    entries: Sequence[Entry], loops: Sequence[ParLoop | None], makers: Sequence[int]
) -> Later:
    found = Later(list(range(len(entries))), list(loops), {}, {})
    for number in sorted(makers, reverse=True):
        maker = loops[number]
        assert maker is not None, "an action makes nothing"
        _put_later(found, entries, number, maker)
    return found


def why_stored(loop: ParLoop) -> str:
    """Say why nobody can compute again what a loop makes; empty: that is possible.

    Args:
        loop: The loop.
    """
    if why := why_alone(loop):
        return why
    if isinstance(loop.iterset, Subset) or loop._items.extruded:
        return "it visits a part of its Set, or the cells of columns"
    if any(part.is_of_matrix or part.map_ is not None for part in loop._parts):
        return "it uses a Map or a matrix"
    if any(part.access != READ for part in loop._parts if part.kind is not Kind.ROWS):
        return "it reduces into a Global"
    if loop.kernel.facts is None or not loop.kernel.facts.is_pure:
        return "its kernel calls functions that may do more than to compute"
    made = [part for part in loop._parts if part.access != READ]
    if len(made) != 1 or made[0].access not in (WRITE, RW, INC):
        return "it makes other than one Dat"
    memory = [span_of(part.data) for part in _rows(loop)]
    if memory.count(span_of(made[0].data)) != 1:
        return "two of its arguments are one Dat"
    return ""


def _rows(loop: ParLoop) -> list[Part]:
    return [part for part in loop._parts if part.kind is Kind.ROWS]


def _made(loop: ParLoop | None) -> Dat:
    assert loop is not None, "an action makes nothing"
    found: Dat = _made_by(loop).data
    return found


def _made_by(loop: ParLoop) -> Part:
    return next(part for part in loop._parts if part.access != READ)


def _put_later(found: Later, entries: Sequence[Entry], number: int, maker: ParLoop) -> None:
    start, mine = found.order.index(number), spans_of(uses_of(maker.args))
    end = min(len(found.order), start + 1 + _MOST_PASSED)
    readers: dict[int, tuple[ParLoop, Read]] = {}
    for at in range(start + 1, end):
        reader = found.loops[at]
        entry = entries[found.order[at]]
        if not depends(mine, spans_of(entry.uses if reader is None else uses_of(reader.args))):
            continue
        if reader is None or not _can_compute(reader, maker, mine):
            break
        read = _read(reader, maker, found.order[at])
        seconds = _seconds(read, 1)
        if seconds > _rates().function_seconds:
            found.too_dear[_made(maker)._uid] = _too_dear(reader, maker, seconds)
            break
        made = _computing(reader, maker)
        if made is None:
            break
        readers[at] = made, read
    if not readers:
        return
    for at, (loop, _) in readers.items():
        found.loops[at] = loop
    last = max(readers)
    found.order.insert(last, found.order.pop(start))
    found.loops.insert(last, found.loops.pop(start))
    found.makers[number] = tuple(read for _, read in readers.values())


def _can_compute(reader: ParLoop, maker: ParLoop, used: Sequence[Span]) -> bool:
    """Say whether a loop could compute what it gathers, if its kernel could call the maker's.

    Args:
        reader: The loop.
        maker: That which makes what it gathers.
        used: The memory that the maker uses.
    """
    if why_alone(reader) or reader._items.extruded or reader._block_size:
        return False
    made = _made(maker)
    rest = [arg for arg in reader.args if arg.data is not made]
    is_apart = not depends(used, spans_of(uses_of(rest)))
    return is_apart and all(map(_is_gathered, _own(reader, maker)))


def _own(reader: ParLoop, maker: ParLoop) -> list[Part]:
    """Return what of a loop is what another one makes."""
    made = _made(maker)
    return [part for part in reader._parts if part.data is made]


def _is_gathered(part: Part) -> bool:
    is_plain = part.access == READ and part.kind is Kind.ROWS
    return is_plain and part.map_ is not None and not part.map_._is_partial


def _read(reader: ParLoop, maker: ParLoop, number: int) -> Read:
    dim = _made_by(maker).dim
    n_calls = reader._items.n * sum(part.n_scalars // dim for part in _own(reader, maker))
    read = [part for part in _rows(maker) if part.access == READ]
    row_bytes = sum(part.dim * part.dtype.itemsize for part in read)
    return Read(number, n_calls, row_bytes, n_calls * maker.kernel.num_flops)


def _text(reader: Kernel, maker: Kernel) -> str | None:
    """Return both texts as one; None if names would mean something else in there."""
    first, second = (_outer_names(one.text) for one in (reader, maker))
    if first is None or second is None:
        return None
    if reader.text.startswith(maker.text):
        return reader.text
    if maker.text.startswith(reader.text):
        return maker.text
    if first & second or {*free_names(reader)} & second or {*free_names(maker)} & first:
        return None
    return f"{reader.text}\n{maker.text}"


def _outer_names(code: str) -> frozenset[str] | None:
    """Return the names that stand outside of all braces and brackets; None if there are macros."""
    depth, names = 0, set()
    tokens = token_stream(code)
    for before, token in zip(("", *tokens), tokens, strict=False):
        if before == "#" and token != "include":
            return None
        depth += (token in "({[") - (token in ")}]")
        if depth == 0 and token.isidentifier():
            names.add(token)
    return frozenset(names) - _WORDS


def _computing(reader: ParLoop, maker: ParLoop) -> ParLoop | None:
    """Return the loop that computes what it gathers; None where its kernel cannot."""
    text = _text(reader.kernel, maker.kernel)
    if text is None:
        return None
    try:
        return _computing_by(text, reader, maker)
    except Op2Error:  # together they ask for what each of them does not, such as more names
        return None


def _computing_by(text: str, reader: ParLoop, maker: ParLoop) -> ParLoop:
    made = _made_by(maker)
    sees_old = _sees_old(maker, made)
    replaced = tuple(part.number for part in _own(reader, maker))
    args = [arg for i, arg in enumerate(reader.args) if i not in replaced]
    for number in replaced:
        for arg, part in zip(maker.args, maker._parts, strict=True):
            if part is made and not sees_old:
                continue
            is_row = part.kind is Kind.ROWS
            data: Any = arg.data
            gathered: Any = reader.args[number]
            args.append(data(READ, gathered.map_) if is_row else arg)
    shapes = _Shapes(_shape(reader), _shape(maker), replaced, sees_old)
    kernel = _kernel(reader.kernel, maker.kernel, text, shapes)
    loop = ParLoop(
        kernel,
        reader.iterset,
        *args,
        strategy=reader._strategy,
        lanes=reader._lanes,
        check=reader._check,
        equal_writes=reader._equal_writes,
    )
    loop._line = reader._line
    return loop


def _sees_old(maker: ParLoop, made: Part) -> bool:
    core = maker.kernel.core
    access = _core.Access(int(made.access))
    return core.body is None or not _core.overwrites(core, made.number, made.n_scalars, access)


Shape = tuple[tuple[str, str, int, bool], ...]
"""Of each argument: its C type, how it is used, its values for an element, and whether a Dat has
them."""


class _Shapes(NamedTuple):
    reader: Shape
    maker: Shape
    replaced: tuple[int, ...]
    sees_old: bool


def _shape(loop: ParLoop) -> Shape:
    return tuple(
        (c_name(part.dtype), part.access.name, part.n_scalars, part.kind is Kind.ROWS)
        for part in loop._parts
    )


@until_exit(256)
def _kernel(reader: Kernel, maker: Kernel, text: str, shapes: _Shapes) -> Kernel:
    """Return the kernel that computes what another one gathers, and calls that."""
    name = f"{reader.name}_{maker.name}"
    while name in text:
        name += "_again"
    parameters: list[str] = []

    def parameter(c_type: str, of: Kernel, i: int, access: str) -> str:
        number = len(parameters)
        is_const = access == "READ" and of.parameters[i].type.is_const
        parameters.append(f"{'const ' * is_const}{c_type} *again_a{number}")
        return f"again_a{number}"

    arguments = [
        f"again_m{i}" if i in shapes.replaced else parameter(c_type, reader, i, access)
        for i, (c_type, access, _, _) in enumerate(shapes.reader)
    ]
    made = []
    for number in shapes.replaced:
        c_type, _, n, _ = shapes.reader[number]
        dim = next(size for _, access, size, _ in shapes.maker if access != "READ")
        one = {"type": c_type, "name": f"again_m{number}", "n": n, "dim": dim, "old": ""}
        passed = []
        for i, (of_type, access, size, is_row) in enumerate(shapes.maker):
            if access == "READ":
                given = parameter(of_type, maker, i, access)
                passed.append(f"{given} + {size} * again_i" if is_row else given)
                continue
            if shapes.sees_old:
                one["old"] = f"again_a{len(parameters)}"
                parameters.append(f"const {of_type} *again_a{len(parameters)}")
            passed.append(f"again_m{number} + {dim} * again_i")
        made.append(one | {"arguments": passed})
    frame = {"name": name, "parameters": parameters, "made": made, "maker": maker.name}
    frame |= {"reader": reader.name, "arguments": arguments}
    found = reader.with_code(f"{text}\n{render('kernels/again.c.j2', frame)}", name)
    found.shown_name, found.shown_code = reader.shown_name, reader.shown_code
    found.also_computes = maker.name
    if reader.also_computes is not None:
        found.also_computes = f"{reader.also_computes} and {maker.name}"
    return found.written_here()


# ------------------------------------------------------------------------------ whether it pays


def seconds_of(found: Later, inverted: Collection[int]) -> float:
    """Return what it takes to compute values again, by the model.

    Args:
        found: Who computes them.
        inverted: Places of the loops that are called for each target that they add to.
    """
    seconds = 0.0
    for read in (read for reads in found.makers.values() for read in reads):
        place = found.order.index(read.number)
        loop = found.loops[place]
        assert loop is not None, "an action gathers nothing"
        seconds += _seconds(read, loop._symbolic().loop.n_slots() if place in inverted else 1)
    return seconds


def _seconds(read: Read, n_times: int) -> float:
    rates = _rates()
    n_bytes = n_times * read.n_calls * read.row_bytes
    n_operations = n_times * read.n_operations
    return n_bytes / rates.bytes_a_second + n_operations / rates.operations_a_second


def gained_seconds(n_fewer: int, seconds: float) -> float:
    """Return what a chain gains by it, by the model; it is worse if that is negative.

    Args:
        n_fewer: How many functions the chain needs less.
        seconds: What computing values again takes.
    """
    return n_fewer * _rates().function_seconds - seconds


def _rates() -> _Rates:
    device = opened_device()
    return _HOST if device is None or device.info.is_cpu else _GPU


def lines_on(
    found: Later,
    loops: Sequence[ParLoop | None],
    n_fewer: int,
    seconds: float,
    *,
    is_chosen: bool,
) -> dict[int, str]:
    """Return what `explain` says of each Dat that could be computed again, by its number.

    Args:
        found: Who computes what.
        loops: The loops as they were recorded.
        n_fewer: How many functions the chain needs less.
        seconds: What computing values again takes.
        is_chosen: Whether it is done.
    """
    lines: dict[int, str] = {}
    cost = f"{1e6 * seconds:.1f} us"
    saved = f"{n_fewer} function{'s' * (n_fewer != 1)} of {1e6 * _rates().function_seconds:.1f} us"
    for number, reads in found.makers.items():
        made = _made(loops[number])
        names = list(dict.fromkeys(_name(loops[read.number]) for read in reads))
        who, s = " and ".join(names), "s" * (len(names) == 1)
        if is_chosen:
            lines[made._uid] = (
                f"recompute: {who} compute{s} {made.name} as {_name(loops[number])} does, which "
                f"comes later so: the chain has {saved} less, for {cost}"
            )
        else:
            lines[made._uid] = (
                f"recompute: {made.name}, which {who} read{s} through a Map, is stored: to compute "
                f"it again would take {cost} and save {saved}"
            )
    return lines


def _too_dear(reader: ParLoop, maker: ParLoop, seconds: float) -> str:
    return (
        f"recompute: {_made(maker).name}, which {_name(reader)} reads through a Map, is stored: to "
        f"compute it again would take {1e6 * seconds:.1f} us, and a function takes "
        f"{1e6 * _rates().function_seconds:.1f} us"
    )


def _name(loop: ParLoop | None) -> str:
    assert loop is not None, "actions have no kernel"
    return loop.kernel.shown_name
