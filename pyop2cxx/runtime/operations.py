# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the library for vector operations, and counts calls and time."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pyop2cxx.base import plugs
from pyop2cxx.exceptions import ConfigurationError, UsageError
from pyop2cxx.runtime.tuned import HOST
from pyop2cxx.runtime.tuned_file import of_trial, times_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pyop2cxx import _core
    from pyop2cxx.runtime.libraries import DeviceLibraries
    from pyop2cxx.runtime.tuned import Tuned

T = TypeVar("T")

#: : Operations open to added libraries: see `Library`.
REPLACEABLE = ("zero", "copy", "assign", "+", "-", "*", "/", "axpy", "dot")
_BUILTIN, _LOOP = "builtin", "loop"
_KIND = "algebra"
GROUP = "pyop2cxx.libraries"


class Library(Protocol):
    """An added library for operations on values of the host.

    Arguments of an operation: an array for ``"zero"``; two arrays of equal shape, target first, for
    ``"copy"``; an array, an index and the new values for ``"assign"``; the operation, result, both
    operands and a number of threads for ``"+" "-" "*" "/"``; factor, `x`, `y` and threads for
    ``"axpy"``; `x`, `y`, whether `y` is conjugated, and threads for ``"dot"``. Operands of the last
    three kinds have `address`, `n`, `dtype`, and `stride`, the number of scalars between values; 0:
    a single value stands for all.

    Attributes:
        name: Name in reports and reasons.
        operations: The supported operations.
    """

    name: str
    operations: Collection[str]

    def why_not(self, operation: str, *given: Any) -> str:
        """Return the reason why the library cannot handle the values; empty: none."""

    def perform(self, operation: str, *given: Any) -> Any:
        """Carry out the operation; return the sum of ``"dot"``."""


def plugged_library(name: str) -> Library:
    """Return the library of another package, found by its entry point.

    Args:
        name: Name of the entry point, and of the library.

    Raises:
        ConfigurationError: There is no such entry point, or the target cannot be imported, is no
            library, or has another name.
    """
    found, of = plugs.loaded("library", name, GROUP, plugs.entry_points(GROUP))
    has_all = all(hasattr(found, wanted) for wanted in ("name", "operations", "why_not", "perform"))
    if isinstance(found, type) or not has_all:
        raise ConfigurationError(
            f"{of} is of type {type(found).__name__}; name an object with the attributes "
            f"name, operations, why_not and perform"
        )
    if found.name != name:
        raise ConfigurationError(
            f"{of} is a library called '{found.name}'; name both of them the same"
        )
    library: Library = found
    return library


class Offer(NamedTuple):
    """An available library with an operation.

    Attributes:
        library: Name in reasons.
        file: Name in reports.
        veto: Reason why the library cannot handle the values; empty: none.
        perform: Carries out the operation.
    """

    library: str
    file: str
    veto: str
    perform: Callable[[], Any]


