# SPDX-License-Identifier: BSD-3-Clause
"""Ways from loops to matrices: pairs of Maps, masks, and the blocks of mixed matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC, Access
from pyop2cxx.base.arrays import address_of, plain_array
from pyop2cxx.data.mat_args import (
    DenseBlockArg,
    MatArg,
    MatPath,
    MixedMatArg,
    MixedMatPath,
    PlacedBlockArg,
)
from pyop2cxx.exceptions import DataValueError, MapTypeError, MapValueError
from pyop2cxx.sets.derived_maps import GlobalMap
from pyop2cxx.sets.maps import Map

if TYPE_CHECKING:
    from pyop2cxx.data.mat_args import Mask
    from pyop2cxx.data.mat_values import MatValues
    from pyop2cxx.sets.sets import Set

    BlockPart = MatArg | DenseBlockArg | PlacedBlockArg
    Check = Callable[[MatValues, Map | None, Map | None], None]

_PAIR = 2


def accept(mat: MatValues, rows: Map | None, cols: Map | None) -> None:
    """Accept all Maps: the loop finds the places of entries, or raises."""


def argument(
    mat: MatValues, access: Access, path: object, lgmaps: Any, unroll_map: bool, check: Check
) -> MatArg:
    """Return a matrix with a single block as an argument of a loop; see `Mat.__call__`.

    Raises:
        MapTypeError: The path is not a pair of Maps.
        MapValueError: From `check`.
        DataValueError: The arrays of `lgmaps` do not fit.
    """
    rows, cols = _checked_path(mat, path)
    check(mat, rows, cols)
    key = (rows.uid, cols.uid)
    known = mat.paths.get(key) if lgmaps is None else None
    if known is None:
        masks, unrolled = _masks(mat, lgmaps, unroll_map)
        known = MatPath(rows, cols, masks, unrolled, (lgmaps, unroll_map))
        if any(mask is not None for mask in masks):
            known = mat.paths.setdefault(_mask_key(known), known)
        else:
            mat.paths[key] = known
    return MatArg(mat, known, access)


def mixed_argument(
    mat: MatValues, access: Access, path: object, lgmaps: Any, unroll_map: bool, check: Check
) -> MixedMatArg:
    """Return a matrix of several blocks, or of a Global's, as an argument; see `Mat.__call__`.

    Raises:
        MapTypeError: The path is not a pair of MixedMaps.
        MapValueError: From `check`.
        DataValueError: `lgmaps` does not have a pair of arrays for each block.
    """
    sides = _checked_sides(mat, path)
    given = _lgmaps_by_block(mat, lgmaps)
    found = [
        _block(mat[i, j], access, sides[0][i], sides[1][j], masks, unroll_map, check)
        for (i, j), masks in zip(_cells(mat), given, strict=True)
    ]
    parts, cells = _joined(mat, found)
    key = ("mixed", *(None if m is None else m.uid for side in sides for m in side))
    key += tuple(_part_key(part) for part in parts)
    if key not in mat.paths:
        mat.paths[key] = MixedMatPath(*sides, (lgmaps, unroll_map))
    return MixedMatArg(mat, mat.paths[key], access, parts, cells)


def unlisted_argument(
    mat: MatValues, access: Access, rows: tuple[Map | None, ...], cols: tuple[Map | None, ...]
) -> MatArg | MixedMatArg:
    """Return a matrix as an argument by Maps possibly unknown to the Sparsity.

    The loop finds the places of entries. The path is forgotten with the loop.

    Args:
        mat: The matrix.
        access: The access of the kernel.
        rows: For each field the Map to the rows; None for a Global's.
        cols: The same for columns.
    """
    if not mat.is_mixed and rows[0] is not None and cols[0] is not None:
        return _unlisted(mat, access, rows[0], cols[0])
    found: list[list[BlockPart]] = []
    for i, j in _cells(mat):
        r, c = rows[i], cols[j]
        if r is not None and c is not None:
            found.append([_unlisted(mat[i, j], access, r, c)])
        else:
            found.append(_dense_block(mat[i, j], access, r, c, (None, None), False))
    return MixedMatArg(mat, MixedMatPath(rows, cols, (None, False)), access, *_joined(mat, found))


def _unlisted(mat: MatValues, access: Access, rows: Map, cols: Map) -> MatArg:
    return MatArg(mat, MatPath(rows, cols, (None, None), False), access)


def _cells(mat: MatValues) -> list[tuple[int, int]]:
    n, m = mat.sparsity.shape
    return list(product(range(n), range(m)))


def _joined(
    mat: MatValues, found: list[list[BlockPart]]
) -> tuple[tuple[BlockPart, ...], tuple[tuple[int, int, int], ...]]:
    """Return the parts of all blocks end to end, and the `cells` of a `MixedMatArg`."""
    pairs = list(zip(_cells(mat), found, strict=True))
    cells = tuple((i, j, k) for (i, j), of_block in pairs for k in range(len(of_block)))
    return tuple(part for _, of_block in pairs for part in of_block), cells


def _part_key(part: BlockPart) -> Any:
    if isinstance(part, PlacedBlockArg):
        return part.unrolled, *_digests(part.masks)
    return None if part.map_ is None else part.map_.uid


def placed(part: PlacedBlockArg, whole: Set) -> MatArg:
    """Return a block beside a Global, with places for entries.

    Args:
        part: The rows or columns.
        whole: The Set at the start of the loop's Maps.
    """
    paths = part.data.paths
    targets = [dset.set for dset in part.data.sparsity.dsets]
    rows, cols = (
        _to_global(paths, whole, target) if map_ is None else map_
        for map_, target in zip((part.rows, part.cols), targets, strict=True)
    )
    by_columns = part.rows is None and part.cols is not None
    path = MatPath(rows, cols, part.masks, part.unrolled, by_columns=by_columns)
    return MatArg(part.data, paths.setdefault(_mask_key(path), path), part.access)


def _to_global(paths: dict[tuple[Any, ...], Any], start: Set, target: Set) -> Map:
    key = ("global", start.uid, target.uid)
    if key not in paths:
        paths[key] = GlobalMap(start, target)
    found: Map = paths[key]
    return found


def _block(
    block: MatValues,
    access: Access,
    rows: Map | None,
    cols: Map | None,
    lgmaps: Any,
    unroll_map: bool,
    check: Check,
) -> list[BlockPart]:
    if rows is not None and cols is not None:
        return [argument(block, access, (rows, cols), lgmaps, unroll_map, check)]
    check(block, rows, cols)
    return _dense_block(block, access, rows, cols, *_masks(block, lgmaps, unroll_map))


def _dense_block(
    block: MatValues,
    access: Access,
    rows: Map | None,
    cols: Map | None,
    masks: tuple[Mask, Mask],
    unrolled: bool,
) -> list[BlockPart]:
    whole = rows if cols is None else cols
    is_whole = masks == (None, None) and (access == INC if whole is None else not whole.is_partial)
    if not is_whole:
        return [PlacedBlockArg(block, rows, cols, access, masks, unrolled)]
    if whole is None:
        return [DenseBlockArg(block, None, access, block.cdim, 0, 0)]
    row_dim, col_dim = block.block_dims
    if cols is None:
        return [DenseBlockArg(block, whole, access, row_dim * col_dim, 0, 0)]
    if row_dim == 1:
        return [DenseBlockArg(block, whole, access, col_dim, 0, 0)]
    # for each column entity the values of whole rows in sequence; kernels want rows
    return [
        DenseBlockArg(block, whole, access, col_dim, row_dim * col_dim, r * col_dim)
        for r in range(row_dim)
    ]


def _checked_path(mat: MatValues, path: object) -> tuple[Map, Map]:
    if (
        not isinstance(path, Sequence)
        or len(path) != _PAIR
        or not all(isinstance(map_, Map) for map_ in path)
    ):
        raise MapTypeError(
            f"{mat.label}: the path must be a pair of Maps, (rows, columns), got {path!r}"
        )
    return path[0], path[1]


def check_listed(mat: MatValues, rows: Map | None, cols: Map | None) -> None:
    """Check that the Sparsity was made from a pair of Maps.

    Raises:
        MapValueError: The Sparsity was made from others.
    """
    if (rows, cols) not in mat.sparsity:
        names = ["None" if map_ is None else f"'{map_.name}'" for map_ in (rows, cols)]
        raise MapValueError(
            f"{mat.label}: the Maps {' and '.join(names)} are no pair that Sparsity "
            f"'{mat.sparsity.name}' was made from, so their entries have no place; make it from "
            "them, too"
        )


def _checked_sides(
    mat: MatValues, path: object
) -> tuple[tuple[Map | None, ...], tuple[Map | None, ...]]:
    if not isinstance(path, Sequence) or len(path) != _PAIR:
        raise MapTypeError(
            f"{mat.label}: the path must be a pair, (rows, columns), of MixedMaps or of tuples "
            f"with a Map for each field, got {path!r}"
        )
    sides = []
    for side, n, what in zip(path, mat.sparsity.shape, ("rows", "columns"), strict=True):
        fields = (side,) if side is None or isinstance(side, Map) else tuple(side)
        if len(fields) != n or not all(f is None or isinstance(f, Map) for f in fields):
            raise MapTypeError(
                f"{mat.label}: the {what} have {n} fields; pass a MixedMap, or a tuple with a Map "
                f"for each, or None for a Global, got {side!r}"
            )
        sides.append(fields)
    return sides[0], sides[1]


def _lgmaps_by_block(mat: MatValues, lgmaps: Any) -> list[Any]:
    n = prod(mat.sparsity.shape)
    if lgmaps is None:
        return [None] * n
    if n == 1 and isinstance(lgmaps, Sequence) and len(lgmaps) == _PAIR:
        lgmaps = [lgmaps]
    if not isinstance(lgmaps, Sequence) or len(lgmaps) != n:
        raise DataValueError(
            f"{mat.label}: lgmaps must be a list of a pair (rows, columns) for each of the {n} "
            f"blocks, by rows, got {lgmaps!r}"
        )
    return list(lgmaps)


def _masks(mat: MatValues, lgmaps: Any, unroll_map: bool) -> tuple[tuple[Mask, Mask], bool]:
    if lgmaps is None:
        return (None, None), False
    if isinstance(lgmaps, Sequence) and len(lgmaps) == 1:
        lgmaps = lgmaps[0]
    if not isinstance(lgmaps, Sequence) or len(lgmaps) != _PAIR:
        raise DataValueError(
            f"{mat.label}: lgmaps must be a pair (rows, columns), either of them None, got "
            f"{lgmaps!r}"
        )
    is_by_scalars = any(map(_is_by_scalars, lgmaps, mat.sparsity.dsets[:], mat.block_dims))
    unrolled = (bool(unroll_map) or is_by_scalars) and prod(mat.block_dims) > 1
    pairs = zip(lgmaps, mat.sparsity.dsets, mat.block_dims, ("rows", "columns"), strict=True)
    row_mask, col_mask = (
        _mask(mat, found, dset.set.total_size, dim if unrolled else 1, dim, what)
        for found, dset, dim, what in pairs
    )
    return (row_mask, col_mask), unrolled and not (row_mask is None and col_mask is None)


def _is_by_scalars(given: Any, dset: Any, block: int) -> bool:
    """Return whether PETSc's numbering of a block of a matrix numbers scalars."""
    return block > 1 and _n_blocks(given) == dset.set.total_size * block


