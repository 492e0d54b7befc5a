# SPDX-License-Identifier: BSD-3-Clause
"""What the core does with ready code of its own, so that it can be reported beside loops."""

from __future__ import annotations

from threading import Lock
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Done(NamedTuple):
    """How often an operation was done.

    Attributes:
        operation: "axpy", "+", "zero", "copy", "assign", ...
        dtype: Of the values that it changed, or summed.
        n_calls: How often.
        nanoseconds: How long all that took; on devices until it was enqueued.
    """

    operation: str
    dtype: str
    n_calls: int
    nanoseconds: int


class Builtins:
    """Algebra of Dats and Globals, zeros, copies: carried out, counted and timed.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: dict[tuple[str, Any], tuple[int, int]] = {}

    def done(self, operation: str, dtype: Any, function: Callable[..., T], *given: Any) -> T:
        """Carry out an operation.

        Args:
            operation: What it is called in reports.
            dtype: Of its values.
            function: Does it.
            *given: What that takes.
        """
        start = perf_counter_ns()
        found = function(*given)
        spent = perf_counter_ns() - start
        key = operation, dtype
        with self._lock:
            count, nanoseconds = self._done.get(key, (0, 0))
            self._done[key] = count + 1, nanoseconds + spent
        return found

    def rows(self) -> list[Done]:
        """Return what was done so far, in the order in which it was done first."""
        with self._lock:
            return [
                Done(operation, str(dtype), *numbers)
                for (operation, dtype), numbers in self._done.items()
            ]

    def clear(self) -> None:
        """Forget it."""
        with self._lock:
            self._done.clear()
