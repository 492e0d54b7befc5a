# SPDX-License-Identifier: BSD-3-Clause
"""A loop without data, called with the addresses of data.

The needed objects are made over the memory for a single call: sizes follow from the targets of
Maps. Repeated loops should use a `Parloop`, which makes the objects once.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import is_integer
from pyop2cxx.data import mat_paths
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.handles import OpaqueType, PassthroughArg
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.views import DatView
from pyop2cxx.exceptions import UsageError
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import Kind
from pyop2cxx.pyop2._kernel_args import (
    DatKernelArg,
    DatParloopArg,
    GlobalKernelArg,
    GlobalParloopArg,
    MatKernelArg,
    MatParloopArg,
    MixedDatParloopArg,
    MixedMatKernelArg,
    MixedMatParloopArg,
    PassthroughKernelArg,
    PassthroughParloopArg,
    called,
)
from pyop2cxx.sets.derived_maps import ComposedMap, PermutedMap
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.mixed_sets import MixedDataSet, MixedMap
from pyop2cxx.sets.sets import Set, Subset
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.base.arrays import Array

_INDEX = np.dtype(np.int32)


def n_addresses(kernel: Any) -> int:
    """Return how many addresses a call takes: of layers, of a Subset, of data and of Maps."""
    lists = int(kernel.extruded) + int(kernel.subset)
    data = sum(len(_fields(argument)) for argument in kernel.arguments)
    return lists + data + len(_unique_maps(kernel))


def call(kernel: Any, args: Sequence[Any]) -> None:
    """Run a loop over memory.

    Args:
        kernel: The loop.
        args: Arguments of `GlobalKernel.__call__` behind the communicator.
    """
    what = f"GlobalKernel '{kernel.name}'"
    wanted = 2 + n_addresses(kernel)
    args = [one for arg in args for one in (arg if _is_mixed(arg) else (arg,))]
    if len(args) != wanted:
        raise UsageError(
            f"{what}: {len(args)} arguments behind the communicator, expected {wanted}"
        )
    start, end, *addresses = args
    if not (is_integer(start) and is_integer(end) and 0 <= start <= end):
        raise UsageError(f"{what}: there are no elements from {start!r} to {end!r}")
    memory = _Given(
        [
            a if isinstance(a, Mat) else _address(a, f"{what}: address {i}")
            for i, a in enumerate(addresses)
        ],
        what,
    )
    built = _Built(kernel, start, end, memory)
    loop = built.loop()
    lent = [p.data for p in loop.parts if p.kind is not Kind.HANDLE and not p.is_of_matrix]
    try:
        loop.compute()
        for data in lent:
            data.use_on_host(_core.Use.read_write, "GlobalKernel", is_explicit=True)
    finally:
        for data in lent:
            # the memory belongs to the program again, which may change or share the values
            data.buffer.release(is_kept=True)


def text(kernel: Any) -> str:
    """Return the text for the current backend, as far as independent of data."""
    # two elements with common targets, possible in any mesh
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


def _is_mixed(given: Any) -> bool:
    return isinstance(given, Mat) and given.is_mixed


class _Given:
    """Memory at addresses, and matrices, taken in their order."""

    is_real = True

    def __init__(self, addresses: Sequence[int | Mat], what: str) -> None:
        self._addresses: Iterator[tuple[int, int | Mat]] = iter(enumerate(addresses))
        self._what = what

    def take(self) -> int:
        i, found = next(self._addresses)
        if isinstance(found, Mat):
            raise UsageError(f"{self._what}: address {i}: there is no matrix here, got {found!r}")
        return found

    def take_matrix(self) -> Any:
        i, found = next(self._addresses)
        if not isinstance(found, Mat):
            raise UsageError(
                f"{self._what}: address {i}: values of a matrix have no address by which their "
                f"places could be found; pass the Mat itself, got {found!r}"
            )
        return found

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

    take_matrix = take

    def array(self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return np.zeros(shape, dtype)


def _fields(argument: Any) -> tuple[Any, ...]:
    """Return an argument, or the fields of a mixed argument."""
    return getattr(argument, "arguments", (argument,))


def _unique_maps(kernel: Any) -> dict[int, Any]:
    """Return the Maps with values, by identity, in order of first use."""
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

    def __init__(self, kernel: Any, start: int, end: int, memory: _Given | _Made) -> None:
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
        self._data = [
            [
                memory.take_matrix() if isinstance(one, MatKernelArg) else memory.take()
                for one in field
            ]
            for field in fields
        ]
        self._tables = {key: memory.take() for key in _unique_maps(kernel)}
        self._maps: dict[tuple[int, Set | None], Map] = {}

    def _extruded(self, layers: int, n: int) -> ExtrudedSet:
        is_constant = self._kernel.constant_layers
        bounds = self._memory.array(layers, (1 if is_constant else n, 2), _INDEX)
        if not self._memory.is_real:
            bounds = bounds + np.array([0, 3], _INDEX)
        given = int(bounds[0, 1] - bounds[0, 0]) if is_constant else bounds
        return ExtrudedSet(self._base, given, self._kernel.extruded_periodic)

    def loop(self) -> ParLoop:
        """Return the loop over all elements."""
        kernel, local = self._kernel, self._kernel.local_kernel
        dtypes = _dtypes(kernel)
        args = [
            self._called(argument, addresses, dtype, access)
            for argument, addresses, dtype, access in zip(
                kernel.arguments, self._data, dtypes, local.accesses or (), strict=True
            )
        ]
        region, layer = kernel.iteration_region, kernel.pass_layer_arg
        return ParLoop(local, self.iterset, *args, iteration_region=region, pass_layer_arg=layer)

    # Arguments

    def _called(self, wanted: Any, found: list[Any], dtype: Any, access: Any) -> Any:
        if self._memory.is_real and isinstance(wanted, MatKernelArg | MixedMatKernelArg):
            return self._given_matrix(wanted, found, access)
        return called(self._argument(wanted, found, dtype), wanted, access)

    def _argument(self, wanted: Any, addresses: list[int], dtype: Any) -> Any:
        if isinstance(wanted, PassthroughKernelArg):
            handle = PassthroughArg(OpaqueType("void"), addresses[0])
            return PassthroughParloopArg(handle)
        if isinstance(wanted, MatKernelArg | MixedMatKernelArg):
            return self._matrix(wanted, dtype)
        if isinstance(wanted, GlobalKernelArg):
            return GlobalParloopArg(self._global(wanted, addresses[0], dtype))
        if isinstance(wanted, DatKernelArg):
            return DatParloopArg(*self._dat(wanted, addresses[0], dtype))
        fields = [
            self._dat(field, address, dtype)
            if isinstance(field, DatKernelArg)
            else (self._global(field, address, dtype), None)
            for field, address in zip(wanted.arguments, addresses, strict=True)
        ]
        maps = [map_ for _, map_ in fields]
        path = MixedMap(maps) if any(map_ is not None for map_ in maps) else None
        return MixedDatParloopArg(MixedDat([data for data, _ in fields]), path)

    def _global(self, wanted: Any, address: int, dtype: Any) -> Global:
        return Global(wanted.dim, self._memory.array(address, tuple(wanted.dim), dtype))

    def _dat(self, wanted: Any, address: int, dtype: Any) -> tuple[Dat, Map | None]:
        map_ = None if wanted.map_ is None else self._map(wanted.map_)
        target = self._base if map_ is None else map_.toset
        shape = (target.total_size, *wanted.dim)
        dat = Dat(target**wanted.dim, self._memory.array(address, shape, dtype))
        return (dat if wanted.index is None else DatView(dat, wanted.index)), map_

    def _given_matrix(self, wanted: Any, blocks: list[Mat], access: Any) -> Any:
        what = f"GlobalKernel '{self._kernel.name}'"
        mat = blocks[0]
        if isinstance(wanted, MixedMatKernelArg):
            found = None if mat.whole is None else mat.whole()
            if found is None or found.sparsity.shape != wanted.shape or list(found) != blocks:
                raise UsageError(
                    f"{what}: expected a Mat of {wanted.shape[0]} x {wanted.shape[1]} blocks, or "
                    f"all of its blocks by rows, got {blocks!r}"
                )
            mat = found
        for block, expected in zip(blocks, _fields(wanted), strict=True):
            dims = expected.block_dims
            if block.block_dims != dims:
                raise UsageError(
                    f"{what}: {block.label} has blocks of {block.block_dims}, expected {dims}"
                )
        rows, cols = (
            tuple(
                None if block.maps[side] is None else self._map(block.maps[side], target=dset.set)
                for block, dset in zip(first, mat.sparsity.dsets[side], strict=True)
            )
            for side, first in enumerate(_first_blocks(wanted))
        )
        return mat_paths.unlisted_argument(mat, access, rows, cols)

    def _matrix(self, wanted: Any, dtype: Any) -> Any:
        """Return a matrix similar to the matrix of a call, for text."""
        sides: list[tuple[list[Map | None], list[Any]]] = []
        for side, blocks in enumerate(_first_blocks(wanted)):
            maps = [None if b.maps[side] is None else self._map(b.maps[side]) for b in blocks]
            dims = [block.dims[side] for block in blocks]
            dsets = [
                GlobalDataSet(Global(dim)) if map_ is None else map_.toset**dim
                for map_, dim in zip(maps, dims, strict=True)
            ]
            sides.append((maps, dsets))
        (rows, row_dsets), (cols, col_dsets) = sides
        if isinstance(wanted, MatKernelArg):
            pair: Any = (rows[0], cols[0])
            sparsity = Sparsity((row_dsets[0], col_dsets[0]), [(*pair, None)])
            return MatParloopArg(Mat(sparsity, dtype), pair)
        pair = (MixedMap(rows), MixedMap(cols))
        both = (MixedDataSet(row_dsets), MixedDataSet(col_dsets))
        return MixedMatParloopArg(Mat(Sparsity(both, [(*pair, None)]), dtype), pair)

    # Maps

    def _map(self, wanted: Any, start: Set | None = None, target: Set | None = None) -> Map:
        """Return a Map over memory; without a target to a Set just large enough."""
        key = (id(wanted), target)
        if key not in self._maps:
            self._maps[key] = self._new_map(wanted, start or self._whole, target)
        return self._maps[key]

    def _new_map(self, wanted: Any, start: Set, target: Set | None) -> Map:
        if hasattr(wanted, "base_maps"):
            chain: list[Map] = []
            for one in reversed(wanted.base_maps):
                end = target if one is wanted.base_maps[0] else None
                chain.insert(0, self._map(one, chain[0].toset if chain else start, end))
            return ComposedMap(*chain)
        if hasattr(wanted, "base_map"):
            return PermutedMap(self._map(wanted.base_map, start, target), wanted.permutation)
        shape = (start.total_size, wanted.arity)
        values = self._memory.array(self._tables[id(wanted)], shape, _INDEX)
        if target is None:
            target = Set(self._reach(values, wanted, start) + 1)
        quotient = wanted.offset_quotient
        return Map(start, target, wanted.arity, values, None, wanted.offset, quotient)

    def _reach(self, values: Array, wanted: Any, start: Set) -> int:
        """Return the last entity reached by a Map, from any cell of a column."""
        if values.size == 0:
            return -1
        highest = int(values.max())
        if wanted.offset is None or not isinstance(start, ExtrudedSet):
            return highest
        levels = start.layers_array[:, 1] - start.layers_array[:, 0] - 2  # of the top cells
        if not start.constant_layers:  # columns without cells lead nowhere
            values, levels = values[levels >= 0], levels[levels >= 0]
            if levels.size == 0:
                return -1
        first = np.zeros(wanted.arity, np.int64)
        if start.extruded_periodic and wanted.offset_quotient is not None:
            first = np.asarray(wanted.offset_quotient, np.int64)
        first = first % (levels[:, None] + 1)
        ends = (-first, levels[:, None] - first)
        offset = np.asarray(wanted.offset, np.int64)
        return max(int((values + offset * end).max()) for end in ends)


def _first_blocks(wanted: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the blocks that determine the Maps of rows, and of columns."""
    n = getattr(wanted, "shape", (1, 1))[1]
    return _fields(wanted)[::n], _fields(wanted)[:n]


def _dtypes(kernel: Any) -> list[np.dtype[Any]]:
    """Return the dtypes behind the parameters: as given, or from the C types."""
    local = kernel.local_kernel
    if local.dtypes is not None:
        return [np.dtype(dtype) for dtype in local.dtypes]
    bases = [str(parameter.type.base) for parameter in local.parameters]
    return [np.dtype("uint8" if base in ("void", "bool") else base) for base in bases]
