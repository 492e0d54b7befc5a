# SPDX-License-Identifier: BSD-3-Clause
"""Measured choices: kept for later processes, compared with the rules' results."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small_world import quiet_library

from pyop2cxx import _core, op2
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import LOOP, Entry, change, read, size_of
from pyop2cxx.tune.measure import decide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.usefixtures("exits")

DEVICES = [one.name for one in op2.backends() if one.available and one.name in ("opencl", "cuda")]
WRONG = """
{% extends "pyop2cxx/host/translation_unit.j2" %}
{% block loop %}
{{ super() | replace("(double)(seen + value)", "(double)(seen + 1.5 * value)") }}
{% endblock %}
"""
"""A frame of the user's that breaks the strategy 'atomic', and no other."""
OUTSIDE = WRONG.replace("(double)(seen + 1.5 * value)", "(double)(seen + value); target[AT] = 7")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """An empty cache directory, used by this process until the test ends."""
    found = tmp_path / "cache"
    found.mkdir(mode=0o700)
    op2.init(cache_dir=str(found), tune="use", backend="sequential")
    return found


def flux_loop(n: int = 500) -> tuple[op2.ParLoop, op2.Dat]:
    cells, edges = op2.Set(n, "cells"), op2.Set(n - 1, "edges")
    i = np.arange(n - 1)
    ends = op2.Map(edges, cells, 2, np.stack([i, i + 1], 1), "ends")
    heat, flow = op2.Dat(cells, np.arange(n) % 7.0, name="heat"), op2.Dat(cells, name="flow")
    kernel = op2.Kernel(
        "void flux(double *f, const double *h) { double d = h[1] - h[0]; f[0] += d; f[1] -= d; }",
        "flux",
    )
    return op2.ParLoop(kernel, edges, flow(op2.INC, ends), heat(op2.READ, ends)), flow


def noted(loop: op2.ParLoop, **changes: Any) -> Entry:
    """Measure a loop, and note the result with some changes."""
    found = decide(loop, runtime.backend)
    assert isinstance(found, Entry)
    found = replace(found, **changes)
    runtime.engine.tuned.note(runtime.backend, found)
    runtime.epoch += 1
    return found


def files(cache: Path) -> list[Path]:
    return sorted((cache / "tuned").glob("*.json"))


def test_levels(cache: Path) -> None:
    loop, flow = flux_loop()
    loop.compute()
    assert (op2.tune.lookup(loop).level, loop.explain().level) == ("rule", "rule")
    lanes = {"strategy": "direct", "lanes": 4, "tuning": {}}
    entry = noted(loop, way=lanes, us=2.0, rule_us=6.0)
    answer = op2.tune.lookup(loop)
    assert (answer.level, answer.way, answer.gain) == ("exact", entry.way, 3.0)
    said = loop.explain()
    assert (said.level, said.lanes, said.strategy) == ("exact", 4, "direct")
    assert said.why == f"measured (exact, {entry.when}): 2.0 us in place of 6.0 by the rules"
    loop.compute()
    expected = flow.data_ro.copy()
    other, flow = flux_loop(5000)
    assert op2.tune.lookup(other).level == "size"
    other.compute()
    assert flow.data_ro[:400].tolist() == (expected[:400] / 2).tolist()
    op2.exit()
    (file,) = files(cache)
    assert entry in read(file).entries
    # as if on another device of the kind
    op2.init(cache_dir=str(cache), tune="use", backend="sequential", cflags="-DOTHER")
    loop, _ = flux_loop()
    assert op2.tune.lookup(loop).level == "device"
    op2.init(tune="off")
    assert op2.tune.lookup(loop).level == "rule"


