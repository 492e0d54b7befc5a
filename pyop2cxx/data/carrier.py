# SPDX-License-Identifier: BSD-3-Clause
"""Base classes of all objects with values."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import Access, checked_access
from pyop2cxx.base.arrays import (
    address_of,
    as_array,
    as_copy,
    as_dim,
    as_dtype,
    as_name,
    as_numpy,
    as_values,
    as_zeros,
    c_name,
    checked_copying,
    is_shared,
    is_under_pyop2,
)
from pyop2cxx.data.lent import Lent, given_values, may_wait
from pyop2cxx.exceptions import (
    ContractError,
    IndexValueError,
    NoDataError,
    UnsupportedError,
    UsageError,
    user_line,
)
from pyop2cxx.interop import dlpack
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.sets import from_hdf5

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Self

    from pyop2cxx.base.arrays import Array


class DataCarrier(Shown):
    """An object with values, for example a Dat or a Global. Equal only to the same object."""

    kind: ClassVar[str]
    uid: int
    _name: str
    _dtype: np.dtype[Any]
    _compute: np.dtype[Any] | None = None
    buffer: _core.Buffer
    stride = 0
    """Scalars between the beginnings of rows, if a view leaves some out; else 0."""
    component = 0
    """Of the row, where the values begin."""
    host_values: Array | None
    lent_out: Lent

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        return self._dtype

    @property
    def compute(self) -> np.dtype[Any]:
        """The dtype that kernels see: `dtype`, or a wider one of the same kind."""
        return self._dtype if self._compute is None else self._compute

    @property
    def ctype(self) -> str:
        """The C type of a value."""
        return c_name(self._dtype)

    @property
    def dat_version(self) -> int:
        """Version, increased by each use that may write: by loops, and by taking writeable data."""
        self.settle(write=False)
        return self.buffer.version

    def _force_evaluation(self, read: bool = True, write: bool = True) -> None:
        """Run the loops of a chain that read or write the values; see `op2.chain`."""
        self.settle(write=read)

    def increment_dat_version(self) -> None:
        """Note a change of the values by other means."""
        self.settle(write=True)
        self.buffer.increment_version()

    @property
    def _kernel_args_(self) -> tuple[int]:
        """The address of all values on the host, which PyOP2's programs give to C of their own.

        Raises:
            UnsupportedError: Loops run on a device, and the C code would read older values.
        """
        if runtime.device is not None:
            raise UnsupportedError(
                f"{self.label}: its address was asked for, for C code outside of loops, while "
                f"loops run on a device; choose a backend of the host, not {runtime.backend!r}"
            )
        array = self.host_array("_kernel_args_")
        self.use_on_host(_core.Use.read_write, "_kernel_args_")
        return (address_of(array),)

    # Where the values are

    @property
    def residence(self) -> str:
        """Where the values are valid: 'host', 'device', 'both', or 'neither' if there are none."""
        self.settle(write=False)
        return self.buffer.where.name

    def to_host(self) -> None:
        """Copy the values to the host if they are newer on a device.

        Raises:
            ExecutionError: A loop writing the values has failed.
        """
        self.use_on_host(_core.Use.read, "to_host", is_explicit=True)

    def to_device(self) -> None:
        """Copy the values to the present device of loops, unless valid there.

        Nothing happens if loops run on the host, so programs for devices run everywhere.

        Raises:
            ExecutionError: The device is full.
        """
        runtime.require_running(self.label, "to_device")
        device = runtime.device
        if device is not None:
            self.put_on(device, _core.Use.read, "to_device")

    def put_on(self, device: _core.Device, use: _core.Use, member: str) -> None:
        """Copy the values to a device by request of the program."""
        if member != "to_device" or not runtime.writes_graph:  # a copy decides nothing
            self.settle(write=use != _core.Use.read)
        self.host_array(member)
        self.lent_out.recall()
        if self.buffer.on_device(device, use, f"{self.kind}.{member}", is_explicit=True):
            runtime.coherence.attribute(user_line())

    def settle(self, *, write: bool) -> None:
        """Run recorded entries of a chain before the values are read, or written."""
        if write and not runtime.recorders and not runtime.has_several:
            return
        here = runtime.here
        if here.looks is not None and not write:
            here.looks.note_read(self)
        own = here.recorder
        if own is not None:
            own.settle(self, write=write)
        elif not write and here.resting is not None:
            here.resting.note_look()
        if runtime.has_several or (own is None and runtime.recorders):
            runtime.settle_others((self, write))

    def _zero_waits(self) -> bool:
        """Let a chain set all values to zero in order among the loops, if possible."""
        recorder = runtime.recorder if runtime.recorders else None
        if recorder is None or not may_wait(recorder, (self.lent_out,)):
            return False
        return recorder.takes_zero(self)

    def _copy_waits(self, other: DataCarrier, casting: str) -> bool:
        """Let a chain, or a graph, copy in order among the loops, if possible."""
        recorder = runtime.recorder
        if recorder is None or not may_wait(recorder, (self.lent_out, other.lent_out)):
            return False
        return recorder.takes_copy(self, other, casting)

    def host_array(self, member: str) -> Array:
        """Return all values as they lie on the host, up to date or not."""
        raise NotImplementedError

    # Memory shared with other libraries

    def _shared_on_host(self) -> Array:
        """Return the array shared with other libraries, writeable."""
        raise NotImplementedError

    def _shared_shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return shape and strides, in items, of the memory shared on a device."""
        raise NotImplementedError

    def _adopt_on_device(self, shared: _core.exchange.SharedArray) -> None:
        device = runtime.device
        assert device is not None  # otherwise nothing could have been taken
        _core.exchange.adopt(self.buffer, device, shared)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Say where `__dlpack__` finds the values: on the CUDA device of loops, or on the host."""
        return dlpack.place_of(None if runtime.static else runtime.device)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Share the values, writeable, with a library that supports DLPack; counts as a write.

        All earlier loops are done on return, so the consumer's stream does not matter. Later loops,
        uses of `data` and assignments must be synchronised with the consumer by the program: take
        `__dlpack__` again before each write from outside.
        """
        place = self.__dlpack_device__()
        if (place if dl_device is None else tuple(dl_device)) == dlpack.HOST:
            return dlpack.host_capsule(self._shared_on_host(), max_version, copy=copy)
        if copy or (dl_device is not None and tuple(dl_device) != place):
            raise BufferError(
                f"{self.label}: shared as it is on {place} or on the host, not copied"
            )
        return dlpack.device_capsule(self.shared_on_device("__dlpack__"), max_version)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The values on the CUDA device of loops, writeable; counts as a write.

        Raises:
            AttributeError: Loops do not run on a CUDA device.
        """
        if self.__dlpack_device__() == dlpack.HOST:
            raise AttributeError(f"{self.label} is not on a CUDA device: backend {runtime.backend}")
        return dlpack.cuda_interface(self.shared_on_device("__cuda_array_interface__"))

    def shared_on_device(self, member: str, *, write: bool = True) -> _core.exchange.SharedArray:
        """Return the values on the device, for another library."""
        device = runtime.device
        assert device is not None
        shape, strides = self._shared_shape()
        self.put_on(device, _core.Use.read_write if write else _core.Use.read, member)
        if write:
            self.buffer.increment_version()
        device.finish()
        return _core.exchange.share(
            self.buffer, device, self._dtype.name, list(shape), list(strides)
        )

    def set_by_command(self, values: Array) -> bool:
        """Set all values, if they are few, on the host and on the device of loops without a copy.

        Returns:
            Whether possible; if not, nothing is changed.
        """
        self.settle(write=True)
        device = runtime.device
        if device is None or values.nbytes % 4 or not 0 < values.nbytes <= _core.MOST_SET_BYTES:
            return False
        self.buffer.set_on_device(device, values.tobytes())
        self.lent_out.recall()
        return True

    def use_on_host(self, use: _core.Use, member: str, *, is_explicit: bool = False) -> None:
        """Let the host read or write the values; must precede each use of `host_values`.

        Raises:
            TransferError: A copy is needed, but forbidden by ``strict_residency``.
        """
        self.settle(write=use != _core.Use.read)
        coherence = runtime.coherence
        if coherence.is_active and self.buffer.on_host(use, f"{self.kind}.{member}", is_explicit):
            coherence.attribute(user_line())
        if self.lent_out.is_watching:
            self.lent_out.used()

    def zero_values(self) -> None:
        """Set all values to zero where they are."""
        operations = runtime.engine.operations
        if self.host_values is None:  # never requested: all zeros
            operations.note("zero", self._dtype, 0)
            return
        if runtime.coherence.is_active:
            start = perf_counter_ns()
            if self.buffer.zero_on_device():
                operations.note("zero", self._dtype, perf_counter_ns() - start)
                return
        self.use_on_host(_core.Use.write, "zero")
        operations.done("zero", self._dtype, _zero, self.host_values)

    @property
    def _shown(self) -> Array | None:
        """The values for `str` and `repr`, with an explicit copy from the device."""
        if self.host_values is not None:
            self.use_on_host(_core.Use.read, "__str__", is_explicit=True)
        return self.host_values

    def _make_buffer(self, dim: int, *, is_soa: bool = False) -> _core.Buffer:
        self.lent_out = Lent(self)
        return _core.Buffer(
            coherence=runtime.coherence,
            what=self.label,
            is_soa=is_soa,
            dim=dim,
            item_bytes=self._dtype.itemsize,
        )

    def __del__(self) -> None:
        held: Any = getattr(self, "petsc_vector", None)
        if held is not None and not sys.is_finalizing():
            held.keep(self.host_values)
        if runtime.coherence.is_active and not sys.is_finalizing():
            _release(self)

    @property
    def split(self) -> tuple[Self, ...]:
        """The components: a tuple with only the object."""
        return (self,)

    @property
    def label(self) -> str:
        """Kind and name, for messages."""
        return f"{self.kind} '{self._name}'"

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Self:
        if index != 0:
            raise IndexValueError(
                f"{self.label} has one component, 0; got index {index!r}. Its values are in "
                "data and data_ro; DatView(dat, index) is one of the values that an entity has"
            )
        return self


class SetFreeCarrier(DataCarrier):
    """Values without a Set: base of Global, Constant and Const."""

    _kind_accesses: ClassVar[frozenset[Access]]

    def __init__(
        self,
        dim: int | Iterable[int],
        data: ArrayLike | None,
        dtype: DTypeLike | None,
        name: str | None,
        copy: bool | None = None,
    ) -> None:
        self.uid = runtime.next_uid()
        self._name = as_name(name, self.kind, f"{self.kind.lower()}_#x{self.uid:x}")
        self._dim = as_dim(dim, self.label)
        self._cdim = prod(self._dim)
        copied = checked_copying(copy, self.label)
        shared = None
        if data is not None and dlpack.on_a_device(data):
            shared = dlpack.taken(data, runtime.device, self._dim, self.label, copy=copied)
            data, copied = np.empty(self._dim, as_dtype(shared.dtype, self.label)), None
        self.host_values: Array = (
            as_zeros(
                self._dim, as_dtype("float64" if dtype is None else dtype, self.label), self.label
            )
            if data is None
            else given_values(
                *(data, dtype, self._dim, self.label, copied),
                is_written=bool(self._kind_accesses - {Access.READ}),
            )
        )
        self._dtype = as_dtype(self.host_values.dtype, self.label)
        self.buffer = self._make_buffer(self._cdim)
        self.buffer.reset(
            address=address_of(self.host_values),
            n_bytes=self.host_values.nbytes,
            is_zero=data is None,
        )
        if data is not None:
            self.lent_out.give(data, self.host_values)
        if shared is not None:
            self._adopt_on_device(shared)

    @classmethod
    def fromhdf5(cls, f: Any, name: str) -> Self:
        """Return an object with the values of an HDF5 dataset.

        Args:
            f: A file or group of h5py's, open.
            name: Name of the dataset, with the dim as shape; also the name of the object.

        Raises:
            DataValueError: The dataset does not exist.
            DimTypeError: The dataset is a single number without a shape.
            DataTypeError: The dtype is not supported by kernels.
        """
        values = from_hdf5.array_of(f, name, cls.kind)
        make: Any = cls  # the classes order arguments differently
        made: Self = make(values.shape, data=values, name=name)
        return made

    def _checked_call(self, access: object, path: object) -> Access:
        is_complex = self.dtype.kind == "c"
        mode = checked_access(access, self._kind_accesses, is_complex, self.label)
        if path is not None:
            raise ContractError(f"{self.label} belongs to no Set; call it without {path!r}")
        return mode

    def check_readable(self, member: str) -> None:
        """Raise if there is nothing to read."""
        if self._cdim == 0:
            raise NoDataError(f"{self.label}: '{member}' was asked for, but its dim is {self._dim}")

    @property
    def data(self) -> Array:
        """The values, writeable; shape `dim`. Assigning copies new values into them."""
        return self._writeable("data", _core.Use.read_write)

    @data.setter
    def data(self, values: ArrayLike) -> None:
        if is_under_pyop2():  # where a single number is no shorthand for all values
            values = as_array(values, self.dtype, self._dim, self.label)
        self._assign(values)

    @property
    def data_ro(self) -> Array:
        """The values, read-only; shape `dim`."""
        self.check_readable("data_ro")
        self.use_on_host(_core.Use.read, "data_ro")
        view = self.host_values[...]
        view.flags.writeable = False
        return view

    @property
    def data_wo(self) -> Array:
        """The values, to be overwritten; shape `dim`."""
        return self._writeable("data_wo", _core.Use.write)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Let NumPy read the values: ``np.asarray(g)`` copies nothing."""
        return as_numpy(self.data_ro, dtype, copy, self.label)

    def host_array(self, member: str) -> Array:
        """Return the array on the host, up to date or not."""
        return self.host_values

    def _shared_on_host(self) -> Array:
        return self.data

    def _shared_shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self._dim, dlpack.dense_strides(self._dim)

    def _assign(self, values: ArrayLike) -> None:
        self._put(as_values(values, self.dtype, self._dim, self.label))

    def _put(self, given: Array) -> None:
        """Set all values now."""
        self.settle(write=True)
        if not (self._is_on_a_device() and self.set_by_command(given)):
            self.use_on_host(_core.Use.write, "data")
            self.host_values[...] = given
        self.buffer.increment_version()

    def _is_on_a_device(self) -> bool:
        self.settle(write=True)
        if not runtime.coherence.is_active:
            return False
        return self.buffer.where in (_core.Where.device, _core.Where.both)

    def read_values(self, member: str) -> Array:
        """Return the values on the host, for reading by a member."""
        self.use_on_host(_core.Use.read, member)
        return self.host_values

    def _writeable(self, member: str, use: _core.Use) -> Array:
        self.check_readable(member)
        self.use_on_host(use, member)
        self.buffer.increment_version()
        return self.lent_out.lend(self.host_values[...])

    @property
    def dim(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self._dim

    @property
    def cdim(self) -> int:
        """The number of values."""
        return self._cdim

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self._dim

    @property
    def nbytes(self) -> int:
        """The bytes of the values."""
        return self.host_values.nbytes

    def __copy__(self) -> Self:
        """Return another object with the same memory."""
        share(self)
        kind, arguments = self.__reduce__()
        made: Self = kind(*arguments)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._dim, self.read_values("__reduce__"), self.dtype, self._name))


