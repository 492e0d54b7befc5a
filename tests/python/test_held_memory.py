# SPDX-License-Identifier: BSD-3-Clause
"""Loops on memory that the program may write to do not wait: they use the values of the call."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

N = 4
ADD = op2.Kernel("void add(double *x, const double *f) { x[0] += f[0]; }", "add")
TAKE = op2.Kernel("void take(double *x, const double *f) { x[0] = f[0]; }", "take")
SUM = op2.Kernel("void total(double *s, const double *x) { s[0] += x[0]; }", "total")


class FromDLPack:
    """Memory of another library, which only speaks DLPack."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    def __dlpack__(self, **given: Any) -> Any:
        return self.values.__dlpack__(**given)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


@contextmanager
def _lazy() -> Iterator[None]:
    op2.init(lazy=True)
    try:
        yield
    finally:
        op2.init(lazy=False)


WAITING = {"lazy": _lazy, "chain": op2.chain}

Given = tuple[Any, "np.ndarray[Any, Any]"]


def _own(tmp_path: Path) -> Given:
    values = np.zeros(N)
    return values, values


def _part(tmp_path: Path) -> Given:
    whole = np.zeros(3 * N)
    return whole[N : 2 * N], whole[N : 2 * N]


def _part_that_is_kept(tmp_path: Path) -> Given:
    part = np.zeros(3 * N)[N : 2 * N]
    return part, part


def _of_base(tmp_path: Path) -> Given:
    whole = np.zeros((N, 1))
    return whole.reshape(N), whole[:, 0]


def _view_from_before(tmp_path: Path) -> Given:
    values = np.zeros(N)
    return values, values[:]


def _mapped(tmp_path: Path) -> Given:
    file = tmp_path / "values.npy"
    np.save(file, np.zeros(N))
    values = np.load(file, mmap_mode="r+")
    return values, values


def _by_dlpack(tmp_path: Path) -> Given:
    values = np.zeros(N)
    return FromDLPack(values), values


def _of_bytes(tmp_path: Path) -> Given:
    memory = bytearray(8 * N)
    return np.frombuffer(memory), np.frombuffer(memory)


GIVEN = [_own, _part, _part_that_is_kept, _of_base, _view_from_before, _mapped, _by_dlpack]
GIVEN.append(_of_bytes)


def _in_steps(waits: str, write: Callable[[float], None], loop: Callable[[], None]) -> None:
    with WAITING[waits]():
        for i in range(5):
            write(float(i))
            loop()


@pytest.mark.parametrize("waits", WAITING)
@pytest.mark.parametrize("kept", [True, False], ids=["ParLoop", "par_loop"])
@pytest.mark.parametrize("given", GIVEN)
def test_an_array_that_a_dat_was_made_of(
    given: Any, kept: bool, waits: str, tmp_path: Path
) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        data, values = given(tmp_path)
        x, f = op2.Dat(cells), op2.Dat(cells, data)
        args = x(op2.RW), f(op2.READ)
        again = op2.ParLoop(ADD, cells, *args).compute
        call = again if kept else lambda: op2.par_loop(ADD, cells, x(op2.RW), f(op2.READ))

        def write(value: float) -> None:
            values[:] = value

        _in_steps(waits, write, call)
        np.testing.assert_array_equal(x.data_ro, 0 + 1 + 2 + 3 + 4)


@pytest.mark.parametrize("waits", WAITING)
def test_on_every_backend(backend: str, waits: str) -> None:
    cells, values = op2.Set(N), np.zeros(N)
    x, f = op2.Dat(cells), op2.Dat(cells, values)
    with WAITING[waits]():
        for i in range(5):
            f.data[:] = i  # opens the array again where a device has ended it
            values[:] = i + 1
            op2.par_loop(ADD, cells, x(op2.RW), f(op2.READ))
            if values.flags.writeable:
                values[:] = -100
    np.testing.assert_array_equal(x.data_ro, 15)