def scaled(n: int, size: int = 400) -> op2.ParLoop:
    """A loop over rows of `n` values, alike for all `n` but for the amount of work."""
    cells = op2.Set(size, "cells")
    x, y = op2.Dat(cells**n, 1.0, name="x"), op2.Dat(cells**n, name="y")
    text = f"void scale{n}(double *y, const double *x) {{ for (int i = 0; i < {n}; ++i)"
    kernel = op2.Kernel(f"{text} y[i] = 2 * x[i] + {n}; }}", f"scale{n}")
    return op2.ParLoop(kernel, cells, y(op2.WRITE), x(op2.READ))


def note_scaled(n: int, lanes: int, us: dict[int, float]) -> None:
    """Note a measurement as if `us` had been the times of numbers of lanes."""
    loop = scaled(n)
    loop.compute()
    way = {"strategy": "direct", "lanes": lanes, "tuning": {}}
    times = {f"direct, {one} lanes": took for one, took in us.items()}
    noted(loop, way=way, us=us[lanes], rule_us=us[0], times=times)


def test_two_similar_loops_answer_for_a_third(cache: Path) -> None:
    for n in (6, 7):
        note_scaled(n, 4, {0: 3.0, 4: 2.0})
    loop = scaled(8)
    # nothing shows yet that similar loops predict anything
    assert op2.tune.lookup(loop).level == "rule"
    note_scaled(9, 4, {0: 6.0, 4: 2.0})
    said, answer = loop.explain(), op2.tune.lookup(loop)
    assert (answer.level, answer.way["lanes"], answer.gain) == ("alike", 4, 3.0)
    assert (said.level, said.lanes) == ("alike", 4)
    assert said.why == (
        "measured (alike): for similar loops 'scale9', 'scale7' 3.00 and 1.50 times as fast as by "
        "the rules"
    )
    assert "measured (alike)" in str(said)
    loop.compute()
    assert loop.args[0].data.data_ro.tolist() == [[10.0] * 8] * 400
    # a measurement of the loop itself, at any size, comes first
    note_scaled(8, 0, {0: 1.0, 4: 2.0})
    assert [op2.tune.lookup(scaled(8, size)).level for size in (400, 4000)] == ["exact", "size"]
    # other work, another size, other arguments
    assert op2.tune.lookup(scaled(40)).level == "rule"
    assert op2.tune.lookup(scaled(10, 40_000)).level == "rule"
    assert op2.tune.lookup(flux_loop()[0]).level == "rule"


@pytest.mark.parametrize(
    ("lanes", "us"),
    [
        (0, {0: 1.0, 4: 2.0}),  # neighbours disagree
        (4, {0: 1.0, 4: 20.0}),  # the others' way was slow where it is known
    ],
)
def test_similar_loops_that_predict_badly_are_not_asked(
    cache: Path, lanes: int, us: dict[int, float]
) -> None:
    note_scaled(6, 4, {0: 3.0, 4: 2.0})
    note_scaled(7, 4, {0: 3.0, 4: 2.0})
    note_scaled(9, lanes, us)
    assert op2.tune.lookup(scaled(8)).level == "rule"


def test_the_users_choice_wins(cache: Path) -> None:
    loop, _ = flux_loop()
    loop.compute()
    noted(loop, way={"strategy": "direct", "lanes": 4, "tuning": {}})
    asked = op2.ParLoop(loop.kernel, loop.iterset, *loop.args, lanes=0)
    assert (op2.tune.lookup(asked).level, asked.explain().lanes) == ("rule", 0)


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ({"strategy": "circular", "lanes": 0, "tuning": {}}, "circular"),
        ({"strategy": "direct", "lanes": 3, "tuning": {}}, "lanes"),
        ({"strategy": "direct", "lanes": 0, "tuning": {"no_such_number": 1}}, "no_such_number"),
        ({"strategy": "direct", "lanes": "many", "tuning": {}}, "many"),
        ({}, "strategy"),
    ],
)
def test_a_way_that_is_impossible_is_a_line(cache: Path, way: dict[str, Any], why: str) -> None:
    loop, flow = flux_loop()
    loop.compute()
    expected = flow.data_ro.copy()
    noted(loop, way=way)
    loop.compute()
    assert flow.data_ro.tolist() == (2 * expected).tolist()
    assert op2.tune.lookup(loop).level == "rule"
    (problem,) = op2.tune.report().problems
    assert problem.startswith("tuned choice for 'flux' is not used: ")
    assert why in problem
    assert problem in str(op2.tune.report())


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_text(file.read_text()[:200]),
        lambda file: file.write_text(file.read_text().replace('"schema": ', '"schema": 9')),
        lambda file: file.chmod(0o666),
        lambda file: file.write_text("x"),
    ],
)
def test_a_damaged_file_is_a_line_and_the_rule(cache: Path, damage: Callable[[Path], Any]) -> None:
    loop, _ = flux_loop()
    loop.compute()
    noted(loop)
    op2.exit()
    (file,) = files(cache)
    damage(file)
    op2.init(cache_dir=str(cache), tune="use", backend="sequential")
    loop, flow = flux_loop()
    assert op2.tune.lookup(loop).level == "rule"
    loop.compute()
    assert flow.data_ro.any()
    problems = op2.tune.report().problems
    assert str(file) in problems[0]


