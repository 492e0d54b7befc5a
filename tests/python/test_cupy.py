# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import MissingExtraError
from pyop2cxx.interop import cupy
from pyop2cxx.op2 import INC, READ

if TYPE_CHECKING:
    from collections.abc import Iterator

HAS_CUPY = extras.installed()["cupy"]
HAS_GPU = any(found.name == "cuda" and found.available for found in op2.backends())
needs_both = pytest.mark.skipif(not (HAS_CUPY and HAS_GPU), reason="there is no CuPy or no GPU")

N = 50


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


class Path:
    """Springs along a line of nodes, both ends held by springs to a wall."""

    def __init__(self, dim: int = 1) -> None:
        self.edges, self.nodes = op2.Set(N - 1, "edges"), op2.Set(N, "nodes")
        ends = np.stack([np.arange(N - 1), np.arange(1, N)], axis=1)
        self.e2n = op2.Map(self.edges, self.nodes, 2, ends)
        dset = self.nodes**dim
        self.mat = op2.Mat(op2.Sparsity((dset, dset), [(self.e2n, self.e2n, None)]))
        self.x, self.b = op2.Dat(dset), op2.Dat(dset, np.ones((N, dim)).squeeze())
        width = 2 * dim
        text = f"""void k(double *A) {{
          for (int c = 0; c < {dim}; ++c) {{
            A[c * {width} + c] += 1.5; A[c * {width} + {dim} + c] -= 1;
            A[({dim} + c) * {width} + c] -= 1; A[({dim} + c) * {width} + {dim} + c] += 1.5;
          }}
          if ({dim} > 1) A[1] += 0.25;
        }}"""
        op2.par_loop(op2.Kernel(text, "k"), self.edges, self.mat(INC, (self.e2n, self.e2n)))


@pytest.mark.parametrize("dim", [1, 2])
def test_scalars_of_blocks_are_those_of_scipy(dim: int) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    mat = Path(dim).mat
    rows, columns, order = cupy._scalars(mat.sparsity)
    values = mat.array if order is None else mat.array[order]
    made = sparse.csr_array((values, columns, rows), shape=(N * dim, N * dim))
    assert made.has_sorted_indices
    np.testing.assert_array_equal(made.toarray(), mat.values)


def test_without_a_gpu_or_cupy_it_is_not_possible() -> None:
    with op2.backend("sequential"):
        assert not cupy.is_possible()
    if not HAS_CUPY:
        with pytest.raises(MissingExtraError, match=r"needs cupy"):
            cupy.array(op2.Dat(op2.Set(2)), write=False)
        with pytest.raises(MissingExtraError, match=r"Mat.to_cupy\(\) needs cupyx"):
            Path().mat.to_cupy()


@needs_both
@pytest.mark.parametrize("dim", [1, 2])
def test_a_matrix_on_the_device_is_shared(dim: int) -> None:
    with op2.backend("cuda"):
        path = Path(dim)
        op2.transfers.clear()
        made = path.mat.to_cupy()
        assert path.mat.residence == "device"
        assert op2.transfers.report() == ()
        expected = path.mat.values
        np.testing.assert_array_equal(made.toarray().get(), expected)
        if dim == 1:
            made = path.mat.to_cupy()
            made.data *= 2
            cupy.finish()
            np.testing.assert_array_equal(path.mat.values, 2 * expected)


@needs_both
def test_a_matrix_of_the_host_is_copied() -> None:
    with op2.backend("sequential"):
        path = Path()
        np.testing.assert_array_equal(path.mat.to_cupy().toarray().get(), path.mat.values)


@needs_both
@pytest.mark.parametrize("dim", [1, 2])
def test_multiplies_on_the_device(dim: int) -> None:
    with op2.backend("cuda"):
        path = Path(dim)
        path.b.to_device()
        op2.transfers.clear()
        path.mat.mult(path.b, path.x)
        # where entries lie is sent once, if the loop is tried first; values stay
        assert {row.what for row in op2.transfers.report()} <= {"a Map", "a plan"}
        assert path.x.residence == "device"
        for _ in range(10):  # by the loop and by cuSPARSE, until it is known which is faster
            path.mat.mult(path.b, path.x)
        op2.transfers.clear()
        path.mat.mult(path.b, path.x)
        assert op2.transfers.report() == ()
        found = path.mat * path.b
        expected = path.mat.values @ path.b.data_ro.reshape(-1)
        np.testing.assert_allclose(path.x.data_ro.reshape(-1), expected, rtol=1e-14)
        np.testing.assert_allclose(found.data_ro.reshape(-1), expected, rtol=1e-14)


@needs_both
@pytest.mark.parametrize(
    ("ksp_type", "pc_type"),
    [
        *(("cg", pc) for pc in ("none", "jacobi", "ilu", "lu")),
        ("gmres", "jacobi"),
        ("preonly", "lu"),
    ],
)
@pytest.mark.parametrize("dim", [1, 2])
def test_solves_on_the_device(ksp_type: str, pc_type: str, dim: int) -> None:
    with op2.backend("cuda"):
        path = Path(dim)
        path.mat.to_device()
        path.b.to_device()
        # blocks are not symmetric
        options: dict[str, Any] = {
            "ksp_type": "gmres" if dim == 2 and ksp_type == "cg" else ksp_type,
            "pc_type": pc_type,
            "ksp_rtol": 1e-11,
        }
        went = op2.solve(path.mat, path.x, path.b, package="cupy", **options)
        assert path.x.residence == "device"
        assert went.converged
        found = path.mat.values @ path.x.data_ro.reshape(-1)
        np.testing.assert_allclose(found, 1, atol=1e-8)


@needs_both
def test_the_default_solves_on_the_device_and_moves_nothing() -> None:
    with op2.backend("cuda"):
        path = Path()
        path.b.to_device()
        path.x.to_device()
        path.mat.to_host()
        op2.transfers.clear()
        op2.solve(path.mat, path.x, path.b)
        assert op2.transfers.report() == ()
        assert path.mat.residence == "both"
        assert path.x.residence == "device"


@needs_both
def test_a_loop_as_operator_on_the_device() -> None:
    with op2.backend("cuda"):
        path = Path()
        text = "void k(const double *x, double *y) { double d = x[0] - x[1];" + (
            "y[0] += d + 0.5 * x[0]; y[1] += 0.5 * x[1] - d; }"
        )
        kernel = op2.Kernel(text, "k")

        def apply(x: op2.Dat, y: op2.Dat) -> None:
            y.zero()
            op2.par_loop(kernel, path.edges, x(READ, path.e2n), y(INC, path.e2n))

        op2.solve(apply, path.x, path.b, pc_type="none", ksp_rtol=1e-12)
        found = path.mat.values @ path.x.data_ro
        np.testing.assert_allclose(found, 1, atol=1e-9)
