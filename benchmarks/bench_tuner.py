#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tuner's choice and the rule's against the best of all ways, in one run.

The loops are small dense products, sums into Globals, actions of a Laplacian on hexahedra of degree
1 to 6, and the loops of some demos. The tuner measures each loop. Then all strategies by all
numbers of lanes, and other sizes of blocks, are timed again by turns: on one thread CPU time,
elsewhere elapsed time, the least of some repeats. The tuner's time over the best should not exceed
1.1, the rule's 1.5. Differences below a microsecond do not count. At the end stands the time of a
warm answer of the store.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_bakeoff import Operator
from bench_dense import along_rows, as_sums

from pyop2cxx import op2
from pyop2cxx.ahead.programs import run_to_the_end, watched
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.neighbours import Traits, neighbours
from pyop2cxx.runtime.tuned_file import LOOP, Entry, size_of
from pyop2cxx.tune.measure import Measurement, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOALS = {"tuner": 1.1, "rule": 1.5}
NOISE_US = 1.0
SIZES = (3, 4, 6, 8, 12, 16, 20, 24)
SUMMED = (1, 2, 3, 4, 6, 8)
N_DEMO_LOOPS = 12
N_ASKED = 20_000
FOLDER = Path(__file__).parents[1] / "demos"
DEMOS = (
    ("airfoil.py", "--iterations", "2"),
    ("heat.py", "--cells", "96", "--end", "0.001"),
    ("shallow_water.py", "--cells", "120"),
    ("voronoi.py", "--cells", "64", "--end", "0.001"),
    ("aero.py", "--cells", "100"),
    ("conjugate_gradients.py", "--cells", "64"),
)


def dense(given: argparse.Namespace) -> None:
    """Run products of small matrices, along rows and as sums."""
    for one in chain.from_iterable((along_rows(n), as_sums(n)) for n in SIZES):
        one.loop(given.megabytes, None).compute()


def sums(given: argparse.Namespace) -> None:
    """Run sums of squares of a row of values, each value into its own number of a Global."""
    for dim in SUMMED:
        text = f"void squares_{dim}(const double *x, double *s) {{\n"
        text += f"  for (int i = 0; i < {dim}; ++i) s[i] += x[i] * x[i];\n}}\n"
        cells = op2.Set(max(int(given.megabytes * 1e6 / 8 / dim), 64))
        values = np.random.default_rng(0).random((cells.size, dim))
        total = op2.Global(dim, np.zeros(dim))
        kernel = op2.Kernel(text, f"squares_{dim}")
        op2.par_loop(kernel, cells, op2.Dat(cells**dim, values)(op2.READ), total(op2.INC))


def hexes(given: argparse.Namespace) -> None:
    """Run the actions of Laplacians on hexahedra."""
    for degree in range(1, 7):
        about = argparse.Namespace(dofs=given.dofs, strategy=None)
        Operator("BP3", degree, about, None).apply()


def demos(given: argparse.Namespace) -> None:
    """Run some demos."""
    for name, *arguments in DEMOS:
        arguments += ["--backend", given.backend]
        with redirect_stdout(StringIO()):
            end = run_to_the_end(str(FOLDER / name), arguments, "bench_tuner")
        if end.status:
            sys.exit(f"{name}: {end.how}\n{end.shown}")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "dense": dense,
    "sums": sums,
    "hexes": hexes,
    "demos": demos,
}


