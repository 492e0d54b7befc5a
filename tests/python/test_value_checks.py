# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Iterator

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ExecutionError, MapValueError

INVERT = "void invert(const double *x, double *y) { y[0] = 1.0 / x[0] - 1.0 / x[0] + x[0]; }"


@pytest.fixture(autouse=True)
def _debug() -> Iterator[None]:
    op2.init(debug=True)
    yield
    op2.exit()


def test_a_nan_written_names_loop_argument_and_element() -> None:
    cells = op2.Set(4, "cells")
    x = op2.Dat(cells, [1.0, 2.0, 0.0, 4.0], name="x")
    y = op2.Dat(cells, name="y")
    kernel = op2.Kernel(INVERT, "invert")
    with pytest.raises(ExecutionError, match=r"'invert': element 2 .* Dat 'y'\) became NaN here"):
        op2.par_loop(kernel, cells, x(op2.READ), y(op2.WRITE))
    with pytest.raises(ExecutionError, match=r"'invert': arg 1: Dat 'y', element 2 became NaN"):
        op2.par_loop(kernel, cells, x(op2.READ), y(op2.WRITE), check=False)


def test_a_nan_read_is_found_before_anything_changes() -> None:
    cells = op2.Set(2, "cells")
    x = op2.Dat(cells, [1.0, np.nan], name="x")
    y = op2.Dat(cells, [5.0, 5.0], name="y")
    kernel = op2.Kernel(INVERT, "invert")
    with pytest.raises(ExecutionError, match=r"arg 0: Dat 'x', element 1 is NaN before the loop"):
        op2.par_loop(kernel, cells, x(op2.READ), y(op2.WRITE))
    assert y.data_ro.tolist() == [5.0, 5.0]


def test_a_map_spoiled_behind_our_back_is_found() -> None:
    edges, cells = op2.Set(2, "edges"), op2.Set(3, "cells")
    values = np.array([[0, 1], [1, 2]], dtype=np.int32)
    e2c = op2.Map(edges, cells, 2, values, name="e2c")
    y = op2.Dat(cells, name="y")
    add = op2.Kernel("void add(double *y) { y[0] += 1; y[1] += 1; }", "add")
    op2.par_loop(add, edges, y(op2.INC, e2c))
    values[1, 1] = 7
    with pytest.raises(MapValueError, match=r"'add': arg 0: .*e2c.*7"):
        op2.par_loop(add, edges, y(op2.INC, e2c))
    assert y.data_ro.tolist() == [1.0, 2.0, 1.0]


def test_a_repeated_loop_is_checked_every_time() -> None:
    cells = op2.Set(1)
    x = op2.Dat(cells, [1.0], name="x")
    y = op2.Dat(cells, name="y")
    loop = op2.ParLoop(op2.Kernel(INVERT, "invert"), cells, x(op2.READ), y(op2.WRITE))
    loop.compute()
    x.data[0] = 0.0
    with pytest.raises(ExecutionError, match="became NaN"):
        loop.compute()
