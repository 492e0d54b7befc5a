# SPDX-License-Identifier: BSD-3-Clause
"""Loops that are generated and compiled before the program runs that uses them."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abi import Context
from programs import needs_program

from pyop2cxx import op2
from pyop2cxx.ahead.manifest import MANIFEST
from pyop2cxx.ahead.project import architectures
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import ToolchainError, UnsupportedError, UsageError
from pyop2cxx.reports.cli import main

pytestmark = pytest.mark.usefixtures("host_by_default")

PROGRAM = """
import sys
import numpy as np
from pyop2cxx import op2

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
cells, edges = op2.Set(n, "cells"), op2.Set(n - 1, "edges")
ends = op2.Map(edges, cells, 2, [[i, i + 1] for i in range(n - 1)], "ends")
heat = op2.Dat(cells, np.linspace(0, 1, n) ** 2, name="heat")
flow, total = op2.Dat(cells, name="flow"), op2.Global(1, 0.0, name="total")
op2.Const(1, 0.25, "ahead_rate")
flux = op2.Kernel(
    "void flux(double *f, const double *h) { double d = h[1] - h[0]; f[0] += d; f[1] -= d; }",
    "flux",
)
step = op2.Kernel(
    "void step(double *h, double *f, double *t) "
    "{ h[0] += ahead_rate * f[0]; f[0] = 0; t[0] += h[0]; }",
    "step",
)
for _ in range(3):
    op2.par_loop(flux, edges, flow(op2.INC, ends), heat(op2.READ, ends))
    op2.par_loop(step, cells, heat(op2.RW), flow(op2.RW), total(op2.INC))
print(repr(float(total.data_ro[0])))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, and what was built of it."""
    made = tmp_path_factory.mktemp("ahead")
    (made / "heat.py").write_text(PROGRAM)
    command = ["build", "--backend", "sequential,openmp,opencl,cuda", "-o", str(made / "lib")]
    assert main([*command, str(made / "heat.py")]) == 0
    op2.exit()
    return made


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "lib" / MANIFEST).read_text())
    return found


def needs_device(backend: str) -> None:
    (found,) = [one for one in op2.backends() if one.name == backend]
    if not found.available:
        pytest.skip(found.reason)


def path_for(backend: str) -> str:
    """Where programs are found: nowhere, but PoCL runs the system's linker."""
    return os.environ["PATH"] if backend == "opencl" else ""


