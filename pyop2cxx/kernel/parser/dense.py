# SPDX-License-Identifier: BSD-3-Clause
"""Dense algebra in kernels: ``op2_solve(4, A, b)`` and its like, as C functions of constant sizes.

A call becomes a call of a function for the sizes and the type of its arrays, which is read like a
function of the user's text: all backends, strategies, lanes and checks work on it. Matrices lie row
by row in memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.base.arrays import c_name
from pyop2cxx.kernel.parser import headers
from pyop2cxx.kernel.parser.places import mistake
from pyop2cxx.kernel.parser.scope import type_of
from pyop2cxx.kernel.parser.typing import read_constant, text_of
from pyop2cxx.kernel.parser.wire import literal
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from pyop2cxx.kernel.parser.scope import Scope
    from pyop2cxx.kernel.parser.wire import Expr

MOST = 64
"""Largest size: a function keeps a matrix of its own in private memory."""
DTYPES = ("float32", "float64", "complex64", "complex128")
"""Types of numbers."""
_ROWS, _COLUMNS = 4, 3
"""Extents of the tile of a product: 12 sums and 4 operands fit the 16 registers of AVX2."""


class _Form(NamedTuple):
    """Arguments of a function: sizes, then numbers (``alpha``, ``beta``) and arrays.

    Attributes:
        sizes: Names of constant sizes.
        passed: Names of the rest; the arrays are in capital letters.
        written: Arrays stored to.
    """

    sizes: tuple[str, ...]
    passed: tuple[str, ...]
    written: str

    def __str__(self) -> str:
        return ", ".join((*self.sizes, *self.passed))


_PRODUCT = _Form(("m", "n", "k"), ("A", "B", "C"), "C")
_SCALED = _PRODUCT._replace(passed=("alpha", "A", "B", "beta", "C"))
_TIMES = _Form(("m", "n"), ("A", "X", "Y"), "Y")
_TIMES_SCALED = _TIMES._replace(passed=("alpha", "A", "X", "beta", "Y"))
_ONE, _MANY = _Form(("n",), ("A", "B"), "B"), _Form(("n", "m"), ("A", "B"), "B")
_FORMS: dict[str, tuple[_Form, ...]] = {
    **dict.fromkeys(("op2_gemm", "op2_gemm_tn", "op2_gemm_nt"), (_PRODUCT, _SCALED)),
    **dict.fromkeys(("op2_gemv", "op2_gemv_t"), (_TIMES, _TIMES_SCALED)),
    **dict.fromkeys(("op2_solve", "op2_spd_solve"), (_ONE, _MANY)),
    "op2_inverse": (_Form(("n",), ("A", "X"), "X"),),
    "op2_det": (_Form(("n",), ("A",), ""),),
    "op2_cholesky": (_Form(("n",), ("A", "L"), "L"),),
    **dict.fromkeys(("op2_trsm", "op2_trsm_t"), (_Form(("n", "m"), ("L", "B"), "B"),)),
}
NAMES = frozenset(_FORMS)
"""Functions known to kernels."""
_TEXTS = {
    "gemm_tn": ("gemm", "tn"),
    "gemm_nt": ("gemm", "nt"),
    "gemv": ("gemm", ""),
    "gemv_t": ("gemm", "tn"),
    "trsm_t": ("trsm", "t"),
}
"""Parts of the template, and what is transposed."""
_REAL = {"complex128": "float64", "complex64": "float32"}
_RESULTS = {"solve": "int32", "spd_solve": "int32", "inverse": "int32", "cholesky": "int32"}


class Dense(NamedTuple):
    """A function for constant sizes.

    Attributes:
        what: One of `NAMES` without prefix.
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
        single = "f" if self.dtype in ("float32", "complex64") else ""
        context = {
            "what": what,
            "name": self.name,
            "scalar": c_name(self.dtype),
            "real": c_name(_REAL.get(self.dtype, self.dtype)),
            "abs": ("cabs" if self.dtype in _REAL else "fabs") + single,
            "sqrt": f"sqrt{single}",
            "is_scaled": self.is_scaled,
            "transposed": transposed,
            "tiled_rows": _tiled(sizes["m"], _ROWS),
            "tiled_columns": _tiled(sizes["n"], _COLUMNS),
            **sizes,
        }
        return render("kernels/dense.c.j2", context)

    def vector_text(self) -> str:
        """Return the body for compilers of hosts, with vectors along rows; empty: there is none."""
        what, transposed, sizes = self._written()
        if what != "gemm" or sizes["n"] == 1 or self.dtype in _REAL:
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


