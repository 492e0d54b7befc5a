# SPDX-License-Identifier: BSD-3-Clause
"""What loops share: compile service, bounded memories, cache directory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from small_world import World, run_python, scale, statistics

from pyop2cxx import _core, op2
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Bounded, Engine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")


def test_bounded_forgets_what_was_used_longest_ago() -> None:
    memory = Bounded(2)
    memory.keep("a", 1)
    memory.keep("b", 2)
    assert memory.find("a") == 1
    memory.keep("c", 3)
    assert (memory.find("a"), memory.find("b"), memory.find("c")) == (1, None, 3)
    memory.keep("a", 4)
    memory.keep("d", 5)
    assert (memory.find("a"), memory.find("c"), len(memory)) == (4, None, 2)


def test_bounded_may_be_shared_by_threads() -> None:
    memory = Bounded(3)
    errors: list[Exception] = []

    def work(start: int) -> None:
        try:
            for i in range(3000):
                memory.keep((start + i) % 7, i)
                memory.find(i % 7)
        except Exception as error:  # any at all fails the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(memory) <= 3 + len(threads)


def test_the_service_follows_the_options(tmp_path: Path) -> None:
    options = {"cache_dir": str(tmp_path / "one"), "cc": "cc", "cxx": "c++", "threads": 0}
    engine = Engine(options, _core.Coherence())
    first = engine.service
    assert engine.service is first
    options["threads"] = 3
    assert engine.service is first
    assert engine.n_threads == 3
    for option, value in (("cache_dir", str(tmp_path / "two")), ("cc", "gcc"), ("cxx", "g++")):
        options[option] = value
        second = engine.service
        assert second is not first
        first = second


def test_flags_are_split_as_a_shell_does() -> None:
    engine = Engine({"cflags": "-DNAME='a b' -g"}, _core.Coherence())
    assert engine.option_flags("cflags") == ("-DNAME=a b", "-g")


def test_flags_and_options_that_change_the_binary_compile_again(tmp_path: Path) -> None:
    op2.init(backend="openmp", cache_dir=tmp_path)
    w = World()
    x, kernel = op2.Dat(w.nodes, [1.0] * 4), scale(2.0, "flagged")
    n_compiles = []
    for options in ({}, {}, {"cflags": "-DNDEBUG"}, {"debug": True}, {"debug": False}):
        op2.init(**options)
        op2.par_loop(kernel, w.nodes, x(op2.RW))
        n_compiles.append(statistics()[0])
    assert n_compiles == [1, 1, 2, 3, 3]
    assert x.data_ro.tolist() == [32.0] * 4


def test_a_loop_compiled_by_another_process_is_found_on_disk(tmp_path: Path) -> None:
    script = """
from pyop2cxx import op2
from pyop2cxx.runtime import runtime
op2.init(backend="openmp")
cells = op2.Set(2)
x = op2.Dat(cells, [1.0, 2.0])
op2.par_loop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
found = runtime.engine.service.statistics()
print(found.n_compiles, found.n_disk_hits, x.data_ro.tolist())
"""
    assert run_python(script, tmp_path).stdout == "1 0 [2.0, 4.0]\n"
    assert run_python(script, tmp_path).stdout == "0 1 [2.0, 4.0]\n"


@pytest.mark.parametrize("kind", ["read-only", "file", "below a file"])
def test_a_cache_that_cannot_be_written_costs_only_a_warning(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    if kind == "read-only":
        place.mkdir()
        place.chmod(0o500)
    else:
        place.write_text("")
    cache = place / "deeper" if kind == "below a file" else place
    script = """
from pyop2cxx import op2
cells = op2.Set(2)
x = op2.Dat(cells, [1.0, 2.0])
for factor in (2, 3):
    code = f"void times(double *x) {{ x[0] *= {factor}; }}"
    op2.par_loop(op2.Kernel(code, "times"), cells, x(op2.RW))
print(x.data_ro.tolist())
"""
    ran = run_python(script, tmp_path, PYOP2CXX_CACHE_DIR=str(cache))
    assert (ran.returncode, ran.stdout) == (0, "[6.0, 12.0]\n")
    if kind != "read-only" or os.geteuid() != 0:  # nothing is read-only for root
        assert ran.stderr.count("RuntimeWarning") == 1
        assert str(place) in ran.stderr
        assert "PYOP2CXX_CACHE_DIR" in ran.stderr


def test_backends_are_read_once() -> None:
    engine = runtime.engine
    assert engine.backend("openmp") is engine.backend("openmp")
    block = "k", "openmp", "block"
    assert engine.timing(block, 3) is engine.timing(block, 3)
    assert engine.timing(block, 3) is not engine.timing(block, 4)
    assert engine.timing(block, 3) is not engine.timing(("k", "openmp", "atomic"), 3)


def test_threads_follow_the_cpus_of_the_process() -> None:
    op2.init(threads=0)
    cpus = os.sched_getaffinity(0)
    before = runtime.engine.n_threads
    assert before == _core.available_threads()
    os.sched_setaffinity(0, {min(cpus)})
    try:
        assert runtime.engine.n_threads == 1
    finally:
        os.sched_setaffinity(0, cpus)
    assert runtime.engine.n_threads == before


@pytest.mark.parametrize("name", ["OMP_PROC_BIND", "GOMP_CPU_AFFINITY"])
def test_threads_bound_by_openmp_are_all_used(name: str) -> None:
    """OpenMP leaves the first thread a single CPU, as soon as a loop is loaded."""
    program = (
        "import os\n"
        "from pyop2cxx import op2\n"
        "from pyop2cxx.runtime import runtime\n"
        "before = len(os.sched_getaffinity(0))\n"
        "op2.init(backend='openmp')\n"
        "cells = op2.Set(5000)\n"
        "x = op2.Dat(cells)\n"
        "one = op2.Kernel('void one(double *x) { x[0] = 1; }', 'one')\n"
        "op2.par_loop(one, cells, x(op2.WRITE))\n"
        "print(len(os.sched_getaffinity(0)), runtime.engine.n_threads, before)\n"
    )
    value = {"OMP_PROC_BIND": "close", "GOMP_CPU_AFFINITY": "0-255"}[name]
    command = [sys.executable, "-c", program]
    environment = {**os.environ, name: value}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    bound, threads, before = map(int, done.stdout.split())
    assert bound == 1
    assert threads == before
