# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.configuration`` by programs for PyOP2."""

from __future__ import annotations

from typing import Any

from pyop2cxx.base import extras
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.options import Configuration, Option

configuration = runtime.configuration

__all__ = ["Configuration", "configuration"]


def _of_pyop2(name: str, default: bool | int | str, warning: str = "") -> Option:
    effect = "PyOP2's; has no effect."
    return Option(name=name, type=type(default), default=default, help=effect, warning=warning)


PYOP2_OPTIONS: tuple[Option, ...] = (
    *(_of_pyop2(name, True) for name in ("type_check", "check_src_hashes", "matnest")),
    *(_of_pyop2(name, True) for name in ("block_sparsity", "node_local_compilation")),
    *(_of_pyop2(name, False) for name in ("loop_fusion", "dump_gencode")),
    *(_of_pyop2(name, False) for name in ("no_fork_available", "print_cache_size")),
    *(_of_pyop2(name, False) for name in ("print_cache_info", "print_summary")),
    *(_of_pyop2(name, False) for name in ("compute_kernel_flops", "spmd_strict", "safe_math")),
    *(_of_pyop2(name, "") for name in ("compiler", "simd_isa", "blas", "dump_gencode_path")),
    _of_pyop2(
        "lazy_evaluation",
        False,
        warning="it has no effect; loops run at once unless op2.init(lazy=True) lets them wait",
    ),
    _of_pyop2("gpu_strategy", ""),
    _of_pyop2("simd_width", 4),
    _of_pyop2("lazy_max_trace_length", 100),
)
"""Options of PyOP2's programs without an effect here: kept, checked, and not listed."""


def __getattr__(name: str) -> Any:
    """Return the target for loopy: C."""
    if name == "target":
        return extras.load("loopy", "configuration.target").CWithGNULibcTarget()
    raise AttributeError(f"module 'pyop2cxx.pyop2.configuration' has no attribute '{name}'")
