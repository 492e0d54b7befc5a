# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import IterateValueError


def test_the_numbers_are_pyop2s() -> None:
    regions = [op2.ON_BOTTOM, op2.ON_TOP, op2.ON_INTERIOR_FACETS, op2.ALL]
    assert [int(region) for region in regions] == [1, 2, 3, 4]
    assert str(op2.ON_TOP) == "IterationRegion.TOP"
    assert op2.IterationRegion("ALL") is op2.ALL
    assert op2.IterationRegion("ON_INTERIOR_FACETS") is op2.ON_INTERIOR_FACETS


@pytest.mark.parametrize("wrong", ["SIDES", 7, None])
def test_there_are_no_others(wrong: object) -> None:
    with pytest.raises(IterateValueError, match="there is no iteration region"):
        op2.IterationRegion(wrong)
