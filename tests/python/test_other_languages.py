# SPDX-License-Identifier: BSD-3-Clause
"""Kernels written as for CUDA, OpenCL or C++ are told what to write instead."""

from __future__ import annotations

import logging

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.other_languages import refuse_other_languages
from pyop2cxx.runtime import runtime


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x[0] = std::sqrt(x[0]);", "write 'sqrt' .* or pass cpp=True"),
        ("x[0] = std :: max(x[0], 1.0);", "write 'max'"),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = 1;", "there is no thread index"),
        ("x[get_global_id(0)] = 1;", "'get_global_id' is a word of CUDA or OpenCL"),
        ("__syncthreads(); x[0] = 1;", "a plain function of one element"),
    ],
)
@pytest.mark.parametrize("cpp", [False, True])
def test_it_is_told_what_to_write(body: str, said: str, cpp: bool) -> None:
    if cpp and "std" in body:
        pytest.skip("C++ has std")
    with pytest.raises(UsageError, match=rf"(?s)Kernel 'k': line 2: .*{said}.*\n  2 \| "):
        op2.Kernel(f"void k(double *x) {{\n {body} }}", "k", cpp=cpp)


@pytest.mark.parametrize("before", ["__global__", "__kernel", 'extern "C" __global__'])
def test_a_kernel_of_a_gpu_is_none_of_ours(before: str) -> None:
    with pytest.raises(UsageError, match="there is no thread index"):
        op2.Kernel(f"{before} void k(double *x) {{ x[0] = 1; }}", "k")


@pytest.mark.parametrize(
    "text",
    [
        "void k(double *x) { x[0] = 1; /* std::sqrt, threadIdx.x */ }",
        "#define __global__\n__global__ void k(double *x) { x[0] = 1; }",
        "static int get_global_id(int i) { return i; }\n"
        "void k(double *x) { x[get_global_id(0)] = 1; }",
        "struct d { int x; }; void k(double *x) { struct d threadIdx = {0}; x[threadIdx.x] = 1; }",
        "#ifdef __cplusplus\nusing std::sqrt;\n#endif\nvoid k(double *x) { x[0] = 1; }",
        "void k(double *x) { double threadIdx = 1; x[0] = threadIdx; }",
    ],
)
def test_what_the_text_says_itself_is_taken(text: str) -> None:
    refuse_other_languages(text, "k", cpp=False)
    x = op2.Dat(op2.Set(2))
    op2.par_loop(op2.Kernel(text, "k"), x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [1.0, 1.0]


def test_a_python_function_is_said_to_be_slow_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "said", set())
    x = op2.Dat(op2.Set(2))

    def one(x: object) -> None:
        x[...] = 1  # type: ignore[index]

    with caplog.at_level(logging.WARNING, "pyop2cxx"):
        for _ in range(2):
            op2.par_loop(one, x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [1.0, 1.0]
    (line,) = [record.getMessage() for record in caplog.records]
    assert "'one' is a Python function" in line
    assert "op2.Kernel(text of C, name)" in line
