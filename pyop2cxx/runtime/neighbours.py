# SPDX-License-Identifier: BSD-3-Clause
"""Answers for loops without a measurement, from measurements of similar loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.runtime.tuned_file import Entry

_MOST_OCTAVES = 1.0
"""Work and size of neighbours differ at most by a factor of two, or of eight for sizes."""
_MOST_BITS = 3
_LEAST_GAIN = 1.05
_N_NEIGHBOURS = 2


@dataclass(frozen=True, slots=True)
class Traits:
    """The description of a loop for comparisons, without the text of the kernel.

    Attributes:
        shape: Digest of all that neighbours have in common: backend, arguments without dims.
        work: Operations, scalars and slow operations of an element.
    """

    shape: str
    work: tuple[int, ...]

    def stored(self) -> dict[str, Any]:
        """Return the traits for an entry of the store."""
        return {"shape": self.shape, "work": list(self.work)}


def neighbours(entries: Iterable[Entry], traits: Traits, size: int) -> tuple[Entry, Entry] | None:
    """Return two similar measured loops with one way, if the way can be trusted; else None.

    Each measured loop of the shape is left out in turn and predicted by the others. The predicted
    ways must have gained there.

    Args:
        entries: Measured loops of this device.
        traits: Traits of the loop without a measurement.
        size: Bits of the number of elements.
    """
    known = [one for one in entries if one.traits.get("shape") == traits.shape and one.times]
    found = _agreeing(known, traits.work, size)
    if found is None:
        return None
    gains = []
    for one in known:
        others = [other for other in known if other.key != one.key]
        pair = _agreeing(others, tuple(one.traits["work"]), one.size)
        us = one.times.get(pair[0].way_text) if pair else None
        if us:
            gains.append(math.log(one.rule_us / us))
    is_proved = bool(gains) and sum(gains) / len(gains) > math.log(_LEAST_GAIN)
    return found if is_proved else None


def _agreeing(
    known: Sequence[Entry], work: tuple[int, ...], size: int
) -> tuple[Entry, Entry] | None:
    """Return the nearest two loops of different keys if their ways are equal, and gain."""
    near: dict[str, tuple[float, Entry]] = {}
    for one in known:
        distance = _distance(one, work, size)
        if distance is not None and distance < near.get(one.key, (math.inf,))[0]:
            near[one.key] = (distance, one)
    ranked = [one for _, one in sorted(near.values(), key=lambda pair: pair[0])][:_N_NEIGHBOURS]
    if len(ranked) < _N_NEIGHBOURS or ranked[0].way_text != ranked[1].way_text:
        return None
    return (ranked[0], ranked[1]) if min(one.gain for one in ranked) > _LEAST_GAIN else None


def _distance(entry: Entry, work: tuple[int, ...], size: int) -> float | None:
    """Return the octaves between two loops; None if they are no neighbours."""
    theirs = entry.traits.get("work", ())
    if len(theirs) != len(work) or abs(entry.size - size) > _MOST_BITS:
        return None
    octaves = [abs(math.log2((a + 1) / (b + 1))) for a, b in zip(work, theirs, strict=True)]
    if max(octaves, default=0.0) > _MOST_OCTAVES:
        return None
    return sum(octaves) + abs(entry.size - size) / _MOST_BITS
