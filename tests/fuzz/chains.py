# SPDX-License-Identifier: BSD-3-Clause
"""Runs random chains, by random passes, and compares them with their loops one after the other.

`python tests/fuzz/chains.py 20` runs twenty on `sequential` and `openmp` as host code that
AddressSanitizer and UndefinedBehaviorSanitizer watch; the process that runs them ends with an error
at the first report. `python tests/fuzz/chains.py --backend sequential cuda --count 1000 --jobs 8
--minutes 5 --json FILE` runs many on any backends, and keeps a record.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.children import in_child
from fuzz.jobs import Lost, Task, cache_in, own_caches, results
from fuzz.records import Seeds, add_options, record_of, seeds_of, series_before
from fuzz.sanitized import FLAGS, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BACKENDS = ("sequential", "openmp")
OVERRUN = "overrun"  # no chain: what must be found
N_IN_TASK = 20  # chains


def run_chains(first: int, n: int) -> None:
    """Run chains, in a process that has the sanitizers.

    Args:
        first: The first one's seed.
        n: How many.
    """
    from pyop2cxx import op2

    for seed in range(first, first + n):
        for backend in BACKENDS:
            op2.init(backend=backend, cflags=FLAGS, threads=3)
            print(f"== {seed} {backend}: {run_chain(seed)[0]}", flush=True)
            op2.exit()


def run_chain(seed: int) -> tuple[str, bool]:
    """Run a chain where loops run now; return what it is, and whether loops were joined.

    Raises:
        AssertionError: It computes something else than its loops.
    """
    from ring import Ring, assert_alike

    from pyop2cxx import op2
    from pyop2cxx.chain import schedule
    from pyop2cxx.chain.compile import PASSES

    choose = random.Random(seed)
    strategy = choose.choice([None, "owner"])
    is_heavy = choose.random() < 0.5  # then loops are on lanes
    eager, lazy = Ring(strategy, is_heavy), Ring(strategy, is_heavy)
    names = choose.choices(sorted(eager.actions()), k=choose.randint(3, 9))
    passes = [name for name in PASSES if choose.random() < 0.8]
    for name in names:
        eager.actions()[name]()
    with ExitStack() as stack:
        if choose.random() < 0.5:  # where it does not pay, too
            stack.enter_context(patch.object(schedule, "gained_seconds", return_value=1.0))
        chain = stack.enter_context(op2.chain(passes=passes))
        for name in names:
            lazy.actions()[name]()
    assert_alike(eager, lazy)
    is_joined = any(len(step.loops) > 1 for step in chain.explain().steps)
    return f"{', '.join(names)} by {', '.join(passes)}", is_joined


def chains_in_child(backend: str, seeds: range) -> tuple[int, int, list[dict[str, Any]]]:
    """Run chains in a child; return how many, in how many loops were joined, and what failed."""

    def run_them(note: Callable[[str], None]) -> tuple[int, int, list[dict[str, Any]]]:
        from pyop2cxx import op2

        warnings.simplefilter("ignore")
        cache_in(folder)
        n_joined, failures = 0, []
        for seed in seeds:
            note(str(seed))
            op2.init(backend=backend, cflags="-O0", threads=1 + seed % 3)
            try:
                n_joined += run_chain(seed)[1]
            except Exception as error:
                failures.append({"seed": seed, "kind": type(error).__name__, "message": str(error)})
        return len(seeds), n_joined, failures

    with own_caches() as folder:
        answer, how, last = in_child(run_them)
    if answer is None:
        at = int(last or seeds[0])
        rest = chains_in_child(backend, range(at + 1, seeds.stop)) if at + 1 < seeds.stop else None
        n, n_joined, failures = rest or (0, 0, [])
        # those before it have run, too; whether loops were joined is lost with the child
        return (
            at + 1 - seeds.start + n,
            n_joined,
            [{"seed": at, "kind": how, "message": ""}, *failures],
        )
    found: tuple[int, int, list[dict[str, Any]]] = answer
    return found


def tasks_of(taken: dict[str, Seeds], first: int, count: int) -> Iterator[Task]:
    """Yield tasks for all backends in turn, until each has so many chains."""
    while True:
        left = [name for name, seeds in taken.items() if len(seeds) < count]
        if not left:
            return
        backend = min(left, key=lambda name: len(taken[name]))
        n = min(N_IN_TASK, count - len(taken[backend]))
        seeds = taken[backend].missing(first, n)
        taken[backend].add(seeds)
        yield Task(backend, chains_in_child, (backend, seeds))


def run_many(arguments: list[str]) -> int:
    """Run many chains, and print how many failed on which backend; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", nargs="+", default=[*BACKENDS])
    parser.add_argument("--count", type=int, default=1000, help="chains, on each backend")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--minutes", type=float, default=1e7, help="begin nothing that ends later")
    add_options(parser)
    given = parser.parse_args(arguments)
    record = record_of(given)
    series: dict[str, dict[str, Any]] = {
        backend: {"backend": backend, "first_seed": given.seed, "wanted": given.count}
        | {"seeds": [], "chains": 0, "joined": 0, "failures": []}
        for backend in given.backend
    }
    taken = {
        backend: Seeds.of(
            pair
            for one in series_before(record, {"backend": backend})
            if "chains" in one
            for pair in seeds_of(one)
        )
        for backend in given.backend
    }
    done = {backend: Seeds() for backend in given.backend}

    def found_so_far() -> dict[str, Any]:
        return {"jobs": given.jobs, "series": [*series.values()]}

    tasks = tasks_of(taken, given.seed, given.count)
    for task, found in results(tasks, given.jobs, 60 * given.minutes):
        one = series[task.kind]
        done[task.kind].add(task.args[1])
        one["seeds"] = [*done[task.kind]]
        if isinstance(found, Lost):
            found = 0, 0, [{"seed": task.args[1][0], "kind": "lost", "message": found.why}]
        n, n_joined, failures = found
        one["chains"] += n
        one["joined"] += n_joined
        one["failures"] += failures
        record.keep(found_so_far())
    record.keep(found_so_far(), is_over=True)
    for name, one in series.items():
        print(
            f"{name}: seeds {done[name]}: {one['chains']} chains of {given.count}, loops joined in "
            f"{one['joined']}, {len(one['failures'])} failures, {record.seconds():.0f} s",
            flush=True,
        )
        for failure in one["failures"][:4]:
            print(f"  seed {failure['seed']}: {failure['kind']}: {failure['message'][:2000]}")
    return 1 if any(one["failures"] for one in series.values()) else 0


def overrun() -> None:
    """Fuse two loops, of which one reads behind the end of a Dat."""
    from pyop2cxx import op2

    op2.init(cflags=FLAGS, backend="sequential")
    cells = op2.Set(3)
    far, x = op2.Dat(cells, [0, 0, 1], dtype="int32"), op2.Dat(cells)
    reach = op2.Kernel("void reach(const int *i, double *x) { x[i[0]] = 1; }", "reach")
    more = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")
    with op2.chain():
        op2.par_loop(reach, cells, far(op2.READ), x(op2.RW))
        op2.par_loop(more, cells, x(op2.RW))


def watch(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this file in a process of its own that has the sanitizers."""
    command = [sys.executable, __file__, "--watched", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)


def main(arguments: list[str]) -> int:
    """Run what is asked for; return the exit status."""
    if arguments and arguments[0].startswith("--") and arguments[0] != "--watched":
        return run_many(arguments)
    if arguments[:1] != ["--watched"]:
        done = watch("0", arguments[0] if arguments else "20")
        print(done.stdout, done.stderr[-4000:])
        return done.returncode
    if arguments[1] == OVERRUN:
        overrun()
    else:
        run_chains(int(arguments[1]), int(arguments[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
