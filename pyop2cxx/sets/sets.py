# SPDX-License-Identifier: BSD-3-Clause
"""Sets of mesh entities, and DataSets: a Set with the shape of the values on each entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from pyop2cxx.base.arrays import MOST_INT64, as_dim, as_name, is_integer
from pyop2cxx.exceptions import (
    ContractError,
    DataTypeError,
    SetTypeError,
    SizeTypeError,
    StaticModeError,
)
from pyop2cxx.runtime import communicators, runtime
from pyop2cxx.sets import from_hdf5

if TYPE_CHECKING:
    from pyop2cxx.sets.maps import Map

_N_OLDER_SIZES = 4


@dataclass(frozen=True, slots=True)
class SetPartition:
    """A range of a Set's entities.

    Attributes:
        set: The Set.
        offset: The first entity.
        size: How many there are.
    """

    set: Set
    offset: int
    size: int


class Set:
    """A set of mesh entities, such as cells or edges. Equal only to itself.

    Under MPI the entities of a process come in this order: core (owned, and their loops need
    nothing of other processes), owned but not core, ghost (owned elsewhere).

    Args:
        size: The number of entities, or three growing numbers: (core, core and owned, all). May
            be None under ``init(static=True)``. PyOP2's four of 2016 are taken where they say that
            no ghosts are computed: (core, owned, owned, all).
        name: What messages call it; it never enters generated text.
        halo: How ghosts are exchanged.
        comm: The communicator; None means this process alone. So far it must be of one process.
        constrained_size: How many of the owned entities are constrained.

    Raises:
        SizeTypeError: The size is not one integer or three.
        ContractError: The three sizes do not grow.
        NameTypeError: The name is not a string.

    Example:
        >>> cells = Set(4, "cells")
        >>> cells
        Set((4, 4, 4), 'cells')
        >>> (cells ** 2).dim
        (2,)
    """

    def __init__(
        self,
        size: int | Iterable[int] | None = None,
        name: str | None = None,
        halo: Any = None,
        comm: Any = None,
        constrained_size: int = 0,
    ) -> None:
        self._uid = runtime.next_uid()
        self._name = as_name(name, "Set", f"set_#x{self._uid:x}")
        self._sizes = _as_sizes(size, self._name)
        self._halo = halo
        self._comm = communicators.checked_comm(comm, f"Set '{self._name}'")
        self._constrained_size = constrained_size
        self._partition_size = 1024
        self._datasets: WeakValueDictionary[tuple[Any, ...], DataSet] = WeakValueDictionary()
        self._flat_sets: dict[int, Set] = {}  # of scalars, for algebra on devices
        self._column_map: Map | None = None  # once a loop over columns has needed it

    @classmethod
    def fromhdf5(cls, f: Any, name: str) -> Set:
        """Return a Set whose size an HDF5 file holds.

        Args:
            f: A file or group of h5py's, open.
            name: A dataset of one integer, shape (1,); also the name of the Set.

        Raises:
            DataValueError: There is no such dataset.
            SizeTypeError: It is not one number.

        Example:
            >>> Set.fromhdf5({"cells": np.array([4])}, "cells").size
            4
        """
        return cls(from_hdf5.size_of(f, name), name)

    @property
    def is_sized(self) -> bool:
        """Whether the size is known, as it always is unless ``init(static=True)``."""
        return self._sizes is not None

    def _known(self, member: str) -> tuple[int, int, int]:
        if self._sizes is None:
            raise StaticModeError(
                f"Set '{self._name}': '{member}' is unknown, for the Set was made without a size "
                "under init(static=True); give it a size, or do not ask"
            )
        return self._sizes

    @property
    def core_size(self) -> int:
        """Entities whose loops need nothing of other processes."""
        return self._known("core_size")[0]

    @property
    def size(self) -> int:
        """Entities that this process owns."""
        return self._known("size")[1]

    @property
    def total_size(self) -> int:
        """Entities that this process owns or sees as ghosts."""
        return self._known("total_size")[2]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The three sizes: core, owned, all."""
        return self._known("sizes")

    @property
    def constrained_size(self) -> int:
        """How many of the owned entities are constrained."""
        return self._constrained_size

    @property
    def indices(self) -> range:
        """The entities, ghosts too."""
        return range(self._known("indices")[2])

    @property
    def core_part(self) -> SetPartition:
        """The core entities."""
        return SetPartition(self, 0, self._known("core_part")[0])

    @property
    def owned_part(self) -> SetPartition:
        """The entities that are owned but not core."""
        core, owned, _ = self._known("owned_part")
        return SetPartition(self, core, owned - core)

    @property
    def exec_size(self) -> int:
        """Entities that loops visit: those owned. In 2016 PyOP2 computed some ghosts, too."""
        return self._known("exec_size")[1]

    @property
    def exec_part(self) -> SetPartition:
        """Ghosts that loops visit: none."""
        return SetPartition(self, self._known("exec_part")[1], 0)

    @property
    def all_part(self) -> SetPartition:
        """All entities."""
        return SetPartition(self, 0, self._known("all_part")[2])

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @property
    def halo(self) -> Any:
        """How ghosts are exchanged; None without MPI."""
        return self._halo

    @property
    def comm(self) -> Any:
        """The communicator: of one process, so far."""
        return communicators.COMM_WORLD if self._comm is None else self._comm

    @property
    def layers(self) -> int | None:
        """None: only extruded Sets have layers."""
        return None

    def __call__(self, *indices: Any) -> Set:
        """Return the Subset of these entities: ``cells(0, 3)`` or ``cells([0, 3])``."""
        from pyop2cxx.sets.subsets import Subset  # a Subset is a Set

        return Subset(self, indices[0] if len(indices) == 1 and np.ndim(indices[0]) else indices)

    def intersection(self, other: Set) -> Set:
        """Return the entities in both: this Set and a part of it.

        Raises:
            SetTypeError: The other is no Set, or a part of another one.
            SetValueError: Both are whole Sets, but not the same.
        """
        return self._combine("intersection", other)

    def union(self, other: Set) -> Set:
        """Return the entities in any of both; errors as for `intersection`."""
        return self._combine("union", other)

    def difference(self, other: Set) -> Set:
        """Return the entities of this one that the other lacks; errors as for `intersection`."""
        return self._combine("difference", other)

    def symmetric_difference(self, other: Set) -> Set:
        """Return the entities in just one of both; errors as for `intersection`."""
        return self._combine("symmetric_difference", other)

    def _combine(self, operation: str, other: Set) -> Set:
        from pyop2cxx.sets import subsets  # a Subset is a Set

        combined: Set = getattr(subsets, operation)(self, other)
        return combined

    @property
    def partition_size(self) -> int:
        """PyOP2's block size. Kept for its programs; here the plan chooses."""
        return self._partition_size

    @partition_size.setter
    def partition_size(self, size: int) -> None:
        self._partition_size = size

    def __pow__(self, dim: int | Iterable[int]) -> DataSet:
        """Return the DataSet of this dim: ``cells ** 4``."""
        return DataSet(self, dim)

    def __contains__(self, dataset: object) -> bool:
        """Say whether a DataSet lives on this Set."""
        return getattr(dataset, "set", None) is self

    def __iter__(self) -> Iterator[Set]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Set:
        _check_first(index, f"Set '{self._name}'")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        place = (self._halo, self._comm, self._constrained_size)
        return (type(self), (self._sizes, self._name, *place))

    def __str__(self) -> str:
        size = None if self._sizes is None else self._sizes[1]
        return f"OP2 Set: {self._name} with size {size}"

    def __repr__(self) -> str:
        return f"Set({self._sizes!r}, {self._name!r})"


