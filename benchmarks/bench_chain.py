#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the demos eager against chained, by sets of passes, in one run.

Rounds of all forms take turns over the same memory, so that a slow moment of the machine meets all
of them; the ratio is the median of the rounds' ratios to eager, with their quartiles. Where others
use the machine, too, `--cpu` counts the CPU time of all threads. The results of the first steps are
compared, too. With `--hand` the airfoil's step written by hand, one pass over the cells a stage
(`hand_airfoil.c`), takes its turns among them.

Eager loops have no `with` statement around them; `lazy` is `op2.init(lazy=True)`. Each form has
what chains learn about its blocks for itself, and one round to learn it that is not timed. Forms
whose blocks run at once in the end, because recording them does not pay, say so; `--always` records
all blocks, to see what it would cost. The last line is the worst ratio of the
forms that users get, those with all passes.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demos"))

from airfoil import Airfoil
from conjugate_gradients import System
from heat import Heat
from jacobi import Jacobi
from shallow_water import Basin
from two_forms import TwoForms

from pyop2cxx import op2
from pyop2cxx.chain.decide import Place, Places
from pyop2cxx.chain.lazy import LazyChain
from pyop2cxx.chain.recorder import ChainState
from pyop2cxx.mesh import AirfoilMesh, airfoil_arrays, free_stream
from pyop2cxx.reports.bandwidth import CLibrary
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FROM_ZERO = ("fuse", "invert", "rename", "drop", "zero")
_ROTATED = (*_FROM_ZERO, "rotate")
_BUT_ROTATE = (*_FROM_ZERO, "copy", "geometry", "recompute")
_BUT_GEOMETRY = (*_ROTATED, "copy", "recompute")
_BUT_RECOMPUTE = (*_ROTATED, "copy", "geometry")
_ALL = (*_BUT_RECOMPUTE, "recompute")


@dataclass(frozen=True, slots=True)
class Form:
    """How a program runs.

    Attributes:
        passes: Of its chains; None: it has none.
        n_steps: Time steps of a chain, so that the end of one may join the beginning of the next.
        is_lazy: Whether all loops wait, without blocks.
    """

    passes: tuple[str, ...] | None
    n_steps: int = 1
    is_lazy: bool = False


