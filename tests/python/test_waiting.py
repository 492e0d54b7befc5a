# SPDX-License-Identifier: BSD-3-Clause
"""What takes long says so on a terminal, and nowhere else."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base.waiting import waiting
from pyop2cxx.data import renumber
from pyop2cxx.io import load, restore, save, stored
from pyop2cxx.mesh import cube_mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
BEGIN = """
import time
from pyop2cxx.base import waiting
waiting.SECONDS, waiting._EVERY = SOON, 0.01
"""
LONG = """
with waiting.waiting("reading a very long name " * 20):
    time.sleep(0.3)
"""
BLOCK = """
with waiting.waiting("reading plate.msh"):
    time.sleep(0.3)
"""
MESH = """
from pyop2cxx import op2
from pyop2cxx.data import renumber
from pyop2cxx.loop import execute
from pyop2cxx.mesh import Mesh, mesh, square_mesh
for place, name in ((renumber, "_spread"), (mesh, "MeshEntities")):
    def slow(*args, old=getattr(place, name), **options):
        time.sleep(0.2)
        return old(*args, **options)
    setattr(place, name, slow)
execute.LARGE = 10
square = square_mesh(4)
points, rows = square.coordinates.data_ro, square.cell_vertices.values
found = Mesh.from_arrays("triangle", points, rows, renumber=True, name="plate")
loop = op2.ParLoop(
    op2.Kernel("void k(double *x) { x[0] = 1; }", "k"), found.cells,
    op2.Dat(found.cells)(op2.WRITE))
def slowly(launch, what, old=execute.first_shown):
    def run():
        time.sleep(0.2)
        return launch()
    return old(run, what)
execute.first_shown = slowly
loop.compute()
print("second")
loop.compute()
"""


COMPILED = """
import tempfile
from pyop2cxx import op2
op2.init(backend="sequential", cache_dir=tempfile.mkdtemp())
from pyop2cxx.runtime import runtime
class Slow:
    def __init__(self, service):
        self.service = service
    def __getattr__(self, name):
        if name == "load":
            time.sleep(0.2)
        return getattr(self.service, name)
kind = type(runtime.engine)
prompt = kind.service
kind.service = property(lambda self: Slow(prompt.fget(self)))
sets = [op2.Set(3 + i, f"cells{i}") for i in range(8)]
def run(numbers):
    for i in numbers:
        code = f"void k{i}(double *x) {{ x[0] = {i}; }}"
        op2.par_loop(op2.Kernel(code, f"k{i}"), sets[i], op2.Dat(sets[i])(op2.WRITE))
run(range(4))
print("now a chain")
with op2.chain():
    run(range(4, 7))
"""
TOGETHER = """
print("now together")
from pyop2cxx.pipeline.together import compile_together
cells = op2.Set(3)
kernels = [op2.Kernel(f"void t{i}(double *x) {{ x[0] = {i}; }}", f"t{i}") for i in range(4)]
assert compile_together([op2.ParLoop(k, cells, op2.Dat(cells)(op2.WRITE)) for k in kernels]) == 4
"""
COUNTED = """
with waiting.counting("reading plate.h5", 4) as add:
    for _ in range(3):
        time.sleep(0.1)
        add(1)
    time.sleep(0.1)
"""
STORED = """
import sys
from pyop2cxx import op2
from pyop2cxx.io import load, restore, save, stored
from pyop2cxx.mesh import cube_mesh, generate
from pyop2cxx.data import renumber
def slowly(place, name):
    def slow(*args, old=getattr(place, name), **options):
        time.sleep(0.15)
        return old(*args, **options)
    setattr(place, name, slow)
slowly(stored._Checksum, "add")
slowly(generate, "_cut")
slowly(renumber, "_n_entries")
mesh = cube_mesh(4)
stored._PIECE = 8 * mesh.vertices.size // 2
u, v = (op2.Dat(mesh.vertices, 1.0, name=name) for name in "uv")
save(sys.argv[1], {"u": u, "v": v})
restore(sys.argv[1], {"u": u, "v": v})
assert load(sys.argv[1])["u"].sum() == mesh.vertices.size
way = op2.renumber([mesh.cell_vertices], [u, v], coordinates=mesh.coordinates)
way.undo()
"""
ASSEMBLED = """
from pyop2cxx import _core, op2
from pyop2cxx.mesh import square_mesh
def slowly(place, name):
    def slow(*args, old=getattr(place, name), **options):
        time.sleep(0.2)
        return old(*args, **options)
    setattr(place, name, slow)
slowly(_core.plan, "build_sparsity")
mesh = square_mesh(4)
c2v = mesh.cell_vertices
op2.Mat(op2.Sparsity((mesh.vertices, mesh.vertices), [(c2v, c2v, None)], name="stiff"))
"""
NUMBERED = """
from pyop2cxx.fem import spaces
slowly(spaces, "_place")
space = spaces.FunctionSpace(mesh, ("P", 2))
"""
CONDITIONED = """
from pyop2cxx.fem import conditions, interpolation
slowly(conditions, "_on_facets")
slowly(interpolation, "_set_by_call")
conditions.DirichletBC(space, 1.0)
"""


def on_terminal(program: str, *arguments: str) -> str:
    """Return what a program writes to its terminal."""
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": path},
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(mine, 4096)
            except OSError:  # the end, on Linux
                break
            if not piece:
                break
            shown += piece
    os.close(mine)
    return shown.decode()


def test_a_terminal_is_told_and_left_clean() -> None:
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + BLOCK)
    assert "reading plate.msh: 0 s" in shown
    assert shown.rstrip("\r").rpartition("\r")[2].strip() == ""


def test_no_package_is_needed_for_the_line() -> None:
    hidden = "import sys; sys.modules['tqdm'] = None\n"
    shown = on_terminal(hidden + BEGIN.replace("SOON", "0.05") + BLOCK + COUNTED)
    assert "reading plate.msh: 0 s" in shown
    assert "reading plate.h5:  50% |##########          |: 0 s" in shown


def test_a_long_line_does_not_wrap() -> None:
    """A line that fills the terminal would be on two rows, and one of them stay."""
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + LONG)
    lines = [line for line in shown.split("\r") if line.strip()]
    assert lines
    assert {len(line) for line in lines} == {119}


def test_a_shorter_line_covers_a_longer_one() -> None:
    block = """