class Comparison:
    """Compares ways of loops as they become ready.

    Attributes:
        rows: A loop's name, elements, times in microseconds by way, the tuner's way, the rule's.
        why_not: Loops that could not be measured, with reasons.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._out = sys.stdout  # demos print to another
        self._seen: set[object] = set()
        self._busy = False
        self.rows: list[dict[str, Any]] = []
        self.why_not: dict[str, None] = {}

    def note(self, loop: Any) -> None:
        """Measure a loop, each once for each size."""
        if self._busy or loop.items.n < self._given.least:
            return
        request = flow.here(loop.request(loop.symbolic(), {}))
        subject = (flow.measured_key(request), flow.facts_key(request), size_of(loop.items.n))
        if subject in self._seen:
            return
        self._seen.add(subject)
        self._busy = True
        try:
            self._compare(loop, request)
        finally:
            self._busy = False

    def _compare(self, loop: Any, request: Any) -> None:
        backend = request.backend.name
        found = decide(loop, backend)
        if not isinstance(found, Entry):
            self.why_not[f"{request.name}: {found}"] = None
            return
        runtime.engine.tuned.note(backend, found)
        runtime.epoch += 1
        free = loop.request(loop.symbolic(), {"backend": backend})
        times = Measurement(loop, free).times_of_all(self._given.rounds)
        row = {
            "name": request.name,
            "elements": loop.items.n,
            "us": {str(way): 1e6 * took for way, took in times.items()},
            "tuner": found.way_text,
            "rule": str(next(iter(times))),
            "ways": found.n,
        }
        row["operations"] = found.traits["work"][0] if found.traits else 0
        self.rows.append(row)
        print(line_of(row), file=self._out, flush=True)


def ratios_of(row: dict[str, Any]) -> dict[str, float]:
    """The tuner's and the rule's time over the best; 1 within the noise."""
    best = min(row["us"].values())
    taken = {who: row["us"].get(row[who], float("nan")) for who in GOALS}
    return {who: us / best if us > best + NOISE_US else 1.0 for who, us in taken.items()}


def line_of(row: dict[str, Any]) -> str:
    """One line of the table."""
    best = min(row["us"], key=row["us"].__getitem__)
    ratios = ratios_of(row)
    return (
        f"{row['name'][:24]:24s} {row['elements']:9d} {row['us'][best]:10.1f} us  "
        f"{ratios['rule']:5.2f} {ratios['tuner']:5.2f}  best {best}, tuner {row['tuner']}, "
        f"rule {row['rule']}; {len(row['us'])} ways"
    )


def left_out(backend: str) -> Iterator[str]:
    """What similar loops say of each measured loop, as if it had not been measured."""
    entries, gains = runtime.engine.tuned.entries(backend, LOOP), []
    for one in entries:
        traits = Traits(one.traits["shape"], tuple(one.traits["work"]))
        others = [other for other in entries if other.key != one.key]
        pair = neighbours(others, traits, one.size)
        if pair is not None and pair[0].way_text in one.times:
            gains.append(one.rule_us / one.times[pair[0].way_text])
            yield f"alike: {traits.work}: {pair[0].way_text}: {gains[-1]:.2f} of the rule"
    yield f"alike: {len(gains)} of {len(entries)} loops answered by others"


def seconds_of_an_answer(loop: op2.ParLoop, backend: str) -> float:
    """Seconds of a warm answer of the store."""
    request = flow.here(loop.current_request())
    known = (flow.measured_key(request), flow.facts_key(request), loop.items.n.bit_length())
    ask = runtime.engine.tuned.loop
    ask(backend, *known)
    start = time.perf_counter()
    for _ in range(N_ASKED):
        ask(backend, *known)
    return (time.perf_counter() - start) / N_ASKED


def main() -> None:
    """Print a row a loop: the best time, the rule's and the tuner's time over the best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--megabytes", type=float, default=2.0, help="of a dense loop's values")
    parser.add_argument("--dofs", type=int, default=60_000, help="of a Laplacian")
    parser.add_argument("--least", type=int, default=100, help="loops over fewer are left out")
    parser.add_argument("--rounds", type=int, default=5, help="each of five runs by turns")
    parser.add_argument("--cc", default="", help="the C compiler")
    parser.add_argument("--json", type=Path, help="write all times to this file")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    record: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache:
        op2.init(backend=given.backend, cache_dir=cache, tune="use")
        if given.cc:
            op2.init(cc=given.cc)
        for part in given.parts or PARTS:
            print(f"-- {part}: elements, best time, rule and tuner over the best")
            compared = Comparison(given)
            with watched(compared.note):
                PARTS[part](given)
            rows = compared.rows
            if part == "demos":
                rows = sorted(rows, key=lambda row: -min(row["us"].values()))[:N_DEMO_LOOPS]
            for why in compared.why_not:
                print(f"not measured: {why}")
            for who, goal in GOALS.items():
                found = sorted(ratios_of(row)[who] for row in rows)
                above = sum(ratio > goal for ratio in found)
                print(
                    f"{part}: {who}: worst {found[-1]:.2f}, median {found[len(found) // 2]:.2f}, "
                    f"{above} of {len(found)} loops above {goal}"
                )
            record[part] = rows
        for line in left_out(given.backend):
            print(line)
        answer = seconds_of_an_answer(along_rows(4).loop(given.megabytes, None), given.backend)
        op2.exit()
    print(f"a warm answer of the store: {1e6 * answer:.2f} us")
    if given.json:
        given.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
