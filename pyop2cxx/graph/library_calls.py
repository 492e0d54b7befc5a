# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that the library has functions for: copies, fills and scans."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.graph.operations import HostCall

if TYPE_CHECKING:
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.graph.operations import Operation, Replaced


class Fill(HostCall):
    """Setting all values to one number.

    Args:
        target: What is set: a Dat or a Global; a Mat to 0 only.
        value: The number.
        name: What messages call it; None means 'set' and the target's name.
    """

    def __init__(self, target: Any, value: Any, name: str | None = None) -> None:
        self.target, self.value = target, value
        fill = target.zero if value == 0 else partial(target.assign, value)
        super().__init__(name or f"set {target.name}", fill, [], [target])

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same of other data."""
        if not self._is_met(replaced):
            return self
        return Fill(replaced.get(self.target._uid, self.target), self.value)


class Copy(HostCall):
    """A copy of all values into another Dat or Global.

    Args:
        source: What is read.
        target: What is written.
        casting: As for `Dat.copy`.
    """

    def __init__(self, source: Any, target: Any, casting: str) -> None:
        self.source, self.target, self.casting = source, target, casting

        def copy() -> None:
            source.copy(target, casting=casting)

        super().__init__(f"copy {source.name} to {target.name}", copy, [source], [target])

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same of other data."""
        if not self._is_met(replaced):
            return self
        source, target = (replaced.get(one._uid, one) for one in (self.source, self.target))
        return Copy(source, target, self.casting)


class Scan(HostCall):
    """Exclusive sums over a Set.

    Args:
        source: What is summed.
        target: What is written.
    """

    def __init__(self, source: Dat, target: Dat) -> None:
        self.source, self.target = source, target

        def scan() -> None:
            values = source.data_ro
            sums = np.zeros_like(target.data_ro)
            if len(sums):
                np.cumsum(values[:-1], axis=0, out=sums[1:])
            target.data_wo[:] = sums

        super().__init__(f"scan {source.name}", scan, [source], [target])

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same of other data."""
        if not self._is_met(replaced):
            return self
        source, target = (replaced.get(one._uid, one) for one in (self.source, self.target))
        return Scan(source, target)
