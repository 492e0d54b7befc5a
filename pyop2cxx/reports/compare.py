# SPDX-License-Identifier: BSD-3-Clause
"""A program on several backends, values and times side by side: ``pyop2cxx compare``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.ahead import programs
from pyop2cxx.base.access import READ
from pyop2cxx.base.conversions import eps_of
from pyop2cxx.base.moves import kind_of
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.backends import backends
from pyop2cxx.reports.profile import Profile
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.pipeline.explain import Explanation

PLACE = "{backend}"
"""Replaced by the backend's name in the arguments of a program."""
_UNNAMED = re.compile(r"_#x[0-9a-f]+$")
_MOST_LINES = 12
"""Lines of a failed program shown in the report."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference of a Dat, Global or Mat between two backends.

    Attributes:
        what: The object, as in `what` of `Outcome.values`.
        backend: The backend compared with the first backend.
        largest: Largest difference, relative to the largest magnitude on the first backend; for
            integers the number of different values.
        place: Index of the largest difference; empty without a difference.
        allowed: The tolerance: relative, or 0 for integers.
        reason: Text in place of a difference: the shapes differ, or a backend lacks the object.
    """

    what: str
    backend: str
    largest: float
    place: tuple[int, ...]
    allowed: float
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether the difference is within the tolerance."""
        return not self.reason and self.largest <= self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A run of the program on a backend.

    Attributes:
        backend: Name of the backend.
        seconds: Wall time of the whole process, with compilation.
        error: Last lines of a failed program; empty otherwise.
        loops: Loop, backend, seconds a call and bytes a second of each loop; None if not measured.
        values: The values at the end of the program, by object.
    """

    backend: str
    seconds: float
    error: str
    loops: tuple[tuple[str, str, float | None, float | None], ...]
    values: Mapping[str, Array]

    @property
    def strayed(self) -> list[str]:
        """Backends of loops which ran elsewhere, by the program's own choice."""
        return sorted({ran_on for _, ran_on, *_ in self.loops} - {self.backend})


class Comparison(Tabled):
    """Results of a program on several backends; `print` shows two tables.

    Args:
        outcomes: A run on each backend; the others are compared with the first.
        tolerance: Allowed relative difference of floats; None: the root of the dtype's precision.

    Attributes:
        outcomes: The runs.
        differences: A `Difference` for each object and backend, the largest first.
    """

    def __init__(self, outcomes: Sequence[Outcome], tolerance: float | None) -> None:
        self.outcomes = tuple(outcomes)
        found = [
            one
            for other in self.outcomes[1:]
            if not other.error and not self.outcomes[0].error
            for one in differences(self.outcomes[0], other, tolerance)
        ]
        self.differences = sorted(found, key=lambda one: (one.fits, -one.largest))

    @property
    def fits(self) -> bool:
        """Whether all runs succeeded on their backends, with equal values within the tolerance."""
        ran = all(not one.error and not one.strayed for one in self.outcomes)
        return ran and all(one.fits for one in self.differences)

    def as_dict(self) -> dict[str, Any]:
        """Return runs and differences, as JSON takes them; without the values."""
        runs = [asdict(replace(one, values={})) for one in self.outcomes]
        for run in runs:
            del run["values"]
        rows = [{**asdict(one), "fits": one.fits} for one in self.differences]
        return {"runs": runs, "differences": rows, "fits": self.fits}

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        rows = [("loop", *(one.backend for one in self.outcomes))]
        names = dict.fromkeys(name for one in self.outcomes for name, *_ in one.loops)
        for name in names:
            rows.append((name, *(_cell(name, one) for one in self.outcomes)))
        rows.append(("whole program", *(f"{one.seconds:.2f} s" for one in self.outcomes)))
        return "", rows, "; ".join(self._below())

    def _below(self) -> list[str]:
        lines = []
        for one in self.outcomes:
            if one.error:
                lines.append(f"{one.backend}: the program failed:\n{one.error}")
            elif one.strayed:
                lines.append(
                    f"{one.backend}: the program chose {', '.join(one.strayed)} for its loops; "
                    f"leave the choice to 'compare', or pass {PLACE} where the program takes the "
                    "name of a backend"
                )
        wrong = [one for one in self.differences if not one.fits]
        lines += [_told(one, self.outcomes[0].backend) for one in wrong]
        if self.differences and not wrong:
            largest = self.differences[0]
            n = len({one.what for one in self.differences})
            lines.append(
                f"{n} objects agree; the largest difference: "
                f"{_told(largest, self.outcomes[0].backend)}"
            )
        if not any(one.values or one.error for one in self.outcomes):
            lines.append("no loop of the program wrote values")
        return lines

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self._below()])


