# SPDX-License-Identifier: BSD-3-Clause
"""Run loops of the corpus where something watches every access to memory. For `test_races.py`.

In a process of its own: on backend `opencl` the only platform is a simulator, on `openmp` loops are
compiled with ThreadSanitizer. Prints a line before each loop, so that a race can be told from the
others'.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case, loops_of

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.pipeline.together import compile_together

HOW: dict[str, dict[str, Any]] = {
    "opencl": {},
    "openmp": {"threads": 3, "cc": "clang", "cflags": "-fsanitize=thread -g1"},
}
TEAM = {"tuning": {"short_microseconds": 0}}
"""Else one thread would do loops that are as short as these."""
LACKS = {"opencl": {"complex", "cpp", "headers", "overlap"}, "openmp": {"cpp", "headers"}}


def run_corpus(backend: str, names: list[str]) -> None:
    """Run every strategy of some cases, or of `all`, and compare with NumPy."""
    cases = [case for case in CASES if names == ["all"] or case.name in names]
    cases = [case for case in cases if not case.needs & LACKS[backend]]
    if backend == "opencl":
        compile_together(loops_of(cases, lambda case: sorted(case.strategies)))
    for case in cases:
        for strategy in _core.STRATEGIES:
            run_case(case, strategy)


def run_case(case: Case, strategy: str) -> None:
    sys.stderr.write(f"== {case.name} {strategy}\n")
    sys.stderr.flush()
    try:
        run_case_by(case, {"strategy": strategy})
    except UnsupportedError:
        sys.stderr.write("== refused\n")


def run_case_by(case: Case, how: dict[str, Any]) -> None:
    """Run a case with these keywords of the loop, and compare with NumPy."""
    problem = case.problem()
    how = TEAM | problem.options | how
    try:
        op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **how).compute()
    finally:
        for constant in problem.constants:
            constant.remove_from_namespace()
    for carrier, want in problem.expected:
        is_dat = isinstance(carrier, op2.Dat)
        got = (
            carrier.array
            if isinstance(carrier, op2.Mat)
            else carrier.data_ro_with_halos
            if is_dat
            else carrier.data_ro
        )
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * np.abs(want).max(initial=1))


def run_shared(names: list[str]) -> None:
    """Run every strategy of some cases three times in one parallel region."""
    for case in [case for case in CASES if case.name in names]:
        for strategy in _core.STRATEGIES:
            sys.stderr.write(f"== {case.name} {strategy}\n")
            sys.stderr.flush()
            problem = case.problem()
            how = TEAM | problem.options | {"strategy": strategy}
            try:
                with op2.graph() as g:
                    node = g.par_loop(problem.kernel, problem.iterset, *problem.args, **how)
                    for _ in range(2):
                        node = node.then(problem.kernel, problem.iterset, *problem.args, **how)
                graph = g.instantiate()
                graph.submit(2)  # the first makes plans
            except UnsupportedError:
                sys.stderr.write("== refused\n")
            else:
                print("shared", *(region.loops for region in graph.stats().regions))
            finally:
                for constant in problem.constants:
                    constant.remove_from_namespace()


def race_on_purpose() -> None:
    """Lie about a Map: that it leads to no target twice, so that its increments need no care."""
    n = int(os.environ["CORPUS_ELEMENTS"])
    edges, nodes = op2.Set(n), op2.Set(2)
    e2n = op2.Map(edges, nodes, 1, np.arange(n) % 2)
    total = op2.Dat(nodes, dtype=np.int32)
    kernel = op2.Kernel("void f(int *a) { a[0] += 1; }", "f")
    loop = op2.ParLoop(kernel, edges, total(op2.INC, e2n), strategy="direct", **TEAM)
    loop.facts.map_facts = lambda _: _core.plan.MapFacts(index_bytes=4, injective=True)
    loop.compute()
    _ = total.data_ro


if __name__ == "__main__":
    backend, *names = sys.argv[1:]
    op2.init(backend=backend, **HOW[backend])
    if names == ["race"]:
        race_on_purpose()
    elif names[0] == "shared":
        run_shared(names[1:])
    else:
        run_corpus(backend, names)
