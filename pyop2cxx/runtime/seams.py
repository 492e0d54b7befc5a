# SPDX-License-Identifier: BSD-3-Clause
"""What is found by name when first needed, as backends are.

What lower rooms ask of higher ones: nobody has to announce itself, so a program that imports one
room alone meets no gap. And what few programs need, of the room that asks: it takes no time when
the package is imported.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from pyop2cxx.exceptions import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from pyop2cxx.base.arrays import Array


class DeviceAlgebra(Protocol):
    """Algebra where the values are on a device; see `pyop2cxx.algebra.on_devices`.

    What returns False or None could not be done there.
    """

    def is_at(self, *operands: object, write: bool = True) -> bool:
        """Say whether loops run on a device and the values of an operand are there."""

    def combine(self, op: str, out: Any, left: Any, right: Any, *, whole: bool) -> bool:
        """Compute ``out = left op right``."""

    def axpy(self, alpha: Any, x: Any, y: Any, *, whole: bool) -> bool:
        """Compute ``y += alpha * x``."""

    def dot(self, x: Any, y: Any, *, conjugate: bool) -> Any:
        """Return the sum of products."""

    def dot_into(self, x: Any, y: Any, target: Any, *, conjugate: bool) -> bool:
        """Put the sum of products into a Global."""

    def copy(self, source: Any, target: Any, subset: Any) -> bool:
        """Copy values."""

    def n_unfit(self, source: Any, target: Any, subset: Any) -> int | None:
        """Count the values to copy that another dtype does not hold."""

    def zero(self, target: Any, subset: Any) -> bool:
        """Set values to zero."""


class MatrixSums(Protocol):
    """Sums of matrices where the values are on a device; see `pyop2cxx.algebra.mat_sums`."""

    def axpy(self, alpha: Any, x: Any, y: Any) -> bool:
        """Compute ``y += alpha * x``."""

    def scale(self, op: str, alpha: Any, x: Any) -> bool:
        """Compute ``x *= alpha`` or ``x /= alpha``."""


class MatrixProducts(Protocol):
    """Products where values are on a device; see `pyop2cxx.algebra.mat_products`."""

    def multiply(self, mat: Any, x: Any, y: Any) -> bool:
        """Compute ``y = mat @ x``."""


class Recorder(Protocol):
    """Takes loops that are to run later; see `pyop2cxx.chain.recorder`.

    Attributes:
        takes_all: Whether it takes everything, also what is done to matrices: nothing runs now.
        records: Whether it takes loops now, and does not only count them.
    """

    takes_all: bool
    records: bool

    @property
    def is_of_graph(self) -> bool:
        """Whether what it takes becomes a graph, which runs when it is submitted."""

    def begin_block(self) -> None:
        """Get ready for a block within this one that records its own loops."""

    @property
    def waiting(self) -> list[str]:
        """Names of the loops that wait."""

    def takes(self, loop: Any) -> bool:
        """Record a loop; False: it runs now."""

    def takes_call(self, key: object, kernel: object, args: Sequence[Any]) -> bool | None:
        """Record a loop that was recorded before with the same objects.

        Returns:
            Whether it was recorded; None: it is known, and runs now, after all that waited.
        """

    def learn(self, key: object, kernel: object, loop: Any, make: Callable[..., Any]) -> None:
        """Remember a loop that is about to be recorded."""

    def takes_zero(self, carrier: Any) -> bool:
        """Record that all values of an object are set to zero."""

    def takes_action(
        self,
        name: str,
        action: Callable[[], None],
        *uses: tuple[Any, bool],
        zeroes: bool = False,
        in_graphs: bool = True,
    ) -> bool:
        """Record something else that is done to values."""

    def takes_copy(self, source: Any, target: Any, casting: str) -> bool:
        """Record that all values of a Dat are copied into another one of the same dtype."""

    def takes_values(self, carrier: Any, values: Any) -> bool:
        """Record that all values of a Global are set."""

    def settle(self, carrier: Any, *, write: bool) -> None:
        """Run what must have run before somebody reads, or writes, values."""

    def flush(self) -> None:
        """Run all that waits."""

    def settle_for_other(self, carrier: Any, *, write: bool) -> None:
        """Run what must have run before another thread reads, or writes, values."""

    def flush_for_other(self) -> None:
        """Run all that waits, in a thread that has not recorded it."""


class Looks(Protocol):
    """Remembers what the host reads while a graph is written down; see `pyop2cxx.graph.looks`."""

    def note_read(self, carrier: Any) -> None:
        """Remember that values are read."""


class LazyRecorder(Recorder, Protocol):
    """Takes all loops of a program, as long as that pays; see `pyop2cxx.chain.lazy`."""

    def end(self) -> None:
        """Take nothing any more."""

    def note_look(self) -> None:
        """Note that values are looked at, or a loop gets ready to run, while loops run at once."""

    def explain(self) -> Any:
        """Say what the loops became, or why they run at once."""


class Conventions(Protocol):
    """Kernels of PyOP2's older conventions; see `pyop2cxx.pyop2.conventions.adapt`."""

    adapted: Callable[..., tuple[Any, tuple[Any, ...]]]


def new_recorder() -> LazyRecorder:
    """Return what records the loops of a whole program."""
    found = importlib.import_module("pyop2cxx.chain.lazy").of_program()
    return cast("LazyRecorder", found)


def ahead_recording(path: str, **options: Any) -> AbstractContextManager[None]:
    """Return what writes the loops of a block to a folder."""
    recording = importlib.import_module("pyop2cxx.ahead.recording")
    return cast("AbstractContextManager[None]", recording.recorded(path, **options))


