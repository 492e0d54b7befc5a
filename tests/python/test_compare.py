# SPDX-License-Identifier: BSD-3-Clause
"""A program on several backends, compared by ``pyop2cxx compare``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.cli import main
from pyop2cxx.reports.compare import Comparison, Outcome, chosen_backends, compare, differences

if TYPE_CHECKING:
    from pathlib import Path

    from pyop2cxx.base.arrays import Array

PROGRAM = """
import sys
import numpy as np
from pyop2cxx import op2

def main():
    nodes, edges = op2.Set(6, "nodes"), op2.Set(5, "edges")
    ends = op2.Map(edges, nodes, 2, [[i, i + 1] for i in range(5)], "ends")
    x, y = op2.Dat(nodes, np.arange(6.0) ** 2), op2.Dat(nodes, name="y")
    total = op2.Global(1, 0, dtype=np.int64, name="total")
    flux = op2.Kernel("void flux(const double *x, double *y) { y[0] += x[1] - x[0]; }", "flux")
    count = op2.Kernel("void count(long *n) { *n += 1; }", "count")
    half = op2.Kernel("void half(double *h, const double *y) { *h = y[0] / 2; }", "half")
    mat = op2.Mat(op2.Sparsity(nodes, ends), name="mat")
    add = op2.Kernel("void add(double *m) { m[0] += 1; m[3] += 2; }", "add")
    for _ in range(3):
        h = op2.Dat(nodes)
        op2.par_loop(flux, edges, x(op2.READ, ends), y(op2.INC, ends))
        op2.par_loop(half, nodes, h(op2.WRITE), y(op2.READ))
    op2.par_loop(count, edges, total(op2.INC))
    op2.par_loop(add, edges, mat(op2.INC, (ends, ends)))
    MORE

main()
"""


def program(folder: Path, more: str = "pass") -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("MORE", more))
    return str(path)


def outcome(backend: str, **values: Array) -> Outcome:
    return Outcome(backend=backend, seconds=1.0, error="", loops=(), values=values)


def test_all_that_loops_wrote_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program(tmp_path)
    assert main(["compare", "--json", "--backend", "openmp,sequential", path]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [run["backend"] for run in found["runs"]] == ["sequential", "openmp"]
    assert sorted({row["what"] for row in found["differences"]}) == [
        "Dat 'y'",
        "Dat of loop 'half', arg 0",
        "Global 'total'",
        "Mat 'mat'",
    ]
    assert all(row["fits"] for row in found["differences"])
    for run in found["runs"]:
        assert {name for name, *_ in run["loops"]} == {"flux", "half", "count", "add"}
        assert all(ran_on == run["backend"] for _, ran_on, *_ in run["loops"])
        assert all(seconds > 0.0 for _, _, seconds, _ in run["loops"])


def test_differences_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = "y.data[3] += op2.configuration['backend'] == 'openmp'"
    path = program(tmp_path, f"{more}; total.data[0] = len(op2.configuration['backend'])")
    assert main(["compare", "--backend", "sequential,openmp", path]) == 1
    printed = capsys.readouterr()
    assert "Dat 'y', sequential and openmp: 3.70e-02 of the largest value at [3]" in printed.out
    assert "Global 'total', sequential and openmp: 1 different values at [0]" in printed.out
    assert "objects agree" not in printed.out
    assert "sequential: " in printed.err
    assert main(["compare", "--tolerance", "0.1", "--backend", "sequential,openmp", path]) == 1
    assert "Dat 'y'" not in capsys.readouterr().out


def test_a_program_that_fails_on_a_backend_is_shown(tmp_path: Path) -> None:
    path = program(tmp_path, "assert op2.configuration['backend'] == 'sequential', 'too coarse'")
    found = compare(path, [], ["sequential", "openmp"], tell=lambda _: None)
    assert not found.fits
    assert "openmp: the program failed" in str(found)
    assert "AssertionError: too coarse" in str(found)


def test_a_program_that_ends_the_process_is_told(tmp_path: Path) -> None:
    path = program(tmp_path, "import os; os._exit(3)")
    found = compare(path, [], ["sequential", "openmp"], tell=lambda _: None)
    assert "status 3, before the end of the program" in str(found)


def test_a_program_that_chooses_its_backend_is_told(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\nfrom pyop2cxx import op2\nop2.init(backend=sys.argv[1])\n"
        "x = op2.Dat(op2.Set(3))\n"
        "one = op2.Kernel('void one(double *x) { *x = 1; }', 'one')\n"
        "with op2.profile():\n    op2.par_loop(one, x.dataset.set, x(op2.WRITE))\n"
    )
    names = ["sequential", "openmp"]
    strayed = compare(str(path), ["openmp"], names, tell=lambda _: None)
    assert not strayed.fits
    assert "sequential: the program chose openmp for its loops" in str(strayed)
    told: list[str] = []
    found = compare(str(path), ["{backend}"], names, tell=told.append)
    assert found.fits, str(found)
    assert [line.partition(":")[0] for line in told] == names


@pytest.mark.parametrize(
    ("one", "two", "largest", "place", "fits"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], 0.0, (), True),
        ([1.0, 2.0], [1.0, np.nan], np.inf, (1,), False),
        ([1.0, np.inf], [1.0, 2.0], np.inf, (1,), False),
        ([0.0, 0.0], [0.0, 1e-9], 1e-9, (1,), True),
        ([[4.0, 0.0]], [[3.0, 0.0]], 0.25, (0, 0), False),
        ([], [], 0.0, (), True),
        ([3, 4, 5], [3, 5, 6], 2.0, (1,), False),
        ([1 + 1j], [1 + 1j], 0.0, (), True),
    ],
)
def test_a_difference(
    one: list[float], two: list[float], largest: float, place: tuple[int, ...], fits: bool
) -> None:
    first, other = outcome("a", x=np.array(one)), outcome("b", x=np.array(two))
    (found,) = differences(first, other, None)
    assert (found.largest, found.place, found.fits) == (largest, place, fits)
    assert Comparison([first, other], None).fits is fits


def test_objects_of_another_shape_or_lacking_never_fit() -> None:
    first = outcome("a", x=np.zeros(3), y=np.zeros(1))
    other = outcome("b", x=np.zeros(4), z=np.zeros(1))
    found = {one.what: one.reason for one in differences(first, other, 1.0)}
    assert found["x"] == "float64[3] and float64[4]"
    assert found["y"] == "no loop on 'b' wrote the object"
    assert found["z"] == "no loop on 'a' wrote the object"


def test_wrong_requests_are_refused_before_the_program_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="unknown backend 'gpu'; there are: "):
        chosen_backends("sequential,gpu")
    with pytest.raises(UsageError, match="two backends at least, got sequential"):
        chosen_backends("sequential")
    with pytest.raises(UsageError, match="there is no file"):
        compare(str(tmp_path / "no.py"), [], ["sequential", "openmp"])
    names, left_out = chosen_backends("all")
    available = [one.name for one in op2.backends() if one.available]
    assert sorted(names) == sorted(available)
    assert names[0] == "sequential"
    assert len(left_out) == len(op2.backends()) - len(names)
    assert main(["compare", "--tolerance", "-1", program(tmp_path)]) == 1
    assert "tolerance -1.0: expected a number from 0 on" in capsys.readouterr().err
