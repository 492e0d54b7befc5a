# SPDX-License-Identifier: BSD-3-Clause
"""Who else holds the memory of values, and what becomes of that while a device has them."""

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
    from pyop2cxx.runtime.seams import Recorder


class Holder(Protocol):
    """What a carrier of values is to those who look after its memory."""

    _values: Array | None
    _buffer: _core.Buffer


class Lent:
    """Writeable arrays of a carrier's values that were handed out, or given to it, and are held.

    They are writeable as long as what is written there counts: from when the host is asked for the
    values until a device takes them. What the program has made of them, such as
    ``dat.data[1:3]`` or a memoryview, cannot be ended: while there may be any, the values are
    watched.

    A program that made the values of its own array, or shares them in another way, may write there
    at any time. `others` says so until nobody else holds the memory.

    Attributes:
        others: Not empty while the program may hold the memory by other means than `lend`.
        is_open: Whether there may be arrays to end since a device took the values last.
        is_watching: Whether the next uses see that somebody wrote in vain.
    """

    __slots__ = (
        *("_carrier", "_ended", "_given", "_n_to_sweep", "_out", "_readers"),
        *("is_open", "is_watching", "others"),
    )

    def __init__(self, carrier: Holder) -> None:
        self._carrier = weakref.ref(carrier)
        self._out: list[weakref.ref[Array]] = []
        self._ended: list[weakref.ref[Array]] = []
        self._readers: list[weakref.ref[Array]] = []
        self._given: weakref.ref[Array] | None = None
        self._n_to_sweep = 8
        self.others: list[bool] = []
        self.is_open = False
        self.is_watching = False

    @staticmethod
    def any_held(of: Iterable[Lent]) -> bool:
        """Say whether somebody has an array of one of these that may be written now."""
        for one in of:  # generators would cost half of what recording a loop does
            if one._out:
                one._sweep()
                if one._out:
                    return True
            if one.others and one._is_held_by_others():
                return True
        return False

    @property
    def held(self) -> str:
        """What the program holds of the values and may write to; empty if nothing.

        Messages end with this: "the program holds ...".
        """
        carrier: Any = self._carrier()
        if carrier is None:
            return ""
        if self._out:
            self._sweep()
        if self._out:
            return f"a writeable array of {carrier._what}, from data; let go of it, or take data_ro"
        if self.others and self._is_held_by_others():
            return f"the array that {carrier._what} was made of; give it a copy: array.copy()"
        return ""

    def _is_held_by_others(self) -> bool:
        """Say whether values may change on the host without a call of this library.

        On a device nobody writes: what the host writes meanwhile does not count.
        """
        carrier = self._carrier()
        if carrier is None:
            return False
        if runtime.device is not None and carrier._buffer.where != _core.Where.host:
            return False
        if has_strangers(carrier, self._readers):
            return True
        self.others.clear()  # who does not hold the memory now can get it by `lend` only
        return False

    def share(self) -> None:
        """Note that the program has got the memory by other means than `lend`."""
        self.others[:] = [True]

    def lend(self, view: Array) -> Array:
        """Hand out an array; those that a device has ended are writeable again, too.

        Parts of it keep it: NumPy lets parts hold only what owns the memory, which is ours, but
        looks no further than a memoryview.
        """
        self._reopen()
        view = np.asarray(memoryview(view))  # type: ignore[arg-type]  # an array is a buffer
        self._out.append(weakref.ref(view))
        self.is_open = True
        if len(self._out) > self._n_to_sweep:
            self._sweep()
            self._n_to_sweep = 2 * len(self._out) + 8
        return view

    def give(self, data: object, values: Array) -> None:
        """Note that the values lie in memory that the program has given, if they do.

        Args:
            data: What it has given.
            values: The carrier's array, made of that.
        """
        if isinstance(data, np.ndarray):
            if not np.may_share_memory(data, values):
                return  # converted: the memory is ours
            self._given = weakref.ref(data)
        self.share()
        self.is_open = True

    def recall(self) -> None:
        """A device has taken the values: what the host wrote from now on would be lost."""
        self._ended += self._set_writeable(self._out, writeable=False)
        self._out.clear()
        self.is_open = False
        self._end_given()
        self._watch()

    def trade(self, other: Lent) -> None:
        """The carriers exchange their memory, which nobody else holds."""
        self._given, other._given = other._given, self._given
        self.others[:], other.others[:] = other.others[:], self.others[:]

    def end(self) -> None:
        """The carrier is going: what is held of its memory is the program's alone."""
        self._reopen()

    def _end_given(self) -> None:
        given = None if self._given is None else self._given()
        if given is not None and given.flags.writeable and _can_open_again(given):
            given.flags.writeable = False
            runtime.ended[id(given)] = given

    def _reopen(self) -> None:
        given = None if self._given is None else self._given()
        if runtime.ended.get(id(given)) is given and given is not None:
            with suppress(ValueError):  # a device has the values of an array that owns these
                given.flags.writeable = True  # first, or NumPy refuses the others, which it owns
                del runtime.ended[id(given)]
        if self._ended:
            self._out.extend(self._set_writeable(self._ended, writeable=True))
            self._ended = []

    def _sweep(self) -> None:
        """Forget arrays that nobody holds any more. The list stays the same: chains look at it."""
        self._out[:] = [known for known in self._out if known() is not None]

    def _watch(self) -> None:
        """Let the next uses see whether somebody wrote in vain, if somebody could."""
        carrier = self._carrier()
        self._readers = [one for one in self._readers if one() is not None]
        self._ended = [one for one in self._ended if one() is not None]
        # a memoryview keeps the array that it was made of
        is_held = bool(self._ended) or (
            carrier is not None and has_strangers(carrier, self._readers)
        )
        if carrier is not None and (is_held or self.is_watching):
            carrier._buffer.watch(is_held)
        self.is_watching = is_held

    def used(self) -> None:
        """The host has used the values, which were watched."""
        self._watch()

    def read(self, view: Array) -> None:
        """An array that nobody can write through is handed out while the values are watched."""
        self._readers.append(weakref.ref(view))

    @staticmethod
    def _set_writeable(
        known: Iterable[weakref.ref[Array]], *, writeable: bool
    ) -> list[weakref.ref[Array]]:
        """Mark the arrays that are held, and return them; those the program changed are left."""
        marked = []
        for one in known:
            view = one()
            if view is not None and view.flags.writeable != writeable:
                with suppress(ValueError):  # a device has the values of an array that owns these
                    view.flags.writeable = writeable
                    marked.append(one)
        return marked


