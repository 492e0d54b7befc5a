# SPDX-License-Identifier: BSD-3-Clause
"""Programs, compilers and devices that some tests need: a machine may have them or not."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import ToolchainError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
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
    """Run a command and return its output and status."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
