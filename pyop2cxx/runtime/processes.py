# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a program under MPI: reductions, waits, and the end of all if a process fails.

A wait never lasts for ever. Processes that ask for different things are named, with their lines.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet
from zlib import crc32

import numpy as np

from pyop2cxx.base.moves import kind_of
from pyop2cxx.exceptions import RanksError, UnsupportedError, user_line
from pyop2cxx.runtime import communicators

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from pyop2cxx.base.arrays import Array

Result = TypeVar("Result")
_LOCAL = (
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
)
"""Variables of launchers: number of the process on its node, and how many processes run there."""

_NUMBER = re.compile(r"_#x[0-9a-f]+")
_COMM = "PYOP2CXX_COMM"
_LOGGER = logging.getLogger("pyop2cxx")
_OPERATIONS = {"sum": "SUM", "min": "MIN", "max": "MAX"}
_WIDE = {"f": np.float64, "c": np.complex128, "i": np.int64, "u": np.uint64, "b": np.int64}
_MARK = 1 << 20
"""Greater than all marks of reductions, and exact in all dtypes, also if added up."""
_TRIES = 200
"""Looks at a message between two looks at the clock."""
_HEARING_SECONDS = 1.0
_LAST_WORDS_SECONDS = 0.2
"""For the launcher to bring the message to the terminal."""
PLACES_TAG = 32001
"""Tag of the messages that say where a process waits."""


