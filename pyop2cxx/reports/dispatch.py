# SPDX-License-Identifier: BSD-3-Clause
"""Who has which loop: ``op2.dispatch``."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead.tables import Table, load
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.operations import Library
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "Library",
    "Match",
    "Report",
    "Row",
    "Table",
    "add_library",
    "clear",
    "expect",
    "load",
    "lookup",
    "record",
    "report",
]


_TIERS = ("ahead", "library")
_TIMES = ("generate ms", "compile ms", "load ms", "run ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often a loop was resolved one way, or an operation of algebra done.

    Attributes:
        loop: The kernel's name, or the operation and its dtype.
        provider: Who had it; empty if nobody did, see `origin`. Of operations 'builtin', the core's
            ready code, or 'library'; on a device 'loop', which has a row of its own, where a
            library may be asked.
        strategy: How racing updates are resolved; the library.
        rejected: Who was asked before, and why they had nothing.
        count: How often.
        origin: If nobody had it, what was done: 'compiled'; 'disk' or 'memory' if loaded from
            a cache; empty if it failed.
        generate_seconds: That the text took.
        compile_seconds: That compiling it took, if it was; with loading what was made.
        load_seconds: That loading took, if it was compiled before.
        run_seconds: That operations took, all together; on devices until they were enqueued.
    """

    loop: str
    provider: str
    strategy: str
    rejected: str
    count: int
    origin: str = ""
    generate_seconds: float = 0.0
    compile_seconds: float = 0.0
    load_seconds: float = 0.0
    run_seconds: float = 0.0

    @property
    def tier(self) -> str:
        """What kind of code ran: 'ahead', 'jit', or of algebra 'builtin', 'library' or 'loop'."""
        return "jit" if self.provider in ("", "jit") else self.provider

    @property
    def seconds(self) -> float:
        """All that it took to have the code."""
        return self.generate_seconds + self.compile_seconds + self.load_seconds


class Report(Tabled, tuple[Row, ...]):
    """Rows that print as a table."""

    __slots__ = ()

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        head = ("loop", "tier", "provider", "strategy", "hits", *_TIMES, "rejected because")
        cells: list[tuple[str, ...]] = [head]
        for row in self:
            cells.append(
                (
                    row.loop,
                    row.tier,
                    row.provider or row.origin or "-",
                    row.strategy or "-",
                    str(row.count),
                    *(
                        f"{1e3 * seconds:.1f}" if seconds else "-"
                        for seconds in (
                            row.generate_seconds,
                            row.compile_seconds,
                            row.load_seconds,
                            row.run_seconds,
                        )
                    ),
                    row.rejected,
                )
            )
        return "", cells, ""


def report() -> Report:
    """Return who was asked for the loops so far, and what they answered.

    Operations of algebra, copies and assignments on the host are in it as 'builtin', on devices as
    loops; zeros outside of chains as 'builtin' on both; where a library may be asked, because of
    the option `blas` or `add_library`, each call is its or the core's.

    Example:
        >>> from pyop2cxx import op2
        >>> isinstance(str(op2.dispatch.report()), str)
        True
    """
    rows = (
        Row(
            loop=event.loop,
            provider=event.provider,
            strategy=event.strategy,
            rejected=event.rejected,
            count=event.n_resolved,
            origin=event.origin,
            generate_seconds=event.generating * 1e-9,
            compile_seconds=event.building * 1e-9 if event.origin == "compiled" else 0.0,
            load_seconds=event.building * 1e-9 if event.origin != "compiled" else 0.0,
            run_seconds=event.running * 1e-9,
        )
        for event in runtime.engine.dispatcher.events()
    )
    return Report(rows)


