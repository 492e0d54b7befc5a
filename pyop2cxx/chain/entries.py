# SPDX-License-Identifier: BSD-3-Clause
"""Entries of a chain, and the memory touched by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.data.constants import Const
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.loop.execute import is_apart
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import Kind, uses_of
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.data.globals import Global
    from pyop2cxx.loop.parts import Part

_FOLLOWED = (Kind.ROWS, Kind.TOTAL, Kind.PLACES)


class Recorded:
    """A recorded loop without data. Equal only to the same object.

    Args:
        loop: The loop.
        make: Makes the loop from arguments; None if the recorder keeps the loop.
    """

    __slots__ = (
        *("assembled", "epoch", "ghosted", "is_checked", "is_plain", "lent", "line"),
        *("make", "name", "views", "waits", "waits_in_graphs", "why_eager"),
    )

    def __init__(self, loop: ParLoop, make: Callable[..., ParLoop] | None = None) -> None:
        for map_ in {map_.uid: map_ for part in loop.parts for map_ in part.maps}.values():
            map_.take_own_memory()
        self.make = make
        self.name = loop.kernel.shown_name
        self.line = loop.line
        self.epoch = runtime.epoch
        self.ghosted = _ghosted(loop)
        self.assembled = loop.effects.assembled
        self.is_checked = loop.wants_checks() or bool(runtime.configuration["debug"])
        why, of_ranks = _why_eager(loop), _why_shared(loop)
        self.why_eager = why or of_ranks
        self.waits = not (self.why_eager or self.is_checked)
        in_order = loop.effects.exact or loop.keeps_elements
        self.waits_in_graphs = not (why or self.is_checked or in_order) and is_apart(
            loop.effects, loop.args
        )
        self.is_plain = self.waits and not (self.ghosted or self.assembled)
        built = loop.symbolic()
        data = [] if why else [*(p.data for p in loop.parts), *built.constants]
        self.lent = tuple({id(one.lent_out): one.lent_out for one in data}.values())
        # empty unless the program can write: few loops have more to check
        self.views = (
            *(one.out for one in self.lent),
            *(one.others for one in self.lent if one.others),
        )


def _is_plain_matrix(part: Part) -> bool:
    """Say whether a part is the only block of a matrix, with a place for each entry."""
    return part.path is not None and not part.data.is_mixed and part.data.whole is None


def _ghosted(loop: ParLoop) -> tuple[int, ...]:
    """Return the arguments with ghosts out of date as soon as the loop is recorded."""
    fields: dict[int, Any] = {i: loop.args[i].data.split for i in loop.effects.written}
    return tuple(i for i, found in fields.items() if any(map(has_ghosts, found)))


def has_ghosts(carrier: DataCarrier) -> bool:
    """Return whether an object has values of other processes."""
    return isinstance(carrier, Dat) and carrier.set.may_have_ghosts


def _why_eager(loop: ParLoop) -> str:
    """Return the reason why a loop runs at once even in a chain; empty: the loop waits."""
    for part in loop.parts:
        if any(map_.is_ragged for map_ in part.maps):
            return "it goes by a ragged Map; call it outside of the chain"
        if part.is_of_matrix and not _is_plain_matrix(part):
            return (
                "it uses a part of a mixed matrix, or a matrix beside a Global; assemble outside "
                "of the chain"
            )
        if part.kind not in _FOLLOWED:
            return "it uses a handle, which chains do not follow; pass its Dat instead"
    if loop.options.strategy or loop.options.lanes or runtime.device is not None:
        try:
            flow.choose(flow.here(loop.current_request()))
        except UnsupportedError as error:  # the call itself raises the error
            return str(error)
    return ""


def _why_shared(loop: ParLoop) -> str:
    """Return the reason of messages why a loop runs at once in a chain, unless in a graph."""
    if loop.effects.ghosts:
        return (
            "its Dats have a Halo, whose values are exchanged around it; call it outside of the "
            "chain, or record the chain in a graph"
        )
    if loop.effects.again:
        return (
            "it computes near ghosts of other processes again; call it outside of the chain, or "
            "record the chain in a graph"
        )
    if loop.effects.exact or loop.keeps_elements:
        return "sums are made for several processes; call it outside of the chain"
    if loop.effects.reduced:
        return (
            "a Global is reduced over several processes; call it outside of the chain, or record "
            "the chain in a graph"
        )
    return ""


class Entry:
    """Entry of a chain: a loop with arguments.

    Each call makes an entry, so the constructor does as little as possible.

    Args:
        recorded: The loop.
        args: Arguments of the loop.
        loop: The loop, if already made.

    Attributes:
        recorded: As given; None: an `Action`.
        args: As given.
        loop: As given.
        key: Equal for entries with the same effect on the same objects.
        action: Effect of an entry without a loop, for example setting a Global to zero.
        name: Name of an action in reports.
        uses: Objects used by an action, each with whether the action writes.
        zeroes: Whether an action sets all written values to zero.
    """

    __slots__ = ("args", "key", "loop", "recorded")

    recorded: Recorded | None
    key: object
    action: Callable[[], None] | None = None
    name: str = ""
    uses: tuple[tuple[DataCarrier, bool], ...] = ()
    zeroes: bool = False

    def __init__(
        self, recorded: Recorded, args: Sequence[Any] = (), loop: ParLoop | None = None
    ) -> None:
        self.recorded = self.key = recorded
        self.args = args
        self.loop = loop

    def made(self) -> ParLoop:
        """Return the loop, made again if necessary."""
        if self.loop is not None:
            return self.loop
        assert self.recorded is not None
        assert self.recorded.make is not None
        made = self.recorded.make(*self.args)
        made.line = self.recorded.line  # the user's line, not the line that needed the loop
        return made

    def run(self) -> None:
        """Run the entry now, alone; the caller must suspend recording."""
        if self.recorded is not None:
            self.made().compute()
        else:
            assert self.action is not None
            self.action()

    def touched(self) -> Iterable[tuple[DataCarrier, bool]]:
        """Objects used, each with whether the entry writes."""
        return (*self.uses, *uses_of(self.args))


class Action(Entry):
    """An action of the library.

    Args:
        name: Name in reports.
        action: Carries out the action.
        uses: Objects used, each with whether the action writes.
        zeroes: Whether the action sets all written values to zero.
    """

    __slots__ = ("action", "name", "uses", "zeroes")

    def __init__(
        self,
        name: str,
        action: Callable[[], None],
        uses: tuple[tuple[DataCarrier, bool], ...],
        zeroes: bool,
    ) -> None:
        self.recorded = self.loop = None
        self.args = ()
        self.action = action
        self.name = name
        self.uses = uses
        self.zeroes = zeroes
        is_zeroing = zeroes and len(uses) == 1
        self.key = (
            key_of_zero(uses[0][0])
            if is_zeroing
            else (name, *[(carrier.uid, writes) for carrier, writes in uses])
        )


class Setting(Entry):
    """New values for a Global.

    Args:
        carrier: The Global.
        values: The new values; the caller keeps them unchanged.
    """

    __slots__ = ("carrier", "values")

    recorded = loop = None
    args = ()

    def __init__(self, carrier: Global, values: Array) -> None:
        self.key = ("set", carrier.uid)
        self.carrier = carrier
        self.values = values

    @property
    def name(self) -> str:  # type: ignore[override]  # made when somebody asks
        """Name in reports."""
        return f"set {self.carrier.name}"

    @property
    def uses(self) -> tuple[tuple[DataCarrier, bool], ...]:  # type: ignore[override]  # likewise
        """All of the Global is written."""
        return ((self.carrier, True),)

    def action(self) -> None:
        """Set the values."""
        self.carrier.put_now(self.values)


class Overwritten(Action):
    """Mark at the end of a chain: the values are overwritten next, so need no store.

    Args:
        carrier: The object.
    """

    __slots__ = ()

    def __init__(self, carrier: DataCarrier) -> None:
        super().__init__(f"{carrier.name} is overwritten", _nothing, ((carrier, True),), True)


def _nothing() -> None:
    """Do nothing."""


def key_of_zero(carrier: DataCarrier) -> int:
    """Return the key of setting an object to zero; differs from all keys of objects."""
    return -carrier.uid


Waiting = Any
"""An element of a queue: an `Entry`, or, since an entry takes long to make, a `ParLoop`, or a Dat
or Global to be set to zero. The last three were recorded before with the same key."""


def entries_of(queue: Sequence[Waiting]) -> list[Entry]:
    """Return the entries of a queue."""
    return [_entry_of(one) for one in queue]


def key_of(waiting: Waiting) -> object:
    """Return a key, equal for equal effects on the same objects."""
    return _entry_of(waiting).key


def action_of(waiting: Waiting) -> Callable[[], None]:
    """Return the callable of an action."""
    action = waiting.action if isinstance(waiting, Entry) else waiting.zero
    assert action is not None, "a loop is a function, or a part of one"
    return action


def _entry_of(waiting: Waiting) -> Entry:
    if isinstance(waiting, Entry):
        return waiting
    if isinstance(waiting, ParLoop):
        return Entry(waiting.recorded, waiting.args, waiting)
    return Action(f"zero {waiting.name}", waiting.zero, ((waiting, True),), True)


def span_of(carrier: DataCarrier) -> tuple[int, int]:
    """Return where the host's memory of an object begins and ends.

    An object without memory gets a separate interval, at the object's negative number.
    """
    buffer = carrier.buffer
    if buffer.n_bytes == 0:
        return -carrier.uid, -carrier.uid + 1
    return buffer.address, buffer.address + buffer.n_bytes


def meets(entry: Entry, span: tuple[int, int], *, write: bool) -> bool:
    """Say whether an entry must run before memory is read, or written, by somebody else."""
    return any(
        (writes or write) and _overlap(span_of(carrier), span)
        for carrier, writes in entry.touched()
    )


def ancestors(entries: Sequence[Entry], wanted: set[int]) -> list[int]:
    """Return entries and all their dependencies, by index, in order."""
    spans = [spans_of(entry.touched()) for entry in entries]
    found = set(wanted)
    for later in range(len(entries) - 1, -1, -1):
        if later not in found:
            continue
        for earlier in range(later):
            if earlier not in found and depends(spans[earlier], spans[later]):
                found.add(earlier)
    return sorted(found)


Span = tuple[tuple[int, int], bool]
"""Begin and end of memory, and whether the entry writes there."""


def spans_of(uses: Iterable[tuple[DataCarrier, bool]]) -> list[Span]:
    """Return the memory of used objects.

    Args:
        uses: Objects, each with whether written.
    """
    return [(span_of(carrier), writes) for carrier, writes in uses]


def depends(earlier: Sequence[Span], later: Sequence[Span]) -> bool:
    """Say whether the order of two entries matters.

    Args:
        earlier: Memory of the first entry.
        later: Memory of the second entry.
    """
    return any(
        (one_writes or other_writes) and _overlap(one, other)
        for one, one_writes in earlier
        for other, other_writes in later
    )


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def is_named(carrier: DataCarrier) -> bool:
    """Return whether kernels use an object by name, so no argument shows the use."""
    return isinstance(carrier, Const)
