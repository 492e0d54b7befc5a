# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import ctypes
import gc

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CompilationError, ToolchainError, UsageError
from pyop2cxx.reports.bandwidth import CLibrary, Stream, last_level_cache_bytes, measure_stream


@pytest.mark.parametrize("threads", [1, 2])
def test_bandwidths_are_those_of_a_machine(threads):
    found = measure_stream(threads, repeats=2, array_bytes=1 << 20)
    assert (found.threads, found.array_bytes) == (threads, 1 << 20)
    assert 0 < found.copy < 1e16  # how fast is the machine's affair
    assert 0 < found.triad < 1e16


def test_threads_are_those_of_loops() -> None:
    op2.init(threads=1)
    assert measure_stream(repeats=1, array_bytes=1 << 16).threads == 1
    op2.exit()


def test_beyond_cache_means_four_times_the_last_level():
    sizes = {"threads": 1, "cache_bytes": 100, "copy": 1.0, "triad": 1.0}
    assert not Stream(array_bytes=399, **sizes).is_beyond_cache
    assert Stream(array_bytes=400, **sizes).is_beyond_cache


def test_the_last_level_cache_has_a_size():
    assert 0 < last_level_cache_bytes() < 1 << 48


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"repeats": 0}, {"array_bytes": 4}])
def test_numbers_that_measure_nothing_are_refused(wrong):
    with pytest.raises(UsageError, match="must be at least 1"):
        measure_stream(**{"threads": 1, "array_bytes": 1 << 10, **wrong})


def test_a_function_keeps_its_library_loaded():
    twice = CLibrary("double twice(double x) { return 2 * x; }", ()).function(
        "twice", ctypes.c_double
    )
    gc.collect()
    assert twice(ctypes.c_double(1.5)) == 3.0


def test_rejected_code_keeps_command_and_message():
    with pytest.raises(CompilationError) as raised:
        CLibrary("int x = ;", ("-DOPTION",))
    assert "-DOPTION" in raised.value.command
    assert "error" in raised.value.stderr


def test_a_missing_compiler_is_named():
    op2.init(cc="no-such-compiler")
    try:
        with pytest.raises(ToolchainError, match="no-such-compiler"):
            measure_stream(1, array_bytes=1 << 10)
    finally:
        op2.exit()
