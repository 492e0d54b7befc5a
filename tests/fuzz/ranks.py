# SPDX-License-Identifier: BSD-3-Clause
"""Runs the corpus and random loops on several processes, each with a random partition.

`python tests/fuzz/ranks.py --count 1000 --seed 0` starts mpiexec for each number of processes and
each backend, with many loops in each. Results are compared with the interpreter, or with the
corpus' own expectations. Loops that are refused by name are counted. A program that ends, or waits
too long, is a failure of the loop that it was at, and the next ones run in a new program.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
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
if __name__ == "__main__":  # as a module, processes of the importing program keep their corpus
    os.environ.setdefault("CORPUS_ELEMENTS", "200")
    os.environ.setdefault("CORPUS_TARGETS", "60")

from fuzz.batch import compile_batch
from fuzz.cheap import choose_compiler, compilers, quick_programs
from fuzz.jobs import cache_in, own_caches
from fuzz.loops import KINDS, Loop, outcome, random_loop
from fuzz.program import Way, setup
from fuzz.run import ways
from pyop2cxx import op2
from pyop2cxx.exceptions import CompilationError, UnsupportedError
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TREE = Path(__file__).parents[2]
BACKENDS = ("sequential", "openmp", "opencl", "cuda")  # those that are here
KINDS_OF_SEEDS = (*(frozenset({kind}) for kind in KINDS if kind != "sums"), frozenset[str]())
"""Seeds have these kinds of loops in turn; sums of blocks are of texts for GPUs."""
N_BATCH = 40  # loops compiled as one
PATIENCE, MOST_SECONDS = 60, 300  # a batch of OpenCL takes minutes on a busy machine
CORPUS = "corpus"


@dataclass(slots=True)
class Trial:
    """A loop on its way.

    Attributes:
        name: Its seed, or the name of a case of the corpus.
        way: How it is run.
        late: Whether the loop is made after the distribution.
        chooses: Makes the partition.
        expected: The objects to compare, by name: values, and how far off each may be; only the
            first process knows.
        loop: Plain data of a random loop.
        problem: The loop of a case.
        is_exact: Whether results must have the bits of a process alone.
        alone: The same loop, not distributed, and the objects to compare.
    """

    name: str
    way: Way
    late: bool
    chooses: np.random.Generator
    expected: dict[str, tuple[Any, float]] = field(default_factory=dict)
    loop: Loop | None = None
    problem: Any = None
    is_exact: bool = False
    alone: tuple[Any, dict[str, Any]] | None = None
    parloop: Any = None
    data: dict[str, Any] = field(default_factory=dict)


def partition_of(n: int, n_ranks: int, chooses: np.random.Generator) -> Any:
    """Return a random partition: of pieces, mixed, with ranks that have nothing, or by METIS."""
    kind = int(chooses.integers(6))
    some = chooses.permutation(n_ranks)[: int(chooses.integers(1, n_ranks + 1))]
    if kind == 0:
        return np.sort(chooses.integers(n_ranks, size=n))
    if kind == 1:
        return some[chooses.integers(len(some), size=n)]
    if kind == 2:
        return np.full(n, some[0])
    if kind == 3:
        return "metis"
    return chooses.integers(n_ranks, size=n)


def share(on: Any, maps: Sequence[Any], trial: Trial, n_ranks: int) -> None:
    """Distribute the mesh of a loop: its own Set has the partition, or one that Maps lead to."""
    chooses = trial.chooses
    ends = [m.toset for m in maps if isinstance(m, op2.Map)]
    base = on.ground
    if ends and chooses.random() < 0.3:
        base = ends[int(chooses.integers(len(ends)))].ground
    op2.distribute(base, partition_of(base.size, n_ranks, chooses))


# Random loops


def without_ghosts(loop: Loop) -> Loop:
    """Return a loop on the same Sets without ghosts, of which a process alone has none."""
    n = loop.sets["cells"][0]
    for path in loop.paths_used():
        path.rows, path.more, path.through = path.rows[:n], path.more[:n], path.through[:n]
    sets = {name: (total, total) for name, (_, total) in loop.sets.items()} | {"cells": (n, n)}
    for leaf in loop.leaves():
        if leaf.data.on == "cells":
            leaf.data.values = leaf.data.values[: n * leaf.data.width]
    part = None if loop.part is None else [i for i in loop.part if i < n]
    layers = loop.layers[: max(n, 1)] if loop.even else loop.layers[:n]
    return replace(loop, sets=sets, layers=layers, part=part)


def trial_of_seed(seed: int, backend: str, comm: Any) -> Trial:
    """Return a random loop; the first process makes it."""
    random = Random(f"{seed} ranks")
    way = ways_of(seed, backend, random)
    made: Any = None
    if comm is None or comm.rank == 0:
        loop = without_ghosts(random_loop(seed, KINDS_OF_SEEDS[seed % len(KINDS_OF_SEEDS)]))
        (expected, finding) = outcome(loop, times=way(loop).times)
        chosen = way(loop)
        if finding:
            chosen = replace(chosen, how={k: v for k, v in chosen.how.items() if k != "check"})
        wanted = {
            leaf.data.name: (expected[leaf.data.name], leaf.tolerance * chosen.times)
            for leaf in loop.leaves()
        }
        made = loop, chosen, wanted
    if comm is not None:
        made = comm.bcast(made)
    loop, chosen, wanted = made
    return Trial(
        name=str(seed),
        way=chosen,
        late=random.random() < 0.5,
        chooses=np.random.default_rng(seed),
        expected=wanted,
        loop=loop,
    )


def ways_of(seed: int, backend: str, random: Random) -> Any:
    """Return a function that says how a loop is run: one answer for a seed and a backend."""
    number = random.randrange(2)
    chained = random.choice([0, 0, 2])
    is_checked = random.random() < 0.05

    def way(loop: Loop) -> Way:
        found = replace(ways(loop, backend, 2)[number], chained=chained)
        if not is_checked:
            return found
        how = {name: value for name, value in found.how.items() if name != "lanes"}
        return replace(found, how={**how, "check": True}, chained=0)

    return way


def make_random(trial: Trial, n_ranks: int) -> None:
    loop, names = trial.loop, dict[str, Any]()
    assert loop is not None
    exec(setup(loop), names)
    maps = [names[path.name] for path in loop.paths_used()]
    trial.parloop, trial.data = names["make"](**trial.way.how)
    if trial.is_exact:
        others = dict[str, Any]()
        exec(setup(loop), others)
        trial.alone = others["make"](**trial.way.how)
        flow.wanted(trial.alone[0].current_request())
    share(names["cells"], maps, trial, n_ranks)
    if trial.late:
        old = trial.parloop
        trial.parloop = op2.ParLoop(
            names["kernel"], old.iterset, *old.args, **fixed(loop, names), **trial.way.how
        )


def fixed(loop: Loop, names: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that belong to the loop."""
    found: dict[str, Any] = {"iteration_region": getattr(op2, loop.region)} if loop.region else {}
    return found | ({"pass_layer_arg": True} if loop.layer else {})