def _machine(sizes: dict[str, int], widest: int, n_sums: int, dtype: str) -> dict[str, object]:
    """Cut a product into tiles for a machine.

    Args:
        sizes: ``m``, ``n`` and ``k``.
        widest: Numbers of a vector.
        n_sums: Vectors held by a tile; the other registers hold operands.
        dtype: Of the numbers.
    """
    pieces, begin, width = [], 0, widest
    while begin < sizes["n"]:
        while begin + width > sizes["n"]:
            width //= 2
        name = f"op2_v{width}" if width > 1 else c_name(dtype)
        pieces.append({"begin": begin, "width": width, "type": name})
        begin += width
    most = n_sums // 2
    parts = []
    for block in (pieces[i : i + most] for i in range(0, len(pieces), most)):
        n_tiles = -(-sizes["m"] // min(8, n_sums // len(block)))
        parts.append({"block": block, "rows": _tiled(sizes["m"], -(-sizes["m"] // n_tiles))})
    widths = sorted({piece["width"] for piece in pieces} - {1})
    return {"widths": widths, "parts": parts}


def called(tokens: Sequence[str]) -> str | None:
    """Return a function of `NAMES` that a text calls without a definition, or None."""
    found = {name for name, after in pairwise(tokens) if after == "(" and name in NAMES}
    return min(found - headers.declared(tokens), default=None)


def _tiled(size: int, step: int) -> list[dict[str, int]]:
    """Cut a range into tiles, and a last one that is shorter."""
    whole = size - size % step
    parts = [{"begin": 0, "end": whole, "step": step}, {"begin": whole, "end": size}]
    parts[1]["step"] = size - whole
    return [part for part in parts if part["begin"] < part["end"]]


def read_call(
    name: str,
    node: Node,
    passed: Sequence[Node],
    scope: Scope,
    read_expr: Callable[[Node, Scope], Expr],
) -> tuple[Dense, list[Expr]]:
    """Return the function for a call, and the arguments without sizes.

    Raises:
        UsageError: The number of arguments, a size or an array is wrong.
    """
    forms = _FORMS[name]
    form = next((f for f in forms if len(f.sizes) + len(f.passed) == len(passed)), None)
    if form is None:
        usual = " or ".join(f"{name}({form})" for form in forms)
        raise mistake(node, scope, f"expected {usual}; got {len(passed)} arguments")
    sizes = []
    for size, given in zip(form.sizes, passed, strict=False):
        number = read_constant(given, scope, read_expr)
        value = None if number is None or not isinstance(number.value, int) else number.value
        if value is None or not 1 <= value <= MOST:
            shown = f"'{text_of(given)}'" if value is None else str(value)
            what = f"{name}: size '{size}' is a constant integer from 1 to {MOST}; got {shown}"
            raise mistake(given, scope, what + "; larger systems: op2.Mat and op2.solve")
        sizes.append((size, value))
    values, dtypes = [], {}
    for argument, given in zip(form.passed, passed[len(sizes) :], strict=True):
        value_read = read_expr(given, scope)
        if argument.isupper():
            dtype, value_read = _array(f"{name}: {argument}", given, value_read, scope)
            dtypes.setdefault(dtype, argument)
            if argument in form.written and _is_const(value_read, scope):
                what = f"{name} stores to {argument}, but '{text_of(given)}' is const"
                raise mistake(given, scope, what)
        values.append(value_read)
    if len(dtypes) > 1:
        (one, first), (other, second) = [*dtypes.items()][:2]
        what = f"{name}: {first} is of {c_name(one)}, {second} of {c_name(other)}"
        raise mistake(node, scope, f"{what}; make them of one type")
    (dtype,) = dtypes
    if dtype in _REAL and name in ("op2_spd_solve", "op2_cholesky"):
        raise mistake(node, scope, f"{name} is for real numbers; op2_solve takes complex ones")
    is_scaled = "alpha" in form.passed
    return Dense(name.removeprefix("op2_"), tuple(sizes), dtype, is_scaled), values


def _array(what: str, node: Node, value: Expr, scope: Scope) -> tuple[str, Expr]:
    """Return the dtype of an array's numbers, and the address of its first."""
    type_ = type_of(value, scope)
    if type_ is None or not type_[2] or type_[0] not in DTYPES:
        got = "no array" if type_ is None or not type_[2] else f"numbers of type {type_[0]}"
        expected = "an array or a pointer to float, double, or complex numbers"
        raise mistake(node, scope, f"{what} is {expected}; '{text_of(node)}' is {got}")
    if any(kind == "*" for kind, *_ in type_[2][1:]):
        raise mistake(node, scope, f"{what}: '{text_of(node)}' holds pointers, not numbers")
    for _ in type_[2][1:]:
        value = ("index", value[1], "", None, (value, literal("0", value[1])))
    return type_[0], value


def _is_const(value: Expr, scope: Scope) -> bool:
    type_ = type_of(value, scope)
    return type_ is not None and type_[1]
