# SPDX-License-Identifier: BSD-3-Clause
"""What each pass of a chain gains: measured with results compared, kept, and shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.chain.compare import read_all
from pyop2cxx.chain.compile import PASSES, Compiled
from pyop2cxx.chain.costs import ALONE, CHAIN, IN_A_ROW, costs_of, known_costs
from pyop2cxx.chain.decide import number_of
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.reports import tune_store
from pyop2cxx.reports.tune_program import tune_program
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import Entry, Place, change, read
from pyop2cxx.tune import chains
from pyop2cxx.tune.chains import ChainMeasurement
from pyop2cxx.tune.measure import crashed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")

BACKENDS = [one.name for one in op2.backends() if one.available]
N = 400


class World:
    """Two steps of diffusion, where the end of a step joins the begin of the next."""

    def __init__(self) -> None:
        self.cells, edges = op2.Set(N, "cells"), op2.Set(N - 1, "edges")
        i = np.arange(N - 1)
        ends = op2.Map(edges, self.cells, 2, np.stack([i, i + 1], 1), "ends")
        self.heat = op2.Dat(self.cells, np.linspace(0, 1, N) ** 2, name="heat")
        self.old, self.flow = op2.Dat(self.cells, name="old"), op2.Dat(self.cells, name="flow")
        self.total = op2.Global(1, 0.0, name="total")
        keep = op2.Kernel("void keep(double *o, const double *h) { o[0] = h[0]; }", "keep")
        flux = op2.Kernel(
            "void flux(double *f, const double *o) "
            "{ double d = o[1] - o[0]; f[0] += d; f[1] -= d; }",
            "flux",
        )
        step = op2.Kernel(
            "void step(double *h, double *f, double *t) "
            "{ h[0] += 0.25 * f[0]; *t += f[0] * f[0]; f[0] = 0; }",
            "step",
        )
        heat, old, flow = self.heat, self.old, self.flow
        self.loops = (
            lambda: op2.par_loop(keep, self.cells, old(op2.WRITE), heat(op2.READ)),
            lambda: op2.par_loop(flux, edges, flow(op2.INC, ends), old(op2.READ, ends)),
            lambda: op2.par_loop(step, self.cells, heat(op2.RW), flow(op2.RW), self.total(op2.INC)),
        )

    def steps(self, n: int = 2) -> None:
        for _ in range(n):
            for loop in self.loops:
                loop()

    def values(self) -> list[Any]:
        return [one.data_ro.copy() for one in (self.heat, self.old, self.flow, self.total)]

    def values_now(self) -> list[Any]:
        """Without the waiting loops."""
        return [read_all(one).copy() for one in (self.heat, self.old, self.flow, self.total)]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Any, ...]]:
    """How often each chain ran, by its functions."""
    found: Counter[tuple[Any, ...]] = Counter()
    run = Compiled.run

    def counted(self: Compiled, queue: Any) -> None:
        found[tuple(one.loops for one in self.reports)] += 1
        run(self, queue)

    monkeypatch.setattr(Compiled, "run", counted)
    return found


def measured(
    world: World, *, journal: Path | None = None, measure: Callable[..., Any] | None = None
) -> tuple[Any, list[Any], Compiled]:
    """The entry of a block of two steps, the values when it began, and the chain."""
    ticks = count()
    found: list[Any] = []

    def note(chain: Compiled, entries: Any, passes: frozenset[str]) -> None:
        runtime.on_chain = None
        before = world.values_now()
        made = ChainMeasurement(chain, entries, passes, journal, clock=lambda: next(ticks) * 1e-4)
        found.extend([(measure or ChainMeasurement.entry)(made), before, chain])
        for was, now in zip(before, world.values_now(), strict=True):
            np.testing.assert_array_equal(was, now)

    runtime.on_chain = note
    try:
        with op2.chain():
            world.steps()
    finally:
        runtime.on_chain = None
    return found[0], found[1], found[2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_way_runs_with_its_results_compared(
    backend: str, runs: Counter[tuple[Any, ...]]
) -> None:
    op2.init(backend=backend)
    world, other = World(), World()
    entry, _, chain = measured(world)
    other.steps()
    for mine, its in zip(world.values(), other.values(), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-15)
    costs = costs_of(entry)
    assert costs is not None
    assert entry.kind == "passes"
    assert (entry.name, entry.facts) == ("keep + flux + step", "")
    assert set(costs.without) >= {"rotate"}
    assert not costs.refused
    assert set(costs.without) | set(costs.unused) == set(PASSES)
    assert entry.n == 2 + len(costs.without)
    own = tuple(one.loops for one in chain.reports)
    # five turns of at least three runs, and those that were compared
    assert runs[own] >= 5 * 3 + 1
    assert len(runs) >= 2
    assert all(n >= 5 * 3 + 1 for n in runs.values())
    shown = str(costs).splitlines()
    assert shown[1].split() == ["pass", "us", "with", "us", "without", "gain"]
    assert [line.split()[0] for line in shown[2:] if line.startswith("rotate")] == ["rotate"]


def test_the_sum_of_loops_is_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of the loops that ran: each takes a second a call, a chain half of one."""
    op2.init(backend="sequential")
    now = [0.0]
    run, compute = Compiled.run, op2.ParLoop.compute

    def of_chain(self: Compiled, queue: Any) -> None:
        now[0] += 0.5
        run(self, queue)

    def of_loop(self: Any, part: Any = None) -> None:
        now[0] += 1.0
        compute(self, part)

    monkeypatch.setattr(Compiled, "run", of_chain)
    monkeypatch.setattr(op2.ParLoop, "compute", of_loop)

    def measure(made: Any) -> Any:
        made._clock = lambda: now[0]
        return made.entry()

    entry, _, _ = measured(World(), measure=measure)
    costs = costs_of(entry)
    assert costs is not None
    assert (costs.us, costs.in_a_row, costs.alone) == (0.5e6, 6e6, 6e6)
    assert set(costs.without.values()) == {0.5e6}
    assert costs.gain("rotate") == costs.gain("geometry") == 1.0


