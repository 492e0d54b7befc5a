# SPDX-License-Identifier: BSD-3-Clause
"""Maps from the entities of a Set to the entities of another."""

from __future__ import annotations

import warnings
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import (
    MOST_INT32,
    address_of,
    as_copy,
    as_name,
    checked_copying,
    is_integer,
    is_shared,
    plain_array,
    refuse_copy,
    require_order,
)
from pyop2cxx.exceptions import (
    ArityTypeError,
    DataValueError,
    IndexTypeError,
    IndexValueError,
    MapValueError,
    SetTypeError,
    UnsupportedError,
    user_stacklevel,
)
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import kernel_arguments
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets import from_hdf5
from pyop2cxx.sets.origins import refuse_left_out
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from pyop2cxx.base.arrays import Array


_CHANGED_BEHIND = (
    "The array that the Map was made from has been changed since; plans and matrices go by the "
    "values from before, so pass changed values to Map.update_values"
)
_FILLED = ("values.filled(-1): an entry -1 leads nowhere",)
"""Advice for masked values."""


class MapValues(np.ndarray[Any, np.dtype[Any]]):
    """The values of a Map: a read-only array, except for assignments to elements.

    Attributes:
        map_: The Map, which checks assignments; None for derived arrays.
    """

    map_: Map | None = None

    def __setitem__(self, index: Any, value: Any) -> None:
        """Change values of the Map, like `Map.update_values`, or nothing if a value is wrong."""
        if self.map_ is None:
            super().__setitem__(index, value)
            return
        changed = np.array(self.map_.values_with_halo)
        value = plain_array(value, f"Map '{self.map_.name}': values", *_FILLED)
        if value.dtype.kind == "f":
            changed = changed.astype(np.float64)  # lets the Map see fractions
        changed[: len(self)][index] = value
        self.map_.update_values(changed)


