# SPDX-License-Identifier: BSD-3-Clause
"""Where NVIDIA's run-time compiler is when it came as a Python package."""

from __future__ import annotations

from pyop2cxx import _core
from pyop2cxx.backends import _toolkit as toolkit


def folders() -> list[str]:
    """Return the folders of installed packages that may hold NVRTC, the newest layout first.

    The package ``nvidia-cuda-nvrtc`` puts it into ``nvidia/cu13/lib``, its predecessor
    ``nvidia-cuda-nvrtc-cu12`` into ``nvidia/cuda_nvrtc/lib``.

    Example:
        >>> from pathlib import Path
        >>> all(Path(folder).is_dir() for folder in folders())
        True
    """
    return toolkit.folders("cuda_nvrtc")


def compiler_of(index: int, info: _core.DeviceInfo) -> _core.DeviceCompiler:
    """Return the compiler for a GPU.

    Args:
        index: The GPU's number.
        info: What it says of itself.

    Raises:
        ToolchainError: There is no NVRTC, or it makes no code for this GPU.
    """
    return compiler(info.capability)


def compiler(architecture: str) -> _core.DeviceCompiler:
    """Return the compiler alone, for which no GPU is needed.

    Args:
        architecture: Of the GPU that the code is for: ``"sm_90"``.

    Raises:
        ToolchainError: There is no NVRTC, or it makes no code for this architecture.
    """
    return _core.cuda.make_compiler(architecture, folders())
