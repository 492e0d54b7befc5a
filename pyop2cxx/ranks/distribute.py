# SPDX-License-Identifier: BSD-3-Clause
"""Sharing a mesh among the ranks of a program, by one call after all Sets and Maps are made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

import numpy as np

from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mat_ranks import Whole
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.exceptions import DatTypeError, RanksError, SetTypeError, UnsupportedError
from pyop2cxx.ranks.exchange import Messages, RanksHalo, lists_of
from pyop2cxx.ranks.owners import (
    Share,
    Table,
    keeps_offsets,
    local_values,
    runs_of,
    shares,
    spread,
)
from pyop2cxx.ranks.partition import by_curve, by_graph, check_method, checked, graph_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.processes import plain
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import EntriesOfMap, Map
from pyop2cxx.sets.sets import Set, Subset
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from pyop2cxx.base.arrays import Array

_ADVICE = {
    "Graph": "make graphs after op2.distribute",
}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a distribution; `print` shows a line.

    Attributes:
        n_ranks: How many ranks there are.
        cut: How many pairs of neighbours of the partitioned Set have different owners.
        imbalance: Entities of the fullest rank over the mean, minus 1.
        neighbours: How many ranks the rank exchanges values with.
        n_ghosts: Ghosts on the rank, of all Sets.
    """

    n_ranks: int
    cut: int
    imbalance: float
    neighbours: int
    n_ghosts: int

    def __str__(self) -> str:
        return (
            f"{self.n_ranks} ranks, {self.cut} pairs of neighbours cut, imbalance "
            f"{100 * self.imbalance:.1f} %; this rank: {self.neighbours} neighbours, "
            f"{self.n_ghosts} ghosts"
        )


@dataclass(frozen=True, slots=True)
class _Mesh:
    """All objects connected by Maps with a Set.

    Attributes:
        sets: The Sets, the given Set among them.
        maps: The Maps with values of their own, and composed Maps.
        columns: The extruded Sets.
        parts: The Subsets.
        dats: The Dats.
        sparsities: The Sparsities, blocks too.
        mats: The matrices without blocks, and blocks of others.
        followers: Meshes, spaces and conditions: all with numbers of the entities.
    """

    sets: list[Set]
    maps: list[Map]
    columns: list[ExtrudedSet]
    parts: list[Subset]
    dats: list[Dat]
    sparsities: list[Sparsity]
    mats: list[Mat]
    followers: list[Any]


def distribute(
    cells: Set, partition: str | ArrayLike = "metis", *, coordinates: Dat | None = None
) -> Report:
    """Share the mesh among all ranks of the communicator given to `init`; all ranks must call.

    All Sets connected by Maps with `cells` are shared, with Maps, Dats, Subsets and Mats. Each rank
    then has the owned entities first, and ghosts of neighbours behind. Loops, sums and norms give
    the results of a single process, to rounding. With a single rank nothing changes.

    Args:
        cells: The Set with a partition; owners of the other Sets follow.
        partition: "metis", "kahip" or "scotch", with few cut neighbours; "hilbert", equal pieces
            of a curve through `coordinates`; or an array with the rank of each entity, shape
            (cells.size,), equal on all ranks.
        coordinates: For "hilbert": a Dat on `cells`, or on the target Set of a Map from `cells`.

    Returns:
        The cut, the imbalance, and the neighbours.

    Raises:
        SetTypeError: `cells` is not a whole Set.
        RanksError: Ranks disagree, or the partition has a wrong length or ranks that do not exist.
        UnsupportedError: An object on the Sets cannot be distributed; the message names the object.
        MissingExtraError: The partitioner is not installed.
    """
    what = "op2.distribute"
    if not isinstance(cells, Set) or isinstance(cells, Subset | ExtrudedSet):
        raise SetTypeError(f"{what}: expected a whole Set, got {cells!r}")
    runtime.require_running(what, "distribute")
    processes = runtime.processes
    comm = processes.comm
    if comm is None:
        raise RanksError(
            f"{what}: nobody said which ranks share the mesh; call op2.init(comm=MPI.COMM_WORLD) "
            "before the Sets are made, or set PYOP2CXX_COMM=world"
        )
    if isinstance(partition, str):
        check_method(partition, coordinates, what)
    if coordinates is not None and not isinstance(coordinates, Dat):
        raise DatTypeError(f"{what}: coordinates must be a Dat, got {coordinates!r}")
    if comm.size == 1:
        if not isinstance(partition, str):
            checked(partition, cells.size, 1, what)
        return Report(1, 0, 0.0, 0, 0)
    runtime.settle()
    reached = _reached(cells)
    for one in _followers(reached):
        one.prepare_to_share()
    for m in _maps():
        _ = m.counts if isinstance(m, RaggedMap) and m.iterset in reached else None
    found = _connected(cells, what)
    tables = _tables(found)
    _check_equal(found, comm, what)
    of_cells = _partitioned(found, tables, cells, partition, coordinates, comm)
    base = found.sets.index(cells)
    n_entities = [one.size for one in found.sets]
    runs = runs_of(n_entities, tables)
    owners = spread(n_entities, tables, base, of_cells, comm.size, runs)
    mine = shares(owners, tables, comm.rank, runs)
    _check_offsets(found, tables, mine, comm, what)
    messages = Messages(processes.own_comm)
    lists = lists_of(comm, mine, owners)
    values = [local_values(table, mine) for table in tables]
    halos = [
        RanksHalo(messages, one, share.numbers) for one, share in zip(lists, mine, strict=True)
    ]
    _move(found, mine, halos, values, comm)
    near = {rank for one in lists for side in (one.owned, one.ghosts) for rank in side}
    graph = graph_of(len(of_cells), base, tables)
    starts = np.repeat(of_cells, np.diff(graph.begins))
    counts = np.bincount(of_cells, minlength=comm.size)
    return Report(
        n_ranks=comm.size,
        cut=int((starts != of_cells[graph.neighbours]).sum()) // 2,
        imbalance=float(counts.max() / max(counts.mean(), 1e-300) - 1) if len(of_cells) else 0.0,
        neighbours=len(near),
        n_ghosts=sum(share.sizes[3] - share.sizes[1] for share in mine),
    )


