# SPDX-License-Identifier: BSD-3-Clause
"""Measurements in place: blocks run recorded and at once by turns, and the faster way stays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import of_trial, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.chain.compile import Compiled
    from pyop2cxx.runtime.tuned_file import Entry

_PHASE_SECONDS = 1e-3
_N_TURNS = 4
"""How often each is measured. The first turn of both compiles, and does not count."""
_RECORDED, _AT_ONCE = 0, 1
RECORDED, AT_ONCE = "recorded", "at once"
"""Ways in measurements of earlier processes."""
LEAST_GAIN = 0.97
"""Recording must take at most so large a share of the eager time. A turn starts with an idle
device, so the host's cost of recording shows less than in a long run."""


class Stopwatch:
    """A clock in seconds: thread time where only the thread computes, free of other programs."""

    def __init__(self) -> None:
        self._epoch = -1
        self._now: Callable[[], float] = time.perf_counter

    def __call__(self) -> float:
        """Return the seconds since an origin, changed with the options."""
        if self._epoch != runtime.epoch:
            facts = runtime.engine.backend(runtime.backend).facts
            is_alone = runtime.device is None and not facts.threads
            self._now = time.thread_time if is_alone else time.perf_counter
            self._epoch = runtime.epoch
        return self._now()


class Trial:
    """A measurement at a line of the program, see `begin_block`; or of a whole program.

    A turn takes a millisecond of blocks, with all work of the program between them; devices are
    synchronised between turns only. The shortest turn of each kind counts, since some turns contain
    occasional work, for example output.

    Args:
        clock: Seconds.

    Attributes:
        n_all_blocks: How many were measured.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._trial = _core.Trial(
            n_arms=2, n_each=_N_TURNS, n_warm=1, preferred=_AT_ONCE, gain=LEAST_GAIN
        )
        self._n_blocks = 0
        self.n_all_blocks = 0
        self._start = 0.0

    @property
    def is_over(self) -> bool:
        """Whether all turns were measured."""
        return self._trial.is_decided

    @property
    def is_recorded_faster(self) -> bool:
        """Whether blocks should be recorded."""
        return self._trial.best == _RECORDED

    @property
    def microseconds(self) -> tuple[float, float]:
        """Microseconds of a recorded and of an eager block or loop; pair of float."""
        recorded, at_once = (self._trial.shortest(arm) or 0.0 for arm in (_RECORDED, _AT_ONCE))
        return 1e6 * recorded, 1e6 * at_once

    def entry(self, kind: str, key: tuple[str, int], name: str) -> Entry:
        """Return the measurement for later processes.

        Args:
            kind: ``"chain"`` or ``"lazy"``.
            key: Digest of the chains, and bits of their size.
            name: Name in reports.
        """
        recorded, at_once = self.microseconds
        return of_trial(kind, *key, name, {RECORDED: recorded, AT_ONCE: at_once}, at_once)

    @property
    def is_at_once(self) -> bool:
        """Whether the current turn runs at once."""
        return self._trial.next == _AT_ONCE

    def begin_block(self) -> bool:
        """Note the begin of a block, and return whether to run at once."""
        if self._n_blocks == 0:
            self.begin_turn()
        elif self.is_long_enough():
            self.end_turn(self._n_blocks)
            self._n_blocks = 0
        self._n_blocks += 1
        return self.is_at_once

    def begin_turn(self) -> None:
        """Note the begin of a turn."""
        _finish()
        self._start = self._clock()

    def is_long_enough(self) -> bool:
        """Say whether the turn may end."""
        return self._clock() - self._start >= _PHASE_SECONDS

    def end_turn(self, n: int, beside: float = 0.0) -> None:
        """Note the end of a turn, and begin the next.

        Args:
            n: Number of blocks, or loops, in the turn.
            beside: Seconds spent on measuring.
        """
        _finish()
        now = self._clock()
        self._trial.note(self._trial.next, (now - self._start - beside) / n)
        self.n_all_blocks += n
        self._start = now


def key_of(chains: Sequence[Compiled], passes: int = 0) -> tuple[str, int]:
    """Return a digest of some chains without sizes, and the bits of the bytes moved.

    Args:
        chains: The chains, in order.
        passes: Number of the set of passes.
    """
    digest = _core.digest(repr((passes, [chain.key for chain in chains])))
    return str(digest), size_of(sum(chain.eager_bytes for chain in chains))


def known_times(kind: str, key: tuple[str, int]) -> tuple[float, float] | None:
    """Return the microseconds recorded and at once, as an earlier process measured; or None.

    Args:
        kind: ``"chain"`` or ``"lazy"``.
        key: Of `key_of`.
    """
    if runtime.configuration["deterministic"]:
        return None
    found = runtime.engine.tuned.trial(runtime.backend, kind, *key)
    if found is None or not {RECORDED, AT_ONCE} <= found.keys():
        return None
    return found[RECORDED], found[AT_ONCE]


def why_at_once(what: str, recorded: float, at_once: float, digits: int) -> str:
    """Return the reason to run loops at once.

    Args:
        what: Beginning of the sentence.
        recorded: Microseconds of recorded loops.
        at_once: Microseconds of loops run at once.
        digits: Digits behind the point.
    """
    return (
        f"{what} takes {at_once:.{digits}f} us so and {recorded:.{digits}f} us recorded, which "
        f"must be {100 - 100 * LEAST_GAIN:.0f} per cent less"
    )


def _finish() -> None:
    device = runtime.device
    if device is not None:
        device.finish()
