# SPDX-License-Identifier: BSD-3-Clause
"""Increments of Dats that blocks of elements sum in shared memory first, as on GPUs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from test_entries import C_TYPES, GRIDS

from pyop2cxx import op2
from pyop2cxx.mesh import cube_mesh
from pyop2cxx.op2 import INC, READ, WRITE
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

ALWAYS = {"least_summed_scalars": 0, "most_distinct": 1, "most_scatter": 0}
REASON = "increments by atomics, those of a block summed first"

on_devices = [
    pytest.mark.skipif(not GRIDS, reason="no backend of devices is available"),
    pytest.mark.parametrize("backend", GRIDS),
]


def devices(test: Any) -> Any:
    for mark in on_devices:
        test = mark(test)
    return test


@pytest.fixture
def texts_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor runs them, too."""
    monkeypatch.setattr(flow, "suited_to", lambda request, device: request)


def rows(n: int, arity: int, n_targets: int) -> np.ndarray:
    rng = np.random.default_rng(n + arity)
    return rng.integers(0, n_targets, (n, arity), dtype=np.int32)


def summed(
    n: int, dim: int = 1, dtype: str = "float64", layout: str = "aos", **more: Any
) -> tuple[op2.ParLoop, op2.Dat, np.ndarray]:
    """Elements of three nodes, which add to each component: loop, Dat, and what it must be."""
    values = rows(n, 3, 40)
    cells, nodes = op2.Set(n), op2.Set(40)
    to_nodes = op2.Map(cells, nodes, 3, values)
    x = np.random.default_rng(1).integers(-8, 8, n).astype(dtype)
    c = C_TYPES[dtype]
    kernel = op2.Kernel(
        f"void add({c} *y, const {c} *x) {{"
        f" for (int i = 0; i < {3 * dim}; ++i) y[i] += x[0] * (i + 1); }}",
        "add",
    )
    y = op2.Dat(nodes**dim, dtype=dtype, layout=layout)
    tuning = ALWAYS | more.pop("tuning", {})
    loop = op2.ParLoop(
        kernel, cells, y(INC, to_nodes), op2.Dat(cells, x)(READ), tuning=tuning, **more
    )
    wanted = np.zeros((40, dim), dtype)
    for e in range(n):
        for i in range(3):
            wanted[values[e, i]] += x[e] * (1 + dim * i + np.arange(dim))
    return loop, y, wanted


def check(backend: str, *args: Any, **more: Any) -> None:
    """Add twice and compare: sums of small whole numbers are exact."""
    with op2.backend(backend):
        loop, y, wanted = summed(*args, **more)
        made = loop.generate()
        assert made.strategy == "atomic"
        assert "_own[" in made
        for n_times in (1, 2):
            loop.compute()
            np.testing.assert_array_equal(y.data_ro.reshape(wanted.shape), n_times * wanted)


