# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import ConfigurationError, UnsupportedError, UsageError
from pyop2cxx.loop import facts
from pyop2cxx.op2 import INC, READ
from pyop2cxx.pipeline.tuning import checked

pytestmark = pytest.mark.usefixtures("exits")

COUNT = "void count(double *y) { y[0] += 1; y[1] += 1; }"


def edges(n: int = 4000) -> tuple[op2.Kernel, op2.Set, op2.Map, op2.Dat]:
    source, target = op2.Set(n), op2.Set(n + 1)
    ends = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    return op2.Kernel(COUNT, "count"), source, op2.Map(source, target, 2, ends), op2.Dat(target)


def edge_loop(tuning: object) -> op2.ParLoop:
    kernel, source, ends, y = edges()
    return op2.ParLoop(kernel, source, y(INC, ends), tuning=tuning)


def test_numbers_steer_the_text_and_its_key() -> None:
    with op2.backend("openmp"):
        usual, rolled = edge_loop(None).generate(), edge_loop({"unrolled_scalars": 0}).generate()
        assert usual == edge_loop({}).generate()
        assert usual == edge_loop({"unrolled_scalars": 64}).generate()
        assert usual == edge_loop({"unrolled_scalars": 0}).generate({"tuning": None})
        assert rolled == edge_loop(None).generate({"tuning": {"unrolled_scalars": 0}})
    assert usual != rolled
    assert usual.key != rolled.key


def test_loops_that_do_not_ask_for_threads_would_get_one() -> None:
    """Launches give a second thread to loops of twice as many entities as one has at least."""
    least = dict(_core.Tuning().values())["thread_elements"]
    assert 2 * least >= facts._ALONE


def test_numbers_steer_launches_and_results_stay() -> None:
    op2.init(backend="openmp", threads=2)
    expected = np.array([1.0, *[2.0] * 3999, 1.0])
    for tuning in (None, {"block_elements": 64, "least_block_elements": 16}):
        kernel, source, ends, y = edges()
        op2.par_loop(kernel, source, y(INC, ends), tuning=tuning)
        np.testing.assert_array_equal(y.data_ro, expected)
        op2.par_loop(kernel, source, y(INC, ends), tuning=tuning)
        np.testing.assert_array_equal(y.data_ro, 2 * expected)


def test_explanations_show_what_is_not_usual() -> None:
    found = edge_loop({"selected_slots": 2}).explain()
    assert found.tuning == {"selected_slots": 2}
    assert "tuning               selected_slots = 2" in str(found)
    assert edge_loop(None).explain().tuning == {}


@pytest.mark.parametrize(
    "given", ["selected_slots=2, memory_rate=30.5", {"selected_slots": 2, "memory_rate": 30.5}]
)
def test_numbers_of_all_loops_are_an_option(given: object) -> None:
    op2.init(backend="sequential", tuning=given)
    assert edge_loop(None).explain().tuning == {"memory_rate": 30.5, "selected_slots": 2}
    assert edge_loop({"selected_slots": 8}).explain().tuning["selected_slots"] == 8
    with pytest.raises(ConfigurationError, match="option 'tuning': there is no 'speed'; there are"):
        op2.init(tuning={"speed": 1})
    with pytest.raises(ConfigurationError, match="must be name=value, with commas between"):
        op2.init(tuning="row_length")


@pytest.mark.parametrize(
    ("tuning", "message"),
    [
        (
            {"speed": 1},
            r"par_loop 'count': tuning: there is no 'speed'; there are: block_elements,",
        ),
        ({"block_lanes": 100}, "'block_lanes' must be a power of two from 1 to 1024, got 100"),
        ({"transposed": 1}, "'transposed' must be True or False, got 1"),
        ({"row_length": "8"}, "'row_length' must be a number of at most 64 bits, got '8'"),
        ({"row_length": 8.0}, r"'row_length' must be an int, got 8\.0"),
        ({"row_length": np.float64(8)}, r"'row_length' must be an int, got 8\.0"),
        ({"row_length": 1 << 70}, "'row_length' must be a number of at most 64 bits, got 11805916"),
        ({"row_length": True}, "'row_length' must be an int, got True"),
        ({"transposed": None}, "'transposed' must be True or False, got None"),
        ({"most_padding": 1j}, "'most_padding' must be a number of at most 64 bits, got 1j"),
        ({"most_padding": float("nan")}, "'most_padding' must be a number from 0 to 1000, got nan"),
        ({"row_lenght": "8"}, "there is no 'row_lenght'; there are: block_elements,"),
        ({"most_padding": 10**400}, "'most_padding' must be a number of at most 64 bits, got 1000"),
        ({1: 2}, "tuning must be a dict from names to numbers"),
        ([1], "tuning must be a dict from names to numbers"),
    ],
)
def test_wrong_numbers(tuning: object, message: str) -> None:
    kernel, source, ends, y = edges()
    with pytest.raises(UsageError, match=message):
        op2.par_loop(kernel, source, y(INC, ends), tuning=tuning)
    with pytest.raises(UsageError, match=message):
        op2.ParLoop(kernel, source, y(INC, ends)).generate({"tuning": tuning})
    assert not y.data_ro.any()


def test_numbers_of_numpy_are_numbers() -> None:
    given = {
        "row_length": np.int64(8),
        "most_padding": np.float32(0.5),
        "transposed": np.bool_(False),
    }
    assert checked(given, "par_loop") == (
        *(("most_padding", 0.5), ("row_length", 8), ("transposed", False)),
    )
    assert [type(value) for _, value in checked(given, "par_loop")] == [float, int, bool]


