# SPDX-License-Identifier: BSD-3-Clause
"""Nodes for functions of the library, for example scans, and calls of other libraries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.moves import kind_of, seen_flat
from pyop2cxx.chain.tasks import is_plain, is_whole, mirror_of_loops
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.whole import start_of
from pyop2cxx.exceptions import CheckError, UnsupportedError
from pyop2cxx.graph.joins import Join
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, Placed
from pyop2cxx.runtime.seams import scans
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.globals import Global
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.graph.operations import Operation, Replaced


_FEW = 3
"""Rows of a chunk in the second scan of check mode: fewer than usual."""
_TAKEN = {"sum": np.add, "min": np.minimum, "max": np.maximum}


class Fill(HostCall):
    """Setting all values to the same number.

    Args:
        target: A Dat or a Global; a Mat to 0 only.
        value: The number.
        name: Name in messages; None means 'set' and the target's name.
    """

    def __init__(self, target: Any, value: Any, name: str | None = None) -> None:
        self.target, self.value = target, value
        fill = target.zero if value == 0 else partial(target.assign, value)
        super().__init__(name or f"set {target.name}", fill, [], [target])

    def task(self) -> _core.GraphTask | None:
        """Return a single command: zeros, or a few numbers."""
        target = self.target
        if not is_whole(target):
            return None
        values = _host_values(target)
        is_zero = self.value == 0
        if not is_zero and (values.nbytes % 4 or values.nbytes > _core.MOST_SET_BYTES):
            return None
        numbers = b"" if is_zero else np.full(values.shape, self.value, values.dtype).tobytes()
        return _core.graph.FillTask(mirror_of_loops(), target.buffer, numbers)

    def notes(self) -> Iterator[Callable[[], None]]:
        """A Dat has values in the numbers of now, on ghosts too."""
        if isinstance(self.target, Dat):
            yield self._note

    def _note(self) -> None:
        self.target.numbering = self.target.dataset.set.numbering
        self.target.halo_valid = True

    def lent(self) -> Iterator[Lent]:
        """Lent memory of the target, on a device."""
        return _lent_of(self.target)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same of other data."""
        if not self._is_met(replaced):
            return self
        return Fill(replaced.get(self.target.uid, self.target), self.value)


