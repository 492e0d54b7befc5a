# SPDX-License-Identifier: BSD-3-Clause
"""The public names as help(), dir() and `import *` show them."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from pyop2cxx import op2
from pyop2cxx.runtime.options import OPTIONS

OLDER = (
    *("ComposedMap", "Dat", "Global", "Map", "Mat", "MixedDat", "MixedMat", "Passthrough"),
    "PermutedMap",
)


def test_kernels_show_their_parameters() -> None:
    shown = inspect.signature(op2.Kernel).parameters
    assert list(shown)[:3] == ["code", "name", "opts"]
    assert {"abi", "ldargs", "accesses", "dtypes", "flop_count"} <= set(shown)
    assert shown["cpp"].annotation == "bool"
    assert shown["cpp"].default is False
    assert list(inspect.signature(op2.LocalKernel).parameters)[:3] == ["code", "name", "accesses"]


def test_init_shows_its_options() -> None:
    shown = inspect.signature(op2.init).parameters
    assert list(shown) == ["comm", *(option.name for option in OPTIONS)]
    assert shown["threads"].annotation is int
    assert shown["strict_residency"].default is False
    assert "strict_residency: bool = False" in str(inspect.signature(op2.init))


def test_a_chain_shows_what_users_call() -> None:
    shown = [name for name in dir(op2.chain()) if not name.startswith("_")]
    assert shown == ["counts", "explain", "explain_lazy", "flush", "pending"]
    assert all(callable(getattr(op2.chain(), name)) for name in shown)


@pytest.mark.pyop2
def test_older_names_are_reachable_and_not_listed() -> None:
    kernel_args = [f"{name}KernelArg" for name in OLDER]
    loop_args = [f"{name}ParloopArg" for name in OLDER if "Map" not in name]
    legacy = [f"{name}LegacyArg" for name in ("Dat", "Global", "Mat", "MixedDat", "MixedMat")]
    rest = ["GlobalKernel", "Parloop", "LegacyParloop", "parloop", "IterationIndex", "i"]
    names = [*kernel_args, *loop_args, *legacy, *rest, "collective"]
    assert len(names) == 27
    assert not set(names) & set(op2.__all__)
    assert not set(names) & set(dir(op2))
    assert all(getattr(op2, name) is not None for name in names)
    assert op2.parloop is op2.par_loop


def test_all_names_are_imported_without_the_older_tree() -> None:
    text = (
        "import sys; sys.modules['pyop2cxx.pyop2'] = None\n"
        "from pyop2cxx.op2 import *\n"
        "print(Dat.__name__, init.__name__, solve.__name__, 'parloop' in globals())"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["Dat", "init", "solve", "False"]
