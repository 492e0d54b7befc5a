# SPDX-License-Identifier: BSD-3-Clause
"""The garbage collector is as it was after anything that pauses it."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import pytest

from pyop2cxx.base.collector import paused


@pytest.fixture(autouse=True)
def _collects():
    yield
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_it_is_as_before(enabled: bool) -> None:
    if not enabled:
        gc.disable()
    with paused():
        assert not gc.isenabled()
    assert gc.isenabled() == enabled


def test_what_was_made_within_is_old_at_the_end() -> None:
    gc.unfreeze()  # what somebody in this process has frozen
    with paused():
        made = [[] for _ in range(5000)]
    young = {id(one) for generation in (0, 1) for one in gc.get_objects(generation)}
    assert not young.intersection(map(id, made))


def test_cycles_made_within_are_still_collected() -> None:
    class Node:
        pass

    with paused():
        node = Node()
        node.itself = node
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None


def test_what_is_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        with paused():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_also_where_an_import_fails() -> None:
    with pytest.raises(ImportError), paused():
        raise ImportError
    assert gc.isenabled()


@pytest.mark.parametrize("what", ["op2", "fem"])
def test_nothing_is_collected_while_the_package_is_imported(what: str) -> None:
    if what == "fem":
        pytest.importorskip("ufl")
    program = (
        "import gc, pyop2cxx\n"
        "try:\n    import ufl, basix.ufl\nexcept ImportError:\n    pass\n"
        "seen = []\n"
        "gc.callbacks.append(lambda phase, info: seen.append(info['generation']))\n"
        f"from pyop2cxx import {what}\n"
        "gc.callbacks.clear()\n"
        "print(gc.isenabled(), 2 in seen)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True False\n", done.stderr