def LocalSet(set: Set) -> Set:
    """Return the Set itself: in 2016 a Set whose loops visit only owned entities, as all do here.

    Raises:
        SetTypeError: It is not a Set.

    Example:
        >>> cells = Set(4)
        >>> LocalSet(cells) is cells
        True
    """
    if not isinstance(set, Set):
        raise SetTypeError(f"LocalSet: expected a Set, got {set!r} of type {type(set).__name__}")
    return set


class DataSet:
    """A Set with the shape of the values on each entity.

    The same arguments give the same object, so that the Dats made of them can be told to match.
    DataSets that differ in the name only are two objects, but equal.

    Args:
        iter_set: The Set.
        dim: The number of values on each entity, or their shape.
        name: What messages call it.
        apply_local_global_filter: Part of PyOP2's interface to PETSc: whether local-to-global
            numberings leave constrained entities out.

    Raises:
        SetTypeError: The first argument is not a Set.
        DimTypeError: The dim is not an integer or a tuple of integers.
        NameTypeError: The name is not a string.
        DataTypeError: The filter is not a truth value.

    Example:
        >>> cells = Set(4, "cells")
        >>> DataSet(cells, (2, 3)).cdim
        6
        >>> DataSet(cells, 2) is cells ** 2
        True
    """

    _uid: int
    _set: Set
    _dim: tuple[int, ...]
    _cdim: int
    _name: str
    _apply_local_global_filter: bool

    def __new__(
        cls,
        iter_set: Set,
        dim: int | Iterable[int] = 1,
        name: str | None = None,
        apply_local_global_filter: bool = False,
    ) -> DataSet:
        """Return the DataSet of these arguments, made now if there is none."""
        if not isinstance(iter_set, Set):
            raise SetTypeError(
                f"DataSet: expected a Set, got {iter_set!r} of type {type(iter_set).__name__}"
            )
        if type(iter_set).__pow__ is not Set.__pow__:
            iter_set**dim  # Subsets and extruded Sets say why they have no DataSets
        if not isinstance(apply_local_global_filter, bool):
            raise DataTypeError(
                f"DataSet: the filter must be True or False, got {apply_local_global_filter!r}"
            )
        shape = as_dim(dim, "DataSet")
        key = (cls, shape, as_name(name, "DataSet", ""), apply_local_global_filter)
        found = iter_set._datasets.get(key)
        if found is None:
            found = super().__new__(cls)
            found._uid = runtime.next_uid()
            found._set = iter_set
            found._dim = shape
            found._cdim = prod(shape)
            found._name = as_name(name, "DataSet", f"dset_#x{found._uid:x}")
            found._apply_local_global_filter = apply_local_global_filter
            iter_set._datasets[key] = found
        return found

    @property
    def set(self) -> Set:
        """The Set."""
        return self._set

    @property
    def dim(self) -> tuple[int, ...]:
        """The shape of the values on each entity."""
        return self._dim

    @property
    def cdim(self) -> int:
        """The number of values on each entity."""
        return self._cdim

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    def __getattr__(self, name: str) -> Any:
        """Ask the Set for what a DataSet has not: its sizes, its halo."""
        if name.startswith("_") or not hasattr(Set, name):
            raise AttributeError(f"neither DataSet nor Set has an attribute '{name}'")
        return getattr(self._set, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DataSet):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[object, ...]:
        return (self._set, self._dim, self._apply_local_global_filter)

    def __contains__(self, dat: object) -> bool:
        """Say whether a Dat lives on this DataSet."""
        return bool(getattr(dat, "dataset", None) == self)

    def __iter__(self) -> Iterator[DataSet]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> DataSet:
        _check_first(index, f"DataSet '{self._name}'")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        name, keep = self._name, self._apply_local_global_filter
        return (type(self), (self._set, self._dim, name, keep))

    def __str__(self) -> str:
        return (
            f"OP2 DataSet: {self._name} on set {self._set}, with dim {self._dim}, "
            f"{self._apply_local_global_filter}"
        )

    def __repr__(self) -> str:
        return (
            f"DataSet({self._set!r}, {self._dim!r}, {self._name!r}, "
            f"{self._apply_local_global_filter!r})"
        )