class Copy(HostCall):
    """A copy of all values into another Dat or Global.

    Args:
        source: The Dat or Global read.
        target: The Dat or Global written.
        casting: As for `Dat.copy`.
    """

    def __init__(self, source: Any, target: Any, casting: str) -> None:
        self.source, self.target, self.casting = source, target, casting

        def copy() -> None:
            source.copy(target, casting=casting)

        super().__init__(f"copy {source.name} to {target.name}", copy, [source], [target])

    def task(self) -> _core.GraphTask | None:
        """Return a single command; None if values are converted, or differ in layout."""
        source, target = self.source, self.target
        if source is target or not (is_whole(source) and is_whole(target)):
            return None
        from_, to = _host_values(source), _host_values(target)
        if from_.dtype != to.dtype or np.shares_memory(from_, to):
            return None
        if source.buffer.is_soa != target.buffer.is_soa:
            return None
        return _core.graph.CopyTask(mirror_of_loops(), target.buffer, source.buffer)

    def notes(self) -> Iterator[Callable[[], None]]:
        """A Dat takes over the source's numbering."""
        if isinstance(self.target, Dat):
            yield self._note

    def _note(self) -> None:
        self.target.numbering = self.source.numbering
        self.target.halo_valid = self.source.halo_valid

    def lent(self) -> Iterator[Lent]:
        """Lent memory of both, on a device."""
        yield from _lent_of(self.source)
        yield from _lent_of(self.target)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same of other data."""
        if not self._is_met(replaced):
            return self
        source, target = (replaced.get(one.uid, one) for one in (self.source, self.target))
        return Copy(source, target, self.casting)


class Scan(HostCall):
    """Sums, minima, maxima or joins of all entities before, or up to, each entity of a Set.

    Args:
        source: Values to sum.
        target: Target of the sums.
        operation: ``"sum"``, ``"min"``, ``"max"``, or a `Join` of the user.
        inclusive: Whether an entity's result has the entity itself.
        may_compile: Whether loops may be compiled for the scan on the host; on a device, and for
            joins, always.
    """

    def __init__(
        self,
        source: Dat,
        target: Dat,
        operation: str | Join = "sum",
        *,
        inclusive: bool = False,
        may_compile: bool = True,
    ) -> None:
        self.source, self.target = source, target
        self.operation, self.inclusive = operation, inclusive
        self._may_compile = may_compile
        name = f"scan {source.name}"
        call: Callable[[], None]
        if isinstance(operation, Join):
            name += f" by {operation.name}"
            call = partial(_scan_by_loops, name, source, target, operation, inclusive=inclusive)
        else:
            call = partial(_scan_by_numpy, source, target, operation, inclusive=inclusive)
        super().__init__(name, call, [source], [target])
        if isinstance(operation, Join):
            self._uses += [(one, READ) for one in operation.constants]
        self._loops: Any = None

    def tasks(self) -> Sequence[_core.GraphTask] | None:
        """Return the loops of the scan; None if compiling is not allowed, or dtypes differ.

        Raises:
            UnsupportedError: The device cannot run the user's kernel.
        """
        source, target = self.source, self.target
        is_join = isinstance(self.operation, Join)
        may_compile = self._may_compile or is_join or mirror_of_loops() is not None
        if not may_compile or not (is_plain(source) and is_plain(target)):
            return None
        from_, to = _host_values(source), _host_values(target)
        is_apart = source is target or not np.shares_memory(from_, to)
        is_number = is_join or (from_.dtype == to.dtype and kind_of(from_.dtype) in "iuf")
        if not is_number or not is_apart or not from_.size:
            return None
        try:
            self._loops = scans().ScanLoops(
                source, target, self.operation, inclusive=self.inclusive
            )
            tasks = [LoopOperation(loop).task() for loop in self._loops.loops]
        except UnsupportedError:
            if is_join:
                raise
            return None  # for example, no float64 on the device
        return None if None in tasks else [task for task in tasks if task is not None]

    def as_loops(self) -> Inner:
        """Return a scan by a kernel as loops over Sets of chunks, for saved graphs."""
        operation, inclusive = self.operation, self.inclusive
        made = scans().ScanLoops(
            self.source, self.target, operation, inclusive=inclusive, by_maps=True
        )
        body = [
            Placed(LoopOperation(loop), (i - 1,) if i else (), "")
            for i, loop in enumerate(made.loops)
        ]
        return Inner(self.name, body, tuple(self.uses()))

    def notes(self) -> Iterator[Callable[[], None]]:
        """The sums take over the source's numbering."""
        yield self._note

    def _note(self) -> None:
        self.target.numbering = self.source.numbering
        self.target.halo_valid = True

    def lent(self) -> Iterator[Lent]:
        """Lent memory of both, on a device."""
        yield from _lent_of(self.source)
        yield from _lent_of(self.target)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same of other data."""
        if not self._is_met(replaced):
            return self
        source, target = (replaced.get(one.uid, one) for one in (self.source, self.target))
        return Scan(
            source,
            target,
            self.operation,
            inclusive=self.inclusive,
            may_compile=self._may_compile,
        )


def _scan_by_numpy(source: Dat, target: Dat, operation: str, *, inclusive: bool) -> None:
    values = source.data_ro
    dtype = target.dtype if seen_flat(target.dtype) == target.dtype else target.compute
    sums = np.full_like(target.data_ro, start_of(operation, dtype), dtype)
    if len(sums):
        n = len(values) if inclusive else len(values) - 1
        _TAKEN[operation].accumulate(values[:n], axis=0, out=sums[len(sums) - n :])
    target.data_wo[:] = sums


def _scan_by_loops(
    name: str, source: Dat, target: Dat, operation: Join, *, inclusive: bool
) -> None:
    """Scan copies of the rows; in check mode once more by other chunks, to see the promises kept.

    Raises:
        CheckError: Results depend on the size of chunks. The target is unchanged.
    """
    values = source.data_ro.astype(source.compute)
    rows = Set(len(values), source.dataset.set.name)

    def scanned(size: int | None) -> tuple[Array, bool]:
        given, found = (
            Dat(rows**source.dim, data, source.compute, of.name)
            for data, of in ((values, source), (None, target))
        )
        made = scans().ScanLoops(given, found, operation, inclusive=inclusive, size=size)
        is_checked = [loop.wants_checks() for loop in made.loops]
        for loop in made.loops:
            loop.compute()
        return found.data_ro, any(is_checked)

    sums, is_checked = scanned(None)
    if is_checked:
        _compare(name, target, operation, values, (sums, scanned(_FEW)[0]))
    target.data_wo[:] = sums


def _compare(
    name: str, target: Dat, operation: Join, values: Array, sums: tuple[Array, Array]
) -> None:
    """Raise a CheckError where two groupings of the same rows differ by more than rounding."""
    one, other = sums
    if values.dtype.kind in "fc":
        finite = np.abs(np.where(np.isfinite([*sums, values]), [*sums, values], 0))
        most = finite.max(axis=(0, 1)) * np.sqrt(np.finfo(values.dtype).eps)
        with np.errstate(all="ignore"):
            is_same = (one == other) | (np.abs(one - other) <= most)
        is_same |= np.isnan(one) & np.isnan(other)
    else:
        is_same = one == other
    wrong = np.flatnonzero(~is_same.reshape(len(one), -1).all(axis=1))
    if not len(wrong):
        return
    row = int(wrong[0])
    error = CheckError(
        f"graph node '{name}': kernel '{operation.name}' joins the rows up to {row} to "
        f"{one[row].tolist()}, and to {other[row].tolist()} if they are grouped otherwise; the "
        f"kernel has to be associative, and identity={operation.identity.data_ro.tolist()} "
        f"neutral. '{target.name}' is unchanged"
    )
    error.loop, error.element, error.check = operation.name, row, "scan"
    raise error


class Captured(HostCall):
    """A call of another library, by a function that enqueues the work.

    Args:
        name: Name in messages.
        function: Takes a queue and addresses.
        reads: Dats and Globals read.
        writes: Dats and Globals written.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., object],
        reads: Sequence[Dat | Global],
        writes: Sequence[Dat | Global],
    ) -> None:
        self.function, self.reads, self.writes = function, tuple(reads), tuple(writes)
        super().__init__(name, self._on_host, reads, writes)

    def task(self) -> _core.GraphTask | None:
        """Return the call; None if the device has no queue known to libraries."""
        mirror = mirror_of_loops()
        if mirror is not None and not _core.graph.QueueTask.is_possible(mirror):
            return None
        return self._task(mirror)

    def _task(self, mirror: _core.DeviceMirror | None) -> _core.GraphTask:
        function = self.function
        values = []
        for data, writes in (*((d, False) for d in self.reads), *((d, True) for d in self.writes)):
            _host_values(data)
            values.append((data.buffer, writes))

        def call(queue: int | None, addresses: Sequence[int]) -> None:
            function(queue, *addresses)

        return _core.graph.QueueTask(mirror, f"graph node '{self.name}'", values, call)

    def _on_host(self) -> None:
        _core.graph.LoopGraph([_core.graph.Step([], self._task(None))]).submit(1)

    def notes(self) -> Iterator[Callable[[], None]]:
        """Ghosts of the written Dats are out of date."""
        for data in self.writes:
            if isinstance(data, Dat) and data.dataset.set.halo is not None:
                yield partial(setattr, data, "halo_valid", False)

    def lent(self) -> Iterator[Lent]:
        """Lent memory of all values, on a device."""
        for data in (*self.reads, *self.writes):
            yield from _lent_of(data)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same call with the addresses of other data."""
        if not self._is_met(replaced):
            return self
        ends = ([replaced.get(one.uid, one) for one in of] for of in (self.reads, self.writes))
        return Captured(self.name, self.function, *ends)


def _host_values(data: Dat | Global) -> Array:
    return data.allocated("graph") if isinstance(data, Dat) else data.host_values


def _lent_of(data: Dat | Global) -> Iterator[Lent]:
    if mirror_of_loops() is not None:
        yield data.lent_out
