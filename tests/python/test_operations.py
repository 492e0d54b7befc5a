# SPDX-License-Identifier: BSD-3-Clause
"""Operations of algebra are resolved and reported beside loops."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.runtime.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    op2.init(backend="sequential")
    op2.dispatch.clear()
    yield
    op2.exit()


def counted() -> dict[str, int]:
    return {row.loop: row.count for row in op2.dispatch.report() if row.provider == "builtin"}


def test_each_operation_is_counted_by_its_dtype() -> None:
    cells = op2.Set(4)
    x, y = op2.Dat(cells, np.arange(4.0)), op2.Dat(cells)
    whole = op2.Dat(cells, dtype=np.int32)
    total = op2.Global(1, 3.0)
    y.assign(2)
    y.assign(np.ones(4))
    y.zero()
    whole.zero()
    total.zero()
    y.axpy(2.0, x)
    y += x
    x.copy(y)
    assert x.inner(y) == 14.0
    assert x.dot(y) == 14.0
    found = counted()
    assert found["assign of float64"] == 2
    assert found["zero of float64"] == 2
    assert found["zero of int32"] == 1
    assert found["axpy of float64"] == 1
    assert found["+ of float64"] == 1
    assert found["copy of float64"] >= 1
    assert found["dot of float64"] == 2


def test_matrices_are_set_to_zero_by_it() -> None:
    cells, nodes = op2.Set(1), op2.Set(2)
    ends = op2.Map(cells, nodes, 2, [[0, 1]])
    matrix = op2.Mat(op2.Sparsity((nodes, nodes), [(ends, ends, None)]))
    op2.dispatch.clear()
    matrix.zero()
    assert counted()["zero of float64"] == 1


def test_a_row_says_how_long_it_took() -> None:
    op2.Dat(op2.Set(100_000)).zero()
    (row,) = [one for one in op2.dispatch.report() if one.loop == "zero of float64"]
    assert row.tier == row.provider == "builtin"
    assert row.run_seconds > 0
    assert row.seconds == 0  # there was nothing to generate or to compile
    assert " builtin " in str(op2.dispatch.report())
    op2.dispatch.clear()
    assert counted() == {}


def of_its_own() -> tuple[Operations, _core.Dispatcher]:
    dispatcher = _core.Dispatcher()
    return Operations(dispatcher.operations, {"deterministic": False}), dispatcher


def test_what_is_done_by_several_threads_is_counted() -> None:
    operations, dispatcher = of_its_own()
    work = [
        Thread(target=lambda: [operations.done("+", "int64", abs, -1) for _ in range(1000)])
        for _ in range(4)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    (row,) = dispatcher.events()
    assert (row.loop, row.provider, row.n_resolved) == ("+ of int64", "builtin", 4000)
    assert row.running > 0
    assert operations.done("abs", "int64", abs, -2) == 2


def test_what_fails_is_not_counted() -> None:
    operations, dispatcher = of_its_own()
    with pytest.raises(TypeError):
        operations.done("abs", "int64", abs, "text")
    assert dispatcher.events() == []


def test_counting_goes_on_after_the_report_was_cleared() -> None:
    operations, dispatcher = of_its_own()
    operations.done("abs", "int64", abs, -2)
    dispatcher.clear_events()
    operations.done("abs", "int64", abs, -2)
    assert [row.n_resolved for row in dispatcher.events()] == [1]
