#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small dense products: the tuner's choice and the rule's against the best lanes, in one run.

Each loop is measured by the tuner. Then all numbers of lanes are timed again by turns: CPU time of
one thread, the least of some repeats. The tuner's time over the best should not exceed 1.1. At the
end stands the time of a warm answer of the store.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import chain
from typing import TYPE_CHECKING

from bench_dense import Dense, along_rows, as_sums, least_ms

from pyop2cxx import op2
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.neighbours import Traits, neighbours
from pyop2cxx.runtime.tuned_file import LOOP, Entry
from pyop2cxx.tune.measure import decide

if TYPE_CHECKING:
    from collections.abc import Iterator

GOAL = 1.1
LANES = (0, 2, 4, 8)
SIZES = (3, 4, 6, 8, 12, 16, 20, 24)
N_ASKED = 20_000


def kernels(sizes: list[int]) -> Iterator[Dense]:
    """All that are measured."""
    return chain.from_iterable((along_rows(n), as_sums(n)) for n in sizes)


def tuned_lanes(dense: Dense, megabytes: float) -> tuple[int, int, int]:
    """Lanes by the tuner and by the rule, and the number of ways tried."""
    loop = dense.loop(megabytes, None)
    rule = loop.generate().lanes
    loop.compute()
    found = decide(loop, "sequential")
    if not isinstance(found, Entry):
        raise TypeError(found)
    runtime.engine.tuned.note("sequential", found)
    runtime.epoch += 1
    chosen = loop.explain().lanes
    assert chosen == found.way["lanes"]
    return chosen, rule, found.n


def left_out() -> Iterator[str]:
    """What similar loops say of each measured loop, as if it had not been measured."""
    entries, gains = runtime.engine.tuned.entries("sequential", LOOP), []
    for one in entries:
        traits = Traits(one.traits["shape"], tuple(one.traits["work"]))
        others = [other for other in entries if other.key != one.key]
        pair = neighbours(others, traits, one.size)
        if pair is not None and pair[0].way_text in one.times:
            gains.append(one.rule_us / one.times[pair[0].way_text])
            yield f"alike: {traits.work}: {pair[0].way_text}: {gains[-1]:.2f} of the rule"
    yield f"alike: {len(gains)} of {len(entries)} loops answered by others"


def seconds_of_an_answer(loop: op2.ParLoop) -> float:
    """Seconds of a warm answer of the store."""
    request = flow.here(loop.current_request())
    known = (flow.measured_key(request), flow.facts_key(request), loop.items.n.bit_length())
    ask = runtime.engine.tuned.loop
    ask("sequential", *known)
    start = time.perf_counter()
    for _ in range(N_ASKED):
        ask("sequential", *known)
    return (time.perf_counter() - start) / N_ASKED


def main() -> None:
    """Print a row a kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=2.0, help="of the values of a loop")
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--cc", default="", help="the C compiler")
    given = parser.parse_args()
    worst = {"tuner": 0.0, "rule": 0.0}
    with tempfile.TemporaryDirectory() as cache:
        op2.init(backend="sequential", cache_dir=cache, tune="use")
        if given.cc:
            op2.init(cc=given.cc)
        names = " ".join(f"{lanes} lanes".rjust(9) for lanes in LANES)
        print(f"{'ms':20s} {names}  rule  tuner  ways  rule/best  tuner/best")
        for dense in kernels(given.sizes):
            chosen, rule, n_ways = tuned_lanes(dense, given.megabytes)
            loops = [dense.loop(given.megabytes, lanes) for lanes in LANES]
            times = dict(zip(LANES, least_ms(loops, given.repeats), strict=True))
            best = min(times.values())
            ratios = {"tuner": times[chosen] / best, "rule": times[rule] / best}
            worst = {who: max(worst[who], ratios[who]) for who in worst}
            columns = " ".join(f"{times[lanes]:9.3f}" for lanes in LANES)
            print(
                f"{dense.name:20s} {columns}  {rule:4d}  {chosen:5d}  {n_ways:4d}  "
                f"{ratios['rule']:9.2f}  {ratios['tuner']:10.2f}",
                flush=True,
            )
        for line in left_out():
            print(line)
        answer = seconds_of_an_answer(dense.loop(given.megabytes, None))
        op2.exit()
    print(f"at worst: rule {worst['rule']:.2f}, tuner {worst['tuner']:.2f}; the goal is {GOAL}")
    print(f"a warm answer of the store: {1e6 * answer:.2f} us")


if __name__ == "__main__":
    main()
