# SPDX-License-Identifier: BSD-3-Clause
"""Subscripts that leave their arrays whatever the data are errors of every loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    op2.init(backend="sequential")
    yield
    op2.exit()


def loop(body: str, before: str = "") -> None:
    """Make a loop over edges: `y` holds 1, `x` 2 x 3, `n` 1 value."""
    edges, nodes = op2.Set(3, "edges"), op2.Set(4, "nodes")
    ends = op2.Map(edges, nodes, 2, [0, 1, 1, 2, 2, 3], "ends")
    y, x = op2.Dat(edges, name="y"), op2.Dat(nodes**3, name="x")
    n = op2.Dat(edges, dtype=np.int32, name="n")
    code = f"{before}\nvoid k(double *y, const double *x, const int *n) {{\n{body}\n}}"
    op2.ParLoop(op2.Kernel(code, "k"), edges, y(op2.RW), x(op2.READ, ends), n(op2.READ))


@pytest.mark.parametrize(
    ("body", "index", "array"),
    [
        ("y[0] = x[6];", 6, "'x' (argument 1, Dat 'x'), which holds 6 values, 0 to 5"),
        ("y[0] = x[-1];", -1, "'x' (argument 1"),
        ("y[1] = 0;", 1, "'y' (argument 0, Dat 'y'), which holds 1 values, 0 to 0"),
        ("*(y + 1) = 0;", 1, "'y'"),
        ("const double *p = x + 4; y[0] = p[2];", 6, "'x'"),
        ("const double *p = x; p += 6; y[0] = *p;", 6, "'x'"),
        ("for (int i = 0; i <= 6; ++i) y[0] += x[i];", 6, "'x'"),
        ("for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j) y[0] += x[3 * i + j];", 6, "'x'"),
        ("double a[2][3] = {{0}}; y[0] = a[0][3];", 3, "'a', which holds 3 values, 0 to 2"),
        ("double a[2] = {1, 2}; int i = 2; y[0] = a[i];", 2, "'a'"),
        ("if (n[0] > 0) y[0] = x[9];", 9, "'x'"),
        ("for (int i = 0; i < n[0]; ++i) y[0] += x[9];", 9, "'x'"),
        ("y[0] = n[0] > 0 ? x[9] : 0;", 9, "'x'"),
    ],
)
def test_they_are_refused(body: str, index: int, array: str) -> None:
    with pytest.raises(UsageError) as caught:
        loop(body)
    message = str(caught.value)
    assert message.startswith(f"par_loop 'k': kernel line 3: '{body}': index {index} is outside of")
    assert array in message
    assert "correct the index" in message


@pytest.mark.parametrize(
    "body",
    [
        "y[0] = x[5];",
        "for (int i = 0; i < 6; ++i) y[0] += x[i];",
        "y[0] = x[n[0]];",
        "const double *end = x + 6; for (const double *p = x; p < end; ++p) y[0] += *p;",
        "if (0) y[0] = x[9];",
        "if (sizeof(double) == 4) y[0] = x[9];",
        "for (int i = 5; i >= 0; --i) y[0] += x[i];",
        "int i = 0; while (i < 6) y[0] += x[i++];",
        "double a[2][3]; double *flat = &a[0][0]; for (int i = 0; i < 6; ++i) flat[i] = x[i];",
        "const double *last = &x[6]; y[0] = last[-1];",
    ],
)
def test_others_are_not(body: str) -> None:
    loop(body)


def test_tables_and_helpers() -> None:
    table = "static const double w[3] = {1, 2, 3};"
    with pytest.raises(UsageError, match="index 3 is outside of 'w', which holds 3 values"):
        loop("y[0] = w[3];", table)
    helper = "static double third(const double *p) { return p[2]; }"
    loop("y[0] = third(x + 3);", helper)
    with pytest.raises(UsageError, match=r"kernel line 1.*index 6 is outside of 'x'"):
        loop("y[0] = third(x + 4);", helper)
