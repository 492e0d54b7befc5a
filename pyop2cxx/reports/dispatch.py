# SPDX-License-Identifier: BSD-3-Clause
"""Providers of loops: ``op2.dispatch``."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead.tables import Table, load
from pyop2cxx.base.conversions import check_casting
from pyop2cxx.base.moves import move_between
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.nearest import nearest
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.operations import Library, plugged_library
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.data.dats import Dat, SubsetLike

__all__ = [
    "Library",
    "Match",
    "Report",
    "Row",
    "Table",
    "add_library",
    "clear",
    "expect",
    "explain_copy",
    "load",
    "lookup",
    "record",
    "report",
]


_TIERS = ("ahead", "library")
_TIMES = ("generate ms", "compile ms", "load ms", "run ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Number of resolutions of a loop by a provider, or of runs of an operation of algebra.

    Attributes:
        loop: The kernel's name, or the operation and the dtype.
        provider: Provider of the loop; empty if there was none, see `origin`. For operations
            'builtin', the core's ready code, or 'library'; on a device 'loop', with a separate row,
            if a library may be asked.
        strategy: How racing updates are resolved; the library.
        rejected: Providers asked before, with their reasons.
        count: How often.
        origin: Without a provider, the way taken: 'compiled'; 'disk' or 'memory' for a load from a
            cache; empty for a failure.
        generate_seconds: Time of generating the text.
        compile_seconds: Time of compiling, with loading, if compiled.
        load_seconds: Time of loading, if compiled before.
        run_seconds: Total time of operations; on devices until enqueued.
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
        """Kind of code: 'ahead', 'jit', or for algebra 'builtin', 'library' or 'loop'."""
        return "jit" if self.provider in ("", "jit") else self.provider

    @property
    def seconds(self) -> float:
        """Total time to obtain the code."""
        return self.generate_seconds + self.compile_seconds + self.load_seconds


class Report(Tabled, tuple[Row, ...]):
    """Rows printed as a table."""

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
    """Return the providers asked for the loops so far, with their answers.

    Operations of algebra, copies and assignments on the host are listed as 'builtin', on devices as
    loops; zeros outside of chains as 'builtin' on both; if a library may be asked, because of the
    option `blas` or `add_library`, each call belongs to the library or to the core.

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


def add_library(library: Library | str) -> None:
    """Let a library do operations on the host if supported and measured to be faster.

    For each operation, dtype and power of two of the number of values the library and the core take
    turns; then the faster does all later calls. The library is not asked with
    ``deterministic=True``, nor by backends of devices. The library's operations replace the library
    of the option `blas`. `op2.exit()` forgets the library.

    Args:
        library: Describes and carries out the operations; see `Library`. A name means the library
            of another package with an entry point in group ``pyop2cxx.libraries``.

    Raises:
        ConfigurationError: There is no entry point of this name, or it gives no library.
        UsageError: An operation of the library is not replaceable, or there is none.

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
    found = plugged_library(library) if isinstance(library, str) else library
    runtime.engine.operations.add(found)


def clear() -> None:
    """Forget the events so far."""
    runtime.engine.dispatcher.clear_events()


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Provider of a loop.

    Attributes:
        loop: The kernel's name.
        tier: 'ahead', compiled before the program ran; 'jit', compiled in the process or found in
            the cache; or 'none', to be compiled.
        strategy: How racing updates are resolved.
        rejected: Providers without the loop, with reasons.
    """

    loop: str
    tier: str
    strategy: str
    rejected: str


def lookup(loop: Any) -> Match:
    """Return the provider of a loop, without compiling or running.

    Args:
        loop: A `ParLoop`.

    Raises:
        UnsupportedError: The loop is not possible on the backend.
    """
    asked = flow.wanted(loop.current_request())
    answers = runtime.engine.dispatcher.asked(asked.query)
    rejected = "; ".join(f"{name}: {why}" for name, why in answers if why)
    (tier, why) = answers[-1] if answers else ("none", "nobody was asked")
    rejected += nearest(asked.request, asked.choice) if why else ""
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
    """Write the loops of a `with` block to a folder, for `load` and for C++.

    ``pyop2cxx build`` and ``pyop2cxx generate`` do the same for a whole program.

    Args:
        path: The folder: missing, empty, or with such loops, to be replaced.
        backends: Backends to generate for; empty means the backend of each loop.
        name: Of the library, a C identifier.
        arch: Values of the C compiler's ``-march``, each for a separate library, and kinds of GPUs:
            "x86-64-v3,x86-64-v4,sm_80,sm_90".
        most: So many loops at most; None means any number.
        tuned: Whether each loop is measured in all possible ways, on the available backends; users
            of the table take the fastest.
        build: Whether they are compiled into a library, too.

    Raises:
        UsageError: A backend does not exist, the name is no C identifier, the folder holds other
            files; at the end of the block, if the folder cannot be written, or there are no loops,
            or too many.
        CompilationError: At the end of the block: the compiler rejects a loop.
    """
    from pyop2cxx.ahead import recording

    with recording.recorded(
        os.fspath(path),
        backends=backends,
        name=name,
        arch=arch,
        most=most,
        tuned=tuned,
        build=build,
    ):
        yield


@contextmanager
def expect(*tiers: str) -> Iterator[None]:
    """Forbid compiling in a `with` block: loops without a provider are errors before they run.

    Args:
        *tiers: Allowed providers: ``"ahead"``, loaded tables, and loops compiled by the process
            before; ``"library"``, libraries of the option `blas` or added ones, for algebra.
            Without ``"library"`` the core does algebra.

    Raises:
        UsageError: The tier does not exist.
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


def explain_copy(
    source: Dat, target: Dat, subset: SubsetLike | None = None, *, casting: str = "fitting"
) -> str:
    """Return how the host copies a Dat to another: the kernels, and their bytes of scratch.

    Nothing is copied, so values are not looked at.

    Args:
        source: As for `Dat.copy`.
        target: As for `Dat.copy`.
        subset: As for `Dat.copy`.
        casting: As for `Dat.copy`.

    Returns:
        A line for each kernel, children behind their parents.

    Raises:
        DatTypeError, MapValueError, DataValueError: As of `Dat.copy`, but for values.
    """
    check_casting(casting, f"{source.label}: explain_copy")
    source.check_target(target)
    rows = None if subset is None else subset.owned_indices
    given = target.allocated("explain_copy"), source.allocated("explain_copy")
    return move_between(*given, rows).explained(casting)