def _connected(cells: Set, what: str) -> _Mesh:
    """Return all objects connected by Maps with a Set.

    Raises:
        UnsupportedError: An object cannot be distributed; nothing was changed.
    """
    reached = _reached(cells)
    live = runtime.processes.live
    for one in live:
        on = _sets_of(one)
        if any(s.ground in reached for s in on):
            _check_carried(one, on, what)
    dats = [one for one in live if isinstance(one, Dat) and one.dataset.set in reached]
    _check_memory(dats, what)
    sets = sorted(reached, key=lambda one: one.uid)
    return _Mesh(
        sets=sets,
        maps=[one for one in _maps() if one.iterset.ground in reached],
        columns=[one for one in live if isinstance(one, ExtrudedSet) and one.ground in reached],
        parts=[one for one in live if isinstance(one, Subset) and one.ground in reached],
        dats=dats,
        sparsities=[
            one
            for one in live
            if isinstance(one, Sparsity) and any(s.ground in reached for s in one.on_sets())
        ],
        mats=[
            one
            for one in live
            if isinstance(one, Mat)
            and not one.is_mixed
            and any(s.ground in reached for s in one.on_sets())
        ],
        followers=_followers(reached),
    )


def _maps() -> list[Map]:
    live = runtime.processes.live
    return [one for one in live if isinstance(one, Map) and not isinstance(one, EntriesOfMap)]


def _reached(cells: Set) -> set[Set]:
    """Return all Sets connected by Maps with a Set."""
    reached, ends = {cells}, [(m.iterset.ground, m.toset.ground) for m in _maps()]
    while True:
        more = {end for pair in ends if reached & {*pair} for end in pair} - reached
        if not more:
            return reached
        reached |= more


def _followers(reached: set[Set]) -> list[Any]:
    """Return the objects with numbers of entities, the oldest first."""
    able = (one for one in runtime.processes.live if hasattr(one, "prepare_to_share"))
    return [one for one in able if any(s.ground in reached for s in one.on_sets())]


def _sets_of(thing: Any) -> Sequence[Set]:
    """Return the Sets of an object."""
    if isinstance(thing, Set):
        return (thing,)
    if isinstance(thing, Map):
        return thing.iterset, thing.toset
    if isinstance(thing, Dat):
        return (thing.dataset.set,)
    return cast("Sequence[Set]", thing.on_sets())


