# SPDX-License-Identifier: BSD-3-Clause
"""Operations of algebra: who can do them, who does, and how often and how long that was."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pyop2cxx import _core

T = TypeVar("T")

#: What a library may be added for: see `Library`.
REPLACEABLE = ("zero", "copy", "assign", "+", "-", "*", "/", "axpy", "dot")
_BUILTIN, _LOOP = "builtin", "loop"


class Library(Protocol):
    """Somebody else who can do operations on values of the host.

    What is given for an operation: an array for ``"zero"``; two of one shape, the one written
    first, for ``"copy"``; an array, an index and what it is set to for ``"assign"``; the operation,
    result, both operands and a number of threads for ``"+" "-" "*" "/"``; factor, `x`, `y` and
    threads for ``"axpy"``; `x`, `y`, whether `y` is conjugated, and threads for ``"dot"``. Operands
    of the last three kinds have `address`, `n`, `dtype`, and `stride`, the scalars from one value
    to the next; 0: one value stands for all.

    Attributes:
        name: What reports and reasons call it.
        operations: Those that it has.
    """

    name: str
    operations: Collection[str]

    def why_not(self, operation: str, *given: Any) -> str:
        """Say why it cannot do it with these values; empty: it can."""

    def perform(self, operation: str, *given: Any) -> Any:
        """Do it; return the sum of ``"dot"``."""


class Offer(NamedTuple):
    """A library that is there and has an operation.

    Attributes:
        library: What reasons begin with.
        file: What reports call it.
        veto: Why it cannot do it with these values; empty: it can.
        perform: Does it.
    """

    library: str
    file: str
    veto: str
    perform: Callable[[], Any]


class Operations:
    """Lets whoever can do an operation at the least cost do it; counts and measures all of them.

    Safe to use from several threads.

    Args:
        resolver: The dispatcher's.
        configuration: The options.

    Attributes:
        libraries: Whether libraries may be asked: not within `op2.dispatch.expect` without them.
    """

    def __init__(self, resolver: _core.Operations, configuration: Mapping[str, Any]) -> None:
        self.libraries = True
        self._resolver = resolver
        self._configuration = configuration
        self._builtin: dict[tuple[str, Any], _core.OperationCount] = {}
        self._added: dict[str, tuple[Library, ...]] = {}

    def add(self, library: Library) -> None:
        """Ask a library from now on.

        Raises:
            UsageError: It has an operation that nobody may replace, or none.
        """
        unknown = sorted(set(library.operations) - set(REPLACEABLE))
        if unknown or not library.operations:
            known = ", ".join(map(repr, REPLACEABLE))
            raise UsageError(
                f"library '{library.name}' has the operations {sorted(library.operations)}; "
                f"expected some of {known}"
            )
        for operation in library.operations:
            self._added[operation] = (*self._added.get(operation, ()), library)

    @property
    def asks_libraries(self) -> bool:
        """Whether libraries may be asked: sums have bits of their own there."""
        return self.libraries and not self._configuration["deterministic"]

    def asks_added(self, operation: str) -> bool:
        """Whether libraries that were added are asked for an operation."""
        return operation in self._added and self.asks_libraries

    def done(self, operation: str, dtype: Any, function: Callable[..., T], *given: Any) -> T:
        """Carry out an operation that the core has ready code for.

        Args:
            operation: What it is called in reports.
            dtype: Of its values.
            function: The core's.
            *given: What that takes; see `Library`.
        """
        if operation in self._added and self.asks_libraries:
            return self._asked(operation, dtype, function, given)
        start = perf_counter_ns()
        found = function(*given)
        self.note(operation, dtype, perf_counter_ns() - start)
        return found

    def note(self, operation: str, dtype: Any, nanoseconds: int) -> None:
        """Count an operation that the core has just carried out, and how long that took."""
        key = operation, dtype
        count = self._builtin.get(key)
        if count is None:
            count = self._builtin[key] = self._resolver.counted(operation, str(dtype))
        count.add(nanoseconds)

    def _asked(
        self, operation: str, dtype: Any, function: Callable[..., T], given: tuple[Any, ...]
    ) -> T:
        offers = [
            Offer(
                library.name,
                library.name,
                library.why_not(operation, *given),
                lambda library=library: library.perform(operation, *given),  # type: ignore[misc]
            )
            for library in self._added[operation]
        ]
        what = (operation, str(dtype), max(map(_size_of, given)))
        return self._measured(what, offers, lambda: function(*given), _BUILTIN)  # type: ignore[no-any-return]

    def resolved(
        self, what: tuple[str, str, int], offers: Sequence[Offer], own: Callable[[], Any]
    ) -> Any:
        """Do an operation on the host the way that was found to cost less.

        Args:
            what: The operation, its dtype, and the size that its cost depends on.
            offers: Of libraries.
            own: The core's way.
        """
        return self._measured(what, offers, own, _BUILTIN)

    def resolved_on(
        self,
        device: _core.RuntimeDevice,
        what: tuple[str, str, int],
        offer: Offer,
        by_loop: Callable[[], bool],
    ) -> bool:
        """Do one on a device, by a library or by a loop, which is resolved as other loops are.

        Args:
            device: Where the values are. Calls that are measured wait for it.
            what: As for `resolved`.
            offer: The library's.
            by_loop: Does it by a loop; returns whether that was possible.

        Returns:
            Whether it was done.
        """
        place = hex(id(device))
        done = self._measured(what, [offer], by_loop, _LOOP, place, device.finish)
        if done is False and not offer.veto:  # the loop needs what there is not, say a compiler
            self._measured(what, [offer], None, "", place)
            return True
        return done is not False

    def _measured(
        self,
        what: tuple[str, str, int],
        offers: Sequence[Offer],
        own: Callable[[], Any] | None,
        own_name: str,
        place: str = "",
        wait: Callable[[], None] | None = None,
    ) -> Any:
        asked = [offer[:3] for offer in offers]
        decision = self._resolver.decide(*what, place, asked, own_name)
        function = offers[decision.which].perform if decision.which < len(offers) else own
        assert function is not None  # or nobody would have been chosen
        if decision.is_measured and wait is not None:
            wait()
        start = perf_counter_ns()
        found = function()
        if function is own and own_name == _LOOP and found is False:
            return False  # nothing was done
        if decision.is_measured and wait is not None:
            wait()
        self._resolver.done(decision, perf_counter_ns() - start)
        return found


def _size_of(given: Any) -> int:
    """Return how many values an operand has."""
    return int(getattr(given, "n", getattr(given, "size", 0)))
