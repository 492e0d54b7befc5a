# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy import array, dtype  # noqa: F401 - reprs need them

from pyop2cxx import op2
from pyop2cxx.base.arrays import address_of
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DatTypeError,
    DimTypeError,
    ModeValueError,
    NameTypeError,
    StaticModeError,
    UsageError,
)
from pyop2cxx.op2 import Global


@pytest.fixture
def g() -> op2.Global:
    return op2.Global(1, 1.0, name="g")


@pytest.mark.parametrize(
    ("data", "asked", "got"),
    [(1.0, None, "float64"), (1, None, "int64"), (1, "double", "float64"), (1.5, "int", "int64")],
)
def test_the_dtype_is_that_asked_for_or_that_of_the_data(data: Any, asked: Any, got: str) -> None:
    assert op2.Global(1, data, asked).dtype == got


def test_shapes() -> None:
    assert op2.Global(1, 1).dim == (1,)
    g = op2.Global([2, 3], [1] * 6, "double", "bar")
    assert (g.dim, g.shape, g.cdim, g.nbytes, g.name) == ((2, 3), (2, 3), 6, 48, "bar")
    assert g.data.shape == (2, 3)
    assert (g.ctype, g.comm) == ("double", op2.COMM_WORLD)
    assert g.data.sum() == 6


def test_without_data_it_is_zero() -> None:
    assert op2.Global(2).data_ro.tolist() == [0.0, 0.0]
    assert op2.Global(2, dtype="int8").dtype == np.int8


def test_illegal_arguments() -> None:
    for dim in ("illegaldim", (1, "illegaldim"), -1):
        with pytest.raises(DimTypeError, match="Global"):
            op2.Global(dim)  # type: ignore[arg-type]
    with pytest.raises(NameTypeError):
        op2.Global(1, 1, name=2)  # type: ignore[arg-type]
    with pytest.raises(DataValueError, match="Global 'g'"):
        op2.Global(1, "illegal_type", "double", "g")
    with pytest.raises(DataTypeError):
        op2.Global(1, 1, "illegal_type")
    for shape in (1, (2, 2)):
        with pytest.raises(DataValueError, match="expected"):
            op2.Global(shape, [1] * (int(np.prod(shape)) + 1))


def test_assigning_copies_the_values_in(g: op2.Global) -> None:
    address = g.buffer.address
    g.data = 2
    assert g.data_ro.tolist() == [2.0]
    assert (g.dat_version, g.buffer.address) == (1, address)
    g.data += 1
    assert g.data_ro.tolist() == [3.0]
    with pytest.raises(DataValueError, match=r"Global 'g': expected 1 values .* got 2"):
        g.data = [1, 2]
    assert g.data_ro.tolist() == [3.0]


def test_memory_is_shared_both_ways() -> None:
    values = np.array([1.0, 2.0])
    g = op2.Global(2, values)
    assert g.buffer.address == address_of(values) == address_of(g.data_ro)
    assert g.buffer.n_bytes == 16
    g.data[0] = 5
    assert values[0] == 5
    assert np.shares_memory(np.asarray(g), values)
    assert float(np.asarray(g)[1]) == 2


@pytest.mark.parametrize(
    "member",
    ["data", "data_ro", "data_wo", "data_with_halos", "data_ro_with_halos", "data_wo_with_halos"],
)
def test_every_view(g: op2.Global, member: str) -> None:
    view = getattr(g, member)
    assert view.flags.writeable == ("_ro" not in member)
    assert g.dat_version == int("_ro" not in member)
    assert np.shares_memory(view, g.data_ro)


def test_nothing_to_read() -> None:
    empty = op2.Global(0, name="empty")
    for member in ("data", "data_ro", "data_wo"):
        with pytest.raises(RuntimeError, match=f"Global 'empty': '{member}' was asked for"):
            getattr(empty, member)


