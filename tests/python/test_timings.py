# SPDX-License-Identifier: BSD-3-Clause
"""What there is, and what it has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_world import FLUX, World, scale

from pyop2cxx import op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    runtime.engine.timings.clear()
    yield
    op2.exit()


@pytest.mark.usefixtures("host")
def test_timings_count_calls_of_every_kind() -> None:
    assert op2.timings() == {}
    w = World()
    loop, kernel = w.loop(), op2.Kernel(FLUX, "flux")
    loop.generate()
    assert op2.timings() == {}
    for _ in range(3):
        loop.compute()
    op2.par_loop(kernel, w.edges, *w.args())
    op2.par_loop(kernel, w.edges, *w.args())
    with op2.backend("openmp"):
        loop.compute()
    op2.par_loop(scale(), w.nodes, op2.Dat(w.nodes)(op2.RW))
    found = op2.timings()
    assert {name: row["calls"] for name, row in found.items()} == {"flux": 6, "scale": 1}
    assert found["flux"]["useful_bytes"] == 6 * loop.useful_bytes
    assert found["scale"]["useful_bytes"] == 2 * 4 * 8
    for row in found.values():
        assert 0 < row["seconds"] < 10
        assert 0 <= row["plan_seconds"] < 10


def test_timings_of_a_loop_that_failed_do_not_grow() -> None:
    w = World()
    loop = w.loop()
    loop.compute()
    with w.r.frozen_halo(op2.READ), pytest.raises(RuntimeError):
        loop.compute()
    assert op2.timings()["flux"]["calls"] == 1


def test_backends_say_what_they_would_use() -> None:
    op2.init(threads=2)
    found = {info.name: info for info in op2.backends()}
    assert set(found) == set(runtime.backend_names())
    for name in ("openmp", "sequential"):
        assert found[name].available
        assert found[name].reason == ""
        assert found[name].summary
    assert "threads: 2" in found["openmp"].details
    assert "threads: 1" in found["sequential"].details
    assert "cc" in found["openmp"].details


def test_backends_without_a_compiler_say_why_and_what_to_install() -> None:
    op2.init(cc="no-such-cc")
    for info in op2.backends():
        if info.name not in ("openmp", "sequential"):
            continue
        assert not info.available
        assert "looked for 'no-such-cc' in PATH=" in info.reason
        assert "apt-get install gcc" in info.reason
        assert info.details == ""
    op2.init(cc="cc")
    assert all(i.available for i in op2.backends() if i.name in ("openmp", "sequential"))
