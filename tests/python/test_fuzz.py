# SPDX-License-Identifier: BSD-3-Clause
"""Random loops against an interpreter of their own: a short run, and that the tools can fail."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from programs import needs_program

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import KernelWarning
from pyop2cxx.pipeline import flow

sys.path.insert(0, str(Path(__file__).parents[1]))

import fuzz.loops
from fuzz import chains, hostile
from fuzz import run as running
from fuzz.jobs import Lost, Task, results
from fuzz.kills import kill_many, killed_before
from fuzz.loops import KINDS, random_loop, run
from fuzz.program import Way, program, setup
from fuzz.records import Record, Seeds, sessions_in
from fuzz.run import Failure, Plan, Report, run_seeds, seeds_in_child, smallest
from fuzz.sanitized import OVERRUN, watch
from fuzz.shrink import statements
from fuzz.table import keep, kept, lines_of, sums, table
from fuzz.text import source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

N_LOOPS = {"sequential": 60, "openmp": 60, "opencl": 16}
N_TOGETHER = 60
N_OF_KIND = {"sequential": 12, "openmp": 12, "opencl": 4}
BACKENDS = [backend.name for backend in op2.backends() if backend.available]


@pytest.fixture(autouse=True)
def quickly_compiled() -> Iterator[None]:
    op2.init(cflags="-O0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", KernelWarning)
        yield
    op2.exit()


@pytest.mark.parametrize("backend", [name for name in N_LOOPS if name in BACKENDS])
def test_loops_do_what_the_interpreter_does(backend: str) -> None:
    report = Report()
    for first in range(0, N_LOOPS[backend], N_TOGETHER):
        seeds = range(first, min(first + N_TOGETHER, N_LOOPS[backend]))
        run_seeds(seeds, Plan((backend,)), report)
    found = [
        f"seed {f.loop.seed}, {f.way}: {f.kind}: {f.message}\n{program(f.loop, f.way, run(f.loop))}"
        for f in report.failures
    ]
    assert not found, "\n\n".join(found[:3])
    assert report.n_runs >= report.n_loops


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", [name for name in N_OF_KIND if name in BACKENDS])
def test_loops_of_other_kinds(kind: str, backend: str) -> None:
    report = Report()
    plan = Plan((backend,), 1, frozenset([kind]))
    run_seeds(range(N_OF_KIND[backend]), plan, report)
    found = [f"seed {f.loop.seed}, {f.way}: {f.kind}: {f.message}" for f in report.failures]
    assert not found, "\n\n".join(found[:3])
    assert report.n_runs >= report.n_loops // 2


@pytest.mark.parametrize("backend", [name for name in N_OF_KIND if name in BACKENDS])
def test_plain_kernels_compute_what_their_kernels_do(backend: str) -> None:
    report, kinds = Report(), frozenset(["effects"])
    run_seeds(range(2 * N_OF_KIND[backend]), Plan((backend,), 1, kinds, plain=True), report)
    found = [f"seed {f.loop.seed}, {f.way}: {f.kind}: {f.message}" for f in report.failures]
    assert not found, "\n\n".join(found[:3])
    assert report.n_runs >= report.n_loops // 2


def test_plain_kernels_differ_from_kernels_with_effects() -> None:
    """So a program of a failure is one of the plain kernel."""
    loop = random_loop(5, frozenset(["effects"]))
    way = Plan(("sequential",), 1, plain=True).ways(loop, "sequential")[0]
    assert way.plain
    for text, has_locals in [(setup(loop), False), (program(loop, way, run(loop)), True)]:
        names: dict[str, Any] = {}
        exec(text.split("op2.init")[0], names)
        made = _core.kernel_text(names["kernel"].core, line_markers=False)
        assert ("op2_value1" in made) == has_locals


@pytest.mark.skipif("opencl" not in BACKENDS, reason="no device of OpenCL is available")
def test_loops_of_the_kind_sums_are_summed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the device is a processor, and some in other ways."""
    generate, n_in_blocks = flow.generate, Counter[bool]()

    def watched(request: Any, choice: Any) -> Any:
        text = generate(request, choice)
        n_in_blocks["_first_summand" in text] += 1
        return text

    monkeypatch.setattr(flow, "generate", watched)
    report, plan = Report(), Plan(("opencl",), 1, frozenset(["sums"]))
    run_seeds(range(20), plan, report)
    assert not report.failures
    assert min(n_in_blocks.values()) >= 3
    assert len(n_in_blocks) == 2
    ways = [plan.ways(random_loop(seed, plan.kinds), "opencl")[0] for seed in range(20)]
    assert all(way.texts_of_gpus for way in ways)
    assert "flow.suited_to = " in program(random_loop(0), ways[0], run(random_loop(0)))
    hosts = Plan(("openmp",), 1, plan.kinds).ways(random_loop(0, plan.kinds), "openmp")
    assert not any(way.texts_of_gpus for way in hosts)


