# SPDX-License-Identifier: BSD-3-Clause
"""A loop on copies of Dats with each component apart from the others on devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.chain.compare import read_all
from pyop2cxx.data.dats import Dat
from pyop2cxx.loop.layouts import wide
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from typing import Any


def _apart(dat: Dat) -> Dat:
    values = read_all(dat).copy()
    return Dat(dat.dataset, values, dat.dtype, dat.name, "soa", compute=dat.stored_apart)


def with_soa(loop: Any) -> ParLoop | None:
    """Return the loop on copies of all wide Dats with ``layout="soa"``.

    Args:
        loop: A `ParLoop` with all choices left to the rules.

    Returns:
        None without wide Dats, or over columns or a part of a Set.
    """
    found = wide(loop.parts)
    if not found or type(loop.iterset) is not Set or len(loop.parts) != len(loop.args):
        return None
    twins = {uid: _apart(dat) for uid, dat in found.items()}
    args = [twins[arg.data.uid](arg.access) if arg.data.uid in twins else arg for arg in loop.args]
    return ParLoop(loop.kernel, loop.iterset, *args)