def test_a_file_of_another_device_is_a_line(cache: Path) -> None:
    loop, _ = flux_loop()
    loop.compute()
    noted(loop)
    op2.exit()
    (file,) = files(cache)
    place, entries, _ = read(file)
    assert place is not None
    other = place._replace(device="A processor of 1979")
    assert not change(cache / "tuned", other, lambda _: entries)
    (cache / "tuned" / other.file_name).rename(file)
    op2.init(cache_dir=str(cache), tune="use", backend="sequential")
    loop, _ = flux_loop()
    assert op2.tune.lookup(loop).level != "exact"
    assert "of another device" in op2.tune.report().problems[0]


def test_a_cache_that_cannot_be_written_is_a_line(cache: Path) -> None:
    loop, _ = flux_loop()
    loop.compute()
    (cache / "tuned").write_text("in the way")
    noted(loop)
    tuned = runtime.engine.tuned
    tuned.keep()
    assert "tuned choices are not kept in" in tuned.problems[-1]


def test_a_wrong_way_is_refused_by_name(cache: Path, tmp_path: Path) -> None:
    frame = tmp_path / "mine" / "host" / "translation_unit.j2"
    frame.parent.mkdir(parents=True)
    frame.write_text(WRONG)
    op2.init(backend="openmp", templates=str(tmp_path / "mine"))
    loop, flow = flux_loop()
    loop.compute()
    before = flow.data_ro.copy()
    found = decide(loop, "openmp")
    assert isinstance(found, Entry)
    assert {way.partition(",")[0] for way in found.refused} == {"atomic"}
    why = next(iter(found.refused.values()))
    assert why.startswith("Dat 'flow' on Set 'cells' has 2.5 at [0], ")
    assert "by block, 0 lanes 2.0" in why
    assert found.way["strategy"] != "atomic"
    assert flow.data_ro.tolist() == before.tolist()
    runtime.engine.tuned.note("openmp", found)
    runtime.epoch += 1
    assert op2.tune.lookup(loop).refused == found.refused


@pytest.mark.parametrize("backend", DEVICES)
def test_algebra_on_a_device_is_measured(cache: Path, backend: str) -> None:
    """Loops of the library go over the scalars of Dats, without arrays on the host."""
    op2.init(backend=backend, tune="online")
    cells = op2.Set(300)
    x, y = op2.Dat(cells**2, np.ones((300, 2))), op2.Dat(cells**2)
    op2.par_loop(op2.Kernel("void add(double *y) { y[0] += 2; }", "add"), cells, y(op2.RW))
    x.axpy(3.0, y)
    wanted = np.tile([7.0, 1.0], (300, 1))
    np.testing.assert_array_equal(x.data_ro, wanted)
    names = {one.name for one in runtime.engine.tuned.entries(backend, LOOP)}
    assert any(name.startswith("algebra_") for name in names), names