def test_a_body_may_change_the_end_of_its_loop() -> None:
    """The interpreter looks at it before each round, as C does."""
    report = Report()
    run_seeds([151000886], Plan(("sequential",), 2, frozenset(["aggregates"])), report)
    assert not report.failures
    assert report.n_runs >= 1


@needs_program("clang")
def test_the_compiler_of_a_plan_compiles(tmp_path: Path) -> None:
    plan = Plan(("sequential",), 1, compiler="clang")
    loop = random_loop(3)
    text = program(loop, plan.ways(loop, "sequential")[0], run(loop))
    assert 'cc="clang"' in text
    try:
        plan.start(tmp_path)
        report = Report()
        run_seeds(range(3), plan, report)
        (details,) = [one.details for one in op2.backends() if one.name == "sequential"]
        assert "clang" in details
        assert report.n_runs == 3
    finally:
        op2.configuration.reset()


@pytest.mark.parametrize("backend", [name for name in N_OF_KIND if name in BACKENDS])
def test_check_mode_reports_no_random_loop(backend: str) -> None:
    """Nothing in them is undefined; and checks change no value."""
    report = Report()
    kinds = frozenset(["structs", "mixed", "matrices"])
    run_seeds(range(N_OF_KIND[backend]), Plan((backend,), 1, kinds, check=True), report)
    found = [f"seed {f.loop.seed}, {f.way}: {f.kind}: {f.message}" for f in report.failures]
    assert not found, "\n\n".join(found[:3])
    assert report.n_runs == report.n_loops


@pytest.mark.parametrize("backend", [name for name in N_OF_KIND if name in BACKENDS])
def test_loops_in_chains(backend: str) -> None:
    """Called three times in a chain a loop does what it does three times by itself."""
    report = Report()
    plan = Plan((backend,), 1, chained=3)
    run_seeds(range(100, 100 + N_OF_KIND[backend]), plan, report)
    found = [f"seed {f.loop.seed}, {f.way}: {f.kind}: {f.message}" for f in report.failures]
    assert not found, "\n\n".join(found[:3])
    assert report.n_runs == report.n_loops
    loop = random_loop(100)
    text = program(loop, plan.ways(loop, backend)[0], run(loop, times=3))
    assert text.count("    loop.compute()") == 3


