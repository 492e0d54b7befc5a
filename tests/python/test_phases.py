# SPDX-License-Identifier: BSD-3-Clause
"""Loops in two parts: what is core, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.loop.python_loop import PythonLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.base.arrays import Array

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
STRATEGIES = [None, *_core.STRATEGIES]
N, N_CORE = 300, 217

FLOW = op2.Kernel(
    "void flow(double *r, const double *q, const double *w, double *sum) {"
    " const double f = w[0] * (q[0] - q[1]);"
    " r[0] += f; r[1] -= f; sum[0] += w[0]; }",
    "flow",
)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    op2.exit()


class Strip:
    """Edges between cells in a row. The last cells are ghosts, which no core edge reaches."""

    def __init__(self, n_core: int = N_CORE) -> None:
        n_owned = n_core + 1
        self.edges = op2.Set((n_core, N, N), "edges")
        self.cells = op2.Set((n_owned, n_owned, N + 1), "cells")
        ends = np.stack([np.arange(N), np.arange(N) + 1], axis=1)
        self.ends = op2.Map(self.edges, self.cells, 2, ends, "ends")
        self.q_values = np.arange(N + 1.0) ** 2
        self.w_values = 1.0 + np.arange(N) % 3
        self.q = op2.Dat(self.cells, self.q_values.copy(), name="q")
        self.w = op2.Dat(self.edges, self.w_values.copy(), name="w")
        self.r = op2.Dat(self.cells, name="r")
        self.sum = op2.Global(1, 0.0, name="sum")

    def loop(self, **how: Any) -> op2.ParLoop:
        args = (self.r(op2.INC, self.ends), self.q(op2.READ, self.ends), self.w(op2.READ))
        return op2.ParLoop(FLOW, self.edges, *args, self.sum(op2.INC), **how)

    def hide_boundary(self) -> None:
        self.q.data_with_halos[self.edges.core_size + 1 :] = np.nan
        self.w.data[self.edges.core_size :] = np.nan

    def show_boundary(self) -> None:
        self.q.data_with_halos[:] = self.q_values
        self.w.data[:] = self.w_values

    def check(self) -> None:
        flow = self.w_values * (self.q_values[:-1] - self.q_values[1:])
        expected = np.append(flow, 0.0) - np.append(0.0, flow)
        np.testing.assert_array_equal(self.r.data_ro_with_halos, expected)
        assert self.sum.data_ro[0] == self.w_values.sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s or "default")
@pytest.mark.parametrize("lanes", [None, 4])
def test_the_first_part_reads_nothing_of_the_boundary(
    backend: str, strategy: str | None, lanes: int | None
) -> None:
    with op2.backend(backend):
        for n_core in (N_CORE, 0, 1, N - 1, N):
            strip = Strip(n_core)
            loop = strip.loop(strategy=strategy, lanes=lanes)
            strip.hide_boundary()
            try:
                loop.compute(part=strip.edges.core_part)
            except UnsupportedError:
                return
            assert np.isfinite(strip.r.data_ro_with_halos).all()
            assert np.isfinite(strip.sum.data_ro).all()
            strip.show_boundary()
            loop.compute(part=strip.edges.owned_part)
            strip.check()


@pytest.mark.parametrize("strategy", ["owner", "block", "colour", "atomic"])
def test_the_first_part_does_nearly_all_that_is_core(strategy: str) -> None:
    strip = Strip()
    loop = strip.loop(strategy=strategy)
    loop.compute(part=strip.edges.core_part)
    assert np.count_nonzero(strip.r.data_ro_with_halos) >= N_CORE - 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_overwritten_in_parts_is_kept_where_values_travel(backend: str) -> None:
    """Between the parts the host changes what the device has just written."""
    edges = op2.Set((N_CORE, N, N))
    x = op2.Dat(edges, np.arange(float(N)))
    y = op2.Dat(edges)
    copy = op2.Kernel("void copy(const double *x, double *y) { *y = *x; }", "copy")
    with op2.backend(backend):
        loop = op2.ParLoop(copy, edges, x(op2.READ), y(op2.WRITE))
        loop.compute(part=edges.core_part)
        y.data[0] = -1.0
        loop.compute(part=edges.owned_part)
    np.testing.assert_array_equal(y.data_ro, [-1.0, *range(1, N)])


def test_a_version_is_counted_with_the_second_part() -> None:
    strip = Strip()
    loop, before = strip.loop(), strip.r.dat_version
    loop.compute(part=strip.edges.core_part)
    assert strip.r.dat_version == before
    loop.compute(part=strip.edges.owned_part)
    assert strip.r.dat_version == before + 1


def test_columns_are_in_parts_with_all_their_cells() -> None:
    for layers in (4, np.array([[0, 2 + n % 3] for n in range(20)])):
        for region in (op2.ALL, op2.ON_TOP):
            base = op2.Set((13, 20, 20), "base")
            columns = op2.ExtrudedSet(base, layers)
            visits = op2.Dat(base, dtype=np.int32)
            count = op2.Kernel("void count(int *visits) { *visits += 1; }", "count")
            ground = op2.Map(columns, base, 1, np.arange(20), offset=[0])
            loop = op2.ParLoop(count, columns, visits(op2.INC, ground), iteration_region=region)
            loop.compute(part=columns.core_part)
            first = visits.data_ro.copy()
            loop.compute(part=columns.owned_part)
            whole = visits.data_ro.copy()
            cells = np.full(20, 3) if columns.constant_layers else 1 + np.arange(20) % 3
            np.testing.assert_array_equal(whole, 1 if region == op2.ON_TOP else cells)
            np.testing.assert_array_equal(first[:13], whole[:13])
            np.testing.assert_array_equal(first[13:], 0)


def test_parts_of_a_subset() -> None:
    cells = op2.Set((6, 10, 12))
    odd = op2.Subset(cells, [1, 3, 5, 7, 9, 11])
    x = op2.Dat(cells)
    one = op2.Kernel("void one(double *x) { *x = 1; }", "one")
    loop = op2.ParLoop(one, odd, x(op2.RW))
    loop.compute(part=odd.core_part)
    assert np.flatnonzero(x.data_ro_with_halos).tolist() == [1, 3, 5]
    loop.compute(part=odd.owned_part)
    assert np.flatnonzero(x.data_ro_with_halos).tolist() == [1, 3, 5, 7, 9]


def test_other_parts_are_refused() -> None:
    strip = Strip()
    loop = strip.loop()
    for part in (strip.cells.core_part, strip.edges, 3):
        with pytest.raises(UsageError, match=r"core_part or owned_part of the Set .* 'edges', got"):
            loop.compute(part=part)  # type: ignore[arg-type]


def test_without_a_boundary_the_core_is_all() -> None:
    strip = Strip(N)
    loop = strip.loop()
    loop.compute(part=strip.edges.core_part)
    strip.check()
    loop.compute(part=strip.edges.owned_part)
    strip.check()
    assert "work items are core" not in str(loop.explain())


@pytest.mark.usefixtures("host")
def test_explain_counts_the_work_items_of_the_core() -> None:
    strip = Strip()
    loop = strip.loop(strategy="owner")
    assert (loop.explain().n_core_items, loop.explain().n_items) == (0, 0)
    loop.compute()
    found = loop.explain()
    assert (found.n_core_items, found.n_items) == (N_CORE, N + 1)
    assert f"{N_CORE} of {N + 1} work items are core" in str(found)


def test_a_chain_runs_what_it_has_recorded_before_a_part() -> None:
    strip = Strip()
    loop = strip.loop()
    loop.compute()
    strip.r.zero()
    double = op2.Kernel("void twice(double *w) { *w *= 2; }", "twice")
    with op2.chain():
        op2.par_loop(double, strip.edges, strip.w(op2.RW))
        loop.compute(part=strip.edges.core_part)
        loop.compute(part=strip.edges.owned_part)
    flow = 2 * strip.w_values * (strip.q_values[:-1] - strip.q_values[1:])
    np.testing.assert_array_equal(
        strip.r.data_ro_with_halos, np.append(flow, 0.0) - np.append(0.0, flow)
    )


def test_check_mode_runs_the_whole_with_the_second_part() -> None:
    strip = Strip()
    loop = strip.loop(check=True)
    loop.compute(part=strip.edges.core_part)
    assert not strip.r.data_ro_with_halos.any()
    loop.compute(part=strip.edges.owned_part)
    strip.check()


def test_python_functions_have_parts() -> None:
    cells = op2.Set((2, 4, 4))
    x = op2.Dat(cells)

    def one(x: Array) -> None:
        x += 1

    loop = PythonLoop(one, cells, x(op2.RW))
    loop.compute(part=cells.core_part)
    assert x.data_ro.tolist() == [1, 1, 0, 0]
    loop.compute(part=cells.owned_part)
    assert x.data_ro.tolist() == [1, 1, 1, 1]


class Delayed(op2.Halo):
    """Brings values when it is asked to end, and remembers what was there before."""

    comm = None
    local_to_global_numbering = ()

    def __init__(self) -> None:
        self.between: list[Array] = []
        self.watched: Any = None
        self.values: Any = None

    def global_to_local_begin(self, dat: Any, insert_mode: op2.Access) -> None:
        pass

    def global_to_local_end(self, dat: Any, insert_mode: op2.Access) -> None:
        self.between.append(self.watched.data_ro_with_halos.copy())
        dat.data_with_halos[:] = self.values

    def local_to_global_begin(self, dat: Any, insert_mode: op2.Access) -> None:
        pass

    def local_to_global_end(self, dat: Any, insert_mode: op2.Access) -> None:
        pass


def test_the_core_is_computed_while_values_travel() -> None:
    halo = Delayed()
    strip = Strip()
    cells = op2.Set(strip.cells.sizes, "cells", halo=halo)
    ends = op2.Map(strip.edges, cells, 2, strip.ends.values_with_halo)
    q, r = op2.Dat(cells, strip.q_values.copy()), op2.Dat(strip.edges)
    halo.watched, halo.values = r, strip.q_values
    q._data[cells.size :] = np.nan
    step = op2.Kernel("void step(double *r, const double *q) { *r = q[0] - q[1]; }", "step")
    for backend in ("sequential", "openmp"):
        with op2.backend(backend):
            r.zero()
            q.halo_valid = False
            op2.par_loop(step, strip.edges, r(op2.WRITE), q(op2.READ, ends))
        first = halo.between.pop()
        expected = strip.q_values[:-1] - strip.q_values[1:]
        np.testing.assert_array_equal(first[:N_CORE], expected[:N_CORE])
        np.testing.assert_array_equal(first[N_CORE:], 0.0)
        np.testing.assert_array_equal(r.data_ro, expected)
        assert not halo.between


def test_an_exchange_that_was_begun_is_ended_if_the_core_fails() -> None:
    halo = Delayed()
    strip = Strip()
    cells = op2.Set(strip.cells.sizes, "cells", halo=halo)
    ends = op2.Map(strip.edges, cells, 2, strip.ends.values_with_halo)
    q, r = op2.Dat(cells, strip.q_values.copy()), op2.Dat(strip.edges)
    halo.watched, halo.values = r, strip.q_values
    q.halo_valid = False

    def fails(r: Array, q: Array) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        PythonLoop(fails, strip.edges, r(op2.WRITE), q(op2.READ, ends)).compute()
    assert len(halo.between) == 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", ["owner", "colour"])
def test_graphs_replay_both_parts(backend: str, strategy: str) -> None:
    op2.init(deterministic=True, threads=2)
    found = []
    for is_recorded in (False, True):
        strip = Strip()
        strip.w_values = np.random.default_rng(1).random(N)
        strip.show_boundary()
        with op2.backend(backend):
            loop = strip.loop(strategy=strategy)
            if is_recorded:
                graph = op2.record(loop.compute, name="parts")
                graph.submit(2)
                graph.wait()
            else:
                loop.compute()
                loop.compute()
        found.append([strip.sum.data_ro.tobytes(), strip.r.data_ro_with_halos.tobytes()])
    assert found[0] == found[1]


def test_graphs_take_no_parts() -> None:
    strip = Strip()
    loop = strip.loop()
    with pytest.raises(UsageError, match="a part of a loop"):
        op2.record(lambda: loop.compute(part=strip.edges.core_part), name="parts")


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("n_core", [N_CORE, 0, N])
def test_a_profile_counts_both_parts_as_one_call(
    device: _core.Device, every: int, n_core: int
) -> None:
    cells = op2.Set((n_core, N, N), "cells")
    kernel = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")
    loop = op2.ParLoop(kernel, cells, op2.Dat(cells)(op2.RW))
    loop.compute()
    with op2.profile(every=every) as p:
        for _ in range(6):
            loop.compute(part=cells.core_part)
            loop.compute(part=cells.owned_part)
    (row,) = p.loops
    assert (row.calls, row.measured) == (6, 6 // every)
    assert row.bytes == 6 * loop.useful_bytes
    assert row.seconds > 0
