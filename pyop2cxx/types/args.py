# SPDX-License-Identifier: BSD-3-Clause
"""What `dat(access, map)` returns: one argument of a loop, already checked.

They are made in the innermost loops of user programs and die at once. Therefore they are plain
slotted records, not frozen ones: freezing triples the cost of making one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pyop2cxx.types.access import Access
    from pyop2cxx.types.constants import Constant
    from pyop2cxx.types.dats import Dat
    from pyop2cxx.types.globals import Global
    from pyop2cxx.types.maps import Map
    from pyop2cxx.types.mats import Mat, MatPath
    from pyop2cxx.types.mixed import MixedDat, MixedMap


@dataclass(slots=True)
class DatArg:
    """A Dat as a loop uses it.

    Attributes:
        data: The Dat.
        map_: The Map from the iteration Set to the Dat's Set; None means direct.
        access: How the kernel uses it.
    """

    data: Dat
    map_: Map | None
    access: Access


@dataclass(slots=True)
class LegacyDatArg(DatArg):
    """A Dat as a kernel of an older convention uses it.

    Attributes:
        index: Of ``op2.i``; None where the Map was not indexed by it.
        flatten: Whether values are ordered by component first.
    """

    index: int | None
    flatten: bool


@dataclass(slots=True)
class MixedDatArg:
    """A MixedDat as a loop uses it: the kernel gets its fields end to end.

    Attributes:
        data: The MixedDat.
        map_: The MixedMap; None means direct.
        access: How the kernel uses it.
    """

    data: MixedDat
    map_: MixedMap | None
    access: Access

    @property
    def parts(self) -> tuple[DatArg | GlobalArg, ...]:
        """The fields as arguments of their own, in order."""
        maps = [None] * len(self.data) if self.map_ is None else self.map_.split
        return tuple(
            dat(self.access) if map_ is None else dat(self.access, map_)
            for dat, map_ in zip(self.data.split, maps, strict=True)
        )


@dataclass(slots=True)
class GlobalArg:
    """A Global as a loop uses it.

    Attributes:
        data: The Global.
        access: How the kernel uses it.
        map_: None, so that arguments of all kinds can be asked.
    """

    map_: ClassVar[None] = None

    data: Global
    access: Access


@dataclass(slots=True)
class ConstantArg:
    """A Constant as a loop uses it.

    Attributes:
        data: The Constant.
        access: READ.
        map_: None, so that arguments of all kinds can be asked.
    """

    map_: ClassVar[None] = None

    data: Constant
    access: Access


@dataclass(slots=True)
class MatArg:
    """A Mat as a loop uses it.

    Attributes:
        data: The Mat.
        map_: The Maps to its rows and columns, and what is left out.
        access: How the kernel uses it.
    """

    data: Mat
    map_: MatPath
    access: Access

    @property
    def maps(self) -> tuple[Map, Map]:
        """The Maps to rows and columns."""
        return self.map_.rows, self.map_.cols
