# SPDX-License-Identifier: BSD-3-Clause
"""
GPUs reached through NVIDIA's driver.
"""

from __future__ import annotations
import collections.abc
import pyop2cxx._core
import typing

__all__: list[str] = ["find_devices", "make_compiler", "open_device"]

def find_devices() -> list[pyop2cxx._core.DeviceInfo]: ...
def make_compiler(
    architecture: str, nvrtc_folders: collections.abc.Sequence[str]
) -> pyop2cxx._core.DeviceCompiler: ...
def open_device(
    index: typing.SupportsInt | typing.SupportsIndex,
) -> pyop2cxx._core.RuntimeDevice: ...