@devices
@pytest.mark.usefixtures("texts_of_gpus")
class TestSums:
    @pytest.mark.parametrize("n", [3, 127, 128, 129, 1000])
    def test_any_number_of_elements(self, backend: str, n: int) -> None:
        check(backend, n)

    @pytest.mark.parametrize("dim", [2, 3, 7])
    def test_components(self, backend: str, dim: int) -> None:
        check(backend, 300, dim)

    def test_structures_of_arrays(self, backend: str) -> None:
        check(backend, 300, 3, layout="soa")

    @pytest.mark.parametrize("dtype", [*C_TYPES][1:])
    def test_dtypes(self, backend: str, dtype: str) -> None:
        check(backend, 300, 2, dtype)

    def test_shorter_blocks(self, backend: str) -> None:
        check(backend, 300, tuning={"summed_elements": 16})
        check(backend, 300, 3, tuning={"listed_bytes": 3000})

    def test_by_two_maps_beside_what_is_written(self, backend: str) -> None:
        n = 500
        to_nodes, to_others = rows(n, 3, 40), rows(n, 2, 30)
        kernel = op2.Kernel(
            "void both(double *y, float *z, double *u, double *w, const double *v) {"
            " for (int i = 0; i < 3; ++i) { y[2 * i] += i; y[2 * i + 1] += 1; z[i] += 2 + v[i]; }"
            " for (int i = 0; i < 2; ++i) u[i] += 5; w[0] = v[0] + v[1] + v[2]; }",
            "both",
        )

        def run(**given: Any) -> list[np.ndarray]:
            cells, nodes, others = op2.Set(n), op2.Set(40), op2.Set(30)
            a, b = op2.Map(cells, nodes, 3, to_nodes), op2.Map(cells, others, 2, to_others)
            y, z, u = op2.Dat(nodes**2), op2.Dat(nodes, dtype=np.float32), op2.Dat(others)
            w, v = op2.Dat(cells), op2.Dat(nodes, np.arange(40.0))
            args = y(INC, a), z(INC, a), u(INC, b), w(WRITE), v(READ, a)
            loop = op2.ParLoop(kernel, cells, *args, **given)
            if given:
                assert len(re.findall(r"_own\[\d+\];", loop.generate())) == 2  # one for each Map
            loop.compute()
            return [dat.data_ro.copy() for dat in (y, z, u, w)]

        with op2.backend(backend):
            found = run(tuning=ALWAYS, strategy="atomic")
        with op2.backend("sequential"):
            wanted = run()
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_one_dat_by_two_maps(self, backend: str) -> None:
        code = "void two(double *a, double *b) { a[0] += 1; b[1] += 2; }"
        n, kernel = 300, op2.Kernel(code, "two")
        found = {}
        for name in (backend, "sequential"):
            with op2.backend(name):
                cells, nodes = op2.Set(n), op2.Set(40)
                y = op2.Dat(nodes)
                maps = [op2.Map(cells, nodes, k, rows(n, k, 40)) for k in (1, 2)]
                loop = op2.ParLoop(kernel, cells, y(INC, maps[0]), y(INC, maps[1]), tuning=ALWAYS)
                loop.compute()
                found[name] = y.data_ro.copy()
        np.testing.assert_array_equal(found[backend], found["sequential"])

    def test_a_matrix_with_its_right_hand_side(self, backend: str) -> None:
        n, values = 300, rows(300, 3, 40)
        kernel = op2.Kernel(
            "void both(double *A, double *b, const double *x) {"
            " for (int i = 0; i < 3; ++i) { b[i] += x[0] * i;"
            "   for (int j = 0; j < 3; ++j) A[3 * i + j] += x[0] + i + 3 * j; } }",
            "both",
        )
        found = {}
        for name in (backend, "sequential"):
            with op2.backend(name):
                cells, nodes = op2.Set(n), op2.Set(40)
                to_nodes = op2.Map(cells, nodes, 3, values)
                mat = op2.Mat(op2.Sparsity((nodes, nodes), [(to_nodes, to_nodes, None)]))
                b, x = op2.Dat(nodes), op2.Dat(cells, np.arange(300.0) % 7)
                loop = op2.ParLoop(
                    kernel, cells, mat(INC, (to_nodes, to_nodes)), b(INC, to_nodes), x(READ)
                )
                if name == backend:
                    assert loop.generate().strategy == "block"
                loop.compute()
                found[name] = mat.values, b.data_ro.copy()
        for one, other in zip(found[backend], found["sequential"], strict=True):
            np.testing.assert_array_equal(one, other)

    def test_a_map_that_changed_is_listed_anew(self, backend: str) -> None:
        with op2.backend(backend):
            cells, nodes = op2.Set(3), op2.Set(4)
            to_nodes = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3]])
            y = op2.Dat(nodes)
            ones = op2.Kernel("void ones(double *y) { y[0] += 1; y[1] += 1; }", "ones")
            loop = op2.ParLoop(ones, cells, y(INC, to_nodes), strategy="atomic", tuning=ALWAYS)
            loop.compute()
            assert [*y.data_ro] == [1, 2, 2, 1]
            to_nodes.update_values(np.array([[0, 1], [0, 1], [2, 3]], np.int32))
            loop.compute()
            assert [*y.data_ro] == [3, 4, 3, 2]

    def test_in_a_chain(self, backend: str) -> None:
        with op2.backend(backend):
            loop, y, wanted = summed(300)
            with op2.chain():
                for _ in range(3):
                    loop.compute()
            np.testing.assert_array_equal(y.data_ro.reshape(wanted.shape), 3 * wanted)


