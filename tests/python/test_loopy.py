# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import DataTypeError, MissingExtraError, UsageError
from pyop2cxx.kernel.kernel import LoopyLocalKernel
from pyop2cxx.kernel.loopy import is_loopy, written

HAS_LOOPY = extras.installed()["loopy"]
needs_loopy = pytest.mark.skipif(not HAS_LOOPY, reason="loopy is not installed")


def program(target: str = "CWithGNULibcTarget") -> Any:
    """Return y += A sin(x), of three rows."""
    import loopy

    return loopy.make_kernel(
        "{[i, j]: 0 <= i, j < 3}",
        "y[i] = y[i] + sum(j, A[i, j] * sin(x[j]))",
        [
            loopy.GlobalArg("y", np.float64, (3,)),
            loopy.GlobalArg("A", np.float64, (3, 3)),
            loopy.GlobalArg("x", np.float64, (3,)),
        ],
        name="apply",
        target=getattr(loopy, target)(),
        lang_version=(2018, 2),
    )


def test_other_things_are_no_programs() -> None:
    assert not is_loopy("void f(void) {}")
    assert not is_loopy(None)
    with pytest.raises(DataTypeError, match="code must be a str with C text, got int"):
        op2.Kernel(3, "f")
    with pytest.raises(DataTypeError, match="expected a TranslationUnit or LoopKernel"):
        LoopyLocalKernel("void f(void) {}", "f")


def test_without_loopy_its_extra_is_named() -> None:
    if HAS_LOOPY:
        pytest.skip("loopy is installed")
    with pytest.raises(MissingExtraError, match=r"needs loopy.*pyop2cxx\[loopy\]"):
        written(None, "f")


@needs_loopy
@pytest.mark.parametrize("target", ["CTarget", "CWithGNULibcTarget", "OpenCLTarget"])
def test_every_target_gives_the_same_kernel(target: str) -> None:
    kernel = op2.Kernel(program(target), "apply")
    assert isinstance(kernel, op2.LoopyLocalKernel)
    assert [p.name for p in kernel.parameters] == ["y", "A", "x"]
    assert (kernel.opaque_reason, kernel.abi) == ("", "2026")
    assert kernel.dtypes == (np.dtype("float64"),) * 3
    assert kernel == op2.Kernel(kernel.text, "apply")
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@needs_loopy
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_it_runs(backend: str) -> None:
    cells, nodes = op2.Set(5), op2.Set(7)
    path = op2.Map(cells, nodes, 3, [[i, i + 1, i + 2] for i in range(5)])
    y, x = op2.Dat(nodes), op2.Dat(nodes, np.arange(7.0))
    matrices = op2.Dat(cells ** (3, 3), np.arange(45.0))
    kernel = op2.Kernel(program(), "apply", accesses=[op2.INC, op2.READ, op2.READ])
    assert [arg.access for arg in kernel.arguments] == [op2.INC, op2.READ, op2.READ]
    with op2.backend(backend):
        op2.par_loop(kernel, cells, y(op2.INC, path), matrices(op2.READ), x(op2.READ, path))
    wanted = np.zeros(7)
    products = np.einsum("nij,nj->ni", matrices.data_ro, np.sin(x.data_ro[path.values]))
    np.add.at(wanted, path.values, products)
    np.testing.assert_allclose(y.data_ro, wanted)


@needs_loopy
def test_a_kernel_without_its_program_around_it() -> None:
    kernel = op2.Kernel(program()["apply"], "apply")
    assert kernel == op2.Kernel(program(), "apply")


@needs_loopy
def test_what_loopy_cannot_write_is_said() -> None:
    import loopy

    with pytest.raises(UsageError, match="has none of that name, but 'apply'"):
        op2.Kernel(program(), "other")
    untyped = loopy.make_kernel(
        "{[i]: 0 <= i < 3}", "y[i] = 2 * x[i]", name="f", lang_version=(2018, 2)
    )
    with pytest.raises(UsageError, match="Kernel 'f': loopy cannot write C for it: "):
        op2.Kernel(untyped, "f")
