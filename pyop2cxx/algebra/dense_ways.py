# SPDX-License-Identifier: BSD-3-Clause
"""Ways of dense algebra on all elements: a loop, or a library if faster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.base.arrays import MOST_INT32
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.operations import Offer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.data.dats import Dat
    from pyop2cxx.runtime.libraries import DeviceLibraries
    from pyop2cxx.sets.sets import Subset

PROVIDERS = ("auto", "loop", "numpy", "cublas")


class Call(NamedTuple):
    """A call, and the ways to carry it out.

    Attributes:
        about: Operation and sizes, for reports.
        dats: All operands.
        subset: The elements; None means all.
        by_loop: Carries out the call by a loop; returns True.
        by_numpy: The same by NumPy; returns whether possible. None: there is no such function.
        by_cublas: The same by cuBLAS, as enqueued; None: there is no such function.
    """

    about: str
    dats: tuple[Dat, ...]
    subset: Subset | None
    by_loop: Callable[[], bool]
    by_numpy: Callable[[], bool] | None
    by_cublas: Callable[[DeviceLibraries], bool] | None = None


def carry_out(call: Call, provider: str) -> None:
    """Carry out a call in the wanted way, or in the fastest.

    Raises:
        UsageError: The provider does not exist, or cannot serve; nothing is changed.
    """
    if provider not in PROVIDERS:
        known = ", ".join(map(repr, PROVIDERS))
        raise UsageError(f"{call.about}: there is no provider {provider!r}; there are: {known}")
    engine = runtime.engine
    is_asked = runtime.configuration["blas"] == "auto" and engine.operations.asks_libraries
    libraries = engine.device_libraries(engine.backend(runtime.backend)) if is_asked else None
    offer = None
    if provider in ("numpy", "cublas") or (provider == "auto" and is_asked):
        offer = _offer(call, libraries)
    if provider in ("numpy", "cublas"):
        why = _why_not(call, offer, provider)
        if why:
            raise UsageError(
                f"{call.about}: provider={provider!r} cannot serve: {why}. provider='loop' serves "
                "all calls"
            )
    what = call.about, str(call.dats[0].compute), call.dats[0].set.size
    if offer is None:
        is_done = call.by_loop()
    elif provider != "auto":
        is_done = engine.operations.resolved(what, [offer], None)
    elif libraries is not None:
        is_done = engine.operations.resolved_on(libraries, what, offer, call.by_loop)
    else:
        is_done = engine.operations.resolved(what, [offer], call.by_loop, "loop")
    if not is_done:  # an element is singular: the loop finds the number
        call.by_loop()


def _offer(call: Call, libraries: DeviceLibraries | None) -> Offer | None:
    """Return the library for the place of loops; None: there is none."""
    if runtime.device is None:
        if call.by_numpy is None:
            return None
        return Offer("numpy", "numpy", _veto(call), call.by_numpy)
    if libraries is None or libraries.cublas is None or call.by_cublas is None:
        return None
    veto = _veto(call) or _veto_on_device(call)
    return Offer("cublas", "cublas", veto, partial(call.by_cublas, libraries))


def _why_not(call: Call, offer: Offer | None, provider: str) -> str:
    """Return why a wanted provider cannot serve; empty: possible."""
    if offer is not None and offer.library == provider:
        return offer.veto
    if (call.by_numpy if provider == "numpy" else call.by_cublas) is None:
        return "the library has no such function"
    if provider == "numpy":
        return f"loops run on the device of backend '{runtime.backend}', and NumPy on the host"
    return "needed are op2.init(backend='cuda', blas='auto'), a GPU, and NVIDIA's cuBLAS"


def _veto(call: Call) -> str:
    """Return why no library can serve; empty: possible."""
    options, recorder = runtime.configuration, runtime.recorder
    narrow = next((dat for dat in call.dats if dat.compute != dat.dtype), None)
    vetoes = {
        "recorded: calls in chains and graphs are loops": recorder is not None and recorder.records,
        "deterministic: results may not depend on a library": options["deterministic"],
        "dispatch: op2.dispatch.expect allows no library": not runtime.engine.operations.libraries,
        "check mode: only loops are checked": options["check"] or options["debug"],
        "subset: a library takes all elements": call.subset is not None,
        "length: there are no elements": not call.dats[0].set.size,
        f"dtype: {narrow} is stored in another one": narrow is not None,
    }
    return next((veto for veto, is_true in vetoes.items() if is_true), "")


def _veto_on_device(call: Call) -> str:
    """Return why cuBLAS cannot serve; empty: possible."""
    if call.dats[0].set.size > MOST_INT32:
        return "length: integers of the library have 32 bits"
    for dat in call.dats:
        dat.allocated("dense")
        if dat.buffer.is_soa or dat.stride:
            return f"layout: values of an element of {dat.label} lie apart"
    return ""
