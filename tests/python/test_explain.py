# SPDX-License-Identifier: BSD-3-Clause
"""Why a loop runs as it does: of one loop, of a program, and on the command line."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.cli import main
from pyop2cxx.reports.explain_program import explain_program, watched
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")

HEAVY = """void heavy(const double *x, double *y) {
  for (int i = 0; i < 50; ++i)
    y[0] += x[0] * x[1];
}"""
SEARCH = """void search(const double *x, double *y) {
  double s = 0.0;
  while (x[0] > s) s += 1.0;
  for (int i = 0; i < 50; ++i) s += x[1] * i;
  y[0] += s;
}"""
PROGRAM = """
import sys
from pyop2cxx import op2
print("program", *sys.argv[1:])
cells = op2.Set(4, "cells")
x = op2.Dat(cells)
for _ in range(3):
    op2.par_loop(op2.Kernel("void twice(double *x) { *x *= 2; }", "twice"), cells, x(op2.RW))
op2.par_loop(op2.Kernel("void one(double *x) { *x = 1; }", "one"), cells, x(op2.WRITE))
"""


def edge_loop(code: str, name: str, **how: object) -> op2.ParLoop:
    edges, nodes = op2.Set(3, "edges"), op2.Set(4, "nodes")
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3]], "ends")
    x, y = op2.Dat(edges**2), op2.Dat(nodes)
    return op2.ParLoop(op2.Kernel(code, name), edges, x(op2.READ), y(op2.INC, ends), **how)


def test_explanation_agrees_with_what_is_generated() -> None:
    op2.init(backend="openmp")
    for how in ({}, {"lanes": 4}, {"strategy": "colour"}):
        loop = edge_loop(HEAVY, "heavy", **how)
        found, code = loop.explain(), loop.generate()
        assert (found.strategy, found.why) == (code.strategy, code.why)
        assert (found.lanes, found.why_lanes) == (code.lanes, code.why_lanes)
        assert found.backend == "openmp"
        assert found.operations == 100
        assert found.scalars == 2 + 2 * 2
        assert found.bytes == loop.useful_bytes
        assert found.elements == 3


@pytest.mark.parametrize("backend", runtime.backend_names())
def test_what_is_possible_begins_with_what_the_rules_take(backend: str) -> None:
    with op2.backend(backend):
        found = edge_loop(HEAVY, "heavy").explain()
        forced = edge_loop(HEAVY, "heavy", strategy="colour").explain()
    assert next(iter(found.possible)) == found.strategy
    assert not found.possible.keys() & found.refused.keys()
    assert found.possible.keys() | found.refused.keys() == set(_core.STRATEGIES)
    ours = 2 * 8 + 2 * 2 * 8 + 2 * 4  # x, y both ways, the Map
    assert found.possible["atomic"] == (ours, 100)
    assert found.possible["owner"] == (2 * (2 * 8 + 2 * 4 + 4) + 2 * 2 * 8, 200)
    assert f"or owner: {88 / (ours + 4):.2f} times the bytes, 2.00 times the operations" in str(
        forced
    )


def dense_loop(name: str, text: str, n: int) -> op2.ParLoop:
    cells = op2.Set(3)
    a, b, c = (op2.Dat(cells ** (n * n)) for _ in range(3))
    kernel = op2.Kernel(text.replace("N", str(n)), name)
    return op2.ParLoop(kernel, cells, a(op2.READ), b(op2.READ), c(op2.WRITE))


def test_triangular_loops_count_in_full() -> None:
    text = """
    #include <math.h>
    void factor(const double *a, const double *b, double *l) {
      for (int i = 0; i < N; ++i)
        for (int j = 0; j <= i; ++j) {
          double s = a[N * i + j] + b[0];
          for (int k = 0; k < j; ++k) s -= l[N * i + k] * l[N * j + k];
          if (i == j) l[N * i + i] = sqrt(s);
          else l[N * i + j] = s / l[N * j + j];
        }
    }"""
    for n in (3, 16):
        found = dense_loop("factor", text, n).explain()
        in_loops = 2 * sum(j for i in range(n) for j in range(i + 1))
        assert found.operations == in_loops + 2 * (n * (n + 1) // 2)
        assert found.slow_operations == n * (n + 1) // 2
        assert "too little to gain" not in found.why_lanes or n == 3
        assert f"{found.slow_operations} divisions and roots" in str(found)


ROWS = """
void product(const double *a, const double *b, double *c) {
  for (int i = 0; i < N; ++i) {
    double row[N];
    for (int j = 0; j < N; ++j) row[j] = 0;
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j) row[j] += a[N * i + k] * b[N * k + j];
    for (int j = 0; j < N; ++j) c[N * i + j] = row[j];
  }
}"""


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_rows_are_left_to_the_compiler(backend: str) -> None:
    op2.init(backend=backend)
    loop = dense_loop("product", ROWS, 8)
    found, code = loop.explain(), loop.generate()
    assert found.lanes == 0
    assert found.operations == found.operations_in_rows == 2 * 8**3
    assert "in loops along rows" in found.why_lanes
    assert code.count("op2_rolled for") == 1  # not those that only copy
    assert "op2_rolled" not in loop.generate({"lanes": 4})
    short = dense_loop("product", ROWS, 4)
    assert short.explain().operations_in_rows == 0
    assert "op2_rolled" not in short.generate()


def test_rows_on_devices_are_loops_as_written() -> None:
    with op2.backend("cuda"):
        assert "op2_rolled" not in dense_loop("product", ROWS, 8).generate()


def test_reasons_quote_the_kernels_line() -> None:
    found = edge_loop(SEARCH, "search").explain()
    assert found.lanes == 0
    assert "how often a loop runs depends on data (line 3 of the kernel)" in found.why_lanes
    assert found.kernel_line == "line 3: while (x[0] > s) s += 1.0;"
    assert found.kernel_line in str(found)


def test_reasons_of_equal_kernels_name_the_lines_of_each() -> None:
    edge_loop(SEARCH, "search").explain()
    found = edge_loop("// looks for the first\n\n" + SEARCH, "search").explain()
    assert "(line 5 of the kernel)" in found.why_lanes
    assert found.kernel_line == "line 5: while (x[0] > s) s += 1.0;"


def test_text_names_everything_that_was_weighed() -> None:
    op2.init(backend="openmp")
    text = str(edge_loop(HEAVY, "heavy", lanes=0).explain())
    for part in (
        "par_loop 'heavy' over Set 'edges', made at",
        "backend              openmp",
        "strategy             block: ",
        "not direct: ",
        "lanes                none: asked for",
        "100 operations, 6 values moved (16.7 for each)",
        "3 elements",
        "lanes are used from  40 operations per element and 2 per value moved",
    ):
        assert part in text, text


def test_what_has_run_is_timed() -> None:
    op2.init(backend="openmp")
    loop = edge_loop(HEAVY, "heavy")
    before = loop.explain()
    assert (before.calls, before.seconds_per_call) == (0, None)
    assert "time per call" not in str(before)
    for _ in range(3):
        loop.compute()
    after = loop.explain()
    timing = op2.timings()["heavy"]
    assert after == before
    assert after.calls == 3
    assert after.seconds_per_call == pytest.approx(timing["seconds"] / 3)
    assert after.bytes_per_second == pytest.approx(timing["useful_bytes"] / timing["seconds"])
    assert "mean of 3 calls" in str(after)
    assert after.as_dict()["calls"] == 3
    with op2.backend("sequential"):
        assert loop.explain().seconds_per_call is None


def test_a_loop_that_has_run_tells_its_plan() -> None:
    op2.init(backend="openmp")
    loop = edge_loop(HEAVY, "heavy", strategy="colour")
    assert (loop.explain().colours, loop.explain().plan_bytes) == (0, 0)
    loop.compute()
    found = loop.explain()
    assert found.colours == 2
    assert found.plan_bytes > 0
    assert "2 colours, " in str(found)


def test_times_of_devices_are_measured_or_not_told() -> None:
    op2.init(backend="opencl")
    loop = edge_loop(HEAVY, "heavy")
    loop.compute()
    assert loop.explain().seconds_per_call is None
    with op2.profile():
        loop.compute()
    found = loop.explain()
    assert found.calls == 1
    assert 0 < (found.seconds_per_call or 0) < 10


@pytest.mark.usefixtures("host")
def test_opaque_kernels_have_no_figures() -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells)
    kernel = op2.Kernel("void f(double *x) { *x += 1; }", "f", cpp=True)
    found = op2.ParLoop(kernel, cells, x(op2.RW)).explain()
    assert found.operations is None
    assert "opaque" in found.why_lanes
    assert "unknown operations" in str(found)


def test_static_programs_are_explained_without_sizes() -> None:
    op2.init(static=True)
    found = edge_loop(HEAVY, "heavy").explain()
    assert found.bytes is None
    assert "vector registers: unknown" in str(found)


@pytest.mark.usefixtures("host")
def test_columns_are_asked_for_less() -> None:
    columns, points = op2.ExtrudedSet(op2.Set(2), 4), op2.Set(8)
    c2p = op2.Map(columns, points, 2, [[0, 1], [4, 5]], offset=[1, 1])
    y = op2.Dat(points)
    kernel = op2.Kernel("void f(double *y) { y[0] += 1; y[1] += 1; }", "f")
    found = op2.ParLoop(kernel, columns, y(op2.INC, c2p)).explain()
    assert found.least_operations_a_scalar == 1


def test_watched_collects_each_decision_once() -> None:
    loop = edge_loop(HEAVY, "heavy")
    with watched() as found:
        loop.compute()
        loop.compute()
        loop.generate()
    assert [one.loop for one in found] == ["heavy"]
    assert runtime.on_loop is None


@pytest.mark.usefixtures("host")
def test_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    before = list(sys.argv), list(sys.path)
    assert main(["explain", str(path), "--fast", "7"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("program --fast 7\npar_loop 'twice' over Set 'cells'")
    assert printed.count("par_loop '") == 2
    assert "mean of 3 calls; " in printed
    assert (list(sys.argv), list(sys.path)) == before
    assert main(["explain", "--loop", "one", "--backend", "openmp", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    (row,) = json.loads(printed[printed.index("[") :])
    assert (row["loop"], row["backend"], row["strategy"]) == ("one", "openmp", "direct")


def test_programs_that_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        explain_program(str(tmp_path / "none.py"), ())
    assert main(["explain", str(tmp_path / "none.py")]) == 1
    assert "there is no file" in capsys.readouterr().err
    path = tmp_path / "program.py"
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(SystemExit, match="3"):
        explain_program(str(path), ())
    path.write_text("import sys\nsys.exit(0)\n")
    assert main(["explain", str(path)]) == 0
    assert capsys.readouterr().out == "no loop was generated or run\n"


def test_sizes_are_told_apart() -> None:
    op2.init(backend="sequential")
    runtime.engine.timings.clear()
    kernel = op2.Kernel("void sized(double *x) { x[0] += 1; }", "sized")

    def loop(n: int) -> op2.ParLoop:
        nodes = op2.Set(n)
        made = op2.ParLoop(kernel, nodes, op2.Dat(nodes)(op2.RW))
        return made

    small, large = loop(33), loop(500_000)
    for _ in range(3):
        small.compute()
    large.compute()
    a, b = small.explain(), large.explain()
    assert (a.calls, b.calls) == (3, 1)
    assert a.seconds_per_call != b.seconds_per_call
    assert op2.timings()["sized"]["calls"] == 4
    with op2.profile() as profile:
        small.compute()
        large.compute()
    (row,) = [one for one in profile.loops if one.loop == "sized"]
    assert row.calls == 2
    part = op2.Subset(large.iterset, range(33))
    some = op2.ParLoop(kernel, part, op2.Dat(large.iterset)(op2.RW))
    some.compute()
    assert some.explain().calls == 5  # over as many elements


def test_sizes_that_change_at_each_step_are_bounded() -> None:
    op2.init(backend="sequential")
    runtime.engine.timings.clear()
    kernel = op2.Kernel("void sized(double *x) { x[0] += 1; }", "sized")
    nodes = op2.Set(200)
    x = op2.Dat(nodes)
    for n in range(1, 150):
        op2.par_loop(kernel, op2.Subset(nodes, range(n)), x(op2.RW))
    assert len(runtime.engine.timings) < 50
    assert op2.timings()["sized"]["calls"] == 149
    loop = op2.ParLoop(kernel, op2.Subset(nodes, range(140)), x(op2.RW))
    assert loop.explain().calls == 149 - 127
