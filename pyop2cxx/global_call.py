# SPDX-License-Identifier: BSD-3-Clause
"""A loop without data, called with the addresses of data.

The objects that it needs are made over that memory for one call: sizes follow from where Maps lead.
Loops that run often are a `Parloop`, which makes them once.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import global_kernel as gk
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.parloop import ParLoop
from pyop2cxx.types.checks import is_integer
from pyop2cxx.types.dats import Dat
from pyop2cxx.types.extruded import ExtrudedSet
from pyop2cxx.types.globals import Global
from pyop2cxx.types.maps import Map
from pyop2cxx.types.mats import Mat
from pyop2cxx.types.mixed import MixedDat, MixedDataSet, MixedMap
from pyop2cxx.types.passthrough import OpaqueType, PassthroughArg
from pyop2cxx.types.paths import ComposedMap, PermutedMap
from pyop2cxx.types.sets import Set
from pyop2cxx.types.sparsities import Sparsity
from pyop2cxx.types.subsets import Subset
from pyop2cxx.types.views import DatView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.types.checks import Array

_INDEX = np.dtype(np.int32)


def n_addresses(kernel: gk.GlobalKernel) -> int:
    """Return how many addresses a call takes: of layers, of a Subset, of data and of Maps."""
    lists = int(kernel.extruded) + int(kernel.subset)
    data = sum(len(_fields(argument)) for argument in kernel.arguments)
    return lists + data + len(_unique_maps(kernel))


def call(kernel: gk.GlobalKernel, args: Sequence[Any]) -> None:
    """Run a loop over memory.

    Args:
        kernel: The loop.
        args: What `GlobalKernel.__call__` takes behind the communicator.
    """
    what = f"GlobalKernel '{kernel.name}'"
    wanted = 2 + n_addresses(kernel)
    if len(args) != wanted:
        raise UsageError(
            f"{what}: {len(args)} arguments behind the communicator, expected {wanted}"
        )
    start, end, *addresses = args
    if not (is_integer(start) and is_integer(end) and 0 <= start <= end):
        raise UsageError(f"{what}: there are no elements from {start!r} to {end!r}")
    memory = _Given([_address(a, f"{what}: address {i}") for i, a in enumerate(addresses)])
    built = _Built(kernel, start, end, memory)
    loop = built.loop()
    loop.compute()
    for part in loop._parts:
        if not isinstance(part, PassthroughArg):
            part.data.to_host()


def text(kernel: gk.GlobalKernel) -> str:
    """Return what the current backend compiles, as far as that depends on no data."""
    # two elements that share their targets, as those of any mesh may
    return _Built(kernel, 0, 2, _Made()).loop().generate()


def _address(given: Any, what: str) -> int:
    if isinstance(given, np.ndarray):
        return int(given.ctypes.data)
    if isinstance(given, ctypes.c_void_p):
        given = given.value
    elif isinstance(given, ctypes._Pointer | ctypes.Array):
        given = ctypes.cast(given, ctypes.c_void_p).value
    if not is_integer(given) or given < 1:
        raise UsageError(f"{what} must be an integer, a ctypes pointer or an array, got {given!r}")
    return int(given)


class _Given:
    """Memory at addresses, taken in their order."""

    is_real = True

    def __init__(self, addresses: Sequence[int]) -> None:
        self._addresses: Iterator[int] = iter(addresses)

    def take(self) -> int:
        return next(self._addresses)

    def array(self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        if prod(shape) == 0:
            return np.zeros(shape, dtype)
        raw: Any = (ctypes.c_char * (prod(shape) * dtype.itemsize)).from_address(address)
        return np.frombuffer(raw, dtype).reshape(shape)


class _Made:
    """Memory of zeros, for text."""

    is_real = False

    def take(self) -> int:
        return 1

    def array(self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return np.zeros(shape, dtype)


def _fields(argument: Any) -> tuple[Any, ...]:
    """Return an argument, or those that it is made of."""
    return getattr(argument, "arguments", (argument,))


def _unique_maps(kernel: gk.GlobalKernel) -> dict[int, Any]:
    """Return the Maps that have values, by identity, in order of first use."""
    found: dict[int, Any] = {}
    for argument in kernel.arguments:
        for field in _fields(argument):
            for map_ in getattr(field, "maps", (getattr(field, "map_", None),)):
                for base in _bases(map_):
                    found.setdefault(id(base), base)
    return found


def _bases(map_: Any) -> tuple[Any, ...]:
    if map_ is None:
        return ()
    if hasattr(map_, "base_maps"):
        return tuple(base for one in map_.base_maps for base in _bases(one))
    return _bases(map_.base_map) if hasattr(map_, "base_map") else (map_,)


class _Built:
    """Sets, Maps and Dats over memory."""

    def __init__(
        self, kernel: gk.GlobalKernel, start: int, end: int, memory: _Given | _Made
    ) -> None:
        self._kernel, self._memory = kernel, memory
        layers = memory.take() if kernel.extruded else 0
        indices = np.arange(start, end)
        if kernel.subset:
            whole = memory.array(memory.take(), (end,), _INDEX)
            indices = whole[start:end] if memory.is_real else indices
        n = int(indices.max()) + 1 if indices.size else end
        self._base = Set(n)
        self._whole = self._extruded(layers, n) if kernel.extruded else self._base
        is_part = kernel.subset or start > 0
        self.iterset = Subset(self._whole, indices) if is_part else self._whole
        fields = [_fields(argument) for argument in kernel.arguments]
        self._data = [[memory.take() for _ in field] for field in fields]
        self._tables = {key: memory.take() for key in _unique_maps(kernel)}
        self._maps: dict[int, Map] = {}

    def _extruded(self, layers: int, n: int) -> ExtrudedSet:
        is_constant = self._kernel.constant_layers
        bounds = self._memory.array(layers, (1 if is_constant else n, 2), _INDEX)
        if not self._memory.is_real:
            bounds = bounds + np.array([0, 3], _INDEX)
        given = int(bounds[0, 1] - bounds[0, 0]) if is_constant else bounds
        return ExtrudedSet(self._base, given, self._kernel.extruded_periodic)

    def loop(self) -> ParLoop:
        """Return the loop over all of it."""
        kernel, local = self._kernel, self._kernel.local_kernel
        dtypes = _dtypes(kernel)
        args = [
            gk._called(self._argument(argument, addresses, dtype, access), argument, access)
            for argument, addresses, dtype, access in zip(
                kernel.arguments, self._data, dtypes, local.accesses or (), strict=True
            )
        ]
        region, layer = kernel.iteration_region, kernel.pass_layer_arg
        return ParLoop(local, self.iterset, *args, iteration_region=region, pass_layer_arg=layer)

    # Arguments

    def _argument(self, wanted: Any, addresses: list[int], dtype: Any, access: Any) -> Any:
        if isinstance(wanted, gk.PassthroughKernelArg):
            handle = PassthroughArg(OpaqueType("void"), addresses[0])
            return gk.PassthroughParloopArg(handle)
        if isinstance(wanted, gk.MatKernelArg | gk.MixedMatKernelArg):
            return self._matrix(wanted, dtype)
        if isinstance(wanted, gk.GlobalKernelArg):
            return gk.GlobalParloopArg(self._global(wanted, addresses[0], dtype))
        if isinstance(wanted, gk.DatKernelArg):
            return gk.DatParloopArg(*self._dat(wanted, addresses[0], dtype))
        fields = [
            self._dat(field, address, dtype)
            if isinstance(field, gk.DatKernelArg)
            else (self._global(field, address, dtype), None)
            for field, address in zip(wanted.arguments, addresses, strict=True)
        ]
        maps = [map_ for _, map_ in fields]
        path = MixedMap(maps) if any(map_ is not None for map_ in maps) else None
        return gk.MixedDatParloopArg(MixedDat([data for data, _ in fields]), path)

    def _global(self, wanted: Any, address: int, dtype: Any) -> Global:
        return Global(wanted.dim, self._memory.array(address, tuple(wanted.dim), dtype))

    def _dat(self, wanted: Any, address: int, dtype: Any) -> tuple[Dat, Map | None]:
        map_ = None if wanted.map_ is None else self._map(wanted.map_)
        target = self._base if map_ is None else map_.toset
        shape = (target.total_size, *wanted.dim)
        dat = Dat(target**wanted.dim, self._memory.array(address, shape, dtype))
        return (dat if wanted.index is None else DatView(dat, wanted.index)), map_

    def _matrix(self, wanted: Any, dtype: Any) -> Any:
        if self._memory.is_real:
            raise UnsupportedError(
                f"GlobalKernel '{self._kernel.name}': a matrix has no address; make a Parloop with "
                "the Mat"
            )
        if isinstance(wanted, gk.MatKernelArg):
            maps = (self._map(wanted.maps[0]), self._map(wanted.maps[1]))
            dsets = tuple(m.toset**dim for m, dim in zip(maps, wanted.dims, strict=True))
            return gk.MatParloopArg(Mat(Sparsity(dsets, [(*maps, None)]), dtype), maps)
        n = wanted.shape[1]
        sides: list[Any] = []
        for side, blocks in enumerate((wanted.arguments[::n], wanted.arguments[:n])):
            found = [(self._map(block.maps[side]), block.dims[side]) for block in blocks]
            dset = MixedDataSet([map_.toset**dim for map_, dim in found])
            sides.append((MixedMap(map_ for map_, _ in found), dset))
        (rows, row_dset), (cols, col_dset) = sides
        mat = Mat(Sparsity((row_dset, col_dset), [(rows, cols, None)]), dtype)
        return gk.MixedMatParloopArg(mat, (rows, cols))

    # Maps

    def _map(self, wanted: Any, start: Set | None = None) -> Map:
        found = self._maps.get(id(wanted))
        if found is None:
            found = self._maps[id(wanted)] = self._new_map(wanted, start or self._whole)
        return found

    def _new_map(self, wanted: Any, start: Set) -> Map:
        if hasattr(wanted, "base_maps"):
            chain: list[Map] = []
            for one in reversed(wanted.base_maps):
                chain.insert(0, self._map(one, chain[0].toset if chain else start))
            return ComposedMap(*chain)
        if hasattr(wanted, "base_map"):
            return PermutedMap(self._map(wanted.base_map, start), wanted.permutation)
        shape = (start.total_size, wanted.arity)
        values = self._memory.array(self._tables[id(wanted)], shape, _INDEX)
        target = Set(self._reach(values, wanted, start) + 1)
        quotient = wanted.offset_quotient
        return Map(start, target, wanted.arity, values, None, wanted.offset, quotient)

    def _reach(self, values: Array, wanted: Any, start: Set) -> int:
        """Return the last entity that a Map leads to, from any cell of a column."""
        if values.size == 0:
            return -1
        highest = int(values.max())
        if wanted.offset is None or not isinstance(start, ExtrudedSet):
            return highest
        levels = start.layers_array[:, 1] - start.layers_array[:, 0] - 2  # of the top cells
        first = np.zeros(wanted.arity, np.int64)
        if start.extruded_periodic and wanted.offset_quotient is not None:
            first = np.asarray(wanted.offset_quotient, np.int64)
        first = first % (levels[:, None] + 1)
        ends = (-first, levels[:, None] - first)
        offset = np.asarray(wanted.offset, np.int64)
        return max(int((values + offset * end).max()) for end in ends)


def _dtypes(kernel: gk.GlobalKernel) -> list[np.dtype[Any]]:
    """Return the dtypes behind the parameters: those given, or those of the C types."""
    local = kernel.local_kernel
    if local.dtypes is not None:
        return [np.dtype(dtype) for dtype in local.dtypes]
    bases = [str(parameter.type.base) for parameter in local.parameters]
    return [np.dtype("uint8" if base in ("void", "bool") else base) for base in bases]
