# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tree_sitter
import tree_sitter_c
from numpy import array, dtype  # noqa: F401 - reprs need them

from pyop2cxx import op2
from pyop2cxx.base.c_names import LITERALS, NEAREST_MINIMUM, OTHER_CONSTANTS, owner_of
from pyop2cxx.exceptions import (
    DataValueError,
    DimTypeError,
    ModeValueError,
    NameTypeError,
    NoDataError,
    UsageError,
)
from pyop2cxx.kernel.parser import headers
from pyop2cxx.op2 import Const, Constant
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def gam() -> Iterator[op2.Const]:
    const = op2.Const(1, 1.4, "gam")
    yield const
    const.remove_from_namespace()


# Constant


def test_a_constant_is_only_read() -> None:
    c = op2.Constant(3, [0, 0, -9.81], name="gravity")
    assert c(op2.READ).data is c
    for mode in (op2.INC, op2.MIN, op2.RW):
        with pytest.raises(ModeValueError, match=r"Constant 'gravity' .* it takes: READ"):
            c(mode)
    with pytest.raises(AssertionError):
        c(op2.READ, c)  # type: ignore[arg-type]


def test_a_constant_takes_no_communicator() -> None:
    with pytest.raises(ValueError, match="takes no communicator"):
        op2.Constant(1, 1.0, comm=object())


def test_constants_copy() -> None:
    c = op2.Constant((2, 2), [1, 2, 3, 4], "float32", "c")
    again, twin = op2.Constant(c), c.duplicate()
    c.data[0, 0] = 9
    assert (again.name, again.dtype, again.data_ro[0, 0]) == ("copy_of_c", np.float32, 1)
    assert (twin.name, twin.data_ro[0, 0]) == ("c", 1)
    with pytest.raises(UsageError):
        op2.Constant(c, 1.0)


def test_repr_and_str_of_a_constant() -> None:
    c = op2.Constant(1, 1.5, name="c")
    assert repr(c) == "Constant((1,), array([1.5]), dtype('float64'), 'c')"
    assert str(c) == "OP2 Constant Argument: c with dim (1,) and value [1.5]"
    assert isinstance(eval(repr(c)), Constant)


# Const


def test_a_const_is_known_by_its_name(gam: op2.Const) -> None:
    assert runtime.constants["gam"] is gam
    assert (gam.dim, gam.cdim, gam.dtype, gam.name) == ((1,), 1, np.float64, "gam")


def test_a_name_is_taken_until_it_is_given_back(gam: op2.Const) -> None:
    with pytest.raises(op2.Const.NonUniqueNameError, match=r"declared at .*test_constants\.py:\d+"):
        op2.Const(2, [1.4, 1.5], "".join(["g", "am"]))  # compared by value
    gam.remove_from_namespace()
    gam.remove_from_namespace()
    other = op2.Const((2,), [1, 2], "gam")
    gam.remove_from_namespace()
    assert runtime.constants["gam"] is other
    other.remove_from_namespace()
    assert "gam" not in runtime.constants


def test_a_const_declared_again_takes_the_new_value(
    gam: op2.Const, caplog: pytest.LogCaptureFixture
) -> None:
    epoch = runtime.epoch
    with caplog.at_level("DEBUG", logger="pyop2cxx"):
        again = op2.Const(1, 1.3, "gam")
    assert again is gam
    assert (gam.data_ro[0], runtime.epoch) == (1.3, epoch)
    assert "Const 'gam', of " in caplog.text
    assert "is declared again at " in caplog.text
    assert op2.Const((1,), name="gam").data_ro[0] == 1.3


@pytest.mark.parametrize("how", [{"dim": 2}, {"dtype": "float32"}, {"data": 1}])
def test_a_const_declared_again_is_otherwise_the_same(gam: op2.Const, how: dict[str, Any]) -> None:
    given = {"dim": 1, "data": None, "name": "gam", **how}
    with pytest.raises(
        op2.Const.NonUniqueNameError, match=r"dim \(1,\) and dtype float64; got dim"
    ):
        op2.Const(**given)
    assert gam.data_ro[0] == 1.4
    assert runtime.constants["gam"] is gam


def test_a_const_declared_again_with_wrong_values_keeps_its_own(gam: op2.Const) -> None:
    with pytest.raises(DataValueError):
        op2.Const(1, [1.0, 2.0], "gam")
    assert gam.data_ro[0] == 1.4


def test_a_loop_sees_the_value_that_was_declared_again(gam: op2.Const) -> None:
    cells = op2.Set(2)
    x = op2.Dat(cells, name="x")
    kernel = op2.Kernel("void scaled(double *x) { x[0] = 2 * gam; }", "scaled")
    op2.par_loop(kernel, cells, x(op2.WRITE))
    op2.Const(1, 3.0, "gam")
    op2.par_loop(kernel, cells, x(op2.WRITE))
    assert x.data_ro.tolist() == [6, 6]


def test_a_wrong_const_takes_no_name() -> None:
    for make in (
        lambda: op2.Const(1, [1, 2], "a"),
        lambda: op2.Const("illegaldim", 1, "a"),  # type: ignore[arg-type]
    ):
        with pytest.raises((DataValueError, DimTypeError)):
            make()
    assert "a" not in runtime.constants