@ends_tracebacks("__init__")
class Map(Shown):
    """A Map from the entities of a Set to entities of another: the two cells of each edge.

    Equal only to the same object.

    Values of any integer dtype are accepted, and kept as int32, or as int64 if needed by the target
    Set. An array in the right form is not copied, until a loop by the Map waits in a chain: then
    the Map takes a copy. Loops build plans from the values, so changes must go through
    `update_values`, or through assignments, as ``map.values[0] = 1``, which call the method. The
    arrays returned by a Map are otherwise read-only.

    Args:
        iterset: The source Set.
        toset: The target Set.
        arity: Number of targets of each entity.
        values: Shape (iterset.total_size, arity), entries in [0, toset.total_size). May be given
            later, by `update_values`, but before the first loop with the Map. An entry -1,
            `VALUE_UNDEFINED`, means no entity: matrices ignore a kernel's results there; using a
            Dat by the Map in a loop over the element is an error.
        name: Used in messages; does not affect the generated code.
        offset: Shape (arity,): how far each entry moves from a layer to the next, where Sets are
            extruded.
        offset_quotient: Shape (arity,): the same where the extrusion is periodic.
        copy: False refuses values whose memory cannot be used in place, True copies them; None
            copies if needed, for example int64.

    Raises:
        SetTypeError: The source or the target is not a Set.
        ArityTypeError: The arity is not a positive integer.
        NameTypeError: The name is not a string.
        DataValueError: The values are not integers, of another number, or out of range.

    Example:
        >>> edges, nodes = Set(2, "edges"), Set(3, "nodes")
        >>> e2n = Map(edges, nodes, 2, [0, 1, 1, 2], "edge2node")
        >>> e2n.values.tolist()
        [[0, 1], [1, 2]]
    """

    VALUE_UNDEFINED: ClassVar[int] = -1
    """The entry without a target."""

    def __init__(
        self,
        iterset: Set,
        toset: Set,
        arity: int,
        values: ArrayLike | None = None,
        name: str | None = None,
        offset: ArrayLike | None = None,
        offset_quotient: ArrayLike | None = None,
        *,
        copy: bool | None = None,
    ) -> None:
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self._name = as_name(name, "Map", f"map_#x{self.uid:x}")
        self._iterset = _as_set(iterset, f"Map '{self._name}': the Set it starts on")
        self._toset = _as_set(toset, f"Map '{self._name}': the Set it leads to")
        refuse_distributed(self)
        self._arity = _as_arity(arity, self._name)
        self._offset = self._as_offset(offset, "offset")
        self._offset_quotient = self._as_offset(offset_quotient, "offset_quotient")
        self.host_values: Array | None = None
        self.is_partial = False
        self.table: _core.MapTable | None = None
        self._entries: dict[int, Map] = {}
        self.meetings: dict[object, tuple[int, int, int] | None] = {}
        self.slots: tuple[int, ...] | None = None
        if values is None and iterset.is_sized and iterset.total_size == 0:
            values = ()
        if values is not None:
            checked, self.is_partial = self._checked(values)
            what = f"Map '{self._name}'"
            self._adopt(refuse_copy(values, checked, checked_copying(copy, what), what))

    @classmethod
    def fromhdf5(cls, iterset: Set, toset: Set, f: Any, name: str) -> Map:
        """Return a Map with the values of an HDF5 dataset.

        Args:
            iterset: The source Set.
            toset: The target Set.
            f: A file or group of h5py's, open.
            name: A dataset of integers, shape (iterset.total_size, arity); also the Map's name.

        Raises:
            DataValueError: The dataset does not exist, or the values do not fit.
            ArityTypeError: The dataset does not have two dimensions.

        Example:
            >>> edges, nodes = Set(2), Set(3)
            >>> Map.fromhdf5(edges, nodes, {"ends": np.array([[0, 1], [1, 2]])}, "ends").arity
            2
        """
        rows = from_hdf5.rows_of(f, name)
        return cls(iterset, toset, rows.shape[1], rows, name)

    numberings = (0, 0)
    """Numberings of source and target Set at the time of the values."""

    def numbered(self) -> Iterator[tuple[Map, Set, int]]:
        """Yield the Maps with the values, each with source and target Set, and the numberings."""
        for end, on in enumerate((self._iterset, self._toset)):
            yield self, on.ground, self.numberings[end]

    followed_by = ""
    """Object depending on the values and unable to follow changes, for messages."""
    _sum: int | None = None
    """Of the values when they were given, if somebody looks whether they change."""
    _is_apart = False
    """Whether the values are known to lie in memory not shown by any array of the program."""
    is_slot = False
    """Whether the Map is a single entry of another Map."""
    is_ragged = False
    """Whether rows have entries of their own number."""
    is_partial: bool
    """Whether entries may lead nowhere."""
    _is_inside = False
    is_made_here = False
    is_of_columns = False
    """Whether two cells of a column lead to a common entity."""

    def _init_like(self, map_: Map, iterset: Set, name: str) -> None:
        """Initialise a path with the same targets as another Map, without values of its own."""
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self._name = name
        self._iterset = iterset
        self._toset = map_.toset
        self._arity = map_.arity
        self._offset = map_.offset
        self._offset_quotient = map_.offset_quotient
        self.host_values = None
        self.table = None
        self._entries = {}
        self.meetings = {}
        self.slots = None

    def current_table(self) -> _core.MapTable | None:
        """Return the values as loops read them, up to date; None if there are none."""
        return self.table

    @cached_property
    def kernel_arg(self) -> Any:
        """The Map without values, for a `GlobalKernel`; always the same object."""
        return kernel_arguments().description(self)

    @property
    def _global_kernel_arg(self) -> Any:
        """The description, by PyOP2's name."""
        return self.kernel_arg

    @property
    def _kernel_args_(self) -> tuple[int]:
        """The address of the values, which PyOP2's programs give to C of their own."""
        return (address_of(self.values_with_halo),)

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        """Objects that PyOP2's programs keep with the Map, such as Maps composed with it."""
        return {}

    @property
    def iterset(self) -> Set:
        """The source Set."""
        return self._iterset

    @property
    def toset(self) -> Set:
        """The target Set."""
        return self._toset

    @property
    def comm(self) -> Any:
        """The communicator of the target Set."""
        return self._toset.comm

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an entry: int64 where the target has more entities than int32 counts."""
        wide = self._toset.is_sized and self._toset.total_size > MOST_INT32
        return np.dtype(np.int64 if wide else np.int32)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of source entities, ghosts included, and arity; tuple of int."""
        return (self._iterset.total_size, self._arity)

    @property
    def arity(self) -> int:
        """Number of targets of each entity."""
        return self._arity

    @property
    def typical_arity(self) -> int:
        """Entries of a row, for estimates of sizes."""
        return self.arity

    @property
    def n_entries(self) -> int:
        """Entries of all rows, ghosts' too."""
        return self._iterset.total_size * self.arity

    def table_values(self) -> Array:
        """Return the array read by loops.

        Raises:
            MapValueError: The Map has no values.
        """
        return self.values_with_halo

    @property
    def width(self) -> int:
        """Entries of a row in the values read by loops."""
        return self._arity

    @property
    def arities(self) -> tuple[int, ...]:
        """The arity of each component: a Map has only one; tuple of int."""
        return (self._arity,)

    @property
    def arange(self) -> tuple[int, ...]:
        """Begin of each component's slots, and the end of the last; tuple of int."""
        return (0, self._arity)

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._name

    @property
    def offset(self) -> Array | None:
        """Distance of each entry between layers; int32, shape (arity,); None without extrusion."""
        return self._offset

    @property
    def offset_quotient(self) -> Array | None:
        """The same for a periodic extrusion; None without periodicity; int32, shape (arity,)."""
        return self._offset_quotient

    @property
    def split(self) -> tuple[Map, ...]:
        """The components: a tuple with only the Map."""
        return (self,)

    @property
    def flattened_maps(self) -> tuple[Map, ...]:
        """The Maps behind a derived Map: a tuple with the Map alone."""
        return (self,)

    @property
    def has_values(self) -> bool:
        """Whether values were given, as they must be before the Map is used in a loop."""
        return self.host_values is not None

    @property
    def values(self) -> Array:
        """The values of the owned entities; shape (iterset.size, arity).

        Assignments to elements go through `update_values`.

        Raises:
            MapValueError: The Map was given none.
        """
        return self.view("values", self._iterset.size)

    @property
    def values_with_halo(self) -> Array:
        """The values of all entities; shape (iterset.total_size, arity); as `values` otherwise.

        Raises:
            MapValueError: The Map was given none.
        """
        return self.view("values_with_halo", self._iterset.total_size)

    def update_values(self, values: ArrayLike) -> None:
        """Change the values. Plans built from the old values are built anew.

        The new values overwrite the old values, so an array sharing memory with the Map changes,
        too. After writing to such an array, pass the array here.

        Args:
            values: Shape (iterset.total_size, arity), entries in [0, toset.total_size).

        Raises:
            DataValueError: They are not integers, of another number, or out of range; the old
                values are kept.
            MapValueError: A Mesh was made of the Map, whose facets depend on the values.

        Example:
            >>> nodes = Set(3, "nodes")
            >>> following = Map(nodes, nodes, 1, [1, 2, 0])
            >>> following.update_values([2, 0, 1])
            >>> following.values.ravel().tolist()
            [2, 0, 1]
        """
        if self.followed_by:
            raise MapValueError(
                f"Map '{self._name}': {self.followed_by} was made of it, and its facets, tags and "
                "volumes go by the values of then; make another Map, and a mesh of it"
            )
        self.replace_values(values)

    def replace_values(self, values: ArrayLike) -> None:
        """Change the values, including all dependent objects."""
        runtime.settle()
        refuse_distributed(self)
        checked, self.is_partial = self._checked(values)
        if self.host_values is None or self.table is None:
            self._adopt(checked)
            return
        self.host_values[...] = checked
        self._note_numberings()
        self.table.increment_version()
        self._note_values()
        runtime.epoch += 1  # strategies depended on the old values

    def take_moved(self, values: Array) -> None:
        """Have the values after a renumbering: an array as loops read it."""
        self.replace_values(values)

    def become_shared(self, values: Array, n_computed: int) -> None:
        """Have the values of this rank; other rows than those computed lead nowhere.

        Args:
            values: Shape (iterset.total_size, arity).
            n_computed: How many rows loops visit.
        """
        found, _ = self._checked(values)
        self.is_partial = bool((found[:n_computed] < 0).any())
        self._adopt(found)
        self.meetings.clear()

    @property
    def is_inside(self) -> bool:
        """Whether on all ranks only owned elements of a shared Set lead to owned entities."""
        return self._is_inside

    def note_inside(self, is_inside: bool) -> None:
        """Note whether only owned elements lead to owned entities, as agreed by all ranks."""
        self._is_inside = is_inside

    @property
    def computed_values(self) -> Array:
        """The values of all rows visited by loops: near ghosts, too; shape (exec_size, arity)."""
        return self.view("computed_values", self._iterset.exec_size)

    def view(self, member: str, n_rows: int) -> Array:
        """Return the values on the host, for a member of the public interface."""
        if self.host_values is None:
            raise MapValueError(
                f"Map '{self._name}': '{member}' was asked for, but the Map was made without "
                "values; give them to Map(...) or to update_values"
            )
        view = self.host_values[:n_rows].view(MapValues)
        view.flags.writeable = False
        view.map_ = self
        return view

    def _note_numberings(self) -> None:
        start, end = self._iterset.ground, self._toset.ground
        self.numberings = start.numbering, end.numbering

    def _adopt(self, values: Array) -> None:
        self.host_values = values
        self._is_apart = False
        self._note_numberings()
        self.table = _core.MapTable(
            address=address_of(values),
            index_bytes=values.itemsize,
            n_rows=values.shape[0],
            arity=self._arity,
            n_targets=self._toset.total_size,
        )
        self._note_values()

    def _note_values(self) -> None:
        """Remember the values, in check mode: a program can change the given array."""
        options, values = runtime.configuration, self.host_values
        is_asked = values is not None and values.size and (options["check"] or options["strict"])
        self._sum = crc32(values.data) if values is not None and is_asked else None

    def check_unchanged(self) -> None:
        """Check for unchanged values, if others hold the memory.

        Plans, matrices, and copies on devices depend on the values.

        Raises:
            MapValueError: The program has changed the values.
        """
        if self.host_values is None or self.host_values.size == 0 or not is_shared(self.__dict__):
            return
        values = self.host_values  # not before: a name for the array counts as a holder
        found = crc32(values.data)
        if found == self._sum:
            return
        try:
            self._check_range(values)
        except DataValueError as error:
            raise MapValueError(f"{error}. {_CHANGED_BEHIND}") from None
        if self._sum is not None:
            raise MapValueError(
                f"Map '{self._name}': its values are others than it was given. {_CHANGED_BEHIND}"
            )
        self._sum = found

    def take_own_memory(self) -> None:
        """Copy the values if shared with arrays of the program: a waiting loop will read them.

        From now on, the program's writes to the given array need `update_values`.
        """
        if self._is_apart or self.host_values is None or self.table is None:
            return
        self._is_apart = True
        if is_shared(self.__dict__):
            self.host_values = as_copy(self.host_values, f"Map '{self._name}'")
            self.table.move_to(address_of(self.host_values))

    def _checked(self, values: ArrayLike) -> tuple[Array, bool]:
        """Return the values as they are kept, and whether some of them lead nowhere."""
        shape = (self._iterset.total_size, self._arity)
        found = self._as_integers(values, "values", shape)
        partial = self._check_range(found)
        wide = self._toset.total_size > MOST_INT32
        dtype = np.dtype(np.int64 if wide else np.int32)
        return np.require(found, dtype=dtype, requirements=("C", "A", "W")), partial

    def _as_integers(self, values: ArrayLike, what: str, shape: tuple[int, ...]) -> Array:
        try:
            found = plain_array(values, f"Map '{self._name}': {what}", *_FILLED)
        except DataValueError:
            raise
        except (ValueError, TypeError, RuntimeError, BufferError) as error:
            raise DataValueError(f"Map '{self._name}': {what}: {error}") from None
        if found.size == 0:
            found = found.astype(np.int32)
        if found.dtype.kind not in "iuf":
            raise DataValueError(
                f"Map '{self._name}': {what} must be integers, got dtype {found.dtype}"
            )
        if found.size != prod(shape):
            raise DataValueError(
                f"Map '{self._name}' from Set '{self._iterset.name}': expected {what} of shape "
                f"{shape}, got shape {found.shape}"
            )
        require_order(found.shape, shape, f"Map '{self._name}'")
        found = found.reshape(shape)
        return self._as_whole(found, what) if found.dtype.kind == "f" else found

    def _as_whole(self, numbers: Array, what: str) -> Array:
        """Return floating-point numbers, for example from ``np.loadtxt``, as integers.

        Digits after the point are cut off, as in PyOP2, but not in silence.
        """
        # in this form, a NaN does not fit either
        bad = np.argwhere(~(np.abs(numbers) < 2.0**63)).tolist()
        if bad:
            at = f"row {bad[0][0]}" + "".join(f", slot {slot}" for slot in bad[0][1:])
            raise DataValueError(
                f"Map '{self._name}': {what} must be integers, got {numbers[tuple(bad[0])]} at "
                f"{at}; -1 stands for no entity"
            )
        found = numbers.astype(np.int64)
        if wrong := np.argwhere(found != numbers).tolist():
            warnings.warn(
                f"Map '{self._name}': {what} must be integers, got {numbers[tuple(wrong[0])]} at "
                f"{wrong[0]}: digits after the point are cut off; were coordinates passed instead?",
                stacklevel=user_stacklevel() - 1,
            )
        return found

    def _check_range(self, values: Array) -> bool:
        """Check the range of entries, and return whether some lead nowhere."""
        n_targets = self._toset.total_size
        least = values.min() if values.size else 0
        if values.size == 0 or (least >= self.VALUE_UNDEFINED and values.max() < n_targets):
            return bool(least < 0)
        row, slot = (int(i) for i in np.argwhere((values < -1) | (values >= n_targets))[0])
        raise DataValueError(
            f"Map '{self._name}': row {row}, slot {slot} is {values[row, slot]}, but Set "
            f"'{self._toset.name}' has entities 0 to {n_targets - 1}; is the numbering from 1, or "
            "the Map's target another Set? (-1 stands for no entity)"
        )

    def _as_offset(self, offset: ArrayLike | None, what: str) -> Array | None:
        if offset is None or np.size(offset) == 0:
            return None
        found = self._as_integers(offset, what, (self._arity,)).astype(np.int32)
        found.flags.writeable = False
        return found

    def __getitem__(self, index: Any) -> Any:
        """Return a single entry of each row as a path, for PyOP2's older conventions.

        Args:
            index: The entry; or ``op2.i[0]``, for all entries in sequence.

        Raises:
            IndexTypeError, IndexValueError: The index is neither.
            UnsupportedError: The index is a slice.
        """
        if hasattr(index, "of_map"):
            return index.of_map(self)
        found = _as_slot(self, index)
        # the same object each time, to give loops a single path
        if found not in self._entries:
            self._entries[found] = MapSlot(self, found)
        return self._entries[found]

    def __le__(self, other: object) -> bool:
        """Return whether two Maps are the same, as used by PyOP2's Sparsity."""
        return self is other

    def __iter__(self) -> Iterator[Map]:
        yield self

    def __len__(self) -> int:
        return 1

    def __reduce__(self) -> tuple[Any, ...]:
        for _, on, numbering in self.numbered() if self.host_values is not None else ():
            refuse_left_out(f"Map '{self._name}'", numbering, on)
        sets = (self._iterset, self._toset)
        offsets = (self._offset, self._offset_quotient)
        return (type(self), (*sets, self._arity, self.host_values, self._name, *offsets))

    def __str__(self) -> str:
        return (
            f"OP2 Map: {self._name} from ({self._iterset}) to ({self._toset}) "
            f"with arity {self._arity}"
        )

    def __repr__(self) -> str:
        return (
            f"Map({self._iterset!r}, {self._toset!r}, {self._arity!r}, None, {self._name!r}, "
            f"{self._offset!r}, {self._offset_quotient!r})"
        )


