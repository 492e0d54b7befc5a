# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices with Dats on a device: by a loop over the places, or by cuSPARSE.

The loop sums the contributions of each place of the Sparsity to its row. Both operands stay on the
device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.algebra import on_devices
from pyop2cxx.algebra.flat import Flat, View
from pyop2cxx.base.access import INC, READ
from pyop2cxx.base.arrays import c_name, core_dtype
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.runtime.operations import Offer
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from pyop2cxx.data.mat_values import MatValues


def multiply(mat: Any, x: Any, y: Any) -> bool:
    """Compute ``y = mat @ x`` where the values are.

    Args:
        mat: The matrix, without ghosts.
        x: A Dat or MixedDat, matching the columns.
        y: The same, matching the rows.

    Returns:
        Whether possible; if not, `y` must be computed again.
    """
    fields, results = x.split, y.split
    dats = [*fields, *results]
    if not all(isinstance(one, Dat) for one in dats) or any(one.stride for one in dats):
        return False
    if any(one.buffer is other.buffer for one in results for other in fields):
        return False  # values would be overwritten before they are read
    common = np.result_type(mat.dtype, *(one.dtype for one in fields))
    if any(one.dtype != common for one in results):
        return False
    for dat in dats:
        dat.settle(write=True)
        dat.allocated("mult")
    return all(
        _add(block, fields[j], results[i], is_first=j == 0)
        for i, row in enumerate(mat.blocks)
        for j, block in enumerate(row)
    )


def _add(mat: MatValues, x: Dat, y: Dat, *, is_first: bool) -> bool:
    """Compute ``y = mat @ x``, or add the product."""
    mat.allocated("mult")

    def by_loop() -> bool:
        return _by_loop(mat, x, y, is_first=is_first)

    libraries = runtime.engine.device_libraries(runtime.engine.backend(runtime.backend))
    cusparse = None if libraries is None else libraries.cusparse
    if libraries is None or cusparse is None:
        return by_loop()
    shape = _shape(mat)
    veto = _veto(mat, shape, x, y)

    def by_library() -> None:
        product = mat.sparsity.known_products.made(
            (runtime.epoch, mat.dtype), lambda: _product(cusparse, shape, mat)
        )
        product.multiply(libraries.device, mat.buffer, x.buffer, y.buffer, not is_first)
        y.halo_valid = True

    size = len(mat.sparsity.colidx) * mat.cdim
    what = ("mult", str(mat.dtype), size)
    offer = Offer("cusparse", "cusparse", veto, by_library)
    return runtime.engine.operations.resolved_on(libraries, what, offer, by_loop)


# By a loop


class _Paths(NamedTuple):
    """Where places lead to.

    Attributes:
        places: The Set of places.
        to_row: To the row of each.
        to_column: To the column of each.
    """

    places: Set
    to_row: Map
    to_column: Map


def record(mat: Any, x: Any, y: Any) -> bool:
    """Let the graph that the thread records compute ``y = mat @ x``, by a loop over the places.

    Args:
        mat: The matrix.
        x: A Dat matching the columns.
        y: A Dat matching the rows; overwritten.

    Returns:
        Whether possible: the product of a mixed matrix, or of Globals, is none of loops.
    """
    are_dats = isinstance(x, Dat) and isinstance(y, Dat) and not (x.stride or y.stride)
    if mat.is_mixed or mat.sparsity.is_dense or not are_dats or x.buffer is y.buffer:
        return False
    if y.dtype != np.result_type(mat.dtype, x.dtype):
        return False
    y.zero()
    paths = _paths_of(mat, x, y)
    if paths.places.size > 0:
        _add_by_loop(paths, View(mat, paths.places, mat.cdim), x, y)
    return True


def _by_loop(mat: MatValues, x: Dat, y: Dat, *, is_first: bool) -> bool:
    if is_first and not on_devices.combine("=", y, np.asarray(0, y.dtype), None, whole=True):
        return False
    paths = _paths_of(mat, x, y)
    if paths.places.size == 0:
        return True
    values = mat.row_loops.made(
        ("places", paths.places.uid), lambda: Flat(mat, paths.places, mat.cdim)
    )
    try:
        with runtime.at_once():
            _add_by_loop(paths, values, x, y)
    except UnsupportedError:
        return False  # for example, no float64 on the device
    return True


def _add_by_loop(paths: _Paths, values: Flat, x: Dat, y: Dat) -> None:
    blocks = y.cdim, x.cdim
    kernel = _kernel(c_name(values.compute), c_name(x.compute), c_name(y.compute), blocks)
    par_loop(
        kernel,
        paths.places,
        y(INC, paths.to_row),
        DatArg(values, None, READ),
        x(READ, paths.to_column),
    )


def _paths_of(mat: MatValues, x: Dat, y: Dat) -> _Paths:
    found: _Paths = mat.sparsity.known_products.made("paths", lambda: _paths(mat, x.set, y.set))
    return found


def _paths(mat: MatValues, columns: Set, rows: Set) -> _Paths:
    offset = mat.sparsity.rowptr
    n_rows = len(offset) - 1
    places = Set(int(offset[-1]), "places")
    to_row = np.repeat(np.arange(n_rows, dtype=np.int32), np.diff(offset))
    return _Paths(
        places,
        Map(places, rows, 1, to_row, "row_of_place"),
        Map(places, columns, 1, mat.sparsity.colidx, "column_of_place"),
    )


@until_exit(64)
def _kernel(of_mat: str, of_x: str, of_y: str, block: tuple[int, int]) -> Kernel:
    rows, columns = block
    sizes = {"is_block": block != (1, 1), "rows": rows, "columns": columns}
    text = render("kernels/mult_places.c.j2", {"mat": of_mat, "x": of_x, "y": of_y, **sizes})
    return Kernel(text, "mult_places", abi="2026").written_here()


# By cuSPARSE


def _shape(mat: MatValues) -> _core.cuda.SparseShape:
    return _core.cuda.SparseShape(
        dtype=core_dtype(mat.dtype),
        n_rows=mat.nrows,
        n_columns=mat.ncols,
        n_places=len(mat.sparsity.colidx),
        values_of_place=mat.cdim,
    )


def _veto(mat: MatValues, shape: _core.cuda.SparseShape, x: Dat, y: Dat) -> str:
    if mat.sparsity.colidx.dtype != np.int32:
        return "length: its integers have 32 bits, and columns 64"
    return _core.cuda.veto_of_cusparse(shape, core_dtype(x.dtype), core_dtype(y.dtype))


def _product(
    cusparse: _core.cuda.Cusparse, shape: _core.cuda.SparseShape, mat: MatValues
) -> _core.cuda.SparseProduct:
    """Send the index of a matrix to the device, shared by all matrices of Sparsity and dtype."""
    return _core.cuda.SparseProduct(cusparse, shape, mat.sparsity.rowptr, mat.sparsity.colidx)
