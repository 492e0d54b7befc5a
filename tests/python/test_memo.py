# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered is forgotten by `op2.exit`, so that nothing is kept alive."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.runtime.memo import Memo, until_exit

if TYPE_CHECKING:
    from pathlib import Path


def test_results_are_made_once_until_exit() -> None:
    made: list[int] = []

    @until_exit(4)
    def twice(x: int) -> int:
        made.append(x)
        return 2 * x

    assert [twice(3), twice(3)] == [6, 6]
    assert made == [3]
    op2.exit()
    assert twice(3) == 6
    assert made == [3, 3]


def test_a_memo_holds_so_many_entries_until_exit() -> None:
    one, other = Memo(2), Memo(2)
    for key in "abc":
        assert one.made(key, lambda key=key: 2 * key) == 2 * key
    assert list(one) == ["b", "c"]
    assert one.made("b", lambda: "new") == "bb"
    assert one != other
    op2.exit()
    assert not one


PROGRAM = """
import gc, importlib.util, sys, weakref
import numpy as np
from pyop2cxx import _core, op2
from pyop2cxx.runtime import runtime

backend, seen = sys.argv[1], []

def note(*objects):
    seen.extend((type(one).__name__, weakref.ref(one)) for one in objects)

def others(cells, nodes, ends, x, y, add):
    # chains, graphs, tables, profiles and forms have tables of their own
    with op2.profile() as profile, op2.chain() as chain:
        op2.par_loop(add, cells, y(op2.INC, ends), x(op2.READ, ends))
        y.zero()
        op2.par_loop(add, cells, y(op2.INC, ends), x(op2.READ, ends))
    with op2.graph("twice") as built:
        built.then(add, cells, y(op2.INC, ends), x(op2.READ, ends)).then_fill(y, 0.0)
    graph = built.instantiate()
    graph.submit(2)
    with op2.dispatch.record(sys.argv[2] + "/table"):
        op2.par_loop(add, cells, y(op2.INC, ends), x(op2.READ, ends))
    table = op2.dispatch.load(sys.argv[2] + "/table")
    op2.par_loop(add, cells, y(op2.INC, ends), x(op2.READ, ends))
    note(profile, chain, built, graph)
    if not all(map(importlib.util.find_spec, ("ffcx", "ufl"))):
        return
    import ufl
    from pyop2cxx import fem
    from pyop2cxx.mesh import square_mesh
    space = fem.FunctionSpace(square_mesh(2), ("P", 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    f = fem.interpolate(lambda x: 1 + x[0], space)
    mass, load = fem.assemble(f * u * v * ufl.dx), fem.assemble(f * v * ufl.dx)
    found = fem.Function(space)
    fem.solve(u * v * ufl.dx == v * ufl.dx, found, [fem.DirichletBC(space, 1.0)])
    note(space, f, mass, mass.sparsity, load, found)

def program():
    op2.init(backend=backend)
    cells, nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3]])
    x, y, total = op2.Dat(nodes, [1.0, 2, 3, 4]), op2.Dat(nodes), op2.Global(1, 0.0)
    small = op2.Subset(cells, [0, 2])
    columns = op2.ExtrudedSet(cells, 3)
    note(cells, nodes, ends, x, y, total, small, columns)
    scale = op2.Const(1, 2.0, "scale")
    texts = {
        "add": "void add(double *y, const double *x) { y[0] += scale * x[0]; y[1] += x[1]; }",
        "sum": "void sum(double s[1], double x[2]) { s[0] += x[0] + x[1]; }",
        "one": "void one(double *x) { *x = 1; }",
    }
    kernels = {name: op2.Kernel(text, name) for name, text in texts.items()}
    note(scale, *kernels.values(), *(one.core for one in kernels.values()))
    op2.par_loop(kernels["add"], cells, y(op2.INC, ends), x(op2.READ, ends))
    op2.par_loop(kernels["sum"], small, total(op2.INC), x(op2.READ, ends))
    if importlib.util.find_spec("pyop2cxx.pyop2"):
        old = op2.Kernel("void old(double **x) { x[0][0] += x[1][0]; }", "old", abi="2016")
        note(old, old.core)
        op2.par_loop(old, cells, y(op2.RW, ends), strategy="colour")
    op2.par_loop(kernels["one"], cells, op2.Dat(cells)(op2.WRITE), check=True)
    op2.par_loop(kernels["one"], columns, op2.Dat(cells)(op2.WRITE))
    mat = op2.Mat(op2.Sparsity((nodes ** 1, nodes ** 1), [(ends, ends)]))
    fill = op2.Kernel("void fill(double *A) { for (int i = 0; i < 4; ++i) A[i] += 1; }", "fill")
    op2.par_loop(fill, cells, mat(op2.INC, (ends, ends)))
    mat.zero_rows([1])
    z = x + 2 * y
    z.sum(), z.max(), mat @ x
    note(mat, mat.sparsity, fill, fill.core, z, runtime.engine)
    others(cells, nodes, ends, x, y, kernels["add"])
    note(*(opened.device for opened in runtime.engine.devices))
    note(*(opened.mirror for opened in runtime.engine.devices))
    assert bool(runtime.engine.devices) == (backend == "opencl")
    return x, y, z.norm

kept = program()
op2.exit()
values = [dat.data_ro.sum() for dat in kept[:2]]  # still there
del kept
op2.exit()
for _ in range(3):  # a finalizer may hold on to its cycle once
    gc.collect()
print(*sorted(name for name, one in seen if one() is not None))
ours = (op2.Set, op2.Map, op2.Dat, op2.Global, op2.Mat, op2.Kernel, op2.Const, op2.ParLoop)
print(*sorted(type(one).__name__ for one in gc.get_objects() if isinstance(one, ours)))
"""


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_exit_forgets_all_objects_of_a_program(backend: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, backend, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["", ""]


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_what_is_held_works_on(backend: str) -> None:
    op2.init(backend=backend)
    x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    double = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    loop = op2.ParLoop(double, x.dataset.set, x(op2.RW))
    loop.compute()
    op2.exit()
    op2.init(backend=backend)
    loop.compute()  # on a device that was opened again
    op2.par_loop(double, x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [8.0, 16.0, 24.0]
    op2.exit()
