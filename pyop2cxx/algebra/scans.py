# SPDX-License-Identifier: BSD-3-Clause
"""Scans over a Set, by loops: chunks of rows at a time, then chunks of their sums.

Minima, maxima, and joins by a kernel of the user go the same way.

A row of a level above is the sum of a chunk of rows below; the uppermost level is a single chunk.
On the way down each chunk starts at the sum before. The size of chunks is independent of the number
of lanes or threads, so the sums are the same bit by bit in each run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.flat import View
from pyop2cxx.base.access import READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.base.moves import seen_flat
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.whole import start_of
from pyop2cxx.graph.joins import Join
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.shapes import written_behind
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_BYTES = 128
"""Bytes read by a lane: a memory transaction."""
_LEAST_ROWS, _MOST_ROWS = 4, 64


class ScanLoops:
    """Loops for the scan of a Dat.

    Args:
        source: Rows to add up, of an integer or real dtype.
        target: Target of the sums; of the same Set, dim and dtype. May be the source.
        operation: ``"sum"``, ``"min"``, ``"max"``, or a `Join` of the user.
        inclusive: Whether a row's result has the row itself.
        size: Rows of a chunk; None means as `chunk_rows`. Rounding depends on the size.
        by_maps: Whether chunks lead to rows by Maps, as loops of saved graphs need, and not by
            views of memory.

    Attributes:
        loops: To be run in order.
    """

    def __init__(
        self,
        source: Dat,
        target: Dat,
        operation: str | Join = "sum",
        *,
        inclusive: bool = False,
        size: int | None = None,
        by_maps: bool = False,
    ) -> None:
        self._by_maps = by_maps
        self._join = operation if isinstance(operation, Join) else None
        self._operation = operation.kernel if isinstance(operation, Join) else operation
        is_half = seen_flat(source.dtype) != source.dtype  # sums are not kept in 16 bits
        dim, dtype = source.cdim, source.compute if self._join or is_half else source.dtype
        is_narrow = dtype != source.dtype
        n = source.dataset.set.size
        for dat in (source, target):
            dat.allocated("scan")
        size = size or chunk_rows(dim * dtype.itemsize)
        self.loops: tuple[ParLoop, ...] = ()
        if n == 0:
            return
        chunks = Set(-(-n // size), "chunks")
        is_whole = (
            n % size == 0
            and not (is_narrow or by_maps)
            and all(dim == 1 or not dat.buffer.is_soa for dat in (source, target))
        )
        into, out_of = [], []
        if is_whole:  # chunks are parts of the Dats' memory
            below: Any = View(source, chunks, size * dim)
            above: Any = View(target, chunks, size * dim)
        else:
            below, above = self._levels(chunks, size, dim, dtype)
            rows = source.dataset.set
            inwards = _copied(dim, dtype.name, source.compute.name)
            outwards = _copied(dim, target.compute.name, dtype.name)
            inner, outer = (
                self._seen(level, rows, dim, how) for level, how in ((below, WRITE), (above, READ))
            )
            into.append(ParLoop(inwards, rows, inner, _arg(source, READ)))
            out_of.append(ParLoop(outwards, rows, _arg(target, WRITE), outer))
        self.loops = (*into, *self._between(chunks, below, above, size, dim, inclusive), *out_of)

    def _between(
        self, chunks: Set, below: Any, above: Any, size: int, dim: int, inclusive: bool
    ) -> Iterator[ParLoop]:
        """Sum the chunks, scan the sums, and add the offsets."""
        dtype, of = below.dtype, self._operation
        access = (RW,) if below.buffer is above.buffer else (WRITE, READ)
        args = [
            self._seen(dat, chunks, size * dim, how)
            for dat, how in zip((above, below), access, strict=False)
        ]
        neutral = [self._join.identity(READ)] if self._join else []
        is_same, n = len(access) == 1, chunks.size
        if n == 1:
            down = _handed_down(size, dim, dtype, of, is_same, False, inclusive)
            yield ParLoop(down, chunks, *args, *neutral)
            return
        coarser = Set(-(-n // size), "chunks")
        sums, starts = self._levels(coarser, size, dim, dtype)
        each = self._seen(sums, chunks, dim, WRITE)
        up = _added_up(size, dim, dtype, of)
        yield ParLoop(up, chunks, each, self._seen(below, chunks, size * dim, READ), *neutral)
        yield from self._between(coarser, sums, starts, size, dim, False)
        down = _handed_down(size, dim, dtype, of, is_same, True, inclusive)
        yield ParLoop(down, chunks, *args, self._seen(starts, chunks, dim, READ))

    def _levels(self, chunks: Set, size: int, dim: int, dtype: np.dtype[Any]) -> tuple[Dat, Dat]:
        """Return memory for rows in chunks, and for their results.

        Rows behind the last are zeros, added in place. A join never meets other rows there than
        the neutral value, so the results lie apart.
        """
        if self._join is None:
            level = _level(chunks, size * dim, dtype)
            return level, level
        rows = np.tile(self._join.identity.data_ro.ravel(), (chunks.size, size))
        on, cdim = chunks, size * dim
        if self._by_maps:
            on, cdim, rows = Set(chunks.size * size, "rows of chunks"), dim, rows.reshape(-1, dim)
        return _level(on, cdim, dtype, rows), _level(on, cdim, dtype)

    def _seen(self, level: Any, on: Set, cdim: int, access: Any) -> DatArg:
        """Return an argument with the first rows of a level, `cdim` scalars for each entity."""
        if level.set is on:
            return _arg(level, access)
        if not self._by_maps:
            return _arg(View(level, on, cdim), access)
        arity = cdim // level.cdim
        places = np.arange(on.size * arity, dtype=np.int32)
        return DatArg(level, Map(on, level.set, arity, places, "rows of a chunk"), access)


def chunk_rows(row_bytes: int) -> int:
    """Return how many rows a chunk has."""
    return min(max(CHUNK_BYTES // row_bytes, _LEAST_ROWS), _MOST_ROWS)


def _level(chunks: Set, cdim: int, dtype: np.dtype[Any], values: Any = None) -> Dat:
    made = Dat(chunks**cdim, values, dtype, "sums of chunks", "aos")
    made.allocated("scan")
    return made


def _arg(dat: Any, access: Any) -> DatArg:
    return DatArg(dat, None, access)


@until_exit(64)
def _added_up(size: int, dim: int, dtype: np.dtype[Any], operation: str | Kernel) -> Kernel:
    if isinstance(operation, Kernel):
        return _joining(operation, "sums", {"size": size, "dim": dim}, dtype)
    about = _types(dtype, operation) | {"size": size, "dim": dim}
    text = render("kernels/scan_sums.c.j2", about)
    return Kernel(text, "add_up", abi="2026").written_here()


@until_exit(64)
def _handed_down(
    size: int,
    dim: int,
    dtype: np.dtype[Any],
    operation: str | Kernel,
    is_same: bool,
    has_start: bool,
    inclusive: bool,
) -> Kernel:
    about = {"size": size, "dim": dim, "is_same": is_same, "inclusive": inclusive}
    if isinstance(operation, Kernel):
        return _joining(operation, "chunk", about, dtype)
    about |= _types(dtype, operation) | {"has_start": has_start}
    text = render("kernels/scan_chunk.c.j2", about)
    return Kernel(text, "hand_down", abi="2026").written_here()


def _joining(kernel: Kernel, what: str, about: dict[str, Any], dtype: np.dtype[Any]) -> Kernel:
    """Return a kernel that calls the user's for the rows of a chunk."""
    name = f"{kernel.name}_{what}"
    while re.search(rf"\b{name}\b", kernel.text):
        name += "_"
    names = {"name": name, "join": kernel.name, "type": c_name(dtype.name)}
    return written_behind(kernel, name, render(f"kernels/join_{what}.c.j2", {**about, **names}))


@until_exit(64)
def _copied(dim: int, dtype: str, source: str) -> Kernel:
    types = {"type": c_name(dtype), "source": c_name(source)}
    text = render("kernels/scan_copy.c.j2", {**types, "dim": dim})
    return Kernel(text, "copy", abi="2026").written_here()


def _types(dtype: np.dtype[Any], operation: str) -> dict[str, Any]:
    """Return the type of values, the type of sums (integers wrap around), and the operation."""
    name, sign = c_name(dtype.name), {"min": "<", "max": ">"}.get(operation, "")
    return {
        "type": name,
        "wide": "uint64_t" if dtype.kind in "iu" and not sign else name,
        "compared": sign,
        "neutral": _literal(start_of(operation, dtype)),
    }


def _literal(number: Any) -> str:
    """Return a neutral value in C; the least integer has no literal."""
    if number in (np.inf, -np.inf):
        return "INFINITY" if number > 0 else "-INFINITY"
    if number < 0:
        return f"-{-(number + 1)} - 1"
    return f"{number}U" if number > np.iinfo(np.int64).max else str(number)
