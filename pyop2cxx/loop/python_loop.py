# SPDX-License-Identifier: BSD-3-Clause
"""Loops with Python functions as kernels, for debugging: slow, with all of Python inside.

Arguments, checks, halos and assembly states are the same as in other loops. Values are brought to
the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC, MAX, MIN, READ, WRITE
from pyop2cxx.base.regions import ALL
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.loop.execute import Run, checked_epoch
from pyop2cxx.loop.numberings import note_numberings, numberings_after
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import Kind
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.items import Items, levels_of, reached
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mat_args import MatPath
    from pyop2cxx.loop.parts import Arg, Part
    from pyop2cxx.sets.entities import SetPartition
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set


class PythonKernel:
    """A Python function where a `Kernel` is expected.

    Args:
        function: The function.

    Attributes:
        function: The function.
        name: Used in messages.
        shown_name: The same.
        num_flops: Not known.
    """

    abi = "2026"
    num_flops = 0

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self.name: str = getattr(function, "__name__", "function")
        self.shown_name = self.name


class PythonLoop(ParLoop):
    """A loop that calls a Python function for each owned entity of a Set, in order.

    The function gets an array for each argument, packed by the same rules as a C kernel's:

    =====================================  =====================================================
    a Dat without a Map                    shape ``(*dim)``: the values themselves
    a Dat behind a Map                     shape ``(arity, *dim)``; ``(2 * arity, *dim)`` between
                                           two cells of a column
    a Global or Constant                   shape ``(*dim)``
    a MixedDat                             shape ``(n,)``: the fields end to end
    a Mat                                  shape ``(rows, columns)``, of all blocks if it is mixed
    a PassthroughArg                       its address, an int
    =====================================  =====================================================

    INC and, behind a Map, WRITE arrays start at zero, as do all arrays of matrices; READ arrays are
    not writeable. With `pass_layer_arg` the layer follows, an int.

    Args:
        function: The function.
        iterset: The Set, of any kind.
        *args: The arguments, as for `ParLoop`.
        **how: ``iteration_region``, ``iterate`` and ``pass_layer_arg`` of `ParLoop`.

    Raises:
        UsageError: As for `ParLoop`.

    Example:
        >>> from pyop2cxx import op2
        >>> cells, nodes = op2.Set(2), op2.Set(3)
        >>> ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
        >>> degree = op2.Dat(nodes)
        >>> def count(degree):
        ...     degree += 1
        >>> PythonLoop(count, cells, degree(op2.INC, ends)).compute()
        >>> degree.data_ro.tolist()
        [1.0, 2.0, 1.0]
    """

    def __init__(
        self, function: Callable[..., object], iterset: Set, *args: Arg, **how: Any
    ) -> None:
        self._function = function
        if runtime.is_first("a Python function as a kernel"):
            runtime.logger.warning(
                "par_loop: '%s' is a Python function, which is called for one element after the "
                "other: thousands of times slower than a compiled kernel; write op2.Kernel(text of "
                "C, name) where that matters (said once)",
                getattr(function, "__name__", "function"),
            )
        super().__init__(PythonKernel(function), iterset, *args, **how)  # type: ignore[arg-type]

    def _checked_kernel(self, kernel: Any) -> Any:
        return kernel

    def _adapt_kernel(self) -> None:
        """Any function takes any arguments."""

    def _check_lengths(self) -> None:
        """A function takes rows of any length."""

    def compute(self, part: SetPartition | None = None) -> None:
        """Run the loop once, now, after the recorded loops of a chain.

        Args:
            part: As for `ParLoop`.

        Raises:
            UsageError: A graph is being recorded, without support for Python functions.
        """
        runtime.settle()
        with runtime.at_once():
            super().compute(part)

    def _check_bounds(self) -> bool:
        """Do nothing: Python checks subscripts."""
        return False

    def prepare(self) -> None:
        """Prepare the run: check the arguments and choose the text."""
        epoch = checked_epoch(self)
        if (
            runtime.same_on_ranks
            and self.iterset.is_distributed
            and (self.effects.again or self.effects.exact)
        ):
            raise UnsupportedError(
                f"{self.label}: a Python function adds in the order of the elements of a process, "
                "and deterministic='ranks' was asked for; write op2.Kernel(text of C, name)"
            )
        if self.wants_checks():
            note_numberings(numberings_after(self, check=True))
        calls = _Calls(self, self._function)
        overlaps = self.items.n_boundary > 0
        self.bound_run = Run(self.label, self.effects, calls.run, None, calls.run_phase, overlaps)
        self.epoch = epoch


class _Calls:
    """The calls of the function in a run."""

    def __init__(self, loop: PythonLoop, function: Callable[..., Any]) -> None:
        self._function = function
        self._loop = loop

    def run(self) -> bool:
        """Call the function for each item; no copies are left for the caller to account for."""
        return self._over(_items(self._loop))

    def run_phase(self, phase: _core.Phase) -> bool:
        """Call the function for the items of the core, or for the others."""
        items, n_core = _items(self._loop), self._loop.items.n - self._loop.items.n_boundary
        is_core = phase == _core.Phase.core
        return self._over(islice(items, n_core) if is_core else islice(items, n_core, None))

    def _over(self, items: Iterable[_Item]) -> bool:
        loop = self._loop
        by_argument = groupby(loop.parts, key=lambda part: part.number)
        arguments = [_Joined(list(parts), loop.items) for _, parts in by_argument]
        for item in items:
            packs = [argument.packed(item) for argument in arguments]
            layer = (item.layer,) if loop.options.pass_layer_arg else ()
            self._function(*packs, *layer)
            for argument, pack in zip(arguments, packs, strict=True):
                argument.unpack(item, pack)
        return False


# Visited items


@dataclass(frozen=True, slots=True)
class _Item:
    """An element.

    Attributes:
        n: The entity.
        level: Index of a cell in its column, from 0.
        layer: Layer passed to kernels.
        n_levels: Cells of the column.
    """

    n: int
    level: int = 0
    layer: int = 0
    n_levels: int = 1


def _items(loop: PythonLoop) -> Iterator[_Item]:
    iterset, whole = loop.iterset, loop.items.whole
    if not isinstance(whole, ExtrudedSet):
        yield from (_Item(int(n)) for n in iterset.indices[: loop.items.n])
        return
    owned = iterset.owned_indices if isinstance(iterset, Subset) else range(iterset.size)
    region = loop.options.iteration_region or ALL
    for n in map(int, owned):
        bottom, end = whole.layers_array[0 if whole.constant_layers else n]
        n_levels = int(end - bottom) - 1
        visited, first = levels_of(whole, n_levels, region)
        for level in range(first, first + visited):
            yield _Item(n, level, int(bottom) + level, n_levels)


class _Path:
    """The entities reached from an item through a Map."""

    def __init__(self, map_: Map, items: Items) -> None:
        self._map, self._items = map_, items
        self._rows = map_.values_with_halo.astype(np.int64)
        self._begins = map_.offsets if isinstance(map_, RaggedMap) else None
        self._n_cells = 2 if items.facets and not map_.is_of_columns else 1

    def entities(self, item: _Item) -> Array:
        if self._begins is not None:
            return self._rows[self._begins[item.n] : self._begins[item.n + 1]]
        row = self._rows[item.n : item.n + 1]
        levels = range(item.level, item.level + self._n_cells)
        cells = [reached(self._map, row, at, item.n_levels, self._items)[0] for at in levels]
        return np.concatenate(cells)


# How arguments are packed


class _Values:
    """A Dat, Global or Constant, or a part of a matrix stored like a Dat."""

    def __init__(self, part: Part, items: Items) -> None:
        self.access: Access = part.access
        self._values = _shown(part)
        # values updated by columns are seen as without a Map
        is_reached = part.map_ is not None and not part.map_.is_of_columns
        self._path = _Path(part.maps[0], items) if is_reached else None
        self._is_entity = part.home is not None
        self._seen = part.compute

    def packed(self, item: _Item) -> Array:
        values = self._values
        if self._path is not None:
            rows = self._path.entities(item)
            if self.access in (INC, WRITE):
                return np.zeros((len(rows), *values.shape[1:]), self._seen)
            pack: Array = values[rows]
        elif self._is_entity:
            pack = self._of(item)
        elif self.access == INC:
            return np.zeros_like(values)
        else:
            pack = values[...]
        pack = pack.astype(self._seen, copy=False)  # kept in memory of its own type by unpack()
        if self.access == READ:
            pack.flags.writeable = False
        return pack

    def _of(self, item: _Item) -> Array:
        """Return a view of an entity's values, shape ``(*dim)``; of a single value ``(1,)``."""
        row = slice(item.n, item.n + 1) if self._values.ndim == 1 else item.n
        found: Array = self._values[row]
        return found

    def unpack(self, item: _Item, pack: Array) -> None:
        """Write the results in a packed array back."""
        if self.access == READ:
            return
        if self._path is None:
            if self._is_entity:
                self._of(item)[...] = pack
            elif self.access == INC:
                self._values += pack
            else:
                self._values[...] = pack
            return
        rows = self._path.entities(item)
        pack = pack.astype(self._values.dtype, copy=False)  # numpy.ufunc.at loses what it converts
        pack = pack.reshape(len(rows), *self._values.shape[1:])
        if self.access in _UPDATES:
            _UPDATES[self.access].at(self._values, rows, pack)
        else:
            self._values[rows] = pack


