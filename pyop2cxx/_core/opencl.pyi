# SPDX-License-Identifier: BSD-3-Clause
"""
Devices reached through OpenCL.
"""

from __future__ import annotations
import pyop2cxx._core
import typing

__all__: list[str] = ["list_devices", "open_device"]

def list_devices() -> list[pyop2cxx._core.DeviceInfo]: ...
def open_device(
    index: typing.SupportsInt | typing.SupportsIndex,
) -> tuple[pyop2cxx._core.RuntimeDevice, pyop2cxx._core.DeviceCompiler]: ...
