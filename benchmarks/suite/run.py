#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The suite: programs of the field, each by single loops, in chains and as graphs, on each backend.

A backend has a process of its own, in which all forms of a program take turns; times are the least
of some rounds. The share of the roofline is the time in which the machine could move the useful
bytes and do the operations of the loops, by the rates of a copy and of arithmetic measured in the
same process, over the time of the form. A chain may be above 1, because values stay in registers
and caches. Other libraries do the same steps in processes of their own, which take turns with ours
(`peers.py`): their values are compared with ours first, and all get the same number of threads.

    python benchmarks/suite/run.py airfoil euler --backends openmp --size 0.1 --json suite.json
    python benchmarks/suite/run.py --peers JAX PyTorch --threads 2
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peers import MODULES, Peers, by_library, slower_than_peers, table, versions
from programs import Program, all_programs
from record import commit, machine

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 4  # of a chain, and of a graph
FORMS = ("loops", "chain", "graph", "graph of a chain")


def forms_of(program: Program) -> dict[str, Callable[[], object]]:
    """Return functions that do `STEPS` steps, by form."""

    def loops() -> None:
        for _ in range(STEPS):
            program.step()

    found: dict[str, Callable[[], object]] = {"loops": loops}
    if program.why_alone:
        return found

    def chain() -> None:
        with op2.chain():
            loops()

    program.restart()
    loops()  # graphs record loops already made
    chain()
    graph, chained = op2.record(loops), op2.record(chain)
    return found | {"chain": chain, "graph": graph.submit, "graph of a chain": chained.submit}


