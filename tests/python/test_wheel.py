# SPDX-License-Identifier: BSD-3-Clause
"""The wheel and the source distribution hold what they should, and the wheel works alone."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from pyop2cxx.ahead.cpp_files import runtime_files
from pyop2cxx.ahead.leaf_files import LIST

ROOT = Path(__file__).parents[2]
# The build tree of `make test`, so that the compiler has nothing to do here.
BUILD_DIR = ROOT / "build" / "editable"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not BUILD_DIR.is_dir():
        pytest.skip("the wheel is built in the tree of `make test`, and there is none")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", f"--config-settings=build-dir={BUILD_DIR}"]
    command += ["--wheel-dir", str(folder), str(ROOT)]
    with (BUILD_DIR / "wheel.lock").open("w") as lock:  # another worker may build there, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_holds_all_that_runs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(p.relative_to(ROOT)) for p in (ROOT / "pyop2cxx").rglob("*.py")}
    templates = {f"pyop2cxx/{p.relative_to(ROOT)}" for p in (ROOT / "templates").rglob("*.j2")}
    demos = {f"pyop2cxx/{p.relative_to(ROOT)}" for p in (ROOT / "demos").glob("*.py")}
    stubs = {str(p.relative_to(ROOT)) for p in (ROOT / "pyop2cxx").rglob("*.pyi")}
    assert templates
    assert stubs
    assert demos
    assert sources | templates | demos | stubs | {"pyop2cxx/py.typed"} <= names
    assert [name for name in names if name.endswith("LICENSE")]


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    allowed = re.compile(
        r"pyop2cxx/.*\.(py|pyi|typed|j2|frame|so)$|pyop2cxx-[^/]*\.dist-info/"
        r"|pyop2cxx/cpp/(api|base|move|mesh|graph|plan|exec|dispatch|runtime|libs)/.*\.(cpp|hpp|h)$"
        r"|pyop2cxx/cpp/api/eti\.json$"
        r"|pyop2cxx/templates/(kept/\w+\.h|host/team\.c)$"
        r"|pyop2cxx/demos/cpp/(airfoil.cpp|CMakeLists.txt)$"
    )
    assert [name for name in names if not allowed.match(name)] == []
    assert {f"pyop2cxx/cpp/{name}" for name in (*runtime_files(), LIST)} <= {*names}
    assert len([name for name in names if name.endswith(".so")]) == 1


def test_the_wheel_generates_a_loop_away_from_its_sources(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    program = (
        "from pyop2cxx import op2\n"
        "op2.init(static=True)\n"
        "cells = op2.Set(None, 'cells')\n"
        "a = op2.Dat(cells, name='a')\n"
        "one = op2.Kernel('void one(double *a) { a[0] = 1.0; }', 'one')\n"
        "code = op2.ParLoop(one, cells, a(op2.WRITE)).generate()\n"
        "print(op2.__file__)\n"
        "print(code)\n"
    )
    path = os.pathsep.join([str(tmp_path / "site"), sysconfig.get_path("purelib")])
    # -S: the finder of an editable installation, a .pth file, would show the sources.
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, _, code = done.stdout.partition("\n")
    assert Path(where).is_relative_to(tmp_path)
    assert "one(" in code


def test_the_source_distribution_can_be_built_from(tmp_path: Path) -> None:
    program = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    needed = {"CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "cpp/base/abi.h"}
    needed |= {"cpp/base/standalone/fmt/format.h", "CITATION.cff"}
    templates = {str(p.relative_to(ROOT)) for p in (ROOT / "templates").rglob("*.j2")}
    assert needed | templates <= names
    unwanted = re.compile(r"build/|\.ci/|\.venv/|tests/golden/|.*\.so$")
    assert [name for name in names if unwanted.match(name)] == []
