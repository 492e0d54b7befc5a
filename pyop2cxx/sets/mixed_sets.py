# SPDX-License-Identifier: BSD-3-Clause
"""Several Sets, DataSets or Maps as a single object: the fields of a mixed problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from pyop2cxx.base.arrays import is_integer
from pyop2cxx.base.listing import Listed
from pyop2cxx.exceptions import (
    ContractError,
    DataSetTypeError,
    DimTypeError,
    IndexValueError,
    MapTypeError,
    SetTypeError,
    UsageError,
)
from pyop2cxx.interop.petsc_spaces import PetscSpace
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from weakref import WeakValueDictionary

    from typing_extensions import Self

    from pyop2cxx.base.arrays import Array

T = TypeVar("T")


_DATASETS = DataSet | GlobalDataSet


class Fields(Listed, Generic[T]):
    """Several objects in an order. Equal if the objects are."""

    kind = "Fields"
    uid: int
    _fields: tuple[T, ...]

    @classmethod
    def _of(cls, fields: tuple[T, ...], known: WeakValueDictionary[Any, Any] | None = None) -> Self:
        """Return the object of the fields: a known object, or a new one."""
        key = (cls, *map(id, fields))  # the fields live as long as the known objects
        found: Self | None = None if known is None else known.get(key)
        if found is None:
            found = object.__new__(cls)
            found.uid = runtime.next_uid()
            found._fields = fields
            if known is not None:
                known[key] = found
        return found

    @property
    def split(self) -> tuple[T, ...]:
        """The fields; tuple."""
        return self._fields

    @property
    def comm(self) -> Any:
        """The communicator of the first field."""
        return next(field.comm for field in self._fields if field is not None)  # type: ignore[attr-defined]

    @property
    def name(self) -> tuple[str, ...]:
        """Names of the fields in messages; tuple of str."""
        return tuple(getattr(field, "name", "None") for field in self._fields)

    def __iter__(self) -> Iterator[T]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return self._fields[index]
        if not is_integer(index) or not -len(self._fields) <= index < len(self._fields):
            raise IndexValueError(
                f"{self.kind} has fields 0 to {len(self._fields) - 1}; got index {index!r}"
            )
        return self._fields[index]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self._fields == other._fields

    def __hash__(self) -> int:
        return hash((type(self), self._fields))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._fields,))

    def __repr__(self) -> str:
        return f"{self.kind}({self._fields!r})"

    def __str__(self) -> str:
        return f"OP2 {self.kind} composed of {self.kind[5:]}s: {self._fields}"


def _sum(what: str, doc: str) -> Any:
    def total(self: MixedSet) -> int:
        return sum(0 if field is None else getattr(field, what) for field in self.split)

    total.__doc__ = doc
    return property(total)


@ends_tracebacks("__new__")
class MixedSet(Fields[Set]):
    """Several Sets as a single object. Loops run over each Set separately.

    The same Sets give the same object.

    Args:
        sets: The Sets; a MixedSet's are taken over. None stands for a Set without entities.

    Raises:
        SetTypeError: An argument is not a Set.
        ContractError: Some are extruded and some are not, or with other layers.

    Example:
        >>> both = MixedSet((Set(2, "a"), Set(3, "b")))
        >>> both.size, both.name
        (5, ('a', 'b'))
    """

    kind = "MixedSet"

    def __new__(cls, sets: Iterable[Set] | MixedSet) -> MixedSet:
        """Return the MixedSet of the Sets, made if necessary."""
        found = tuple(sets) if isinstance(sets, Iterable) else (sets,)
        real = [one for one in found if one is not None]
        if not real or not all(isinstance(one, Set) for one in real):
            raise SetTypeError(f"MixedSet: expected Sets, got {sets!r}")
        layers = [_layers_of(one) for one in real]
        if any(other != layers[0] for other in layers):
            raise ContractError(f"MixedSet: all Sets must have the same layers, got {layers}")
        return cls._of(found, real[0].datasets)

    @property
    def _extruded(self) -> bool:
        """Whether the Sets are extruded, as PyOP2's programs ask."""
        return self._first.is_extruded

    @property
    def _sets(self) -> tuple[Set, ...]:
        """The Sets, as PyOP2's programs reach for them."""
        return self._fields

    @property
    def _first(self) -> Set:
        return next(one for one in self if one is not None)

    core_size = _sum("core_size", "Core entities of all Sets together.")
    exec_size = _sum("exec_size", "Entities of all Sets together that loops visit.")
    size = _sum("size", "Owned entities of all Sets together.")
    total_size = _sum("total_size", "All entities of all Sets together.")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The three sizes, each of all Sets together; tuple of int."""
        return (self.core_size, self.size, self.total_size)

    @property
    def halo(self) -> tuple[Any, ...] | None:
        """The Halo of each Set, or None for all without; tuple."""
        halos = tuple(None if one is None else one.halo for one in self)
        return halos if any(halo is not None for halo in halos) else None

    @property
    def layers(self) -> int | None:
        """The layers of the first Set."""
        return self._first.layers

    @property
    def comm(self) -> Any:
        """The communicator of the first Set."""
        return self._first.comm

    def __pow__(self, dim: int | Iterable[int]) -> MixedDataSet:
        """Return the MixedDataSet of a dim: ``both ** 4``, or of a dim for each Set."""
        return MixedDataSet(self, dim)


def _layers_of(one: Set) -> object:
    if not hasattr(one, "layers_array"):
        return None
    return one.layers_array.tolist()


@ends_tracebacks("__new__")
class MixedDataSet(Fields[DataSet], PetscSpace):
    """Several DataSets as a single object.

    The same DataSets give the same object.

    Args:
        arg: A MixedSet, Sets, DataSets and GlobalDataSets, or a single Set.
        dims: The dim of each Set, or a dim for all; must be None if DataSets are given.

    Raises:
        DataSetTypeError: There is something else than Sets and DataSets.
        DimTypeError: A dim is not an integer or a tuple of integers, or DataSets have theirs.
        UsageError: There are not as many dims as Sets.

    Example:
        >>> MixedDataSet((Set(2), Set(3)), (1, 2)).cdim
        3
    """

    kind = "MixedDataSet"

    def __new__(
        cls,
        arg: MixedSet | MixedDataSet | Set | Iterable[Set | DataSet | GlobalDataSet],
        dims: int | Iterable[int | tuple[int, ...]] | None = None,
    ) -> MixedDataSet:
        """Return the MixedDataSet of the DataSets, made if necessary."""
        if isinstance(arg, MixedDataSet) and dims is None:
            return arg
        spread = is_integer(dims) or (isinstance(arg, Set) and not isinstance(dims, Iterable))
        one_set = isinstance(arg, Set)
        listed = _listed_dims(dims)
        if one_set:
            sets: tuple[Any, ...] = (arg,) * (1 if spread or dims is None else len(listed))
        elif isinstance(arg, str) or not isinstance(arg, Iterable):
            raise DataSetTypeError(f"MixedDataSet: expected Sets or DataSets, got {arg!r}")
        else:
            sets = tuple(arg)
        if not sets or not all(isinstance(one, Set | _DATASETS) for one in sets):
            raise DataSetTypeError(f"MixedDataSet: expected Sets or DataSets, got {arg!r}")
        if dims is not None and any(isinstance(one, _DATASETS) for one in sets):
            raise DimTypeError(
                f"MixedDataSet: DataSets have dims of their own; leave dims={dims!r} out"
            )
        each = (1,) * len(sets) if dims is None else listed * len(sets) if spread else listed
        if len(each) != len(sets):
            raise UsageError(f"MixedDataSet: {len(sets)} Sets, but {len(each)} dims: {dims!r}")
        found: tuple[Any, ...] = tuple(
            one if isinstance(one, _DATASETS) else DataSet(one, dim)
            for one, dim in zip(sets, each, strict=True)
        )
        return cls._of(found, found[0].set.datasets)

    @property
    def _dsets(self) -> tuple[DataSet, ...]:
        """The DataSets, as PyOP2's programs reach for them."""
        return self._fields

    @property
    def set(self) -> MixedSet:
        """The Sets."""
        return MixedSet(field.set for field in self)

    @property
    def dim(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the values on each entity."""
        return tuple(field.dim for field in self)

    @property
    def cdim(self) -> int:
        """The number of values on an entity of each Set, summed."""
        return sum(field.cdim for field in self)

    def __contains__(self, dat: object) -> bool:
        """Return whether a MixedDat lives on the MixedDataSet."""
        return bool(getattr(dat, "dataset", None) == self)

    def __getattr__(self, name: str) -> Any:
        """Forward attributes missing in a MixedDataSet to the MixedSet: sizes."""
        if name.startswith("_") or not hasattr(MixedSet, name):
            raise AttributeError(f"neither MixedDataSet nor MixedSet has an attribute '{name}'")
        return getattr(self.set, name)


def _listed_dims(dims: object) -> tuple[Any, ...]:
    if dims is None or is_integer(dims):
        return (dims,)
    if isinstance(dims, str) or not isinstance(dims, Iterable):
        raise DimTypeError(
            f"MixedDataSet: the dims must be an integer or one for each Set, got {dims!r}"
        )
    return tuple(dims)


@ends_tracebacks("__new__")
class MixedMap(Fields[Map]):
    """Maps from a Set to each of several Sets.

    The same Maps give the same object.

    Args:
        maps: The Maps; None where a field is a Global.

    Raises:
        MapTypeError: An argument is not a Map, or the Maps start on different Sets.

    Example:
        >>> cells, nodes = Set(1), Set(2)
        >>> MixedMap((Map(cells, nodes, 2, [0, 1]), Map(cells, cells, 1, [0]))).arities
        (2, 1)
    """

    kind = "MixedMap"

    def __new__(cls, maps: Iterable[Map | None]) -> MixedMap:
        """Return the MixedMap of the Maps, made if necessary."""
        given: Any = (maps,) if isinstance(maps, Map) else maps
        found = tuple(given) if isinstance(given, Iterable) else (given,)
        real = [map_ for map_ in found if map_ is not None]
        if not real or not all(isinstance(map_, Map) for map_ in real):
            raise MapTypeError(f"MixedMap: expected Maps, got {maps!r}")
        if any(map_.iterset is not real[0].iterset for map_ in real):
            starts = [map_.iterset.name for map_ in real]
            raise MapTypeError(f"MixedMap: all Maps must start on the same Set, got {starts}")
        return cls._of(found, real[0].iterset.datasets)

    def __getitem__(self, index: Any) -> Any:
        """Return a Map; or of PyOP2's older conventions all entries of all: ``op2.i[0]``."""
        if hasattr(index, "of_map"):
            return index.of_map(self)
        return super().__getitem__(index)

    @property
    def _global_kernel_arg(self) -> tuple[Any, ...]:
        """The Maps without values, as PyOP2's programs reach for them; tuple."""
        return tuple(None if field is None else field.kernel_arg for field in self._fields)

    @property
    def _maps(self) -> tuple[Map, ...]:
        """The Maps, as PyOP2's programs reach for them."""
        return self._fields

    @property
    def _real(self) -> tuple[Map, ...]:
        return tuple(map_ for map_ in self if map_ is not None)

    @property
    def iterset(self) -> Set:
        """The common source Set."""
        return self._real[0].iterset

    @property
    def toset(self) -> MixedSet:
        """The target Sets; None for a missing Map."""
        return MixedSet(None if map_ is None else map_.toset for map_ in self)

    @property
    def arity(self) -> int:
        """The arities together."""
        return sum(self.arities)

    @property
    def arities(self) -> tuple[int, ...]:
        """The arity of each Map; tuple of int."""
        return tuple(1 if map_ is None else map_.arity for map_ in self)

    @property
    def arange(self) -> tuple[int, ...]:
        """Begin of each Map's slots, and the end of the last; tuple of int."""
        return (0, *(int(n) for n in np.cumsum(self.arities)))

    @property
    def values(self) -> tuple[Array, ...]:
        """The values of the owned entities, by Map; arrays of shape (iterset.size, arity)."""
        return tuple(map_.values for map_ in self._real)

    @property
    def values_with_halo(self) -> tuple[Array, ...]:
        """The values of all entities, by Map; arrays of shape (iterset.total_size, arity)."""
        return tuple(map_.values_with_halo for map_ in self._real)

    @property
    def offset(self) -> tuple[Array | None, ...]:
        """Distance of the entries of each Map between layers; int32, shape (arity,) each."""
        return tuple(None if map_ is None else map_.offset for map_ in self)

    @property
    def offset_quotient(self) -> tuple[Array | None, ...]:
        """The same for a periodic extrusion."""
        return tuple(None if map_ is None else map_.offset_quotient for map_ in self)

    @property
    def flattened_maps(self) -> tuple[Map, ...]:
        """The Maps behind derived Maps; tuple."""
        return tuple(part for map_ in self._real for part in map_.flattened_maps)
