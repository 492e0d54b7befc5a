# SPDX-License-Identifier: BSD-3-Clause
"""Tracks NumPy arrays handed out by a carrier, read-only while a device has the values."""

from __future__ import annotations

import warnings
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import (
    as_values,
    is_own_memory,
    n_holders,
    owner_of,
    refuse_copy,
    why_copied,
)
from pyop2cxx.exceptions import user_stacklevel
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.runtime.recorder import Recorder


class Holder(Protocol):
    """The interface of a carrier of values for the tracking of memory."""

    host_values: Array | None
    buffer: _core.Buffer


class Lent:
    """Writeable arrays of a carrier's values, handed out or given by the program, and still held.

    The arrays are writeable while writes count: from a use on the host until a device takes the
    values. Objects derived by the program, as ``dat.data[1:3]`` or a memoryview, cannot be made
    read-only: while there may be any, the values are watched.

    A program that gave an array of its own as values, or shares them in another way, may write
    there at any time. `others` is true until only the carrier holds the memory.

    Attributes:
        others: Not empty while the program may hold the memory by other means than `lend`.
        is_open: Whether there may be arrays to end since a device took the values last.
        is_watching: Whether the next uses check for writes in vain.
    """

    __slots__ = (
        *("_carrier", "_ended", "_given", "_n_to_sweep", "out", "_readers"),
        *("is_open", "is_watching", "others"),
    )

    def __init__(self, carrier: Holder) -> None:
        self._carrier = weakref.ref(carrier)
        self.out: list[weakref.ref[Array]] = []
        self._ended: list[weakref.ref[Array]] = []
        self._readers: list[weakref.ref[Array]] = []
        self._given: weakref.ref[Array] | None = None
        self._n_to_sweep = 8
        self.others: list[bool] = []
        self.is_open = False
        self.is_watching = False

    @staticmethod
    def any_held(of: Iterable[Lent]) -> bool:
        """Return whether a writeable array of any of the given objects is held now."""
        for one in of:  # generators would cost half of the time of recording a loop
            if one.out:
                one.sweep()
                if one.out:
                    return True
            if one.others and one.is_held_by_others():
                return True
        return False

    @property
    def held(self) -> str:
        """Return a description of the writeable arrays held by the program; empty if none.

        End of messages: "the program holds ...".
        """
        carrier: Any = self._carrier()
        if carrier is None:
            return ""
        if self.out:
            self.sweep()
        if self.out:
            return f"a writeable array of {carrier.label}, from data; let go of it, or take data_ro"
        if self.others and self.is_held_by_others():
            return f"the array that {carrier.label} was made of; give it a copy: array.copy()"
        return ""

    def is_held_by_others(self) -> bool:
        """Return whether values may change on the host without a call of the library.

        Values on a device cannot change: writes on the host do not count meanwhile.
        """
        carrier = self._carrier()
        if carrier is None:
            return False
        if runtime.device is not None and carrier.buffer.where != _core.Where.host:
            return False
        if has_strangers(carrier, self._readers):
            return True
        self.others.clear()  # new holders can get the memory by `lend` only
        return False

    def share(self) -> None:
        """Note that the program has got the memory by other means than `lend`."""
        self.others[:] = [True]

    def lend(self, view: Array) -> Array:
        """Hand out an array; arrays ended by a device become writeable again.

        Views of the array keep the array alive: NumPy lets views hold only the owner of the memory,
        the library's array, but looks no further than a memoryview. Of bfloat16 there is none, so
        that such values count as shared.
        """
        self._reopen()
        if view.dtype.kind == "V":
            self.share()
            view = view.view()
        else:
            view = np.asarray(memoryview(view))  # type: ignore[arg-type]  # an array is a buffer
        self.out.append(weakref.ref(view))
        self.is_open = True
        if len(self.out) > self._n_to_sweep:
            self.sweep()
            self._n_to_sweep = 2 * len(self.out) + 8
        return view

    def give(self, data: object, values: Array) -> None:
        """Note that the values lie in memory given by the program, if so.

        Args:
            data: The given object.
            values: The carrier's array, made of the object.
        """
        if isinstance(data, np.ndarray):
            if not np.may_share_memory(data, values):
                return  # converted: the carrier's own memory
            self._given = weakref.ref(data)
        self.share()
        self.is_open = True

    def recall(self) -> None:
        """End the arrays: a device has taken the values, so later host writes would be lost."""
        self._ended += self._set_writeable(self.out, writeable=False)
        self.out.clear()
        self.is_open = False
        self._end_given()
        self._watch()

    def trade(self, other: Lent) -> None:
        """Exchange the notes of two carriers that exchange their memory."""
        self._given, other._given = other._given, self._given
        self.others[:], other.others[:] = other.others[:], self.others[:]

    def end(self) -> None:
        """Reopen the arrays of a dying carrier: the memory is now the program's alone."""
        self._reopen()

    def _end_given(self) -> None:
        given = None if self._given is None else self._given()
        if given is not None and given.flags.writeable and _can_open_again(given):
            given.flags.writeable = False
            runtime.ended[id(given)] = given

    def _reopen(self) -> None:
        given = None if self._given is None else self._given()
        if runtime.ended.get(id(given)) is given and given is not None:
            with suppress(ValueError):  # a device has the values of the owning array
                given.flags.writeable = True  # first, or NumPy refuses views of the array
                del runtime.ended[id(given)]
        if self._ended:
            self.out.extend(self._set_writeable(self._ended, writeable=True))
            self._ended = []

    def sweep(self) -> None:
        """Forget arrays no longer held. The list object stays, since chains refer to it."""
        self.out[:] = [known for known in self.out if known() is not None]

    def _watch(self) -> None:
        """Let the next uses see whether somebody wrote in vain, if somebody could."""
        carrier = self._carrier()
        self._readers = [one for one in self._readers if one() is not None]
        self._ended = [one for one in self._ended if one() is not None]
        # a memoryview keeps the source array alive
        is_held = bool(self._ended) or (
            carrier is not None and has_strangers(carrier, self._readers)
        )
        if carrier is not None and (is_held or self.is_watching):
            carrier.buffer.watch(is_held)
        self.is_watching = is_held

    def used(self) -> None:
        """Check a use of watched values on the host."""
        self._watch()

    def read(self, view: Array) -> None:
        """Note a read-only array handed out while the values are watched."""
        self._readers.append(weakref.ref(view))

    @staticmethod
    def _set_writeable(
        known: Iterable[weakref.ref[Array]], *, writeable: bool
    ) -> list[weakref.ref[Array]]:
        """Mark the held arrays, and return them; arrays changed by the program are skipped."""
        marked = []
        for one in known:
            view = one()
            if view is not None and view.flags.writeable != writeable:
                with suppress(ValueError):  # a device has the values of the owning array
                    view.flags.writeable = writeable
                    marked.append(one)
        return marked


