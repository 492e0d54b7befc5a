# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import ast
import importlib
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.check.check_mode import CheckedRun
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import read_hdf5, write_mesh
from pyop2cxx.reports.bandwidth import Stream
from pyop2cxx.reports.cli import main

DEMOS = Path(__file__).parents[2] / "demos"
STREAM = Stream(threads=2, array_bytes=8, cache_bytes=1, copy=1e10, triad=1e10)
BACKENDS = [backend.name for backend in op2.backends() if backend.available]
LOOPS = {"save_soln", "adt_calc", "res_calc", "bres_calc", "update"}


def demo(name, monkeypatch):
    monkeypatch.syspath_prepend(str(DEMOS))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.fixture(autouse=True)
def _leave_no_options():
    yield
    op2.exit()


@pytest.fixture(scope="module")
def mesh_6k(tmp_path_factory):
    path = tmp_path_factory.mktemp("mesh") / "airfoil.npz"
    write_mesh(airfoil_arrays(40, 50), path)
    return path


@pytest.fixture
def airfoil(monkeypatch, mesh_6k):
    module = demo("airfoil", monkeypatch)

    def run(*arguments):
        argv = ["--threads", "2", "--mesh", str(mesh_6k), *map(str, arguments)]
        return module.main(argv, measure=lambda threads: STREAM)

    run.module = module
    return run


@pytest.mark.parametrize("backend", BACKENDS)
def test_airfoil_gives_the_reference_rms(airfoil, backend, capsys):
    assert airfoil("--backend", backend, "--iterations", 200) == 0
    assert "check: passed: rms after 100, 200 iterations" in capsys.readouterr().out


