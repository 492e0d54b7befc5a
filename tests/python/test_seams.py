# SPDX-License-Identifier: BSD-3-Clause
"""Higher rooms are found by name, also where a program imports a lower one alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyop2cxx.algebra import on_devices
from pyop2cxx.runtime import seams

ROOT = Path(__file__).parents[2]


def test_each_seam_finds_its_room() -> None:
    assert seams.device_algebra() is on_devices


@pytest.mark.pyop2
def test_older_conventions_are_found() -> None:
    from pyop2cxx.pyop2.conventions import adapt

    assert seams.conventions() is adapt


def test_data_alone_has_its_algebra() -> None:
    program = (
        "from pyop2cxx.data.dats import Dat\n"
        "from pyop2cxx.sets.sets import Set\n"
        "x = Dat(Set(3), [1.0, 2.0, 3.0])\n"
        "x += x\n"
        "print(x.data_ro.tolist(), x.inner(x))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    assert run.stdout == "[2.0, 4.0, 6.0] 56.0\n"