def wrong(name: str, by: float, monkeypatch: pytest.MonkeyPatch, world: World) -> list[str]:
    """Let the chain without a pass give another result; return the passes asked for."""
    compiled, asked = chains.compiled, []

    def seeded(entries: Any, passes: frozenset[str], spares: Any) -> Compiled:
        (left_out,) = set(PASSES) - passes
        asked.append(left_out)
        made = compiled(entries, passes, spares)
        if left_out != name:
            return made

        def also() -> None:
            with runtime.at_once():
                world.heat.data[7] *= 1 + by

        first = replace(made.reports[0], dropped=("nothing",))
        return replace(made, steps=(*made.steps, also), reports=(first, *made.reports[1:]))

    monkeypatch.setattr(chains, "compiled", seeded)
    return asked


def test_a_wrong_way_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    op2.init(backend="sequential")
    world = World()
    asked = wrong("fuse", 1e-3, monkeypatch, world)
    entry, before, _ = measured(world)
    assert set(asked) == set(PASSES)
    assert set(entry.refused) == {"without fuse"}
    assert "Dat 'heat' on Set 'cells' has " in entry.refused["without fuse"]
    assert "at [7], by the loops one after the other" in entry.refused["without fuse"]
    assert "without fuse" not in entry.way
    assert "without rotate" in entry.way
    costs = costs_of(entry)
    assert costs is not None
    assert "fuse" not in costs.unused
    assert "not measured without fuse: Dat 'heat'" in str(costs)
    assert before[0][7] != 0


