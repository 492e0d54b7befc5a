# SPDX-License-Identifier: BSD-3-Clause
"""Programs, compilers and devices that some tests need: a machine may have them or not."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx import op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import ToolchainError
from pyop2cxx.reports.cli import main
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from _pytest.mark import ParameterSet


def needs_program(name: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test where a program is not on the path."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"there is no {name} on the path")


def with_program(name: str, *more: Any) -> ParameterSet:
    """Return a case of a test that starts a program, skipped where there is none."""
    return pytest.param(name, *more, marks=needs_program(name))


def has_nvrtc() -> bool:
    """Say whether NVIDIA's run-time compiler is there; it needs no GPU."""
    try:
        nvrtc.compiler("sm_90")
    except ToolchainError:
        return False
    return True


def is_gpu(backend: str) -> bool:
    """Say whether loops run on a GPU here, which spreads elements over lanes itself."""
    device = runtime.engine.chosen_device(runtime.engine.backend(backend))
    return device is not None and not device.info.is_cpu


def said(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and return its output and status."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


def build_in_cpp(
    folder: Path,
    name: str,
    programs: tuple[str, str],
    backends: Sequence[str],
    installed_runtime: Callable[[Path], Path],
) -> None:
    """Generate the loops of a program in Python, and build one in C++ that runs them.

    The folder then has the loops in 'loops', and in 'out' the executable 'program', the test
    '<name>_check' and the example '<name>_example'.
    """
    (folder / f"{name}.py").write_text(programs[0])
    options = ["--backend", ",".join(backends), "-o", str(folder / "loops")]
    assert main(["generate", *options, str(folder / f"{name}.py")]) == 0
    op2.exit()
    (folder / "program.cpp").write_text(programs[1])
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(both LANGUAGES C CXX)\n"
        "add_subdirectory(loops)\nadd_executable(program program.cpp)\n"
        f"target_link_libraries(program PRIVATE {name}_cpp)\n"
    )
    prefix = f"-DCMAKE_PREFIX_PATH={installed_runtime(folder / 'loops' / 'runtime')}"
    chosen = ("-DCMAKE_CXX_FLAGS_RELEASE=-O0", f"-D{name}_CHECK=ON", f"-D{name}_EXAMPLE=ON")
    for command in (
        ("cmake", "-S", folder, "-B", folder / "out", *chosen, prefix),
        ("cmake", "--build", folder / "out"),
    ):
        done = said(*command)
        assert done.returncode == 0, done.stdout + done.stderr
