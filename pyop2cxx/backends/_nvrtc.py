# SPDX-License-Identifier: BSD-3-Clause
"""Location of NVIDIA's run-time compiler from a Python package."""

from __future__ import annotations

from pyop2cxx import _core
from pyop2cxx.backends import _toolkit as toolkit


def folders() -> list[str]:
    """Return folders of installed packages that may contain NVRTC, newest layout first.

    The package ``nvidia-cuda-nvrtc`` uses ``nvidia/cu13/lib``, the older ``nvidia-cuda-nvrtc-cu12``
    ``nvidia/cuda_nvrtc/lib``.

    Example:
        >>> from pathlib import Path
        >>> all(Path(folder).is_dir() for folder in folders())
        True
    """
    return toolkit.folders("cuda_nvrtc")


def compiler(architecture: str) -> _core.DeviceCompiler:
    """Return the compiler alone, without a GPU.

    Args:
        architecture: Architecture of the target GPU: ``"sm_90"``.

    Raises:
        ToolchainError: NVRTC is missing, or cannot make code for the architecture.
    """
    return _core.vendor("cuda").make_compiler(architecture, folders())
