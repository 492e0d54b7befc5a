# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a run of a loop beside the kernel, and their order.

No other place defines the order. Repeated loops, remembered loops, and changes of matrix rows on a
device all use `Run`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ, Access
from pyop2cxx.base.arrays import is_shared
from pyop2cxx.base.waiting import is_seen, waiting
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.ghosts import READING, REDUCED
from pyop2cxx.data.lent import recall, recalling
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import (
    HaloFrozenError,
    StaticModeError,
    UnsupportedError,
    UsageError,
    user_line,
)
from pyop2cxx.loop import templates
from pyop2cxx.loop.checks import check_maps, check_values
from pyop2cxx.loop.exact import ExactRun, without_sums
from pyop2cxx.loop.numberings import all_current, note_numberings, numberings_after
from pyop2cxx.loop.over_ghosts import computes_again
from pyop2cxx.loop.own_arguments import owned
from pyop2cxx.loop.parts import Kind
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.communicators import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Protocol

    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop.parts import Arg, Part
    from pyop2cxx.loop.symbolic import Symbolic
    from pyop2cxx.pipeline.request import Request
    from pyop2cxx.sets.sets import Set

    class Watch(Protocol):
        """Checks of a loop's arguments before and after a run."""

        def before(self) -> None:
            """Raise if the loop must not run."""

        def after(self) -> None:
            """Raise if the written values are wrong."""


LARGE = 500_000
"""Elements from which on building a loop's plan is shown on the terminal."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a loop beside values, by index of the argument: no data are kept alive.

    Attributes:
        dats: Dat and MixedDat arguments, whose halos may be frozen.
        written: Written Dats, with ghosts out of date after a run.
        assembled: Matrix arguments.
        ghosts: Fields with ghosts used through Maps, each once: argument, field, and access.
        again: Whether near ghosts are computed, too, so that nothing is sent to owners.
        reduced: Globals combined over the processes of the Set, each once: argument and access.
        ranks: Their communicator; None for a Set of this process alone.
        exact: Globals with exact sums of the elements' addends.
    """

    dats: tuple[int, ...]
    written: tuple[int, ...]
    assembled: tuple[int, ...]
    ghosts: tuple[tuple[int, int, Access], ...]
    again: bool = False
    reduced: tuple[tuple[int, Access], ...] = ()
    ranks: Any = None
    exact: tuple[int, ...] = ()


def effects_of(parts: Sequence[Part], iterset: Set) -> Effects:
    """Return the effects of a loop beside values.

    Args:
        parts: The arrays of the loop.
        iterset: The Set of the loop.

    Raises:
        UnsupportedError: A Global is of this process alone, but the Set is shared by several; or
            MPI runs several, and nobody said whether they share the Set.
    """
    dats = [part for part in parts if part.home is not None]
    again = computes_again(iterset, parts)
    used = [
        part
        for part in dats
        if (_uses_ghosts_again(part) if again else _uses_ghosts(part))
        and _may_have_ghosts(part.data.dataset.set)
    ]
    ghosts = {
        (part.data.exchanged.uid, part.access): (part.number, part.field, part.access)
        for part in used
    }
    if not again:
        _check_components(used)
    return Effects(
        dats=_numbers(dats),
        written=_numbers(part for part in dats if part.access != READ),
        assembled=_numbers(part for part in parts if part.is_of_matrix),
        ghosts=tuple(ghosts.values()),
        again=again,
        reduced=_reduced(parts, iterset),
        ranks=iterset.ranks,
        exact=_exact(parts, iterset) if runtime.same_on_ranks else (),
    )


def _exact(parts: Sequence[Part], iterset: Set) -> tuple[int, ...]:
    """Return the arguments that need exact sums: floating, or of elements on several processes."""
    return _numbers(
        part
        for part in parts
        if part.kind is Kind.TOTAL
        and part.access is INC
        and not part.is_of_matrix
        and part.data.given_comm is not ALONE
        and (part.data.dtype.kind in "fc" or iterset.is_distributed)
    )


def _may_have_ghosts(on: Set) -> bool:
    """Say whether a Set has ghosts, in this process or in another of its Halo."""
    if on.halo is None:
        return False
    is_alone = getattr(getattr(on.halo, "comm", None), "size", 0) == 1
    return not is_alone or on.total_size > on.size


