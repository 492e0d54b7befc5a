# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import read_text, write_text


@pytest.fixture(scope="module")
def mesh():
    return airfoil_arrays(6, 4)


def test_text_starts_with_the_sizes(mesh, tmp_path):
    path = tmp_path / "new_grid.dat"
    write_text(mesh, path)
    lines = path.read_text().splitlines()
    assert lines[0].split() == [str(n) for n in (95, 72, 128, 32)]
    assert len(lines) == 1 + 95 + 72 + 128 + 32
    assert lines[1].split() == [f"{value:f}" for value in mesh.x[0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + " 7", "need .* numbers, got"),
        (lambda text: text[: len(text) // 2], "need .* numbers, got"),
        (lambda text: text.replace("72", "x", 1), "expected numbers only"),
        (lambda text: "1 2", "expected four sizes first, got 2"),
        (lambda text: text.rstrip()[:-1] + "1.5", "'bedges': expected integers"),
    ],
)
def test_text_errors_name_the_file(mesh, tmp_path, change, message):
    path = tmp_path / "new_grid.dat"
    write_text(mesh, path)
    path.write_text(change(path.read_text()))
    with pytest.raises(DataValueError, match=message) as raised:
        read_text(path)
    assert str(path) in str(raised.value)
