# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong in loops has the same named errors on every backend, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from pyop2cxx import exceptions as x
from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.usefixtures("exits"), pytest.mark.each_backend]

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
ADD = op2.Kernel("void add(double *y, const double *x) { y[0] += x[0]; y[1] += x[1]; }", "add")
ELEMENT = """
void element(double *A, const double *x) {
  double h = x[1] - x[0];
  A[0] += h; A[1] -= h; A[2] -= h; A[3] += h;
}
"""


class World:
    """Two cells on a line, a matrix and vectors."""

    def __init__(self) -> None:
        self.cells, self.nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
        self.c2n = op2.Map(self.cells, self.nodes, 2, [0, 1, 1, 2], "c2n")
        self.other = op2.Map(self.cells, self.nodes, 2, [0, 1, 1, 2], "other")
        self.x, self.y = op2.Dat(self.nodes, [0.0, 1.0, 3.0]), op2.Dat(self.nodes, np.ones(3))
        pairs = [(self.c2n, self.c2n, None)]
        self.mat = op2.Mat(op2.Sparsity((self.nodes**1, self.nodes**1), pairs))
        self.element = op2.Kernel(ELEMENT, "element")
        self.assemble(self.x)

    def assemble(self, x: op2.Dat, maps: Any = None) -> None:
        maps = maps or (self.c2n, self.c2n)
        op2.par_loop(self.element, self.cells, self.mat(op2.INC, maps), x(op2.READ, self.c2n))

    def add(self, map_: op2.Map, y: op2.Dat | None = None) -> None:
        op2.par_loop(ADD, self.cells, (y or self.y)(op2.INC, map_), self.x(op2.READ, self.c2n))

    def state(self) -> list[Any]:
        """All that a wrong call must leave alone."""
        carriers = (self.x, self.y, self.mat)
        versions = [c.buffer.version for c in carriers]
        return [versions, self.mat.assembly_state, [c.buffer.where.name for c in carriers]]

    def values(self) -> list[Any]:
        return [self.x.data_ro.tolist(), self.y.data_ro.tolist(), self.mat.values.tolist()]


def nowhere(w: World) -> None:
    w.add(op2.Map(w.cells, w.nodes, 2, [0, 1, -1, 2], "nowhere"))


def nowhere_in_the_end(w: World) -> None:
    """The loop was right when it was made; the Map has changed since."""
    map_ = op2.Map(w.cells, w.nodes, 2, [0, 1, 1, 2], "changing")
    loop = op2.ParLoop(ADD, w.cells, op2.Dat(w.nodes)(op2.INC, map_), w.x(op2.READ, w.c2n))
    loop.compute()
    map_.update_values([0, 1, -1, 2])
    loop.compute()


def changed(w: World) -> None:
    """The Map leads elsewhere now than when the Sparsity was made from it."""
    w.c2n.update_values([0, 2, 1, 2])
    try:
        w.assemble(w.x)
    finally:
        w.c2n.update_values([0, 1, 1, 2])


def not_a_number(w: World) -> None:
    op2.init(debug=True)
    try:
        w.assemble(op2.Dat(w.nodes, [0.0, np.nan, 1.0], name="geometry"))
    finally:
        op2.init(debug=False)


def solve_not_a_number(w: World) -> None:
    op2.solve(w.mat, w.y, op2.Dat(w.nodes, [0.0, np.nan, 1.0]), package="scipy")


def diverging(w: World) -> None:
    how = {"ksp_divtol": 1e-3, "pc_type": "none", "package": "scipy"}
    op2.solve(w.mat, w.y, op2.Dat(w.nodes, [1.0, 2.0, 3.0]), **how)


class Row(NamedTuple):
    """A wrong call, its error, and what its message says."""

    call: Callable[[World], object]
    error: type[Exception]
    message: str


ROWS = {
    "entry of -1": Row(nowhere, x.MapValueError, "'nowhere' leads nowhere from element 1, slot 0"),
    "entry of -1 later": Row(nowhere_in_the_end, x.MapValueError, "'changing' leads nowhere"),
    "entry out of range": Row(
        lambda w: w.other.update_values([0, 1, 1, 3]), x.DataValueError, "row 1, slot 1 is 3"
    ),
    "negative entry": Row(
        lambda w: w.other.update_values([0, 1, -2, 2]), x.DataValueError, "row 1, slot 0 is -2"
    ),
    "map of another set": Row(
        lambda w: w.add(op2.Map(w.nodes, w.nodes, 2, [0] * 6, "n2n")),
        x.MapValueError,
        "'n2n' starts on Set 'nodes'",
    ),
    "map to another set": Row(
        lambda w: w.add(op2.Map(w.cells, w.cells, 2, [0, 1, 1, 0], "c2c")),
        x.MapValueError,
        "'c2c' leads from Set 'cells' to Set 'cells'",
    ),
    "foreign maps": Row(
        lambda w: w.assemble(w.x, (w.other, w.other)), x.MapValueError, "'other' and 'other'"
    ),
    "maps that have changed": Row(
        changed, x.UsageError, r"par_loop .*: arg \d: matrix: element .*has no place"
    ),
    "beyond memory": Row(
        lambda w: op2.par_loop(
            op2.Kernel("void one(double *x) { *x = 1; }", "one"),
            (huge := op2.Set(2**44)),
            op2.Dat(huge, name="large")(op2.WRITE),
        ),
        x.OutOfMemoryError,
        "Dat 'large' on Set .* needs 140737488355328 bytes",
    ),
    "no number in geometry": Row(not_a_number, x.ExecutionError, "(?i)nan|not a number"),
    "no number in a system": Row(solve_not_a_number, x.DataValueError, "not finite"),
    "divergence": Row(diverging, x.ConvergenceError, "DIVERGED"),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ROWS)
def test_wrong_call(name: str, backend: str) -> None:
    call, error, message = ROWS[name]
    if name in ("no number in a system", "divergence"):
        pytest.importorskip("scipy")
    with op2.backend(backend):
        world = World()
        expected = world.values()
        before = world.state()
        with pytest.raises(error, match=message) as caught:
            call(world)
        assert type(caught.value) is error
        assert world.state()[:2] == before[:2]
        assert world.values() == expected
        world.add(world.c2n)  # and all is well afterwards
        assert world.y.data_ro.tolist() == [1, 3, 4]
