# SPDX-License-Identifier: BSD-3-Clause
"""Several loops in one program: each runs as if it had been compiled by itself."""

from __future__ import annotations

import doctest
import re
from threading import Barrier
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyop2cxx.pipeline.together
from pyop2cxx import op2
from pyop2cxx.exceptions import CompilationError, UnsupportedError
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.together import compile_together, joined
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

    from pyop2cxx.data.dats import Dat

pytestmark = pytest.mark.usefixtures("exits")

DEVICES = [b.name for b in op2.backends() if b.name in ("opencl", "cuda") and b.available]
HOSTS = [b.name for b in op2.backends() if b.name not in DEVICES and b.available]
on_devices = pytest.mark.parametrize("backend", DEVICES)


def scaled(factor: float) -> tuple[op2.ParLoop, Dat, op2.Global]:
    """A loop whose kernel, helper and table are called what they are called in the others."""
    code = f"""
static const double factors[2] = {{{factor}, 1.0}};
static double times(double a) {{ return factors[0] * a; }}
void scale(const double *x, double *y, double *sum) {{ y[0] = times(x[0]); sum[0] += y[0]; }}"""
    cells = op2.Set(100, "cells")
    x, y = op2.Dat(cells, np.arange(100.0)), op2.Dat(cells)
    total = op2.Global(1, 0.0)
    kernel = op2.Kernel(code, "scale")
    return op2.ParLoop(kernel, cells, x(op2.READ), y(op2.WRITE), total(op2.INC)), y, total


def n_programs() -> int:
    return int(runtime.engine.device_service.statistics().n_compiles)


@on_devices
def test_loops_of_one_program_are_as_good_as_others(backend: str) -> None:
    factors = [2.0 + np.random.default_rng().random(), 3.0, 4.0]
    with op2.backend(backend):
        loops = [scaled(factor) for factor in factors]
        before = n_programs()
        assert compile_together(loop for loop, _, _ in [*loops, loops[0]]) == len(factors)
        assert n_programs() == before + 1
        assert compile_together(loop for loop, _, _ in loops) == 0
        for (loop, y, total), factor in zip(loops, factors, strict=True):
            loop.compute()
            np.testing.assert_allclose(y.data_ro, factor * np.arange(100.0))
            np.testing.assert_allclose(total.data_ro, factor * 4950.0)
        assert n_programs() == before + 1


