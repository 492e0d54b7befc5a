# SPDX-License-Identifier: BSD-3-Clause
"""Ragged Maps: their values, loops by them against SciPy, and what is refused by name."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyop2cxx import io, op2
from pyop2cxx.exceptions import (
    CheckError,
    DataValueError,
    MapTypeError,
    MapValueError,
    ModeValueError,
    Op2Error,
    SetTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.op2 import INC, MIN, READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BACKENDS = [backend.name for backend in op2.backends() if backend.available]

GATHER = """
void gather(double *g, const double *q, const int *n) {
  *g = 0;
  for (int i = 0; i < *n; i++) *g += q[i];
}
"""
SPREAD = """
void spread(double *s, const double *x, const int *n) {
  for (int i = 0; i < *n; i++) s[i] += *x;
}
"""


MARKS = "void k(double *s, const int *n) { "


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def world(rows: list[list[int]], n_targets: int) -> tuple[op2.Set, op2.Set, op2.RaggedMap]:
    cells, faces = op2.Set(len(rows), "cells"), op2.Set(n_targets, "faces")
    return cells, faces, op2.RaggedMap(cells, faces, rows, name="faces_of")


def small() -> tuple[op2.Set, op2.Set, op2.RaggedMap]:
    return world([[0, 1, 2], [3, 4]], 5)


def matrix(paths: op2.RaggedMap) -> Any:
    shape = paths.iterset.total_size, paths.toset.total_size
    ones = np.ones(len(paths.values_with_halo))
    return scipy.sparse.csr_matrix((ones, paths.values_with_halo, paths.offsets), shape=shape)


def test_tells_its_rows() -> None:
    cells, faces, paths = world([[0, 1, 2], [], [3, 4]], 5)
    assert paths.offsets.tolist() == [0, 3, 3, 5]
    assert paths.values.tolist() == [0, 1, 2, 3, 4]
    assert paths.counts.data_ro.tolist() == [3, 0, 2]
    assert (paths.longest, paths.shortest, paths.mean) == (3, 0, 5 / 3)
    assert paths.iterset is cells
    assert paths.toset is faces
    assert paths.counts.data_ro.dtype == np.int32
    again = pickle.loads(pickle.dumps(paths))
    assert again.offsets.tolist() == [0, 3, 3, 5]
    assert again.values.tolist() == [0, 1, 2, 3, 4]


def test_the_given_arrays_are_the_programs() -> None:
    offsets, values = np.array([0, 1, 2]), np.array([0, 1])
    paths = op2.RaggedMap(op2.Set(2), op2.Set(2), offsets, values)
    values[0] = 1
    assert paths.values.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        paths.values[0] = 1


def test_is_made_of_what_a_map_defines() -> None:
    edges, cells = op2.Set(3, "edges"), op2.Set(2, "cells")
    both = op2.Map(edges, cells, 2, [[0, 1], [-1, 1], [-1, -1]], "cells_of")
    paths = op2.RaggedMap.where_defined(both)
    assert paths.offsets.tolist() == [0, 2, 3, 3]
    assert paths.values.tolist() == [0, 1, 1]
    assert paths.name == "cells_of"
    with pytest.raises(MapTypeError, match="as many entries in each row"):
        op2.RaggedMap.where_defined(paths)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lengths=st.lists(st.integers(0, 9), max_size=40),
    n_targets=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
    strategy=st.sampled_from([None, "atomic", "block", "colour"]),
)
def test_sums_are_scipys_products(
    backend: str, lengths: list[int], n_targets: int, seed: int, strategy: str | None
) -> None:
    rng = np.random.default_rng(seed)
    rows = [rng.integers(n_targets, size=n).tolist() for n in lengths]
    with op2.backend(backend):
        cells, faces, paths = world(rows, n_targets)
        product = matrix(paths)
        x = op2.Dat(cells, rng.integers(-50, 50, len(rows)).astype(float))
        s, g = op2.Dat(faces), op2.Dat(cells)
        add, take = op2.Kernel(SPREAD, "spread"), op2.Kernel(GATHER, "gather")
        op2.ParLoop(
            add, cells, s(INC, paths), x(READ), paths.counts(READ), strategy=strategy
        ).compute()
        np.testing.assert_array_equal(s.data_ro, product.T @ x.data_ro)
        op2.ParLoop(
            take, cells, g(WRITE), s(READ, paths), paths.counts(READ), strategy=strategy
        ).compute()
        np.testing.assert_array_equal(g.data_ro, product @ s.data_ro)


@pytest.mark.parametrize("backend", BACKENDS)
def test_components_and_layouts(backend: str) -> None:
    """Rows of one component of a Dat, and of a structure of arrays on devices."""
    rng = np.random.default_rng(3)
    with op2.backend(backend):
        cells, faces, paths = world([rng.integers(20, size=n).tolist() for n in range(9)], 20)
        values = rng.integers(-9, 9, (20, 3)).astype(float)
        for layout in ("aos", "soa"):
            q, g = op2.Dat(faces**3, values.copy(), layout=layout), op2.Dat(cells)
            take = op2.Kernel(GATHER, "gather")
            op2.par_loop(take, cells, g(WRITE), op2.DatView(q, 1)(READ, paths), paths.counts(READ))
            np.testing.assert_array_equal(g.data_ro, matrix(paths) @ values[:, 1])


def test_deterministic_is_the_same_again() -> None:
    rng = np.random.default_rng(4)
    found = []
    op2.init(backend="openmp", deterministic=True)
    rows = [rng.integers(50, size=n % 7).tolist() for n in range(3000)]
    cells, faces, paths = world(rows, 50)
    x = op2.Dat(cells, rng.random(3000))
    for _ in range(2):
        s = op2.Dat(faces)
        op2.par_loop(
            op2.Kernel(SPREAD, "spread"), cells, s(INC, paths), x(READ), paths.counts(READ)
        )
        found.append(s.data_ro.copy())
    np.testing.assert_array_equal(*found)


def test_reads_in_place_what_the_kernel_reads_entry_by_entry() -> None:
    cells, faces, paths = small()
    q, g = op2.Dat(faces), op2.Dat(cells)
    args = g(WRITE), q(READ, paths), paths.counts(READ)
    text = op2.ParLoop(op2.Kernel(GATHER, "gather"), cells, *args).generate()
    assert "q[(long)q_rows[i]]" in text
    assert "_pack" not in text
    by_pointer = GATHER.replace("+= q[i]", "+= *q++").replace("const double *q", "const double *q")
    text = op2.ParLoop(op2.Kernel(by_pointer, "gather"), cells, *args).generate()
    assert "q_pack[64]" in text


def test_what_the_loop_writes_is_packed() -> None:
    """The kernel sees the values from before it was called."""
    cells = op2.Set(3, "cells")
    around = op2.RaggedMap(cells, cells, [[0, 1], [1], [2, 0]])
    q = op2.Dat(cells, [1.0, 2.0, 4.0])
    with op2.backend("sequential"):
        op2.par_loop(
            op2.Kernel(GATHER, "gather"), cells, q(WRITE), q(READ, around), around.counts(READ)
        )
    assert q.data_ro.tolist() == [3.0, 2.0, 7.0]


# Bad input


@pytest.mark.parametrize(
    ("offsets", "values", "message"),
    [
        ([0, 2, 1], [0, 1], "offsets fall at row 1, from 2 to 1"),
        ([1, 2, 3], [0, 1, 2], "must begin at 0, got 1"),
        ([0, 1, 2], [0, 1, 2], "end at 2, but there are 3 values"),
        ([0, 1], [0], "expected 3 offsets, .* got 2"),
        ([0, 1, 3], [0, 1, 5], "row 1, slot 1 is 5, but Set 'faces' has entities 0 to 4"),
        ([0, 1, 2], [0, -1], "row 1, slot 0 is -1"),
        ([0, 1, 2], [0.0, 1.0], "values must be integers"),
        ([0, 1, 2.5], [0, 1], "offsets must be integers"),
        ([0, 1, 2], [[0], [1]], "values must be integers of shape"),
        ([0, 1, 2], np.ma.masked_array([0, 1], [False, True]), "mask"),
        ([[0], [9]], None, "row 1, slot 0 is 9"),
        ([[0], [0.5]], None, "row 1 must be a list of integers"),
        ([0, 1, 2], None, "row 0 must be a list of integers"),
        ([[0]], None, "expected 3 offsets"),
        (3, None, "rows"),
    ],
)
def test_wrong_rows(offsets: Any, values: Any, message: str) -> None:
    with pytest.raises(DataValueError, match=message):
        op2.RaggedMap(op2.Set(2, "cells"), op2.Set(5, "faces"), offsets, values, "faces_of")


def test_wrong_sets() -> None:
    with pytest.raises(SetTypeError, match="must be a Set"):
        op2.RaggedMap(3, op2.Set(2), [[0]])  # type: ignore[arg-type]
    with pytest.raises(SetTypeError, match="is extruded"):
        op2.RaggedMap(op2.ExtrudedSet(op2.Set(1), 3), op2.Set(2), [[0]])


def gather_by(paths: op2.RaggedMap, counts: op2.RaggedMap) -> None:
    q, g = op2.Dat(paths.toset), op2.Dat(paths.iterset)
    kernel = op2.Kernel(GATHER, "gather")
    op2.par_loop(kernel, paths.iterset, g(WRITE), q(READ, paths), counts.counts(READ))


def test_counts_of_another_map() -> None:
    cells, faces, paths = small()
    other = op2.RaggedMap(cells, faces, [[0], [1]], name="other")
    with pytest.raises(MapValueError, match=r"counts of Map 'other', .*pass faces_of.counts"):
        gather_by(paths, other)
    gather_by(paths, op2.RaggedMap(cells, cells, [[0, 0, 0], [1, 1]]))  # as long, row by row


def test_long_rows() -> None:
    rows = [[0], list(range(65))]
    cells, faces, paths = world(rows, 65)
    gather_by(paths, paths)
    x, s = op2.Dat(cells, 1.0), op2.Dat(faces)
    spread = op2.Kernel(SPREAD, "spread")
    with pytest.raises(UsageError, match=r"row 1 of Map 'faces_of' has 65 entries, .*64.*INC"):
        op2.par_loop(spread, cells, s(INC, paths), x(READ), paths.counts(READ))
    assert not s.data_ro.any()
    by_pointer = op2.Kernel(GATHER.replace("+= q[i]", "+= *q++"), "gather")
    g = op2.Dat(cells)
    with pytest.raises(UsageError, match=r"row 1 of Map 'faces_of' has 65 .*entry by entry"):
        op2.par_loop(by_pointer, cells, g(WRITE), s(READ, paths), paths.counts(READ))


def test_kernels_without_a_count_stay_within_the_shortest_row() -> None:
    cells, faces, paths = small()
    q, g = op2.Dat(faces, 1.0), op2.Dat(cells)
    fixed = GATHER.replace("*n", "3").replace(", const int 3", "")
    with pytest.raises(UsageError, match=r"index 2 is outside of 'q' .*holds 2 values"):
        op2.par_loop(op2.Kernel(fixed, "gather"), cells, g(WRITE), q(READ, paths))
    two = op2.Kernel(fixed.replace("< 3", "< 2"), "gather")
    op2.par_loop(two, cells, g(WRITE), q(READ, paths))
    assert g.data_ro.tolist() == [2.0, 2.0]


def in_a_loop(kernel: str, *args: Any, iterset: op2.Set, **options: Any) -> None:
    op2.ParLoop(op2.Kernel(kernel, "k"), iterset, *args, **options).compute()


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda m: m.arity, UnsupportedError, "rows differ in length"),
        (lambda m: m.shape, UnsupportedError, "rows differ in length"),
        (lambda m: m[0], UnsupportedError, "rows differ in length"),
        (lambda m: m.update_values([0]), MapValueError, "make another RaggedMap"),
        (lambda m: op2.PermutedMap(m, [0]), UnsupportedError, "rows differ in length"),
        (
            lambda m: op2.ComposedMap(op2.Map(m.toset, m.toset, 1, range(5)), m),
            UnsupportedError,
            "rows differ in length",
        ),
        (lambda m: m.counts.data.fill(1), UsageError, "cannot be changed"),
        (lambda m: m.counts.zero(), UsageError, "cannot be changed"),
        (lambda m: m.counts.assign(1), UsageError, "cannot be changed"),
        (lambda m: m.counts(RW), ModeValueError, "only read"),
        (lambda m: m.counts(MIN), ModeValueError, "only read"),
    ],
)
def test_refusals(
    use: Callable[[op2.RaggedMap], object], error: type[Op2Error], message: str
) -> None:
    _, _, paths = small()
    with pytest.raises(error, match=message):
        use(paths)
    assert paths.counts.data_ro.tolist() == [3, 2]


def test_counts_cannot_be_replaced() -> None:
    cells, faces, paths = small()
    g, q = op2.Dat(cells), op2.Dat(faces, 1.0)
    loop = op2.ParLoop(
        op2.Kernel(GATHER, "gather"), cells, g(WRITE), q(READ, paths), paths.counts(READ)
    )
    loop(q=op2.Dat(faces, 2.0))
    assert g.data_ro.tolist() == [6.0, 4.0]
    for other in (op2.Dat(cells, 9, np.int32), np.full(2, 9, np.int32)):
        with pytest.raises(UsageError, match="cannot be replaced"):
            loop(n=other)


def test_mixed_dats_and_lanes_are_refused() -> None:
    cells, faces, paths = small()
    q, g = op2.Dat(faces), op2.Dat(cells)
    kernel = op2.Kernel(GATHER, "gather")
    both = op2.MixedDat([q, q])(READ, op2.MixedMap([paths, paths]))
    with pytest.raises(UnsupportedError, match="a MixedDat by the ragged Map 'faces_of'"):
        op2.par_loop(kernel, cells, g(WRITE), both, paths.counts(READ))
    args = g(WRITE), q(READ, paths), paths.counts(READ)
    with pytest.raises(UnsupportedError, match="rows of a ragged Map differ in length"):
        op2.ParLoop(kernel, cells, *args, lanes=4).compute()


# Other ways to run loops


def test_check_mode_knows_how_long_a_row_is() -> None:
    cells, faces, paths = small()
    q, g, s = op2.Dat(faces**2, 1.0), op2.Dat(cells), op2.Dat(faces**2)
    counts = paths.counts(READ)
    head = "void k(double *g, const double *q, const int *n) { *g = 0; "
    right = op2.Kernel(head + "for (int i = 0; i < *n; i++) *g += q[2 * i + 1]; }", "k")
    op2.par_loop(right, cells, g(WRITE), q(READ, paths), counts, check=True)
    assert g.data_ro.tolist() == [3.0, 2.0]
    for text, place in (
        ("for (int i = 0; i < 3; i++) *g += q[2 * i]; }", "element 1 .*index 4 is outside of 'q'"),
        ("for (int i = 0; i < 3 * *n; i++) *g += *q++; }", "element 0 .*index 6 is outside of"),
    ):
        wrong = op2.Kernel(head + text, "k")
        with pytest.raises(CheckError, match=place):
            op2.par_loop(wrong, cells, g(WRITE), q(READ, paths), counts, check=True)
    half = op2.Kernel(MARKS + "for (int i = 0; i < *n; i++) s[2 * i] = 1; }", "k")
    with pytest.raises(CheckError, match=r"value 1 of 's' .* was not written"):
        op2.par_loop(half, cells, s(WRITE, paths), counts, check=True)
    beyond = op2.Kernel(MARKS + "for (int i = 0; i < 6; i++) s[i] += 1; }", "k")
    with pytest.raises(CheckError, match=r"element 1 .*index 4 is outside of 's'"):
        op2.par_loop(beyond, cells, s(INC, paths), counts, check=True)
    assert not s.data_ro.any()


def test_check_mode_finds_races_of_rows() -> None:
    cells, faces = op2.Set(2, "cells"), op2.Set(4, "faces")
    paths = op2.RaggedMap(cells, faces, [[0, 1, 2], [2]], name="faces_of")
    s = op2.Dat(faces)
    one = op2.Kernel(MARKS + "for (int i = 0; i < *n; i++) s[i] = 1; }", "k")
    with pytest.raises(CheckError, match=r"elements 0 and 1 both WRITE entity 2 of Set 'faces'"):
        op2.par_loop(one, cells, s(WRITE, paths), paths.counts(READ), check=True)


def test_check_mode_packs_rows() -> None:
    cells, faces, paths = world([list(range(65))], 65)
    q, g = op2.Dat(faces), op2.Dat(cells)
    kernel = op2.Kernel(GATHER, "gather")
    with pytest.raises(UsageError, match=r"65 entries.*outside of check mode"):
        op2.par_loop(kernel, cells, g(WRITE), q(READ, paths), paths.counts(READ), check=True)


def test_python_functions_get_rows() -> None:
    cells, faces, paths = world([[0, 1, 2], [], [3, 4]], 5)
    q, g = op2.Dat(faces, [1.0, 2.0, 3.0, 4.0, 5.0]), op2.Dat(cells)

    def gather(g: Any, q: Any, n: Any) -> None:
        assert q.shape == (n[0],)
        g[0] = q.sum()

    op2.par_loop(gather, cells, g(WRITE), q(READ, paths), paths.counts(READ))
    assert g.data_ro.tolist() == [6.0, 0.0, 9.0]


def sum_twice(paths: op2.RaggedMap, s: op2.Dat, g: op2.Dat) -> None:
    counts = paths.counts(READ)
    op2.par_loop(op2.Kernel(GATHER, "gather"), paths.iterset, g(WRITE), s(READ, paths), counts)
    op2.par_loop(op2.Kernel(SPREAD, "spread"), paths.iterset, s(INC, paths), g(READ), counts)


@pytest.mark.parametrize("backend", BACKENDS)
def test_chains_and_graphs_do_the_same(backend: str) -> None:
    rng = np.random.default_rng(5)
    rows = [rng.integers(40, size=n % 6).tolist() for n in range(300)]
    found = []
    with op2.backend(backend):
        for way in ("now", "chain", "graph"):
            cells, faces, paths = world(rows, 40)
            s, g = op2.Dat(faces, np.arange(40.0)), op2.Dat(cells)
            if way == "now":
                sum_twice(paths, s, g)
            elif way == "chain":
                with op2.chain():
                    sum_twice(paths, s, g)
            else:
                op2.record(lambda p=paths, s=s, g=g: sum_twice(p, s, g)).submit()
            found.append((s.data_ro.copy(), g.data_ro.copy()))
    for s_values, g_values in found[1:]:
        np.testing.assert_allclose(s_values, found[0][0])
        np.testing.assert_allclose(g_values, found[0][1])


# Renumbered, saved, compiled ahead


@pytest.mark.parametrize("method", ["rcm", "hilbert"])
def test_rows_follow_a_renumbering(method: str) -> None:
    rng = np.random.default_rng(6)
    rows = [rng.integers(40, size=n % 6).tolist() for n in range(60)]
    cells, faces, paths = world(rows, 40)
    q, g = op2.Dat(faces, rng.random(40)), op2.Dat(cells)
    where = op2.Dat(faces**2, rng.random((40, 2))) if method == "hilbert" else None
    before = matrix(paths) @ q.data_ro
    counts = paths.counts
    moved = op2.renumber([paths], [q, g], method=method, coordinates=where)
    assert not np.array_equal(paths.values, [one for row in rows for one in row])
    np.testing.assert_array_equal(counts.data_ro, np.diff(paths.offsets))
    op2.par_loop(op2.Kernel(GATHER, "gather"), cells, g(WRITE), q(READ, paths), paths.counts(READ))
    np.testing.assert_allclose(g.data_ro, matrix(paths) @ q.data_ro)
    np.testing.assert_allclose(moved.to_original(g), before)
    moved.undo()
    assert paths.values.tolist() == [one for row in rows for one in row]
    assert counts.data_ro.tolist() == [len(row) for row in rows]
    with pytest.raises(UsageError, match="cannot be changed"):
        counts.zero()


def test_counts_are_renumbered_with_their_map() -> None:
    cells, faces, paths = small()
    other = op2.Map(cells, faces, 1, [0, 1])
    where = op2.Dat(faces, np.arange(5.0))
    with pytest.raises(MapTypeError, match="has the counts of Map 'faces_of', which is not among"):
        op2.renumber([other], [paths.counts], coordinates=where)


def test_files_keep_rows(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    _, _, paths = world([[0, 1, 2], [], [3, 4]], 5)
    io.save(tmp_path / "a.h5", {"paths": paths})
    again = io.load(tmp_path / "a.h5")["paths"]
    assert isinstance(again, op2.RaggedMap)
    assert again.offsets.tolist() == [0, 3, 3, 5]
    assert again.values.tolist() == [0, 1, 2, 3, 4]
    assert again.name == "faces_of"


PROGRAM = f"""
import sys
from pyop2cxx import op2
if len(sys.argv) > 1:
    op2.init(backend="sequential", eti_only=True)
    op2.dispatch.load(sys.argv[1])