# The corpus


def trials_of_corpus(turn: int, backend: str, *, every: int, first: int) -> Iterator[Trial]:
    """Yield each case of the corpus, or each of some, with a partition of the turn."""
    from corpus import CASES

    for number, case in enumerate(CASES):
        lacks = {"complex"} if backend == "opencl" else set[str]()
        lacks |= {"cpp", "headers"} if backend in ("opencl", "cuda") else set()
        if number % every != first % every or case.needs & (lacks | {"overlap"}):
            continue
        seed = 1000 * turn + number
        random = Random(f"{case.name} {turn}")
        strategies = [None, None, *sorted(case.strategies)]
        strategy = random.choice(strategies) if backend != "sequential" else None
        threads = {"threads": random.choice([1, 2]), "deterministic": False}
        yield Trial(
            name=case.name,
            way=Way(backend, threads, {"strategy": strategy} if strategy else {}),
            late=random.random() < 0.5,
            chooses=np.random.default_rng(seed),
            problem=case,
        )


def make_case(trial: Trial, n_ranks: int) -> None:
    case = trial.problem
    problem = trial.problem = case.problem()
    how = {**problem.options, **trial.way.how}
    has_mats = any(isinstance(one, op2.Mat) for one, _ in problem.expected)
    for_mats = alone(case) if has_mats else dict[int, Any]()
    old = None if trial.late else op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **how)
    trial.data = {str(i): carrier for i, (carrier, _) in enumerate(problem.expected)}
    for i, (_, array) in enumerate(problem.expected):
        want = for_mats.get(i, array)
        epsilon = np.finfo(want.dtype).eps * 4 if want.dtype.kind in "fc" else 0.0
        most = float(np.abs(want).max()) if want.size else 0.0
        trial.expected[str(i)] = want, max(case.tolerance, epsilon) * most
    if trial.is_exact and not has_mats:
        other = case.problem()
        data = {str(i): carrier for i, (carrier, _) in enumerate(other.expected)}
        trial.alone = op2.ParLoop(other.kernel, other.iterset, *other.args, **how), data
    share(problem.iterset, [arg.map_ for arg in problem.args], trial, n_ranks)
    trial.parloop = old or op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **how)


