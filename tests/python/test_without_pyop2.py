# SPDX-License-Identifier: BSD-3-Clause
"""The core does without the folder that bears PyOP2's tree: its suite runs where that is gone.

The core's suite is the corpus and every test of a module of the core, by the table of
`structure.tests_of_units`. Left out is what imports the folder and what bears the mark `pyop2`; a
test that needs the folder and says so in neither way fails here.

What is to be found is an import or a file that is missing, so not every case runs a second time:
none on OpenCL or OpenMP, none that is slow, and of those with the same first parameter, such as a
loop of the corpus, one.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structure

import pyop2cxx
from pyop2cxx import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent
N_PARTS = 6  # that workers may share, as one would take minutes
ROOT = TESTS.parents[1]

RUN = """
import importlib.util, sys
# an editable installation would answer for the package before the path does
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, {root!r})
import pyop2cxx, pytest
assert pyop2cxx.__file__.startswith({root!r}), pyop2cxx.__file__
assert importlib.util.find_spec("pyop2cxx.pyop2") is None


class OneCaseEach:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        first = {{}}
        for item in items:
            first.setdefault(item.nodeid.partition("-")[0], item)
        items[:] = first.values()


sys.exit(pytest.main({arguments!r}, plugins=[OneCaseEach()]))
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
    made.write_text("[pytest]\nfilterwarnings = error\nmarkers =\n  slow\n  pyop2\n")
    return made


def run(root: Path, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, timeout=1100
    )


def core_suite() -> list[Path]:
    """Return the corpus, and the tests of all modules but PyOP2's."""
    units = structure.tests_of_units(ROOT)
    of_core = {unit for unit in units if unit.startswith("pyop2cxx/")}
    of_core -= {unit for unit in of_core if unit.startswith("pyop2cxx/pyop2/")}
    found = {ROOT / test for unit in of_core for test in units[unit]} | {TESTS / "test_corpus.py"}
    return sorted(path for path in found if path.exists() and not needs_folder(path))


def needs_folder(path: Path) -> bool:
    """Whether a test imports the folder at its top."""
    body = ast.parse(path.read_text()).body
    imports = [ast.unparse(n) for n in body if isinstance(n, ast.Import | ast.ImportFrom)]
    return any("pyop2cxx.pyop2" in line or "pyop2cxx import pyop2" in line for line in imports)


def test_the_suite_is_chosen_by_rooms() -> None:
    names = {path.name for path in core_suite()}
    assert {"test_corpus.py", "test_dats.py", "test_parloop.py", "test_chain.py"} <= names
    assert not {"test_caching.py", "test_conventions.py", "test_structure.py"} & names


@pytest.mark.parametrize("part", range(N_PARTS))
def test_the_cores_suite_passes_without_it(part: int, root: Path, config: Path) -> None:
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-c", str(config), f"--rootdir={TESTS}"]
    arguments += ["-m", "not pyop2 and not slow", "-k", "not opencl and not openmp"]
    arguments += map(str, core_suite()[part::N_PARTS])
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
