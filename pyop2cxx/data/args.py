# SPDX-License-Identifier: BSD-3-Clause
"""What `dat(access, map)` returns: one argument of a loop, already checked.

They are made in the innermost loops of user programs and die at once. Therefore they are plain
slotted records, not frozen ones: freezing triples the cost of making one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pyop2cxx.base.access import Access
    from pyop2cxx.data.constants import Constant
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.globals import Global
    from pyop2cxx.data.mat_paths import MatPath, MixedMatPath
    from pyop2cxx.data.mats import Mat
    from pyop2cxx.data.mixed import MixedDat, MixedMap
    from pyop2cxx.sets.maps import Map


class Argument:
    """What arguments of all kinds have by PyOP2's older names."""

    __slots__ = ()

    @property
    def map(self) -> Any:
        """The Map; None if there is none."""
        return self.map_  # type: ignore[attr-defined] # all that derive from this have one

    @property
    def split(self) -> tuple[Any, ...]:
        """The arguments of the fields that this is made of: of one, itself."""
        return getattr(self, "parts", (self,))


@dataclass(slots=True)
class DatArg(Argument):
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
class MixedDatArg(Argument):
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
        fields = zip(self.data.split, maps, strict=True)
        return tuple(dat._field_arg(self.access, map_) for dat, map_ in fields)


@dataclass(slots=True)
class LegacyMixedDatArg(MixedDatArg):
    """A MixedDat as a kernel of an older convention uses it.

    Attributes:
        index: Of ``op2.i``; None where the MixedMap was not indexed by it.
        flatten: Whether the values of each field are ordered by component first.
    """

    index: int | None
    flatten: bool


@dataclass(slots=True)
class DoubledGlobalArg(MixedDatArg):
    """A Global that the kernel gets twice, end to end: once for each cell of a facet.

    Attributes:
        data: The Global.
        map_: None.
        access: READ.
    """

    data: Global  # type: ignore[assignment]

    @property
    def parts(self) -> tuple[DatArg | GlobalArg, ...]:
        """The Global, twice."""
        return (GlobalArg(self.data, self.access),) * 2


@dataclass(slots=True)
class GlobalArg(Argument):
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
class ConstantArg(Argument):
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
class MatArg(Argument):
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


@dataclass(slots=True)
class LegacyMatArg(MatArg):
    """A Mat whose rows and columns a kernel of an older convention orders by component first."""


@dataclass(slots=True)
class DenseBlockArg:
    """Rows or columns of a Global in a matrix: these lie in memory as a Dat's values do.

    Attributes:
        data: The block.
        map_: The Map to the other side; None if both are of Globals.
        access: How the kernel uses it.
        dim: The values on each entity that the part has.
        stride: Values from an entity to the next, where these are not all; else 0.
        component: Where the part begins among them.
    """

    data: Mat
    map_: Map | None
    access: Access
    dim: int
    stride: int
    component: int


@dataclass(slots=True)
class PlacedBlockArg:
    """Rows or columns of a Global whose entries need places, because some are left out.

    A loop makes a `MatArg` of it, when it is known where its Maps start.

    Attributes:
        data: The block.
        rows: The Map to the rows; None if they are the Global's.
        cols: The same for columns.
        access: How the kernel uses it.
        masks: What is left out of rows and of columns, as of a `MatPath`.
        unrolled: Whether that is said of scalars, not of blocks.
    """

    data: Mat
    rows: Map | None
    cols: Map | None
    access: Access
    masks: tuple[Any, Any]
    unrolled: bool


@dataclass(slots=True)
class MixedMatArg(Argument):
    """A Mat of several blocks, or with a Global's, as a loop uses it: one tensor for all of it.

    Attributes:
        data: The Mat.
        map_: The Maps to rows and columns.
        access: How the kernel uses it.
        parts: The blocks as arguments of their own, by rows.
        cells: For each part the row and the column of its block, and its row within the block.
    """

    data: Mat
    map_: MixedMatPath
    access: Access
    parts: tuple[MatArg | DenseBlockArg | PlacedBlockArg, ...]
    cells: tuple[tuple[int, int, int], ...]


@dataclass(slots=True)
class LegacyMixedMatArg(MixedMatArg):
    """A Mat of several blocks, ordered by component first within each field."""
