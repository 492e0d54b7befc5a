#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The stiffness matrix of tetrahedra assembled on an NVIDIA GPU by kernels written by hand.

The peer that assembly on `cuda` is measured against (`docs/adr/0056-entries-of-blocks.md`). The
first kernel adds each entry of each element's tensor by an atomic instruction. The others keep the
tensors of a block of elements in shared memory and sum there what goes to one entry of the matrix,
so that the matrix sees one atomic addition for each block and entry. Needs CuPy.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cupy as cp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from bench_assembly import EDGES, quadratic_nodes, tets_kernel
from bench_device import cube_tets

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_SLOT = 65535  # what fills up the slots of the last block

TEXT = r"""
typedef unsigned short u16;
constexpr int NODES = %(nodes)d, SIZE = NODES * NODES, ELEMENTS = %(elements)d, LANES = %(lanes)d;

__device__ __forceinline__ void kernel_text(double *A, const double *x)
%(kernel)s

// The same tensor written entry by entry to where it is wanted.
struct Strided { double *p; __device__ double &operator[](int k) { return p[k * ELEMENTS]; } };
__device__ __forceinline__ void affine_text(Strided A, const double *x)
%(affine)s

__device__ __forceinline__ void corners(double *out, const double *x, const int *tets, int e)
{
  for (int k = 0; k < 4; ++k)
    for (int d = 0; d < 3; ++d) out[3 * k + d] = x[3 * tets[4 * e + k] + d];
}

extern "C" __global__ void atomics(const double *__restrict__ x, const int *__restrict__ tets,
                                   const int *__restrict__ place, double *values, int n)
{
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  double A[SIZE], at[12];
  for (int k = 0; k < SIZE; ++k) A[k] = 0;
  corners(at, x, tets, e);
  kernel_text(A, at);
  for (int k = 0; k < SIZE; ++k) atomicAdd(values + place[(long)k * n + e], A[k]);
}

extern "C" __global__ void __launch_bounds__(LANES)
blocks(const double *__restrict__ x, const int *__restrict__ tets,
       const int *__restrict__ first_entry, const int *__restrict__ place,
       const u16 *__restrict__ first_slot, const u16 *__restrict__ slot, double *values, int n)
{
  extern __shared__ double tensors[];
  u16 *own = reinterpret_cast<u16 *>(tensors + ELEMENTS * SIZE);
  const int b = blockIdx.x, t = threadIdx.x, e = b * ELEMENTS + t;
  const int begin = first_entry[b], end = first_entry[b + 1];
  const uint4 *from = reinterpret_cast<const uint4 *>(slot + (long)b * ELEMENTS * SIZE);
  for (int i = t; i < ELEMENTS * SIZE / 8; i += LANES) reinterpret_cast<uint4 *>(own)[i] = from[i];
  if (t < ELEMENTS && e < n) {
    double at[12];
    corners(at, x, tets, e);
#if %(is_affine)d
    affine_text(Strided{tensors + t}, at);
#else
    double A[SIZE];
    for (int k = 0; k < SIZE; ++k) A[k] = 0;
    kernel_text(A, at);
    for (int k = 0; k < SIZE; ++k) tensors[k * ELEMENTS + t] = A[k];
#endif
  }
  __syncthreads();
  for (int j = begin + t; j < end; j += LANES) {
    const int p = place[j], l = j + 1 < end ? first_slot[j + 1] : ELEMENTS * SIZE;
    double sum = 0;
    for (int q = first_slot[j]; q < l; ++q) sum += own[q] < %(no_slot)d ? tensors[own[q]] : 0.0;
    atomicAdd(values + p, sum);
  }
}
"""