KEPT: dict[str, Callable[[op2.Dat], Any]] = {
    "data": lambda f: f.data,
    "a part": lambda f: f.data[:N][::1],
    "data_with_halos": lambda f: f.data_with_halos,
    "data_wo": lambda f: f.data_wo,
    "_data": lambda f: f._data,
    "memoryview": lambda f: np.asarray(memoryview(f.data)),
    "DLPack": lambda f: np.from_dlpack(f),
    "component": lambda f: op2.DatView(f, 0).data,
    "reshaped": lambda f: f.data.reshape(N, 1)[:, 0],
}


@pytest.mark.parametrize("waits", WAITING)
@pytest.mark.parametrize("as_component", [False, True])
@pytest.mark.parametrize("kept", KEPT)
def test_an_array_that_was_taken_from_a_dat(kept: str, as_component: bool, waits: str) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        x, f = op2.Dat(cells), op2.Dat(cells)
        values = KEPT[kept](f)
        if not values.flags.writeable:
            pytest.skip("this NumPy takes what DLPack shares as read-only")
        used = op2.DatView(f, 0) if as_component else f
        loop = op2.ParLoop(ADD, cells, x(op2.RW), used(op2.READ))

        def write(value: float) -> None:
            values[:] = value

        _in_steps(waits, write, loop.compute)
        np.testing.assert_array_equal(x.data_ro, 10)


@pytest.mark.parametrize("waits", WAITING)
@pytest.mark.parametrize("how", ["array", "data", "data of a Const", "array of a Const", "_data"])
def test_numbers_of_globals_and_consts(waits: str, how: str) -> None:
    with op2.backend("sequential"):
        cells, values = op2.Set(N), np.zeros(1)
        x = op2.Dat(cells)
        is_const = "Const" in how
        made: Any = op2.Const(1, values, name="held_c") if is_const else op2.Global(1, values)
        if how.startswith("data"):
            values = made.data
        elif how == "_data":
            values = made._data
        kernel = op2.Kernel("void add_c(double *x) { x[0] += held_c; }", "add_c")
        args = (x(op2.RW),) if is_const else (x(op2.RW), made(op2.READ))

        def write(value: float) -> None:
            values[:] = value

        try:
            loop = op2.ParLoop(kernel if is_const else ADD, cells, *args)
            _in_steps(waits, write, loop.compute)
        finally:
            if is_const:
                made.remove_from_namespace()
        np.testing.assert_array_equal(x.data_ro, 10)


@pytest.mark.parametrize("waits", WAITING)
def test_what_loops_write_is_there_after_the_call(waits: str) -> None:
    with op2.backend("sequential"):
        cells, values = op2.Set(N), np.zeros(N)
        x, f = op2.Dat(cells, values), op2.Dat(cells, [1.0] * N)
        seen = []
        with WAITING[waits]():
            for _ in range(3):
                op2.par_loop(ADD, cells, x(op2.RW), f(op2.READ))
                seen.append(values[0])
        assert seen == [1, 2, 3]


@pytest.mark.parametrize("waits", WAITING)
@pytest.mark.parametrize("kind", ["Dat", "Global"])
def test_copies_that_share_memory(waits: str, kind: str) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        one: Any = op2.Dat(cells) if kind == "Dat" else op2.Global(1, 0.0)
        x = op2.Dat(cells)
        loop = op2.ParLoop(ADD, cells, x(op2.RW), one(op2.READ))
        with op2.chain():
            loop.compute()  # while the memory is the library's alone
        other = copy.copy(one)
        values = other.data

        def write(value: float) -> None:
            values[:] = value

        _in_steps(waits, write, loop.compute)
        np.testing.assert_array_equal(x.data_ro, 10)


