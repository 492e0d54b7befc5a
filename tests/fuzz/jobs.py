# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on several processes at once, until there are no more of them or time is up."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import platform
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Task:
    """A call that another process makes.

    Attributes:
        kind: Tasks of one kind take about the same time.
        do: A function of a module, which neither crashes nor hangs: it starts children for that.
        args: Its arguments.
    """

    kind: str
    do: Callable[..., Any]
    args: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """What a task gives whose process was killed, as the system does where memory is short."""

    why: str


def results(
    tasks: Iterable[Task], jobs: int, seconds: float = 1e9
) -> Iterator[tuple[Task, Any | Lost]]:
    """Carry out tasks, and yield each with what it returned, in the order in which they end.

    Tasks are taken from `tasks` when a process is free for them, and no more of them when they
    would not be ready in time. All that were taken are waited for.
    """
    stop, waiting, lasted = time.monotonic() + seconds, iter(tasks), dict[str, float]()
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, fork) as pool:
        running: dict[Future[Any], tuple[Task, float]] = {}
        is_over = False
        while True:
            while not is_over and len(running) < jobs:
                task = next(waiting, None)
                now = time.monotonic()
                if task is None or now + lasted.get(task.kind, 0.0) > stop:
                    is_over = True
                    break
                running[pool.submit(task.do, *task.args)] = (task, now)
            if not running:
                return
            for ready in wait(running, return_when=FIRST_COMPLETED).done:
                task, began = running.pop(ready)
                lasted[task.kind] = max(lasted.get(task.kind, 0.0), time.monotonic() - began)
                try:
                    yield task, ready.result()
                except BrokenProcessPool as error:
                    is_over = True
                    yield task, Lost(str(error))


@contextlib.contextmanager
def own_caches() -> Iterator[Path]:
    """Make a folder for what one child compiles, and remove it."""
    with tempfile.TemporaryDirectory(prefix="fuzz", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def cache_in(folder: Path) -> None:
    """Compile into a folder, as one of several processes: with few threads that wait asleep."""
    os.environ["POCL_CACHE_DIR"] = str(folder / "pocl")
    os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "2")
    op2.init(cache_dir=str(folder / "cache"))


def machine() -> dict[str, Any]:
    """Return what a record says of where it was made."""
    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    found = {"processor": (names or ["?"])[0], "cores": len(os.sched_getaffinity(0))}
    found |= {"system": platform.platform(), "python": platform.python_version()}
    return {**found, "commit": commit()}


def commit() -> str:
    """Return the commit that is tried, `FUZZ_COMMIT` where there is no repository.

    It ends in -dirty if files differ from it.
    """
    known = os.environ.get("FUZZ_COMMIT", "")
    git = shutil.which("git")
    if known or git is None:
        return known
    command = [git, "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    command += ["--exclude", "*"]  # tags
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
