# SPDX-License-Identifier: BSD-3-Clause
"""Maps that lead past the last entity where something is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.exceptions import MapValueError
from pyop2cxx.types.maps import Map
from pyop2cxx.types.sets import Set

if TYPE_CHECKING:
    from pyop2cxx import _core
    from pyop2cxx.types.checks import Array


class MaskedMap(Map):
    """A Map to as many entities and one more, which takes the place of those left out.

    Args:
        map_: The Map, not one that moves from layer to layer.
        dropped: Which entities of its target are left out; shape (toset.total_size,), bool.
    """

    def __init__(self, map_: Map, dropped: Array) -> None:
        self._init_like(map_, map_.iterset, f"masked_{map_.name}")
        n = len(dropped)
        self._toset = Set(n + 1, f"{map_.toset.name}, and what is left out")
        self._map = map_
        self._leads = np.where(dropped, n, np.arange(n))
        self._seen = 0

    @property
    def map_(self) -> Map:
        """The Map."""
        return self._map

    @property
    def has_values(self) -> bool:
        """Whether the Map was given values."""
        return self._map.has_values

    @property
    def _is_partial(self) -> bool:  # type: ignore[override]  # as the Map is now
        return self._map._is_partial

    def _current_table(self) -> _core.MapTable | None:
        table = self._map._current_table()
        if table is None:
            return None
        if self._values is None or self._table is None:
            self._adopt(self._looked_up())
        elif table.version != self._seen:
            self._values[...] = self._looked_up()
            self._table.increment_version()
        self._seen = table.version
        return self._table

    def _looked_up(self) -> Array:
        values = self._map.values_with_halo
        found = np.where(values < 0, -1, self._leads[values])
        wide = self._toset.total_size > 2**31 - 1
        return np.require(found, np.int64 if wide else np.int32, ("C", "A", "W", "O"))

    def _view(self, member: str, n_rows: int) -> Array:
        self._current_table()
        return super()._view(member, n_rows)

    def update_values(self, values: Any) -> None:
        """Refuse: the values follow from those of the Map."""
        raise MapValueError(f"{self._name}: update the values of Map '{self._map.name}'")
