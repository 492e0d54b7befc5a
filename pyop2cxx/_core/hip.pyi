# SPDX-License-Identifier: BSD-3-Clause
"""
GPUs reached through AMD's HIP run-time.
"""

from __future__ import annotations
import pyop2cxx._core
import typing

__all__: list[str] = ["find_devices", "make_compiler", "open_device"]

def find_devices() -> list[pyop2cxx._core.DeviceInfo]: ...
def make_compiler(device: str) -> pyop2cxx._core.DeviceCompiler: ...
def open_device(
    index: typing.SupportsInt | typing.SupportsIndex,
) -> pyop2cxx._core.RuntimeDevice: ...
