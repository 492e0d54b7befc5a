# SPDX-License-Identifier: BSD-3-Clause
"""Maps to the one entity of a Global, for blocks of matrices whose entries have places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.sets.maps import Map

if TYPE_CHECKING:
    from pyop2cxx.sets.sets import Set


class GlobalMap(Map):
    """From every element to the one entity of a Global.

    Between two cells of a column it leads there once.

    Args:
        iterset: The Set it starts on.
        toset: The Global's Set.

    Example:
        >>> from pyop2cxx import op2
        >>> rows = op2.GlobalDataSet(op2.Global(2)).set
        >>> GlobalMap(op2.Set(2), rows).values.tolist()
        [[0], [0]]
    """

    _is_of_columns = True

    def __init__(self, iterset: Set, toset: Set) -> None:
        values = np.zeros(iterset.total_size, np.int32) if iterset.is_sized else None
        super().__init__(iterset, toset, 1, values, f"{iterset.name}_to_{toset.name}")
