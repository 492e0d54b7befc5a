# SPDX-License-Identifier: BSD-3-Clause
"""Sparsities: where a matrix between two Sets may have values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakSet

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import address_of, as_name, is_integer, is_under_pyop2
from pyop2cxx.base.fixed import Fixed
from pyop2cxx.base.regions import ALL, IterationRegion
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import (
    DataSetTypeError,
    ExecutionError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    SparsityFormatError,
    SparsityShapeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import Memo
from pyop2cxx.runtime.processes import refuse_several
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.items import check_reach, items_of, path_of
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.mixed_sets import MixedDataSet, MixedMap, MixedSet
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.base.arrays import Array

    Pair = tuple[Any, Any]
    Regions = tuple[Any, ...]
    Blocks = Mapping[tuple[int, int], tuple[tuple[Any, Any, Regions], ...]]

_PAIR = 2
_NO_MATRICES = (
    "matrices are carried over processes by op2.distribute alone; apply the operator by loops "
    "(matrix-free), or share the Sets by op2.distribute"
)
_TRIPLE = 3


@ends_tracebacks("__new__")
class Sparsity(Fixed, Shown):
    """The places of values in a matrix between two Sets, given by pairs of Maps.

    Rows and columns count entities; each place holds a dense block of the dims of the DataSets. The
    constructor finds the places, in parallel. A Sparsity of a DataSet with itself also has a place
    for each diagonal entry. The same arguments give the same object.

    When a Map gets other values, the places follow. Matrices, however, keep their original places:
    while a matrix exists, the Sparsity stays unchanged, and the same arguments give another
    Sparsity, by the new values. Entries without a place in an older matrix are refused.

    Args:
        dsets: The DataSets (or Sets) of rows and columns; a single object stands for both.
        maps_and_regions: Pairs of Maps ``(rows, columns)``, or ``(rows, columns, regions)``, in a
            list; or a single pair, or a single Map for both; or, for mixed DataSets, such lists by
            block: ``{(i, j): [...]}``. A pair of mixed Maps couples every block.
        name: Used in messages.
        nest: Whether each block of a mixed matrix counts as a separate matrix.
        block_sparse: Whether PETSc's matrix of square blocks keeps them together (BAIJ). Loops
            always do.
        diagonal_block: Whether a Sparsity of a DataSet with itself gets a diagonal.

    Raises:
        DataSetTypeError: A DataSet is none.
        SparsityShapeError: There are not two DataSets; a block does not exist; Maps start on
            different Sets, or lead elsewhere than to the rows and the columns.
        MapTypeError: The Maps have none of the forms, or are not Maps.
        MapValueError: A Map has no values, or there is no Map at all.
        NameTypeError: The name is not a string.

    Example:
        >>> cells, nodes = Set(2, "cells"), Set(4, "nodes")
        >>> c2n = Map(cells, nodes, 3, [0, 1, 3, 2, 3, 1], "c2n")
        >>> sparsity = Sparsity((nodes ** 1, nodes ** 1), [(c2n, c2n, None)])
        >>> sparsity.nz, sparsity.nnz.tolist()
        (14, [3, 4, 3, 4])
    """

    uid: int
    _name: str
    _dsets: tuple[Any, Any]
    given: Blocks
    _mixed_pairs: tuple[Pair, ...]
    _maps_and_regions: dict[tuple[int, int], tuple[tuple[Any, Any, Any], ...]]
    _nested: bool
    _block_sparse: bool
    diagonal_block: bool
    _found: _core.plan.Sparsity | None
    _diagonal: Array | None
    on_cuda: Memo
    _seen: tuple[int, ...]
    """The versions of the Maps' values when the places were found."""

    def __new__(
        cls,
        dsets: Any,
        maps_and_regions: Any,
        name: str | None = None,
        nest: bool | None = None,
        block_sparse: bool | None = None,
        diagonal_block: bool = True,
    ) -> Sparsity:
        """Return the Sparsity of the arguments, made if necessary."""
        pair = _as_dsets(dsets)
        as_name(name, "Sparsity", "")
        given = _as_blocks(maps_and_regions, pair)
        flags = (nest is not False, block_sparse is not False, bool(diagonal_block))
        if is_under_pyop2() and nest is False:
            _refuse_joined(pair)
        key = (
            *(getattr(part, "uid", part) for ds in pair for part in ds),
            tuple(len(ds) for ds in pair),
            frozenset(
                (block, frozenset((*map(_uid, entry[:2]), entry[2]) for entry in entries))
                for block, entries in given.items()
            ),
            *flags,
            runtime.static,
        )
        known: Sparsity | None = runtime.engine.sparsities.get(key)
        if known is None or not known.follows():
            sets = [part.set for ds in pair for part in ds]
            apart = [one for one in sets if not one.is_distributed]
            refuse_several(apart, "Sparsity", _NO_MATRICES)
            known = object.__new__(cls)
            known._make(pair, given, name, flags)
            runtime.engine.sparsities[key] = known
        known._mixed_pairs = known._mixed_pairs or _mixed_pairs(maps_and_regions)
        return known

    def _make(
        self,
        dsets: tuple[Any, Any],
        given: Blocks,
        name: str | None,
        flags: tuple[bool, bool, bool],
    ) -> None:
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self._name = as_name(name, "Sparsity", f"sparsity_#x{self.uid:x}")
        self.label = f"Sparsity '{self._name}'"
        self._dsets = dsets
        self.given = given
        self._mixed_pairs = ()
        self._maps_and_regions = {
            block: tuple((r, c, regions or None) for r, c, regions in entries)
            for block, entries in given.items()
        }
        self._nested, self._block_sparse, self.diagonal_block = flags
        self._found = None
        self._diagonal = None
        self.on_cuda = Memo(most=8)  # devices
        self.known_products = Memo(most=8)  # tables of products on devices
        self.mats: WeakSet[Any] = WeakSet()
        self._is_made = True
        self.parts: tuple[tuple[Sparsity, ...], ...] = ()
        if self.shape == (1, 1):
            self._found = None if runtime.static else self._build()
            return
        self.parts = tuple(
            tuple(self._block(i, j) for j in range(self.shape[1])) for i in range(self.shape[0])
        )

    def _block(self, i: int, j: int) -> Sparsity:
        rows, columns = self._dsets[0][i], self._dsets[1][j]
        entries = self.given.get((i, j), ())
        made = object.__new__(Sparsity)
        flags = (self._nested, self._block_sparse, self.diagonal_block and i == j)
        made._make((rows, columns), {(0, 0): entries}, f"{self._name}_{i}_{j}", flags)
        return made

    def _versions(self) -> tuple[int, ...]:
        maps = (map_ for r, c, _ in self.given.get((0, 0), ()) for map_ in (r, c))
        return tuple(_table(map_).version for map_ in maps if map_ is not None)

    def on_sets(self) -> list[Any]:
        """Return the Sets of rows and columns."""
        return [part.set for ds in self._dsets for part in ds]

    def become_shared(self) -> None:
        """Find the places anew, among the entities of this rank."""
        self._found = self._diagonal = None
        self.on_cuda.clear()
        self.known_products.clear()

    @property
    def has_globals(self) -> bool:
        """Whether a block has rows or columns of a Global."""
        return any(isinstance(part, GlobalDataSet) for ds in self._dsets for part in ds)

    @property
    def is_distributed(self) -> bool:
        """Whether `op2.distribute` has shared the rows among processes."""
        return any(part.set.is_distributed for part in self._dsets[0])

    def follows(self) -> bool:
        """Return whether the places match the present values of Maps, or can be found anew."""
        if self.parts:
            return all([block.follows() for block in self])  # each block, whatever others return
        if self._found is None or self._versions() == self._seen:
            return True
        if self.mats:
            return False
        self._found = self._diagonal = None
        self.on_cuda.clear()
        self.known_products.clear()
        return True

    def _build(self) -> _core.plan.Sparsity:
        rows, columns = self._dsets
        self._seen = self._versions()
        shape = (rows.set.total_size, columns.set.total_size)
        with waiting(f"Sparsity '{self._name}': finding entries of {shape[0]} rows"):
            return self._built(shape)

    def _built(self, shape: tuple[int, int]) -> _core.plan.Sparsity:
        rows, columns = self._dsets
        kept: list[Array] = []  # memory of tables, until read
        pairs = []
        for r, c, regions in self.given.get((0, 0), ()):
            if r is None or c is None:
                pairs.append(_dense_pair(shape, kept))
            else:
                pairs += _pairs(r, c, regions)
        try:
            return _core.plan.build_sparsity(
                n_rows=shape[0],
                n_columns=shape[1],
                pairs=pairs,
                diagonal=self.diagonal_block and rows == columns,
                n_threads=runtime.engine.n_threads,
            )
        except MemoryError:
            raise ExecutionError(
                f"Sparsity '{self._name}': there is no memory for {shape[0]} rows of "
                f"'{rows.set.name}' and {shape[1]} columns of '{columns.set.name}'"
            ) from None

    # Blocks

    @property
    def _blocks(self) -> tuple[tuple[Sparsity, ...], ...]:
        # not stored: large arrays should go when the last reference does
        return self.parts or ((self,),)

    @property
    def comm(self) -> Any:
        """The communicator of the rows."""
        return self._dsets[0].comm

    @property
    def dsets(self) -> tuple[Any, Any]:
        """The DataSets of rows and columns; tuple."""
        return self._dsets

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of blocks; (1, 1) if not mixed; tuple of int."""
        return len(self._dsets[0]), len(self._dsets[1])

    @property
    def dims(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Scalars of a row entity and of a column entity, by block; nested tuple, [i][j] a pair."""
        rows, columns = self._dsets
        return tuple(tuple((r.cdim, c.cdim) for c in columns) for r in rows)

    @property
    def is_dense(self) -> bool:
        """Whether there is a single block, with rows or columns of a Global."""
        return any(len(side) == 1 and isinstance(side, GlobalDataSet) for side in self._dsets)

    @property
    def nested(self) -> bool:
        """Whether each block of a mixed matrix counts as a separate matrix."""
        return self._nested

    @property
    def _diagonal_block(self) -> bool:
        """Whether there is a diagonal, as PyOP2's programs ask."""
        return self.diagonal_block

    @property
    def block_sparse(self) -> bool:
        """Whether PETSc's matrix keeps the scalars of a block together."""
        return self._block_sparse

    @property
    def rcmaps(self) -> dict[tuple[int, int], list[Pair]]:
        """The pairs of Maps by block (i, j), each once; dict of lists."""
        return {
            block: list(dict.fromkeys((r, c) for r, c, _ in entries))
            for block, entries in self.given.items()
        }

    @property
    def maps(self) -> list[Pair]:
        """The pairs of Maps, or of MixedMaps, each once, the oldest first; PyOP2's older name."""
        if self._mixed_pairs:
            return list(self._mixed_pairs)
        found = dict.fromkeys(pair for pairs in self.rcmaps.values() for pair in pairs)
        return sorted(found, key=lambda pair: [_uid(map_) or 0 for map_ in pair])

    @property
    def rmaps(self) -> list[Any]:
        """The Map to rows of each pair; list."""
        return [rows for rows, _ in self.maps]

    @property
    def cmaps(self) -> list[Any]:
        """The Map to columns of each pair; list."""
        return [columns for _, columns in self.maps]

    @property
    def iteration_regions(self) -> dict[tuple[int, int], list[Any]]:
        """For each block the regions of the pairs; (None) means everything."""
        return {
            block: [regions or None for _, _, regions in entries]
            for block, entries in self.given.items()
        }

    @overload
    def __getitem__(self, index: tuple[int, int]) -> Sparsity: ...

    @overload
    def __getitem__(self, index: int) -> tuple[Sparsity, ...]: ...

    def __getitem__(self, index: Any) -> Any:
        """Return a block, or, for a single index, a row of blocks."""
        return block_at(self._blocks, index, f"Sparsity '{self._name}'")

    def __iter__(self) -> Iterator[Sparsity]:
        for row in self._blocks:
            yield from row

    def __contains__(self, pair: object) -> bool:
        """Return whether a pair of Maps was used to make the Sparsity."""
        if not isinstance(pair, Sequence) or len(pair) != _PAIR:
            return False
        wanted = tuple(_plain(map_) for map_ in pair)
        return any(
            wanted == (_plain(r), _plain(c)) for pairs in self.rcmaps.values() for r, c in pairs
        )

    # Sizes

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._name

    @property
    def nrows(self) -> int:
        """Owned rows of entities, of all blocks."""
        return sum(int(part.set.size) for part in self._dsets[0])

    @property
    def ncols(self) -> int:
        """Owned columns of entities, of all blocks."""
        return sum(int(part.set.size) for part in self._dsets[1])

    @property
    def nnz(self) -> Array:
        """Places in owned columns, for each owned row, int64; shape (dsets[0].size,).

        Raises:
            UnsupportedError: The Sparsity is mixed; ask a block.
        """
        offset = self.table("nnz").row_offset[: self._dsets[0].set.size + 1]
        counts: Array = np.diff(offset)
        return counts - self.onnz if self.is_distributed else counts

    @property
    def onnz(self) -> Array:
        """Places in columns of other processes, for each owned row; int64, shape (n,)."""
        n, columns = self._dsets[0].set.size, self._dsets[1].set
        if not self.is_distributed:
            return np.zeros(n, np.int64)
        offset = self.rowptr[: n + 1]
        before = np.append(0, np.cumsum(self.colidx[: offset[-1]] >= columns.size))
        counts: Array = np.diff(before[offset])
        return counts

    @property
    def nz(self) -> int:
        """Places of the owned rows in owned columns, of all blocks."""
        return sum(int(block.nnz.sum()) for block in self)

    @property
    def onz(self) -> int:
        """Number of places in columns of other processes: 0 without MPI."""
        return sum(int(block.onnz.sum()) for block in self)

    @property
    def rowptr(self) -> Array:
        """Begin of each row in `colidx`, and the end of the last; int64, shape (n_rows + 1,)."""
        return self.table("rowptr").row_offset

    @property
    def colidx(self) -> Array:
        """Columns of the places, ascending in each row; int32 if they fit, shape (n,)."""
        return self.table("colidx").columns

    @property
    def longest_row(self) -> int:
        """Number of places in the longest row."""
        return self.table("longest_row").longest_row

    def diagonal(self) -> Array:
        """Return the place of each row's diagonal entry, or -1; int64, read-only, one per row."""
        self.follows()
        if self._diagonal is None:
            offset, columns = self.rowptr, self.colidx
            rows = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
            places = np.flatnonzero(rows == columns)
            found = np.full(len(offset) - 1, -1, np.int64)
            found[rows[places]] = places
            found.flags.writeable = False
            self._diagonal = found
        return self._diagonal

    def table(self, member: str) -> _core.plan.Sparsity:
        """Return the places of the entries, for loops."""
        if self.shape != (1, 1):
            raise UnsupportedError(
                f"Sparsity '{self._name}': '{member}' of a mixed Sparsity; ask one of its blocks: "
                f"sparsity[i, j].{member}"
            )
        self.follows()
        if self._found is None:
            runtime.require_running(f"Sparsity '{self._name}'", member)
            self._found = self._build()
        return self._found

    def __copy__(self) -> Sparsity:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"Sparsity '{self._name}': it cannot be pickled, nor copied deeply; make it again from "
            "its DataSets and Maps, which can"
        )

    @property
    def places(self) -> str:
        """The Sets of rows and columns with their dims, for messages."""
        rows, columns = (
            " and ".join(f"'{part.set.name}' ** {part.cdim}" for part in side)
            for side in self._dsets
        )
        return f"rows on {rows}, columns on {columns}"

    def __str__(self) -> str:
        if not is_under_pyop2():
            return f"OP2 Sparsity: {self._name}, {self.places}"
        return (
            f"OP2 Sparsity: dsets {self._dsets}, maps_and_regions {self._maps_and_regions}, "
            f"name {self._name}, nested {self._nested}, block_sparse {self._block_sparse}, "
            f"diagonal_block {self.diagonal_block}"
        )

    def __repr__(self) -> str:
        return (
            f"Sparsity({self._dsets!r}, {self._maps_and_regions!r}, name={self._name!r}, "
            f"nested={self._nested!r}, block_sparse={self._block_sparse!r}, "
            f"diagonal_block={self.diagonal_block!r})"
        )


