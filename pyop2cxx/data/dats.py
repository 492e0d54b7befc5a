# SPDX-License-Identifier: BSD-3-Clause
"""Dats: values on the entities of a Set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import DAT_ACCESSES, Access, checked_access
from pyop2cxx.base.arrays import (
    address_of,
    as_array,
    as_dtype,
    as_name,
    as_numpy,
    as_zeros,
    checked_compute,
    checked_copying,
    is_shared,
)
from pyop2cxx.base.conversions import check_casting
from pyop2cxx.base.files import npy_path
from pyop2cxx.data.algebra import (
    Algebra,
    at_device,
    check_same_place,
    copy_values,
    refuse_overlap,
)
from pyop2cxx.data.carrier import Argument, DataCarrier, OlderForm, older_form, share
from pyop2cxx.data.ghosts import HaloExchange
from pyop2cxx.data.lent import given_values
from pyop2cxx.data.petsc_vectors import AsVec
from pyop2cxx.data.whole import WholeValues, checked_layout, of_copy
from pyop2cxx.exceptions import (
    DataSetTypeError,
    DataValueError,
    DatTypeError,
    MapTypeError,
    MapValueError,
    SetTypeError,
    StaticModeError,
)
from pyop2cxx.interop import dlpack
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import device_algebra
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets import from_hdf5, kept_files
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.maps import Map, unindexed
from pyop2cxx.sets.origins import refuse_left_out
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array

_MOST_REMEMBERED_CHECKS = 256


class SubsetLike(Protocol):
    """The interface of a Subset for `Dat.zero` and `Dat.copy`."""

    @property
    def superset(self) -> Set:
        """The whole Set."""

    @property
    def owned_indices(self) -> Array:
        """The owned entities of the part, numbered as in the whole Set; int, shape (n,)."""


@ends_tracebacks("__init__", "_check", "copy", "zero", "load")
class Dat(DataCarrier, Algebra, HaloExchange, AsVec, WholeValues):
    """Values on the entities of a Set. Equal only to the same object.

    A NumPy array of the right dtype and number of values, contiguous in C order, is not copied: the
    Dat and the array then share their memory. Without data, zeros are allocated on first use.
    Arrays taken from a Dat share memory too; they stay valid, but values change under them when
    loops write.

    Args:
        dataset: A DataSet, or a Set for a single value on each entity; or a Dat to copy.
        data: Shape (set.total_size, *dim), or as many values in C order; or a number for all; None
            means zeros.
        dtype: The dtype; None means the data's, or float64 without data.
        name: Used in messages; does not affect the generated code.
        layout: Layout of the values on a device: "aos", all values of an entity together; "soa",
            the first values of all entities, then the second values; "auto", the layout measured to
            be faster. The host always has "aos", and kernels see no difference.
        soa: PyOP2's older way to ask for the layout "soa".
        copy: False refuses data whose memory cannot be used in place, True copies them. None copies
            if needed, with a warning for a tensor of another library.
        compute: The dtype that kernels see, of the kind of `dtype` and at least as wide: what
            loops read is converted, and what they write is rounded. None means `dtype`, or of a
            Dat to copy its own, if `dtype` is left out as well.

    An array of CuPy, PyTorch or another library on the CUDA device of loops becomes the values on
    the device, without a copy.

    Raises:
        DataSetTypeError: The first argument has none of the types.
        DataTypeError: The dtype is not supported by kernels, or `compute` is narrower or of
            another kind.
        DataValueError: The data are of another number, or do not convert.
        NameTypeError: The name is not a string.

    Example:
        >>> cells = Set(3, "cells")
        >>> q = Dat(cells ** 2, np.zeros((3, 2)), name="q")
        >>> q.data[0] = 1
        >>> q.data_ro.sum(), q.dat_version
        (np.float64(2.0), 1)
    """

    kind = "Dat"
    zero_version = -1
    """Version at which all values are known to be zero."""
    numbering = 0
    """Numbering of the Set at the time of the values."""

    def __init__(
        self,
        dataset: DataSet | Set | Dat,
        data: ArrayLike | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        layout: str = "auto",
        *,
        soa: bool | None = None,
        copy: bool | None = None,
        compute: DTypeLike | None = None,
    ) -> None:
        source = dataset if isinstance(dataset, Dat) else None
        if isinstance(dataset, Dat):
            compute = dataset.stored_apart if compute is None and dtype is None else compute
            name, data, dtype = of_copy(dataset, data, dtype, name, copy)
            dataset = dataset.set**1 if dataset.stride else dataset.dataset
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self._name = as_name(name, "Dat", f"dat_#x{self.uid:x}")
        self._dataset = _as_dataset(dataset, self._name)
        self.set = self._dataset.set
        self.numbering = (self.set if source is None else source).numbering
        self._cdim = self._dataset.cdim
        self._layout = checked_layout("soa" if soa else layout, self.label)
        copied = None if source is not None else checked_copying(copy, self.label)
        shared = None
        if data is not None and dlpack.on_a_device(data):
            shared = self._taken(data, dtype, copied)
            there = as_dtype(shared.dtype, self.label, is_memory=True)
            data, copied = np.empty(self.shape_for("data"), there), None
        self.host_values: Array | None = (
            None if data is None else self._adopted(data, dtype, copied)
        )
        self._dtype = (
            as_dtype("float64" if dtype is None else dtype, self.label, is_memory=True)
            if self.host_values is None
            else self.host_values.dtype
        )
        self._compute = checked_compute(compute, self._dtype, self.label)
        self.buffer = self._make_buffer(self._cdim, is_soa=self._layout == "soa")
        if self.host_values is not None:
            self._point_at(self.host_values, is_zero=False)
            self.lent_out.give(data, self.host_values)
        if shared is not None:
            self._adopt_on_device(shared)
        self._checked: dict[int, Access] = {}
        self.frozen: Access | None = None
        self.halo_valid = True

    @classmethod
    def fromhdf5(cls, dataset: DataSet | Set, f: Any, name: str) -> Dat:
        """Return a Dat with the values of an HDF5 dataset.

        Args:
            dataset: A DataSet, or a Set for a single value on each entity.
            f: A file or group of h5py's, open.
            name: A dataset of shape (set.total_size, *dim); also the name of the Dat. An attribute
                ``type`` ending in ``:soa`` chooses the layout on devices.

        Raises:
            DataSetTypeError: The first argument is neither.
            DataTypeError: The dtype is not supported by kernels.
            DataValueError: The dataset does not exist, or has another number of values.

        Example:
            >>> Dat.fromhdf5(Set(3) ** 2, {"x": np.ones((3, 2))}, "x").shape
            (3, 2)
        """
        values = from_hdf5.values_of(f, name, "Dat")
        return cls(dataset, values, name=name, layout=from_hdf5.layout_of(f, name))

    # As an argument of a loop

    def __call__(
        self, access: Access, path: Map | Any | None = None, flatten: bool = False
    ) -> DatArg:
        """Return the Dat as an argument of a loop.

        Args:
            access: The access of the kernel.
            path: The Map from the iteration Set to the Dat's Set; None if both Sets are the same.
            flatten: Of PyOP2's older conventions: order values by component first.

        Raises:
            ModeValueError: The access does not exist, or not for complex values.
            MapTypeError: The path is not a Map.
            MapValueError: The Map leads to another Set.
        """
        # Called in innermost loops of programs, so successful checks are remembered: by numbers,
        # which keep no Map alive.
        try:
            mode = self._checked.get(access if path is None else path.uid << 3 | access)
        except (AttributeError, TypeError, OverflowError):
            mode = None
        if mode is not None and not flatten:
            return DatArg(self, path, mode)
        whole, index = unindexed(path)
        mode = self._check(access, whole)
        return DatArg(self, whole, mode, older_form(index, flatten))

    def _check(self, access: Access, path: Map | None) -> Access:
        is_complex = self._dtype.kind == "c"
        mode = checked_access(access, DAT_ACCESSES, is_complex, self.label)
        if path is not None:
            self._check_path(path)
        if len(self._checked) >= _MOST_REMEMBERED_CHECKS:
            self._checked.clear()
        self._checked[mode if path is None else path.uid << 3 | mode] = mode
        return mode

    def _check_path(self, path: Map) -> None:
        if not isinstance(path, Map):
            raise MapTypeError(
                f"{self.label}: the path must be a Map, got {path!r} of type {type(path).__name__}"
            )
        if path.toset is not self.set:
            start, end = path.iterset.name, path.toset.name
            raise MapValueError(
                f"{self.label}: Map '{path.name}' leads from Set '{start}' to Set '{end}', but the "
                f"Dat lives on Set '{self.set.name}'; pass a Map {start} → {self.set.name}"
            )

    # Data

    @property
    def data(self) -> Array:
        """The values of the owned entities, writeable; shape (set.size, *dim).

        Assigning, ``dat.data = 1``, is `assign`.

        Raises:
            StaticModeError: Under ``init(static=True)``.
        """
        return self.view("data", whole=False, write=True)

    @data.setter
    def data(self, values: ArrayLike | Dat) -> None:
        self.assign(values)

    @property
    def data_ro(self) -> Array:
        """The values of the owned entities, read-only; shape (set.size, *dim)."""
        return self.view("data_ro", whole=False, write=False)

    @property
    def data_wo(self) -> Array:
        """The values of the owned entities, to be overwritten; shape (set.size, *dim)."""
        return self.view("data_wo", whole=False, write=True)

    @property
    def data_with_halos(self) -> Array:
        """The values of all entities, writeable; shape (set.total_size, *dim)."""
        return self.view("data_with_halos", whole=True, write=True)

    @property
    def data_ro_with_halos(self) -> Array:
        """The values of all entities, read-only; shape (set.total_size, *dim)."""
        return self.view("data_ro_with_halos", whole=True, write=False)

    @property
    def data_wo_with_halos(self) -> Array:
        """The values of all entities, to be overwritten; shape (set.total_size, *dim)."""
        return self.view("data_wo_with_halos", whole=True, write=True)

    @property
    def _data(self) -> Array:
        """All values, ghosts' too, as PyOP2's Halos reach around `data`: nothing is counted."""
        return self.lent_out.lend(self._brought(_core.Use.read_write, "_data")[:])

    @_data.setter
    def _data(self, given: ArrayLike) -> None:
        """Take other values, ghosts' too, into the same memory; counts as a write."""
        values = as_array(given, self._dtype, self.shape_for("_data"), self.label)
        self._data[...] = values
        self._wrote(halo_valid=self.halo_valid)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Let NumPy read the values of the owned entities: ``np.asarray(dat)`` copies nothing."""
        return as_numpy(self.data_ro, dtype, copy, self.label)

    def view(self, member: str, *, whole: bool, write: bool) -> Array:
        """Return the values on the host, for a member of the public interface."""
        if runtime.static:
            runtime.require_running(self.label, member)
        if whole and "_wo" not in member and self.set.halo is not None:
            mode = Access.RW if write else Access.READ
            self.global_to_local_begin(mode)
            self.global_to_local_end(mode)
        if runtime.coherence.is_active or runtime.recorders:
            is_whole = whole or self.set.size == self.set.total_size
            values = self._brought(_use(write, member, is_whole), member)
        else:
            here = runtime.here
            if here.resting is not None:
                here.resting.note_look()
            if here.looks is not None and not write:
                here.looks.note_read(self)
            values = self.allocated(member)
        view = values[:] if whole else values[: self.set.size]
        if "_wo" in member:
            self.numbering = self.set.numbering
        if write:
            self._wrote(halo_valid=False)
            view = self.lent_out.lend(view)
        else:
            view.flags.writeable = False
            if self.lent_out.is_watching:
                self.lent_out.read(view)
        return view

    def lent(self, *, write: bool) -> tuple[Array, bool]:
        """Show the owned values to another library, which can report changes.

        Returns:
            The values, and whether a write is still to be counted, by `increment_dat_version`.
        """
        if not write:
            return self.data_ro, False
        self.settle(write=True)
        if runtime.static:
            return self.data, False
        self.allocated("vec")  # never requested: zeros from here on
        if self.zero_version == self.buffer.version:
            return self.data, False  # loops know the values: writes must not go unnoticed
        values = self._brought(_core.Use.read_write, "vec")
        self.halo_valid = False
        return self.lent_out.lend(values[: self.set.size]), True

    def _wrote(self, *, halo_valid: bool) -> None:
        self.buffer.increment_version()
        self.halo_valid = halo_valid

    def allocated(self, member: str) -> Array:
        """Return the whole array, zeros if not yet allocated. Loops call this before they start."""
        if self.host_values is None:
            values = as_zeros(self.shape_for(member), self._dtype, self.label)
            self._point_at(values, is_zero=True)
            self.host_values = values
            self.numbering = self.set.numbering
        return self.host_values

    def _point_at(self, values: Array, *, is_zero: bool) -> None:
        self.zero_version = self.buffer.version if is_zero else -1
        self.buffer.reset(address=address_of(values), n_bytes=values.nbytes, is_zero=is_zero)

    def become_shared(self, values: Array) -> None:
        """Have the values of this rank, of a Set shared before; shape (set.total_size, cdim)."""
        self.lent_out.recall()
        is_zero = self.zero_version == self.buffer.version
        self.host_values = values.reshape(self.shape_for("op2.distribute"))
        self._point_at(self.host_values, is_zero=is_zero)
        self.halo_valid = True

    def _brought(self, use: _core.Use, member: str, *, is_explicit: bool = False) -> Array:
        """Let the host read or write the whole array, and return the array.

        Callers must not hold the array before: a running chain may replace the Dat's memory.
        """
        self.allocated(member)
        self.use_on_host(use, member, is_explicit=is_explicit)
        return self.allocated(member)

    def bring_if_any(self, member: str) -> None:
        """Let the host read the values, if there are any after the waiting loops."""
        self.settle(write=False)
        if self.host_values is not None:
            self.use_on_host(_core.Use.read, member)

    @property
    def is_allocated(self) -> bool:
        """Whether an array exists on the host."""
        return self.host_values is not None

    _is_allocated = is_allocated  # PyOP2's name

    @property
    def is_shared(self) -> bool:
        """Whether others hold the memory of the values on the host."""
        return self.host_values is not None and is_shared(self.__dict__)

    def trade(self, other: Dat) -> None:
        """Exchange the values on the host with a similar Dat.

        The Dats exchange memory; if the memory is held elsewhere, on the host or on a device, the
        values are copied.
        """
        stays = self.is_shared or self.buffer.has_copies
        mine, theirs = self.allocated("chain"), other.allocated("chain")
        if stays:
            self.use_on_host(_core.Use.read_write, "chain", is_explicit=True)
            before = mine.copy()
            mine[...] = theirs
            theirs[...] = before
        else:
            self.host_values, other.host_values = theirs, mine
            self.lent_out.trade(other.lent_out)
            self._point_at(theirs, is_zero=False)
            other._point_at(mine, is_zero=False)
        self.buffer.increment_version()
        other.buffer.increment_version()

    def _adopted(self, data: ArrayLike, dtype: DTypeLike | None, copy: bool | None) -> Array:
        if not self.set.is_sized:
            raise DataValueError(
                f"{self.label}: data were given, but the Set has no size to compare theirs with; "
                "give both or neither"
            )
        return given_values(data, dtype, self.shape_for("data"), self.label, copy)

    def _taken(
        self, data: ArrayLike, dtype: DTypeLike | None, copy: bool | None
    ) -> _core.exchange.SharedArray:
        """Return device memory unchanged; nothing is converted."""
        runtime.require_running(self.label, "data on a device")
        if not self.set.is_sized:
            raise DataValueError(f"{self.label}: data were given, but the Set has no size")
        shape = self.shape_for("data")
        shared = dlpack.taken(data, runtime.device, shape, self.label, copy=copy)
        wanted = None if dtype is None else as_dtype(dtype, self.label, is_memory=True)
        if wanted is not None and wanted.name != shared.dtype:
            raise DataValueError(
                f"{self.label}: memory of a device is used in place, so dtype {dtype} cannot be "
                f"made of its {shared.dtype}; convert the array first"
            )
        if self._layout == "soa" and self._cdim > 1:
            raise DataValueError(
                f"{self.label}: memory of a device is used in place, and lies in layout 'aos'"
            )
        return shared

    def host_array(self, member: str) -> Array:
        """Return the array on the host, up to date or not."""
        return self.allocated(member)

    def _shared_on_host(self) -> Array:
        return self.data

    def _shared_shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        whole = self.shape_for("__dlpack__")
        shape = (self.set.size, *whole[1:])
        if not self.buffer.is_soa:
            return shape, dlpack.dense_strides(shape)
        columns = dlpack.dense_strides(whole[1:])
        return shape, (1, *(whole[0] * stride for stride in columns))

    def shape_for(self, member: str) -> tuple[int, ...]:
        """Return the shape with ghosts, for a member; error if the Set has no size."""
        if not self.set.is_sized:
            raise StaticModeError(
                f"{self.label}: '{member}' is unknown, for the Set was made without a size under "
                "init(static=True); give it a size, or do not ask"
            )
        return (self.set.total_size, *(() if self._cdim == 1 else self._dataset.dim))

    # As a vector

    def _alike(self, dtype: np.dtype[Any] | None = None) -> Dat:
        if dtype is None or dtype == self._dtype:
            return Dat(self.set**self.dim, None, self._dtype, compute=self._compute)
        return Dat(self.set**self.dim, None, dtype)

    def family(self) -> type[Dat]:
        """Return the class whose objects may be combined."""
        return Dat

    def check_same(self, other: Dat, operation: str) -> None:
        """Raise an error if an operation cannot combine both objects."""
        check_same_place(self, other, operation)

    def has_ghosts(self) -> bool:
        """Return whether ghosts are up to date, and take part in an operation."""
        return self.halo_valid

    def operand(self, whole: bool) -> Array:
        """Return the values to compute with, with ghosts if `whole`."""
        return self.data_ro_with_halos if whole else self.data_ro

    def outcome(self, whole: bool, *, fresh: bool) -> Array:
        """Return the array of a result, with ghosts if `whole`; `fresh`: all values are written."""
        if fresh:
            values = self.data_wo_with_halos if whole else self.data_wo
        else:
            values = self.data_with_halos if whole else self.data
        self.halo_valid = whole or not self.set.may_have_ghosts
        return values

    # Whole-Dat operations

    def zero(self, subset: SubsetLike | None = None) -> None:
        """Set the values to zero: all of them, or the owned entities of a Subset.

        Raises:
            MapValueError: The subset is a part of another Set.
        """
        runtime.require_running(self.label, "zero")
        if subset is None and self._zero_waits():
            return
        self.settle(write=True)
        if subset is None:
            self.zero_values()
            self.numbering = self.set.numbering
            self._wrote(halo_valid=True)
            return
        self._check_subset(subset)
        if at_device(self) and device_algebra().zero(self, subset):
            return
        self._brought(_core.Use.read_write, "zero")[subset.owned_indices] = 0
        self._wrote(halo_valid=False)

    def copy(
        self, other: Dat, subset: SubsetLike | None = None, *, casting: str = "fitting"
    ) -> None:
        """Copy the values into another Dat, converting them to the target's dtype.

        Args:
            other: The Dat written, on the same Set and of the same dim.
            subset: If given, only the owned entities of the Subset are copied.
            casting: ``"fitting"``, a value beyond the range of the target's dtype is an error;
                ``"exact"``, so is a value that loses digits; or ``"unsafe"``, real numbers beyond
                the range of integers become the nearest, and NaN becomes 0.

        Raises:
            DatTypeError: The other is not a Dat.
            MapValueError: The other Dat, or the subset, is on another Set.
            DataValueError: The dims differ, complex values would become real, a value does not fit,
                or both Dats share a part of their memory; nothing is copied then.
        """
        runtime.require_running(self.label, "copy")
        check_casting(casting, f"{self.label}: copy")
        self.check_target(other)
        if subset is not None:
            self._check_subset(subset)
        if other is self:
            return
        refuse_overlap("copy", other, self)
        if casting != "unsafe":
            self.check_fits(other, subset, casting=casting)
        self.allocated("copy")
        other.allocated("copy")
        same = subset is None and self._dtype == other.dtype
        same = same and self.stride == other.stride == 0  # not components of others
        held = other.petsc_vector
        on_host = held is not None and held.is_held  # PETSc may change the values next, there
        same = same and not on_host
        if same and self._copy_waits(other, casting):
            return
        if subset is None:
            other.numbering = self.numbering
        self.settle(write=False)
        other.settle(write=True)
        if same and other.buffer.copy_on_device(self.buffer):
            other._wrote(halo_valid=self.halo_valid)
            return
        if not on_host and at_device(self, other) and device_algebra().copy(self, other, subset):
            return
        whole = subset is None and self.halo_valid
        source = self._brought(_core.Use.read, "copy")
        target = other._brought(_core.Use.write if whole else _core.Use.read_write, "copy")
        if subset is not None:
            copy_values(target, source, subset.owned_indices, casting)
        elif self.halo_valid:
            copy_values(target, source, casting=casting)
        else:
            n = self.set.size
            copy_values(target[:n], source[:n], casting=casting)
        other._wrote(halo_valid=subset is None and self.halo_valid)

    def save(self, filename: str | os.PathLike[str]) -> None:
        """Write the values of the owned entities to a file of NumPy's format, ending in .npy.

        Data behind the values tell `load` the numbering; `numpy.load` returns the values. If
        processes share the Set, all must call: the first writes all values.
        """
        self.refuse_left_out()
        kept_files.save(npy_path(filename), self.data_ro, self.set)

    def load(self, filename: str | os.PathLike[str]) -> None:
        """Read the values of the owned entities from a file of NumPy's format, ending in .npy.

        Raises:
            DataValueError: The file is damaged, or the values have another number, or do not
                convert.
            StoredFileError: The values were saved on another mesh, or in a numbering without a way
                to the present one.
        """
        runtime.require_running(self.label, "load")
        path = npy_path(filename)
        n = self.set.global_size if self.set.is_distributed else self.set.size
        shape = (n, *self.shape_for("load")[1:])
        found, rows = kept_files.load(path, self.set)
        if found.dtype == "V2" and self._dtype.kind == "V":  # the name of bfloat16 in files
            found = found.view(self._dtype)
        loaded = as_array(found, self._dtype, shape, f"{self.label}: file {path}")
        self.data_wo[...] = loaded if rows is None else loaded[rows]

    def _check_subset(self, subset: SubsetLike) -> None:
        if not isinstance(getattr(subset, "superset", None), Set):
            raise SetTypeError(
                f"{self.label}: expected a Subset of Set '{self.set.name}', got {subset!r} of "
                f"type {type(subset).__name__}"
            )
        if subset.superset is not self.set:
            raise MapValueError(
                f"{self.label}: the subset is a part of Set '{subset.superset.name}'; "
                "pass a part of the Dat's own Set"
            )

    def check_target(self, other: Dat) -> None:
        """Raise an error if values cannot be copied to another object."""
        if not isinstance(other, Dat):
            raise DatTypeError(
                f"{self.label}: copy writes into a Dat, got {other!r} of type "
                f"{type(other).__name__}"
            )
        if other.set is not self.set:
            raise MapValueError(
                f"{self.label} cannot be copied into {other.label}; "
                "copy to a Dat on the same Set, or write a loop"
            )
        if other.dim != self.dim:
            raise DataValueError(
                f"{self.label} has dim {self.dim}, it cannot be copied into {other.label} of dim "
                f"{other.dim}"
            )
        if self._dtype.kind == "c" and other.dtype.kind != "c":
            raise DataValueError(
                f"{self.label} is complex, it cannot be copied into {other.label} of dtype "
                f"{other.dtype}; copy its real part"
            )

    # Properties

    @property
    def dataset(self) -> DataSet:
        """The DataSet."""
        return self._dataset

    @property
    def comm(self) -> Any:
        """The communicator of the Set."""
        return self.set.comm

    @property
    def dim(self) -> tuple[int, ...]:
        """The shape of the values on each entity."""
        return self._dataset.dim

    @property
    def cdim(self) -> int:
        """The number of values on each entity."""
        return self._cdim

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all values, ghosts' too."""
        return self.shape_for("shape")

    @property
    def nbytes(self) -> int:
        """The bytes of all values, ghosts' too, whether they are allocated yet or not."""
        return self._dtype.itemsize * self._cdim * self.shape_for("nbytes")[0]

    @property
    def layout(self) -> str:
        """Layout on a device: 'aos' or 'soa'."""
        return "soa" if self._layout == "soa" else "aos"

    @property
    def stored_apart(self) -> np.dtype[Any] | None:
        """The dtype that kernels see, if it is not `dtype`; else None."""
        return self._compute

    @property
    def soa(self) -> bool:
        """Whether the layout is "soa"."""
        return self._layout == "soa"

    @property
    def label(self) -> str:
        """Kind and name, for messages."""
        return f"{self.kind} '{self._name}' on Set '{self.set.name}'"

    def refuse_left_out(self) -> None:
        """Refuse values left out of a renumbering; zeros have no numbering."""
        if self.host_values is not None and self.zero_version != self.buffer.version:
            refuse_left_out(self.label, self.numbering, self.set.ground)

    def __copy__(self) -> Dat:
        """Return another Dat with the same memory, as in PyOP2; `Dat(dat)` copies the values."""
        self.allocated("__copy__")
        share(self)
        kind, arguments = self.__reduce__()
        made: Dat = kind(*arguments)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        self.bring_if_any("__reduce__")
        self.refuse_left_out()
        kept = (self._dataset, self.host_values, self._dtype, self._name, self._layout)
        if self._compute is None:
            return type(self), kept
        return partial(type(self), compute=self._compute), kept

    def __str__(self) -> str:
        return f"OP2 Dat: {self._name} on ({self._dataset}) with datatype {self._dtype.name}"

    def __repr__(self) -> str:
        return f"Dat({self._dataset!r}, None, {self._dtype!r}, {self._name!r})"


def _as_dataset(found: object, name: str) -> DataSet:
    if isinstance(found, DataSet):
        return found
    if isinstance(found, Set):
        return found**1
    raise DataSetTypeError(
        f"Dat '{name}': expected a DataSet, a Set or a Dat, got {found!r} of type "
        f"{type(found).__name__}"
    )


def _use(write: bool, member: str, whole: bool) -> _core.Use:
    """Return the use of a returned view; ghosts' values must not be lost."""
    if not write:
        return _core.Use.read
    return _core.Use.write if whole and "_wo" in member else _core.Use.read_write


@dataclass(slots=True)
class DatArg(Argument):
    """A Dat as an argument of a loop.

    Attributes:
        data: The Dat.
        map_: The Map from the iteration Set to the Dat's Set; None means direct.
        access: The access of the kernel.
        form: As of `Argument`.
    """

    data: Dat
    map_: Map | None
    access: Access
    form: OlderForm | None = None