def _check_components(used: Sequence[Part]) -> None:
    """Refuse components with sums in ghosts beside others of the same Dat, which travel, too.

    Raises:
        UnsupportedError: Components of a Dat are used with INC, MIN or MAX and another access.
    """
    first: dict[int, Part] = {}
    for part in used:
        other = first.setdefault(part.data.exchanged.uid, part)
        if {other.access, part.access} & REDUCED and other.access is not part.access:
            raise UnsupportedError(
                f"args {other.number} and {part.number}: components of Dat "
                f"'{part.data.exchanged.name}' are used with {other.access.name} and "
                f"{part.access.name}, and ghosts send sums of the whole Dat to their owners: use "
                "two Dats, or two loops"
            )


def _uses_ghosts(part: Part) -> bool:
    return part.map_ is not None and not part.map_.is_of_columns


def _uses_ghosts_again(part: Part) -> bool:
    """Say whether a loop over near ghosts needs values of others; sums of owners need none."""
    return part.access in READING


def _reduced(parts: Sequence[Part], iterset: Set) -> tuple[tuple[int, Access], ...]:
    """Return the Globals that each process has a part of."""
    ranks = iterset.ranks
    found: dict[int, tuple[int, Access]] = {}
    for part in parts:
        if part.kind is not Kind.TOTAL or part.access not in REDUCED or part.is_of_matrix:
            continue
        comm = part.data.given_comm
        if comm is ALONE:  # of a service that looks at this process
            continue
        if ranks is None:
            given = iterset.given_comm if comm is None else comm
            runtime.processes.check_alone(given, part.data.label, part.access.name)
            continue
        if part.is_field or (comm is not None and comm.size != ranks.size):
            reason = "a field of a MixedDat" if part.is_field else f"of {comm.size} processes"
            raise UnsupportedError(
                f"Global '{part.data.name}' is {reason}, but the loop's Set is shared by "
                f"{ranks.size}: pass a Global without a communicator, or with that of the Set"
            )
        found.setdefault(part.data.uid, (part.number, part.access))
    return tuple(found.values())


def _numbers(parts: Iterable[Part]) -> tuple[int, ...]:
    """Return the arguments of parts, each once."""
    return tuple(dict.fromkeys(part.number for part in parts))


