# SPDX-License-Identifier: BSD-3-Clause
"""``with op2.chain():`` records loops, to run together when results are needed."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from threading import RLock, get_ident, local
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.chain.compare import run_compared
from pyop2cxx.chain.compile import PASSES, compiled
from pyop2cxx.chain.decide import Places, number_of
from pyop2cxx.chain.entries import (
    Action,
    Entry,
    Recorded,
    Setting,
    ancestors,
    entries_of,
    has_ghosts,
    is_named,
    key_of,
    meets,
    span_of,
)
from pyop2cxx.chain.periods import whole_periods
from pyop2cxx.chain.prefixes import Prefix, Prefixes, Split
from pyop2cxx.chain.rename import Spares
from pyop2cxx.chain.report import Report
from pyop2cxx.chain.unapplied import NO_PASSES
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.lent import Lent
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.loop.execute import note_assembly
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Bounded
from pyop2cxx.runtime.recorder import Recorder
from pyop2cxx.runtime.seams import tuner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from typing_extensions import Self

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.chain.compile import Compiled
    from pyop2cxx.chain.decide import Place
    from pyop2cxx.chain.entries import Waiting
    from pyop2cxx.chain.prefixes import Counts
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.data.globals import Global
    from pyop2cxx.loop.parloop import ParLoop

_MOST_CALLS = 1024
_MOST_SHOWN = 64
_BOUND = 128
"""Largest number of waiting loops: recorded entries keep their data alive."""


_ALL_PASSES = frozenset(PASSES)
_RUNNING = -1
"""Thread of a running chain: no thread."""
_NOWHERE = Prefix()
"""Prefix of a chain with an empty queue: has no known successors."""


class ChainState(local):
    """Caches of a thread's chains: checked loops and compiled chains.

    Each thread has a separate object, since second buffers serve a single chain at a time.
    """

    def __init__(self) -> None:
        self.calls = Bounded(_MOST_CALLS)
        self.known = Prefixes()
        self.spares = Spares()
        self.places = Places()

    @property
    def places(self) -> Places:
        """Where blocks are opened."""
        return self._places

    @places.setter
    def places(self, new: Places) -> None:
        self._places = new
        _core.chain.use(new.at_once, runtime)


class Chain(_core.chain.Block, Recorder):
    """Loops of a block, waiting until results are needed, and compiled together.

    Results equal the results without the block, to rounding. Reading ``data``, ``data_ro`` and the
    like first runs the loops writing the values; the end of the block runs the rest.

    Args:
        passes: Allowed transformations: 'fuse' (loops over the same Set become a single function),
            'invert' (loops that increment through a Map run over the targets), 'rename' (new values
            go to a second buffer while old values are still read), 'drop' (values overwritten
            before a read are not stored), 'copy' (a copied Dat is read from the source, and not
            stored), 'zero' (sums starting from zeros of a loop or of ``zero()`` do not read them),
            'rotate' (in repeating loops, for example several time steps, loops may join loops of
            the step before), 'geometry' (in a loop over targets, Map entries of the elements are
            taken from the targets' own Map, as edges have nodes of their cells). None means all.
        bound: Largest number of waiting loops. If the loops repeat, for example in a time loop
            inside the block, whole repetitions run then.
        compare: Whether the loops also run in sequence from the same values, with a `ChainError`
            for differing results. None follows the option ``debug``. A function under `op2.record`
            is never compared.

    Raises:
        UsageError: A pass is unknown, or the bound is no positive number.

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

    # defaults while nothing is recorded: a block that runs at once costs almost nothing
    _passes = _ALL_PASSES
    _passes_number: int  # 0; below: never runs at once unasked
    _code: int  # of the line that opened the block last, with the offset there
    _at: int
    _is_at_once: bool  # open, and not recorded
    _was_at_once: bool  # is at once, or was when last open
    _bound = _BOUND
    _compare: bool | None = None
    _known: Prefixes
    _spares: Spares
    _prefix = _NOWHERE
    _queue: Any = ()  # a list while the block is open
    _last: Sequence[Compiled] = ()
    _refused: dict[str, str] | None = None
    _runner = 0  # thread that runs the queue; 0: none
    _running: AbstractContextManager[object] = nullcontext()  # of blocks never opened
    _place: Place | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            passes: Iterable[str] | None = None,
            bound: int = _BOUND,
            compare: bool | None = None,
        ) -> None: ...

        def __enter__(self) -> Self: ...

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            trace: TracebackType | None,
        ) -> None: ...

    def _configure(
        self,
        *,
        passes: Iterable[str] | None = None,
        bound: int = _BOUND,
        compare: bool | None = None,
    ) -> None:
        """Take arguments, if there are any."""
        if passes is not None:
            self._passes = _checked_passes(passes)
            self._passes_number = number_of(self._passes)
        if bound is not _BOUND:
            if not isinstance(bound, int) or bound < 1:
                raise UsageError(f"chain: bound must be a positive number of loops, got {bound!r}")
            self._bound = bound
        if compare is not None:
            self._compare = compare
            if compare:
                self._passes_number = -1  # never at once

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError("a chain can neither be copied nor pickled; op2.chain() makes another one")

    def __repr__(self) -> str:
        return f"<chain: {len(self._queue)} loops wait>"

    def __dir__(self) -> list[str]:
        """List what users call; the rest is for loops and other rooms."""
        shown = ["counts", "explain", "explain_lazy", "flush", "pending"]
        return [*(name for name in super().__dir__() if name.startswith("__")), *shown]

    def _begin_block(self) -> Self:
        """Begin a block not known to run at once."""
        outer: Any = runtime.here.recorder
        if outer is None and not self._compare and not self._is_at_once:
            state: ChainState = runtime.states.get(ChainState) or runtime.of(ChainState)
            number = self._passes_number
            place = state.places.known.get((self._code, self._at, number))
            if place is None:
                place = state.places.of(sys._getframe(1), number)
            self._place = place
            self._was_at_once = not place.is_settled and place.is_turn_at_once()
            if self._was_at_once:
                self._is_at_once = True
                return self
            self._begin(state)
            runtime.recorder = self
            return self
        if outer is self or self._is_at_once:
            raise UsageError("chain: this block is open; make another op2.chain() for a second one")
        self._place, self._was_at_once = None, False
        if outer is not None:
            outer.begin_block()
            self.outer = outer
        self._begin(runtime.of(ChainState))
        runtime.recorder = self
        return self

    def _begin(self, state: ChainState) -> None:
        """Start recording loops of the thread."""
        self._thread = get_ident()
        if self._running is Chain._running:
            self._running = RLock()
        self._queue, self._last, self._refused = [], (), None
        self._known, self._spares = state.known, state.spares
        self._prefix = state.known.root(runtime.epoch, self._passes)

    def _end_block(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End a block not run at once."""
        try:
            with self._running:
                taken, prefix = self._queue, self._prefix
                self._queue, self._prefix = (), _NOWHERE  # options may change now
                if taken:  # also after an error: without the block, these loops had run
                    self._run(taken, prefix)
        finally:
            self.end()
            self._leave()
        place = self._place
        if place is None or error is not None:
            return
        if place.chains is not self._last or not place.is_settled or place.epoch != runtime.epoch:
            place.judge(self._last)

    def _leave(self) -> None:
        """Restore the outer recorder, or the inner block's if still open.

        Blocks of generators end in any order. `op2.exit()` forgets all blocks, and other threads
        have recorders of their own.
        """
        outer, self.outer = self.outer, None
        inner: Any = runtime.here.recorder
        if inner is self:
            runtime.recorder = outer
        while inner is not None:
            further = getattr(inner, "outer", None)
            if further is self:
                inner.outer = outer
            inner = further

    # Requests of loops

    def takes_call(self, key: object, kernel: object, args: Sequence[Any]) -> bool | None:
        """Record a loop recorded before with the same objects, if any."""
        if not self.records and not self._is_recorded_again():
            return False
        known: tuple[object, Recorded] | None = runtime.of(ChainState).calls.find(key)
        if known is None or known[0] is not kernel or get_ident() != self._thread:
            return False
        if not self._may_wait(known[1]):
            if self.is_of_graph:
                return False
            self._note_refused(known[1])
            self.flush()
            return None
        self._add(Entry(known[1], args))
        return True

    def learn(
        self, key: object, kernel: object, loop: ParLoop, make: Callable[..., ParLoop]
    ) -> None:
        """Remember a loop about to be recorded, to save repeated checks."""
        loop.recorded = Recorded(loop, make)
        runtime.of(ChainState).calls.keep(key, (kernel, loop.recorded))

    def takes(self, loop: ParLoop) -> bool:
        """Record a loop; False: the loop must run now, and all dependencies have run."""
        recorded: Recorded | None = loop.recorded
        seen = self._prefix
        longer = seen.next.get(recorded)
        if (
            longer is None
            or recorded is None
            or not recorded.is_plain
            or recorded.epoch != runtime.epoch
            or runtime.n_frozen
            or runtime.has_several
            or any(recorded.views)
            or get_ident() != self._thread
        ):
            return self._takes(loop)
        if seen is not self._prefix:
            return self._takes(loop)  # another thread has just run the queue
        self._prefix = longer  # no other thread runs between these two lines
        self._queue.append(loop)
        if len(self._queue) >= self._bound:
            self._run_full_queue()
        return True

    def _takes(self, loop: ParLoop) -> bool:
        """Record a loop other than the expected next."""
        if get_ident() != self._thread or (not self.records and not self._is_recorded_again()):
            return False
        recorded: Recorded | None = loop.recorded
        if recorded is None or recorded.epoch != runtime.epoch:
            if runtime.static:
                return False
            loop.follow_distribution()
            recorded = loop.recorded = Recorded(loop)
            for part in loop.parts:
                if hasattr(part.data, "allocated"):
                    part.data.allocated("chain")
        if not self._may_wait(recorded):
            self._note_refused(recorded)
            self.flush()
            return self.is_of_graph and self.outer.takes(loop)
        self._add(Entry(recorded, loop.args, loop))
        return True

    def takes_zero(self, carrier: Dat | Global) -> bool:
        """Record the setting of all values of an object to zero."""
        seen = self._prefix
        longer = seen.next.get(-carrier.uid)
        is_alone = get_ident() == self._thread and not runtime.has_several
        if longer is None or not is_alone or seen is not self._prefix:
            if get_ident() != self._thread or self._marks_ghosts(carrier):
                return False
            if not (self._queue or self._begins_with_zeros()):
                return False  # nothing has to come before
            self._add(Action(f"zero {carrier.name}", carrier.zero, ((carrier, True),), True))
            return True
        self._prefix = longer
        self._queue.append(carrier)
        if len(self._queue) >= self._bound:
            self._run_full_queue()
        return True

    def _marks_ghosts(self, carrier: DataCarrier) -> bool:
        """Say whether loops recorded later mark ghosts as out of date at once: not in a graph."""
        return not self.is_of_graph and has_ghosts(carrier)

    def takes_action(
        self,
        name: str,
        action: Callable[[], None],
        *uses: tuple[DataCarrier, bool],
        zeroes: bool = False,
        in_graphs: bool = True,
    ) -> bool:
        """Record an action on values, in the order of the loops."""
        if get_ident() != self._thread:
            return False
        if not in_graphs and self.is_of_graph:
            return False
        if any(self._marks_ghosts(carrier) for carrier, _ in uses):
            return False
        # on devices increments may start from zeros that need not be stored
        may_begin = self.is_of_graph or (zeroes and runtime.device is not None)
        if not self._queue and not (may_begin and self.records):
            return False
        self._add(Action(name, action, uses, zeroes))
        return True

    def takes_copy(self, source: Any, target: Any, casting: str) -> bool:
        """Record a copy in place among the loops; in a graph as a separate node."""
        if self.is_of_graph and get_ident() == self._thread:
            self.flush()
            return bool(self.outer.takes_copy(source, target, casting))
        is_taken = self.takes_action(
            f"copy {source.name} to {target.name}",
            lambda: source.copy(target, casting=casting),
            (source, False),
            (target, True),
        )
        if is_taken and isinstance(target, Dat):  # later loops check numberings when called
            target.numbering = source.numbering
        return is_taken

    def _is_recorded_again(self) -> bool:
        """Return whether recording resumes with the present loop."""
        return True

    def _begins_with_zeros(self) -> bool:
        """Return whether a chain may begin with zeros: recording them is cheaper than storing."""
        return True

    def takes_values(self, carrier: Global, values: Array) -> bool:
        """Record new values of a Global, if an entry must come before."""
        if not self._queue or get_ident() != self._thread or self.is_of_graph:
            return False
        self._add(Setting(carrier, values.copy()))
        return True

    def settle(self, carrier: DataCarrier, *, write: bool) -> None:
        """Run all entries needed before values are read or written."""
        if self._runner:
            if self._runner == get_ident():
                return
            with self._running:
                pass  # the run of another thread comes first
        if self._queue:
            self._run_for(carrier, write=write)
        if self.is_of_graph:
            self.outer.settle(carrier, write=write)

    def settle_for_other(self, carrier: DataCarrier, *, write: bool) -> None:
        """Run the queue, if another thread is about to use values of the entries."""
        if self._runner and not self.is_of_graph:
            with self._running:
                pass  # the current run may use the values
        if not self._queue:
            return
        span, waiting = span_of(carrier), entries_of([*self._queue])
        if is_named(carrier) or any(meets(one, span, write=write) for one in waiting):
            self.flush_for_other()

    def flush_for_other(self) -> None:
        """Run the queue in a thread other than the recording thread."""
        if self.is_of_graph:
            return  # runs when the graph is submitted
        with runtime.at_once(), self._running:
            taken, prefix = self._queue, self._prefix
            self._queue, self._prefix = [], _NOWHERE
            if taken:
                self._known.n_runs += 1
                self._run_now(taken, prefix, (), get_ident())

    def _run_for(self, carrier: DataCarrier, *, write: bool) -> None:
        if is_named(carrier):
            self.flush()
            return
        with self._running:
            known = self._prefix.splits
            key = carrier.uid, write, carrier.buffer.address
            split = known.get(key)
            if split is None:
                split = known[key] = self._split(span_of(carrier), write=write)
            if not split.taken:
                return
            self._known.n_partial += bool(split.left)
            self._run_part(split)

    def _split(self, span: tuple[int, int], *, write: bool) -> Split:
        """Find the entries to run before memory is used."""
        entries = entries_of(self._queue)
        wanted = {i for i, one in enumerate(entries) if meets(one, span, write=write)}
        return self._split_at(ancestors(entries, wanted))

    def _run_full_queue(self) -> None:
        """At the bound, run whole repetitions, so the same chain comes next time."""
        with self._running:
            known = self._prefix.splits
            split = known.get(None)
            if split is None:
                n = whole_periods([key_of(one) for one in self._queue])
                split = known[None] = self._split_at(range(n))
            self._run_part(split)

    def _run_part(self, split: Split) -> None:
        if not split.left:
            self.flush()
            return
        queue = self._queue
        self._queue = [queue[i] for i in split.left]
        self._prefix = split.left_prefix
        self._run([queue[i] for i in split.taken], split.taken_prefix, queue)

    def _split_at(self, taken: Sequence[int]) -> Split:
        left = sorted(set(range(len(self._queue))).difference(taken))
        root = self._known.root(runtime.epoch, self._passes)
        return Split(
            taken,
            left,
            self._known.along(root, (key_of(self._queue[i]) for i in taken)),
            self._known.along(root, (key_of(self._queue[i]) for i in left)),
        )

    def flush(self) -> None:
        """Run all waiting entries."""
        with self._running:
            taken, prefix = self._queue, self._prefix
            self._queue, self._prefix = [], _NOWHERE  # options may change now
            if taken:
                self._run(taken, prefix)

    begin_block = flush  # an inner block is compiled alone

    # Questions of users

    def explain(self) -> Report:
        """Report the functions of the last run, and the refused loops with reasons."""
        if self._was_at_once:
            line = self._code, self._at, self._passes_number
            place = runtime.of(ChainState).places.known.get(line)
            if place is not None:
                return Report(place.chains, place.why, {}, number_of(self._passes))
        return Report(self._last, "", dict(self._refused or {}), number_of(self._passes))

    @staticmethod
    def pending() -> tuple[str, ...]:
        """Return the names of the waiting loops; tuple of str."""
        recorder = runtime.recorder
        return () if recorder is None else tuple(recorder.waiting)

    @staticmethod
    def explain_lazy() -> Report:
        """Report the last functions under ``init(lazy=True)``, outside of blocks.

        If recording takes longer than running at once, loops run at once and the report gives the
        measurement.

        Example:
            >>> from pyop2cxx import op2
            >>> op2.init(lazy=True)
            >>> x = op2.Dat(op2.Set(2), [1.0, 2.0])
            >>> twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
            >>> op2.par_loop(twice, x.dataset.set, x(op2.RW))
            >>> x.data_ro.tolist()
            [2.0, 4.0]
            >>> len(op2.chain.explain_lazy().steps)
            1
            >>> op2.init(lazy=False)
        """
        recorder = runtime.lazy_recorder
        return Report((), "", {}) if recorder is None else recorder.explain()

    @staticmethod
    def counts() -> Counts:
        """Return the numbers of runs of chains in the thread, with ``init(lazy=True)``.

        Example:
            >>> from pyop2cxx import op2
            >>> op2.exit()
            >>> x = op2.Dat(op2.Set(2), [1.0, 2.0])
            >>> twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
            >>> op2.init(lazy=True)
            >>> for _ in range(3):
            ...     op2.par_loop(twice, x.dataset.set, x(op2.RW))
            ...     _ = x.data_ro
            >>> op2.chain.counts()
            Counts(runs=3, known=2, partial=0)
            >>> op2.init(lazy=False)
        """
        return runtime.of(ChainState).known.counts

    @property
    def waiting(self) -> list[str]:
        """Names of the waiting loops."""
        entries = entries_of(self._queue)
        return [entry.recorded.name if entry.recorded else entry.name for entry in entries]

    # Inside

    def _may_wait(self, recorded: Recorded) -> bool:
        waits = recorded.waits_in_graphs if self.is_of_graph else recorded.waits
        if runtime.n_frozen or not (waits or self._waits_compared(recorded)):
            return False
        return not any(recorded.views) or not Lent.any_held(recorded.lent)

    def _waits_compared(self, recorded: Recorded) -> bool:
        """Debug and check mode inspect values around each loop, unless the loop runs twice."""
        return not recorded.why_eager and self._compares

    def _note_refused(self, recorded: Recorded) -> None:
        """Remember why a loop runs at once, for the first time in a block."""
        if self._refused is None:
            self._refused = {}
        if recorded.name not in self._refused:
            self._refused[recorded.name] = self._why_not_waiting(recorded)

    @staticmethod
    def _why_not_waiting(recorded: Recorded) -> str:
        """Return the reason why a loop runs at once."""
        if recorded.why_eager:
            return recorded.why_eager
        if runtime.n_frozen:
            return "halos are frozen; call it outside of frozen_halo to let it wait"
        if recorded.is_checked:
            return "debug and check mode look at values before and after it; chain without them"
        held = next(filter(None, (one.held for one in recorded.lent)), "an array of its data")
        return f"the program holds {held}"

    def _add(self, entry: Entry) -> None:
        key, recorded = entry.key, entry.recorded
        if runtime.has_several:  # recorded entries of others were called before
            runtime.settle_others(*entry.touched())
        longer = _NOWHERE
        queue, seen = self._queue, None
        while queue is not self._queue or seen is not self._prefix:  # another thread has run it
            queue = self._queue
            if not queue:
                state = runtime.of(ChainState)
                self._known, self._spares = state.known, state.spares
                self._prefix = self._known.root(runtime.epoch, self._passes)
            seen = self._prefix
            longer = seen.next.get(key) or self._known.after(seen, key)
        self._prefix = longer
        queue.append(entry)
        if recorded is not None and (recorded.ghosted or recorded.assembled):
            for i in () if self.is_of_graph else recorded.ghosted:
                entry.args[i].data.halo_valid = False
            for i in () if self.is_of_graph else recorded.assembled:
                note_assembly(entry.args[i])
        if len(queue) >= self._bound:
            self._run_full_queue()

    @property
    def _compares(self) -> bool:
        """Return whether loops also run in sequence."""
        if self.is_of_graph:
            return False
        return bool(runtime.configuration["debug"]) if self._compare is None else self._compare

    def _run(self, taken: Sequence[Waiting], prefix: Prefix, queue: Sequence[Waiting] = ()) -> None:
        """Run a part of the queue; without an argument `queue` all entries."""
        if self.is_of_graph and self.outer.takes_block(entries_of(taken), self._passes):
            return
        self._known.n_runs += 1
        thread, self._thread = self._thread, _RUNNING  # loops of the run are not recorded
        try:
            self._run_now(taken, prefix, queue, self._runner if thread == _RUNNING else thread)
        finally:
            self._thread = thread

    def _run_now(
        self, taken: Sequence[Waiting], prefix: Prefix, queue: Sequence[Waiting], thread: int
    ) -> None:
        """Run recorded entries in the present thread, whichever thread recorded them."""
        here, chain = runtime.here, prefix.compiled
        runner, is_inner = self._runner, here.is_running
        self._runner, here.is_running = thread, True
        interrupt: KeyboardInterrupt | None = None
        try:
            if chain is None:
                try:
                    chain = self._compiled(taken, prefix, queue or taken)
                except KeyboardInterrupt as error:  # called loops run all the same
                    interrupt = error
                    chain = self._compiled(taken, prefix, queue or taken)
            if runtime.on_chain is not None:
                runtime.on_chain(chain, entries_of(taken), self._passes)
            if self._compare or chain.is_checked:
                run_compared(chain, entries_of(taken))
            else:
                chain.run(taken)
        except BaseException as error:
            # one after the other, entries behind a failed loop would not have run
            if chain is None or not isinstance(error, KeyboardInterrupt):
                self._queue, self._prefix = [], _NOWHERE
            raise
        finally:
            self._runner, here.is_running = runner, is_inner
        if not self._last:
            self._last = chain.alone  # the same object each time, so that places compare identities
        elif chain not in self._last:
            self._last = (*self._last[1 - _MOST_SHOWN :], chain)
        if interrupt is not None:
            raise interrupt

    def _compiled(
        self, taken: Sequence[Waiting], prefix: Prefix, queue: Sequence[Waiting]
    ) -> Compiled:
        """Compile loops together; on failure, run all entries before the failing loop."""
        self._known.n_new += 1
        try:
            entries = entries_of(taken)
            chain = compiled(entries, self._passes, self._spares)
            if runtime.configuration["tune"] == "online":
                chain = tuner().before_first_chain(chain, entries, self._passes, self._spares)
            self._known.note_compiled(prefix, chain)
        except Exception as error:  # a backend or strategy may refuse an entry
            together = error
        else:
            return chain
        with runtime.at_once():
            for entry in entries_of(queue):
                try:
                    entry.run()  # the entry at fault raises here
                except UnsupportedError as error:
                    where = entry.made().line if entry.recorded else ""
                    raise UnsupportedError(f"{error} (made at {where})") from None
        raise together


def _checked_passes(given: Iterable[str] | None) -> frozenset[str]:
    if given is None:
        return _ALL_PASSES
    wanted = frozenset(given)
    unknown = sorted(wanted.difference(PASSES))
    if unknown:
        instead = "".join(f". '{name}': {NO_PASSES[name]}" for name in unknown if name in NO_PASSES)
        raise UsageError(
            f"chain: there is no pass {', '.join(map(repr, unknown))}; there are: "
            f"{', '.join(PASSES)}{instead}"
        )
    return wanted