def is_summed_first(cells: np.ndarray, n_vertices: int, n_gathered: int = 3, **tuning: Any) -> bool:
    """Whether a loop over these cells is generated so for a GPU."""
    with op2.backend("cuda"):
        visited, vertices = op2.Set(len(cells)), op2.Set(n_vertices)
        to_vertices = op2.Map(visited, vertices, cells.shape[1], cells)
        kernel = op2.Kernel(
            "void add(double *y, const double *x) {"
            f" for (int i = 0; i < {cells.shape[1]}; ++i) y[i] += x[i]; }}",
            "add",
        )
        y, x = op2.Dat(vertices), op2.Dat(vertices**n_gathered)
        tuning = {"least_summed_scalars": 0} | tuning
        loop = op2.ParLoop(
            kernel, visited, y(INC, to_vertices), x(READ, to_vertices), tuning=tuning
        )
        made = loop.generate()
    assert made.strategy == "atomic"
    assert ("_own[" in made) == (made.why == REASON)
    return "_own[" in made


def meshes() -> tuple[np.ndarray, np.ndarray, int]:
    """Cells of a cube as they are numbered row by row, and with vertices in no order."""
    mesh = cube_mesh(12)
    cells = mesh.cell_vertices.values.copy()
    n = mesh.vertices.size
    rng = np.random.default_rng(0)
    number = rng.permutation(n).astype(np.int32)
    return cells, number[cells], n


@pytest.mark.parametrize("strategy", ["atomic", "block"])
def test_explain_says_so_where_the_strategy_was_asked_for(strategy: str) -> None:
    """A matrix is assembled by `block`, which sums whatever is to be summed; Dats are not."""
    cells, nodes = op2.Set(300), op2.Set(40)
    to_nodes = op2.Map(cells, nodes, 3, rows(300, 3, 40))
    kernel = op2.Kernel("void add(double *b) { b[0] += 1; }", "add")
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(to_nodes, to_nodes, None)]))
    for arg in (op2.Dat(nodes)(INC, to_nodes), mat(INC, (to_nodes, to_nodes))):
        with op2.backend("cuda"):
            loop = op2.ParLoop(kernel, cells, arg, strategy=strategy, tuning=ALWAYS)
            made = loop.generate()
        is_so = "; what a block adds is summed in shared memory first" in made.why
        assert made.why.startswith("asked for")
        assert is_so == ("_own[" in made)


def test_the_mesh_decides() -> None:
    regular, scattered, n = meshes()
    assert not is_summed_first(regular, n)
    assert is_summed_first(scattered, n)


def test_what_is_gathered_decides() -> None:
    regular, _, n = meshes()
    assert is_summed_first(regular, n, 1)
    assert not is_summed_first(regular, n, 2)


def test_the_size_decides() -> None:
    _, scattered, n = meshes()
    n_added = scattered.size
    assert is_summed_first(scattered, n, least_summed_scalars=n_added)
    assert not is_summed_first(scattered, n, least_summed_scalars=n_added + 1)


def test_neighbours_must_share_targets() -> None:
    _, scattered, n = meshes()
    far_apart = np.random.default_rng(0).integers(0, 50 * n, scattered.shape, dtype=np.int32)
    assert not is_summed_first(far_apart, 50 * n)
    assert is_summed_first(far_apart, 50 * n, most_distinct=1)


@pytest.mark.parametrize("gathers", [False, True])
def test_rows_of_a_map_are_loaded_for_what_is_gathered_only(gathers: bool) -> None:
    """Lists say where increments go."""
    with op2.backend("cuda"):
        cells, nodes = op2.Set(300), op2.Set(40)
        to_nodes = op2.Map(cells, nodes, 4, rows(300, 4, 40))
        kernel = op2.Kernel("void add(double *y, const double *x) { y[0] += x[0]; }", "add")
        x = op2.Dat(nodes)(READ, to_nodes) if gathers else op2.Dat(cells)(READ)
        loop = op2.ParLoop(kernel, cells, op2.Dat(nodes)(INC, to_nodes), x, tuning=ALWAYS)
        made = loop.generate()
    assert "_own[" in made
    assert ("op2_fetch<4>(" in made) == gathers


def test_tuning_decides_first() -> None:
    regular, scattered, n = meshes()
    assert is_summed_first(regular, n, most_scatter=0)
    assert is_summed_first(regular, n, interleaved_gathers=4)
    assert not is_summed_first(scattered, n, most_scatter=1000)
    assert not is_summed_first(scattered, n, listed_bytes=0)


