# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from thread_comm import in_threads

from pyop2cxx import op2
from pyop2cxx.exceptions import DataTypeError, HashError
from pyop2cxx.pyop2 import caching
from pyop2cxx.runtime.communicators import OneProcess

if TYPE_CHECKING:
    from pathlib import Path

HERE = OneProcess()


class Counted:
    """A function that counts its calls."""

    def __init__(self, decorator: Any) -> None:
        self.n_calls = 0

        def pairs(x: Any, comm: Any = HERE, scale: int = 1) -> tuple[list[Any], int]:
            self.n_calls += 1
            return [x, x], scale

        self.function = decorator(pairs)


@pytest.fixture(autouse=True)
def _forget() -> Any:
    yield
    caching.clear_memory_cache(HERE)


def test_memory_keeps_the_object() -> None:
    counted = Counted(caching.memory_cache())
    first = counted.function(2, comm=HERE)
    assert counted.function(2, comm=HERE) is first
    assert counted.function(2, comm=HERE, scale=3) == ([2, 2], 3)
    assert counted.function(3, comm=HERE) == ([3, 3], 1)
    assert counted.n_calls == 3
    caching.clear_memory_cache(HERE)
    assert counted.function(2, comm=HERE) == first
    assert counted.n_calls == 4


def test_a_key_and_a_cache_of_ones_own() -> None:
    class Cache(dict[Any, Any]):
        pass

    counted = Counted(caching.memory_cache(hashkey=lambda x, comm: x % 10, make_cache=Cache))
    assert counted.function(12, HERE) is counted.function(2, HERE)
    records = [r for r in caching._KNOWN_CACHES if r.func_name.endswith("pairs")]
    cache = caching.get_comm_caches(HERE)[records[-1].cidx]
    assert type(cache) is Cache
    assert list(cache) == [2]


def test_files_are_shared_and_safe(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    one = Counted(caching.disk_only_cache(cachedir=folder))
    two = Counted(caching.memory_and_disk_cache(cachedir=folder))
    first = one.function(2, comm=HERE)
    assert two.function(2, comm=HERE) == first
    assert two.function(2, comm=HERE) is two.function(2, comm=HERE)
    assert (one.n_calls, two.n_calls) == (1, 0)
    [path] = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o666)  # anybody might have written to it
    assert one.function(2, comm=HERE) == first
    assert one.n_calls == 2
    path.write_bytes(b"no pickle")
    assert one.function(2, comm=HERE) == first
    assert one.n_calls == 3


def test_a_cache_in_files(tmp_path: Path) -> None:
    cache = caching.DictLikeDiskAccess(tmp_path / "kept", extension=".data")
    assert len(cache) == 0
    cache["a", 1] = [1]
    cache["b"] = None
    assert (cache["a", 1], cache["b"], len(cache)) == ([1], None, 2)
    del cache["b"]
    with pytest.raises(KeyError):
        cache["b"]
    with pytest.raises(KeyError):
        del cache["b"]
    with pytest.raises(DataTypeError, match="only by their digests"):
        iter(cache)
    assert sorted(os.listdir(tmp_path)) == ["kept"]


def test_the_cache_directory_is_the_default(tmp_path: Path) -> None:
    op2.configuration["cache_dir"] = str(tmp_path)
    try:
        Counted(caching.disk_only_cache()).function(1, comm=HERE)
        assert len(list((tmp_path / "functions").iterdir())) == 1
    finally:
        op2.exit()


def test_one_of_several_computes(tmp_path: Path) -> None:
    decorator = caching.disk_only_cache(
        cachedir=tmp_path, bcast=True, hashkey=lambda x, comm: x, get_comm=lambda x, comm: comm
    )
    counted = Counted(decorator)
    for _ in range(2):
        results = in_threads(3, lambda comm: counted.function(2, comm))
        assert results == [([2, 2], 1)] * 3
    assert counted.n_calls == 1


def test_a_cache_that_asks_for_no_communicator() -> None:
    counted = Counted(caching.serial_cache(hashkey=lambda x, **_: x))
    assert counted.function(2) is counted.function(2, scale=3)
    assert counted.n_calls == 1


def test_bad_communicators() -> None:
    counted = Counted(caching.memory_cache())
    with pytest.raises(DataTypeError, match="takes a communicator"):
        counted.function(2)

    with pytest.raises(HashError, match=r"pairs: its result is not kept: unhashable"):
        counted.function([2], comm=HERE)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = caching.nothing


def test_loops_are_counted_as_pyop2_counts_them() -> None:
    def cache() -> Any:
        found = [r.cidx for r in caching._KNOWN_CACHES if r.func_name == "compile_global_kernel"]
        return caching.get_comm_caches(HERE)[found[0]] if len(found) == 1 else None

    def swap(first: op2.Dat, second: op2.Dat) -> None:
        text = "void swap(double *x, double *y) { double t = x[0]; x[0] = y[0]; y[0] = t; }"
        op2.par_loop(op2.Kernel(text, "swap"), points, first(op2.RW), second(op2.RW))

    points = op2.Set(3, "points")
    one, two, counts = op2.Dat(points), op2.Dat(points), op2.Dat(points, dtype=int)
    cache().clear()
    assert len(cache()) == 0
    swap(one, two)
    swap(two, one)
    assert len(cache()) == 1
    add = op2.Kernel("void add(void *x) {}", "add")
    op2.par_loop(add, points, one(op2.RW))
    op2.par_loop(add, points, counts(op2.RW))
    assert len(cache()) == len(set(cache())) == 3
    caching.clear_memory_cache(HERE)
    assert len(cache()) == 0
    swap(one, two)
    assert ["swap" in str(text) for text in cache().values()] == [True]
