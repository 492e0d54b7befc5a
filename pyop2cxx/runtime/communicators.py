# SPDX-License-Identifier: BSD-3-Clause
"""Communicators, checked.

With mpi4py, `MPI` is the module and `COMM_WORLD` the communicator; otherwise both come from this
module, for a single process. Without a communicator, sums are refused if MPI runs several
processes: nobody has said whether they share a mesh.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from pyop2cxx.base import extras
from pyop2cxx.exceptions import MissingExtraError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Result = TypeVar("Result")

_MPI_MODULES = ("mpi4py.MPI", "petsc4py.PETSc")
_SUPPLIED = ("MPI", "COMM_WORLD", "COMM_SELF")


class PyOP2CommError(UsageError):
    """A communicator cannot be used here."""


class OneProcess:
    """A communicator of this process alone, without mpi4py.

    The methods are mpi4py's for Python objects. All instances are equal.

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
        """Return the same communicator: duplicates would be indistinguishable."""
        return self

    def Free(self) -> None:
        """Do nothing."""

    def barrier(self) -> None:
        """Do nothing: there are no other processes."""

    Barrier = barrier

    def bcast(self, found: Result, root: int = 0) -> Result:
        """Return the argument."""
        self._check_root(root)
        return found

    def allreduce(self, found: Result, op: Any = None) -> Result:
        """Return the argument."""
        return found

    def reduce(self, found: Result, op: Any = None, root: int = 0) -> Result:
        """Return the argument."""
        self._check_root(root)
        return found

    def gather(self, found: Result, root: int = 0) -> list[Result]:
        """Return the argument in a list of length 1."""
        self._check_root(root)
        return [found]

    def allgather(self, found: Result) -> list[Result]:
        """Return the argument in a list of length 1."""
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
"""The communicator of the package's own objects."""


def __getattr__(name: str) -> Any:
    """Import mpi4py on first use, since the import starts MPI."""
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
        PyOP2CommError: The object has no size, so is no communicator.
    """
    if comm is not None and not isinstance(getattr(comm, "size", None), int):
        raise PyOP2CommError(
            f"{what}: expected a communicator of mpi4py or None, got {comm!r} of type "
            f"{type(comm).__name__}"
        )
    return comm


def checked_comm(comm: Any, what: str) -> Any:
    """Return the communicator given to an object, or None.

    Raises:
        PyOP2CommError: Not a communicator.
        UnsupportedError: A communicator of several processes.
    """
    if as_comm(comm, what) is not None and comm.size != 1:
        raise UnsupportedError(
            f"{what}: the communicator is of {comm.size} processes, but this call is of one; pass "
            "MPI.COMM_SELF where each process has a mesh of its own"
        )
    return comm


@cache
def persistent_functions() -> tuple[int, int]:
    """Return the addresses of ``MPI_Startall`` and ``MPI_Testall`` in the loaded MPI.

    Raises:
        UnsupportedError: No library with these functions is loaded.
    """
    __getattr__("COMM_WORLD")  # starts MPI
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = dict.fromkeys(line.split()[-1] for line in lines if "/libmpi" in line)
    for path in paths:
        library = ctypes.CDLL(path)
        if hasattr(library, "MPI_Startall"):
            found = (
                ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
                for name in ("MPI_Startall", "MPI_Testall")
            )
            return next(found), next(found)
    raise UnsupportedError(
        "MPI: no loaded library has MPI_Startall; mpi4py is not linked with a libmpi of its own"
    )


def handles_of(requests: Sequence[Any]) -> tuple[list[int], int, int]:
    """Return the addresses of requests' handles, and the bytes of a handle and of a status."""
    mpi = __getattr__("MPI")
    where, size = getattr(mpi, "_addressof"), getattr(mpi, "_sizeof")  # noqa: B009 - of mpi4py
    return [where(one) for one in requests], size(mpi.Request), size(mpi.Status)


def several(comm: Any) -> Any:
    """Return a communicator of several processes; None for others."""
    return comm if getattr(comm, "size", 1) > 1 else None


def n_processes() -> int:
    """Return the number of MPI processes, if the program has started MPI; else 1."""
    for name in _MPI_MODULES:
        module = sys.modules.get(name)
        if module is not None:
            return int(module.COMM_WORLD.size)
    return 1


def check_alone(comm: Any, what: str, member: str) -> None:
    """Refuse a result of this process alone, if several processes share a mesh.

    Args:
        comm: The object's communicator; None says nothing of other processes.
        what: The object, for the message.
        member: The requested member.

    Raises:
        UnsupportedError: Nothing was given, and MPI runs several processes.
    """
    if comm is None and n_processes() > 1:
        raise UnsupportedError(
            f"{what}: '{member}' would be that of this process alone, but MPI runs "
            f"{n_processes()}. Say who shares the mesh: op2.init(comm=MPI.COMM_WORLD), and "
            "op2.distribute, where all processes share it, or comm=MPI.COMM_SELF where each has a "
            "mesh of its own"
        )


def comm_of(comm: Any, what: str) -> Any:
    """Return the communicator of an object: the given, or the world of a single process.

    Raises:
        UnsupportedError: Nothing was given, and MPI runs several processes.
    """
    if comm is not None:
        return comm
    world = __getattr__("COMM_WORLD")  # starts MPI
    check_alone(None, what, "comm")
    return world
