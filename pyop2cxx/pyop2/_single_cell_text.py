# SPDX-License-Identifier: BSD-3-Clause
"""The C function of a single element around a loop over a range: parameters and calls.

If an element needs a lookup first, for the places of entries in matrices or for the layers of a
column, the loop sees a range of this element only: pointers to element data are moved.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.arrays import MOST_INT32
from pyop2cxx.runtime.frames import render
from pyop2cxx.sets.derived_maps import GlobalMap
from pyop2cxx.sets.extruded import ExtrudedSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set

POSITION_BYTES = 4
_DROPPED = MOST_INT32  # marker for a missing place


def parameters_of(text: str, function: str) -> list[str]:
    """Return the names of a C function's parameters behind ``begin`` and ``end``.

    Args:
        text: C text with the definition.
        function: Name of the function.
    """
    found = re.search(rf"\b{function}\(([^)]*)\) \{{", text)
    assert found is not None  # generated text
    return [parameter.split()[-1].lstrip("*") for parameter in found[1].split(",")][2:]


class Wrapping:
    """A function of a single element, in C.

    Args:
        name: The function.
        alias: Name of the kernel in the loop over a range.
        types: C types of arguments forwarded to the kernel first.
        parts: The loop's arguments, mixed arguments field by field.
        whole: The Set.
    """

    def __init__(
        self, name: str, alias: str, types: Sequence[str], parts: Sequence[Part], whole: Set
    ) -> None:
        self._name, self._alias, self._types = name, alias, types
        self._parts, self._whole = parts, whole
        found = {map_.uid: map_ for part in parts for map_ in part.maps}
        maps = [map_ for map_ in found.values() if not map_.is_of_columns]
        self._maps = {map_.uid: f"map{i}" for i, map_ in enumerate(maps)}
        self._given_maps = maps
        self._matrices = [i for i, part in enumerate(parts) if part.path is not None]
        self._columns = whole if isinstance(whole, ExtrudedSet) else None
        own_layers = self._columns is not None and not self._columns.constant_layers
        self._alone = bool(self._matrices) or own_layers or len(maps) < len(found)

    def text(self, wanted: Sequence[str]) -> str:
        """Return the text.

        Args:
            wanted: The loop's parameters behind ``begin`` and ``end``.
        """
        columns = self._columns
        own_layers = columns is not None and not columns.constant_layers
        n_levels = 0 if columns is None or own_layers else columns.layers - 1
        searched = {self._search(part): _index(part) for part in self._matrix_parts()}
        context = {
            "name": self._name,
            "alias": self._alias,
            "takes": [*self._takes()],
            "given": [*self._given(wanted)],
            "layers": "" if columns is None else "own" if own_layers else "constant",
            "n_levels": n_levels,
            "is_periodic": columns is not None and columns.extruded_periodic,
            "own_maps": self._own_maps(),
            "matrices": [*self._found()],
            "searches": [{"name": name, "index": index} for name, index in searched.items()],
            "is_alone": self._alone,
            "dropped": _DROPPED,
        }
        return render("kernels/single_cell.c.j2", context).rstrip("\n")

    # Parameters

    def _takes(self) -> Iterator[dict[str, object]]:
        for i, type_ in enumerate(self._types):
            yield _parameter(f"farg{i}", type_, gap="" if type_.endswith("*") else " ")
        yield from (_parameter("start", "int", gap=" "), _parameter("end", "int", gap=" "))
        if self._columns is not None:
            yield _pointer("layers", "int")
            if not self._columns.constant_layers and self._columns.extruded_periodic:
                yield _pointer("bounds", "int")
        for i, part in enumerate(self._parts):
            data: Any = part.data
            yield _pointer(f"arg{i}", data.ctype, is_const=part.access.name == "READ")
            if part.path is not None:
                yield _pointer(f"arg{i}_rowptr", "long")
                yield _pointer(f"arg{i}_colidx", _index(part))
                if _is_cut(part):
                    yield _pointer(f"arg{i}_rows_kept", "long")
                    yield _pointer(f"arg{i}_columns_kept", "long")
        for map_ in self._given_maps:
            yield _pointer(self._maps[map_.uid], _map_index(map_))

    # Arguments of the inner call

    def _given(self, wanted: Sequence[str]) -> Iterator[dict[str, object]]:
        numbers = iter(range(len(self._parts)))
        starts, places = iter(self._matrices), iter(self._matrices)
        maps: tuple[Map, ...] = ()  # of the last argument
        for i, name in enumerate(wanted):
            if i < len(self._types):
                yield _handed(f"farg{i}", is_value=True)
            elif name == "layers":
                yield _handed("cell")
            elif name.endswith("_row_start"):
                yield _handed(f"arg{next(starts)}_rowptr")
            elif name.endswith("_position"):
                yield _handed(f"arg{next(places)}_places")
            elif name.endswith("_col_map"):
                yield self._map(maps[1])
            elif name.endswith("_map"):
                yield self._map(maps[0])
            else:
                at = next(numbers)
                part = self._parts[at]
                maps = part.maps
                is_own = part.home is not None and part.map_ is None
                yield self._moved(f"arg{at}", part.stride or part.dim if is_own else 0)

    def _map(self, map_: Map) -> dict[str, object]:
        if map_.is_of_columns:
            return _handed(_own_map(map_))
        return self._moved(self._maps[map_.uid], map_.width)

    def _moved(self, pointer: str, width: int) -> dict[str, object]:
        return _handed(pointer, step=width if self._alone else 0)

    # Local computations

    def _own_maps(self) -> list[dict[str, object]]:
        found = {map_.uid: map_ for part in self._parts for map_ in part.maps}
        own = {_own_map(map_): map_ for map_ in found.values() if map_.is_of_columns}
        return [
            {"name": name, "type": _map_index(map_), "is_global": isinstance(map_, GlobalMap)}
            for name, map_ in own.items()
        ]

    def _matrix_parts(self) -> list[Any]:
        return [self._parts[i] for i in self._matrices]

    def _found(self) -> Iterator[dict[str, object]]:
        """Yield the searches for the element's places in matrices."""
        for i, part in zip(self._matrices, self._matrix_parts(), strict=True):
            dims = part.data.block_dims if part.path.unrolled else (1, 1)
            sides = [
                {"name": side, "n": map_.arity, "dim": dim, "entities": [*self._entities(map_)]}
                for side, map_, dim in zip(("rows", "columns"), part.maps, dims, strict=True)
            ]
            yield {
                "number": i,
                "sides": sides,
                "size": part.maps[0].arity * part.maps[1].arity * dims[0] * dims[1],
                "may_drop": int(part.is_masked),
                "search": self._search(part),
                "is_cut": _is_cut(part),
            }

    def _entities(self, map_: Map) -> Iterator[dict[str, object]]:
        if map_.is_of_columns:
            yield {"is_column": True}
            return
        slots = range(map_.arity) if map_.slots is None else map_.slots
        moving = self._columns is not None and map_.offset is not None
        offsets = map_.offset.tolist() if moving else [0] * map_.arity  # type: ignore[union-attr]
        quotient = map_.offset_quotient
        quotients = [0] * map_.arity if quotient is None else quotient.tolist()
        place = {"is_column": False, "map": self._maps[map_.uid], "width": map_.width}
        for slot, offset, start in zip(slots, offsets, quotients, strict=True):
            yield {**place, "slot": slot, "offset": offset, "start": start}

    def _search(self, part: Part) -> str:
        return f"{self._name}_places" + ("" if _index(part) == "int" else "_long")


def _parameter(name: str, type_: str, gap: str) -> dict[str, object]:
    return {"name": name, "type": type_, "gap": gap, "is_const": False, "is_pointer": False}


def _pointer(name: str, type_: str, *, is_const: bool = True) -> dict[str, object]:
    return {"name": name, "type": type_, "gap": "", "is_const": is_const, "is_pointer": True}


def _handed(name: str, *, step: int = 0, is_value: bool = False) -> dict[str, object]:
    return {"name": name, "step": step, "is_value": is_value}


def _own_map(map_: Map) -> str:
    """Return the name of a Map made for the element alone."""
    return f"to_{'global' if isinstance(map_, GlobalMap) else 'column'}"


def _index(part: Part) -> str:
    return "int" if part.data.sparsity.colidx.dtype.itemsize == POSITION_BYTES else "long"


def _map_index(map_: Map) -> str:
    table = map_.current_table()
    assert table is not None  # checked: has_values
    return "int" if table.index_bytes == POSITION_BYTES else "long"


def _is_cut(part: Part) -> bool:
    """Whether rows or columns are left out."""
    path = part.path
    return path is not None and (path.row_mask is not None or path.col_mask is not None)