def block_at(blocks: tuple[tuple[Any, ...], ...], index: Any, what: str) -> Any:
    """Return the block at ``[row, column]``, or all of a ``[row]``.

    Args:
        blocks: By rows.
        index: Two numbers, or a single number.
        what: The owner, for messages.

    Raises:
        IndexValueError: The block does not exist.
    """
    try:
        if is_integer(index):
            return blocks[index]
        i, j = index
        return blocks[i][j]
    except (TypeError, ValueError, IndexError):
        raise IndexValueError(
            f"{what} has {len(blocks)} x {len(blocks[0])} blocks, got index {index!r}; pass "
            "[row, column], or [row] for all of a row"
        ) from None


def _pairs(rows: Map, columns: Map, regions: Regions) -> list[_core.plan.MapPair]:
    """Return tables of the coupling elements, a pair for each region."""
    iterset = rows.iterset
    if not isinstance(iterset, ExtrudedSet):
        tables = {"rows": _table(rows), "columns": _table(columns)}
        return [_core.plan.MapPair(**tables, n_elements=iterset.exec_size)]
    pairs = []
    for region in dict.fromkeys(regions or (ALL,)):
        items = items_of(iterset, IterationRegion(region), False, "Sparsity")
        tables = {}
        for side, map_ in (("rows", rows), ("columns", columns)):
            check_reach(map_, items, iterset, "Sparsity")
            tables[side] = _core.plan.path_table(
                map=_table(map_),
                path=path_of(map_, items, 0),
                iteration=items.iteration,
                items=list(items.tables),
                n=items.n,
                n_threads=runtime.engine.n_threads,
            )
        pairs.append(_core.plan.MapPair(**tables, n_elements=items.n))
    return pairs