def add_library(library: Library) -> None:
    """Let a library do operations on the host where it can and is measured to cost less.

    For each operation, dtype and power of two of the number of values the library and the core do
    the next calls in turns; then the faster one does all others. It is not asked with
    ``deterministic=True``, nor by backends of devices. For its operations it stands for the library
    that the option `blas` means. `op2.exit()` forgets it.

    Args:
        library: Says what it has and can do, and does it; see `Library`.

    Raises:
        UsageError: It has an operation that nobody may replace, or none.

    Example:
        >>> from pyop2cxx import op2
        >>> class Fills:
        ...     name, operations = "fills", ("zero",)
        ...
        ...     def why_not(self, operation, values):
        ...         return "" if values.flags.c_contiguous else "stride: there is one"
        ...
        ...     def perform(self, operation, values):
        ...         values[...] = 0
        >>> op2.dispatch.add_library(Fills())
    """
    runtime.engine.operations.add(library)


def clear() -> None:
    """Forget the events so far."""
    runtime.engine.dispatcher.clear_events()


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Who has a loop.

    Attributes:
        loop: The kernel's name.
        tier: 'ahead', compiled before the program ran; 'jit', in this process or in its cache; or
            'none', it would be compiled.
        strategy: How racing updates are resolved.
        rejected: Who has nothing, and why.
    """

    loop: str
    tier: str
    strategy: str
    rejected: str


def lookup(loop: Any) -> Match:
    """Say who has a loop, without compiling or running it.

    Args:
        loop: A `ParLoop`.

    Raises:
        UnsupportedError: The loop is not possible on this backend.
    """
    asked = flow.wanted(loop._current_request())
    answers = runtime.engine.dispatcher.asked(asked.query)
    rejected = "; ".join(f"{name}: {why}" for name, why in answers if why)
    (tier, why) = answers[-1] if answers else ("none", "nobody was asked")
    return Match(
        loop=asked.request.name,
        tier="none" if why else tier,
        strategy=asked.choice.strategy,
        rejected=rejected,
    )


@contextmanager
def record(
    path: str | os.PathLike[str],
    *,
    backends: Sequence[str] = (),
    name: str = "recorded",
    arch: str = "native",
    most: int | None = None,
    tuned: bool = False,
    build: bool = True,
) -> Iterator[None]:
    """Write the loops that run in a `with` block to a folder, for `load` and for C++.

    It is what ``pyop2cxx build`` and ``pyop2cxx generate`` do with a whole program.

    Args:
        path: The folder. It must not exist, be empty, or hold such loops, which are replaced.
        backends: What they are generated for; empty means the one that each loop runs on.
        name: Of the library, a C identifier.
        arch: What the C compiler's ``-march`` is given, for a library each, and kinds of GPUs:
            "x86-64-v3,x86-64-v4,sm_80,sm_90".
        most: So many loops at most; None means any number.
        tuned: Whether each loop is run in all ways that are possible, on the backends that are
            there; who loads the table takes the fastest one.
        build: Whether they are compiled into a library, too.

    Raises:
        UsageError: There is no such backend, the name is no C identifier, the folder holds
            something else; at the end of the block, if it cannot be written, or there are no loops,
            or too many.
        CompilationError: At the end of the block: the compiler rejects a loop.
    """
    options = {"backends": backends, "name": name, "arch": arch, "most": most, "tuned": tuned}
    with seams.ahead_recording(os.fspath(path), build=build, **options):
        yield


@contextmanager
def expect(*tiers: str) -> Iterator[None]:
    """Let nothing be compiled in a `with` block: loops that nobody has are errors before they run.

    Args:
        *tiers: Who may have them: ``"ahead"``, tables that were loaded, and what this process has
            compiled before; ``"library"``, those that the option `blas` means or that were added,
            which algebra may be left to. Without it the core does that by itself.

    Raises:
        UsageError: There is no such tier.
        UnsupportedError: Within the block: a loop would have to be compiled.
    """
    if not tiers or not {*tiers} <= {*_TIERS}:
        known = ", ".join(map(repr, _TIERS))
        raise UsageError(f"dispatch.expect: tiers are: {known}; got {tiers!r}")
    engine = runtime.engine
    before = engine.expected, engine.operations.libraries
    engine.expected, engine.operations.libraries = True, "library" in tiers
    try:
        yield
    finally:
        engine.expected, engine.operations.libraries = before