def may_wait(recorder: Recorder | None, of: Iterable[Lent]) -> bool:
    """Say whether what is done to values may be recorded instead of being done now.

    Nobody may write to them meanwhile; the nodes of a graph run when it is submitted, and use the
    values of then.

    Args:
        recorder: Would record it; None if nobody would.
        of: Of all that is used.
    """
    return recorder is not None and (recorder.is_of_graph or not Lent.any_held(of))


def recall(lent: Iterable[Lent]) -> None:
    """A device has taken the values of these: end the arrays of them that are held."""
    for arrays in lent:
        if arrays.is_open:
            arrays.recall()


def recalling(run: Callable[[], bool], lent: Iterable[Lent]) -> Callable[[], bool]:
    """Return what runs something on a device, and ends the arrays of what it takes.

    Args:
        run: Says whether values were copied.
        lent: Of all that it uses; some may be the same.
    """
    ended = tuple({id(one): one for one in lent}.values())
    if not ended:
        return run

    def run_and_recall() -> bool:
        has_copied = run()
        for arrays in ended:  # not `recall`: a call would cost a tenth of what a loop does
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
    """Return what a program gives as values, as `as_values` does.

    Whoever passes a tensor of another library expects that loops write there, so a copy is
    mentioned. With NumPy's arrays and lists that is as with `np.asarray`.

    Args:
        data: What it gives.
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
    if copy is None and is_tensor and not hasattr(data, "_lent_out"):
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

    An array that is read-only because a device has the values of another carrier of the same memory
    fits as if it were not.
    """
    if not (isinstance(data, np.ndarray) and runtime.ended.get(id(data)) is data):
        return as_values(data, dtype, shape, what)
    with suppress(ValueError):  # the array that owns it has ended, too
        data.flags.writeable = True
    try:
        return as_values(data, dtype, shape, what)
    finally:
        data.flags.writeable = False


def _can_open_again(given: Array) -> bool:
    """Say whether NumPy lets an array be written again once it was made read-only.

    It asks whoever owns the memory, and what comes by DLPack does not say. Such arrays are watched.
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
    """Say whether arrays may show a carrier's memory besides its own and those that are known.

    Memory that is not NumPy's own counts as shown.
    """
    values = carrier._values
    if values is None:
        return False
    memory = owner_of(values)
    if not is_own_memory(memory):
        return True
    n_known = sum(view is not None and view.base is memory for view in (one() for one in known))
    del memory, values
    return n_holders(carrier.__dict__) - n_holders({"_values": np.zeros(1)}) > n_known
