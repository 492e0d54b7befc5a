# SPDX-License-Identifier: BSD-3-Clause
"""``with op2.chain():`` loops wait, and run together when somebody looks at what they write."""

from __future__ import annotations

import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from pyop2cxx.chain.compare import run_compared
from pyop2cxx.chain.compiled import PASSES, Compiled, compiled
from pyop2cxx.chain.entries import Entry, Recorded, ancestors, is_named, meets, span_of
from pyop2cxx.chain.report import Report
from pyop2cxx.chain.spares import Spares
from pyop2cxx.chain.worth import Places
from pyop2cxx.data.carrier import Lent
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from pyop2cxx.chain.worth import Place
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.loop.parloop import ParLoop

_MOST_CHAINS = 256
_MOST_CALLS = 1024
_MOST_SHOWN = 64
_BOUND = 128
"""So many loops wait at most: what was recorded keeps its data alive."""


_ALL_PASSES = frozenset(PASSES)


class ChainState:
    """What chains remember of each other: loops that were checked, chains that were compiled."""

    def __init__(self) -> None:
        self.calls = Bounded(_MOST_CALLS)
        self.compiled = Bounded(_MOST_CHAINS)
        self.latest: tuple[tuple[object, ...], Compiled] | None = None
        self.spares = Spares()
        self.places = Places()


