# SPDX-License-Identifier: BSD-3-Clause
"""Exclusive sums over a Set, by loops: chunks of rows at a time, then chunks of their sums.

A row of a level above is the sum of a chunk of rows below; the uppermost level is a single chunk.
On the way down each chunk starts at the sum before. The size of chunks is independent of the number
of lanes or threads, so the sums are the same bit by bit in each run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.algebra.on_devices import Flat
from pyop2cxx.base.access import READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

CHUNK_BYTES = 128
"""Bytes read by a lane: a memory transaction."""
_LEAST_ROWS, _MOST_ROWS = 4, 64


class ScanLoops:
    """Loops for the exclusive sums of a Dat.

    Args:
        source: Rows to add up, of an integer or real dtype.
        target: Target of the sums; of the same Set, dim and dtype. May be the source.

    Attributes:
        loops: To be run in order.
    """

    def __init__(self, source: Dat, target: Dat) -> None:
        dim, dtype = source.cdim, source.dtype
        n = source.dataset.set.size
        for dat in (source, target):
            dat.allocated("scan")
        size = chunk_rows(dim * dtype.itemsize)
        self.loops: tuple[ParLoop, ...] = ()
        if n == 0:
            return
        chunks = Set(-(-n // size), "chunks")
        is_whole = n % size == 0 and all(
            dim == 1 or not dat.buffer.is_soa for dat in (source, target)
        )
        into, out_of = [], []
        if is_whole:  # chunks are parts of the Dats' memory
            below: Any = _View(source, chunks, size * dim)
            above: Any = _View(target, chunks, size * dim)
        else:
            below = above = _level(chunks, size * dim, dtype)
            rows = source.dataset.set
            inner = _View(below, rows, dim)
            inwards = _copied(dim, dtype.name, source.compute.name)
            outwards = _copied(dim, target.compute.name, dtype.name)
            into.append(ParLoop(inwards, rows, _arg(inner, WRITE), _arg(source, READ)))
            out_of.append(ParLoop(outwards, rows, _arg(target, WRITE), _arg(inner, READ)))
        self.loops = (*into, *self._between(chunks, below, above, size, dim), *out_of)

    def _between(
        self, chunks: Set, below: Any, above: Any, size: int, dim: int
    ) -> Iterator[ParLoop]:
        """Sum the chunks, scan the sums, and add the offsets."""
        dtype = below.dtype
        access = (RW,) if below.buffer is above.buffer else (WRITE, READ)
        args = [_arg(dat, how) for dat, how in zip((above, below), access, strict=False)]
        is_same, n = len(access) == 1, chunks.size
        if n == 1:
            yield ParLoop(_handed_down(size, dim, dtype.name, is_same, False), chunks, *args)
            return
        coarser = Set(-(-n // size), "chunks")
        sums = _level(coarser, size * dim, dtype)
        each = _View(sums, chunks, dim)
        yield ParLoop(
            _added_up(size, dim, dtype.name), chunks, _arg(each, WRITE), _arg(below, READ)
        )
        yield from self._between(coarser, sums, sums, size, dim)
        down = _handed_down(size, dim, dtype.name, is_same, True)
        yield ParLoop(down, chunks, *args, _arg(each, READ))


def chunk_rows(row_bytes: int) -> int:
    """Return how many rows a chunk has."""
    return min(max(CHUNK_BYTES // row_bytes, _LEAST_ROWS), _MOST_ROWS)


class _View(Flat):
    """A flat view that keeps the owning Dat alive."""

    def __init__(self, carrier: Dat, rows: Set, cdim: int) -> None:
        super().__init__(carrier, rows, cdim)
        self._carrier = carrier


def _level(chunks: Set, cdim: int, dtype: np.dtype[Any]) -> Dat:
    made = Dat(chunks**cdim, None, dtype, "sums of chunks", "aos")
    made.allocated("scan")
    return made


def _arg(dat: Any, access: Any) -> DatArg:
    return DatArg(dat, None, access)


@until_exit(64)
def _added_up(size: int, dim: int, dtype: str) -> Kernel:
    text = render("kernels/scan_sums.c.j2", _types(dtype) | {"size": size, "dim": dim})
    return Kernel(text, "add_up", abi="2026").written_here()


@until_exit(64)
def _handed_down(size: int, dim: int, dtype: str, is_same: bool, has_start: bool) -> Kernel:
    sizes = {"size": size, "dim": dim, "is_same": is_same, "has_start": has_start}
    text = render("kernels/scan_chunk.c.j2", _types(dtype) | sizes)
    return Kernel(text, "hand_down", abi="2026").written_here()


@until_exit(64)
def _copied(dim: int, dtype: str, source: str) -> Kernel:
    types = {"type": c_name(dtype), "source": c_name(source)}
    text = render("kernels/scan_copy.c.j2", {**types, "dim": dim})
    return Kernel(text, "copy", abi="2026").written_here()


def _types(dtype: str) -> dict[str, Any]:
    """Return the type of values, and the type of sums: integers wrap around."""
    name = c_name(dtype)
    return {"type": name, "wide": "uint64_t" if dtype.startswith(("int", "uint")) else name}
