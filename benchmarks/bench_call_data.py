#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a loop costs whose data are new at each call, beside a loop with the same data.

A kernel of three arguments over a few entities, so that binding is all that counts. Printed are
microseconds of the processor for each call, the least of several batches taken by turns, and the
ratio to `compute` with the same Dats. PyTorch's rows appear where it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

GOALS = {
    "loop(h=array, out=array)": 20.0,
    "loop(h=tensor, out=tensor)": 20.0,
    "loop(h=Dat, out=Dat)": 20.0,
    "replace_data(), compute()": 50.0,
    "par_loop(), new Dats": 50.0,
}
SAME = "compute(), same Dats"
CODE = "void scale(double *out, const double *h, const double *by) { *out = *h * *by; }"


def measured_calls(n: int, backend: str) -> dict[str, Callable[[int], None]]:
    """Return what is measured: each takes the number of the call."""
    from pyop2cxx import op2

    op2.init(backend=backend)
    cells, by = op2.Set(n, "cells"), op2.Global(1, 2.0)
    kernel = op2.Kernel(CODE, "scale")
    out, h = op2.Dat(cells), op2.Dat(cells)
    loop, other = (
        op2.ParLoop(kernel, cells, out(op2.WRITE), h(op2.READ), by(op2.READ)) for _ in range(2)
    )
    arrays = [(np.ones(n), np.empty(n)) for _ in range(64)]
    dats = [(op2.Dat(cells), op2.Dat(cells)) for _ in range(64)]
    for pair in dats:
        for dat in pair:
            dat.data[:] = 1.0
    single: list[Any] = [op2.Dat(cells) for _ in range(20_000)]  # to be used once each

    def new_dats(i: int) -> None:
        op2.par_loop(kernel, cells, single[i](op2.WRITE), h(op2.READ), by(op2.READ))

    def replaced(i: int) -> None:
        other.replace_data("h", arrays[i % 64][0])
        other.compute()

    found: dict[str, Callable[[int], None]] = {
        SAME: lambda i: loop.compute(),
        "par_loop(), same Dats": lambda i: op2.par_loop(
            kernel, cells, out(op2.WRITE), h(op2.READ), by(op2.READ)
        ),
        "loop(h=array, out=array)": lambda i: loop(h=arrays[i % 64][0], out=arrays[i % 64][1]),
        "loop(h=Dat, out=Dat)": lambda i: loop(h=dats[i % 64][0], out=dats[i % 64][1]),
        "replace_data(), compute()": replaced,
        "par_loop(), new Dats": new_dats,
        "NumPy's multiply(h, 2, out)": lambda i: np.multiply(  # type: ignore[misc]
            arrays[i % 64][0], 2.0, out=arrays[i % 64][1]
        ),
    }
    if importlib.util.find_spec("torch"):
        import torch

        tensors = [(torch.from_numpy(one), torch.from_numpy(two)) for one, two in arrays]
        found["loop(h=tensor, out=tensor)"] = lambda i: loop(
            h=tensors[i % 64][0], out=tensors[i % 64][1]
        )
        found["PyTorch's mul(h, 2, out=out)"] = lambda i: torch.mul(
            tensors[i % 64][0], 2.0, out=tensors[i % 64][1]
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--entities", type=int, default=16, help="default: %(default)s")
    parser.add_argument("--batches", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--calls", type=int, default=500, help="of a batch, default: %(default)s")
    options = parser.parse_args()
    calls = measured_calls(options.entities, options.backend)
    least = dict.fromkeys(calls, float("inf"))
    for batch in range(options.batches):
        for name, call in calls.items():
            first = batch * options.calls
            start = time.process_time()
            for i in range(first, first + options.calls):
                call(i)
            seconds = (time.process_time() - start) / options.calls
            if batch:
                least[name] = min(least[name], seconds)
    print(f"{options.backend}, {options.entities} entities; microseconds of the processor a call")
    for name, seconds in least.items():
        goal, value = GOALS.get(name), 1e6 * seconds
        verdict = (
            "" if goal is None else f"goal {goal:6.1f} {'reached' if value <= goal else 'missed'}"
        )
        print(f"{name:30s} {value:9.2f}  {seconds / least[SAME]:7.1f} times   {verdict}".rstrip())


if __name__ == "__main__":
    main()
