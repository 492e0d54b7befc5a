# SPDX-License-Identifier: BSD-3-Clause
"""Names in kernels that are words, types or functions of OpenCL, CUDA or C++, or of C's library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from programs import has_nvrtc

from pyop2cxx import _core, op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.op2 import INC, READ, WRITE
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CXX = """
and bitand catch class co_await compl concept const_cast consteval decltype
delete explicit export friend mutable namespace new noexcept not not_eq operator or private
protected public requires std template this throw try typeid typename using virtual wchar_t xor
"""
OPENCL = """
as_double as_float as_int4 as_uchar16 atom_add atomic_add atomic_flag atomic_int barrier
bit_reverse bitselect cl_mem_fence_flags clamp clk_event_t constant convert_double convert_float_rte
convert_int convert_uchar4_sat_rtz cross ctz degrees dot double3 enqueue_kernel event_t fast_length
float4 get_global_id get_global_size get_group_id get_image_width get_local_id get_local_size
get_num_groups get_work_dim global half half_divide half_sqrt image1d_buffer_t image2d_array_t
image2d_t intel_sub_group_shuffle isequal kernel length local long16 mad max mem_fence memory_order
memory_scope min mix native_exp2 native_sin ndrange_t pipe popcount printf queue_t read_imagef
read_mem_fence reserve_id_t rotate sampler_t select shuffle sign step sub_group_reduce_add to_global
uchar uint uniform vload4 vload_half vstore_half4 wait_group_events work_group_all
work_group_barrier write_imagef
"""
CUDA = """
__ldg __device__ __global__ __shared__ __constant__ __forceinline__ __launch_bounds__ __popc
__shfl_sync __syncthreads __int_as_float __double_as_longlong abs all any assert atomicAdd atomicCAS
atomicExch atomicInc blockDim blockIdx clock clock64 cudaError_t cudaStream_t cyl_bessel_i0f dim3
double4_16a erfcx exp10 fdivide float1 gridDim half2 hipThreadIdx_x int4 j0f llmin make_double2
make_float4 norm normcdf rhypot rnorm3d rsqrt saturate sincos surface tex1D tex2D threadIdx umin
warpSize
"""
OURS = "op2_any op2_complex64 op2_fetch op2_is_last op2_memcpy op2_start op2_waits"
LIBRARY = """
cabs copysign creal exp fabs fma fmax fmin fmod gamma hypot ilogb index isfinite isnan labs ldexp
logb lround memcpy memset nan pow signbit sqrt sqrtf y0
"""
WORDS = sorted({*CXX.split(), *OPENCL.split(), *CUDA.split(), *OURS.split(), *LIBRARY.split()})
BACKENDS = [backend.name for backend in op2.backends() if backend.available]
if "cuda" not in BACKENDS and has_nvrtc():
    BACKENDS.append("cuda")  # it compiles at least


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def is_here(backend: str) -> bool:
    return any(one.name == backend and one.available for one in op2.backends())


def check(backend: str, text: str, name: str, expected: float) -> None:
    """Run a kernel of one value written and one read through a Map, or compile it for a GPU."""
    cells, nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
    ends = op2.Map(cells, nodes, 1, [[0], [1], [3]], "ends")
    x, y = op2.Dat(nodes, [1.0, 2.0, 3.0, 4.0], name="x"), op2.Dat(cells, name="y")
    with op2.backend(backend):
        run(op2.ParLoop(op2.Kernel(text, name), cells, y(WRITE), x(READ, ends)), backend)
        if is_here(backend):
            np.testing.assert_array_equal(y.data_ro, np.array([1.0, 2.0, 4.0]) + expected)


def run(loop: op2.ParLoop, backend: str) -> None:
    if is_here(backend):
        loop.compute()
        return
    service = _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 28,
        compile_timeout_seconds=60.0,
    )
    flags = runtime.engine.backend("cuda").toolchain.flags
    service.compile(nvrtc.compiler("sm_90"), str(loop.generate()), flags, "")


def kernel_of(before: str, body: str) -> str:
    return f"{before}\nvoid k(double *y_, const double *x_)\n{{\n  y_[0] = x_[0];\n{body}\n}}"


def lines(line: Callable[[int, str], str]) -> str:
    return "\n".join(line(n, word) for n, word in enumerate(WORDS, 1))


ROLES = {
    "locals": kernel_of("", lines(lambda n, w: f"  {{ double {w} = {n}; y_[0] += {w}; }}")),
    "all locals": kernel_of(
        "",
        lines(lambda n, w: f"  double {w} = {n};") + lines(lambda _, w: f"  y_[0] += {w};"),
    ),
    "arrays": kernel_of(
        "", lines(lambda n, w: f"  {{ double {w}[1] = {{{n}}}; y_[0] += {w}[0]; }}")
    ),
    "counters": kernel_of(
        "", lines(lambda n, w: f"  for (int {w} = 0; {w} < {n}; ++{w}) ++y_[0];")
    ),
    "tables": kernel_of(
        lines(lambda n, w: f"static const double {w}[1] = {{{n}}};"),
        lines(lambda _, w: f"  y_[0] += {w}[0];"),
    ),
    "tables of functions": kernel_of(
        "",
        lines(lambda n, w: f"  {{ static const double {w}[1] = {{{n}}}; y_[0] += {w}[0]; }}"),
    ),
    "fields": kernel_of(
        f"struct s {{\n{lines(lambda _, w: f'  double {w};')}\n}};",
        "  struct s s;\n" + lines(lambda n, w: f"  s.{w} = {n}; y_[0] += s.{w};"),
    ),
    "structures": kernel_of(
        lines(lambda _, w: f"struct {w} {{ double a; }};"),
        lines(lambda n, w: f"  {{ struct {w} s; s.a = {n}; y_[0] += s.a; }}"),
    ),
    "parameters of functions": kernel_of(
        lines(lambda n, w: f"static double f{n}(double {w}) {{ return {w}; }}"),
        lines(lambda n, _: f"  y_[0] += f{n}({n});"),
    ),
    "functions": kernel_of(
        lines(lambda n, w: f"static double {w}(double a) {{ return a + {n}; }}"),
        lines(lambda _, w: f"  y_[0] += {w}(0.0);"),
    ),
    # calls that another function would fit better, where a language has one
    "functions of others": kernel_of(
        lines(lambda n, w: f"static double {w}(long a, double b) {{ return a + b * {n}; }}"),
        lines(lambda _, w: f"  y_[0] += {w}(0, 1);"),
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("role", ROLES)
def test_words_are_names_within_kernels(backend: str, role: str) -> None:
    check(backend, ROLES[role], "k", sum(range(1, len(WORDS) + 1)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_words_are_names_of_kernels(backend: str) -> None:
    for n, word in enumerate(WORDS):
        if n % 8 == 0 or word in ("as_float", "__ldg", "cudaError_t", "reserve_id_t", "op2_waits"):
            check(backend, f"void {word}(double *y, const double *x) {{ *y = *x + 1; }}", word, 1.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", ["atomic", "colour", None])
def test_words_are_names_of_parameters(backend: str, strategy: str | None) -> None:
    """Loops are called with Dats of the parameters' names, and call functions themselves."""
    n_here = 16
    cells, nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
    ends = op2.Map(cells, nodes, 1, [[0], [1], [3]], "ends")
    total = op2.Global(1, 0.0)
    for first in range(0, len(WORDS), n_here):
        words = WORDS[first : first + n_here]
        dats = [op2.Dat(nodes, name=f"d{n}") for n, _ in enumerate(words)]
        parameters = ", ".join(f"double *{word}" for word in words)
        adds = " ".join(f"{word}[0] += {n};" for n, word in enumerate(words, 1))
        text = f"void k({parameters}, double *sum) {{ {adds} sum[0] += 1; }}"
        args = [dat(INC, ends) for dat in dats]
        with op2.backend(backend):
            options = {} if strategy is None else {"strategy": strategy}
            try:
                loop = op2.ParLoop(op2.Kernel(text, "k"), cells, *args, total(INC), **options)
                run(loop, backend)
            except UnsupportedError:
                assert strategy is not None
                continue
            if is_here(backend):
                for n, dat in enumerate(dats, 1):
                    np.testing.assert_array_equal(dat.data_ro, [n, n, 0, n])


