# SPDX-License-Identifier: BSD-3-Clause
"""Recorded runs of loops, input and output, for a project's own test."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.loop.parts import Part

MOST_BYTES = 4 << 20
"""Largest size of the values of a recorded loop: larger meshes test nothing more."""


class NoRecordError(Exception):
    """A loop cannot be recorded; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """An object of a loop.

    Attributes:
        thing: The Set, Subset, Map, Dat, Global, Const or Mat.
        before: Values before; for extruded Sets with varying columns, the layers; None for other
            Sets.
        after: Values after; None if only read.
    """

    thing: Any
    before: Array | None = None
    after: Array | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A run of a loop.

    Attributes:
        things: The objects of the loop, in the order of the C++ function's parameters.
        objects: The same objects with values; extruded Sets come first, then Maps, including the
            Sparsities' Maps.
        region: The visited part of each column, in C++; empty: no columns.
    """

    things: tuple[Any, ...]
    objects: tuple[Object, ...]
    region: str = ""


def record(loop: Any, things: Sequence[Any], region: str = "") -> Record:
    """Run a loop about to run for the first time, and undo the effects.

    Args:
        loop: The `ParLoop`, bound to data on the host.
        things: The objects of the loop, in the order of the C++ function's parameters.
        region: As of a `Record`.

    Raises:
        NoRecordError: The loop runs on a device, or the test cannot make objects of a kind.
    """
    if runtime.static:
        raise NoRecordError("the program ran in static mode")
    if runtime.engine.chosen_device(runtime.engine.backend(runtime.backend)) is not None:
        raise NoRecordError("it ran on a device")
    written = {part.owner.uid for part in loop.parts if part.access != READ}
    buffers = {part.owner.uid: part for part in loop.parts}
    made = list(all_of(things))
    n_bytes = sum(map(n_bytes_of, made))
    if n_bytes > MOST_BYTES:
        raise NoRecordError(f"its values are {n_bytes / 1e6:.1f} MB")
    before = [values_of(thing, buffers.get(thing.uid)) for thing in made]
    loop.prepared.run_saving([])
    try:
        after = [
            values_of(thing, buffers[thing.uid]) if thing.uid in written else None for thing in made
        ]
    finally:
        loop.prepared.restore()
    objects = tuple(
        Object(thing=thing, before=values, after=then)
        for thing, values, then in zip(made, before, after, strict=True)
    )
    return Record(tuple(things), objects, region)


def pairs_of(mat: Any) -> list[tuple[Map, Map]]:
    """Return the pairs of Maps given for a matrix's Sparsity.

    Raises:
        NoRecordError: The Sparsity has pairs other than whole Maps, or a square matrix lacks the
            diagonal.
    """
    sparsity = mat.sparsity
    rows, columns = sparsity.dsets
    found = []
    for row, column, regions in sparsity.given.get((0, 0), ()):
        if {type(row), type(column)} - {Map, RaggedMap} or regions:
            raise NoRecordError(f"'{sparsity.name}' was not made from pairs of whole Maps")
        found.append((row, column))
    if (rows.set is columns.set) != (sparsity.diagonal_block and rows == columns):
        raise NoRecordError(f"'{sparsity.name}' has a diagonal, or none, against the rule")
    return found


def all_of(things: Sequence[Any]) -> Iterable[Any]:
    """Return objects with all their parts, except Sets without columns.

    Parts come before the whole: extruded Sets, then Maps.
    """
    maps = [thing for thing in things if isinstance(thing, Map)]
    for thing in things:
        if isinstance(thing, Mat):
            maps += [map_ for pair in pairs_of(thing) for map_ in pair]
    columns = [one for thing in (*maps, *things) for one in sets_of(thing) if is_extruded(one)]
    return {one.uid: one for one in (*columns, *maps, *things)}.values()


def is_extruded(thing: Any) -> bool:
    """Say whether something is an extruded Set."""
    return isinstance(thing, ExtrudedSet)


def homes_of(thing: Any) -> list[Set]:
    """Return the Sets of an object, in the order of the constructor's arguments in C++.

    Args:
        thing: A Set, Subset, Map, or an object with values.
    """
    if isinstance(thing, Subset):
        return [thing.superset]
    if isinstance(thing, ExtrudedSet):
        return [thing.parent]
    if isinstance(thing, Map):
        return [thing.iterset, thing.toset]
    if isinstance(thing, Mat):
        return [side.set for side in thing.sparsity.dsets]
    return [thing.dataset.set] if isinstance(thing, Dat) else []


def sets_of(thing: Any) -> list[Set]:
    """Return the Sets of an object, recursively and parts first; a Set also returns itself.

    Args:
        thing: As of `homes_of`.
    """
    found = [one for home in homes_of(thing) for one in sets_of(home)]
    return [*found, thing] if isinstance(thing, Set) and not isinstance(thing, Subset) else found


def n_bytes_of(thing: Any) -> int:
    """Return the size of an object's values in bytes."""
    if isinstance(thing, Subset):
        return int(thing.owned_indices.nbytes)
    if isinstance(thing, ExtrudedSet):
        return int(thing.layers_array.size) * np.dtype(np.int64).itemsize
    if isinstance(thing, Set):
        return 0
    return int(thing.values.nbytes if isinstance(thing, Map) else thing.buffer.n_bytes)


def values_of(thing: Any, part: Part | None = None) -> Array | None:
    """Return the present values of an object on the host; None for a Set.

    Args:
        thing: A Set, Subset, Map, or an object with values.
        part: The loop's argument with the object; None if there is none.

    Raises:
        NoRecordError: The values are on a device, or C++ cannot make objects of the kind.
    """
    if isinstance(thing, Subset):
        return np.array(thing.owned_indices)
    if isinstance(thing, ExtrudedSet) and not thing.constant_layers:
        _check_whole(thing)
        return thing.layers_array.astype(np.int64).ravel()
    if isinstance(thing, Set):
        return None
    if isinstance(thing, Map):
        _check_whole(thing.iterset)
        _check_whole(thing.toset)
        if isinstance(thing, RaggedMap):
            return np.concatenate((thing.offsets, thing.values))
        values: Array = np.array(thing.values)
        if values.size and values.min() < 0:
            raise NoRecordError(f"'{thing.name}' leads nowhere from some entities")
        return values
    if part is not None and part.home is not None:
        _check_whole(part.home)
    return _copy_of(thing)


def host_values(data: Any) -> Array:
    """Return a copy of an object's values, fetched from the device if necessary."""
    data.use_on_host(_core.Use.read, "save")
    return _copy_of(data)


def _check_whole(one: Set) -> None:
    if one.size != one.total_size or one.ranks is not None:
        raise NoRecordError(f"'{one.name}' has a halo")


def _copy_of(data: Any) -> Array:
    """Copy the memory of an object, without counting as a use."""
    buffer = data.buffer
    if buffer.where == _core.Where.device:
        raise NoRecordError(f"the values of '{data.name}' are on a device")
    if buffer.n_bytes == 0:
        return np.zeros(0, data.dtype)
    memory = (ctypes.c_char * buffer.n_bytes).from_address(buffer.address)
    values: Array = np.frombuffer(memory, data.dtype).copy()
    return values
