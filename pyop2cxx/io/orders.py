# SPDX-License-Identifier: BSD-3-Clause
"""Numberings in files: stored data of a Set, and the way of values to another Set's numbers.

A Set's group has attributes ``in_use`` and ``original``, the digests of `sets.origins`, and a
dataset ``order`` with the original number of each entity, if numbers have changed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.blocks import row_of_each
from pyop2cxx.exceptions import StoredFileError
from pyop2cxx.sets.origins import Digests, rows_between

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mats import Mat
    from pyop2cxx.sets.origins import Numbers
    from pyop2cxx.sets.sets import Set

    Read = Callable[[Any], Array]


def put_origin(group: Any, on: Set, write: Callable[[str, Array], None]) -> None:
    """Store the origin of the numbers of a Set."""
    found = Digests() if on.origin is None else on.origin.now()
    group.attrs["in_use"], group.attrs["original"] = found.in_use, found.original
    if on.reordering.order is not None:
        write("order", on.reordering.order)


def origin_in(group: Any) -> Digests:
    """Return the digests of a stored Set; empty for version 1."""
    return Digests(*(str(group.attrs.get(name, "")) for name in ("in_use", "original")))


def order_in(group: Any, read: Read, what: str) -> Numbers | None:
    """Return the way back of a stored Set.

    Raises:
        StoredFileError: The dataset does not number the entities.
    """
    if "order" not in group:
        return None
    found, n = read(group["order"]), int(read(group["sizes"])[-1])
    if found.shape != (n,) or not np.array_equal(np.sort(found), np.arange(n)):
        raise StoredFileError(f"{what}: {group.name}/order does not number its {n} entities")
    return found


def rows_for(group: Any, on: Set, read: Read, what: str) -> Numbers | None:
    """Return the row of the file for each entity of a Set; None for equal numbers.

    Args:
        group: The Set in the file, of the same size.
        on: The target Set of the values.
        read: Reads a dataset.
        what: The file and the name of the values, for messages.

    Raises:
        StoredFileError: The values belong to another mesh, or to entities without a way back.
    """
    if "in_use" not in group.attrs:
        return None  # a file of version 1
    old = partial(order_in, group, read, what)
    return rows_between(origin_in(group), old, on, what, str(group.attrs["label"]))


def entries_for(
    pattern: tuple[Array, Array], rows: tuple[Numbers | None, Numbers | None], mat: Mat
) -> Array | None:
    """Return the entry of the file for each entry of a Mat; None for other places.

    Args:
        pattern: ``rowptr`` and ``colidx`` in the file.
        rows: Results of `rows_for` for the rows and for the columns.
        mat: The target Mat of the values.
    """
    sparsity = mat.sparsity
    sets = [dset.set for dset in sparsity.dsets]
    if not mat.is_distributed and (
        len(pattern[0]) != len(sparsity.rowptr) or len(pattern[1]) != len(sparsity.colidx)
    ):
        return None
    here = [row_of_each(sparsity.rowptr), sparsity.colidx.astype(np.int64)]
    if mat.is_distributed:
        here = [on.global_numbers[numbers] for on, numbers in zip(sets, here, strict=True)]
    moved = [one if way is None else way[one] for one, way in zip(here, rows, strict=True)]
    n = max(
        1, sets[1].total_size, *(int(one.max(initial=-1)) + 1 for one in (pattern[1], moved[1]))
    )
    there = row_of_each(pattern[0]) * n + pattern[1]
    sought = moved[0] * n + moved[1]
    found: Array = np.searchsorted(there, sought)  # columns ascend in each row
    is_there = found < len(there)
    return found if is_there.all() and np.array_equal(there[found], sought) else None
