# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.base.arrays import spread
from pyop2cxx.exceptions import ContractError, MissingExtraError, ModeValueError

HAS_PETSC = extras.installed()["petsc4py"]
needs_petsc = pytest.mark.skipif(not HAS_PETSC, reason="petsc4py is not installed")


def carriers() -> list[Any]:
    nodes, cells = op2.Set(3), op2.Set(2)
    return [
        op2.Dat(nodes**2, np.arange(6.0).reshape(3, 2)),
        op2.Global(3, [1.0, 2.0, 3.0]),
        op2.MixedDat((op2.Dat(nodes, [1.0, 2.0, 3.0]), op2.Dat(cells**2, [[4.0, 5], [6, 7]]))),
    ]


@pytest.mark.skipif(HAS_PETSC, reason="petsc4py is installed")
@pytest.mark.parametrize("which", range(3))
def test_without_petsc_the_extra_is_named(which: int) -> None:
    carrier = carriers()[which]
    for context in (carrier.vec, carrier.vec_ro, carrier.vec_wo):
        with pytest.raises(MissingExtraError, match=r"needs petsc4py.*pyop2cxx\[petsc\]"), context:
            pass


def test_other_accesses_are_refused() -> None:
    with pytest.raises(ModeValueError, match="READ, WRITE or RW"):
        carriers()[0].vec_context(op2.INC)


def test_an_array_is_spread_over_others_of_any_shape() -> None:
    fields = [np.zeros(2), np.zeros((2, 2), np.int64), np.zeros((0, 3)), np.zeros(())]
    spread(np.arange(7.0), fields)
    assert [field.tolist() for field in fields] == [[0, 1], [[2, 3], [4, 5]], [], 6]


def test_a_vector_of_zeros_that_nobody_had_asked_for_counts_at_once() -> None:
    """Loops know of a Dat that it is zeros; a vector that outlives its context may change it."""
    asked, unasked = op2.Dat(op2.Set(3)), op2.Dat(op2.Set(3))
    assert asked.data_ro.tolist() == [0, 0, 0]
    for dat in (asked, unasked):
        shown, is_to_count = dat.lent(write=True)
        assert not is_to_count, "whoever keeps the vector would change it unnoticed"
        shown[:] = 7
        assert (dat.dat_version, dat.sum()) == (1, 21)


def flat(carrier: Any) -> Any:
    return np.concatenate([part.data_ro.reshape(-1) for part in carrier.split])


@needs_petsc
@pytest.mark.parametrize("which", range(3))
def test_vectors_are_read_and_written(which: int) -> None:
    carrier = carriers()[which]
    before = flat(carrier).copy()
    with carrier.vec as vec:
        np.testing.assert_array_equal(vec.array_r, before)
        vec.scale(2)
    np.testing.assert_array_equal(flat(carrier), 2 * before)
    version = carrier.dat_version
    with carrier.vec_ro as vec:
        assert vec.sum() == 2 * before.sum()
    assert carrier.dat_version == version
    with carrier.vec_wo as vec:
        vec.set(3)
    assert (flat(carrier) == 3).all()
    assert carrier.dat_version > version


@needs_petsc
def test_other_dtypes_than_petscs_are_refused() -> None:
    for carrier in (op2.Dat(op2.Set(2), dtype=np.int32), op2.Global(1, dtype=np.float32)):
        with pytest.raises(ContractError, match="this PETSc computes with"), carrier.vec:
            pass


@needs_petsc
@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("which", range(3))
def test_a_vector_is_the_same_in_all_contexts_and_outlives_them(which: int, is_gone: bool) -> None:
    carrier = carriers()[which]
    before = flat(carrier).copy()
    with carrier.vec as vec:
        assert vec.norm() == pytest.approx(np.linalg.norm(before))
    for name in ("vec", "vec_ro", "vec_wo"):
        with getattr(carrier, name) as again:
            assert again is vec
    for part in carrier.split:
        part.data[...] *= 2
    with carrier.vec_ro as again:
        assert again.norm() == pytest.approx(2 * np.linalg.norm(before))
    if is_gone:
        del carrier
        gc.collect()
        filler = [np.full(before.size, 9.0) for _ in range(100)]
        assert len(filler) == 100
    np.testing.assert_array_equal(vec.array_r, 2 * before)
    other = vec.duplicate()
    vec.copy(other)
    vec.axpy(1, other)
    np.testing.assert_array_equal(vec.array_r, 4 * before)


