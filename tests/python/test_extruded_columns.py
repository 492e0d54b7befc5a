# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a column that change what belongs to all of it come from the bottom up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from programs import is_gpu

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError

RECURRENCE = """void k(double *s, double *v, const double *x) {
  s[0] = 0.5 * s[0] + x[0];
  v[0] += x[0];
  v[1] += s[0];
}"""

LAYERS: dict[str, Any] = {
    "cut by blocks": (3000, 10),
    "more than 64 levels": (40, 150),
    "of their own": (500, np.array([[i % 3, 4 + i % 3 + i % 7] for i in range(500)])),
}
STRATEGIES = (None, "block", "colour")


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("part", ["all", "subset"])
def test_columns_are_kept_in_order(
    kind: str, part: str, strategy: str | None, backend: str
) -> None:
    """Blocks that ended inside of a column ran beside the one that had the rest of it."""
    n, layers = LAYERS[kind]
    op2.init(threads=3)
    base = op2.Set(n)
    columns = op2.ExtrudedSet(base, layers)
    bounds = np.broadcast_to(np.asarray([0, layers] if np.isscalar(layers) else layers), (n, 2))
    first = np.concatenate([[0], np.cumsum(bounds[:, 1] - bounds[:, 0])])
    nodes = op2.Set(int(first[-1]))
    # neighbouring columns add to each other's nodes
    near = np.stack([first[:-1], first[np.r_[1:n, 0]]], axis=1)
    two = op2.Map(columns, nodes, 2, near, offset=[1, 0])
    own = op2.Map(columns, nodes, 1, first[:-1].reshape(n, 1), offset=[1])
    chosen = np.arange(0, n, 3) if part == "subset" else np.arange(n)
    where = op2.Subset(columns, chosen) if part == "subset" else columns
    x = op2.Dat(nodes, np.random.default_rng(1).random(nodes.size))
    s, v = op2.Dat(base, np.ones(n)), op2.Dat(nodes, np.zeros(nodes.size))
    how = {} if strategy is None else {"strategy": strategy}
    args = (s(op2.RW), v(op2.INC, two), x(op2.READ, own))
    kernel = op2.Kernel(RECURRENCE, "k")
    if strategy == "block" and is_gpu(backend):
        with pytest.raises(UnsupportedError, match="inside of a column"):
            op2.par_loop(kernel, where, *args, **how)
        return
    op2.par_loop(kernel, where, *args, **how)
    wanted = np.ones(n)
    for i in chosen:
        for level in range(bounds[i, 1] - bounds[i, 0] - 1):
            wanted[i] = 0.5 * wanted[i] + x.data_ro[first[i] + level]
    np.testing.assert_allclose(s.data_ro, wanted, rtol=1e-14)
