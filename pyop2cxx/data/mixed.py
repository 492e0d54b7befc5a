# SPDX-License-Identifier: BSD-3-Clause
"""Several Sets, DataSets, Maps or Dats as one: the fields of a mixed problem."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from contextlib import contextmanager
from math import sqrt
from numbers import Number
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from pyop2cxx.base.access import DAT_ACCESSES, Access, checked_access
from pyop2cxx.base.arrays import is_integer
from pyop2cxx.data.args import LegacyMixedDatArg, MixedDatArg
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.ghosts import OlderNames
from pyop2cxx.data.globals import Global
from pyop2cxx.data.petsc_vectors import AsVec, spread
from pyop2cxx.exceptions import (
    ContractError,
    DataSetTypeError,
    DataValueError,
    DatTypeError,
    DimTypeError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    SetTypeError,
    UnsupportedError,
    UsageError,
    user_stacklevel,
)
from pyop2cxx.pyop2._indices import IndexedMap, IterationIndex, indexed
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import DataSet, Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from weakref import WeakValueDictionary

    from typing_extensions import Self

    from pyop2cxx.base.arrays import Array

T = TypeVar("T")

_DATASETS = DataSet | GlobalDataSet


class Fields(Generic[T]):
    """Several objects in an order. Equal if the objects are."""

    _kind = "Fields"
    _uid: int
    _fields: tuple[T, ...]

    @classmethod
    def _of(cls, fields: tuple[T, ...], known: WeakValueDictionary[Any, Any] | None = None) -> Self:
        """Return the object of these fields: the one among those known, or one made now."""
        key = (cls, *map(id, fields))  # the fields live as long as what is known of them
        found: Self | None = None if known is None else known.get(key)
        if found is None:
            found = object.__new__(cls)
            found._uid = runtime.next_uid()
            found._fields = fields
            if known is not None:
                known[key] = found
        return found

    @property
    def split(self) -> tuple[T, ...]:
        """The fields."""
        return self._fields

    @property
    def comm(self) -> Any:
        """The communicator of the first field."""
        return next(field.comm for field in self._fields if field is not None)  # type: ignore[attr-defined]

    @property
    def name(self) -> tuple[str, ...]:
        """What messages call the fields."""
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
                f"{self._kind} has fields 0 to {len(self._fields) - 1}; got index {index!r}"
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
        return f"{self._kind}({self._fields!r})"

    def __str__(self) -> str:
        return f"OP2 {self._kind} composed of {self._kind[5:]}s: {self._fields}"


def _sum(what: str, doc: str) -> Any:
    def total(self: MixedSet) -> int:
        return sum(0 if field is None else getattr(field, what) for field in self.split)

    total.__doc__ = doc
    return property(total)


class MixedSet(Fields[Set]):
    """Several Sets as one. Loops run over each by itself.

    The same Sets give the same object.

    Args:
        sets: The Sets; a MixedSet's are taken over. None stands for a Set without entities.

    Raises:
        SetTypeError: One is not a Set.
        ContractError: Some are extruded and some are not, or with other layers.

    Example:
        >>> both = MixedSet((Set(2, "a"), Set(3, "b")))
        >>> both.size, both.name
        (5, ('a', 'b'))
    """

    _kind = "MixedSet"

    def __new__(cls, sets: Iterable[Set] | MixedSet) -> MixedSet:
        """Return the MixedSet of these Sets, made now if there is none."""
        found = tuple(sets) if isinstance(sets, Iterable) else (sets,)
        real = [one for one in found if one is not None]
        if not real or not all(isinstance(one, Set) for one in real):
            raise SetTypeError(f"MixedSet: expected Sets, got {sets!r}")
        layers = [_layers_of(one) for one in real]
        if any(other != layers[0] for other in layers):
            raise ContractError(f"MixedSet: all Sets must have the same layers, got {layers}")
        return cls._of(found, real[0]._datasets)

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
        """The three sizes, each of all Sets together."""
        return (self.core_size, self.size, self.total_size)

    @property
    def halo(self) -> tuple[Any, ...] | None:
        """How ghosts of each Set are exchanged; None if nowhere."""
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
        """Return the MixedDataSet of this dim: ``both ** 4``, or of one dim a Set."""
        return MixedDataSet(self, dim)


def _layers_of(one: Set) -> object:
    if not hasattr(one, "layers_array"):
        return None
    return one.layers_array.tolist()


class MixedDataSet(Fields[DataSet]):
    """Several DataSets as one.

    The same DataSets give the same object.

    Args:
        arg: A MixedSet, Sets, DataSets and GlobalDataSets, or a single Set.
        dims: For each Set its dim, or one for all; must be None where DataSets are given.

    Raises:
        DataSetTypeError: There is something else than Sets and DataSets.
        DimTypeError: A dim is not an integer or a tuple of integers, or DataSets have theirs.
        UsageError: There are not as many dims as Sets.

    Example:
        >>> MixedDataSet((Set(2), Set(3)), (1, 2)).cdim
        3
    """

    _kind = "MixedDataSet"

    def __new__(
        cls,
        arg: MixedSet | MixedDataSet | Set | Iterable[Set | DataSet | GlobalDataSet],
        dims: int | Iterable[int | tuple[int, ...]] | None = None,
    ) -> MixedDataSet:
        """Return the MixedDataSet of these DataSets, made now if there is none."""
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
        return cls._of(found, found[0].set._datasets)

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
        """How many values there are on one entity of each Set, together."""
        return sum(field.cdim for field in self)

    def __contains__(self, dat: object) -> bool:
        """Say whether a MixedDat lives on this MixedDataSet."""
        return bool(getattr(dat, "dataset", None) == self)

    def __getattr__(self, name: str) -> Any:
        """Ask the MixedSet for what this has not: its sizes."""
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


class MixedMap(Fields[Map]):
    """Maps from one Set to each Set of several.

    The same Maps give the same object.

    Args:
        maps: The Maps; None where a field is a Global.

    Raises:
        MapTypeError: One is not a Map, or they start on different Sets.

    Example:
        >>> cells, nodes = Set(1), Set(2)
        >>> MixedMap((Map(cells, nodes, 2, [0, 1]), Map(cells, cells, 1, [0]))).arities
        (2, 1)
    """

    _kind = "MixedMap"

    def __new__(cls, maps: Iterable[Map | None]) -> MixedMap:
        """Return the MixedMap of these Maps, made now if there is none."""
        given: Any = (maps,) if isinstance(maps, Map) else maps
        found = tuple(given) if isinstance(given, Iterable) else (given,)
        real = [map_ for map_ in found if map_ is not None]
        if not real or not all(isinstance(map_, Map) for map_ in real):
            raise MapTypeError(f"MixedMap: expected Maps, got {maps!r}")
        if any(map_.iterset is not real[0].iterset for map_ in real):
            starts = [map_.iterset.name for map_ in real]
            raise MapTypeError(f"MixedMap: all Maps must start on the same Set, got {starts}")
        return cls._of(found, real[0].iterset._datasets)

    def __getitem__(self, index: Any) -> Any:
        """Return a Map; or of PyOP2's older conventions all entries of all: ``op2.i[0]``."""
        if isinstance(index, IterationIndex):
            return indexed(self, index)
        return super().__getitem__(index)

    @property
    def _maps(self) -> tuple[Map, ...]:
        """The Maps, as PyOP2's programs reach for them."""
        return self._fields

    @property
    def _real(self) -> tuple[Map, ...]:
        return tuple(map_ for map_ in self if map_ is not None)

    @property
    def iterset(self) -> Set:
        """The Set that all start on."""
        return self._real[0].iterset

    @property
    def toset(self) -> MixedSet:
        """The Sets that they lead to; None where there is no Map."""
        return MixedSet(None if map_ is None else map_.toset for map_ in self)

    @property
    def arity(self) -> int:
        """The arities together."""
        return sum(self.arities)

    @property
    def arities(self) -> tuple[int, ...]:
        """The arity of each Map."""
        return tuple(1 if map_ is None else map_.arity for map_ in self)

    @property
    def arange(self) -> tuple[int, ...]:
        """Where each Map's slots begin, and where the last one's end."""
        return (0, *(int(n) for n in np.cumsum(self.arities)))

    @property
    def values(self) -> tuple[Array, ...]:
        """The values of the owned entities, by Map."""
        return tuple(map_.values for map_ in self._real)

    @property
    def values_with_halo(self) -> tuple[Array, ...]:
        """The values of all entities, by Map."""
        return tuple(map_.values_with_halo for map_ in self._real)

    @property
    def offset(self) -> tuple[Array | None, ...]:
        """How far the entries of each Map move from a layer to the next."""
        return tuple(None if map_ is None else map_.offset for map_ in self)

    @property
    def offset_quotient(self) -> tuple[Array | None, ...]:
        """The same where the extrusion is periodic."""
        return tuple(None if map_ is None else map_.offset_quotient for map_ in self)

    @property
    def flattened_maps(self) -> tuple[Map, ...]:
        """The Maps that these are made of."""
        return tuple(part for map_ in self._real for part in map_.flattened_maps)


