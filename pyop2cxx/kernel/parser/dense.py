# SPDX-License-Identifier: BSD-3-Clause
"""Dense algebra in kernels: ``op2_solve(4, A, b)`` and its like, as C functions of constant sizes.

A call becomes a call of a function for the sizes and the type of its arrays, which is read like a
function of the user's text: all backends, strategies, lanes and checks work on it. Matrices lie row
by row in memory.
"""

from __future__ import annotations

from typing import NamedTuple

from pyop2cxx.base.arrays import c_name
from pyop2cxx.runtime.frames import render

MOST = 64
"""Largest size: a function keeps a matrix of its own in private memory."""
DTYPES = ("float32", "float64", "complex64", "complex128")
"""Types of numbers."""
_ROWS, _COLUMNS = 4, 3
"""Extents of the tile of a product: 12 sums and 4 operands fit the 16 registers of AVX2."""


_TEXTS = {
    "gemm_tn": ("gemm", "tn"),
    "gemm_nt": ("gemm", "nt"),
    "gemv": ("gemm", ""),
    "gemv_t": ("gemm", "tn"),
    "trsm_t": ("trsm", "t"),
}
"""Parts of the template, and what is transposed."""
REAL = {"complex128": "float64", "complex64": "float32"}
"""Types of the parts of complex numbers."""
_RESULTS = {"solve": "int32", "spd_solve": "int32", "inverse": "int32", "cholesky": "int32"}


