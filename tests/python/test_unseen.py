# SPDX-License-Identifier: BSD-3-Clause
"""RW arguments that a kernel overwrites before it looks at them, in check mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CheckError

CELLS, NODES = op2.Set(5, "cells"), op2.Set(8, "nodes")
ENDS = op2.Map(CELLS, NODES, 1, [6, 0, 3, 1, 4], "ends")  # not onto all nodes
PART = op2.Subset(CELLS, [0, 2, 3])
TEXT = """void k(double *q, const double *x) {
  q[0] = 12 / x[0];
  q[1] = 2 * q[0];
}"""
EARLIER = """void k(double *q, const double *x) {
  q[1] = 2 * x[0];
  q[0] = q[1] / 2;
  q[0] += 12 / x[0] - q[1] / 2;
  q[1] = 2 * q[0];
}"""
PLACES = {
    "direct": (CELLS, CELLS, None),
    "a Map": (NODES, CELLS, ENDS),
    "a part": (CELLS, PART, None),
    "a part through a Map": (NODES, PART, ENDS),
}
WHERE = ("nowhere", "host", "device", "both")


def dat(on: Any, where: str) -> op2.Dat:
    """Values where they are said to be, and nowhere else."""
    if where == "nowhere":
        return op2.Dat(on**2, name="q")
    made = op2.Dat(on**2, np.arange(2.0 * on.size) + 1, name="q")
    if where != "host":
        made.to_device()
    if where == "device":
        made *= 1
    return made


def expected(place: str, before: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> Any:
    _, over, map_ = PLACES[place]
    found = before.copy()
    for cell in over.indices if over is PART else range(5):
        target = cell if map_ is None else map_.values[cell, 0]
        found[target] = [12 / x[cell], 24 / x[cell]]
    return found


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [TEXT, EARLIER], ids=["once", "again"])
def test_old_values_are_kept_where_a_loop_fails(
    backend: str, text: str, place: str, where: str
) -> None:
    on, over, map_ = PLACES[place]
    q, x = dat(on, where), op2.Dat(CELLS, [1.0, 2.0, 3.0, 0.0, 4.0], name="x")
    before = np.zeros((on.size, 2)) if where == "nowhere" else np.arange(2.0 * on.size) + 1
    before = before.reshape(-1, 2)
    kernel = op2.Kernel(text, "k")
    for _ in range(2):
        with pytest.raises(CheckError, match=r"element .* became infinite here") as caught:
            op2.par_loop(kernel, over, q(op2.RW, map_), x(op2.READ), check=True)
        assert (caught.value.argument, caught.value.check) == (0, "made")
    x.data = [1.0, 2.0, 3.0, 6.0, 4.0]
    copied = op2.Dat(on**2)
    q.copy(copied)  # where they are
    assert np.array_equal(copied.data_ro, before)
    op2.par_loop(kernel, over, q(op2.RW, map_), x(op2.READ), check=True)
    wanted = expected(place, before, x.data_ro)
    assert np.array_equal(q.data_ro, wanted)
    op2.par_loop(kernel, over, q(op2.RW, map_), x(op2.READ))
    assert np.array_equal(q.data_ro, wanted)


BRANCHES = """void k(double *q, const double *x) {
  if (x[0] > 0) { q[0] = x[0]; q[1] = 1; return; }
  %s
}"""


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("rest", ["q[1] = 5;", "", "q[0] = q[1];", "q[(int)x[0] + 1] = 7;"])
def test_a_path_that_leaves_values_is_no_mistake_for_rw(
    backend: str, rest: str, where: str
) -> None:
    q, x = dat(CELLS, where), op2.Dat(CELLS, [1.0, 0.0, 3.0, 0.0, 4.0], name="x")
    wanted = q.data_ro.copy()
    if where == "device":
        q.to_device()
        q *= 1
    for cell, value in enumerate(x.data_ro):
        if value > 0:
            wanted[cell] = [value, 1]
        elif rest.startswith("q[0]"):
            wanted[cell, 0] = wanted[cell, 1]
        elif rest:
            wanted[cell, 1] = 5 if "5" in rest else 7
    op2.par_loop(op2.Kernel(BRANCHES % rest, "k"), CELLS, q(op2.RW), x(op2.READ), check=True)
    assert np.array_equal(q.data_ro, wanted)


def test_write_is_told_where_rw_is_not(backend: str) -> None:
    q, x = dat(CELLS, "host"), op2.Dat(CELLS, [1.0, 0.0, 3.0, 0.0, 4.0], name="x")
    kernel = op2.Kernel(BRANCHES % "q[1] = 5;", "k")
    with pytest.raises(CheckError, match=r"value 0 of 'q' .* was not written") as caught:
        op2.par_loop(kernel, CELLS, q(op2.WRITE), x(op2.READ), check=True)
    assert caught.value.element == 1
    assert q.data_ro.ravel().tolist() == list(range(1, 11))


def test_a_store_that_is_left_out_shows_no_other_values(backend: str) -> None:
    """A checked kernel does not carry out what is wrong: the array is not overwritten then."""
    text = "void k(double *q, const int *at) {\n  q[at[0]] = 1;\n  q[1 - at[0]] = 2;\n}"
    q, at = dat(CELLS, "both"), op2.Dat(CELLS, [0, 1, 0, 2, 1], "int32", "at")
    with pytest.raises(CheckError, match="index 2 is outside") as caught:
        op2.par_loop(op2.Kernel(text, "k"), CELLS, q(op2.RW), at(op2.READ), check=True)
    assert caught.value.element == 3
    assert q.data_ro.ravel().tolist() == list(range(1, 11))
