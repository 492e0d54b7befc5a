# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    ContractError,
    DataTypeError,
    DimTypeError,
    NameTypeError,
    SetTypeError,
    SizeTypeError,
    StaticModeError,
)
from pyop2cxx.op2 import DataSet, LocalSet, Set
from pyop2cxx.sets.entities import SetPartition


def test_one_size_is_all_sizes() -> None:
    cells = op2.Set(5, "cells")
    assert cells.sizes == (5, 5, 5)
    assert cells.constrained_size == 0
    assert (cells.halo, cells.comm, cells.layers) == (None, op2.COMM_WORLD, None)


@given(st.lists(st.integers(0, 10**12), min_size=3, max_size=3).map(sorted))
def test_three_sizes(sizes: list[int]) -> None:
    core, owned, total = sizes
    for given_as in (tuple(sizes), sizes, np.array(sizes)):
        cells = op2.Set(given_as)
        assert (cells.core_size, cells.size, cells.total_size) == (core, owned, total)
    assert cells.indices == range(total)
    assert cells.core_part == SetPartition(cells, 0, core)
    assert cells.owned_part == SetPartition(cells, core, owned - core)


@pytest.mark.parametrize(
    "size", ["illegalsize", 1.0, None, True, -1, (1, 2), (1, 2, 4, 3), (1, 2, "3"), (-1, 2, 3), ()]
)
def test_illegal_sizes(size: Any) -> None:
    with pytest.raises(SizeTypeError, match=r"the size must be an integer or three, .* got "):
        op2.Set(size, "cells")


def test_sizes_must_not_shrink() -> None:
    with pytest.raises(AssertionError, match=r"Set 'cells': .* got \(3, 2, 4\)") as caught:
        op2.Set((3, 2, 4), "cells")
    assert isinstance(caught.value, ContractError)


def test_names() -> None:
    assert op2.Set(1, "cells").name == "cells"
    assert op2.Set(1).name != op2.Set(1).name
    with pytest.raises(NameTypeError):
        op2.Set(1, 2)  # type: ignore[arg-type]


def test_equality_is_identity() -> None:
    cells, twin = op2.Set(5, "cells"), op2.Set(5, "cells")
    assert cells == cells
    assert cells != twin
    assert cells != 5
    assert len({cells, twin}) == 2


def test_a_set_is_its_only_component() -> None:
    cells = op2.Set(5)
    assert list(cells) == [cells]
    assert len(cells) == 1
    assert cells[0] is cells
    with pytest.raises(AssertionError, match="got index 1"):
        cells[1]


def test_repr_and_str() -> None:
    cells = op2.Set((2, 3, 5), "cells")
    assert repr(cells) == "Set((2, 3, 5), 'cells')"
    assert str(cells) == "OP2 Set: cells with size 3"
    assert eval(repr(cells)).sizes == cells.sizes


def test_partition_size_is_kept() -> None:
    cells = op2.Set(5)
    assert cells.partition_size == 1024
    cells.partition_size = 10
    assert cells.partition_size == 10


def test_a_set_can_be_pickled_with_its_datasets() -> None:
    vectors = DataSet(op2.Set((1, 2, 3), "cells"), 2, "vectors", True)
    again = pickle.loads(pickle.dumps(vectors))
    assert repr(again) == repr(vectors)
    assert again != vectors  # another Set
    assert copy.copy(vectors) is vectors
    assert copy.copy(vectors.set).uid != vectors.set.uid


# DataSet


def test_the_same_dataset_is_the_same_object() -> None:
    cells = op2.Set(5, "cells")
    assert cells**2 is op2.DataSet(cells, 2) is op2.DataSet(cells, (2,)) is op2.DataSet(cells, [2])
    assert cells**2 is not cells**3
    assert cells**2 is not op2.Set(5, "cells") ** 2


def test_no_argument_is_dropped() -> None:
    cells = op2.Set(5)
    plain, named, filtered = (
        op2.DataSet(cells, 2),
        op2.DataSet(cells, 2, "named"),
        op2.DataSet(cells, 2, None, True),
    )
    assert named.name == "named"
    assert plain.name not in ("named", "")
    assert op2.DataSet(cells, 2, "named") is named
    assert op2.DataSet(cells, 2, None, True) is filtered is not plain


def test_equality_is_set_and_dim() -> None:
    cells = op2.Set(5)
    named = op2.DataSet(cells, 2, "named")
    assert named == op2.DataSet(cells, 2)
    assert hash(named) == hash(op2.DataSet(cells, 2))
    assert named != op2.DataSet(cells, 3)
    assert named != op2.DataSet(op2.Set(5), 2)
    assert named != op2.DataSet(cells, 2, "named", True)
    assert named != 2


