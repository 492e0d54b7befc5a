# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

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
        shown, is_to_count = dat._lent(write=True)
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
