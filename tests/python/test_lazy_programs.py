# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs under ``init(lazy=True)``: the demos that PyOP2 has, and how often chains ran."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ring import MORE, TWICE
from small_world import run_python

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Iterator

DEMOS = Path(__file__).parents[2] / "demos"


@pytest.fixture(autouse=True)
def _lazy() -> Iterator[None]:
    op2.exit()
    op2.init(lazy=True)
    yield
    op2.init(lazy=False)
    op2.exit()


@pytest.mark.parametrize(
    ("name", "is_repeated"),
    [
        ("advection_diffusion", True),
        ("aero", True),
        ("burgers", True),
        ("jacobi", False),  # one chain of all steps
        ("mass_laplace", False),
    ],
)
def test_demos_pass_their_checks_and_chains_are_known_again(
    name: str,
    is_repeated: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name != "jacobi" and name != "aero":
        pytest.importorskip("ffcx")
    monkeypatch.syspath_prepend(str(DEMOS))
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert importlib.import_module(name).main([]) == 0
    assert "check: passed" in capsys.readouterr().out
    counts = op2.chain.counts()
    assert counts.runs > 0
    assert (counts.known > counts.runs / 2) == is_repeated, counts


def test_who_looks_at_values_runs_what_they_need_and_no_more() -> None:
    cells = op2.Set(2)
    x, y, z = (op2.Dat(cells, [1.0, 2.0], name=name) for name in "xyz")
    for _ in range(3):
        op2.par_loop(MORE, cells, x(op2.RW))
        op2.par_loop(TWICE, cells, y(op2.WRITE), x(op2.READ))
        op2.par_loop(MORE, cells, z(op2.RW))
        before = op2.chain.counts()
        assert y.data_ro[0] == 2 * (x.data_ro[0])
        assert op2.chain.pending() == ("more",)
        after = op2.chain.counts()
        assert (after.runs - before.runs, after.partial - before.partial) == (1, 1)
        assert z.data_ro[1] == x.data_ro[1]
    assert op2.chain.counts() == type(before)(runs=6, known=4, partial=3)


def test_the_environments_lazy_holds_again_after_exit(tmp_path: Path) -> None:
    program = """
from pyop2cxx import op2
op2.exit()
x = op2.Dat(op2.Set(2), [1.0, 2.0])
twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
op2.par_loop(twice, x.dataset.set, x(op2.RW))
print(op2.chain.pending(), x.data_ro)
op2.exit()
op2.init(lazy=False)
op2.par_loop(twice, x.dataset.set, x(op2.RW))
print(op2.chain.pending(), x.data_ro)
"""
    ran = run_python(program, tmp_path, PYOP2CXX_LAZY="1")
    assert ran.stdout == "('twice',) [2. 4.]\n() [4. 8.]\n", ran.stderr
