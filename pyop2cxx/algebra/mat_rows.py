# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single rows of a matrix on a device: by loops over their places."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import INC, READ, RW, Access
from pyop2cxx.base.arrays import c_name
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
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.mat_values import MatValues
    from pyop2cxx.loop.execute import Run


def change(
    mat: MatValues, places: Array, offsets: tuple[int, ...], value: Any, sign: str, key: Any = None
) -> None:
    """Set (``=``) or add to (``+=``) values of a matrix where they are.

    Args:
        mat: The matrix, not mixed.
        places: Each once.
        offsets: Indices of the values at each place.
        value: The value.
        sign: The operation.
        key: Identifies the places; None means their digest.
    """
    if places.size == 0:
        return
    known = blake2b(places.tobytes()).digest() if key is None else key
    whole = (runtime.epoch, sign, offsets, known)
    run, given, to_place = mat.row_loops.made(whole, lambda: _loop(mat, places, offsets, sign))
    given.data[...] = value
    given.to_device()  # requested by the call
    run.once((_argument(mat, to_place), given(READ)))


def subtract_product(
    mat: MatValues, key: Any, entries: tuple[Array, Array, Array], x: Dat, y: Dat
) -> None:
    """Compute ``y -= A x`` for some entries of a matrix, where the values are.

    Args:
        mat: The matrix, not mixed.
        key: Identifies the entries.
        entries: Their places, rows and columns, each of shape (n,).
        x: On the columns.
        y: On the rows.
    """
    if entries[0].size == 0:
        return
    whole = (runtime.epoch, "subtract", key, x.uid, y.uid)
    runtime.settle()  # loops that wait may add to the matrix or to y
    run, maps = mat.row_loops.made(whole, lambda: _product_loop(mat, entries, x, y))
    to_place, to_row, to_col = maps
    run.once((_argument(mat, to_place, READ), x(READ, to_col), y(INC, to_row)))


def _product_loop(
    mat: MatValues, entries: tuple[Array, Array, Array], x: Dat, y: Dat
) -> tuple[Run, tuple[Map, Map, Map]]:
    places, rows, cols = entries
    chosen = Set(places.size, "chosen")
    every = Set(int(mat.sparsity.rowptr[-1]), "places")
    to_place = Map(chosen, every, 1, places, "to_place")
    to_row = Map(chosen, y.dataset.set, 1, rows, "to_row")
    to_col = Map(chosen, x.dataset.set, 1, cols, "to_col")
    n_rows, n_cols = mat.block_dims
    facts = {"type": c_name(mat.compute), "rows": n_rows, "cols": n_cols}
    text = render("kernels/subtract_product.c.j2", facts)
    kernel = Kernel(text, "subtract_product", abi="2026").written_here()
    given = (_argument(mat, to_place, READ), x(READ, to_col), y(INC, to_row))
    loop = ParLoop(kernel, chosen, *given, check=False)
    loop.prepare()
    return loop.bound_run.unwatched(), (to_place, to_row, to_col)


def _argument(mat: MatValues, to_place: Map, access: Access = RW) -> MixedMatArg:
    """Return a matrix as an argument of a loop over places, with all values of each."""
    part = DenseBlockArg(mat, to_place, access, mat.cdim, 0, 0)
    path = MixedMatPath((to_place,), (None,), (None, False))
    return MixedMatArg(mat, path, access, (part,), ((0, 0, 0),))


def _loop(
    mat: MatValues, places: Array, offsets: tuple[int, ...], sign: str
) -> tuple[Run, Global, Map]:
    """Return a run over places, the Global with the new value, and the Map to the places.

    The run holds no reference to the matrix, which owns the run, nor to the memory of the Map.
    """
    chosen = Set(places.size, "chosen")
    every = Set(int(mat.sparsity.rowptr[-1]), "places")
    to_place = Map(chosen, every, 1, places, "to_place")
    given = Global(1, 0, mat.compute, name="given")
    change = {"type": c_name(mat.compute), "offsets": offsets, "sign": sign}
    text = render("kernels/change_rows.c.j2", change)
    kernel = Kernel(text, "change_rows", abi="2026").written_here()
    loop = ParLoop(kernel, chosen, _argument(mat, to_place), given(READ), check=False)
    loop.prepare()
    return loop.bound_run.unwatched(), given, to_place