def _dense_pair(shape: tuple[int, int], kept: list[Array]) -> _core.plan.MapPair:
    """Couple a Global's only entity with all of the other side."""
    n = max(shape)
    every, one = np.arange(n).reshape(n, 1), np.zeros((n, 1), np.int64)
    kept += [every, one]
    tables = [
        _core.MapTable(
            address=address_of(values),
            index_bytes=8,
            n_rows=n,
            arity=1,
            n_targets=size,
        )
        for values, size in zip([every if size == n else one for size in shape], shape, strict=True)
    ]
    return _core.plan.MapPair(rows=tables[0], columns=tables[1], n_elements=n)


def _table(map_: Map) -> _core.MapTable:
    table = map_.current_table()
    assert table is not None  # checked: has_values
    return table


def _uid(map_: Map | None) -> int | None:
    return None if map_ is None else map_.uid


def _plain(map_: Any) -> Any:
    """The Map below a permuted Map: both couple the same entities."""
    return getattr(map_, "map_", map_)


def _is_dataset(found: object) -> bool:
    return isinstance(found, DataSet | MixedDataSet | GlobalDataSet)


def _as_dsets(dsets: object) -> tuple[Any, Any]:
    if isinstance(dsets, Set | MixedSet) or _is_dataset(dsets):
        dsets = (dsets, dsets)
    if isinstance(dsets, str) or not isinstance(dsets, Sequence):
        raise DataSetTypeError(
            f"Sparsity: expected the DataSets (rows, columns), got {dsets!r} of type "
            f"{type(dsets).__name__}"
        )
    if len(dsets) != _PAIR:
        raise SparsityShapeError(
            f"Sparsity: expected two DataSets, (rows, columns), got {len(dsets)}"
        )
    rows, columns = (ds**1 if isinstance(ds, Set | MixedSet) else ds for ds in dsets)
    for what, found in (("rows", rows), ("columns", columns)):
        if not _is_dataset(found):
            raise DataSetTypeError(
                f"Sparsity: the {what} must be a DataSet, got {found!r} of type "
                f"{type(found).__name__}"
            )
    return rows, columns


