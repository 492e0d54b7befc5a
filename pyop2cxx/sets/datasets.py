# SPDX-License-Identifier: BSD-3-Clause
"""DataSets: a Set with the shape of the values on each entity."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.arrays import as_dim, as_name
from pyop2cxx.base.listing import Listed
from pyop2cxx.exceptions import DataTypeError, SetTypeError
from pyop2cxx.interop.petsc_spaces import PetscSpace
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.entities import Entities, check_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@ends_tracebacks("__new__")
class DataSet(PetscSpace, Listed):
    """A Set with the shape of the values on each entity.

    The same arguments give the same object, so that Dats can be compared by their DataSet. DataSets
    with different names only are two objects, but equal.

    Args:
        iter_set: The Set.
        dim: The number of values on each entity, or their shape.
        name: Used in messages.
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

    uid: int
    _set: Any
    _dim: tuple[int, ...]
    _cdim: int
    _name: str
    _apply_local_global_filter: bool

    def __new__(
        cls,
        iter_set: Any,
        dim: int | Iterable[int] = 1,
        name: str | None = None,
        apply_local_global_filter: bool = False,
    ) -> DataSet:
        """Return the DataSet of the arguments, made if necessary."""
        if not isinstance(iter_set, Entities):
            raise SetTypeError(
                f"DataSet: expected a Set, got {iter_set!r} of type {type(iter_set).__name__}"
            )
        iter_set.refuse_values()
        if not isinstance(apply_local_global_filter, bool):
            raise DataTypeError(
                f"DataSet: the filter must be True or False, got {apply_local_global_filter!r}"
            )
        shape = as_dim(dim, "DataSet")
        key = (cls, shape, as_name(name, "DataSet", ""), apply_local_global_filter)
        found = iter_set.datasets.get(key)
        if found is None:
            found = super().__new__(cls)
            found.uid = runtime.next_uid()
            found._set = iter_set
            found._dim = shape
            found._cdim = prod(shape)
            found._name = as_name(name, "DataSet", f"dset_#x{found.uid:x}")
            found._apply_local_global_filter = apply_local_global_filter
            iter_set.datasets[key] = found
        return found

    @property
    def set(self) -> Any:
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
        """Name in messages."""
        return self._name

    def __getattr__(self, name: str) -> Any:
        """Forward attributes missing in a DataSet to the Set: sizes, halo."""
        if name.startswith("_") or not hasattr(type(self._set), name):
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
        """Return whether a Dat lives on the DataSet."""
        return bool(getattr(dat, "dataset", None) == self)

    def __iter__(self) -> Iterator[DataSet]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> DataSet:
        check_first(index, f"DataSet '{self._name}'")
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
