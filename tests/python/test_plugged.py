# SPDX-License-Identifier: BSD-3-Clause
"""Backends of other packages are found by their entry points, without a change in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pyop2cxx import op2
from pyop2cxx.backends import _plugged as plugged
from pyop2cxx.exceptions import ConfigurationError, UnknownBackendError
from pyop2cxx.runtime import runtime

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS / "plugged"


def run(*command: str) -> str:
    """Run Python where the package with the backend is installed, and return what it says."""
    path = os.pathsep.join([str(PACKAGE), *filter(None, sys.path)])
    found = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=1100,
    )
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-4000:]
    return found.stdout


PROGRAM = """
from pyop2cxx import op2
from pyop2cxx.runtime import runtime
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
"""


def test_a_backend_of_another_package_runs_loops() -> None:
    said = run("-c", PROGRAM).splitlines()
    assert said[0] == "True one core, as if it had no atomics"
    assert said[1] == "twice_abacus_direct.c 2.0 4.0 6.0"
    assert said[2].startswith("/* pyop2cxx ")
    assert "#if !ABACUS" in said


def test_it_is_listed_and_can_be_chosen_on_the_command_line() -> None:
    assert "abacus" in run("-m", "pyop2cxx", "info")


@pytest.mark.slow
def test_it_passes_the_corpus_as_it_is() -> None:
    """`test_corpus.py` takes every backend that there is: all loops, by every strategy."""
    corpus = str(TESTS / "python" / "test_corpus.py")
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    if "PYTEST_DISABLE_PLUGIN_AUTOLOAD" in os.environ:  # pyproject.toml has an option of this one
        options += ["-p", "pytest_timeout"]
    said = run("-m", "pytest", *options, "-k", "abacus", corpus)
    passed = int(said.splitlines()[-1].split(" passed")[0].split()[-1])
    assert passed > 800


def test_nobody_looks_for_it_while_ours_do() -> None:
    program = (
        "import sys; from pyop2cxx import op2; op2.init(backend='sequential'); "
        "x = op2.Dat(op2.Set(3)); "
        "op2.par_loop(op2.Kernel('void f(double *x) { *x = 1; }', 'f'), x.dataset.set, "
        "x(op2.WRITE)); "
        "from pyop2cxx.backends import _plugged as plugged; "
        "print(plugged.entry_points.cache_info().misses)"
    )
    assert run("-c", program) == "0\n"


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
