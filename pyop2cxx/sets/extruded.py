# SPDX-License-Identifier: BSD-3-Clause
"""Extruded Sets: columns of cells over the entities of a Set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import MOST_INT32, is_integer, plain_array
from pyop2cxx.exceptions import (
    DataValueError,
    SetTypeError,
    SizeTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from typing import NoReturn

    from numpy.typing import ArrayLike

    from pyop2cxx.base.arrays import Array


@ends_tracebacks("__init__")
class ExtrudedSet(Set):
    """Columns of cells over the entities of a Set. The entities are the columns.

    Loops visit the cells of each column from the bottom up, also on several threads or a device if
    cells RW or WRITE values of the whole column. Dats without a Map are on the base Set: a row per
    column. Maps must start on the extruded Set; their `offset` is the distance of an entry from a
    cell to the cell above.

    Args:
        parent: The base Set.
        layers: The number of layers of every column, the number of cells plus 1; or shape
            (parent.total_size, 2): for each column the lowest layer, and the highest plus 1. A
            column with a single layer has no cells.
        extruded_periodic: Whether the top of a column is the bottom.

    Raises:
        SetTypeError: The parent is not a Set, or a Subset or extruded already.
        SizeTypeError: A column has no layer, or the layers have another shape.

    Example:
        >>> from pyop2cxx import op2
        >>> columns = ExtrudedSet(op2.Set(4, "base"), 3)
        >>> columns.layers, columns.size
        (3, 4)
    """

    def __init__(
        self, parent: Set, layers: int | ArrayLike, extruded_periodic: bool = False
    ) -> None:
        if not isinstance(parent, Set) or isinstance(parent, ExtrudedSet | Subset):
            raise SetTypeError(
                f"ExtrudedSet: the parent must be a Set that is neither a Subset nor extruded, got "
                f"{parent!r} of type {type(parent).__name__}"
            )
        if parent.is_distributed:
            raise UnsupportedError(
                f"ExtrudedSet of Set '{parent.name}': the Set is distributed, and extruded Sets "
                "are not carried over processes yet; run in one process"
            )
        place = (parent.halo, parent.given_comm, parent.constrained_size)
        sizes = parent.sizes if parent.is_sized else None
        super().__init__(sizes, f"{parent.name}_extruded", *place)
        self._parent = parent
        self._constant_layers = is_integer(layers)
        self._layers_array = _as_layers(layers, parent)
        self.is_extruded, self._extruded_periodic = True, bool(extruded_periodic)
        self.lists: dict[object, Any] = {}

    def take_columns(self, numbers: Array) -> None:
        """Have the columns of this rank, of a base Set shared before."""
        parent = self._parent
        sizes = (*parent.sizes[:2], parent.exec_size, parent.total_size)
        self.become_shared(sizes, parent.halo, parent.given_comm)
        if not self._constant_layers:
            self._layers_array = np.ascontiguousarray(self._layers_array[numbers])
        self.lists.clear()

    @property
    def parent(self) -> Set:
        """The base Set."""
        return self._parent

    @property
    def ground(self) -> Set:
        """Set with the same numbers."""
        return self._parent

    @property
    def constant_layers(self) -> bool:
        """Whether every column has as many layers and starts at layer 0."""
        return self._constant_layers

    @property
    def layers(self) -> int:
        """The number of layers of every column, the number of cells plus 1.

        Raises:
            UsageError: The number differs between columns.
        """
        if not self.constant_layers:
            raise UsageError(
                f"ExtrudedSet '{self._name}': 'layers' differs between columns; see layers_array"
            )
        return int(self._layers_array[0, 1])

    @property
    def layers_array(self) -> Array:
        """The lowest layer and the highest plus 1, int32, shape (1, 2) or (n, 2)."""
        view = self._layers_array[:]
        view.flags.writeable = False
        return view

    @property
    def extruded_periodic(self) -> bool:
        """Whether the top of a column is the bottom."""
        return self._extruded_periodic

    def __contains__(self, found: object) -> bool:
        """Return whether an object is the base Set, or a DataSet on the base Set."""
        return found is self._parent or getattr(found, "set", None) is self._parent

    def refuse_values(self) -> NoReturn:
        """Refuse: values live elsewhere."""
        raise UnsupportedError(
            f"ExtrudedSet '{self._name}': values do not live on extruded Sets; make the DataSet of "
            "its parent, or of a Set of all degrees of freedom and a Map with offsets"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        layers = self.layers if self.constant_layers else self._layers_array
        return (ExtrudedSet, (self._parent, layers, self._extruded_periodic))

    def __str__(self) -> str:
        layers = self.layers if self.constant_layers else "variable"
        return f"OP2 ExtrudedSet: {self._name} with size {self.size} ({layers} layers)"

    def __repr__(self) -> str:
        layers = self.layers if self.constant_layers else self._layers_array.tolist()
        return f"ExtrudedSet({self._parent!r}, {layers!r})"


def _as_layers(layers: int | ArrayLike, parent: Set) -> Array:
    what = f"ExtrudedSet of Set '{parent.name}'"
    if is_integer(layers):
        if layers < 2:
            raise SizeTypeError(f"{what}: a column of cells has at least 2 layers, got {layers}")
        if layers > MOST_INT32:
            raise SizeTypeError(f"{what}: at most {MOST_INT32} layers are possible, got {layers}")
        return np.array([[0, layers]], np.int32)
    try:
        found = plain_array(layers, f"{what}: layers")
    except DataValueError:
        raise
    except (TypeError, ValueError):
        found = np.empty(0)
    shape = (parent.total_size, 2)
    if found.dtype.kind not in "iu" or found.shape != shape:
        raise SizeTypeError(
            f"{what}: the layers must be an integer or integers of shape {shape}, got {layers!r}"
        )
    bounds = found.astype(np.int64)
    short = np.flatnonzero(bounds[:, 1] - bounds[:, 0] < 1)
    if short.size:
        raise SizeTypeError(
            f"{what}: a column has at least 1 layer, and then no cells, but column {short[0]} is "
            f"{bounds[short[0]].tolist()} (lowest layer, one past the highest)"
        )
    if bounds.size and abs(bounds).max() > MOST_INT32:
        raise SizeTypeError(f"{what}: layers are numbered up to {MOST_INT32}, got {layers!r}")
    return bounds.astype(np.int32)
