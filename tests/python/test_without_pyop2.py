# SPDX-License-Identifier: BSD-3-Clause
"""The core does without the folder that bears PyOP2's tree: its tests run where that is gone.

That nothing imports the folder but the face is checked of every import in `test_structure.py`. What
is left to show is that no file is found missing at run time, so one or more tests of each room from
the ground to algebra are enough; all of them would take as long as the suite, a second time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyop2cxx
from pyop2cxx import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent

# By room from the ground up; none of these tests needs what only PyOP2's programs use.
CORE = (
    *("access", "arrays", "options", "store", "sets", "subsets", "extruded", "maps", "items"),
    *("derived_maps", "sparsities", "dats", "globals", "constants", "views", "algebra", "mat_rows"),
    *("ghosts", "renumber", "kernel", "kernel_checks", "preprocess", "frames", "symbolic", "facts"),
    *("parts", "execute", "meetings", "bounds", "python_loop", "value_checks"),
    *("krylov", "square", "timings", "dispatch"),
)

RUN = """
import importlib.util, sys
# an editable installation would answer for the package before the path does
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, {root!r})
import pyop2cxx, pytest
assert pyop2cxx.__file__.startswith({root!r}), pyop2cxx.__file__
assert importlib.util.find_spec("pyop2cxx.pyop2") is None
sys.exit(pytest.main({arguments!r}))
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package without the folder."""
    made = tmp_path_factory.mktemp("core")
    package = Path(pyop2cxx.__file__).parent
    left_out = shutil.ignore_patterns("pyop2", "__pycache__", "_core*.so")
    shutil.copytree(package, made / "pyop2cxx", ignore=left_out)
    shutil.copy(_core.__file__, made / "pyop2cxx")
    if not (package / "templates").is_dir():
        shutil.copytree(package.parent / "templates", made / "templates")
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def config(root: Path) -> Path:
    """Options for pytest without those of plugins, which need not be loaded."""
    made = root / "pytest.ini"
    made.write_text("[pytest]\nfilterwarnings = error\nmarkers = slow\n")
    return made


def run(root: Path, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, timeout=1100
    )


def test_the_cores_tests_pass_without_it(root: Path, config: Path) -> None:
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-c", str(config)]
    arguments += [f"--rootdir={TESTS}", "-k", "not opencl and not older and not pyop2"]
    arguments += [str(TESTS / f"test_{name}.py") for name in CORE]
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