@pytest.mark.parametrize("place", [500, -500])
def test_a_way_that_writes_outside_is_refused_by_name(
    cache: Path, tmp_path: Path, place: int
) -> None:
    """All 500 values are right: only memory around them shows the mistake."""
    frame = tmp_path / "mine" / "host" / "translation_unit.j2"
    frame.parent.mkdir(parents=True)
    frame.write_text(OUTSIDE.replace("AT", str(place)))
    op2.init(backend="openmp", templates=str(tmp_path / "mine"))
    loop, flow = flux_loop()
    loop.compute()
    before = flow.data_ro.copy()
    found = decide(loop, "openmp")
    assert isinstance(found, Entry)
    assert {way.partition(",")[0] for way in found.refused} == {"atomic"}
    why = next(iter(found.refused.values()))
    assert why.startswith("it writes ")
    assert why.endswith("bytes outside of Dat 'flow' on Set 'cells'")
    assert flow.data_ro.tolist() == before.tolist()


def test_under_deterministic_only_ways_of_the_same_bits_are_tried(cache: Path) -> None:
    op2.init(backend="openmp", deterministic=True)
    cells = op2.Set(3000, "cells")
    x, y = op2.Dat(cells, np.arange(3000.0)), op2.Dat(cells)
    total = op2.Global(1, 0.0)
    add = op2.Kernel("void add(double *t, const double *x) { t[0] += x[0]; }", "add")
    loop = op2.ParLoop(add, cells, total(op2.INC), x(op2.READ))
    loop.compute()
    found = decide(loop, "openmp")
    assert isinstance(found, Entry)
    assert found.n == 1
    root = op2.Kernel("void root(double *y, const double *x) { y[0] = x[0] / 3; }", "root")
    loop = op2.ParLoop(root, cells, y(op2.WRITE), x(op2.READ))
    loop.compute()
    found = decide(loop, "openmp")
    assert isinstance(found, Entry)
    assert found.n > 1
    flux, _ = flux_loop()
    flux.compute()
    assert getattr(decide(flux, "openmp"), "n", 0) == 1


def test_a_deadline_leaves_the_rule(cache: Path) -> None:
    op2.init(backend="openmp")
    loop, _ = flux_loop()
    loop.compute()
    found = decide(loop, "openmp", deadline=0.0)
    assert isinstance(found, Entry)
    assert found.us > 0


ONLINE = """
import sys
sys.path.insert(0, {folder!r})
from test_tune import flux_loop
from pyop2cxx import op2
from pyop2cxx.runtime import runtime
op2.init(backend="openmp", tune={mode!r})
loop, flow = flux_loop(30000)
for _ in range(3):
    loop.compute()
report, service = op2.tune.report(), runtime.engine.service.statistics()
print(report.n_new, op2.tune.lookup(loop).level, service.n_compiles, abs(flow.data_ro).sum())
"""


def run(
    cache: Path, code: str, environment: Mapping[str, str] | None = None, **given: Any
) -> list[str]:
    """Run a program in another process, and return the printed words."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code.format(folder=str(Path(__file__).parent), **given)],
        env=os.environ
        | {"PYTHONPATH": path, "PYOP2CXX_CACHE_DIR": str(cache)}
        | dict(environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_second_process_measures_and_compiles_nothing(cache: Path) -> None:
    n_new, level, n_compiles, total = run(cache, ONLINE, mode="online")
    assert (n_new, level) == ("1", "exact")
    assert int(n_compiles) > 1
    for mode in ("online", "use"):
        assert run(cache, ONLINE, mode=mode) == ["0", "exact", "0", total]
    assert run(cache, ONLINE, mode="off")[:2] == ["0", "rule"]


CHAIN = """
import sys
sys.path.insert(0, {folder!r})
from test_tune import flux_loop
from pyop2cxx import op2
from pyop2cxx.chain.decide import Places
from pyop2cxx.chain.recorder import ChainState
from pyop2cxx.runtime import runtime
op2.init(backend="sequential", tune={mode!r})
loop, flow = flux_loop(300)
more = op2.Kernel("void more(double *f) {{ f[0] += 1; }}", "more")
n_learning = 0
for block in range(1200):
    with op2.chain():
        op2.par_loop(loop.kernel, loop.iterset, *loop.args)
        op2.par_loop(more, flow.dataset.set, flow(op2.RW))
    places = runtime.of(ChainState).places.known.values()
    n_learning += any(one.trial is not None for one in places)
