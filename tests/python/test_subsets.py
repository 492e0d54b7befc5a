# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    IndexTypeError,
    SetTypeError,
    SetValueError,
    SubsetIndexOutOfBounds,
    UnsupportedError,
)

WHOLE = op2.Set((6, 8, 10), "cells")
OPERATIONS = ("intersection", "union", "difference", "symmetric_difference")


@given(st.lists(st.integers(0, 9)))
def test_indices_are_sorted_and_each_once(numbers: list[int]) -> None:
    part = op2.Subset(WHOLE, numbers)
    expected = sorted(set(numbers))
    assert part.indices.tolist() == expected
    assert part.owned_indices.tolist() == [n for n in expected if n < 8]
    assert part.sizes == tuple(sum(n < size for n in expected) for size in WHOLE.sizes)
    assert not part.indices.flags.writeable


@pytest.mark.parametrize("given_as", [(1, 3), ([3, 1],), (np.array([1, 3, 3]),)])
def test_calling_a_set(given_as: Any) -> None:
    assert WHOLE(*given_as).indices.tolist() == [1, 3]


def test_a_part_of_a_part_is_a_part_of_the_whole() -> None:
    part = op2.Subset(op2.Subset(WHOLE, [1, 3, 5, 9]), [0, 3])
    assert part.superset is WHOLE
    assert part.indices.tolist() == [1, 9]
    assert WHOLE(2, 4, 6)(1).indices.tolist() == [4]
    with pytest.raises(SubsetIndexOutOfBounds, match="no entity 2; there are 0 to 1"):
        op2.Subset(WHOLE(3, 4), [2])


@pytest.mark.parametrize("wrong", [[10], [-1], [0, 11]])
def test_indices_out_of_bounds(wrong: list[int]) -> None:
    with pytest.raises(TypeError, match="Subset of Set 'cells': there is no entity") as caught:
        op2.Subset(WHOLE, wrong)
    assert isinstance(caught.value, SubsetIndexOutOfBounds)


def test_wrong_arguments() -> None:
    with pytest.raises(SetTypeError, match="the superset must be a Set, got 'fail'"):
        op2.Subset("fail", [0, 1])  # type: ignore[arg-type]
    for wrong in ("ab", [0.5], 3, [[0], [1, 2]]):
        with pytest.raises(IndexTypeError, match="the indices must be integers"):
            op2.Subset(WHOLE, wrong)  # type: ignore[arg-type]


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)), st.sampled_from(OPERATIONS))
def test_algebra_is_that_of_sets(left: set[int], right: set[int], operation: str) -> None:
    wanted = sorted(getattr(left, operation)(right))
    found = getattr(WHOLE(list(left)), operation)(WHOLE(list(right)))
    assert (found.indices.tolist(), found.superset) == (wanted, WHOLE)


def test_algebra_with_the_whole() -> None:
    part = WHOLE(1, 2)
    rest = [n for n in range(10) if n not in (1, 2)]
    assert part.intersection(WHOLE) is part
    assert WHOLE.intersection(part) is part
    assert part.union(WHOLE) is WHOLE
    assert WHOLE.union(part) is WHOLE
    assert WHOLE.difference(part).indices.tolist() == rest
    assert part.difference(WHOLE).size == 0
    assert WHOLE.symmetric_difference(part).indices.tolist() == rest
    assert part.symmetric_difference(WHOLE).indices.tolist() == rest
    assert WHOLE.union(WHOLE) is WHOLE
    assert WHOLE.difference(WHOLE).total_size == 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_algebra_with_what_has_nothing_to_do_with_it(operation: str) -> None:
    other = op2.Set(10)
    part = WHOLE(1)
    with pytest.raises(SetValueError, match="which it has nothing to do with"):
        getattr(WHOLE, operation)(other)
    for one, wrong in ((part, other), (part, other(1)), (WHOLE, other(1)), (WHOLE, "x")):
        with pytest.raises(SetTypeError, match=operation):
            getattr(one, operation)(wrong)


def test_values_do_not_live_on_parts() -> None:
    for make in (lambda: WHOLE(1) ** 2, lambda: op2.DataSet(WHOLE(1)), lambda: op2.Dat(WHOLE(1))):
        with pytest.raises(UnsupportedError, match="values live on whole Sets"):
            make()


def test_pickling_and_text() -> None:
    part = WHOLE(3, 1)
    again = pickle.loads(pickle.dumps(part))
    assert again.indices.tolist() == [1, 3]
    assert "size 2" in str(part)
    assert repr(part) == f"Subset({WHOLE!r}, [1, 3])"