@pytest.mark.parametrize("waits", WAITING)
def test_what_waits_has_run_before_memory_is_shared(waits: str) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        x, f, y = op2.Dat(cells), op2.Dat(cells, [1.0] * N), op2.Dat(cells)
        with WAITING[waits]():
            op2.par_loop(ADD, cells, x(op2.RW), f(op2.READ))
            other = copy.copy(f)
            other.data[:] = 5
            op2.par_loop(ADD, cells, y(op2.RW), f(op2.READ))
        assert x.data_ro.tolist() == [1] * N
        assert y.data_ro.tolist() == [5] * N


@pytest.mark.parametrize("waits", WAITING)
def test_the_values_of_a_matrix(waits: str) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        same = op2.Map(cells, cells, 1, np.arange(N))
        mat = op2.Mat(op2.Sparsity((cells**1, cells**1), [(same, same, None)]))
        x = op2.Dat(cells)
        put = op2.Kernel("void put(double *A, double *x) { A[0] += 1; x[0] += 1; }", "put")
        values = mat.array
        with WAITING[waits]():
            for i in range(3):
                values[:] = i
                op2.par_loop(put, cells, mat(op2.INC, (same, same)), x(op2.RW))
        np.testing.assert_array_equal(mat.values.diagonal(), 3)


@pytest.mark.parametrize("waits", WAITING)
def test_rows_that_are_left_out_are_those_of_the_call(waits: str) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        same = op2.Map(cells, cells, 1, np.arange(N))
        mat = op2.Mat(op2.Sparsity((cells**1, cells**1), [(same, same, None)]))
        rows = np.arange(N, dtype=np.int64)
        rows[1] = -1
        with WAITING[waits]():
            arg = mat(op2.INC, (same, same), lgmaps=(rows, None))
            op2.par_loop(op2.Kernel("void put(double *A) { A[0] += 1; }", "put"), cells, arg)
            rows[:] = -1
        assert mat.values.diagonal().tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("waits", WAITING)
@pytest.mark.parametrize("kind", ["Map", "entry", "permuted", "composed"])
def test_a_map_whose_loops_wait_has_values_of_its_own(backend: str, kind: str, waits: str) -> None:
    cells = op2.Set(N)
    values = np.arange(N, dtype=np.int32).reshape(N, 1)
    map_ = op2.Map(cells, cells, 1, values)
    path: Any = {
        "Map": lambda: map_,
        "entry": lambda: map_[0],
        "permuted": lambda: op2.PermutedMap(map_, [0]),
        "composed": lambda: op2.ComposedMap(map_, op2.Map(cells, cells, 1, np.arange(N))),
    }[kind]()
    x, f = op2.Dat(cells), op2.Dat(cells, [1.0, 2.0, 3.0, 4.0])
    with WAITING[waits]():
        op2.par_loop(TAKE, cells, x(op2.WRITE), f(op2.READ, path))
        values[:] = 0
    np.testing.assert_array_equal(x.data_ro, [1, 2, 3, 4])
    with WAITING[waits]():
        map_.update_values(values)
        op2.par_loop(TAKE, cells, x(op2.WRITE), f(op2.READ, path))
        values[:] = 3
    np.testing.assert_array_equal(x.data_ro, 1)


@pytest.mark.parametrize("waits", WAITING)
def test_fields_of_a_mixed_dat(waits: str) -> None:
    with op2.backend("sequential"):
        cells, values = op2.Set(N), np.zeros(N)
        x = op2.Dat(cells)
        same = op2.Map(cells, cells, 1, np.arange(N))
        mixed = op2.MixedDat([op2.Dat(cells, values), op2.Dat(cells)])
        loop = op2.ParLoop(ADD, cells, x(op2.RW), mixed(op2.READ, op2.MixedMap([same, same])))

        def write(value: float) -> None:
            values[:] = value

        _in_steps(waits, write, loop.compute)
        np.testing.assert_array_equal(x.data_ro, 10)