def differences(first: Outcome, other: Outcome, tolerance: float | None) -> list[Difference]:
    """Compare the values of two runs.

    Args:
        first: The run with the expected values.
        other: The run to compare.
        tolerance: As for `Comparison`.
    """
    found = []
    for what in dict.fromkeys([*first.values, *other.values]):
        one, two = first.values.get(what), other.values.get(what)
        reason = ""
        place: tuple[int, ...]
        if one is None or two is None:
            lacking = first if one is None else other
            reason = f"no loop on '{lacking.backend}' wrote the object"
        elif one.shape != two.shape or one.dtype != two.dtype:
            reason = f"{one.dtype}{list(one.shape)} and {two.dtype}{list(two.shape)}"
        if one is None or two is None or reason:
            largest, place, allowed = 0.0, (), 0.0
        else:
            largest, place, allowed = _largest(one, two, tolerance)
        found.append(Difference(what, other.backend, largest, place, allowed, reason))
    return found


def _largest(
    one: Array, two: Array, tolerance: float | None
) -> tuple[float, tuple[int, ...], float]:
    """Return the largest difference, its index, and the tolerance."""
    if kind_of(one.dtype) not in "fc":
        differ = one != two
        n = int(np.count_nonzero(differ))
        return float(n), _index(differ) if n else (), 0.0
    allowed = eps_of(one.dtype) ** 0.5 if tolerance is None else tolerance
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(one - two)
        scale = float(np.max(np.abs(one), initial=0.0, where=np.isfinite(one)))
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    distance = np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))
    if not distance.size or not distance.any():
        return 0.0, (), allowed
    place = _index(distance)
    largest = float(distance[place])
    return (largest / scale if scale else largest), place, allowed


def _index(values: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))


def _told(one: Difference, first: str) -> str:
    if one.reason:
        return f"{one.what}, {first} and {one.backend}: {one.reason}"
    at = f" at {list(one.place)}" if one.place else ""
    if one.largest == 0.0:
        return f"{one.what}, {first} and {one.backend}: equal"
    if one.allowed == 0.0 and one.largest == int(one.largest):
        return f"{one.what}, {first} and {one.backend}: {int(one.largest)} different values{at}"
    return (
        f"{one.what}, {first} and {one.backend}: {one.largest:.2e} of the largest value{at}, "
        f"allowed {one.allowed:.1e}"
    )


def _cell(name: str, outcome: Outcome) -> str:
    """Return time and rate of a loop on a backend; the loops of a kernel share a cell."""
    cells = [
        f"{seconds * 1e6:.1f} us" + (f", {rate / 1e9:.1f} GB/s" if rate else "")
        for loop, _, seconds, rate in outcome.loops
        if loop == name and seconds is not None
    ]
    return " / ".join(cells) or "-"


def chosen_backends(text: str) -> tuple[list[str], list[str]]:
    """Return the backends asked for, and a line for each left out.

    Args:
        text: Names separated by commas; ``all`` for each available backend.

    Raises:
        UsageError: A name is unknown, a named backend cannot run, or fewer than two are left.
    """
    known = {one.name: one for one in backends()}
    if text == "all":
        names = [one.name for one in known.values() if one.available]
        left = [
            f"{one.name} is left out: {one.reason.splitlines()[0]}"
            for one in known.values()
            if not one.available
        ]
    else:
        names, left = list(dict.fromkeys(one.strip() for one in text.split(",") if one.strip())), []
    for name in names:
        if name not in known:
            raise UsageError(
                f"compare: unknown backend '{name}'; there are: {', '.join(sorted(known))}, or all"
            )
        if not known[name].available:
            raise UsageError(f"compare: backend '{name}' cannot run here: {known[name].reason}")
    if len(names) < 2:
        raise UsageError(
            f"compare: expected two backends at least, got {', '.join(names) or 'none'}; pass "
            "--backend sequential,openmp, or all"
        )
    return sorted(names, key=lambda name: name != "sequential"), left


