# SPDX-License-Identifier: BSD-3-Clause
"""Other data for arguments of a loop, by name: ``loop(h=tensor, out=tensor)``.

The analysis of a loop holds for all data of the same kinds, as long as the same arguments share
memory. New data are checked and bound, without analysis or compilation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.arrays import address_of, as_values
from pyop2cxx.data.carrier import Argument, DataCarrier
from pyop2cxx.data.constants import GlobalArg
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.lent import recall
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.ragged import Counts
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    IndexValueError,
    MapValueError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.interop import dlpack
from pyop2cxx.loop.checks import kind_of
from pyop2cxx.loop.numberings import all_current
from pyop2cxx.loop.parts import Kind
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.base.arrays import Array


class Shared:
    """An array in place of a Dat or Global, for a single run, used without a copy.

    Args:
        array: The array.
    """

    __slots__ = ("address", "array", "halo_valid", "n_bytes")

    split = ()

    def __init__(self, array: Array) -> None:
        self.array = array
        self.address = address_of(array)
        self.n_bytes = array.nbytes

    def buffer(self) -> _core.Buffer:
        """Return the memory as a Buffer for loops."""
        found = _core.Buffer(runtime.coherence, "an array", False, 1, self.array.itemsize)
        found.reset(self.address, self.n_bytes, False)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """An argument of a loop, and the objects it accepts.

    Attributes:
        arg: The argument in the loop.
        what: The argument, for messages.
        is_written: Whether the loop writes the values.
        shape: Of arrays; None where only objects of the library can be bound.
    """

    arg: Any
    what: str
    is_written: bool
    shape: tuple[int, ...] | None

    @property
    def data(self) -> Any:
        """The loop's own data."""
        return self.arg.data

    def taken(self, value: Any) -> Any:
        """Return the bound object: an object of the library, or an array sharing memory.

        Args:
            value: An object like the loop's own, or an object holding such a one as `dat`; an array
                of NumPy, or of another library supporting DLPack.

        Raises:
            UsageError, DataTypeError, DataValueError, MapValueError: The value does not fit.
        """
        if isinstance(self.data, Counts):
            raise UsageError(
                f"{self.what}: Dat '{self.data.name}' says how long the rows of a ragged Map are, "
                "and cannot be replaced"
            )
        if type(value) is not np.ndarray:
            held = getattr(value, "dat", value)
            if isinstance(held, DataCarrier | MixedDat | Argument):
                return self._checked_object(held)
            if self.shape is not None and dlpack.on_a_device(value):
                return self.wrapped(value)
        return Shared(self._checked_array(value))

    def _checked_object(self, value: Any) -> Any:
        old = self.data
        like = Dat if isinstance(old, Dat) else type(old)  # a component is a Dat of a single value
        if not isinstance(value, like) or kind_of(value) != kind_of(old):
            _, dtype, dim = kind_of(old)
            raise UsageError(
                f"{self.what}: {type(old).__name__} '{old.name}' of dtype {dtype} and {dim} values "
                f"can be replaced by one like it, got {value!r}"
            )
        if isinstance(old, Dat) and value.set is not old.set:
            raise MapValueError(
                f"{self.what}: expected a Dat on Set '{old.set.name}', got Dat '{value.name}' on "
                f"Set '{value.set.name}'"
            )
        return value

    def _checked_array(self, value: Any) -> Array:
        shape, old = self.shape, self.data
        if shape is None:
            raise UsageError(
                f"{self.what}: an array cannot be bound in place of {type(old).__name__} "
                f"'{old.name}'; pass another {type(old).__name__}, got {type(value).__name__}"
            )
        is_number = isinstance(value, Number | np.generic) and isinstance(self.arg, GlobalArg)
        if is_number and not self.is_written:
            return as_values(value, old.dtype, shape, self.what)
        array = _as_shared(value, self.is_written, self.what)
        if array.dtype != old.dtype:
            raise DataTypeError(
                f"{self.what}: expected dtype {old.dtype}, got {array.dtype}; convert the array "
                "first: its memory is used in place"
            )
        if array.shape != shape and array.shape not in _other_shapes(shape):
            raise DataValueError(f"{self.what}: expected shape {shape}, got {array.shape}")
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            raise DataValueError(
                f"{self.what}: the memory of an array is used in place, so it must be contiguous "
                f"in C order; got strides {array.strides}. Pass a contiguous copy of it"
            )
        if self.is_written and not flags.writeable:
            raise DataValueError(
                f"{self.what}: the loop writes there ({self.arg.access.name}), but the array is "
                "read-only; pass a copy of it"
            )
        return array

    def wrapped(self, value: Any) -> Any:
        """Return an object of the library in the memory of an array."""
        old = self.data
        if isinstance(old, Dat):
            layout = "soa" if old.soa else "aos"
            name = f"data of {old.name}"
            return Dat(old.dataset, value, old.dtype, name, layout, compute=old.stored_apart)
        return type(old)(old.dim, value, None, f"data of {old.name}")

    def is_alike(self, value: Any) -> bool:
        """Return whether an object has the memory layout assumed by the compiled loop."""
        old = self.data
        return bool(
            value.stride == old.stride
            and value.component == old.component
            and value.buffer.is_soa == old.buffer.is_soa
        )


