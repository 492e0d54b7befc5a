# SPDX-License-Identifier: BSD-3-Clause
"""Where the time went: by the device's own clock, and no number rather than a wrong one."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small_world import World, run_python

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAVY = """
static void heavy(double *x) {
  for (int i = 0; i < 200; ++i) x[0] = x[0] * 0.999 + 1.0;
}"""


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    runtime.engine.jit_table.clear()
    runtime.engine.timings.clear()
    yield
    op2.exit()


def is_device(backend: str) -> bool:
    return backend in ("opencl", "cuda")


def heavy(n: int = 20000, name: str = "heavy") -> op2.ParLoop:
    cells = op2.Set(n, "cells")
    kernel = op2.Kernel(HEAVY.replace("heavy", name), name)
    return op2.ParLoop(kernel, cells, op2.Dat(cells, np.ones(n), name="x")(op2.RW))


def cost(p: Any, name: str) -> Any:
    (found,) = [row for row in p.loops if row.loop == name]
    return found


def test_all_calls_of_a_host_and_samples_of_a_device_are_measured(backend: str) -> None:
    loop = heavy()
    loop.compute()
    with op2.profile(every=4) as p:
        for _ in range(10):
            loop.compute()
    row = cost(p, "heavy")
    assert (row.backend, row.calls) == (backend, 10)
    assert row.bytes == 10 * loop.useful_bytes
    assert row.measured == (3 if is_device(backend) else 10)  # calls 0, 4 and 8
    assert row.seconds > 0
    assert row.rate == pytest.approx(row.bytes / row.seconds)
    assert (row.enqueue_seconds > 0) == is_device(backend)


def test_a_device_tells_its_own_time(device: _core.Device) -> None:
    """Enqueueing takes no time that depends on the work; the device's clock shows the work."""
    n_large = 400_000 if device.info.is_cpu else 20_000_000  # a GPU starts kernels for 5 us
    small, large = heavy(1000, "small"), heavy(n_large, "large")
    for loop in (small, large):
        loop.compute()
    op2.wait()
    with op2.profile(every=1) as p:
        for loop in (small, large) * 3:
            loop.compute()
    assert cost(p, "large").seconds > 5 * cost(p, "small").seconds
    assert sum(row.seconds for row in p.loops) <= p.seconds  # one after the other


def test_what_is_not_measured_has_no_number(device: _core.Device) -> None:
    loop = heavy()
    with op2.profile() as p:
        loop.compute()  # the very first: the driver still has to do what it puts off until then
    row = cost(p, "heavy")
    assert (row.calls, row.measured, row.seconds, row.rate) == (1, 0, None, None)
    assert row.compile_seconds > 0
    cells = str(p).splitlines()[1].split()
    assert cells[:8] == ["heavy", runtime.backend, "1", "0", "-", "-", "-", "-"]
    timing = op2.timings()["heavy"]
    assert timing["enqueue_seconds"] > timing["seconds"] == 0.0


def test_all_calls_are_measured_where_that_is_asked_for(device: _core.Device) -> None:
    loop = heavy()
    with op2.profile(every=1) as p:
        loop.compute()
    assert (cost(p, "heavy").calls, cost(p, "heavy").measured) == (1, 1)
    assert cost(p, "heavy").seconds > 0
    with op2.profile() as p:
        loop.compute()
    assert cost(p, "heavy").measured == 1


def test_copies_and_plans_have_their_own_columns(device: _core.Device) -> None:
    w = World()
    with op2.profile() as p:
        op2.par_loop(op2.Kernel("void one(double *r) { *r = 1; }", "one"), w.nodes, w.r(op2.RW))
        w.r.data_ro  # noqa: B018
    assert {copy.to_device for copy in p.copies} >= {False}
    (back,) = [copy for copy in p.copies if not copy.to_device]
    assert (back.count, back.bytes) == (1, w.r.nbytes)
    assert "1 copies to the host" in str(p)
    assert cost(p, "one").plan_seconds >= 0


def test_the_table_compares_with_a_copy_within_the_device(device: _core.Device) -> None:
    loop = heavy()
    loop.compute()
    with op2.profile() as p:
        loop.compute()
    head, row, *_, legend = str(p).splitlines()
    assert head.split()[5:8] == ["ms/call", "GB/s", "/copy"]
    assert row.split()[7].endswith("%")
    assert f"a copy within {runtime.backend} moves " in legend


def test_loops_on_the_host_are_not_compared_with_a_copy() -> None:
    with op2.backend("sequential"), op2.profile() as p:
        heavy().compute()
    assert str(p).splitlines()[1].split()[7] == "-"


def test_a_trace_is_read_by_chrome(backend: str, tmp_path: Path) -> None:
    loop = heavy()
    before = _core.trace_clock()
    with op2.profile(every=1) as p:
        for _ in range(3):
            loop.compute()
    after = _core.trace_clock()
    p.trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    rows = {event["args"]["name"]: event["tid"] for event in events if event["ph"] == "M"}
    ran = [event for event in events if event.get("cat") == "loop"]
    assert [event["name"] for event in ran] == ["heavy"] * 3
    for event in ran:
        assert event["dur"] > 0
        if not is_device(backend) or runtime.engine.devices[0].info.is_cpu:
            # two clocks are read one after the other; on a busy machine milliseconds lie between
            assert before <= event["ts"] * 1e3 + 1e8
            assert event["ts"] * 1e3 <= after + 1e8
    assert ran[0]["tid"] == (rows["host"] if not is_device(backend) else max(rows.values()))
    kinds = {event["cat"] for event in events if event["ph"] == "X"}
    assert "plan" in kinds
    assert kinds & {"compile", "load"}  # the disk may have it
    assert ("enqueue" in kinds) == is_device(backend)


