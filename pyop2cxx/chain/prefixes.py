# SPDX-License-Identifier: BSD-3-Clause
"""The known chains, as a tree: each recorded entry leads to a longer chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.chain.compile import Compiled

_MOST_CHAINS = 256
_MOST_PREFIXES = 1 << 14


class Prefix:
    """A chain recorded so far; a further entry leads to the next prefix.

    Attributes:
        next: Longer chains, by the key of the added entry; see `Entry.key`.
        compiled: The compiled chain; None before the first complete run.
        splits: Partial runs, by the used object: see `Split`.
    """

    __slots__ = ("compiled", "next", "splits")

    def __init__(self) -> None:
        self.next: dict[object, Prefix] = {}
        self.compiled: Compiled | None = None
        self.splits: dict[object, Split] = {}


class Split:
    """A chain divided into running and waiting entries.

    Attributes:
        taken: Indices of the running entries.
        left: Indices of the waiting entries.
        taken_prefix: The chain of the former.
        left_prefix: The chain of the latter.
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
    """Numbers of runs of chains, since the program began or called `op2.exit`.

    Attributes:
        runs: Runs: at the end of a block, at the bound, or for a read of values.
        known: Runs of chains already run before, without analysis or compilation.
        partial: Runs for a read of values needing a part of the queue only; the rest waited on.
    """

    runs: int
    known: int
    partial: int


class Prefixes:
    """All chains of a program. When there are too many, all are forgotten.

    Attributes:
        n_runs: Number of runs.
        n_new: Number of runs with a compilation.
        n_partial: Number of runs that left a part of the queue waiting.
    """

    def __init__(self) -> None:
        self.n_runs = self.n_new = self.n_partial = 0
        self._roots: dict[object, Prefix] = {}
        self._n_prefixes = 0
        self._n_compiled = 0

    def root(self, epoch: int, passes: frozenset[str]) -> Prefix:
        """Return the empty chain.

        Args:
            epoch: Epoch of the options.
            passes: Passes of the chains.
        """
        key = epoch, passes
        found = self._roots.get(key)
        if found is None:
            found = self._roots[key] = Prefix()
        return found

    def after(self, prefix: Prefix, key: object) -> Prefix:
        """Return the chain extended by an entry, made if necessary."""
        found = prefix.next.get(key)
        if found is None:
            found = prefix.next[key] = Prefix()
            self._n_prefixes += 1
            if self._n_prefixes > _MOST_PREFIXES:
                self._forget()
        return found

    def along(self, prefix: Prefix, keys: Iterable[object]) -> Prefix:
        """Return the chain with more entries."""
        for key in keys:
            prefix = self.after(prefix, key)
        return prefix

    def note_compiled(self, prefix: Prefix, chain: Compiled) -> None:
        """Keep a compiled chain."""
        self._n_compiled += 1
        if self._n_compiled > _MOST_CHAINS:
            self._forget()
        prefix.compiled = chain

    @property
    def counts(self) -> Counts:
        """How often chains ran."""
        return Counts(runs=self.n_runs, known=self.n_runs - self.n_new, partial=self.n_partial)

    def _forget(self) -> None:
        """Start an empty tree; holders of a prefix continue from there."""
        self._roots = {}
        self._n_prefixes = self._n_compiled = 0
