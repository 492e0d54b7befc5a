# SPDX-License-Identifier: BSD-3-Clause
"""Base class of Sets: entities of three kinds, their numbers, and their origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from pyop2cxx.base.arrays import MOST_INT64, as_name, is_integer, several
from pyop2cxx.exceptions import (
    ContractError,
    SizeTypeError,
    StaticModeError,
    UnsupportedError,
)
from pyop2cxx.runtime import communicators, runtime
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.halo import checked_halo
from pyop2cxx.sets.origins import Way

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.sets.origins import Digests, Tables

_N_OLDER_SIZES = 4


@dataclass(frozen=True, slots=True)
class SetPartition:
    """A range of a Set's entities.

    Attributes:
        set: The Set.
        offset: The first entity.
        size: How many there are.
    """

    set: Entities
    offset: int
    size: int


@ends_tracebacks("__init__")
class Entities(Shown):
    """The entities of a Set: core, owned but not core, ghosts. See `Set`."""

    is_extruded = False
    """Whether each entity stands for a column."""
    _extruded_periodic = False
    _n_computed: int | None = None
    """Owned entities and ghosts that loops may compute again; None: none are."""
    expects_copies: bool = False
    """Whether the third of PyOP2's four sizes counts ghosts that loops compute again."""
    in_order: Any = None
    """The items of loops in the order of the whole Set, if a loop needed the order."""
    numbering = 0
    """The last renumbering of the Set; objects on the Set remember theirs."""
    origin: Digests | Tables | None = None
    """Origin of the numbers, for a Set of a mesh."""

    @property
    def _extruded(self) -> bool:
        """Whether each entity stands for a column, by PyOP2's name."""
        return self.is_extruded

    def __init__(
        self,
        size: int | Iterable[int] | None = None,
        name: str | None = None,
        halo: Any = None,
        comm: Any = None,
        constrained_size: int = 0,
    ) -> None:
        self.uid = runtime.next_uid()
        self._name = as_name(name, "Set", f"set_#x{self.uid:x}")
        given = size if size is None else several(size)
        self._sizes = _as_sizes(given, self._name)
        self.expects_copies = (
            given is not None and len(given) == _N_OLDER_SIZES and given[1] != given[2]
        )
        self._halo = checked_halo(halo, f"Set '{self._name}'")
        self.given_comm = communicators.as_comm(comm, f"Set '{self._name}'")
        self._check_ranks()
        runtime.processes.note(self)
        self._constrained_size = constrained_size
        self._partition_size = 1024
        self.reordering = Way()
        self.datasets: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
        self.flat_sets: dict[int, Any] = {}  # of scalars, for algebra on devices
        self.column_map: Any = None  # made by the first loop over columns

    @property
    def ground(self) -> Any:
        """The Set with the same numbers: for a Subset the whole Set, for columns the base Set."""
        return self

    @property
    def ranks(self) -> Any:
        """The communicator of the processes that share the entities; None if there is only one."""
        if self.given_comm is not None:
            return communicators.several(self.given_comm)
        return communicators.several(getattr(self._halo, "comm", None))

    def _check_ranks(self) -> None:
        """Refuse a Set of a single process whose Halo is of several: sums would miss the others."""
        of_halo = communicators.several(getattr(self._halo, "comm", None))
        if of_halo is not None and self.given_comm is not None and self.given_comm.size == 1:
            raise UnsupportedError(
                f"Set '{self._name}': the communicator is of one process, but that of its Halo of "
                f"{of_halo.size}: sums and norms would be of this process alone; pass the Halo's "
                "communicator"
            )

    def refuse_values(self) -> None:
        """Raise if values cannot live on the entities."""

    @property
    def is_sized(self) -> bool:
        """Whether the size is known, as always unless ``init(static=True)``."""
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
        """Number of core entities: their loops need nothing of other processes."""
        return self._known("core_size")[0]

    @property
    def size(self) -> int:
        """Number of entities owned by the process."""
        return self._known("size")[1]

    @property
    def total_size(self) -> int:
        """Number of entities, owned or ghosts."""
        return self._known("total_size")[2]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The three sizes: core, owned, all; tuple of int."""
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
        """The owned entities outside of the core."""
        core, owned, _ = self._known("owned_part")
        return SetPartition(self, core, owned - core)

    @property
    def exec_size(self) -> int:
        """Number of entities visited by loops that write through Maps.

        These are the owned, and where `op2.distribute` has shared the Set, near ghosts, too.
        """
        owned = self._known("exec_size")[1]
        return owned if self._n_computed is None else self._n_computed

    @property
    def exec_part(self) -> SetPartition:
        """Ghosts visited by loops that write through Maps."""
        owned = self._known("exec_part")[1]
        return SetPartition(self, owned, self.exec_size - owned)

    @property
    def is_distributed(self) -> bool:
        """Whether `op2.distribute` has shared the entities among processes."""
        return self._n_computed is not None

    @property
    def may_have_ghosts(self) -> bool:
        """Whether a process has ghosts: the same on all, also where this one has none."""
        return self.is_distributed or self.size != self.total_size

    @property
    def global_numbers(self) -> Any:
        """The numbers in the whole Set, of ghosts too; int64, shape (total_size,)."""
        if not self.is_distributed:
            return np.arange(self.total_size)
        found = self.ground.halo.local_to_global_numbering
        return found if self.ground is self else found[self.indices]

    def number_of(self, entity: int) -> int:
        """Return the number of an entity in the whole Set, for messages."""
        return int(self.global_numbers[entity]) if self.is_distributed else int(entity)

    @property
    def global_size(self) -> int:
        """Number of entities of all processes; all processes must ask."""
        if self.ranks is None:
            return self.size
        size = np.asarray(self.size)
        return int(runtime.processes.combined(self.ranks, size, "sum", f"Set '{self._name}'"))

    def become_shared(self, sizes: tuple[int, int, int, int], halo: Any, comm: Any) -> None:
        """Have the entities of this rank: core, owned, computed again, all."""
        core, owned, computed, total = sizes
        self._sizes, self._n_computed = (core, owned, total), computed
        self._halo, self.given_comm = halo, comm
        self.flat_sets.clear()
        self.column_map = self.in_order = None

    @property
    def all_part(self) -> SetPartition:
        """All entities."""
        return SetPartition(self, 0, self._known("all_part")[2])

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._name

    @property
    def halo(self) -> Any:
        """How ghosts are exchanged; None without MPI."""
        return self._halo

    @property
    def comm(self) -> Any:
        """The communicator of the processes that share the entities."""
        if self.ranks is not None:
            return self.ranks
        return communicators.comm_of(self.given_comm, f"Set '{self._name}'")


def _as_sizes(size: tuple[Any, ...] | None, name: str) -> tuple[int, int, int] | None:
    if size is None and runtime.static:
        return None
    entries = several(size)
    shown = size[0] if size is not None and len(size) == 1 else size
    are_whole = all(is_integer(n) and n >= 0 for n in entries)
    if len(entries) == _N_OLDER_SIZES and are_whole and entries[1] <= entries[2] <= entries[3]:
        entries = (*entries[:2], entries[3])
    if len(entries) not in (1, 3) or not are_whole:
        hint = "; only under init(static=True) may it be left out" if size is None else ""
        raise SizeTypeError(
            f"Set '{name}': the size must be an integer or three, (core, owned, total), none "
            f"negative, got {shown!r}{hint}"
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


def check_first(index: int, what: str) -> None:
    """Raise unless the index is that of the one component."""
    if index != 0:
        raise ContractError(f"{what} has one component, 0; got index {index!r}")
