# SPDX-License-Identifier: BSD-3-Clause
"""Partitions of a square of cells."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from pyop2cxx.base import extras
from pyop2cxx.exceptions import MissingExtraError, RanksError, UsageError
from pyop2cxx.ranks import partitioners
from pyop2cxx.ranks.owners import Table
from pyop2cxx.ranks.partition import by_curve, by_graph, check_method, checked, graph_of
from pyop2cxx.ranks.partitioners import PARTITIONERS

SIDE = 16


def square() -> tuple[Table, np.ndarray[Any, Any]]:
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    first = (x * (SIDE + 1) + y).ravel()
    corners = np.stack([first, first + 1, first + SIDE + 1, first + SIDE + 2], axis=1)
    return Table(0, 1, corners), np.stack([x.ravel(), y.ravel()], axis=1).astype(float)


def cut(owners: np.ndarray[Any, Any]) -> int:
    square_ = owners.reshape(SIDE, SIDE)
    return int((square_[1:] != square_[:-1]).sum() + (square_[:, 1:] != square_[:, :-1]).sum())


def test_cells_of_an_edge_are_neighbours() -> None:
    graph = graph_of(3, 0, [Table(1, 0, np.array([[0, 1], [2, 1], [2, -1], [0, 0]]))])
    assert graph.begins.tolist() == [0, 1, 3, 4]
    assert graph.neighbours.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("n_ranks", [2, 4])
def test_a_curve_gives_equal_pieces_with_short_borders(n_ranks: int) -> None:
    owners = by_curve(square()[1], n_ranks)
    assert np.bincount(owners).tolist() == [SIDE * SIDE // n_ranks] * n_ranks
    assert cut(owners) <= 2 * SIDE


@pytest.mark.parametrize("method", PARTITIONERS)
@pytest.mark.parametrize("n_ranks", [1, 2, 4, 7])
def test_partitioners_cut_few_neighbours(method: str, n_ranks: int) -> None:
    graph = graph_of(SIDE * SIDE, 0, [square()[0]])
    try:
        owners = by_graph(method, graph, n_ranks)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert owners.dtype == np.int32
    assert owners.min() >= 0
    assert np.bincount(owners, minlength=n_ranks).max() <= 1.05 * SIDE * SIDE / n_ranks + 1
    assert cut(owners) <= 3 * SIDE + 3 * n_ranks
    assert (by_graph(method, graph, n_ranks) == owners).all()
    assert by_graph(method, graph_of(0, 0, []), n_ranks).shape == (0,)


@pytest.mark.parametrize("method", PARTITIONERS)
def test_entities_without_neighbours_have_ranks(method: str) -> None:
    try:
        owners = by_graph(method, graph_of(5, 0, []), 3)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert owners.shape == (5,)
    assert set(owners.tolist()) <= {0, 1, 2}


@pytest.mark.parametrize(
    ("method", "remedy"),
    [
        ("metis", r"needs pymetis, .*pip install 'pyop2cxx\[mpi\]'"),
        ("kahip", r"needs kahip, .*pip install 'pyop2cxx\[kahip\]'"),
        ("scotch", r"needs the library SCOTCH, .*apt-get install libscotch-7\.0"),
    ],
)
def test_a_missing_partitioner_is_named(
    method: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str, mode: int = 0) -> Any:
        if mode or name.startswith("lib"):
            raise OSError(name)
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(extras.importlib, "import_module", missing)  # type: ignore[attr-defined]
    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(MissingExtraError, match=remedy):
        by_graph(method, graph_of(3, 0, []), 2)


def test_an_error_of_scotch_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(4, 0, [])
    try:
        library = partitioners._scotch()
    except MissingExtraError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(library, "SCOTCH_graphPart", lambda *_: 1)
    monkeypatch.setattr(partitioners, "_scotch", lambda: library)
    with pytest.raises(RanksError, match="SCOTCH made no 2 parts of 4 entities"):
        by_graph("scotch", graph, 2)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ([0, 1], r"shape \(3,\), got \[0, 1\] of dtype int64 and shape \(2,\)"),
        ([0, 1, 2], r"partition\[2\] is 2, but there are ranks 0 to 1"),
        ([0, -1, 0], r"partition\[1\] is -1"),
        ([0.0, 1.0, 0.0], "array of integers"),
        ([[0], [1, 2]], "partition"),
    ],
)
def test_wrong_partitions_are_refused(given: Any, complaint: str) -> None:
    with pytest.raises(RanksError, match=complaint):
        checked(given, 3, 2, "distribute")


def test_unknown_methods_are_refused() -> None:
    known = "'metis', 'kahip', 'scotch', 'hilbert'"
    with pytest.raises(UsageError, match=f"'best' is unknown; there are {known}"):
        check_method("best", None, "distribute")
    with pytest.raises(UsageError, match="needs coordinates="):
        check_method("hilbert", None, "distribute")
