# SPDX-License-Identifier: BSD-3-Clause
"""Operations of algebra are resolved, reported beside loops, and left to libraries."""

from __future__ import annotations

import ctypes
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime.operations import Operations
from pyop2cxx.runtime.tuned import Tuned

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
    op2.Dat(op2.Set(100_000), np.ones(100_000)).zero()
    (row,) = [one for one in op2.dispatch.report() if one.loop == "zero of float64"]
    assert row.tier == row.provider == "builtin"
    assert row.run_seconds > 0
    assert row.seconds == 0  # there was nothing to generate or to compile
    assert " builtin " in str(op2.dispatch.report())
    op2.dispatch.clear()
    assert counted() == {}


def of_its_own() -> tuple[Operations, _core.Dispatcher]:
    dispatcher = _core.Dispatcher()
    options = {"deterministic": False, "tune": "off", "static": False, "cache_dir": ""}
    return Operations(dispatcher.operations, options, Tuned(options, lambda _: None)), dispatcher


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


class ByNumPy:
    """Does all that may be replaced, and writes down what it is asked."""

    name = "numpy"
    operations = ("zero", "copy", "assign", "+", "-", "*", "/", "axpy", "dot")

    def __init__(self, veto: str = "") -> None:
        self.veto = veto
        self.done: list[str] = []

    def why_not(self, operation: str, *given: Any) -> str:
        return self.veto

    def perform(self, operation: str, *given: Any) -> Any:
        self.done.append(operation)
        if operation == "zero":
            given[0][...] = 0
        elif operation == "copy":
            given[0][...] = given[1]
        elif operation == "assign":
            given[0][given[1]] = given[2]
        elif operation == "axpy":
            alpha, x, y, _ = (values(one) for one in given)
            y += alpha * x
        elif operation == "dot":
            return float(values(given[0]) @ values(given[1]))
        else:
            function = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[given[0]]
            function(values(given[2]), values(given[3]), out=values(given[1]))
        return None


def values(column: Any) -> Any:
    """What an operand has, as an array on its memory."""
    if isinstance(column, int):
        return column
    if column.stride == 0:
        return np.ctypeslib.as_array((ctypes.c_double * 1).from_address(column.address))[0]
    n_scalars = (column.n - 1) * column.stride + 1
    scalars = (ctypes.c_double * n_scalars).from_address(column.address)
    return np.ctypeslib.as_array(scalars)[:: column.stride]


def all_operations(x: op2.Dat, y: op2.Dat) -> list[Any]:
    found = []
    y.assign(2.0)
    y.axpy(0.5, x)
    found += [y.data_ro.copy(), x.inner(y), (x + y).data_ro.copy(), (x / y).data_ro.copy()]
    y -= x
    y *= x
    x.copy(y)
    found.append(y.data_ro.copy())
    y.zero()
    return [*found, y.data_ro.copy()]


@pytest.mark.parametrize("n_rounds", [1, 3])
def test_a_library_may_do_each_of_them(n_rounds: int) -> None:
    cells = op2.Set(64)
    x, y = (op2.Dat(cells**2, np.arange(1.0, 129.0)) for _ in "xy")
    wanted = all_operations(x, y)
    library = ByNumPy()
    op2.dispatch.add_library(library)
    op2.dispatch.clear()
    for _ in range(n_rounds):
        found = all_operations(x, y)
        assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))
    assert {*library.done} == {"assign", "axpy", "dot", "+", "/", "-", "*", "copy", "zero"}
    rows = [row for row in op2.dispatch.report() if row.provider == "library"]
    assert {row.strategy for row in rows} == {"numpy"}
    assert {row.loop for row in rows} == {f"{one} of float64" for one in library.done}
    if n_rounds > 1:
        assert ("zero of float64", "numpy: measured in turns") in [
            (row.loop, row.rejected) for row in op2.dispatch.report() if row.provider == "builtin"
        ]


def test_a_library_that_cannot_is_not_asked_to() -> None:
    library = ByNumPy("dtype: it takes none")
    op2.dispatch.add_library(library)
    x = op2.Dat(op2.Set(5), np.ones(5))
    op2.dispatch.clear()
    x.assign(3.0)
    x.zero()
    assert library.done == []
    assert [(row.loop, row.provider, row.rejected) for row in op2.dispatch.report()] == [
        ("assign of float64", "builtin", "numpy: dtype: it takes none"),
        ("zero of float64", "builtin", "numpy: dtype: it takes none"),
    ]


def test_no_library_is_asked_where_bits_must_not_change_or_tables_are_expected() -> None:
    library = ByNumPy()
    op2.dispatch.add_library(library)
    x = op2.Dat(op2.Set(5), np.ones(5))
    with op2.dispatch.expect("ahead"):
        x.zero()
    op2.configuration["deterministic"] = True
    x.zero()
    assert library.done == []
    op2.configuration["deterministic"] = False
    with op2.dispatch.expect("library"):
        x.zero()
    assert library.done == ["zero"]


def test_exit_forgets_libraries() -> None:
    library = ByNumPy()
    op2.dispatch.add_library(library)
    op2.exit()
    op2.init(backend="sequential")
    x = op2.Dat(op2.Set(5), np.ones(5))
    x.zero()
    assert library.done == []


@pytest.mark.parametrize("operations", [("zero", "sqrt"), ()])
def test_a_library_has_operations_that_there_are(operations: tuple[str, ...]) -> None:
    library = ByNumPy()
    library.operations = operations  # type: ignore[assignment]
    with pytest.raises(UsageError, match=r"library 'numpy' has the operations .*expected some of"):
        op2.dispatch.add_library(library)
    x = op2.Dat(op2.Set(5), np.ones(5))
    x.zero()
    assert library.done == []


def test_a_library_is_asked_for_values_of_the_host_where_devices_are_used_too() -> None:
    twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    for one in op2.backends():
        if one.available and one.name in ("opencl", "cuda"):
            x = op2.Dat(op2.Set(2), [1.0, 2.0])
            with op2.backend(one.name):
                op2.par_loop(twice, x.dataset.set, x(op2.RW))
                x.zero()
                assert x.data_ro.tolist() == [0.0, 0.0]
    seen: list[int] = []

    class Fills:
        name, operations = "fills", ("zero",)

        def why_not(self, operation: str, values: Any) -> str:
            seen.append(values.size)
            return ""

        def perform(self, operation: str, values: Any) -> None:
            values[...] = 0

    op2.dispatch.add_library(Fills())
    y = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    y.zero()
    assert seen == [3]
    assert y.data_ro.tolist() == [0.0, 0.0, 0.0]
