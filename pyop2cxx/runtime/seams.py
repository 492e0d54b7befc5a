# SPDX-License-Identifier: BSD-3-Clause
"""Lazy imports: services of higher layers, and rarely used modules, loaded on first use.

Lower layers call higher layers only here. No registration is needed, so importing a single room
leaves no gap. Rarely used modules of a layer take no time when the package is imported.
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

    A result False or None means an operation impossible on the device.
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
        """Count the values of a copy not representable in the other dtype."""

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
    """Records loops for a later run; see `pyop2cxx.chain.recorder`.

    Attributes:
        takes_all: Whether all operations are recorded, including operations on matrices: nothing
            runs now.
        records: Whether loops are recorded now, not only counted.
    """

    takes_all: bool
    records: bool

    @property
    def is_of_graph(self) -> bool:
        """Whether the recorded loops become a graph, run when submitted."""

    def begin_block(self) -> None:
        """Prepare for an inner block with a recorder of its own."""

    @property
    def waiting(self) -> list[str]:
        """Names of the waiting loops."""

    def takes(self, loop: Any) -> bool:
        """Record a loop; False: the loop must run now."""

    def takes_call(self, key: object, kernel: object, args: Sequence[Any]) -> bool | None:
        """Record a loop recorded before with the same objects.

        Returns:
            Whether the loop was recorded; None: known, but to run now, after the waiting loops.
        """

    def learn(self, key: object, kernel: object, loop: Any, make: Callable[..., Any]) -> None:
        """Remember a loop about to be recorded."""

    def takes_zero(self, carrier: Any) -> bool:
        """Record the setting of all values of an object to zero."""

    def takes_action(
        self,
        name: str,
        action: Callable[[], None],
        *uses: tuple[Any, bool],
        zeroes: bool = False,
        in_graphs: bool = True,
    ) -> bool:
        """Record another action on values."""

    def takes_copy(self, source: Any, target: Any, casting: str) -> bool:
        """Record a copy of all values of a Dat into another of the same dtype."""

    def takes_values(self, carrier: Any, values: Any) -> bool:
        """Record new values of a Global."""

    def settle(self, carrier: Any, *, write: bool) -> None:
        """Run all entries needed before values are read or written."""

    def flush(self) -> None:
        """Run all waiting entries."""

    def settle_for_other(self, carrier: Any, *, write: bool) -> None:
        """Run all entries needed before another thread reads or writes values."""

    def flush_for_other(self) -> None:
        """Run all waiting entries, in a thread other than the recording thread."""


class Looks(Protocol):
    """Remembers host reads while a graph is recorded; see `pyop2cxx.graph.looks`."""

    def note_read(self, carrier: Any) -> None:
        """Remember a read of values."""


class LazyRecorder(Recorder, Protocol):
    """Records all loops of a program, if recording pays; see `pyop2cxx.chain.lazy`."""

    def end(self) -> None:
        """Take nothing any more."""

    def note_look(self) -> None:
        """Note a read of values, or the preparation of a loop, while loops run at once."""

    def explain(self) -> Any:
        """Report the functions of the loops, or the reason why they run at once."""


class Conventions(Protocol):
    """Kernels of PyOP2's older conventions; see `pyop2cxx.pyop2.conventions.adapt`."""

    adapted: Callable[..., tuple[Any, tuple[Any, ...]]]


def new_recorder() -> LazyRecorder:
    """Return the recorder for the loops of a whole program."""
    found = importlib.import_module("pyop2cxx.chain.lazy").of_program()
    return cast("LazyRecorder", found)


def ahead_recording(path: str, **options: Any) -> AbstractContextManager[None]:
    """Return the context that writes the loops of a block to a folder."""
    recording = importlib.import_module("pyop2cxx.ahead.recording")
    return cast("AbstractContextManager[None]", recording.recorded(path, **options))


@cache
def device_algebra() -> DeviceAlgebra:
    """Return the module of algebra on devices."""
    return cast("DeviceAlgebra", importlib.import_module("pyop2cxx.algebra.on_devices"))


def reduced(dat: Any, what: str) -> Any:
    """Return the sum, minimum or maximum of a Dat on a device; None if impossible."""
    return importlib.import_module("pyop2cxx.algebra.reductions").reduced(dat, what)


@cache
def matrix_sums() -> MatrixSums:
    """Return the module of matrix sums on devices."""
    return cast("MatrixSums", importlib.import_module("pyop2cxx.algebra.mat_sums"))


@cache
def matrix_products() -> MatrixProducts:
    """Return the module of matrix products on devices."""
    return cast("MatrixProducts", importlib.import_module("pyop2cxx.algebra.mat_products"))


