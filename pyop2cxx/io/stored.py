# SPDX-License-Identifier: BSD-3-Clause
"""Sets, Maps, Dats, Globals and Mats in HDF5 files, with checksums: to be continued from.

A file has a group for each kind. Sets have a dataset ``sizes``, and the numbering data of
`io.orders`; Maps ``values``, with keys of their Sets, and offsets, ragged ones ``begins``; Dats and
Globals ``values``; Mats ``values``, ``rowptr``, ``colidx``, with keys of the Sets and Maps of their
Sparsity. Each dataset has an attribute ``checksum``: BLAKE2b of dtype, shape and bytes; the file
has an attribute ``described``, a checksum of all attributes and names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras, hdf5
from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.base.waiting import counting
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.exceptions import (
    DataTypeError,
    OutOfMemoryError,
    StoredFileError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.io import orders
from pyop2cxx.io.parts import Parts, sets_of
from pyop2cxx.runtime.processes import refuse_several
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import refuse_left_out
from pyop2cxx.sets.sets import Set
from pyop2cxx.sets.sparsities import Sparsity
from pyop2cxx.sets.spread import agree, by_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.spread import Spread

    Stored = Set | Map | Dat | Global | Mat

_MAPS_OF_MATS = "maps_of_mats"
_SIDES = ("rows", "columns")
_NO_FILES = "files carry Sets shared by op2.distribute; share the mesh so, or write dat.gathered()"
_FORMAT = "pyop2cxx"
_VERSIONS = (1, 2)
"""Readable versions; the last is written. Files of version 1 do not tell numberings apart."""
_PIECE = 32_000_000
"""Bytes read or written at a time."""
_KINDS: Mapping[str, type[Any]] = {
    "sets": Set,
    "maps": Map,
    "dats": Dat,
    "globals": Global,
    "mats": Mat,
}


def save(
    path: str | os.PathLike[str],
    objects: Mapping[str, Stored],
    *,
    attributes: Mapping[str, int | float | str] | None = None,
) -> None:
    """Write objects to an HDF5 file; the file appears whole, or stays unchanged.

    The file is written aside, flushed to the disk, and renamed: a program killed meanwhile leaves
    the older file. Sets needed by Maps, Dats and Mats are included, and Maps of Mats. Values keep
    the present numbers; the way back to the original numbers is stored beside them.

    If processes share a Set, all must call: the first writes, slab by slab, and the file is as of a
    single process, in the numbers before `op2.distribute`.

    Args:
        path: The file.
        objects: Sets, Maps, Dats, Globals and Mats, by their names for `load` and `restore`.
        attributes: Numbers and texts, for example the time and the step.

    Raises:
        UsageError: Something else is to be written, or a name is empty or has a slash; or values
            were left out of a renumbering of their Set.
        UnsupportedError: A Set is a Subset or extruded; a Map is composed or permuted; a Mat is
            mixed.
        RanksError: Ranks save different things.
        MissingExtraError: h5py is not installed.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> from pyop2cxx import op2
        >>> nodes = op2.Set(3, "nodes")
        >>> u = op2.Dat(nodes, [1.0, 2.0, 3.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(f"{folder}/a.h5", {"u": u}, attributes={"time": 0.5})
        ...     u.zero()
        ...     restore(f"{folder}/a.h5", {"u": u})
        {'time': 0.5}
        >>> u.data_ro.tolist()
        [1.0, 2.0, 3.0]
    """
    extras.load("h5py", "io.save()")
    _check(objects)
    _check_attributes(attributes or {})
    parts = Parts([*objects.values(), *_maps_of_mats(objects)])
    work = partial(_save, path, objects, attributes or {}, parts)
    by_first(parts.comm, parts.all, work, f"io.save of {', '.join(objects)}")


def _save(
    path: str | os.PathLike[str],
    objects: Mapping[str, Stored],
    attributes: Mapping[str, int | float | str],
    parts: Parts,
) -> None:
    h5py = extras.load("h5py", "io.save()")
    about = f"writing {as_path(path).name}"
    n_bytes = _n_bytes(objects) + sum(map(_bytes_of, _maps_of_mats(objects)))
    with replacing(path) as temporary, counting(about, n_bytes) as add:
        with h5py.File(temporary, "w") as file:
            file.attrs["format"], file.attrs["version"] = _FORMAT, _VERSIONS[-1]
            for kind in (*_KINDS, _MAPS_OF_MATS):
                file.create_group(kind)
            file.create_group("attributes").attrs.update(attributes)
            writer = _Writer(file, objects, parts, add)
            for name, thing in objects.items():
                writer.put(name, thing)
            for number, thing in enumerate(_maps_of_mats(objects)):
                writer.put_map(f"{_MAPS_OF_MATS}/{number}", thing)
            for name, thing in objects.items():
                if isinstance(thing, Mat):
                    writer.put_pattern(name, thing)
            file.attrs["described"] = _description(file)
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())


def load(path: str | os.PathLike[str]) -> dict[str, Stored]:
    """Make the Sets, Maps, Dats, Globals and Mats of a file.

    Objects on a common Set when saved are on a common Set again. A Mat gets a Sparsity from the
    saved Maps, so loops can add entries. Mats with other Maps than plain Maps of flat Sets are left
    out: make them again, and `restore` their values.

    Args:
        path: The file.

    Returns:
        The objects by name; without Sets and Maps not named by the program.

    Raises:
        FileNotFoundError: The file does not exist.
        StoredFileError: The file is damaged, or not written by `save`.
        MissingExtraError: h5py is not installed.
    """
    with _opened(path) as file, _reading(path, _bytes_in(file)) as read:
        sets = {key: _set_in(group, read, path) for key, group in file["sets"].items()}
        found: dict[str, Stored] = {
            name: sets[key] for key, group in file["sets"].items() for name in group.attrs["names"]
        }
        maps = {
            f"{kind}/{name}": _map_in(group, sets, read)
            for kind in ("maps", _MAPS_OF_MATS)
            for name, group in file.get(kind, {}).items()
        }
        found |= {name: maps[f"maps/{name}"] for name in file["maps"]}
        for name, group in file["dats"].items():
            values = read(group["values"])
            dim = tuple(int(n) for n in group.attrs["dim"])
            about = {"name": group.attrs["label"], "compute": group.attrs.get("compute")}
            found[name] = Dat(sets[group.attrs["set"]] ** dim, values, **about)
        for name, group in file["globals"].items():
            values = read(group["values"])
            found[name] = Global(values.shape, values, name=group.attrs["label"])
        for name, group in file["mats"].items():
            if "pairs" in group.attrs:
                found[name] = _mat_in(group, sets, maps, read, path)
    return found


def _set_in(group: Any, read: Callable[[Any], Array], path: str | os.PathLike[str]) -> Set:
    found = Set(read(group["sizes"]).tolist(), group.attrs["label"])
    found.origin = orders.origin_in(group)
    found.reordering.order = orders.order_in(group, read, os.fspath(path))
    return found


def _map_in(group: Any, sets: Mapping[str, Set], read: Callable[[Any], Array]) -> Map:
    values = read(group["values"])
    start, end = sets[group.attrs["iterset"]], sets[group.attrs["toset"]]
    offset = read(group["offset"]) if "offset" in group else None
    if "begins" in group:
        return RaggedMap(start, end, read(group["begins"]), values, group.attrs["label"])
    return Map(start, end, values.shape[1], values, group.attrs["label"], offset)


def _mat_in(
    group: Any,
    sets: Mapping[str, Set],
    maps: Mapping[str, Map],
    read: Callable[[Any], Array],
    path: str | os.PathLike[str],
) -> Mat:
    attrs = group.attrs
    dsets = [sets[attrs[side]] ** tuple(int(n) for n in attrs[f"{side}_dim"]) for side in _SIDES]
    pairs = [(maps[rows], maps[columns], None) for rows, columns in attrs["pairs"]]
    sparsity = Sparsity(dsets, pairs, diagonal_block=bool(attrs["diagonal"]))
    values = read(group["values"])
    mat = Mat(sparsity, values.dtype, attrs["label"])
    places = [read(group[index]) for index in ("rowptr", "colidx")]
    if not (
        np.array_equal(places[0], sparsity.rowptr) and np.array_equal(places[1], sparsity.colidx)
    ):
        raise StoredFileError(
            f"{os.fspath(path)}: {group.name} has other places than its Maps give; was it written "
            "by another version? Make the Mat anew"
        )
    mat.stored("load", write=True)[...] = values
    return mat


def restore(
    path: str | os.PathLike[str], objects: Mapping[str, Dat | Global | Mat]
) -> dict[str, Any]:
    """Read values into existing objects. All are checked before any is changed.

    Values on the cells and vertices of a mesh, and on objects renumbered by `op2.renumber`, are
    converted to the present numbers: a mesh may have been saved renumbered, and read without a
    renumbering. Entities numbered after the mesh, as edges, facets and most dofs are, need the same
    numbering.

    The file may have been saved by any number of processes. If processes share a Set, all must
    call. The first reads all, for the checksums; others read from their first to their last row,
    a piece at a time.

    Args:
        path: The file.
        objects: Dats, Globals and Mats by their saved names.

    Returns:
        The saved attributes.

    Raises:
        FileNotFoundError: The file does not exist.
        StoredFileError: The file is damaged, not written by `save`, or has no object of a name; or
            sizes, dims, dtypes or the places of a Mat differ, or the mesh, or a numbering without a
            way to the present one.
        RanksError: Another rank has failed.
        UsageError: An object without values cannot be restored.
        MissingExtraError: h5py is not installed.
    """
    shared = [on for thing in objects.values() for on in sets_of(thing) if on.is_distributed]
    comm = shared[0].ranks if shared else None
    sizes = {on: on.global_size for on in shared}
    values: dict[str, Array] = {}
    attributes: dict[str, Any] = {}
    failed: Exception | None = None
    try:
        is_first = comm is None or comm.rank == 0
        values, attributes = _restored(path, objects, sizes, is_checked=is_first)
    except Exception as error:
        failed = error
    agree(comm, failed, f"io.restore of {', '.join(objects)}")
    for name, thing in objects.items():
        if isinstance(thing, Mat):
            thing.stored("restore", write=True)[...] = values[name]
        elif isinstance(thing, Dat):
            thing.data_wo_with_halos[...] = values[name]
            thing.halo_valid = True
        else:
            thing.data = values[name]
    return attributes


def _restored(
    path: str | os.PathLike[str],
    objects: Mapping[str, Any],
    sizes: Mapping[Set, int],
    *,
    is_checked: bool,
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return values for objects, and the attributes."""
    reading = _reading(path, _n_bytes(objects), is_checked=is_checked)
    with _opened(path) as file, reading as read:
        values = {
            name: _values_for(file, name, thing, path, read, sizes)
            for name, thing in objects.items()
        }
        attributes = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in file["attributes"].attrs.items()
        }
    return values, attributes


class _Writer:
    """Writes objects to an open file, each Set once."""

    def __init__(
        self,
        file: Any,
        objects: Mapping[str, Stored],
        parts: Parts,
        add: Callable[[int], None],
    ) -> None:
        self._file, self._parts, self._add = file, parts, add
        self._keys: dict[Set, str] = {}
        self._names: dict[Set, list[str]] = {}
        self._places: dict[Map, str] = {}
        for name, thing in objects.items():
            if isinstance(thing, Set):
                self._names.setdefault(thing, []).append(name)

    def put(self, name: str, thing: Stored) -> None:
        if isinstance(thing, Set):
            self._key(thing)
            return
        kind = next(kind for kind, what in _KINDS.items() if isinstance(thing, what))
        if isinstance(thing, Map):
            self.put_map(f"{kind}/{name}", thing)
            return
        group = self._file[kind].create_group(name)
        group.attrs["label"] = thing.name
        if isinstance(thing, Dat):
            group.attrs["set"] = self._key(thing.dataset.set)
            group.attrs["dim"] = thing.dim
            if thing.stored_apart is not None:
                group.attrs["compute"] = thing.compute.name
            self._write(group, thing)
        elif isinstance(thing, Mat):
            self._write(group, thing)
            for side, dset in zip(_SIDES, thing.sparsity.dsets, strict=True):
                if type(dset.set) is Set:
                    group.attrs[side] = self._key(dset.set)
        else:
            _write(group, "values", thing.data_ro, self._add)

    def put_map(self, place: str, thing: Map) -> None:
        self._places.setdefault(thing, place)
        group = self._file.create_group(place)
        group.attrs["label"] = thing.name
        group.attrs["iterset"] = self._key(thing.iterset)
        group.attrs["toset"] = self._key(thing.toset)
        self._write(group, thing)
        if thing.offset is not None:
            _write(group, "offset", thing.offset, self._add)

    def _write(self, group: Any, thing: Stored) -> None:
        for name, values in self._parts.of(thing).items():
            _write(group, name, values, self._add)

    def put_pattern(self, name: str, thing: Mat) -> None:
        """Write the description of a Mat's Sparsity, after the Maps."""
        pairs = _pairs_of(thing)
        if not pairs:
            return
        attrs = self._file["mats"][name].attrs
        text = extras.load("h5py", "io.save()").string_dtype()
        places = [[self._places[one] for one in pair] for pair in pairs]
        attrs.create("pairs", np.array(places, dtype=object), dtype=text)
        attrs["diagonal"] = thing.sparsity.diagonal_block
        for side, dset in zip(_SIDES, thing.sparsity.dsets, strict=True):
            attrs[f"{side}_dim"] = dset.dim

    def _key(self, on: Set) -> str:
        if on not in self._keys:
            key = self._keys[on] = f"set_{len(self._keys)}"
            group = self._file["sets"].create_group(key)
            group.attrs["label"] = on.name
            names = np.array(self._names.get(on, []), dtype=object)
            text = extras.load("h5py", "io.save()").string_dtype()
            group.attrs.create("names", names, dtype=text)
            _write(group, "sizes", np.array(self._parts.sizes[on], np.int64), self._add)
            orders.put_origin(group, on, partial(_write, group, add=self._add))
        return self._keys[on]


def _check_attributes(attributes: Mapping[str, object]) -> None:
    for name, value in attributes.items():
        is_mixed = isinstance(value, list | tuple) and len({isinstance(v, str) for v in value}) > 1
        if not isinstance(name, str) or is_mixed or np.asarray(value).dtype.kind not in "biufcSU":
            raise DataTypeError(
                f"save: attribute {name!r} must be a number, a text or an array of one of these, "
                f"got {value!r} of type {type(value).__name__}"
            )


def _check(objects: Mapping[str, Stored]) -> None:
    if not isinstance(objects, Mapping):
        raise UsageError(f"save: expected a dict of objects by name, got {objects!r}")
    for name, thing in objects.items():
        if not isinstance(name, str) or not name or "/" in name or name == ".":
            raise UsageError(f"save: a name must be a text without '/', got {name!r}")
        if not isinstance(thing, tuple(_KINDS.values())):
            raise UsageError(
                f"save: '{name}' must be a Set, Map, Dat, Global or Mat, got {thing!r} of type "
                f"{type(thing).__name__}"
            )
        if isinstance(thing, Mat):
            if thing.is_mixed:
                raise UnsupportedError(f"save: {thing.label} is mixed; save its blocks")
            continue
        if getattr(thing, "dtype", None) == "bfloat16":
            raise DataTypeError(
                f"save: '{name}' is bfloat16, of which HDF5 has none; save another Dat of it, "
                "Dat(x.dataset, x.data_ro.astype('float32'))"
            )
        for part in sets_of(thing):
            _check_set(part, name)
        if isinstance(thing, Map) and type(thing) not in (Map, RaggedMap):
            raise UnsupportedError(f"save: '{name}' is made of other Maps; save those")
    _refuse_left_out(objects)


def _check_set(part: Set, name: str) -> None:
    if not part.is_distributed:
        refuse_several([part], f"save: '{name}'", _NO_FILES)
    if type(part) is not Set:
        raise UnsupportedError(f"save: '{name}' is on {part!r}; only whole, flat Sets can be saved")


def _refuse_left_out(objects: Mapping[str, Stored]) -> None:
    for thing in objects.values():
        if isinstance(thing, Dat):
            thing.refuse_left_out()
    for one in (*(x for x in objects.values() if isinstance(x, Map)), *_maps_of_mats(objects)):
        for _, on, numbering in one.numbered():
            refuse_left_out(f"save: Map '{one.name}'", numbering, on)


def _pairs_of(mat: Mat) -> list[tuple[Map, Map]]:
    """Return the Maps of a Mat's Sparsity; nothing if some of them are not saved."""
    pairs = mat.sparsity.maps
    plain = all(
        type(one) is Map and type(one.iterset) is type(one.toset) is Set
        for pair in pairs
        for one in pair
    )
    return [*pairs] if plain else []


def _maps_of_mats(objects: Mapping[str, Stored]) -> list[Map]:
    """Return the Maps needed by Mats and missing among the objects."""
    mats = [thing for thing in objects.values() if isinstance(thing, Mat)]
    needed = dict.fromkeys(one for mat in mats for pair in _pairs_of(mat) for one in pair)
    named = {thing for thing in objects.values() if isinstance(thing, Map)}
    return [one for one in needed if one not in named]


class _Checksum:
    """The checksum of an array, as rows come."""

    def __init__(self, like: Any) -> None:
        dtype = np.dtype(like.dtype).newbyteorder("=")
        text = f"{dtype.str}{tuple(like.shape)}"
        self._digest = blake2b(text.encode(), digest_size=16)

    def add(self, rows: Array) -> None:
        plain = np.ascontiguousarray(rows)
        self._digest.update(plain.reshape(-1).view(np.uint8).data)

    def __str__(self) -> str:
        return self._digest.hexdigest()


def _description(file: Any) -> str:
    """Return a checksum of all names and attributes in a file."""
    lines: list[str] = []

    def add(name: str, item: Any) -> None:
        # texts are scalars or arrays of them, as returned by h5py
        values = {key: np.asarray(value) for key, value in item.attrs.items()}
        texts = (f"{key}={one.dtype.kind}{one.tolist()!r}" for key, one in values.items())
        lines.append(f"{name}: {', '.join(sorted(texts))}")

    file.visititems(add)
    return blake2b("\n".join(lines).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _n_bytes(objects: Mapping[str, Any]) -> int:
    """Return the number of bytes of existing objects to write or read."""
    return sum(_bytes_of(thing) for thing in objects.values())


def _bytes_of(thing: Any) -> int:
    if isinstance(thing, Set):
        return 0
    if isinstance(thing, Map):
        return thing.n_entries * 4
    if isinstance(thing, Mat):
        places = thing.sparsity.rowptr.nbytes + thing.sparsity.colidx.nbytes
        return int(places + thing.sparsity.nz * thing.dtype.itemsize * np.prod(thing.block_dims))
    return int(getattr(thing, "nbytes", 0))


def _bytes_in(file: Any) -> int:
    """Return how much `load` reads of a file."""
    found: list[int] = []
    groups = [file[kind] for kind in ("sets", "maps", "dats", "globals")]
    groups += [file[_MAPS_OF_MATS]] if _MAPS_OF_MATS in file else []
    groups += [group for group in file["mats"].values() if "pairs" in group.attrs]
    for group in groups:
        group.visititems(lambda _, item: found.append(int(getattr(item, "nbytes", 0))))
    return sum(found)


def _pieces(values: Any) -> Iterator[slice]:
    """Yield rows to move at a time, for the display of progress."""
    n_rows = values.shape[0]
    step = max(1, n_rows * _PIECE // max(1, int(values.nbytes)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def _write(group: Any, name: str, values: Array | Spread, add: Callable[[int], None]) -> None:
    dataset = group.create_dataset(name, shape=values.shape, dtype=values.dtype)
    checksum = _Checksum(values)
    for rows in _pieces(values):
        piece = values[rows]
        dataset[rows] = piece
        checksum.add(piece)
        add(piece.nbytes)
    dataset.attrs["checksum"] = str(checksum)


@contextmanager
def _reading(
    path: str | os.PathLike[str], n_bytes: int, *, is_checked: bool = True
) -> Iterator[Callable[..., Array]]:
    """Yield a reader of arrays of a file of the given size, with checks of all that is read."""
    with counting(f"reading {as_path(path).name}", n_bytes) as add:
        yield partial(_read, path, add, is_checked=is_checked)


def _read(
    path: str | os.PathLike[str],
    add: Callable[[int], None],
    dataset: Any,
    chosen: Array | None = None,
    *,
    is_checked: bool,
) -> Array:
    """Return a dataset, or some rows of it; all are read for the checksum, a piece at a time."""
    is_checked = is_checked or chosen is None
    dtype = dataset.dtype.newbyteorder("=")
    order = None if chosen is None else np.argsort(chosen, kind="stable")
    n = dataset.shape[:1] if order is None else order.shape
    values: Array = np.empty((*n, *dataset.shape[1:]), dtype)
    checksum = _Checksum(dataset)
    for whole in _pieces(dataset):
        rows, here = whole, slice(0, 0)
        if order is not None and chosen is not None:
            here = slice(*np.searchsorted(chosen, (rows.start, rows.stop), sorter=order))
            if not is_checked:
                if here.start == here.stop:
                    continue
                first, last = chosen[order[[here.start, here.stop - 1]]]
                rows = slice(int(first), int(last) + 1)
        piece = (
            values[rows]
            if order is None
            else np.empty((rows.stop - rows.start, *values.shape[1:]), dtype)
        )
        dataset.read_direct(piece, rows)
        checksum.add(piece)
        if order is not None and chosen is not None:
            values[order[here]] = piece[chosen[order[here]] - rows.start]
        add(piece.nbytes)
    if is_checked and str(checksum) != dataset.attrs.get("checksum"):
        raise StoredFileError(
            f"{os.fspath(path)}: {dataset.name} is damaged: its values have another checksum than "
            "when they were saved"
        )
    return values


class _opened:
    """An open file of `save`; any fault found inside raises a StoredFileError."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = as_path(path)
        if not self._path.is_file():
            raise FileNotFoundError(f"there is no file {os.fspath(path)!r}")
        self._h5py: Any = extras.load("h5py", "io.load()")

    def __enter__(self) -> Any:
        if wrong := hdf5.what_is_wrong(self._path, "io.load()"):
            raise StoredFileError(f"{self._path}: {wrong}")
        self._file = self._h5py.File(self._path, "r")
        attrs = self._file.attrs
        if attrs.get("format") != _FORMAT or attrs.get("version") not in _VERSIONS:
            self._file.close()
            raise StoredFileError(
                f"{self._path}: not written by io.save, or by another version of it: format "
                f"{attrs.get('format')!r}, version {attrs.get('version')!r}"
            )
        self._check_description(attrs)
        return self._file

    def _check_description(self, attrs: Any) -> None:
        try:
            is_right = attrs["version"] == 1 or attrs["described"] == _description(self._file)
        except Exception as error:
            self._file.close()
            raise StoredFileError(f"{self._path} is damaged: {error}") from None
        if not is_right:
            self._file.close()
            raise StoredFileError(
                f"{self._path} is damaged: names or attributes are others than when it was saved"
            )

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._file.close()
        is_users = type(error) is UsageError or isinstance(error, OutOfMemoryError)
        if isinstance(error, Exception) and not isinstance(error, StoredFileError) and not is_users:
            raise StoredFileError(
                f"{self._path} is damaged: {type(error).__name__}: {error}"
            ) from None


def _values_for(
    file: Any,
    name: str,
    thing: Any,
    path: str | os.PathLike[str],
    read: Callable[..., Array],
    sizes: Mapping[Set, int],
) -> Array:
    kind = next((k for k in ("dats", "globals", "mats") if isinstance(thing, _KINDS[k])), None)
    if kind is None:
        raise UsageError(f"restore: '{name}' must be a Dat, a Global or a Mat, got {thing!r}")
    if name not in file[kind]:
        known = ", ".join(sorted(file[kind])) or "none"
        raise StoredFileError(
            f"{os.fspath(path)}: there is no '{name}' among its {kind}; there are: {known}"
        )
    group, what = file[kind][name], f"{os.fspath(path)}: '{name}'"
    stored, wanted = group["values"], thing
    if kind == "mats":
        n = stored.shape[0] if wanted.is_distributed else len(wanted.sparsity.colidx)
        shape = (n, *wanted.block_dims)
    elif kind == "dats" and wanted.dataset.set.is_distributed:
        shape = (sizes[wanted.dataset.set], *wanted.shape[1:])
    else:
        shape = wanted.shape
    if stored.shape != shape or stored.dtype.newbyteorder("=") != wanted.dtype:
        raise StoredFileError(
            f"{what} has shape {stored.shape} of {stored.dtype}, but {wanted.label} has {shape} of "
            f"{wanted.dtype}"
        )
    if kind == "dats":
        on = wanted.dataset.set
        rows = orders.rows_for(file["sets"][group.attrs["set"]], on, read, what)
        if on.is_distributed:
            rows = on.global_numbers if rows is None else rows[on.global_numbers]
        return read(stored, rows)
    return read(stored, _entries_for(file, group, wanted, read, what) if kind == "mats" else None)


def _entries_for(file: Any, group: Any, mat: Mat, read: Callable[[Any], Array], what: str) -> Array:
    """Return the entry in the file for each entry of an existing Mat."""
    ways = [
        orders.rows_for(file["sets"][group.attrs[side]], dset.set, read, what)
        if side in group.attrs
        else None
        for side, dset in zip(_SIDES, mat.sparsity.dsets, strict=True)
    ]
    pattern = read(group["rowptr"]), read(group["colidx"])
    places = orders.entries_for(pattern, (ways[0], ways[1]), mat)
    if places is None:
        raise StoredFileError(
            f"{what} has other places than {mat.label}; restore it into a Mat of the same mesh and "
            "Maps"
        )
    return places
