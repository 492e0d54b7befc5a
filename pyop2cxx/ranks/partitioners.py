# SPDX-License-Identifier: BSD-3-Clause
"""Partitions of graphs by METIS, KaHIP and SCOTCH: few pairs of neighbours are cut.

Each function takes where the neighbours of each entity begin, shape (n + 1,), all neighbours one
after the other, and a number of ranks. The result is the rank of each entity, int32 of shape (n,).
Equal graphs have equal partitions.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import MissingExtraError, RanksError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.base.arrays import Array

_MOST_IMBALANCE = 0.03
"""Entities of KaHIP's largest part beyond the mean, as a part of the mean."""
_LARGE = 1000
"""Entities of a part from which on METIS divides k-way."""


def by_metis(begins: Array, neighbours: Array, n_ranks: int) -> Array:
    """Return the partition of METIS: by bisection, or k-way where parts are large.

    Source: G. Karypis, V. Kumar, Multilevel k-way partitioning scheme for irregular graphs, 1998.

    Raises:
        MissingExtraError: pymetis is not installed.
    """
    pymetis: Any = extras.load("pymetis", "distribute(partition='metis')")
    adjacency = pymetis.CSRAdjacency(begins, neighbours)
    is_small = len(begins) - 1 < _LARGE * n_ranks
    options = pymetis.Options() if is_small else pymetis.Options(ufactor=5)  # 0.5 % of imbalance
    _, found = pymetis.part_graph(n_ranks, adjacency=adjacency, recursive=is_small, options=options)
    return np.asarray(found, np.int32)


def by_kahip(begins: Array, neighbours: Array, n_ranks: int) -> Array:
    """Return the partition of KaHIP, of its mode "eco".

    Source: P. Sanders, C. Schulz, Think locally, act globally: highly balanced graph
    partitioning, 2013.

    Raises:
        MissingExtraError: kahip is not installed.
    """
    kahip: Any = extras.load("kahip", "distribute(partition='kahip')")
    of_entities, of_pairs = np.ones(len(begins) - 1, np.int64), np.ones(len(neighbours), np.int64)
    _, found = kahip.kaffpa(
        of_entities,
        begins,
        of_pairs,
        neighbours,
        n_ranks,
        _MOST_IMBALANCE,
        True,  # nothing is printed
        0,  # seed
        kahip.ECO,
    )
    return np.asarray(found, np.int32)


def by_scotch(begins: Array, neighbours: Array, n_ranks: int) -> Array:
    """Return the partition of SCOTCH, of its usual strategy.

    Source: F. Pellegrini, Scotch and libScotch 7.0 user's guide, section 8.

    Raises:
        MissingExtraError: The library is not installed.
        RanksError: The library reports an error.
    """
    library = _scotch()
    number = ctypes.c_int64 if library.SCOTCH_numSizeof() == 8 else ctypes.c_int32
    n = len(begins) - 1
    begins, neighbours = (np.ascontiguousarray(values, number) for values in (begins, neighbours))
    found = np.empty(n, number)
    known = ctypes.create_string_buffer(library.SCOTCH_graphSizeof())
    strategy = ctypes.create_string_buffer(library.SCOTCH_stratSizeof())
    sizes = number(n), number(len(neighbours))
    library.SCOTCH_graphInit(known)
    library.SCOTCH_stratInit(strategy)
    library.SCOTCH_randomReset()
    try:
        failed = library.SCOTCH_graphBuild(
            *(known, number(0), sizes[0], _address(begins), None, None, None),
            *(sizes[1], _address(neighbours), None),
        ) or library.SCOTCH_graphPart(known, number(n_ranks), strategy, _address(found))
    finally:
        library.SCOTCH_stratExit(strategy)
        library.SCOTCH_graphExit(known)
    if failed:
        raise RanksError(
            f"distribute(partition='scotch'): SCOTCH made no {n_ranks} parts of {n} "
            "entities (its message is above); pass another partition"
        )
    return found.astype(np.int32)


def _address(values: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


def _scotch() -> Any:
    """Load SCOTCH, and before it the library that prints its errors."""
    for version in ("-7.0", ""):
        try:
            ctypes.CDLL(f"libscotcherr{version}.so", mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(f"libscotch{version}.so")
        except OSError:
            pass
    raise MissingExtraError(
        "distribute(partition='scotch') needs the library SCOTCH, which is not installed; Debian: "
        "apt-get install libscotch-7.0"
    )


PARTITIONERS: Mapping[str, Callable[[Array, Array, int], Array]] = {
    "metis": by_metis,
    "kahip": by_kahip,
    "scotch": by_scotch,
}
"""Functions that make partitions of graphs, by name."""