def flux_on(backend: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """The loop 'flux' of one backend."""
    (found,) = [
        one for one in manifest["loops"] if (one["kernel"], one["backend"]) == ("flux", backend)
    ]
    return dict(found)


def argv_of(loop: dict[str, Any], arrays: dict[str, Any]) -> list[Any]:
    """Arrays in the order and of the dtypes of a function's arguments."""
    return [
        np.ascontiguousarray(arrays[one.get("object") or one["array"]], one["dtype"])
        for one in loop["arguments"]
    ]


def run(code: str, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, where no compiler is found."""
    root = Path(__file__).parents[2]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    folders = [*sys.path, str(root)]
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        env=kept | {"PATH": path, "PYTHONPATH": os.pathsep.join(p for p in folders if p)},
        capture_output=True,
        text=True,
        check=False,
    )


def with_table(folder: Path, backend: str, more: str = "") -> str:
    return (
        "import sys\nfrom pyop2cxx import op2\n"
        f"op2.init(eti_only=True, backend={backend!r}, deterministic=False)\n"
        f"op2.dispatch.load({str(folder / 'lib')!r})\n"
        f"exec(open({str(folder / 'heat.py')!r}).read())\n{more}"
    )


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_a_program_runs_from_a_table_without_a_compiler(folder: Path, backend: str) -> None:
    needs_device(backend)
    more = "print(op2.dispatch.report())"
    done = run(with_table(folder, backend, more), path=path_for(backend))
    assert done.returncode == 0, done.stderr
    number, *report = done.stdout.splitlines()
    assert abs(float(number) - 1000.5005005005022) < 1e-9
    assert [line.split()[:2] for line in report[1:]] == [["flux", "ahead"], ["step", "ahead"]]


def test_decisions_that_take_long_come_with_the_table(folder: Path) -> None:
    """How many lanes a loop is for is found by lowering it."""
    no_more = "from pyop2cxx import _core\n_core.choose_lanes = None\n"
    done = run(no_more + with_table(folder, "openmp"))
    assert done.returncode == 0, done.stderr


def test_code_is_chosen_anew_when_a_map_has_changed(tmp_path: Path) -> None:
    """A loop that was made for a Map that leads nowhere twice must not run on one that does."""
    (tmp_path / "heat.py").write_text(OTHER_MESH)
    command = ["build", "--backend", "openmp", "-o", str(tmp_path / "lib")]
    assert main([*command, str(tmp_path / "heat.py"), "small"]) == 0
    op2.exit()
    more = """
loop = op2.ParLoop(add, sides, load(op2.INC, side), flow(op2.READ))
for step, target in enumerate((lambda i: i, lambda i: i // 3, lambda i: 0, lambda i: n - 1 - i)):
    side.update_values([[target(i)] for i in range(n // 2)])
    load.zero()
    loop.compute()
    expected[:] = 0
    np.add.at(expected, side.values[:, 0], flow.data_ro)
    assert np.array_equal(load.data_ro, expected), step
print({row.provider for row in op2.dispatch.report()} - {"builtin"})
"""
    done = run(with_table(tmp_path, "openmp", more), "small")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["{'ahead'}"]


def test_a_program_need_not_say_which_backend(folder: Path) -> None:
    done = run(with_table(folder, "", "print(op2.dispatch.report())"))
    assert done.returncode == 0, done.stderr
    assert ["flux", "ahead", "ahead", "block"] in [
        line.split()[:4] for line in done.stdout.splitlines()
    ]


def test_another_mesh_of_the_same_program_is_served_too(folder: Path) -> None:
    done = run(with_table(folder, "sequential"), "54321")
    assert done.returncode == 0, done.stderr


# On "small" the Map 'side' leads nowhere twice and rows of the matrix are short, else not.
OTHER_MESH = """
import sys
import numpy as np
from pyop2cxx import op2

small = sys.argv[1] == "small"
n = 20 if small else 400
cells, sides, bars = op2.Set(n, "cells"), op2.Set(n // 2, "sides"), op2.Set(n - 1, "bars")
side = op2.Map(sides, cells, 1, [i if small else i // 3 for i in range(n // 2)], "side")
ends = op2.Map(bars, cells, 2, [[i if small else 0, i + 1] for i in range(n - 1)], "ends")
load, flow = op2.Dat(cells, name="load"), op2.Dat(sides, np.arange(n // 2) + 1.0, name="flow")
stiff = op2.Mat(op2.Sparsity((cells, cells), [(ends, ends, None)]), name="stiff")
add = op2.Kernel("void add(double *l, const double *f) { l[0] += f[0]; }", "add")
bar = op2.Kernel(
    "void bar(double *a) { a[0] += 1; a[1] -= 1; a[2] -= 1; a[3] += 1; }", "bar"
)
op2.par_loop(add, sides, load(op2.INC, side), flow(op2.READ))
op2.par_loop(bar, bars, stiff(op2.INC, (ends, ends)))
stiff.assemble()
expected = np.zeros(n)
np.add.at(expected, side.values[:, 0], flow.data_ro)
assert np.array_equal(load.data_ro, expected)
assert np.array_equal(np.diag(stiff.values), np.bincount(ends.values.ravel(), minlength=n))
"""


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_loops_of_meshes_of_another_kind_are_covered(tmp_path: Path, backend: str) -> None:
    needs_device(backend)
    (tmp_path / "heat.py").write_text(OTHER_MESH)
    command = ["build", "--backend", backend, "-o", str(tmp_path / "lib")]
    assert main([*command, str(tmp_path / "heat.py"), "small"]) == 0
    op2.exit()
    loops = [(one["kernel"], one["key"]) for one in manifest_of(tmp_path)["loops"]]
    # each as it is here and for any mesh; of OpenCL, for GPUs and for processors
    n = 4 if backend == "opencl" else 2
    assert len(loops) == len(set(loops)) == 2 * n
    assert sorted(name for name, _ in loops) == ["add"] * n + ["bar"] * n
    for mesh in ("small", "star"):
        more = "print(op2.dispatch.report())"
        done = run(with_table(tmp_path, backend, more), mesh, path=path_for(backend))
        assert done.returncode == 0, done.stderr
        rows = [line.split()[:2] for line in done.stdout.splitlines()[1:]]
        assert rows == [["add", "ahead"], ["bar", "ahead"]]


def a_step() -> Any:
    """A loop and a Dat that it changes."""
    cells = op2.Set(5, "cells")
    x = op2.Dat(cells, name="x")
    kernel = op2.Kernel("void ahead_more(double *x) { x[0] += 1; }", "ahead_more")
    return op2.ParLoop(kernel, cells, x(op2.RW)), x


def test_a_block_is_recorded_with_loops_that_ran_before(tmp_path: Path) -> None:
    loop, x = a_step()
    loop.compute()
    folder = tmp_path / "lib"
    with op2.dispatch.record(folder, backends=["sequential"], name="steps"):
        loop.compute()
        loop.compute()
    assert x.data_ro.tolist() == [3.0] * 5
    (entry,) = json.loads((folder / MANIFEST).read_text())["loops"]
    assert (entry["kernel"], entry["backend"]) == ("ahead_more", "sequential")
    assert op2.dispatch.load(folder).name == "steps"
    with op2.backend("sequential"), op2.dispatch.expect("ahead"):
        loop.compute()
    op2.exit()


def broken_step() -> None:
    a_step()[0].compute()
    raise ZeroDivisionError


def test_what_cannot_be_recorded_is_said_before_the_block(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for options, message in (
        ({"path": tmp_path}, "holds other files"),
        ({"path": tmp_path / "lib", "name": "a b"}, "must be a C identifier"),
        ({"path": tmp_path / "lib", "backends": ["vulkan"]}, "no backend 'vulkan'"),
    ):
        with pytest.raises(UsageError, match=message), op2.dispatch.record(**options):
            pytest.fail("the block runs")
    with pytest.raises(UsageError, match="no loop"), op2.dispatch.record(tmp_path / "lib"):
        pass
    with pytest.raises(ZeroDivisionError), op2.dispatch.record(tmp_path / "lib"):
        broken_step()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["notes.txt"]
    op2.exit()


CHAIN = """
import numpy as np
from pyop2cxx import op2
cells = op2.Set(1000, "cells")
a, b = op2.Dat(cells, np.arange(1000.0), name="a"), op2.Dat(cells, name="b")
there = op2.Kernel("void there(const double *a, double *b) { b[0] = 2 * a[0]; }", "there")
back = op2.Kernel("void back(double *a, const double *b) { a[0] += b[0]; }", "back")
for _ in range(3):
    with op2.chain():
        op2.par_loop(there, cells, a(op2.READ), b(op2.WRITE))
        op2.par_loop(back, cells, a(op2.RW), b(op2.READ))
assert np.array_equal(a.data_ro, 27 * np.arange(1000.0))
"""


def test_the_function_of_a_chain_is_in_the_table(tmp_path: Path) -> None:
    (tmp_path / "heat.py").write_text(CHAIN)
    command = ["build", "--backend", "sequential,openmp", "-o", str(tmp_path / "lib")]
    assert main([*command, str(tmp_path / "heat.py")]) == 0
    op2.exit()
    names = [(one["kernel"], one["backend"]) for one in manifest_of(tmp_path)["loops"]]
    assert sorted(names) == [("there_back", "openmp"), ("there_back", "sequential")]
    done = run(with_table(tmp_path, "openmp", "print(op2.dispatch.report())"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:2] == ["there_back", "ahead"]


def test_files_of_long_chains_have_names_that_systems_take(tmp_path: Path) -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells)
    kernels = [
        op2.Kernel(f"void step_{'x' * 50}_{i}(double *x) {{ x[0] += 1; }}", f"step_{'x' * 50}_{i}")
        for i in range(8)
    ]
    folder = tmp_path / "lib"
    with op2.dispatch.record(folder, backends=["sequential"], name="steps"), op2.chain():
        for kernel in kernels:
            op2.par_loop(kernel, cells, x(op2.RW))
    assert all(len(file.name) < 255 for file in folder.rglob("*"))
    assert x.data_ro[0] == 8.0


KERNELS_OF_ONE_NAME = """
import sys
from pyop2cxx import op2
cells = op2.Set(4, "cells")
x, y = op2.Dat(cells, name="x"), op2.Dat(cells ** 2, name="y")
first = op2.Kernel("void k(double *x) { x[0] += 1; }", "k")
second = op2.Kernel(sys.argv[1], "k")
op2.par_loop(first, cells, x(op2.RW))
op2.par_loop(second, cells, y(op2.RW))
x += 1.0
y += 1.0
"""


def test_two_kernels_of_one_name_are_two_functions(tmp_path: Path) -> None:
    """Loops of one kernel, however its text is laid out, are not; nor those of algebra."""
    program = tmp_path / "names.py"
    program.write_text(KERNELS_OF_ONE_NAME)
    out = tmp_path / "lib"
    command = ["generate", "--backend", "openmp,sequential", "-o", str(out), str(program)]
    found = []
    for text in (
        "void k(double *x) { x[0] += 2; }",
        "void k(double *x) { x[0] += 3; }",
        "void k(double *x) // one\n{\n  x[0] += 1;\n}",
    ):
        assert main([*command, text]) == 0
        op2.exit()
        loops = json.loads((out / MANIFEST).read_text())["loops"]
        assert {one["kernel"] for one in loops} == {"k"}
        assert len({one["file"] for one in loops}) == len(loops)
        assert len({one["symbol"] for one in loops}) == len(loops)
        found.append(re.findall(r"op2::Loop (k\w*)\(", (out / "names.hpp").read_text()))
    first, second, laid_out = found
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert all(re.fullmatch("k_[0-9a-f]{6}", name) for name in first + second)
    assert laid_out == ["k", "k_2"]


@needs_program("strace")
def test_no_process_is_started(folder: Path) -> None:
    trace = folder / "trace"
    code = f"""
    import os, subprocess, sys
    done = subprocess.run(
        ["strace", "-f", "-e", "trace=execve", "-o", {str(trace)!r}, sys.executable, "-c"]
        + [{with_table(folder, "openmp")!r}],
        check=True,
    )
    """
    done = run(code, path=os.environ["PATH"])
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    assert trace.read_text().count("execve(") == 1


def test_a_loop_that_no_table_has_is_refused_before_it_runs(folder: Path) -> None:
    more = """
before = heat.data_ro.copy()
other = op2.Kernel("void other(double *h) { h[0] = 0; }", "other")
unknown = ((other, cells, heat(op2.RW)), (flux, edges, heat(op2.RW, ends), flow(op2.READ, ends)))
for arguments in unknown:
    try:
        op2.par_loop(*arguments)
    except NotImplementedError as error:
        print(error)
assert (heat.data_ro == before).all()
"""
    done = run(with_table(folder, "sequential", more))
    assert done.returncode == 0, done.stderr
    _, first, second = done.stdout.splitlines()
    assert first.startswith("par_loop 'other' (")
    assert "init(eti_only=True) lets nothing be compiled" in first
    assert "it has no loop of this kernel" in first
    assert "'pyop2cxx build PROGRAM --backend sequential -o DIR'" in first
    assert "nearest" not in first
    assert "it has a loop of this kernel, with other arguments" in second
    assert (
        "; the nearest loop in them differs: argument 0 'f': access is RW here and INC in "
        in second
    )


def test_launches_are_steps_of_json_and_lines_of_c(folder: Path) -> None:
    found = [
        one["launch"]
        for one in manifest_of(folder)["loops"]
        if (one["kernel"], one["backend"]) == ("step", "opencl")
    ]
    assert found
    for launch in found:
        kinds = [step["step"] for step in launch["steps"]]
        assert kinds == ["allocate", "set", "launch", "set", "launch"]
        assert launch["steps"][2]["arguments"][:3] == ["h", "f", "scratch0"]
        *_, last, final = launch["c"]
        assert last == "n_slots = n_slots + blocks_for(end - begin);"
        assert final == "launch(finish_step, single(1), t_1, scratch0, n_slots);"
    flux = flux_on_gpus(manifest_of(folder))
    assert flux["fields"]["argument 0 'f': access"] == "INC"


def flux_on_gpus(manifest: dict[str, Any]) -> dict[str, Any]:
    """A loop 'flux' for OpenCL."""
    return next(
        one for one in manifest["loops"] if (one["kernel"], one["backend"]) == ("flux", "opencl")
    )


def test_who_loads_a_table_imports_nothing_that_writes_one() -> None:
    done = run(
        "import sys; from pyop2cxx import op2; op2.dispatch.load\n"
        "print(*sorted(one for one in sys.modules if one.startswith('pyop2cxx.ahead.')))"
    )
    assert done.returncode == 0, done.stderr
    modules = ("manifest", "processors", "tables", "trust")
    assert done.stdout.split() == [f"pyop2cxx.ahead.{one}" for one in modules]


def test_without_a_table_nothing_runs() -> None:
    code = """
    from pyop2cxx import op2
    op2.init(eti_only=True, backend="sequential")
    x = op2.Dat(op2.Set(3))
    try:
        op2.par_loop(op2.Kernel("void k(double *x) { x[0] = 1; }", "k"), x.dataset.set, x(op2.RW))
    except NotImplementedError as error:
        print(error)
    """
    assert "no table is loaded" in run(code).stdout


def test_tables_are_asked_first_and_the_compiler_takes_over(folder: Path) -> None:
    with op2.backend("sequential"):
        table = op2.dispatch.load(folder / "lib")
        assert ("flux", "sequential", "direct") in table.loops
        x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
        k = op2.Kernel("void only_here(double *x) { x[0] += 1; }", "only_here")
        loop = op2.ParLoop(k, x.dataset.set, x(op2.RW))
        match = op2.dispatch.lookup(loop)
        assert (match.loop, match.tier) == ("only_here", "none")
        assert "ahead: it has no loop of this kernel" in match.rejected
        with (
            op2.dispatch.expect("ahead"),
            pytest.raises(UnsupportedError, match=r"expect\(\) lets"),
        ):
            loop.compute()
        loop.compute()
        assert x.data_ro.tolist() == [2.0, 3.0, 4.0]
        assert op2.dispatch.lookup(loop).tier == "jit"
        with op2.dispatch.expect("ahead"):
            loop.compute()
    op2.exit()


def test_a_known_loop_is_looked_up_without_running_it(folder: Path) -> None:
    more = """
found = op2.dispatch.lookup(op2.ParLoop(flux, edges, flow(op2.INC, ends), heat(op2.READ, ends)))
print(found.tier, found.strategy)
"""
    assert run(with_table(folder, "sequential", more)).stdout.split()[1:] == ["ahead", "direct"]


def test_expect_knows_its_tiers() -> None:
    with pytest.raises(UsageError, match="tiers are: 'ahead'"), op2.dispatch.expect("compiler"):
        pass


def nvrtc_or_skip() -> None:
    try:
        nvrtc.compiler("sm_80")
    except ToolchainError as error:
        pytest.skip(str(error))


def test_code_for_gpus_is_compiled_without_one(folder: Path, tmp_path: Path) -> None:
    nvrtc_or_skip()
    out = tmp_path / "lib"
    command = ["build", "--backend", "cuda", "--arch", "sm_80,sm_90", "-o", str(out)]
    assert main([*command, str(folder / "heat.py")]) == 0
    op2.exit()
    manifest = json.loads((out / MANIFEST).read_text())
    assert manifest["library"] is None
    for loop in manifest["loops"]:
        assert set(loop["images"]) == {"sm_80", "sm_90"}
        for image in loop["images"].values():
            assert (out / image["file"]).read_bytes()[:4] == b"\x7fELF"
    first, second = manifest["loops"][0]["images"].values()
    assert first["digest"] != second["digest"]
    table = op2.dispatch.load(out)  # needs neither a GPU nor its driver
    assert ("flux", "cuda", manifest["loops"][0]["strategy"]) in table.loops
    damaged = out / first["file"]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(UsageError, match="was changed after it was built"):
        op2.dispatch.load(out)
    op2.exit()


def test_a_loaded_table_needs_no_compiler_of_a_device(folder: Path) -> None:
    """Neither NVRTC is loaded nor a compiler of OpenCL made; a loop it lacks is refused."""
    needs_device("opencl")
    more = """
from pyop2cxx.runtime import runtime
assert "libnvrtc" not in open("/proc/self/maps").read()
opened, = runtime.engine.devices
assert opened.make_compiler.cache_info().currsize == 0
other = op2.Kernel("void other(double *h) { h[0] = 0; }", "other")
try:
    op2.par_loop(other, cells, heat(op2.RW))
except NotImplementedError as error:
    print(error)
"""
    done = run(with_table(folder, "opencl", more), path=path_for("opencl"))
    assert done.returncode == 0, done.stderr
    assert "it has no loop of this kernel" in done.stdout


# What is written


def test_the_manifest_says_how_to_call_each_function(folder: Path) -> None:
    """Call a loop by hand, by nothing but its manifest."""
    manifest = manifest_of(folder)
    loop = flux_on("sequential", manifest)
    assert loop["range"]["items"] == "elements"
    n = 6
    arrays = {
        "Dat 'flow'": np.zeros(n),
        "Dat 'heat'": np.arange(n, dtype=float) ** 2,
        "Map 'ends'": np.array([[i, i + 1] for i in range(n - 1)]),
    }
    argv = argv_of(loop, arrays)
    _launch(folder, loop, manifest, argv, n - 1)
    assert argv[0].tolist() == [1.0, 2.0, 2.0, 2.0, 2.0, -9.0]


def test_a_loop_with_a_plan_and_scratch_can_be_called_by_hand(folder: Path) -> None:
    manifest = manifest_of(folder)
    loop = flux_on("openmp", manifest)
    assert loop["range"]["items"] == "blocks"
    n = 6
    arrays = {
        "Dat 'flow'": np.zeros(n),
        "Dat 'heat'": np.arange(n, dtype=float) ** 2,
        "Map 'ends'": np.array([[i, i + 1] for i in range(n - 1)]),
        # two blocks, each of a colour of its own: their ends meet
        "sizes": np.array([2]),
        "colour_offset": np.array([0, 1, 2]),
        "block_of": np.array([0, 1]),
        "block_offset": np.array([0, 3, n - 1]),
    }
    argv = argv_of(loop, arrays)
    assert all(one["shape"] for one in loop["arguments"])
    _launch(folder, loop, manifest, argv, 2)
    assert argv[0].tolist() == [1.0, 2.0, 2.0, 2.0, 2.0, -9.0]


def _launch(
    folder: Path, loop: dict[str, Any], manifest: dict[str, Any], argv: list[Any], end: int
) -> None:
    library = ctypes.CDLL(str(folder / "lib" / manifest["library"]))
    addresses = (ctypes.c_void_p * len(argv))(*[one.ctypes.data for one in argv])
    scratch = np.zeros(1024)
    error = np.zeros(4, np.int64)
    context = Context(
        scratch=scratch.ctypes.data,
        scratch_bytes=scratch.nbytes,
        error=error.ctypes.data,
        n_threads=2,
    )
    launch = getattr(library, loop["symbol"])
    status = launch(
        ctypes.byref(context), ctypes.c_long(0), ctypes.c_long(end), addresses, len(argv)
    )
    assert status == 0


@needs_program("cmake")
def test_the_project_builds_with_nothing_of_ours(folder: Path, tmp_path: Path) -> None:
    for command in (
        ["cmake", "-S", str(folder / "lib"), "-B", str(tmp_path)],
        ["cmake", "--build", str(tmp_path), "--target", "heat_loops"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    table = op2.dispatch.load(folder / "lib", library=tmp_path / "libheat.so")
    assert len([one for one in table.loops if one[1] != "opencl"]) == 4
    op2.exit()


@needs_program("nvcc")
def test_sources_for_cuda_compile_alone(folder: Path, tmp_path: Path) -> None:
    sources = sorted((folder / "lib" / "src").glob("*.cu"))
    assert len(sources) == 4  # each for this mesh, and for any
    for source in sources:
        done = subprocess.run(
            ["nvcc", "-arch=sm_90", "-cubin", "-o", str(tmp_path / "out.cubin"), str(source)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_generate_writes_sources_alone(tmp_path: Path) -> None:
    (tmp_path / "heat.py").write_text(PROGRAM)
    out = tmp_path / "out"
    assert main(["generate", "-o", str(out), str(tmp_path / "heat.py")]) == 0
    assert json.loads((out / MANIFEST).read_text())["library"] is None
    assert len(list((out / "src").iterdir())) == 2
    with pytest.raises(UsageError, match="sources only; 'pyop2cxx build' makes a library"):
        op2.dispatch.load(out)
    op2.exit()


def test_loops_for_a_gpu_that_was_not_named_are_sources(tmp_path: Path) -> None:
    loop, _ = a_step()
    with op2.dispatch.record(tmp_path / "lib", backends=["cuda"]):
        loop.compute()
    entries = json.loads((tmp_path / "lib" / MANIFEST).read_text())["loops"]
    assert {(entry["backend"], str(entry["images"])) for entry in entries} == {("cuda", "{}")}
    with pytest.raises(UsageError, match=r"are for cuda, .* named, as by arch='native,sm_90'"):
        op2.dispatch.load(tmp_path / "lib")
    op2.exit()


# Bad input


def _fails(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert main([*command]) == 1
    op2.exit()
    return capsys.readouterr().err


def test_bad_commands_leave_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, out = tmp_path / "heat.py", tmp_path / "out"
    program.write_text(PROGRAM)
    output = ("-o", str(out))
    behind = _fails(capsys, "build", str(program), *output)
    assert "no folder is given; say 'pyop2cxx build -o FOLDER" in behind
    assert "there is no file" in _fails(capsys, "build", *output, str(tmp_path / "none.py"))
    assert "there is no backend 'vax'" in _fails(
        capsys, "build", "--backend", "vax", *output, str(program)
    )
    error = _fails(capsys, "build", "--max", "1", *output, str(program))
    assert "2 loops are more than --max 1: 2 kernels, 1 backends" in error
    for command in ("build", "generate"):  # before the program runs
        error = _fails(capsys, command, "--arch", "no-such-arch", *output, str(tmp_path / "none"))
        assert "--arch no-such-arch: the compiler" in error
        assert "makes code for no such processor: " in error
        assert "-march" in error.partition("no such processor: ")[2].partition(";")[0]
    error = _fails(capsys, "generate", "-o", "/proc/pyop2cxx/out", str(program))
    assert "cannot write '/proc/pyop2cxx/out'" in error
    static = tmp_path / "static.py"
    static.write_text("from pyop2cxx import op2\nop2.init(static=True)\n" + PROGRAM)
    error = _fails(capsys, "build", *output, str(static))
    assert "init(static=True)" in error
    assert "C identifier, got 'a-b'" in _fails(
        capsys, "generate", "--name", "a-b", *output, str(program)
    )
    (tmp_path / "empty.py").write_text("")
    assert "generated no loop" in _fails(capsys, "build", *output, str(tmp_path / "empty.py"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("keep")
    error = _fails(capsys, "generate", "-o", str(tmp_path / "full"), str(program))
    assert "holds other files" in error
    error = _fails(capsys, "generate", "-o", str(program), str(program))
    assert "is a file" in error
    assert sorted(one.name for one in tmp_path.iterdir() if one.name != "__pycache__") == [
        "empty.py",
        "full",
        "heat.py",
        "static.py",
    ]


REJECTED = """
from pyop2cxx import op2
op2.init(static=True)
cells = op2.Set(name="cells")
x = op2.Dat(cells, dtype="float64", name="x")
k = op2.Kernel("void k(double *x) { x[0] = no_such_thing; }", "k", cpp=True)
op2.ParLoop(k, cells, x(op2.RW)).generate()
"""


def test_what_the_compiler_rejects_is_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "rejected.py"
    program.write_text(REJECTED)
    command = ("build", "--backend", "sequential", "-o", str(tmp_path / "out"), str(program))
    first, second, *said = _fails(capsys, *command).splitlines()
    assert first == "pyop2cxx: the compiler has failed"
    assert second.startswith("  command: ")
    assert any("no_such_thing" in line for line in said)
    assert [one.name for one in tmp_path.iterdir()] == ["rejected.py"]


def test_architectures_are_of_processors_and_gpus() -> None:
    assert architectures("") == (("native",), ())
    assert architectures("x86-64-v3, native,x86-64-v3") == (("x86-64-v3", "native"), ())
    nvrtc_or_skip()
    assert architectures("sm_90, sm_80,sm_90") == (("native",), ("sm_90", "sm_80"))
    with pytest.raises(ToolchainError, match=r"--arch sm_10: NVRTC .* makes code for"):
        architectures("sm_10")
    op2.exit()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its names of processors")
def test_of_several_libraries_the_best_that_this_processor_runs_is_loaded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "lib"
    command = ["build", "--backend", "sequential", "--arch", "x86-64-v3,x86-64,x86-64-v2"]
    assert main([*command, "-o", str(out), str(folder / "heat.py")]) == 0
    op2.exit()
    manifest = json.loads((out / MANIFEST).read_text())
    needs = {one["arch"]: one["instructions"] for one in manifest["libraries"]}
    assert list(needs) == ["x86-64-v3", "x86-64", "x86-64-v2"]
    assert "avx2" in needs["x86-64-v3"]
    assert needs["x86-64"] == []
    for lacking, best in ((set(), "x86-64-v3"), ({"avx2"}, "x86-64-v2"), ({"ssse3"}, "x86-64")):
        monkeypatch.setattr(
            "pyop2cxx.ahead.tables.processors.missing",
            lambda needed, lacking=lacking: sorted({*needed} & lacking),
        )
        with op2.backend("sequential"):
            assert op2.dispatch.load(out).path == str(out / f"libheat.{best}.so")
        op2.exit()
    done = run(
        with_table(tmp_path, "sequential").replace(
            str(tmp_path / "heat.py"), str(folder / "heat.py")
        )
    )
    assert done.returncode == 0, done.stderr


def test_what_was_built_is_replaced(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "lib", tmp_path / "lib")
    command = ["generate", "-o", str(tmp_path / "lib"), str(folder / "heat.py")]
    assert main(command) == 0
    assert not list((tmp_path / "lib").glob("*.so"))
    assert [one.name for one in tmp_path.iterdir()] == ["lib"]
    op2.exit()


def _changed(folder: Path, tmp_path: Path, **fields: object) -> Path:
    shutil.copytree(folder / "lib", tmp_path / "lib")
    file = tmp_path / "lib" / MANIFEST
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    return tmp_path / "lib"


def built_for(*instructions: str) -> dict[str, object]:
    """What a manifest says of one library."""
    return {"libraries": [{"file": "gone.so", "instructions": instructions, "digest": "0"}]}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": 99}, "is of format 99"),
        ({"pyop2cxx": "0.0.1"}, "is of pyop2cxx '0.0.1'"),
        ({"abi": "op2_launch_v9"}, "is of abi 'op2_launch_v9'"),
        ({"digest": "0"}, "was changed after it was written"),
        ({"loops": []}, "was changed after it was written"),
        (built_for("avx9", "sse2"), "for processors with avx9, which this one lacks"),
        (built_for(), r"gone.so' is gone; build it again"),
    ],
)
def test_tables_of_others_are_refused(
    folder: Path, tmp_path: Path, fields: dict[str, object], message: str
) -> None:
    with op2.backend("sequential"):
        with pytest.raises(UsageError, match=message):
            op2.dispatch.load(_changed(folder, tmp_path, **fields))
        loop, x = a_step()  # nothing is loaded, and the compiler takes over
        loop.compute()
        assert x.data_ro.tolist() == [1.0] * 5
        assert op2.dispatch.lookup(loop).tier == "jit"
    op2.exit()


def test_damaged_tables_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "lib", tmp_path / "lib")
    file, library = tmp_path / "lib" / MANIFEST, tmp_path / "lib" / "libheat.so"
    whole = library.read_bytes()
    library.write_bytes(whole[:2000])
    with pytest.raises(UsageError, match="was changed or cut short"):
        op2.dispatch.load(tmp_path / "lib")
    library.write_bytes(whole)
    (tmp_path / "no.so").write_text("this is no library")
    with pytest.raises(ToolchainError):
        op2.dispatch.load(tmp_path / "lib", library=tmp_path / "no.so")
    compiled = subprocess.run(
        ["cc", "-shared", "-x", "c", "-o", str(tmp_path / "other.so"), "-"],
        input="int x;",
        text=True,
        check=False,
    )
    if compiled.returncode == 0:
        with pytest.raises(UsageError, match="is not the library that its manifest belongs to"):
            op2.dispatch.load(tmp_path / "lib", library=tmp_path / "other.so")
    text = file.read_text()
    for damaged, message in (
        (text[: len(text) // 2], "is damaged"),
        ("[]", "is no manifest"),
        ("{}", "is no manifest"),
    ):
        file.write_text(damaged)
        with pytest.raises(UsageError, match=message):
            op2.dispatch.load(file)
    with pytest.raises(UsageError, match="there is no manifest"):
        op2.dispatch.load(tmp_path)