@cache
def device_algebra() -> DeviceAlgebra:
    """Return who computes with values on devices."""
    return cast("DeviceAlgebra", importlib.import_module("pyop2cxx.algebra.on_devices"))


def reduced(dat: Any, what: str) -> Any:
    """Return the sum, least or greatest values of a Dat on a device; None if it cannot."""
    return importlib.import_module("pyop2cxx.algebra.reductions").reduced(dat, what)


@cache
def matrix_sums() -> MatrixSums:
    """Return who adds matrices on devices."""
    return cast("MatrixSums", importlib.import_module("pyop2cxx.algebra.mat_sums"))


@cache
def matrix_products() -> MatrixProducts:
    """Return who multiplies matrices on devices."""
    return cast("MatrixProducts", importlib.import_module("pyop2cxx.algebra.mat_products"))


def change_places(mat: Any, places: Array, offsets: tuple[int, ...], value: Any, sign: str) -> None:
    """Set (``=``) or add to (``+=``) values of a matrix on its device."""
    importlib.import_module("pyop2cxx.algebra.mat_rows").change(mat, places, offsets, value, sign)


def ufcx() -> Any:
    """Return who reads what FFCx writes."""
    return importlib.import_module("pyop2cxx.kernel.ufcx")


def templates() -> Any:
    """Return who fills templates; what is known from an earlier run needs none."""
    return importlib.import_module("pyop2cxx.runtime.templates")


def parser() -> Any:
    """Return who parses kernels; one that is known from an earlier run needs none."""
    return importlib.import_module("pyop2cxx.kernel.parser.parse")


def macros() -> Any:
    """Return who carries out directives of the preprocessor where there is no compiler."""
    return importlib.import_module("pyop2cxx.kernel.parser.macros")


def preprocessor() -> Any:
    """Return who asks the compiler to carry out directives; most kernels have none."""
    return importlib.import_module("pyop2cxx.kernel.parser.by_compiler")


def interpolate(given: Any, function: Any) -> Any:
    """Interpolate into a function of finite elements, and return that."""
    return importlib.import_module("pyop2cxx.fem.interpolation").interpolate(given, function)


def ufl_domain(mesh: Any) -> Any:
    """Return a mesh as UFL sees it."""
    return importlib.import_module("pyop2cxx.fem.domain").domain_of(mesh).ufl


def petsc_build() -> Any:
    """Return how kernels that call PETSc are compiled; None if it is not installed."""
    return importlib.import_module("pyop2cxx.interop.petsc_build").build()


def python_loop(*args: Any, **options: Any) -> Any:
    """Return a loop whose kernel is a Python function."""
    return importlib.import_module("pyop2cxx.loop.python_loop").PythonLoop(*args, **options)


def explained(*args: Any) -> Any:
    """Return how a loop would run; see `pyop2cxx.pipeline.explain.explain`."""
    return importlib.import_module("pyop2cxx.pipeline.explain").explain(*args)


def checked_run(loop: Any) -> Any:
    """Return what runs a loop in check mode."""
    return importlib.import_module("pyop2cxx.loop.check_mode").CheckedRun(loop)


def watched_arguments(loop: Any, *, debug: bool, checked: bool) -> Any:
    """Return what looks at a loop's arguments before and after a run, in debug or check mode."""
    found = importlib.import_module("pyop2cxx.loop.value_checks")
    return found.WatchedArguments(loop, debug=debug, checked=checked)


def facts(what: Any) -> tuple[str, list[tuple[str, str]]]:
    """Return a title and rows that say what an object is."""
    found = importlib.import_module("pyop2cxx.reports.showing").facts(what)
    return cast("tuple[str, list[tuple[str, str]]]", found)


def small_picture(of: Any) -> str:
    """Return a small picture of an object as SVG, or nothing."""
    return str(importlib.import_module("pyop2cxx.reports.small_pictures").picture(of))


def scan_loops(source: Any, target: Any) -> Any:
    """Return what computes exclusive sums by loops; see `pyop2cxx.algebra.scans`."""
    return importlib.import_module("pyop2cxx.algebra.scans").ScanLoops(source, target)


def save_graph(graph: Any, path: str, **options: Any) -> None:
    """Write a graph to a folder."""
    importlib.import_module("pyop2cxx.ahead.saved_graphs").save(graph, path, **options)


def check_can_be_saved(graph: Any) -> None:
    """Raise if a graph cannot be saved."""
    importlib.import_module("pyop2cxx.ahead.written_graphs").written_down(graph)


@cache
def older_options() -> tuple[Any, ...]:
    """Return options that PyOP2's programs set and that mean nothing here."""
    if importlib.util.find_spec("pyop2cxx.pyop2") is None:
        return ()
    found = importlib.import_module("pyop2cxx.pyop2.configuration").PYOP2_OPTIONS
    return cast("tuple[Any, ...]", found)


@cache
def conventions() -> Conventions:
    """Return who adapts kernels of PyOP2's older conventions.

    Raises:
        UnsupportedError: This installation is without them.
    """
    try:
        found = importlib.import_module("pyop2cxx.pyop2.conventions.adapt")
    except ModuleNotFoundError:
        raise UnsupportedError(
            "kernels of PyOP2's older conventions need pyop2cxx.pyop2, which this installation "
            "lacks; write the kernel for today's, abi='2026'"
        ) from None
    return cast("Conventions", found)
