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


def uses() -> list[Any]:
    return [
        lambda v, _: v.sum(),
        lambda v, _: v.array,
        lambda v, _: v.set(1),
        lambda v, _: v + v,
        lambda v, _: v[0],
        lambda v, _: v.__setitem__(0, 1.0),
        lambda v, _: v.__iadd__(1),
        lambda v, _: v.getSize(),
        lambda v, _: v.copy(),
        lambda v, _: v.destroy(),
        lambda v, _: np.asarray(v.array),
        lambda v, other: other.axpy(1, v),
        lambda v, other: other.dot(v),
    ]


@needs_petsc
@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("name", ["vec", "vec_ro", "vec_wo"])
@pytest.mark.parametrize("which", range(3))
def test_a_vector_kept_after_its_context_is_refused(which: int, name: str, is_gone: bool) -> None:
    from petsc4py import PETSc

    carrier = carriers()[which]
    with getattr(carrier, name) as vec:
        if name != "vec_wo":
            vec.norm()
        copy = vec.copy()
        kept = vec
    n = flat(carrier).size
    before = flat(carrier).copy()
    if is_gone:
        del carrier
        gc.collect()
    other = PETSc.Vec().createSeq(n, comm=PETSc.COMM_SELF)
    other.set(0)
    for use in uses():
        with pytest.raises((ContractError, PETSc.Error)):
            use(kept, other)
    assert isinstance(kept, PETSc.Vec)
    assert copy.getSize() == n
    if not is_gone:
        np.testing.assert_array_equal(flat(carrier), before)


@needs_petsc
def test_the_message_says_what_to_do() -> None:
    dat = op2.Dat(op2.Set(3))
    with dat.vec as vec:
        pass
    with pytest.raises(ContractError, match=r"'with' block, which has ended; .* keep vec.copy\(\)"):
        vec.norm()
    with pytest.raises(ContractError), dat.vec as vec:
        raise ContractError("an error in the block")
    with pytest.raises(ContractError, match="has ended"):
        vec.norm()
    with dat.vec as outer, dat.vec_ro as inner:
        outer.set(2)
        assert inner.sum() == 6
    assert dat.data_ro.tolist() == [2, 2, 2]


@needs_petsc
@pytest.mark.parametrize("which", range(3))
def test_what_petsc_keeps_of_a_vector_is_a_copy(which: int) -> None:
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
    solution = ksp.getSolution()
    np.testing.assert_allclose(flat(carrier), 4)
    assert solution.sum() == pytest.approx(4 * n)
    solution.set(7)
    np.testing.assert_allclose(flat(carrier), 4)
    del carrier
    gc.collect()
    assert solution.sum() == 7 * n


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
