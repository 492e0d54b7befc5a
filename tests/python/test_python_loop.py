# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import MapValueError, SetTypeError, UnsupportedError, UsageError

CELLS, NODES = op2.Set(3, "cells"), op2.Set(4, "nodes")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2, 2, 2])


def test_it_does_what_a_c_kernel_does() -> None:
    x = op2.Dat(NODES**2, np.arange(8.0))
    results = []
    kernel = op2.Kernel(
        """
        void f(const double *x, double *y, double *low, double *w, double *s, double *m) {
          for (int i = 0; i < 2; ++i) {
            y[i] += x[2 * i + 1];
            if (x[2 * i] < low[i]) low[i] = x[2 * i];
          }
          w[0] = x[0]; s[0] += x[0]; if (x[3] > m[0]) m[0] = x[3];
        }
        """,
        "f",
    )

    def function(x: Any, y: Any, low: Any, w: Any, s: Any, m: Any) -> None:
        assert (x.shape, y.shape, w.shape, s.shape) == ((2, 2), (2,), (), (1,))
        assert not x.flags.writeable
        y += x[:, 1]
        low[:] = np.minimum(low, x[:, 0])
        w[...] = x[0, 0]
        s += x[0, 0]
        m[0] = max(m[0], x[1, 1])

    for loop in (kernel, function):
        y, low, w = op2.Dat(NODES), op2.Dat(NODES, np.full(4, 3.0)), op2.Dat(CELLS)
        s, m = op2.Global(1, 10.0), op2.Global(1, 0.0)
        args = (x(op2.READ, C2N), y(op2.INC, C2N), low(op2.MIN, C2N), w(op2.WRITE))
        op2.par_loop(loop, CELLS, *args, s(op2.INC), m(op2.MAX))
        results.append([carrier.data_ro.tolist() for carrier in (y, low, w, s, m)])
    assert results[0] == results[1]


def test_written_rows_start_at_zero() -> None:
    x = op2.Dat(NODES, np.ones(4))

    def function(x: Any) -> None:
        x[0] = 5

    op2.par_loop(function, CELLS(0), x(op2.WRITE, C2N))
    assert x.data_ro.tolist() == [5, 0, 1, 1]


def test_read_arrays_cannot_be_written() -> None:
    def function(x: Any) -> None:
        x[...] = 0

    for arg in (op2.Dat(CELLS)(op2.READ), op2.Dat(NODES)(op2.READ, C2N), op2.Global(1)(op2.READ)):
        with pytest.raises(ValueError, match="read-only"):
            op2.par_loop(function, CELLS, arg)


def test_wrong_loops() -> None:
    def function(x: Any) -> None: ...

    with pytest.raises(SetTypeError):
        op2.par_loop(function, "cells", op2.Dat(CELLS)(op2.READ))  # type: ignore[arg-type]
    with pytest.raises(MapValueError, match="belongs to Set 'nodes', but the loop runs over"):
        op2.par_loop(function, CELLS, op2.Dat(NODES)(op2.READ))
    with pytest.raises(UnsupportedError, match="not extruded"):
        op2.par_loop(function, op2.ExtrudedSet(CELLS, 3), op2.Dat(CELLS)(op2.READ))
    with pytest.raises(UsageError, match="must be made by calling"):
        op2.par_loop(function, CELLS, 3)  # type: ignore[arg-type]
