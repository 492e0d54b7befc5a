# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import IndexTypeError, IndexValueError, UnsupportedError, UsageError

pytestmark = pytest.mark.pyop2

EDGES, NODES = op2.Set(2), op2.Set(3)
E2N = op2.Map(EDGES, NODES, 2, [0, 1, 1, 2], "e2n")


def test_dimensions() -> None:
    assert op2.i[0] == op2.IterationIndex(0)
    assert op2.i[0] != op2.i[1]
    assert op2.i != "i"
    assert len({op2.i[0], op2.i[0], op2.i[1]}) == 2
    assert repr(op2.i[1]) == "IterationIndex(1)"
    assert str(op2.i[1]) == "OP2 IterationIndex: 1"
    assert list(op2.i[1]) == [op2.i[1]]
    with pytest.raises(IndexTypeError):
        _ = op2.i["x"]  # type: ignore[index]


def test_an_entry_is_the_same_path_each_time() -> None:
    entry = E2N[1]
    assert entry is E2N[1]
    assert (entry.arity, entry.values.tolist()) == (1, [[1], [2]])
    assert E2N[op2.i[0]].whole is E2N


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (slice(1), UnsupportedError),
        ("x", IndexTypeError),
        (1.5, IndexTypeError),
        (2, IndexValueError),
        (-1, IndexValueError),
        (op2.i[2], IndexValueError),
        (op2.i, IndexValueError),
    ],
)
def test_wrong_indices(index: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Map 'e2n'"):
        _ = E2N[index]


def test_kernels_of_today_get_all_entries() -> None:
    """PyOP2 had op2.i until 2019, when arguments were packed already; it then meant the Map."""
    x = op2.Dat(NODES)
    kernel = op2.Kernel("void f(double *x) { x[0] += 1; x[1] += 10; }", "f")
    op2.par_loop(kernel, EDGES, x(op2.INC, E2N[op2.i[0]]))
    whole = op2.Dat(NODES)
    op2.par_loop(kernel, EDGES, whole(op2.INC, E2N))
    assert x.data_ro.tolist() == whole.data_ro.tolist()
    with pytest.raises(UsageError, match="flatten is of PyOP2's older conventions"):
        op2.par_loop(kernel, EDGES, x(op2.WRITE, E2N, flatten=True))


def test_one_entry_is_a_path_like_any_other() -> None:
    x = op2.Dat(NODES, [1.0, 2.0, 4.0])
    y = op2.Dat(NODES)
    kernel = op2.Kernel("void f(const double *x, double *y) { *y += *x; }", "f")
    for strategy in (None, "owner", "scratch", "colour"):
        y.zero()
        op2.par_loop(kernel, EDGES, x(op2.READ, E2N[0]), y(op2.INC, E2N[1]), strategy=strategy)
        assert y.data_ro.tolist() == [0, 1, 2]
