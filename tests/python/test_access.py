# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx import op2
from pyop2cxx.base.access import DAT_ACCESSES, GLOBAL_ACCESSES, Access, checked_access
from pyop2cxx.exceptions import ModeValueError


def test_numbers_are_pyop2s() -> None:
    names = ["READ", "WRITE", "RW", "INC", "MIN", "MAX"]
    assert [(a.name, int(a)) for a in Access] == list(zip(names, range(1, 7), strict=True))
    assert [getattr(op2, name) for name in names] == list(Access)


def test_repr_and_str_do_not_depend_on_the_python() -> None:
    assert repr(op2.READ) == "<Access.READ: 1>"
    assert str(op2.READ) == "Access.READ"


def test_a_name_or_number_gives_the_access() -> None:
    assert Access("INC") is op2.INC
    assert Access(4) is op2.INC


@pytest.mark.parametrize("value", ["ILLEGAL_ACCESS", 0, 7, None, []])
def test_there_is_no_other_access(value: object) -> None:
    with pytest.raises(ModeValueError, match=r"there are: READ, WRITE, RW, INC, MIN, MAX"):
        Access(value)


@pytest.mark.parametrize("mode", [op2.WRITE, op2.RW])
def test_a_kind_of_argument_names_what_it_takes(mode: Access) -> None:
    with pytest.raises(ModeValueError, match=rf"^Global 'g' .* {mode.name}; it takes: READ, INC"):
        checked_access(mode, GLOBAL_ACCESSES, False, "Global 'g'")
    assert checked_access(int(mode), DAT_ACCESSES, False, "Dat") is mode


@pytest.mark.parametrize("mode", [op2.MIN, op2.MAX])
def test_complex_numbers_have_no_order(mode: Access) -> None:
    with pytest.raises(ModeValueError, match="no order"):
        checked_access(mode, DAT_ACCESSES, True, "Dat 'z'")


def test_what_is_no_access_at_all_is_not_printed_whole() -> None:
    nodes, edges = op2.Set(2, "nodes"), op2.Set(1, "edges")
    ends = op2.Map(edges, nodes, 2, [0, 1], "ends")
    x = op2.Dat(nodes, name="x")
    with pytest.raises(ModeValueError, match=r"expected first, and then a Map .* got a Map;"):
        x(ends, op2.READ)
