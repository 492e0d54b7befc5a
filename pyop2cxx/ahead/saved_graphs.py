# SPDX-License-Identifier: BSD-3-Clause
"""``graph.save(folder)`` and ``op2.load_graph(folder)``: graphs that outlive a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.ahead import graph_files, records, tables
from pyop2cxx.ahead.entries import Collected
from pyop2cxx.ahead.functions import identifier
from pyop2cxx.ahead.project import Project, check_place
from pyop2cxx.ahead.read_graphs import GraphParts
from pyop2cxx.ahead.written_graphs import written_down
from pyop2cxx.base.files import as_path
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from pyop2cxx.ahead.entries import Entry
    from pyop2cxx.ahead.written_graphs import Written
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.graph.graph import Graph

BACKENDS = ("sequential", "openmp")
"""Backends of the loops of saved graphs."""


def save(
    graph: Graph,
    path: str,
    *,
    name: str | None,
    backends: tuple[str, ...],
    arch: str,
    build: bool,
) -> None:
    """Write a graph to a folder; see `Graph.save`."""
    name = identifier(graph.name) if name is None else name
    check_place(name, as_path(path))
    unknown = [one for one in backends if one not in BACKENDS]
    if unknown:
        raise UsageError(
            f"graph '{graph.name}': save: loops are compiled for {' or '.join(BACKENDS)}, got "
            f"{unknown[0]!r}"
        )
    written = written_down(graph)
    parts = _made_again(written)
    entries = _entries(written, backends or _usual(graph))
    saved = graph_files.SavedGraph(written, _outcome(written, parts))
    Project(name=name, entries=entries, archs=(arch,), graph=saved).write(path, build=build)


def load_graph(
    path: str | os.PathLike[str], *, library: str | os.PathLike[str] | None = None
) -> Graph:
    """Return a graph written by `Graph.save`, with new Sets, Maps, Dats and Globals.

    All values are as saved. `Graph.inputs` and `Graph.outputs` return the objects by name, and
    `Graph.bind` replaces them. Loops saved for the present backend are not compiled. Consts are
    declared again, with the saved values.

    Args:
        path: The folder.
        library: A library built from the folder's sources by CMake; None means the folder's own.

    Raises:
        UsageError: The folder is missing, contains no graph, belongs to another version, is open to
            others, or is cut short or damaged; or the program has a Const of the same name with
            another dim or dtype.
        ToolchainError: The library cannot be loaded.
        UnsupportedError: With the option ``eti_only``: the graph was not saved for the present
            backend.

    Example:
        >>> import tempfile
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(2, "cells")
        >>> u = op2.Dat(cells, [1.0, 2.0], name="u")
        >>> twice = op2.Kernel("void twice(double *u) { *u *= 2; }", "twice")
        >>> graph = op2.create_graph(lambda root: root.then(twice, cells, u(op2.RW)), name="twice")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(folder)
        ...     again = op2.load_graph(folder)
        >>> again.submit()
        >>> again.outputs["u"].data_ro.tolist(), u.data_ro.tolist()
        ([2.0, 4.0], [1.0, 2.0])
    """
    manifest, folder = tables.read_manifest(as_path(path), "load_graph")
    if "graph" not in manifest:
        raise UsageError(f"load_graph: '{folder}' holds loops, but no graph; Graph.save writes one")
    values = graph_files.read_values(folder, manifest)
    if manifest["library"] is not None or library is not None:
        tables.load(path, library=library)
    return GraphParts(manifest["graph"], values, f"'{folder}'").graph()


def _usual(graph: Graph) -> tuple[str, ...]:
    return (graph.backend,) if graph.backend in BACKENDS else ("openmp",)


def _entries(written: Written, backends: Sequence[str]) -> list[Entry]:
    collected = Collected(backends, records=False)
    for one in written.loops:
        collected.note(one.loop)
    if collected.refused:
        raise UnsupportedError(
            f"graph '{written.graph.name}' cannot be saved:\n  " + "\n  ".join(collected.refused)
        )
    return list(collected.entries.values())


def _made_again(written: Written) -> GraphParts:
    """Rebuild the graph from the description, to be sure of a valid file."""
    values = [None if one is None else np.array(one) for one in written.values]
    try:
        return GraphParts(written.description, values, f"graph '{written.graph.name}'")
    except UsageError as error:
        raise UnsupportedError(f"graph '{written.graph.name}' cannot be saved: {error}") from None


def _outcome(written: Written, parts: GraphParts) -> Mapping[str, Array] | str:
    """Return the values after one submit on new objects; or a reason why they are unknown."""
    n_bytes = sum(0 if one is None else one.nbytes for one in written.values)
    if n_bytes > records.MOST_BYTES:
        return f"its values are {n_bytes / 1e6:.1f} MB"
    outer, runtime.on_graph = runtime.on_graph, None
    try:
        graph = parts.graph()
    finally:
        runtime.on_graph = outer
    graph.submit()
    return {name: records.host_values(data) for name, data in graph.outputs.items()}
