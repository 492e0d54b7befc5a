# SPDX-License-Identifier: BSD-3-Clause
"""Services of higher rooms, loaded on first use.

Lower rooms call higher rooms only here. No registration is needed, so importing a single room
leaves no gap. Each function names a module, and returns a typed view of its members;
``tests/python/structure.py`` checks the direction.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from pyop2cxx.exceptions import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.runtime.recorder import Recorder


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

    def reduced(self, dat: Any, what: str) -> Array | None:
        """Return the sum, minimum or maximum of a Dat; None if impossible."""

    def ghost_rows(self, dats: Any, given: Any, taken: Any) -> Any:
        """Return the packed rows of an exchange."""

    def add_matrix(self, alpha: Any, x: Any, y: Any) -> bool:
        """Compute ``y += alpha * x`` for matrices."""

    def scale_matrix(self, op: str, alpha: Any, x: Any) -> bool:
        """Compute ``x *= alpha`` or ``x /= alpha`` for a matrix."""


class MatrixProducts(Protocol):
    """Products by loops, or on a device; see `pyop2cxx.algebra.mat_products`."""

    def record(self, mat: Any, x: Any, y: Any) -> bool:
        """Let a graph compute ``y = mat @ x``."""

    def multiply(self, mat: Any, x: Any, y: Any) -> bool:
        """Compute ``y = mat @ x``."""


class LazyRecorder(Protocol):
    """Records all loops of a program, if recording pays; see `pyop2cxx.chain.lazy`."""

    of_program: Callable[[], Recorder]


class Looks(Protocol):
    """Remembers host reads while a graph is recorded; see `pyop2cxx.graph.looks`."""

    def note_read(self, carrier: Any) -> None:
        """Remember a read of values."""


class Conventions(Protocol):
    """Kernels of PyOP2's older conventions; see `pyop2cxx.pyop2.conventions.adapt`."""

    adapted: Callable[..., tuple[Any, tuple[Any, ...]]]
    LastElement: type[Any]


class MatrixRows(Protocol):
    """Values of a matrix changed on a device; see `pyop2cxx.algebra.mat_rows`."""

    def change(
        self,
        mat: Any,
        places: Array,
        offsets: tuple[int, ...],
        value: Any,
        sign: str,
        key: Any = None,
    ) -> None:
        """Set (``=``) or add to (``+=``) values."""


class Scan(Protocol):
    """The loops of a scan.

    Attributes:
        loops: The loops, to be run in order.
    """

    loops: tuple[Any, ...]


class Scans(Protocol):
    """Scans by loops; see `pyop2cxx.algebra.scans`."""

    ScanLoops: Callable[..., Scan]


class FiniteElements(Protocol):
    """Domains of finite elements; see `pyop2cxx.fem.domain`."""

    def domain_of(self, mesh: Any) -> Any:
        """Return the domain of a mesh, with the attribute `ufl`."""


class CheckedLoop(Protocol):
    """A loop in check mode.

    Attributes:
        prepared: The loop with the checked kernel, prepared by the core.
    """

    prepared: Any

    def run(self) -> bool:
        """Run the loop."""


class CheckMode(Protocol):
    """Watched runs of loops; see `pyop2cxx.check`."""

    CheckedRun: Callable[[Any], CheckedLoop]
    WatchedArguments: Callable[..., Any]


class Tuner(Protocol):
    """Measurements of loops and chains; see `pyop2cxx.tune`."""

    before_first_call: Callable[[Any], bool]
    before_first_chain: Callable[[Any, Any, frozenset[str], Any], Any]


class Showing(Protocol):
    """Objects in notebooks and viewers; see `pyop2cxx.reports.showing`."""

    def facts(self, thing: Any) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows that describe an object."""

    def picture(self, thing: Any) -> str:
        """Return a small picture of an object as SVG, or nothing."""

    def grid(self, mesh: Any, dats: Any, fields: Any, numbering: str) -> Any:
        """Return a mesh with values for PyVista."""


class SavedGraphs(Protocol):
    """Graphs in folders; see `pyop2cxx.ahead.saved_graphs`."""

    def save(self, graph: Any, path: str, **options: Any) -> None:
        """Write a graph to a folder."""

    def written_down(self, graph: Any) -> object:
        """Return a graph as numbers and texts; raise if impossible."""


class KernelArguments(Protocol):
    """Descriptions of arguments for PyOP2's programs; see `pyop2cxx.pyop2._kernel_args`."""

    def description(self, map_: Any) -> Any:
        """Return the description of a Map without values."""


class OlderOptions(Protocol):
    """Options of PyOP2's programs without effect here; see `pyop2cxx.pyop2.configuration`."""

    PYOP2_OPTIONS: tuple[Any, ...]


@cache
def lazy_recorder() -> LazyRecorder:
    """Return the module of the recorder for the loops of a whole program."""
    return cast("LazyRecorder", importlib.import_module("pyop2cxx.chain.lazy"))


@cache
def device_algebra() -> DeviceAlgebra:
    """Return the module of algebra on devices."""
    return cast("DeviceAlgebra", importlib.import_module("pyop2cxx.algebra.on_devices"))


@cache
def matrix_products() -> MatrixProducts:
    """Return the module of matrix products on devices."""
    return cast("MatrixProducts", importlib.import_module("pyop2cxx.algebra.mat_products"))


@cache
def matrix_rows() -> MatrixRows:
    """Return the module of changes of matrix values on devices."""
    return cast("MatrixRows", importlib.import_module("pyop2cxx.algebra.mat_rows"))


@cache
def scans() -> Scans:
    """Return the module of exclusive sums."""
    return cast("Scans", importlib.import_module("pyop2cxx.algebra.scans"))


@cache
def finite_elements() -> FiniteElements:
    """Return the module of domains of finite elements."""
    return cast("FiniteElements", importlib.import_module("pyop2cxx.fem.domain"))


@cache
def check_mode() -> CheckMode:
    """Return the room of check mode."""
    return cast("CheckMode", importlib.import_module("pyop2cxx.check"))


@cache
def tuner() -> Tuner:
    """Return the room that measures loops."""
    return cast("Tuner", importlib.import_module("pyop2cxx.tune"))


@cache
def showing() -> Showing:
    """Return the module that describes objects."""
    return cast("Showing", importlib.import_module("pyop2cxx.reports.showing"))


@cache
def saved_graphs() -> SavedGraphs:
    """Return the module of graphs in folders."""
    return cast("SavedGraphs", importlib.import_module("pyop2cxx.ahead.saved_graphs"))


@cache
def older_options() -> OlderOptions | None:
    """Return the module of options of PyOP2's programs; None if the installation lacks them."""
    if importlib.util.find_spec("pyop2cxx.pyop2") is None:
        return None
    return cast("OlderOptions", importlib.import_module("pyop2cxx.pyop2.configuration"))


@cache
def kernel_arguments() -> KernelArguments:
    """Return the module that describes arguments for PyOP2's programs."""
    return cast("KernelArguments", importlib.import_module("pyop2cxx.pyop2._kernel_args"))


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