def affine_text(degree: int) -> str:
    """Tensor of an affine element: six numbers of its geometry times tables of the basis."""
    a, b = 0.5854101966249685, 0.1381966011250105
    linear = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    if degree == 1:
        gradients, weights = linear[None], np.array([1 / 6])
    else:
        found = []
        for at in np.full((4, 4), b) + (a - b) * np.eye(4):
            edges = [4 * (at[i] * linear[j] + at[j] * linear[i]) for i, j in EDGES]
            found.append(np.concatenate([(4 * at[:, None] - 1) * linear, edges]))
        gradients, weights = np.array(found), np.full(4, 1 / 24)
    table = np.einsum("q,qid,qje->ijde", weights, gradients, gradients)
    lines = [
        "{ double J[9], K[9], C[9];",
        "for (int r = 0; r < 3; ++r) for (int c = 0; c < 3; ++c)",
        "  J[3 * r + c] = x[(c + 1) * 3 + r] - x[r];",
        "for (int r = 0; r < 3; ++r) for (int c = 0; c < 3; ++c) {",
        "  const int a = (r + 1) % 3, b = (r + 2) % 3, p = (c + 1) % 3, q = (c + 2) % 3;",
        "  K[3 * c + r] = J[3 * a + p] * J[3 * b + q] - J[3 * a + q] * J[3 * b + p]; }",
        "const double det = J[0] * K[0] + J[1] * K[3] + J[2] * K[6], scale = 1.0 / fabs(det);",
        "for (int d = 0; d < 3; ++d) for (int e = 0; e < 3; ++e) C[3 * d + e] = scale *",
        "  (K[3*d] * K[3*e] + K[3*d+1] * K[3*e+1] + K[3*d+2] * K[3*e+2]);",
    ]
    n = gradients.shape[1]
    for i in range(n):
        for j in range(n):
            factors = table[i, j] + np.triu(table[i, j].T, 1)
            terms = [
                f"{float(factors[d, e])!r} * C[{3 * d + e}]"
                for d in range(3)
                for e in range(d, 3)
                if abs(factors[d, e]) > 1e-14
            ]
            lines.append(f"A[{n * i + j}] = {' + '.join(terms) or '0.0'};")
    return "\n".join(lines) + "}"


