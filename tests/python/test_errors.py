# SPDX-License-Identifier: BSD-3-Clause
"""The tree of exceptions, and PyOP2's matrix of wrong calls, class by class."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import exceptions, op2
from pyop2cxx.exceptions import user_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAMILIES = {
    exceptions.UsageError: ValueError,
    exceptions.UnsupportedError: NotImplementedError,
    exceptions.ToolchainError: RuntimeError,
    exceptions.ExecutionError: RuntimeError,
    exceptions.InternalError: RuntimeError,
}
ERRORS = [
    thing
    for _, thing in inspect.getmembers(exceptions, inspect.isclass)
    if issubclass(thing, exceptions.Op2Error) and thing is not exceptions.Op2Error
]
BUILT_INS = {
    AssertionError: ["ContractError"],
    ImportError: ["MissingExtraError", "UnknownBackendError"],
    RuntimeError: ["ConfigurationError", "NoDataError", "HaloFrozenError", "CompilationError"],
    TypeError: [
        *("DataTypeError", "DimTypeError", "ArityTypeError", "IndexTypeError", "NameTypeError"),
        *("SetTypeError", "SizeTypeError", "SubsetIndexOutOfBounds", "SparsityTypeError"),
        *("MapTypeError", "DataSetTypeError", "MatTypeError", "DatTypeError", "KernelTypeError"),
    ],
    ValueError: [
        *("DataValueError", "IndexValueError", "ModeValueError", "IterateValueError"),
        *("SetValueError", "MapValueError", "SparsityFormatError", "NonUniqueNameError"),
    ],
}


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_of_one_family(error: type[Exception]) -> None:
    [family] = [family for family in FAMILIES if issubclass(error, family)]
    assert issubclass(error, FAMILIES[family])


@pytest.mark.parametrize("built_in", BUILT_INS)
def test_pyop2s_programs_catch_them(built_in: type[Exception]) -> None:
    for name in BUILT_INS[built_in]:
        assert issubclass(getattr(exceptions, name), built_in)


S, T = op2.Set(5, "s"), op2.Set(3, "t")
DAT, GLOBAL = op2.Dat(S, name="d"), op2.Global(1, 1, name="g")

# PyOP2's tests expect these of these calls.
WRONG: list[tuple[str, Callable[[], Any], str]] = [
    ("Set size", lambda: op2.Set("illegalsize"), "SizeTypeError"),
    ("Set without a size", lambda: op2.Set(name="cells"), "SizeTypeError"),
    ("Set name", lambda: op2.Set(1, 2), "NameTypeError"),
    ("DataSet dim", lambda: op2.DataSet(S, "illegaldim"), "DimTypeError"),
    ("DataSet dims", lambda: op2.DataSet(S, (1, "illegaldim")), "DimTypeError"),
    ("power", lambda: S ** "illegaldim", "DimTypeError"),
    ("DataSet name", lambda: op2.DataSet(S, 1, 2), "NameTypeError"),
    ("DataSet set", lambda: op2.DataSet("illegalset", 1), "SetTypeError"),
    ("Dat dataset", lambda: op2.Dat("illegalset", 1), "DataSetTypeError"),
    ("Dat name", lambda: op2.Dat(S, name=2), "NameTypeError"),
    ("Dat index", lambda: DAT[1], "IndexValueError"),
    ("Dat dtype", lambda: op2.Dat(S, dtype="illegal_type"), "DataTypeError"),
    ("Dat length", lambda: op2.Dat(S, [1] * 6), "DataValueError"),
    ("Dat map", lambda: DAT(op2.READ, op2.Map(S, T, 1, [0] * 5)), "MapValueError"),
    ("Dat mode", lambda: DAT("illegal"), "ModeValueError"),
    ("frozen", lambda: DAT.unfreeze_halo(), "HaloFrozenError"),
    ("Global dim", lambda: op2.Global("illegaldim"), "DimTypeError"),
    ("Global dims", lambda: op2.Global((1, "illegaldim")), "DimTypeError"),
    ("Global name", lambda: op2.Global(1, 1, name=2), "NameTypeError"),
    ("Global data", lambda: op2.Global(1, "illegal_type", "double"), "DataValueError"),
    ("Global length", lambda: op2.Global((2, 2), [1] * 5), "DataValueError"),
    ("Global setter", lambda: setattr(GLOBAL, "data", [1, 2]), "DataValueError"),
    ("Global WRITE", lambda: GLOBAL(op2.WRITE), "ModeValueError"),
    ("Global RW", lambda: GLOBAL(op2.RW), "ModeValueError"),
    ("Global empty", lambda: op2.Global(0).data, "NoDataError"),
    ("Constant comm", lambda: op2.Constant(1, 1, comm=1), "UsageError"),
    ("Constant INC", lambda: op2.Constant(1, 1)(op2.INC), "ModeValueError"),
    ("Const name", lambda: op2.Const(1, 1, 2), "NameTypeError"),
    ("Const length", lambda: op2.Const(1, [1, 2], "c"), "DataValueError"),
    ("Map iterset", lambda: op2.Map("x", S, 1, []), "SetTypeError"),
    ("Map toset", lambda: op2.Map(S, "x", 1, []), "SetTypeError"),
    ("Map arity", lambda: op2.Map(S, S, "illegalarity", []), "ArityTypeError"),
    ("Map arities", lambda: op2.Map(S, S, (2, 2), []), "ArityTypeError"),
    ("Map name", lambda: op2.Map(S, S, 1, [], name=2), "NameTypeError"),
    ("Map values", lambda: op2.Map(S, S, 1, "abcdefg"), "DataValueError"),
    ("Map length", lambda: op2.Map(S, T, 1, [1] * 6), "DataValueError"),
    ("Access", lambda: op2.Access("X"), "ModeValueError"),
    ("option type", lambda: op2.init(debug="illegal"), "ConfigurationError"),
    ("option", lambda: op2.init(illegal=1), "ConfigurationError"),
    ("backend", lambda: op2.init(backend="illegal"), "UnknownBackendError"),
]


@pytest.mark.parametrize(("call", "name"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_wrong_call_raises_pyop2s_class_and_says_what_it_got(
    call: Callable[[], Any], name: str
) -> None:
    with pytest.raises(exceptions.UsageError) as caught:
        call()
    assert type(caught.value).__name__ == name
    assert caught.value.__cause__ is None
    assert len(str(caught.value)) > 30


def test_writing_to_read_only_data_is_refused() -> None:
    for view in (DAT.data_ro, GLOBAL.data_ro):
        with pytest.raises((RuntimeError, ValueError)):
            view[0] = 1


def test_the_users_line_is_the_first_outside_the_package() -> None:
    line = inspect.currentframe()
    assert line is not None
    assert user_line() == f"{__file__}:{line.f_lineno}"


def test_frames_of_the_package_are_skipped(tmp_path: Path) -> None:
    inside = os.path.join(os.path.dirname(exceptions.__file__), "made_up.py")
    outside = str(tmp_path / "pyop2cxx_program.py")
    names: dict[str, Any] = {"user_line": user_line}
    exec(compile("def inner():\n    return user_line()\n", inside, "exec"), names)
    exec(compile("\n\ndef outer():\n    return inner()\n", outside, "exec"), names)
    assert names["outer"]() == f"{outside}:4"


def test_messages_of_data_errors_name_the_array() -> None:
    with pytest.raises(exceptions.DataValueError, match=r"Dat 'q' on Set 's': expected 10 values"):
        op2.Dat(S**2, np.zeros(9), name="q")
