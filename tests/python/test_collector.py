# SPDX-License-Identifier: BSD-3-Clause
"""The garbage collector is as it was after anything that pauses it."""

from __future__ import annotations

import gc
import subprocess
import sys

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
