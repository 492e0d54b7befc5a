# SPDX-License-Identifier: BSD-3-Clause
"""What compiled loops are called with, for tests that call them by themselves."""

from __future__ import annotations

import ctypes


class Context(ctypes.Structure):
    """`op2_context_v1` of ``cpp/base/abi.h``."""

    _fields_ = (
        ("queue", ctypes.c_void_p),
        ("scratch", ctypes.c_void_p),
        ("scratch_bytes", ctypes.c_long),
        ("parameters", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
        ("n_threads", ctypes.c_int),
        ("flags", ctypes.c_uint),
    )
