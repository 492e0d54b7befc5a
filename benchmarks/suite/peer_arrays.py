# SPDX-License-Identifier: BSD-3-Clause
"""Array libraries as peers: NumPy with SciPy, JAX, PyTorch and CuPy under common names.

`peer_steps` writes each step once for all of them. The libraries differ in how entries of edges or
cells are added up at vertices: SciPy multiplies by a sparse matrix of ones, the others have an
operation that adds at indices. Form "gather" has a row of entries for each vertex instead, filled
up with an entry that is zero, and sums rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, Any]
    Step = Callable[["Arrays", Values, Values], Values]

STEPS = 4  # of a call, as in our chains and graphs


@dataclass(frozen=True, slots=True)
class Places:
    """Where entries go: what a library needs, and if the indices ascend."""

    arrays: tuple[Any, ...]
    ascend: bool = False


def incidences(flat: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pointers and entries: those of vertex i are ``entries[pointers[i]:pointers[i + 1]]``.

    Args:
        flat: The vertex of each entry.
        n: Number of vertices.
    """
    pointers = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(flat, minlength=n), out=pointers[1:])
    return pointers, np.argsort(flat, kind="stable")


def rows_of(flat: np.ndarray, n: int) -> np.ndarray:
    """Return the entries of each vertex as rows of equal length, filled up with ``len(flat)``."""
    pointers, entries = incidences(flat, n)
    counts = np.diff(pointers)
    rows = np.full((n, max(int(counts.max(initial=0)), 1)), len(flat))
    rows[np.arange(rows.shape[1]) < counts[:, None]] = entries
    return rows


class Arrays:
    """NumPy and SciPy, which have one thread in all that is used here.

    Attributes:
        xp: The library's functions.
        forms: Ways to run a step; "gather" in a name: sums of rows.
        index: Dtype of indices.
    """

    forms: tuple[str, ...] = ("NumPy/SciPy",)
    index: Any = np.int64

    def __init__(self, form: str) -> None:
        self.xp: Any = np
        self.form = form
        self.gathers = "gather" in form

    def put(self, array: np.ndarray) -> Any:
        """Return a copy as an array of the library; indices get their dtype."""
        return np.array(array, self.index if array.dtype.kind == "i" else None)

    def get(self, array: Any) -> np.ndarray:
        """Return the values as an array of NumPy."""
        return np.asarray(array)

    def wait(self) -> None:
        """Wait until all is computed."""

    def places(self, index: np.ndarray, n: int, dtype: Any) -> Places:
        """Prepare the addition of entries at the vertices of an index array.

        Args:
            index: The vertex of each entry, shape (m,) or (m, k).
            n: Number of vertices.
            dtype: Of the entries.
        """
        flat = index.reshape(-1)
        if self.gathers:
            rows = [rows_of(flat, n)]
            if index.ndim == 2 and index.shape[1] == 2:
                rows.append(rows_of(index.T.reshape(-1), n))
            return Places(tuple(self.put(one) for one in rows))
        return Places(self._places(index, flat, n, dtype), bool((np.diff(flat) >= 0).all()))

    def _places(self, index: np.ndarray, flat: np.ndarray, n: int, dtype: Any) -> tuple[Any, ...]:
        from scipy.sparse import csr_matrix

        def matrix(of: np.ndarray, entries: np.ndarray, values: np.ndarray) -> Any:
            return csr_matrix((values, (of, entries)), (n, int(entries.max(initial=-1)) + 1))

        ones = np.ones(len(flat), dtype)
        found = [matrix(flat, np.arange(len(flat)), ones)]
        if index.ndim == 2 and index.shape[1] == 2:
            signs = np.tile(np.array([1, -1], dtype), len(index))
            found.append(matrix(flat, np.repeat(np.arange(len(index)), 2), signs))
        return tuple(found)

    def sum(self, like: Any, places: Places, entries: Any) -> Any:
        """Add entries of shape (m, ...) or (m, k, ...) at their places to zeros `like`."""
        flat = entries.reshape((-1, *like.shape[1:]))
        if self.gathers:
            zero = self.xp.zeros_like(flat[:1])
            return self.xp.concatenate([flat, zero])[places.arrays[0]].sum(1)
        return self._sum(like, places, flat)

    def difference(self, like: Any, places: Places, entries: Any) -> Any:
        """Add an entry of an edge at the first end, and subtract the entry at the second."""
        if self.gathers:
            zero = self.xp.zeros_like(entries[:1])
            return self.xp.concatenate([entries, -entries, zero])[places.arrays[1]].sum(1)
        return self._difference(like, places, entries)

    def _sum(self, like: Any, places: Places, flat: Any) -> Any:
        return places.arrays[0] @ flat

    def _difference(self, like: Any, places: Places, entries: Any) -> Any:
        return places.arrays[1] @ entries

    def call(self, step: Step, fixed: Values, is_steady: bool) -> Callable[[Values], Values]:
        """Return a function that does `STEPS` steps, or one if a step has no values of before."""
        n = 1 if is_steady else STEPS

        def run(values: Values) -> Values:
            for _ in range(n):
                values = step(self, fixed, values)
            return values

        return run