print(op2.tune.report().n_new, n_learning, flow.data_ro.sum())
"""


def test_chains_need_no_learning_blocks_in_a_second_process(cache: Path) -> None:
    n_new, n_learning, total = run(cache, CHAIN, mode="use")
    assert n_new == "1"
    assert int(n_learning) > 0
    assert run(cache, CHAIN, mode="use") == ["0", "0", total]


LAZY = """
import sys
sys.path.insert(0, {folder!r})
from test_tune import flux_loop
from pyop2cxx import op2
op2.init(backend="sequential", tune="use", lazy=True)
loop, flow = flux_loop(300)
more = op2.Kernel("void more(double *f) {{ f[0] += 1; }}", "more")
for _ in range(1500):
    op2.par_loop(loop.kernel, loop.iterset, *loop.args)
    op2.par_loop(more, flow.dataset.set, flow(op2.RW))
    flow.data_ro
print(op2.tune.report().n_new > 0, flow.data_ro.sum())
"""


def test_lazy_programs_are_measured_once(cache: Path) -> None:
    is_measured, total = run(cache, LAZY)
    assert is_measured == "True"
    assert run(cache, LAZY) == ["False", total]


GRAPH = """
import sys
sys.path.insert(0, {folder!r})
from test_tune import flux_loop
from pyop2cxx import op2
op2.init(backend="openmp", tune="use", threads=2, tuning="short_microseconds=0,thread_elements=1")
loop, flow = flux_loop(3000)
more = op2.Kernel("void more(double *f) {{ f[0] += 1; }}", "more")
def both():
    op2.par_loop(loop.kernel, loop.iterset, *loop.args)
    op2.par_loop(more, flow.dataset.set, flow(op2.RW))
graph = op2.record(both)
decided = []
for _ in range(30):
    graph.submit()
    decided.append(bool(graph.stats().replays) and graph.stats().replays[0].kept != "undecided")
print(op2.tune.report().n_new, decided.index(True), flow.data_ro.sum())
"""


def test_regions_of_a_graph_are_measured_once(cache: Path, tmp_path: Path) -> None:
    quiet = {"LD_PRELOAD": str(quiet_library(tmp_path)), "OMP_WAIT_POLICY": "passive"}
    n_new, n_submits, total = run(cache, GRAPH, quiet)
    assert n_new == "1"
    assert int(n_submits) > 8
    assert run(cache, GRAPH, quiet) == ["0", "0", total]


ALGEBRA = """
import numpy as np
from pyop2cxx import op2
op2.init(backend="sequential", tune="use", blas="auto")
x = op2.Dat(op2.Set(1000), np.arange(1000.0))
for _ in range(20):
    x.inner(x)
rows = [row for row in op2.dispatch.report() if row.loop.startswith("dot")]
print(sum(row.count for row in rows if "turns" in row.rejected), sum(row.count for row in rows))
"""


def test_libraries_are_measured_once(cache: Path) -> None:
    op2.init(blas="auto")
    if runtime.engine.vectors is _core:
        pytest.skip("neither NumPy nor the system has a BLAS with an interface for C")
    in_turns, n_calls = run(cache, ALGEBRA)
    assert int(in_turns) > 0
    assert run(cache, ALGEBRA) == ["0", n_calls]


def test_sizes_within_a_factor_of_two_share_an_entry() -> None:
    assert [size_of(n) for n in (0, 1, 512, 1023, 1024)] == [0, 1, 10, 10, 11]
    assert LOOP == "loop"
