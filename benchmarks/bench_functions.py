#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Elementary functions in loops on lanes, beside loops without lanes, NumPy, PyTorch and JAX.

First single functions over arrays, then message passing: the sum of tanh(x[source] - x[target])
over the edges of each target, eight values, six edges a target, edges sorted by target. Columns
`lanes` and `own` have the C library's functions of vectors and the package's. All numbers are
nanoseconds of one thread for each value, the least of some calls taken by turns. PyTorch and JAX
take part where they are installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS = ("exp", "log", "sin", "tan", "tanh", "pow", "erf", "cbrt")
TYPES = {"float64": ("double", ""), "float32": ("float", "f")}
DEGREE, WIDTH = 6, 8  # edges of a target, values of an edge


def loops(name: str, dtype: str, values: Any) -> dict[str, Callable[[], Any]]:
    """Return calls of our loops: by the rule, and without lanes."""
    scalar, suffix = TYPES[dtype]
    cells = op2.Set(values.size)
    x, y = op2.Dat(cells, values, dtype), op2.Dat(cells, dtype=dtype)
    call = f"{name}{suffix}(*x, 1.3{suffix})" if name == "pow" else f"{name}{suffix}(*x)"
    text = f"void f(const {scalar} *x, {scalar} *y) {{ *y = {call}; }}"
    kernel = op2.Kernel(text, "f")
    return by_source(
        lambda lanes: op2.ParLoop(kernel, cells, x(op2.READ), y(op2.WRITE), lanes=lanes)
    )


def by_source(make: Callable[[int | None], op2.ParLoop]) -> dict[str, Callable[[], Any]]:
    """Return calls of a loop on lanes with functions of each source, and without lanes."""
    found = {}
    for label, lanes, source in (
        ("lanes", None, "library"),
        ("own", None, "own"),
        ("scalar", 0, "library"),
    ):
        loop = make(lanes)

        def call(loop: op2.ParLoop = loop, source: str = source) -> None:
            if op2.configuration["lane_functions"] != source:
                op2.configuration["lane_functions"] = source
            loop.compute()

        found[label] = call
    return found


def messages(dtype: str, n_nodes: int) -> dict[str, Callable[[], Any]]:
    """Return calls of message passing, here and in the libraries that are installed."""
    scalar, suffix = TYPES[dtype]
    random = np.random.default_rng(1)
    source = random.integers(0, n_nodes, DEGREE * n_nodes)
    target = np.repeat(np.arange(n_nodes), DEGREE)
    values = random.uniform(-2, 2, (n_nodes, WIDTH)).astype(dtype)
    nodes, edges = op2.Set(n_nodes), op2.Set(source.size)
    ends = op2.Map(edges, nodes, 2, np.stack([source, target], axis=1))
    x, y = op2.Dat(nodes**WIDTH, values, dtype), op2.Dat(nodes**WIDTH, dtype=dtype)
    kernel = op2.Kernel(
        f"void f(const {scalar} *a, const {scalar} *b, {scalar} *y) "
        f"{{ for (int i = 0; i < {WIDTH}; ++i) y[i] += tanh{suffix}(a[i] - b[i]); }}",
        "f",
    )
    arguments = (x(op2.READ, ends[0]), x(op2.READ, ends[1]), y(op2.INC, ends[1]))
    found = by_source(lambda lanes: op2.ParLoop(kernel, edges, *arguments, lanes=lanes))
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        given, of, to = (torch.from_numpy(array) for array in (values, source, target))
        found["torch"] = lambda: torch.zeros_like(given).index_add_(
            0, to, torch.tanh(given[of] - given[to])
        )
    if importlib.util.find_spec("jax"):
        jax = jax_on_one_thread()
        whole, begin, end = (jax.numpy.asarray(array) for array in (values, source, target))
        compiled = jax.jit(
            lambda v: jax.ops.segment_sum(
                jax.numpy.tanh(v[begin] - v[end]), end, n_nodes, indices_are_sorted=True
            )
        )
        found["jax"] = lambda: compiled(whole).block_until_ready()
    return found


def jax_on_one_thread() -> Any:
    """Return JAX, on a processor's core and with float64."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def peers(name: str, values: Any) -> dict[str, Callable[[], Any]]:
    """Return calls of the libraries that are installed and have the function."""
    found: dict[str, Callable[[], Any]] = {}
    if name == "pow":
        found["numpy"] = lambda: np.power(values, 1.3)
    elif hasattr(np, name):
        found["numpy"] = lambda: getattr(np, name)(values)
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        given = torch.from_numpy(values)
        if name == "pow":
            found["torch"] = lambda: torch.pow(given, 1.3)
        elif hasattr(torch, name):
            found["torch"] = lambda: getattr(torch, name)(given)
    if importlib.util.find_spec("jax"):
        jax = jax_on_one_thread()
        whole = jax.numpy.asarray(values)
        of = {"erf": jax.scipy.special.erf, "pow": lambda v: jax.numpy.power(v, 1.3)}
        function = of.get(name) or getattr(jax.numpy, name)
        compiled = jax.jit(function)
        found["jax"] = lambda: compiled(whole).block_until_ready()
    return found


def by_turns(calls: dict[str, Callable[[], Any]], n: int, rounds: int) -> dict[str, float]:
    """Return the least nanoseconds a value for each call."""
    least = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(rounds):
        for label, call in calls.items():
            call()  # the choice of functions may be another one than before
            begin = time.perf_counter()
            call()
            least[label] = min(least[label], 1e9 * (time.perf_counter() - begin) / n)
    return least


def main() -> None:
    """Measure every function in both dtypes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=15, help="default: %(default)s")
    given = parser.parse_args()
    op2.init(backend="openmp", threads=1)
    for dtype in TYPES:
        values = np.random.default_rng(1).uniform(0.1, 3, given.values).astype(dtype)
        for name in FUNCTIONS:
            report(f"{dtype} {name}", {**loops(name, dtype, values), **peers(name, values)}, given)
        n_nodes = given.values // 10
        report(f"{dtype} messages", messages(dtype, n_nodes), given, DEGREE * WIDTH * n_nodes)


def report(
    label: str, calls: dict[str, Callable[[], Any]], given: argparse.Namespace, n: int = 0
) -> None:
    """Measure and print a row, for `n` values or the usual number."""
    ns = by_turns(calls, n or given.values, given.rounds)
    row = "".join(f"  {name} {took:6.2f}" for name, took in ns.items())
    print(f"{label:17}{row}  gain {ns['scalar'] / ns['lanes']:5.2f}", flush=True)


if __name__ == "__main__":
    main()
