# SPDX-License-Identifier: BSD-3-Clause
"""Several Dats as a single object: the fields of a mixed problem."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import DAT_ACCESSES, Access, checked_access
from pyop2cxx.base.arrays import spread
from pyop2cxx.base.conversions import check_casting
from pyop2cxx.data.algebra import number_of
from pyop2cxx.data.carrier import Argument, OlderForm, older_form
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.ghosts import OlderNames
from pyop2cxx.data.globals import Global
from pyop2cxx.data.petsc_vectors import AsVec
from pyop2cxx.exceptions import (
    DataSetTypeError,
    DataValueError,
    DatTypeError,
    MapValueError,
    UnsupportedError,
    user_stacklevel,
)
from pyop2cxx.interop.petsc import free
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.maps import Map, unindexed
from pyop2cxx.sets.mixed_sets import Fields, MixedDataSet, MixedMap, MixedSet
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.constants import GlobalArg


def _fits_by_size(dat: Any, map_: Any) -> bool:
    """Warn of a Map that leads to another Set than a field's, with equal size.

    PyOP2 does not check the Sets of a MixedMap, so programs rely on the leniency.
    """
    if not isinstance(map_, Map) or isinstance(dat, Global) or map_.toset is dat.dataset.set:
        return False
    if not map_.toset.is_sized or map_.toset.sizes != dat.dataset.set.sizes:
        return False
    warnings.warn(
        f"MixedDat: Map '{map_.name}' leads to Set '{map_.toset.name}', but {dat.label} lives on "
        "another Set of the same size; pass a Map to that one",
        stacklevel=user_stacklevel() - 1,
    )
    return True


def _of_fields(member: str, doc: str) -> Any:
    def values(self: MixedDat) -> tuple[Array, ...]:
        return tuple(getattr(dat, member) for dat in self.split)

    values.__doc__ = doc
    return property(values)


def _on_fields(member: str, doc: str) -> Any:
    def call(self: MixedDat, *args: Any) -> None:
        for dat in self:
            getattr(dat, member)(*args)

    call.__doc__, call.__name__ = doc, member
    return call


def _by_fields(operation: Callable[[Any, Any], Any]) -> Any:
    def combined(self: MixedDat, other: Any) -> MixedDat:
        found: MixedDat = self.each_field(operation, other)
        return found

    return combined


def _in_fields(operation: Callable[[Any, Any], Any]) -> Any:
    def updated(self: MixedDat, other: Any) -> MixedDat:
        done = self._changed(lambda fields: fields.each_field(operation, other))
        return done if done is NotImplemented else self

    return updated


@ends_tracebacks("__init__")
class MixedDat(Fields[Dat], AsVec, OlderNames):
    """Several Dats as a single object. Kernels get the fields concatenated in an array.

    A field may also be a Global, for loops with READ, INC, MIN or MAX; the Map is then None.

    Args:
        arg: A MixedDataSet, or the argument of its constructor, for Dats of zeros; or the Dats.

    Raises:
        DataSetTypeError: There is something else.
        DataValueError: The Dats are of different dtypes, or seen by kernels as different ones.

    Example:
        >>> from pyop2cxx import op2
        >>> both = MixedDat((op2.Dat(op2.Set(2)), op2.Dat(op2.Set(3))))
        >>> [len(values) for values in both.data_ro]
        [2, 3]
    """

    kind = "MixedDat"
    frozen: Access | None = None
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
        if any(dat.compute != dats[0].compute for dat in dats):
            raise DataValueError(
                "MixedDat: kernels get the fields in one array, so all Dats must have the same "
                f"compute, got {[str(d.compute) for d in dats]}"
            )
        self.uid = runtime.next_uid()
        self._fields = dats

    def __call__(
        self,
        access: Access,
        path: MixedMap | Any | Iterable[Map] | None = None,
        flatten: bool = False,
    ) -> MixedDatArg:
        """Return the MixedDat as an argument of a loop.

        Args:
            access: The access of the kernel.
            path: Maps from the iteration Set to the Sets of the fields.
            flatten: Of PyOP2's older conventions: order the values of each field by component
                first.

        Raises:
            ModeValueError: The access does not exist, or not for complex values.
            MapTypeError: The path is not a MixedMap.
            MapValueError: A Map leads to another Set, or there are not as many as fields.
        """
        what = f"MixedDat {self.name}"
        mode = checked_access(access, DAT_ACCESSES, self.dtype.kind == "c", what)
        whole, index = unindexed(path)
        maps = whole if whole is None or isinstance(whole, MixedMap) else MixedMap(whole)
        if maps is not None:
            if len(maps) != len(self):
                raise MapValueError(
                    f"{what} has {len(self)} fields, but there are {len(maps)} Maps"
                )
            for dat, map_ in zip(self, maps, strict=True):
                if map_ is None and not isinstance(dat, Global):
                    raise MapValueError(f"{what}: only a Global has no Map, but {dat.label} is one")
                if not _fits_by_size(dat, map_):
                    dat(mode, map_)
        return MixedDatArg(self, maps, mode, older_form(index, flatten))

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
        """The number of values on an entity of each field's Set, summed."""
        return sum(dat.cdim for dat in self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        return self[0].dtype

    @property
    def compute(self) -> np.dtype[Any]:
        """The dtype that kernels see."""
        return self[0].compute

    @property
    def ctype(self) -> str:
        """The C type of a value."""
        return self[0].ctype

    @property
    def dataset(self) -> MixedDataSet:
        """The DataSets of the fields."""
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
        """Note a change of the values by other means."""
        for dat in self:
            dat.increment_dat_version()

    @property
    def soa(self) -> tuple[bool, ...]:
        """Whether the layout of each field on a device is "soa"; tuple of bool."""
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

    global_to_local_begin = _on_fields(
        "global_to_local_begin",
        "Begin to make the ghosts of all fields ready for a loop; see `Dat`.",
    )
    global_to_local_end = _on_fields(
        "global_to_local_end", "End what `global_to_local_begin` began."
    )
    local_to_global_begin = _on_fields(
        "local_to_global_begin", "Begin to give the owners what all ghosts gathered; see `Dat`."
    )
    local_to_global_end = _on_fields(
        "local_to_global_end", "End what `local_to_global_begin` began."
    )
    unfreeze_halo = _on_fields("unfreeze_halo", "End what `freeze_halo` began.")

    @contextmanager
    def frozen_halo(self, access_mode: Access) -> Iterator[None]:
        """Promise a single access to the MixedDat for all loops of a `with` block."""
        self.freeze_halo(access_mode)
        try:
            yield
        finally:
            self.unfreeze_halo()

    def freeze_halo(self, access_mode: Access) -> None:
        """Promise a single access to the MixedDat for all loops until `unfreeze_halo`.

        Raises:
            HaloFrozenError: The halo of a field is frozen already; no field is frozen then.
        """
        for dat in self:
            dat.refuse_frozen()
        for dat in self:
            dat.freeze_halo(access_mode)

    def gathered(self, *, read: bool) -> Array:
        """Return an array for the values of PETSc's vector, filled with them for reading."""
        n_values = sum(free(dat, dat.data_ro).size for dat in self)
        if self._together is None or self._together.size != n_values:
            self._together = np.zeros(n_values, self.dtype)
        if read:
            shown = [free(dat, dat.data_ro).reshape(-1) for dat in self]
            np.concatenate(shown, out=self._together)
        return self._together

    def scatter(self) -> None:
        """Copy the array of `gathered` to the fields."""
        assert self._together is not None  # gathered before
        spread(self._together, (free(dat, dat.data_wo) for dat in self))

    def zero(self, subset: Set | None = None) -> None:
        """Set all values to zero.

        Raises:
            UnsupportedError: A subset was given: the fields are on different Sets.
        """
        if subset is not None:
            raise UnsupportedError("MixedDat.zero takes no subset: zero the fields one by one")
        for dat in self:
            dat.zero()

    def copy(self, other: MixedDat, subset: Set | None = None, *, casting: str = "fitting") -> None:
        """Copy the values into another MixedDat on the same DataSets.

        Raises:
            UnsupportedError: A subset was given: the fields are on different Sets.
            DatTypeError: The other is not a MixedDat.
            DataValueError: A value does not fit, see `Dat.copy`.
        """
        if subset is not None:
            raise UnsupportedError("MixedDat.copy takes no subset: copy the fields one by one")
        _check_like(self, other)
        check_casting(casting, f"MixedDat {self.name}: copy")
        pairs = tuple(zip(self, other, strict=True))
        for dat, target in pairs if casting != "unsafe" else ():
            dat.check_fits(target, None, casting=casting)
        for dat, target in pairs:
            dat.copy(target, casting="unsafe")  # or checked by now

    # As a vector: field by field

    __array_ufunc__ = None  # NumPy must leave `array_scalar * mixed` to us

    def _changed(self, change: Callable[[MixedDat], Any]) -> Any:
        """Change all fields or none: results not representable by integers are refused."""
        if self.dtype.kind not in "iub":
            return change(self)
        copied = MixedDat(self)
        done = change(copied)
        if done is not NotImplemented:
            copied.copy(self, casting="unsafe")
        return done

    def each_field(self, operation: Callable[[Any, Any], Any], other: Any) -> Any:
        """Return the fields after an operation with another object, or its fields."""
        if isinstance(other, MixedDat):
            _check_like(self, other)
            others: tuple[Any, ...] = other.split
        elif number_of(other, f"MixedDat {self.name}") is not None:
            others = (other,) * len(self)
        else:
            return NotImplemented
        return MixedDat([operation(a, b) for a, b in zip(self, others, strict=True)])

    __add__ = __radd__ = _by_fields(operator.add)
    __sub__ = _by_fields(operator.sub)
    __rsub__ = _by_fields(lambda a, b: b - a)
    __mul__ = __rmul__ = _by_fields(operator.mul)
    __truediv__ = _by_fields(operator.truediv)
    __rtruediv__ = _by_fields(lambda a, b: b / a)
    __iadd__ = _in_fields(operator.iadd)
    __isub__ = _in_fields(operator.isub)
    __imul__ = _in_fields(operator.imul)
    __itruediv__ = _in_fields(operator.itruediv)

    def __pow__(self, exponent: Any) -> MixedDat:
        """Return every value raised to a power; see `Dat`."""
        return MixedDat([dat**exponent for dat in self])

    def __ipow__(self, exponent: Any) -> MixedDat:
        (self**exponent).copy(self)
        return self

    def __abs__(self) -> MixedDat:
        return MixedDat([abs(dat) for dat in self])

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
        self.maxpy([alpha], [other])

    def maxpy(self, alphas: Sequence[Any], others: Sequence[MixedDat]) -> None:
        """Add multiples of several other MixedDats; see `Dat.maxpy`."""
        if len(alphas) != len(others):
            raise DataValueError(
                f"MixedDat {self.name}: maxpy got {len(alphas)} numbers, but {len(others)} others"
            )
        for other in others:
            _check_like(self, other)

        def change(fields: MixedDat) -> None:
            for alpha, other in zip(alphas, others, strict=True):
                for a, b in zip(fields, other, strict=True):
                    a.axpy(alpha, b)

        self._changed(change)

    def save(self, filename: str) -> None:
        """Write each field to a separate file: the name, the field's index, .npy."""
        for i, dat in enumerate(self):
            dat.save(f"{filename}_{i}")

    def load(self, filename: str) -> None:
        """Read each field from the file written by `save`."""
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


@dataclass(slots=True)
class MixedDatArg(Argument):
    """A MixedDat as an argument of a loop: the kernel gets the fields concatenated.

    Attributes:
        data: The MixedDat.
        map_: The MixedMap; None means direct.
        access: The access of the kernel.
        form: As of `Argument`.
    """

    data: MixedDat
    map_: MixedMap | None
    access: Access
    form: OlderForm | None = None

    @property
    def parts(self) -> tuple[DatArg | GlobalArg, ...]:
        """The fields as arguments of their own, in order."""
        maps = [None] * len(self.data) if self.map_ is None else self.map_.split
        fields = zip(self.data.split, maps, strict=True)
        return tuple(
            DatArg(field, map_, self.access) if isinstance(field, Dat) else field(self.access)
            for field, map_ in fields
        )
