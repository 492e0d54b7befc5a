# SPDX-License-Identifier: BSD-3-Clause
"""Random loops: Sets, Maps, arguments and their values, as plain data, and what they must do.

Nothing here knows pyop2cxx: `run` visits the elements one after the other and calls the kernel's
interpreter with lists.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from fuzz.aggregates import Aggregates
from fuzz.c_types import DOUBLE, FLOAT, INT, LONG, CType
from fuzz.facts import Facts
from fuzz.grammar import Grammar, Name, facts_of, sum_facts, sum_of, table_names
from fuzz.interpreter import compiled, loses
from fuzz.tree import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.tree import Kernel

MOST_VALUES = 8  # that one argument points to
MOST_OF_MATRIX = 100_000  # entries, as a dense array
MATRIX = "a matrix"
FACETS = "ON_INTERIOR_FACETS"
KINDS = (
    *("mixed", "periodic", "partial", "structs", "matrices", "aggregates", "sums", "effects"),
    "ragged",
    "narrow",
)
"""What loops have beside the usual, if they are asked for it: see `random_loop`."""


@dataclass(slots=True)
class Path:
    """A Map.

    Attributes:
        name: What programs call it.
        target: The Set that it leads to.
        rows: Of each element, as the loop reads them.
        offsets: How far each entry moves from a cell to the one above; empty if not extruded.
        arity: Entries of a row.
        order: It is a Map in another order: which of its entries comes where; empty for none.
        through: It is composed: the element of an inner Set that each element leads to first.
        quotients: Where in a periodic column each entry starts to be counted; empty if it is none.
        more: It is ragged: entries of each row behind those that kernels use; empty if it is not.
    """

    name: str
    target: str
    rows: list[list[int]]
    arity: int
    offsets: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    through: list[int] = field(default_factory=list)
    quotients: list[int] = field(default_factory=list)
    more: list[list[int]] = field(default_factory=list)


@dataclass(slots=True)
class Data:
    """A Dat, a Global or a Mat.

    Attributes:
        name: What programs call it.
        type: Of its values.
        on: Its Set; empty for a Global, MATRIX for a Mat.
        dim: Of one entity; of a Mat, the numbers of all its rows and columns.
        values: All of them, row by row.
        is_narrow: Whether memory holds floats, where the kernel sees doubles.
    """

    name: str
    type: CType
    on: str
    dim: tuple[int, ...]
    values: list[Any]
    is_narrow: bool = False

    @property
    def width(self) -> int:
        return math.prod(self.dim)


@dataclass(slots=True)
class Arg:
    """An argument.

    Attributes:
        data: What it is made of.
        access: Its access, as programs write it.
        path: The Map; None if it is direct or a Global.
        component: The component that a view shows; None for all.
        tolerance: How far off each result may be.
        columns: The Map to the columns of a Mat.
        block: Rows and columns of a Mat for each pair of entities.
        fields: Of a MixedDat, as arguments; its `data` then have no values.
    """

    data: Data
    access: str
    path: Path | None = None
    component: int | None = None
    tolerance: float = 0.0
    columns: Path | None = None
    block: tuple[int, int] = (1, 1)
    fields: list[Arg] = field(default_factory=list)

    @property
    def width(self) -> int:
        return 1 if self.component is not None else self.data.width


@dataclass(slots=True)
class Loop:
    """A loop.

    Attributes:
        seed: It is made of.
        kernel: Its kernel.
        sets: Owned and all entities of Sets by their names; the loop runs over "cells".
        args: Its arguments.
        constants: Consts: name, type, and the values.
        part: The elements of a Subset; None for all.
        extruded: Whether there are columns of cells.
        layers: First layer and one past the last of each column.
        even: Whether all columns have equal heights.
        region: The part of each column; empty for all.
        layer: Whether the kernel gets the number of the layer.
        periodic: Whether the top of a column is its bottom.
    """

    seed: int
    kernel: Kernel
    sets: dict[str, tuple[int, int]]
    args: list[Arg]
    constants: list[tuple[str, CType, list[Any]]] = field(default_factory=list)
    part: list[int] | None = None
    extruded: bool = False
    layers: list[tuple[int, int]] = field(default_factory=list)
    even: bool = True
    region: str = ""
    layer: bool = False
    periodic: bool = False

    def leaves(self) -> list[Arg]:
        """Return the arguments, of MixedDats the fields."""
        return [leaf for arg in self.args for leaf in arg.fields or [arg]]

    def paths_used(self) -> list[Path]:
        """Return the Maps that arguments need, each once."""
        found = [
            path for arg in self.leaves() for path in (arg.path, arg.columns) if path is not None
        ]
        return list({path.name: path for path in found}.values())

    def cells(self) -> Iterator[tuple[int, int, int]]:
        """Yield element, layer, and how many cells it is above the lowest of its column."""
        for element in range(self.sets["cells"][0]) if self.part is None else self.part:
            if not self.extruded:
                yield element, 0, 0
                continue
            bottom, end = self.layers[element]
            all_cells = range(bottom, end - 1)
            if self.region == "ON_BOTTOM":
                all_cells = all_cells[:1]
            elif self.region == "ON_TOP":
                all_cells = all_cells[-1:]
            elif self.region == FACETS and not self.periodic:
                all_cells = all_cells[:-1]
            for layer in all_cells:
                yield element, layer, layer - bottom


# What a loop must do


def run(loop: Loop, *, checked: bool = False, times: int = 1) -> dict[str, list[Any]]:
    """Return the values of all Dats and Globals after the loop, by name."""
    return outcome(loop, checked=checked, times=times)[0]


def outcome(
    loop: Loop, *, checked: bool = False, times: int = 1
) -> tuple[dict[str, list[Any]], str]:
    """Return the same, and the check of check mode that has to fail; empty if none has."""
    call = compiled(loop.kernel, checked=checked)
    call.__globals__["_Complex_I"] = 1j
    for name, t, values in loop.constants:
        call.__globals__[name] = values if len(values) > 1 else _python(values[0], t)
    state = {
        arg.data.name: [_python(v, arg.data.type) for v in arg.data.values] for arg in loop.leaves()
    }
    begun, added = {name: [*values] for name, values in state.items()}, Counter[tuple[str, int]]()
    for _ in range(times):
        for cell in loop.cells():
            _visit(loop, call, state, added, cell)
    types = {arg.data.name: arg.data.type for arg in loop.leaves()}
    is_beyond = any(
        not types[name].low <= begun[name][place] + total <= types[name].high
        for (name, place), total in added.items()
    )
    return state, "conversion" if loses(call) else "sum" if is_beyond else ""


def _python(value: Any, t: CType) -> Any:
    return complex(value) if t.kind == "c" else float(value) if t.kind == "f" else value


def _visit(
    loop: Loop,
    call: Any,
    state: dict[str, list[Any]],
    added: Counter[tuple[str, int]],
    cell: tuple[int, int, int],
) -> None:
    element, layer, above = cell
    packs: list[Any] = []
    stores = []
    bottom, end = loop.layers[element] if loop.periodic else (0, 1)
    height = end - 1 - bottom
    for arg in loop.args:
        whole: list[Any] = []
        for leaf in arg.fields or [arg]:
            values = state[leaf.data.name]
            n_cells = 2 if loop.region == FACETS else 1
            places = _places(leaf, element, above, n_cells, height)
            # memory that several arguments add to is told what each has added
            if leaf.access == "INC" or (leaf.access == "WRITE" and leaf.path is not None):
                pack = [_python(0, leaf.data.type)] * len(places)
            else:
                pack = [values[i] for i in places]
            stores.append((leaf, values, places, whole, len(whole)))
            whole += pack
        packs += [whole, 0]
    call(*packs, *([layer] if loop.layer else []))
    for arg, values, places, whole, at in stores:
        if arg.access == "READ":
            continue
        shares = whole[at : at + len(places)]
        _store(arg, values, places, shares)
        if arg.access == "INC" and arg.data.type.kind == "i":
            for place, share in zip(places, shares, strict=True):
                added[arg.data.name, place] += share * (place >= 0)


def _places(arg: Arg, element: int, above: int, n_cells: int, height: int) -> list[int]:
    """Return where in the list of all values those of an argument are, for one element.

    What is negative is nowhere; `height` is 0 unless columns are periodic.
    """
    width = arg.data.width
    if not arg.data.on:
        return list(range(width))
    path = arg.path
    if arg.columns is not None:
        assert path is not None
        rows = _spread(_entities(path, element, above, n_cells, height), arg.block[0])
        columns = _spread(_entities(arg.columns, element, above, n_cells, height), arg.block[1])
        width = arg.data.dim[1]
        return [-1 if min(r, c) < 0 else r * width + c for r in rows for c in columns]
    rows = [element] if path is None else _entities(path, element, above, n_cells, height)
    if arg.component is not None:
        return [row * width + arg.component for row in rows]
    return _spread(rows, width)


def _spread(entities: list[int], width: int) -> list[int]:
    return [entity * width + c if entity >= 0 else -1 for entity in entities for c in range(width)]


def _entities(path: Path, element: int, above: int, n_cells: int, height: int) -> list[int]:
    """Return where a Map leads from a cell, or from one and then from the next above it."""
    row = path.rows[element]
    if not path.offsets:
        return row
    starts = path.quotients or [0] * len(row)
    return [
        entity if entity < 0 else entity + _level(above + cell, start, height) * offset
        for cell in range(n_cells)
        for entity, offset, start in zip(row, path.offsets, starts, strict=True)
    ]


def _level(above: int, start: int, height: int) -> int:
    """Return how many offsets an entry has moved, which began at the level `start`."""
    return (above + start) % height - start % height if height else above


def _store(arg: Arg, values: list[Any], places: list[int], pack: list[Any]) -> None:
    t = arg.data.type
    for place, value in zip(places, pack, strict=True):
        if place < 0:
            continue
        if arg.access == "INC":
            total = values[place] + value
            if t.is_integer:
                total &= (1 << t.bits) - 1
                total -= (1 << t.bits) * (t.kind == "i" and total > t.high)
            values[place] = total
        elif arg.access in ("MIN", "MAX"):
            values[place] = (min if arg.access == "MIN" else max)(values[place], value)
        else:
            values[place] = value


# Random loops


class Maker:
    """Makes the loop of a seed."""

    def __init__(self, seed: int, kinds: frozenset[str]) -> None:
        self.seed, self.kinds, self.adds = seed, kinds, "sums" in kinds
        self.random = Random(seed)
        self.grammar = Grammar(self.random, f"s{seed}_")
        sizes = [0, 1, 2, 3, 5, 7, 8, 9, 13, 17, 21, 33]
        n = self.random.choice([0, 1, 15, 16, 17, 33, 64, 100, 257] if self.adds else sizes)
        ghosts = self.random.choice([0, 0, 0, 2])
        self.loop = Loop(seed, None, {"cells": (n, n + ghosts)}, [])  # type: ignore[arg-type]
        self.paths: list[Path] = []
        self.parameters: list[Parameter] = []
        self.writes: list[Parameter] = []

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def made(self) -> Loop:
        self._iteration()
        self._maps()
        self._outside()
        self._arguments()
        if self.loop.extruded and self.chance(0.4):
            self.loop.layer = True
            self.parameters.append(Parameter("layer", INT, Facts(0, 9)))
            self.grammar.names.append(Name("layer", INT, Facts(0, 9)))
        n = self.random.choice([1, 2, 3, 4, 6, 9])
        self.loop.kernel = self.grammar.main(self.parameters, self.writes, n)
        self.loop.kernel.effects = self.seed if "effects" in self.kinds else None
        self._tolerances()
        if "ragged" in self.kinds:
            self._ragged()
        if "narrow" in self.kinds:
            self._narrow()
        return self.loop

    def _narrow(self) -> None:
        """Keep Dats in narrow memory where nobody sees a value that was rounded there."""
        used = Counter(leaf.data.name for leaf in self.loop.leaves())
        sums = {s.parameter.name: s for s in self.grammar.sums}
        often = 16 * sum(1 for _ in self.loop.cells()) + 16
        for arg, p in zip(self.loop.args, self.parameters, strict=False):
            data = arg.data
            is_alone = used[data.name] == 1 and not arg.fields and data.on not in ("", MATRIX)
            if data.type is not DOUBLE or not is_alone or arg.access == "RW":
                continue
            if any(v != struct.unpack("f", struct.pack("f", v))[0] for v in data.values):
                continue
            data.is_narrow = True
            size = max([p.facts.size, *map(abs, data.values)])
            if arg.access == "INC":
                size = often * (size + often * sums[p.name].size)
            if arg.access != "READ":
                arg.tolerance += 2 * FLOAT.epsilon * size

    def _ragged(self) -> None:
        """Let some Maps be ragged, with more entries where those change nothing."""
        if self.loop.extruded:
            return
        refused = [p for a in self.loop.args if a.columns or a.fields for p in (a.path, a.columns)]
        refused += [field.path for arg in self.loop.args for field in arg.fields]
        for path in self.loop.paths_used():
            is_plain = not (path.order or path.through) and all(min(row) >= 0 for row in path.rows)
            if not is_plain or any(path is one for one in refused) or self.chance(0.2):
                continue
            accesses = {arg.access for arg in self.loop.args if arg.path is path}
            most = 0 if accesses & {"WRITE", "RW"} else 3
            size = self.loop.sets[path.target][1]
            path.more = [
                [self.random.randrange(size) for _ in range(self.random.randint(0, most))]
                for _ in path.rows
            ]

    def _outside(self) -> None:
        """Make what is beside the kernel in its text."""
        for _ in range(self.random.randint(0, 2)):
            self.grammar.table()
        self.grammar.names = table_names(self.grammar.tables)
        if self.chance(0.2) and "aggregates" not in self.kinds:  # opaque kernels have no Consts
            self._constant()
        if "structs" in self.kinds:
            for _ in range(self.random.randint(1, 2)):
                self.grammar.structure()
        outside = self.grammar.names
        if "aggregates" in self.kinds:
            aggregates = self.grammar.aggregates = Aggregates(self.grammar)
            aggregates.define()
            for _ in range(self.random.randint(1, 4)):
                self.grammar.aggregate_helper(aggregates)
        for _ in range(self.random.choice([0, 0, 1, 2])):
            self.grammar.helper()
        self.grammar.names = outside

    def _arguments(self) -> None:
        n_args = self.random.randint(2, 6)
        for _ in range(n_args):
            if "mixed" in self.kinds and self.chance(0.4):
                self._mixed()
            elif not (self.chance(0.15) and self._again()):
                self._argument()
        is_likely = {"partial", "matrices"} & self.kinds
        rest = 0.35 if self.adds else 0.15
        if self.chance(0.6 if is_likely else rest) and self.loop.region != FACETS:
            self._matrix()
        if all(arg.access == "READ" for arg in self.loop.args):
            self._argument("INC")

    def _iteration(self) -> None:
        loop, (n, total) = self.loop, self.loop.sets["cells"]
        rest = 0.05 if self.adds else 0.25
        if self.chance(0.8 if "periodic" in self.kinds else rest):
            loop.periodic = "periodic" in self.kinds
            loop.extruded, loop.even = True, self.chance(0.7) or not total
            if loop.even:
                loop.layers = [(0, self.random.randint(2, 5))] * max(total, 1)
            else:
                lows = [self.random.randint(0, 2) for _ in range(total)]
                loop.layers = [(low, low + self.random.randint(2, 5)) for low in lows]
            loop.region = self.random.choice(["", "", "ALL", "ON_BOTTOM", "ON_TOP", FACETS])
        if self.chance(0.08 if self.adds else 0.2):
            loop.part = sorted(self.random.sample(range(n), self.random.randint(0, n)))

    def _maps(self) -> None:
        _, total = self.loop.sets["cells"]
        for number in range(self.random.randint(1, 3)):
            arity = self.random.randint(1, 4)
            is_apart = self.chance(0.1 if self.adds else 0.35) and not self.loop.extruded
            size = total * arity + 1 if is_apart else self.random.choice([1, 2, 3, 6, 20])
            name = f"nodes{number}"
            path = Path(f"map{number}", name, [], arity)
            if is_apart:
                places = self.random.sample(range(size), total * arity)
                path.rows = [places[i * arity : (i + 1) * arity] for i in range(total)]
            elif self.chance(0.05 if self.adds else 0.2) and not self.loop.extruded:
                inner = [[self.random.randrange(size) for _ in range(arity)] for _ in range(3)]
                path.through = [self.random.randrange(3) for _ in range(total)]
                path.rows = [inner[i] for i in path.through]
            else:
                path.rows = [
                    [self.random.randrange(size) for _ in range(arity)] for _ in range(total)
                ]
            if not path.through and self.chance(0.05 if self.adds else 0.2):
                path.order = self.random.sample(range(arity), arity)
            if self.loop.extruded:
                path.offsets = [self.random.randint(0, 2) for _ in range(arity)]
                size += 2 * 8
            if self.loop.periodic and self.chance(0.6):
                path.quotients = [self.random.randint(0, 3) for _ in range(arity)]
                back = [o * q for o, q in zip(path.offsets, path.quotients, strict=True)]
                path.rows = [[e + b for e, b in zip(r, back, strict=True)] for r in path.rows]
                size += max(back)
            self.loop.sets[name] = (size, size)
            self.paths.append(path)
        if "partial" in self.kinds:
            self._leave_out()

    def _leave_out(self) -> None:
        """Let entries of Maps lead nowhere; sometimes the loop leaves their elements out."""
        for path in self.paths:
            if path.through or self.chance(0.3):
                continue
            path.rows = [
                [-1 if self.chance(0.3) else entity for entity in row] if self.chance(0.4) else row
                for row in path.rows
            ]
        if self.chance(0.5):
            given = self.loop.part
            elements = range(self.loop.sets["cells"][0]) if given is None else given
            self.loop.part = [i for i in elements if all(min(p.rows[i]) >= 0 for p in self.paths)]

    def _whole_paths(self) -> list[Path]:
        """Return the Maps that lead somewhere from all elements of the loop."""
        part, n = self.loop.part, self.loop.sets["cells"][0]
        visited = range(n) if part is None else part
        return [path for path in self.paths if all(min(path.rows[i]) >= 0 for i in visited)]

    def _constant(self) -> None:
        t = self.random.choice([DOUBLE, INT, FLOAT])
        facts = Facts(0, 3) if t is INT else Facts(-8.0, 8.0, 2)
        n = self.random.choice([1, 3])
        word = f"s{self.seed}_c"
        self.loop.constants.append((word, t, [self._number(t, facts) for _ in range(n)]))
        self.grammar.names.append(Name(word, t, facts, () if n == 1 else (n,)))

    def _number(self, t: CType, facts: Facts) -> Any:
        """Return a value of these facts that its type holds exactly."""
        if t.is_integer:
            ends = [facts.low, facts.high]
            return self.random.choice(
                [self.random.randint(*ends), self.random.randint(*ends), *ends]
            )
        scale = 2 ** (facts.fraction if facts.is_exact else 3)
        low, high = int(facts.low * scale), int(facts.high * scale)
        parts = [self.random.randint(low, high) / scale for _ in range(2)]
        return complex(*parts) if t.kind == "c" else parts[0]

    def _argument(self, access: str = "") -> None:
        number = len(self.loop.args)
        t = self.grammar.any_type()
        place = self.random.choice(["direct", "direct", "map", "map", "map", "global"])
        if self.adds and self.chance(0.6):
            place, access = "map", "INC"
        paths = self._whole_paths()
        place = "direct" if place == "map" and not paths else place
        path = self.random.choice(paths) if place == "map" else None
        if not access:
            access = self.random.choice(self._accesses(place, path, t))
            if self.adds and place != "direct" and self.chance(0.8):
                access = "READ"  # else no block sums
        is_exact = t.is_integer or self.chance(0.75)
        facts = sum_facts(t, is_exact) if access == "INC" else facts_of(self.random, t)
        start = Facts(-8, 7, 1) if access == "INC" and not t.is_integer else facts
        start = Facts(max(t.low, -9), 9) if access == "INC" and t.is_integer else start
        arity = self._entries(path)
        dims = [(1,), (1,), (2,), (3,), (2, 2)] if place != "global" else [(1,), (1,), (3,)]
        dim = self.random.choice([d for d in dims if math.prod(d) * arity <= MOST_VALUES])
        on = "" if place == "global" else "cells" if path is None else path.target
        n = self.loop.sets[on][1] if on else 1
        values = [self._number(t, start) for _ in range(n * math.prod(dim))]
        arg = Arg(Data(f"d{number}", t, on, dim, values), access, path)
        share = 0.05 if self.adds else 0.15
        if on and len(dim) == 1 and dim[0] > 1 and self.chance(share):
            arg.component = self.random.randrange(dim[0])
        self.loop.args.append(arg)
        self._parameter(arg, f"p{number}", facts, arity * arg.width, is_exact)

    def _mixed(self) -> None:
        """Use a MixedDat."""
        number, t = len(self.loop.args), self.grammar.any_type()
        paths = self._whole_paths()
        is_direct = not paths or (self.chance(0.3) and not self.loop.extruded)
        if is_direct and self.loop.extruded:
            return
        chosen: list[Path | None] = [
            None if is_direct else self.random.choice(paths)
            for _ in range(self.random.randint(2, 3))
        ]
        place = "direct" if is_direct else "map"
        found = [self._accesses(place, path, t) for path in chosen]
        access = self.random.choice([a for a in found[0] if all(a in other for other in found)])
        is_exact = t.is_integer or self.chance(0.75)
        facts = sum_facts(t, is_exact) if access == "INC" else facts_of(self.random, t)
        start = Facts(-8, 7, 1) if access == "INC" and not t.is_integer else facts
        start = Facts(max(t.low, -9), 9) if access == "INC" and t.is_integer else start
        fields, size = [], 0
        for k, path in enumerate(chosen):
            dim = self.random.choice([(1,), (1,), (2,), (3,)])
            on = "cells" if path is None else path.target
            n = self.loop.sets[on][1] * dim[0]
            values = [self._number(t, start) for _ in range(n)]
            fields.append(Arg(Data(f"d{number}_{k}", t, on, dim, values), access, path))
            size += self._entries(path) * dim[0]
        if size > 3 * MOST_VALUES:
            return
        arg = Arg(Data(f"d{number}", t, "fields", (size,), []), access, chosen[0], fields=fields)
        self.loop.args.append(arg)
        self._parameter(arg, f"p{number}", facts, size, is_exact)

    def _entries(self, path: Path | None) -> int:
        if path is None:
            return 1
        return path.arity * (2 if self.loop.region == FACETS else 1)

    def _again(self) -> bool:
        """Use a Dat that is read, or added to, once more; say whether there is one."""
        known = zip(self.loop.args, self.parameters, strict=True)
        found = [
            (a, p) for a, p in known if a.access in ("READ", "INC") and a.data.on and not a.fields
        ]
        if not found:
            return False
        other, p = self.random.choice(found)
        known = self._whole_paths()
        paths = [path for path in known if path.target == other.data.on] or [None]
        path = self.random.choice(paths)
        size = self._entries(path) * other.width
        is_exact = p.facts.is_exact
        self.loop.args.append(Arg(other.data, other.access, path, other.component))
        word = f"p{len(self.loop.args) - 1}"
        self._parameter(self.loop.args[-1], word, p.facts, size, is_exact)
        return True

    def _matrix(self) -> None:
        """Add to a Mat; of any type, or set its entries, if that is asked for."""
        rows, columns = self.random.choice(self.paths), self.random.choice(self.paths)
        t, access = self.random.choice([DOUBLE, DOUBLE, LONG]), "INC"
        if "matrices" in self.kinds:
            t = self.grammar.any_type()
            is_apart = self._is_apart(rows) and self._is_apart(columns)
            access = "WRITE" if is_apart and self.chance(0.5) else "INC"
        sizes = [(1, 1), (2, 1), (1, 3), (2, 2)]
        fits = [b for b in sizes if rows.arity * columns.arity * math.prod(b) <= 2 * MOST_VALUES]
        if not fits:
            return
        block = self.random.choice(fits)
        number = len(self.loop.args)
        dim = (
            self.loop.sets[rows.target][1] * block[0],
            self.loop.sets[columns.target][1] * block[1],
        )
        if math.prod(dim) > MOST_OF_MATRIX:
            return
        data = Data(f"d{number}", t, MATRIX, dim, [0] * math.prod(dim))
        is_exact = t.is_integer or self.chance(0.7)
        arg = Arg(data, access, rows, columns=columns, block=block)
        self.loop.args.append(arg)
        size = rows.arity * columns.arity * math.prod(block)
        facts = sum_facts(t, is_exact) if access == "INC" else facts_of(self.random, t)
        self._parameter(arg, f"p{number}", facts, size, is_exact)

    def _accesses(self, place: str, path: Path | None, t: CType) -> list[str]:
        found = ["READ", "READ", "INC"]
        if t.kind != "c":
            found += ["MIN", "MAX"]
        if place == "direct" and not self.loop.extruded:
            found += ["WRITE", "WRITE", "RW", "RW"]
        if path is not None and self._is_apart(path):
            found += ["WRITE", "RW"]
        return found

    def _is_apart(self, path: Path) -> bool:
        every = [node for row in path.rows for node in row]
        return not self.loop.extruded and len(set(every)) == len(every)

    def _parameter(self, arg: Arg, word: str, facts: Facts, size: int, is_exact: bool) -> None:
        t, access = arg.data.type, arg.access
        const = access == "READ" and self.chance(0.9)
        p = Parameter(word, t, facts, size, const, self.random.randrange(3))
        self.parameters.append(p)
        if access in ("READ", "RW"):
            name = Name(word, t, facts, (size,), access == "RW")
            self.grammar.names.append(name)
        elif access == "WRITE":
            self.writes.append(p)
        elif access == "INC":
            self.grammar.sums.append(sum_of(p, is_exact))
        else:
            self.grammar.bests.append((p, "<" if access == "MIN" else ">"))

    def _tolerances(self) -> None:
        """Say how far off results may be: rounding, as often as it may happen."""
        n_cells = sum(1 for _ in self.loop.cells())
        shared: dict[str, float] = {}
        sums = {s.parameter.name: s for s in self.grammar.sums}
        for arg, p in zip(self.loop.args, self.parameters, strict=False):
            found = sums.get(p.name)
            if found is None:
                arg.tolerance = 2 * p.facts.error
                continue
            if p.type.is_integer or found.fraction >= 0:
                continue
            often = 16 * n_cells + 16  # entries of one row may lead to one target
            own = 2 * often * (found.error + often * found.size * p.type.epsilon + 1e-12)
            shared[arg.data.name] = shared.get(arg.data.name, 0.0) + own
        for arg in self.loop.args:
            arg.tolerance = shared.get(arg.data.name, arg.tolerance)
            for leaf in arg.fields:
                leaf.tolerance = arg.tolerance


def random_loop(seed: int, kinds: frozenset[str] = frozenset()) -> Loop:
    """Return the loop of a seed.

    Args:
        seed: Decides everything.
        kinds: Those of `KINDS` that it may have: MixedDats, periodic columns, Maps of which some
            entries lead nowhere, structures, matrices of all types and of set entries, structures
            that hold others and are values of expressions, more elements that add to more Dats,
            effects inside of expressions, ragged Maps, Dats in narrow memory.
            Without them a seed is the loop it always was.
    """
    return Maker(seed, kinds).made()