@pytest.mark.parametrize("deterministic", [False, True])
def test_other_bits_are_refused_under_deterministic(
    monkeypatch: pytest.MonkeyPatch, deterministic: bool
) -> None:
    op2.init(backend="sequential", deterministic=deterministic)
    world = World()
    wrong("drop", 4e-16, monkeypatch, world)
    entry, _, _ = measured(world)
    assert entry.facts == ("deterministic" if deterministic else "")
    bits = {way for way, why in entry.refused.items() if "other bits than with the pass" in why}
    assert bits == ({"without drop"} if deterministic else set())
    assert ("without drop" in entry.way) is not deterministic


def test_a_crash_is_known_by_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that learns of it keeps the way from being tried again."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("PYOP2CXX_TUNE", "use")
    op2.init(backend="sequential", tune="use", cache_dir=str(cache))
    world, journal = World(), tmp_path / "journal"
    seen: list[Any] = []
    compiled = chains.compiled

    def crashing(entries: Any, passes: frozenset[str], spares: Any) -> Compiled:
        if "rotate" not in passes and journal.exists():
            seen.append(json.loads(journal.read_text()))
        return compiled(entries, passes, spares)

    monkeypatch.setattr(chains, "compiled", crashing)
    entry, _, chain = measured(world, journal=journal)
    (written,) = seen
    assert written["way"] == "without rotate"
    assert not journal.exists()
    noted = crashed(written, "the process ended with signal SIGSEGV")
    assert noted.identity == entry.identity
    runtime.engine.tuned.note("sequential", noted)
    assert known_costs(chain, 0) is None
    asked = wrong("none", 0.0, monkeypatch, world)
    again, _, _ = measured(world, journal=journal)
    assert "rotate" not in asked
    assert again.refused == {"without rotate": "the process ended with signal SIGSEGV"}
    runtime.engine.tuned.note("sequential", again)
    found = known_costs(chain, number_of(frozenset(PASSES)))
    assert found == costs_of(again)


def test_what_cannot_be_measured_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    op2.init(backend="sequential")

    def refuse(entries: Any, passes: frozenset[str], spares: Any) -> Compiled:
        raise UnsupportedError("not here\nat all")

    monkeypatch.setattr(chains, "compiled", refuse)
    entry, _, _ = measured(World())
    assert set(entry.refused.values()) == {"not here"}
    assert len(entry.refused) == len(PASSES)
    late, _, _ = measured(World(), measure=lambda made: late_entry(made))
    assert late == "no time was left"
    op2.init(check=True)
    found: list[Any] = []
    runtime.on_chain = lambda chain, entries, passes: found.append(
        ChainMeasurement(chain, entries, passes).entry()
    )
    try:
        with op2.chain(compare=True):
            World().steps()
    finally:
        runtime.on_chain = None
    assert set(found) == {"its loops run in check mode or under debug"}


def late_entry(made: Any) -> Any:
    made._deadline = 1.0
    return made.entry()


PROGRAM = """
import sys
sys.path.insert(0, TESTS)
import numpy as np
from test_chain_costs import World
from pyop2cxx import op2
world = World()
def block():
    global chain
    with op2.chain() as chain:
        world.steps()
if "graph" in sys.argv:
    op2.record(block).submit(3)
else:
    for _ in range(3):
        block()
np.save(sys.argv[1], np.concatenate([one.ravel() for one in world.values()]))
open(sys.argv[1] + ".txt", "w").write(str(chain.explain()))
"""


