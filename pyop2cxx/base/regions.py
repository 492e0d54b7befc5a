# SPDX-License-Identifier: BSD-3-Clause
"""Parts of columns visited by loops over extruded Sets."""

from __future__ import annotations

from enum import Enum, IntEnum

from pyop2cxx.exceptions import IterateValueError


class IterationRegion(IntEnum):
    """Cells visited in each column of an extruded Set. Numeric values are PyOP2's.

    Example:
        >>> IterationRegion("TOP")
        <IterationRegion.TOP: 2>
    """

    BOTTOM = 1
    """The lowest cell."""
    TOP = 2
    """The highest cell."""
    INTERIOR_FACETS = 3
    """Pairs of vertically adjacent cells."""
    ALL = 4
    """All cells."""

    # IntEnum prints the number from Python 3.11 on, and the name before
    __str__ = Enum.__str__

    @classmethod
    def _missing_(cls, value: object) -> IterationRegion:
        name = value.removeprefix("ON_") if isinstance(value, str) else ""  # as PyOP2 once did
        if name in cls.__members__:
            return cls[name]
        raise IterateValueError(
            f"there is no iteration region {value!r}; there are: {', '.join(cls.__members__)}"
        )


ON_BOTTOM = IterationRegion.BOTTOM
ON_TOP = IterationRegion.TOP
ON_INTERIOR_FACETS = IterationRegion.INTERIOR_FACETS
ALL = IterationRegion.ALL
