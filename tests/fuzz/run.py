# SPDX-License-Identifier: BSD-3-Clause
"""Runs random loops in every way a backend has and compares them with the interpreter.

`python tests/fuzz/run.py --backend openmp --count 1000 --seed 0` prints how many there were, and of
each failure its seed and the smallest program found that fails in the same way. Several backends,
each with a count of its own, share `--jobs` processes: those are next of which least is done. Those
joined by a plus, as in sequential+openmp, or all with `--together`, have the same loops, of which
each is made and interpreted once, and run on all of them. `--json FILE` keeps a record while they
run; the same again with `--resume` goes on from it, whoever ended the first.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.batch import compile_batch
from fuzz.cheap import choose_compiler, compilers, quick_programs
from fuzz.children import in_child
from fuzz.jobs import Lost, Task, cache_in, own_caches, results
from fuzz.loops import KINDS, Loop, outcome, random_loop, run
from fuzz.program import Way, made_plain, program, reading, setup
from fuzz.records import Record, Seeds, add_options, record_of, seeds_of, series_before
from fuzz.shrink import shrunk
from pyop2cxx import _core, op2
from pyop2cxx.exceptions import CheckError, CompilationError, KernelWarning, UnsupportedError
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_SHOWN = 4  # failures of one kind
MOST_SECONDS = 300.0  # from one loop to the next, with all that is compiled in between
BATCH = {"sequential": 200, "openmp": 200, "opencl": 200, "cuda": 100}  # loops compiled as one
STRATEGIES = (None, *_core.STRATEGIES)
GRIDS = ("opencl", "cuda")
SUMS_OF_BLOCKS = {"least_summed_scalars": 0, "most_distinct": 1}
"""What `atomic` needs to sum in shared memory what a few elements add."""


@dataclass(slots=True)
class Failure:
    """A loop that did not do what it must.

    Attributes:
        kind: 'wrong', or the name of the exception.
        message: What differs, or what the exception says.
        loop: The loop.
        way: How it was run.
    """

    kind: str
    message: str
    loop: Loop
    way: Way

    def resembles(self, other: Failure) -> bool:
        """Whether this is the same fault, as far as can be told."""
        shorter = min(len(self.message), len(other.message), 20)
        is_same = self.message[-shorter:] == other.message[-shorter:]
        return self.kind == other.kind and (self.kind == "wrong" or is_same)


@dataclass(slots=True)
class Report:
    """What was run.

    Attributes:
        n_loops: Loops.
        runs: Of them, by backend.
        n_refused: Ways that a loop does not allow.
        refusals: Why, and how often.
        failures: What went wrong.
    """

    n_loops: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    n_refused: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def n_runs(self) -> int:
        """How many runs there were on all backends."""
        return self.runs.total()

    def joined(self, other: Report) -> Report:
        """Return both as one."""
        return Report(
            self.n_loops + other.n_loops,
            self.runs + other.runs,
            self.n_refused + other.n_refused,
            self.refusals + other.refusals,
            self.failures + other.failures,
        )


@dataclass(slots=True)
class Attempt:
    """A loop on its way: made for one way of running it, or else `otherwise`.

    All ways share `names`; `finding` is what check mode has to report.
    """

    loop: Loop
    way: Way
    expected: dict[str, list[Any]]
    names: dict[str, Any] = field(default_factory=dict)
    number: int = 0
    otherwise: Way | None = None
    finding: str = ""
    parloop: Any = None
    data: dict[str, Any] = field(default_factory=dict)


def summed(loop: Loop) -> dict[str, Any]:
    """Return a tuning with which blocks of elements sum in shared memory, if that is possible.

    Most blocks are so small that the loop has several, and some need not fit into memory.
    """
    random = Random(f"{loop.seed} sums")
    chosen = {
        "most_scatter": random.choice([0, 0, 1, 1.5, 1000]),
        "interleaved_gathers": random.choice([0, 1, 2, 1024]),
        "interleaved_window": random.choice([1, 3, 32]),
        "summed_elements": random.choice([16, 16, 32, 256, 1024]),
        "summed_entries": random.choice([0, 1, 7, 40, 1280, 65535]),
        "listed_elements": random.choice([16, 32, 128]),
        "listed_bytes": random.choice([64, 300, 1000, 4000, 34816, 49152]),
        "least_listed_elements": random.choice([1, 1, 1, 4, 16]),
    }
    return SUMS_OF_BLOCKS | chosen


def ways(loop: Loop, backend: str, n: int, compiler: str = "") -> list[Way]:
    """Return some of the ways in which a loop may be run, the same for a seed and a backend.

    The first is the default one. If one way is wanted, it is another one, followed by the default
    one for loops that do not allow it.
    """
    if n == 1:
        other = ways(loop, backend, 2, compiler)[1]
        return [other, Way(backend, other.options, compiler=compiler)]
    random = Random(f"{loop.seed} {backend}")
    found = []
    for number in range(n):
        how: dict[str, Any] = {"strategy": random.choice(STRATEGIES) if number else None}
        lanes = random.choice([None, 0, 0, 2, 4, 8])
        how["lanes"] = lanes if number and backend != "cuda" else None
        if how["strategy"] == "block":
            how["block_size"] = random.choice([1, 2, 5, 16])
        if how["strategy"] == "atomic" and backend == "cuda" and random.random() < 0.5:
            how["tuning"] = summed(loop)
        options = {"threads": random.choice([1, 2, 3])}
        options["deterministic"] = random.random() < 0.3
        how = {name: value for name, value in how.items() if value is not None}
        found.append(Way(backend, options, how, compiler))
    return found


def in_blocks(loop: Loop, way: Way) -> Way:
    """Return a way in which blocks of elements sum, as on a GPU."""
    if way.backend not in GRIDS:
        return way
    how = {"tuning": summed(loop)}
    strategy = Random(f"{loop.seed} strategy").choice([None, "atomic", "atomic", "block"])
    how |= {"strategy": strategy} if strategy and way.how else {}
    return replace(way, how=how, texts_of_gpus=way.backend == "opencl")


@contextlib.contextmanager
def texts_of_gpus(*, are_run: bool) -> Iterator[None]:
    """Let processors run the texts of GPUs, too, or not."""
    before = flow.suited_to
    if are_run:
        flow.suited_to = lambda request, _: request
    try:
        yield
    finally:
        flow.suited_to = before


def prepare(attempts: list[Attempt], report: Report) -> list[Attempt]:
    """Make the ParLoops; what the library refuses with a reason is counted."""
    ready = []
    for attempt in attempts:
        loop = attempt.loop
        try:
            if not attempt.names:
                exec(setup(loop), attempt.names)
                if attempt.way.plain:
                    exec(made_plain(loop), attempt.names)
            if is_possible(attempt, report):
                ready.append(attempt)
        except Exception as error:
            fail(report, attempt, error)
    return ready


def is_possible(attempt: Attempt, report: Report) -> bool:
    """Make the ParLoop, the other way if the loop does not allow the first."""
    try:
        with op2.backend(attempt.way.backend):
            attempt.parloop, attempt.data = attempt.names["make"](**attempt.way.how)
            flow.wanted(attempt.parloop.current_request())  # refuses what cannot be
    except UnsupportedError as error:
        report.n_refused += 1
        report.refusals[reason_of(error)] += 1
        if attempt.otherwise is None:
            return False
        attempt.way, attempt.otherwise, attempt.number = attempt.otherwise, None, 1
        return is_possible(attempt, report)
    return True


def reason_of(error: Exception) -> str:
    """Return an error's message without what differs from loop to loop."""
    return str(error).split(": ", 1)[-1][:70]


