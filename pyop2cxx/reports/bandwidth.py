# SPDX-License-Identifier: BSD-3-Clause
"""Sustained memory bandwidth of the machine: STREAM's copy and triad.

The bandwidth is the yardstick of every benchmark here: seconds vary with the machine and its load,
the ratio of a loop's useful bytes to the bandwidth measured in the same run much less.
"""

from __future__ import annotations

import ctypes
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.exceptions import ToolchainError, UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The copy must stay a loop: a call of memcpy would measure libc. Clang obeys the option, GCC the
# pragma.
_FLAGS = ("-fopenmp", "-fno-builtin")
_FALLBACK_CACHE = 32 << 20
_MEMORY_SHARE = 0.5

_SOURCE = """
#pragma GCC optimize("no-tree-loop-distribute-patterns")
void fill(long n, int threads, double *a, double *b, double *c)
{
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; ++i) { a[i] = 1.0; b[i] = 2.0; c[i] = 0.0; }
}
void copy(long n, int threads, double *restrict a, const double *restrict b)
{
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; ++i) a[i] = b[i];
}
void triad(long n, int threads, double *restrict a, const double *restrict b,
           const double *restrict c)
{
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Result of `measure_stream`.

    Attributes:
        threads: Threads moving the data.
        array_bytes: Size of each of the three arrays.
        cache_bytes: Size of the last-level cache they should exceed four times.
        copy: Bytes per second of ``a = b``, two arrays moved.
        triad: Bytes per second of ``a = b + s * c``, three arrays moved.
    """

    threads: int
    array_bytes: int
    cache_bytes: int
    copy: float
    triad: float

    @property
    def is_beyond_cache(self) -> bool:
        """Whether memory sufficed for arrays of four times the last-level cache."""
        return self.array_bytes >= 4 * self.cache_bytes


def measure_stream(
    threads: int | None = None, *, repeats: int = 5, array_bytes: int | None = None
) -> Stream:
    """Measure copy and triad, best of some repeats.

    Args:
        threads: OpenMP threads; None takes as many as loops do.
        repeats: How often each is run; the fastest run counts.
        array_bytes: Size of each array; None takes four times the last-level cache, or less if half
            of the free memory would be exceeded.

    Returns:
        The two bandwidths, with the parameters of the measurement.

    Raises:
        UsageError: A number is not positive.
        ToolchainError: A C compiler is missing or failed.

    Example:
        >>> measure_stream(1, repeats=1, array_bytes=1 << 20).triad > 0
        True
    """
    threads = runtime.engine.n_threads if threads is None else threads
    cache_bytes = last_level_cache_bytes()
    if array_bytes is None:
        array_bytes = beyond_cache_bytes()
    if threads < 1 or repeats < 1 or array_bytes < 8:
        raise UsageError(
            "measure_stream: threads and repeats must be at least 1 and array_bytes at least 8, "
            f"got {threads}, {repeats} and {array_bytes}"
        )
    library = CLibrary(_SOURCE, _FLAGS)
    fill, copy_once, triad_once = map(library.function, ("fill", "copy", "triad"))
    n = array_bytes // 8
    a, b, c = (np.empty(n) for _ in range(3))
    pa, pb, pc = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, c))
    size, n_threads = ctypes.c_long(n), ctypes.c_int(threads)
    fill(size, n_threads, pa, pb, pc)
    copy = _best(lambda: copy_once(size, n_threads, pa, pb), repeats)
    triad = _best(lambda: triad_once(size, n_threads, pa, pb, pc), repeats)
    if a[0] != b[0] + 3.0 * c[0] or a[-1] != a[0]:
        raise ToolchainError("measure_stream: the compiled triad computed a wrong sum")
    return Stream(
        threads=threads,
        array_bytes=8 * n,
        cache_bytes=cache_bytes,
        copy=16 * n / copy,
        triad=24 * n / triad,
    )


def last_level_cache_bytes() -> int:
    """Size of the largest cache reported by the kernel for the first CPU; 32 MiB if unknown."""
    sizes = [_FALLBACK_CACHE]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 0)
        if unit and text[:-1].isdigit():
            sizes.append(int(text[:-1]) * unit)
    return max(sizes[1:], default=sizes[0])


def beyond_cache_bytes() -> int:
    """Size of an array of three that no cache holds, or less for want of memory."""
    return min(4 * last_level_cache_bytes(), int(_MEMORY_SHARE * _available_bytes()) // 3)


class CLibrary:
    """C code compiled as loops are: by the same compiler, with the same options and cache.

    Args:
        source: The code.
        flags: Options besides the common options of loops.

    Raises:
        ToolchainError: A compiler is missing, or rejected the code.

    Example:
        >>> library = CLibrary("double half(double x) { return x / 2; }", ())
        >>> library.function("half", ctypes.c_double)(ctypes.c_double(3.0))
        1.5
    """

    def __init__(self, source: str, flags: Sequence[str]) -> None:
        self._library = runtime.engine.compiled(source, flags).library

    def function(self, name: str, result: type[Any] | None = None) -> Callable[..., Any]:
        """Find a function; the result keeps the library loaded.

        Args:
            name: Name in C.
            result: The ctypes result type; None for void.

        Returns:
            A callable; arguments are Python integers for int, else ctypes values.
        """
        return partial(self._call, ctypes.CFUNCTYPE(result)(self._library.symbol(name)))

    def _call(self, pointer: Callable[..., Any], *arguments: object) -> Any:
        return pointer(*arguments)


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))


def _best(run: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of ``repeats`` runs, after a run not counted."""
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
