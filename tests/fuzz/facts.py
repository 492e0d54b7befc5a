# SPDX-License-Identifier: BSD-3-Clause
"""What is certain of a value before a kernel runs, so that no kernel does what C leaves undefined.

Numbers are bounded, and real ones are multiples of a power of two as long as that fits their type:
then every order of additions and every fused operation gives the same bits, and a kernel may
compare. Other real numbers carry the largest error they may have, and nothing is decided by them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.c_types import CType

FUNCTION_ULPS = 16.0  # of a function of the mathematical library, on lanes and devices too


@dataclass(frozen=True, slots=True)
class Facts:
    """Bounds of a value; of a complex one, of both its parts.

    Attributes:
        low: The least it may be.
        high: The greatest.
        fraction: It is a multiple of 2**-fraction; counts only where `error` is 0.
        error: How far off it may be; 0 where it is exact.
    """

    low: float
    high: float
    fraction: int = 0
    error: float = 0.0

    @property
    def size(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def is_exact(self) -> bool:
        return self.error == 0.0

    def within(self, other: Facts) -> bool:
        """Whether a value of these facts may be stored where `other` always holds."""
        if self.low < other.low or self.high > other.high:
            return False
        if other.is_exact:
            return self.is_exact and self.fraction <= other.fraction
        return self.error <= other.error


def whole(t: CType) -> Facts:
    """Return the bounds of an integer type."""
    return Facts(t.low, t.high)


def rounded(facts: Facts, t: CType) -> Facts:
    """Return what a computed value is once it is a real or complex number of type `t`."""
    if facts.is_exact and facts.size * 2.0**facts.fraction < 2.0**t.digits:
        return facts
    error = facts.error + facts.size * t.epsilon
    # one that is off may lie outside by that
    return Facts(facts.low - error, facts.high + error, 0, error)


def wrapped(low: float, high: float, t: CType) -> Facts:
    """Return what an integer between these is in type `t`."""
    return Facts(low, high) if t.low <= low and high <= t.high else whole(t)


def joined(a: Facts, b: Facts) -> Facts:
    """Return what is certain of one of two values."""
    return Facts(
        min(a.low, b.low), max(a.high, b.high), max(a.fraction, b.fraction), max(a.error, b.error)
    )


def converted(facts: Facts, source: CType, t: CType) -> Facts | None:
    """Return what a conversion makes of a value; None where C says nothing about it."""
    if source.kind in "fc" and t.is_integer:
        if not facts.is_exact or facts.low < t.low or facts.high > t.high:
            return None
        # beyond 2**53 a bound that is a float may have been rounded past the type's own
        return None if facts.size >= 2.0**53 else Facts(int(facts.low), int(facts.high))
    if t.is_integer:
        return wrapped(facts.low, facts.high, t)
    if t.kind == "c" and source.kind != "c":  # the other part is 0
        facts = replace(facts, low=min(facts.low, 0), high=max(facts.high, 0))
    if source.is_integer:
        return rounded(replace(facts, fraction=0), t)
    return rounded(facts, t)


def product(a: Facts, b: Facts) -> tuple[float, float]:
    """Return the bounds of a product."""
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(corners), max(corners)