def compare(
    path: str,
    arguments: Sequence[str],
    names: Sequence[str],
    tolerance: float | None = None,
    tell: Callable[[str], None] = print,
) -> Comparison:
    """Run a Python program in a process for each backend and compare values and times.

    Args:
        path: The program.
        arguments: `sys.argv` of the program, behind the name; ``{backend}`` becomes the name of
            the backend.
        names: The backends; values are compared with those of the first.
        tolerance: As for `Comparison`.
        tell: Gets a line at the end of each run.

    Raises:
        UsageError: The file does not exist.
    """
    programs.check_file(path, "compare")
    outcomes = []
    with TemporaryDirectory() as folder:
        for name in names:
            given = [one.replace(PLACE, name) for one in arguments]
            outcome = _run(path, given, name, folder)
            tell(f"{name}: {outcome.seconds:.1f} s{' (failed)' if outcome.error else ''}")
            outcomes.append(outcome)
    return Comparison(outcomes, tolerance)


def _run(path: str, arguments: Sequence[str], name: str, folder: str) -> Outcome:
    """Run the program in a process of its own."""
    out = Path(folder) / f"{name}.npz"
    code = "import sys; from pyop2cxx.reports.compare import record; record(*sys.argv[1:])"
    begin = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(out), name, path, *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    seconds = perf_counter() - begin
    if done.returncode or not out.exists():
        lines = done.stderr.strip().splitlines()[-_MOST_LINES:]
        ended = f"the process ended with status {done.returncode}, before the end of the program"
        error = "\n".join(lines) or ended
        return Outcome(backend=name, seconds=seconds, error=error, loops=(), values={})
    with np.load(out, allow_pickle=False) as stored:
        about = json.loads(str(stored["about"]))
        values = {what: stored[f"value{i}"] for i, what in enumerate(about["values"])}
    loops = tuple((loop, on, spent, rate) for loop, on, spent, rate in about["loops"])
    return Outcome(backend=name, seconds=seconds, error="", loops=loops, values=values)


def record(out: str, backend: str, path: str, *arguments: str) -> None:
    """Run a program on a backend; store the written values and the costs of loops in a file.

    Args:
        out: A file for NumPy's `load`.
        backend: Where loops run unless the program says otherwise.
        path: The program.
        *arguments: `sys.argv` of the program, behind the name.

    Raises:
        SystemExit: The program has ended with a status other than 0.
    """
    runtime.init(backend=backend)
    written: dict[tuple[str, int, int], Any] = {}
    explained: list[Explanation] = []

    def note(loop: Any) -> None:
        made = loop.explain()
        if made not in explained:
            explained.append(made)
        for part in loop.parts:
            if part.access is not READ and hasattr(part.data, "name"):
                written[_key(loop, part)] = (f"loop '{made.loop}', arg {part.number}", part.data)

    # every call, as devices are not timed otherwise; a profile of the program takes its place
    with programs.watched(note), Profile(every=1).giving_way():
        programs.run_program(path, arguments, "compare")
    explained = [one.timed() for one in explained]
    values = _values(written.values())
    about = {
        "values": list(values),
        "loops": [(e.loop, e.backend, e.seconds_per_call, e.bytes_per_second) for e in explained],
    }
    arrays: dict[str, Any] = {f"value{i}": array for i, array in enumerate(values.values())}
    np.savez(out, about=np.array(json.dumps(about)), **arrays)


def _key(loop: Any, part: Any) -> tuple[str, int, int]:
    """Return the place of an object: the name if given by the program, else the first writer."""
    name = part.data.name
    return (loop.label if _UNNAMED.search(name) else name, part.number, part.field)


def _values(found: Iterable[tuple[str, Any]]) -> dict[str, Array]:
    """Return the values by description, each object once."""
    values: dict[str, Array] = {}
    seen: set[int] = set()
    for place, data in found:
        if data.uid in seen:
            continue
        seen.add(data.uid)
        kind = type(data).__name__
        what = f"{kind} of {place}" if _UNNAMED.search(data.name) else f"{kind} '{data.name}'"
        n = sum(one == what or one.startswith(f"{what} (") for one in values)
        values[f"{what} ({n + 1})" if n else what] = _array(data)
    return values


def _array(data: Any) -> Array:
    if isinstance(data, Mat):
        return np.asarray(data.to_scipy().data)
    return np.asarray(data.data_ro)
