# SPDX-License-Identifier: BSD-3-Clause
"""The description of a loop by which measurements of similar loops are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.runtime.neighbours import Traits

if TYPE_CHECKING:
    from pyop2cxx.pipeline.request import Request

_COMMON = {"kind", "access", "dtype", "arity", "ragged", "Subset", "layers"}


def traits_of(request: Request) -> Traits:
    """Return the traits of a loop: arguments without names and dims, and the work of an element.

    Args:
        request: The request of a loop on the present device.
    """
    facts, options = request.backend.facts, request.options
    work = _core.lane_work(request.loop, options.tuning)
    fields = [(label.rpartition(": ")[2], value) for label, value in request.loop.fields()]
    about = (
        request.backend.name,
        facts.device_class,
        facts.float64,
        options.semantics.deterministic,
        2 * work.n_in_rows > work.n_operations,
        [(what, value) for what, value in fields if what in _COMMON],
    )
    return Traits(
        shape=str(_core.digest(repr(about))), work=(work.n_operations, work.n_scalars, work.n_slow)
    )
