# SPDX-License-Identifier: BSD-3-Clause
"""Places in matrices of blocks are those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pyop2cxx.base.blocks import row_of_each, scalar_places


def test_the_row_of_each_entry() -> None:
    assert row_of_each(np.array([0, 2, 2, 3])).tolist() == [0, 0, 2]
    assert row_of_each(np.array([0])).tolist() == []


@pytest.mark.parametrize("dims", [(1, 1), (2, 3), (3, 1)])
def test_scalars_of_blocks_are_placed_as_scipy_does(dims: tuple[int, int]) -> None:
    rowptr, colidx = np.array([0, 2, 2, 3]), np.array([0, 3, 1])
    values = np.arange(1.0, 1 + 3 * dims[0] * dims[1]).reshape(3, *dims)
    shape = 3 * dims[0], 4 * dims[1]
    wanted = sparse.bsr_array((values, colidx, rowptr), shape=shape).toarray()
    places = scalar_places(row_of_each(rowptr), colidx, dims)
    found = sparse.coo_array((values.reshape(-1), places), shape=shape).toarray()
    np.testing.assert_array_equal(found, wanted)
