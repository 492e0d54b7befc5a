# SPDX-License-Identifier: BSD-3-Clause
"""Sets of mesh entities, and DataSets: a Set with the shape of the values on each entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import MOST_INT32, address_of, distinct, plain_array
from pyop2cxx.exceptions import (
    DataValueError,
    IndexTypeError,
    SetTypeError,
    SetValueError,
    SubsetIndexOutOfBounds,
    UnsupportedError,
)
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets import from_hdf5
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.entities import Entities, check_first
from pyop2cxx.sets.origins import refuse_left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy.typing as npt
    from numpy.typing import ArrayLike

    from pyop2cxx.base.arrays import Array


class Set(Entities):
    """A set of mesh entities, for example cells or edges. Equal only to the same object.

    Under MPI the entities of a process come in this order: core (owned, and not connected to
    ghosts), owned but not core, ghost (owned by another process).

    Args:
        size: The number of entities, or three growing numbers: (core, core and owned, all). May be
            None under ``init(static=True)``. PyOP2's four sizes of 2016 are accepted if no ghosts
            are computed: (core, owned, owned, all).
        name: Used in messages; does not affect the generated code.
        halo: How ghosts are exchanged.
        comm: The communicator of the processes that share the entities: sums and norms are over
            all of them. None means that of the Halo, or the process alone.
        constrained_size: How many of the owned entities are constrained.

    Raises:
        SizeTypeError: The size is not an integer or three integers.
        ContractError: The three sizes do not grow.
        NameTypeError: The name is not a string.

    Example:
        >>> cells = Set(4, "cells")
        >>> cells
        Set((4, 4, 4), 'cells')
        >>> (cells ** 2).dim
        (2,)
    """

    @classmethod
    def fromhdf5(cls, f: Any, name: str) -> Set:
        """Return a Set with the size of an HDF5 dataset.

        Args:
            f: A file or group of h5py's, open.
            name: A dataset with a single integer, shape (1,); also the name of the Set.

        Raises:
            DataValueError: The dataset does not exist.
            SizeTypeError: The dataset is not a single number.

        Example:
            >>> Set.fromhdf5({"cells": np.array([4])}, "cells").size
            4
        """
        return cls(from_hdf5.size_of(f, name), name)

    @property
    def layers(self) -> int | None:
        """None: only extruded Sets have layers."""
        return None

    def __call__(self, *indices: Any) -> Set:
        """Return the Subset of the entities: ``cells(0, 3)`` or ``cells([0, 3])``."""
        return Subset(self, indices[0] if len(indices) == 1 and np.ndim(indices[0]) else indices)

    def intersection(self, other: Set) -> Set:
        """Return the common entities of the Set and a part of the Set.

        Raises:
            SetTypeError: The other is no Set, or a part of another Set.
            SetValueError: Both are whole Sets, but not the same.
        """
        return self._combine("intersection", other)

    def union(self, other: Set) -> Set:
        """Return the entities in any of both; errors as for `intersection`."""
        return self._combine("union", other)

    def difference(self, other: Set) -> Set:
        """Return the entities missing in the other; errors as for `intersection`."""
        return self._combine("difference", other)

    def symmetric_difference(self, other: Set) -> Set:
        """Return the entities in exactly one of both; errors as for `intersection`."""
        return self._combine("symmetric_difference", other)

    def _combine(self, operation: str, other: Set) -> Set:
        combine: Callable[[Set, Set], Set] = globals()[operation]
        return combine(self, other)

    @property
    def partition_size(self) -> int:
        """PyOP2's block size. Kept for PyOP2's programs; the plan chooses the size."""
        return self._partition_size

    @partition_size.setter
    def partition_size(self, size: int) -> None:
        self._partition_size = size

    def __pow__(self, dim: int | Iterable[int]) -> DataSet:
        """Return the DataSet of a dim: ``cells ** 4``."""
        return DataSet(self, dim)

    def __contains__(self, dataset: object) -> bool:
        """Return whether a DataSet lives on the Set."""
        return getattr(dataset, "set", None) is self

    def __iter__(self) -> Iterator[Set]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Set:
        check_first(index, f"Set '{self._name}'")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        place = (self._halo, self.given_comm, self._constrained_size)
        made = (type(self), (self._sizes, self._name, *place))
        if self.reordering.order is None and self.origin is None:
            return made
        origin = None if self.origin is None else self.origin.now()
        return (*made, {"reordering": self.reordering, "origin": origin})

    def __str__(self) -> str:
        size = None if self._sizes is None else self._sizes[1]
        return f"OP2 Set: {self._name} with size {size}"

    def __repr__(self) -> str:
        return f"Set({self._sizes!r}, {self._name!r})"


def numbers_of(on: Set, wanted: Array) -> Array:
    """Return the entities with numbers in the whole Set; -1 for those that the process has not."""
    numbers = on.global_numbers
    if not len(numbers):
        return np.full(len(wanted), -1)
    order = np.argsort(numbers)
    at = np.minimum(np.searchsorted(numbers[order], wanted), len(numbers) - 1)
    return np.where(numbers[order][at] == wanted, order[at], -1)


def joined(
    parts: Sequence[tuple[Set, int, Array | None]], name: str
) -> tuple[Set, list[npt.NDArray[np.int64]]]:
    """Return a Set with entities on those of other Sets, and with the same owners.

    The whole Set has the entities on the first Set before those on the second, in the order of the
    numbers there. If processes share the Sets, all must call.

    Args:
        parts: Sets, how many entities are on each, and the chosen entities, bool of shape
            (total_size,); None means all.
        name: Used in messages.

    Returns:
        The Set; for each part the first entity on each, shape (total_size,), -1 if not chosen.
    """
    homes = [home for home, _, _ in parts]
    places = [np.full((home.total_size, n), -1) for home, n, _ in parts]
    n_made, n_owned = 0, 0
    for is_ghost in (False, True):
        for (home, n, chosen), found in zip(parts, places, strict=True):
            first, last = (home.size, home.total_size) if is_ghost else (0, home.size)
            is_there = slice(None) if chosen is None else chosen[first:last]
            rows = np.arange(first, last)[is_there]
            found[rows] = n_made + np.arange(len(rows) * n).reshape(-1, n)
            n_made += len(rows) * n
        n_owned = n_owned if is_ghost else n_made
    made = Set(n_made, name)
    if homes[0].is_distributed:
        numbers = _joined_numbers(parts, places, n_made)
        halo = homes[0].halo.joined([home.halo for home in homes], places, numbers)
        made.become_shared((n_owned, n_owned, n_owned, n_made), halo, homes[0].given_comm)
    return made, [found[:, 0] for found in places]


def _joined_numbers(
    parts: Sequence[tuple[Set, int, Array | None]], places: Sequence[Array], n_made: int
) -> Array:
    """Return the global numbers of the entities of `joined`."""
    found, start = np.empty(n_made, np.int64), 0
    for (home, n, chosen), where in zip(parts, places, strict=True):
        numbers, n_home = home.global_numbers, home.global_size
        if chosen is not None:
            mine = numbers[: home.size][chosen[: home.size]]
            of_all = runtime.processes.all_of(home.ranks, mine, f"a part of Set '{home.name}'")
            every = np.sort(np.concatenate(of_all))
            numbers, n_home = np.searchsorted(every, numbers), len(every)
        is_there = where[:, 0] >= 0
        found[where[is_there]] = start + numbers[is_there, None] * n + np.arange(n)
        start += n_home * n
    return found


def LocalSet(set: Set) -> Set:
    """Return the Set unchanged: in 2016 a Set with loops over owned entities only, as always today.

    Raises:
        SetTypeError: The argument is not a Set.

    Example:
        >>> cells = Set(4)
        >>> LocalSet(cells) is cells
        True
    """
    if not isinstance(set, Set):
        raise SetTypeError(f"LocalSet: expected a Set, got {set!r} of type {type(set).__name__}")
    return set


@ends_tracebacks("__init__")
class Subset(Set):
    """Some entities of a Set, ascending and distinct. Loops run over the owned entities.

    Args:
        superset: The Set. Kernels see the superset: elements are looked up by the Subset's indices.
        indices: Entities of the superset, in any order, repeated or not; or a truth value for each
            entity, shape (superset.size,) or with ghosts.

    Raises:
        SetTypeError: The superset is not a Set.
        IndexTypeError: The indices are not integers.
        SubsetIndexOutOfBounds: An index is no entity of the superset.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(5, "cells")
        >>> Subset(cells, [3, 1, 3]).indices.tolist()
        [1, 3]
    """

    def __init__(self, superset: Set, indices: ArrayLike | Iterable[int]) -> None:
        if not isinstance(superset, Set):
            raise SetTypeError(
                f"Subset: the superset must be a Set, got {superset!r} of type "
                f"{type(superset).__name__}"
            )
        found = _as_indices(superset, indices)
        numbering = superset.ground.numbering
        if isinstance(superset, Subset):
            numbering = superset.numbering
            found, superset = superset.indices[found], superset.superset
        counts = [int(np.searchsorted(found, n)) for n in superset.sizes]
        super().__init__(counts, f"part_of_{superset.name}", superset.halo, superset.given_comm)
        self._superset = superset
        self.is_extruded = superset.is_extruded
        self._extruded_periodic = bool(getattr(superset, "extruded_periodic", False))
        self.numbering = numbering
        self._take_indices(found)

    def become_part(self, indices: Array) -> None:
        """Have the entities of this rank, of a superset shared before."""
        whole = self._superset
        core, owned, total = (int(np.searchsorted(indices, n)) for n in whole.sizes)
        computed = int(np.searchsorted(indices, whole.exec_size))
        self.become_shared((core, owned, computed, total), whole.halo, whole.given_comm)
        self._take_indices(indices)

    def _take_indices(self, found: Array) -> None:
        superset = self._superset
        if superset.is_distributed:
            self._n_computed = int(np.searchsorted(found, superset.exec_size))
        wide = superset.total_size > MOST_INT32
        self._indices = np.require(found, np.int64 if wide else np.int32, ("C", "A", "W"))
        self.table = _core.MapTable(
            address=address_of(self._indices),
            index_bytes=self._indices.itemsize,
            n_rows=len(self._indices),
            arity=1,
            n_targets=superset.total_size,
        )
        self.lists: dict[object, Any] = {}

    @property
    def ground(self) -> Any:
        """Set with the same numbers."""
        return self._superset.ground

    @property
    def superset(self) -> Set:
        """The whole Set."""
        return self._superset

    @property
    def indices(self) -> Array:  # type: ignore[override]  # as in PyOP2
        """The entities, ghosts too, read-only, ascending; shape (total_size,)."""
        view = self._indices[:]
        view.flags.writeable = False
        return view

    @property
    def owned_indices(self) -> Array:
        """The owned entities, read-only, ascending; shape (size,)."""
        return self.indices[: self.size]

    @property
    def parent(self) -> Set:
        """The base Set of an extruded superset.

        Raises:
            AttributeError: The superset is not extruded.
        """
        whole: Any = self._superset
        parent: Set = whole.parent
        return parent

    @property
    def constant_layers(self) -> bool:
        """Whether all columns of an extruded superset have the same layers.

        Raises:
            AttributeError: The superset is not extruded.
        """
        whole: Any = self._superset
        return bool(whole.constant_layers)

    @property
    def layers(self) -> Any:
        """The layers of the superset."""
        return self._superset.layers

    @property
    def layers_array(self) -> Array:
        """The layers of the columns, shape (1, 2) or (n, 2), see `ExtrudedSet.layers_array`."""
        whole: Any = self._superset
        layers: Array = whole.layers_array
        return layers if whole.constant_layers else layers[self._indices]

    def refuse_values(self) -> NoReturn:
        """Refuse: values live elsewhere."""
        raise UnsupportedError(
            f"Subset of Set '{self._superset.name}': values live on whole Sets; make the DataSet "
            "of the superset"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        refuse_left_out(f"the Subset '{self._name}'", self.numbering, self.ground)
        return (Subset, (self._superset, self._indices))

    def __str__(self) -> str:
        return f"OP2 Subset: {self._name} with size {self.size} of ({self._superset})"

    def __repr__(self) -> str:
        return f"Subset({self._superset!r}, {self._indices.tolist()!r})"


def _as_indices(superset: Set, indices: ArrayLike | Iterable[int]) -> Array:
    what = f"Subset of Set '{superset.name}'"
    try:
        is_one = isinstance(indices, np.ndarray) or hasattr(indices, "__array__")
        found = plain_array(indices if is_one else list(indices), what)  # type: ignore[arg-type]
    except DataValueError:
        raise
    except (TypeError, ValueError):
        raise IndexTypeError(f"{what}: the indices must be integers, got {indices!r}") from None
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind == "b":
        if found.shape not in ((superset.size,), (superset.total_size,)):
            raise IndexTypeError(
                f"{what}: a mask has a truth value for each of its {superset.size} entities, got "
                f"shape {found.shape}"
            )
        found = np.flatnonzero(found)
    if found.dtype.kind not in "iu":
        raise IndexTypeError(f"{what}: the indices must be integers, got {indices!r}")
    least, greatest = (found.min(), found.max()) if found.size else (0, -1)
    if least < 0 or greatest >= superset.total_size:
        wrong = least if least < 0 else greatest
        raise SubsetIndexOutOfBounds(
            f"{what}: there is no entity {wrong}; there are 0 to {superset.total_size - 1}"
        )
    return _ascending(found.ravel(), superset.total_size)


def _ascending(numbers: Array, n: int) -> Array:
    """Return a copy with each number once; NumPy's `unique` takes a second for a million."""
    if np.all(numbers[1:] > numbers[:-1]):
        return np.array(numbers)
    if len(numbers) < n // 64:  # a mask would take longer
        return distinct(numbers)
    is_there = np.zeros(n, np.bool_)
    is_there[numbers] = True
    return np.flatnonzero(is_there)


