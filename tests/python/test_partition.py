# SPDX-License-Identifier: BSD-3-Clause
"""Partitions of a square of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx.base import extras
from pyop2cxx.exceptions import RanksError, UsageError
from pyop2cxx.ranks.owners import Table
from pyop2cxx.ranks.partition import by_curve, by_metis, check_method, checked, graph_of

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


@pytest.mark.skipif(not extras.installed()["pymetis"], reason="pymetis is not installed")
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_metis_cuts_few_neighbours(n_ranks: int) -> None:
    table, _ = square()
    owners = by_metis(graph_of(SIDE * SIDE, 0, [table]), n_ranks)
    assert np.bincount(owners, minlength=n_ranks).max() <= 1.05 * SIDE * SIDE / n_ranks
    assert cut(owners) <= 3 * SIDE


def test_a_missing_metis_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> Any:
        raise ModuleNotFoundError(module, name=module)

    monkeypatch.setattr(extras.importlib, "import_module", missing)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"needs pymetis, .*pip install 'pyop2cxx\[mpi\]'"):
        by_metis(graph_of(3, 0, []), 2)


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
    with pytest.raises(UsageError, match="'best' is unknown; there are 'metis', 'hilbert'"):
        check_method("best", None, "distribute")
    with pytest.raises(UsageError, match="needs coordinates="):
        check_method("hilbert", None, "distribute")
