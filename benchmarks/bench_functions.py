#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Elementary functions in loops on lanes, beside loops without lanes, NumPy, PyTorch and JAX.

All numbers are nanoseconds of one thread for each value, the least of some calls taken by turns.
PyTorch and JAX take part where they are installed.
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


def loops(name: str, dtype: str, values: Any) -> dict[str, Callable[[], Any]]:
    """Return calls of our loops: by the rule, and without lanes."""
    scalar, suffix = TYPES[dtype]
    cells = op2.Set(values.size)
    x, y = op2.Dat(cells, values, dtype), op2.Dat(cells, dtype=dtype)
    call = f"{name}{suffix}(*x, 1.3{suffix})" if name == "pow" else f"{name}{suffix}(*x)"
    text = f"void f(const {scalar} *x, {scalar} *y) {{ *y = {call}; }}"
    kernel = op2.Kernel(text, "f")
    found = {}
    for label, lanes in (("lanes", None), ("scalar", 0)):
        loop = op2.ParLoop(kernel, cells, x(op2.READ), y(op2.WRITE), lanes=lanes)
        found[label] = loop.compute
    return found


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
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        jax.config.update("jax_enable_x64", True)
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
            calls = {**loops(name, dtype, values), **peers(name, values)}
            ns = by_turns(calls, given.values, given.rounds)
            row = "".join(f"  {label} {took:6.2f}" for label, took in ns.items())
            print(f"{dtype} {name:5}{row}  gain {ns['scalar'] / ns['lanes']:5.2f}")


if __name__ == "__main__":
    main()
