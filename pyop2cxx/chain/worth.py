# SPDX-License-Identifier: BSD-3-Clause
"""Whether a block is worth recording: what saves little, or takes longer, runs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx.chain.trial import LEAST_GAIN, Trial
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType

    from pyop2cxx.chain.compiled import Compiled

_BLOCK_SECONDS = 2e-6
_ENTRY_SECONDS = 0.5e-6
"""What recording costs the host, beyond running loops at once; see docs/performance.md."""
_SHARE = 0.01
"""Of the time of the loops: losing less is no loss."""
_N_TRIES = 8
_N_AT_ONCE = 31
_MOST_AT_ONCE = (1 << 14) - 1
_N_BEFORE_TRIAL = 64
_MOST_TRIALS = 4
_MOST_PLACES = 256
_N_PATIENT = 1 << 12


@dataclass(slots=True)
class Place:
    """A line of the program that opens a block.

    Attributes:
        code: The function in which it stands.
        places: All of them.
        n_lost: How often in a row recording has cost more than it saved.
        n_same: How often in a row the same chains ran, and were worth it by the model.
        n_at_once: How many of the next blocks run at once.
        n_next_at_once: How many that is when recording is next found not to be worth it.
        epoch: Of the options for which that holds.
        chains: What the last recorded block became.
        why: The reason to run blocks at once.
        trial: What measures here now, or has measured; None: nothing has.
        n_trials: How many were begun.
        is_settled: Whether these chains are recorded for good.
    """

    code: CodeType
    places: Places
    n_lost: int = 0
    n_same: int = 0
    n_at_once: int = 0
    n_next_at_once: int = _N_AT_ONCE
    epoch: int = -1
    chains: Sequence[Compiled] = ()
    why: str = ""
    trial: Trial | None = None
    n_trials: int = 0
    is_settled: bool = False

    def runs_at_once(self) -> bool:
        """Say whether the block that begins here now should not be recorded."""
        if self.epoch != runtime.epoch:
            return False
        if self.trial is not None and not self.trial.is_over:
            at_once = self.trial.begin_block()
            if self.trial.is_over:
                self._end_trial(self.trial)
            return at_once
        if self.n_at_once == 0:
            return False
        self.n_at_once -= 1
        return True

    def judge(self, chains: Sequence[Compiled]) -> None:
        """Look at what a recorded block became.

        Args:
            chains: What ran, in the order in which it ended.
        """
        if self.is_settled and chains == self.chains and self.epoch == runtime.epoch:
            return
        if any(chain.is_checked for chain in chains):
            return  # these loops have to be recorded, to be compared
        if self.epoch != runtime.epoch:
            self._forget()
        if chains != self.chains:
            self.n_same, self.chains, self.trial, self.is_settled = 0, chains, None, False
        self.n_same += 1
        cost = _BLOCK_SECONDS + _ENTRY_SECONDS * sum(len(chain.names) for chain in chains)
        saved = sum(chain.saved_seconds for chain in chains)
        eager = sum(chain.eager_seconds for chain in chains)
        if cost - saved > _SHARE * eager:
            self._lose(
                f"to record these loops costs about {1e6 * cost:.1f} us and saves "
                f"{1e6 * saved:.1f} of {1e6 * eager:.1f}, so most blocks here run at once"
            )
        elif self.trial is None:
            self.n_lost = 0
            if self.n_same >= _N_BEFORE_TRIAL:
                self._try()
        elif self.trial.is_over:
            self._run_at_once()  # it was measured so, and these are the same chains

    def _forget(self) -> None:
        self.n_lost, self.n_at_once, self.n_same, self.epoch = 0, 0, 0, runtime.epoch
        self.n_next_at_once, self.trial, self.n_trials = _N_AT_ONCE, None, 0
        self.is_settled = False

    def _lose(self, why: str) -> None:
        self.n_lost += 1
        if self.n_lost >= _N_TRIES:
            self.why = why
            self._run_at_once()

    def _run_at_once(self) -> None:
        """Do that a while, and longer from time to time, as looking again costs something."""
        self.n_at_once = self.n_next_at_once
        self.n_next_at_once = min(2 * self.n_next_at_once + 1, _MOST_AT_ONCE)

    def _try(self) -> None:
        """Measure, unless results must not depend on how long something takes."""
        if runtime.configuration["deterministic"] or self.n_trials >= _MOST_TRIALS:
            self.is_settled = True
        elif self.places.may_try(self):
            self.n_trials += 1
            self.trial = Trial()

    def _end_trial(self, trial: Trial) -> None:
        self.is_settled = trial.is_recorded_faster
        if not self.is_settled:
            recorded, at_once = trial.microseconds
            self.why = (
                f"measured here, a block takes {at_once:.1f} us so and {recorded:.1f} us recorded, "
                f"which must be {100 - 100 * LEAST_GAIN:.0f} per cent less"
            )
            self._run_at_once()


class Places:
    """Where blocks are opened.

    Attributes:
        known: By the code that has them, by their place in it, and by the passes of the block.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[int, int, frozenset[str]], Place] = {}
        self._trying: Place | None = None
        self._n_refused = 0

    def of(self, frame: FrameType, passes: frozenset[str]) -> Place:
        """Return the place where a frame is now.

        Args:
            frame: That of the `with` statement.
            passes: Those of the block.
        """
        key = id(frame.f_code), frame.f_lasti, passes
        found = self.known.get(key)
        if found is None:  # the place keeps its code, so that no other gets its id
            if len(self.known) >= _MOST_PLACES:
                self.known.clear()
            found = self.known[key] = Place(frame.f_code, self)
        return found

    def may_try(self, place: Place) -> bool:
        """Say whether a place may measure: one at a time, as their turns would mix.

        Args:
            place: Who asks. Who measures and is not met any more makes room after a while.
        """
        other = self._trying
        is_busy = other is not None and other.trial is not None and not other.trial.is_over
        if is_busy and other is not place and self._n_refused < _N_PATIENT:
            self._n_refused += 1
            return False
        if is_busy and other is not None:
            other.trial = None
        self._trying, self._n_refused = place, 0
        return True
