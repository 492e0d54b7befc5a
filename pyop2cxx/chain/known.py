# SPDX-License-Identifier: BSD-3-Clause
"""The chains that are known, as a tree: what is recorded next leads from one to a longer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.chain.compiled import Compiled

_MOST_CHAINS = 256
_MOST_PREFIXES = 1 << 14


class Prefix:
    """A chain that was recorded so far; recording one more thing leads to the next prefix.

    Attributes:
        next: Longer chains, by the key of what is added; see `Entry.key`.
        compiled: What runs it; None as long as it has not run as a whole.
        splits: What of it runs for somebody who uses an object: see `Split`.
    """

    __slots__ = ("compiled", "next", "splits")

    def __init__(self) -> None:
        self.next: dict[object, Prefix] = {}
        self.compiled: Compiled | None = None
        self.splits: dict[object, Split] = {}


class Split:
    """What of a chain runs at once, and what goes on waiting.

    Attributes:
        taken: Numbers of the entries that run.
        left: Of those that wait.
        taken_prefix: The chain that the first are.
        left_prefix: That of the others.
    """

    __slots__ = ("left", "left_prefix", "taken", "taken_prefix")

    def __init__(
        self, taken: Sequence[int], left: Sequence[int], taken_prefix: Prefix, left_prefix: Prefix
    ) -> None:
        self.taken = taken
        self.left = left
        self.taken_prefix = taken_prefix
        self.left_prefix = left_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often chains of a program ran, since it began or called `op2.exit`.

    Attributes:
        runs: Chains that ran: at the end of a block, at its bound, or because somebody looked.
        known: Of these, chains that had run before, so that nothing was found out or compiled.
        partial: Of the runs, those for somebody who looked at values which needed a part of what
            waited; the rest went on waiting.
    """

    runs: int
    known: int
    partial: int


class Prefixes:
    """All chains of a program. When there are too many, all are forgotten.

    Attributes:
        n_runs: Chains that ran.
        n_new: Of these, chains that were compiled for it.
        n_partial: Of the runs, those that left a part waiting for which nobody had asked.
    """

    def __init__(self) -> None:
        self.n_runs = self.n_new = self.n_partial = 0
        self._roots: dict[object, Prefix] = {}
        self._n_prefixes = 0
        self._n_compiled = 0

    def root(self, epoch: int, passes: frozenset[str]) -> Prefix:
        """Return the chain of nothing.

        Args:
            epoch: That of the options.
            passes: Those that its chains are compiled with.
        """
        key = epoch, passes
        found = self._roots.get(key)
        if found is None:
            found = self._roots[key] = Prefix()
        return found

    def after(self, prefix: Prefix, key: object) -> Prefix:
        """Return that of a chain with one entry more, a new one if it was never recorded."""
        found = prefix.next.get(key)
        if found is None:
            found = prefix.next[key] = Prefix()
            self._n_prefixes += 1
            if self._n_prefixes > _MOST_PREFIXES:
                self._forget()
        return found

    def along(self, prefix: Prefix, keys: Iterable[object]) -> Prefix:
        """Return that of a chain with more entries."""
        for key in keys:
            prefix = self.after(prefix, key)
        return prefix

    def note_compiled(self, prefix: Prefix, chain: Compiled) -> None:
        """Keep what a chain was compiled to."""
        self._n_compiled += 1
        if self._n_compiled > _MOST_CHAINS:
            self._forget()
        prefix.compiled = chain

    @property
    def counts(self) -> Counts:
        """How often chains ran."""
        return Counts(runs=self.n_runs, known=self.n_runs - self.n_new, partial=self.n_partial)

    def _forget(self) -> None:
        """Begin anew; who stands at a prefix now goes on from there."""
        self._roots = {}
        self._n_prefixes = self._n_compiled = 0
