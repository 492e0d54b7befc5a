# SPDX-License-Identifier: BSD-3-Clause
"""How blocks of chains end: interrupted, in another order than they began, in another thread."""

from __future__ import annotations

import shlex
import signal
import stat
import threading
from typing import TYPE_CHECKING

import pytest
from ring import record_all_blocks

from pyop2cxx import op2
from pyop2cxx.op2 import RW

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N = 40

pytestmark = pytest.mark.usefixtures("exits")


class Counted:
    """A Dat to which each loop adds one."""

    def __init__(self, text: str = "a[0] += 1;") -> None:
        self.cells = op2.Set(N, "cells")
        self.dat = op2.Dat(self.cells, name="counted")
        self.kernel = op2.Kernel(f"void count(double *a) {{ {text} }}", "count")

    def add(self) -> None:
        op2.par_loop(self.kernel, self.cells, self.dat(RW))

    def is_all(self, value: float) -> bool:
        return bool((self.dat.data_ro == value).all())


@pytest.fixture
def interrupting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A C compiler in whose first compilation the user presses Control-C."""
    # processes in the background ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done, script = tmp_path / "done", tmp_path / "cc"
    script.write_text(
        "#!/bin/sh\n"
        'case "$*" in *loop.c*)\n'
        f"  if [ ! -e {shlex.quote(str(done))} ]; then\n"
        f"    : > {shlex.quote(str(done))}; kill -INT $PPID; sleep 30\n"
        "  fi ;;\n"
        "esac\n"
        'exec cc "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PYOP2CXX_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    yield str(script)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("passes", [None, []], ids=["together", "one by one"])
def test_loops_of_an_interrupted_block_have_run(
    interrupting: str, passes: list[str] | None
) -> None:
    op2.init(backend="sequential", cc=interrupting)
    counted = Counted("a[0] += 1.0625 - 0.0625;")
    block = op2.chain(passes=passes)
    block.__enter__()
    for _ in range(7):
        counted.add()
    with pytest.raises(KeyboardInterrupt):
        block.__exit__(None, None, None)
    assert counted.is_all(7)


def test_loops_wait_on_after_an_interrupted_look(interrupting: str) -> None:
    op2.init(backend="sequential", cc=interrupting)
    counted, other = Counted("a[0] += 1.125 - 0.125;"), Counted("a[0] += 1.25 - 0.25;")
    with op2.chain():
        counted.add()
        other.add()
        with pytest.raises(KeyboardInterrupt):
            _ = counted.dat.data_ro
        assert counted.is_all(1)
    assert other.is_all(1)


def stepping(counted: Counted, n: int) -> Iterator[None]:
    with op2.chain():
        for _ in range(n):
            counted.add()
            yield


def test_blocks_of_generators_end_in_any_order() -> None:
    record_all_blocks()
    first, second = Counted(), Counted()
    one, two = stepping(first, 2), stepping(second, 4)
    for _ in range(3):
        for block in (one, two):
            next(block, None)
    assert op2.chain.pending() == ("count",) * 4  # the inner block, `two`, is still open
    second.add()
    assert second.is_all(4)
    assert first.is_all(2)
    two.close()
    assert op2.chain.pending() == ()
    first.add()
    with op2.chain() as chain:
        first.add()
        first.add()
        assert op2.chain.pending() == ("count",) * 2
    assert len(chain.explain().steps) == 1
    assert first.is_all(5)


def test_a_block_that_ends_in_another_thread_records_no_more() -> None:
    record_all_blocks()
    counted = Counted()
    block = stepping(counted, 2)
    next(block)
    thread = threading.Thread(target=block.close)
    thread.start()
    thread.join()
    counted.add()
    assert counted.is_all(2)
    with op2.chain():
        counted.add()
    assert counted.is_all(3)
