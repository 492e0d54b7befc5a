# SPDX-License-Identifier: BSD-3-Clause
"""Backends, solvers and libraries of other packages are found by entry points: `demos/plugin`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from pyop2cxx import op2
from pyop2cxx.algebra import plugged as solvers
from pyop2cxx.backends import _plugged as plugged
from pyop2cxx.exceptions import (
    ConfigurationError,
    ConvergenceError,
    SolverOptionError,
    UnknownBackendError,
)
from pyop2cxx.runtime import operations, runtime

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "demos" / "plugin"


class Installed:
    """The package of `demos/plugin`, installed by pip in a folder of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        source = shutil.copytree(TEMPLATE, place / "source")  # setuptools builds where it reads
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
        options = [
            "--no-build-isolation",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
        ]
        self.packages = place / "packages"
        subprocess.run([*pip, *options, "--target", self.packages, source], check=True)
        self._plug_in_pytest()

    def _plug_in_pytest(self) -> None:
        """Name our plugin of pytest as an installation does, where this tree is not installed."""
        if not metadata.entry_points(group="pytest11", name="pyop2cxx"):
            text = (ROOT / "pyproject.toml").read_text()
            [line] = re.findall(r"^\[project.entry-points.pytest11\]\n(.*)$", text, re.MULTILINE)
            told = self.packages / "ours-1.0.dist-info"
            told.mkdir()
            (told / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
            (told / "entry_points.txt").write_text("[pytest11]\n" + line.replace('"', "") + "\n")

    def run(self, *command: str, status: int = 0) -> str:
        """Run Python with the package, and return the output."""
        path = os.pathsep.join([str(self.packages), *filter(None, sys.path)])
        found = subprocess.run(
            [sys.executable, *command],
            env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=1100,
        )
        assert found.returncode == status, found.stdout[-4000:] + found.stderr[-4000:]
        return found.stdout + (found.stderr if status else "")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    pytest.importorskip("setuptools")
    return Installed(tmp_path_factory.mktemp("plugin"))


PROGRAM = """
from pyop2cxx import op2
from pyop2cxx.runtime import operations, runtime
(found,) = [one for one in op2.backends() if one.name == "abacus"]
print(found.available, found.summary)
op2.init(backend="abacus")
cells = op2.Set(3, "cells")
x = op2.Dat(cells, [1.0, 2.0, 3.0], name="x")
loop = op2.ParLoop(op2.Kernel("void twice(double *x) { *x *= 2; }", "twice"), cells, x(op2.RW))
loop.compute()
(file,) = loop.generate().files
print(file, *x.data_ro)
print(str(loop.generate()))
from pyop2cxx.backends import abacus
op2.exit()
other = abacus.ParLoop(loop.kernel, cells, x(op2.RW))
other.compute()
print(other, abacus.BACKEND.name, *x.data_ro)
"""


def test_a_backend_of_another_package_runs_loops(installed: Installed) -> None:
    said = installed.run("-c", PROGRAM).splitlines()
    assert said[0] == "True one core, as if it had no atomics"
    assert said[1] == "twice_abacus_direct.c 2.0 4.0 6.0"
    assert said[2].startswith("/* pyop2cxx ")
    assert "#if !ABACUS" in said
    assert said[-1] == "<ParLoop 'twice' over Set 'cells' on 'abacus': x RW> abacus 4.0 8.0 12.0"


def test_it_is_listed_and_can_be_chosen_on_the_command_line(installed: Installed) -> None:
    assert "abacus" in installed.run("-m", "pyop2cxx", "info")


@pytest.mark.slow
def test_it_passes_the_corpus_as_it_is(installed: Installed) -> None:
    """`test_corpus.py` takes every backend that there is: all loops, by every strategy."""
    corpus = str(Path(__file__).parent / "test_corpus.py")
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    said = installed.run("-m", "pytest", *options, "-k", "abacus", corpus)
    assert n_passed(said) > 800


def n_passed(said: str) -> int:
    """The number in the last line of pytest."""
    return int(said.splitlines()[-1].split(" passed")[0].split()[-1])


def own_tests(installed: Installed, *options: str, status: int = 0) -> str:
    """Run the tests of the template, which use our fixture."""
    command = ["-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist"]
    place = installed.place / "source"
    return installed.run(
        *command, f"--rootdir={place}", *options, str(place / "tests"), status=status
    )


def test_its_own_tests_run_on_each_backend_by_our_fixture(installed: Installed) -> None:
    there = {one.name for one in op2.backends() if one.available} | {"abacus"}
    said = own_tests(installed)
    assert set(re.findall(r"test_a_sum_over_edges\[(\w+)\] PASSED", said)) == there
    assert n_passed(said) == len(there) + 2


def test_backends_of_the_fixture_are_chosen_by_an_option(installed: Installed) -> None:
    said = own_tests(installed, "--op2-backends", "abacus, sequential", "-k", "edges")
    assert re.findall(r"edges\[(\w+)\] PASSED", said) == ["abacus", "sequential"]
    said = own_tests(installed, "--op2-backends", "sliderule", status=4)
    assert "--op2-backends: 'sliderule' is not available: there are: " in said


def test_nobody_looks_for_it_while_ours_do(installed: Installed) -> None:
    program = (
        "import sys; from pyop2cxx import op2; op2.init(backend='sequential'); "
        "x = op2.Dat(op2.Set(3)); "
        "op2.par_loop(op2.Kernel('void f(double *x) { *x = 1; }', 'f'), x.dataset.set, "
        "x(op2.WRITE)); "
        "from pyop2cxx.base import plugs; print(plugs.entry_points.cache_info().misses)"
    )
    assert installed.run("-c", program) == "0\n"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:BACKEND", "cannot be loaded: No module named 'no_such_module'"),
        ("pyop2cxx.op2:no_such_name", "cannot be loaded: "),
        ("pyop2cxx.op2:READ", "is of type .*; name an object of type Backend"),
        ("pyop2cxx.backends.openmp:BACKEND", "is a backend called 'openmp'; name both"),
    ],
)
def test_wrong_entry_points_are_refused(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = EntryPoint(name="broken", value=value, group=plugged.GROUP)
    monkeypatch.setattr(plugged, "entry_points", lambda: {"broken": point})
    with pytest.raises(ConfigurationError, match=f"backend 'broken': .*'{value}'.* {message}"):
        plugged.plugged_backend("broken")
    monkeypatch.setattr("pyop2cxx.runtime.state.entry_points", lambda: {"broken": point})
    assert "broken" in runtime.backend_names()
    (found,) = [one for one in op2.backends() if one.name == "broken"]
    assert not found.available
    assert value in found.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise RuntimeError('no licence')", "cannot be loaded: RuntimeError: no licence"),
        ("BACKEND = (", "cannot be loaded: SyntaxError: "),
        (
            "from pyop2cxx import _core\nBACKEND = _core.Facts(of_another_version=True)",
            "cannot be loaded: TypeError: .*incompatible constructor arguments",
        ),
    ],
)
def test_a_package_that_fails_leaves_the_others_alone(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever lists backends may have it installed without ever having asked for it."""
    module = f"failing_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint(name="failing", value=f"{module}:BACKEND", group=plugged.GROUP)
    monkeypatch.setattr(plugged, "entry_points", lambda: {"failing": point})
    monkeypatch.setattr("pyop2cxx.runtime.state.entry_points", lambda: {"failing": point})
    with pytest.raises(ConfigurationError, match=rf"(?s)backend 'failing': .* {message}"):
        plugged.plugged_backend("failing")
    (found,) = [one for one in op2.backends() if one.name == "failing"]
    assert not found.available
    assert {"sequential", "openmp", "cuda"} <= {one.name for one in op2.backends()}


def test_unknown_ones_are_refused_with_those_of_all_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint(name="abacus", value="abacus:BACKEND", group=plugged.GROUP)
    monkeypatch.setattr("pyop2cxx.runtime.state.entry_points", lambda: {"abacus": point})
    with pytest.raises(UnknownBackendError, match="there are: 'abacus', 'cuda', 'hip', 'opencl'"):
        op2.init(backend="sliderule")


def system() -> tuple[op2.Mat, op2.Dat, op2.Dat]:
    nodes = op2.Set(2)
    one = op2.Map(nodes, nodes, 1, [[0], [1]])
    matrix = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(one, one, None)]))
    matrix.set_local_diagonal_entries(range(2), 4.0)
    return matrix, op2.Dat(nodes), op2.Dat(nodes, [4.0, 8.0])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:solve", "cannot be loaded: No module named 'no_such_module'"),
        ("pyop2cxx.op2:READ", "is of type .*; name a function"),
        ("builtins:repr", r"repr\(\) takes"),
        ("operator:matmul", "matmul expected 2 arguments"),
        ("_wrong_solver:scalar", r"must return the solution, of shape \(2,\), and the number"),
    ],
)
def test_wrong_solvers_are_refused(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy")
    monkeypatch.setitem(sys.modules, "_wrong_solver", SimpleNamespace(scalar=lambda *_: 1.0))
    point = EntryPoint(name="broken", value=value, group=solvers.GROUP)
    monkeypatch.setattr(solvers.plugs, "entry_points", lambda group: {"broken": point})
    matrix, x, b = system()
    with pytest.raises((ConfigurationError, TypeError), match=message):
        op2.solve(matrix, x, b, package="broken")
    assert x.data_ro.tolist() == [0, 0]


def test_wrong_solutions_of_a_solver_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    wrong = SimpleNamespace(
        half=lambda matrix, rhs, *_: (rhs / 8, 3), whole=lambda matrix, rhs, *_: (rhs / 4, 3)
    )
    monkeypatch.setitem(sys.modules, "_a_solver", wrong)
    points = {
        name: EntryPoint(name=name, value=f"_a_solver:{name}", group=solvers.GROUP)
        for name in ("half", "whole")
    }
    monkeypatch.setattr(solvers.plugs, "entry_points", lambda group: points)
    matrix, x, b = system()
    with pytest.raises(ConvergenceError, match="after 3 iterations, residual 4"):
        op2.solve(matrix, x, b, package="half")
    went = op2.solve(matrix, x, b, package="whole")
    assert (went.reason, went.n_iterations, x.data_ro.tolist()) == ("CONVERGED_ATOL", 3, [1, 2])
    with pytest.raises(
        SolverOptionError, match=r"must be one of: auto, .*, half, whole, got 'third'"
    ):
        op2.solve(matrix, x, b, package="third")


class Counted:
    """A library in place of an entry point's module."""

    name, operations = "counted", ("zero",)

    def __init__(self) -> None:
        self.n_done = 0

    def why_not(self, operation: str, *given: object) -> str:
        return ""

    def perform(self, operation: str, *given: object) -> None:
        self.n_done += 1
        given[0][...] = 0  # type: ignore[index]


def entry_point_of_library(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name=name, value=value, group=operations.GROUP)
    monkeypatch.setattr(operations.plugs, "entry_points", lambda group: {name: point})


def test_a_library_of_another_package_is_added_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Counted()
    monkeypatch.setitem(sys.modules, "_a_library", SimpleNamespace(LIBRARY=library))
    entry_point_of_library("counted", "_a_library:LIBRARY", monkeypatch)
    op2.dispatch.add_library("counted")
    try:
        x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
        x.zero()
        assert library.n_done == 1
        assert x.data_ro.tolist() == [0, 0, 0]
    finally:
        op2.exit()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("broken", "no_such_module:LIBRARY", "cannot be loaded: No module named 'no_such_module'"),
        ("broken", "pyop2cxx.op2:READ", "is of type .*; name an object with the attributes name,"),
        ("counted", "_a_library:Counted", "is of type type; name an object with the attributes"),
        ("broken", "_a_library:LIBRARY", "is a library called 'counted'; name both of them"),
    ],
)
def test_wrong_libraries_are_refused(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = SimpleNamespace(LIBRARY=Counted(), Counted=Counted)
    monkeypatch.setitem(sys.modules, "_a_library", module)
    entry_point_of_library(name, value, monkeypatch)
    with pytest.raises(ConfigurationError, match=f"library '{name}': .*'{value}'.* {message}"):
        op2.dispatch.add_library(name)
    with pytest.raises(ConfigurationError, match=r"there is no library 'other'.*there are: "):
        op2.dispatch.add_library("other")
    op2.Dat(op2.Set(3)).zero()
    assert module.LIBRARY.n_done == 0
