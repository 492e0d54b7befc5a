# SPDX-License-Identifier: BSD-3-Clause
"""The generation context against an interpreter that knows no C scopes."""

from __future__ import annotations

import ctypes
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from cg_programs import PROGRAM, interpreted, write
from hypothesis import HealthCheck, Phase, given, settings

from pyop2cxx import _core
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

cg = _core.cg


def options(*, measure: bool = False, max_bytes: int = 1 << 24) -> Any:
    return cg.Options(indent=2, max_bytes=max_bytes, measure=measure)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ctypes.CDLL]:
    folder: Path = tmp_path_factory.mktemp("cg")
    n_built = 0

    def compiled(text: str) -> ctypes.CDLL:
        nonlocal n_built
        n_built += 1
        source = folder / f"programs_{n_built}.c"
        library = source.with_suffix(".so")
        source.write_text(text)
        # Uninitialised reads and shadowed parameters would be the context's mistakes.
        flags = ["-std=c11", "-O0", "-Werror=uninitialized", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))

    return compiled


def drawn(n_programs: int) -> list[tuple[Any, ...]]:
    """Draw programs first, so that a hundred of them share one compiler call."""
    programs: list[tuple[Any, ...]] = []

    @settings(
        max_examples=n_programs,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(program=PROGRAM)
    def draw(program: tuple[Any, ...]) -> None:
        programs.append(program)

    draw()
    return programs


def test_sections_with_clashing_names_mean_what_the_unscoped_program_means(
    build: Callable[[str], ctypes.CDLL],
) -> None:
    programs = drawn(500)
    assert len(programs) == 500
    for begin in range(0, len(programs), 100):
        batch = programs[begin : begin + 100]
        context = cg.Context(cg.c_dialect(), options())
        drivers = write(context, batch)
        text = context.finish()

        measured = cg.Context(cg.c_dialect(), options(measure=True))
        write(measured, batch)
        assert measured.finish() == ""
        assert measured.size() == context.size() == len(text.encode())

        library = build(text)
        for k, driver in enumerate(drivers):
            trace = ctypes.c_ulong(1)
            getattr(library, f"f_{k}")(ctypes.byref(trace))
            function = text.split("void f_")[k + 1]
            assert trace.value == interpreted(driver), function


def test_python_exception_drops_the_function() -> None:
    context = cg.Context(cg.c_dialect(), options())

    def fail() -> None:
        with context.function("void f(void)"):
            context.begin_branch("if (1)")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert context.finish() == ""
    assert context.size() == 0


def test_misuse_is_a_usage_error() -> None:
    context = cg.Context(cg.c_dialect(), options())
    with pytest.raises(UsageError, match="no function is open"):
        context.statement("x = 1;")
    with (
        pytest.raises(UsageError, match="ends inside a branch"),
        context.function("void f(void)"),
    ):
        context.begin_branch("if (1)")


def test_budget_is_an_error_that_reports_the_partial_size() -> None:
    context = cg.Context(cg.c_dialect(), options(max_bytes=40))
    with context.function("void f(void)"):
        assert context.remaining() == 40 - context.size()
        with pytest.raises(UsageError, match=r"17 of 40 are used"):
            context.statement("an_unrolled_statement_of_many_bytes();")
        context.statement("f();")
    assert context.finish() == "void f(void) {\n  f();\n}\n"