FORMS = {
    "eager": Form(None),
    "recorded only": Form(()),
    "fused": Form(("fuse", "drop")),
    "inverted, too": Form(("fuse", "invert", "rename", "drop")),
    "from zero, too": Form(_FROM_ZERO),
    "rotated, too": Form(_ROTATED, 8),
    "not rotated": Form(_BUT_ROTATE, 8),
    "no geometry": Form(_BUT_GEOMETRY, 8),
    "not recomputed": Form(_BUT_RECOMPUTE, 8),
    "all, 1 step": Form(_ALL),
    "all, 8 steps": Form(_ALL, 8),
    "lazy": Form(None, is_lazy=True),
}
USERS_FORMS = ("all, 1 step", "all, 8 steps", "lazy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program.

    Attributes:
        step: One step of it.
        result: What the steps change.
        restart: Begins anew, so that the steps of each round compute with alike numbers.
        places: What chains know of the blocks of each form.
        lazy: What records its loops without blocks, and knows whether that pays.
    """

    step: Callable[[], None]
    result: op2.Dat
    restart: Callable[[], None] = lambda: None
    places: dict[Form, Places] = field(default_factory=dict)
    lazy: LazyChain = field(default_factory=LazyChain)


def _airfoil(n: int) -> Program:
    found = Airfoil(airfoil_arrays(n, 3 * n // 2))
    return Program(step=found.iterate, result=found.q)


def _beyond(mesh: AirfoilMesh) -> np.ndarray:
    """Return the cell behind each side of each cell: -1 at a wall, -2 where the far field begins.

    Side s leads from corner s to corner s + 1. Sides are told by where they are, because along the
    wake nodes are there twice.
    """
    corners = mesh.x[mesh.cell2node]
    middles = 0.5 * (corners + np.roll(corners, -1, axis=1))
    found = np.full((mesh.n_cells, 4), -3, np.int32)

    def put(cells: np.ndarray, nodes: np.ndarray, what: np.ndarray, sign: float) -> None:
        ends = mesh.x[nodes]
        away = np.abs(middles[cells] - ends.mean(axis=1)[:, None]).sum(axis=2)
        side = away.argmin(axis=1)
        assert (away[np.arange(len(side)), side] < 1e-12).all(), "an edge that is no side"
        along = corners[cells, (side + 1) % 4] - corners[cells, side]
        assert np.allclose(along, sign * (ends[:, 0] - ends[:, 1])), "an edge of another direction"
        found[cells, side] = what

    for k in range(2):
        put(mesh.edge2cell[:, k], mesh.edge2node, mesh.edge2cell[:, 1 - k], 1.0 - 2.0 * k)
    bound = np.where(mesh.bound.ravel() == 1, -1, -2)
    put(mesh.bedge2cell.ravel(), mesh.bedge2node, bound, 1.0)
    assert (found > -3).all(), "a side without an edge"
    return found


class Hand:
    """The airfoil's step as it is written by hand in one pass over the cells a stage.

    Args:
        n: Size of the mesh.
        threads: That it runs on.
    """

    def __init__(self, n: int, threads: int) -> None:
        mesh = airfoil_arrays(n, 3 * n // 2)
        text = (Path(__file__).parent / "hand_airfoil.c").read_text()
        library = CLibrary(text, ("-fopenmp",))
        self._set_threads = partial(library.function("hand_set_threads"), threads)
        self._stage = library.function("hand_stage", ctypes.c_double)
        self._n_cells = mesh.n_cells
        self._mesh = [np.ascontiguousarray(a) for a in (mesh.x, mesh.cell2node, _beyond(mesh))]
        self._q = [np.tile(free_stream(), (mesh.n_cells, 1)) for _ in range(3)]
        self._adt = [np.zeros(mesh.n_cells) for _ in range(2)]
        states = Airfoil(mesh)
        states.adt_calc.compute()  # the first time step; each stage finds the next one
        self._adt[0][:] = states.adt_calc.args[2].data.data_ro

    def step(self) -> None:
        """Advance by one iteration of two stages."""
        self._set_threads()
        x, cell2node, beyond = (_pointer(a) for a in self._mesh)
        old = self._q[0]
        for _ in range(2):
            q, q_new, adt, adt_new = self._q[0], self._q[1], *self._adt
            fields = (_pointer(a) for a in (old, q, adt, q_new, adt_new))
            self._stage(self._n_cells, x, *fields, cell2node, beyond)
            self._q = [q_new, self._q[2], q]
            self._adt.reverse()

    @property
    def q(self) -> np.ndarray:
        """The solution."""
        return self._q[0]


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _conjugate_gradients(n: int) -> Program:
    found = System(n)
    return Program(step=found.step, result=found.u, restart=found.restart)


def _stepped(kind: Any, dat: str) -> Callable[[int], Program]:
    def make(n: int) -> Program:
        found = kind(n)
        return Program(step=found.step, result=getattr(found, dat))

    return make


PROGRAMS: dict[str, tuple[Callable[[int], Program], int]] = {
    "airfoil": (_airfoil, 400),
    "jacobi": (_stepped(Jacobi, "u"), 700),
    "shallow_water": (_stepped(Basin, "q"), 200),
    "heat": (_stepped(Heat, "u"), 700),
    "conjugate_gradients": (_conjugate_gradients, 60),
    "two_forms": (_stepped(TwoForms, "k"), 700),
}
"""What makes a program of a size, and the size by default."""


def _run(program: Program, form: Form, n_steps: int) -> None:
    step, passes = program.step, form.passes
    if passes is None:
        for _ in range(n_steps):
            step()
    elif passes != _ALL:
        for _ in range(n_steps // form.n_steps):
            with op2.chain(passes=passes):
                for _ in range(form.n_steps):
                    step()
    elif form.n_steps == 1:
        for _ in range(n_steps):
            with op2.chain():
                step()
    else:
        for _ in range(n_steps // form.n_steps):
            with op2.chain():
                for _ in range(form.n_steps):
                    step()


def _run_lazy(program: Program, form: Form, n_steps: int) -> None:
    """Do what `init(lazy=True)` does, which forgets what was learnt when it is set again."""
    lazy = program.lazy
    is_resting = bool(lazy.explain().why_at_once)
    runtime.lazy_recorder = lazy  # which it asks for when it looks again
    runtime.recorder, runtime.here.resting = (None, lazy) if is_resting else (lazy, None)
    _run(program, form, n_steps)
    runtime.settle()
    runtime.recorder = runtime.here.resting = runtime.lazy_recorder = None


CLOCK = {"now": time.perf_counter}


def _seconds(program: Program, form: Form, n_steps: int) -> float:
    """Return the seconds of so many steps, a multiple of those of a chain."""
    runtime.of(ChainState).places = program.places.setdefault(form, Places())
    program.restart()
    op2.wait()
    start = CLOCK["now"]()
    (_run_lazy if form.is_lazy else _run)(program, form, n_steps)
    op2.wait()
    return CLOCK["now"]() - start


def _hand_seconds(hand: Hand, n_steps: int) -> float:
    start = CLOCK["now"]()
    for _ in range(n_steps):
        hand.step()
    return CLOCK["now"]() - start


def _ratios(these: list[float], those: list[float]) -> list[float]:
    return sorted(a / b for a, b in zip(these, those, strict=True))


def _farthest(name: str, size: int, n_steps: int) -> dict[str, float]:
    """Return the largest difference to the eager results of each form, after some steps."""
    found = {}
    for name_of_form, form in FORMS.items():
        program = PROGRAMS[name][0](size)
        _seconds(program, form, n_steps)
        found[name_of_form] = program.result.data_ro.copy()
    return {form: float(np.abs(found[form] - found["eager"]).max()) for form in FORMS}


def _how(program: Program, form: Form) -> str:
    """Say whether the last block of a form ran at once."""
    if form.is_lazy:
        why = program.lazy.explain().why_at_once
        return f"; at once: {why}" if why else ""
    found = [place for place in program.places[form].known.values() if place.n_at_once]
    return "; at once: " + found[0].why if found else ""


def _measure(
    name: str, size: int, *, n_rounds: int, round_seconds: float, hand: Hand | None
) -> float:
    """Print seconds and ratios of all forms of a program, all over the same memory.

    Returns:
        The worst ratio of the forms that users get.
    """
    apart = _farthest(name, size, 8)
    if hand is not None:
        eager = PROGRAMS[name][0](size)
        _seconds(eager, FORMS["eager"], 8)
        _hand_seconds(hand, 8)
        apart["hand"] = float(np.abs(eager.result.data_ro - hand.q).max())
    program = PROGRAMS[name][0](size)
    for form in FORMS.values():
        _seconds(program, form, 8)  # compiles
    n_steps = 8 * max(1, round(round_seconds / _seconds(program, FORMS["eager"], 8)))
    for form_of in FORMS.values():
        _seconds(program, form_of, n_steps)  # learns
    spent: dict[str, list[float]] = {name: [] for name in FORMS}
    worst = 0.0
    for k in range(n_rounds):
        order = list(FORMS.items())
        for name_of_form, form in order[k % len(order) :] + order[: k % len(order)]:
            spent[name_of_form].append(_seconds(program, form, n_steps))
        if hand is not None:
            spent.setdefault("hand", []).append(_hand_seconds(hand, n_steps))
    print(f"{name}, size {size}, {n_steps} steps a round, {n_rounds} rounds")
    for form, own in spent.items():
        by_hand = ""
        if hand is not None:
            by_hand = f", {statistics.median(_ratios(own, spent['hand'])):5.3f} of by hand"
        ratios = _ratios(own, spent["eager"])
        if form in USERS_FORMS:
            worst = max(worst, statistics.median(ratios))
        print(
            f"  {form:15} {1e6 * statistics.median(own) / n_steps:9.1f} us a step, "
            f"{statistics.median(ratios):5.3f} of eager ({ratios[len(ratios) // 4]:.3f} to "
            f"{ratios[-1 - len(ratios) // 4]:.3f}){by_hand}, largest difference {apart[form]:.1e}"
            f"{_how(program, FORMS[form]) if form in FORMS else ''}"
        )
    runtime.of(ChainState).places = Places()
    with op2.chain() as chain:
        program.step()
    print("\n".join(f"    {line}" for line in str(chain.explain()).splitlines()), flush=True)
    return worst


def _no_judgement(self: Any, chains: Any) -> None:
    """Go on recording."""


def _hand(name: str, given: argparse.Namespace) -> Hand | None:
    if not given.hand or name != "airfoil":
        return None
    return Hand(given.size or PROGRAMS[name][1], given.threads or len(os.sched_getaffinity(0)))


def main() -> None:
    """Measure the programs that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help=f"of {', '.join(PROGRAMS)}; default: all")
    parser.add_argument("--backend", default="openmp", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="default: all")
    parser.add_argument("--size", type=int, default=0, help="of all; default: each its own")
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of wall time")
    parser.add_argument("--rounds", type=int, default=9, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.2, help="a round; default: %(default)s")
    parser.add_argument("--always", action="store_true", help="record blocks that do not pay, too")
    parser.add_argument("--hand", action="store_true", help="with the airfoil written by hand")
    given = parser.parse_args()
    if given.always:
        # to see what it costs
        LazyChain._judge = _no_judgement  # type: ignore[method-assign]  # noqa: SLF001
        Place.judge = _no_judgement  # type: ignore[method-assign]
    unknown = set(given.programs).difference(PROGRAMS)
    if unknown:
        parser.error(f"there is no program {', '.join(sorted(unknown))}")
    op2.init(backend=given.backend, threads=given.threads)
    if given.cpu:
        CLOCK["now"] = time.process_time
    clock = "CPU" if given.cpu else "wall"
    print(f"{given.backend}, {given.threads or 'all'} threads, {clock} time")
    worst = {
        name: _measure(
            name,
            given.size or PROGRAMS[name][1],
            n_rounds=given.rounds,
            round_seconds=given.seconds,
            hand=_hand(name, given),
        )
        for name in given.programs or PROGRAMS
    }
    print("worst of eager:", ", ".join(f"{name} {ratio:.3f}" for name, ratio in worst.items()))


if __name__ == "__main__":
    main()