cells, faces = op2.Set(2, "cells"), op2.Set(5, "faces")
paths = op2.RaggedMap(cells, faces, [[0, 1, 2], [3, 4]], name="faces_of")
q, g = op2.Dat(faces, [1.0, 2.0, 3.0, 4.0, 5.0]), op2.Dat(cells)
kernel = op2.Kernel('''{GATHER}''', "gather")
op2.par_loop(kernel, cells, g(op2.WRITE), q(op2.READ, paths), paths.counts(op2.READ))
print(g.data_ro.tolist())
"""


def test_loops_compiled_ahead(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    build = ["-m", "pyop2cxx", "build", "--backend", "sequential", "-o", str(tmp_path / "loops")]
    made = started(*build, str(tmp_path / "program.py"))
    assert made.returncode == 0, made.stderr
    assert "const op2::RaggedMap<>& faces_of);" in (tmp_path / "loops/program.hpp").read_text()
    done = started(str(tmp_path / "program.py"), str(tmp_path / "loops"))
    assert done.stdout == "[6.0, 9.0]\n", done.stderr


def started(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)


def test_saved_graphs_name_the_map(tmp_path: Path) -> None:
    _, faces, paths = small()
    s, g = op2.Dat(faces), op2.Dat(paths.iterset)
    graph = op2.record(lambda: sum_twice(paths, s, g))
    with pytest.raises(UnsupportedError, match="'faces_of' is of RaggedMap, which saved"):
        graph.save(tmp_path / "graph")


def test_one_dat_is_read_in_place_and_packed() -> None:
    cells, faces, paths = small()
    q, g = op2.Dat(faces, [1.0, 2.0, 3.0, 4.0, 5.0]), op2.Dat(cells)
    text = """
    void both(double *g, const double *p, const double *q, const int *n) {
      *g = 0;
      for (int i = 0; i < *n; i++) *g += p[i] + 10 * *q++;
    }
    """
    values = q(READ, paths), q(READ, paths), paths.counts(READ)
    op2.par_loop(op2.Kernel(text, "both"), cells, g(WRITE), *values)
    assert g.data_ro.tolist() == [66.0, 99.0]


def test_kernels_with_arrays_of_constant_length_are_refused() -> None:
    cells, faces, paths = small()
    q, g = op2.Dat(faces**2), op2.Dat(cells)
    args = g(WRITE), q(READ, paths), paths.counts(READ)
    text = "void k(double *g, double q[3][2], const int *n) { *g = q[0][1]; }"
    with pytest.raises(
        UnsupportedError, match=r"constant length, .* rows of Map 'faces_of' differ"
    ):
        op2.par_loop(op2.Kernel(text, "k"), cells, *args)
    older = op2.Kernel("void k(double *g, double **q, int *n) { *g = q[0][1]; }", "k", abi="2016")
    with pytest.raises(UnsupportedError, match="older convention"):
        op2.par_loop(older, cells, *args)


def test_notebooks_show_the_lengths_of_rows() -> None:
    _, _, paths = small()
    assert "2 to 3, 2.5 on average" in paths._repr_html_()
