# SPDX-License-Identifier: BSD-3-Clause
"""The corpus and random loops on several processes: a short run, and that the tool can fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from on_ranks import asleep

from pyop2cxx import op2
from pyop2cxx.base import extras

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import ranks
from fuzz.program import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")

SECONDS = 300


def counts(options: Sequence[str]) -> dict[str, int]:
    """Run loops that must not fail, and return how many were right and refused."""
    command = [sys.executable, ranks.__file__, *options]
    environment = {**os.environ, **asleep()}
    found = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    last = [line for line in found.stdout.splitlines() if " x " in line][-1]
    return {kind: int(n) for n, kind in re.findall(r"(\d+) (right|refused|failed)", last)}


@pytest.mark.parametrize(("n", "backend"), [(4, "sequential"), (3, "openmp"), (2, "opencl")])
def test_random_loops_and_the_corpus_on_processes(n: int, backend: str) -> None:
    if backend not in ranks.available():
        pytest.skip(f"{backend} is not here")
    found = counts(
        [
            *("--ranks", str(n), "--backend", backend, "--seed", str(1000 * n)),
            *("--count", "25", "--every", "12"),
        ]
    )
    assert found["right"] >= found.get("refused", 0) / 2


@pytest.mark.parametrize(("n", "backend"), [(3, "sequential"), (2, "openmp")])
def test_loops_have_the_bits_of_one_process(n: int, backend: str) -> None:
    options = ["--exact", "--ranks", str(n), "--backend", backend, "--seed", str(500 * n)]
    found = counts([*options, "--count", "25", "--every", "16"])
    assert found["right"] >= found.get("refused", 0) / 2


def test_a_wrong_value_is_seen() -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells, [1.0, 2.0, 3.0])
    loop = op2.ParLoop(op2.Kernel("void k(double *x) { x[0] += 1; }", "k"), cells, x(op2.RW))
    for most, want in ((0.0, [2.0, 3.0, 4.0]), (0.5, [3.4, 4.4, 5.4])):
        trial = ranks.Trial("k", Way(), True, np.random.default_rng(0), parloop=loop)
        trial.data, trial.expected = {"x": x}, {"x": (want, most)}
        assert ranks.run_it(trial) == ("", "")
    trial.expected = {"x": ([4.0, 5.0, 6.6], 0.5)}
    assert ranks.run_it(trial)[0] == "wrong"
    trial.expected, trial.alone = {}, (loop, {"x": op2.Dat(cells, [5.0, 6.0, 7.0 + 1e-15])})
    assert ranks.run_it(trial)[0] == "bits"


def test_the_module_leaves_the_environment_alone() -> None:
    text = (
        "import os, sys; before = dict(os.environ); sys.path.insert(0, sys.argv[1]); "
        "from fuzz import ranks; assert dict(os.environ) == before"
    )
    tests = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-c", text, tests], check=True, timeout=SECONDS)