def test_zero_copy_and_duplicate(g: op2.Global) -> None:
    twin = g.duplicate()
    other = op2.Global(1, 0, "int32")
    g.copy(other, subset=op2.Subset(op2.Set(2), [1]))  # as of a Dat; has no effect
    g.zero()
    assert (g.data_ro[0], g.dat_version) == (0, 1)
    assert (other.data_ro[0], other.dat_version, other.dtype) == (1, 1, np.int32)
    assert (twin.data_ro[0], twin.name, twin.dtype) == (1, "g", np.float64)
    with pytest.raises(DataValueError):
        g.copy(op2.Global(2))
    with pytest.raises(DatTypeError):
        g.copy(np.zeros(1))  # type: ignore[arg-type]
    with pytest.raises(DataValueError, match="complex"):
        op2.Global(1, 1j).copy(g)


def test_a_copy_of_a_global_names_what_does_not_fit() -> None:
    many, few = op2.Global(2, [1.0, 1e300], name="many"), op2.Global(2, None, "float32", "few")
    with pytest.raises(DataValueError, match=r"'many': copy: the value 1e\+300 at \[1\] .*'few'"):
        many.copy(few)
    assert few.dat_version == 0
    with np.errstate(over="ignore"):
        many.copy(few, casting="unsafe")
    assert few.data_ro.tolist() == [1, np.inf]


def test_a_global_of_a_global_is_a_copy(g: op2.Global) -> None:
    other = op2.Global(g)
    g.zero()
    assert (other.name, other.data_ro.tolist()) == ("copy_of_g", [1.0])
    assert op2.Global(other, dtype="int32", name="i").dtype == np.int32
    with pytest.raises(UsageError, match="a copy takes the values"):
        op2.Global(g, 2.0)


@pytest.mark.parametrize("mode", [op2.RW, op2.WRITE])
def test_illegal_accesses(g: op2.Global, mode: op2.Access) -> None:
    with pytest.raises(ModeValueError, match="it takes: READ, INC, MIN, MAX"):
        g(mode)
    with pytest.raises(ModeValueError, match="no order"):
        op2.Global(1, 1j)(op2.MIN)
    assert op2.Global(1, 1j)(op2.INC).access is op2.INC


def test_a_global_takes_no_map(g: op2.Global) -> None:
    nodes = op2.Set(1)
    with pytest.raises(AssertionError, match="belongs to no Set"):
        g(op2.READ, op2.Map(nodes, nodes, 1, [0]))  # type: ignore[arg-type]


def test_halos_are_nothing(g: op2.Global) -> None:
    with g.frozen_halo(op2.READ):
        g.freeze_halo(op2.INC)
        g.unfreeze_halo()
    assert g.halo_valid


def test_repr_and_str() -> None:
    g = op2.Global(2, [1, 2], "double", "g")
    assert repr(g) == "Global((2,), array([1., 2.]), dtype('float64'), 'g')"
    assert str(g) == "OP2 Global Argument: g with dim (2,) and value [1. 2.]"
    again = eval(repr(g))
    assert isinstance(again, Global)
    assert repr(again) == repr(g)
    assert g != again


@pytest.mark.parametrize("member", ["data", "data_ro", "data_wo", "data_with_halos"])
def test_static_mode_names_the_member(static: None, member: str) -> None:
    g = op2.Global(1, 1.0, name="g")
    g.data = 2.0  # no loop will see it, but programs may say so
    with pytest.raises(StaticModeError, match=f"Global 'g': '{member}' needs loops that run"):
        getattr(g, member)
    assert "[2.]" in str(g)


def test_one_value_is_a_number() -> None:
    assert float(op2.Global(1, 2.5)) == 2.5
    assert int(op2.Global(1, 2.5)) == 2
    assert complex(op2.Global(1, 1 + 2j)) == 1 + 2j
    assert math.sqrt(op2.Global((1, 1), 4.0)) == 2.0
    with pytest.raises(TypeError):  # as Python has it
        float(op2.Global(1, 1j))
    with pytest.raises(DataValueError, match=r"Global 'two' has 2 values, and float\(\) is of one"):
        float(op2.Global(2, name="two"))


def test_under_pyop2_a_number_is_no_shorthand(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = op2.Global(2, [1.0, 2.0], name="pair")
    pair.data = 3
    assert pair.data_ro.tolist() == [3, 3]
    monkeypatch.setattr("pyop2cxx.data.carrier.is_under_pyop2", lambda: True)
    with pytest.raises(DataValueError, match="expected 2 values"):
        pair.data = 4
    pair.data = [5, 6]
    assert pair.data_ro.tolist() == [5, 6]
