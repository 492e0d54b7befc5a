# SPDX-License-Identifier: BSD-3-Clause
"""Ragged Maps, whose rows have entries of their own number, and the counts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.arrays import MOST_INT32, address_of, plain_array
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import (
    DataValueError,
    MapTypeError,
    MapValueError,
    ModeValueError,
    SetTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.sets import Set


class Counts(Dat):
    """The numbers of entries of a ragged Map's rows: a Dat that is only read.

    As an argument of a loop, ``map.counts(op2.READ)``, tells the kernel how many rows of values
    the arguments by the Map have.

    Attributes:
        of_map: The ragged Map.
    """

    of_map: RaggedMap
    is_moving = False
    """Whether `op2.renumber` moves the values with the rows."""

    def _check(self, access: Access, path: Map | None) -> Access:
        mode = super()._check(access, path)
        if mode is not READ:
            raise ModeValueError(
                f"{self.label}: counts of Map '{self.of_map.name}' are only read, got {mode.name}"
            )
        return mode

    def view(self, member: str, *, whole: bool, write: bool) -> Array:
        """Return the values on the host, for a member of the public interface."""
        self._refuse(write)
        return super().view(member, whole=whole, write=write)

    def settle(self, *, write: bool) -> None:
        """Let recorded loops run before the values are used."""
        self._refuse(write)
        super().settle(write=write)

    def _brought(self, use: _core.Use, member: str, *, is_explicit: bool = False) -> Array:
        self._refuse(use is not _core.Use.read)
        return super()._brought(use, member, is_explicit=is_explicit)

    def _refuse(self, write: bool) -> None:
        if write and not self.is_moving:
            raise UsageError(
                f"{self.label}: counts of Map '{self.of_map.name}' are as long as its rows, and "
                "cannot be changed; copy them into another Dat"
            )


_LENGTHS = ("longest", "at_longest", "shortest", "mean", "_typical_arity")
"""What is known of the lengths of rows."""


@ends_tracebacks("__init__")
class RaggedMap(Map):
    """A Map whose rows have entries of their own number: the faces of each polygon.

    A kernel reads the values of a row one after the other, and the number of rows of values from
    `counts`. READ takes rows of any length, if the kernel uses the argument entry by entry; with
    another access, or where the kernel hands the argument on, a row has at most 64 entries.

    Args:
        iterset: The source Set.
        toset: The target Set.
        offsets: Shape (iterset.total_size + 1,), where the rows begin in `values`, and their end;
            or a list of rows without `values`.
        values: Shape (offsets[-1],), entries in [0, toset.total_size).
        name: Used in messages; does not affect the generated code.

    Raises:
        SetTypeError: The source or the target is not a Set, or is extruded.
        NameTypeError: The name is not a string.
        DataValueError: The offsets fall, begin or end elsewhere than the values, or are of another
            number; or values are not integers, or out of range.

    Example:
        >>> from pyop2cxx import op2
        >>> cells, faces = op2.Set(2, "cells"), op2.Set(5, "faces")
        >>> faces_of = op2.RaggedMap(cells, faces, [0, 3, 5], [0, 1, 2, 3, 4], "faces_of")
        >>> faces_of.counts.data_ro.tolist(), faces_of.longest, faces_of.mean
        ([3, 2], 3, 2.5)
    """

    is_ragged = True
    is_partial = False

    def __init__(
        self,
        iterset: Set,
        toset: Set,
        offsets: ArrayLike | Sequence[ArrayLike],
        values: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(iterset, toset, 1, None, name)
        for one in (iterset, toset):
            if isinstance(one, ExtrudedSet):
                raise SetTypeError(
                    f"RaggedMap '{self._name}': Set '{one.name}' is extruded; a ragged Map is "
                    "between Sets without layers"
                )
        if values is None:
            offsets, values = self._joined(offsets)
        self._keep(*self._checked_rows(offsets, values))

    @classmethod
    def where_defined(cls, map_: Map, name: str | None = None) -> RaggedMap:
        """Return the Map without the entries -1: each row keeps the others in their order.

        Args:
            map_: A Map with values.
            name: Of the new Map; None means the Map's own.

        Raises:
            MapTypeError: The argument is no Map, or ragged itself.
            MapValueError: The Map has no values.

        Example:
            >>> from pyop2cxx import op2
            >>> edges, cells = op2.Set(2), op2.Set(2)
            >>> cells_of = op2.Map(edges, cells, 2, [[0, 1], [1, -1]])
            >>> op2.RaggedMap.where_defined(cells_of).offsets.tolist()
            [0, 2, 3]
        """
        if not isinstance(map_, Map) or map_.is_ragged:
            raise MapTypeError(
                f"RaggedMap.where_defined: expected a Map with as many entries in each row, got "
                f"{map_!r}"
            )
        rows = map_.values_with_halo
        found = np.asarray(rows) >= 0
        offsets = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
        values = np.asarray(rows)[found]
        return cls(map_.iterset, map_.toset, offsets, values, map_.name if name is None else name)

    def _joined(self, rows: Any) -> tuple[Array, Array]:
        """Return offsets and values of a list of rows."""
        try:
            found = [np.asarray(row) for row in rows]
        except (TypeError, ValueError) as error:
            raise DataValueError(f"RaggedMap '{self._name}': rows: {error}") from None
        for i, row in enumerate(found):
            if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
                raise DataValueError(
                    f"RaggedMap '{self._name}': row {i} must be a list of integers, got "
                    f"{rows[i]!r}; to give offsets, pass the values, too"
                )
        values = np.concatenate([row for row in found if row.size] or [np.zeros(0, np.int64)])
        lengths = np.array([row.size for row in found], np.int64)
        return np.concatenate(([0], np.cumsum(lengths))), values

    def _checked_rows(self, offsets: Any, values: Any) -> tuple[Array, Array]:
        """Return offsets and values, both int64, if they fit each other and the Sets."""
        what = f"RaggedMap '{self._name}'"
        n = self._iterset.total_size
        begins, found = (
            self._numbers(given, f"{what}: {kind}")
            for given, kind in ((offsets, "offsets"), (values, "values"))
        )
        if len(begins) != n + 1:
            raise DataValueError(
                f"{what} from Set '{self._iterset.name}': expected {n + 1} offsets, where the {n} "
                f"rows begin and the last one ends, got {len(begins)}"
            )
        if begins[0] != 0:
            raise DataValueError(f"{what}: offsets must begin at 0, got {begins[0]}")
        if (falls := np.flatnonzero(np.diff(begins) < 0)).size:
            row = int(falls[0])
            raise DataValueError(
                f"{what}: offsets fall at row {row}, from {begins[row]} to {begins[row + 1]}; a "
                "row ends where the next one begins"
            )
        if begins[-1] != len(found):
            raise DataValueError(
                f"{what}: offsets end at {begins[-1]}, but there are {len(found)} values"
            )
        n_targets = self._toset.total_size
        if (wrong := np.flatnonzero((found < 0) | (found >= n_targets))).size:
            at = int(wrong[0])
            row = int(np.searchsorted(begins, at, side="right")) - 1
            raise DataValueError(
                f"{what}: row {row}, slot {at - begins[row]} is {found[at]}, but Set "
                f"'{self._toset.name}' has entities 0 to {n_targets - 1}; leave out what leads "
                "nowhere"
            )
        return begins, found

    @staticmethod
    def _numbers(given: Any, what: str) -> Array:
        try:
            found = plain_array(given, what)
        except DataValueError:
            raise
        except (ValueError, TypeError, RuntimeError, BufferError) as error:
            raise DataValueError(f"{what}: {error}") from None
        if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
            raise DataValueError(
                f"{what} must be integers of shape (n,), got dtype {found.dtype}, shape "
                f"{found.shape}"
            )
        return found.astype(np.int64)

    def _keep(self, begins: Array, found: Array) -> None:
        """Have these rows: their begins, and behind them the entries, in one array."""
        n = len(begins) - 1
        end = len(begins) + len(found)
        is_wide = max(end, self._toset.total_size) > MOST_INT32
        rows = np.empty(end, np.int64 if is_wide else np.int32)
        rows[: n + 1] = begins + n + 1
        rows[n + 1 :] = found
        self.host_values = rows
        self._is_apart = True
        self._note_numberings()
        if self.table is None:
            self.table = _core.MapTable(
                address=address_of(rows),
                index_bytes=rows.itemsize,
                n_rows=n,
                arity=_core.RAGGED,
                n_targets=self._toset.total_size,
            )
        else:
            self.table.move_to(address_of(rows))
            self.table.increment_version()
        lengths = np.diff(begins)
        self.longest = int(lengths.max(initial=0))
        self.at_longest = int(lengths.argmax()) if n else 0
        self.shortest = int(lengths.min()) if n else 0
        self.mean = float(lengths.mean()) if n else 0.0
        squares = float(np.square(lengths, dtype=np.float64).mean()) if n else 0.0
        self._typical_arity = max(1, int(np.ceil(np.sqrt(squares))))

    def become_shared(self, values: Array, n_computed: int) -> None:
        """Have the rows of this rank. What is known of their lengths is of all rows, on all ranks.

        Args:
            values: The entries of each row, -1 behind the last one; shape (iterset.total_size, n).
                The other rows than the computed have none.
            n_computed: How many rows loops visit.
        """
        assert self.table is not None
        of_all = {name: getattr(self, name) for name in _LENGTHS}
        begins = self._rows[: self.table.n_rows + 1]
        self.whole_lengths = crc32(np.diff(begins).astype(np.int64).data)
        is_there = values >= 0
        begins = np.append(0, np.cumsum(is_there.sum(axis=1)))
        self.table = None
        self._keep(begins, values[is_there])
        vars(self).update(of_all)
        self.meetings.clear()

    @property
    def computed_values(self) -> Array:
        """The entries of rows visited by loops, -1 behind the last one; shape (exec_size, n)."""
        return self.padded(np.arange(self._iterset.exec_size))

    def has_equal_rows(self, other: Map) -> bool:
        """Say whether another Map has rows of the same lengths: on all ranks alike."""
        if self is other or not isinstance(other, RaggedMap):
            return self is other
        is_equal = self.whole_lengths == other.whole_lengths
        return is_equal and np.array_equal(self.offsets, other.offsets)

    whole_lengths = 0
    """Checksum of the lengths of all rows, of a Map shared by ranks."""
    longest: int
    """Entries of the longest row."""
    at_longest: int
    """The first of the longest rows, in the numbers of the whole Set."""
    shortest: int
    """Entries of the shortest row."""
    mean: float
    """Entries of a row, on average."""

    @cached_property
    def counts(self) -> Counts:
        """The number of entries of each row, int32: an argument of loops by the Map."""
        lengths = np.diff(self.offsets).astype(np.int32)
        made = Counts(self._iterset, lengths, np.int32, f"{self._name}_counts")
        made.of_map = self
        return made

    @property
    def arity(self) -> int:
        """Refused: rows differ in length; see `counts`, `longest` and `mean`.

        Raises:
            UnsupportedError: Always; what asks for an arity does not take ragged Maps.
        """
        raise UnsupportedError(
            f"RaggedMap '{self._name}': its rows differ in length, and this needs a Map with as "
            "many entries in each row"
        )

    @property
    def typical_arity(self) -> int:
        """Entries of a row, for estimates of sizes: the root of the mean square, rounded up.

        A matrix has at most the product for rows and columns at an element, on average.
        """
        return self._typical_arity

    @property
    def n_entries(self) -> int:
        """Entries of all rows."""
        return len(self._rows) - self._iterset.total_size - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an entry: int64 where int32 does not count the entries or the targets."""
        found: np.dtype[Any] = self._rows.dtype
        return found

    @property
    def shape(self) -> tuple[int, int]:
        """Refused, as `arity`.

        Raises:
            UnsupportedError: Always.
        """
        return (self._iterset.total_size, self.arity)

    @property
    def _rows(self) -> Array:
        assert self.host_values is not None  # given when it was made
        return self.host_values

    @property
    def offsets(self) -> Array:
        """Where the rows begin in `values`, and the end: shape (iterset.total_size + 1,)."""
        n = self._iterset.total_size
        found = self._rows[: n + 1] - (n + 1)
        found.flags.writeable = False
        return found

    def padded(self, elements: Array) -> Array:
        """Return the entries of rows, -1 behind the last one: int64, shape (n, longest)."""
        begins, slots = self._rows[elements], np.arange(self.longest)
        is_there = slots < (self._rows[elements + 1] - begins)[:, None]
        places = np.where(is_there, begins[:, None] + slots, 0)
        found: Array = np.where(is_there, self._rows[places], -1).astype(np.int64)
        return found

    def view(self, member: str, n_rows: int) -> Array:
        """Return the entries of the first rows, one after the other; shape (n,)."""
        n = self._iterset.total_size
        view = self._rows[n + 1 : self._rows[n_rows]] if n else self._rows[1:]
        view.flags.writeable = False
        return view

    def update_values(self, values: ArrayLike) -> None:
        """Refused: the values fit the offsets.

        Raises:
            MapValueError: Always.
        """
        self.replace_values(values)

    def table_values(self) -> Array:
        """Return the array read by loops."""
        return self._rows

    def take_moved(self, rows: Array) -> None:
        """Have the same rows in another order, or with other numbers: an array as loops read it."""
        n = self._iterset.total_size
        self._keep(rows[: n + 1].astype(np.int64) - (n + 1), rows[n + 1 :])

    def replace_values(self, values: ArrayLike) -> None:
        """Refuse other values: they fit the offsets."""
        raise MapValueError(
            f"RaggedMap '{self._name}': its values fit its offsets; make another RaggedMap"
        )

    def check_unchanged(self) -> None:
        """Do nothing: the array belongs to the Map alone."""

    def take_own_memory(self) -> None:
        """Do nothing: the array belongs to the Map alone."""

    def __reduce__(self) -> tuple[Any, ...]:
        sets = (self._iterset, self._toset)
        return (type(self), (*sets, self.offsets, self.values_with_halo, self._name))

    def __str__(self) -> str:
        return (
            f"OP2 RaggedMap: {self._name} from ({self._iterset}) to ({self._toset}) with rows of "
            f"{self.shortest} to {self.longest}"
        )

    def __repr__(self) -> str:
        return f"RaggedMap({self._iterset!r}, {self._toset!r}, ..., {self._name!r})"
