#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The process of a peer: reads requests line by line, and answers each by a line of JSON.

``make FILE`` reads the arrays of a program, prepares its step and answers with the largest
difference to our values, for each form. ``time FORM SECONDS`` answers with the seconds of a step.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peer_arrays import STEPS, Arrays, Cupy, Jax, Torch
from peer_steps import prepared

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, Any]


class Case:
    """A form of a step: `begin` makes values, `run` some steps, `end` arrays of NumPy."""

    def __init__(
        self,
        run: Callable[[Values], Values],
        begin: Callable[[Values], Values],
        end: Callable[[Values], Values],
        wait: Callable[[], None],
    ) -> None:
        self.run, self.begin, self.end, self.wait = run, begin, end, wait


def by_arrays(lib: Arrays, name: str, fixed: Values, start: Values, is_steady: bool) -> Case:
    """Return the step by a library of arrays."""
    step, m = prepared(lib, name, fixed, start)

    def begin(values: Values) -> Values:
        return {key: lib.put(array) for key, array in values.items()}

    def end(values: Values) -> Values:
        return {key: lib.get(array) for key, array in values.items()}

    return Case(lib.call(step, m, is_steady), begin, end, lib.wait)


def by_numba(name: str, fixed: Values, is_steady: bool) -> Case:
    """Return the step by Numba."""
    import peer_numba_fem

    def copies(values: Values) -> Values:
        return {key: array.copy() for key, array in values.items()}

    run = peer_numba_fem.made(name, fixed, is_steady)
    return Case(run, copies, lambda values: values, lambda: None)


def by_dolfinx(name: str, fixed: Values, is_steady: bool) -> Case:
    """Return the step by DOLFINx."""
    import peer_dolfinx

    return Case(*peer_dolfinx.made(name, fixed, is_steady), lambda: None)


def forms_of(library: str) -> tuple[str, ...]:
    """Return the forms of a library, on the device of this process."""
    on_gpu = os.environ["PEER_DEVICE"] != "cpu"
    if library == "PyTorch":
        forms = ("PyTorch", "PyTorch compiled", "PyTorch compiled gather")
        if os.environ.get("PEER_COMPILED") == "0":
            return ("PyTorch", "PyTorch gather")
        return (*forms, *(f"{form} graph" for form in forms[1:])) if on_gpu else forms
    one = {"NumPy/SciPy": Arrays, "JAX": Jax, "CuPy": Cupy}.get(library)
    return one.forms if one else (library,)


def case_of(form: str, name: str, fixed: Values, start: Values, is_steady: bool) -> Case:
    """Return a form of the step of a program."""
    if form == "numba":
        return by_numba(name, fixed, is_steady)
    if form == "DOLFINx":
        return by_dolfinx(name, fixed, is_steady)
    kinds = {"NumPy/SciPy": Arrays, "JAX": Jax, "PyTorch": Torch, "CuPy": Cupy}
    return by_arrays(kinds[form.split()[0]](form), name, fixed, start, is_steady)


def apart(found: Values, start: Values, expected: Values) -> float:
    """Return the largest difference, relative to the largest value of each array."""
    largest = 0.0
    for key, wanted in expected.items():
        got = np.asarray(found[key]).reshape(wanted.shape)
        if not np.isfinite(got).all():
            return float("inf")
        scale = max(abs(wanted).max(), abs(start[key]).max(), 1e-300)
        largest = max(largest, float(abs(got.astype(float) - wanted).max() / scale))
    return largest


class Peer:
    """The forms of a program that was asked for last."""

    def __init__(self, library: str) -> None:
        self.library = library
        self.cases: dict[str, Case] = {}
        self.start: Values = {}
        self.most_calls, self.steps = 1, 1

    def make(self, file: str) -> dict[str, Any]:
        """Prepare a program, and compare each form with our values."""
        self.cases.clear()
        if "torch" in sys.modules:
            sys.modules["torch"].compiler.reset()
        with np.load(file) as arrays:
            about = json.loads(str(arrays["about"]))
            parts: dict[str, Values] = {"fixed": {}, "start": {}, "expected": {}}
            for key in set(arrays) - {"about"}:
                part, _, name = key.partition(" ")
                parts[part][name] = arrays[key]
        self.start = parts["start"]
        self.steps = 1 if about["is_steady"] else STEPS
        self.most_calls = max(about["most_steps"] // self.steps, 1)
        answer: dict[str, Any] = {}
        for form in forms_of(self.library):
            if form in about["without"]:
                continue
            begun = time.perf_counter()
            try:
                given = parts["fixed"], self.start, about["is_steady"]
                case = case_of(form, about["program"], *given)
                values = case.run(case.begin(self.start))
                case.wait()
                answer[form] = {
                    "apart": apart(case.end(values), self.start, parts["expected"]),
                    "first_seconds": time.perf_counter() - begun,
                }
                self.cases[form] = case
            except Exception as error:
                traceback.print_exc()
                answer[form] = {"failed": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
        return answer

    def time(self, form: str, least: float) -> float:
        """Return the seconds of a step, averaged over as many calls as fill some time."""
        case = self.cases[form]
        n_calls, taken = 0, 0.0
        case.run(case.begin(self.start))  # caches, and pools of memory
        while n_calls == 0 or (taken < least and n_calls < 1000):
            values = case.begin(self.start)
            case.wait()
            begun = time.perf_counter()
            for _ in range(self.most_calls):
                values = case.run(values)
                n_calls += 1
                if time.perf_counter() - begun > least:
                    break
            case.wait()
            taken += time.perf_counter() - begun
        return taken / n_calls / self.steps


def serve(library: str, given: TextIO, out: TextIO) -> None:
    """Answer requests until there are no more."""
    peer = Peer(library)
    for line in given:
        what, rest = line.rstrip("\n").split(" ", 1)
        if what == "make":
            answer: Any = peer.make(rest)
        else:
            form, seconds = rest.rsplit(" ", 1)
            try:
                answer = peer.time(form, float(seconds))
            except Exception as error:
                traceback.print_exc()
                answer = f"{type(error).__name__}: {error}"[:200]
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    serve(sys.argv[1], sys.stdin, answers)
