# SPDX-License-Identifier: BSD-3-Clause
"""Dats of a loop that another layout on devices may suit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.data.dats import Dat
from pyop2cxx.loop.parts import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.loop.parts import Part

_LEAST_ROW_BYTES = 256
"""Lanes of a GPU that each use a row of so many bytes use caches badly."""


def wide(parts: Sequence[Part]) -> dict[int, Dat]:
    """Return Dats with all values of an element together, wide rows, and no Map in the loop.

    Args:
        parts: The arrays of the loop.

    Returns:
        Dats by `uid`.
    """
    through_maps = {part.owner.uid for part in parts if part.maps}
    return {
        part.owner.uid: part.data
        for part in parts
        if part.kind is Kind.ROWS
        and type(part.data) is Dat
        and not part.data.soa
        and part.dim * part.dtype.itemsize >= _LEAST_ROW_BYTES
        and part.owner.uid not in through_maps
    }
