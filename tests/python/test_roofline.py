# SPDX-License-Identifier: BSD-3-Clause
"""Loops below the ceilings of the machine: table, picture and command."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.ceilings import Ceilings
from pyop2cxx.reports.cli import main
from pyop2cxx.reports.profile import LoopCost
from pyop2cxx.reports.roofline import Roofline
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
import numpy as np
from pyop2cxx import op2
cells = op2.Set(40000, "cells")
x, y = op2.Dat(cells, np.ones(40000), name="x"), op2.Dat(cells, name="y")
axpy = op2.Kernel("void axpy(double *y, const double *x) { y[0] += 2.0 * x[0]; }", "axpy")
BEFORE
for _ in range(8):
    op2.par_loop(axpy, cells, y(op2.RW), x(op2.READ))
AFTER
"""
MACHINE = Ceilings(
    copy=10e9, cache=50e9, scalar={4: 5e9, 8: 5e9}, lanes={4: 80e9, 8: 40e9}, launch=1e-6
)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    runtime.engine.timings.clear()
    yield
    op2.exit()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take given ceilings: the measurement has a test of its own."""
    monkeypatch.setattr("pyop2cxx.reports.profile.ceilings", lambda *_: MACHINE)


def program(folder: Path, before: str = "", after: str = "") -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("BEFORE", before).replace("AFTER", after))
    return str(path)


def profiled(kernel: op2.Kernel, n: int = 100, dtype: str = "float64") -> Any:
    cells = op2.Set(n, "cells")
    x, y = op2.Dat(cells, np.ones(n), dtype=dtype), op2.Dat(cells, dtype=dtype)
    loop = op2.ParLoop(kernel, cells, y(op2.RW), x(op2.READ))
    loop.compute()
    with op2.profile(every=1) as p:
        for _ in range(3):
            loop.compute()
    return p


def cost(seconds: float | None, n_bytes: int, operations: int | None, **given: Any) -> LoopCost:
    about = {"loop": "k", "backend": "openmp", "calls": 10, "float_bytes": 8, **given}
    return LoopCost(
        strategy="direct",
        measured=10,
        seconds=seconds,
        enqueue_seconds=0.0,
        bytes=n_bytes,
        operations=operations,
        plan_seconds=0.0,
        compile_seconds=0.0,
        **about,
    )


def placed(*given: Any, **more: Any) -> Any:
    return Roofline([cost(*given, **more)], {"openmp": MACHINE}).loops[0]


def test_operations_of_a_loop_are_counted(backend: str) -> None:
    text = "void k(double *y, const double *x) { for (int i = 0; i < 5; ++i) y[0] += 2 * x[0]; }"
    (row,) = profiled(op2.Kernel(text, "k")).loops
    assert (row.backend, row.operations, row.float_bytes) == (backend, 3 * 100 * 10, 8)


def test_operations_of_graphs_and_chains_are_those_of_their_loops() -> None:
    cells = op2.Set(50, "cells")
    x, y, z = (op2.Dat(cells, np.ones(50), name=name) for name in "xyz")
    one = op2.Kernel("void one(double *y, const double *x) { y[0] = 3.0 * x[0]; }", "one")
    two = op2.Kernel("void two(double *z, const double *y) { z[0] = y[0] + y[0] * y[0]; }", "two")

    def both() -> None:
        op2.par_loop(one, cells, y(op2.WRITE), x(op2.READ))
        op2.par_loop(two, cells, z(op2.WRITE), y(op2.READ))

    with op2.backend("sequential"), op2.profile() as p:
        for _ in range(3):
            with op2.chain():
                both()
    assert sum(row.operations for row in p.loops) == 3 * 50 * 3
    with op2.backend("sequential"):
        run = op2.record(both)
        run.submit()
        with op2.profile() as p:
            for _ in range(4):
                run.submit()
    assert sum(row.operations for row in p.loops) == 4 * 50 * 3


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("void k(float *y, const float *x) { y[0] += 2 * x[0]; }", (6, 4)),
        ("void k(double *y, const double *x) { while (y[0] < 5) y[0] += x[0]; }", (None, 8)),
        ("void k(double *y, const double *x) { int n = x[0]; for (int i = 0; i < n; ++i) "
         "y[0] += x[0]; }", (None, 8)),
        ("void k(double *y, const double *x) { goto end; end: y[0] += x[0]; }", (None, 8)),
        ("void k(long *y, const long *x) { y[0] += 2 * x[0]; }", (0, 0)),
    ],
)  # fmt: skip
def test_unknown_operations_are_told(text: str, given: tuple[int | None, int]) -> None:
    dtype = "float32" if "float" in text else "int64" if "long" in text else "float64"
    with op2.backend("sequential"):
        (row,) = profiled(op2.Kernel(text, "k"), 1, dtype).loops
    assert (row.operations, row.float_bytes) == given


def test_a_count_given_by_the_user_holds() -> None:
    text = "void k(double *y, const double *x) { while (y[0] < 5) y[0] += x[0]; }"
    with op2.backend("sequential"):
        (row,) = profiled(op2.Kernel(text, "k", flop_count=7), 10).loops
    assert row.operations == 3 * 10 * 7


@pytest.mark.parametrize(
    ("given", "bound", "share"),
    [
        ((1.0, 8_000_000_000, 1_000_000_000), "memory", 0.8),
        ((1.0, 25_000_000_000, 3_000_000_000), "cache", 0.5),
        ((1.0, 1_000_000_000, 30_000_000_000), "compute", 0.75),
        ((2e-5, 80_000, 10_000), "latency", 0.4),
        ((1.0, 0, 20_000_000_000), "compute", 0.5),
        ((1.0, 8_000_000_000, None), "unknown", None),
        ((None, 8_000_000_000, 10), "not measured", None),
    ],
)
def test_the_nearest_ceiling_binds(given: Any, bound: str, share: float | None) -> None:
    one = placed(*given)
    assert one.bound == bound
    assert one.of_ceiling == (share if share is None else pytest.approx(share))
    if given[0] and given[1] and given[2]:
        assert one.intensity == pytest.approx(given[2] / given[1])
        assert one.of_copy == pytest.approx(given[1] / given[0] / MACHINE.copy)


def test_single_precision_has_a_peak_of_its_own() -> None:
    given = (1.0, 1_000_000_000, 40_000_000_000)
    assert placed(*given, float_bytes=4).of_ceiling == pytest.approx(0.5)
    assert placed(*given, float_bytes=8).of_ceiling == pytest.approx(1.0)


def test_points_lie_at_their_place_and_others_are_named() -> None:
    costs = [
        cost(1.0, 8_000_000_000, 1_000_000_000, loop="a<b"),
        cost(1.0, 8_000_000_000, None, loop="opaque"),
        cost(1.0, 8_000_000_000, 0, loop="whole", float_bytes=0),
        cost(None, 10, 10, loop="late"),
    ]
    found = Roofline(costs, {"openmp": MACHINE})
    root = ET.fromstring(found.to_svg())
    ns = {"s": "http://www.w3.org/2000/svg"}
    (circle,) = root.findall(".//s:circle", ns)
    assert circle.find("s:title", ns).text == "a<b"
    texts = [one.text or "" for one in root.findall(".//s:text", ns)]
    for name, why in (
        ("opaque", "operations unknown"),
        ("whole", "no operations on real numbers"),
        ("late", "no call was measured"),
    ):
        assert any(name in one and f"not drawn: {why}" in one for one in texts)
    (copy,) = [one for one in root.findall(".//s:line", ns) if one.get("stroke-width") == "1.5"]
    x, y = float(circle.get("cx")), float(circle.get("cy"))
    x0, y0, x1, y1 = (float(copy.get(name)) for name in ("x1", "y1", "x2", "y2"))
    roof = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    assert y > roof  # below the line of the copy, at 80 per cent
    scale = (y0 - y1) / np.log(MACHINE.lanes[8] / (MACHINE.copy * np.exp(np.log(1.0))))
    assert abs(y - roof) < 20
    assert scale > 0


def test_table_and_json(quick: None, tmp_path: Path) -> None:
    text = "void k(double *y, const double *x) { y[0] += 2 * x[0]; }"
    with op2.backend("sequential"):
        found = profiled(op2.Kernel(text, "k")).roofline(tmp_path / "picture.svg")
    head, row, below = str(found).splitlines()
    assert head.split() == [
        *("loop", "backend", "calls", "ms", "GB/s", "/copy", "operations/byte", "GFlop/s"),
        *("/ceiling", "bound"),
    ]
    assert row.split()[:3] == ["k", "sequential", "3"]
    assert f"{2 / 24:.3g}" in row
    assert "a copy moves 10 GB/s, within a cache 50" in below
    assert "5 GFlop/s, 40 on lanes (double)" in below
    assert (tmp_path / "picture.svg").read_text() == found.to_svg()
    assert "<svg" in found._repr_html_()
    assert json.loads(json.dumps(found.as_dict()))["loops"][0]["loop"] == "k"


def test_bad_questions_are_refused(quick: None, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ask below the block"):
        op2.profile().roofline()
    with op2.profile() as p, pytest.raises(UsageError, match="ask below the block"):
        p.roofline()
    with pytest.raises(UsageError, match="no loop ran"):
        p.roofline()
    for name, why in (("a.png", "end with .svg"), ("no/a.svg", "no directory"), ("", "svg")):
        with pytest.raises(UsageError, match=why):
            p.roofline(tmp_path / name)


def test_command_prints_a_table_and_draws(
    quick: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "picture.svg"
    given = ["roofline", "--backend", "sequential", "-o", str(picture), program(tmp_path)]
    assert main(given) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].split()[:3] == ["axpy", "sequential", "8"]
    ET.fromstring(picture.read_text())
    assert main(["roofline", "--json", program(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["loops"][0]["calls"] == 8


@pytest.mark.parametrize("again", ["op2.exit()", "op2.init(backend='openmp')"])
def test_profiles_and_ends_in_the_program_hide_nothing(
    quick: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], again: str
) -> None:
    own = "with op2.profile() as p:\n    op2.par_loop(axpy, cells, y(op2.RW), x(op2.READ))\n"
    more = f"{own}assert p.loops[0].calls == 1\n{again}"
    given = ["roofline", "--backend", "sequential", program(tmp_path, own, more)]
    assert main(given) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["axpy", "sequential", "10"]


def test_failed_programs_are_told(
    quick: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["roofline", program(tmp_path, after="import sys; sys.exit(3)")]) == 3
    found = capsys.readouterr()
    assert "axpy" in found.out
    assert "ended with status 3" in found.err
    assert main(["roofline", program(tmp_path, before="raise ValueError('early')")]) == 1
    found = capsys.readouterr()
    assert not found.out
    assert "ValueError: early" in found.err
    assert "no loop ran before" in found.err


def test_wrong_commands_are_refused_before_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "ran"
    path = program(tmp_path, before=f"open({str(mark)!r}, 'w').close(); raise SystemExit")
    for arguments, why in (
        (["-o", str(tmp_path / "a.pdf"), path], "end with .svg"),
        (["-o", str(tmp_path / "no" / "a.svg"), path], "no directory"),
        (["--backend", "abacus", path], "abacus"),
        ([str(tmp_path / "none.py")], "no file"),
    ):
        assert main(["roofline", *arguments]) == 1
        assert why in capsys.readouterr().err
        assert not mark.exists()
    assert main(["roofline", path]) == 1
    assert "no loop ran" in capsys.readouterr().err
