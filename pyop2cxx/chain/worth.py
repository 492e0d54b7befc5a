# SPDX-License-Identifier: BSD-3-Clause
"""Whether a block is worth recording: small ones that save little run at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from pyop2cxx.chain.compiled import Compiled

_BLOCK_SECONDS = 2e-6
_ENTRY_SECONDS = 0.5e-6
"""What recording costs the host, beyond running loops at once; see docs/performance.md."""
_SHARE = 0.01
"""Of the time of the loops: losing less is no loss."""
_N_TRIES = 8
_N_AT_ONCE = 31
_MOST_PLACES = 256


@dataclass(slots=True)
class Place:
    """A line of the program that opens a block.

    Attributes:
        code: The function in which it stands.
        n_lost: How often in a row recording has cost more than it saved.
        n_at_once: How many of the next blocks run at once.
        epoch: Of the options for which that holds.
        chains: What the last recorded block became.
        why: The reason to run blocks at once.
    """

    code: CodeType
    n_lost: int = 0
    n_at_once: int = 0
    epoch: int = -1
    chains: list[Compiled] = field(default_factory=list)
    why: str = ""

    def runs_at_once(self) -> bool:
        """Say whether the block that begins here now should not be recorded."""
        if self.n_at_once == 0 or self.epoch != runtime.epoch:
            return False
        self.n_at_once -= 1
        return True

    def judge(self, chains: list[Compiled]) -> None:
        """Look at what a recorded block became.

        Args:
            chains: What ran, in the order in which it ended.
        """
        cost = _BLOCK_SECONDS + _ENTRY_SECONDS * sum(len(chain.names) for chain in chains)
        saved = sum(chain.saved_seconds for chain in chains)
        eager = sum(chain.eager_seconds for chain in chains)
        if self.epoch != runtime.epoch:
            self.n_lost, self.n_at_once, self.epoch = 0, 0, runtime.epoch
        if cost - saved <= _SHARE * eager:
            self.n_lost = 0
            return
        self.n_lost += 1
        if self.n_lost < _N_TRIES:
            return
        self.n_at_once, self.chains = _N_AT_ONCE, chains
        self.why = (
            f"to record these loops costs about {1e6 * cost:.1f} us and saves "
            f"{1e6 * saved:.1f} of {1e6 * eager:.1f}, so most blocks here run at once"
        )


class Places:
    """Where blocks are opened."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, frozenset[str]], Place] = {}

    def of(self, frame: FrameType, passes: frozenset[str]) -> Place:
        """Return the place where a frame is now.

        Args:
            frame: That of the `with` statement.
            passes: Those of the block.
        """
        key = id(frame.f_code), frame.f_lasti, passes
        found = self._known.get(key)
        if found is None:  # the place keeps its code, so that no other gets its id
            if len(self._known) >= _MOST_PLACES:
                self._known.clear()
            found = self._known[key] = Place(frame.f_code)
        return found