def map_here(iterset: Set, toset: Set, values: Array, name: str, *, is_inside: bool = False) -> Map:
    """Return a Map between Sets that processes may share, made from other Maps of theirs.

    Ghosts of the Sets must fit: all elements that lead to something owned are visited.

    Args:
        iterset: The source Set.
        toset: The target Set.
        values: In the numbers of this rank, for the first rows; others lead nowhere.
        name: Used in messages.
        is_inside: Whether on all ranks only owned elements lead to owned entities.
    """
    rows = values
    if len(values) < iterset.total_size:
        rows = np.full((iterset.total_size, values.shape[1]), -1, np.int64)
        rows[: len(values)] = values
    made = Map.__new__(Map)
    made.is_made_here = True
    Map.__init__(made, iterset, toset, values.shape[1], rows, name)
    made.is_made_here = False
    made.note_inside(is_inside)
    made.is_partial = bool((rows[: iterset.exec_size] < 0).any())
    return made


def _as_set(found: object, what: str) -> Set:
    if not isinstance(found, Set):
        raise SetTypeError(f"{what} must be a Set, got {found!r} of type {type(found).__name__}")
    return found


def _as_slot(map_: Map, index: Any) -> int:
    what = f"Map '{map_.name}'"
    if isinstance(index, slice):
        raise UnsupportedError(f"{what}: slices of Maps do not exist; pass the Map, or one entry")
    if not is_integer(index):
        raise IndexTypeError(f"{what}: the index must be an integer or of op2.i, got {index!r}")
    if not 0 <= index < map_.arity:
        raise IndexValueError(f"{what} has entries 0 to {map_.arity - 1}, got index {index}")
    return int(index)


