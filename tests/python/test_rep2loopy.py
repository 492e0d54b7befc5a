# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.pyop2.codegen import rep2loopy

needs_loopy = pytest.mark.skipif(not extras.installed()["loopy"], reason="loopy is not installed")
N = 4
CELLS = op2.Set(3)


def loop(
    what: str, dtype: str, *values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> op2.Dat:
    """Call the function once a cell, and return its results."""
    function, text = rep2loopy.function_text(what, N, dtype)
    scalar = {"float64": "double", "float32": "float"}.get(dtype, "double _Complex")
    names = ("a", "b")[: len(values)]
    parameters = ", ".join(f"const {scalar} *{name}" for name in names)
    call = f"{function}(x, {', '.join(names)});"
    kernel = op2.Kernel(
        f"#include <complex.h>\n{text}\nvoid k({scalar} *x, {parameters}) {{ {call} }}", "k"
    )
    assert not kernel.opaque_reason
    given_dats = [op2.Dat(CELLS ** v.shape[1:], v, dtype=dtype) for v in values]
    found = op2.Dat(CELLS ** values[-1].shape[1:], dtype=dtype)
    op2.par_loop(kernel, CELLS, found(op2.WRITE), *(dat(op2.READ) for dat in given_dats))
    return found


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["float64", "float32"]))
def test_inverse_and_solve_equal_numpys(seed: int, dtype: str) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(3, N, N)), random.normal(size=(3, N))
    a[:, 0, 0] = 0  # so that rows must change places
    a += np.sign(np.linalg.det(a))[:, None, None] * 1e-3 * np.eye(N)[::-1]
    limit = 1e3 if dtype == "float32" else 1e8
    assume(np.linalg.cond(a).max() <= limit)
    tolerance = (1e-10 if dtype == "float64" else 1e-2) * max(1.0, np.abs(np.linalg.inv(a)).max())
    found = loop("inverse", dtype, a).data_ro
    np.testing.assert_allclose(found, np.linalg.inv(a), atol=tolerance * 10)
    found = loop("solve", dtype, a, b).data_ro
    np.testing.assert_allclose(found, np.linalg.solve(a, b[..., None])[..., 0], atol=tolerance * 10)


@pytest.mark.parametrize("backend", ["openmp", "opencl"])
def test_devices_have_them_too(backend: str) -> None:
    a = np.eye(N)[[1, 0, 3, 2]] * np.arange(1.0, 13).reshape(3, N, 1)
    with op2.backend(backend):
        np.testing.assert_allclose(loop("inverse", "float64", a).data_ro, np.linalg.inv(a))
        z = a * (1 + 2j) + np.eye(N) * 1j
        np.testing.assert_allclose(loop("inverse", "complex128", z).data_ro, np.linalg.inv(z))
        b = np.arange(12.0).reshape(3, N) - 1j
        expected = np.linalg.solve(z, b[..., None])[..., 0]
        np.testing.assert_allclose(loop("solve", "complex128", z, b).data_ro, expected)


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="real or complex numbers, got int32"):
        rep2loopy.function_text("solve", 2, "int32")
    with pytest.raises(AttributeError, match="has no attribute 'Callable'"):
        _ = rep2loopy.Callable


@needs_loopy
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_loopy_calls_them(dtype: type[np.generic]) -> None:
    import loopy

    program = loopy.make_kernel(
        ["{ : }"],
        "x[:] = solve(A[:, :], b[:])",
        [
            loopy.GlobalArg("x", dtype, (2,)),
            loopy.GlobalArg("A", dtype, (2, 2)),
            loopy.GlobalArg("b", dtype, (2,)),
        ],
        target=loopy.CWithGNULibcTarget(),
        name="k",
        lang_version=(2018, 2),
    )
    assert rep2loopy.SolveCallable is rep2loopy.SolveCallable
    solve = rep2loopy.SolveCallable()
    assert type(pickle.loads(pickle.dumps(solve))) is rep2loopy.SolveCallable
    program = loopy.register_callable(program, "solve", solve)
    cells = op2.Set(1)
    a = op2.Dat(cells ** (2, 2), [[2.0, 1.0], [-3.0, 2.0]], dtype)
    b, x = op2.Dat(cells**2, [1.0, 0.5], dtype), op2.Dat(cells**2, dtype=dtype)
    op2.par_loop(op2.Kernel(program, "k"), cells, x(op2.WRITE), a(op2.READ), b(op2.READ))
    np.testing.assert_allclose(x.data_ro[0], np.linalg.solve(a.data_ro[0], b.data_ro[0]))
