# SPDX-License-Identifier: BSD-3-Clause
"""Elements and nodes that are given twice are found."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh import Mesh
from pyop2cxx.mesh.duplicates import first_alike, first_there


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8])
def test_rows_alike_are_found_as_by_a_dictionary(width: int) -> None:
    random = np.random.default_rng(width)
    rows = random.integers(0, width + 3, (300, width))
    first: dict[tuple[int, ...], int] = {}
    wanted = [first.setdefault(tuple(sorted(row)), i) for i, row in enumerate(rows.tolist())]
    assert first_alike(rows).tolist() == wanted


def test_rows_with_equal_sums_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "pyop2cxx.mesh.duplicates._sums", lambda rows: np.zeros(len(rows), np.uint64)
    )
    rows = np.array([[0, 1, 2], [3, 4, 5], [2, 1, 0], [5, 3, 4]])
    assert first_alike(rows).tolist() == [0, 1, 0, 1]


def test_nodes_at_one_place_are_found() -> None:
    points = np.array([[0.0, 1.0], [0.5, 0.25], [-0.0, 1.0], [0.5, 0.25 + 1e-15], [0.5, 0.251]])
    assert first_there(points).tolist() == [0, 1, 0, 1, 4]


@pytest.mark.parametrize(
    ("cell", "rows"),
    [
        ("interval", [[0, 1], [1, 0]]),
        ("triangle", [[0, 1, 2], [1, 2, 3], [0, 1, 2]]),
        ("triangle", [[0, 1, 2], [2, 0, 1]]),
        ("quadrilateral", [[0, 1, 2, 3], [1, 0, 3, 2]]),
        ("tetrahedron", [[0, 1, 2, 3], [3, 1, 2, 0]]),
    ],
)
def test_arrays_with_a_cell_twice_are_refused(cell: str, rows: list[list[int]]) -> None:
    """Numbers of cells are the caller's, so that none can be left out."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]])
    with pytest.raises(DataValueError, match=r"cells 0 and \d have the same vertices"):
        Mesh.from_arrays(cell, points, rows)
