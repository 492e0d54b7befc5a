# SPDX-License-Identifier: BSD-3-Clause
"""Where parts of NVIDIA's toolkit are when they came as Python packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def folders(part: str) -> list[str]:
    """Return folders of installed packages that may contain a part, newest layout first.

    Packages for CUDA 13 and later share ``nvidia/cu13/lib``; older packages have a folder each,
    ``nvidia/cublas/lib``.

    Args:
        part: Name of the part's folder: "cublas", "cuda_nvrtc".

    Example:
        >>> all(Path(folder).is_dir() for folder in folders("cublas"))
        True
    """
    found = importlib.util.find_spec("nvidia")
    roots = found.submodule_search_locations if found is not None else None
    return [
        str(folder)
        for root in roots or ()
        for folder in (
            *sorted(Path(root).glob("cu[0-9]*/lib"), reverse=True),
            *Path(root).glob(f"{part}/lib"),
        )
    ]
