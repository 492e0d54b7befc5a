# SPDX-License-Identifier: BSD-3-Clause
"""Ceilings of the machine: rates that no loop of a backend exceeds, measured by loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.data.dats import Dat
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.reports.bandwidth import beyond_cache_bytes
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_N_TIMES = 7
_CACHED = (1 << 17, 1 << 19, 1 << 21, 1 << 23, 1 << 25)
"""Bytes of both arrays of a copy that may stay in a cache."""
_MOST_COPIED = 1 << 29
_CHAINS = 10
"""Independent sums of products: more than the units of a processor have under way."""
_STEPS = 400
_COPY = "void copy(double *y, const double *x) { y[0] = x[0]; }"
_PEAK = """void peak(T *y, const T *x) {{
  T {begin};
  for (int i = 0; i < {steps}; ++i) {{ {body}; }}
  y[0] = {end};
}}"""
_SCALAR = ("-fno-tree-vectorize", "-fno-tree-slp-vectorize")
"""Options of gcc and clang against vectors of their own."""
_TYPES = {4: ("float", "float32"), 8: ("double", "float64")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """Rates of a backend on this machine, with all threads of loops.

    Attributes:
        copy: Bytes a second of a copy that no cache holds, read and written.
        cache: Bytes a second of the fastest copy within a cache; at least `copy`.
        scalar: Floating-point operations a second without lanes, by the bytes of a number: 4, 8.
        lanes: The same on lanes; on GPUs the same numbers.
        launch: Seconds of a loop over an element.
    """

    copy: float
    cache: float
    scalar: Mapping[int, float]
    lanes: Mapping[int, float]
    launch: float

    def __str__(self) -> str:
        peaks = ", ".join(
            f"{1e-9 * self.scalar[n]:.4g} GFlop/s, {1e-9 * self.lanes[n]:.4g} on lanes ({name})"
            for n, (name, _) in sorted(_TYPES.items(), reverse=True)
            if n in self.lanes
        )
        return (
            f"a copy moves {1e-9 * self.copy:.4g} GB/s, within a cache {1e-9 * self.cache:.4g}; "
            f"peak: {peaks}; a loop over an element takes {1e6 * self.launch:.2f} us"
        )


def ceilings(backend: str, profile: Callable[[int], Any]) -> Ceilings:
    """Return the ceilings of a backend, measured at the first call; takes about a second.

    Args:
        backend: Name of the backend; of several devices the chosen device.
        profile: `op2.profile`, by whose clocks loops are timed.

    Raises:
        ToolchainError: The backend cannot run here.
    """
    engine = runtime.engine
    opened = engine.chosen_device(engine.backend(backend))
    key = (backend, str(engine.n_threads if opened is None else opened.key))
    if key not in engine.ceilings:
        known = set(engine.timings)
        with runtime.use_backend(backend):
            engine.ceilings[key] = _measured(opened, profile)
        for added in set(engine.timings) - known:  # loops of the program only
            del engine.timings[added]
    found: Ceilings = engine.ceilings[key]
    return found


def _measured(opened: Any, profile: Callable[[int], Any]) -> Ceilings:
    is_gpu = opened is not None and not opened.info.is_cpu
    if opened is None:
        n_bytes = 2 * min(beyond_cache_bytes(), _MOST_COPIED)
        width = runtime.engine.vector_bytes
    else:
        n_bytes, width = min(_MOST_COPIED, opened.info.memory_bytes // 8), 0
    rates = {n: _copied(n, profile) for n in (*_CACHED, n_bytes) if n <= n_bytes}
    copy = max(rates.pop(n_bytes), 0.0 if opened is None else runtime.engine.copy_rate(opened))
    sizes = [n for n in _TYPES if n == 4 or opened is None or opened.info.float64]
    n_elements = 1 << 21 if is_gpu else runtime.engine.n_threads << 13
    scalar = {n: _peak(n, 0, n_elements, profile) for n in sizes} if opened is None else {}
    wide = {n: _peak(n, width // n or None, n_elements, profile) for n in sizes}
    lanes = {n: max(wide[n], scalar.get(n, 0.0)) for n in sizes}
    one = Set(1, "one")
    empty = ParLoop(Kernel(_COPY, "copy"), one, Dat(one)(WRITE), Dat(one)(READ))
    return Ceilings(
        copy=copy,
        cache=max(copy, *rates.values()),
        scalar=scalar or lanes,
        lanes=lanes,
        launch=_seconds(empty, profile),
    )


def _copied(n_bytes: int, profile: Callable[[int], Any]) -> float:
    cells = Set(n_bytes // 16, "cells")
    x = Dat(cells, np.ones(cells.size))
    return n_bytes / _seconds(
        ParLoop(Kernel(_COPY, "copy"), cells, Dat(cells)(WRITE), x(READ)), profile
    )


def _peak(n_bytes: int, lanes: int | None, n: int, profile: Callable[[int], Any]) -> float:
    """Return the rate of chains of products and sums of numbers of a size, in registers."""
    c_type, dtype = _TYPES[n_bytes]
    names = [f"a{k}" for k in range(_CHAINS)]
    text = _PEAK.format(
        begin=", ".join(f"{a} = x[0] + {k}" for k, a in enumerate(names)),
        steps=_STEPS,
        body="; ".join(f"{a} = {a} * (T)0.999 + (T)0.001" for a in names),
        end=" + ".join(names),
    ).replace("T", c_type)
    cells = Set(n, "cells")
    x, y = Dat(cells, np.ones(n), dtype=dtype), Dat(cells, dtype=dtype)
    kernel = Kernel(text, "peak", opts=_SCALAR if lanes == 0 else ())
    loop = ParLoop(kernel, cells, y(WRITE), x(READ), lanes=lanes)
    return 2 * _CHAINS * _STEPS * n / _seconds(loop, profile)


def _seconds(loop: ParLoop, profile: Callable[[int], Any]) -> float:
    """Return the shortest time of a run."""
    loop.compute()
    found = []
    for _ in range(_N_TIMES):
        with profile(1) as p:
            loop.compute()
        found.append(float(p.loops[0].seconds))
    return min(found)