with waiting.waiting("a longer text") as say:
    time.sleep(0.1)
    say("short")
    time.sleep(0.2)
"""
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + block)
    assert "\rshort: 0 s        \r" in shown


def test_an_error_output_that_is_closed_or_gone_is_no_terminal() -> None:
    block = """
import sys
for stream in (None, open("/dev/null")):
    sys.stderr = stream
    if stream is not None:
        stream.close()
    with waiting.waiting("reading plate.msh"):
        time.sleep(0.1)
print("done")
"""
    assert on_terminal(BEGIN.replace("SOON", "0.05") + block).strip() == "done"


def test_what_can_be_counted_has_a_bar() -> None:
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + COUNTED)
    assert "reading plate.h5:  50% |##########          |: 0 s" in shown
    assert "reading plate.h5:  75% |###############     |: 0 s" in shown
    assert shown.rstrip("\r").rpartition("\r")[2].strip() == ""


def test_files_meshes_and_numberings_say_how_far_they_are(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    file = tmp_path / "a.h5"
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + STORED, str(file))
    assert "cube_mesh: making 4 x 4 x 4 boxes" in shown
    for what in ("writing a.h5", "reading a.h5", "renumbering 125 vertices, 384 cells"):
        shares = {int(one) for one in re.findall(rf"{what}: +(\d+)% ", shown)}
        assert len(shares) > 1, (what, shares)
        assert max(shares) <= 100
    assert "renumbering, back:   0% |" in shown


def test_sparsities_and_spaces_say_what_they_do() -> None:
    for package in ("ufl", "basix"):
        pytest.importorskip(package)
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + ASSEMBLED + NUMBERED + CONDITIONED)
    assert "Sparsity 'stiff': finding entries of 25 rows: 0 s" in shown
    assert "FunctionSpace: numbering dofs of 32 cells: 0 s" in shown
    assert "DirichletBC: finding dofs among 81: 0 s" in shown
    assert "interpolate: 81 values: 0 s" in shown


def test_all_of_the_work_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is expected is what is done, or a bar would end too soon or too late."""
    pytest.importorskip("h5py")
    amounts: list[tuple[int, list[int]]] = []

    @contextmanager
    def counted(what: str, total: int) -> Iterator[Callable[[int], None]]:
        amounts.append((total, []))
        yield amounts[-1][1].append

    for place in (stored, renumber):
        monkeypatch.setattr(place, "counting", counted)
    mesh = cube_mesh(3)
    nodes, c2v = mesh.vertices, mesh.cell_vertices
    u = op2.Dat(nodes**2, np.arange(2.0 * nodes.size), name="u")
    op2.renumber([c2v], [u], coordinates=mesh.coordinates).undo()
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2v, c2v, None)]), name="mat")
    objects = {"u": u, "c2v": c2v, "mat": mat, "one": op2.Global(3, 1.0)}
    save(tmp_path / "a.h5", objects)
    restore(tmp_path / "a.h5", {"u": u, "mat": mat})
    load(tmp_path / "a.h5")
    assert len(amounts) == 5
    for total, done in amounts:
        assert sum(done) == pytest.approx(total, rel=0.02)


def test_what_is_quick_says_nothing() -> None:
    assert on_terminal(BEGIN.replace("SOON", "5.0") + BLOCK) == ""


def test_nothing_is_said_where_there_is_no_terminal() -> None:
    program = BEGIN.replace("SOON", "0.05") + BLOCK
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_meshes_and_plans_say_what_they_are_at() -> None:
    shown = on_terminal(BEGIN.replace("SOON", "0.05") + MESH)
    assert "renumbering 25 vertices, 32 cells" in shown
    assert "finding facets of 32 cells" in shown
    first, _, second = shown.partition("second")
    assert "par_loop 'k': planning 32 elements" in first
    assert "planning" not in second


def test_what_is_compiled_is_counted_though_each_is_quick() -> None:
    shown = on_terminal(BEGIN.replace("SOON", "0.3") + COMPILED + TOGETHER)
    sooner = on_terminal(BEGIN.replace("SOON", "0.02") + COMPILED + TOGETHER)
    first, _, second = shown.partition("now a chain")
    assert "compiling par_loop 'k3', 4 so far" in first
    assert "compiling 3 of 3" in second.partition("now together")[0]
    assert re.search(r"compiling [1234] of 4: ", sooner.partition("now together")[2])


def test_errors_pass_and_end_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyop2cxx.base.waiting.is_seen", lambda: True)
    begin = time.monotonic()
    with pytest.raises(KeyError), waiting("x"):
        raise KeyError
    assert time.monotonic() - begin < 1
