# SPDX-License-Identifier: BSD-3-Clause
"""The command ``pyop2cxx doctor``: the parts of an installation, with remedies."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.reports import machine
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyop2cxx.reports.machine import Entry, Report

OK, ABSENT, WARNING, ERROR = "ok", "absent", "warning", "error"
"""States of a part: fine; missing, and not needed; works, but badly; prevents all work."""
_LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_LEAST_FREE = 64 * 2**20
_TRIAL = "void trial(double *y, const double *x) {{ y[0] = x[0] + {number}; }}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the installation.

    Attributes:
        part: Name of the part.
        state: One of `OK`, `ABSENT`, `WARNING` and `ERROR`.
        found: The facts, or the reason.
        remedy: The thing to do; empty for a part that is fine.
    """

    part: str
    state: str
    found: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the attributes."""
        return asdict(self)


def examine() -> list[Finding]:
    """Look at compilers, drivers, cache, folders, threads and MPI, and run a loop.

    Example:
        >>> any(one.part == "a loop" for one in examine())
        True
    """
    report = machine.collect()
    looks: Sequence[Callable[[Report], Iterator[Finding]]] = (
        _compilers,
        _backends,
        _devices,
        _cache,
        _folders,
        _threads,
        _mpi,
        _loop,
    )
    return [finding for look in looks for finding in look(report)]


def prevents_work(findings: Sequence[Finding]) -> bool:
    """Return whether a loop cannot run."""
    return any(one.state == ERROR for one in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """Lay out findings for reading: state, part, facts; below them the remedy."""
    width = max(len(one.part) for one in findings)
    lines = []
    for one in findings:
        first, *more = one.found.splitlines() or [""]
        if one.remedy:
            more.append(f"do: {one.remedy}")
        lines.append(f"{one.state:<8} {one.part:<{width}}  {first}".rstrip())
        lines += [f"{'':<8} {'':<{width}}  {line}".rstrip() for line in more]
    n_errors = sum(one.state == ERROR for one in findings)
    n_warnings = sum(one.state == WARNING for one in findings)
    lines.append(f"{n_errors} errors, {n_warnings} warnings")
    return "\n".join(lines)


def _facts(entry: Entry, *names: str) -> str:
    return ", ".join(str(entry[name]) for name in names if entry.get(name))


def _compilers(report: Report) -> Iterator[Finding]:
    for language, state, needed in (
        ("C", ERROR, "every loop on the host, and OpenCL on processors"),
        ("C++", ABSENT, "kernels in C++ and generated projects"),
        ("OpenMP", WARNING, "the backend openmp"),
    ):
        entry = report["compilers"][language]
        name = language if language == "OpenMP" else f"{language} compiler"
        if problem := entry.get("problem"):
            yield Finding(name, state, str(problem), f"install it: it is needed for {needed}")
        elif old := entry.get("old"):
            yield Finding(name, WARNING, str(old), "install a newer compiler, or set PYOP2CXX_CC")
        else:
            yield Finding(name, OK, _facts(entry, "version", "path", "target"))


def _backends(report: Report) -> Iterator[Finding]:
    for name, entry in report["backends"].items():
        part = f"backend {name}"
        if entry["available"]:
            default = ", the default" if entry["default"] else ""
            yield Finding(part, OK, f"{entry['summary']}{default}")
        elif entry["default"]:
            remedy = "install what is missing, or choose another backend: PYOP2CXX_BACKEND=openmp"
            yield Finding(part, ERROR, str(entry["problem"]), remedy)
        else:
            remedy = f"nothing, unless a program asks for '{name}'"
            yield Finding(part, ABSENT, str(entry["problem"]), remedy)


def _devices(report: Report) -> Iterator[Finding]:
    for name, entry in report["devices"].items():
        yield Finding(f"device {name}", OK, _facts(entry, "summary", "driver"))


def _cache(report: Report) -> Iterator[Finding]:
    entry = report["cache"]["on disk"]
    path = str(entry["path"])
    if problem := entry.get("problem"):
        remedy = "mend the directory as said; until then each program compiles its loops again"
        yield Finding("cache", WARNING, str(problem), remedy)
        return
    free = shutil.disk_usage(path).free
    facts = f"{path}, {entry['entries']} loops, {free / 2**30:.1f} GiB free"
    if free < _LEAST_FREE:
        yield Finding("cache", WARNING, facts, "make room, or set PYOP2CXX_CACHE_DIR")
    else:
        yield Finding("cache", OK, facts)


def _folders(_: Report) -> Iterator[Finding]:
    place = tempfile.gettempdir()
    try:
        with tempfile.NamedTemporaryFile(prefix="pyop2cxx-") as file:
            file.write(b"x")
    except OSError as error:
        remedy = "set TMPDIR to a folder that takes files"
        yield Finding("temporary files", WARNING, f"{place}: {error}", remedy)
        return
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        remedy = "set TMPDIR to another folder, if the cache is unusable"
        yield Finding("temporary files", WARNING, f"{place} is mounted noexec", remedy)
    else:
        yield Finding("temporary files", OK, place)


def _threads(report: Report) -> Iterator[Finding]:
    available = int(report["threads"]["available"]["count"] or 1)
    used = int(report["threads"]["of a loop"]["count"] or 1)
    facts = f"{used} for a loop; {available} of {os.cpu_count()} cores are for this process"
    if used > available:
        remedy = f"set PYOP2CXX_THREADS={available}: more threads than cores wait for each other"
        yield Finding("threads", WARNING, facts, remedy)
    else:
        yield Finding("threads", OK, facts)


def _mpi(_: Report) -> Iterator[Finding]:
    launched = {name: os.environ[name] for name in _LAUNCHERS if name in os.environ}
    several = [f"{name}={size}" for name, size in launched.items() if size != "1"]
    try:
        found = f"mpi4py {metadata.version('mpi4py')}"
    except metadata.PackageNotFoundError:
        state = WARNING if several else ABSENT
        remedy = "pip install 'pyop2cxx[mpi]', if programs are to run in several processes"
        yield Finding("MPI", state, ", ".join(["mpi4py is not installed", *several]), remedy)
        return
    launcher = shutil.which("mpiexec") or shutil.which("mpirun")
    if launcher is None:
        remedy = "install an MPI, such as by apt-get install openmpi-bin"
        yield Finding("MPI", ABSENT, f"{found}, but no mpiexec in PATH", remedy)
    else:
        yield Finding("MPI", OK, ", ".join([found, launcher, *several]))


def _loop(_: Report) -> Iterator[Finding]:
    """Compile a loop with a new number, so that no cache has it, and compare the result."""
    number = 1 + secrets.randbelow(1 << 40)
    cells = Set(3, "cells")
    x, y = Dat(cells, np.arange(3.0), name="x"), Dat(cells, name="y")
    start = time.perf_counter()
    try:
        trial = Kernel(_TRIAL.format(number=f"{number}.0"), "trial")
        par_loop(trial, cells, y(WRITE), x(READ))
        result = y.data_ro
    except Op2Error as error:
        yield Finding("a loop", ERROR, str(error), "mend what the lines above name, then try again")
        return
    if not np.array_equal(result, np.arange(3.0) + number):
        found = f"wrong values on backend '{runtime.backend}': {result.tolist()}"
        remedy = "report this with the lines above; try another compiler: PYOP2CXX_CC=clang"
        yield Finding("a loop", ERROR, found, remedy)
    else:
        seconds = time.perf_counter() - start
        yield Finding("a loop", OK, f"compiled and run on '{runtime.backend}' in {seconds:.2f} s")
