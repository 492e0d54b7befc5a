# SPDX-License-Identifier: BSD-3-Clause
"""Calls that make no sense are refused: those that once were not, and random ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import hostile

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    ContractError,
    DataValueError,
    DatTypeError,
    IndexValueError,
    KernelTypeError,
    ModeValueError,
    SetTypeError,
    SizeTypeError,
    SolverOptionError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE = Path(__file__).parents[1] / "fuzz" / "hostile.py"
N_CALLS = 6000


def dat() -> op2.Dat:
    return op2.Dat(op2.Set(3))


def two_entries() -> op2.Map:
    return op2.Map(op2.Set(1), op2.Set(2), 2, [0, 1])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        pytest.param(lambda: op2.GlobalKernel(1.5, ()), KernelTypeError, marks=pytest.mark.pyop2),
        pytest.param(
            lambda: op2.Parloop(1.5, op2.Set(1), ()), KernelTypeError, marks=pytest.mark.pyop2
        ),
        (lambda: op2.GlobalDataSet(dat()), DatTypeError),
        (lambda: op2.GlobalDataSet(op2.Constant(1, 1.0)), DatTypeError),
        (lambda: op2.Solver(parameters=3), SolverOptionError),
        (lambda: op2.ExtrudedSet(op2.Set(2), 10**30), SizeTypeError),
        (lambda: dat().zero(subset=7), SetTypeError),
        (lambda: dat() * 10**400, DataValueError),
        (lambda: op2.PermutedMap(two_entries(), [1.5, 0.0]), ContractError),
        (lambda: op2.PermutedMap(two_entries(), [float("inf"), 0]), ContractError),
        (lambda: op2.renumber([two_entries()]).to_original([1, 2], on=True), SetTypeError),
        (lambda: op2.Kernel("void f(int *x) {}", "f").with_untyped([3]), IndexValueError),
        (lambda: op2.Kernel.from_ufcx("", integral=slice(1, 9)), KernelTypeError),
        (lambda: dat()(np.int8(-1), two_entries()), ModeValueError),
    ],
)
def test_it_is_refused(call: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error, match=r"\w+"):
        call()


def test_what_numpy_raises_by_itself_is_no_fault() -> None:
    outcome = hostile.Outcome()
    with pytest.raises(ZeroDivisionError) as found:
        op2.Constant(1, 0.0) / np.array([0], object)
    hostile.judge(found.value, "a call", outcome)
    assert outcome.raised["ZeroDivisionError"] == 1
    assert outcome.faults == {}
    hostile.judge(IndexError("a fault"), "a call", outcome)
    assert list(outcome.n_faults.values()) == [1]


def test_random_calls_work_or_are_refused() -> None:
    command = [sys.executable, str(HOSTILE), "--count", str(N_CALLS), "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{N_CALLS} calls" in done.stdout