@dataclass
class Blocks:
    """Where the entries of each block's tensors go; arrays of the device."""

    first_entry: Any  # int32 [n_blocks + 1]
    place: Any  # int32 [n_entries]
    first_slot: Any  # uint16 [n_entries]
    slot: Any  # uint16 [n_blocks * elements * size]

    @classmethod
    def of(cls, place: Any, elements: int, nnz: int, *, longest_first: bool) -> Blocks:
        """Sort the tensors' places, shape (n, size), block by block of so many elements."""
        n, size = place.shape
        n_blocks = -(-n // elements)
        e = cp.arange(n)[:, None]
        slots = (cp.arange(size)[None, :] * elements + e % elements).reshape(-1)
        keys = ((e // elements) * nnz + place).reshape(-1)
        order = cp.argsort(keys)
        keys, slots = keys[order], slots[order]
        first = cp.flatnonzero(cp.concatenate([cp.ones(1, bool), keys[1:] != keys[:-1]]))
        counts = cp.diff(cp.concatenate([first, cp.array([len(keys)])]))
        entries = keys[first]
        if longest_first:
            least = cp.minimum(counts, 63)
            order = cp.argsort(((entries // nnz) * 64 + 63 - least) * nnz + entries % nnz)
            starts, counts, entries = first[order], counts[order], entries[order]
            first = cp.cumsum(counts) - counts
            slots = slots[cp.repeat(starts - first, counts.get().tolist()) + cp.arange(len(slots))]
        block = entries // nnz
        filled = cp.full(n_blocks * elements * size, _NO_SLOT, cp.uint16)
        filled[: len(slots)] = slots
        first_entry = cp.zeros(n_blocks + 1, cp.int32)
        first_entry[1:] = cp.cumsum(cp.bincount(block, minlength=n_blocks))
        within = (first - block * (elements * size)).astype(cp.uint16)
        return cls(first_entry, (entries % nnz).astype(cp.int32), within, filled)


def milliseconds(call: Callable[[], object], repeats: int = 20) -> float:
    """Return the least of five means, by events of the device."""
    call()
    found = float("inf")
    for _ in range(5):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(repeats):
            call()
        stop.record()
        stop.synchronize()
        found = min(found, cp.cuda.get_elapsed_time(start, stop) / repeats)
    return found


def copy_rate(n: int = 1 << 27) -> float:
    """Bytes per second, read and written, of a copy within the device."""
    source, target = cp.ones(n), cp.empty(n)
    return 16 * n / (milliseconds(lambda: cp.copyto(target, source)) * 1e-3)


def compiled(degree: int, nodes: int, elements: int, lanes: int, *, is_affine: bool) -> Any:
    """Compile the text for blocks of so many elements and lanes."""
    kernel = tets_kernel(degree).code
    text = TEXT % {
        "nodes": nodes,
        "elements": elements,
        "lanes": lanes,
        "kernel": kernel[kernel.index("{") :].replace("static const", "constexpr"),
        "affine": affine_text(degree),
        "is_affine": is_affine,
        "no_slot": _NO_SLOT,
    }
    return cp.RawModule(code=text, options=("--std=c++17",))


def measure(n: int, degree: int, variants: list[tuple[int, int, bool, bool]]) -> None:
    """Print a row for each kernel; the meshes are those of bench_device.py."""
    tets, x = cube_tets(n)
    nodes, n_nodes = quadratic_nodes(tets) if degree == 2 else (tets, len(x))
    on_device = cp.asarray(nodes.astype(np.int64))
    keys = (on_device[:, :, None] * n_nodes + on_device[:, None, :]).reshape(len(nodes), -1)
    unique, place = cp.unique(keys.reshape(-1), return_inverse=True)
    place, nnz, size = place.reshape(keys.shape), len(unique), keys.shape[1]
    del keys, unique
    maps = nodes.size + (tets.size if degree == 2 else 0)
    n_bytes = nnz * 16 + maps * 4 + x.nbytes + place.size
    rate = copy_rate()
    x_there, tets_there, values = cp.asarray(x), cp.asarray(tets), cp.zeros(nnz)

    def row(name: str, call: Callable[[], object], reference: Any) -> Any:
        values[:] = 0
        call()
        got = values.copy()
        error = 0.0 if reference is None else float(abs(got - reference).max())
        ms = milliseconds(call)
        share = 100 * n_bytes / (ms * 1e-3) / rate
        print(
            f"P{degree}, {len(tets) / 1e6:.2f}M, {name:58s} {ms:.3f} ms"
            f" {share:5.1f} % copy, differs by {error:.0e}"
        )
        return got

    by_entry = cp.ascontiguousarray(place.T.astype(cp.int32))
    plain = compiled(degree, nodes.shape[1], 32, 32, is_affine=False).get_function("atomics")
    grid = (-(-len(tets) // 128),)
    args = (x_there, tets_there, by_entry, values, np.int32(len(tets)))
    reference = row("an atomic each", lambda: plain(grid, (128,), args), None)
    for elements, lanes, is_affine, longest_first in variants:
        plan = Blocks.of(place, elements, nnz, longest_first=longest_first)
        module = compiled(degree, nodes.shape[1], elements, lanes, is_affine=is_affine)
        function, shared = module.get_function("blocks"), elements * size * 10
        function.max_dynamic_shared_size_bytes = shared
        lists = (plan.first_entry, plan.place, plan.first_slot, plan.slot)
        of_block = (x_there, tets_there, *lists, values, np.int32(len(tets)))
        n_blocks = -(-len(tets) // elements)
        name = (
            f"blocks of {elements}, {lanes} lanes{', affine' * is_affine}"
            f"{', longest sums first' * longest_first}, {len(plan.place) / place.size:.2f} entries"
        )
        row(
            name,
            lambda f=function, b=n_blocks, t=lanes, a=of_block, s=shared: f(
                (b,), (t,), a, shared_mem=s
            ),
            reference,
        )


def main() -> None:
    """Measure linear and quadratic tetrahedra."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--cubes", type=int, nargs=2, default=(74, 37), help="along an edge: P1, P2"
    )
    options = parser.parse_args()
    linear = [(64, 64), (128, 128), (128, 256), (256, 256)]
    quadratic = [(32, 64), (32, 128), (64, 128), (64, 256)]
    both = ((False, False), (False, True), (True, False), (True, True))
    for n, degree, shapes in ((options.cubes[0], 1, linear), (options.cubes[1], 2, quadratic)):
        measure(n, degree, [(*shape, *kind) for shape in shapes for kind in both])


if __name__ == "__main__":
    main()
