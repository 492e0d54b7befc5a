# SPDX-License-Identifier: BSD-3-Clause
"""Runs between guards: the same values as usual, nothing changed, and writes outside are seen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.chain.compare import read_all
from pyop2cxx.exceptions import ExecutionError, UnsupportedError
from pyop2cxx.loop.execute import prepared
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.tune.guards import run_guarded
from pyop2cxx.tune.measure import why_not

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case

BACKENDS = [
    one.name for one in op2.backends() if one.available and one.name in ("openmp", "opencl", "cuda")
]
N_TURNS = 6  # on devices each compilation takes long


def bound(loop: op2.ParLoop, backend: str) -> tuple[Any, Any]:
    """The loop bound to its data, and the device of the run."""
    request = loop.request(loop.symbolic(), {"backend": backend})
    device = runtime.engine.chosen_device(request.backend)
    request = flow.here(request)
    made = prepared(loop, loop.symbolic(), request, flow.executable(request), device)
    return made, None if device is None else device.device


@pytest.mark.optimised
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_corpus(case: Case, backend: str) -> None:
    if backend == "opencl" and CASES.index(case) % N_TURNS:
        pytest.skip("other cases run there")
    problem = case.problem()
    loop = op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **problem.options)
    try:
        with op2.backend(backend):
            runs_alike(loop, backend)
    finally:
        for constant in problem.constants:
            constant.remove_from_namespace()


def runs_alike(loop: op2.ParLoop, backend: str) -> None:
    """Check that a run between guards has the values of a run, and changes nothing."""
    try:
        loop.compute()  # all arguments are ready
        if why_not(loop):
            pytest.skip(why_not(loop))
        run, device = bound(loop, backend)
    except UnsupportedError as error:
        pytest.skip(str(error))
    owners = {part.owner.uid: part.owner for part in loop.parts}
    before = {uid: read_all(one).copy() for uid, one in owners.items()}
    found = run_guarded(run, loop.parts, device)
    for uid, one in owners.items():
        assert read_all(one).tobytes() == before[uid].tobytes(), one.label
    run.run()
    for uid, one in owners.items():
        wanted = read_all(one)
        if wanted.dtype.kind in "fc":
            np.testing.assert_allclose(found[uid], wanted, 1e-5, 1e-5, err_msg=one.label)


def grown(n: int, layout: str) -> op2.ParLoop:
    """A loop over `n` elements with rows of three values."""
    cells = op2.Set(n, "cells")
    x = op2.Dat(cells**3, 1.0, name="x", layout=layout)
    kernel = op2.Kernel("void grow(double *x) { x[0] += 1; x[2] += 2; }", "grow")
    return op2.ParLoop(kernel, cells, x(op2.RW))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", ["aos", "soa"])
def test_writes_behind_the_values_are_seen(backend: str, layout: str) -> None:
    """Code for 302 elements gets Dats of 300."""
    with op2.backend(backend):
        wide, narrow = grown(302, layout), grown(300, layout)
        for loop in (wide, narrow):
            loop.compute()
        run, device = bound(wide, backend)
        with pytest.raises(ExecutionError, match=r"it writes \d+ bytes outside of Dat 'x'"):
            run_guarded(run, narrow.parts, device)
        run, device = bound(narrow, backend)
        found = run_guarded(run, narrow.parts, device)[narrow.parts[0].owner.uid]
        assert np.unique(found, axis=0).tolist() == [[3.0, 1.0, 5.0]]
        x = narrow.parts[0].owner
        assert np.unique(x.data_ro, axis=0).tolist() == [[2.0, 1.0, 3.0]]


def summed(dim: int) -> op2.ParLoop:
    """A loop that adds to a Global of `dim` values."""
    cells = op2.Set(300, "cells")
    x, total = op2.Dat(cells, 1.0, name="x"), op2.Global(dim, [1.0] * dim, name="total")
    kernel = op2.Kernel(
        f"void add(double *t, const double *x) {{ for (int i = 0; i < {dim}; ++i) t[i] += x[0]; }}",
        "add",
    )
    return op2.ParLoop(kernel, cells, total(op2.INC), x(op2.READ))


def assembled(n: int) -> op2.ParLoop:
    """A loop over `n` edges that adds to a matrix of their ends."""
    edges, nodes = op2.Set(n, "edges"), op2.Set(n + 1, "nodes")
    i = np.arange(n)
    ends = op2.Map(edges, nodes, 2, np.stack([i, i + 1], 1), "ends")
    mat = op2.Mat(op2.Sparsity((nodes, nodes), (ends, ends)), name="mat")
    kernel = op2.Kernel(
        "void add(double *a) { a[0] += 1; a[1] += 2; a[2] += 2; a[3] += 1; }", "add"
    )
    return op2.ParLoop(kernel, edges, mat(op2.INC, (ends, ends)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("wide", "narrow", "what"),
    [
        (lambda: summed(3), lambda: summed(2), "Global 'total'"),
        (lambda: assembled(40), lambda: assembled(38), "Mat 'mat'"),
    ],
    ids=["Global", "Mat"],
)
def test_writes_behind_a_global_and_a_matrix_are_seen(
    backend: str, wide: Any, narrow: Any, what: str
) -> None:
    with op2.backend(backend):
        large, small = wide(), narrow()
        for loop in (large, small):
            loop.compute()
        run, device = bound(large, backend)
        with pytest.raises(ExecutionError, match=rf"it writes \d+ bytes outside of {what}"):
            run_guarded(run, small.parts, device)
        run, device = bound(small, backend)
        run_guarded(run, small.parts, device)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", [-1, 5])
def test_writes_before_the_values_are_seen(backend: str, place: int) -> None:
    """An entry of a Map changes behind the Map's back."""
    with op2.backend(backend):
        edges, nodes = op2.Set(4, "edges"), op2.Set(5, "nodes")
        rows = np.array([[0, 1], [1, 2], [2, 3], [3, 4]], np.int32)
        ends = op2.Map(edges, nodes, 2, rows, "ends")
        x = op2.Dat(nodes, name="x")
        count = op2.Kernel("void count(double *x) { x[0] += 1; x[1] += 1; }", "count")
        numbers = {"interleaved": False, "transposed": False}
        loop = op2.ParLoop(count, edges, x(op2.INC, ends), strategy="atomic", tuning=numbers)
        run, device = bound(loop, backend)
        x.zero()
        rows[0, 0] = place
        with pytest.raises(ExecutionError, match=r"it writes [1-8] bytes outside of Dat 'x'"):
            run_guarded(run, loop.parts, device)
        assert not x.data_ro.any()