def seconds_of(run: Callable[[], object], least: float, program: Program) -> float:
    """Return the seconds of a call, averaged over as many calls as fill some time."""
    n_calls, taken = 0, 0.0
    while n_calls == 0 or (taken < least and n_calls < 1000):
        program.restart()
        op2.wait()
        start = time.perf_counter()
        for _ in range(program.most_steps // STEPS):
            run()
            n_calls += 1
            if time.perf_counter() - start > least:
                break
        op2.wait()
        taken += time.perf_counter() - start
    return taken / n_calls


def limit_of(program: Program) -> tuple[float, int, int]:
    """Return the seconds a step takes at the machine's ceilings, its bytes and its operations."""
    program.restart()
    with op2.profile(every=1) as profile:
        for _ in range(STEPS):
            program.step()
        op2.wait()
    found = profile.roofline()
    seconds = n_bytes = n_operations = 0.0
    for one in found.loops:
        if one.seconds is None or one.bytes_per_second is None:
            continue
        at_copy = one.bytes_per_second * one.seconds / found.ceilings[one.backend].copy
        own = one.seconds * one.of_ceiling if one.of_ceiling else at_copy
        seconds += own
        n_bytes += one.bytes_per_second * one.seconds
        n_operations += (one.operations_per_second or 0.0) * one.seconds
    return seconds / STEPS, int(n_bytes / STEPS), int(n_operations / STEPS)


def measured(key: str, program: Program, peers: Peers, given: argparse.Namespace) -> dict[str, Any]:
    """Return a row: times of the forms and of the peers, milliseconds a step."""
    forms = forms_of(program)
    for _ in range(given.learn):
        for run in forms.values():
            seconds_of(run, 0.0, program)
    peers.make(key, program, forms["loops"])
    times: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(given.rounds):
        for form, run in forms.items():
            times[form].append(seconds_of(run, given.seconds, program) / STEPS)
        peers.take_turns(given.seconds, min(map(min, times.values())))
    limit, n_bytes, n_operations = limit_of(program)
    best = {form: min(taken) for form, taken in times.items()}
    return {
        "program": program.name,
        "elements": program.n,
        "ms": {form: 1e3 * taken for form, taken in best.items()},
        "of_roofline": {form: limit / best[form] for form in forms},
        "bytes": n_bytes,
        "operations": n_operations,
        "peers": peers.results(),
        "alone": program.why_alone,
        "wrong": program.check(),
    }


def line_of(backend: str, row: dict[str, Any]) -> str:
    """Return a line of the table."""
    columns = []
    for form in FORMS:
        if form in row["ms"]:
            columns.append(f"{row['ms'][form]:9.3f} {100 * row['of_roofline'][form]:4.0f}%")
        else:
            columns.append(" " * 15)
    wrong = f"  WRONG: {row['wrong']}" if row["wrong"] else ""
    peers = [f"{library} {cell}" for library, cell in by_library(row).items()]
    said = f"\n{'':11s}{', '.join(peers)}" if peers else ""
    head = f"{backend:10s} {row['program']:20s} {row['elements']:9d}"
    return f"{head} {' '.join(columns)}{wrong}{said}"


def child(given: argparse.Namespace, cpus: set[int]) -> int:
    """Measure programs on a backend, and print a JSON line for each."""
    (backend,) = given.backends
    threads = 1 if backend == "sequential" else given.threads or len(cpus)
    op2.init(backend=backend, threads=threads)
    peers = Peers(backend, threads, given.peers, given.dolfinx_python, cpus)
    if peers.absent:
        print(json.dumps({"absent": peers.absent}), flush=True)
    made = all_programs()
    on = {"threads": threads if backend in ("sequential", "openmp") else 0}
    for name in given.programs or made:
        row = measured(name, made[name](given.size), peers, given)
        print(json.dumps({"key": name, **on, **row}), flush=True)
    peers.end()
    return 0


def available() -> list[str]:
    """Return the backends that work here."""
    return [one.name for one in op2.backends() if one.available]


def main() -> int:
    """Print the table; return 1 if a result is wrong or a backend fails."""
    cpus = os.sched_getaffinity(0)  # OpenMP binds this thread later, and a process inherits that
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", help="names; all without")
    parser.add_argument("--backends", nargs="+", default=available())
    parser.add_argument("--size", type=float, default=1.0, help="1: for 16 cores and GPUs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of a form in a round")
    parser.add_argument("--learn", type=int, default=40, help="calls before, for trials")
    parser.add_argument("--threads", type=int, default=0, help="default: every CPU")
    parser.add_argument(
        "--peers", nargs="*", default=list(MODULES), choices=MODULES, help="default: all; or none"
    )
    parser.add_argument(
        "--dolfinx-python", default=sys.executable, help="a Python that imports dolfinx"
    )
    parser.add_argument("--json", type=Path, help="write the rows, machine and commit to this file")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.programs) - set(all_programs()):
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(all_programs())}")
    if given.child:
        return child(given, cpus)
    about = {
        "machine": machine(),
        "commit": commit(),
        "size": given.size,
        "load": round(os.getloadavg()[0], 1),
        "libraries": versions(given.peers),
    }
    rows: list[dict[str, Any]] = []
    status = 0

    def set_free() -> None:
        os.sched_setaffinity(0, cpus)

    heads = " ".join(form.rjust(15) for form in FORMS)
    print(f"{'backend':10s} {'program':20s} {'elements':>9s} {heads}  ms a step, of roofline")
    for backend in given.backends:
        command = [sys.executable, __file__, *given.programs, "--child", "--backends", backend]
        for name in ("size", "rounds", "seconds", "learn", "threads"):
            command += [f"--{name}", str(getattr(given, name))]
        command += ["--dolfinx-python", given.dolfinx_python, "--peers", *given.peers]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, preexec_fn=set_free
        ) as process:
            for line in process.stdout or ():
                row = {"backend": backend, **json.loads(line)}
                if "absent" in row:
                    print(f"not installed for {backend}: {', '.join(row['absent'])}")
                    continue
                rows.append(row)
                wrong_peers = [one for one in row["peers"].values() if "WRONG" in str(one)]
                status |= bool(row["wrong"] or wrong_peers)
                print(line_of(backend, row), flush=True)
                if given.json:
                    written = {**about, "rows": rows}
                    given.json.write_text(json.dumps(written, indent=1) + "\n")
        status |= bool(process.returncode)
    print("\n".join(["", *table(rows), "", *slower_than_peers(rows)]))
    return status


if __name__ == "__main__":
    sys.exit(main())
