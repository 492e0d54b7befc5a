# SPDX-License-Identifier: BSD-3-Clause
"""Values on the CUDA device of loops as CuPy's arrays and matrices, sharing their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.arrays import MOST_INT32, spread
from pyop2cxx.interop import dlpack
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pyop2cxx import _core
    from pyop2cxx.base.arrays import Array


class _Shown:
    """The object passed to CuPy for the memory, kept alive by CuPy's array."""

    def __init__(self, shared: _core.exchange.SharedArray) -> None:
        self._shared = shared
        self.__cuda_array_interface__ = dlpack.cuda_interface(shared)


def is_possible() -> bool:
    """Say whether loops run on a CUDA device and CuPy is installed."""
    if runtime.static or dlpack.place_of(runtime.device) == dlpack.HOST:
        return False
    return extras.installed()["cupyx"]


def array(carrier: Any, *, write: bool) -> Any:
    """Return the values of owned entities on the device, moved there if need be.

    Loops so far are done. A writer must call `finish` before loops run again.

    Args:
        carrier: A Dat, a Global or a Mat, not mixed.
        write: Whether the values will be changed.

    Raises:
        MissingExtraError: CuPy is not installed.
    """
    cupy = extras.load("cupy", f"{carrier.label} as an array of CuPy")
    return cupy.asarray(_Shown(carrier.shared_on_device("to_cupy", write=write)))


def vector(dat: Any) -> Any:
    """Return a copy of the values of all fields, on the device, as a single array of CuPy."""
    cupy = extras.load("cupy", f"Dat '{dat.name}' as an array of CuPy")
    return cupy.concatenate([array(part, write=False).reshape(-1) for part in dat.split])


def put(dat: Any, found: Any) -> None:
    """Write an array of CuPy to a Dat or Global, or to the fields of a MixedDat."""
    spread(found, (array(part, write=True) for part in dat.split))
    finish()


def finish() -> None:
    """Wait for CuPy's computations, before loops use the results."""
    extras.load("cupy", "waiting for it").cuda.get_current_stream().synchronize()


def matrix(mat: Any, *, write: bool) -> Any:
    """Return a matrix as ``cupyx.scipy.sparse.csr_matrix``, with ghosts.

    Values are shared for a Mat of scalar blocks on the CUDA device of loops; larger blocks are
    sorted into a copy there. From other places the values are copied.

    Args:
        mat: The matrix.
        write: Whether shared values will be changed.

    Raises:
        MissingExtraError: CuPy is not installed.
    """
    sparse = extras.load("cupyx.scipy.sparse", "Mat.to_cupy()")
    if mat.is_mixed:
        blocks = [[matrix(block, write=False) for block in row] for row in mat.blocks]
        return sparse.bmat(blocks, format="csr")
    shape = (mat.n_stored(0), mat.n_stored(1))
    n_values = int(mat.sparsity.rowptr[-1]) * mat.cdim
    if dlpack.place_of(runtime.device) == dlpack.HOST or n_values > MOST_INT32:
        return sparse.csr_matrix(mat.to_scipy().tocsr())
    rows, columns, order = _index(mat.sparsity)
    values = array(mat, write=write and order is None).reshape(-1)
    if order is not None:
        values = values[order]
    return sparse.csr_matrix((values, columns, rows), shape=shape)


def _index(sparsity: Any) -> tuple[Any, Any, Any]:
    """Return where rows begin, columns, and the order of values of blocks; on the device, once."""
    cupy = extras.load("cupy", "Mat.to_cupy()")

    def copied() -> tuple[Any, ...]:
        return tuple(None if one is None else cupy.asarray(one) for one in _scalars(sparsity))

    found: tuple[Any, Any, Any] = sparsity.on_cuda.made(int(cupy.cuda.Device()), copied)
    return found


def _scalars(sparsity: Any) -> tuple[Array, Array, Array | None]:
    """Return the CSR index of scalars, int32, and the place of each among the blocks' values."""
    ((row_dim, col_dim),) = sparsity.dims[0]
    offset, columns = sparsity.rowptr, sparsity.colidx
    if row_dim * col_dim == 1:
        return offset.astype(np.int32), columns.astype(np.int32), None
    n_blocks = np.diff(offset)
    rows = np.concatenate([[0], np.cumsum(np.repeat(n_blocks * col_dim, row_dim))])
    # for each scalar row the blocks, for each block a row
    first = np.repeat(offset[:-1], row_dim)
    counts = np.repeat(n_blocks, row_dim)
    starts = np.cumsum(counts) - counts
    block = np.arange(counts.sum()) + np.repeat(first - starts, counts)
    part = np.repeat(np.tile(np.arange(row_dim), len(n_blocks)), counts)
    c = np.arange(col_dim)
    scalars = columns[block].astype(np.int64)[:, None] * col_dim + c
    order = (block * row_dim + part)[:, None] * col_dim + c
    return rows.astype(np.int32), scalars.ravel().astype(np.int32), order.ravel().astype(np.int32)
