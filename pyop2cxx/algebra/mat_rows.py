# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single rows of a matrix on a device: by loops over their places."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, RW
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mat_args import DenseBlockArg, MixedMatArg, MixedMatPath
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mat_values import MatValues
    from pyop2cxx.loop.execute import Run


def change(mat: MatValues, places: Array, offsets: tuple[int, ...], value: Any, sign: str) -> None:
    """Set (``=``) or add to (``+=``) values of a matrix where they are.

    Args:
        mat: The matrix, not mixed.
        places: Each once.
        offsets: Indices of the values at each place.
        value: The value.
        sign: The operation.
    """
    if places.size == 0:
        return
    key = (runtime.epoch, sign, offsets, blake2b(places.tobytes()).digest())
    run, given, to_place = mat._row_loops.made(key, lambda: _loop(mat, places, offsets, sign))
    given.data[...] = value
    given.to_device()  # requested by the call
    run.once((_argument(mat, to_place), given(READ)))


def _argument(mat: MatValues, to_place: Map) -> MixedMatArg:
    """Return a matrix as an argument of a loop over places, with all values of each."""
    part = DenseBlockArg(mat, to_place, RW, mat.cdim, 0, 0)
    path = MixedMatPath((to_place,), (None,), (None, False))
    return MixedMatArg(mat, path, RW, (part,), ((0, 0, 0),))


def _loop(
    mat: MatValues, places: Array, offsets: tuple[int, ...], sign: str
) -> tuple[Run, Global, Map]:
    """Return a run over places, the Global with the new value, and the Map to the places.

    The run holds no reference to the matrix, which owns the run, nor to the memory of the Map.
    """
    chosen = Set(places.size, "chosen")
    every = Set(int(mat.sparsity.rowptr[-1]), "places")
    to_place = Map(chosen, every, 1, places, "to_place")
    given = Global(1, 0, mat.dtype, name="given")
    change = {"type": mat.ctype, "offsets": offsets, "sign": sign}
    text = render("kernels/change_rows.c.j2", change)
    kernel = Kernel(text, "change_rows", abi="2026").written_here()
    loop = ParLoop(kernel, chosen, _argument(mat, to_place), given(READ), check=False)
    loop._prepare()
    return loop._run.unwatched(), given, to_place