def test_the_command_measures_keeps_and_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("PYOP2CXX_CACHE_DIR", str(cache))
    op2.exit()
    path, out = tmp_path / "program.py", str(tmp_path / "out.npy")
    path.write_text(PROGRAM.replace("TESTS", repr(str(request.path.parent))))

    def run(tune: str) -> tuple[Any, str]:
        environment = {**os.environ, "PYOP2CXX_TUNE": tune, "PYOP2CXX_BACKEND": "sequential"}
        subprocess.run([sys.executable, str(path), out], env=environment, check=True)
        return np.load(out), (tmp_path / "out.npy.txt").read_text()

    plain, report = run("off")
    assert "measured: " not in report
    found = tune_program(str(path), [out], "sequential", tell=lambda _: None)
    (entry,) = (one for one in found.entries if one.kind == "passes")
    assert not found.left_out
    assert {CHAIN, IN_A_ROW, ALONE, "without rotate"} <= entry.way.keys()
    (file,) = (cache / "tuned").glob("sequential-*.json")
    assert entry in read(file).entries
    table = str(costs_of(entry))
    assert table in str(found)
    monkeypatch.setenv("PYOP2CXX_TUNE", "use")
    op2.exit()
    assert table in tune_store.show()
    values, report = run("use")
    np.testing.assert_allclose(values, plain, rtol=1e-12, atol=1e-15)
    assert "  measured: keep + flux + step: " in report
    assert all(f"    {line}" in report for line in table.splitlines()[1:])
    again = tune_program(str(path), [out], "sequential", tell=lambda _: None)
    (same,) = (one for one in again.entries if one.kind == "passes")
    assert same == entry  # neither run nor measured again
    with op2.backend("sequential"):
        assert table in str(op2.tune.report())
    recorded = tune_program(str(path), [out, "graph"], "sequential", tell=lambda _: None)
    assert same in recorded.entries  # the chain of a graph is the same chain
    np.testing.assert_allclose(np.load(out), plain, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
def test_chains_of_graphs_are_measured_when_compiled(backend: str) -> None:
    op2.init(backend=backend)
    world, other = World(), World()
    found: list[Any] = []

    def note(chain: Compiled, entries: Any, passes: frozenset[str]) -> None:
        found.append(costs_of(ChainMeasurement(chain, entries, passes).entry()))  # type: ignore[arg-type]

    def block() -> None:
        with op2.chain():
            world.steps()

    runtime.on_chain = note
    try:
        graph = op2.record(block)
        graph.submit(2)
    finally:
        runtime.on_chain = None
    (costs,) = found
    assert costs.without
    other.steps(4)
    for mine, its in zip(world.values(), other.values(), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-15)


def test_incomplete_entries_are_no_costs(tmp_path: Path) -> None:
    usual: dict[str, Any] = {"kind": "passes", "key": "k", "size": 3, "name": "a", "us": 1.0}
    usual["rule_us"] = 1.0
    for way in ({}, {CHAIN: 1.0}, {CHAIN: 1.0, IN_A_ROW: 0.0, ALONE: 2.0}):
        assert costs_of(Entry(way=way, **usual)) is None
    whole = {CHAIN: 1.0, IN_A_ROW: 3.0, ALONE: 2.0, "without fuse": 4.0, "without magic": 1.0}
    entry = Entry(way=whole, **usual)
    costs = costs_of(entry)
    assert costs is not None
    assert (costs.without, costs.gain("fuse")) == ({"fuse": 4.0}, 4.0)
    assert entry.way_text == CHAIN
    place = Place("sequential", "d", "", "c", 1)
    tmp_path.chmod(0o700)
    assert change(tmp_path, place, lambda _: [entry]) == ""
    assert read(tmp_path / place.file_name).entries == (entry,)


@pytest.mark.parametrize("backend", BACKENDS)
def test_online_a_block_is_measured_and_explains_itself(
    backend: str, tmp_path: Path, runs: Counter[tuple[Any, ...]]
) -> None:
    tmp_path.chmod(0o700)
    op2.init(backend=backend, tune="online", cache_dir=str(tmp_path))
    world, other = World(), World()
    for _ in range(2):
        with op2.chain() as chain:
            world.steps()
    assert sum(runs.values()) > 30
    n_runs = sum(runs.values())
    (costs,) = chain.explain().costs
    assert costs is not None
    assert costs.without
    assert f"  measured: {costs.name}: " in str(chain.explain())
    with op2.chain() as chain:
        world.steps()
    assert sum(runs.values()) == n_runs + 1
    op2.init(tune="off")
    assert chain.explain().costs == (None,)
    other.steps(6)
    for mine, its in zip(world.values(), other.values(), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-15)