def _fits_by_size(dat: Any, map_: Any) -> bool:
    """Warn of a Map that leads to another Set than a field's, but to as many entities.

    PyOP2 does not look at the Sets of a MixedMap, so programs that get by with this exist.
    """
    if not isinstance(map_, Map) or isinstance(dat, Global) or map_.toset is dat.dataset.set:
        return False
    if not map_.toset.is_sized or map_.toset.sizes != dat.dataset.set.sizes:
        return False
    warnings.warn(
        f"MixedDat: Map '{map_.name}' leads to Set '{map_.toset.name}', but {dat._what} lives on "
        "another Set of the same size; pass a Map to that one",
        stacklevel=user_stacklevel() - 1,
    )
    return True


def _of_fields(member: str, doc: str) -> Any:
    def values(self: MixedDat) -> tuple[Array, ...]:
        return tuple(getattr(dat, member) for dat in self.split)

    values.__doc__ = doc
    return property(values)


class MixedDat(Fields[Dat], AsVec, OlderNames):
    """Several Dats as one. Kernels get their fields end to end, in one array.

    A field may also be a Global, for loops that READ, INC, MIN or MAX it; its Map is None.

    Args:
        arg: A MixedDataSet, or what one is made of, for Dats of zeros; or the Dats.

    Raises:
        DataSetTypeError: There is something else.
        DataValueError: The Dats are of different dtypes.

    Example:
        >>> from pyop2cxx import op2
        >>> both = MixedDat((op2.Dat(op2.Set(2)), op2.Dat(op2.Set(3))))
        >>> [len(values) for values in both.data_ro]
        [2, 3]
    """

    _kind = "MixedDat"
    _frozen: Access | None = None
    _together: Array | None = None

    def __init__(
        self, arg: MixedDataSet | MixedSet | MixedDat | Iterable[Any], dtype: Any = None
    ) -> None:
        if isinstance(arg, str) or not isinstance(arg, Iterable):
            raise DataSetTypeError(f"MixedDat: expected a MixedDataSet or Dats, got {arg!r}")
        if isinstance(arg, MixedDat):
            dats = tuple(type(dat)(dat) for dat in arg)
        else:
            dats = tuple(_as_dat(field, dtype) for field in arg)
        if not dats or any(dat.dtype != dats[0].dtype for dat in dats):
            raise DataValueError(
                f"MixedDat: all Dats must have the same dtype, got {[str(d.dtype) for d in dats]}"
            )
        self._uid = runtime.next_uid()
        self._fields = dats

    def __call__(
        self,
        access: Access,
        path: MixedMap | IndexedMap | Iterable[Map] | None = None,
        flatten: bool = False,
    ) -> MixedDatArg:
        """Return this MixedDat as an argument of a loop.

        Args:
            access: How the kernel uses it.
            path: Maps from the iteration Set to the Sets of the fields.
            flatten: Of PyOP2's older conventions: order the values of each field by component
                first.

        Raises:
            ModeValueError: There is no such access, or not for complex values.
            MapTypeError: The path is not a MixedMap.
            MapValueError: A Map leads to another Set, or there are not as many as fields.
        """
        what = f"MixedDat {self.name}"
        mode = checked_access(access, DAT_ACCESSES, self.dtype.kind == "c", what)
        whole, index = (path.map_, path.index) if isinstance(path, IndexedMap) else (path, None)
        maps = whole if whole is None or isinstance(whole, MixedMap) else MixedMap(whole)
        if maps is not None:
            if len(maps) != len(self):
                raise MapValueError(
                    f"{what} has {len(self)} fields, but there are {len(maps)} Maps"
                )
            for dat, map_ in zip(self, maps, strict=True):
                if map_ is None and not isinstance(dat, Global):
                    raise MapValueError(f"{what}: only a Global has no Map, but {dat._what} is one")
                if not _fits_by_size(dat, map_):
                    dat(mode, map_)
        if flatten or index is not None:
            return LegacyMixedDatArg(self, maps, mode, index, bool(flatten))
        return MixedDatArg(self, maps, mode)

    data = _of_fields("data", "The values of the owned entities, writeable, by field.")
    data_ro = _of_fields("data_ro", "The values of the owned entities, read-only, by field.")
    data_wo = _of_fields("data_wo", "The values of the owned entities, to be overwritten.")
    data_with_halos = _of_fields("data_with_halos", "The values of all entities, by field.")
    data_ro_with_halos = _of_fields("data_ro_with_halos", "The same, read-only.")
    data_wo_with_halos = _of_fields("data_wo_with_halos", "The same, to be overwritten.")
    shape = _of_fields("shape", "The shapes of all values, by field.")
    dim = _of_fields("dim", "The shapes of the values on each entity, by field.")

    @property
    def cdim(self) -> int:
        """How many values there are on one entity of each field's Set, together."""
        return sum(dat.cdim for dat in self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        return self[0].dtype

    @property
    def ctype(self) -> str:
        """The C type of a value."""
        return self[0].ctype

    @property
    def dataset(self) -> MixedDataSet:
        """The DataSets that the fields live on."""
        return MixedDataSet(dat.dataset for dat in self)

    @property
    def nbytes(self) -> int:
        """The bytes of all values."""
        return sum(dat.nbytes for dat in self)

    @property
    def dat_version(self) -> int:
        """The versions of the fields together."""
        return sum(dat.dat_version for dat in self)

    def increment_dat_version(self) -> None:
        """Say that the values were changed by other means."""
        for dat in self:
            dat.increment_dat_version()

    @property
    def soa(self) -> tuple[bool, ...]:
        """Whether the layout of each field on a device is "soa"."""
        return tuple(isinstance(dat, Dat) and dat.soa for dat in self)

    @property
    def halo_valid(self) -> bool:
        """Whether the ghosts of all fields are up to date."""
        return all(dat.halo_valid for dat in self)

    @halo_valid.setter
    def halo_valid(self, valid: bool) -> None:
        for dat in self:
            if isinstance(dat, Dat):
                dat.halo_valid = valid

    def global_to_local_begin(self, access_mode: Access) -> None:
        """Begin to make the ghosts of all fields ready for a loop; see `Dat`."""
        for dat in self:
            dat.global_to_local_begin(access_mode)

    def global_to_local_end(self, access_mode: Access) -> None:
        """End what `global_to_local_begin` began."""
        for dat in self:
            dat.global_to_local_end(access_mode)

    def local_to_global_begin(self, insert_mode: Access) -> None:
        """Begin to give the owners what the ghosts of all fields gathered; see `Dat`."""
        for dat in self:
            dat.local_to_global_begin(insert_mode)

    def local_to_global_end(self, insert_mode: Access) -> None:
        """End what `local_to_global_begin` began."""
        for dat in self:
            dat.local_to_global_end(insert_mode)

    @contextmanager
    def frozen_halo(self, access_mode: Access) -> Iterator[None]:
        """Promise that all loops of a `with` block use this MixedDat with one access."""
        self.freeze_halo(access_mode)
        try:
            yield
        finally:
            self.unfreeze_halo()

    def freeze_halo(self, access_mode: Access) -> None:
        """Promise that loops use this MixedDat with one access until `unfreeze_halo`.

        Raises:
            HaloFrozenError: That was promised of one of the fields already; none is frozen then.
        """
        for dat in self:
            dat._refuse_frozen()
        for dat in self:
            dat.freeze_halo(access_mode)

    def unfreeze_halo(self) -> None:
        """End what `freeze_halo` began."""
        for dat in self:
            dat.unfreeze_halo()

    def _gathered(self, *, read: bool) -> Array:
        """Return an array for the owned values of all fields, with them in it if they are read."""
        n_values = sum(dat.data_ro.size for dat in self)
        if self._together is None or self._together.size != n_values:
            self._together = np.zeros(n_values, self.dtype)
        if read:
            np.concatenate([dat.data_ro.reshape(-1) for dat in self], out=self._together)
        return self._together

    def _scatter(self) -> None:
        """Copy what `_gathered` returned to the fields."""
        assert self._together is not None  # it was gathered
        spread(self._together, (dat.data_wo for dat in self))

    def zero(self, subset: Set | None = None) -> None:
        """Set all values to zero.

        Raises:
            UnsupportedError: A subset was given: the fields are on different Sets.
        """
        if subset is not None:
            raise UnsupportedError("MixedDat.zero takes no subset: zero the fields one by one")
        for dat in self:
            dat.zero()

    def copy(self, other: MixedDat, subset: Set | None = None) -> None:
        """Copy the values into another MixedDat on the same DataSets.

        Raises:
            UnsupportedError: A subset was given: the fields are on different Sets.
            DatTypeError: The other is not a MixedDat.
        """
        if subset is not None:
            raise UnsupportedError("MixedDat.copy takes no subset: copy the fields one by one")
        _check_like(self, other)
        for dat, target in zip(self, other, strict=True):
            dat.copy(target)

    # As a vector: field by field

    def _each(self, operation: Callable[[Any, Any], Any], other: Any) -> Any:
        if isinstance(other, MixedDat):
            _check_like(self, other)
            others: tuple[Any, ...] = other.split
        elif isinstance(other, Number):
            others = (other,) * len(self)
        else:
            return NotImplemented
        return MixedDat([operation(a, b) for a, b in zip(self, others, strict=True)])

    def _update(self, operation: Callable[[Any, Any], Any], other: Any) -> Any:
        done = self._each(operation, other)
        return done if done is NotImplemented else self

    def __add__(self, other: Any) -> MixedDat:
        return self._each(operator.add, other)  # type: ignore[no-any-return]

    __radd__ = __add__

    def __iadd__(self, other: Any) -> Self:
        return self._update(operator.iadd, other)  # type: ignore[no-any-return]

    def __sub__(self, other: Any) -> MixedDat:
        return self._each(operator.sub, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: Any) -> MixedDat:
        return self._each(lambda a, b: b - a, other)  # type: ignore[no-any-return]

    def __isub__(self, other: Any) -> Self:
        return self._update(operator.isub, other)  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> MixedDat:
        return self._each(operator.mul, other)  # type: ignore[no-any-return]

    __rmul__ = __mul__

    def __imul__(self, other: Any) -> Self:
        return self._update(operator.imul, other)  # type: ignore[no-any-return]

    def __truediv__(self, other: Any) -> MixedDat:
        return self._each(operator.truediv, other)  # type: ignore[no-any-return]

    def __rtruediv__(self, other: Any) -> MixedDat:
        return self._each(lambda a, b: b / a, other)  # type: ignore[no-any-return]

    def __itruediv__(self, other: Any) -> Self:
        return self._update(operator.itruediv, other)  # type: ignore[no-any-return]

    def __neg__(self) -> MixedDat:
        return MixedDat([-dat for dat in self])

    def __pos__(self) -> MixedDat:
        return MixedDat([+dat for dat in self])

    def inner(self, other: MixedDat) -> Any:
        """Return the sum of the fields' inner products; see `Dat.inner`."""
        _check_like(self, other)
        return sum(a.inner(b) for a, b in zip(self, other, strict=True))

    @property
    def norm(self) -> float:
        """The square root of the sum of squares of all fields."""
        return sqrt(complex(self.inner(self)).real)

    def axpy(self, alpha: Any, other: MixedDat) -> None:
        """Add a multiple of another MixedDat; see `Dat.axpy`."""
        _check_like(self, other)
        for a, b in zip(self, other, strict=True):
            a.axpy(alpha, b)

    def maxpy(self, alphas: Sequence[Any], others: Sequence[MixedDat]) -> None:
        """Add multiples of several other MixedDats; see `Dat.maxpy`."""
        if len(alphas) != len(others):
            raise DataValueError(
                f"MixedDat {self.name}: maxpy got {len(alphas)} numbers, but {len(others)} others"
            )
        for other in others:
            _check_like(self, other)
        for alpha, other in zip(alphas, others, strict=True):
            self.axpy(alpha, other)

    def save(self, filename: str) -> None:
        """Write each field to a file of its own: the name, the field's number, .npy."""
        for i, dat in enumerate(self):
            dat.save(f"{filename}_{i}")

    def load(self, filename: str) -> None:
        """Read each field from the file that `save` wrote."""
        for i, dat in enumerate(self):
            dat.load(f"{filename}_{i}")

    def __eq__(self, other: object) -> bool:
        """Compare the values, as PyOP2 does; with something else than a MixedDat: unequal."""
        if not isinstance(other, MixedDat):
            return NotImplemented
        return self is other or (
            len(self) == len(other)
            and all(
                a is b or (a.dataset == b.dataset and np.array_equal(a.data_ro, b.data_ro))
                for a, b in zip(self, other, strict=True)
            )
        )

    __hash__ = object.__hash__


def _as_dat(field: object, dtype: Any) -> Any:
    if isinstance(field, Dat | Global):
        return field
    if isinstance(field, Set | DataSet):
        return Dat(field, dtype=dtype)
    if isinstance(field, GlobalDataSet):
        return Global(field.dim, dtype=dtype)
    raise DataSetTypeError(
        f"MixedDat: expected DataSets or Dats, got {field!r} of type {type(field).__name__}"
    )


def _check_like(dat: MixedDat, other: object) -> None:
    if not isinstance(other, MixedDat):
        raise DatTypeError(
            f"MixedDat {dat.name}: expected another MixedDat, got {other!r} of type "
            f"{type(other).__name__}"
        )
    if len(dat) != len(other):
        raise DataValueError(f"MixedDat {dat.name} has {len(dat)} fields, the other {len(other)}")
