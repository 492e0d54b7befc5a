# SPDX-License-Identifier: BSD-3-Clause
"""Loops added by chains to make actions members of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.base.moves import kind_of
from pyop2cxx.chain.tasks import is_plain
from pyop2cxx.data.dats import Dat
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from pyop2cxx.chain.entries import Entry


def zeroing(entry: Entry) -> ParLoop | None:
    """Return a loop equivalent to setting a Dat to zero; None for other actions.

    Args:
        entry: An action of the library.
    """
    if not entry.zeroes or len(entry.uses) != 1:
        return None
    dat = entry.uses[0][0]
    if type(dat) is not Dat or not is_plain(dat) or runtime.has_renumbered:
        return None
    if kind_of(dat.dtype) not in "fiu" or not dat.cdim:
        return None
    dat.allocated("zero")  # a waiting loop has not allocated, and the next loop may run at once
    return ParLoop(_kernel(str(dat.compute.name), dat.cdim, is_copy=False), dat.set, dat(WRITE))


def copying(source: Dat, target: Dat) -> ParLoop:
    """Return a loop copying all values of a Dat to a similar Dat.

    Args:
        source: The Dat read.
        target: The Dat written.
    """
    kernel = _kernel(str(source.compute.name), source.cdim, is_copy=True)
    return ParLoop(kernel, source.set, target(WRITE), source(READ))


@until_exit(256)
def _kernel(dtype: str, width: int, *, is_copy: bool) -> Kernel:
    name = "copy" if is_copy else "zero"
    text = render(
        "kernels/put.c.j2",
        {
            **{"name": name, "type": c_name(dtype), "is_copy": is_copy},
            **{"is_loop": width > 1, "index": "i" if width > 1 else "0", "width": width},
        },
    )
    return Kernel(text, f"algebra_{name}", abi="2026").written_here()