def _refuse_joined(dsets: tuple[Any, Any]) -> None:
    """Refuse a single matrix with the rows or columns of a Global: Firedrake asks PyOP2 that way.

    Raises:
        SparsityFormatError: There are some.
    """
    if any(len(ds) > 1 and isinstance(part, GlobalDataSet) for ds in dsets for part in ds):
        raise SparsityFormatError(
            "Sparsity: with nest=False all fields share a single matrix, which PyOP2 does not make "
            "with the rows or columns of a Global; leave nest out"
        )


def _as_blocks(given: object, dsets: tuple[Any, Any]) -> Blocks:
    """Return the pairs of Maps by block, each pair once, all of them checked."""
    shape = (len(dsets[0]), len(dsets[1]))
    if isinstance(given, Mapping):
        blocks = {_as_block(block, shape): _as_entries(entries) for block, entries in given.items()}
    else:
        blocks = _split(_as_entries(given), shape)
    if not any(blocks.values()):
        raise MapValueError("Sparsity: there is no pair of Maps; pass [(rows, columns, None)]")
    for (i, j), entries in blocks.items():
        rows, columns = tuple(dsets[0])[i], tuple(dsets[1])[j]
        for r, c, _ in entries:
            _check_pair(r, c, rows, columns)
    return blocks


