# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import ContractError, MissingExtraError
from pyop2cxx.interop import petsc

HAS_PETSC = extras.installed()["petsc4py"]


def test_a_missing_petsc_is_named() -> None:
    if HAS_PETSC:
        pytest.skip("petsc4py is installed")
    dat = op2.Dat(op2.Set(3))
    with (
        pytest.raises(MissingExtraError, match=r"needs petsc4py.*pyop2cxx\[petsc\]"),
        petsc.vector(dat, read=True, write=True),
    ):
        pass


needs_petsc = pytest.mark.skipif(not HAS_PETSC, reason="petsc4py is not installed")


@needs_petsc
def test_vectors_share_memory() -> None:
    dat = op2.Dat(op2.Set(3) ** 2, np.arange(6.0).reshape(3, 2))
    version = dat.dat_version
    with petsc.vector(dat, read=True, write=True) as vec:
        assert vec.getBlockSize() == 2
        vec.scale(2)
    assert dat.dat_version == version + 1
    np.testing.assert_array_equal(dat.data_ro, 2 * np.arange(6.0).reshape(3, 2))
    with (
        pytest.raises(ContractError, match="this PETSc computes with"),
        petsc.vector(op2.Dat(op2.Set(3), dtype=np.int32), read=True, write=False),
    ):
        pass


@needs_petsc
def test_only_what_changes_counts_as_a_write() -> None:
    cells = op2.Set(3)
    dat = op2.Dat(cells, [1.0, 2.0, 3.0])
    version = dat.dat_version
    with dat.vec_wo, dat.vec:
        pass
    assert dat.dat_version == version
    with dat.vec as vec:
        vec.array[0] = 5
    assert (dat.dat_version, dat.data_ro[0]) == (version + 1, 5)
    zeros = op2.Dat(cells)  # loops know that these are zeros, so they must be told
    with zeros.vec as vec:
        shown = vec.array
    shown[:] = 7
    assert zeros.dat_version == 1
    assert zeros.data_ro.tolist() == [7, 7, 7]


@needs_petsc
def test_a_mixed_vector_to_be_overwritten_shows_what_the_last_one_held() -> None:
    both = op2.MixedDat((op2.Dat(op2.Set(1), [1.0]), op2.Dat(op2.Set(2), [2.0, 3.0])))
    with both.vec_ro as vec:
        assert vec.array_r.tolist() == [1, 2, 3]
    both[0].data[:] = 0
    with both.vec_wo as vec:
        assert vec.array_r.tolist() == [1, 2, 3]
        vec.array[:] = [4, 5, 6]
    assert [field.data_ro.tolist() for field in both] == [[4], [5, 6]]


@needs_petsc
def test_a_shell_multiplies_and_solves() -> None:
    from petsc4py import PETSc

    dense = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
    shell = petsc.operator(lambda x: dense @ x, (3, 3), dense.dtype, "a test")
    assert shell.getSize() == (3, 3)
    x, y = shell.createVecRight(), shell.createVecLeft()
    x.setArray([1.0, 2.0, 3.0])
    shell.mult(x, y)
    np.testing.assert_array_equal(y.getArray(), dense @ [1.0, 2.0, 3.0])
    solver = PETSc.KSP().create(PETSc.COMM_SELF)
    solver.setOperators(shell)
    solver.setType("cg")
    solver.getPC().setType("none")
    solver.setTolerances(rtol=1e-12)
    x.set(0)
    solver.solve(y, x)
    np.testing.assert_allclose(x.getArray(), [1.0, 2.0, 3.0], rtol=1e-10)
    with pytest.raises(ContractError, match="a test has dtype int32, but this PETSc computes with"):
        petsc.operator(lambda x: x, (3, 3), np.dtype(np.int32), "a test")


@needs_petsc
def test_the_action_of_a_form_is_a_shell() -> None:
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    import ufl

    from pyop2cxx import fem
    from pyop2cxx.mesh import square_mesh

    space = fem.FunctionSpace(square_mesh(3), ("P", 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
    bcs = [fem.DirichletBC(space, 0.0)]
    shell = fem.action(a, bcs).to_petsc()
    x, y = shell.createVecRight(), shell.createVecLeft()
    x.setArray(np.arange(16.0))
    shell.mult(x, y)
    np.testing.assert_allclose(y.getArray(), fem.assemble(a, bcs).handle * x, rtol=1e-13)


KEPT = """
import sys
import ufl
from petsc4py import PETSc
from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh

space = fem.FunctionSpace(square_mesh(3), ("P", 2))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
shell = fem.action(u * v * ufl.dx).to_petsc()
x, y = shell.createVecs()
y.set(1.0)
solver = PETSc.KSP().create(PETSc.COMM_SELF)
solver.setOperators(shell)
solver.setType("cg")
solver.getPC().setType("none")
solver.solve(y, x)
print(solver.getConvergedReason() > 0)
if sys.argv[1] != "shell":
    del shell
if sys.argv[1] == "neither":
    del solver
"""


@needs_petsc
@pytest.mark.parametrize("kept", ["shell", "solver", "neither"])
def test_a_shell_may_be_kept_until_the_program_ends(kept: str) -> None:
    for package in ("basix", "ffcx", "ufl"):
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, "-c", KEPT, kept], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "leaked" not in done.stderr


def test_a_shell_needs_petsc() -> None:
    if HAS_PETSC:
        pytest.skip("petsc4py is installed")
    with pytest.raises(MissingExtraError, match="needs petsc4py"):
        petsc.operator(lambda x: x, (3, 3), np.dtype(np.float64), "a test")