def alone(case: Any) -> dict[int, Any]:
    """Return whole matrices of a loop, as a process alone assembles them, by their places."""
    problem = case.problem()
    mats = {i: one for i, (one, _) in enumerate(problem.expected) if isinstance(one, op2.Mat)}
    op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **dict(problem.options)).compute()
    return {i: mat.to_scipy().toarray() for i, mat in mats.items()}


# On each process


def whole(carrier: Any) -> Any:
    """Return the values of all processes."""
    if isinstance(carrier, op2.Mat):
        return carrier.gathered().toarray()
    return carrier.gathered() if isinstance(carrier, op2.Dat) else carrier.data_ro


def why(error: Exception) -> str:
    """Return why a loop is refused, without names and numbers of loops."""
    text = re.sub(
        r"^(op2.distribute|par_loop '\w*'|strategy '\w*' cannot be used): ", "", str(error)
    )
    text = re.sub(r"^args? \d+( and \d+| \('\w+'\))?:? ?", "", text)
    return re.sub(r"'\S*'|\(line \d+\)|\d+", "...", text)[:100]


def prepare(trial: Trial, comm: Any) -> tuple[str, str]:
    """Make a loop and distribute its mesh; return what became of it."""
    op2.init(**trial.way.options)
    try:
        make_random(trial, comm.size) if trial.loop else make_case(trial, comm.size)
        flow.wanted(trial.parloop.current_request())  # refuses what cannot be
    except UnsupportedError as error:
        return "refused", why(error)
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


def run_it(trial: Trial) -> tuple[str, str]:
    """Run a loop that is made, and compare."""
    op2.init(**trial.way.options)
    try:
        if trial.alone is not None:
            call(trial.alone[0], trial.way)
        call(trial.parloop, trial.way)
        found = {name: whole(carrier) for name, carrier in trial.data.items()}
    except UnsupportedError as error:
        return "refused", why(error)
    except Exception as error:
        return type(error).__name__, str(error)
    for name, (want, most) in trial.expected.items():
        got = found[name]
        want = np.array(want, got.dtype).reshape(got.shape)
        is_fine = got == want if most == 0.0 else np.abs(got - want) <= most
        if not np.all(is_fine | ((got != got) & (want != want))):
            return "wrong", f"{name}: got {got.ravel().tolist()}, expected {want.ravel().tolist()}"
    return differing_bits(trial, found) if trial.alone is not None else ("", "")


def call(loop: Any, way: Way) -> None:
    """Run a loop, or as often as that is wanted in a chain."""
    if not way.chained:
        loop.compute()
        return
    with op2.chain():
        for _ in range(way.chained):
            loop.compute()


def differing_bits(trial: Trial, found: dict[str, Any]) -> tuple[str, str]:
    """Compare with the bits of a process alone."""
    assert trial.alone is not None
    for name, carrier in trial.alone[1].items():
        want, got = np.ascontiguousarray(whole(carrier)), np.ascontiguousarray(found[name])
        is_nan = (want != want) & (got != got)
        bits = [np.where(is_nan, 0, one).astype(one.dtype).tobytes() for one in (got, want)]
        if bits[0] != bits[1]:
            off = np.abs(got - want).max()
            return "bits", f"{name} off by {off}: got {got.ravel().tolist()}, {want.tolist()}"
    return "", ""


def agreed(found: tuple[str, str], comm: Any, *, may_differ: bool = False) -> tuple[str, str]:
    """Return what became of a loop on all processes."""
    every = comm.allgather(found)
    kinds = {kind for kind, _ in every}
    if kinds == {found[0]}:
        return found
    if kinds <= {"", "wrong", "bits"}:
        return next(one for one in every if one[0])
    if may_differ and kinds <= {"", "refused"}:
        return next(one for one in every if one[0])
    return "disagree", "; ".join(f"rank {i}: {k} {why}" for i, (k, why) in enumerate(every))


def tell(comm: Any, trial: Trial, kind: str, message: str) -> None:
    signal.alarm(MOST_SECONDS)  # processes may wait for ever in calls of MPI
    if comm.rank == 0:
        line = {"name": trial.name, "kind": kind, "message": message[:1500], "way": str(trial.way)}
        print(json.dumps(line), flush=True)