def _as_arity(arity: object, name: str) -> int:
    if not is_integer(arity) or not 1 <= arity <= MOST_INT32:
        raise ArityTypeError(
            f"Map '{name}': the arity must be a positive integer up to {MOST_INT32}, got {arity!r}"
        )
    return int(arity)


def refuse_distributed(map_: Map) -> None:
    """Refuse new values between Sets shared by processes: ghosts were chosen by those of then."""
    if map_.is_of_columns or map_.is_made_here:  # from each entity to itself, or to a Global
        return
    for one in (map_.iterset, map_.toset):
        if one.is_distributed:
            raise UnsupportedError(
                f"Map '{map_.name}': Set '{one.name}' is distributed, and its ghosts fit the Maps "
                "of then; make all Maps before op2.distribute"
            )


class EntriesOfMap(Map):
    """Some entries of each row of a Map, in some order; the values are the Map's own."""

    whole_map: Map
    _chosen: list[int]

    def _choose(self, map_: Map, chosen: Iterable[int], name: str) -> None:
        self._init_like(map_, map_.iterset, name)
        self.whole_map = map_
        self._chosen = list(chosen)
        self._arity = len(self._chosen)
        inner = range(map_.arity) if map_.slots is None else map_.slots
        self.slots = tuple(inner[i] for i in self._chosen)
        for which in ("_offset", "_offset_quotient"):
            found: Array | None = getattr(map_, which)
            setattr(self, which, None if found is None else found[self._chosen])

    def numbered(self) -> Iterator[tuple[Map, Set, int]]:
        """Yield Maps with their Sets and numberings."""
        return self.whole_map.numbered()

    @property
    def width(self) -> int:
        """Number of entries of a row in memory."""
        return self.whole_map.width

    @property
    def has_values(self) -> bool:
        """Whether the Map was given values."""
        return self.whole_map.has_values

    @property
    def flattened_maps(self) -> tuple[Map, ...]:
        """The Maps behind a derived Map; tuple."""
        return self.whole_map.flattened_maps

    @property
    def is_partial(self) -> bool:  # type: ignore[override]  # as the Map is now
        """Whether some entries lead nowhere."""
        return self.whole_map.is_partial

    def current_table(self) -> _core.MapTable | None:
        """Return the values as loops read them, up to date; None if there are none."""
        return self.whole_map.current_table()

    @property
    def is_inside(self) -> bool:
        """Whether on all ranks only owned elements lead to owned entities."""
        return self.whole_map.is_inside

    def check_unchanged(self) -> None:
        """Raise an error if the user's memory has changed."""
        self.whole_map.check_unchanged()

    def take_own_memory(self) -> None:
        """Copy the values if the memory belongs to the user."""
        self.whole_map.take_own_memory()

    def view(self, member: str, n_rows: int) -> Array:
        """Return the values on the host, for a member of the public interface."""
        view = self.whole_map.view(member, n_rows)[:, self._chosen]
        view.flags.writeable = False
        return view

    def replace_values(self, values: Any) -> None:
        """Refuse: the values are the Map's own."""
        raise MapValueError(f"Map '{self._name}': update the values of Map '{self.whole_map.name}'")


class MapSlot(EntriesOfMap):
    """A single entry of each row of a Map: ``edge2node[1]``. Of PyOP2's older conventions.

    Args:
        map_: The Map.
        slot: Index of the entry.
    """

    is_slot = True

    def __init__(self, map_: Map, slot: int) -> None:
        self._choose(map_, [slot], f"{map_.name}[{slot}]")


def unindexed(path: Any) -> tuple[Any, int | None]:
    """Return a path without the index of PyOP2's older conventions, and the index.

    Args:
        path: A Map or a replacement; in older conventions an object with `whole`, the Map, and
            `index`.
    """
    whole = getattr(path, "whole", None)
    return (path, None) if whole is None else (whole, path.index)