class Processes:
    """The processes that run the program.

    Args:
        option: Returns the value of an option.
    """

    def __init__(self, option: Callable[[str], Any]) -> None:
        self._comm: Any = None
        self._option = option
        self._live: WeakSet[Any] = WeakSet()
        self._was_asked = False
        self._duplicate: Any = None
        self._hook: Callable[..., Any] | None = None

    def declare(self, comm: Any) -> None:
        """Take the communicator given to `init`; None leaves everything as it is.

        Args:
            comm: A communicator; or ``"world"``.
        """
        if isinstance(comm, str):
            comm = _named(comm)
        if communicators.as_comm(comm, "init") is None:
            return
        self._comm = comm
        if comm.size > 1 and self._hook is None:
            self._hook, sys.excepthook = sys.excepthook, self._end_all

    def forget(self) -> None:
        """Forget the communicator."""
        self._comm = self._duplicate = None
        self._live.clear()
        if self._hook is not None:
            sys.excepthook, self._hook = self._hook, None

    @property
    def comm(self) -> Any:
        """The communicator given to `init` or by the environment; None: nobody said anything."""
        if self._comm is None and os.environ.get(_COMM):
            self.declare(os.environ[_COMM])
        return self._comm

    def note(self, thing: Any) -> None:
        """Remember a Set, Map, Dat or another object on Sets, to be distributed with the others."""
        if self.n > 1:
            self._live.add(thing)
        elif not self._was_asked:
            self._was_asked = True
            self._warn_of_copies()

    def _warn_of_copies(self) -> None:
        n = local_place()[1]
        if self._comm is None and n > 1 and communicators.n_processes() == 1:
            _LOGGER.warning(
                "%d processes run this program, each with the whole mesh: to share it say "
                "op2.init(comm='world') and op2.distribute, else op2.init(comm='self')",
                n,
            )

    @property
    def live(self) -> list[Any]:
        """The remembered objects that still exist, in the order of their making."""
        return sorted(self._live, key=lambda thing: thing.uid)

    @property
    def own_comm(self) -> Any:
        """A duplicate of the communicator, for messages between ranks; all must ask first."""
        if self._duplicate is None:
            self._duplicate = self.comm.Dup()
        return self._duplicate

    @property
    def n(self) -> int:
        """The number of processes in the communicator of `init`; 1 without one."""
        return 1 if self.comm is None else int(self.comm.size)

    def _end_all(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Show an error that nobody caught, and end the processes that would wait for this one."""
        line = user_line_of(trace)
        hook, comm = self._hook or sys.__excepthook__, self.comm
        hook(kind, error, trace)
        at = f" ({line})" if line else ""
        _say(f"rank {comm.rank} of {comm.size}: {kind.__name__}: {error}{at}")
        sys.stdout.flush()
        _abort(comm)

    def check_alone(self, comm: Any, what: str, member: str) -> None:
        """Refuse a result of this process alone, if MPI runs several and nobody said which share.

        Args:
            comm: The object's communicator.
            what: The object, for the message.
            member: The requested member.

        Raises:
            UnsupportedError: Nothing was given, and MPI runs several processes.
        """
        if self.comm is None:
            communicators.check_alone(comm, what, member)

    # Reductions

    def combined(self, comm: Any, values: Array, operation: str, what: str) -> Array:
        """Return values combined over processes; all processes must call this.

        Args:
            comm: The communicator; None: nothing to combine.
            values: The values of this process, of any shape, equal on all.
            operation: "sum", "min" or "max"; NaNs are kept.
            what: The reduced object, for messages, equal on all processes.

        Returns:
            Of the same shape and dtype; sums of small dtypes wrap as in C.

        Raises:
            RanksError: Other processes combine something else.
        """
        if comm is None:
            return values
        given = np.asarray(values)
        dtype = _WIDE[kind_of(given.dtype)]
        sent = np.empty(given.size * 2 + 2, dtype)
        sent[: given.size] = given.reshape(-1)
        is_nan = np.isnan(given).reshape(-1)
        if operation != "sum" and kind_of(given.dtype) == "f":
            sent[: given.size][is_nan] = np.inf if operation == "min" else -np.inf
        sent[given.size : -2] = -1.0 * is_nan if operation == "min" else is_nan
        text = f"{operation} of {plain(what)}"
        mark = crc32(f"{text} {given.size} {given.dtype}".encode()) % _MARK
        sent[-2:] = mark, _MARK - mark
        found = np.empty_like(sent)
        mpi = communicators.MPI
        try:
            request = comm.Iallreduce(sent, found, op=getattr(mpi, _OPERATIONS[operation]))
            self.wait(comm, [request], text)
        except mpi.Exception as error:
            raise RanksError(f"{text}: other ranks reduce something else: {error}") from None
        n = comm.size if operation == "sum" else 1
        if found[-2] != n * mark or found[-1] != n * (_MARK - mark):
            raise RanksError(_listed(comm.allgather(f"{text} ({user_line()})")))
        if operation != "sum" and kind_of(given.dtype) == "f":
            found[: given.size][found[given.size : -2] != 0] = np.nan
        return found[: given.size].astype(given.dtype).reshape(given.shape)

    def all_of(self, comm: Any, thing: Result, what: str) -> list[Result]:
        """Return an object of each process; all processes must call this.

        Args:
            comm: The communicator; None: this process is alone.
            thing: The object of this process.
            what: The call, for messages, equal on all processes.

        Raises:
            RanksError: Other processes call something else.
        """
        if comm is None:
            return [thing]
        self.combined(comm, np.zeros(1), "sum", what)  # a call of MPI for objects has no limit
        found: list[Result] = comm.allgather(thing)
        return found

    # Waits

    def wait(
        self,
        comm: Any,
        requests: Sequence[Any],
        what: str,
        look: Callable[[], None] | None = None,
    ) -> None:
        """Wait for requests of MPI, but not for ever.

        Args:
            comm: The communicator.
            requests: Requests; those of a persistent kind stay usable.
            what: What the process waits for, for messages.
            look: Called now and then, to raise if the wait is in vain.
        """
        test_all = type(requests[0]).Testall if requests else None
        start = None
        while test_all is not None:
            for _ in range(_TRIES):
                if test_all(requests):
                    return
                os.sched_yield()
            now = time.monotonic()
            start = now if start is None else start
            if look is not None:
                look()
            if now - start > self._option("patience"):
                self._give_up(comm, what, now - start)

    def _give_up(self, comm: Any, what: str, seconds: float) -> None:
        """Tell all where this process waits, hear where the others do, and end the program."""
        mpi = communicators.MPI
        here = f"waits in {what} ({user_line()})"
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        kept = [comm.isend(here, dest=rank, tag=PLACES_TAG) for rank in others]
        heard = {comm.rank: here}
        end = time.monotonic() + _HEARING_SECONDS + comm.rank * 0.05  # one after the other
        status = mpi.Status()
        while time.monotonic() < end:
            if comm.iprobe(mpi.ANY_SOURCE, PLACES_TAG, status):
                heard[status.Get_source()] = comm.recv(source=status.Get_source(), tag=PLACES_TAG)
            os.sched_yield()
        rest = sorted(set(range(comm.size)) - set(heard))
        lines = [f"  rank {rank}: {place}" for rank, place in sorted(heard.items())]
        lines += [f"  rank {rank}: computes, or has ended" for rank in rest[:8]]
        text = "\n".join([f"ranks wait for each other, for {seconds:.0f} s:", *lines])
        _say(f"rank {comm.rank}: {text}")
        _abort(comm)
        del kept


def _abort(comm: Any) -> None:
    time.sleep(_LAST_WORDS_SECONDS)
    comm.Abort(1)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _named(comm: str) -> Any:
    """Return the communicator of a name."""
    if comm not in ("world", "self"):
        raise RanksError(
            f"init(comm=), or {_COMM}: expected an object of mpi4py, 'world' or 'self', got "
            f"{comm!r}"
        )
    return communicators.COMM_WORLD if comm == "world" else communicators.COMM_SELF


def plain(text: str) -> str:
    """Return a text without the numbers in names that a rank makes up."""
    return _NUMBER.sub("", text)


def _listed(places: Sequence[str]) -> str:
    """Return a message with the places of ranks that differ."""
    first: dict[str, int] = {}
    for rank, place in enumerate(places):
        first.setdefault(str(place), rank)  # or an object of another call
    lines = [f"rank {rank} is at {place}" for place, rank in first.items()]
    return "ranks disagree: " + "; ".join(lines) + ". All ranks must make the same calls in order"


def local_place() -> tuple[int, int]:
    """Return the number of the process on its node, and how many processes the launcher runs there.

    Example:
        >>> local_place()
        (0, 1)
    """
    for rank, size in _LOCAL:
        here, n = os.environ.get(rank, ""), os.environ.get(size, "")
        if here.isdigit() and n.isdigit() and int(here) < int(n):
            return int(here), int(n)
    return 0, 1


def shared_threads(available: int) -> int:
    """Return the threads of a process, where those of a node divide its processors.

    Args:
        available: Processors that the process may use. A process bound to some keeps them all.
    """
    n_local = local_place()[1]
    if n_local == 1 or len(os.sched_getaffinity(0)) < (os.cpu_count() or 1):
        return available
    return max(1, available // n_local)


def user_line_of(trace: TracebackType | None) -> str:
    """Return the last line of an error's way that is neither ours nor a library's."""
    found = ""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith((ours, "<")):
            found = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def refuse_several(sets: Sequence[Any], what: str, advice: str) -> None:
    """Refuse what is not carried over several processes.

    Args:
        sets: Sets.
        what: The object or call, for the message.
        advice: What to do instead.

    Raises:
        UnsupportedError: A Set is shared by processes, or has ghosts of other processes.
    """
    for one in sets:
        has_ghosts = one.halo is not None and one.is_sized and one.total_size > one.size
        if one.ranks is not None or has_ghosts:
            raise UnsupportedError(
                f"{what}: Set '{one.name}' is shared by several processes, with ghosts that belong "
                f"to others; {advice}"
            )
