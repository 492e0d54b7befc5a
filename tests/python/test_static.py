# SPDX-License-Identifier: BSD-3-Clause
"""Static mode: text without sizes, data, Maps' values or compilers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_world import FLUX, World, run_python, statistics

from pyop2cxx import op2
from pyop2cxx.exceptions import StaticModeError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = f"""
import os, shutil, sys
from pyop2cxx import op2
from pyop2cxx.exceptions import StaticModeError
from pyop2cxx.runtime import runtime
assert shutil.which("cc") is None and shutil.which("gcc") is None
op2.init(static=True)
nodes, edges = op2.Set(name="nodes"), op2.Set(name="edges")
e2n = op2.Map(edges, nodes, 2, name="e2n")
q, r, total = op2.Dat(nodes**2, name="q"), op2.Dat(nodes**2, name="r"), op2.Global(1, name="total")
args = (q(op2.READ, e2n), r(op2.INC, e2n), total(op2.INC))
kernel = op2.Kernel({FLUX!r}, "flux")
loop = op2.ParLoop(kernel, edges, *args)
for name in runtime.backend_names():
    with op2.backend(name):
        code = loop.generate()
        assert "flux(q_pack, r_pack, total_pack)" in code, code
        print(name, code.strategy, *code.files)
        for run in (loop.compute, loop, lambda: op2.par_loop(kernel, edges, *args)):
            try:
                run()
            except StaticModeError as error:
                assert "par_loop 'flux': 'compute' needs loops that run" in str(error), error
                assert "generate()" in str(error), error
            else:
                raise AssertionError("it ran")
for info in op2.backends():
    if info.name in ("openmp", "sequential"):
        assert not info.available and "no-such-cc" in info.reason, info
"""


def test_every_backends_text_comes_out_where_there_is_no_compiler(tmp_path: Path) -> None:
    ran = run_python(
        PROGRAM,
        tmp_path,
        PATH="",
        PYOP2CXX_CC="/dev/null/no-such-cc",
        PYOP2CXX_CXX="/dev/null/no-such-cc",
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(runtime.backend_names())
    assert "openmp block flux_openmp_block.c" in lines
    assert "sequential direct flux_sequential_direct.c" in lines
    assert not (tmp_path / "cache").exists()


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n, q, g: n.size, "Set 'nodes': 'size' is unknown"),
        (lambda n, q, g: n.total_size, "Set 'nodes': 'total_size' is unknown"),
        (lambda n, q, g: q.data, "Dat 'q' on Set 'nodes': 'data' needs loops that run"),
        (lambda n, q, g: q.data_ro, "'data_ro' needs loops that run"),
        (lambda n, q, g: q.data_with_halos, "'data_with_halos' needs loops that run"),
        (lambda n, q, g: q.shape, "'shape' is unknown"),
        (lambda n, q, g: g.data, "Global 'g': 'data' needs loops that run"),
    ],
)
def test_what_needs_data_says_which_member_was_asked_for(ask: object, message: str) -> None:
    nodes = op2.Set(name="nodes")
    with pytest.raises(StaticModeError, match=message):
        ask(nodes, op2.Dat(nodes**2, name="q"), op2.Global(1, name="g"))


def test_static_text_is_the_running_programs_text() -> None:
    def texts() -> list[str]:
        loop = World().loop()
        found = []
        for backend in runtime.backend_names():
            with op2.backend(backend):
                found.append(str(loop.generate({"any_device": True})))
        return found

    running = texts()
    op2.init(static=True)
    static = texts()
    op2.exit()
    assert static == running


def test_generating_compiles_nothing() -> None:
    before = statistics()
    op2.init(static=True)
    World().loop().generate()
    op2.exit()
    assert statistics() == before


def test_a_program_may_leave_static_mode() -> None:
    op2.init(static=True)
    w = World()
    loop = w.loop()
    with pytest.raises(StaticModeError, match="'compute'"):
        loop.compute()
    op2.exit()
    loop.compute()
    assert w.r.dat_version == 1


def test_what_is_read_twice_is_passed_twice_and_gathered_once() -> None:
    """Each argument has parameters of its own, as its number says, whatever the others are."""
    edges, nodes = op2.Set(3), op2.Set(4)
    ends = op2.Map(edges, nodes, 2, [0, 1, 1, 2, 2, 3])
    x, y = op2.Dat(nodes, [1.0, 2.0, 3.0, 4.0]), op2.Dat(nodes)
    text = "void k(const double *a, const double *b, double *y) { y[0] += a[0] * b[1]; }"
    twice = op2.ParLoop(
        op2.Kernel(text, "k"), edges, x(op2.READ, ends), x(op2.READ, ends), y(op2.INC, ends)
    )
    with op2.backend("sequential"):
        twice.compute()
        code = twice.generate()
    assert y.data_ro.tolist() == [2.0, 6.0, 12.0, 0.0]
    assert all(f"{name}," in code.signature for name in ("a", "a_map", "b", "b_map", "y"))
    assert str(code).count("a_pack[2]") == 1
    assert "b_pack" not in str(code)
    assert "b_map" not in twice.generate({"convention": 2}).signature