def test_events_that_are_not_kept_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    # a million events take longer than the test is worth; tests/cpp/base/test_trace.cpp counts them
    monkeypatch.setattr(_core.Trace, "n_dropped", property(lambda _: 3))
    with op2.profile() as p:
        runtime.coherence.trace.add(_core.TraceSpan("one", "copy", "host", 0, 1))
    assert str(p).splitlines()[-2].startswith("3 events came after the first 1, ")


def test_loops_that_were_resolved_before_cost_no_compilation() -> None:
    with op2.backend("sequential"):
        loop = heavy()
        loop.compute()
        with op2.profile() as p:
            loop.compute()
    assert cost(p, "heavy").compile_seconds == 0


def test_one_profile_at_a_time() -> None:
    with op2.profile(), pytest.raises(UsageError, match="another profile is being made"):
        op2.profile().__enter__()
    with op2.profile():  # the first one has ended
        pass
    with pytest.raises(UsageError, match="every 0 calls"):
        op2.profile(every=0)


def test_an_error_ends_a_profile() -> None:
    p = op2.profile()

    def fail() -> None:
        with p:
            heavy().compute()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert cost(p, "heavy").calls == 1
    assert not runtime.coherence.trace.is_on


def test_loops_that_wait_belong_to_the_profile_in_which_they_were_called(backend: str) -> None:
    op2.init(backend=backend, lazy=True)
    before, inside = heavy(100, "before"), heavy(100, "inside")
    before.compute()
    with op2.profile() as p:
        inside.compute()
    assert [(row.loop, row.calls) for row in p.loops] == [("inside", 1)]
    with op2.profile() as p:
        pass
    assert p.loops == ()


def test_a_function_of_several_loops_has_a_row_of_its_own(backend: str) -> None:
    cells = op2.Set(100, "cells")
    one, two = (
        op2.ParLoop(op2.Kernel(HEAVY.replace("heavy", name), name), cells, op2.Dat(cells)(op2.RW))
        for name in ("one", "two")
    )
    one.compute()
    with op2.profile(every=1) as p, op2.chain():
        one.compute()
        two.compute()
    row = cost(p, "one_two")
    assert len(p.loops) == row.calls == row.measured == 1
    assert row.bytes == one.useful_bytes + two.useful_bytes
    assert row.compile_seconds > 0
    assert {name: timing["calls"] for name, timing in op2.timings().items()} == {
        "one": 1,
        "one_two": 1,
    }


def test_long_names_leave_the_table_as_wide_as_it_is() -> None:
    names = [f"a_kernel_with_a_name_of_many_letters_{i}" for i in range(9)]
    cells = op2.Set(3, "cells")
    with op2.backend("sequential"), op2.profile() as p, op2.chain():
        for name in names:
            kernel = op2.Kernel(HEAVY.replace("heavy", name), name)
            op2.par_loop(kernel, cells, op2.Dat(cells)(op2.RW))
    (row,) = p.loops
    assert row.loop == "_".join(names)
    head, line = str(p).splitlines()[:2]
    assert max(len(head), len(line)) < 160
    assert line.startswith(f"{names[0]}_a_kernel")


def test_waiting_waits_for_loops(device: _core.Device) -> None:
    op2.wait()  # nothing to wait for
    loop = heavy(100000)
    loop.compute()
    op2.wait()


TOOL = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef void (*function)(void);
struct callbacks { size_t n_bytes; int (*find)(int, function ***, unsigned *); };
static int depth = 0;
static void say(const char *what) {
  FILE *file = fopen(getenv("RANGES"), "a");
  fprintf(file, "%d %s\n", depth, what);
  fclose(file);
}
static int push(const char *name) { say(name); return depth++; }
static int pop(void) { return --depth; }
int InitializeInjectionNvtx2(const void *(*find)(uint32_t)) {
  const struct callbacks *found = find(1);
  function **table = 0;
  unsigned n = 0;
  if (!found || found->n_bytes < sizeof *found || !found->find(1, &table, &n) || n < 12) return 0;
  *table[9] = (function)push;
  *table[11] = (function)pop;
  return 1;
}
"""

WATCHED = """
from pyop2cxx import op2
op2.init(backend="sequential")
x = op2.Dat(op2.Set(3))
for name in ("first", "second"):
    code = f"void {name}(double *x) {{ *x = 1; }}"
    op2.par_loop(op2.Kernel(code, name), x.dataset.set, x(op2.WRITE))
"""


def test_tools_of_nvidia_see_the_names_of_loops(tmp_path: Path) -> None:
    source, library = tmp_path / "tool.c", tmp_path / "tool.so"
    source.write_text(TOOL)
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    seen = tmp_path / "ranges"
    done = run_python(WATCHED, tmp_path, NVTX_INJECTION64_PATH=str(library), RANGES=str(seen))
    assert done.returncode == 0, done.stderr
    assert seen.read_text().splitlines() == ["0 par_loop 'first'", "0 par_loop 'second'"]
    done = run_python(WATCHED, tmp_path, NVTX_INJECTION64_PATH=str(tmp_path / "no such tool"))
    assert done.returncode == 0, done.stderr
