# SPDX-License-Identifier: BSD-3-Clause
"""
Devices reached through OpenCL.
"""

from __future__ import annotations
import pyop2cxx._core
import typing

__all__: list[str] = ["list_devices", "make_compiler", "open_device", "program_of"]

def list_devices() -> list[pyop2cxx._core.DeviceInfo]: ...
def make_compiler(
    index: typing.SupportsInt | typing.SupportsIndex,
) -> pyop2cxx._core.DeviceCompiler: ...
def open_device(
    index: typing.SupportsInt | typing.SupportsIndex,
) -> pyop2cxx._core.RuntimeDevice: ...
def program_of(options: str, source: str) -> bytes: ...
