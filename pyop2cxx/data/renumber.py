# SPDX-License-Identifier: BSD-3-Clause
"""Renumber a mesh to place entities close in space close in memory.

On a badly numbered mesh loops run five to sixteen times slower, so renumbering comes before any
other tuning.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pyop2cxx._core import plan as room
from pyop2cxx.base import extras
from pyop2cxx.base.arrays import address_of, plain_array
from pyop2cxx.base.moves import in_words
from pyop2cxx.base.waiting import counting
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.ragged import Counts, RaggedMap
from pyop2cxx.exceptions import DatTypeError, MapTypeError, SetTypeError, UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.processes import refuse_several
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import Tables
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]
    Numbers: TypeAlias = npt.NDArray[np.int64]

_CURVES = {
    "hilbert": room.Curve.hilbert,
    "morton": room.Curve.morton,
    "lines": room.Curve.lines,
}
_NO_ORDERS = "its Halo would not follow; renumber before op2.distribute"
_METHODS = ("rcm", *_CURVES)
_UNCHANGED: Numbers = np.empty(0, dtype=np.int64)


class Renumbering:
    """Result of `renumber`: the permutations between the user's numbers and the present numbers.

    Attributes:
        orders: For each renumbered Set, shape (total_size,), int64: the original number of the
            entity now numbered i.
    """

    def __init__(
        self,
        maps: tuple[Map, ...],
        dats: tuple[Dat, ...],
        orders: dict[Set, Numbers],
        add: Callable[[int], None],
    ):
        self._maps = maps
        self._dats = dats
        self.orders: Mapping[Set, Numbers] = orders
        self._numbers = {s: _inverse(order) for s, order in orders.items()}
        self._before = {s: s.numbering for s in orders}
        self._numbering = runtime.next_uid()
        with _moving_counts(dats):
            _apply(maps, dats, orders, self._numbers, dict.fromkeys(orders, self._numbering), add)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_numbers": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._numbers = {s: _inverse(order) for s, order in self.orders.items()}

    def to_original(self, data: Dat | npt.ArrayLike, on: Set | None = None) -> Array:
        """Return a copy of data in the user's numbering, for output.

        Args:
            data: A Dat, or an array with a row for each entity of `on`, with or without ghosts.
            on: The Set of an array.

        Raises:
            UsageError: The array has another number of rows, or no Set was given; or the Set was
                renumbered again since.

        Example:
            >>> from pyop2cxx import op2
            >>> nodes, edges = op2.Set(3, "nodes"), op2.Set(2, "edges")
            >>> e2n = op2.Map(edges, nodes, 2, [0, 2, 2, 1])
            >>> x = op2.Dat(nodes, [0.0, 2.0, 1.0])
            >>> renumbering = renumber([e2n], [x], method="morton", coordinates=x)
            >>> x.data_ro.tolist(), renumbering.to_original(x).tolist()
            ([0.0, 1.0, 2.0], [0.0, 2.0, 1.0])
        """
        self._refuse_later(data, on)
        return _through(self._numbers, data, on)

    def to_new(self, data: npt.ArrayLike, on: Set) -> Array:
        """Return a copy of an array in the numbering now in use, for input.

        Args:
            data: An array with a row for each entity of `on`, with or without ghosts.
            on: The Set of the array.

        Raises:
            UsageError: The array has another number of rows, or the Set was renumbered again since.
        """
        self._refuse_later(data, on)
        return _through(self.orders, data, on)

    def _refuse_later(self, data: object, on: Set | None) -> None:
        one = data.dataset.set if isinstance(data, Dat) else on
        if isinstance(one, Set) and one in self.orders and one.numbering != self._numbering:
            raise UsageError(
                f"Renumbering: Set '{one.name}' was renumbered again since; ask the Renumbering of "
                "the last time first, or undo that one"
            )

    def undo(self) -> None:
        """Give all Maps and Dats their original numbering back.

        Raises:
            UsageError: The renumbering is undone already.
        """
        if not self.orders:
            raise UsageError("Renumbering.undo: nothing to undo; it was undone already")
        fresh = runtime.next_uid()  # after another renumbering in between
        after = {s: n if s.numbering == self._numbering else fresh for s, n in self._before.items()}
        amount = sum(map(_n_entries, self._maps)) + sum(
            _n_values(dat.dataset.set) for dat in self._dats
        )
        with counting("renumbering, back", amount) as add, _moving_counts(self._dats):
            _apply(self._maps, self._dats, self._numbers, self.orders, after, add)
        self.orders, self._numbers = {}, {}


def renumber(
    maps: Iterable[Map],
    dats: Iterable[Dat] = (),
    *,
    method: str | None = None,
    coordinates: Dat | None = None,
) -> Renumbering:
    """Renumber the Sets connected by Maps, and all given objects on them.

    The first Set is ordered by `method`: along a space-filling curve through `coordinates`, along
    lines through them, or by reverse Cuthill-McKee (needs SciPy) on the graph of entities connected
    by the first Map. Curves suit caches; lines suit GPUs, whose lanes run side by side along them.
    From there the order spreads along the Maps: elements are sorted by their smallest target,
    targets by their first element. Core, owned and ghost entities stay separate.

    Values are moved in place, so arrays shared with a Map or a Dat change too. Give every Map and
    Dat on the Sets: objects left out keep the old numbering and no longer fit.

    Args:
        maps: All Maps between the Sets.
        dats: All Dats on them.
        method: 'rcm', 'hilbert', 'morton' or 'lines'. By default, with coordinates 'lines' if loops
            run on a GPU now, else 'hilbert'; without coordinates 'rcm'.
        coordinates: A Dat with one to three numbers per entity; moved with the others.

    Returns:
        The way back.

    Raises:
        UsageError: The method is unknown, or coordinates are missing, not wanted or not finite.
        MissingExtraError: SciPy is not installed.
        MapTypeError: Something in `maps` is not a Map, or a Map made of others.
        DatTypeError: Something in `dats`, or `coordinates`, is not a Dat.

    Example:
        >>> from pyop2cxx import op2
        >>> nodes, edges = op2.Set(3, "nodes"), op2.Set(2, "edges")
        >>> e2n = op2.Map(edges, nodes, 2, [0, 2, 2, 1])
        >>> x = op2.Dat(nodes, [0.0, 2.0, 1.0])
        >>> renumbering = renumber([e2n], [x], method="hilbert", coordinates=x)
        >>> e2n.values.tolist()
        [[0, 1], [1, 2]]
        >>> renumbering.undo()
        >>> e2n.values.tolist()
        [[0, 2], [2, 1]]
    """
    runtime.require_running("op2.renumber", "renumber")
    all_maps = _distinct(maps, Map, MapTypeError)
    for made in all_maps:
        if made.flattened_maps != (made,):
            names = ", ".join(f"'{part.name}'" for part in made.flattened_maps)
            raise MapTypeError(
                f"renumber: Map '{made.name}' has no values of its own; give those it is made of: "
                f"{names}"
            )
        for end in (made.iterset, made.toset):
            if end.ground is not end:
                raise MapTypeError(
                    f"renumber: Map '{made.name}': Set '{end.name}' is extruded, or a part of "
                    f"another, and has the numbers of Set '{end.ground.name}'; renumber that "
                    "before it is extruded, or before parts are taken"
                )
    given = (*dats,) if coordinates is None else (*dats, coordinates)
    all_dats = _distinct(given, Dat, DatTypeError)
    rows = tuple(path.counts for path in all_maps if isinstance(path, RaggedMap))
    all_dats = tuple(dict.fromkeys((*all_dats, *rows)))
    for dat in all_dats:
        if isinstance(dat, Counts) and dat.of_map not in all_maps:
            raise MapTypeError(
                f"renumber: Dat '{dat.name}' has the counts of Map '{dat.of_map.name}', which is "
                "not among the Maps; give it with them"
            )
    chosen = _checked_method(method, coordinates)
    if coordinates is None and not all_maps:
        raise UsageError("renumber: method 'rcm' needs a Map whose graph it can follow; got none")
    root = all_maps[0].toset if coordinates is None else coordinates.dataset.set
    ends = [end for made in all_maps for end in (made.iterset, made.toset)]
    refuse_several([root, *ends, *(dat.dataset.set for dat in all_dats)], "renumber", _NO_ORDERS)
    sets = {root: root.size} | {m.iterset: m.iterset.size for m in all_maps}
    named = ", ".join(f"{n} {one.name}" for one, n in sets.items())
    entries = sum(_n_entries(path) for path in all_maps)  # read once to order, once to relabel
    amount = _n_values(root) + 2 * entries + sum(_n_values(dat.dataset.set) for dat in all_dats)
    with counting(f"renumbering {named}", amount) as add:
        keys = _rcm_keys(all_maps[0]) if coordinates is None else _curve_keys(chosen, coordinates)
        first = _order(root, keys)
        add(_n_values(root))
        orders = _spread(all_maps, {root: first}, add)
        return Renumbering(all_maps, all_dats, orders, add)


def to_original(data: Dat | npt.ArrayLike, on: Set | None = None) -> Array:
    """Return a copy of data in the original numbers of the Set, after any renumberings.

    Args:
        data: A Dat, or an array with a row for each entity of `on`, with or without ghosts.
        on: The Set of an array.

    Raises:
        UsageError: The array has another number of rows, or no Set was given; or the Dat was left
            out of a renumbering, or the Set has no way back: edges, facets and most dofs of a
            renumbered mesh.
    """
    if isinstance(data, Dat):
        data.refuse_left_out()
        on = data.dataset.set
    if not isinstance(on, Set):
        return _through({}, data, on)
    if on.is_distributed:
        refuse_several([on], "to_original", "dat.gathered() has the numbers before op2.distribute")
    origin, order = on.origin, on.reordering.order
    if isinstance(origin, Tables) and not origin.goes_back and origin.was_renumbered:
        raise UsageError(
            f"Set '{on.name}' was numbered after its mesh was renumbered, and has no other numbers;"
            " read the mesh with renumber=False for values in the numbering of the file"
        )
    return _through({} if order is None else {on: _inverse(order)}, data, on)


def _n_entries(path: Map) -> int:
    return path.n_entries


def _n_values(on: Set) -> int:
    return on.total_size


def _checked_method(method: str | None, coordinates: Dat | None) -> str:
    chosen = method or ("rcm" if coordinates is None else _curve())
    if chosen not in _METHODS:
        raise UsageError(f"renumber: unknown method {method!r}; there are {', '.join(_METHODS)}")
    if chosen in _CURVES and coordinates is None:
        raise UsageError(f"renumber: method '{chosen}' needs coordinates=, a Dat on the first Set")
    if chosen == "rcm" and coordinates is not None:
        raise UsageError(
            "renumber: method 'rcm' follows the first Map, not coordinates; leave them out and "
            "pass their Dat among dats"
        )
    return chosen


def _curve() -> str:
    """Return the curve for the backend: lanes of a warp move together."""
    warp = runtime.engine.backend(runtime.backend).facts.warp
    return "lines" if warp > 0 else "hilbert"


def _distinct(given: Iterable[Any], kind: type[Any], error: type[UsageError]) -> tuple[Any, ...]:
    found = tuple(dict.fromkeys(given))
    for thing in found:
        if not isinstance(thing, kind):
            raise error(f"renumber: expected a {kind.__name__}, got {thing!r}")
    return found


def _order(on: Set, keys: npt.NDArray[np.uint64]) -> Numbers:
    parts = np.array((0, *on.sizes), dtype=np.int64)
    return room.order_by_key(keys, parts, runtime.engine.n_threads)


def _inverse(numbers: Numbers) -> Numbers:
    return room.inverse_permutation(numbers, runtime.engine.n_threads)


def _curve_keys(method: str, coordinates: Dat) -> npt.NDArray[np.uint64]:
    values = coordinates.data_ro_with_halos
    if values.dtype.kind == "c":
        raise UsageError(f"renumber: coordinates '{coordinates.name}' are complex; pass real ones")
    points = np.ascontiguousarray(values, dtype=np.float64)
    return room.curve_keys(_CURVES[method], points, coordinates.cdim, runtime.engine.n_threads)


def _rcm_keys(path: Map) -> npt.NDArray[np.uint64]:
    sparse = extras.load("scipy.sparse", "renumber(method='rcm')")
    csgraph = extras.load("scipy.sparse.csgraph", "renumber(method='rcm')")
    if isinstance(path, RaggedMap):
        of_rows = sparse.csr_array(
            (np.ones(path.n_entries, np.bool_), path.values_with_halo, path.offsets),
            shape=(path.iterset.total_size, path.toset.total_size),
        )
        order = csgraph.reverse_cuthill_mckee((of_rows.T @ of_rows).tocsr(), symmetric_mode=True)
        return _inverse(order.astype(np.int64)).astype(np.uint64)
    if path.arity < 2:
        raise UsageError(
            f"renumber: Map '{path.name}' of arity 1 has no graph to follow; put first a Map that "
            "names two or more entities together"
        )
    values, n = path.values_with_halo, path.toset.total_size
    rows, columns = zip(
        *((values[:, i], values[:, j]) for i, j in itertools.combinations(range(path.arity), 2)),
        strict=True,
    )
    ends = (np.concatenate(rows), np.concatenate(columns))
    upper = sparse.coo_array((np.ones(len(ends[0]), dtype=np.bool_), ends), shape=(n, n)).tocsr()
    order = csgraph.reverse_cuthill_mckee(upper + upper.T, symmetric_mode=True)
    return _inverse(order.astype(np.int64)).astype(np.uint64)


def _spread(
    maps: tuple[Map, ...], orders: dict[Set, Numbers], add: Callable[[int], None]
) -> dict[Set, Numbers]:
    """Order the Sets connected by Maps to already ordered Sets."""
    while True:
        # Elements by their targets first: an order from few neighbours is better.
        for path in maps:
            if path.toset in orders and path.iterset not in orders:
                numbers = _inverse(orders[path.toset])
                keys = room.target_keys(_table(path), numbers, runtime.engine.n_threads)
                orders[path.iterset] = _order(path.iterset, keys)
                add(_n_entries(path))
                break
        else:
            for path in maps:
                if path.iterset in orders and path.toset not in orders:
                    keys = room.visitor_keys(_table(path), orders[path.iterset])
                    orders[path.toset] = _order(path.toset, keys)
                    add(_n_entries(path))
                    break
            else:
                return orders


def _table(path: Map) -> Any:
    path.values_with_halo  # noqa: B018 - says which Map it is that has no values
    return path.table


@contextmanager
def _moving_counts(dats: tuple[Dat, ...]) -> Iterator[None]:
    """Allow writes to counts of ragged Maps, which a renumbering moves along."""
    counts = [dat for dat in dats if isinstance(dat, Counts)]
    try:
        for dat in counts:
            dat.is_moving = True
        yield
    finally:
        for dat in counts:
            dat.is_moving = False


def _apply(
    maps: tuple[Map, ...],
    dats: tuple[Dat, ...],
    orders: Mapping[Set, Numbers],
    numbers: Mapping[Set, Numbers],
    numberings: Mapping[Set, int],
    add: Callable[[int], None],
) -> None:
    """Move everything. All new values are made before any old value is overwritten."""
    _run_what_waits(dats)
    _refuse_overlap(dats)
    moved_maps: list[tuple[Map, Array]] = []
    for path in maps:
        order = orders.get(path.iterset, _UNCHANGED)
        names = numbers.get(path.toset, _UNCHANGED)
        values = np.empty_like(path.table_values())
        room.relabel(_table(path), order, names, values, runtime.engine.n_threads)
        moved_maps.append((path, values))
        add(_n_entries(path))
    moved_dats: list[tuple[Dat, Array]] = []
    for dat in dats:
        if dat.dataset.set in orders and dat.is_allocated:
            source = dat.data_ro_with_halos
            values = np.empty_like(source)
            moves = in_words(source), in_words(values)
            room.permute_rows(*moves, orders[dat.dataset.set], runtime.engine.n_threads)
            moved_dats.append((dat, values))
        add(_n_values(dat.dataset.set))
    before = {s: s.numbering for s in orders}
    known_maps, known_dats = [path.numberings for path in maps], [dat.numbering for dat in dats]
    for path, values in moved_maps:
        path.take_moved(values)
    for dat, values in moved_dats:
        halo_valid = dat.halo_valid
        dat.data_wo_with_halos[...] = values
        dat.halo_valid = halo_valid
    for s, numbering in numberings.items():
        s.numbering = numbering
        s.reordering.follow(orders[s])
        s.origin = s.origin and s.origin.renumbered()
    runtime.has_renumbered = True
    runtime.epoch += 1  # earlier loops did not check numberings

    def moved(on: Set, numbering: int) -> int:
        """Return the new numbering of an object: objects left out before stay so."""
        return numberings[on] if numbering == before.get(on) else numbering

    for path, (start, end) in zip(maps, known_maps, strict=True):
        path.numberings = moved(path.iterset, start), moved(path.toset, end)
    for dat, numbering in zip(dats, known_dats, strict=True):
        dat.numbering = moved(dat.dataset.set, numbering)


def _run_what_waits(dats: tuple[Dat, ...]) -> None:
    """Run recorded entries of a chain on the Dats; an entry may be the first to set values."""
    for dat in dats:
        dat.settle(write=True)


def _refuse_overlap(dats: tuple[Dat, ...]) -> None:
    """Refuse Dats over different rows of the same array; Dats over the same rows move once."""
    allocated = [dat for dat in dats if dat.is_allocated]
    for one, other in itertools.combinations(allocated, 2):
        a, b = one.data_ro_with_halos, other.data_ro_with_halos
        is_same = one.dataset.set is other.dataset.set and address_of(a) == address_of(b)
        if np.may_share_memory(a, b) and not is_same:
            raise UsageError(
                f"renumber: Dats '{one.name}' and '{other.name}' share a part of their memory; "
                "give one of them an array of its own"
            )


def _through(
    permutations: Mapping[Set, Numbers], data: Dat | npt.ArrayLike, on: Set | None
) -> Array:
    if isinstance(data, Dat):
        on = data.dataset.set
        data = data.data_ro
    if on is None:
        raise UsageError("Renumbering: say which Set the array belongs to: on=")
    if not isinstance(on, Set):
        raise SetTypeError(
            f"Renumbering: 'on' must be the Set that the array belongs to, got {on!r} of type "
            f"{type(on).__name__}"
        )
    rows = plain_array(data, "Renumbering")
    if rows.ndim == 0 or len(rows) not in (on.size, on.total_size):
        raise UsageError(
            f"Renumbering: expected a row for each of the {on.size} owned or {on.total_size} "
            f"entities of Set '{on.name}', got shape {rows.shape}"
        )
    permutation = permutations.get(on)
    return rows.copy() if permutation is None else rows[permutation[: len(rows)]]