def test_chains_of_named_loops_keep_a_record(tmp_path: Path) -> None:
    record = tmp_path / "chains.json"
    command = [sys.executable, chains.__file__, "--backend", "sequential", "--count", "6"]
    done = subprocess.run(
        [*command, "--json", str(record)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (one,) = json.loads(record.read_text())["series"]
    assert (one["backend"], one["chains"], one["failures"]) == ("sequential", 6, [])
    assert 0 < one["joined"] <= 6
    made = table(lines_of(json.loads(record.read_text())))
    assert f"| chains, loops joined in {one['joined']} | sequential | 0 to 5 | 6 | 0 |" in made
    more = [*command[:-1], "9", "--resume", "--json", str(record)]
    assert subprocess.run(more, capture_output=True, check=False).returncode == 0
    parts = [session["series"][0] for session in sessions_in(record)]
    assert [(part["seeds"], part["chains"]) for part in parts] == [([[0, 5]], 6), ([[6, 8]], 3)]


def test_records_become_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = {"commit": "abc", "processor": "P", "cores": 2}
    series = {"backend": "sequential+openmp", "kinds": ["structs"], "check": True, "chained": 3}
    series |= {"first_seed": 5, "loops": 10, "runs_of": {"sequential": 10, "openmp": 9}}
    series |= {"failures": [{"seed": 7, "way": "backend='openmp', threads=1"}]}
    later = {**series, "first_seed": 99, "seeds": [[15, 20], [30, 33]], "failures": []}
    calls = {"machine": machine, "calls": 100, "first_seed": 0, "faults": {}}
    cuda = {"killed": 200, "noticed": [], "seeds": [[3, 90]]}
    kills = {"machine": machine, "seed": 3, "backends": {"cuda": cuda}, "date": "today"}
    records = [{"machine": machine, "series": [one]} for one in (series, later)]
    lines = [line for one in (*records, calls, kills) for line in lines_of(one)]
    what, seeds = "loops with structs in check mode in chains of 3", "5 to 14, 15 to 20, 30 to 33"
    assert table(lines).splitlines()[2:] == [
        f"| {what} | sequential | {seeds} | 20 | 0 | abc | P, 2 cores |  |",
        f"| {what} | openmp | {seeds} | 18 | 1 | abc | P, 2 cores |  |",
        "| hostile calls |  | from 0 on | 100 | 0 | abc | P, 2 cores |  |",
        "| kills | cuda | 3 to 90 | 200 | 0 | abc | P, 2 cores | today |",
    ]
    own = tmp_path / "records.json"
    own.write_text("[]")
    monkeypatch.setattr("fuzz.table.KEPT", own)
    keep(lines[:1])
    keep([*lines, lines[0]._replace(seeds="77 to 79", runs=3, where="opencl")])
    assert kept()[:-1] == lines
    assert sums(kept()).splitlines()[2:] == [
        "| hostile calls |  | 100 | 0 |",
        "| kills | cuda | 200 | 0 |",
        "| random loops | opencl | 3 | 0 |",
        "| random loops | openmp | 18 | 1 |",
        "| random loops | sequential | 20 | 0 |",
    ]


def test_what_the_repository_keeps_has_all_that_it_should() -> None:
    lines = kept()
    assert {"sequential", "openmp", "opencl", "cuda"} <= {line.where for line in lines}
    assert all(line.runs > 0 and line.machine and line.date for line in lines)
    assert all(line.commit or line.note for line in lines)


def test_seeds_become_few_ranges() -> None:
    seeds = Seeds()
    assert (len(seeds), str(seeds), [*seeds]) == (0, "none", [])
    for part in (range(10, 20), range(30, 40), range(0, 0), range(20, 25)):
        seeds.add(part)
    assert [*seeds] == [(10, 24), (30, 39)]
    assert len(seeds) == 25
    assert seeds.missing(5, 100) == range(5, 10)
    assert seeds.missing(12, 100) == range(25, 30)
    assert seeds.missing(12, 2) == range(25, 27)
    assert seeds.missing(30, 3) == range(40, 43)
    seeds.add(range(0, 100))
    assert str(seeds) == "0 to 99"


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[list[str], Path]:
    """A command that runs 40 loops and keeps a record after each four of them."""
    record = tmp_path / "record.json"
    often = f"import sys; sys.path.insert(0, {str(Path(running.__file__).parents[1])!r}); "
    often += "from fuzz import records, run; records.SECONDS_BETWEEN = 0; sys.exit(run.main())"
    command = [sys.executable, "-c", often, "--backend", "sequential", "--count", "40"]
    command += ["--batch", "4", "--ways", "1", "--json", str(record), "--resume"]
    return command, record


def test_who_is_killed_loses_no_more_than_what_came_last(recorded: tuple[list[str], Path]) -> None:
    command, record = recorded
    killed = subprocess.Popen([*command, "--seed", "900"], start_new_session=True)
    stop = time.monotonic() + 120
    while not record.exists() and time.monotonic() < stop:
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    (first,) = sessions_in(record)
    n_before = first["series"][0]["loops"]
    assert n_before >= 4
    assert not first["is_over"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    same, second = sessions_in(record)
    assert same == first
    assert second["is_over"]
    assert "commit" in second["machine"]
    (series,) = second["series"]
    assert (series["first_seed"], series["loops"]) == (900, 40 - n_before)
    assert series["seeds"] == [[900 + n_before, 939]]
    lines = [line for one in (first, second) for line in lines_of(one)]
    assert sum(line.runs for line in lines) == 40
    assert "| random loops | sequential | 40 | 0 |" in sums(lines)
    nothing = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "seeds none: 0 loops" in nothing.stdout
    assert sum(one["series"][0]["loops"] for one in sessions_in(record)) == 40


def test_gaps_that_processes_left_are_filled(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    plan = Plan(("sequential",), 1)
    one = {**running.Series(plan, 5, 100, 10).record(), "seeds": [[5, 9], [20, 24]], "loops": 10}
    path.write_text(json.dumps({"machine": {}, "series": [one]}))
    series = running.Series(plan, 7000, 20, 8)
    series.go_on(Record(path, goes_on=True), has_seed=False)
    tasks = [task.args[0] for task in running.in_turn([series])]
    assert tasks == [range(10, 18), range(18, 20)]
    other = running.Series(Plan(("openmp",), 1), 7000, 20, 20)
    other.go_on(Record(path, goes_on=True), has_seed=False)
    assert [task.args[0] for task in running.in_turn([other])] == [range(7000, 7020)]


def test_calls_and_kills_are_gone_on_from(tmp_path: Path) -> None:
    calls, kills = tmp_path / "calls.json", tmp_path / "kills.json"
    for count in ("300", "500"):
        command = [sys.executable, hostile.__file__, "--seed", "5", "--count", count]
        command += ["--json", str(calls), "--resume"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    found = [(one["seeds"], one["calls"]) for one in sessions_in(calls)]
    assert found == [([[5, 5]], 300), ([[6, 6]], 200)]
    head = {"machine": {}, "seed": 8}
    known = {"killed": 60, "noticed": [], "seeds": [[8, 40]]}
    kills.write_text(json.dumps({**head, "backends": {"sequential": known}}))
    record = Record(kills, goes_on=True)
    assert killed_before(record, "sequential", 8) == (60, 41)
    assert killed_before(record, "opencl", 8) == (0, 8)


def test_several_processes_share_loops_and_keep_a_record(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    command = [sys.executable, running.__file__, "--backend", "sequential", "openmp"]
    command += ["--count", "24", "6", "--batch", "8", "--jobs", "2", "--seed", "50"]
    done = subprocess.run(
        [*command, "--json", str(record)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    series = json.loads(record.read_text())["series"]
    found = [(one["backend"], one["loops"], one["failures"]) for one in series]
    assert found == [("sequential", 24, []), ("openmp", 6, [])]
    assert all(one["runs"] >= one["loops"] for one in series)


def test_a_loop_may_run_on_all_backends_together(tmp_path: Path) -> None:
    """The kernel's text is made and interpreted once; batches are compiled by compilers in turn."""
    record = tmp_path / "record.json"
    command = [sys.executable, running.__file__, "--backend", "sequential", "openmp", "--together"]
    command += ["--count", "12", "--batch", "6", "--seed", "70", "--ways", "1"]
    done = subprocess.run(
        [*command, "--json", str(record)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (one,) = json.loads(record.read_text())["series"]
    assert (one["backend"], one["loops"], one["failures"]) == ("sequential+openmp", 12, [])
    assert one["runs_of"] == {"sequential": 12, "openmp": 12}


def test_nothing_begins_that_would_end_too_late() -> None:
    tasks = (Task("sleep", time.sleep, (0.2,)) for _ in range(1000))
    start = time.monotonic()
    n_done = sum(1 for _ in results(tasks, jobs=2, seconds=1.0))
    assert 2 <= n_done <= 10
    assert time.monotonic() - start < 10.0


def test_a_lost_process_is_told() -> None:
    command = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    ((_, found),) = results([Task("kill", exec, (command,))], jobs=1)
    assert isinstance(found, Lost)


@pytest.mark.parametrize("how", ["crash", "hang"])
def test_a_seed_that_ends_its_process_is_named(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = running.check

    def ends_at_seven(attempt: running.Attempt) -> str:
        if attempt.loop.seed == 7:
            os.kill(os.getpid(), signal.SIGKILL) if how == "crash" else time.sleep(60)
        return check(attempt)

    monkeypatch.setattr(running, "check", ends_at_seven)
    monkeypatch.setattr(running, "MOST_SECONDS", 5.0)
    report = seeds_in_child(range(6, 9), Plan(("sequential",), 1))
    signals = {"crash": signal.SIGKILL, "hang": signal.SIGALRM}
    assert report.n_loops == 3
    assert [(f.kind, f.loop.seed) for f in report.failures] == [(f"signal {signals[how]:d}", 7)]


def test_there_are_loops_of_other_kinds() -> None:
    every = frozenset(KINDS)
    loops = [random_loop(seed, every) for seed in range(100)]
    paths = [path for loop in loops for path in loop.paths_used()]
    treated = [s.how for loop in loops for f in loop.kernel.functions for s in statements(f.body)]
    assert sum(any(arg.fields for arg in loop.args) for loop in loops) > 50
    assert sum(loop.periodic for loop in loops) > 50
    assert sum(any(path.quotients) for path in paths) > 20
    assert sum(min(min(row, default=0) for row in [*path.rows, [0]]) < 0 for path in paths) > 20
    assert {"list", "named", "of", "copy", "assign", "turn", "turned", "move", "zero"} <= {*treated}


def test_loops_with_structures_of_structures() -> None:
    """All of them are analysed, and all that the kind is for stands in some."""
    loops = [random_loop(seed, frozenset(["aggregates"])) for seed in range(200)]
    texts = [source(loop.kernel) for loop in loops]
    with warnings.catch_warnings(action="ignore"):
        n_opaque = sum(
            op2.Kernel(t, k.kernel.main.name).core.body is None
            for t, k in zip(texts[:60], loops[:60], strict=True)
        )
    assert n_opaque == 0
    every = "\n".join(texts)
    variable = r"\w+(?:\[\d\])?"
    for found in (
        r"struct \w+ v\d+ = v\d+\[(?:\w+\+\+|\+\+\w+|\w+--)\];",  # a step in a place
        rf"{variable} = \(.*\) \? {variable} : {variable};",  # a choice
        r"\) \? .*\(struct \w+\)\{",  # of something without a name
        r"struct \w+ v\d+\[\d?\] = \{(?:.*, )?v\d+",  # structures in lists
        r"\w+_h\d+\([^;]*\)\.m\d\[",  # an element of what a helper returns
        r"v\d+\[\w+\+\+\]\.m\d.* = ",  # an effect in the place of a member
        r"q\d+ = &\w+\[q\d+->m\d\];",  # a pointer that says where it goes
        r"q\d+ \+= q\d+->m\d;",
        r"&& \(q\d+ = &",
        r"\(.*, v\d+\)\.m\d",  # a comma
        r"static struct \w+ \w+\(struct \w+ a0",
    ):
        assert re.search(found, every), found


def test_sanitizers_see_what_generated_code_does() -> None:
    """A case of the corpus is clean; what reads too far is not."""
    reports = watch([OVERRUN, "direct_read_write"])
    assert list(reports) == [OVERRUN]
    assert "heap-buffer-overflow" in reports[OVERRUN]


def test_kills_are_not_noticed() -> None:
    told: list[dict[str, Any]] = []
    n_killed, noticed = kill_many(2, 3, "sequential", tell=told.append)
    assert n_killed >= 2
    assert noticed == []
    assert told[-1]["killed"] == n_killed
    assert told[-1]["seeds"] == [[3, 2 + len(told)]]


def test_facts_hold_whatever_is_computed() -> None:
    """What the generator relies on so that C leaves nothing undefined."""
    for seed in range(1000, 1050):
        run(random_loop(seed), checked=True)
        run(random_loop(seed, frozenset(KINDS)), checked=True)


WRITE, RW = _core.Access.write, _core.Access.rw


class Watched(list[Any]):
    """An argument that knows which of its values were stored, and which were seen before."""

    def __init__(self, values: Iterable[Any]) -> None:
        super().__init__(values)
        self.stored: set[int] = set()
        self.seen: set[int] = set()

    def __getitem__(self, index: Any) -> Any:
        self.seen |= set(self._numbers(index)) - self.stored
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.stored |= set(self._numbers(index))
        super().__setitem__(index, value)

    def _numbers(self, index: Any) -> range:
        return range(len(self))[index] if isinstance(index, slice) else range(index, index + 1)


def test_what_kernels_are_known_to_overwrite_they_overwrite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They store all of it, and what may be read, too, they do not look at before."""
    calls: list[list[Watched]] = []

    def watching(loop: Any, call: Callable[..., None], *rest: Any) -> None:
        def watched(*packs: Any) -> None:
            own = [Watched(pack) if isinstance(pack, list) else pack for pack in packs]
            call(*own)
            for pack, mine in zip(packs, own, strict=True):
                if isinstance(pack, list):
                    pack[:] = list.__iter__(mine)
            calls.append([mine for mine in own if isinstance(mine, Watched)])

        visit(loop, watched, *rest)

    visit = fuzz.loops._visit
    monkeypatch.setattr(fuzz.loops, "_visit", watching)
    n_kept: Counter[_core.Access] = Counter()
    n_true: Counter[_core.Access] = Counter()
    kinds = frozenset(KINDS) - {"aggregates"}  # large, and some are opaque
    for seed in range(150):
        loop = random_loop(seed, kinds if seed % 3 == 0 else frozenset())
        with warnings.catch_warnings(action="ignore"):
            core = op2.Kernel(source(loop.kernel), loop.kernel.main.name).core
        assert core.body is not None
        calls.clear()
        run(loop)
        for number in range(len(loop.args)):
            own = [packs[number] for packs in calls]
            for n in range(1, min(map(len, own), default=0) + 1):
                first = set(range(n))
                written = all(first <= pack.stored for pack in own)
                unseen = all(first.isdisjoint(pack.seen) for pack in own)
                for access, found in ((WRITE, written), (RW, written and unseen)):
                    said = _core.overwrites(core, number, n, access)
                    assert found or not said, (seed, number, n, access)
                    n_kept[access] += said
                    n_true[access] += found
    for access in (WRITE, RW):
        assert n_kept[access] > n_true[access] / 2, (n_kept, n_true)


def test_a_seed_is_always_the_same_program() -> None:
    loop = random_loop(7)
    assert program(loop, Way(), run(loop)) == program(random_loop(7), Way(), run(random_loop(7)))


def test_a_wrong_number_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if compilers added where kernels subtract."""
    monkeypatch.setattr("fuzz.interpreter._quotient", lambda a, b: a // b + 1)
    report = Report()
    run_seeds(range(20), Plan(("sequential",), 1), report)
    wrong = [f for f in report.failures if f.kind == "wrong"]
    assert wrong
    small = smallest(wrong[0])
    assert isinstance(small, Failure)
    assert size(small) <= size(wrong[0])
    assert {"/", "%"} & set(source(small.loop.kernel))


def size(failure: Failure) -> int:
    return len(program(failure.loop, failure.way, {a.data.name: [] for a in failure.loop.leaves()}))
