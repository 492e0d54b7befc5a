# SPDX-License-Identifier: BSD-3-Clause
"""Values move between host and devices when they must, and the ledger says why."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import TransferError, UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.data.carrier import DataCarrier

N = 6


def loop_writes(carrier: DataCarrier, device: _core.Device) -> None:
    """Let the device have the only valid values, as after a loop there."""
    carrier.host_array("test")
    carrier.buffer.on_device(device, _core.Use.read_write, "test", is_explicit=True)
    runtime.coherence.attribute("loop")
    op2.transfers.clear()


def named(row: op2.transfers.Transfer) -> str:
    """The name of what was copied; Maps and plans have none."""
    return row.what.split("'")[1] if "'" in row.what else row.what


def moved() -> list[tuple[str, bool]]:
    return [(row.cause, row.to_device) for row in op2.transfers.report()]


@pytest.fixture
def q() -> op2.Dat:
    values = np.arange(2.0 * N).reshape(N, 2)
    return op2.Dat(op2.Set(N, "cells") ** 2, values, name="q")


def test_a_host_program_has_an_empty_ledger() -> None:
    op2.transfers.clear()
    x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    with op2.backend("sequential"):
        op2.par_loop(twice, x.dataset.set, x(op2.RW))
        x.to_device()
    x.to_host()
    assert x.residence == "host"
    assert x.data_ro.tolist() == [2, 4, 6]
    assert op2.transfers.report() == ()


def test_values_know_where_they_are_valid(device: _core.Device, q: op2.Dat) -> None:
    assert op2.Dat(op2.Set(3)).residence == "neither"
    assert q.residence == "host"
    q.to_device()
    assert q.residence == "both"
    loop_writes(q, device)
    assert q.residence == "device"
    assert q.data_ro[1].tolist() == [2, 3]
    assert q.residence == "both"
    q.data[0] = 7
    assert q.residence == "host"
    q.to_device()
    loop_writes(q, device)
    assert q.data_ro[0, 0] == 7


def test_the_ledger_names_object_cause_and_line(device: _core.Device, q: op2.Dat) -> None:
    op2.transfers.clear()
    q.to_device()
    loop_writes(q, device)
    q.data_ro.sum()
    (row,) = op2.transfers.report()
    assert (row.what, row.cause) == ("Dat 'q' on Set 'cells'", "Dat.data_ro")
    assert (row.to_device, row.device, row.explicit) == (False, device.name, False)
    assert (row.count, row.nbytes, row.argument) == (1, q.nbytes, None)
    assert row.seconds > 0
    assert row.line.startswith(f"{__file__}:")
    table = str(op2.transfers.report()).splitlines()
    assert table[0].split()[:4] == ["what", "to", "count", "bytes"]
    assert "Dat.data_ro" in table[1]
    assert __file__ in table[1]


def test_copies_of_one_line_are_counted_together(device: _core.Device, q: op2.Dat) -> None:
    op2.transfers.clear()
    for _ in range(5):
        q.data[0] += 1
        q.to_device()
    (row,) = op2.transfers.report()
    assert (row.count, row.nbytes, row.explicit) == (5, 5 * q.nbytes, True)


READERS: dict[str, Callable[[Any], Any]] = {
    "data": lambda x: x.data,
    "data_ro": lambda x: x.data_ro,
    "data_with_halos": lambda x: x.data_with_halos,
    "data_ro_with_halos": lambda x: x.data_ro_with_halos,
    "asarray": np.asarray,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).data_ro,
    "copy": lambda x: copy.copy(x).data_ro,
    "constructor": lambda x: type(x)(x).data_ro,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["Dat", "Global"])
def test_every_way_to_read_sees_the_newest_values(
    device: _core.Device, kind: str, name: str
) -> None:
    where = op2.Set(2) if kind == "Dat" else 2
    x = getattr(op2, kind)(where, [1.0, 2.0])
    loop_writes(x, device)
    x.host_values[:] = -1  # what the host has is out of date
    assert np.asarray(READERS[name](x)).tolist() == [1, 2]
    assert [to_device for _, to_device in moved()] == [False]


def test_what_is_overwritten_is_not_fetched(device: _core.Device, q: op2.Dat) -> None:
    loop_writes(q, device)
    q.data_wo[:] = 3
    assert q.residence == "host"
    g = op2.Global(2, [1.0, 2.0])
    loop_writes(g, device)
    g.data = [4, 4]
    assert (g.data_ro.tolist(), q.data_ro[0, 0]) == ([4, 4], 3)
    assert moved() == []


def test_overwriting_owned_values_keeps_those_of_ghosts(device: _core.Device) -> None:
    x = op2.Dat(op2.Set((1, 2, 4)), [1.0, 2.0, 3.0, 4.0])
    loop_writes(x, device)
    x.host_values[:] = -1
    x.data_wo[:] = 9
    assert x.data_ro_with_halos.tolist() == [9, 9, 3, 4]


def test_zeroing_and_copying_stay_on_the_device(device: _core.Device, q: op2.Dat) -> None:
    other = op2.Dat(q.dataset, name="other")
    loop_writes(q, device)
    q.copy(other)
    q.zero()
    assert (q.residence, other.residence) == ("device", "device")
    g = op2.Global(1, 5.0)
    loop_writes(g, device)
    g.zero()
    assert moved() == []
    assert (q.data_ro.max(), other.data_ro.max(), g.data_ro[0]) == (0, 2 * N - 1, 0)


def test_zeros_are_made_where_they_are_needed(device: _core.Device) -> None:
    op2.transfers.clear()
    x = op2.Dat(op2.Set(N))
    x.to_device()
    assert moved() == []
    loop_writes(x, device)
    assert x.data_ro.tolist() == [0] * N


def test_a_part_is_zeroed_or_copied_on_the_host(device: _core.Device) -> None:
    class Half:
        superset = op2.Set(4)
        owned_indices = np.array([1, 2])

    x, y = op2.Dat(Half.superset, np.ones(4)), op2.Dat(Half.superset, np.full(4, 2.0))
    for dat in (x, y):
        loop_writes(dat, device)
        dat.host_values[:] = -1
    x.copy(y, Half)
    x.zero(Half)
    assert (x.data_ro.tolist(), y.data_ro.tolist()) == ([1, 0, 0, 1], [2, 1, 1, 2])


def test_dats_over_one_array_are_one_value(device: _core.Device) -> None:
    values = np.arange(4.0)
    nodes = op2.Set(4)
    x, y = op2.Dat(nodes, values), op2.Dat(nodes, values)
    tail = op2.Dat(op2.Set(2), values[2:])
    loop_writes(x, device)
    assert y.residence == "device"
    tail.data[0] = 20
    assert x.data_ro.tolist() == [0, 1, 20, 3]


def test_arrays_that_outlive_their_dat_get_its_values(device: _core.Device) -> None:
    values = np.ones(3)
    x = op2.Dat(op2.Set(3), values)
    loop_writes(x, device)
    values[:] = -1
    del x
    assert values.tolist() == [1, 1, 1]
    y = op2.Dat(op2.Set(3), [1.0, 1.0, 1.0])
    view = y.data_ro
    loop_writes(y, device)
    y.host_values[:] = -1
    del y
    assert view.tolist() == [1, 1, 1]


@pytest.mark.parametrize("data", [None, [1.0, 2.0, 3.0]])
def test_values_nobody_can_see_die_where_they_are(device: _core.Device, data: Any) -> None:
    x = op2.Dat(op2.Set(3), data)
    loop_writes(x, device)
    del x
    assert moved() == []


def test_printing_fetches_without_being_refused(
    device: _core.Device, strictly: None, q: op2.Dat
) -> None:
    g = op2.Global(1, 5.0, name="g")
    loop_writes(g, device)
    g.host_values[:] = -1
    assert str(g) == "OP2 Global Argument: g with dim (1,) and value [5.]"


@pytest.mark.parametrize(
    "access",
    [
        lambda q: q.data,
        lambda q: q.data_ro,
        lambda q: np.asarray(q),
        lambda q: pickle.dumps(q),
        lambda q: op2.Dat(q),
    ],
)
def test_strict_residency_refuses_implicit_copies(
    device: _core.Device, strictly: None, q: op2.Dat, access: Callable[[op2.Dat], object]
) -> None:
    loop_writes(q, device)
    version = q.dat_version
    with pytest.raises(
        TransferError,
        match=r"Dat\.\w+: Dat 'q' on Set 'cells' is valid on .* only and is wanted on the "
        r"host, but init\(strict_residency=True\) allows no implicit copy \(of 96 bytes\); move "
        r"it before, by its to_host\(\)",
    ):
        access(q)
    assert (q.residence, q.dat_version) == ("device", version)
    q.to_host()
    access(q)
    assert [row.explicit for row in op2.transfers.report()] == [True]


def test_strictness_ends_with_the_option(device: _core.Device, strictly: None, q: op2.Dat) -> None:
    loop_writes(q, device)
    op2.configuration["strict_residency"] = False
    assert q.data_ro[0, 1] == 1


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float64", "complex128"])
@pytest.mark.parametrize("dim", [1, 2, (2, 3)])
def test_columns_on_the_device_are_rows_on_the_host(
    device: _core.Device, dtype: str, dim: Any
) -> None:
    cells = op2.Set(500)
    values = np.arange(500 * np.prod(dim)).astype(dtype)
    x = op2.Dat(cells**dim, values.copy(), layout="soa")
    loop_writes(x, device)
    x.host_values[...] = 0
    assert np.array_equal(x.data_ro.ravel(), values)
    assert x.layout == "soa"


def test_layouts() -> None:
    cells = op2.Set(3)
    assert op2.Dat(cells).layout == "aos"
    assert pickle.loads(pickle.dumps(op2.Dat(cells, layout="soa"))).layout == "soa"
    with pytest.raises(ValueError, match=r"no layout 'csr'; there are: auto, aos, soa"):
        op2.Dat(cells, layout="csr")


# Loops

SPREAD = op2.Kernel(
    "void spread(double *a, double *b, const double *u, const double *v) "
    "{ const double flux = 0.5 * (*u - *v); *a -= flux; *b += flux; }",
    "spread",
)
ADVANCE = op2.Kernel(
    "void advance(double *u, double *change, double *norm, const double *dt) "
    "{ *u += *dt * *change; *norm += *change * *change; *change = 0; }",
    "advance",
)


class Chain:
    """Cells in a row that exchange heat, as a step of two loops with a reduction."""

    def __init__(self, n: int = 50) -> None:
        self.cells, self.edges = op2.Set(n, "cells"), op2.Set(n - 1, "edges")
        values = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        self.left = op2.Map(self.edges, self.cells, 1, values[:, :1], "left")
        self.right = op2.Map(self.edges, self.cells, 1, values[:, 1:], "right")
        self.u = op2.Dat(self.cells, np.arange(float(n)) ** 2, name="u")
        self.change = op2.Dat(self.cells, name="change")
        self.norm = op2.Global(1, 0.0, name="norm")
        self.dt = op2.Global(1, 0.1, name="dt")

    def step(self) -> None:
        self.norm.zero()
        args = self.change(op2.INC, self.left), self.change(op2.INC, self.right)
        op2.par_loop(
            SPREAD, self.edges, *args, self.u(op2.READ, self.left), self.u(op2.READ, self.right)
        )
        op2.par_loop(
            ADVANCE,
            self.cells,
            *(self.u(op2.RW), self.change(op2.RW), self.norm(op2.INC), self.dt(op2.READ)),
        )


def test_a_time_loop_copies_nothing_after_its_first_step(device: _core.Device) -> None:
    chain = Chain()
    chain.step()
    first = {(named(row), row.to_device) for row in op2.transfers.report()}
    assert {("u", True), ("dt", True)} <= first
    op2.transfers.clear()
    op2.configuration["strict_residency"] = True
    try:
        for _ in range(20):
            chain.step()
    finally:
        op2.configuration["strict_residency"] = False
    assert op2.transfers.report() == ()
    u, norm = chain.u.data_ro, float(chain.norm.data_ro[0])
    assert [named(row) for row in op2.transfers.report()] == ["u", "norm"]
    with op2.backend("sequential"):
        again = Chain()
        for _ in range(21):
            again.step()
        assert np.allclose(u, again.u.data_ro, rtol=1e-13)
        assert norm == pytest.approx(float(again.norm.data_ro[0]), rel=1e-12)


def test_loops_may_change_between_host_and_device(device: _core.Device) -> None:
    chain, still = Chain(), Chain()
    for i in range(6):
        if i % 2:
            chain.step()
        else:
            with op2.backend("sequential"):
                chain.step()
        with op2.backend("sequential"):
            still.step()
    assert np.allclose(chain.u.data_ro, still.u.data_ro, rtol=1e-13)


def test_the_ledger_names_loop_argument_and_line(device: _core.Device) -> None:
    chain = Chain()
    op2.transfers.clear()
    chain.step()
    rows = {named(row): row for row in op2.transfers.report()}
    assert (rows["u"].cause, rows["u"].argument) == ("par_loop 'spread'", 2)
    assert (rows["dt"].cause, rows["dt"].argument) == ("par_loop 'advance'", 3)
    assert rows["dt"].nbytes == 8
    assert rows["u"].line.startswith(f"{__file__}:")
    assert "change" not in rows  # zeros are made there


@pytest.mark.parametrize("compute", [False, True])
def test_a_loop_is_refused_before_it_changes_anything(
    device: _core.Device, strictly: None, compute: bool
) -> None:
    chain = Chain()
    arguments = chain.u(op2.RW), chain.change(op2.RW), chain.norm(op2.INC), chain.dt(op2.READ)
    loop = op2.ParLoop(ADVANCE, chain.cells, *arguments)
    message = (
        r"par_loop 'advance': arg 0: Dat 'u' on Set 'cells' is valid on the host only and is "
        r"wanted on .*; move it before, by its to_device\(\)"
    )
    with pytest.raises(TransferError, match=message):
        loop.compute() if compute else op2.par_loop(ADVANCE, chain.cells, *arguments)
    assert (chain.u.residence, chain.u.dat_version) == ("host", 0)
    for carrier in (chain.u, chain.dt, chain.norm):
        carrier.to_device()
    loop.compute()
    assert chain.u.residence == "device"
    with (
        op2.backend("sequential"),
        pytest.raises(TransferError, match=r"wanted on the host.*by its to_host\(\)"),
    ):
        loop.compute()


def test_a_constant_is_sent_again_when_it_changes(device: _core.Device) -> None:
    gam = op2.Const(1, 2.0, "residency_gam")
    try:
        x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
        scale = op2.Kernel("void scale(double *x) { *x *= residency_gam; }", "scale")
        for factor in (2.0, 2.0, 10.0):
            gam.data = factor
            op2.par_loop(scale, x.dataset.set, x(op2.RW))
        assert x.data_ro.tolist() == [40, 80, 120]
    finally:
        gam.remove_from_namespace()


def test_a_view_is_brought_up_to_date_when_the_dat_is_asked(device: _core.Device) -> None:
    x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    view = x.data
    twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    op2.par_loop(twice, x.dataset.set, x(op2.RW))
    x.to_host()
    assert view.tolist() == [2, 4, 6]


def test_loops_over_parts_of_one_array_are_refused_where_one_writes(device: _core.Device) -> None:
    values = np.arange(4.0)
    three = op2.Set(3)
    head, tail = op2.Dat(three, values[:3], name="head"), op2.Dat(three, values[1:], name="tail")
    shift = op2.Kernel("void shift(double *a, const double *b) { *a = *b; }", "shift")
    with pytest.raises(NotImplementedError, match=r"'head' .* shares .* arg 1: Dat 'tail'"):
        op2.par_loop(shift, three, head(op2.WRITE), tail(op2.READ))


@pytest.mark.parametrize("access", [op2.WRITE, op2.RW])
def test_what_a_loop_overwrites_is_not_copied_before(
    device: _core.Device, access: op2.Access
) -> None:
    cells = op2.Set(50, "cells")
    x = op2.Dat(cells**2, np.arange(100.0), name="x")
    one = op2.Kernel("void one(double *x) { x[0] = 1; x[1] = x[0] + 1; }", "one")
    op2.transfers.clear()
    op2.par_loop(one, cells, x(access))
    assert not op2.transfers.report()
    assert x.data_ro.tolist() == [[1.0, 2.0]] * 50


@pytest.mark.parametrize("how", ["half", "subset", "map", "view", "both", "ghosts", "seen"])
def test_what_may_keep_old_values_is_copied_before(device: _core.Device, how: str) -> None:
    cells = op2.Set((30, 40, 50) if how == "ghosts" else 50, "cells")
    x = op2.Dat(cells**2, np.arange(100.0), name="x")
    expected = np.arange(100.0).reshape(50, 2)
    both = op2.Kernel("void both(double *x) { x[0] = 1; x[1] = 2; }", "both")
    iterset, args = cells, [x(op2.WRITE)]
    if how == "half":  # the contract is not kept, and nothing is lost for it
        both = op2.Kernel("void both(double *x) { x[0] = 1; }", "both")
        expected[:, 0] = 1
    elif how == "subset":
        iterset = op2.Subset(cells, [3, 7])
        expected[[3, 7]] = 1, 2
    elif how == "map":
        some = op2.Set(2, "some")
        iterset, args = some, [x(op2.WRITE, op2.Map(some, cells, 1, [[3], [7]], "to"))]
        expected[[3, 7]] = 1, 2
    elif how == "view":
        both = op2.Kernel("void both(double *x) { x[0] = 1; }", "both")
        args = [op2.DatView(x, 1)(op2.WRITE)]
        expected[:, 1] = 1
    elif how == "both":
        both = op2.Kernel(
            "void both(double *x, const double *y) { x[0] = y[1]; x[1] = y[0]; }", "both"
        )
        args = [x(op2.WRITE), x(op2.READ)]
        expected = None
    elif how == "seen":
        both = op2.Kernel("void both(double *x) { x[0] = x[1] + 1; x[1] = 2; }", "both")
        args = [x(op2.RW)]
        expected = np.stack([expected[:, 1] + 1, np.full(50, 2.0)], axis=1)
    else:
        expected[:40] = 1, 2
    op2.transfers.clear()
    op2.par_loop(both, iterset, *args)
    assert [row.to_device for row in op2.transfers.report() if "'x'" in row.what] == [True]
    if expected is not None:
        assert (x.data_ro_with_halos == expected).all()


def doubled(dat: Any) -> None:
    double = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    op2.par_loop(double, dat.dataset.set, dat(op2.RW))


@pytest.mark.parametrize("member", ["data", "data_wo", "data_with_halos", "data_wo_with_halos"])
def test_an_array_ends_when_a_device_takes_the_values(device: _core.Device, member: str) -> None:
    x = op2.Dat(op2.Set(N), np.arange(float(N)), name="x")
    held = getattr(x, member)
    held[:] = 1
    doubled(x)
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 7  # the device has newer values: this would be lost
    assert x.data_ro.tolist() == [2.0] * N
    assert x.data[0] == 2.0  # asked for again: this one and the one from before count
    held[0] = 7
    doubled(x)
    assert x.data_ro.tolist() == [14.0] + [4.0] * (N - 1)


def test_an_array_ends_when_a_device_only_reads_the_values(device: _core.Device) -> None:
    x = op2.Dat(op2.Set(N), np.ones(N), name="x")
    total = op2.Global(1, 0.0, name="total")
    add = op2.Kernel("void add(const double *x, double *total) { *total += *x; }", "add")
    held = x.data
    op2.par_loop(add, x.dataset.set, x(op2.READ), total(op2.INC))
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 7  # the device's copy counts as valid
    x.data[0] = 7
    op2.par_loop(add, x.dataset.set, x(op2.READ), total(op2.INC))
    assert total.data_ro[0] == N + N + 6


@pytest.mark.parametrize("how", ["global", "constant", "view", "to_device", "algebra"])
def test_arrays_of_all_kinds_end(device: _core.Device, how: str) -> None:
    nodes = op2.Set(N)
    x = op2.Dat(nodes**2, np.ones((N, 2)), name="x")
    held = x.data
    if how == "global":
        total = op2.Global(1, 0.0, name="total")
        held = total.data
        add = op2.Kernel("void add(const double *x, double *total) { *total += *x; }", "add")
        op2.par_loop(add, nodes, x(op2.READ), total(op2.INC))
    elif how == "constant":
        factor = op2.Const(1, 2.0, "factor_of_x", "float64")
        held = factor.data
        times = op2.Kernel("void times(double *x) { *x *= factor_of_x; }", "times")
        try:
            op2.par_loop(times, nodes, op2.Dat(nodes)(op2.RW))
        finally:
            factor.remove_from_namespace()
    elif how == "view":
        view = op2.DatView(x, 1)
        held = view.data
        doubled(view)
    elif how == "to_device":
        x.to_device()
    else:
        y = op2.Dat(nodes**2, np.ones((N, 2)), name="y")
        y.to_device()
        x.axpy(2.0, y)
    with pytest.raises(ValueError, match="read-only"):
        held[...] = 3


def test_a_remembered_loop_ends_arrays_too(device: _core.Device) -> None:
    x = op2.Dat(op2.Set(N), np.ones(N), name="x")
    double = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    for _ in range(3):
        held = x.data
        op2.par_loop(double, x.dataset.set, x(op2.RW))
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 7


@pytest.mark.parametrize("how", ["part", "reshaped", "turned", "of_a_held_one"])
@pytest.mark.parametrize("is_written", [True, False])
def test_parts_of_arrays_are_watched(device: _core.Device, how: str, is_written: bool) -> None:
    x = op2.Dat(op2.Set(N), np.ones(N), name="x")
    total = op2.Global(1, 0.0, name="total")
    add = op2.Kernel("void add(const double *x, double *total) { *total += *x; }", "add")
    held = x.data
    makes = {"part": lambda: x.data[:2], "reshaped": lambda: x.data.reshape(-1, 1)}
    makes |= {"turned": lambda: x.data[::-1], "of_a_held_one": lambda: held[:2]}
    part = makes[how]()
    for _ in range(2):  # arrays of both are held, and told the second time as well
        if is_written:
            doubled(x)
        else:
            op2.par_loop(add, x.dataset.set, x(op2.READ), total(op2.INC))
        wanted = x.data_ro.copy()
        part[0] = 7
        with pytest.raises(UsageError, match=r"Dat 'x'.*wrote.*array from before"):
            x.data_ro  # noqa: B018
        np.testing.assert_array_equal(x.data_ro, wanted)
    part[0] = 7
    with pytest.raises(UsageError), op2.backend("sequential"):
        doubled(x)
    x.data[0] = 5  # asked for again: all count
    part[0] = 6
    assert 6 in x.data_ro


def test_parts_that_nobody_writes_to_do_no_harm(device: _core.Device) -> None:
    x = op2.Dat(op2.Set(N), np.ones(N), name="x")
    part = x.data[1:3]
    for step in range(1, 4):
        doubled(x)
        read = x.data_ro
        assert read.tolist() == [2.0**step] * N
        assert part[0] == 2.0**step
    with op2.backend("sequential"):
        doubled(x)
    doubled(x)
    assert x.data_ro[0] == 32.0
    del part
    doubled(x)
    assert x.data_ro[0] == 64.0


def test_arrays_stay_writeable_on_the_host() -> None:
    with op2.backend("sequential"):
        x = op2.Dat(op2.Set(N), np.ones(N), name="x")
        held = x.data
        doubled(x)
        held[0] = 7
        assert x.data_ro.tolist() == [7.0] + [2.0] * (N - 1)


def test_an_array_that_the_program_made_read_only_stays_so(device: _core.Device) -> None:
    x = op2.Dat(op2.Set(N), np.ones(N), name="x")
    held = x.data
    held.flags.writeable = False
    doubled(x)
    assert x.data is not held
    assert not held.flags.writeable