def fail(report: Report, attempt: Attempt, error: Exception) -> None:
    kind = type(error).__name__
    report.failures.append(Failure(kind, str(error), attempt.loop, attempt.way))


def check(attempt: Attempt) -> str:
    """Run a loop and return what differs from the interpreter; empty if nothing does."""
    with op2.backend(attempt.way.backend):
        if attempt.finding and attempt.way.how.get("check"):
            return reported(attempt)
        compute(attempt)
        for arg in attempt.loop.leaves():
            got = getattr(attempt.data[arg.data.name], reading(arg.data))
            want = np.array(attempt.expected[arg.data.name], got.dtype).reshape(got.shape)
            if got.size == 0:
                continue
            most = arg.tolerance * attempt.way.times
            is_fine = got == want if most == 0.0 else np.abs(got - want) <= most
            if not is_fine.all():
                return (
                    f"{arg.access} {arg.data.name}: got {got.ravel().tolist()}, "
                    f"expected {want.ravel().tolist()}, off by at most {most:g}"
                )
    return ""


def compute(attempt: Attempt) -> None:
    """Run a loop, or as often as that is wanted in a chain."""
    if not attempt.way.chained:
        attempt.parloop.compute()
        return
    with op2.chain():
        for _ in range(attempt.way.chained):
            attempt.parloop.compute()


