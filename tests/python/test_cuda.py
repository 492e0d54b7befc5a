# SPDX-License-Identifier: BSD-3-Clause
"""The corpus as CUDA C++, compiled without a GPU; faults and forks with one."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kernel_shapes import Shapes
from programs import has_nvrtc
from test_frames import MOVES
from test_kernel_shapes import N_STATEMENTS, loop_over
from test_rejections import BAD, QUOTED

from pyop2cxx import _core, op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import CompilationError, UnsupportedError
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.rejections import explain_rejection
from pyop2cxx.pipeline.together import joined
from pyop2cxx.runtime import runtime

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.pipeline.request import Choice, GeneratedCode, Request

STRATEGIES = (None, *_core.STRATEGIES)
TRANSLATED = [case for case in CASES if not case.needs & {"cpp", "headers"}]


def has_gpu() -> bool:
    return any(found.name == "cuda" and found.available for found in op2.backends())


needs_nvrtc = pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
needs_gpu = pytest.mark.skipif(not has_gpu(), reason="there is no GPU")


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


@pytest.fixture(scope="module")
def service() -> _core.DeviceService:
    return _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 28,
        compile_timeout_seconds=60.0,
    )


def texts(case: Case, strategies: tuple[str | None, ...]) -> list[str]:
    """Return the loop as CUDA C++ by each strategy that is possible."""
    problem = case.problem()
    made = []
    try:
        with op2.backend("cuda"):
            loop = op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **problem.options)
            for strategy in strategies:
                try:
                    made.append(loop.generate({} if strategy is None else {"strategy": strategy}))
                except UnsupportedError:
                    assert strategy is not None  # by default every loop must work
    finally:
        for constant in problem.constants:
            constant.remove_from_namespace()
    return [str(text) for text in dict.fromkeys(made)]


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize(
    ("architecture", "strategies", "deterministic", "every"),
    [  # what a target changes is in few lines, and the same in all texts
        ("sm_80", (None,), False, 4),
        ("sm_90", STRATEGIES, False, 2),
        ("sm_90", (None,), True, 4),
        ("sm_100", (None,), False, 4),
    ],
    ids=["sm_80", "sm_90", "sm_90, deterministic", "sm_100"],
)
def test_the_corpus_compiles_for_gpus_that_are_not_here(
    service: _core.DeviceService,
    architecture: str,
    strategies: tuple[str | None, ...],
    deterministic: bool,
    every: int,
) -> None:
    op2.init(deterministic=deterministic)
    compiler = nvrtc.compiler(architecture)
    toolchain = runtime.engine.backend("cuda").toolchain
    flags = [*toolchain.flags, *(toolchain.deterministic_flags if deterministic else ())]
    sources = {
        f"{case.name} {n}": text
        for case in TRANSLATED[::every]
        for n, text in enumerate(texts(case, strategies))
    }
    assert len(sources) >= len(TRANSLATED) // every > 20
    with ThreadPoolExecutor(2) as pool:
        made = {
            name: pool.submit(service.compile, compiler, text, flags, "")
            for name, text in sources.items()
        }
    rejected = {name: str(one.exception()) for name, one in made.items() if one.exception()}
    assert not rejected, "\n".join(f"{name}: {text}" for name, text in rejected.items())


@needs_nvrtc
def test_texts_that_become_one_program_keep_their_helpers(service: _core.DeviceService) -> None:
    """Each calls functions of its own for sums of blocks and rows of Maps, which are renamed."""
    cells, nodes = op2.Set(4), op2.Set(5)
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(4)])
    x, total = op2.Dat(nodes, 1.0), op2.Global(1, 0.0)
    kernels = [
        op2.Kernel(f"void k(double *x, double *s) {{ *s += {f} * x[0] * x[1]; }}", "k")
        for f in (2, 3)
    ]
    with op2.backend("cuda"):
        made = [
            str(op2.ParLoop(k, cells, x(op2.READ, ends), total(op2.INC)).generate())
            for k in kernels
        ]
    assert all("op2_fetch<2>(" in text and "op2_is_last(" in text for text in made)
    flags = runtime.engine.backend("cuda").toolchain.flags
    service.compile(nvrtc.compiler("sm_90"), joined(made), flags, "")


@needs_nvrtc
def test_tables_larger_than_constant_memory_are_elsewhere(service: _core.DeviceService) -> None:
    rows = {"first": 100, "large": 9000, "last": 200}
    tables = "\n".join(
        f"static const double {name}[{n}] = {{{', '.join(f'{i}.5' for i in range(n))}}};"
        for name, n in rows.items()
    )
    sums = " + ".join(f"{name}[i[0] % {n}]" for name, n in rows.items())
    kernel = op2.Kernel(f"void k(int *i, double *x) {{\n{tables}\nx[0] = {sums};\n}}", "k")
    cells = op2.Set(4)
    i, x = op2.Dat(cells, [3, 1, 4, 1], dtype="int32"), op2.Dat(cells, dtype=float)
    with op2.backend("cuda"):
        text = str(op2.ParLoop(kernel, cells, i(op2.READ), x(op2.WRITE)).generate())
    storage = [line.split(" const ")[0] for line in text.splitlines() if line.endswith("};")]
    assert storage == ["static __constant__", "static __device__", "static __constant__"]
    flags = runtime.engine.backend("cuda").toolchain.flags
    service.compile(nvrtc.compiler("sm_90"), text, flags, "")


@needs_nvrtc
def test_what_nvrtc_rejects_is_quoted_from_the_users_text(
    service: _core.DeviceService, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Request, Choice]] = []
    generate = flow.generate

    def remember(request: Request, choice: Choice) -> GeneratedCode:
        asked.append((request, choice))
        return generate(request, choice)

    monkeypatch.setattr(flow, "generate", remember)
    x = op2.Dat(op2.Set(2, "cells"), [1.0, 1.0])
    with op2.backend("cuda"):
        text = str(op2.ParLoop(op2.Kernel(BAD, "bad"), x.dataset.set, x(op2.RW)).generate())
    (request, choice) = asked[0]
    flags, compiler = request.backend.toolchain.flags, nvrtc.compiler("sm_90")
    with pytest.raises(CompilationError) as caught:
        service.compile(compiler, text, flags, "")
    marked = flow._marked(request, choice)
    error = explain_rejection(
        request,
        caught.value,
        marked,
        lambda one: service.compile(compiler, one, flags, "diagnostic"),
    )
    assert '<kernel bad>(5): error: identifier "zeta" is undefined' in str(error)
    assert QUOTED in str(error)
    assert "no Const has the name zeta" in str(error)


@needs_nvrtc
def test_functions_that_move_memory_compile(service: _core.DeviceService) -> None:
    op2.init(static=True, backend="cuda")
    cells = op2.Set(4)
    x, found = op2.Dat(cells**4, dtype="int32"), op2.Dat(cells**2, dtype="int32")
    loop = op2.ParLoop(op2.Kernel(MOVES, "move"), cells, x(op2.RW), found(op2.WRITE))
    flags = runtime.engine.backend("cuda").toolchain.flags
    service.compile(nvrtc.compiler("sm_90"), str(loop.generate()), flags, "")


@needs_nvrtc
@pytest.mark.parametrize("seed", range(6))
def test_expressions_of_every_shape_compile(service: _core.DeviceService, seed: int) -> None:
    op2.init(static=True)
    with op2.backend("cuda"):
        loop, _ = loop_over(Shapes(seed).kernel(N_STATEMENTS, depth=2))
        text = str(loop.generate())
    flags = runtime.engine.backend("cuda").toolchain.flags
    service.compile(nvrtc.compiler("sm_90"), text, flags, "")


@needs_nvrtc
@pytest.mark.parametrize(
    ("architecture", "waits"),
    [("sm_90", True), ("sm_100", True), ("sm_80", False), ("sm_85", False)],
    ids=["sm_90", "sm_100", "sm_80", "unknown to NVRTC"],
)
def test_a_program_says_whether_its_kernels_wait_by_themselves(
    tmp_path: Path, architecture: str, waits: bool
) -> None:
    """What decides is the target, which is older than the GPU where NVRTC is."""
    service = _core.DeviceService(
        cache_dir=str(tmp_path),
        use_disk=True,
        max_disk_bytes=1 << 28,
        max_memory_bytes=1 << 28,
        compile_timeout_seconds=60.0,
    )
    (text, *_) = texts(CASES[0], (None,))
    made = service.compile(nvrtc.compiler(architecture), text, [], "")
    kept = Path(made.path).read_bytes()  # with the source, which names it in any case
    assert any(symbol in kept for symbol in (b"op2_waits\0", b".b8 op2_waits")) == waits


OLD_TARGET = """
from dataclasses import replace
import numpy as np
from pyop2cxx import op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.runtime import runtime

