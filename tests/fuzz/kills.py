# SPDX-License-Identifier: BSD-3-Clause
"""Kills programs while they compile and fill the cache; what comes after must not notice.

A program starts with a cold cache, or one that others were killed at, and dies at a random moment:
alone, or with the compilers that it has started. The same program must then run right, without a
warning; a third time it must compile nothing; and when the cache is cleared no file with anything
in it is left: `python tests/fuzz/kills.py --count 200 --seed 1 --jobs 4`.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.jobs import Lost, Task, results
from fuzz.records import Record, add_options, record_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_LOOPS = 4
N_AT_ONE_CACHE = 3  # kills before the cache is a cold one again

PROGRAM = f"""
import sys
import numpy as np
from pyop2cxx import op2
from pyop2cxx.runtime import runtime

backend, tag = sys.argv[1], sys.argv[2]
op2.init(backend=backend, cflags="-O1")
print("ready", flush=True)
edges, nodes = op2.Set(40), op2.Set(7)
e2n = op2.Map(edges, nodes, 2, np.arange(80) % 7)
for number in range({N_LOOPS}):
    x, total = op2.Dat(nodes), op2.Global(1, 0.0)
    kernel = op2.Kernel(f\"\"\"
void count(double *x, double *total) {{{{
  double v[3] = {{{{0}}}};
  for (int i = 0; i < 3; ++i) v[i] += i + {{number}} + {{tag}};
  x[0] += v[0]; x[1] -= v[2]; total[0] += 1;
}}}}\"\"\", "count")
    op2.par_loop(kernel, edges, x(op2.INC, e2n), total(op2.INC), lanes=0)
    first, second = number + int(tag), 2 + number + int(tag)
    want = np.zeros(7)
    np.add.at(want, np.arange(80) % 7, np.tile([first, -second], 40))
    np.testing.assert_array_equal(x.data_ro, want)
    assert total.data_ro[0] == 40
is_device = backend not in ("sequential", "openmp")
service = runtime.engine.device_service if is_device else runtime.engine.service
print("compiled", service.statistics().n_compiles, flush=True)
"""


class Wrong(Exception):
    """Something was noticed of a kill."""


def started(folder: Path, backend: str, tag: int) -> subprocess.Popen[str]:
    """Start the program, and wait until it has imported everything."""
    cache = {"PYOP2CXX_CACHE_DIR": str(folder / "cache"), "POCL_CACHE_DIR": str(folder / "pocl")}
    process = subprocess.Popen(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", PROGRAM, backend, str(tag)],
        env={**os.environ, **cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if line != "ready\n":
        raise Wrong(line + process.stdout.read())
    return process


def finished(folder: Path, backend: str, tag: int) -> tuple[int, float]:
    """Run the program to its end; return how many objects it compiled, and its seconds."""
    process = started(folder, backend, tag)
    start = time.monotonic()
    output, _ = process.communicate(timeout=300)
    if process.returncode != 0 or not output.startswith("compiled "):
        raise Wrong(f"exit {process.returncode}: {output}")
    return int(output.split()[1]), time.monotonic() - start


def kill(process: subprocess.Popen[str], *, whole_group: bool) -> None:
    """Kill a program, alone or with its compilers."""
    if whole_group:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@cache
def usual_seconds(backend: str) -> float:
    """Return how long the program takes, beside whatever else runs now."""
    with tempfile.TemporaryDirectory() as name:
        return finished(Path(name), backend, 0)[1]


def one_cache(random: Random, folder: Path, backend: str) -> int:
    """Kill some programs at one cache and look what is left; return how many were killed."""
    seconds = usual_seconds(backend)
    tag = random.randrange(1000)
    n_killed = 0
    for _ in range(random.randint(1, N_AT_ONE_CACHE)):
        process = started(folder, backend, tag)
        time.sleep(random.random() * seconds * 1.1)
        n_killed += process.poll() is None
        kill(process, whole_group=random.random() < 0.5)
    finished(folder, backend, tag)
    n_compiled, _ = finished(folder, backend, tag)
    if n_compiled:
        raise Wrong(f"{n_compiled} objects were compiled although all were in the cache")
    command = [sys.executable, "-m", "pyop2cxx", "cache", "clear"]
    environment = {**os.environ, "PYOP2CXX_CACHE_DIR": str(folder / "cache")}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    # locks and the mark of the last eviction are empty, and stay
    left = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    left = [path for path in left if path.stat().st_size]
    if left:
        raise Wrong(f"left behind: {left}")
    return n_killed


def one_seed(seed: int, backend: str) -> tuple[int, str]:
    """Kill programs at a cache of their own; return how many, and what was noticed."""
    with tempfile.TemporaryDirectory() as name:
        try:
            return one_cache(Random(seed), Path(name), backend), ""
        except Wrong as error:
            return 0, f"seed {seed}: {error}"


def kill_many(
    count: int,
    seed: int,
    backend: str,
    jobs: int = 1,
    seconds: float = 1e9,
    tell: Callable[[dict[str, Any]], None] = lambda _: None,
) -> tuple[int, list[str]]:
    """Kill programs at random moments; return how many before their end, and what was noticed.

    Args:
        count: How many are to be killed.
        seed: The first; each cache has its own.
        backend: Where the programs' loops run.
        jobs: How many programs at once.
        seconds: Begin nothing that ends later.
        tell: Called with what is known, again and again.
    """
    n_killed, noticed, last = 0, list[str](), seed - 1
    start = time.monotonic()

    def tasks() -> Iterator[Task]:
        number = seed
        while n_killed < count and not noticed:
            yield Task("kills", one_seed, (number, backend))
            number += 1

    for task, found in results(tasks(), jobs, seconds):
        n, wrong = (0, found.why) if isinstance(found, Lost) else found
        n_killed += n
        noticed += [wrong] if wrong else []
        last = max(last, task.args[0])
        spent = round(time.monotonic() - start, 1)
        tell({"seeds": [[seed, last]], "killed": n_killed, "noticed": noticed, "seconds": spent})
    return n_killed, noticed


def main() -> int:
    parser = argparse.ArgumentParser(description="kills while loops are compiled and cached")
    parser.add_argument("--count", type=int, default=200, help="on each backend")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--backend", nargs="+", default=["sequential"])
    parser.add_argument("--jobs", type=int, default=1, help="programs at once")
    parser.add_argument("--minutes", type=float, default=1e7, help="for each backend")
    add_options(parser)
    given = parser.parse_args()
    seed, record = int(time.time()) if given.seed is None else given.seed, record_of(given)
    backends: dict[str, Any] = {}
    whole = {"jobs": given.jobs, "seed": seed, "backends": backends}
    for backend in given.backend:
        n_before, first = killed_before(record, backend, seed)

        def tell(found: dict[str, Any], backend: str = backend) -> None:
            backends[backend] = found
            record.keep(whole)

        start = time.monotonic()
        n_killed, noticed = kill_many(
            given.count - n_before, first, backend, given.jobs, 60 * given.minutes, tell
        )
        what = "; ".join(noticed) or "nothing noticed"
        spent = time.monotonic() - start
        print(f"{backend}, seed {first}: {n_killed} killed, {what}, {spent:.0f} s", flush=True)
    record.keep(whole, is_over=True)
    return 1 if any(found["noticed"] for found in backends.values()) else 0


def killed_before(record: Record, backend: str, seed: int) -> tuple[int, int]:
    """Return how many earlier sessions killed, and the first seed that is left from `seed` on."""
    parts = [one["backends"][backend] for one in record.earlier if backend in one["backends"]]
    last = max((last for one in parts for _, last in one.get("seeds", [])), default=seed - 1)
    return sum(one["killed"] for one in parts), max(seed, last + 1)


if __name__ == "__main__":
    sys.exit(main())