def _numbers(part: Set) -> Array:
    return part.indices if isinstance(part, Subset) else np.arange(part.total_size)


def _whole(part: Set, other: object, operation: str) -> Set:
    """Return the common Set of both operands."""
    whole = part.superset if isinstance(part, Subset) else part
    if not isinstance(other, Set):
        raise SetTypeError(
            f"Set '{part.name}': {operation} takes a Set or a Subset, got {other!r} of type "
            f"{type(other).__name__}"
        )
    if isinstance(other, Subset):
        if other.superset is not whole:
            raise SetTypeError(
                f"Set '{part.name}': {operation} with a part of another Set, "
                f"'{other.superset.name}'; both must be parts of '{whole.name}'"
            )
    elif other is not whole:
        kind = SetTypeError if isinstance(part, Subset) else SetValueError
        raise kind(
            f"Set '{part.name}': {operation} with Set '{other.name}', which it has nothing to do "
            f"with; pass a part of '{whole.name}'"
        )
    return whole


def _made_of(whole: Set, indices: Array, *operands: Set) -> Subset:
    """Return a Subset, left out of a renumbering of the whole if an operand was."""
    made = Subset(whole, indices)
    given = {one.numbering for one in operands if isinstance(one, Subset)}
    made.numbering = next(iter(given - {made.numbering}), made.numbering)
    return made


def intersection(part: Set, other: Set) -> Set:
    """Return the entities in both operands."""
    whole = _whole(part, other, "intersection")
    if part is whole:
        return other
    if other is whole:
        return part
    return _made_of(whole, np.intersect1d(_numbers(part), _numbers(other)), part, other)


def union(part: Set, other: Set) -> Set:
    """Return the entities in any of the operands."""
    whole = _whole(part, other, "union")
    if part is whole or other is whole:
        return whole
    return _made_of(whole, np.union1d(_numbers(part), _numbers(other)), part, other)


def difference(part: Set, other: Set) -> Subset:
    """Return the entities of the first operand missing in the second."""
    whole = _whole(part, other, "difference")
    return _made_of(whole, np.setdiff1d(_numbers(part), _numbers(other)), part, other)


def symmetric_difference(part: Set, other: Set) -> Subset:
    """Return the entities in exactly one of the operands."""
    whole = _whole(part, other, "symmetric_difference")
    return _made_of(whole, np.setxor1d(_numbers(part), _numbers(other)), part, other)
