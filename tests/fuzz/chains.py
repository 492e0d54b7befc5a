# SPDX-License-Identifier: BSD-3-Clause
"""Runs random chains as host code that AddressSanitizer and UndefinedBehaviorSanitizer watch.

`python tests/fuzz/chains.py 20` runs twenty, by random passes, on `sequential` and `openmp`, each
with its results compared to those of its loops one after the other. The process that runs them ends
with an error at the first report.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.sanitized import FLAGS, environment

BACKENDS = ("sequential", "openmp")
OVERRUN = "overrun"  # no chain: what must be found


def run_chains(first: int, n: int) -> None:
    """Run chains, in a process that has the sanitizers.

    Args:
        first: The first one's seed.
        n: How many.
    """
    from ring import Ring, assert_alike

    from pyop2cxx import op2
    from pyop2cxx.chain.compiled import PASSES

    for seed in range(first, first + n):
        for backend in BACKENDS:
            op2.init(backend=backend, cflags=FLAGS, threads=3)
            choose = random.Random(seed)
            strategy = choose.choice([None, "owner"])
            eager, lazy = Ring(strategy), Ring(strategy)
            names = choose.choices(sorted(eager.actions()), k=choose.randint(3, 9))
            passes = [name for name in PASSES if choose.random() < 0.8]
            for name in names:
                eager.actions()[name]()
            with op2.chain(passes=passes):
                for name in names:
                    lazy.actions()[name]()
            assert_alike(eager, lazy)
            print(f"== {seed} {backend}: {', '.join(names)} by {', '.join(passes)}", flush=True)
            op2.exit()


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