def share(carrier: DataCarrier) -> None:
    """Note that another object is about to get the same memory.

    Recorded loops depend on the arrays held by the program when they were made.
    """
    if not runtime.writes_graph:
        runtime.settle()  # waiting loops were recorded before
    carrier.lent_out.share()
    runtime.epoch += 1


def copied(
    source: SetFreeCarrier, data: ArrayLike | None, name: str | None
) -> tuple[tuple[int, ...], Array, str]:
    """Return dim, data and name of a copy.

    Args:
        source: The source of the copy.
        data: Must be None; a copy cannot be given other values.
        name: The name asked for.
    """
    if data is not None:
        raise UsageError(
            f"{source.label}: a copy takes the values of what it copies; pass its dim to give "
            "other ones"
        )
    return (
        source.dim,
        as_copy(source.read_values("copy"), source.label),
        f"copy_of_{source.name}" if name is None else name,
    )


def _zero(values: Array) -> None:
    values.fill(0)


def _release(carrier: DataCarrier) -> None:
    """Forget the copies of a dying object, but save values still shown by an array."""
    holder = carrier.__dict__
    try:
        buffer, is_allocated = (
            carrier.buffer,
            holder["host_values"] is not None,
        )  # no more references
    except (AttributeError, KeyError):  # refused by the constructor
        return
    is_only_there = is_allocated and buffer.where == _core.Where.device
    if buffer.release(is_kept=is_only_there and is_shared(holder)):
        runtime.warn_of_vain_write(carrier.label)
    carrier.lent_out.end()


