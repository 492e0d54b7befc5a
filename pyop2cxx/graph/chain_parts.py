# SPDX-License-Identifier: BSD-3-Clause
"""Chains divided where messages of other processes come between."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.chain.entries import Action, Overwritten, span_of
from pyop2cxx.data.dats import Dat
from pyop2cxx.graph.chains import ChainOperation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.chain.entries import Entry


class Zeros:
    """The Dats known to be zero, on the way through a chain.

    Args:
        entries: All entries. If two objects share memory, no Dat is followed.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        spans = {one.uid: span_of(one) for entry in entries for one, _ in entry.touched()}
        self._is_apart = all(a[1] <= b[0] for a, b in pairwise(sorted(spans.values())))
        self._known: dict[int, Dat] = {}

    @property
    def known(self) -> list[Dat]:
        """The Dats that are zero now."""
        return [*self._known.values()]

    def follow(self, entry: Entry) -> None:
        """Note the effect of an entry."""
        if entry.loop is None:
            for carrier, writes in entry.uses:
                if writes:
                    self._note(carrier, is_zero=entry.zeroes)
            return
        loop = entry.loop.symbolic().loop
        for i, part in enumerate(entry.loop.parts):
            if part.access != READ:
                self._note(part.data, is_zero=_core.chain.leaves_zero(loop, i))

    def _note(self, carrier: object, *, is_zero: bool) -> None:
        if type(carrier) is not Dat:
            return
        self._known.pop(carrier.uid, None)
        if is_zero and self._is_apart:
            self._known[carrier.uid] = carrier


def without_stores(
    entries: Sequence[Entry], zeros: Sequence[Dat], passes: frozenset[str]
) -> tuple[ChainOperation, list[Entry]]:
    """Return a part of a chain, and the first entries of the next part.

    A Dat that is zero between two parts is not stored by the first, if the chain's passes can save
    the store. The next part then begins by setting the Dat to zero, and sums there begin at zero.

    Args:
        entries: Of the part.
        zeros: Dats known to be zero behind the part.
        passes: Passes of the chain.
    """
    if zeros:
        marked = ChainOperation([*entries, *map(Overwritten, zeros)], passes)
        marked.tasks()
        saved = [dat for dat in zeros if dat.name in marked.dropped]
        begin: list[Entry] = [
            Action(f"zero {dat.name}", dat.zero, ((dat, True),), True) for dat in saved
        ]
        if len(saved) == len(zeros):
            return marked, begin
        if saved:
            return ChainOperation([*entries, *map(Overwritten, saved)], passes), begin
    return ChainOperation(entries, passes), []
