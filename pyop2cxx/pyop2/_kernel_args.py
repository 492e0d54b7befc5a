# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of a `GlobalKernel`'s arguments, without data and with data."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import prod
from typing import TYPE_CHECKING, Any

from pyop2cxx.data.constants import GlobalArg
from pyop2cxx.data.mixed_dats import MixedDat, MixedDatArg
from pyop2cxx.exceptions import MapTypeError, UsageError

if TYPE_CHECKING:
    from pyop2cxx.base.access import Access
    from pyop2cxx.data.constants import Constant
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.globals import Global
    from pyop2cxx.data.handles import PassthroughArg
    from pyop2cxx.data.mats import Mat
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.mixed_sets import MixedMap


class _Described:
    """A description, compared by content."""

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """Key, equal for equal descriptions."""
        return (type(self), *(_content(getattr(self, f.name)) for f in fields(self)))  # type: ignore[arg-type]


def _content(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(map(_content, found))
    return found.cache_key if isinstance(found, _Described) else found


@dataclass(frozen=True, eq=False)
class MapKernelArg(_Described):
    """A Map without values. Compared by identity: a Map used twice is a single object.

    Attributes:
        arity: Number of targets of each entity.
        offset: How far entries move from a layer to the next.
        offset_quotient: The same where the extrusion is periodic.
    """

    arity: int
    offset: tuple[int, ...] | None = None
    offset_quotient: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _check_hashable(self.offset, "MapKernelArg: the offset")
        _check_hashable(self.offset_quotient, "MapKernelArg: the offset_quotient")


@dataclass(frozen=True, eq=False)
class PermutedMapKernelArg(_Described):
    """A PermutedMap without values.

    Attributes:
        base_map: The Map.
        permutation: Source index of each entry.
    """

    base_map: MapKernelArg
    permutation: tuple[int, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.base_map, MapKernelArg):
            raise MapTypeError(f"PermutedMapKernelArg: expected a MapKernelArg: {self.base_map!r}")
        _check_hashable(self.permutation, "PermutedMapKernelArg: the permutation")

    @property
    def arity(self) -> int:
        """Number of targets of each entity."""
        return self.base_map.arity


@dataclass(frozen=True, eq=False)
class ComposedMapKernelArg(_Described):
    """A ComposedMap without values.

    Attributes:
        base_maps: The Maps, the last applied first; those of a composed one in its place.
    """

    base_maps: tuple[MapKernelArg, ...]

    def __init__(self, *maps: MapKernelArg | ComposedMapKernelArg) -> None:
        if not maps or not all(isinstance(m, MapKernelArg | ComposedMapKernelArg) for m in maps):
            raise MapTypeError(f"ComposedMapKernelArg: expected MapKernelArgs, got {maps!r}")
        plain = (m.base_maps if isinstance(m, ComposedMapKernelArg) else (m,) for m in maps)
        object.__setattr__(self, "base_maps", tuple(one for part in plain for one in part))

    @property
    def arity(self) -> int:
        """Number of targets of each entity."""
        return self.base_maps[0].arity


@dataclass(frozen=True)
class GlobalKernelArg(_Described):
    """A Global without values.

    Attributes:
        dim: Shape of the values.
        double: Whether the kernel gets the values twice, for both cells of a facet; the access is
            then READ.
    """

    dim: tuple[int, ...]
    double: bool = False

    @property
    def maps(self) -> tuple[Any, ...]:
        """None: a Global is on no Set."""
        return ()


@dataclass(frozen=True)
class DatKernelArg(_Described):
    """A Dat without values.

    Attributes:
        dim: The shape of the values on each entity.
        map_: The Map; None if direct.
        index: The component, where the Dat is a DatView.
    """

    dim: tuple[int, ...]
    map_: Any = None
    index: tuple[int, ...] | None = None

    @property
    def maps(self) -> tuple[Any, ...]:
        """The Map, if any; tuple."""
        return () if self.map_ is None else (self.map_,)

    @property
    def is_direct(self) -> bool:
        """Whether there is no Map."""
        return self.map_ is None

    @property
    def is_indirect(self) -> bool:
        """Whether there is a Map."""
        return self.map_ is not None


@dataclass(frozen=True)
class MixedDatKernelArg(_Described):
    """A MixedDat without values.

    Attributes:
        arguments: The fields.
    """

    arguments: tuple[DatKernelArg | GlobalKernelArg, ...]

    @property
    def maps(self) -> tuple[Any, ...]:
        """The Maps of the fields, if any; tuple."""
        return tuple(map_ for argument in self.arguments for map_ in argument.maps)

    @property
    def is_direct(self) -> bool:
        """Whether there are no Maps."""
        return not self.maps

    @property
    def is_indirect(self) -> bool:
        """Whether there are Maps."""
        return bool(self.maps)


@dataclass(frozen=True)
class MatKernelArg(_Described):
    """A Mat without values.

    Attributes:
        dims: The shapes of the values on each row entity and on each column entity; or a Mat's.
        maps: The Maps to rows and columns.
        unroll: Whether lgmaps are masks of scalars.
    """

    dims: tuple[Any, ...]
    maps: tuple[Any, Any]
    unroll: bool = False

    @property
    def block_dims(self) -> tuple[int, int]:
        """Scalars of a row entity and of a column entity.

        The dims may be a pair of shapes, or those of a Mat: ``(((rows, columns),),)``.
        """
        found: Any = self.dims
        while isinstance(found, tuple | list) and len(found) == 1:
            (found,) = found
        try:
            rows, cols = (int(prod(dim)) if isinstance(dim, tuple) else int(dim) for dim in found)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(
                "MatKernelArg: dims are the shapes of the values on a row and on a column entity, "
                f"as ((2,), (3,)), or those of a Mat; got {self.dims!r}"
            ) from None
        return rows, cols


@dataclass(frozen=True)
class MixedMatKernelArg(_Described):
    """A Mat of several blocks without values.

    Attributes:
        arguments: The blocks, by rows.
        shape: How many there are of them in a column and in a row.
    """

    arguments: tuple[MatKernelArg, ...]
    shape: tuple[int, int]

    @property
    def maps(self) -> tuple[Any, ...]:
        """The Maps of all blocks."""
        return tuple(map_ for argument in self.arguments for map_ in argument.maps)

    def __post_init__(self) -> None:
        if len(self.arguments) != prod(self.shape):
            raise UsageError(
                f"MixedMatKernelArg: {len(self.arguments)} blocks, expected {self.shape[0]} x "
                f"{self.shape[1]}"
            )


@dataclass(frozen=True)
class PassthroughKernelArg(_Described):
    """An address without a value."""

    @property
    def maps(self) -> tuple[Any, ...]:
        """None: an address is on no Set."""
        return ()


class ParloopArg:
    """Data of an argument: the common base class."""


@dataclass(frozen=True)
class GlobalParloopArg(ParloopArg):
    """The data of a `GlobalKernelArg`."""

    data: Global | Constant
    map_: None = field(default=None, init=False)


@dataclass(frozen=True)
class DatParloopArg(ParloopArg):
    """The data of a `DatKernelArg`."""

    data: Dat
    map_: Map | None = None


@dataclass(frozen=True)
class MixedDatParloopArg(ParloopArg):
    """The data of a `MixedDatKernelArg`."""

    data: MixedDat
    map_: MixedMap | None = None


@dataclass(frozen=True)
class MatParloopArg(ParloopArg):
    """The data of a `MatKernelArg`, and the masks: see `Mat`."""

    data: Mat
    maps: tuple[Map, Map]
    lgmaps: Any = None


@dataclass(frozen=True)
class MixedMatParloopArg(ParloopArg):
    """The data of a `MixedMatKernelArg`, and the masks: see `Mat`."""

    data: Mat
    maps: tuple[MixedMap, MixedMap]
    lgmaps: Any = None


@dataclass(frozen=True)
class PassthroughParloopArg(ParloopArg):
    """The address of a `PassthroughKernelArg`."""

    data: PassthroughArg
    map_: None = field(default=None, init=False)


KINDS: dict[type[Any], tuple[type[Any], ...]] = {
    GlobalKernelArg: (GlobalParloopArg,),
    DatKernelArg: (DatParloopArg,),
    MixedDatKernelArg: (MixedDatParloopArg, DatParloopArg),
    MatKernelArg: (MatParloopArg,),
    MixedMatKernelArg: (MixedMatParloopArg, MatParloopArg),
    PassthroughKernelArg: (PassthroughParloopArg,),
}
"""The data that each description takes; mixed data also as those of a single field."""


def _check_hashable(found: object, what: str) -> None:
    try:
        hash(found)
    except TypeError:
        raise UsageError(f"{what} must be a tuple, got {found!r}") from None


@dataclass(slots=True)
class DoubledGlobalArg(MixedDatArg):
    """A Global passed to the kernel twice, concatenated: once for each cell of a facet.

    Attributes:
        data: The Global.
        map_: None.
        access: READ.
    """

    data: Global  # type: ignore[assignment]

    @property
    def parts(self) -> tuple[GlobalArg, ...]:
        """The Global, twice."""
        return (GlobalArg(self.data, self.access),) * 2

    def of(self, data: Any) -> Any:
        """Return another Global as the same argument."""
        return DoubledGlobalArg(data, None, self.access)


def called(argument: Any, wanted: Any, access: Access) -> Any:
    """Return the loop argument for data with a description."""
    if isinstance(argument, GlobalParloopArg):
        called = argument.data(access)
        is_double = isinstance(wanted, GlobalKernelArg) and wanted.double
        return DoubledGlobalArg(argument.data, None, access) if is_double else called  # type: ignore[arg-type]
    if isinstance(argument, PassthroughParloopArg):
        return argument.data
    if isinstance(argument, MatParloopArg | MixedMatParloopArg):
        unroll = any(block.unroll for block in getattr(wanted, "arguments", (wanted,)))
        return argument.data.by_any_maps(access, argument.maps, argument.lgmaps, unroll)
    return argument.data(access, argument.map_)


def description(map_: Any) -> Any:
    """Return the description of a Map without values; the Map keeps it, see `Map.kernel_arg`."""
    if hasattr(map_, "permutation"):
        return PermutedMapKernelArg(map_.map_.kernel_arg, map_.permutation)
    parts = getattr(map_, "maps_", ())
    if parts:
        return ComposedMapKernelArg(*(part.kernel_arg for part in parts))
    moves = (map_.offset, map_.offset_quotient)
    return MapKernelArg(map_.arity, *(None if m is None else tuple(map(int, m)) for m in moves))