@needs_petsc
def test_a_change_after_a_context_is_noted_by_the_next() -> None:
    dat = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    with dat.vec as vec:
        vec.set(2)
    version = dat.dat_version
    with dat.vec_ro:
        pass
    assert dat.dat_version == version
    vec.set(5)
    with dat.vec_ro:
        assert dat.dat_version == version + 1
    assert dat.data_ro.tolist() == [5, 5, 5]
    with dat.vec as outer, dat.vec_ro as inner:
        outer.set(2)
        assert inner.sum() == 6
    assert dat.data_ro.tolist() == [2, 2, 2]


@needs_petsc
def test_a_vector_does_not_hold_the_memory_of_its_dat() -> None:
    dat = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    with dat.vec:
        pass
    assert not dat.is_shared


@needs_petsc
@pytest.mark.parametrize("which", range(3))
def test_a_solution_kept_by_a_solver_is_the_vector(which: int) -> None:
    from petsc4py import PETSc

    carrier = carriers()[which]
    n = flat(carrier).size
    ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
    identity = PETSc.Mat().createAIJ((n, n), nnz=1, comm=PETSc.COMM_SELF)
    for i in range(n):
        identity[i, i] = 1.0
    identity.assemble()
    ksp.setOperators(identity)
    right = PETSc.Vec().createSeq(n, comm=PETSc.COMM_SELF)
    right.set(4)
    with carrier.vec as vec:
        ksp.solve(right, vec)
    np.testing.assert_allclose(flat(carrier), 4)
    solution = ksp.getSolution()
    del carrier, vec
    gc.collect()
    assert solution.sum() == pytest.approx(4 * n)


@needs_petsc
def test_handles_of_matrices_outlive_them() -> None:
    nodes = op2.Set(50)
    identity = op2.Map(nodes, nodes, 1, range(50))
    both = op2.MixedDataSet((nodes, nodes), (1, 1))
    maps = op2.MixedMap((identity, identity))
    for dset, path in ((nodes**1, identity), (nodes**2, identity), (both, maps)):
        mat = op2.Mat(op2.Sparsity((dset, dset), [(path, path, None)]))
        for i in range(mat.sparsity.shape[0]):
            mat[i, i].set_local_diagonal_entries(range(50), 3.0)
        handle = mat.handle
        part = handle.getNestSubMatrix(0, 0) if mat.is_mixed else handle
        del mat, dset
        gc.collect()
        x, y = part.createVecRight(), part.createVecLeft()
        x.set(1)
        part.mult(x, y)
        assert y.array_r.tolist() == [3.0] * y.getSize()


@needs_petsc
def test_a_vector_held_beyond_its_context_gets_copies(backend: str) -> None:
    nodes = op2.Set(3)
    x, y, z = op2.Dat(nodes), op2.Dat(nodes), op2.Dat(nodes)
    fill = op2.Kernel("void fill(double *x) { x[0] += 1; }", "fill")
    add = op2.Kernel("void add(double *z, const double *y) { z[0] += y[0]; }", "add")
    with op2.backend(backend):
        op2.par_loop(add, nodes, z(op2.INC), y(op2.READ))
        with y.vec as held:
            pass
        for n in (1, 2):
            op2.par_loop(fill, nodes, x(op2.RW))
            x.copy(y)
            held.scale(2)  # as Firedrake's adjoint interpolation does
            op2.par_loop(add, nodes, z(op2.INC), y(op2.READ))
            assert y.data_ro.tolist() == [2 * n] * 3
        assert z.data_ro.tolist() == [6, 6, 6]
