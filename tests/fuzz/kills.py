# SPDX-License-Identifier: BSD-3-Clause
"""Kills programs while they compile and fill the cache; what comes after must not notice.

A program starts with a cold cache, or one that others were killed at, and dies at a random moment:
alone, or with the compilers that it has started. The same program must then run right, without a
warning; a third time it must compile nothing; and when the cache is cleared no file with anything
in it is left: `python tests/fuzz/kills.py --count 200 --seed 1`.
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
from pathlib import Path
from random import Random

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


def one_cache(random: Random, folder: Path, backend: str, seconds: float) -> int:
    """Kill some programs at one cache and look what is left; return how many were killed."""
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


def kill_many(count: int, seed: int, backend: str) -> int:
    """Kill programs at random moments; return how many were killed before their end.

    Raises:
        Wrong: A later program noticed.
    """
    random = Random(seed)
    with tempfile.TemporaryDirectory() as name:
        _, seconds = finished(Path(name), backend, 0)
    n_killed = 0
    while n_killed < count:
        with tempfile.TemporaryDirectory() as name:
            n_killed += one_cache(random, Path(name), backend, seconds)
    return n_killed


def main() -> int:
    parser = argparse.ArgumentParser(description="kills while loops are compiled and cached")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--backend", default="sequential")
    given = parser.parse_args()
    seed = int(time.time()) if given.seed is None else given.seed
    start = time.monotonic()
    try:
        n_killed = kill_many(given.count, seed, given.backend)
    except Wrong as error:
        print(f"seed {seed}: {error}")
        return 1
    spent = time.monotonic() - start
    print(f"{given.backend}, seed {seed}: {n_killed} killed, nothing noticed, {spent:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
