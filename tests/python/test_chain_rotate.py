# SPDX-License-Identifier: BSD-3-Clause
"""Pass 'rotate' of chains: loops of a step join those of the step before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from ring import Ring, record_all_blocks

from pyop2cxx import op2
from pyop2cxx.chain.compile import PASSES

if TYPE_CHECKING:
    from pyop2cxx.chain.report import Report

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
STEP = ("twice p q", "more r", "twice s q")
NOT_ROTATED = tuple(name for name in PASSES if name != "rotate")


def chained(ring: Ring, passes: tuple[str, ...] | None, n_steps: int) -> Report:
    """Run so many steps in one block."""
    record_all_blocks()
    with op2.chain(passes=passes) as chain:
        for _ in range(n_steps):
            for name in STEP:
                ring.actions()[name]()
    return chain.explain()


def steps_of(report: Report) -> list[set[int]]:
    """Which time steps the loops of each function belong to."""
    return [{loop // len(STEP) for loop in step.loops} for step in report.steps]


@pytest.mark.parametrize("backend", BACKENDS)
def test_switched_off_no_function_has_loops_of_two_steps(backend: str) -> None:
    with op2.backend(backend):
        rotated, apart, alone = Ring(), Ring(), Ring()
        joined = chained(rotated, None, 3)
        separate = chained(apart, NOT_ROTATED, 3)
        for _ in range(3):
            for name in STEP:
                alone.actions()[name]()
        for name, dat in alone.dats.items():
            for other in (rotated, apart):
                np.testing.assert_allclose(other.dats[name].data_ro, dat.data_ro, rtol=1e-14)
    assert max(map(len, steps_of(joined))) == 3
    assert [len(found) for found in steps_of(separate)] == [1, 1, 1]
    assert joined.n_bytes < separate.n_bytes


def test_the_report_says_what_joined_and_what_would_have() -> None:
    joined, separate = str(chained(Ring(), None, 2)), str(chained(Ring(), NOT_ROTATED, 2))
    assert "rotate: twice joins twice + more + twice of the step before" in joined
    assert "twice does not join twice + more + twice (rotate): the pass is switched off" in separate
    assert "of the step before" not in separate.replace("none of them joins those of the step", "")


def test_a_block_of_one_step_has_nothing_to_rotate() -> None:
    assert steps_of(chained(Ring(), None, 1)) == steps_of(chained(Ring(), NOT_ROTATED, 1))
