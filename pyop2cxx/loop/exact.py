# SPDX-License-Identifier: BSD-3-Clause
"""Loops that add to a Global under ``init(deterministic="ranks")``.

Each element has a place of its own for the addend, and exact sums of the places do not depend on
orders or processes. Ghosts may be computed again, since their places are not summed.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import INC
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.exact import exact_total
from pyop2cxx.data.whole import sum_dtype
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.data.globals import Global


class ExactRun:
    """The run of a loop that adds to Globals: of the same loop with places, and of the sums.

    Args:
        loop: A `ParLoop` with effects that are exact.
    """

    def __init__(self, loop: Any) -> None:
        self._what, self._iterset = loop.label, loop.iterset
        home = loop.items.base
        self._sums: list[tuple[Global, Dat]] = []
        args = list(loop.args)
        for i in loop.effects.exact:
            total = args[i].data
            places = Dat(home**total.dim, dtype=total.dtype, name=total.name)
            self._sums.append((total, places))
            args[i] = places(INC)
        self._loop = copy(loop)
        self._loop.take(tuple(args))

    def run(self) -> bool:
        """Run the loop and add the sums; no copies are left for the caller to account for."""
        loop = self._loop
        with runtime.at_once():
            for _, places in self._sums:
                places.zero()
            if loop.epoch != runtime.epoch:
                loop.prepare()
            loop.bound_run.once(loop.args)
            for total, places in self._sums:
                values = places.data_ro
                if isinstance(self._iterset, Subset):
                    values = values[self._iterset.owned_indices]
                total.data[...] += self._sum_of(values, total.dtype).reshape(total.data.shape)
        return False

    def _sum_of(self, values: Any, dtype: np.dtype[Any]) -> Any:
        rows = values.reshape(len(values), int(np.prod(values.shape[1:])))
        ranks = self._iterset.ranks
        if dtype.kind in "fc":
            return exact_total(rows, ranks, self._what).astype(dtype)
        own = rows.sum(axis=0, dtype=sum_dtype(dtype))
        return runtime.processes.combined(ranks, own, "sum", self._what).astype(dtype)


def without_sums(effects: Any) -> Any:
    """Return the effects of a loop that an `ExactRun` leaves to others: written Dats."""
    return replace(effects, assembled=(), ghosts=(), reduced=())