def change_places(
    mat: Any, places: Array, offsets: tuple[int, ...], value: Any, sign: str, key: Any = None
) -> None:
    """Set (``=``) or add to (``+=``) values of a matrix on a device."""
    importlib.import_module("pyop2cxx.algebra.mat_rows").change(
        mat, places, offsets, value, sign, key
    )


def ufcx() -> Any:
    """Return the reader of FFCx output."""
    return importlib.import_module("pyop2cxx.kernel.ufcx")


def templates() -> Any:
    """Return the module of templates; not needed for texts known from earlier runs."""
    return importlib.import_module("pyop2cxx.runtime.templates")


def parser() -> Any:
    """Return the kernel parser; not needed for kernels known from earlier runs."""
    return importlib.import_module("pyop2cxx.kernel.parser.parse")


def macros() -> Any:
    """Return the preprocessor for use without a compiler."""
    return importlib.import_module("pyop2cxx.kernel.parser.macros")


def preprocessor() -> Any:
    """Return the preprocessor by compiler; most kernels have no directives."""
    return importlib.import_module("pyop2cxx.kernel.parser.by_compiler")


def interpolate(given: Any, function: Any) -> Any:
    """Interpolate into a function of finite elements, and return the function."""
    return importlib.import_module("pyop2cxx.fem.interpolation").interpolate(given, function)


def on_mesh(function: Any) -> Any:
    """Return a function of finite elements as a Dat on its mesh."""
    return importlib.import_module("pyop2cxx.fem.interpolation").on_mesh(function)


def ufl_domain(mesh: Any) -> Any:
    """Return the UFL domain of a mesh."""
    return importlib.import_module("pyop2cxx.fem.domain").domain_of(mesh).ufl


def map_description(map_: Any) -> Any:
    """Return the description of a Map without values, for PyOP2's programs."""
    return importlib.import_module("pyop2cxx.pyop2._kernel_args").description(map_)


def petsc_build() -> Any:
    """Return the compiler settings for kernels that call PETSc; None if not installed."""
    return importlib.import_module("pyop2cxx.interop.petsc_build").build()


def python_loop(*args: Any, **options: Any) -> Any:
    """Return a loop with a Python function as kernel."""
    return importlib.import_module("pyop2cxx.loop.python_loop").PythonLoop(*args, **options)


def explained(*args: Any) -> Any:
    """Return how a loop would run; see `pyop2cxx.pipeline.explain.explain`."""
    return importlib.import_module("pyop2cxx.pipeline.explain").explain(*args)


def checked_run(loop: Any) -> Any:
    """Return the run of a loop in check mode."""
    return importlib.import_module("pyop2cxx.check.check_mode").CheckedRun(loop)


def watched_arguments(loop: Any, *, debug: bool, checked: bool) -> Any:
    """Return the checks of a loop's arguments around a run, in debug or check mode."""
    found = importlib.import_module("pyop2cxx.check.value_checks")
    return found.WatchedArguments(loop, debug=debug, checked=checked)


def facts(what: Any) -> tuple[str, list[tuple[str, str]]]:
    """Return a title and rows that describe an object."""
    found = importlib.import_module("pyop2cxx.reports.showing").facts(what)
    return cast("tuple[str, list[tuple[str, str]]]", found)


def small_picture(of: Any) -> str:
    """Return a small picture of an object as SVG, or nothing."""
    return str(importlib.import_module("pyop2cxx.reports.small_pictures").picture(of))


def scan_loops(source: Any, target: Any) -> Any:
    """Return the loops of an exclusive sum; see `pyop2cxx.algebra.scans`."""
    return importlib.import_module("pyop2cxx.algebra.scans").ScanLoops(source, target)


def save_graph(graph: Any, path: str, **options: Any) -> None:
    """Write a graph to a folder."""
    importlib.import_module("pyop2cxx.ahead.saved_graphs").save(graph, path, **options)


def check_can_be_saved(graph: Any) -> None:
    """Raise if a graph cannot be saved."""
    importlib.import_module("pyop2cxx.ahead.written_graphs").written_down(graph)


@cache
def older_options() -> tuple[Any, ...]:
    """Return options set by PyOP2's programs that have no effect here."""
    if importlib.util.find_spec("pyop2cxx.pyop2") is None:
        return ()
    found = importlib.import_module("pyop2cxx.pyop2.configuration").PYOP2_OPTIONS
    return cast("tuple[Any, ...]", found)


@cache
def conventions() -> Conventions:
    """Return the adapter for kernels of PyOP2's older conventions.

    Raises:
        UnsupportedError: The installation lacks them.
    """
    try:
        found = importlib.import_module("pyop2cxx.pyop2.conventions.adapt")
    except ModuleNotFoundError:
        raise UnsupportedError(
            "kernels of PyOP2's older conventions need pyop2cxx.pyop2, which this installation "
            "lacks; write the kernel for today's, abi='2026'"
        ) from None
    return cast("Conventions", found)