class Run:
    """A loop ready to run, without the arguments, given by the caller of each run.

    Args:
        what: The loop, for messages.
        effects: Objects to update beside the values.
        launch: Runs the kernel, and says whether values were copied between host and device.
        watch: Looks at the arguments; None where nothing does.
        phases: Runs a part of the loop, with the same result; None: only the whole loop can run.
        overlaps: Whether the core is to be computed while values travel to ghosts.
        is_plain: Whether the kernel is all there is, if nothing else says otherwise.
    """

    __slots__ = (
        "_assembled",
        "_combines",
        "_ghosts",
        "_is_plain",
        "_launch",
        "_overlaps",
        "_phases",
        "_watch",
        "_written",
        "effects",
        "label",
    )

    def __init__(
        self,
        what: str,
        effects: Effects,
        launch: Callable[[], bool],
        watch: Watch | None = None,
        phases: Callable[[_core.Phase], bool] | None = None,
        overlaps: bool = False,
        is_plain: bool = True,
    ) -> None:
        self.label = what
        self.effects = effects
        self._written = effects.written
        self._assembled = effects.assembled
        self._ghosts = effects.ghosts
        self._combines = bool(effects.reduced)
        self._launch = launch
        self._watch = watch
        self._phases = phases if watch is None else None
        self._overlaps = overlaps and self._phases is not None
        # most loops are plain: the needs of others are checked once a run
        self._is_plain = is_plain and not (
            self._ghosts or self._assembled or self._combines or watch is not None
        )

    @property
    def launch(self) -> Callable[[], bool]:
        """Runs the kernel alone."""
        return self._launch

    @property
    def is_plain(self) -> bool:
        """Whether nothing is done beside the kernel for ghosts, matrices or checks."""
        return self._is_plain

    @property
    def is_watched(self) -> bool:
        """Whether checks inspect the arguments, so that they are kept alive."""
        return self._watch is not None

    def bound(self, launch: Callable[[], bool], phases: Callable[[_core.Phase], bool]) -> Run:
        """Return the same for other data, of a plain loop; the arguments are as of `Run`."""
        return Run(self.label, self.effects, launch, None, phases, self._overlaps)

    def unwatched(self) -> Run:
        """Return the same, but nothing looks at the arguments."""
        return Run(self.label, self.effects, self._launch)

    def once(self, args: Sequence[Any], launch: Callable[[], bool] | None = None) -> None:
        """Run the loop: checks, exchange of ghosts, kernel, notes, sums of ghosts, in this order.

        Args:
            args: The loop's arguments, or others for the same data.
            launch: For a plain loop: runs the kernel with the data of `args`.
        """
        if runtime.n_frozen:
            check_frozen(self.effects, args, self.label)
        run = launch or (
            self._launch if self._is_plain else partial(self._launch_with_ghosts, args)
        )
        if self._combines:
            run = partial(launch_combined, self.effects, args, run, self.label)
        if run():
            runtime.coherence.attribute(user_line())
        for i in self._written:
            args[i].data.halo_valid = False
        if self._is_plain:
            return
        self.note_assembly(args)
        if self._ghosts and not self.effects.again:
            begin_to_gather(self._ghosts, args)
            end_to_gather(self._ghosts, args)
        if self._watch is not None:
            self._watch.after()

    def _launch_with_ghosts(self, args: Sequence[Any]) -> bool:
        """Check the arguments, update ghosts that are read, and run the kernel."""
        if self._watch is not None:
            self._watch.before()
        if not self._ghosts:
            return self._launch()
        begin_to_bring(self._ghosts, args, self.label)
        if not self._overlaps or self._phases is None:
            end_to_bring(self._ghosts, args)
            return self._launch()
        try:
            has_copied = self._phases(_core.Phase.core)
        finally:  # a begun exchange ends, also if the loop fails
            end_to_bring(self._ghosts, args)
        return self._phases(_core.Phase.boundary) or has_copied

    def part(self, phase: _core.Phase, args: Sequence[Any]) -> None:
        """Run the core of the loop, or the rest: only computed, and noted with the rest.

        A loop without phases runs as a whole with the rest.

        Args:
            phase: The part to run.
            args: As for `once`.
        """
        if self._combines:
            raise UnsupportedError(
                f"{self.label}: a part of a loop cannot reduce a Global over several processes; "
                "call compute() for the whole loop"
            )
        is_last = phase == _core.Phase.boundary
        if runtime.n_frozen:
            check_frozen(self.effects, args, self.label)
        if self._watch is not None and is_last:
            self._watch.before()
        run = self._launch if self._phases is None else partial(self._phases, phase)
        if (is_last or self._phases is not None) and run():
            runtime.coherence.attribute(user_line())
        if not is_last:
            return
        for i in self._written:
            args[i].data.halo_valid = False
        self.note_assembly(args)
        if self._watch is not None:
            self._watch.after()

    def note_assembly(self, args: Sequence[Any]) -> None:
        """Tell matrices that entries were set or added."""
        for i in self._assembled:
            note_assembly(args[i])


def check_frozen(effects: Effects, args: Sequence[Arg], what: str) -> None:
    """Raise if a Dat's frozen halo was promised another access."""
    for i in effects.dats:
        for dat in args[i].data.split:
            frozen = dat.frozen if isinstance(dat, Dat) else None
            if frozen is not None and frozen != args[i].access:
                raise HaloFrozenError(
                    f"{what}: arg {i}: the halo of Dat '{dat.name}' is frozen with {frozen.name}, "
                    f"but the loop uses it with {args[i].access.name}; leave frozen_halo() first"
                )


def begin_to_bring(
    ghosts: Sequence[tuple[int, int, Access]], args: Sequence[Arg], what: str = "par_loop"
) -> None:
    """Begin to update the ghosts read by the loop: of distributed Sets all in one message."""
    joined: dict[int, Any] = {}
    messages = None
    for i, k, access in ghosts:
        dat: Any = _field(args[i], k)
        of_dat = getattr(dat.dataset.set.halo, "messages", None)
        if of_dat is None or access not in READING:
            dat.global_to_local_begin(access)
        elif dat.has_exchange and not dat.halo_valid:
            joined.setdefault(dat.exchanged.uid, dat.exchanged)
            messages = of_dat
    if messages is not None:
        messages.begin(list(joined.values()), what)