def _n_blocks(given: Any) -> int:
    return len(getattr(given, "block_indices", ()))


def _mask(mat: MatValues, given: Any, n: int, dim: int, block: int, what: str) -> Mask:
    if given is None:
        return None
    is_blocked = (dim == 1 and block > 1) or _n_blocks(given) == n * dim
    wanted = "block_indices" if is_blocked else "indices"
    numbers = getattr(given, wanted, getattr(given, "indices", given))
    values = plain_array(numbers, f"{mat.label}: lgmaps: the {what}")
    if values.dtype.kind not in "iu" or values.shape != (n * dim,):
        raise DataValueError(
            f"{mat.label}: lgmaps: the {what} need integers of shape ({n * dim},), got dtype "
            f"{values.dtype}, shape {values.shape}"
        )
    bad = np.flatnonzero((values >= 0) & (values != np.arange(n * dim)))
    if bad.size:
        raise DataValueError(
            f"{mat.label}: lgmaps: entry {bad[0]} of the {what} is {values[bad[0]]}; each is "
            "its own number, or negative where it is left out"
        )
    if not (values < 0).any():
        return None
    held = np.array(values, np.int64, order="C")  # a copy: waiting loops read the mask later
    table = _core.MapTable(
        address=address_of(held), index_bytes=8, n_rows=n * dim, arity=1, n_targets=n * dim
    )
    return held, table


def _mask_key(path: MatPath) -> tuple[Any, ...]:
    return (path.rows.uid, path.cols.uid, path.unrolled, *_digests(path.masks))


def _digests(masks: tuple[Mask, Mask]) -> tuple[bytes | None, ...]:
    return tuple(None if m is None else blake2b(m[0].tobytes()).digest() for m in masks)
