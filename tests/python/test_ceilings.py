# SPDX-License-Identifier: BSD-3-Clause
"""Ceilings of the machine, measured by loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import _core, op2
from pyop2cxx.reports.ceilings import ceilings
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    runtime.engine.timings.clear()
    yield
    op2.exit()


def test_ceilings_of_a_backend(backend: str) -> None:
    before = set(runtime.engine.timings)
    found = ceilings(backend, op2.profile)
    assert ceilings(backend, op2.profile) is found  # measured once
    assert set(runtime.engine.timings) == before
    assert found.cache >= found.copy > 1e8
    assert found.lanes[8] >= found.scalar[8] > 1e8
    assert 0 < found.launch < 1e-2
    if backend == "sequential" and runtime.engine.vector_bytes >= 32:
        assert found.lanes[8] > 1.5 * found.scalar[8]


def test_a_gpu_is_far_from_a_host(device: _core.Device) -> None:
    """The table of a device is measured by the device's clock."""
    found = ceilings(runtime.backend, op2.profile)
    if not device.info.is_cpu:
        assert found.copy > 50e9
        assert found.lanes[8 if device.info.float64 else 4] > 100e9