def test_elements_with_many_targets_are_added_one_by_one() -> None:
    """They have more of them than a list of a block could."""
    n, arity = 4, 66_000
    with op2.backend("cuda"):
        visited, vertices = op2.Set(n), op2.Set(1)
        to_vertices = op2.Map(visited, vertices, arity, np.zeros((n, arity), np.int32))
        kernel = op2.Kernel(
            f"void add(float *y) {{ for (int i = 0; i < {arity}; ++i) y[i] += i % 2; }}", "add"
        )
        y = op2.Dat(vertices, dtype=np.float32)
        made = op2.ParLoop(kernel, visited, y(INC, to_vertices), strategy="atomic").generate()
    assert "_own[" not in made


@pytest.mark.parametrize("tuning", [{"listed_bytes": 29}, {"summed_entries": 2}])
def test_one_element_may_be_too_large(tuning: dict[str, int]) -> None:
    """Its three values take 30 bytes of shared memory, with where they go."""
    rows_of_three = rows(300, 3, 40)
    least = {"least_listed_elements": 1}
    assert is_summed_first(rows_of_three, 40, most_distinct=1, most_scatter=0, **least)
    assert not is_summed_first(
        rows_of_three, 40, most_distinct=1, most_scatter=0, **least, **tuning
    )


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_not_on_hosts(backend: str) -> None:
    with op2.backend(backend):
        loop, _, _ = summed(300)
        assert "_own[" not in loop.generate()


@devices
@pytest.mark.usefixtures("texts_of_gpus")
@pytest.mark.parametrize("strategy", ["atomic", "owner"])
def test_a_table_of_a_small_mesh_serves_a_large_one(
    backend: str, strategy: str, tmp_path: Path
) -> None:
    """And the other way round: what is summed first on one is not on the other."""
    tuning = {"least_summed_scalars": 1000}

    def run(n: int) -> None:
        with op2.backend(backend):
            loop, y, wanted = summed(n, strategy=strategy, tuning=tuning)
            loop.compute()
            np.testing.assert_array_equal(y.data_ro.reshape(wanted.shape), wanted)

    device = runtime.engine.chosen_device(runtime.engine.backend(backend))
    assert device is not None
    arch = f"native,{device.info.capability if backend == 'cuda' else ''}"
    for recorded, other in ((100, 1000), (1000, 100)):
        folder = tmp_path / f"of_{recorded}"
        with op2.dispatch.record(folder, backends=[backend], arch=arch):
            run(recorded)
        op2.exit()
        op2.init(eti_only=True, backend=backend)
        op2.dispatch.load(folder)
        run(recorded)
        run(other)
        op2.exit()


def test_only_loops_that_sum_first_have_other_keys_on_larger_meshes() -> None:
    keys = set()
    for n in (100, 1000):
        with op2.backend("cuda"):
            tuning = {"least_summed_scalars": 1000, "most_padding": 0}
            loops = [summed(n, strategy=one, tuning=tuning)[0] for one in ("colour", "atomic")]
            colour, atomic = (loop.generate({"any_device": True}) for loop in loops)
        keys.add(("colour", colour.key))
        keys.add(("atomic", atomic.key))
    assert [name for name, _ in sorted(keys)] == ["atomic", "atomic", "colour"]


def test_equal_texts_have_equal_keys_however_the_mesh_is_numbered() -> None:
    """So a table of one mesh has what the other one runs, too."""
    regular, scattered, n = meshes()
    made = []
    for cells in (regular, scattered):
        with op2.backend("cuda"):
            visited, vertices = op2.Set(len(cells)), op2.Set(n)
            to_vertices = op2.Map(visited, vertices, 4, cells)
            kernel = op2.Kernel(
                "void add(double *y, const double *x) {"
                " for (int i = 0; i < 4; ++i) y[i] += x[0]; }",
                "add",
            )
            y, x = op2.Dat(vertices), op2.Dat(visited)
            tuning = {"least_summed_scalars": 0, "most_padding": 0}
            loop = op2.ParLoop(kernel, visited, y(INC, to_vertices), x(READ), tuning=tuning)
            made.append(loop.generate())
    assert "_own[" in made[0]
    assert made[0] == made[1]
    assert made[0].key == made[1].key