@pytest.mark.parametrize("name", [2, "2a", "a b", "a-b", "é"])
def test_a_name_must_be_one_in_c(name: str) -> None:
    with pytest.raises(NameTypeError):
        op2.Const(1, 1, name)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *(("int", "a keyword"), ("while", "a keyword"), ("asm", "a keyword")),
        *(("size_t", "a type of C"), ("PetscInt", "a type of C"), ("_Bool", "a type of C")),
        *(("true", "a constant"), ("INFINITY", "a constant"), ("PETSC_PI", "a constant")),
        *(("_Complex_I", "a constant"), ("I", "a constant"), ("INT32_MIN", "a constant")),
        *(("_Generic", "reserved"), ("__restrict", "reserved"), ("linux", "reserved")),
    ],
)
def test_a_name_that_c_has_is_refused(name: str, what: str) -> None:
    """Compilers reject keywords; of what headers define, kernels would see another value."""
    with pytest.raises(NameTypeError, match=rf"Const: .* '{name}' is {what}.*another name"):
        op2.Const(1, 2.0, name)
    assert name not in runtime.constants


def test_what_the_parser_takes_for_a_macro_is_no_const() -> None:
    for name in (*LITERALS, *NEAREST_MINIMUM, *OTHER_CONSTANTS):
        assert headers.constant(name, 1, has_complex=True) is not None
        with pytest.raises(NameTypeError, match=f"'{name}' is a constant of C's headers"):
            op2.Const(1, 2.0, name)


def test_other_names_are_the_values_that_were_given(backend: str) -> None:
    """Words of the grammar that are not refused, and what C's library and devices have."""
    grammar = tree_sitter.Language(tree_sitter_c.language())
    kinds = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    words = {kind for kind in kinds if kind and re.fullmatch(r"[a-z]\w*", kind)} | {
        *("y0", "j1", "gamma", "min", "max", "sqrt", "printf", "isnan", "main", "errno", "stdin"),
        *("CHAR_BIT", "CHAR_MAX", "SHRT_MIN", "UCHAR_MAX", "FLT_DIG", "DBL_DIG", "FLT_RADIX"),
        *("M_PI_F", "DBL_MANT_DIG", "FP_ILOGB0", "EOF", "FLT_MAX_EXP", "DBL_MIN_10_EXP"),
        *("half", "double2", "kernel", "local", "threadIdx", "dim3", "class", "template", "this"),
    }
    words = {word for word in words if owner_of(word) is None}
    consts = [op2.Const(1, float(n), name) for n, name in enumerate(sorted(words))]
    cells = op2.Set(1)
    try:
        for some in (consts[::2], consts[1::2]):
            x = op2.Dat(cells ** len(some), name="x")
            lines = (f"  values[{n}] = {const.name};" for n, const in enumerate(some))
            text = "void k(double *values) {\n" + "\n".join(lines) + "\n}"
            op2.par_loop(op2.Kernel(text, "k"), cells, x(op2.WRITE))
            np.testing.assert_array_equal(x.data_ro, [[const.data_ro[0] for const in some]])
    finally:
        for const in consts:
            const.remove_from_namespace()


def test_a_default_name_is_one_in_c() -> None:
    a, b = op2.Const(1, 1), op2.Const(1, 1)
    assert a.name.isidentifier()
    assert a.name != b.name
    a.remove_from_namespace()
    b.remove_from_namespace()


def test_the_value_may_change(gam: op2.Const) -> None:
    epoch, address = runtime.epoch, gam.buffer.address
    gam.data = 1.3
    gam.data[0] += 0.1
    assert gam.data_ro[0] == pytest.approx(1.4)
    assert (runtime.epoch, gam.buffer.address) == (epoch, address)
    with pytest.raises(DataValueError):
        gam.data = [1, 2]


def test_the_value_may_come_later() -> None:
    late = op2.Const(2, name="late", dtype="int32")
    for member in ("data", "data_ro", "data_wo"):
        with pytest.raises(NoDataError, match="no value was given yet"):
            getattr(late, member)
    assert repr(late) == "Const((2,), None, 'late')"
    late.data = [1, 2]
    assert (late.data_ro.tolist(), late.dtype) == ([1, 2], np.int32)
    late.remove_from_namespace()


def test_the_epoch_grows_with_the_namespace() -> None:
    epochs = [runtime.epoch]
    const = op2.Const(1, 1, "epochal")
    epochs.append(runtime.epoch)
    const.remove_from_namespace()
    epochs.append(runtime.epoch)
    assert epochs[0] < epochs[1] < epochs[2]


def test_a_const_is_neither_called_nor_copied(gam: op2.Const) -> None:
    assert not callable(gam)
    with pytest.raises(UsageError, match="cannot be copied"):
        copy.copy(gam)
    assert list(gam) == [gam]


def test_repr_and_str_of_a_const(gam: op2.Const) -> None:
    assert repr(gam) == "Const((1,), array([1.4]), 'gam')"
    assert str(gam) == "OP2 Const: gam of dim (1,) and type float64 with value [1.4]"
    gam.remove_from_namespace()
    again = eval(repr(gam))
    assert isinstance(again, Const)
    again.remove_from_namespace()


def test_static_programs_may_read_their_constants(static: None) -> None:
    assert op2.Const(1, 1.4, "gam").data_ro[0] == 1.4
    assert op2.Constant(1, 2.0).data[0] == 2.0
