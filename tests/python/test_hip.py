# SPDX-License-Identifier: BSD-3-Clause
"""HIP without an AMD GPU: its texts compile, and the adaptor fits AMD's header."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs import needs_program
from small_world import World
from test_flow import texts

from pyop2cxx import op2
from pyop2cxx.exceptions import ToolchainError
from pyop2cxx.reports.cli import main
from pyop2cxx.runtime import runtime

TESTS = Path(__file__).parents[1]
HEADERS = Path("/usr/include")
"""Where Debian's package libamdhip64-dev puts them."""
NEEDS_HEADERS = pytest.mark.skipif(
    not (HEADERS / "hip/hip_runtime_api.h").exists(),
    reason="AMD's headers are not installed (apt-get install libamdhip64-dev)",
)
COMPILE = (
    *("clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc"),
    *("-std=c++17", "-Wall", "-Werror", "-fsyntax-only"),
)


def rejected(command: tuple[str, ...], path: Path) -> str:
    """What a compiler says of a file; empty if it takes it."""
    return subprocess.run([*command, path], capture_output=True, text=True, check=False).stderr


def complex_loop() -> op2.ParLoop:
    cells = op2.Set(3)
    code = "void turn(const double _Complex *x, double _Complex *y) { y[0] += x[0] * x[0]; }"
    x, y = (op2.Dat(cells, dtype=np.complex128) for _ in range(2))
    return op2.ParLoop(op2.Kernel(code, "turn"), cells, x(op2.READ), y(op2.INC))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("hip")
    found = {name: str(code) for name, code in texts(["hip"]).items()}
    paths = []
    for name, code in found.items():
        path = folder / f"{name}.hip"
        path.write_text(code)
        paths.append(path)
    op2.exit()
    return paths


@needs_program("clang")
@pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
def test_texts_compile_with_what_they_use_of_the_language(sources: list[Path], arch: str) -> None:
    stub = ("-include", str(TESTS / "hip/stub.h"))
    assert len(sources) > 20
    for path in sources:
        assert rejected((*COMPILE, f"--offload-arch={arch}", *stub), path) == "", path.name


@needs_program("clang")
@NEEDS_HEADERS
def test_texts_compile_with_the_vendors_headers(sources: list[Path], tmp_path: Path) -> None:
    flags = ("--offload-arch=gfx90a", "-D__HIP_PLATFORM_AMD__", "-include", "hip/hip_runtime.h")
    with op2.backend("hip"):
        path = tmp_path / "complex.hip"
        path.write_text(complex_loop().generate())
    for source in [*sources, path]:
        assert "error" not in rejected((*COMPILE, "-Wno-error", *flags), source), source.name


@needs_program("clang++")
@NEEDS_HEADERS
def test_the_adaptor_fits_the_vendors_header() -> None:
    command = ("clang++", "-std=c++20", "-fsyntax-only", f"-I{TESTS.parent / 'cpp'}")
    assert "error" not in rejected(command, TESTS / "hip/functions.cpp")


def test_texts_have_the_words_of_hip() -> None:
    with op2.backend("hip"):
        code = World().loop().generate({"strategy": "owner"})
    op2.exit()
    assert "__shfl(" in code
    assert "__shfl_sync" not in code
    assert "op2_start" not in code
    assert next(iter(code.files)).endswith(".hip")


def test_without_a_gpu_it_says_what_is_missing() -> None:
    (found,) = [one for one in op2.backends() if one.name == "hip"]
    if found.available:
        pytest.skip("there is an AMD GPU")
    assert "AMD's HIP run-time" in found.reason
    with op2.backend("hip"), pytest.raises(ToolchainError, match="AMD's HIP run-time"):
        World().loop()()
    op2.exit()


def test_it_says_that_it_has_never_run() -> None:
    assert "has never run" in runtime.engine.backend("hip").summary


def test_it_is_one_python_file_one_template_folder_and_one_adaptor() -> None:
    """What a backend over the table of GPUs costs; comments are counted."""
    root = TESTS.parent
    units = [*root.glob("cpp/runtime/hip/*"), *root.glob("cpp/jit/hiprtc/*")]
    assert sum(len(unit.read_text().splitlines()) for unit in units) <= 420
    assert {unit.stem for unit in units} == {"adaptor", "compiler"}
    for template in root.glob("templates/hip/*"):
        assert len(template.read_text().splitlines()) <= 2, template.name
    assert [path.name for path in root.glob("pyop2cxx/**/*hip*.py")] == ["hip.py"]


def test_info_says_that_it_has_never_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["info"])
    (line,) = [row for row in capsys.readouterr().out.splitlines() if row.split()[:1] == ["hip"]]
    assert "has never run" in line