def reported(attempt: Attempt) -> str:
    """Run a loop in which check mode has to find something; return what is wrong about that."""
    try:
        attempt.parloop.compute()
    except CheckError as error:
        return "" if error.check == attempt.finding else f"not {attempt.finding}: {error}"
    return f"check mode has not found the mistake of kind '{attempt.finding}'"


def run_together(attempts: list[Attempt], report: Report, note: Callable[[str], None]) -> None:
    """Compile attempts as a few units, in which each kernel is named once, and run each."""
    groups: list[list[Attempt]] = []
    seen: Counter[str] = Counter()
    for attempt in attempts:
        name = attempt.loop.kernel.main.name
        groups += [[]] * (seen[name] == len(groups))
        groups[seen[name]] = [*groups[seen[name]], attempt]
        seen[name] += 1
    for group in groups:
        if group[0].way.how.get("check"):
            continue  # those are other texts, of which each is compiled by itself
        with op2.backend(group[0].way.backend), contextlib.suppress(CompilationError):
            compile_batch([attempt.parloop for attempt in group])  # the loop itself says so below
    for attempt in attempts:
        op2.init(**attempt.way.options)
        note(f"{attempt.way.backend} {attempt.loop.seed} {attempt.number}")
        finish(attempt, report)
        note("")


def finish(attempt: Attempt, report: Report) -> None:
    report.runs[attempt.way.backend] += 1
    try:
        difference = check(attempt)
    except Exception as error:
        fail(report, attempt, error)
        return
    if difference:
        report.failures.append(Failure("wrong", difference, attempt.loop, attempt.way))


def silent(_: str) -> None:
    """Note nothing."""


def attempts_at(loop: Loop, plan: Plan) -> list[Attempt]:
    """Return the ways in which a loop is run on backends, with what it must do."""
    (expected, finding), names = outcome(loop, times=max(plan.chained, 1)), dict[str, Any]()
    attempts = []
    for backend in plan.backends:
        found = plan.ways(loop, backend)
        otherwise = found.pop() if plan.n_ways == 1 else None
        attempts += [
            Attempt(loop, way, expected, names, number, otherwise, finding)
            for number, way in enumerate(found)
        ]
    return attempts


def run_seeds(
    seeds: range, plan: Plan, report: Report, note: Callable[[str], None] = silent
) -> None:
    """Run the loops of some seeds, compiled as few units."""
    attempts = []
    for seed in seeds:
        loop = random_loop(seed, plan.kinds)
        attempts += attempts_at(loop, plan)
        report.n_loops += 1
    alike: dict[tuple[str, bool], list[Attempt]] = {}
    for attempt in attempts:
        way = attempt.way
        alike.setdefault((way.backend, way.options["deterministic"]), []).append(attempt)
    try:
        with texts_of_gpus(are_run="sums" in plan.kinds):
            for (_, deterministic), group in alike.items():
                op2.init(deterministic=deterministic)
                run_together(prepare(group, report), report, note)
    finally:
        forget_constants(attempts)


