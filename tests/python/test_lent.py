# SPDX-License-Identifier: BSD-3-Clause
"""What is written on the host while a device has the values is refused, or reported: never lost."""

from __future__ import annotations

import array
import gc
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.base import arrays
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.interop.dlpack import HOST
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("exits")

N = 6
WROTE = "Dat 'x' on Set 'cells': somebody wrote into its values on the host after a device had"
TWICE = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
ADD = op2.Kernel("void add(const double *x, double *total) { *total += *x; }", "add")
DERIVED: dict[str, Callable[[Any], Any]] = {
    "memoryview": memoryview,
    "memoryview of bytes": lambda values: memoryview(values).cast("B").cast("d"),
    "array over a memoryview": lambda values: np.asarray(memoryview(values)),
    "frombuffer": np.frombuffer,
    "part": lambda values: values[:2],
    "part of a part": lambda values: values[1:][:2][::-1],
    "reshaped": lambda values: values.reshape(1, -1)[0],
    "ctypes": lambda values: np.ctypeslib.as_array(np.ctypeslib.as_ctypes(values)),
}
"""Ways to write to an array that NumPy does not end with it."""


def dat(values: Any, name: str = "x") -> op2.Dat:
    return op2.Dat(op2.Set(N, "cells"), values, "float64", name)


def doubled(x: op2.Dat) -> None:
    op2.par_loop(TWICE, x.dataset.set, x(op2.RW))


def summed(x: op2.Dat) -> float:
    total = op2.Global(1, 0.0, name="total")
    op2.par_loop(ADD, x.dataset.set, x(op2.READ), total(op2.INC))
    return float(total.data_ro[0])


