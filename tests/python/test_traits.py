# SPDX-License-Identifier: BSD-3-Clause
"""Traits of loops: equal shapes for other dims, other shapes for other arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.pipeline.traits import traits_of

if TYPE_CHECKING:
    from pyop2cxx.runtime.neighbours import Traits


def traits(n: int, dtype: str = "float64", name: str = "scale", backend: str = "openmp") -> Traits:
    cells = op2.Set(40, "cells")
    x, y = op2.Dat(cells**n, dtype=dtype, name="x"), op2.Dat(cells**n, dtype=dtype, name="y")
    c = {"float64": "double", "float32": "float"}[dtype]
    text = f"void {name}({c} *y, const {c} *x) {{ for (int i = 0; i < {n}; ++i) y[i] = 2 * x[i]; }}"
    loop = op2.ParLoop(op2.Kernel(text, name), cells, y(op2.WRITE), x(op2.READ))
    return traits_of(loop.request(loop.symbolic(), {"backend": backend}))


def test_dims_and_names_do_not_matter_for_the_shape() -> None:
    assert traits(8).shape == traits(9, name="other").shape
    assert traits(8).work == (8, 16, 0)
    assert traits(9).work == (9, 18, 0)


def test_dtypes_and_backends_matter() -> None:
    shapes = {traits(8).shape, traits(8, "float32").shape, traits(8, backend="sequential").shape}
    assert len(shapes) == 3