def forget_constants(attempts: list[Attempt]) -> None:
    names = {name for attempt in attempts for name, _, _ in attempt.loop.constants}
    for name in names & set(runtime.constants):
        runtime.constants[name].remove_from_namespace()


def one(loop: Loop, way: Way) -> Failure | None:
    """Run one loop in one way by itself."""
    report = Report()
    op2.init(**way.options)
    expected, finding = outcome(loop, times=way.times)
    attempt = Attempt(loop, way, expected, finding=finding)
    try:
        with texts_of_gpus(are_run=way.texts_of_gpus):
            for ready in prepare([attempt], report):
                finish(ready, report)
    finally:
        forget_constants([attempt])
    return report.failures[0] if report.failures else None


def smallest(failure: Failure) -> Failure:
    """Return a smaller failure of the same kind."""
    found = [failure]

    def fails(loop: Loop) -> bool:
        again = one_in_child(loop, failure.way)
        if again is None or not again.resembles(failure):
            return False
        found.append(again)
        return True

    shrunk(failure.loop, fails)
    return found[-1]


def one_in_child(loop: Loop, way: Way) -> Failure | None:
    """Run one loop in a child; none if what was left of a loop makes no sense."""

    def run_it(_: Callable[[str], None]) -> Failure | None:
        choose_compiler(way.compiler)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what compilers of devices say
        try:
            return one(loop, way)
        except Exception:
            return None

    answer, how, _ = in_child(run_it)
    if how.startswith("signal"):
        return Failure(how, "", loop, way)
    return answer  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with the loops of some seeds.

    Attributes:
        backends: Where each of them runs.
        n_ways: In how many ways there.
        kinds: What the loops may have besides.
        cflags: Of the host's compiler.
        compiler: Of the host; empty for the usual one.
        check: Whether they run in check mode, which reports those that lose a value and no
            other.
        chained: How often each is called in one chain; 0: they are no part of one.
        plain: Whether the plain forms of the kernels run instead of them.
    """

    backends: tuple[str, ...]
    n_ways: int = 2
    kinds: frozenset[str] = frozenset()
    cflags: str = "-O0"
    compiler: str = ""
    check: bool = False
    chained: int = 0
    plain: bool = False

    def ways(self, loop: Loop, backend: str) -> list[Way]:
        """Return in which ways a loop runs on a backend."""
        found = ways(loop, backend, self.n_ways, self.compiler)
        found = [replace(way, chained=self.chained, plain=self.plain) for way in found]
        if "sums" in self.kinds:
            found = [in_blocks(loop, way) for way in found]
        if not self.check:
            return found
        without = {"lanes"}  # checks are for one element at a time
        hows = [{k: v for k, v in way.how.items() if k not in without} for way in found]
        return [
            replace(way, how={**how, "check": True}) for way, how in zip(found, hows, strict=True)
        ]

    def start(self, folder: Path) -> None:
        """Set what all loops of a child have in common."""
        gc.freeze()  # what its parent had will stay
        choose_compiler(self.compiler)
        cache_in(folder)
        op2.init(cflags=self.cflags)
        if "-O0" in self.cflags.split() and "opencl" in self.backends:
            quick_programs(folder)

    def failed(self, loop: Loop, how: str, backend: str = "", number: int = 0) -> Report:
        """Return the report of a loop that ended its process."""
        backend = backend or self.backends[0]
        way = self.ways(loop, backend)[number]
        return Report(1, Counter({backend: 1}), failures=[Failure(how, "", loop, way)])


def seeds_in_child(seeds: range, plan: Plan) -> Report:
    """Run the loops of some seeds in a child; if it crashes, that is a failure of one of them."""

    def run_them(note: Callable[[str], None]) -> Report:
        plan.start(folder)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

        def noted(text: str) -> None:
            signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
            note(text)

        noted("")
        report = Report()
        run_seeds(seeds, plan, report, noted)
        return report

    with own_caches() as folder:
        answer, how, last = in_child(run_them)
    if answer is not None:
        return answer  # type: ignore[no-any-return]
    if not last:  # not in a loop; one by one it will be told which
        if len(seeds) == 1:
            return plan.failed(random_loop(seeds[0], plan.kinds), how)
        halves = (seeds[: len(seeds) // 2], seeds[len(seeds) // 2 :])
        first, second = (seeds_in_child(half, plan) for half in halves)
        return first.joined(second)
    backend, *numbers = last.split()
    seed, number = map(int, numbers)
    found, at = plan.failed(random_loop(seed, plan.kinds), how, backend, number), seeds.index(seed)
    for others in (seeds[:at], seeds[at + 1 :]):
        if others:
            found = found.joined(seeds_in_child(others, plan))
    return found


@dataclass(slots=True)
class Series:
    """The loops of one backend, or of several together, on their way.

    Attributes:
        plan: What is done with them.
        first: Their first seed.
        count: How many there shall be, with those of earlier sessions.
        batch: How many are compiled as one.
        compilers: Of the host, which take turns.
        taken: The seeds that were begun, or run by earlier sessions.
        done: Those that have ended, of this session.
        report: What became of them.
    """

    plan: Plan
    first: int
    count: int
    batch: int
    compilers: Sequence[str] = ("",)
    taken: Seeds = field(default_factory=Seeds)
    done: Seeds = field(default_factory=Seeds)
    report: Report = field(default_factory=Report)

    @property
    def name(self) -> str:
        """The backends."""
        return "+".join(self.plan.backends)

    def take(self) -> Task:
        """Return the next of its tasks."""
        n_taken = len(self.taken)
        seeds = self.taken.missing(self.first, min(self.batch, self.count - n_taken))
        compiler = self.compilers[n_taken // self.batch % len(self.compilers)]
        self.taken.add(seeds)
        return Task(self.name, seeds_in_child, (seeds, replace(self.plan, compiler=compiler)))

    def add(self, task: Task, found: Report | Lost) -> None:
        """Note what became of a task."""
        seeds, plan = task.args
        self.done.add(seeds)
        if isinstance(found, Lost):
            found = plan.failed(random_loop(seeds[0], plan.kinds), f"lost: {found.why}")
        self.report = self.report.joined(found)

    def summary(self, seconds: float) -> str:
        """Return what was run, in a line, and below it what was refused most."""
        chained = [f"in chains of {self.plan.chained}"] if self.plan.chained else []
        plain = ["of plain kernels"] if self.plan.plain else []
        words, report = [self.name, *sorted(self.plan.kinds), *plain, *chained], self.report
        lines = [
            f"{' '.join(words)}: seeds {self.done}: {report.n_loops} "
            f"loops of {self.count}, {report.n_runs} runs, {report.n_refused} ways refused, "
            f"{len(report.failures)} failures, {seconds:.0f} s, {report.n_loops / seconds:.1f} "
            "loops/s"
        ]
        for reason, n in report.refusals.most_common(12):
            lines.append(f"  {n:6d} refused: {reason}")
        return "\n".join(lines)

    @property
    def what(self) -> dict[str, Any]:
        """What was wanted: a later session goes on from a series that has the same."""
        return {
            "backend": self.name,
            "kinds": [*sorted(self.plan.kinds), *["plain"] * self.plan.plain],
            "cflags": self.plan.cflags,
            "ways": self.plan.n_ways,
            "check": self.plan.check,
            "chained": self.plan.chained,
        }

    def go_on(self, record: Record, *, has_seed: bool) -> None:
        """Leave out what earlier sessions have run, and begin where they did if not told where."""
        before = series_before(record, self.what)
        if before and not has_seed:
            self.first = before[0]["first_seed"]
        for one in before:
            for part in seeds_of(one).ranges:
                self.taken.add(part)

    def record(self) -> dict[str, Any]:
        """Return what was run, for a file."""
        report = self.report
        return {
            **self.what,
            "compilers": [*self.compilers],
            "first_seed": self.first,
            "seeds": [*self.done],
            "wanted": self.count,
            "loops": report.n_loops,
            "runs": report.n_runs,
            "runs_of": dict(report.runs),
            "refused": report.n_refused,
            "refusals": dict(report.refusals.most_common()),
            "failures": [
                {"seed": f.loop.seed, "way": str(f.way), "kind": f.kind, "message": f.message}
                for f in report.failures
            ],
        }


def in_turn(series: list[Series]) -> Iterator[Task]:
    """Yield tasks of the series of which the smallest part was begun."""
    while True:
        left = [one for one in series if len(one.taken) < one.count]
        if not left:
            return
        yield min(left, key=lambda one: len(one.taken) / one.count).take()


def run_series(series: list[Series], jobs: int, seconds: float, record: Record) -> None:
    """Run loops in several processes, and keep a record of them."""
    by_name = {one.name: one for one in series}

    def found_so_far() -> dict[str, Any]:
        return {"jobs": jobs, "series": [one.record() for one in series]}

    for task, found in results(in_turn(series), jobs, seconds):
        by_name[task.kind].add(task, found)
        record.keep(found_so_far())
    record.keep(found_so_far(), is_over=True)


def show(failure: Failure, *, is_small: bool = False) -> None:
    """Print a failure and a program that shows it."""
    loop, way = failure.loop, failure.way
    print(f"# seed {loop.seed}, {way}: {failure.kind}\n# {failure.message[:2000]}", flush=True)
    if not is_small:
        failure = smallest(failure)
    print(program(failure.loop, way, run(failure.loop, times=way.times)), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", nargs="+", default=["openmp"])
    parser.add_argument("--count", nargs="+", type=int, default=[1000], help="loops, each backend")
    parser.add_argument("--seed", type=int, default=None, help="of the first; else by the clock")
    parser.add_argument("--ways", type=int, default=2, help="runs of each loop; 1: not the default")
    parser.add_argument("--batch", type=int, default=None, help="loops compiled as one")
    parser.add_argument("--together", action="store_true", help="each loop on all the backends")
    parser.add_argument("--check", action="store_true", help="in check mode")
    parser.add_argument("--plain", action="store_true", help="the plain forms of their kernels")
    parser.add_argument("--chained", type=int, default=0, help="calls of each loop in a chain")
    parser.add_argument("--compilers", nargs="+", default=None, help="of the host, in turn")
    parser.add_argument("--cflags", default="-O0", help="of the host's compiler")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--minutes", type=float, default=1e7, help="begin nothing that ends later")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS, help="of loops")
    add_options(parser)
    parser.add_argument("--no-shrink", action="store_true")
    given = parser.parse_args()
    if given.together:
        given.backend = ["+".join(given.backend)]
    if len(given.count) not in (1, len(given.backend)):
        parser.error("--count takes one number, or one for each backend or several together")
    return given


def series_of(given: argparse.Namespace) -> list[Series]:
    """Return what the arguments ask for."""
    first = int(time.time()) if given.seed is None else given.seed
    groups = [together.split("+") for together in given.backend]
    counts = given.count * (len(groups) // len(given.count))
    return [
        Series(
            Plan(
                tuple(backends),
                given.ways,
                frozenset(given.kind),
                given.cflags,
                check=given.check,
                chained=given.chained,
                plain=given.plain,
            ),
            first,
            count,
            given.batch or min(BATCH[backend] for backend in backends),
            given.compilers or compilers(),
        )
        for backends, count in zip(groups, counts, strict=True)
    ]


def main() -> int:
    given = arguments()
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", KernelWarning)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # there are more threads than cores
    series, record = series_of(given), record_of(given)
    for one in series:
        one.go_on(record, has_seed=given.seed is not None)
    run_series(series, given.jobs, 60 * given.minutes, record)
    for one in series:
        print(one.summary(record.seconds()), flush=True)
    failures = [failure for one in series for failure in one.report.failures]
    shown: Counter[str] = Counter()
    for failure in failures:
        shown[failure.kind] += 1
        if shown[failure.kind] <= MOST_SHOWN:
            show(failure, is_small=given.no_shrink)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
