# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pyop2cxx import op2
from pyop2cxx.pyop2 import base


def test_the_names_are_those_of_op2() -> None:
    for name in base.__all__:
        assert getattr(base, name) is getattr(op2, name)


def test_nothing_waits() -> None:
    """Programs that evaluate what PyOP2 kept for later find it done."""
    x = op2.Dat(op2.Set(3))
    op2.par_loop(op2.Kernel("void k(double *x) { *x = 1; }", "k"), x.dataset.set, x(op2.WRITE))
    assert not base._trace.in_queue(None)
    base._trace.evaluate(set(), {x})
    base._trace.evaluate_all()
    base._trace.clear()
    x._force_evaluation()
    assert x.data_ro.tolist() == [1.0] * 3


def test_the_solvers_defaults() -> None:
    assert op2.Solver().parameters == base.DEFAULT_SOLVER_PARAMETERS