def _check_carried(one: Any, on: Sequence[Set], what: str) -> None:
    kind = type(one).__name__
    name = f"{kind} '{getattr(one, 'name', '')}'"
    if kind in _ADVICE:
        raise UnsupportedError(f"{what}: {name}: {_ADVICE[kind]}")
    if isinstance(one, Map) and not isinstance(one, EntriesOfMap) and not one.has_values:
        raise UnsupportedError(f"{what}: {name} has no values yet; give them before")
    for part in on:
        if part.ranks is not None or part.halo is not None:
            raise RanksError(f"{what}: Set '{part.name}' is distributed already, or has a Halo")
        if part.size != part.total_size:
            raise UnsupportedError(
                f"{what}: Set '{part.name}' has {part.total_size - part.size} ghosts, but ghosts "
                "are made by op2.distribute; give the Set a single size, of all entities"
            )
    if isinstance(one, Sparsity) and _is_of_columns(one):
        raise UnsupportedError(
            f"{what}: {name} has rows of cells in columns: such matrices are not carried over "
            "processes yet: run in one process"
        )
    if isinstance(one, Sparsity) and one.has_globals:
        raise UnsupportedError(
            f"{what}: {name} has rows or columns of a Global: such matrices are not carried over "
            "processes yet; solve for the Global apart"
        )
    if isinstance(one, Mat) and one.petsc_handle is not None:
        raise UnsupportedError(
            f"{what}: {name} has a matrix of PETSc (handle), with rows of one process; ask for "
            "no handle before"
        )
    if isinstance(one, Dat):
        one.refuse_frozen()
        one.refuse_left_out()


def _check_memory(dats: Sequence[Dat], what: str) -> None:
    """Refuse Dats with common memory: afterwards each would have values of its own."""
    held = [(dat.buffer.address, dat) for dat in dats if dat.is_allocated and dat.buffer.n_bytes]
    held.sort(key=lambda pair: pair[0])
    for (begin, dat), (following, other) in pairwise(held):
        if begin and following < begin + dat.buffer.n_bytes:
            raise UnsupportedError(
                f"{what}: Dat '{dat.name}' and Dat '{other.name}' share memory, and would not "
                "afterwards; give one a copy of the array"
            )


def _is_of_columns(sparsity: Sparsity) -> bool:
    maps = (m for pair in sparsity.maps for m in pair)
    return any(getattr(getattr(m, "iterset", None), "is_extruded", False) for m in maps)


def _tables(found: _Mesh) -> list[Table]:
    place = {one: i for i, one in enumerate(found.sets)}
    return [
        Table(place[m.iterset.ground], place[m.toset.ground], *_on_all_levels(m))
        for m in found.maps
    ]


def _on_all_levels(m: Map) -> tuple[Array, int | None]:
    """Return the values of a Map for all cells of columns, and the arity if there are levels."""
    columns = m.iterset
    values = m.padded(np.arange(columns.size)) if isinstance(m, RaggedMap) else m.values_with_halo
    values = np.asarray(values)
    if not isinstance(columns, ExtrudedSet) or m.offset is None:
        return values, None
    bounds = np.broadcast_to(columns.layers_array.astype(np.int64), (len(values), 2))
    n_cells = (bounds[:, 1] - bounds[:, 0] - 1)[:, None]
    start = 0 if m.offset_quotient is None else m.offset_quotient.astype(np.int64)
    found = []
    for level in range(max(int(n_cells.max(initial=1)), 1)):
        steps: Any = level
        if columns.extruded_periodic:
            n = np.maximum(n_cells, 1)
            steps = (level + start) % n - start % n
        is_there = (values >= 0) & ((level < n_cells) | (level == 0))
        found.append(np.where(is_there, values + m.offset * steps, -1))
    return np.concatenate(found, axis=1), values.shape[1]


def _check_offsets(
    found: _Mesh, tables: Sequence[Table], mine: Sequence[Share], comm: Any, what: str
) -> None:
    """Refuse meshes with offsets that no numbers of a process can keep."""
    wrong = np.array([not keeps_offsets(table, mine) for table in tables], np.int64)
    for m, n in zip(found.maps, comm.allreduce(wrong), strict=True):
        if n:
            raise UnsupportedError(
                f"{what}: Map '{m.name}' has offsets, and '{m.toset.name}' is the source of other "
                "Maps: its entities cannot stay in columns: run in one process"
            )


def _check_equal(found: _Mesh, comm: Any, what: str) -> None:
    """Check that all ranks have the same Sets, Maps, Dats and Subsets.

    Raises:
        RanksError: They have not; the message has the first difference.
    """
    mine = [f"Set '{_plain(one)}' of {one.size} entities" for one in found.sets]
    for m in found.maps:
        total = crc32(np.ascontiguousarray(m.table_values()).data)
        width = "ragged rows" if m.is_ragged else m.arity
        mine.append(f"Map '{_plain(m)}' of {m.iterset.size} x {width}, checksum {total:08x}")
    for part in found.parts:
        total = crc32(np.ascontiguousarray(part.indices).data)
        mine.append(f"a Subset of {part.total_size} of '{_plain(part.superset)}', {total:08x}")
    mine += [f"Dat '{_plain(dat)}' of {dat.cdim} {dat.dtype}" for dat in found.dats]
    mine += [f"Mat '{_plain(mat)}' of {mat.nrows} x {mat.ncols} {mat.dtype}" for mat in found.mats]
    said = runtime.processes.all_of(comm, mine, what)
    for rank, other in enumerate(said):
        if other == said[0]:
            continue
        n = min(len(other), len(said[0]))
        first = next((i for i in range(n) if other[i] != said[0][i]), n)
        one, two = ((*part, "nothing more")[first] for part in (said[0], other))
        raise RanksError(
            f"{what}: ranks disagree: rank 0 has {one}, but rank {rank} has {two}; all ranks must "
            "make the same mesh"
        )


