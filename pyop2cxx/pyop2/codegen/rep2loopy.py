# SPDX-License-Identifier: BSD-3-Clause
"""``inverse`` and ``solve`` in loopy's kernels, for ``loopy.register_callable``.

loopy calls a generated C function, for matrices of a fixed size: Gaussian elimination with partial
pivoting in arrays of constant size. No library is needed, so the functions run on devices as well,
unlike PyOP2's, which call LAPACK.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from pyop2cxx.base import extras
from pyop2cxx.base.arrays import c_name
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.kernel.parser.dense import DTYPES, Dense
from pyop2cxx.runtime.frames import render


def function_text(what: str, n: int, dtype: str) -> tuple[str, str]:
    """Return a C function's name and text.

    Args:
        what: ``inverse`` of a matrix, or ``solve`` with a single right-hand side.
        n: Rows and columns of the matrix.
        dtype: Of all values: ``float64``, ``float32``, ``complex128`` or ``complex64``.

    Raises:
        UnsupportedError: The dtype is not supported.

    Example:
        >>> function_text("solve", 2, "float64")[0]
        'op2_solve_2_float64_of'
    """
    if dtype not in DTYPES:
        raise UnsupportedError(
            f"'{what}' in a loopy kernel: of real or complex numbers, got {dtype}; convert them"
        )
    function = Dense(what, (("n", n),), dtype)
    context = {"name": function.name, "n": n, "scalar": c_name(dtype), "what": what}
    return f"{function.name}_of", function.text() + render("kernels/dense_of.c.j2", context)


class _Dense:
    """Callback methods for loopy; joined with ``ScalarCallable`` on first use.

    Attributes:
        name: ``inverse`` or ``solve``.
    """

    name: str
    arg_id_to_dtype: Any
    arg_id_to_descr: Any

    def __init__(
        self,
        name: str | None = None,
        arg_id_to_dtype: Any = None,
        arg_id_to_descr: Any = None,
        name_in_target: str | None = None,
    ) -> None:
        super().__init__(  # type: ignore[call-arg]  # loopy's, by the order of resolution
            type(self).name, arg_id_to_dtype, arg_id_to_descr, name_in_target or type(self).name
        )

    def with_types(self, arg_id_to_dtype: Any, callables: Any) -> tuple[Any, Any]:
        """Give the result the matrix's dtype."""
        found = dict(arg_id_to_dtype)
        if found.get(0) is not None:
            found[-1] = found[0]
        return self._with(arg_id_to_dtype=found), callables

    def with_descrs(self, arg_id_to_descr: Any, callables: Any) -> tuple[Any, Any]:
        """Ask for arrays as they lie in C, row by row."""
        found = {
            i: d.copy(dim_tags=_row_by_row(d.shape)) if hasattr(d, "dim_tags") else d
            for i, d in arg_id_to_descr.items()
        }
        return self._with(arg_id_to_descr=found), callables

    def emit_call_insn(
        self, insn: Any, target: Any, expression_to_code_mapper: Any
    ) -> tuple[Any, bool]:
        """Call the function with the result first; nothing is returned."""
        context = extras.load("loopy.expression", self.name).dtype_to_type_context
        dtype = self.arg_id_to_dtype[0]
        given = [
            expression_to_code_mapper(operand, 0, context(target, dtype), dtype).expr
            for operand in (insn.assignees[0], *insn.expression.parameters)
        ]
        function = extras.load("pymbolic", self.name).var(self._function()[0])
        return function(*given), False

    def generate_preambles(self, target: Any) -> Any:
        """Write the function."""
        yield self._function()

    def _function(self) -> tuple[str, str]:
        n = int(self.arg_id_to_descr[0].shape[0])
        return function_text(self.name, n, self.arg_id_to_dtype[0].numpy_dtype.name)

    def _with(self, **changed: dict[Any, Any]) -> Any:
        frozen = extras.load("constantdict", self.name).constantdict
        copy: Any = self.copy  # type: ignore[attr-defined]  # loopy's
        return copy(**{name: frozen(found) for name, found in changed.items()})


def _row_by_row(shape: tuple[int, ...]) -> tuple[Any, ...]:
    tag = extras.load("loopy.kernel.array", "a loopy kernel").FixedStrideArrayDimTag
    n_dims = len(shape)
    strides = [prod(int(extent) for extent in shape[i + 1 :]) for i in range(n_dims)]
    return tuple(
        tag(stride=stride, layout_nesting_level=n_dims - 1 - i) for i, stride in enumerate(strides)
    )


_CLASSES = {"INVCallable": "inverse", "SolveCallable": "solve"}


@lru_cache(maxsize=len(_CLASSES))
def __getattr__(name: str) -> Any:
    """Make a class on first use: the base class is loopy's."""
    if name not in _CLASSES:
        raise AttributeError(f"module 'pyop2cxx.pyop2.codegen.rep2loopy' has no attribute '{name}'")
    base = extras.load("loopy", name).ScalarCallable
    return type(name, (_Dense, base), {"name": _CLASSES[name], "__module__": __name__})