class Torch(Arrays):
    """PyTorch: eager, or compiled; on a GPU also a graph of compiled steps."""

    def __init__(self, form: str) -> None:
        import torch

        super().__init__(form)
        torch.set_grad_enabled(False)
        self.xp, self.device = torch, os.environ["PEER_DEVICE"]
        if self.device == "cpu":
            torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))

    @property
    def _is_compiled(self) -> bool:
        return "compiled" in self.form

    def put(self, array: np.ndarray) -> Any:
        """Return a copy as an array of the library."""
        return self.xp.from_numpy(super().put(array)).to(self.device)

    def get(self, array: Any) -> np.ndarray:
        """Return the values as an array of NumPy."""
        return np.asarray(array.cpu())

    def wait(self) -> None:
        """Wait until all is computed."""
        if self.device != "cpu":
            self.xp.cuda.synchronize()

    def _places(self, index: np.ndarray, flat: np.ndarray, n: int, dtype: Any) -> tuple[Any, ...]:
        ends = index.T if index.ndim == 2 and index.shape[1] == 2 else ()
        return tuple(self.put(np.ascontiguousarray(one)) for one in (flat, *ends))

    def _sum(self, like: Any, places: Places, flat: Any) -> Any:
        return self.xp.zeros_like(like).index_add_(0, places.arrays[0], flat)

    def _difference(self, like: Any, places: Places, entries: Any) -> Any:
        _, first, second = places.arrays
        ahead = self.xp.zeros_like(like).index_add_(0, first, entries)
        return ahead.index_add_(0, second, entries, alpha=-1)

    def call(self, step: Step, fixed: Values, is_steady: bool) -> Callable[[Values], Values]:
        """Return a function that does some steps."""

        def once(values: Values) -> Values:
            return step(self, fixed, values)

        if self._is_compiled:
            once = self.xp.compile(once, dynamic=False)
        n = 1 if is_steady else STEPS

        def run(values: Values) -> Values:
            for _ in range(n):
                values = once(values)
            return values

        return self._graph(run) if "graph" in self.form else run

    def _graph(self, run: Callable[[Values], Values]) -> Callable[[Values], Values]:
        """Capture calls in a graph, whose values stay at their places."""
        cuda, held = self.xp.cuda, {}

        def submit(values: Values) -> Values:
            if not held:
                held["in"] = {name: one.clone() for name, one in values.items()}
                side = cuda.Stream()
                side.wait_stream(cuda.current_stream())
                with cuda.stream(side):
                    for _ in range(3):
                        run(held["in"])
                cuda.current_stream().wait_stream(side)
                held["graph"] = cuda.CUDAGraph()
                with cuda.graph(held["graph"]):
                    for name, one in run(held["in"]).items():
                        held["in"][name].copy_(one)
            for name, one in values.items():
                if one is not held["in"][name]:
                    held["in"][name].copy_(one)
            held["graph"].replay()
            return held["in"]

        return submit


class Jax(Arrays):
    """JAX: all steps of a call are compiled together, and reuse the memory of their values."""

    forms = ("JAX", "JAX gather")
    index = np.int32

    def __init__(self, form: str) -> None:
        import jax

        super().__init__(form)
        jax.config.update("jax_enable_x64", True)
        self.jax, self.xp = jax, jax.numpy
        if Places not in _KNOWN:
            jax.tree_util.register_dataclass(Places, ["arrays"], ["ascend"])
            _KNOWN.add(Places)
        self._last: Any = ()

    def put(self, array: np.ndarray) -> Any:
        """Return a copy as an array of the library."""
        return self.xp.array(super().put(array))

    def wait(self) -> None:
        """Wait until all is computed."""
        self.jax.block_until_ready(self._last)

    def _places(self, index: np.ndarray, flat: np.ndarray, n: int, dtype: Any) -> tuple[Any, ...]:
        ends = index.T if index.ndim == 2 and index.shape[1] == 2 else ()
        return tuple(self.put(np.ascontiguousarray(one)) for one in (flat, *ends))

    def _sum(self, like: Any, places: Places, flat: Any) -> Any:
        at = self.xp.zeros_like(like).at[places.arrays[0]]
        return at.add(flat, indices_are_sorted=places.ascend)

    def _difference(self, like: Any, places: Places, entries: Any) -> Any:
        _, first, second = places.arrays
        return self.xp.zeros_like(like).at[first].add(entries).at[second].add(-entries)

    def call(self, step: Step, fixed: Values, is_steady: bool) -> Callable[[Values], Values]:
        """Return a function that does some steps."""

        def steps(fixed: Values, values: Values) -> Values:
            if is_steady:
                return step(self, fixed, values)
            return self.jax.lax.fori_loop(0, STEPS, lambda _, v: step(self, fixed, v), values)

        compiled = self.jax.jit(steps, donate_argnums=1)

        def run(values: Values) -> Values:
            self._last = compiled(fixed, values)
            return self._last

        return run


_KNOWN: set[type] = set()


class Cupy(Arrays):
    """CuPy, operation by operation."""

    forms = ("CuPy", "CuPy gather")
    index = np.int32

    def __init__(self, form: str) -> None:
        import cupy

        super().__init__(form)
        self.xp = cupy

    def put(self, array: np.ndarray) -> Any:
        """Return a copy as an array of the library."""
        return self.xp.asarray(super().put(array))

    def get(self, array: Any) -> np.ndarray:
        """Return the values as an array of NumPy."""
        return self.xp.asnumpy(array)

    def wait(self) -> None:
        """Wait until all is computed."""
        self.xp.cuda.get_current_stream().synchronize()

    def _places(self, index: np.ndarray, flat: np.ndarray, n: int, dtype: Any) -> tuple[Any, ...]:
        ends = index.T if index.ndim == 2 and index.shape[1] == 2 else ()
        return tuple(self.put(np.ascontiguousarray(one)) for one in (flat, *ends))

    def _sum(self, like: Any, places: Places, flat: Any) -> Any:
        found = self.xp.zeros_like(like)
        self.xp.add.at(found, places.arrays[0], flat)
        return found

    def _difference(self, like: Any, places: Places, entries: Any) -> Any:
        found = self.xp.zeros_like(like)
        self.xp.add.at(found, places.arrays[1], entries)
        self.xp.add.at(found, places.arrays[2], -entries)
        return found