def _plain(one: Any) -> str:
    """Return a name without the number made up by a rank."""
    return plain(str(one.name))


def _partitioned(
    found: _Mesh,
    tables: Sequence[Table],
    cells: Set,
    partition: str | ArrayLike,
    coordinates: Dat | None,
    comm: Any,
) -> Array:
    """Return the owner of each cell, as rank 0 computes them: libraries may differ."""
    what = "op2.distribute"
    outcome: tuple[Any, Exception | None] = None, None
    if comm.rank == 0:
        try:
            outcome = _made(found, tables, cells, partition, coordinates, comm.size), None
        except Exception as error:  # all ranks raise
            outcome = None, error
    of_cells, failed = comm.bcast(outcome)
    if failed is not None:
        raise failed
    is_other = not isinstance(partition, str) and _differs(partition, of_cells)
    differing = [rank for rank, other in enumerate(comm.allgather(is_other)) if other]
    if differing:
        raise RanksError(
            f"{what}: ranks disagree: the partition of rank {differing[0]} is not that of rank 0"
        )
    return np.asarray(of_cells)


def _differs(given: Any, wanted: Array) -> bool:
    found = np.asarray(given)
    return found.shape != wanted.shape or not bool((found == wanted).all())


def _made(
    found: _Mesh,
    tables: Sequence[Table],
    cells: Set,
    partition: str | ArrayLike,
    coordinates: Dat | None,
    n_ranks: int,
) -> Array:
    what, base = "op2.distribute", found.sets.index(cells)
    if not isinstance(partition, str):
        return checked(partition, cells.size, n_ranks, what)
    if partition != "hilbert" or coordinates is None:
        return by_graph(partition, graph_of(cells.size, base, tables), n_ranks)
    points = np.asarray(coordinates.data_ro, np.float64).reshape(coordinates.dataset.set.size, -1)
    if coordinates.dataset.set is cells:
        return by_curve(points, n_ranks)
    for table, m in zip(tables, found.maps, strict=True):
        if m.iterset is cells and m.toset is coordinates.dataset.set:
            return by_curve(points[np.maximum(table.values, 0)].mean(axis=1), n_ranks)
    raise RanksError(
        f"{what}: coordinates '{coordinates.name}' are on Set '{coordinates.dataset.set.name}', "
        f"which no Map from '{cells.name}' leads to"
    )


def _move(
    found: _Mesh,
    mine: Sequence[Share],
    halos: Sequence[RanksHalo],
    values: Sequence[Array],
    comm: Any,
) -> None:
    """Give all objects the part of the rank."""
    place = {one: i for i, one in enumerate(found.sets)}
    held = {
        dat: dat.all_rows()[mine[place[dat.dataset.set]].numbers]
        for dat in found.dats
        if dat.is_allocated
    }
    subsets = {
        part: np.flatnonzero(np.isin(mine[place[part.ground]].numbers, part.indices))
        for part in found.parts
    }
    matrices = [Whole.of(mat) for mat in found.mats]
    for one, share, halo in zip(found.sets, mine, halos, strict=True):
        one.become_shared(share.sizes, halo, comm)
    for columns in found.columns:
        columns.take_columns(mine[place[columns.ground]].numbers)
    for m, local in zip(found.maps, values, strict=True):
        m.become_shared(local, mine[place[m.iterset.ground]].sizes[2])
    _note_inside(found, comm)
    for part, indices in subsets.items():
        part.become_part(indices)
    for dat, rows in held.items():
        dat.become_shared(rows)
    for sparsity in found.sparsities:
        sparsity.become_shared()
    for matrix in matrices:
        matrix.share()
    runtime.n_distributions += 1
    runtime.epoch += 1
    for one in found.followers:
        one.become_shared()


def _note_inside(found: _Mesh, comm: Any) -> None:
    """Note on all ranks alike which Maps lead to owned entities from owned elements only."""
    leads = np.zeros(len(found.maps), np.int64)
    for i, m in enumerate(found.maps):
        ghosts = m.computed_values[m.iterset.size :]
        leads[i] = m.offset is not None or ((ghosts >= 0) & (ghosts < m.toset.size)).any()
    for m, n in zip(found.maps, comm.allreduce(leads), strict=True):
        m.note_inside(bool(n == 0))
