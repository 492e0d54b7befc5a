# SPDX-License-Identifier: BSD-3-Clause
"""The compile service as Python programs meet it: errors, Ctrl-C, processes, kill -9."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import _core
from pyop2cxx.exceptions import CompilationError, ToolchainError
from pyop2cxx.reports.cache import make_service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

C = _core.jit.Language.c
Origin = _core.jit.Origin

PROGRAM = """
import sys
from pyop2cxx import _core
from pyop2cxx.reports.cache import make_service
service = make_service(cache_dir=sys.argv[1], cc=sys.argv[2])
loaded = service.load(sys.argv[3], _core.jit.Language.c, [], "test")
print(loaded.origin.name)
"""


def source_of(value: int) -> str:
    return f"int value(void) {{ return {value}; }}\n"


def call(loaded: _core.jit.Loaded) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int)(loaded.library.symbol("value"))())


def write_compiler(path: Path, body: str) -> str:
    """A stand-in whose ``body`` runs for real compilations only, before the system's compiler."""
    path.write_text(f'#!/bin/sh\ncase "$*" in *-shared*)\n{body}\n;; esac\nexec cc "$@"\n')
    path.chmod(0o700)
    return str(path)


def start(cache: Path, cc: str, source: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(cache), cc, source],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_compiled_then_memory_then_disk(tmp_path: Path) -> None:
    service = make_service(cache_dir=str(tmp_path / "cache"))
    first = service.load(source_of(7), C, [], "test")
    assert (first.origin, call(first)) == (Origin.compiled, 7)
    assert service.load(source_of(7), C, [], "test").origin == Origin.memory
    again = make_service(cache_dir=str(tmp_path / "cache")).load(source_of(7), C, [], "test")
    assert (again.origin, call(again), again.path) == (Origin.disk, 7, first.path)
    statistics = service.statistics()
    assert (statistics.n_compiles, statistics.n_memory_hits) == (1, 1)
    assert 0 < statistics.compile_seconds < first.seconds


def test_a_rejected_source_carries_everything_along(tmp_path: Path) -> None:
    service = make_service(cache_dir=str(tmp_path))
    with pytest.raises(CompilationError, match="rejected a generated source") as caught:
        service.load("int value(void) { return nonsense; }", C, [], "test")
    error = caught.value
    assert "nonsense" in error.stderr
    assert "-shared" in error.command
    with open(error.source_path) as file:
        assert file.read() == "int value(void) { return nonsense; }"


def test_a_missing_compiler_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYOP2CXX_CC", "no-such-cc")
    with pytest.raises(ToolchainError, match=r"looked for 'no-such-cc' in PATH=.*apt-get install"):
        make_service(cache_dir=str(tmp_path)).load(source_of(1), C, [], "test")


def test_a_missing_symbol_says_so(tmp_path: Path) -> None:
    loaded = make_service(cache_dir=str(tmp_path)).load(source_of(1), C, [], "test")
    with pytest.raises(ToolchainError, match="has no symbol 'other'"):
        loaded.library.symbol("other")


def test_other_threads_run_while_one_compiles(tmp_path: Path) -> None:
    cc = write_compiler(tmp_path / "slow", "sleep 0.5")
    service = make_service(cache_dir=str(tmp_path / "cache"), cc=cc)
    thread = threading.Thread(target=service.load, args=(source_of(1), C, [], "test"))
    thread.start()
    n_rounds = 0
    while thread.is_alive():
        time.sleep(0.01)
        n_rounds += 1
    assert n_rounds > 10


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, also where these tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_the_wait_for_a_compiler(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    started = tmp_path / "started"
    service = make_service(
        cache_dir=str(cache), cc=write_compiler(tmp_path / "slow", f"touch {started}; sleep 60")
    )

    def interrupt() -> None:
        wait_until(started.exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        service.load(source_of(1), C, [], "test")
    thread.join()
    assert time.monotonic() - begin < 60  # the compiler's sleep
    assert list((cache / "work").iterdir()) == []
    assert list(cache.glob("*.lock")) == []


def test_processes_run_the_compiler_once(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    cc = write_compiler(tmp_path / "counting", f"echo run >> {runs}; sleep 0.5")
    programs = [start(tmp_path / "cache", cc, source_of(2)) for _ in range(3)]
    origins = sorted(program.communicate()[0].strip() for program in programs)
    assert origins == ["compiled", "disk", "disk"]
    assert runs.read_text() == "run\n"


def test_kill_9_of_the_group_leaves_the_cache_valid(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    started = tmp_path / "started"
    cc = write_compiler(tmp_path / "slow", f"mkdir {started} 2>/dev/null && sleep 1")
    program = start(cache, cc, source_of(3))
    wait_until(started.exists)
    os.killpg(program.pid, signal.SIGKILL)
    assert program.communicate()[0] == ""
    assert list(cache.glob("*.so")) == []

    loaded = make_service(cache_dir=str(cache), cc=cc).load(source_of(3), C, [], "test")
    assert (loaded.origin, call(loaded)) == (Origin.compiled, 3)
    assert list((cache / "work").iterdir()) == []
    assert list(cache.glob("*.lock")) == []


def test_a_waiting_process_takes_over_from_a_killed_one(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    started = tmp_path / "started"
    cc = write_compiler(tmp_path / "slow", f"mkdir {started} 2>/dev/null && sleep 5")
    first = start(cache, cc, source_of(4))
    wait_until(started.exists)
    second = start(cache, cc, source_of(4))
    time.sleep(0.5)
    assert second.poll() is None
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert second.communicate()[0] == "compiled\n"


def test_kill_9_at_any_moment(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    delays = range(10, 210, 20)  # in ms, from before the import to after the end
    for delay in delays:
        program = start(cache, "cc", source_of(delay))
        time.sleep(delay / 1000)
        os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
        loaded = make_service(cache_dir=str(cache)).load(source_of(delay), C, [], "test")
        assert call(loaded) == delay
    service = make_service(cache_dir=str(cache))
    for delay in delays:
        assert service.load(source_of(delay), C, [], "test").origin == Origin.disk
    assert service.statistics().n_damaged == 0


def test_a_cache_that_cannot_be_used_is_noticed_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    service = make_service(cache_dir=str(tmp_path / "file"))
    assert call(service.load(source_of(1), C, [], "test")) == 1
    assert call(service.load(source_of(2), C, [], "test")) == 2
    [notice] = service.take_notices()
    assert "is not a directory; set PYOP2CXX_CACHE_DIR" in notice
    assert service.take_notices() == []


def test_threads_and_forks() -> None:
    assert 1 <= _core.available_threads() <= len(os.sched_getaffinity(0))
    script = (
        "import os\n"
        "from pyop2cxx import _core\n"
        "_core.note_parallel_region()\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(1 if _core.forked_after_parallel_region() else 0)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1\n"
        "assert not _core.forked_after_parallel_region()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
