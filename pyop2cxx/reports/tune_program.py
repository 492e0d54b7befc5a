# SPDX-License-Identifier: BSD-3-Clause
"""The command ``pyop2cxx tune PROGRAM``: each loop of a program is measured in all its ways."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead.programs import check_file, run_to_the_end, watched
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline import flow
from pyop2cxx.reports.tune import rows_of, tables_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled
from pyop2cxx.runtime.tuned_file import Entry, Place, change, merged, size_of
from pyop2cxx.tune.chains import ChainMeasurement
from pyop2cxx.tune.measure import crashed, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from pyop2cxx.ahead.programs import End

_MOST_CRASHES = 8
_MEASURE = (
    "import sys; from pyop2cxx.reports.tune_program import measure; "
    "sys.exit(measure(*sys.argv[1:]))"
)
_RUN = (
    "import sys; from pyop2cxx.reports.tune_program import run_plainly; "
    "sys.exit(run_plainly(*sys.argv[1:]))"
)


class Tuned(Tabled):
    """The measured loops of a program; `print` shows a table.

    Args:
        journal: As given.
        entries: The measurements.
        left_out: Loops without a measurement, with reasons.
        notes: Crashes, and the end of the program, if not usual.
    """

    def __init__(
        self, entries: Sequence[Entry], left_out: Sequence[str], notes: Sequence[str]
    ) -> None:
        self.entries, self.left_out, self.notes = tuple(entries), tuple(left_out), tuple(notes)

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        below = [
            *tables_of(self.entries),
            *(f"not measured: {why}" for why in self.left_out),
            *self.notes,
        ]
        return "", rows_of(self.entries), "\n".join(below)

    def __str__(self) -> str:
        below = self._as_rows()[2]
        return super().__str__() + (f"\n{below}" if below else "")


def tune_program(
    path: str,
    arguments: Sequence[str],
    backend: str = "",
    minutes: float = 10.0,
    tell: Callable[[str], None] = print,
) -> Tuned:
    """Run a program and measure the loops, then run the program once more for other trials.

    Each run is a process. A way that ends the process by a signal is noted, and the program begins
    again without the way.

    Args:
        path: The program.
        arguments: `sys.argv` of the program, behind the name.
        backend: Backend of loops, unless the program says otherwise; empty for the usual one.
        minutes: No way is tried later; the program itself may take longer.
        tell: Gets a line for each loop and run.

    Raises:
        UsageError: The file or the backend does not exist, or the time is not positive.
    """
    check_file(path, "tune")
    if not minutes > 0:
        raise UsageError(f"tune: --minutes {minutes:g}: expected a number above 0")
    if backend and backend not in runtime.backend_names():
        known = ", ".join(runtime.backend_names())
        raise UsageError(f"tune: there is no backend '{backend}'; there are: {known}")
    deadline = time.time() + 60.0 * minutes
    notes: list[str] = []
    with TemporaryDirectory() as name:
        folder, given = Path(name), [repr(deadline), backend, path, *arguments]
        status, found = _run_again(_MEASURE, folder, given, notes, tell)
        if status:
            notes.append(f"the program ended with {_end_of(status)}")
        elif not (folder / "out").exists():
            notes.append("the program ended the process itself: nothing is known of its loops")
        if not status:
            tell("running once more, for chains, graphs and libraries")
            _, chains = _run_again(_RUN, folder, given, notes, tell)
            found = {name: [*of, *chains[name]] for name, of in found.items()}
    return Tuned([Entry(**one) for one in found["entries"]], found["left out"], notes)


def _run_again(
    code: str, folder: Path, given: Sequence[str], notes: list[str], tell: Callable[[str], None]
) -> tuple[int, dict[str, Any]]:
    """Run a program until no way under trial ends the process by a signal.

    Args:
        code: Text for the process.
        folder: For files of the process.
        given: Arguments behind the names of the files.
        notes: Gets a line for each crash.
        tell: Gets the same lines.

    Returns:
        The exit status, and the measurements with the reasons for missing ones.
    """
    journal, out = folder / "journal", folder / "out"
    status = 0
    for _ in range(_MOST_CRASHES):
        journal.unlink(missing_ok=True)
        out.unlink(missing_ok=True)
        status = _run(code, [str(journal), str(out), *given])
        if status >= 0 or not journal.exists():
            break
        notes.append(_note_crash(json.loads(journal.read_text()), status))
        tell(notes[-1])
    found: dict[str, Any] = {"entries": [], "left out": []}
    return status, json.loads(out.read_text()) if out.exists() else found


def _run(code: str, given: Sequence[str]) -> int:
    environment = {**os.environ, "PYOP2CXX_TUNE": "use"}
    command = [sys.executable, "-c", code, *given]
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
    return done.returncode


def _end_of(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


def _note_crash(journal: dict[str, Any], status: int) -> str:
    """Keep a way from being tried again, and return a line."""
    how = f"the process ended with {_end_of(status)}"
    place, entry = Place(*journal["place"]), crashed(journal, how)
    problem = change(Path(journal["folder"]), place, partial(merged, new=[entry]))
    line = f"'{entry.name}' on {place.backend}: {journal['way']}: {how}"
    return f"{line}; {problem}" if problem else line


# In the processes that run the program


def run_plainly(
    journal: str, out: str, deadline: str, backend: str, path: str, *arguments: str
) -> int:
    """Run a program with measured choices, and measure chains; other trials are kept, too.

    Args:
        journal: As for `measure`.
        out: As for `measure`.
        deadline: As for `measure`.
        backend: As for `tune_program`.
        path: The program.
        *arguments: Of the program.
    """
    measuring = _Measuring(Path(journal), float(deadline))
    return _run_watched(
        measuring, watched(None, None, measuring.note_chain), out, backend, path, arguments
    ).status


def measure(journal: str, out: str, deadline: str, backend: str, path: str, *arguments: str) -> int:
    """Run a program, measure each loop when it is ready, and store the results in a file.

    Args:
        journal: File with the way under trial.
        out: File for the results.
        deadline: No way is tried later; seconds since the epoch.
        backend: As for `tune_program`.
        path: The program.
        *arguments: Of the program.
    """
    measuring = _Measuring(Path(journal), float(deadline))
    end = _run_watched(measuring, watched(measuring.note), out, backend, path, arguments)
    sys.stderr.write(end.shown)
    return end.status


def _run_watched(
    measuring: _Measuring,
    watching: AbstractContextManager[None],
    out: str,
    backend: str,
    path: str,
    arguments: Sequence[str],
) -> End:
    """Run a program, and write the measurements."""
    if backend:
        runtime.init(backend=backend)
    with watching:
        end = run_to_the_end(path, arguments, "tune")
    runtime.exit()
    entries = [asdict(one) for one in measuring.entries.values()]
    text = json.dumps({"entries": entries, "left out": list(measuring.left_out)})
    Path(out).write_text(text)
    measuring.journal.unlink(missing_ok=True)
    return end


class _Measuring:
    """Measures loops, each once for each size.

    Args:
        journal: File with the way under trial.
        deadline: No way is tried later.

    Attributes:
        journal: As given.
        entries: The measurements.
        left_out: Loops without a measurement, with reasons; each once.
    """

    def __init__(self, journal: Path, deadline: float) -> None:
        self.journal, self._deadline = journal, deadline
        self.entries: dict[object, Entry] = {}
        self.left_out: dict[str, None] = {}
        self._chains: set[Any] = set()

    def note_chain(self, chain: Any, entries: Any, passes: frozenset[str]) -> None:
        """Measure a chain about to run, each once for each size."""
        backend, tuned = runtime.backend, runtime.engine.tuned
        if not tuned.is_on or chain in self._chains:
            return
        self._chains.add(chain)
        made = ChainMeasurement(chain, entries, passes, self.journal, self._deadline)
        subject = made.subject
        if subject in self.entries:
            return
        if made.known is not None:
            self.entries[subject] = made.known
            return
        late = time.time() > self._deadline
        found = "no time was left" if late else made.entry()
        if not isinstance(found, Entry):
            self.left_out[f"chain '{made.name}' on {backend}: {found}"] = None
            return
        tuned.note(backend, found)
        tuned.keep()
        self.entries[subject] = found
        for line in tables_of([found]):
            sys.stderr.write(f"{line}\n")

    def note(self, loop: Any) -> None:
        """Measure a loop that is ready."""
        if isinstance(loop, GroupLoop):
            return  # a function of a chain
        request = flow.here(loop.request(loop.symbolic(), {}))
        backend, tuned = request.backend.name, runtime.engine.tuned
        subject = (flow.measured_key(request), flow.facts_key(request), size_of(loop.items.n))
        if subject in self.entries or not tuned.is_on:
            return
        known = flow.known(request)
        if known is not None and known.level == "exact" and known.entry.n:
            self.entries[subject] = known.entry
            return
        name = f"'{request.name}' on {backend}"
        if time.time() > self._deadline:
            self.left_out[f"{name}: no time was left"] = None
            return
        found = decide(loop, backend, self.journal, self._deadline)
        if not isinstance(found, Entry):
            self.left_out[f"{name}: {found}"] = None
            return
        tuned.note(backend, found)
        tuned.keep()
        self.entries[subject] = found
        told = f"{name}, {loop.items.n} elements: {found.n} ways, gain {found.gain:.2f}"
        sys.stderr.write(f"{told}\n")
        for way, why in found.refused.items():
            sys.stderr.write(f"  refused: {way}: {why}\n")
