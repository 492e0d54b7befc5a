# SPDX-License-Identifier: BSD-3-Clause
"""The C function of one element around a loop over a range: what it takes, and hands on.

Where an element has to be looked at first, for the places of its entries in matrices or for the
layers of its column, the loop sees it as the only one: pointers to what is on elements are moved.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.arrays import MOST_INT32
from pyop2cxx.sets.derived_maps import GlobalMap
from pyop2cxx.sets.extruded import ExtrudedSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set

POSITION_BYTES = 4
_DROPPED = MOST_INT32  # such a place is none

_PLACES = """\
static int {name}(int *places, int may_drop, const long *rowptr, const {index} *colidx,
    const long *rows, int n_rows, int row_dim, const long *row_kept,
    const long *columns, int n_columns, int column_dim, const long *column_kept) {{
  const int width = n_columns * column_dim;
  for (int i = 0; i < n_rows; ++i) {{
    for (int j = 0; j < n_columns; ++j) {{
      const int is_known = rows[i] >= 0 && columns[j] >= 0;
      const long first = is_known ? rowptr[rows[i]] : 0;
      long low = first, high = is_known ? rowptr[rows[i] + 1] : 0;
      while (high - low > 1) {{
        const long middle = low + (high - low) / 2;
        if (colidx[middle] <= columns[j]) low = middle;
        else high = middle;
      }}
      if (is_known ? low == high || colidx[low] != columns[j] : !may_drop) return 0;
      for (int r = 0; r < row_dim; ++r) {{
        for (int c = 0; c < column_dim; ++c) {{
          const int is_kept = is_known &&
              (!row_kept || row_kept[rows[i] * row_dim + r] >= 0) &&
              (!column_kept || column_kept[columns[j] * column_dim + c] >= 0);
          places[(i * row_dim + r) * width + j * column_dim + c] =
              is_kept ? (int)(low - first) : {dropped};
        }}
      }}
    }}
  }}
  return 1;
}}
"""


def parameters_of(text: str, function: str) -> list[str]:
    """Return the names of a C function's parameters behind ``begin`` and ``end``.

    Args:
        text: C text that defines it.
        function: Its name.
    """
    found = re.search(rf"\b{function}\(([^)]*)\) \{{", text)
    assert found is not None  # the text is of our making
    return [parameter.split()[-1].lstrip("*") for parameter in found[1].split(",")][2:]


class Wrapping:
    """A function of one element, in C.

    Args:
        name: The function.
        alias: What the kernel is called in the loop over a range.
        types: C types of what the kernel gets first, as it is.
        parts: The loop's arguments, mixed ones field by field.
        whole: The Set.
    """

    def __init__(
        self, name: str, alias: str, types: Sequence[str], parts: Sequence[Part], whole: Set
    ) -> None:
        self._name, self._alias, self._types = name, alias, types
        self._parts, self._whole = parts, whole
        found = {map_._uid: map_ for part in parts for map_ in part.maps}
        maps = [map_ for map_ in found.values() if not map_._is_of_columns]
        self._maps = {map_._uid: f"map{i}" for i, map_ in enumerate(maps)}
        self._given_maps = maps
        self._matrices = [i for i, part in enumerate(parts) if part.path is not None]
        self._columns = whole if isinstance(whole, ExtrudedSet) else None
        own_layers = self._columns is not None and not self._columns.constant_layers
        self._alone = bool(self._matrices) or own_layers or len(maps) < len(found)

    def lines(self, wanted: Sequence[str]) -> list[str]:
        """Return its text.

        Args:
            wanted: The names of what the loop takes behind ``begin`` and ``end``.
        """
        given = ", ".join(self._given(wanted))
        head = f"{'int' if self._matrices else 'void'} {self._name}({', '.join(self._takes())}) {{"
        if not self._alone:
            call = f"  wrap_{self._alias}(start, end, {given});"
            return [head, *self._cell("  "), call, "}"]
        body = [*self._cell("    "), *self._own_maps(), *self._found()]
        body.append(f"    wrap_{self._alias}(0, 1, {given});")
        loop = "  for (long element = start; element < end; ++element) {"
        end = ["  return 0;"] if self._matrices else []
        return [*self._searches(), head, loop, *body, "  }", *end, "}"]

    # What it takes

    def _takes(self) -> Iterator[str]:
        for i, type_ in enumerate(self._types):
            yield f"{type_}{'' if type_.endswith('*') else ' '}farg{i}"
        yield from ("int start", "int end")
        if self._columns is not None:
            yield "const int *layers"
            if not self._columns.constant_layers and self._columns.extruded_periodic:
                yield "const int *bounds"
        for i, part in enumerate(self._parts):
            constness = "const " if part.access.name == "READ" else ""
            data: Any = part.data
            yield f"{constness}{data.ctype} *arg{i}"
            if part.path is not None:
                yield f"const long *arg{i}_rowptr"
                yield f"const {_index(part)} *arg{i}_colidx"
                if _is_cut(part):
                    yield from (f"const long *arg{i}_rows_kept", f"const long *arg{i}_columns_kept")
        for map_ in self._given_maps:
            yield f"const {_map_index(map_)} *{self._maps[map_._uid]}"

    # What it hands on

    def _given(self, wanted: Sequence[str]) -> Iterator[str]:
        numbers = iter(range(len(self._parts)))
        starts, places = iter(self._matrices), iter(self._matrices)
        maps: tuple[Map, ...] = ()  # of the argument that came last
        for i, name in enumerate(wanted):
            if i < len(self._types):
                yield f"(unsigned char *)&farg{i}"
            elif name == "layers":
                yield "cell"
            elif name.endswith("_row_start"):
                yield f"arg{next(starts)}_rowptr"
            elif name.endswith("_position"):
                yield f"arg{next(places)}_places"
            elif name.endswith("_col_map"):
                yield self._map(maps[1])
            elif name.endswith("_map"):
                yield self._map(maps[0])
            else:
                at = next(numbers)
                maps = self._parts[at].maps
                yield self._data(at)

    def _data(self, i: int) -> str:
        part = self._parts[i]
        if part.home is not None and part.map_ is None:
            return self._moved(f"arg{i}", part.stride or part.dim)
        return f"arg{i}"

    def _map(self, map_: Map) -> str:
        if map_._is_of_columns:
            return f"to_{'global' if isinstance(map_, GlobalMap) else 'column'}"
        return self._moved(self._maps[map_._uid], map_._width)

    def _moved(self, pointer: str, width: int) -> str:
        if not self._alone:
            return pointer
        return f"{pointer} + element" + (f" * {width}" if width > 1 else "")

    # What it finds out

    def _cell(self, indent: str) -> list[str]:
        """Return the declaration of the element's level, as the loop knows it."""
        columns = self._columns
        if columns is None:
            return []
        if columns.constant_layers:
            first, last, n_levels = "layers[0]", "layers[1]", str(columns.layers - 1)
        else:
            first, last, n_levels = "layers[2 * element]", "layers[2 * element + 1]", "0"
            if columns.extruded_periodic:
                n_levels = "bounds[2 * element + 1] - bounds[2 * element] - 1"
        level = f"{last} - {first} - 2"
        return [f"{indent}const long cell[4] = {{1, {level}, {first}, {n_levels}}};"]

    def _own_maps(self) -> list[str]:
        found = {map_._uid: map_ for part in self._parts for map_ in part.maps}
        own = {self._map(map_): map_ for map_ in found.values() if map_._is_of_columns}
        return [
            f"    const {_map_index(map_)} {name}[1] = "
            f"{{{'0' if isinstance(map_, GlobalMap) else f'({_map_index(map_)})element'}}};"
            for name, map_ in own.items()
        ]

    def _found(self) -> Iterator[str]:
        """Return the search for the element's places in matrices."""
        for i in self._matrices:
            part: Any = self._parts[i]
            dims = part.data.block_dims if part.path.unrolled else (1, 1)
            arities = [map_.arity for map_ in part.maps]
            given = []
            for side, map_, arity, dim in zip(
                ("rows", "columns"), part.maps, arities, dims, strict=True
            ):
                entities = ", ".join(self._entities(map_))
                yield f"    const long arg{i}_{side}[{arity}] = {{{entities}}};"
                kept = f"arg{i}_{side}_kept" if _is_cut(part) else "0"
                given.append(f"arg{i}_{side}, {arity}, {dim}, {kept}")
            n = arities[0] * arities[1] * dims[0] * dims[1]
            arrays = f"arg{i}_places, {int(part.is_masked)}, arg{i}_rowptr, arg{i}_colidx"
            yield f"    int arg{i}_places[{n}];"
            yield f"    if (!{self._search(part)}({arrays}, {', '.join(given)})) return 1;"

    def _entities(self, map_: Map) -> Iterator[str]:
        if map_._is_of_columns:
            yield "0"
            return
        slots = range(map_.arity) if map_._slots is None else map_._slots
        moving = self._columns is not None and map_.offset is not None
        offsets = map_.offset.tolist() if moving else [0] * map_.arity  # type: ignore[union-attr]
        quotient = map_.offset_quotient
        quotients = [0] * map_.arity if quotient is None else quotient.tolist()
        for slot, offset, start in zip(slots, offsets, quotients, strict=True):
            value = f"{self._maps[map_._uid]}[element * {map_._width} + {slot}]"
            level = "cell[1]"
            if self._columns is not None and self._columns.extruded_periodic:
                level = f"((cell[1] + {start}) % cell[3] - {start} % cell[3])"
            yield f"{value} < 0 ? -1 : {value} + {offset} * {level}" if offset else value

    def _search(self, part: Part) -> str:
        return f"{self._name}_places" + ("" if _index(part) == "int" else "_long")

    def _searches(self) -> list[str]:
        parts: list[Any] = [self._parts[i] for i in self._matrices]
        found = {self._search(part): _index(part) for part in parts}
        return [
            _PLACES.format(name=name, index=index, dropped=_DROPPED)
            for name, index in found.items()
        ]


def _index(part: Part) -> str:
    return "int" if part.data.sparsity.colidx.dtype.itemsize == POSITION_BYTES else "long"


def _map_index(map_: Map) -> str:
    table = map_._current_table()
    assert table is not None  # checked: has_values
    return "int" if table.index_bytes == POSITION_BYTES else "long"


def _is_cut(part: Part) -> bool:
    """Whether rows or columns are left out."""
    path = part.path
    return path is not None and (path.row_mask is not None or path.col_mask is not None)