class Operations:
    """Chooses the cheapest provider of an operation; counts and measures all operations.

    Safe to use from several threads.

    Args:
        resolver: The dispatcher's.
        configuration: The options.
        tuned: Measurements of this process and of earlier ones.

    Attributes:
        libraries: Whether libraries may be asked: not within `op2.dispatch.expect` without them.
    """

    def __init__(
        self, resolver: _core.Operations, configuration: Mapping[str, Any], tuned: Tuned
    ) -> None:
        self.libraries = True
        self._tuned = tuned
        self._places: dict[tuple[str, int], str] = {}  # names
        self._learned: set[tuple[Any, ...]] = set()
        self._resolver = resolver
        self._configuration = configuration
        self._builtin: dict[tuple[str, Any], _core.OperationCount] = {}
        self._added: dict[str, tuple[Library, ...]] = {}

    def add(self, library: Library) -> None:
        """Ask a library from now on.

        Raises:
            UsageError: An operation of the library is not replaceable, or there is none.
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
        """Whether added libraries are asked for an operation."""
        return operation in self._added and self.asks_libraries

    def done(self, operation: str, dtype: Any, function: Callable[..., T], *given: Any) -> T:
        """Carry out an operation with ready code in the core.

        Args:
            operation: Name in reports.
            dtype: Dtype of the values.
            function: The core's.
            *given: Arguments of the function; see `Library`.
        """
        if operation in self._added and self.asks_libraries:
            return self._asked(operation, dtype, function, given)
        start = perf_counter_ns()
        found = function(*given)
        self.note(operation, dtype, perf_counter_ns() - start)
        return found

    def note(self, operation: str, dtype: Any, nanoseconds: int) -> None:
        """Count an operation just carried out by the core, with the time."""
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
        self,
        what: tuple[str, str, int],
        offers: Sequence[Offer],
        own: Callable[[], Any] | None,
        own_name: str = _BUILTIN,
    ) -> Any:
        """Carry out an operation in the cheapest measured way; results are not waited for.

        Args:
            what: The operation, the dtype, and the size determining the cost.
            offers: Of libraries.
            own: The core's way; None: there is none.
            own_name: Name of the core's way.
        """
        return self._measured(what, offers, own, own_name if own else "")

    def resolved_on(
        self,
        libraries: DeviceLibraries,
        what: tuple[str, str, int],
        offer: Offer,
        by_loop: Callable[[], bool],
    ) -> bool:
        """Carry out an operation on a device, by a library or by a loop.

        Args:
            libraries: Of the device with the values. Measured calls wait for the device.
            what: As for `resolved`.
            offer: The library's.
            by_loop: Carries out the operation by a loop; returns whether possible.

        Returns:
            Whether the operation was carried out.
        """
        place, wait = libraries.key, libraries.device.finish
        done = self._measured(what, [offer], by_loop, _LOOP, place, wait)
        if done is False and not offer.veto:  # the loop lacks a resource, say a compiler
            self._measured(what, [offer], None, "", place)
            return True
        return done is not False

    def _measured(
        self,
        what: tuple[str, str, int],
        offers: Sequence[Offer],
        own: Callable[[], Any] | None,
        own_name: str,
        place: tuple[str, int] = (HOST, 0),
        wait: Callable[[], None] | None = None,
    ) -> Any:
        asked = [offer[:3] for offer in offers]
        self.learn(place)
        decision = self._resolver.decide(*what, self._places[place], asked, own_name)
        function = offers[decision.which].perform if decision.which < len(offers) else own
        assert function is not None  # otherwise no choice exists
        if decision.is_measured and wait is not None:
            wait()
        start = perf_counter_ns()
        found = function()
        if function is own and own_name == _LOOP and found is False:
            return False  # nothing done
        if decision.is_measured and wait is not None:
            wait()
        self._resolver.done(decision, perf_counter_ns() - start)
        return found

    def learn(self, place: tuple[str, int] = (HOST, 0)) -> None:
        """Take the stored measurements of a place, once.

        Args:
            place: Name of the backend, and index of the device.
        """
        if place in self._places:
            return
        backend, index = place
        self._places[place] = name = "" if backend == HOST else f"{backend}{index}"
        for entry in self._tuned.entries(backend, _KIND):
            times = times_of(entry)
            if entry.key.rpartition(" ")[2] == name and times is not None:
                for way, us in times.items():
                    self._resolver.learn(entry.key, entry.size, way, 1e3 * us)
                self._learned.add((entry.key, entry.size, *sorted(times)))

    def keep_measurements(self) -> None:
        """Note the decided measurements of this process."""
        for key, size, times in self._resolver.decided():
            for (backend, _), name in self._places.items():
                is_new = (key, size, *sorted(times)) not in self._learned
                if is_new and key.rpartition(" ")[2] == name:
                    us = {way: 1e-3 * nanoseconds for way, nanoseconds in times.items()}
                    own = [us[way] for way in (_BUILTIN, _LOOP) if way in us]
                    rule_us = own[0] if own else min(us.values())
                    self._tuned.note(backend, of_trial(_KIND, key, size, key, us, rule_us))


def _size_of(given: Any) -> int:
    """Return how many values an operand has."""
    return int(getattr(given, "n", getattr(given, "size", 0)))
