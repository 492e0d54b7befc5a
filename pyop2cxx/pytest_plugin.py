# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest, present where pyop2cxx is installed: tests on each backend.

A test with an argument ``op2_backend`` runs once on each backend of the machine, and gets the
backend's name. The option ``--op2-backends sequential,openmp`` chooses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("pyop2cxx").addoption(
        "--op2-backends",
        metavar="NAMES",
        default="",
        help="backends for the fixture op2_backend, as 'sequential,openmp'; default: all available",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the option."""
    if wanted := config.getoption("op2_backends"):
        _names(wanted)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat a test with the fixture for each backend."""
    if "op2_backend" in metafunc.fixturenames:
        names = _names(metafunc.config.getoption("op2_backends"))
        metafunc.parametrize("op2_backend", names, indirect=True)


@pytest.fixture
def op2_backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test on a backend, and return the name."""
    with _op2().backend(request.param):
        yield request.param


def _names(wanted: str) -> list[str]:
    there = {one.name: one for one in _op2().backends()}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if name not in there or not there[name].available:
            why = there[name].reason if name in there else f"there are: {', '.join(there)}"
            raise pytest.UsageError(f"--op2-backends: '{name}' is not available: {why}")
    return names or [name for name, one in there.items() if one.available]


def _op2() -> Any:
    """Return the interface, imported by the first test with the fixture."""
    return importlib.import_module("pyop2cxx.op2")
