# SPDX-License-Identifier: BSD-3-Clause
"""Sums and multiples of vectors on a GPU: by a loop, or by cuBLAS if faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.arrays import core_dtype
from pyop2cxx.data.dats import Dat
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.operations import Offer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.runtime.libraries import DeviceLibraries


def dot(x: Any, y: Any, total: Any, n: int, conjugate: bool, by_loop: Callable[[], bool]) -> bool:
    """Put a sum of products into a Global on the device.

    Args:
        x: A Dat or Global.
        y: A similar object.
        total: A single-valued Global, set to 0.
        n: Number of scalars, contiguous in both; 0 if not contiguous.
        conjugate: Whether the second is conjugated.
        by_loop: Carries out the operation by a loop; returns whether possible.

    Returns:
        Whether the operation was carried out.
    """
    libraries, cublas = _asked()
    if libraries is None or cublas is None:
        return by_loop()
    dtype = core_dtype(x.dtype)
    veto = _strided(n) or cublas.veto_dot(_column(x, n), _column(y, n))
    device = libraries.device

    def by_library() -> None:
        cublas.dot(device, dtype, n, x.buffer, y.buffer, conjugate, total.buffer)

    what = ("dot", str(x.dtype), n)
    offer = Offer("cublas", "cublas", veto, by_library)
    return runtime.engine.operations.resolved_on(libraries, what, offer, by_loop)


def axpy(factor: Any, x: Any, y: Any, n: int, by_loop: Callable[[], bool]) -> bool:
    """Compute ``y += factor * x``; the factor is a Global, the rest as for `dot`."""
    libraries, cublas = _asked()
    if libraries is None or cublas is None:
        return by_loop()
    dtype = core_dtype(y.dtype)
    columns = _column(x, n), _column(y, n)
    veto = _strided(n) or cublas.veto_axpy(core_dtype(factor.dtype), *columns)
    device = libraries.device

    def by_library() -> None:
        cublas.axpy(device, dtype, n, factor.buffer, x.buffer, y.buffer)

    what = ("axpy", str(y.dtype), n)
    offer = Offer("cublas", "cublas", veto, by_library)
    return runtime.engine.operations.resolved_on(libraries, what, offer, by_loop)


def _asked() -> tuple[DeviceLibraries | None, _core.cuda.Cublas | None]:
    engine = runtime.engine
    libraries = engine.device_libraries(engine.backend(runtime.backend))
    return libraries, None if libraries is None else libraries.cublas


def _strided(n: int) -> str:
    return "" if n else "stride: values do not follow each other in both"


def _column(carrier: Any, n: int) -> _core.Column:
    """Return the host column of the values, for detecting overlaps."""
    if isinstance(carrier, Dat):
        carrier.allocated("algebra")
    address = carrier.buffer.address
    return _core.Column(dtype=core_dtype(carrier.dtype), address=address, n=n, stride=1)