class Chain:
    """Loops of a block that wait until their results are needed, and are compiled together.

    What is computed is the same as without the block, to rounding. Loops that write what is read
    through ``data``, ``data_ro`` and the like run first; when the block ends, all that is left.

    Args:
        passes: How loops may be combined: 'fuse' (loops over one Set become one function), 'invert'
            (loops that increment through a Map run over its targets), 'rename' (new values go to
            a second buffer where old ones are still read), 'drop' (values that are overwritten
            before they are read are not stored), 'copy' (a Dat that is a copy of another one is
            read there, and not stored), 'zero' (sums that start where a loop or ``zero()`` left
            zeros do not read them). None means all of them.
        bound: How many loops wait at most.
        compare: Whether the loops also run one after the other, from the same values, and a
            `ChainError` says where the chain computes something else. None means as the option
            ``debug`` says. In a function of `op2.record` nothing is compared.

    Raises:
        UsageError: There is no such pass, or the bound is no positive number.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(3)
        >>> x, y = op2.Dat(cells, [1.0, 2.0, 3.0]), op2.Dat(cells)
        >>> twice = op2.Kernel("void twice(double *y, const double *x) { *y = 2 * *x; }", "twice")
        >>> more = op2.Kernel("void more(double *y) { *y += 1; }", "more")
        >>> with op2.chain() as chain:
        ...     op2.par_loop(twice, cells, y(op2.WRITE), x(op2.READ))
        ...     op2.par_loop(more, cells, y(op2.RW))
        >>> y.data_ro.tolist()
        [3.0, 5.0, 7.0]
        >>> [step.loops for step in chain.explain().steps]
        [(0, 1)]
    """

    takes_all = False

    def __init__(
        self,
        *,
        passes: Iterable[str] | None = None,
        bound: int = _BOUND,
        compare: bool | None = None,
    ) -> None:
        self._passes = _checked_passes(passes)
        if not isinstance(bound, int) or bound < 1:
            raise UsageError(f"chain: bound must be a positive number of loops, got {bound!r}")
        self._bound = bound
        self._compare = compare
        self._queue: list[Entry] = []
        self._last: list[Compiled] = []
        self._thread = 0
        self._outer: Any = None
        self._is_running = False
        self._place: Place | None = None
        self._is_at_once = False
        self._why_at_once = ""
        self._refused: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<chain: {len(self._queue)} loops wait>"

    def __enter__(self) -> Self:
        outer: object = runtime.recorder
        if outer is self or self._is_at_once:
            raise UsageError("chain: this block is open; make another op2.chain() for a second one")
        self._place = None
        if outer is None and not self._compare:
            place = runtime.of(ChainState).places.of(sys._getframe(1), self._passes)
            if place.runs_at_once():
                self._is_at_once, self._last = True, place.chains
                self._why_at_once = place.why
                return self
            self._place = place
        self._outer, runtime.recorder = runtime.recorder, self
        if self._outer is not None:
            self._outer.begin_block()
        self._thread = get_ident()
        self._last, self._why_at_once, self._refused = [], "", {}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_at_once:
            self._is_at_once = False
            return
        try:
            self.flush()  # also after an error: without the block, these loops had run before it
        finally:
            runtime.recorder = self._outer
        if self._place is not None and error is None and self._is_judged():
            self._place.judge(self._last)

    # What loops ask

    def takes_call(self, key: object, kernel: object, args: Sequence[Any]) -> bool:
        """Record a loop that was recorded before with the same objects, if there is one."""
        known: tuple[object, Recorded] | None = runtime.of(ChainState).calls.find(key)
        if known is None or known[0] is not kernel:
            return False
        if self._is_running or get_ident() != self._thread or not self._may_wait(known[1]):
            return False
        self._add(Entry(known[1], args))
        return True

    def learn(
        self, key: object, kernel: object, loop: ParLoop, make: Callable[..., ParLoop]
    ) -> None:
        """Remember a loop that is about to be recorded, so that it need not be checked again."""
        loop._recorded = Recorded(loop, make)
        runtime.of(ChainState).calls.keep(key, (kernel, loop._recorded))

    def takes(self, loop: ParLoop) -> bool:
        """Record a loop; False: it runs now, and all that it waits for has run."""
        if self._is_running or get_ident() != self._thread:
            return False
        recorded: Recorded | None = loop._recorded
        if recorded is None or recorded.epoch != runtime.epoch:
            if runtime.static:
                return False
            recorded = loop._recorded = Recorded(loop)
            for part in loop._parts:
                if hasattr(part.data, "_allocated"):
                    part.data._allocated("chain")
        if not self._may_wait(recorded):
            self._refused.setdefault(recorded.name, self._why_not_waiting(recorded))
            self.flush()
            return self._is_within_graph() and self._outer.takes(loop)
        self._add(Entry(recorded, loop.args, loop))
        return True

    def takes_action(
        self,
        name: str,
        action: Callable[[], None],
        *uses: tuple[DataCarrier, bool],
        zeroes: bool = False,
    ) -> bool:
        """Record something else that is done to values, in the order of the loops."""
        if self._is_running or get_ident() != self._thread:
            return False
        # on devices increments may start at zeros that nobody has to store
        may_begin = self._is_within_graph() or (zeroes and runtime.device is not None)
        if not self._queue and not may_begin:
            return False
        self._add(Entry(None, action=action, name=name, uses=uses, zeroes=zeroes))
        return True

    def settle(self, carrier: DataCarrier, *, write: bool) -> None:
        """Run what must have run before somebody reads, or writes, values."""
        if self._is_running:
            return
        if self._queue:
            self._run_for(carrier, write=write)
        if self._is_within_graph():
            self._outer.settle(carrier, write=write)

    def _run_for(self, carrier: DataCarrier, *, write: bool) -> None:
        if is_named(carrier):
            self.flush()
            return
        span = span_of(carrier)
        wanted = {i for i, one in enumerate(self._queue) if meets(one, span, write=write)}
        if wanted:
            needed = ancestors(self._queue, wanted)
            taken = [self._queue[i] for i in needed]
            left = set(range(len(self._queue))).difference(needed)
            self._queue = [self._queue[i] for i in sorted(left)]
            self._run(taken)

    def flush(self) -> None:
        """Run all that waits."""
        if self._queue:
            taken, self._queue = self._queue, []
            self._run(taken)

    def begin_block(self) -> None:
        """Run all that waits: a block within this one is compiled alone."""
        self.flush()

    def takes_block(self, entries: Sequence[Entry], passes: frozenset[str]) -> bool:
        """Leave the loops of a block within this one to it."""
        return False

    # What users ask

    def explain(self) -> Report:
        """Say what the block's loops became when they ran last, and what was refused and why."""
        return Report(list(self._last), self._why_at_once, dict(self._refused))

    @staticmethod
    def pending() -> tuple[str, ...]:
        """Return the names of the loops that wait now."""
        recorder = runtime.recorder
        return () if recorder is None else tuple(recorder.waiting)

    @property
    def waiting(self) -> list[str]:
        """Names of the loops that wait."""
        return [entry.recorded.name if entry.recorded else entry.name for entry in self._queue]

    # Inside

    def _is_judged(self) -> bool:
        """Whether the model holds for what ran: on devices, launches and bytes cost something else.

        Loops that run in check mode for the chain's sake have to be recorded.
        """
        return runtime.device is None and not any(chain.is_checked for chain in self._last)

    def _may_wait(self, recorded: Recorded) -> bool:
        if recorded.why_eager or runtime.n_frozen:
            return False
        if recorded.is_checked and not self._compares:
            return False  # debug and check mode look at values before and after a loop
        return not Lent.any_held(recorded.lent)

    @staticmethod
    def _why_not_waiting(recorded: Recorded) -> str:
        """Say why a loop runs when it is called."""
        if recorded.why_eager:
            return recorded.why_eager
        if runtime.n_frozen:
            return "halos are frozen"
        if recorded.is_checked:
            return "debug and check mode look at values before and after it"
        return "the program holds a writeable array of its data"

    def _add(self, entry: Entry) -> None:
        self._queue.append(entry)
        if entry.recorded is not None:
            for i in entry.recorded.written:
                entry.args[i].data.halo_valid = False
        if len(self._queue) >= self._bound:
            self.flush()

    @property
    def _compares(self) -> bool:
        """Whether loops run one after the other, too."""
        if self._is_within_graph():
            return False
        return bool(runtime.configuration["debug"]) if self._compare is None else self._compare

    def _is_within_graph(self) -> bool:
        """Whether this is a block of a function that is being recorded as a graph."""
        return self._outer is not None and bool(self._outer.takes_all)

    def _run(self, taken: Sequence[Entry]) -> None:
        if self._outer is not None and self._outer.takes_block(taken, self._passes):
            return
        self._is_running = True
        try:
            chain = self._compiled(taken)
            if self._compare or chain.is_checked:
                run_compared(chain, taken)
            else:
                chain.run(taken)
        except BaseException:
            # one after the other, what comes after a loop that failed would not have run
            self._queue = []
            raise
        finally:
            self._is_running = False
        if chain not in self._last:
            self._last = [*self._last[1 - _MOST_SHOWN :], chain]

    def _compiled(self, taken: Sequence[Entry]) -> Compiled:
        state = runtime.of(ChainState)
        key = (runtime.epoch, self._passes, *[entry.key for entry in taken])
        if state.latest is not None and state.latest[0] == key:
            return state.latest[1]  # by far cheaper than to look the key up
        found: Compiled | None = state.compiled.find(key)
        if found is None:
            found = compiled(taken, self._passes, state.spares)
            state.compiled.keep(key, found)
        state.latest = key, found
        return found


def of_program() -> Chain:
    """Return a chain for the loops that this thread runs outside of blocks."""
    made = Chain()
    made._thread = get_ident()
    return made


def _checked_passes(given: Iterable[str] | None) -> frozenset[str]:
    if given is None:
        return _ALL_PASSES
    wanted = frozenset(given)
    unknown = sorted(wanted.difference(PASSES))
    if unknown:
        raise UsageError(
            f"chain: there is no pass {', '.join(map(repr, unknown))}; there are: "
            f"{', '.join(PASSES)}"
        )
    return wanted
