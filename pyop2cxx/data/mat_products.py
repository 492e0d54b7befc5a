# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices with Dats on the host: the core's own, or SciPy's if faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base import extras
from pyop2cxx.base.arrays import address_of, core_dtype, spread
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.operations import Offer

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array


def multiply_on_host(mat: Any, x: Any, y: Any) -> None:
    """Compute ``y = mat @ x``, with ghosts' values.

    Args:
        mat: The matrix.
        x: A Dat, MixedDat or Global, matching the columns.
        y: The same, matching the rows; may be `x`.
    """
    # the values of ghosts are brought here
    given = [field.data_ro_with_halos.reshape(-1) for field in x.split]

    def by_core() -> None:
        targets = [
            field.data_wo if mat.is_distributed else field.data_wo_with_halos for field in y.split
        ]
        is_apart = not any(np.may_share_memory(one, x) for one in targets for x in given)
        found = [
            _row_of_blocks(row, given, target.reshape(-1) if is_apart else None)
            for row, target in zip(mat.blocks, targets, strict=True)
        ]
        for values, target in zip(found, targets, strict=True):
            if not is_apart or not np.may_share_memory(values, target):
                target[...] = values.reshape(target.shape)

    def by_scipy() -> None:
        product = mat.to_scipy() @ np.concatenate(given)
        spread(product, (field.data_wo_with_halos for field in y.split))

    engine = runtime.engine
    if mat.is_distributed or not engine.asks_libraries or not extras.installed()["scipy"]:
        by_core()
        return
    size = sum(int(block.sparsity.rowptr[-1]) * block.cdim for block in mat)
    offer = Offer("scipy", "scipy", "", by_scipy)
    engine.operations.resolved(("mult", str(mat.dtype), size), [offer], by_core)


def _row_of_blocks(blocks: Any, given: list[Array], target: Array | None) -> Array:
    """Return the product of a row of blocks with all fields, in the common dtype.

    The product is computed in the memory of the target, if there is one of the dtype.
    """
    common = np.result_type(blocks[0].dtype, *given)
    n = blocks[0].nrows if blocks[0].is_distributed else blocks[0].n_stored(0)
    is_target = target is not None and target.dtype == _computed(common)
    found = target if target is not None and is_target else np.empty(n, _computed(common))
    for j, (block, x) in enumerate(zip(blocks, given, strict=True)):
        _multiply(block, x.astype(common, copy=False), found, is_added=j > 0)
    return found.astype(common, copy=False)


def _multiply(mat: Any, x: Array, y: Array, *, is_added: bool) -> None:
    engine, table = runtime.engine, mat.sparsity.table("mult")
    offsets = table.row_offset[: y.size // mat.block_dims[0] + 1]
    n = int(offsets[-1])
    values = mat.stored("mult", write=False)[:n].astype(x.dtype, copy=False)
    values, x = (np.ascontiguousarray(one.astype(y.dtype, copy=False)) for one in (values, x))
    has_threads = engine.backend(runtime.backend).facts.threads
    _core.multiply(
        core_dtype(y.dtype),
        mat.block_dims,
        offsets,
        table.columns[:n],
        address_of(values),
        address_of(x),
        address_of(y),
        is_added,
        engine.n_threads if has_threads else 1,
    )


def _computed(common: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the computation: wide for narrow integers, with the same final bits."""
    return common if _core.is_multiplied(core_dtype(common)) else np.dtype(np.int64)
