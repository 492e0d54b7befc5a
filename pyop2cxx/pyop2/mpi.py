# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.mpi``."""

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
    """Mark a function that all processes have to call, for its readers."""
    return function


def is_pyop2_comm(comm: Any) -> bool:
    """Return False: no communicators are made behind the user's."""
    as_comm(comm, "is_pyop2_comm")
    return False


def internal_comm(comm: Any, obj: Any) -> Any:
    """Return the communicator itself, where PyOP2 makes one for `obj` to use inside."""
    return as_comm(comm, "internal_comm")


def compilation_comm(comm: Any, obj: Any) -> Any:
    """Return the communicator itself: this process compiles."""
    return as_comm(comm, "compilation_comm")


@contextmanager
def temp_internal_comm(comm: Any) -> Iterator[Any]:
    """Lend the communicator itself to a `with` block."""
    yield as_comm(comm, "temp_internal_comm")


def safe_noncollective(
    comm: Any, function: Callable[..., Result], *args: Any, root: int = 0, **options: Any
) -> Result:
    """Call a function on one process, and return its result, or raise its error, on all.

    Args:
        comm: A communicator, of however many processes.
        function: What to call; its result or error is pickled if there are several.
        *args: For the function.
        root: The process that calls it.
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
        except Exception as error:  # whatever it is, the others have to know
            outcome = None, error
    found: Result
    found, raised = comm.bcast(outcome, root=root)
    if raised is not None:
        raise raised
    return found