@pytest.fixture(autouse=True, params=["of NumPy", "aligned"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of a page and more begin at a cache line, and are made in another way."""
    if request.param == "aligned":
        monkeypatch.setattr(arrays, "_PAGE", 0)


@pytest.fixture(params=["doubled", "summed"])
def loop(request: pytest.FixtureRequest) -> Callable[[op2.Dat], Any]:
    """A loop that writes the values, and one that leaves them valid on both sides."""
    return {"doubled": doubled, "summed": summed}[request.param]


@pytest.mark.parametrize(
    ("how", "is_own", "loop"),
    [
        (how, is_own, loop)
        for i, how in enumerate(DERIVED)
        for is_own in (False, True)
        for j, loop in enumerate(("doubled", "summed"))
        if (i + is_own + j) % 2 == 0 or os.environ.get("PYOP2CXX_TEST_ALL") == "1"
    ],
    indirect=["loop"],
)
def test_what_numpy_cannot_end_is_watched(
    device: _core.Device, loop: Callable[[op2.Dat], Any], how: str, is_own: bool
) -> None:
    given = np.ones(N)
    x = dat(given)
    derived = DERIVED[how](given if is_own else x.data)
    del given
    gc.collect()
    for _ in range(2):
        loop(x)
        wanted = x.data_ro.copy()
        loop(x)
        derived[0] = 77.0
        with pytest.raises(UsageError, match=WROTE):
            x.data_ro  # noqa: B018
        after = 2 * wanted if loop is doubled else wanted
        np.testing.assert_array_equal(x.data_ro, after)
    x.data  # noqa: B018 # asked for again: it counts
    derived[0] = 77.0
    assert 77.0 in x.data_ro
    assert summed(x) == x.data_ro.sum()


def test_an_array_that_a_dat_was_made_from_ends(
    device: _core.Device, loop: Callable[[op2.Dat], Any]
) -> None:
    own = np.ones(N)
    x = dat(own)
    own[0] = 2.0
    loop(x)
    with pytest.raises(ValueError, match="read-only"):
        own[0] = 7.0
    assert x.data[0] == own[0]
    own[1] = 7.0
    assert summed(x) == own.sum()
    with pytest.raises(ValueError, match="read-only"):
        own += 1
    wanted = own.copy()
    del x
    own += 1  # nobody has newer values any more
    np.testing.assert_array_equal(own, wanted + 1)


@pytest.mark.filterwarnings("error")
def test_an_array_that_could_not_be_opened_again_is_watched(
    device: _core.Device, loop: Callable[[op2.Dat], Any]
) -> None:
    """NumPy lets nobody write again to an array of another library that was made read-only."""
    own = np.from_dlpack(np.ones(N))
    x = dat(own)
    loop(x)
    x.data[1] = 3.0
    own[2] = 5.0
    assert summed(x) == own.sum()
    own[0] = 77.0
    with pytest.raises(UsageError, match=WROTE):
        x.data_ro  # noqa: B018
    x.data  # noqa: B018
    own[0] = 4.0
    assert summed(x) == own.sum()
    del x
    own[0] = 5.0


@pytest.mark.filterwarnings("error")
def test_a_part_of_an_array_that_has_ended_opens_with_it(device: _core.Device) -> None:
    own = np.arange(2.0 * N)
    part = own[:N]
    whole, first = op2.Dat(op2.Set(2 * N, "all"), own, name="whole"), dat(part)
    assert summed(first) == part.sum()
    assert summed(whole) == own.sum()
    first.data  # noqa: B018
    assert not part.flags.writeable
    whole.data  # noqa: B018
    first.data[0] = 7.0
    assert part.flags.writeable
    assert own[0] == 7.0


def test_an_array_on_the_host_stays_the_programs() -> None:
    with op2.backend("sequential"):
        own = np.ones(N)
        x = dat(own)
        doubled(x)
        own[0] = 7.0
        assert summed(x) == 2 * (N - 1) + 7


@pytest.mark.parametrize("what", ["Global", "Constant"])
def test_arrays_of_what_has_no_set_end(device: _core.Device, what: str) -> None:
    own = np.ones(1)
    cells = op2.Set(N)
    y = op2.Dat(cells, np.ones(N), name="y")
    value = op2.Global(1, own, name="a") if what == "Global" else op2.Constant(1, own, name="a")
    scale = op2.Kernel("void scale(double *y, const double *a) { *y *= *a; }", "scale")
    op2.par_loop(scale, cells, y(op2.RW), value(op2.READ))
    with pytest.raises(ValueError, match="read-only"):
        own[0] = 7.0
    value.data[0] = 3.0
    op2.par_loop(scale, cells, y(op2.RW), value(op2.READ))
    assert y.data_ro.tolist() == [3.0] * N


class _OnHost:
    """Asks for values on the host, as NumPy does from 2.1 on with ``device="cpu"``."""

    def __init__(self, mat: op2.Mat) -> None:
        self._mat = mat

    def __dlpack_device__(self) -> tuple[int, int]:
        return HOST

    def __dlpack__(self, **options: Any) -> Any:
        return self._mat.__dlpack__(**(options | {"dl_device": HOST}))


@pytest.mark.parametrize("how", ["array", "part", "dlpack"])
def test_the_array_of_a_matrix_ends_or_is_watched(device: _core.Device, how: str) -> None:
    nodes = op2.Set(N, "nodes")
    own = op2.Map(nodes, nodes, 1, np.arange(N), "own")
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(own, own, None)]), name="mat")
    add = op2.Kernel("void more(double A[1][1]) { A[0][0] += 1; }", "more")
    makes: dict[str, Callable[[], Any]] = {
        "array": lambda: mat.array,
        "part": lambda: mat.array[:2],
        "dlpack": lambda: np.from_dlpack(_OnHost(mat)),
    }
    op2.par_loop(add, nodes, mat(op2.INC, (own, own)))
    held = makes[how]()
    held[0] = 3.0
    op2.par_loop(add, nodes, mat(op2.INC, (own, own)))
    if how == "array":
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 7.0
    else:
        held[0] = 7.0
        with pytest.raises(UsageError, match="Mat 'mat': somebody wrote into its values"):
            mat.values  # noqa: B018
    assert mat.values.diagonal().tolist() == [4.0, *[2.0] * (N - 1)]
    mat.array[0] = 1.0
    assert mat.values[0, 0] == 1.0


def test_a_second_dat_over_an_array_that_has_ended_shares_it(device: _core.Device) -> None:
    own = np.ones(N)
    x = dat(own)
    doubled(x)
    y = dat(own, "y")
    assert not own.flags.writeable
    assert y.data_ro.tolist() == [2.0] * N
    doubled(y)
    assert x.data_ro.tolist() == [4.0] * N
    y.data[0] = 5.0
    own[1] = 6.0
    assert x.data_ro.tolist() == [5.0, 6.0, *[4.0] * (N - 2)]


def test_parts_of_one_array_are_watched_together(device: _core.Device) -> None:
    own = np.ones(2 * N)
    x, y = dat(own[:N]), dat(own[3 : N + 3], "y")
    part = own[4:5]
    doubled(x)
    held = x.data
    doubled(y)
    held[4] = 9.0  # belongs to both, and y is newer on the device
    with pytest.raises(UsageError, match=r"Dat 'y'.*: somebody wrote"):
        x.data_ro  # noqa: B018
    assert x.data_ro.tolist() == [2.0] * 3 + [4.0] * 3
    doubled(y)
    part[0] = 9.0
    with pytest.raises(UsageError, match=r"Dat 'y'.*: somebody wrote"):
        doubled(x)


def test_memory_of_others_is_watched(device: _core.Device) -> None:
    own = array.array("d", [1.0] * N)
    x = dat(own)
    summed(x)
    own[0] = 7.0
    with pytest.raises(UsageError, match=WROTE):
        x.data_ro  # noqa: B018
    assert own[0] == 1.0
    x.data[0] = 3.0
    assert own[0] == 3.0
    assert summed(x) == N + 2


def test_host_loops_end_the_watch_and_device_loops_begin_it_again(device: _core.Device) -> None:
    x = dat(np.ones(N))
    part = x.data[:2]
    doubled(x)
    with op2.backend("sequential"):
        doubled(x)
    part[0] = 5.0  # the host has the values: this counts
    doubled(x)
    part[0] = 7.0
    with pytest.raises(UsageError, match=WROTE):
        x.data_ro  # noqa: B018
    assert x.data_ro.tolist() == [10.0, *[8.0] * (N - 1)]


def test_a_loop_that_writes_looks_before(device: _core.Device) -> None:
    x = dat(np.ones(N))
    part = x.data[:2]
    summed(x)
    part[0] = 7.0
    with pytest.raises(UsageError, match="par_loop 'twice': " + WROTE):
        doubled(x)
    doubled(x)
    assert x.data_ro.tolist() == [2.0] * N


def n_looks_of(what: Callable[[], Any]) -> int:
    before = runtime.coherence.n_looks
    what()
    return runtime.coherence.n_looks - before


def test_reading_one_value_after_the_other_seldom_looks(device: _core.Device) -> None:
    own = np.ones(N)
    x, y = dat(own), dat(np.ones(N), "y")
    doubled(x)
    assert x.lent_out.is_watching
    assert n_looks_of(lambda: [x.data_ro[i % N] for i in range(1000)]) == 10
    assert n_looks_of(lambda: doubled(y)) == 0
    assert n_looks_of(lambda: summed(x)) == 1  # the host has read since it looked
    assert n_looks_of(lambda: [summed(x) for _ in range(3)]) == 0
    assert n_looks_of(lambda: x.data_ro[0]) == 1
    assert n_looks_of(lambda: summed(x)) == 0


@pytest.mark.parametrize("n_reads", [0, 1, 3, 4, 5])
def test_what_is_written_between_two_readings_is_told(device: _core.Device, n_reads: int) -> None:
    """By the next reading, or the next loop on the device; the fourth and sixth do not look."""
    x = dat(np.ones(N))
    part = x.data[:2]
    for _ in range(2):
        summed(x)
        for _ in range(n_reads):
            assert x.data_ro[0] == 1.0
        part[0] = 7.0
        with pytest.raises(UsageError, match=WROTE):
            _ = x.data_ro[0], summed(x)
        assert x.data_ro[0] == 1.0
        assert summed(x) == N


@pytest.mark.parametrize("option", ["check", "debug"])
def test_in_check_mode_every_loop_looks(device: _core.Device, option: str) -> None:
    x = dat(np.ones(N))
    summed(x)
    op2.configuration[option] = True  # what is on a device by now is looked at, too
    x.host_values[0] = 7.0  # type: ignore[index] # as nobody may, and nobody holds an array
    with pytest.raises(UsageError, match=WROTE):
        summed(x)
    assert summed(x) == N


def test_the_end_reports_what_nobody_asked_for(device: _core.Device) -> None:
    x = dat(np.ones(N))
    part = x.data[:2]
    doubled(x)
    part[0] = 7.0
    with pytest.warns(RuntimeWarning, match=WROTE):
        op2.exit()
    op2.exit()  # once


@pytest.mark.parametrize("is_newer", [True, False])
def test_the_end_of_a_dat_reports_too(device: _core.Device, is_newer: bool) -> None:
    x = dat(np.ones(N))
    part = x.data[:2]
    if is_newer:
        doubled(x)
    else:
        summed(x)
    part[0] = 7.0
    with pytest.warns(RuntimeWarning, match=WROTE):
        del x
    assert part[0] == (2.0 if is_newer else 7.0)


def test_nothing_is_watched_that_nobody_holds(device: _core.Device) -> None:
    x = dat(np.ones(N))
    for _ in range(3):
        x.data[0] = 1.0
        doubled(x)
        assert not x.lent_out.is_watching
        assert not x.lent_out.is_open
    held = x.data
    doubled(x)
    assert x.lent_out.is_watching
    del held
    x.data_ro  # noqa: B018
    assert not x.lent_out.is_watching


def test_ended_arrays_are_forgotten(device: _core.Device) -> None:
    own = np.ones(N)
    x = dat(own)
    doubled(x)
    number = id(own)
    assert runtime.ended[number] is own
    del x
    assert number not in runtime.ended
    x = dat(own)
    doubled(x)
    assert number in runtime.ended
    del x, own
    gc.collect()
    assert number not in runtime.ended


# Tensors of other libraries


class Tensor:
    """Like a tensor of PyTorch on the host."""

    def __init__(self, values: Any, *, requires_grad: bool = False) -> None:
        self.values = np.asarray(values)
        self.requires_grad = requires_grad

    @property
    def ndim(self) -> int:
        return self.values.ndim

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values


FIVE = op2.Set(5, "five")
MADE: dict[str, Callable[..., Any]] = {
    "Dat": lambda data, **options: op2.Dat(FIVE**2, data, **options),
    "Global": lambda data, **options: op2.Global((5, 2), data, **options),
    "Constant": lambda data, **options: op2.Constant((5, 2), data, **options),
    "Map": lambda data, **options: op2.Map(FIVE, FIVE, 2, data, **options),
}


def numbers(kind: str) -> Any:
    dtype: Any = np.int32 if kind == "Map" else np.float64
    return np.arange(10).reshape(5, 2).astype(dtype) % 5


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("wrap", [Tensor, np.asarray], ids=["tensor", "array"])
def test_what_fits_is_used_in_place_and_copied_if_asked(kind: str, wrap: Any) -> None:
    for copy in (None, False, True):
        data = numbers(kind)
        found = MADE[kind](wrap(data), copy=copy).host_values
        assert np.shares_memory(found, data) == (copy is not True)


def unfit(kind: str, wrong: str) -> tuple[Any, str, dict[str, Any]]:
    """Data that must be copied, why, and what the constructor gets besides."""
    data = numbers(kind)
    if wrong == "transposed":
        return np.asfortranarray(data), "it is not contiguous in C order", {}
    if wrong == "strided":
        return np.repeat(data, 2, axis=1)[:, ::2], "it is not contiguous in C order", {}
    if wrong == "read-only":
        data.flags.writeable = False
        return data, "it is read-only", {}
    if kind == "Map":
        return data.astype(np.int64), "it is of dtype int64, not int32", {}
    return data.astype(np.float32), "it is of dtype float32", {"dtype": np.float64}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("wrong", ["transposed", "strided", "read-only", "dtype"])
def test_copies_are_refused_by_name(kind: str, wrong: str) -> None:
    data, reason, options = unfit(kind, wrong)
    for given in (data, Tensor(data)):
        with pytest.raises(DataValueError, match=rf"copy=False, but .*{reason}"):
            MADE[kind](given, copy=False, **options)
        MADE[kind](given, copy=True, **options)
    MADE[kind](data, **options)  # NumPy's arrays are copied as by `np.asarray`
    if kind not in ("Dat", "Global"):
        MADE[kind](Tensor(data), **options)  # loops do not write there
        return
    with pytest.warns(UserWarning, match=rf"the Tensor is copied, because {reason}") as seen:
        MADE[kind](Tensor(data), **options)
    assert seen[0].filename == __file__


@pytest.mark.parametrize("kind", MADE)
def test_tensors_with_gradients_are_refused(kind: str) -> None:
    message = r"requires gradients, .* tensor.detach\(\)"
    with pytest.raises(DataValueError, match=message):
        MADE[kind](Tensor(numbers(kind), requires_grad=True))
    given: Any = Tensor([1] * 5, requires_grad=True)
    with pytest.raises(DataValueError, match=message):
        op2.Dat(FIVE).assign(given)
    with pytest.raises(DataValueError, match=message):
        op2.Subset(FIVE, given)


def test_copy_is_a_truth_value_and_a_dat_of_a_dat_is_a_copy() -> None:
    wrong: Any = "no"
    with pytest.raises(DataValueError, match="copy must be True, False or None, got 'no'"):
        op2.Dat(FIVE, np.zeros(5), copy=wrong)
    with pytest.raises(UsageError, match="a Dat made of another one is a copy"):
        op2.Dat(op2.Dat(FIVE), copy=False)
    assert op2.Dat(FIVE, copy=False).data_ro.tolist() == [0] * 5
    for given, kind in ((1.0, "float"), ([0.0] * 5, "list")):
        with pytest.raises(DataValueError, match=f"a {kind} is no array"):
            op2.Dat(FIVE, given, copy=False)
    values = np.zeros(2)
    op2.Const(2, values, "shared_const", copy=False).data[0] = 3
    assert values[0] == 3


def test_numbers_and_our_own_objects_are_copied_without_a_word() -> None:
    op2.Global(1, Tensor(np.float32(2)), np.float64)  # type: ignore[arg-type]
    dat = op2.Dat(FIVE, 1.0)
    op2.Dat(FIVE, dat.data_ro, np.float32)
    op2.Global(5, dat)  # type: ignore[arg-type]