_UPDATES: dict[Any, Any] = {INC: np.add, MIN: np.minimum, MAX: np.maximum}


def _shown(part: Part) -> Array:
    """Return an argument's values on the host; a write access counts as a write."""
    data = part.data
    is_free = part.kind is Kind.TOTAL and not part.is_of_matrix
    values: Array = data.host_values if is_free else data.allocated("par_loop")
    is_read = part.access == READ
    data.use_on_host(_core.Use.read if is_read else _core.Use.read_write, "par_loop")
    if not is_read:
        data.buffer.increment_version()
    if not part.is_of_matrix and part.dim == data.cdim:
        return values
    width = part.stride or part.dim
    return values.reshape(-1, width)[:, part.component : part.component + part.dim]


class _Block:
    """A block of a matrix with places for entries."""

    def __init__(self, part: Part, path: MatPath, items: Items) -> None:
        self.access = part.access
        mat = part.data
        self._mat = mat
        self._rows, self._cols = _Path(path.rows, items), _Path(path.cols, items)
        self._values = mat.stored("par_loop", write=True)
        row_dim, col_dim = mat.block_dims
        self._dims = row_dim, col_dim
        self._seen = part.compute
        self._masks = [
            None if mask is None else np.repeat(mask[0] >= 0, 1 if path.unrolled else dim)
            for mask, dim in zip(path.masks, self._dims, strict=True)
        ]

    def packed(self, item: _Item) -> Array:
        (r, c), n = self._dims, len(self._rows.entities(item))
        return np.zeros((n * r, len(self._cols.entities(item)) * c), self._seen)

    def unpack(self, item: _Item, pack: Array) -> None:
        """Add or set the entries with places and outside of masks."""
        (r, c), rows, cols = self._dims, self._rows.entities(item), self._cols.entities(item)
        tensor = pack.reshape(len(rows), r, len(cols), c)
        known = np.flatnonzero(cols >= 0)
        kept_cols = np.stack([self._kept(1, col) for col in cols[known]]) if len(known) else None
        for i, row in enumerate(rows):
            if row < 0 or kept_cols is None:
                continue
            kept = self._kept(0, row)[None, :, None] & kept_cols[:, None, :]
            at, i_row, i_col = np.nonzero(kept)
            places = self._mat.find_entry(int(row), cols[known])[at], i_row, i_col
            values = tensor[i][:, known].transpose(1, 0, 2)[kept]
            if self.access == INC:
                np.add.at(self._values, places, values.astype(self._values.dtype, copy=False))
            else:
                self._values[places] = values

    def _kept(self, side: int, entity: int) -> Array:
        """Return the scalars of a row or column entity outside of masks; bool, shape (dim,)."""
        mask, dim = self._masks[side], self._dims[side]
        return np.ones(dim, bool) if mask is None else mask[entity * dim : (entity + 1) * dim]