def travels(effects: Effects, args: Sequence[Arg]) -> str:
    """Return the Dats with ghosts that a loop brings if out of date, and the way; empty: none."""
    dats = [_field(args[i], k) for i, k, access in effects.ghosts if access in READING]
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(dat.name for dat in dats))
    ways = {str(getattr(dat.dataset.set.halo, "transports", "its Halo")) for dat in dats}
    return f"{names}, if out of date, by {', '.join(sorted(ways))}" if names else ""


def is_apart(effects: Effects, args: Sequence[Arg]) -> bool:
    """Say whether a loop can run apart from its messages: they come before, or after others."""
    return all(
        access not in REDUCED and hasattr(_field(args[i], k).set.halo, "messages")
        for i, k, access in effects.ghosts
    )


def end_to_bring(ghosts: Sequence[tuple[int, int, Access]], args: Sequence[Arg]) -> None:
    """End `begin_to_bring`."""
    for i, k, _ in ghosts:
        messages = getattr(_field(args[i], k).dataset.set.halo, "messages", None)
        if messages is not None:
            messages.end()
            break
    for i, k, access in ghosts:
        _field(args[i], k).global_to_local_end(access)


def begin_to_gather(ghosts: Sequence[tuple[int, int, Access]], args: Sequence[Arg]) -> None:
    """Begin to send ghost contributions to their owners."""
    for i, k, access in ghosts:
        if access in REDUCED:
            _field(args[i], k).local_to_global_begin(access)


def end_to_gather(ghosts: Sequence[tuple[int, int, Access]], args: Sequence[Arg]) -> None:
    """End `begin_to_gather`."""
    for i, k, access in ghosts:
        if access in REDUCED:
            _field(args[i], k).local_to_global_end(access)


def launch_combined(
    effects: Effects, args: Sequence[Any], run: Callable[[], bool], what: str
) -> bool:
    """Run a loop, and combine the Globals over processes: each adds what was there only once."""
    starts: list[Any] = []
    for i, access in effects.reduced:
        starts.append(np.array(args[i].data.data_ro))
        if access == INC:
            args[i].data.data[...] = 0
    try:
        has_copied = run()
    except BaseException:
        for (i, _), start in zip(effects.reduced, starts, strict=True):
            args[i].data.data[...] = start
        raise
    for (i, access), start in zip(effects.reduced, starts, strict=True):
        found = args[i].data
        total = runtime.processes.combined(
            effects.ranks, found.data_ro, access.name.lower().replace("inc", "sum"), what
        )
        found.data[...] = total + start if access == INC else total
    return has_copied


def _field(arg: Any, k: int) -> Dat:
    found: Dat = arg.data.split[k]
    return found


def note_assembly(arg: Any) -> None:
    """Tell a matrix, and the blocks, whether entries were set or added."""
    state = Mat.ADD_VALUES if arg.access == INC else Mat.INSERT_VALUES
    arg.data.change_assembly_state(state)
    if len(arg.split) > 1:
        for block in arg.data:
            block.change_assembly_state(state)


# How a loop gets ready


def checked_epoch(loop: Any) -> int:
    """Check facts that may have changed since a loop was made, and return their epoch.

    Args:
        loop: A `ParLoop`.

    Raises:
        StaticModeError: Under ``init(static=True)``.
        HaloFrozenError: A Dat's frozen halo was promised another access.
        MapValueError: A Map got values leading nowhere.
    """
    if runtime.static:
        raise StaticModeError(
            f"{loop.label}: 'compute' needs loops that run, but init(static=True) only "
            "generates text; call generate(), or run without static=True"
        )
    loop.follow_distribution()
    check_frozen(loop.effects, loop.args, loop.label)
    if loop.seen != runtime.epoch:
        check_values(loop.parts, loop.items, loop.iterset, loop.label)
    for part in loop.parts:
        if part.home is not None:
            part.data.allocated("par_loop")
    loop.seen = runtime.epoch
    if not loop.wants_checks():
        note_numberings(numberings_after(loop, check=False))
    return runtime.epoch