class Dense(NamedTuple):
    """A function for constant sizes.

    Attributes:
        what: One of `dense_calls.NAMES` without prefix.
        sizes: By name.
        dtype: Of arrays and numbers.
        is_scaled: Whether ``alpha`` and ``beta`` are passed.
    """

    what: str
    sizes: tuple[tuple[str, int], ...]
    dtype: str
    is_scaled: bool = False

    @property
    def name(self) -> str:
        """Name of the C function."""
        parts = [f"op2_{self.what}", *(str(size) for _, size in self.sizes), self.dtype]
        return "_".join([*parts, "scaled"] if self.is_scaled else parts)

    @property
    def result(self) -> str:
        """Base of the type of the result."""
        return self.dtype if self.what == "det" else _RESULTS.get(self.what, "void")

    def text(self) -> str:
        """Return the C text."""
        what, transposed, sizes = self._written()
        common: dict[str, object] = {"name": self.name, "scalar": c_name(self.dtype)}
        if what == "gemm":
            tiles = {
                "tiled_rows": _tiled(sizes["m"], _ROWS),
                "tiled_columns": _tiled(sizes["n"], _COLUMNS),
            }
            given = {"is_scaled": self.is_scaled, "transposed": transposed, "is_team": False}
            return render("kernels/dense_product.c.j2", {**common, **given, **tiles, **sizes})
        common |= {"what": what, "n": sizes["n"]}
        single = "f" if self.dtype in ("float32", "complex64") else ""
        absolute = ("cabs" if self.dtype in REAL else "fabs") + single
        if what in ("spd_solve", "cholesky", "trsm"):
            given = {"m": sizes["m"], "transposed": transposed, "sqrt": f"sqrt{single}"}
            return render("kernels/dense_factors.c.j2", {**common, **given})
        if what != "solve" and sizes["n"] <= 3:
            return render("kernels/dense_cofactors.c.j2", {**common, "abs": absolute})
        real = c_name(REAL.get(self.dtype, self.dtype))
        given = {"m": sizes["m"], "real": real, "abs": absolute}
        return render("kernels/dense_pivots.c.j2", {**common, **given})

    def team(self) -> Team | None:
        """Return the same function for the lanes of a block; None: there is none."""
        what, transposed, sizes = self._written()
        m, n = sizes["m"], sizes["n"]
        common: dict[str, object] = {"name": self.name, "scalar": c_name(self.dtype)}
        if what == "gemm":
            rows, columns = _team_tile(m, n)
            tiles = {"tiled_rows": _tiled(m, rows), "tiled_columns": _tiled(n, columns)}
            given = {"is_scaled": self.is_scaled, "transposed": transposed, "is_team": True}
            context = {**common, **given, **tiles, **sizes}
            text = render("kernels/dense_product.c.j2", context)
            return Team(text, m * n // (rows * columns), 0)
        if what == "det" or n <= 3 or self.dtype in REAL:
            return None
        m = n if what == "inverse" else m
        ld = n + 1 - n % 2
        share = 1 << max(0, (32 // n).bit_length() - 1)
        common |= {"n": n, "m": m, "ld": ld}
        n_shared = n * (ld + 1)
        if what == "trsm":
            context = {**common, "transposed": transposed, "upper": f"f[{ld} * k + i]"}
            return Team(
                render("kernels/dense_team_trsm.c.j2", context), n * min(m, share), n_shared
            )
        single = "f" if self.dtype == "float32" else ""
        if what in ("spd_solve", "cholesky"):
            rows, columns = (8, 4) if n <= 32 else (8, 8)
            ld = max(-(-n // rows) * rows, -(-n // columns) * columns) | 1
            names = {"what": what, "sqrt": f"sqrt{single}", "rows": rows, "columns": columns}
            text = render("kernels/dense_team_spd.c.j2", {**common, **names, "ld": ld})
            return Team(text, rows * columns, n * (ld + 1))
        names = {"real": c_name(self.dtype), "abs": f"fabs{single}"}
        context = {**common, "what": what, "share": share, "upper": f"f[{ld} * i + k]", **names}
        return Team(render("kernels/dense_team.c.j2", context), n * share, n_shared)

    def vector_text(self) -> str:
        """Return the body for compilers of hosts, with vectors along rows; empty: there is none."""
        what, transposed, sizes = self._written()
        if what != "gemm" or sizes["n"] == 1 or self.dtype in REAL:
            return ""
        n_bytes = 4 if self.dtype == "float32" else 8
        context = {
            "scalar": c_name(self.dtype),
            "n_bytes": n_bytes,
            "transposed": transposed,
            "is_scaled": self.is_scaled,
            "wide": _machine(sizes, 64 // n_bytes, 24, self.dtype),
            "narrow": _machine(sizes, 32 // n_bytes, 12, self.dtype),
            **sizes,
        }
        return render("kernels/dense_rows.c.j2", context)

    def _written(self) -> tuple[str, str, dict[str, int]]:
        """Return the part of the template, what is transposed, and the sizes there."""
        sizes = {"m": 1, "n": 1, "k": 1, **dict(self.sizes)}
        what, transposed = _TEXTS.get(self.what, (self.what, ""))
        if self.what.startswith("gemv"):  # a product with one column
            rows, columns = sizes["m"], sizes["n"]
            rows, columns = (columns, rows) if transposed else (rows, columns)
            sizes = {"m": rows, "n": 1, "k": columns}
        return what, transposed, sizes


class Team(NamedTuple):
    """A function carried out by the lanes of a block.

    Attributes:
        text: C, with the number of the lane, that of lanes and shared memory as last parameters.
        n_lanes: Lanes of a block; a text with arrays of its own needs all of them.
        n_shared: Numbers of shared memory.
    """

    text: str
    n_lanes: int
    n_shared: int


def _team_tile(m: int, n: int) -> tuple[int, int]:
    """Return extents of the tile of a lane: as large as leaves work for a warp."""
    tiles = [(r, c) for r in (1, 2, 3, 4) for c in (1, 2, 3, 4) if m % r == n % c == 0]
    full = [(r, c) for r, c in tiles if m * n >= 32 * r * c]
    return max(full or [(1, 1)], key=lambda tile: (tile[0] * tile[1], tile[1]))


def _machine(sizes: dict[str, int], widest: int, n_sums: int, dtype: str) -> dict[str, object]:
    """Cut a product into tiles for a machine.

    Args:
        sizes: ``m``, ``n`` and ``k``.
        widest: Numbers of a vector.
        n_sums: Vectors held by a tile; the other registers hold operands.
        dtype: Of the numbers.
    """
    pieces: list[tuple[int, int]] = []  # first column, number of columns
    begin, width = 0, widest
    while begin < sizes["n"]:
        while begin + width > sizes["n"]:
            width //= 2
        pieces.append((begin, width))
        begin += width
    most = n_sums // 2
    parts = []
    for first in range(0, len(pieces), most):
        block = [
            {"begin": at, "width": wide, "type": f"op2_v{wide}" if wide > 1 else c_name(dtype)}
            for at, wide in pieces[first : first + most]
        ]
        n_tiles = -(-sizes["m"] // min(8, n_sums // len(block)))
        parts.append({"block": block, "rows": _tiled(sizes["m"], -(-sizes["m"] // n_tiles))})
    widths = sorted({wide for _, wide in pieces} - {1})
    return {"widths": widths, "parts": parts}


def _tiled(size: int, step: int) -> list[dict[str, int]]:
    """Cut a range into tiles, and a last one that is shorter."""
    whole = size - size % step
    parts = [{"begin": 0, "end": whole, "step": step}, {"begin": whole, "end": size}]
    parts[1]["step"] = size - whole
    return [part for part in parts if part["begin"] < part["end"]]
