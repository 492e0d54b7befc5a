# SPDX-License-Identifier: BSD-3-Clause
"""The public names, as a program meets them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ConfigurationError


def test_every_public_name_is_there() -> None:
    assert all(hasattr(op2, name) for name in op2.__all__)
    assert sorted(op2.__all__) == sorted(set(op2.__all__))
    for name in ("init", "exit", "initialised", "backend", "configuration", "set_log_level"):
        assert name in op2.__all__


def test_pyop2s_names_are_there() -> None:
    """Those of its `__all__`, without matrices and MPI."""
    names = """
        configuration READ WRITE RW INC MIN MAX ON_BOTTOM ON_TOP ON_INTERIOR_FACETS ALL debug info
        warning error critical initialised set_log_level init exit Kernel Set ExtrudedSet MixedSet
        Subset DataSet GlobalDataSet MixedDataSet Halo Dat MixedDat Global Map MixedMap parloop
        Parloop ParLoop par_loop DatView PermutedMap ComposedMap
    """
    assert set(names.split()) <= set(op2.__all__)


def test_life() -> None:
    op2.exit()
    assert not op2.initialised()
    op2.init(threads=2)
    assert op2.initialised()
    assert op2.configuration["threads"] == 2
    with pytest.raises(ConfigurationError, match="there are: "), op2.backend("no such"):
        pass
    op2.exit()
    assert op2.configuration["threads"] == 0


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    op2.set_log_level("DEBUG")
    for name in ("debug", "info", "warning", "error", "critical"):
        getattr(op2, name)("%s", name)
    op2.exit()
    assert [(r.name, r.levelname.lower()) for r in caplog.records] == [
        ("pyop2cxx", name) for name in ("debug", "info", "warning", "error", "critical")
    ]


def test_the_import_reads_the_environment() -> None:
    program = "from pyop2cxx import op2; print(op2.configuration['threads'])"
    environment = {"PYOP2CXX_THREADS": "7", "PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout == "7\n"