@on_devices
def test_compilers_have_nothing_to_say(backend: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Loops on lanes have types of vectors; PoCL prints how many warnings there are."""
    text = """void heavy(const double *x, double *y) {
      for (int i = 0; i < 8; ++i) y[i] += sin(%s * x[i]) + exp(x[i]) * sqrt(x[i]);
    }"""
    nodes = op2.Set(64)
    x, y = op2.Dat(nodes**8), op2.Dat(nodes**8)
    kernels = [op2.Kernel(text % (i + np.random.default_rng().random()), "heavy") for i in (1, 2)]
    with op2.backend(backend):
        is_cpu = runtime.engine.device(runtime.engine.backend(backend)).info.is_cpu
        lanes = 4 if is_cpu else None
        loops = [op2.ParLoop(k, nodes, x(op2.READ), y(op2.RW), lanes=lanes) for k in kernels]
        compile_together(loops)
    assert capfd.readouterr() == ("", "")


@on_devices
def test_a_rejected_program_is_an_error_and_nothing_is_known_of_it(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, y, _ = scaled(5.0 + np.random.default_rng().random())
    monkeypatch.setattr(
        pyop2cxx.pipeline.together, "joined", lambda texts: texts[0] + "\nnonsense\n"
    )
    with op2.backend(backend):
        with pytest.raises(CompilationError):
            compile_together([loop])
        loop.compute()
        assert y.data_ro[1] > 5.0


def test_each_text_has_names_of_its_own() -> None:
    text = joined(
        ["static inline int f(int a) {\n  return a;\n}\n", "__kernel void f(\n    int b) {}\n"]
    )
    assert re.findall(r"#(\w+ f.*)", text) == [
        "define f f_loop0",
        "undef f",
        "define f f_loop1",
        "undef f",
    ]


def test_tables_and_functions_of_every_language_are_found() -> None:
    lines = [
        "static __constant__ double t[2] = {1, 2};",
        'extern "C" __global__ void wrap_g(',
        'extern "C" __global__ void __launch_bounds__(32, 12) wrap_team(',
        "__constant int u[1] = {0};",
        "static inline void h(const double *x) {",
        "  inner(x);",
        "static const int v = 3;",
        "static inline __attribute__((always_inline)) double8 op2_at(",
        "typedef struct {",
        "  double8 re;",
        "} op2_pair;",
        "typedef double4 op2_float64x4;",
        "typedef double op2_row __attribute__((ext_vector_type(2), aligned(8), may_alias));",
    ]
    types = ["op2_float64x4", "op2_row"]
    names = re.findall(r"#define (\w+) ", joined(["\n".join(lines)]))
    assert names == ["t", "wrap_g", "wrap_team", "u", "h", "v", "op2_at", "op2_pair", *types]


@pytest.mark.parametrize("backend", HOSTS)
def test_on_the_host_compilers_run_at_once(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each compiler waits for the other one: one after the other, neither would end."""
    op2.init(cache_dir=str(tmp_path))
    together = Barrier(2)
    load = flow.load

    def meeting(*args: Any) -> Any:
        together.wait(timeout=60)
        return load(*args)

    monkeypatch.setattr(flow, "load", meeting)
    monkeypatch.setattr(pyop2cxx.pipeline.together._core, "available_threads", lambda: 2)
    with op2.backend(backend):
        loops = [scaled(factor) for factor in (2.5, 3.5)]
        assert compile_together(loop for loop, _, _ in [*loops, loops[0]]) == 2
        assert compile_together(loop for loop, _, _ in loops) == 0
        before = runtime.engine.service.statistics().n_compiles
        for (loop, y, total), factor in zip(loops, (2.5, 3.5), strict=True):
            loop.compute()
            np.testing.assert_allclose(y.data_ro, factor * np.arange(100.0))
            np.testing.assert_allclose(total.data_ro, factor * 4950.0)
        assert runtime.engine.service.statistics().n_compiles == before


def test_a_kernel_that_does_not_compile_is_named_and_the_others_are_known(tmp_path: Path) -> None:
    op2.init(cache_dir=str(tmp_path))
    good, y, _ = scaled(6.5)
    x = op2.Dat(op2.Set(3))
    bad = op2.Kernel("void bad(double *x) { x[0] = nonsense(1.0); }", "bad")
    with op2.backend("sequential"):
        with pytest.raises(CompilationError, match="bad"):
            compile_together([op2.ParLoop(bad, x.dataset.set, x(op2.WRITE)), good])
        before = runtime.engine.service.statistics().n_compiles
        good.compute()
        assert y.data_ro[1] == 6.5
        assert runtime.engine.service.statistics().n_compiles == before


def test_one_loop_and_none_are_compiled_as_ever() -> None:
    with op2.backend("sequential"):
        assert compile_together([]) == 0
        loop, y, _ = scaled(7.5)
        assert compile_together([loop]) == 1
        loop.compute()
        assert y.data_ro[1] == 7.5


def test_documented_examples_run() -> None:
    assert doctest.testmod(pyop2cxx.pipeline.together).failed == 0


@on_devices
def test_where_nothing_may_be_compiled_they_are_not(backend: str) -> None:
    loop, _, _ = scaled(2.0)
    message = r"par_loop 'scale'.*lets nothing be compiled"
    with op2.backend(backend), op2.dispatch.expect("ahead"):
        refused = pytest.raises(UnsupportedError, match=message)
        with refused:
            compile_together([loop])