@pytest.mark.parametrize("steers", ["choice", "text", "launch"])
def test_no_number_changes_what_a_loop_computes(steers: str) -> None:
    """At both ends of its range; texts that were run before are not run again."""
    op2.init(backend="openmp", threads=2)
    _, source, ends, y = edges(3000)
    total = op2.Global(1, 0.0)
    sum_up = op2.Kernel(
        "void sum_up(double *y, double *x, double *total)"
        "{ for (int i = 0; i < 8; ++i) y[0] += x[i % 2] / (i + 1); y[1] += 1; total[0] += 1; }",
        "sum_up",
    )
    x = op2.Dat(ends.toset, np.arange(3001.0))
    found, texts = [], set()
    for one in (None, *(one for one in _core.tunables() if one.steers == steers)):
        for value in ends_of(one):
            tuning = None if one is None else {one.name: value}
            for strategy in ("block", "owner"):
                y.data[:], total.data[:] = 0, 0
                args = (y(INC, ends), x(READ, ends), total(INC))
                loop = op2.ParLoop(sum_up, source, *args, strategy=strategy, tuning=tuning)
                if steers == "launch" or loop.generate() not in texts:
                    texts.add(loop.generate())
                    loop.compute()
                    found.append((y.data_ro.copy(), total.data_ro[0]))
    assert len(found) > 2
    for values, n in found:
        np.testing.assert_allclose(values, found[0][0], rtol=1e-13)
        assert n == 3000


def ends_of(one: _core.Tunable | None) -> list[object]:
    if one is None:
        return [None]
    usual = dict(_core.Tuning().values())[one.name]
    if isinstance(usual, bool):
        return [False, True]
    return [type(usual)(one.least), type(usual)(one.most)]


def test_launches_alone_need_no_other_text() -> None:
    with op2.backend("openmp"):
        usual = edge_loop(None).generate()
        for one in _core.tunables():
            for value in ends_of(one):
                other = edge_loop({one.name: value}).generate()
                if one.steers == "launch":
                    assert other.key == usual.key


def test_values_are_compared_hashed_and_printed() -> None:
    usual = _core.Tuning()
    other = usual.with_value("block_lanes", 64)
    assert other != usual
    assert hash(other) == hash(_core.Tuning().with_value("block_lanes", 64))
    assert len({usual, other, usual.with_value("block_lanes", 128)}) == 2
    assert str(other) == "block_lanes=64"
    with pytest.raises(UsageError, match="no class of devices 'toaster'; there are: host, proc"):
        _core.tuning_of_class("toaster")


def test_the_page_of_the_numbers_is_complete() -> None:
    page = (Path(__file__).parents[2] / "docs/tuning.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    listed = {row[0].strip("`"): row[1:] for row in rows if len(row) == 8 and row[0][0] == "`"}
    usual = [dict(_core.tuning_of_class(name).values()) for name in _core.DEVICE_CLASSES]
    assert list(listed) == [one.name for one in _core.tunables()]
    for one in _core.tunables():
        defaults = [str(values[one.name]) for values in usual]
        *row, allowed, meaning = listed[one.name]
        assert (row, meaning) == ([one.steers, one.unit, *defaults], one.meaning)
        assert ("powers of two" in allowed) == one.is_power
        if allowed != "True, False":
            first, last = map(int, re.findall(r"\d+", f"{allowed} {2**30}")[:2])
            assert (first, last) == (one.least, one.most)


def test_all_numbers_can_be_set_to_what_they_are() -> None:
    for name, value in _core.Tuning().values():
        assert checked({name: value}, "par_loop") == ((name, value),)


@pytest.mark.parametrize(("n_steps", "n"), [(0, 0), (3, 1), (9, 2)])
def test_loops_around_entries_that_lie_in_shared_memory_are_unrolled(n_steps: int, n: int) -> None:
    op2.init(backend="cuda", static=True)
    cells, nodes = op2.Set(4, "cells"), op2.Set(6, "nodes")
    map_ = op2.Map(cells, nodes, 3, [[i, i + 1, i + 2] for i in range(4)])
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(map_, map_, None)]), dtype=float)
    kernel = op2.Kernel(
        "void mass(double *A) {"
        " for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j) A[3 * i + j] += 1; }",
        "mass",
    )
    loop = op2.ParLoop(kernel, cells, mat(INC, (map_, map_)), tuning={"listed_steps": n_steps})
    text = str(loop.generate({"strategy": "block"}))
    assert text[: text.index("] += 1;")].count("#pragma unroll\n") == n


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_what_fits_on_no_stack_is_an_error_not_a_crash(backend: str) -> None:
    """Threads of other sizes are the user's matter; the text is generated then."""
    edges, nodes = op2.Set(1), op2.Set(2)
    map_ = op2.Map(edges, nodes, 2, [[0, 1]])
    x = op2.Dat(nodes**700_000, name="x")
    kernel = op2.Kernel("void k(double *x) { x[0] += 1; }", "k")
    with op2.backend(backend):
        with pytest.raises(UnsupportedError, match=r"'k': .* take 11\.2 MB .* have 7\.3 MB of st"):
            op2.par_loop(kernel, edges, x(INC, map_))
        assert not x.data_ro.any()
        tuning = {"element_stack_bytes": 12_000_000}
        assert "1400000" in op2.ParLoop(kernel, edges, x(INC, map_), tuning=tuning).generate()
