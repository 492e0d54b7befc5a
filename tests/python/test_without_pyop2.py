# SPDX-License-Identifier: BSD-3-Clause
"""The core does without the folder that bears PyOP2's tree.

The core's suite is the corpus and every test of a module of the core, by the table of
`structure.tests_of_units`. Left out is what imports the folder and what bears the mark `pyop2`.
From all others, each time they run, the folder is hidden (`older_tree.hidden`, by a fixture of
`conftest.py`): a test that needs it and does not say so fails, and so does the core where it does.
That hides modules, so tests here look for what else might lead to the folder: names in strings, and
what a process does that has never seen it, for which the package is copied without the folder, all
of its modules are imported, and for each room one test of one of its files is run.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import older_tree
import pytest
import structure

import pyop2cxx
from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent
ROOT = TESTS.parents[1]

RUN = """
import importlib.util, sys
# an editable installation would answer for the package before the path does
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, {root!r})
import pyop2cxx, pytest
assert pyop2cxx.__file__.startswith({root!r}), pyop2cxx.__file__
assert importlib.util.find_spec("pyop2cxx.pyop2") is None


class OneOfEachFile:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        first = {{}}
        for item in items:
            first.setdefault(item.path, item)
        items[:] = first.values()


sys.exit(pytest.main({arguments!r}, plugins=[OneOfEachFile()]))
"""

IMPORT_ALL = """
import pkgutil, sys
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, {root!r})
import importlib, pyop2cxx
assert pyop2cxx.__file__.startswith({root!r}), pyop2cxx.__file__
found = [m.name for m in pkgutil.walk_packages(pyop2cxx.__path__, "pyop2cxx.")]
for name in found:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(found))
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package without the folder."""
    made = tmp_path_factory.mktemp("core")
    package = Path(pyop2cxx.__file__).parent
    left_out = shutil.ignore_patterns("pyop2", "__pycache__", "_core*.so")
    shutil.copytree(package, made / "pyop2cxx", ignore=left_out)
    shutil.copy(_core.__file__, made / "pyop2cxx")
    for beside in ("templates", "cpp"):  # in a checkout; an installed package holds them
        if not (package / beside).is_dir():
            shutil.copytree(package.parent / beside, made / beside)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def config(root: Path) -> Path:
    """Options for pytest without those of plugins, which need not be loaded."""
    made = root / "pytest.ini"
    marks = "slow\n  pyop2\n  optimised\n  each_backend"
    # the package's plugin of pytest is imported by an editable installation before
    ignored = (
        "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"
    )
    made.write_text(f"[pytest]\nfilterwarnings =\n  error\n  {ignored}\nmarkers =\n  {marks}\n")
    return made


def one_of_each_room() -> list[Path]:
    """Return for each room of the core the first file of its tests; with test-all, all files."""
    suite = older_tree.core_suite()
    found: dict[str, Path] = {}
    for unit, tests in structure.tests_of_units(ROOT).items():
        for test in tests:
            if unit.startswith("pyop2cxx/") and ROOT / test in suite:
                found.setdefault(unit.split("/")[1], ROOT / test)
    return sorted(suite if os.environ.get("PYOP2CXX_TEST_ALL") == "1" else set(found.values()))


def run(root: Path, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, timeout=1100
    )


def test_the_suite_is_chosen_by_rooms() -> None:
    names = {path.name for path in older_tree.core_suite()}
    assert {"test_corpus.py", "test_dats.py", "test_parloop.py", "test_chain.py"} <= names
    assert not {"test_caching.py", "test_conventions.py", "test_structure.py"} & names


def old_kernel() -> None:
    x = op2.Dat(op2.Set(3))
    old = op2.Kernel("void f(double *x) { *x = 1; }", "f", abi="2016")
    op2.par_loop(old, x.dataset.set, x(op2.WRITE))


def test_what_is_hidden_is_as_if_it_were_not_there() -> None:
    for _ in range(2):  # whatever was imported before, and after it came back
        with older_tree.hidden():
            assert importlib.util.find_spec("pyop2cxx.pyop2") is None
            for name in ("pyop2cxx.pyop2", "pyop2cxx.pyop2.utils"):
                with pytest.raises(ModuleNotFoundError):
                    importlib.import_module(name)
            with pytest.raises(ImportError):
                from pyop2cxx import pyop2  # noqa: F401
            with pytest.raises(AttributeError, match="no attribute 'GlobalKernel'"):
                _ = op2.GlobalKernel
            with pytest.raises(UnsupportedError, match="which this installation lacks"):
                old_kernel()
        before = importlib.import_module("pyop2cxx.pyop2.global_kernel")
        assert op2.GlobalKernel is before.GlobalKernel
        with older_tree.hidden():
            pass
        assert importlib.import_module("pyop2cxx.pyop2.global_kernel") is before
        old_kernel()


@pytest.mark.parametrize("mark", ["", "@pytest.mark.pyop2\n"])
def test_a_test_that_needs_it_must_say_so(tmp_path: Path, mark: str) -> None:
    """A file of the core's suite, with one test that imports the folder."""
    copy = tmp_path / "tests" / "python"
    copy.mkdir(parents=True)
    for path in {*TESTS.glob("*.py")} - {*TESTS.glob("test_*.py")}:  # conftest.py, what it imports
        shutil.copy(path, copy)
    # the suite is told by the package's modules
    (tmp_path / "pyop2cxx" / "data").mkdir(parents=True)
    (tmp_path / "pyop2cxx" / "data" / "dats.py").touch()
    text = f"import pytest\n{mark}def test_it():\n    import pyop2cxx.pyop2.utils\n"
    (copy / "test_dats.py").write_text(text)
    (copy / "test_others.py").write_text(text)  # no module is called so
    settings = "[pytest]\nmarkers =\n  pyop2\n"
    (tmp_path / "pytest.ini").write_text(settings)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(copy)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    n_failed = 0 if mark else 1
    assert done.returncode == n_failed, done.stdout + done.stderr
    assert mark or "1 failed, 1 passed" in done.stdout
    assert mark or "test_dats.py::test_it - ModuleNotFoundError" in done.stdout


