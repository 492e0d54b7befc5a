# SPDX-License-Identifier: BSD-3-Clause
"""The base of recorders: they take loops of a thread for a later run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Recorder:
    """Takes loops of a thread for a later run; without overridden members nothing is taken.

    Attributes:
        takes_all: Whether all operations are recorded, including operations on matrices: nothing
            runs now.
        records: Whether loops are recorded now, not only counted.
        outer: The recorder of the enclosing block; None: there is none.
    """

    takes_all = False
    records = True
    outer: Any = None
    _thread = 0

    @property
    def is_of_graph(self) -> bool:
        """Whether the recorded loops become a graph, run when submitted."""
        return self.takes_all or (self.outer is not None and bool(self.outer.takes_all))

    @property
    def waiting(self) -> list[str]:
        """Names of the waiting loops."""
        return []

    def begin_block(self) -> None:
        """Prepare for an inner block with a recorder of its own."""

    def takes_block(self, entries: Sequence[Any], passes: frozenset[str]) -> bool:
        """Record the loops of an inner block together; False: they must run now."""
        return False

    def end(self) -> None:
        """Take nothing any more."""
        self._thread = 0

    def takes(self, loop: Any) -> bool:
        """Record a loop; False: the loop must run now."""
        return False

    def takes_call(self, key: object, kernel: object, args: Sequence[Any]) -> bool | None:
        """Record a loop recorded before with the same objects.

        Returns:
            Whether the loop was recorded; None: known, but to run now, after the waiting loops.
        """
        return False

    def learn(self, key: object, kernel: object, loop: Any, make: Callable[..., Any]) -> None:
        """Remember a loop about to be recorded."""

    def takes_zero(self, carrier: Any) -> bool:
        """Record the setting of all values of an object to zero."""
        return self.takes_action(f"zero {carrier.name}", carrier.zero, (carrier, True), zeroes=True)

    def takes_action(
        self,
        name: str,
        action: Callable[[], None],
        *uses: tuple[Any, bool],
        zeroes: bool = False,
        in_graphs: bool = True,
    ) -> bool:
        """Record another action on values, in the order of the loops.

        Args:
            name: Name in reports.
            action: Carries out the action.
            *uses: Objects used, each with whether the action overwrites all values.
            zeroes: Whether the action sets all written values to zero.
            in_graphs: Whether a graph may contain the action: the effect is the same each time.
        """
        return False

    def takes_copy(self, source: Any, target: Any, casting: str) -> bool:
        """Record a copy of all values of a Dat into another of the same dtype."""
        return False

    def takes_values(self, carrier: Any, values: Any) -> bool:
        """Record new values of a Global; copied."""
        return False

    def settle(self, carrier: Any, *, write: bool) -> None:
        """Run all entries needed before values are read or written."""

    def flush(self) -> None:
        """Run all waiting entries."""

    def settle_for_other(self, carrier: Any, *, write: bool) -> None:
        """Run all entries needed before another thread reads or writes values."""

    def flush_for_other(self) -> None:
        """Run all waiting entries, in a thread other than the recording thread."""

    def note_look(self) -> None:
        """Note a read of values, or the preparation of a loop, while loops run at once."""

    def explain(self) -> Any:
        """Report the functions of the loops, or the reason why they run at once."""
