# SPDX-License-Identifier: BSD-3-Clause
"""Communicators, checked. Programs run in one process, so far.

With mpi4py, `MPI` is its module and `COMM_WORLD` its communicator; without it both are of this
module, and of one process. A Set or Global that is given a communicator of several processes
refuses it, rather than computing on one part of the mesh; and one that is given none refuses sums
where MPI runs several, which would be those of one part.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, TypeVar

from pyop2cxx.base import extras
from pyop2cxx.exceptions import MissingExtraError, UnsupportedError, UsageError

Result = TypeVar("Result")

_MPI_MODULES = ("mpi4py.MPI", "petsc4py.PETSc")
_SUPPLIED = ("MPI", "COMM_WORLD", "COMM_SELF")


class PyOP2CommError(UsageError):
    """A communicator is not one that can be used here."""


class OneProcess:
    """A communicator of this process alone, where there is no mpi4py.

    It has mpi4py's methods for Python objects. Equal to every other one.

    Example:
        >>> comm = OneProcess()
        >>> comm.rank, comm.size, comm.allreduce(3)
        (0, 1, 3)
    """

    rank = 0
    size = 1
    name = "one process"

    def Get_rank(self) -> int:
        """Return 0."""
        return 0

    def Get_size(self) -> int:
        """Return 1."""
        return 1

    def Dup(self) -> OneProcess:
        """Return this communicator: nothing could tell two apart."""
        return self

    def Free(self) -> None:
        """Do nothing."""

    def barrier(self) -> None:
        """Do nothing: nobody else is waited for."""

    Barrier = barrier

    def bcast(self, found: Result, root: int = 0) -> Result:
        """Return what was given."""
        self._check_root(root)
        return found

    def allreduce(self, found: Result, op: Any = None) -> Result:
        """Return what was given."""
        return found

    def reduce(self, found: Result, op: Any = None, root: int = 0) -> Result:
        """Return what was given."""
        self._check_root(root)
        return found

    def gather(self, found: Result, root: int = 0) -> list[Result]:
        """Return what was given, in a list of one."""
        self._check_root(root)
        return [found]

    def allgather(self, found: Result) -> list[Result]:
        """Return what was given, in a list of one."""
        return [found]

    def _check_root(self, root: int) -> None:
        if root != 0:
            raise PyOP2CommError(f"there is one process, of rank 0; got root={root!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OneProcess)

    def __hash__(self) -> int:
        return hash(OneProcess)

    def __repr__(self) -> str:
        return "OneProcess()"


ALONE = OneProcess()
"""The communicator of what this package makes for itself."""


def __getattr__(name: str) -> Any:
    """Find mpi4py when it is first asked for: importing it starts MPI."""
    if name not in _SUPPLIED:
        raise AttributeError(f"module 'pyop2cxx.runtime.communicators' has no attribute '{name}'")
    try:
        found = extras.load("mpi4py.MPI", "pyop2cxx.runtime.communicators")
    except MissingExtraError:
        alone = OneProcess()
        found = SimpleNamespace(
            Comm=OneProcess, COMM_WORLD=alone, COMM_SELF=alone, SUM="sum", MIN="min", MAX="max"
        )
    return found if name == "MPI" else getattr(found, name)


def as_comm(comm: Any, what: str) -> Any:
    """Return a communicator, of however many processes, or None.

    Raises:
        PyOP2CommError: It has no size: it is no communicator.
    """
    if comm is not None and not isinstance(getattr(comm, "size", None), int):
        raise PyOP2CommError(
            f"{what}: expected a communicator of mpi4py or None, got {comm!r} of type "
            f"{type(comm).__name__}"
        )
    return comm


def checked_comm(comm: Any, what: str) -> Any:
    """Return a communicator that an object is given, or None.

    Raises:
        PyOP2CommError: It is no communicator.
        UnsupportedError: It is of several processes.
    """
    if as_comm(comm, what) is not None and comm.size != 1:
        raise UnsupportedError(
            f"{what}: the communicator is of {comm.size} processes, but programs run in one so "
            "far; use threads or a device, or pass MPI.COMM_SELF where each process has a mesh of "
            "its own"
        )
    return comm


def n_processes() -> int:
    """Return how many processes MPI runs this program in, if the program has started it; else 1."""
    for name in _MPI_MODULES:
        module = sys.modules.get(name)
        if module is not None:
            return int(module.COMM_WORLD.size)
    return 1


def check_alone(comm: Any, what: str, member: str) -> None:
    """Refuse what would be this process's own where several work on one mesh.

    Args:
        comm: What the object was given; None says nothing of other processes.
        what: The object, for the message.
        member: What was asked of it.

    Raises:
        UnsupportedError: Nothing was given, and MPI runs several processes.
    """
    if comm is None and n_processes() > 1:
        raise UnsupportedError(
            f"{what}: '{member}' would be that of this process alone, but MPI runs "
            f"{n_processes()}, and programs run in one so far. Where each process has a mesh of "
            "its own say so: pass comm=MPI.COMM_SELF to its Sets and Globals"
        )


def comm_of(comm: Any, what: str) -> Any:
    """Return the communicator of an object: what it was given, or the world if that is one process.

    Raises:
        UnsupportedError: Nothing was given, and MPI runs several processes.
    """
    if comm is not None:
        return comm
    world = __getattr__("COMM_WORLD")  # which starts MPI
    check_alone(None, what, "comm")
    return world
