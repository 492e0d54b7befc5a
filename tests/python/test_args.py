# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc
import weakref

import pytest

from pyop2cxx import op2
from pyop2cxx.data.constants import GlobalArg
from pyop2cxx.data.dats import DatArg
from pyop2cxx.exceptions import MapTypeError, MapValueError, ModeValueError


@pytest.fixture
def nodes() -> op2.Set:
    return op2.Set(3, "nodes")


@pytest.fixture
def e2n(nodes: op2.Set) -> op2.Map:
    return op2.Map(op2.Set(2, "edges"), nodes, 2, [0, 1, 1, 2], "e2n")


def test_a_dat_gives_its_argument(nodes: op2.Set, e2n: op2.Map) -> None:
    q = op2.Dat(nodes)
    for access in op2.Access:
        for _ in range(2):  # checked, then remembered
            indirect, direct = q(access, e2n), q(access)
            assert (indirect.data, indirect.map_, indirect.access) == (q, e2n, access)
            assert (direct.data, direct.map_, direct.access) == (q, None, access)
    assert q(op2.INC, e2n) == DatArg(q, e2n, op2.INC) != q(op2.READ, e2n)


def test_globals_and_constants_give_theirs() -> None:
    g, c = op2.Global(1, 0.0), op2.Constant(1, 2.0)
    for access in (op2.READ, op2.INC, op2.MIN, op2.MAX):
        assert g(access) == GlobalArg(g, access)
    assert c(op2.READ) == GlobalArg(c, op2.READ)
    assert g(op2.INC).map_ is c(op2.READ).map_ is None


def test_an_access_given_by_number_is_the_access(nodes: op2.Set, e2n: op2.Map) -> None:
    q = op2.Dat(nodes)
    for _ in range(2):
        assert q(4, e2n).access is op2.INC  # type: ignore[arg-type]
        assert op2.Global(1)(4).access is op2.INC  # type: ignore[arg-type]


def test_wrong_arguments_are_refused_every_time(nodes: op2.Set, e2n: op2.Map) -> None:
    q = op2.Dat(op2.Set(3, "cells"), name="q")
    for _ in range(2):
        with pytest.raises(MapValueError, match=r"Map 'e2n' leads from Set 'edges' to Set 'nodes'"):
            q(op2.READ, e2n)
        with pytest.raises(MapTypeError, match="the path must be a Map, got 'e2n'"):
            q(op2.READ, "e2n")  # type: ignore[arg-type]
        with pytest.raises(ModeValueError, match="'READ_ONLY'"):
            op2.Dat(nodes)("READ_ONLY", e2n)  # type: ignore[arg-type]
        with pytest.raises(ModeValueError):
            op2.Dat(nodes, dtype="complex128")(op2.MAX, e2n)


def test_what_was_checked_is_not_kept_alive(nodes: op2.Set) -> None:
    q = op2.Dat(nodes)
    gone = []
    for _ in range(600):  # more than a Dat remembers
        path = op2.Map(nodes, nodes, 1, [0, 1, 2])
        assert q(op2.READ, path).map_ is path
        gone.append(weakref.ref(path))
    del path
    gc.collect()
    assert [ref() for ref in gone] == [None] * 600


def test_uids_are_never_used_again(nodes: op2.Set) -> None:
    seen = {nodes.uid}
    for _ in range(100):
        kept = op2.Map(nodes, nodes, 1, [0, 0, 0]), op2.Dat(nodes), op2.Global(1), op2.Set(1)
        seen |= {thing.uid for thing in kept}
    assert len(seen) == 401


def test_older_names(nodes: op2.Set, e2n: op2.Map) -> None:
    q, g = op2.Dat(nodes), op2.Global(1)
    assert q(op2.READ, e2n).map is e2n
    assert q(op2.READ).map is None
    assert g(op2.READ).map is None
    assert [arg.split for arg in (q(op2.READ, e2n), g(op2.INC))] == [
        (q(op2.READ, e2n),),
        (g(op2.INC),),
    ]
    mixed = op2.MixedDat((q, op2.Dat(nodes)))
    maps = op2.MixedMap((e2n, e2n))
    arg = mixed(op2.INC, maps)
    assert arg.map is maps
    assert [part.data for part in arg.split] == list(mixed)
    mat = op2.Mat(op2.Sparsity(nodes, e2n))
    assert mat(op2.INC, (e2n, e2n)).split == (mat(op2.INC, (e2n, e2n)),)