def _as_sizes(size: object, name: str) -> tuple[int, int, int] | None:
    if size is None and runtime.static:
        return None
    entries = tuple(size) if isinstance(size, Iterable) and not isinstance(size, str) else (size,)
    if len(entries) == _N_OLDER_SIZES and entries[1] == entries[2]:
        entries = (*entries[:2], entries[3])
    if len(entries) not in (1, 3) or not all(is_integer(n) and n >= 0 for n in entries):
        hint = "; only under init(static=True) may it be left out" if size is None else ""
        older = (
            "; ghosts are not computed, so the third of four sizes must be the second"
            if len(entries) == _N_OLDER_SIZES
            else ""
        )
        raise SizeTypeError(
            f"Set '{name}': the size must be an integer or three, (core, owned, total), none "
            f"negative, got {size!r}{hint}{older}"
        )
    core, owned, total = (int(n) for n in (entries * 3)[:3])
    if not core <= owned <= total:
        raise ContractError(
            f"Set '{name}': the sizes (core, owned, total) must not shrink, since each counts the "
            f"one before too, got {(core, owned, total)}"
        )
    if total > MOST_INT64:
        raise SizeTypeError(f"Set '{name}': {total} entities are more than int64 can number")
    return core, owned, total


def _check_first(index: int, what: str) -> None:
    if index != 0:
        raise ContractError(f"{what} has one component, 0; got index {index!r}")