def run_batch(trials: list[Trial], comm: Any) -> None:
    """Make loops, compile them as one, and run each."""
    ready = []
    for trial in trials:
        tell(comm, trial, "begun", "")
        # a strategy may be legal for the Maps of one process and not for those of another
        kind, message = agreed(prepare(trial, comm), comm, may_differ=True)
        if kind:
            finish(trial, kind, message, comm)
        else:
            ready.append(trial)
    alike: dict[tuple[Any, bool], list[Trial]] = {}
    seen: Counter[str] = Counter()
    for trial in ready:
        if (
            trial.is_exact
            and getattr(trial.parloop, "effects", None)
            and trial.parloop.effects.exact
        ):
            continue  # its text is of another loop
        seen[trial.parloop.kernel.name] += 1
        is_first = seen[trial.parloop.kernel.name] == 1
        if is_first and not trial.way.how.get("check"):
            key = trial.way.options["deterministic"], trial.problem is None
            alike.setdefault(key, []).append(trial)
    for (deterministic, is_random), group in alike.items():
        op2.init(deterministic=deterministic)
        if is_random or group[0].way.backend == "opencl":
            with contextlib.suppress(CompilationError, UnsupportedError):  # said below
                compile_batch([trial.parloop for trial in group])
                compile_batch([trial.alone[0] for trial in group if trial.alone is not None])
    for trial in ready:
        tell(comm, trial, "begun", "")
        finish(trial, *agreed(run_it(trial), comm), comm)


def finish(trial: Trial, kind: str, message: str, comm: Any) -> None:
    """Tell what became of a loop, and forget it."""
    tell(comm, trial, kind or "right", message)
    constants = trial.loop.constants if trial.loop is not None else ()
    for name, _, _ in constants:
        if name in runtime.constants:
            runtime.constants[name].remove_from_namespace()
    for constant in getattr(trial.problem, "constants", ()):
        constant.remove_from_namespace()
    if kind == "disagree":
        sys.stdout.flush()
        comm.Abort(3)


def work(given: argparse.Namespace) -> None:
    """Be a process of mpiexec."""
    from mpi4py import MPI

    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    warnings.simplefilter("ignore")
    comm, backend = MPI.COMM_WORLD.Dup(), given.backend[0]  # no message of loops gets here
    folder = Path(given.folder)
    os.environ["POCL_CACHE_DIR"] = str(folder / f"pocl{comm.rank}")
    cache_in(folder)
    op2.init(comm=MPI.COMM_WORLD, backend=backend, cflags="-O0", tune="off", patience=PATIENCE)
    choose_compiler(compilers()[0])
    if backend == "opencl" and comm.size > 0:
        own = folder / f"rank{comm.rank}"
        own.mkdir(exist_ok=True)
        if not (own / "linker").exists():
            quick_programs(own)
    skipped = set(given.skip or ())
    if given.corpus_turn is not None:
        trials = trials_of_corpus(
            given.corpus_turn, backend, every=given.every, first=given.corpus_turn
        )
        batch: list[Trial] = []
        for trial in trials:  # constants of cases have equal names: one after the other
            if trial.name in skipped:
                continue
            batch = [in_mode(trial, is_exact=given.exact)]
            run_batch(batch, comm)
        return
    seeds = [
        seed for seed in range(given.seed, given.seed + given.count) if str(seed) not in skipped
    ]
    for first in range(0, len(seeds), N_BATCH):
        part = seeds[first : first + N_BATCH]
        trials = [trial_of_seed(seed, backend, comm) for seed in part]
        run_batch([in_mode(trial, is_exact=given.exact) for trial in trials], comm)


def in_mode(trial: Trial, *, is_exact: bool) -> Trial:
    """Let a loop have the bits of a process alone, if this is wanted."""
    if is_exact:
        trial.is_exact = True
        trial.way = replace(trial.way, options={**trial.way.options, "deterministic": "ranks"})
    return trial


# The parent


@dataclass(slots=True)
class Total:
    """What became of all loops.

    Attributes:
        kinds: How many were right, refused, wrong.
        refusals: Why.
        failures: Ranks, backend, name, kind, message and way of each.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)

    def add(self, n_ranks: int, backend: str, line: dict[str, str]) -> None:
        """Note what became of a loop."""
        kind = line["kind"]
        self.kinds[kind if kind in ("right", "refused") else "failed"] += 1
        if kind == "refused":
            self.refusals[line["message"]] += 1
        elif kind != "right":
            self.failures.append((n_ranks, backend, line))


def mpiexec() -> str:
    """Return the program that starts processes."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if not found:
        raise SystemExit("mpiexec is not installed: pip install mpi4py mpich")
    return found