@dataclass(frozen=True, slots=True)
class OlderForm:
    """The form of an argument in PyOP2's older conventions; used only by their adapter.

    Attributes:
        index: Index of ``op2.i``; None if the Map was not indexed.
        flatten: Whether values are ordered by component first.
    """

    index: int | None
    flatten: bool


def older_form(index: int | None, flatten: bool) -> OlderForm | None:
    """Return the form of an argument in an older convention; None for today's form."""
    return OlderForm(index, bool(flatten)) if flatten or index is not None else None


class Argument:
    """Base class of loop arguments; all kinds have a `map_`.

    Attributes:
        form: Form for kernels of older conventions; None for today's form.
    """

    __slots__ = ()

    form: Any = None

    @property
    def map(self) -> Any:
        """The Map, by PyOP2's older name; None if there is none."""
        return self.map_  # type: ignore[attr-defined] # all that derive from this have one

    @property
    def split(self) -> tuple[Any, ...]:
        """The arguments of the fields; for other arguments the argument alone; tuple."""
        return getattr(self, "parts", (self,))

    @property
    def compute(self) -> np.dtype[Any]:
        """The dtype of the values that a kernel sees."""
        data = self.data  # type: ignore[attr-defined] # all that derive from this have them
        found: np.dtype[Any] = getattr(data, "compute", data.dtype)
        return found

    def of(self, data: Any) -> Any:
        """Return other data as the same argument."""
        map_ = self.map
        return data(self.access) if map_ is None else data(self.access, map_)  # type: ignore[attr-defined]