def prepare(loop: Any) -> None:
    """Prepare a loop for all runs within the epoch.

    Args:
        loop: A `ParLoop`.

    Raises:
        CompilationError: The compiler rejects the kernel.
        ToolchainError: There is no compiler, or no device.
        UnsupportedError: The backend does not support a need of the loop.
    """
    resting = runtime.here.resting
    if resting is not None:
        resting.note_look()
    epoch = checked_epoch(loop)
    debug, checks = bool(runtime.configuration["debug"]), loop.wants_checks()
    is_watched = debug or checks or (runtime.configuration["strict"] and _may_change(loop.parts))
    if is_watched:
        check_maps(loop)
    if loop.effects.exact:
        run = ExactRun(loop).run
        loop.bound_run = Run(loop.label, without_sums(loop.effects), run, is_plain=False)
        loop.epoch = epoch
        return
    phases: Callable[[_core.Phase], bool] | None = None
    if checks and loop.kernel.core.body is not None:
        checked = seams.check_mode().CheckedRun(loop)
        launch, loop.prepared = checked.run, checked.prepared
    else:
        launch = launch_of(loop)
        phases = partial(run_phase, loop.prepared, loop.lent)
        if loop.items.n >= LARGE and is_seen():
            launch = first_shown(launch, f"{loop.label}: planning {loop.items.n} elements")
    watch: Watch | None = None
    if is_watched:
        watch = seams.check_mode().WatchedArguments(loop, debug=debug, checked=checks)
    # on a device a Halo could not tell whether its write to the host lies between two launches
    overlaps = loop.items.n_boundary > 0 and runtime.device is None
    loop.bound_run = Run(loop.label, loop.effects, launch, watch, phases, overlaps)
    loop.epoch = epoch


def ready(loop: Any) -> Any:
    """Return a `ParLoop`, prepared for the options and data of now."""
    if loop.epoch != runtime.epoch:
        loop.prepare()
    return loop


def _may_change(parts: Sequence[Part]) -> bool:
    """Say whether a program holds the memory of a Map's values."""
    bases = (base for part in parts for map_ in part.maps for base in map_.flattened_maps)
    return any(base.host_values is not None and is_shared(base.__dict__) for base in bases)


def first_shown(launch: Callable[[], bool], what: str) -> Callable[[], bool]:
    """Return the launch of a loop, shown on the terminal the first time, when the plan is built."""
    is_first = True

    def run() -> bool:
        nonlocal is_first
        if not is_first:
            return launch()
        is_first = False
        with waiting(what):
            return launch()

    return run


def launch_of(loop: Any) -> Callable[[], bool]:
    """Return the launch of the kernel, compiled and bound to the present data.

    Args:
        loop: A `ParLoop`, or a group of loops in a single function.
    """
    built = loop.symbolic()
    for constant in built.constants:
        constant.check_readable(f"value for {loop.label}")
    if templates.launched(loop, built):
        return _launch_of_prepared(loop, built)
    request = loop.request(built, {})
    asked = flow.wanted(request)
    executable = flow.executable(request, asked)
    device = runtime.engine.chosen_device(request.backend)
    if device is not None and any(part.kind is Kind.HANDLE for part in loop.parts):
        raise UnsupportedError(
            f"{loop.label}: a PassthroughArg is an address of this process, which a device "
            "cannot reach; run the loop on a backend of the host"
        )
    loop.prepared = prepared(loop, built, request, executable, device)
    if runtime.on_loop is not None:
        runtime.on_loop(loop)
    if runtime.configuration["tune"] == "online" and seams.tuner().before_first_call(loop):
        loop.prepared = prepared(loop, built, request, flow.executable(request), device)
    runtime.of(templates.Templates).keep(loop, asked.query)
    return _launch_of_prepared(loop, built)


def _launch_of_prepared(loop: Any, built: Symbolic) -> Callable[[], bool]:
    if runtime.device is None:
        launch: Callable[[], bool] = loop.prepared.launch
        return launch
    carriers: list[Any] = [*(part.data for part in loop.parts), *built.constants]
    loop.lent = tuple(one.lent_out for one in carriers)
    return recalling(loop.prepared.launch, loop.lent)