def _mixed_pairs(given: object) -> tuple[Pair, ...]:
    """Return the pairs of MixedMaps given for a Sparsity; empty if given by blocks."""
    if isinstance(given, Mapping):
        return ()
    pairs = dict.fromkeys((rows, columns) for rows, columns, _ in _as_entries(given))
    return tuple(pair for pair in pairs if any(isinstance(map_, MixedMap) for map_ in pair))


def _as_block(block: object, shape: tuple[int, int]) -> tuple[int, int]:
    if (
        isinstance(block, tuple)
        and len(block) == _PAIR
        and all(isinstance(n, int) for n in block)
        and 0 <= block[0] < shape[0]
        and 0 <= block[1] < shape[1]
    ):
        return block
    raise SparsityShapeError(
        f"Sparsity: there is no block {block!r}; the DataSets have {shape[0]} x {shape[1]}"
    )


def _as_entries(given: object) -> tuple[tuple[Any, Any, Regions], ...]:
    if isinstance(given, Map | MixedMap):
        given = [(given, given)]
    elif isinstance(given, tuple) and len(given) == _PAIR and isinstance(given[0], Map | MixedMap):
        given = [given]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise MapTypeError(
            f"Sparsity: expected a list of pairs of Maps, [(rows, columns, regions)], got "
            f"{given!r} of type {type(given).__name__}"
        )
    return tuple(dict.fromkeys(_as_entry(entry) for entry in given))


