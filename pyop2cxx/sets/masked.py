# SPDX-License-Identifier: BSD-3-Clause
"""Maps that lead past the last entity where something is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.exceptions import MapValueError
from pyop2cxx.sets.derived_maps import DerivedMap
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.maps import Map


class MaskedMap(DerivedMap):
    """A Map to as many entities and one more, which takes the place of those left out.

    Args:
        map_: The Map, not one that moves from layer to layer.
        dropped: Which entities of its target are left out; shape (toset.total_size,), bool.
    """

    def __init__(self, map_: Map, dropped: Array) -> None:
        self._init_like(map_, map_.iterset, f"masked_{map_.name}")
        n = len(dropped)
        self._toset = Set(n + 1, f"{map_.toset.name}, and what is left out")
        self._leads = np.where(dropped, n, np.arange(n))
        self._derive((map_,))

    @property
    def map_(self) -> Map:
        """The Map."""
        return self._maps[0]

    def _looked_up(self) -> Array:
        values = self.map_.values_with_halo
        return np.where(values < 0, -1, self._leads[values])

    def update_values(self, values: Any) -> None:
        """Refuse: the values follow from those of the Map."""
        raise MapValueError(f"{self._name}: update the values of Map '{self.map_.name}'")