def can_bind(loop: Any) -> bool:
    """Return whether a loop is ready, and only the kernel depends on the data."""
    if loop.epoch != runtime.epoch or runtime.on_loop is not None or not loop.bound_run.is_plain:
        return False
    return all_current(loop.iterset, ((arg.data, arg.map_) for arg in loop.args))


def bind(loop: Any, number: int, arg: Any) -> None:
    """Replace the data of an argument of a prepared loop, without a new analysis.

    Args:
        loop: A `ParLoop`; `can_bind` must hold.
        number: Of the argument.
        arg: The new argument; `CallData.has_place_for` must hold.

    """
    if hasattr(arg.data, "allocated"):
        arg.data.allocated("par_loop")
    parts, built = list(loop.parts), loop.symbolic()
    parts[number] = replace(parts[number], data=arg.data)
    memory, buffer = list(built.memory), arg.data.buffer
    memory[number] = buffer, buffer.address, buffer.n_bytes
    built = replace(built, memory=tuple(memory))
    args = (*loop.args[:number], arg, *loop.args[number + 1 :])
    loop.__dict__["args"] = owned(args, loop, is_shown=False)
    loop.parts, loop.built = tuple(parts), built
    loop.known_facts = loop.recorded = None
    loop.call_data.replace(number, arg)
    loop.prepared = loop.prepared.rebound([part.buffer for part in parts])
    launch, ready = _launch_of_prepared(loop, built), loop.bound_run
    loop.bound_run = ready.bound(launch, partial(run_phase, loop.prepared, loop.lent))


def prepared(
    loop: Any,
    built: Symbolic,
    request: Request,
    executable: _core.Executable,
    device: OpenDevice | None,
) -> _core.PreparedLoop:
    """Bind compiled code to a loop's data.

    Args:
        loop: A `ParLoop`, or a group of loops in a single function.
        built: The loop without data.
        request: The request of the text.
        executable: The compiled code.
        device: Device of the run; None for the host.
    """
    facts, engine = loop.facts, runtime.engine
    operations, float_bytes = loop.work
    is_usual = not (request.tuning or engine.tuned.has_loops or runtime.configuration["tuning"])
    n_threads = facts.threads_for(operations) if is_usual else engine.n_threads
    if loop.kernel.calls_petsc or (loop.keeps_elements and executable.strategy == "direct"):
        n_threads = 1
    return _core.PreparedLoop(
        executable=executable,
        binding=facts.binding(
            built,
            arguments=[part.buffer for part in loop.parts],
            constants=[constant.buffer for constant in built.constants],
            matrices=facts.matrices(executable.position_bytes),
            matrix_paths=facts.matrix_paths(built),
        ),
        options=_core.LaunchOptions(
            n_threads=n_threads,
            block_size=loop.options.block_size,
            useful_bytes=facts.useful_bytes,
            tuning=flow.launch_tuning(request, device),
            is_deterministic=request.options.semantics.deterministic,
            operations=operations,
            float_bytes=float_bytes,
        ),
        plans=engine.plans,
        timing=engine.timing(
            (request.name, request.backend.name, executable.strategy), loop.items.n
        ),
        mirror=None if device is None else device.mirror,
    )


def run_phase(prepared: _core.PreparedLoop, lent: tuple[Lent, ...], phase: _core.Phase) -> bool:
    """Run a part of a loop, and end the arrays lent by the used objects."""
    has_copied = prepared.run_phase(phase)
    recall(lent)
    return has_copied


def phase_of(part: Any, iterset: Any, what: str) -> _core.Phase:
    """Return the phase for a part of the Set.

    Args:
        part: ``iterset.core_part`` or ``iterset.owned_part``.
        iterset: The Set of the loop.
        what: The loop, for messages.

    Raises:
        UsageError: Neither part.
    """
    if part == iterset.owned_part:
        return _core.Phase.boundary
    if part == iterset.core_part:
        return _core.Phase.core
    raise UsageError(
        f"{what}: a part of the loop is core_part or owned_part of the Set that it runs over, "
        f"'{iterset.name}', got {part!r}"
    )
