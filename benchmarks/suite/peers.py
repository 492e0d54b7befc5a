# SPDX-License-Identifier: BSD-3-Clause
"""Other libraries beside the suite: a process for each, which takes turns with ours.

A peer's step gets the arrays of our program, and its values after some steps are compared with ours
before anything is timed. No library is imported into the process that measures us. All get the same
number of threads; DOLFINx is one process, and NumPy and SciPy have one thread in what is used here.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from programs import Program

MODULES = {
    "NumPy/SciPy": "scipy",
    "numba": "numba",
    "JAX": "jax",
    "PyTorch": "torch",
    "CuPy": "cupy",
    "DOLFINx": "dolfinx",
}
ON_PROCESSORS = ("NumPy/SciPy", "numba", "JAX", "PyTorch", "DOLFINx")
ON_GPUS = ("PyTorch", "JAX", "CuPy")
WITHOUT_FORM = "no variational form"
LEFT_OUT = {
    "DOLFINx": dict.fromkeys(
        (
            *("airfoil", "jacobi", "shallow_water", "euler", "multigrid", "hydro"),
            *("messages_f64", "messages_f32"),
        ),
        WITHOUT_FORM,
    )
    | {"poisson_cg": "see the one with a matrix"}
}
"""Why a library has no step of a program."""
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
SLOW = 10.0
"""A form has a single turn if a step takes so many times as long as ours, and the whole turn."""


def libraries(backend: str) -> tuple[str, ...]:
    """Return the libraries that run where a backend does."""
    if backend == "cuda":
        return ON_GPUS
    return ON_PROCESSORS if backend in ("sequential", "openmp") else ()


def is_installed(library: str, python: str = sys.executable) -> bool:
    """Is a library there, for this Python or another one?"""
    if python == sys.executable:
        return importlib.util.find_spec(MODULES[library]) is not None
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    try:
        command = [python, "-c", code, MODULES[library]]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def versions(names: list[str]) -> dict[str, str]:
    """Return the versions of libraries that this Python has."""
    of_modules = importlib.metadata.packages_distributions()  # CuPy's is named after its CUDA
    found = {name: of_modules.get(MODULES[name], ()) for name in names}
    return {name: importlib.metadata.version(of[0]) for name, of in found.items() if of}


class Peer:
    """The process of a library.

    Attributes:
        library: Its name.
        forms: For each form of the program at hand that gives our values, the least milliseconds.
        about: For the others, and for libraries that have no step, why there is no time.
    """

    def __init__(self, library: str, python: str, threads: int, device: str, cpus: set[int]):
        self.library = library
        self.forms: dict[str, float] = {}
        self.about: dict[str, str] = {}
        of_threads = ("OMP", "MKL", "OPENBLAS", "NUMBA")
        environment = os.environ | {f"{name}_NUM_THREADS": str(threads) for name in of_threads}
        environment |= {
            "NPROC": str(threads),  # JAX's threads
            "PEER_DEVICE": device,
            "JAX_PLATFORMS": device,
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        }
        if python != sys.executable:
            environment.pop("PYTHONPATH", None)

        def set_free() -> None:
            os.sched_setaffinity(0, cpus)

        file = Path(__file__).with_name("peer_process.py")
        self._process = subprocess.Popen(
            [python, str(file), library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("PEER_ERRORS") else subprocess.DEVNULL,
            text=True,
            env=environment,
            preexec_fn=set_free,
        )

    def _ask(self, request: str) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else None

    def make(self, program: str, file: Path, dtype: str) -> None:
        """Prepare a program, and compare the values with ours."""
        self.forms, self.about = {}, {}
        if why := LEFT_OUT.get(self.library, {}).get(program):
            self.about[self.library] = why
            return
        answer = self._ask(f"make {file}")
        if answer is None:
            self.about[self.library] = "its process ended"
            return
        for form, found in answer.items():
            if "failed" in found:
                self.about[form] = found["failed"]
            elif not found["apart"] <= TOLERANCE[dtype]:
                self.about[form] = f"WRONG: {found['apart']:.1e} from our values"
            else:
                self.forms[form] = float("inf")

    def take_turn(self, seconds: float, ours: float) -> None:
        """Time each form, unless an earlier turn was far slower than ours, and long.

        Args:
            seconds: To fill with calls of a form.
            ours: The least seconds of our forms.
        """
        for form, least in list(self.forms.items()):
            if SLOW * ours < least < float("inf") and least > seconds:
                continue
            found = self._ask(f"time {form} {seconds}")
            if isinstance(found, float):
                self.forms[form] = min(least, found)
            else:
                del self.forms[form]
                self.about[form] = found or "its process ended"

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


class Peers:
    """The libraries that are installed and run where a backend does.

    Attributes:
        absent: Names of those that are not installed.
    """

    def __init__(
        self, backend: str, threads: int, wanted: list[str], python: str, cpus: set[int]
    ) -> None:
        names = [one for one in libraries(backend) if one in wanted]
        pythons = {one: python if one == "DOLFINx" else sys.executable for one in names}
        found = [one for one in names if is_installed(one, pythons[one])]
        self.absent = [one for one in names if one not in found]
        device = "cuda" if backend == "cuda" else "cpu"
        self.all = [Peer(one, pythons[one], threads, device, cpus) for one in found]

    def make(self, key: str, program: Program, run: Callable[[], object]) -> None:
        """Prepare a program, comparing the values after a call of ours.

        Args:
            key: Its name for peers.
            program: The program.
            run: Does as many steps of ours as a call of a peer.
        """
        if not self.all:
            return
        program.restart()
        start = program.values()
        run()
        expected = program.values()
        about = {
            "program": key,
            "is_steady": program.is_steady,
            "most_steps": program.most_steps,
            "without": [],
        }
        dtypes = {str(one.dtype) for one in start.values()}
        dtype = "float32" if "float32" in dtypes else "float64"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "program.npz")
            parts = {"fixed": program.fixed(), "start": start, "expected": expected}
            arrays = {
                f"{part} {name}": array for part, of in parts.items() for name, array in of.items()
            }
            np.savez(file, about=np.array(json.dumps(about)), **arrays)
            for peer in self.all:
                peer.make(key, file, dtype)

    def take_turns(self, seconds: float, ours: float) -> None:
        """Let each library time its forms."""
        for peer in self.all:
            peer.take_turn(seconds, ours)

    def results(self) -> dict[str, Any]:
        """Return milliseconds of a step, or why there are none, by form."""
        found: dict[str, Any] = {}
        for peer in self.all:
            found |= {form: {"ms": 1e3 * seconds} for form, seconds in peer.forms.items()}
            found |= {form: {"why": why} for form, why in peer.about.items()}
        return found

    def end(self) -> None:
        """End all processes."""
        for peer in self.all:
            peer.end()


def best_of(row: dict[str, Any]) -> tuple[str, float]:
    """Return our best form of a row of the table, and its milliseconds."""
    form = min(row["ms"], key=row["ms"].get)
    return form, row["ms"][form]


def by_library(row: dict[str, Any]) -> dict[str, str]:
    """Return what the table says of each library: the best form, milliseconds, ratio to ours."""
    ours, found = best_of(row)[1], {}
    for library in MODULES:
        forms = {form: it for form, it in row["peers"].items() if form.startswith(library)}
        timed = {form: it["ms"] for form, it in forms.items() if "ms" in it}
        whys = [it["why"] for it in forms.values() if "why" in it]
        if timed:
            form = min(timed, key=timed.__getitem__)
            way = form.removeprefix(library).strip()
            found[library] = f"{timed[form]:.3g} ({timed[form] / ours:.2f})" + (
                f" {way}" if way else ""
            )
        elif forms:
            found[library] = next((why for why in whys if "WRONG" in why), whys[0])
    return found


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table: our best form, and each library's time and ratio."""
    shown = [name for name in MODULES if any(name in by_library(row) for row in rows)]
    if not shown:
        return []
    heads = ["backend", "program", "ours", *shown]
    lines = []
    for row in rows:
        form, ours = best_of(row)
        cells = by_library(row)
        backend = f"{row['backend']}, {row['threads']}" if row["threads"] else row["backend"]
        head = [backend, row["program"], f"{ours:.3g} {form}"]
        lines.append([*head, *(cells.get(name, "") for name in shown)])
    rule = "|".join("---" for _ in heads)
    return [f"| {' | '.join(heads)} |", f"|{rule}|"] + [
        f"| {' | '.join(cells)} |" for cells in lines
    ]


def slower_than_peers(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each form of a peer that is faster than our best."""
    return [
        f"{row['backend']} {row['program']}: {form} {it['ms']:.3g} ms, ours {best_of(row)[1]:.3g}"
        for row in rows
        for form, it in row["peers"].items()
        if it.get("ms", float("inf")) < best_of(row)[1]
    ]
