# SPDX-License-Identifier: BSD-3-Clause
"""The generation context against an interpreter that knows no C scopes."""

from __future__ import annotations

import ctypes
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cg_programs import PROGRAM, interpreted, write
from hypothesis import HealthCheck, Phase, given, settings

from pyop2cxx import _core, op2
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


@pytest.mark.slow
def test_sections_with_clashing_names_mean_what_the_unscoped_program_means(
    build: Callable[[str], ctypes.CDLL],
) -> None:
    programs = drawn(200)
    assert len(programs) == 200
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


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
@pytest.mark.parametrize("strategy", ["owner", "scratch", "atomic", "block", "colour"])
def test_a_function_takes_pointers_to_all_kinds_of_memory(backend: str, strategy: str) -> None:
    """A device keeps tables, locals, Globals and what is staged in memories of their own."""
    text = """
    static const double table[2] = {1, 2};
    double sum(const double *a) { return a[0] + a[1]; }
    double *same(double *a) { return a; }
    void put(double *to, const double *from) { to[0] += sum(from); to[1] += from[1]; }
    void k(double *y, const double *x, const double *g, double *r) {
      double l[2] = {1, 2};
      put(y, x); put(y, g); put(l, table); put(same(y), l);
      r[0] += sum(l) + sum(x) + sum(table) + sum(g);
    }"""
    edges, nodes = op2.Set(20), op2.Set(15)
    values = np.random.default_rng(3).integers(0, 15, (20, 2))
    y, x = op2.Dat(nodes), op2.Dat(edges**2, np.arange(40.0))
    g, r = op2.Global(2, [5.0, 6.0]), op2.Global(1, 0.0)
    args = y(op2.INC, op2.Map(edges, nodes, 2, values)), x(op2.READ), g(op2.READ), r(op2.INC)
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(text, "k"), edges, *args, strategy=strategy)
    pairs = np.arange(40.0).reshape(20, 2)
    wanted = np.zeros(15)
    np.add.at(wanted, values[:, 0], pairs.sum(axis=1) + 11 + (1 + 3) + (2 + 2))
    np.add.at(wanted, values[:, 1], pairs[:, 1] + 6 + (2 + 2))
    np.testing.assert_allclose(y.data_ro, wanted, rtol=1e-12)
    assert r.data_ro[0] == 20 * (8 + 3 + 11) + pairs.sum()
