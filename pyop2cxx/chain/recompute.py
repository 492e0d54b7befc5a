# SPDX-License-Identifier: BSD-3-Clause
"""The `recompute` pass: readers recompute a value, so the store can move later.

A loop over a Set computes a value for each entity from other values of the same entity; later loops
gather the value through Maps. The loop stands between other loops although only the readers need
the result. Readers that recompute the value from the inputs let the loop run after them, and be
fused into a function over the same Set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.chain.candidate import Candidate
from pyop2cxx.chain.entries import depends, span_of, spans_of
from pyop2cxx.chain.tasks import machine
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.kernel.kernel import Kernel, free_names
from pyop2cxx.kernel.parser.tokens import token_stream
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import Kind, Part, uses_of
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyop2cxx.chain.entries import Entry, Span
    from pyop2cxx.data.dats import Dat


_MOST_PASSED, _MOST_WAYS = 64, 4
"""Bounds on the work for a long chain: loops passed by a moved loop, and Dats tried singly."""
_WORDS = frozenset(
    """
    static inline const restrict volatile extern void bool _Bool char short int long signed unsigned
    float double complex _Complex include math h stdlib stdint string stdbool tgmath
    """.split()  # noqa: SIM905  # a list would be a line for each
)


class Read(NamedTuple):
    """A loop that recomputes gathered values.

    Attributes:
        number: Index of the loop among the recorded loops.
        n_calls: Number of calls of the maker's kernel.
        row_bytes: Bytes read in place of a value.
        n_operations: Of all calls.
    """

    number: int
    n_calls: int
    row_bytes: int
    n_operations: int


@dataclass(frozen=True, slots=True)
class Later:
    """A chain with some loops moved later, because others recompute their values.

    Attributes:
        order: Recorded index of each loop or action.
        candidates: All loops, in the same order; None for actions.
        makers: Indices of the moved loops, with the recomputing loops.
        too_dear: Lines of `explain` on Dats not tried, because recomputing takes longer than a
            function, by index of the loop.
    """

    order: list[int]
    candidates: list[Candidate | None]
    makers: dict[int, tuple[Read, ...]]
    too_dear: dict[int, str]


def ways(entries: Sequence[Entry], loops: Sequence[Candidate | None]) -> list[Later]:
    """Return chains with loops moved behind readers that recompute their values.

    Args:
        entries: The recorded entries.
        loops: The loops of the entries; None for actions.

    Returns:
        The first chain moves all possible loops, and may equal the recorded chain. If the moved
        loops make several Dats, a chain for each of the first few Dats follows.
    """
    makers = [
        i
        for i, loop in enumerate(loops)
        if loop is not None and entries[i].recorded is not None and not why_stored(loop)
    ]
    first = _later(entries, loops, makers)
    of_each: dict[int, list[int]] = {}
    for number in first.makers:
        of_each.setdefault(_at(loops, number).made.data.uid, []).append(number)
    if len(of_each) < 2:
        return [first]
    return [first, *(_later(entries, loops, own) for own in [*of_each.values()][:_MOST_WAYS])]


def _later(
    entries: Sequence[Entry], loops: Sequence[Candidate | None], makers: Sequence[int]
) -> Later:
    found = Later(list(range(len(entries))), list(loops), {}, {})
    for number in sorted(makers, reverse=True):
        _put_later(found, entries, number, _at(loops, number))
    return found


def _at(loops: Sequence[Candidate | None], place: int) -> Candidate:
    found = loops[place]
    assert found is not None, "an action neither makes nor gathers values"
    return found


def why_stored(maker: Candidate) -> str:
    """Return the reason why the result of a loop cannot be recomputed; empty: none."""
    loop = maker.loop
    if maker.why_alone:
        return maker.why_alone
    if maker.is_partial:
        return "it visits a part of its Set, or the cells of columns; visit the whole Set"
    if any(part.home is not None and part.home.may_have_ghosts for part in loop.parts):
        return "its Dats have ghosts, made by other processes; leave them stored"
    if any(part.is_of_matrix or part.map_ is not None for part in loop.parts):
        return "it uses a Map or a matrix; make the Dat in a loop without"
    if any(part.access != READ for part in loop.parts if part.kind is not Kind.ROWS):
        return "it reduces into a Global; reduce in a loop of its own"
    if loop.kernel.facts is None or not loop.kernel.facts.is_pure:
        return (
            "its kernel calls functions that may do more than to compute; define them in its text"
        )
    made = [part for part in loop.parts if part.access != READ]
    if len(made) != 1 or made[0].access not in (WRITE, RW, INC):
        return "it makes other than one Dat; divide it into a loop for each"
    memory = [span_of(part.data) for part in maker.rows]
    if memory.count(span_of(made[0].data)) != 1:
        return "two of its arguments are one Dat; pass it once"
    return ""


def _put_later(found: Later, entries: Sequence[Entry], number: int, maker: Candidate) -> None:
    start, mine = found.order.index(number), maker.spans
    end = min(len(found.order), start + 1 + _MOST_PASSED)
    readers: dict[int, tuple[Candidate, Read]] = {}
    for at in range(start + 1, end):
        reader = found.candidates[at]
        uses = entries[found.order[at]].uses
        if not depends(mine, spans_of(uses) if reader is None else reader.spans):
            continue
        if reader is None or not _can_compute(reader, maker, mine):
            break
        read = _read(reader, maker, found.order[at])
        seconds = _seconds(read, 1)
        if seconds > _function_seconds():
            found.too_dear[maker.made.data.uid] = _too_dear(reader, maker, seconds)
            break
        made = _computing(reader, maker)
        if made is None:
            break
        readers[at] = made, read
    if not readers:
        return
    for at, (loop, _) in readers.items():
        found.candidates[at] = loop
    last = max(readers)
    found.order.insert(last, found.order.pop(start))
    found.candidates.insert(last, found.candidates.pop(start))
    found.makers[number] = tuple(read for _, read in readers.values())


def _can_compute(reader: Candidate, maker: Candidate, used: Sequence[Span]) -> bool:
    """Return whether a loop could recompute gathered values by calling another loop's kernel.

    Args:
        reader: The loop.
        maker: The maker of the gathered values.
        used: Memory used by the maker.
    """
    loop, made = reader.loop, maker.made.data
    if reader.why_alone or loop.items.extruded or loop.options.block_size:
        return False
    rest = [arg for arg in loop.args if arg.data is not made]
    is_apart = not depends(used, spans_of(uses_of(rest)))
    return is_apart and all(map(_is_gathered, _own(reader, maker)))


def _own(reader: Candidate, maker: Candidate) -> list[Part]:
    """Return the arguments of a loop made by another loop."""
    return [part for part in reader.loop.parts if part.data is maker.made.data]


def _is_gathered(part: Part) -> bool:
    is_plain = part.access == READ and part.kind is Kind.ROWS
    return is_plain and part.map_ is not None and not part.map_.is_partial


def _read(reader: Candidate, maker: Candidate, number: int) -> Read:
    dim = maker.made.dim
    n_calls = reader.loop.items.n * sum(part.n_scalars // dim for part in _own(reader, maker))
    read = [part for part in maker.rows if part.access == READ]
    row_bytes = sum(part.dim * part.dtype.itemsize for part in read)
    return Read(number, n_calls, row_bytes, n_calls * maker.loop.kernel.num_flops)


def _text(reader: Kernel, maker: Kernel) -> str | None:
    """Return both texts joined; None if names would clash."""
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
    """Return the names at file scope; None if there are macros."""
    depth, names = 0, set()
    tokens = token_stream(code)
    for before, token in zip(("", *tokens), tokens, strict=False):
        if before == "#" and token != "include":
            return None
        depth += (token in "({[") - (token in ")}]")
        if depth == 0 and token.isidentifier():
            names.add(token)
    return frozenset(names) - _WORDS


def _computing(reader: Candidate, maker: Candidate) -> Candidate | None:
    """Return the recomputing loop; None if the kernel cannot be made."""
    text = _text(reader.loop.kernel, maker.loop.kernel)
    if text is None:
        return None
    try:
        return Candidate(_computing_by(text, reader, maker))
    except Op2Error:  # together they can exceed a limit kept by each, such as the number of names
        return None


def _computing_by(text: str, by: Candidate, of: Candidate) -> ParLoop:
    reader, maker, made = by.loop, of.loop, of.made
    sees_old = _sees_old(maker, made)
    replaced = tuple(part.number for part in _own(by, of))
    args = [arg for i, arg in enumerate(reader.args) if i not in replaced]
    for number in replaced:
        for arg, part in zip(maker.args, maker.parts, strict=True):
            if part is made and not sees_old:
                continue
            is_row = part.kind is Kind.ROWS
            data: Any = arg.data
            gathered: Any = reader.args[number]
            args.append(data(READ, gathered.map_) if is_row else arg)
    shapes = _Shapes(_shape(reader), _shape(maker), replaced, sees_old)
    kernel = _kernel(reader.kernel, maker.kernel, text, shapes)
    loop = ParLoop(kernel, reader.iterset, *args)
    loop.__dict__["options"] = reader.options
    loop.line = reader.line
    return loop


def _sees_old(maker: ParLoop, made: Part) -> bool:
    core = maker.kernel.core
    access = _core.Access(int(made.access))
    return core.body is None or not _core.overwrites(core, made.number, made.n_scalars, access)


Shape = tuple[tuple[str, str, int, bool], ...]
"""Of each argument: C type, access, values for an element, and whether a Dat holds them."""


class _Shapes(NamedTuple):
    reader: Shape
    maker: Shape
    replaced: tuple[int, ...]
    sees_old: bool


def _shape(loop: ParLoop) -> Shape:
    return tuple(
        (c_name(part.compute), part.access.name, part.n_scalars, part.kind is Kind.ROWS)
        for part in loop.parts
    )


@until_exit(256)
def _kernel(reader: Kernel, maker: Kernel, text: str, shapes: _Shapes) -> Kernel:
    """Return a kernel calling the maker's kernel and then the reader's."""
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


# ------------------------------------------------------------------------------ cost model


def seconds_of(found: Later, inverted: Collection[int]) -> float:
    """Return the modelled cost of recomputing values, in seconds.

    Args:
        found: The chain and the readers.
        inverted: Places of the loops called once for each target of an increment.
    """
    seconds = 0.0
    for read in (read for reads in found.makers.values() for read in reads):
        place = found.order.index(read.number)
        loop = _at(found.candidates, place).loop
        seconds += _seconds(read, loop.symbolic().loop.n_slots() if place in inverted else 1)
    return seconds


def _seconds(read: Read, n_times: int) -> float:
    numbers = machine()
    n_bytes = n_times * read.n_calls * read.row_bytes
    n_operations = n_times * read.n_operations
    return 1e-9 * (n_bytes / numbers["gather_rate"] + n_operations / numbers["operation_rate"])


def gained_seconds(n_fewer: int, seconds: float) -> float:
    """Return the modelled gain of a chain in seconds; negative: a loss.

    Args:
        n_fewer: How many functions the chain needs less.
        seconds: Cost of recomputing values.
    """
    return n_fewer * _function_seconds() - seconds


def _function_seconds() -> float:
    """Return the cost of an additional function, in seconds."""
    return 1e-9 * machine()["call_nanoseconds"]


def lines_on(
    found: Later,
    loops: Sequence[Candidate | None],
    n_fewer: int,
    seconds: float,
    *,
    is_chosen: bool,
) -> dict[int, str]:
    """Return the lines of `explain` on recomputable Dats, by index of the loop.

    Args:
        found: The chain and the readers.
        loops: The loops as they were recorded.
        n_fewer: How many functions the chain needs less.
        seconds: Cost of recomputing values.
        is_chosen: Whether values are recomputed.
    """
    lines: dict[int, str] = {}
    cost = f"{1e6 * seconds:.1f} us"
    saved = f"{n_fewer} function{'s' * (n_fewer != 1)} of {1e6 * _function_seconds():.1f} us"
    for number, reads in found.makers.items():
        maker = _at(loops, number)
        made: Dat = maker.made.data
        names = list(dict.fromkeys(_at(loops, read.number).name for read in reads))
        who, s = " and ".join(names), "s" * (len(names) == 1)
        if is_chosen:
            lines[made.uid] = (
                f"recompute: {who} compute{s} {made.name} as {maker.name} does, which "
                f"comes later so: the chain has {saved} less, for {cost}"
            )
        else:
            lines[made.uid] = (
                f"recompute: {made.name}, which {who} read{s} through a Map, is stored: to compute "
                f"it again would take {cost} and save {saved}"
            )
    return lines


def _too_dear(reader: Candidate, maker: Candidate, seconds: float) -> str:
    return (
        f"recompute: {maker.made.data.name}, which {reader.name} reads through a Map, is stored: "
        f"to compute it again would take {1e6 * seconds:.1f} us, and a function takes "
        f"{1e6 * _function_seconds():.1f} us"
    )