def test_two_modules_of_the_core_name_it() -> None:
    """Both are known to `older_tree.hidden`, which makes them forget what they have found."""
    names = set()
    for path in structure.python_modules(ROOT):
        inside = path.relative_to(ROOT / "pyop2cxx")
        strings = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        if inside.parts[0] != "pyop2" and any(
            text.startswith(("pyop2.", "pyop2cxx.pyop2")) for text in strings
        ):
            names.add(str(inside))
    assert names == {"op2.py", "runtime/seams.py"}


def test_all_other_modules_can_be_imported(root: Path) -> None:
    done = run(root, IMPORT_ALL.format(root=str(root)))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_the_core_does_without_it_in_a_new_process(root: Path, config: Path) -> None:
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-c", str(config), f"--rootdir={TESTS}"]
    arguments += ["-m", "not pyop2 and not slow", "-k", "not opencl and not openmp"]
    chosen = one_of_each_room()
    assert len(chosen) > 10
    arguments += map(str, chosen)
    done = run(root, RUN.format(root=str(root), arguments=arguments))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_who_needs_it_is_told(root: Path) -> None:
    program = """
import sys
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, {root!r})
from pyop2cxx import op2
from pyop2cxx.exceptions import ConfigurationError, UnsupportedError
x = op2.Dat(op2.Set(3))
old = op2.Kernel("void f(double *x) {{ *x = 1; }}", "f", abi="2016")
for ask in (lambda: op2.par_loop(old, x.dataset.set, x(op2.WRITE)), lambda: op2.i):
    try:
        ask()
    except (UnsupportedError, AttributeError) as error:
        print(error)
try:
    op2.init(type_check=False)
except ConfigurationError as error:
    print(str(error)[:27])
"""
    done = run(root, program.format(root=str(root)))
    assert done.stdout.splitlines() == [
        "kernels of PyOP2's older conventions need pyop2cxx.pyop2, which this installation lacks; "
        "write the kernel for today's, abi='2026'",
        "module 'pyop2cxx.op2' has no attribute 'i'",
        "unknown option 'type_check'",
    ], done.stderr