op2.init(backend="cuda")
engine = runtime.engine
opened = engine.device(engine.backend("cuda"))
key, = engine._devices
engine._devices[key] = replace(opened, make_compiler=lambda: nvrtc.compiler("sm_85"))
n = 1 << 20
nodes = op2.Set(n, "nodes")
before = op2.Map(nodes, nodes, 1, (np.arange(n) - 1) % n, "before")
a, b = op2.Dat(nodes, np.arange(float(n)), name="a"), op2.Dat(nodes, np.zeros(n), name="b")
shift = op2.Kernel("static void shift(const double *x, double *y) { *y = *x; }", "shift")
for _ in range(100):  # each loop reads what others' lanes wrote in the one before
    op2.par_loop(shift, nodes, a(op2.READ, before), b(op2.WRITE))
    op2.par_loop(shift, nodes, b(op2.READ, before), a(op2.WRITE))
print((a.data_ro == (np.arange(n) - 200) % n).all())
"""


@needs_gpu
@needs_nvrtc
def test_loops_made_for_an_older_target_follow_each_other() -> None:
    assert run_program(OLD_TARGET) == "True\n"


FAULT = """
from pyop2cxx import op2
from pyop2cxx.exceptions import ExecutionError

op2.init(backend="cuda")
cells = op2.Set(64, "cells")
a = op2.Dat(cells, name="a")
g = op2.Global(1, 1.0, name="g")
# what is small enough is packed, but a Global that is only read is reached where it lies
code = "static void wild(double *a, const double *g) { *a = g[(long)1 << 40]; }"
op2.par_loop(op2.Kernel(code, "wild"), cells, a(op2.RW), g(op2.READ))
try:
    a.data_ro
except ExecutionError as error:
    print("first:", error)
try:
    op2.par_loop(op2.Kernel("static void one(double *a) { *a = 1; }", "one"), cells, a(op2.WRITE))
    a.data_ro
except ExecutionError as error:
    print("later:", error)
"""

FORK = """
import os
from pyop2cxx import op2
from pyop2cxx.exceptions import ExecutionError

op2.init(backend="cuda")
cells = op2.Set(64, "cells")
a = op2.Dat(cells, name="a")
one = op2.Kernel("static void one(double *a) { *a = 1; }", "one")
op2.par_loop(one, cells, a(op2.WRITE))
child = os.fork()
if child == 0:
    try:
        op2.par_loop(one, cells, a(op2.WRITE))
    except ExecutionError as error:
        print("child:", error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("parent:", a.data_ro.sum())
"""


def run_program(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_gpu
def test_a_fault_names_the_loop_and_the_process_ends_well() -> None:
    said = run_program(FAULT)
    assert "first: par_loop 'wild' failed on cuda device" in said
    assert "restart" in said
    assert "later: " in said


@needs_gpu
def test_a_forked_child_is_told() -> None:
    said = run_program(FORK)
    assert "child: " in said
    assert "'spawn'" in said
    assert "parent: 64.0" in said
