# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``pyop2cxx tune show|export|import|forget|probe``."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.access import INC, READ, WRITE
from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.reports.ceilings import ceilings
from pyop2cxx.reports.profile import Profile
from pyop2cxx.reports.tune import Table, rows_of, tables_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import Contents, change, merged, parsed, read, written
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyop2cxx.runtime.tuned_file import Entry

_N_PROBED = 1 << 20
_N_TIMES = 7
_DTYPES = (("int32", "int"), ("float32", "float"), ("float64", "double"))


def _folder() -> Path:
    found = runtime.engine.tuned.folder
    if found is None:
        raise UsageError("tune: there is no cache directory; set PYOP2CXX_CACHE_DIR")
    return found


def _files() -> Iterator[tuple[Path, Contents]]:
    for path in sorted(_folder().glob("*.json")):
        yield path, read(path)


def show() -> str:
    """Return all stored measurements, a table for each device."""
    found = []
    for path, (place, entries, problem) in _files():
        if place is None:
            found.append(problem)
            continue
        about = [place.backend, place.device, place.driver, place.compiler]
        head = ", ".join([*filter(None, about), f"{place.threads} threads or units"])
        tables = [str(Table(rows_of(entries))), *tables_of(entries)]
        found.append("\n".join([head, str(path), *tables]))
    return "\n\n".join(found) or f"no measurements in '{_folder()}'"


def export(target: str) -> str:
    """Write all stored measurements to a file, for other machines.

    Args:
        target: Name of the file.

    Raises:
        UsageError: There are no measurements, or the file cannot be written.
    """
    texts = [json.loads(written(place, entries)) for _, (place, entries, _) in _files() if place]
    if not texts:
        raise UsageError(f"tune export: no measurements in '{_folder()}'")
    try:
        with replacing(target) as temporary:
            temporary.write_text(json.dumps(texts, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"tune export: cannot write '{target}': {error.strerror}") from None
    return f"{len(texts)} devices, {sum(len(one['entries']) for one in texts)} measurements"


def import_(source: str) -> str:
    """Add the measurements of a file; a measurement of the same subject is replaced.

    Measurements of this device count as its own; those of others as of another device.

    Args:
        source: A file of `export`, or of a cache directory.

    Raises:
        UsageError: The file cannot be read or is damaged. Nothing is added then.
    """
    path = as_path(source)
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"tune import: cannot read '{source}': {error}") from None
    given = [parsed(path, one) for one in (found if isinstance(found, list) else [found])]
    for one in given:
        if one.place is None:
            raise UsageError(f"tune import: {one.problem}; export the file again")
    folder = _folder()
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for place, entries, _ in given:
        if place is not None and (why := change(folder, place, partial(merged, new=entries))):
            raise UsageError(f"tune import: {why}")
    return f"{len(given)} devices, {sum(len(one.entries) for one in given)} measurements"


def forget(name: str | None = None) -> str:
    """Delete measurements.

    Args:
        name: Name of a loop or of another subject; None for all measurements.

    Raises:
        UsageError: There is none with the name.
    """
    n_gone = 0

    def kept(old: Sequence[Entry]) -> list[Entry]:
        nonlocal n_gone
        left = [one for one in old if name is not None and one.name != name]
        n_gone += len(old) - len(left)
        return left

    names: set[str] = set()
    for path, (place, entries, _) in _files():
        names |= {one.name for one in entries}
        if place is None:
            path.unlink(missing_ok=True)
        elif why := change(path.parent, place, kept):
            raise UsageError(f"tune forget: {why}")
    if name is not None and not n_gone:
        known = ", ".join(sorted(names)) or "none"
        raise UsageError(f"tune forget: no measurement of '{name}'; there are: {known}")
    return f"{n_gone} measurements deleted"


def probe(backend: str) -> str:
    """Measure rates of the present device: copies, peaks, a launch, atomic sums by dtype, vectors.

    Args:
        backend: The backend; empty for the usual one.

    Raises:
        UsageError: The backend does not exist.
    """
    with runtime.use_backend(backend or runtime.backend):
        place = runtime.engine.place(runtime.backend)
        rows: list[tuple[str, ...]] = [("property", runtime.backend)]
        if place is not None:
            rows += [("device", place.device), ("threads or units", str(place.threads))]
        rows.append(("vectors", f"{runtime.engine.vector_bytes} bytes"))
        cells = Set(_N_PROBED, "cells")
        found = ceilings(runtime.backend, Profile)
        rows.append(
            ("copy", f"{1e-9 * found.copy:.1f} GB/s, within a cache {1e-9 * found.cache:.1f}")
        )
        for n, peak in found.lanes.items():
            words = f"{1e-9 * peak:.1f} GFlop/s, without lanes {1e-9 * found.scalar[n]:.1f}"
            rows.append((f"peak, numbers of {n} bytes", words))
        one, x = Set(1, "one"), Dat(cells, np.ones(_N_PROBED))
        copy = Kernel("void copy(double *y, const double *x) { y[0] = x[0]; }", "copy")
        empty = ParLoop(copy, one, Dat(one)(WRITE), Dat(one)(READ))
        rows.append(("launch", f"{1e6 * _seconds(empty):.2f} us"))
        rows += [(f"atomic sums, {dtype}", _atomics(dtype, c)) for dtype, c in _DTYPES]
        total = Global(1, 0.0)
        add = Kernel("void add(double *t, const double *x) { t[0] += x[0]; }", "add")
        seconds = _seconds(ParLoop(add, cells, total(INC), x(READ)))
        rows.append(("sum into a Global", f"{1e-9 * x.nbytes / seconds:.1f} GB/s"))
    return str(Table(rows))


def _atomics(dtype: str, c_type: str) -> str:
    """Return the rate of atomic sums into distinct neighbours."""
    edges, nodes = Set(_N_PROBED, "edges"), Set(_N_PROBED + 1, "nodes")
    i = np.arange(_N_PROBED)
    ends = Map(edges, nodes, 2, np.stack([i, i + 1], 1), "ends")
    add = Kernel("void add(T *x) { x[0] += 1; x[1] += 1; }".replace("T", c_type), "add")
    target = Dat(nodes, dtype=dtype)
    try:
        seconds = _seconds(ParLoop(add, edges, target(INC, ends), strategy="atomic"))
    except Op2Error:
        return "not here"
    return f"{2e-6 * _N_PROBED / seconds:.0f} million a second"


def _seconds(loop: ParLoop) -> float:
    """Return the shortest time of a run."""
    device = runtime.device
    wait: Callable[[], None] = (lambda: None) if device is None else device.finish
    found = []
    for _ in range(_N_TIMES):
        wait()
        start = time.perf_counter()
        loop.compute()
        wait()
        found.append(time.perf_counter() - start)
    return min(found)