def may_wait(recorder: Recorder | None, of: Iterable[Lent]) -> bool:
    """Return whether an operation on values may be recorded instead of being done now.

    Meanwhile no array may be writeable; the nodes of a graph run at a submit, and use the values of
    then.

    Args:
        recorder: The recorder; None if there is none.
        of: The arrays of all used values.
    """
    return recorder is not None and (recorder.is_of_graph or not Lent.any_held(of))


def recall(lent: Iterable[Lent]) -> None:
    """End the held arrays of values taken by a device."""
    for arrays in lent:
        if arrays.is_open:
            arrays.recall()


def recalling(run: Callable[[], bool], lent: Iterable[Lent]) -> Callable[[], bool]:
    """Return a callable that runs a task on a device, and ends the arrays of used values.

    Args:
        run: Says whether values were copied.
        lent: The arrays of all used values; repetitions are allowed.
    """
    ended = tuple({id(one): one for one in lent}.values())
    if not ended:
        return run

    def run_and_recall() -> bool:
        has_copied = run()
        for arrays in ended:  # not `recall`: a call would cost a tenth of a loop's time
            if arrays.is_open:
                arrays.recall()
        return has_copied

    return run_and_recall


def given_values(
    data: ArrayLike,
    dtype: DTypeLike | None,
    shape: tuple[int, ...],
    what: str,
    copy: bool | None = None,
    *,
    is_written: bool = True,
) -> Array:
    """Return the values given by a program, like `as_values`.

    A program passing a tensor of another library expects writes of loops there, so a copy is
    mentioned. NumPy's arrays and lists behave as in `np.asarray`.

    Args:
        data: The given data.
        dtype: As of `as_values`.
        shape: As of `as_values`.
        what: The object, for messages.
        copy: As of `refuse_copy`.
        is_written: Whether loops may write the values.

    Raises:
        DataTypeError, DataValueError, OutOfMemoryError: As `as_values` and `refuse_copy`.
    """
    found = refuse_copy(data, _given_values(data, dtype, shape, what), copy, what)
    is_tensor = hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray | np.generic)
    if copy is None and is_tensor and not hasattr(data, "lent_out"):
        reason = why_copied(data, found) if getattr(data, "ndim", 1) else ""  # or a number
        message = (
            f"{what}: the {type(data).__name__} is copied, because {reason}: what loops write does "
            "not reach it, and what is written there does not reach loops; pass one that fits, or "
            "copy=True to say so, or copy=False for an error"
        )
        if reason and is_written:
            warnings.warn(message, stacklevel=user_stacklevel() - 1)
        elif reason:
            runtime.logger.debug("%s", message)
    return found


def _given_values(
    data: ArrayLike, dtype: DTypeLike | None, shape: tuple[int, ...], what: str
) -> Array:
    """Return the values.

    An array made read-only because a device has the values of another carrier of the same memory
    counts as writeable.
    """
    if not (isinstance(data, np.ndarray) and runtime.ended.get(id(data)) is data):
        return as_values(data, dtype, shape, what)
    with suppress(ValueError):  # the owning array has ended, too
        data.flags.writeable = True
    try:
        return as_values(data, dtype, shape, what)
    finally:
        data.flags.writeable = False


def _can_open_again(given: Array) -> bool:
    """Return whether NumPy lets a read-only array be made writeable again.

    NumPy asks the owner of the memory, but arrays from DLPack do not say. Such arrays are watched.
    """
    if given.flags.owndata:
        return True
    owner = given.base
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable or owner.flags.owndata:
            return True
        owner = owner.base
    try:
        return not memoryview(owner).readonly  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return False


def has_strangers(carrier: Holder, known: Iterable[weakref.ref[Array]]) -> bool:
    """Return whether unknown arrays may show a carrier's memory.

    Memory of other libraries counts as shown.
    """
    values = carrier.host_values
    if values is None:
        return False
    memory = owner_of(values)
    if not is_own_memory(memory):
        return True
    n_known = sum(view is not None and view.base is memory for view in (one() for one in known))
    del memory, values
    return n_holders(carrier.__dict__) - n_holders({"host_values": np.zeros(1)}) > n_known
