# SPDX-License-Identifier: BSD-3-Clause
"""Algebra where the values are: the same numbers as on the host, and no copies in the ledger."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import DataValueError, DatTypeError, TransferError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(11)
CELLS = op2.Set((3, 5, 7), "cells")
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
}
MANY = ["float64", "float32", "int32", "uint8", "complex128", "complex64"]


def values(dtype: str, shape: tuple[int, ...] = (7, 2)) -> Any:
    found = RNG.integers(1, 50, shape)
    if np.dtype(dtype).kind == "c":
        return (found + 1j * RNG.integers(1, 50, shape)).astype(dtype)
    return (found * (0.5 if np.dtype(dtype).kind == "f" else 1)).astype(dtype)


def dat(dtype: str = "float64", **how: Any) -> op2.Dat:
    return op2.Dat(CELLS**2, values(dtype), **how)


def there(*carriers: Any) -> None:
    """Move values to the device, and watch for copies from now on."""
    for carrier in carriers:
        carrier.to_device()
    op2.transfers.clear()


def copies() -> list[Any]:
    """What was copied and not asked for, lists of elements apart."""
    rows = op2.transfers.report()
    return [row for row in rows if not row.explicit and row.what != "a Map"]


def on_host(function: Callable[..., Any], *carriers: Any) -> Any:
    """Do the same with copies of Dats that were never on a device."""
    with op2.backend("sequential"):
        return function(
            *(type(c)(c) if isinstance(c, op2.Dat | op2.Global) else c for c in carriers)
        )


def same(found: Any, wanted: Any) -> None:
    assert found.residence == "device"
    assert copies() == []
    assert found.dtype == wanted.dtype
    rtol = 1e-14 if found.dtype in (float, complex) else 1e-6
    np.testing.assert_allclose(found.data_ro, wanted.data_ro, rtol=rtol)


@pytest.mark.parametrize(
    ("left", "ops", "right"),
    [  # few, because each is a program that the device's compiler takes its time for
        ("float64", "+ -= /", "float64"),
        ("float64", "*=", "int32"),
        ("float32", "- /=", "float64"),
        ("int32", "+ *= / -", "int32"),
        ("int64", "/=", "int32"),
        ("uint8", "+", "float64"),  # what is negative has no uint8
        ("complex128", "* /= +", "complex128"),
        ("complex128", "-", "float64"),
        ("complex64", "/", "complex64"),
    ],
)
def test_two_dats(left: str, ops: str, right: str) -> None:
    for op in ops.split():
        a, b = dat(left), dat(right)
        wanted = on_host(OPERATIONS[op], a, b)
        there(a, b)
        version = b.dat_version
        found = OPERATIONS[op](a, b)
        assert b.dat_version == version
        assert (found is a) == op.endswith("=")
        same(found, wanted)


@pytest.mark.parametrize(
    ("dtype", "ops", "number"),
    [
        ("float64", "+ *= -", 3),
        ("float64", "/", 0.5),
        ("float32", "*=", 0.1),
        ("int32", "/=", 7),
        ("int32", "*", 2.5),
        ("int64", "/", -1),
        ("complex128", "/", 2.0),
        ("complex64", "*=", 1 + 2j),
    ],
)
def test_a_number(dtype: str, ops: str, number: Any) -> None:
    for op in ops.split():
        a = dat(dtype)
        wanted = on_host(OPERATIONS[op], a, number)
        there(a)
        same(OPERATIONS[op](a, number), wanted)


@pytest.mark.parametrize(("dtype", "op"), [("float64", "-"), ("int32", "/"), ("complex128", "/")])
def test_a_number_on_the_left(dtype: str, op: str) -> None:
    a = dat(dtype)
    wanted = on_host(lambda x: OPERATIONS[op](100, x), a)
    there(a)
    same(OPERATIONS[op](100, a), wanted)
    wanted = on_host(operator.neg, a)
    there(a)
    same(-a, wanted)


@pytest.mark.usefixtures("strictly")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_global_computed_on_the_device_stays_there(dtype: str) -> None:
    a, b = dat(dtype), dat(dtype)
    g = op2.Global(1, 3, dtype)
    wanted = a.data_ro + 6 * b.data_ro
    there(a, b, g)
    g += g
    assert g.residence == "device"
    a.axpy(g, b)
    b *= g
    assert {x.residence for x in (a, b, g)} == {"device"}
    assert list(op2.transfers.report()) == []
    a.to_host()
    np.testing.assert_allclose(a.data_ro, wanted)


def test_a_global_that_the_host_has_is_sent_with_the_command() -> None:
    a, g = dat(), op2.Global(1, 3.0)
    wanted = 3 * a.data_ro
    there(a)
    a *= g
    assert (g.residence, list(op2.transfers.report())) == ("host", [])
    np.testing.assert_array_equal(a.data_ro, wanted)


@pytest.mark.parametrize("dtype", MANY)
def test_sums(dtype: str) -> None:
    a, b = dat(dtype), dat(dtype)
    wanted = [on_host(f, a, b) for f in (op2.Dat.inner, op2.Dat.dot)] + [a.norm]
    there(a, b)
    for found, expected in zip([a.inner(b), a.dot(b), a.norm], wanted, strict=True):
        assert type(found) is type(expected)
        assert found == pytest.approx(expected, rel=1e-13)
    assert copies() == []
    assert {row.nbytes for row in op2.transfers.report()} <= {8, 16, 32, 24, 48}


@pytest.mark.usefixtures("strictly")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex64"])
def test_multiples(dtype: str) -> None:
    a, b, c = dat(dtype), dat("float64" if dtype == "complex64" else dtype), dat(dtype)
    wanted = (a.data_ro + 2 * b.data_ro - 3 * c.data_ro).astype(dtype)
    there(a, b, c)
    a.maxpy([2, -3.0], [b, c])
    a.axpy(0, a)
    # real results for integers are waited for: how many of them do not fit
    counted = [one.cause for one in op2.transfers.report()]
    assert counted == (["Global.copy"] if dtype == "int32" else [])
    a.to_host()
    np.testing.assert_allclose(a.data_ro, wanted, rtol=1e-6)


@pytest.mark.usefixtures("strictly")
def test_ghosts() -> None:
    a, b = dat(), dat()
    x, y = a.data_ro_with_halos.copy(), b.data_ro_with_halos.copy()
    there(a, b)
    a += b
    b.halo_valid = False
    a += b
    assert list(op2.transfers.report()) == []
    assert not a.halo_valid
    a.to_host()
    wanted = x + y
    wanted[:5] += y[:5]
    np.testing.assert_array_equal(a.data_ro_with_halos, wanted)


@pytest.mark.usefixtures("strictly")
@pytest.mark.parametrize("dtype", ["float64", "complex128", "complex64"])
def test_layouts_and_views(dtype: str) -> None:
    """Where the scalars do not lie in one order, the Set is looped over."""
    rows, columns = dat(dtype), dat(dtype, layout="soa")
    other = dat(dtype, layout="soa")
    x, y, z = rows.data_ro.copy(), columns.data_ro.copy(), other.data_ro.copy()
    there(rows, columns, other)
    rows.axpy(2.0, columns)
    columns += rows
    other.axpy(3.0, columns)
    assert rows.inner(columns) == pytest.approx(((x + 2 * y) * (x + 3 * y).conj()).sum())
    assert rows.dot(columns) == pytest.approx(((x + 2 * y) * (x + 3 * y)).sum())
    view = op2.DatView(rows, 1)
    view *= 2
    op2.DatView(columns, 0).axpy(-1.0, view)
    assert view.norm == pytest.approx(np.linalg.norm(2 * (x + 2 * y)[:, 1]))
    assert copies() == []
    for one in (rows, columns, other):
        one.to_host()
    np.testing.assert_allclose(other.data_ro, z + 3 * x + 9 * y)
    rows_now = (x + 2 * y) * [1, 2]
    np.testing.assert_allclose(rows.data_ro, rows_now)
    first = x[:, 0] + 3 * y[:, 0] - rows_now[:, 1]
    np.testing.assert_allclose(columns.data_ro, np.stack([first, (x + 3 * y)[:, 1]], axis=1))


@pytest.mark.usefixtures("strictly")
def test_zeros_of_views() -> None:
    whole = op2.Set(4)
    both = op2.Dat(whole**2, 1 + values("float64", (4, 2)))
    kept = both.data_ro[:, 0].copy()
    there(both)
    op2.DatView(both, 1).zero()
    op2.DatView(both, 0).zero(whole([1]))
    assert copies() == []
    both.to_host()
    kept[1] = 0
    np.testing.assert_array_equal(both.data_ro, np.stack([kept, np.zeros(4)], axis=1))


@pytest.mark.usefixtures("strictly")
@pytest.mark.parametrize(
    ("kind", "dtype", "layout"),
    [
        ("float64", "float64", "aos"),
        ("float64", "int32", "aos"),
        ("complex128", "complex64", "soa"),
        ("float32", "complex128", "aos"),
    ],
)
def test_copies_of_parts_and_dtypes(kind: str, dtype: str, layout: str) -> None:
    a, b = dat(kind), dat(dtype, layout=layout)
    x, y = a.data_ro.copy(), b.data_ro.copy()
    part = CELLS([0, 3, 6])
    there(a, b)
    a.copy(b, subset=part)
    assert copies() == []
    b.to_host()
    y[[0, 3]] = x[[0, 3]]
    np.testing.assert_array_equal(b.data_ro, y)
    there(a, b)
    a.copy(b)
    a.zero(part)
    assert copies() == []
    a.to_host()
    b.to_host()
    np.testing.assert_array_equal(b.data_ro, x.astype(dtype))
    x[[0, 3]] = 0
    np.testing.assert_array_equal(a.data_ro, x)


def test_division_by_zero_changes_nothing() -> None:
    a, b = dat("int32"), dat("int32")
    b.data[1, 1] = 0
    wanted = a.data_ro.copy()
    there(a, b)
    version = a.dat_version
    for divisor in (b, 0, 0.0, op2.Global(1, 0)):
        with pytest.raises(DataValueError, match="divided by zero"):
            a /= divisor
        with pytest.raises(DataValueError, match="divided by zero"):
            a / divisor
    assert (a.dat_version, copies()) == (version, [])
    np.testing.assert_array_equal(a.data_ro, wanted)


def test_integers_wrap_and_are_truncated() -> None:
    cells = op2.Set(4)
    a = op2.Dat(cells, np.array([-(2**63), -7, 7, 2**63 - 1]), np.int64)
    b = op2.Dat(cells, [-1, 2, -2, 2], np.int64)
    there(a, b)
    assert (a / b).data_ro.tolist() == [-(2**63), -3, -3, 2**62 - 1]
    assert (a + a).data_ro.tolist() == [0, -14, 14, -2]


def test_nothing_is_compiled_for_another_expression() -> None:
    cells = op2.Set(9)
    a, b = (op2.Dat(cells**3, values("float64", (9, 3))) for _ in range(2))
    there(a, b)
    a += b
    a += 2.0
    from pyop2cxx.runtime import runtime

    before = runtime.engine.n_generated
    c, d = (op2.Dat(op2.Set(4) ** (2, 2), values("float64", (4, 2, 2))) for _ in range(2))
    there(c)
    c += 7.0
    a += 1e-3
    b += a
    d.to_device()
    d += 3.0
    assert runtime.engine.n_generated == before


def test_values_of_the_host_stay_there() -> None:
    a, b = dat(), dat()
    op2.Dat(CELLS).to_device()
    a += b
    assert (a.residence, (a + b).residence) == ("host", "host")


@pytest.mark.usefixtures("strictly")
def test_values_on_both_sides_are_not_moved_unasked() -> None:
    a, b = dat(), dat()
    there(a)
    a += 1.0
    with pytest.raises(TransferError):
        a += b
    a.to_host()
    wanted = a.data_ro + b.data_ro
    there(b)
    a += b
    a.to_host()
    np.testing.assert_array_equal(a.data_ro, wanted)


@pytest.mark.usefixtures("strictly")
def test_mixed_dats() -> None:
    both = op2.MixedDat((dat(), op2.Dat(op2.Set(4), values("float64", (4,)))))
    x = [values_.copy() for values_ in both.data_ro]
    there(*both)
    both *= 2.0
    other = both + both
    other.axpy(-1.0, both)
    assert both.inner(other) == pytest.approx(sum(4 * (v**2).sum() for v in x))
    assert copies() == []
    for dat_ in other:
        dat_.to_host()
    for found, wanted in zip(other.data_ro, x, strict=True):
        np.testing.assert_allclose(found, 2 * wanted)


def laplace(n: int) -> Any:
    """A symmetric positive matrix as a loop over the edges of a path."""
    nodes, edges = op2.Set(n, "nodes"), op2.Set(n - 1, "edges")
    ends = op2.Map(edges, nodes, 2, np.stack([np.arange(n - 1), np.arange(1, n)], 1), "ends")
    own = op2.Kernel("void own(const double *x, double *y) { *y = *x; }", "own")
    edge = op2.Kernel(
        "void edge(const double *x, double *y) { double d = x[1] - x[0]; y[0] -= d; y[1] += d; }",
        "edge",
    )

    def times(x: Any, y: Any) -> None:
        op2.par_loop(own, nodes, x(op2.READ), y(op2.WRITE))
        op2.par_loop(edge, edges, x(op2.READ, ends), y(op2.INC, ends))

    return nodes, times


def conjugate_gradients(nodes: op2.Set, times: Any, b: Any, n: int, after: Any) -> Any:
    """Solve without ever asking the host for a number."""
    x, r, p, q = (op2.Dat(nodes, name=name) for name in "xrpq")
    rr, new, pq, alpha, beta = (op2.Global(1, 0.0, name=name) for name in "ABCDE")
    b.copy(r)
    b.copy(p)
    r.inner_into(r, rr)
    for iteration in range(n):
        times(p, q)
        p.inner_into(q, pq)
        alpha.assign(rr)
        alpha /= pq
        x.axpy(alpha, p)
        alpha *= -1.0
        r.axpy(alpha, q)
        r.inner_into(r, new)
        beta.assign(new)
        beta /= rr
        p *= beta
        p += r
        rr.assign(new)
        after(iteration)
    return x


def test_conjugate_gradients_never_wait(device: _core.Device) -> None:
    nodes, times = laplace(200)
    b = op2.Dat(nodes, np.linspace(0.0, 1.0, 200), name="b")
    b.to_device()
    found = []

    def after(iteration: int) -> None:
        if iteration == 0:  # Maps and plans are there now
            op2.configuration["strict_residency"] = True
            op2.transfers.clear()
        found.append(len(op2.transfers.report()))

    try:
        x = conjugate_gradients(nodes, times, b, 40, after)
        assert found == [0] * 40
        assert x.residence == "device"
    finally:
        op2.configuration["strict_residency"] = False
    y = op2.Dat(nodes, name="y")
    times(x, y)
    assert np.allclose(y.data_ro, b.data_ro, atol=1e-6)


def test_conjugate_gradients_are_the_same_on_the_host() -> None:
    with op2.backend("sequential"):
        nodes, times = laplace(200)
        b = op2.Dat(nodes, np.linspace(0.0, 1.0, 200), name="b")
        x = conjugate_gradients(nodes, times, b, 40, lambda _: None)
        y = op2.Dat(nodes, name="y")
        times(x, y)
        assert np.allclose(y.data_ro, b.data_ro, atol=1e-6)


UNFIT = [
    ("float64", "int8", 300.0),
    ("float64", "uint8", -1.0),
    ("float64", "int64", 2.0**63),
    ("float64", "float32", 1e300),
    ("float32", "int32", np.nan),
    ("int64", "int16", -40000),
    ("uint64", "int64", 2**63),
    ("complex128", "complex64", 1e300j),
]


@pytest.mark.parametrize(("source", "target", "value"), UNFIT)
@pytest.mark.parametrize("layout", ["aos", "soa"])
def test_a_copy_on_the_device_names_what_does_not_fit(
    strictly: None, source: str, target: str, value: Any, layout: str
) -> None:
    a, b = dat(source, layout=layout, name="a"), dat(target)
    wanted = b.data_ro.copy()
    there(a, b)
    a.copy(b)  # all of them fit
    assert not copies()
    for one in (a, b):
        one.to_host()
    a.data[2, 1] = value
    b.data[...] = wanted
    there(a, b)
    with pytest.raises(DataValueError, match=r"'a'.*: copy: .* of entity 2 at \[1\] does not fit"):
        a.copy(b)
    b.to_host()
    assert np.array_equal(b.data_ro, wanted)


def on_device(dim: int, value: Any, dtype: Any = float) -> Any:
    """A Global whose values a loop on the device has."""
    made = op2.Global(dim, np.broadcast_to(value, dim).astype(dtype), name="made")
    made.buffer.on_device(runtime.device, _core.Use.read_write, "test", is_explicit=True)
    return made


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.complex128])
def test_globals_are_copied_and_set_where_they_are(
    device: _core.Device, strictly: None, dtype: Any
) -> None:
    source, target = on_device(3, [1, 2, 3], np.float64), on_device(3, 0, dtype)
    op2.transfers.clear()
    source.copy(target)
    assert target.residence == "device"
    is_compared = dtype is np.int32  # with the range of integers, which is waited for
    assert [one.explicit for one in op2.transfers.report()] == [True] * is_compared
    target.to_host()
    assert target.data_ro.tolist() == [1, 2, 3]
    version = target.dat_version
    again = on_device(3, 0, dtype)
    op2.transfers.clear()
    again.data = [4, 5, 6]
    again.assign(target)
    target.assign([7, 7, 7])
    assert not op2.transfers.report()
    assert again.residence in ("device", "both")
    assert target.dat_version == version + 1
    again.to_host()
    assert again.data_ro.tolist() == [1, 2, 3]
    assert target.data_ro.tolist() == [7] * 3


def test_many_numbers_are_a_copy(device: _core.Device) -> None:
    target = on_device(1000, 1)
    target.data = np.arange(1000.0)
    assert target.residence == "host"
    assert target.data_ro[7] == 7


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_a_product_goes_into_a_global_of_another_dtype(device: _core.Device, dtype: Any) -> None:
    nodes = op2.Set(50)
    x = op2.Dat(nodes, np.arange(50), np.float32, name="x")
    x.to_device()
    target = op2.Global(1, 3, dtype, name="target")
    x.dot_into(x, target)
    assert target.residence == "device"
    assert target.data_ro[0] == np.dot(np.arange(50.0), np.arange(50.0))


def test_a_product_needs_a_global_that_takes_it() -> None:
    with op2.backend("sequential"):
        x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0], name="x")
        z = op2.Dat(x.dataset.set, [1j, 2, 3], name="z")
        target = op2.Global(1, 0.0, name="target")
        x.inner_into(x, target)
        assert target.data_ro[0] == 14.0
        with pytest.raises(DatTypeError, match="'inner_into' puts a number into a Global of one"):
            x.inner_into(x, op2.Global(2, [0.0, 0.0]))
        with pytest.raises(DataValueError, match="Global 'target' is real"):
            z.dot_into(x, target)
        with pytest.raises(DatTypeError):
            x.inner_into(target, target)