def test_a_set_does_not_keep_its_datasets_alive() -> None:
    cells = op2.Set(5)
    gone = weakref.ref(cells**7)
    gc.collect()
    assert gone() is None


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_dims_of_any_shape(dim: list[int]) -> None:
    shaped = op2.Set(5) ** dim
    assert shaped.dim == tuple(dim)
    assert shaped.cdim == np.prod(dim)


def test_illegal_datasets() -> None:
    cells = op2.Set(5)
    for dim in ("illegaldim", (1, "illegaldim")):
        with pytest.raises(DimTypeError):
            op2.DataSet(cells, dim)  # type: ignore[arg-type]
    with pytest.raises(NameTypeError):
        op2.DataSet(cells, 1, 2)  # type: ignore[arg-type]
    with pytest.raises(SetTypeError):
        op2.DataSet("cells", 1)  # type: ignore[arg-type]
    with pytest.raises(DataTypeError):
        op2.DataSet(cells, 1, None, 1)  # type: ignore[arg-type]


def test_a_dataset_answers_for_its_set() -> None:
    vectors = op2.Set((1, 2, 3), "cells") ** 2
    assert (vectors.core_size, vectors.size, vectors.total_size) == (1, 2, 3)
    assert vectors.sizes == vectors.set.sizes
    assert vectors.halo is None
    for name in ("no_such_thing", "datasets"):
        with pytest.raises(AttributeError, match=f"neither DataSet nor Set has .*'{name}'"):
            getattr(vectors, name)


def test_what_lives_where() -> None:
    cells, nodes = op2.Set(5), op2.Set(5)
    vectors = op2.DataSet(cells, 2, "vectors")
    assert vectors in cells
    assert vectors not in nodes
    assert 3 not in cells
    assert op2.Dat(vectors) in vectors
    assert op2.Dat(cells**2) in vectors
    assert op2.Dat(cells) not in vectors
    assert 3 not in vectors
    assert list(vectors) == [vectors[0]]
    assert len(vectors) == 1
    with pytest.raises(AssertionError):
        vectors[1]


def test_repr_and_str_of_a_dataset() -> None:
    vectors = op2.DataSet(op2.Set(5, "cells"), (2, 3), "vectors")
    assert repr(vectors) == "DataSet(Set((5, 5, 5), 'cells'), (2, 3), 'vectors', False)"
    assert str(vectors) == (
        "OP2 DataSet: vectors on set OP2 Set: cells with size 5, with dim (2, 3), False"
    )
    again = eval(repr(vectors))
    assert isinstance(again, DataSet)
    assert isinstance(again.set, Set)
    assert repr(again) == repr(vectors)


# Static mode

MEMBERS = ["core_size", "size", "total_size", "sizes", "indices", "core_part", "owned_part"]
MEMBERS += ["exec_size", "exec_part", "all_part"]


@pytest.mark.parametrize("member", MEMBERS)
def test_a_set_without_a_size_names_what_it_lacks(member: str, static: None) -> None:
    for cells in (op2.Set(name="cells"), op2.Set(None, "cells"), op2.Set(name="cells") ** 2):
        with pytest.raises(StaticModeError, match=f"Set 'cells': '{member}' is unknown"):
            getattr(cells, member)


def test_a_set_without_a_size_is_a_set(static: None) -> None:
    cells = op2.Set(name="cells")
    assert not cells.is_sized
    assert op2.Set(3).is_sized
    assert op2.Set(3).size == 3
    assert repr(cells) == "Set(None, 'cells')"
    assert str(cells) == "OP2 Set: cells with size None"
    assert (cells**3).cdim == 3


def test_a_local_set_is_the_set() -> None:
    """Loops visit only what is owned anyway."""
    cells = Set((2, 3, 5))
    assert LocalSet(cells) is cells
    with pytest.raises(TypeError, match="LocalSet: expected a Set, got 3"):
        LocalSet(3)  # type: ignore[arg-type]


def test_four_sizes_of_2016() -> None:
    """The third counts ghosts that PyOP2 computes; see test_pyop2 for loops over such a Set."""
    cells = Set((2, 3, 3, 5))
    assert (cells.sizes, cells.exec_size) == ((2, 3, 5), 3)
    assert (cells.exec_part.offset, cells.exec_part.size) == (3, 0)
    assert (cells.all_part.set, cells.all_part.offset, cells.all_part.size) == (cells, 0, 5)
    assert not cells.expects_copies
    copied = Set((2, 3, 4, 5))
    assert (copied.sizes, copied.exec_size, copied.expects_copies) == ((2, 3, 5), 3, True)