@pytest.mark.parametrize("strategy", ["owner", "scratch", "atomic", "block", "colour"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_airfoil_gives_the_reference_rms_with_every_strategy(airfoil, backend, strategy, capsys):
    code = airfoil("--backend", backend, "--iterations", 100, "--strategy", strategy)
    assert code == 0, capsys.readouterr().out


def test_airfoil_says_when_the_rms_is_wrong(airfoil, monkeypatch, capsys):
    off_by_more = {6000: {100: 3.9910000962e-04 * (1 + 3e-9)}}
    monkeypatch.setattr(airfoil.module, "REFERENCE", off_by_more)
    assert airfoil("--iterations", 100) == 1
    assert "check: FAILED" in capsys.readouterr().out


def test_airfoil_does_not_claim_a_check_it_cannot_make(airfoil, capsys):
    assert airfoil("--iterations", 7) == 0
    assert "check: no reference value" in capsys.readouterr().out


def test_airfoil_writes_exactly_the_measurements(airfoil, tmp_path, capsys):
    record_file = tmp_path / "out.json"
    airfoil("--iterations", 10, "--json", record_file)
    record = json.loads(record_file.read_text())
    assert record.keys() == {
        *("backend", "threads", "iterations", "seconds", "rms", "loops", "stream_triad"),
        "first_seconds",
    }
    assert (record["backend"], record["threads"], record["iterations"]) == ("openmp", 2, 10)
    assert record["stream_triad"] == STREAM.triad
    assert record["loops"].keys() == LOOPS
    calls = {name: loop["calls"] for name, loop in record["loops"].items()}
    assert calls == {name: 10 if name == "save_soln" else 20 for name in LOOPS}
    spent = sum(loop["seconds"] for loop in record["loops"].values())
    assert 0 < spent < record["seconds"]
    assert "STREAM triad 10.0 GB/s" in capsys.readouterr().out


def test_airfoil_counts_useful_bytes_as_the_definition_says(airfoil, tmp_path):
    """Each Dat and map entry once, INC and RW twice; nodes 6171, cells 6000, edges 11870."""
    record_file = tmp_path / "out.json"
    airfoil("--iterations", 1, "--json", record_file)
    loops = json.loads(record_file.read_text())["loops"]
    per_call = {name: loop["useful_bytes"] / loop["calls"] for name, loop in loops.items()}
    x, q, adt = 6171 * 16, 6000 * 32, 6000 * 8
    assert per_call["save_soln"] == 2 * q
    assert per_call["adt_calc"] == x + q + adt + 6000 * 16
    assert per_call["res_calc"] == x + q + adt + 2 * q + 11870 * 16
    assert per_call["update"] == 2 * q + 2 * q + adt


def test_airfoil_draws_and_profiles(airfoil, tmp_path, capsys):
    picture = tmp_path / "mach.png"
    assert airfoil("--iterations", 2, "--plot", picture, "--profile") == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    table, _, report = capsys.readouterr().out.partition("provider")
    assert all(loop in table and loop in report for loop in LOOPS)


def test_airfoil_reads_what_it_wrote_as_hdf5(airfoil, tmp_path):
    path = tmp_path / "new_grid.h5"
    assert airfoil("--iterations", 1, "--write-mesh", path) == 0
    np.testing.assert_array_equal(read_hdf5(path).edge2cell, airfoil_arrays(40, 50).edge2cell)
    assert airfoil("--iterations", 100, "--mesh", path) == 0


def test_airfoil_refuses_no_iterations(airfoil, capsys):
    with pytest.raises(SystemExit):
        airfoil("--iterations", 0)
    assert "expected at least 1, got 0" in capsys.readouterr().err


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("arguments", [[], ["--cells", "40", "--steps", "30"]])
def test_jacobi_equals_numpy(monkeypatch, backend, arguments, capsys):
    assert demo("jacobi", monkeypatch).main(["--backend", backend, *arguments]) == 0
    assert "check: passed" in capsys.readouterr().out


def test_jacobi_notices_a_wrong_kernel(monkeypatch, capsys):
    module = demo("jacobi", monkeypatch)
    wrong = module.KERNELS.replace("a[0] * u[0]", "a[0] * u[0] * 1.001")
    monkeypatch.setattr(module, "KERNELS", wrong)
    assert module.main([]) == 1
    assert "check: FAILED" in capsys.readouterr().out


FORMS = {
    **{"mass_laplace": 3, "advection_diffusion": 4, "elasticity": 2, "stokes": 3},
    **{"mixed_poisson": 4, "hyperelasticity": 4, "maxwell": 3, "dg_advection": 6, "wave": 6},
    **{"burgers": 2, "matrix_free": 2, "cylinder": 3, "condensation": 3, "multigrid": 2},
}
"""Demos of forms, and cells a side with which they are run."""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FORMS)
def test_forms_converge_as_they_should(monkeypatch, name, backend, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    argv = ["--backend", backend, "--cells", str(FORMS[name])]
    assert demo(name, monkeypatch).main(argv) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    assert "check: passed" in out
    assert all(times_of_loops(out, backend))


IN_CHECK_MODE = {
    **{"jacobi": [], "column_sum": [], "shallow_water": [], "wave": ["--cells", "6"]},
    "virtual_elements": ["--cells", "8"],
}


@pytest.mark.parametrize("name", IN_CHECK_MODE)
def test_demos_raise_no_alarm_in_check_mode(monkeypatch, name, capsys):
    """All of them, and the tests of forms: `PYOP2CXX_CHECK=1 pytest tests/python/test_demos.py`."""
    if name in FORMS:
        for package in ("basix", "ffcx", "scipy", "ufl"):
            pytest.importorskip(package)
    monkeypatch.setenv("PYOP2CXX_CHECK", "1")
    op2.exit()  # then the environment's options hold
    checked, run = [], CheckedRun.run
    monkeypatch.setattr(CheckedRun, "run", lambda loop: checked.append(loop) or run(loop))
    argv = ["--backend", "sequential", *IN_CHECK_MODE[name]]
    assert demo(name, monkeypatch).main(argv) == 0, capsys.readouterr().out
    assert "check: passed" in capsys.readouterr().out
    assert checked


def times_of_loops(out: str, backend: str) -> list[bool]:
    """Say of each loop in a printed profile whether the time of a call is known."""
    rows = [line.split() for line in out.splitlines() if len(line.split()) == 11]
    (head,) = (row for row in rows if row[:2] == ["loop", "backend"])
    found = [row[head.index("ms/call")] for row in rows if row[1] == backend]
    assert found, out
    return [time != "-" for time in found]


def test_a_demo_of_forms_says_when_it_converges_too_slowly(monkeypatch, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    module = demo("dg_advection", monkeypatch)
    solve = module.solve
    monkeypatch.setattr(module, "solve", lambda n: solve(2))
    assert module.main(["--cells", "2"]) == 1
    assert "check: FAILED" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        module.main(["--cells", "1"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_aero_is_symmetric_and_converges_quickly(monkeypatch, backend, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    argv = ["--backend", backend, "--cells", "6"]
    assert demo("aero", monkeypatch).main(argv) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    assert "check: passed" in out
    assert "multiply" in out


def test_aero_notices_a_wrong_tangent(monkeypatch, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    module = demo("aero", monkeypatch)
    derivative = module.derivative
    monkeypatch.setattr(module, "derivative", lambda *given: 1.1 * derivative(*given))
    assert module.main(["--cells", "4"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


def n_statements(text: str) -> int:
    """Return how many lines are neither blank nor comments nor docstrings."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    told = "\n".join(ast.get_docstring(node) or "" for node in nodes)
    counted = [sum(map(bool, map(str.strip, one.splitlines()))) for one in (text, told)]
    comments = sum(line.strip().startswith("#") for line in text.splitlines())
    return counted[0] - counted[1] - comments


@pytest.mark.parametrize("name", [*FORMS, "aero", "column_sum", "jacobi", "shallow_water"])
def test_demos_are_short_and_draw_what_they_found(monkeypatch, name, tmp_path):
    """60 lines at most, without the docstring.

    `shallow_water`, half of which are kernels, without blank lines and comments, too; and
    `matrix_free` and `cylinder`, which makes its mesh, show more: 80 of these.
    """
    for package in ("basix", "ffcx", "matplotlib", "scipy", "ufl"):
        pytest.importorskip(package)
    text = (DEMOS / f"{name}.py").read_text()
    if name in ("matrix_free", "cylinder"):
        assert n_statements(text) <= 80
    elif name == "shallow_water":
        assert n_statements(text) <= 60
    else:
        docstring = ast.get_docstring(ast.parse(text), clean=False) or ""
        assert len(text.splitlines()) - len(docstring.split("\n")) <= 60
    picture = tmp_path / "picture.png"
    argv = ["--backend", "sequential", "--picture", str(picture)]
    argv += ["--cells", str(FORMS.get(name, 5))]
    assert demo(name, monkeypatch).main(argv) == 0
    assert picture.stat().st_size > 5000


def test_burgers_notices_another_viscosity(monkeypatch, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    module = demo("burgers", monkeypatch)
    inner = module.inner
    monkeypatch.setattr(module, "inner", lambda f, g: 1.2 * inner(f, g))
    assert module.main(["--cells", "3"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "wrong"), [("VISCOSITY", 1.1e-3), ("RADIUS", 0.052)])
def test_cylinder_notices_another_flow(monkeypatch, name, wrong, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    module = demo("cylinder", monkeypatch)
    monkeypatch.setattr(module, name, wrong)
    assert module.main(["--cells", "3"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


def test_matrix_free_notices_an_operator_that_is_not_the_matrix(monkeypatch, capsys):
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    module = demo("matrix_free", monkeypatch)
    action = module.fem.action
    monkeypatch.setattr(module.fem, "action", lambda a, bcs: action(1.001 * a, bcs))
    assert module.main(["--cells", "2"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


@pytest.mark.parametrize("backend", BACKENDS)
def test_column_sum_keeps_the_volume_and_converges(monkeypatch, backend, capsys):
    argv = ["--backend", backend, "--cells", "4"]
    assert demo("column_sum", monkeypatch).main(argv) == 0, capsys.readouterr().out
    assert "check: passed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("right", "wrong"), [("- low) / 3.0", "- low) / 3.00001"), ("exp(middle)", "exp(x[2])")]
)
def test_column_sum_notices_a_wrong_kernel(monkeypatch, capsys, right, wrong):
    module = demo("column_sum", monkeypatch)
    assert right in module.COLUMN
    monkeypatch.setattr(module, "COLUMN", module.COLUMN.replace(right, wrong))
    assert module.main(["--cells", "4"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


@pytest.mark.parametrize("backend", BACKENDS)
def test_shallow_water_loses_no_water(monkeypatch, backend, capsys, tmp_path):
    picture = tmp_path / "depth.png"
    argv = ["--backend", backend, "--cells", "8", "--steps", "30", "--picture", str(picture)]
    assert demo("shallow_water", monkeypatch).main(argv) == 0
    assert "check: passed" in capsys.readouterr().out
    assert picture.stat().st_size > 1000


def test_shallow_water_notices_a_leak(monkeypatch, capsys):
    module = demo("shallow_water", monkeypatch)
    leak = module.KERNELS.replace("r[i] -= f; r[3 + i] += f;", "r[i] -= f; r[3 + i] += 0.99 * f;")
    monkeypatch.setattr(module, "KERNELS", leak)
    assert module.main(["--cells", "6", "--steps", "20"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


EVERY = {
    **{name: ["--cells", str(n)] for name, n in FORMS.items()},
    **{name: ["--cells", "6"] for name in ("aero", "heat", "two_forms", "poisson", "voronoi")},
    "virtual_elements": ["--cells", "8"],
    **{name: ["--cells", "4"] for name in ("column_sum", "conjugate_gradients")},
    **{name: ["--cells", "6", "--steps", "5"] for name in ("jacobi", "shallow_water")},
    "airfoil": ["--threads", "2", "--iterations", "100", "--profile"],
}
"""Every demo, and what makes it quick."""


def test_no_demo_is_forgotten() -> None:
    programs = {p.stem for p in DEMOS.glob("*.py") if "__main__" in p.read_text()}
    assert programs == EVERY.keys()
    assert len(programs) >= 20


@pytest.mark.parametrize("name", EVERY)
def test_every_demo_prints_its_check_and_the_time_of_its_loops(
    monkeypatch, name, mesh_6k, capsys
) -> None:
    for package in ("basix", "ffcx", "scipy", "ufl"):
        pytest.importorskip(package)
    module = demo(name, monkeypatch)
    if name == "airfoil":
        mesh = ["--mesh", str(mesh_6k)]
        assert module.main([*EVERY[name], *mesh], measure=lambda threads: STREAM) == 0
    else:
        assert module.main(EVERY[name]) == 0
    out = capsys.readouterr().out
    assert "check: passed" in out
    assert "ms/call" in out


CHAINED = {
    "airfoil": ("Airfoil", 2, ("q", "rms")),
    "conjugate_gradients": ("System", 4, ("u",)),
    "heat": ("Heat", 6, ("u", "hottest")),
    "jacobi": ("Jacobi", 7, ("u", "total", "largest")),
    "shallow_water": ("Basin", 4, ("q", "dt")),
    "two_forms": ("TwoForms", 6, ("k", "m", "e")),
}
"""Of demos with chains: the class, its size, and what is compared."""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CHAINED)
def test_programs_compute_the_same_in_chains(monkeypatch, name, backend):
    module = demo(name, monkeypatch)
    kind, size, results = CHAINED[name]
    with op2.backend(backend):
        where = airfoil_arrays(8, 6) if name == "airfoil" else size
        eager, chained = (getattr(module, kind)(where) for _ in "ab")
        for _ in range(4):
            for program, block in ((eager, nullcontext()), (chained, op2.chain(compare=True))):
                with block:
                    (program.iterate if name == "airfoil" else program.step)()
        for result in results:
            expected = getattr(eager, result).data_ro
            assert np.abs(expected).max() > 0
            found = getattr(chained, result).data_ro
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "arguments",
    [
        ["conjugate_gradients", "--cells", "5"],
        ["heat", "--cells", "6"],
        ["jacobi", "--steps", "5"],
        ["shallow_water", "--cells", "6", "--steps", "10"],
        ["two_forms", "--cells", "6"],
    ],
)
@pytest.mark.parametrize("chain", [[], ["--chain"]])
def test_programs_pass_their_checks(monkeypatch, arguments, chain, capsys):
    name, *rest = arguments
    assert demo(name, monkeypatch).main([*rest, *chain]) == 0, capsys.readouterr().out
    assert "check: passed" in capsys.readouterr().out


@pytest.mark.parametrize("backend", BACKENDS)
def test_virtual_elements_converge_on_each_backend(monkeypatch, backend, capsys, tmp_path):
    picture = tmp_path / "u.png"
    argv = ["--backend", backend, "--cells", "8", "--plot", str(picture)]
    assert demo("virtual_elements", monkeypatch).main(argv) == 0
    assert "check: passed" in capsys.readouterr().out
    assert picture.stat().st_size > 5000


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("conjugate_gradients", "(p[i + 1] - p[0])", "(p[i + 1] - 0.9 * p[0])"),
        ("heat", "dt[0] / m[0]", "1.1 * dt[0] / m[0]"),
        ("two_forms", "area / 12.0", "area / 11.0"),
        ("voronoi", "k[i] * (u[i] - u0[0])", "k[i] * (u[i] - 0.99 * u0[0])"),
        ("virtual_elements", "(from[0] - to[0]) / twice", "(from[0] - 0.98 * to[0]) / twice"),
        ("virtual_elements", "area / *n * 2.0 * M_PI", "area / *n * 2.02 * M_PI"),
    ],
)
def test_programs_notice_a_wrong_kernel(monkeypatch, name, right, wrong, capsys):
    module = demo(name, monkeypatch)
    assert right in module.KERNELS
    monkeypatch.setattr(module, "KERNELS", module.KERNELS.replace(right, wrong))
    assert module.main(["--cells", "8"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


def test_airfoil_gives_the_reference_rms_in_chains(airfoil, capsys):
    assert airfoil("--backend", "sequential", "--iterations", 100, "--chain") == 0
    assert "check: passed: rms after 100 iterations" in capsys.readouterr().out


def test_a_demo_that_lacks_a_package_says_what_to_install(monkeypatch, capfd):
    monkeypatch.setattr("pyop2cxx.reports.demos.demo_folder", lambda: DEMOS)
    monkeypatch.setitem(sys.modules, "ufl", None)  # as if there were none
    monkeypatch.setattr("pyop2cxx.base.extras.installed", lambda: {"ufl": False})
    assert main(["demo", "stokes", "--cells", "2"]) == 1
    wanted = "demo 'stokes' needs ufl, which is not installed; pip install 'pyop2cxx[fem]'"
    assert capfd.readouterr().err == f"pyop2cxx: {wanted}\n"


def test_airfoil_does_without_tqdm(airfoil, monkeypatch, capsys):
    monkeypatch.setattr("pyop2cxx.base.extras.installed", lambda: {"tqdm": False})
    assert airfoil("--iterations", 100) == 0
    assert "   100  rms 3.99" in capsys.readouterr().out


def test_demos_are_listed_and_run_from_the_command_line(monkeypatch, capfd):
    # where the package stands alone, the demos of this tree are meant all the same
    monkeypatch.setattr("pyop2cxx.reports.demos.demo_folder", lambda: DEMOS)
    assert main(["demo", "list"]) == 0
    listed = capfd.readouterr().out.splitlines()
    assert main(["demo"]) == 0
    assert capfd.readouterr().out.splitlines() == listed
    names = [line.split()[0] for line in listed]
    assert {"airfoil", "burgers", "column_sum", "jacobi", "matrix_free", "poisson"} <= set(names)
    assert "airfoil_kernels" not in names
    assert all(len(line.split()) > 4 for line in listed)
    assert main(["demo", "shallow_water", "--cells", "4", "--steps", "5"]) == 0
    assert "check: passed" in capfd.readouterr().out
    assert main(["demo", "shallow"]) == 1
    assert "there is no demo 'shallow'; there are: " in capfd.readouterr().err


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("arguments", [[], ["--degree", "2"], ["--dim", "3", "--degree", "2"]])
def test_poisson_comes_close_to_the_exact_solution(monkeypatch, backend, arguments, capsys):
    pytest.importorskip("scipy")
    argv = ["--backend", backend, "--cells", "6", *arguments]
    assert demo("poisson", monkeypatch).main(argv) == 0, capsys.readouterr().out
    assert "check: passed" in capsys.readouterr().out


@pytest.mark.parametrize("dim", ["2", "3"])
def test_poisson_draws(monkeypatch, tmp_path, dim):
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "u.png"
    argv = ["--cells", "4", "--dim", dim, "--degree", "2", "--plot", str(picture)]
    assert demo("poisson", monkeypatch).main(argv) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_poisson_notices_a_wrong_load(monkeypatch, capsys):
    pytest.importorskip("scipy")
    module = demo("poisson", monkeypatch)
    monkeypatch.setitem(module.GEOMETRY, 2, module.GEOMETRY[2].replace("x[5] - x[1]", "x[5]"))
    assert module.main(["--cells", "6"]) == 1
    assert "check: FAILED" in capsys.readouterr().out


def test_poisson_refuses_a_picture_without_a_middle(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        demo("poisson", monkeypatch).main(["--cells", "5", "--plot", "u.png"])
    assert "even for a picture" in capsys.readouterr().err
