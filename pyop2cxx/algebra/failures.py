# SPDX-License-Identifier: BSD-3-Clause
"""Elements without a result: the first of all processes, found by the numbers of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx.algebra.on_devices import is_at
from pyop2cxx.algebra.reductions import reduced
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pyop2cxx.data.dats import Dat


class Failed(NamedTuple):
    """The first element without a result.

    Attributes:
        element: Number in the whole Set.
        column: Number of the column without a pivot, from 1.
        is_finite: Whether the element's values are finite.
        n: Such elements of all processes.
    """

    element: int
    column: int
    is_finite: bool
    n: int

    def others(self, what: str = "elements") -> str:
        """Return the end of a message: how many there are."""
        return f"; {self.n} {what} in all" if self.n > 1 else ""


def first_failed(info: Dat, *given: Dat) -> Failed | None:
    """Return the first element of all processes with a number in `info`; None: there is none.

    Args:
        info: Numbers of columns without a pivot, or 0.
        given: Dats on the same Set, whose values may not be finite.
    """
    home = info.set
    found = reduced(info, "max") if home.size and is_at(info, write=False) else None
    bad: Any = [] if found is not None and not found.any() else np.flatnonzero(info.data_ro)
    n_bad = len(bad)
    if home.ranks is not None:
        about = f"{info.label}: numbers of failures"
        n_bad = int(runtime.processes.combined(home.ranks, np.array(n_bad), "sum", about))
    if not n_bad:
        return None
    known = [
        Failed(
            home.number_of(i),
            int(info.data_ro[i]),
            all(np.isfinite(one.data_ro[i]).all() for one in given),
            n_bad,
        )
        for i in bad[:1]
    ]
    if home.ranks is not None:
        every = runtime.processes.all_of(home.ranks, known, "failures")
        known = sorted(one for part in every for one in part)
    return known[0]
