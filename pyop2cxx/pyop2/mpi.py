# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.mpi`` by programs for PyOP2."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pyop2cxx.runtime import communicators
from pyop2cxx.runtime.communicators import OneProcess, PyOP2CommError, as_comm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")

__all__ = [
    "OneProcess",
    "PyOP2CommError",
    "collective",
    "compilation_comm",
    "internal_comm",
    "is_pyop2_comm",
    "safe_noncollective",
    "temp_internal_comm",
]


def __getattr__(name: str) -> Any:
    """Find `MPI`, `COMM_WORLD` and `COMM_SELF` when they are first asked for."""
    return getattr(communicators, name)


def collective(function: Callable[..., Result]) -> Callable[..., Result]:
    """Mark a function to be called by all processes, for readers."""
    return function


def is_pyop2_comm(comm: Any) -> bool:
    """Return False: no communicators are made behind the user's."""
    as_comm(comm, "is_pyop2_comm")
    return False


def internal_comm(comm: Any, obj: Any) -> Any:
    """Return the same communicator, where PyOP2 makes an internal communicator for `obj`."""
    return as_comm(comm, "internal_comm")


def compilation_comm(comm: Any, obj: Any) -> Any:
    """Return the same communicator: each process compiles."""
    return as_comm(comm, "compilation_comm")


@contextmanager
def temp_internal_comm(comm: Any) -> Iterator[Any]:
    """Lend the same communicator to a `with` block."""
    yield as_comm(comm, "temp_internal_comm")


def safe_noncollective(
    comm: Any, function: Callable[..., Result], *args: Any, root: int = 0, **options: Any
) -> Result:
    """Call a function on a single process, and return the result, or raise the error, on all.

    Args:
        comm: A communicator, of however many processes.
        function: The function; the result or error is pickled if there are several processes.
        *args: For the function.
        root: The calling process.
        **options: For the function.

    Raises:
        PyOP2CommError: There is no process `root`.
    """
    as_comm(comm, "safe_noncollective")
    size = 1 if comm is None else comm.size
    if not 0 <= root < size:
        raise PyOP2CommError(f"there are processes 0 to {size - 1}; got root={root!r}")
    if size == 1:
        return function(*args, **options)
    outcome: tuple[Any, Exception | None] | None = None
    if comm.rank == root:
        try:
            outcome = function(*args, **options), None
        except Exception as error:  # any error: the others have to know
            outcome = None, error
    found: Result
    found, raised = comm.bcast(outcome, root=root)
    if raised is not None:
        raise raised
    return found
