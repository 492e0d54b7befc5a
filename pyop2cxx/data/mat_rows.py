# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single rows of a matrix: by loops where the values are on a device, else in NumPy."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ, RW
from pyop2cxx.data.args import DenseBlockArg, MixedMatArg
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mat_paths import MixedMatPath
from pyop2cxx.exceptions import user_line
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx import _core
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mats import Mat

_MOST_KEPT = 8


def places_of_rows(mat: Mat, rows: Array) -> Array:
    """Return the places of rows, those of one after those of another.

    Args:
        mat: The matrix.
        rows: Numbers of entities.
    """
    offset = mat.sparsity.rowptr
    counts = offset[rows + 1] - offset[rows]
    starts = np.repeat(offset[rows] - np.cumsum(counts) + counts, counts)
    found: Array = starts + np.arange(counts.sum())
    return found


def put(mat: Mat, places: Array, offsets: Iterable[int], value: Any, member: str) -> None:
    """Set values of a matrix.

    Args:
        mat: The matrix, not mixed.
        places: Each once.
        offsets: Which of the values at each place.
        value: The value.
        member: Who wants it, for messages and the ledger of copies.
    """
    if _is_on_device(mat):
        _change(mat, places, tuple(offsets), value, "=")
        return
    flat = mat._stored(member, write=True).reshape(-1, mat.cdim)
    for offset in offsets:
        flat[places, offset] = value


def add(mat: Mat, places: Array, offsets: Iterable[int], value: Any, member: str) -> None:
    """Add to values of a matrix; the arguments are those of `put`."""
    if _is_on_device(mat):
        _change(mat, places, tuple(offsets), value, "+=")
        return
    flat = mat._stored(member, write=True).reshape(-1, mat.cdim)
    for offset in offsets:
        flat[places, offset] += value  # places come once


def _is_on_device(mat: Mat) -> bool:
    """Say whether the values are valid on the device that loops run on."""
    if runtime.static or runtime.device is None:
        return False
    return mat.residence in ("device", "both")


def _change(mat: Mat, places: Array, offsets: tuple[int, ...], value: Any, sign: str) -> None:
    if places.size == 0:
        return
    key = (runtime.epoch, sign, offsets, blake2b(places.tobytes()).digest())
    if key not in mat._row_loops:
        while len(mat._row_loops) >= _MOST_KEPT:
            del mat._row_loops[next(iter(mat._row_loops))]
        mat._row_loops[key] = _loop(mat, places, offsets, sign)
    loop, given, _ = mat._row_loops[key]
    given.data[...] = value
    given.to_device()  # asked for by the call
    if loop.run():
        runtime.coherence.attribute(user_line())


def _loop(
    mat: Mat, places: Array, offsets: tuple[int, ...], sign: str
) -> tuple[_core.PreparedLoop, Global, Map]:
    """Return a loop over places, the Global that holds what is put there, and what it needs.

    The loop holds no reference to the matrix, which keeps it, nor to the memory of its Map.
    """
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parloop import ParLoop

    chosen = Set(places.size, "chosen")
    every = Set(int(mat.sparsity.rowptr[-1]), "places")
    to_place = Map(chosen, every, 1, places, "to_place")
    part = DenseBlockArg(mat, to_place, RW, mat.cdim, 0, 0)
    path = MixedMatPath((to_place,), (None,), (None, False))
    given = Global(1, 0, mat.dtype, name="given")
    body = " ".join(f"A[{offset}] {sign} v[0];" for offset in offsets)
    kernel = Kernel(
        f"void change_rows({mat.ctype} *A, const {mat.ctype} *v) {{ {body} }}",
        "change_rows",
        abi="2026",
    )
    arg = MixedMatArg(mat, path, RW, (part,), ((0, 0, 0),))
    loop = ParLoop(kernel, chosen, arg, given(READ))
    loop._prepare()
    return loop._prepared, given, to_place
