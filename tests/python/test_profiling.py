# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx import op2
from pyop2cxx.profiling import regions, timed_function, timed_region, timed_stage


@timed_function("twice")
def twice(x: int, *, more: int = 0) -> int:
    return 2 * x + more


def test_regions_add_up() -> None:
    op2.exit()
    with timed_stage("outer"):
        assert twice(2, more=1) == 5
        assert twice(1) == 2
    with pytest.raises(ValueError, match="x"), timed_region("outer"):
        raise ValueError("x")
    found = regions()
    assert {name: region["calls"] for name, region in found.items()} == {"outer": 2, "twice": 2}
    assert 0 <= found["twice"]["seconds"] <= found["outer"]["seconds"]
    op2.exit()
    assert regions() == {}
