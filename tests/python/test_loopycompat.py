# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pyop2.codegen import loopycompat

pytestmark = pytest.mark.pyop2
loopy = pytest.importorskip("loopy")
MATCH = loopycompat._match_caller_callee_argument_dimension_


def test_a_called_kernel_gets_its_callers_shapes() -> None:
    inner = loopy.make_kernel(
        "{[i]: 0 <= i < 6}", "y[i] = 10 * x[i]", name="inner", lang_version=(2018, 2)
    )
    inner = loopy.add_dtypes(inner, {"x": np.float64, "y": np.float64})
    outer = loopy.make_kernel(
        "{[a, b, c, d]: 0 <= a, c < 2 and 0 <= b, d < 3}",
        "[a, b]: v[a, b] = inner([c, d]: u[c, d])",
        [loopy.GlobalArg("u", np.float64, (2, 3)), loopy.GlobalArg("v", np.float64, (2, 3))],
        name="outer",
        lang_version=(2018, 2),
    )
    merged = loopy.merge([outer, inner])
    found = MATCH(merged, "inner")
    assert [arg.shape for arg in found["inner"].args] == [(2, 3), (2, 3)]
    kernel = op2.Kernel(found.with_entrypoints("outer"), "outer", accesses=[op2.READ, op2.WRITE])
    cells = op2.Set(2)
    u, v = op2.Dat(cells**6, np.arange(12.0)), op2.Dat(cells**6)
    op2.par_loop(kernel, cells, u(op2.READ), v(op2.WRITE))
    np.testing.assert_array_equal(v.data_ro.reshape(-1), 10 * np.arange(12.0))
    with pytest.raises(UsageError, match="a single call of a kernel 'absent', found 0"):
        MATCH(merged, "absent")