class _Joined:
    """A parameter of the function: an argument, or the joined parts of an argument."""

    def __init__(self, parts: Sequence[Part], items: Items) -> None:
        first = parts[0]
        self._address = first.buffer.address if first.kind is Kind.HANDLE else None
        self.parts = [_part(part, items) for part in parts if part.kind is not Kind.HANDLE]
        self._is_mixed = first.is_field
        self._is_read = first.access == READ
        self._places: list[tuple[int, int, int, int]] = []
        if first.cell is not None:
            both = 2 if items.facets else 1
            sides = (*first.cell.rows, *first.cell.columns)
            arities = {map_.uid: map_.arity * both for _, map_ in sides if map_ is not None}
            self._places = [part.cell.place(arities) for part in parts if part.cell is not None]

    def packed(self, item: _Item) -> Any:
        if self._address is not None:
            return self._address
        packs = [part.packed(item) for part in self.parts]
        if self._places:
            ends = [
                row + pack.size // n_columns
                for (row, _, n_columns, _), pack in zip(self._places, packs, strict=True)
            ]
            return np.zeros((max(ends), self._places[0][3]), packs[0].dtype)
        if not self._is_mixed:
            return packs[0]
        joined = np.concatenate([pack.reshape(-1) for pack in packs])
        joined.flags.writeable = not self._is_read
        return joined

    def unpack(self, item: _Item, pack: Array) -> None:
        """Distribute the parts of an array to their arguments."""
        if self._places:
            for part, (row, column, n_columns, _) in zip(self.parts, self._places, strict=True):
                shape = part.packed(item).shape
                n_rows = int(np.prod(shape)) // n_columns
                block = pack[row : row + n_rows, column : column + n_columns]
                part.unpack(item, block.reshape(shape))
            return
        if not self._is_mixed:
            for part in self.parts:
                part.unpack(item, pack)
            return
        begin = 0
        for part in self.parts:
            shape = part.packed(item).shape
            n = int(np.prod(shape))
            part.unpack(item, pack[begin : begin + n].reshape(shape))
            begin += n


def _part(part: Part, items: Items) -> _Values | _Block:
    return _Values(part, items) if part.path is None else _Block(part, part.path, items)