def _other_shapes(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the other shapes with the same values in the same order beyond doubt."""
    flat = int(np.prod(shape))
    return ((flat,), (*shape, 1), shape[:1]) if shape[1:] == (1,) else ((flat,), (*shape, 1))


def _as_shared(value: Any, is_written: bool, what: str) -> Array:
    """Return an array of NumPy with the memory of another library's, or raise."""
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(f"{what}: masked arrays are not taken; pass their data, or fill them")
    if isinstance(value, np.ndarray):
        return value
    has_interface = hasattr(value, "__array_interface__")
    if not has_interface and not hasattr(value, "__dlpack__"):
        raise UsageError(
            f"{what}: expected a Dat or Global, or an array with DLPack or NumPy's interface, got "
            f"{value!r} of type {type(value).__name__}"
        )
    try:
        found: Array = np.asarray(value) if has_interface else np.from_dlpack(value)
        if is_written and not found.flags.writeable and hasattr(value, "__array__"):
            other = np.asarray(value)  # an older NumPy marks memory shared by DLPack as read-only
            return other if other.ctypes.data == found.ctypes.data else found
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise UsageError(f"{what}: the array cannot be shared: {error}") from None
    return found


class CallData:
    """The facts for binding other data to a loop, computed once.

    Args:
        loop: A `ParLoop`, not kept.
        names: Names of the kernel's parameters; empty if unknown.

    Attributes:
        slots: The slot of each argument.
        is_plain: Whether each argument is the array of a single Dat, Global or Constant.
    """

    def __init__(self, loop: Any, names: Sequence[str]) -> None:
        self.label: str = loop.label
        n = len(loop.args)
        self._names = list(names[:n]) if len(names) >= n else []
        self._numbers = {name: i for i, name in enumerate(self._names) if name}
        self.slots = [self._slot(loop, i) for i in range(n)]
        self._buffers = [part.buffer for part in loop.parts]
        parts = loop.parts
        self.is_plain = [part.number for part in parts] == list(range(n)) and all(
            part.kind in (Kind.ROWS, Kind.TOTAL) and not part.is_of_matrix for part in parts
        )
        memory = [shared for _, shared in loop.symbolic().numbers]
        self._partners = [
            [j for j in range(n) if j != i and memory[j] == memory[i]] if self.is_plain else []
            for i in range(n)
        ]

    def _slot(self, loop: Any, i: int) -> Slot:
        arg = loop.args[i]
        name = f" ('{self._names[i]}')" if self._names else ""
        data, shape = arg.data, None
        if isinstance(arg, DatArg) and data.stride == 0 and not runtime.static:
            shape = data.shape_for("data")
        elif isinstance(arg, GlobalArg):
            shape = data.dim
        what = f"{self.label}: argument {i}{name}"
        return Slot(arg=arg, what=what, is_written=arg.access is not READ, shape=shape)

    def number_of(self, key: object) -> int:
        """Return the index of an argument given by name or number.

        Raises:
            IndexValueError: The argument does not exist.
        """
        if isinstance(key, str):
            found = self._numbers.get(key)
            if found is not None:
                return found
        elif isinstance(key, int | np.integer) and 0 <= key < len(self.slots):
            return int(key)
        if key in runtime.constants:
            raise IndexValueError(
                f"{self.label}: '{key}' is a Const, which all loops share; assign to its data"
            )
        by_name = ", ".join(map(repr, self._numbers)) or "none of them known by name"
        raise IndexValueError(
            f"{self.label} has arguments 0 to {len(self.slots) - 1}, by the kernel's parameters "
            f"{by_name}; got {key!r}"
        )

    def taken(self, given: Mapping[Any, Any]) -> dict[int, Any]:
        """Return the bound objects by index of the argument.

        Args:
            given: Objects or arrays, by names or numbers of arguments.

        Raises:
            UsageError: An object does not fit, or an argument is given twice; nothing is changed.
        """
        found: dict[int, Any] = {}
        spans: dict[int, tuple[int, int]] = {}
        for key, value in given.items():
            i = self.number_of(key)
            if i in found:
                raise UsageError(f"{self.slots[i].what} is given twice, by name and by number")
            found[i] = taken = self.slots[i].taken(value)
            is_ours = taken is value or type(taken) is Shared or hasattr(value, "dat")
            spans[i] = span_of(taken) if is_ours else _span_on_device(value)
        if self.is_plain:
            self._check_apart(found, spans)
        return found

    def _check_apart(
        self, bound: Mapping[int, Any], bound_spans: Mapping[int, tuple[int, int]]
    ) -> None:
        """Check that the same arguments share memory as during the analysis of the loop."""
        slots = self.slots
        spans = [
            bound_spans[i] if i in bound_spans else span_of(slot.data)
            for i, slot in enumerate(slots)
        ]
        for i in bound:
            partners = self._partners[i]
            for j, span in enumerate(spans):
                if j == i:
                    continue
                if j in partners:
                    if span != spans[i]:
                        raise self._parted(i, j)
                elif _meet(span, spans[i]) and (slots[i].is_written or slots[j].is_written):
                    raise UsageError(
                        f"{slots[i].what} would share memory with argument {j}, and one of them is "
                        "written, which was not so when the loop was made; pass arrays that do not "
                        "overlap, or make another loop with these data"
                    )

    def _parted(self, i: int, j: int) -> UsageError:
        first, second = sorted((i, j))
        return UsageError(
            f"{self.label}: arguments {first} and {second} had the same memory when the loop was "
            "made; give both the same data, or make another loop"
        )

    def has_place_for(self, number: int, value: Any) -> bool:
        """Say whether an object can stand for an argument without analysis, sharing no memory."""
        return (
            self.is_plain
            and not self._partners[number]
            and self.slots[number].is_alike(value)
            and not any(
                _meet(span_of(value), span_of(slot.data))
                for i, slot in enumerate(self.slots)
                if i != number
            )
        )

    def replace(self, number: int, arg: Any) -> None:
        """Replace an argument; `has_place_for` must hold."""
        self.slots[number] = replace(self.slots[number], arg=arg)
        self._buffers[number] = arg.data.buffer

    def buffers(self, bound: Mapping[int, Any]) -> list[_core.Buffer] | None:
        """Return the memory of all arguments; None if the data need a new analysis.

        Args:
            bound: Result of `taken`.
        """
        if not self.is_plain:
            return None
        found = list(self._buffers)
        for i, value in bound.items():
            if type(value) is Shared:
                found[i] = value.buffer()
                continue
            if not self.slots[i].is_alike(value):
                return None
            if isinstance(value, Dat):
                value.allocated("par_loop")
            found[i] = value.buffer
        return found


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _span_on_device(tensor: Any) -> tuple[int, int]:
    """Return begin and end of a foreign tensor's memory, or a substitute.

    The memory is contiguous. A library without addresses gets an interval for each object.
    """
    interface = getattr(tensor, "__cuda_array_interface__", None)
    if interface is None:
        return -id(tensor), -id(tensor) + 1
    address = int(interface["data"][0])
    n_bytes = int(np.prod(interface["shape"])) * np.dtype(interface["typestr"]).itemsize
    return address, address + n_bytes


def span_of(value: Any) -> tuple[int, int]:
    """Return begin and end of memory; objects without memory lie at negative numbers."""
    if type(value) is Shared:
        return value.address, value.address + value.n_bytes
    buffer: _core.Buffer | None = getattr(value, "buffer", None)
    if buffer is None:
        return -id(value), -id(value) + 1
    if buffer.n_bytes == 0:
        return -value.uid, -value.uid + 1
    return buffer.address, buffer.address + buffer.n_bytes


def run(loop: Any, given: Mapping[Any, Any]) -> None:
    """Run a loop once with other data.

    Args:
        loop: A `ParLoop`.
        given: As for `CallData.taken`.
    """
    loop.follow_distribution()
    bound = loop.call_data.taken(given)
    recorder = runtime.here.recorder if runtime.recorders else None
    if recorder is not None and recorder.is_of_graph:
        _check_kept(loop.call_data, bound)
        replaced(loop, bound).compute()
    elif runtime.recorders:
        runtime.settle()  # earlier calls come first
        with runtime.at_once():
            _run_now(loop, bound, given)
    else:
        _run_now(loop, bound, given)


def _check_kept(data: CallData, bound: Mapping[int, Any]) -> None:
    """Refuse writes of a graph to the program's arrays."""
    for i, value in bound.items():
        if isinstance(value, Shared) and data.slots[i].is_written and runtime.device:
            raise UnsupportedError(
                f"{data.slots[i].what}: a graph on a device writes to Dats, not to arrays of the "
                "host; pass a Dat made of the array, and read its data after submit()"
            )


def _run_now(loop: Any, bound: dict[int, Any], given: Mapping[Any, Any]) -> None:
    if loop.epoch != runtime.epoch:
        loop.prepare()
    if runtime.device is not None or runtime.coherence.is_active:
        _run_by_objects(loop, bound, given)
    elif not _run_bound(loop, bound):
        replaced(loop, bound).compute()


def _run_bound(loop: Any, bound: Mapping[int, Any]) -> bool:
    """Run a prepared loop on other memory; False: nothing done, an analysis is needed."""
    data, ready = loop.call_data, loop.bound_run
    used = ((bound.get(i, arg.data), arg.map_) for i, arg in enumerate(loop.args))
    if not ready.is_plain or not all_current(loop.iterset, used):
        return False
    buffers = data.buffers(bound)
    if buffers is None:
        return False
    args = [_Bound(bound[i], arg.access) if i in bound else arg for i, arg in enumerate(loop.args)]
    ready.once(args, partial(loop.prepared.run_with, buffers))
    return True


class _Bound(NamedTuple):
    """The part of an argument used by a run."""

    data: Any
    access: Any


def _run_by_objects(loop: Any, bound: dict[int, Any], given: Mapping[Any, Any]) -> None:
    """Run a loop where values are on devices, too: arrays take part as Dats and Globals."""
    slots, device = loop.call_data.slots, runtime.device
    arrays = [i for i, value in bound.items() if isinstance(value, Shared)]
    for i in arrays:
        bound[i] = slots[i].wrapped(bound[i].array)
        bound[i].to_device()  # requested by the call, like the way back
    if not _run_bound(loop, bound):
        replaced(loop, bound).compute()
    elif device is not None:
        recall(loop.lent)
        recall(value.lent_out for i, value in bound.items() if i not in arrays)
    for i in arrays:
        if slots[i].is_written:
            bound[i].to_host()
    if device is not None and any(dlpack.on_a_device(value) for value in given.values()):
        device.finish()  # others do not wait for the stream of loops


def replaced(loop: Any, bound: Mapping[int, Any]) -> Any:
    """Return a separate loop with other data, to be analysed anew."""
    slots, found = loop.call_data.slots, loop.__copy__()
    objects = {
        i: slots[i].wrapped(value.array) if isinstance(value, Shared) else value
        for i, value in bound.items()
    }
    args = tuple(arg.of(objects[i]) if i in objects else arg for i, arg in enumerate(loop.args))
    found.take(args)
    return found