@pytest.mark.parametrize("backend", BACKENDS)
def test_words_are_names_of_constants(backend: str) -> None:
    words = [word for word in WORDS if not word.startswith("__")]
    consts = [op2.Const(1, float(n), word) for n, word in enumerate(words, 1)]
    try:
        for some in (words[::3], words[1::3], words[2::3]):
            text = kernel_of("", "\n".join(f"  y_[0] += {word};" for word in some))
            check(backend, text, "k", sum(words.index(word) + 1.0 for word in some))
    finally:
        for const in consts:
            const.remove_from_namespace()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("words", ["global global_op2 global_op2_op2", "delete delete_op2"])
def test_a_word_is_not_renamed_to_a_name_that_is_there(backend: str, words: str) -> None:
    first, *others = words.split()
    adds = " ".join(f"{first}[0] += {word}[0];" for word in others)
    parameters = ", ".join(f"const double *{word}" for word in others)
    cells = op2.Set(3, "cells")
    y = op2.Dat(cells, name="y")
    dats = [op2.Dat(cells, [1.0, 2.0, 3.0], name=f"x{n}") for n, _ in enumerate(others)]
    kernel = op2.Kernel(f"void k(double *{first}, {parameters}) {{ {adds} }}", "k")
    with op2.backend(backend):
        run(op2.ParLoop(kernel, cells, y(INC), *(dat(READ) for dat in dats)), backend)
        if is_here(backend):
            np.testing.assert_array_equal(y.data_ro, np.array([1.0, 2.0, 3.0]) * len(others))
