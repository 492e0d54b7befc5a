# SPDX-License-Identifier: BSD-3-Clause
"""The public names, as a program meets them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ConfigurationError


@pytest.mark.pyop2
def test_every_public_name_is_there() -> None:
    assert all(hasattr(op2, name) for name in op2.__all__)
    assert sorted(op2.__all__) == sorted(set(op2.__all__))
    for name in ("init", "exit", "initialised", "backend", "configuration", "set_log_level"):
        assert name in op2.__all__


@pytest.mark.pyop2
def test_pyop2s_names_are_there() -> None:
    """Those of its `__all__`, and those that can be imported besides."""
    names = """
        configuration READ WRITE RW INC MIN MAX ON_BOTTOM ON_TOP ON_INTERIOR_FACETS ALL debug info
        warning error critical initialised set_log_level MPI init exit Kernel Set ExtrudedSet
        MixedSet Subset DataSet GlobalDataSet MixedDataSet Halo Dat MixedDat Mat Global Map MixedMap
        Sparsity parloop Parloop ParLoop par_loop DatView PermutedMap ComposedMap
        Constant OpaqueType PassthroughArg CStringLocalKernel GlobalKernel GlobalKernelArg
        DatKernelArg MixedDatKernelArg MatKernelArg MapKernelArg GlobalParloopArg DatParloopArg
        MixedDatParloopArg MatParloopArg GlobalLegacyArg DatLegacyArg MixedDatLegacyArg MatLegacyArg
        LegacyParloop COMM_WORLD collective i Const Solver solve
    """
    assert [name for name in names.split() if not hasattr(op2, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = op2.nothing


@pytest.mark.pyop2
def test_pyop2s_modules_are_there() -> None:
    from pyop2cxx.pyop2._kernel_args import DatParloopArg
    from pyop2cxx.pyop2.global_kernel import Parloop
    from pyop2cxx.pyop2.parloop import LegacyParloop, parloop

    assert (Parloop, DatParloopArg) == (op2.Parloop, op2.DatParloopArg)
    assert (LegacyParloop, parloop) == (op2.ParLoop, op2.par_loop)
    assert op2.LegacyParloop is LegacyParloop


def test_the_import_takes_what_every_program_needs() -> None:
    """Other rooms, and the parsers, are imported by whoever asks for what they have."""
    program = (
        "import sys; from pyop2cxx import op2\n"
        "names = ['.'.join(name.split('.')[:2]) for name in sys.modules]\n"
        "print(*sorted({*names} & {*sys.argv[1:]}))\n"
        "op2.chain, op2.dispatch.report, op2.timings, op2.backends, op2.renumber\n"
        "print({'chain', 'dispatch', 'solve', 'Dat'} <= {*dir(op2)})\n"
    )
    rooms = ["ahead", "algebra", "chain", "fem", "graph", "io", "mesh", "plot", "pyop2", "reports"]
    late = ["tree_sitter", "pcpp", "scipy", *(f"pyop2cxx.{room}" for room in rooms)]
    run = subprocess.run(
        [sys.executable, "-c", program, *late],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == ["", "True"]


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