def _as_entry(entry: object) -> tuple[Any, Any, Regions]:
    if (
        isinstance(entry, str)
        or not isinstance(entry, Sequence)
        or len(entry) not in (_PAIR, _TRIPLE)
    ):
        raise MapTypeError(
            "Sparsity: expected a pair of Maps (rows, columns) or (rows, columns, regions), got "
            f"{entry!r}"
        )
    for what, found in zip(("rows", "columns"), entry[:2], strict=True):
        if found is not None and not isinstance(found, Map | MixedMap):
            raise MapTypeError(
                f"Sparsity: the Map of the {what} must be a Map, or None for a Global, got "
                f"{found!r} of type {type(found).__name__}"
            )
    regions = () if len(entry) == _PAIR or entry[2] is None else tuple(entry[2])
    return entry[0], entry[1], regions


def _split(
    entries: Iterable[tuple[Any, Any, Regions]], shape: tuple[int, int]
) -> dict[tuple[int, int], tuple[tuple[Any, Any, Regions], ...]]:
    """Spread pairs of mixed Maps over the blocks."""
    blocks: dict[tuple[int, int], list[tuple[Any, Any, Regions]]] = {
        (i, j): [] for i in range(shape[0]) for j in range(shape[1])
    }
    for r, c, regions in entries:
        rows, columns = ((None,) if m is None else tuple(m.split) for m in (r, c))
        if (len(rows), len(columns)) != shape:
            raise SparsityShapeError(
                f"Sparsity: a pair of Maps with {len(rows)} x {len(columns)} components, but the "
                f"DataSets have {shape[0]} x {shape[1]}"
            )
        for (i, j), found in blocks.items():
            found.append((rows[i], columns[j], regions))
    return {block: tuple(dict.fromkeys(found)) for block, found in blocks.items()}


def _check_pair(r: Map | None, c: Map | None, rows: Any, columns: Any) -> None:
    for map_, dset, what in ((r, rows, "rows"), (c, columns, "columns")):
        if (map_ is None) != isinstance(dset, GlobalDataSet):
            found = "None" if map_ is None else f"Map '{map_.name}'"
            raise MapTypeError(
                f"Sparsity: {found} for the {what} on {dset}: a Global's rows or columns have no "
                "Map, pass None; all others need one"
            )
    if r is not None and c is not None and r.iterset is not c.iterset:
        raise SparsityShapeError(
            f"Sparsity: Map '{r.name}' starts on Set '{r.iterset.name}', but Map '{c.name}' on "
            f"'{c.iterset.name}'; the two Maps of a pair start on one Set"
        )
    for map_, dset, what in ((r, rows, "rows"), (c, columns, "columns")):
        if map_ is None:
            continue
        if map_.toset is not dset.set:
            raise SparsityShapeError(
                f"Sparsity: Map '{map_.name}' leads to Set '{map_.toset.name}', but the {what} "
                f"are on '{dset.set.name}'; pass a Map {map_.iterset.name} → {dset.set.name}"
            )
        if not map_.has_values and not runtime.static:
            raise MapValueError(
                f"Sparsity: Map '{map_.name}' has no values yet; give it some by "
                "update_values() first"
            )