def run_program(
    n_ranks: int, backend: str, options: list[str], total: Total, *, is_exact: bool
) -> None:
    """Run loops in one program; where it ends early, go on in others without its last loop."""
    done: list[str] = []
    while True:
        with own_caches() as folder:
            command = [mpiexec(), "-n", str(n_ranks), sys.executable, __file__, "--worker"]
            command += ["--folder", str(folder), "--backend", backend, *options]
            command += ["--exact"] * is_exact
            command += ["--skip", *done] if done else []
            environment = {**os.environ, "PYTHONPATH": paths(), "PYOP2CXX_THREADS": "2"}
            child = subprocess.Popen(
                command,
                env={**environment, "OMP_WAIT_POLICY": "passive"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert child.stdout is not None
            at, rest = None, list[str]()
            for text in child.stdout:
                try:
                    line = json.loads(text)
                    line["kind"]
                except (ValueError, TypeError, KeyError):
                    rest = [*rest[-20:], text]
                    continue
                at = line
                if line["kind"] != "begun":
                    done.append(line["name"])
                    total.add(n_ranks, backend, line)
            status = child.wait()
        if status == 0:
            return
        if at is None or at["kind"] not in ("begun", "disagree"):
            said = "".join(rest)[-1500:]
            total.add(n_ranks, backend, {"name": "?", "kind": f"exit {status}", "message": said})
            return
        if at["kind"] == "begun":
            done.append(at["name"])
            lost = {**at, "kind": f"exit {status}", "message": "".join(rest)[-1500:]}
            total.add(n_ranks, backend, lost)


def paths() -> str:
    return os.pathsep.join(filter(None, [str(TREE), os.environ.get("PYTHONPATH", "")]))


def available() -> list[str]:
    """Return the backends of this machine."""
    return [one.name for one in op2.backends() if one.available and one.name in BACKENDS]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", nargs="+", default=[])
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 3, 4, 1])
    parser.add_argument("--count", type=int, default=1000, help="random loops in all")
    parser.add_argument("--each", type=int, default=200, help="random loops in one program")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--turns", type=int, default=1, help="how often the corpus runs on each")
    parser.add_argument("--every", type=int, default=1, help="a case of so many of the corpus")
    parser.add_argument("--exact", action="store_true", help="with deterministic='ranks'")
    parser.add_argument("--minutes", type=float, default=1e7, help="begin nothing later")
    for name in ("--folder", "--corpus-turn"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--skip", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    found = parser.parse_args()
    found.backend = found.backend or available()
    found.corpus_turn = None if found.corpus_turn is None else int(found.corpus_turn)
    return found


def tasks(given: argparse.Namespace) -> Iterator[tuple[int, str, list[str]]]:
    """Yield processes, backend and options of each program."""
    both = [(n, backend) for n in given.ranks for backend in given.backend]
    for turn in range(given.turns):
        for number, (n, backend) in enumerate(both):
            of_corpus = ["--corpus-turn", str(turn * len(both) + number), "--every"]
            yield n, backend, [*of_corpus, str(given.every)]
    for number, first in enumerate(range(0, given.count, given.each)):
        n, backend = both[number % len(both)]
        count = min(given.each, given.count - first)
        yield n, backend, ["--seed", str(given.seed + first), "--count", str(count)]


def main() -> int:
    given = arguments()
    if given.worker:
        work(given)
        return 0
    total, start = Total(), time.monotonic()
    for n_ranks, backend, options in tasks(given):
        if time.monotonic() - start > 60 * given.minutes:
            break
        run_program(n_ranks, backend, options, total, is_exact=given.exact)
        words = ", ".join(f"{n} {kind}" for kind, n in sorted(total.kinds.items()))
        seconds = time.monotonic() - start
        print(f"{n_ranks} x {backend} {' '.join(options)}: {words}, {seconds:.0f} s", flush=True)
    for reason, n in total.refusals.most_common(15):
        print(f"  {n:6d} refused: {reason}")
    for n_ranks, backend, line in total.failures[:12]:
        print(f"# {n_ranks} ranks, {backend}, {line['name']}, {line.get('way')}: {line['kind']}")
        print(f"# {line['message']}", flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