@pytest.mark.parametrize("waits", WAITING)
def test_algebra_on_an_array_of_the_program(waits: str) -> None:
    with op2.backend("sequential"):
        cells, values = op2.Set(N), np.zeros(N)
        x, f, y = op2.Dat(cells), op2.Dat(cells, values), op2.Dat(cells)
        with WAITING[waits]():
            for i in range(5):
                op2.par_loop(ADD, cells, y(op2.RW), x(op2.READ))  # so that something waits
                values[:] = i
                x += f
                f.zero()
                assert not values.any()
                values[:] = 100
                f.copy(y)
                values[:] = -1
        np.testing.assert_array_equal(x.data_ro, 10)
        np.testing.assert_array_equal(y.data_ro, 100)


def test_memory_of_the_library_alone_waits() -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        dats = [
            op2.Dat(cells),
            op2.Dat(cells, [1.0] * N),
            op2.Dat(cells, np.ones(N)),
            op2.Dat(cells, np.ones(N, np.float32), np.float64),
            op2.Dat(cells, 1.0),
            op2.Dat(op2.Dat(cells, np.ones(N))),
        ]
        x, total = op2.Dat(cells), op2.Global(1, 0.0)
        with op2.chain() as chain:
            for dat in dats:
                op2.par_loop(ADD, cells, x(op2.RW), dat(op2.READ))
            op2.par_loop(SUM, cells, total(op2.INC), x(op2.READ))
            assert len(chain.waiting) == len(dats) + 1
        assert chain.explain().eager == {} if hasattr(chain.explain(), "eager") else True
        assert float(total) == N * (len(dats) - 1)


def test_who_lets_go_of_an_array_lets_loops_wait() -> None:
    with op2.backend("sequential"):
        cells, values = op2.Set(N), np.ones(N)
        f, x = op2.Dat(cells, values, name="f"), op2.Dat(cells, name="x")
        loop = op2.ParLoop(ADD, cells, x(op2.RW), f(op2.READ))
        with op2.chain() as chain:
            loop.compute()
            assert chain.waiting == []
        text = str(chain.explain())
        assert "add" in text
        assert "the program holds the array that Dat 'f'" in text
        assert "array.copy()" in text
        del values
        with op2.chain() as chain:
            loop.compute()
            assert chain.waiting == ["add"]


def test_an_array_from_data_is_named() -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        f, x = op2.Dat(cells, name="f"), op2.Dat(cells, name="x")
        held = f.data[1:2]
        with op2.chain() as chain:
            op2.par_loop(ADD, cells, x(op2.RW), f(op2.READ))
            assert chain.waiting == []
        assert "the program holds a writeable array of Dat 'f'" in str(chain.explain())
        del held


def test_known_loops_on_held_memory_are_not_made_again(monkeypatch: Any) -> None:
    from pyop2cxx.loop.parloop import ParLoop

    with op2.backend("sequential"):
        cells, values = op2.Set(N), np.ones(N)
        f, x = op2.Dat(cells, values), op2.Dat(cells)
        n_made = 0
        made = ParLoop.__init__

        def counted(self: Any, *args: Any, **options: Any) -> None:
            nonlocal n_made
            n_made += 1
            made(self, *args, **options)

        monkeypatch.setattr(ParLoop, "__init__", counted)
        with _lazy():
            for _ in range(5):
                op2.par_loop(ADD, cells, x(op2.RW), f(op2.READ))
        assert n_made <= 2
        np.testing.assert_array_equal(x.data_ro, 5)


def test_a_device_has_values_that_nobody_writes_behind_its_back(device: object) -> None:
    cells, values = op2.Set(N), np.ones(N)
    f, x = op2.Dat(cells, values), op2.Dat(cells)
    loop = op2.ParLoop(ADD, cells, x(op2.RW), f(op2.READ))
    loop.compute()
    assert not values.flags.writeable
    with op2.chain() as chain:
        loop.compute()
        assert chain.waiting == ["add"]
    np.testing.assert_array_equal(x.data_ro, 2)
    assert runtime.recorder is None
