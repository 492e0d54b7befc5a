# SPDX-License-Identifier: BSD-3-Clause
"""cuBLAS and cuSPARSE: who is asked, on any device; the real ones where there is such a GPU."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import _core, op2
from pyop2cxx.base.arrays import core_dtype
from pyop2cxx.exceptions import ToolchainError, UnsupportedError, UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.libraries import DeviceLibraries

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")

TURNS = 10  # until both ways were measured


def vectors(dtype: str = "float64", n: int = 1000) -> tuple[op2.Dat, op2.Dat]:
    cells = op2.Set(n, "cells")
    values = (np.arange(n) % 11 - 5).astype(dtype)
    if values.dtype.kind == "c":
        values = values * (1 + 2j)
    x, y = op2.Dat(cells, values, dtype, "x"), op2.Dat(cells, values[::-1], dtype, "y")
    x.to_device()
    y.to_device()
    return x, y


def counts() -> dict[tuple[str, str, str, str], int]:
    return {(r.loop, r.provider, r.strategy, r.rejected): r.count for r in algebra_rows()}


def algebra_rows() -> list[Any]:
    return [r for r in op2.dispatch.report() if " of " in r.loop]


def decided() -> list[Any]:
    return [r for r in algebra_rows() if r.provider in ("library", "loop")]


# Who is asked, with a library that computes on the host


class HostBlas:
    """Stands for cuBLAS: takes what it takes, and computes what it should on the host."""

    def __init__(self, *carriers: Any) -> None:
        self.carriers = {id(one.buffer): one for one in carriers}
        self.values = {id(one.buffer): one.data_ro.copy() for one in carriers}
        self.refused = ""

    def veto_dot(self, x: _core.Column, y: _core.Column) -> str:
        return self.refused

    def veto_axpy(self, factor: _core.DType, x: _core.Column, y: _core.Column) -> str:
        return self.refused

    def multiply(
        self, device: Any, product: Any, factors: Any, a: Any, b: Any, c: Any, is_added: bool
    ) -> None:
        found = 2 * self.values[id(a)] @ self.values[id(b)]
        self.carriers[id(c)].data_wo[:] = found - is_added * self.values[id(c)]

    def dot(
        self, device: Any, dtype: Any, n: int, x: Any, y: Any, conjugate: bool, sum_: Any
    ) -> None:
        left, right = self.values[id(x)].reshape(-1)[:n], self.values[id(y)].reshape(-1)[:n]
        assert dtype.name == left.dtype.name
        found = left @ (right.conj() if conjugate else right)
        sum_.set_on_device(device, found.tobytes())


@pytest.fixture
def host_blas(device: _core.Device, monkeypatch: pytest.MonkeyPatch) -> DeviceLibraries:
    """A library for the device of the test; `cublas` is to be set."""
    libraries = DeviceLibraries(device, {}, ("a device", 0))  # type: ignore[arg-type]
    monkeypatch.setattr(runtime.engine, "device_libraries", lambda _: libraries)
    return libraries


def test_sums_take_turns(host_blas: DeviceLibraries) -> None:
    op2.dispatch.clear()
    x, y = vectors()
    wanted = float(x.data_ro @ y.data_ro)
    host_blas.__dict__["cublas"] = HostBlas(x, y)
    total = op2.Global(1, 0.0, name="total")
    for _ in range(TURNS // 2):
        assert x.inner(y) == wanted
        x.inner_into(y, total)
        assert total.data_ro[0] == wanted
    counted = {(r.provider, r.strategy, r.rejected): r.count for r in decided()}
    turns = TURNS // 2
    assert counted == {
        ("library", "cublas", ""): turns,
        ("loop", "", "cublas: measured in turns"): turns,
    }


def test_what_is_vetoed_is_a_loop(host_blas: DeviceLibraries) -> None:
    op2.dispatch.clear()
    x, y = vectors()
    wanted = y.data_ro + 2.0 * x.data_ro
    blas = HostBlas(x, y)
    blas.refused = "length: there are too many"
    host_blas.__dict__["cublas"] = blas
    y.axpy(2.0, x)
    assert np.array_equal(y.data_ro, wanted)
    q = op2.Dat(x.dataset.set**2, np.ones((1000, 2)))
    q.to_device()
    blas.refused = ""
    assert op2.DatView(q, 0).inner(op2.DatView(q, 1)) == 1000.0
    found = sorted(r.rejected for r in decided())
    assert found == [
        "cublas: length: there are too many",
        "cublas: stride: values do not follow each other in both",
    ]


def test_products_of_small_matrices_take_turns(
    host_blas: DeviceLibraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(runtime.engine._configuration, "blas", "auto")  # type: ignore[arg-type]
    op2.dispatch.clear()
    rng, cells = np.random.default_rng(1), op2.Set(20)
    given = (rng.standard_normal((20, *dim)) for dim in ((3, 4), (4, 2), (3, 2)))
    A, B, C = (op2.Dat(cells ** one.shape[1:], one) for one in given)
    wanted, added = 2 * A.data_ro @ B.data_ro, C.data_ro.copy()
    host_blas.__dict__["cublas"] = HostBlas(A, B, C)
    for beta in (0, -1):
        for _ in range(TURNS):
            C.data[:] = added
            op2.dense.multiply(A, B, C, 2, beta)
            assert np.allclose(C.data_ro, wanted + beta * added)
    op2.dense.multiply(A, B, C, 2, provider="cublas")
    assert np.allclose(C.data_ro, wanted)
    counted = {(r.provider, r.rejected): r.count for r in decided()}
    assert counted["library", ""] >= TURNS // 2 + 1
    assert counted["loop", "cublas: measured in turns"] == TURNS // 2
    with pytest.raises(UsageError, match="layout: values of an element"):
        op2.dense.multiply(A, B, op2.Dat(C.dataset, layout="soa"), provider="cublas")
    with pytest.raises(UsageError, match="recorded"):
        op2.record(lambda: op2.dense.multiply(A, B, C, provider="cublas"))


def test_a_machine_without_the_library_asks_nobody(host_blas: DeviceLibraries) -> None:
    host_blas.__dict__["cublas"] = None
    op2.dispatch.clear()
    x, y = vectors()
    assert x.inner(y) == float(x.data_ro @ y.data_ro)
    assert decided() == []


def test_only_the_option_auto_means_a_device(device: _core.Device) -> None:
    backend = runtime.engine.backend(runtime.backend)
    engine = runtime.engine
    assert engine.device_libraries(backend) is None
    for options in ({"blas": "libblas.so.3"}, {"blas": "auto", "deterministic": True}):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in options.items():
                patch.setitem(engine._configuration, name, value)  # type: ignore[arg-type]
            assert engine.device_libraries(backend) is None


# The real ones


@pytest.fixture
def on_cuda() -> DeviceLibraries:
    """Loops run on a GPU, and its libraries may be asked."""
    (found,) = [one for one in op2.backends() if one.name == "cuda"]
    if not found.available:
        pytest.skip(found.reason)
    op2.init(backend="cuda", blas="auto")
    op2.dispatch.clear()
    libraries = runtime.engine.device_libraries(runtime.engine.backend("cuda"))
    assert libraries is not None
    return libraries


def needs(library: object) -> None:
    if library is None:
        pytest.skip("the library is not installed: pip install nvidia-cublas nvidia-cusparse")


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_cublas_sums_up(on_cuda: DeviceLibraries, dtype: str) -> None:
    needs(on_cuda.cublas)
    x, y = vectors(dtype)
    inner, dot = np.vdot(y.data_ro, x.data_ro), x.data_ro @ y.data_ro
    for _ in range(TURNS):
        assert x.inner(y) == inner
        assert x.dot(y) == dot
        assert x.norm == pytest.approx(np.linalg.norm(x.data_ro), rel=1e-15)
    found = counts()
    assert any(key[1] == "library" and key[2] == "cublas" for key in found)
    assert found["dot of " + dtype, "loop", "", "cublas: measured in turns"] == TURNS // 2


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_cublas_adds_multiples(on_cuda: DeviceLibraries, dtype: str) -> None:
    needs(on_cuda.cublas)
    x, y = vectors(dtype)
    wanted = y.data_ro + TURNS * 2.0 * x.data_ro
    y.to_device()
    for _ in range(TURNS):
        y.axpy(2.0, x)
    assert np.array_equal(y.data_ro, wanted)
    assert counts()["axpy of " + dtype, "library", "cublas", ""] == TURNS // 2


def test_cublas_says_what_it_cannot_do(on_cuda: DeviceLibraries) -> None:
    needs(on_cuda.cublas)
    x, y = vectors("float32")
    x.inner(y)
    x.axpy(1.0, x)
    wide, _ = vectors()
    wide.axpy(1.0, wide)
    assert sorted(key[3] for key in counts()) == [
        "cublas: dtype: float32 and float32; it takes two of float64 or complex128",
        "cublas: dtype: float32 and float32; it takes two of float64 or complex128",
        "cublas: overlap: both are the same memory",
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_cusparse_multiplies(on_cuda: DeviceLibraries, dtype: str) -> None:
    needs(on_cuda.cusparse)
    n = 5000
    nodes = op2.Set(n)
    near = op2.Map(nodes, nodes, 3, (np.arange(n)[:, None] + [0, 1, 77]) % n)
    sparsity = op2.Sparsity((nodes, nodes), [(near, near, None)])
    for scale in (1, 3):  # a second matrix of the same Sparsity
        mat = op2.Mat(sparsity, dtype)
        mat.array[:] = scale * (np.arange(mat.array.size) % 5 - 2)
        x, y = op2.Dat(nodes, np.arange(n) % 7, dtype), op2.Dat(nodes, dtype=dtype)
        rows = np.repeat(np.arange(n), np.diff(sparsity.rowptr))
        wanted = np.zeros(n, dtype)
        np.add.at(wanted, rows, mat.array * x.data_ro[sparsity.colidx])
        for one in (mat, x, y):
            one.to_device()
        for _ in range(TURNS):
            mat.mult(x, y)
            assert np.array_equal(y.data_ro, wanted)
    found = counts()
    assert any(key[1:3] == ("library", "cusparse") for key in found)


def test_mixed_products_are_added_by_cusparse(on_cuda: DeviceLibraries) -> None:
    needs(on_cuda.cusparse)
    n = 100
    nodes, cells = op2.Set(n), op2.Set(n // 2)
    to_nodes = op2.Map(cells, nodes, 2, np.arange(n).reshape(-1, 2))
    own = op2.Map(cells, cells, 1, np.arange(n // 2)[:, None])
    both = op2.MixedMap((to_nodes, own))
    space = op2.MixedDataSet((nodes, cells))
    mat = op2.Mat(op2.Sparsity((space, space), [(both, both, None)]))
    for k, block in enumerate(mat):
        block.array[:] = np.arange(block.array.size) % 7 + k
    x, y = op2.MixedDat(space), op2.MixedDat(space)
    for part in x:
        part.data[...] = np.arange(part.data.size) % 5
    wanted = mat.values @ np.concatenate([part.data_ro for part in x])
    for one in (*mat, *x, *y):
        one.to_device()
    for _ in range(TURNS):
        mat.mult(x, y)
        assert np.array_equal(np.concatenate([part.data_ro for part in y]), wanted)


# Opening, with a library that is built here


STAND_IN = {
    "cublas": "Create_v2 Destroy_v2 SetStream_v2 SetPointerMode_v2 Ddot_v2 Zdotu_v2 Zdotc_v2 "
    "Daxpy_v2 Zaxpy_v2 SgemmStridedBatched DgemmStridedBatched CgemmStridedBatched "
    "ZgemmStridedBatched",
    "cusparse": "Create Destroy SetStream GetErrorName CreateCsr SpMatSetValues DestroySpMat "
    "CreateDnVec DnVecSetValues DestroyDnVec SpMV_bufferSize SpMV",
}


def stand_in(folder: Path, name: str, functions: list[str]) -> Path:
    library = folder / f"lib{name}.so.13"
    text = "".join(f"int {name}{function}(void) {{ return 0; }}\n" for function in functions)
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(command, input=text, text=True, check=True)
    return library


@needs_program("cc")
@pytest.mark.parametrize("name", ["cublas", "cusparse"])
def test_libraries_are_opened_where_they_are(
    device: _core.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kind = {"cublas": _core.cuda.Cublas, "cusparse": _core.cuda.Cusparse}[name]
    opencl: Any = device  # it is asked for its queue only when something is enqueued
    functions = STAND_IN[name].split()
    for folder, made in (("whole", functions), ("old", functions[:-1])):
        (tmp_path / folder / "lib64").mkdir(parents=True)
        library = stand_in(tmp_path / folder / "lib64", name, made)
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / folder))
        if made is functions:
            assert kind([], opencl).path == str(library)
            continue
        with pytest.raises(ToolchainError, match=rf"is too old, it has no {name}{functions[-1]}"):
            kind([], opencl)


@needs_program("cc")
def test_a_device_without_such_a_queue_says_so(device: _core.Device, tmp_path: Path) -> None:
    if device.name.startswith("cuda"):
        pytest.skip("a CUDA device has such a queue")
    opencl: Any = device
    stand_in(tmp_path, "cublas", STAND_IN["cublas"].split())
    with pytest.MonkeyPatch.context() as patch:
        (tmp_path / "lib").symlink_to(tmp_path)
        patch.setenv("CUDA_HOME", str(tmp_path))
        cublas = _core.cuda.Cublas([], opencl)
    x, y = vectors()
    total = op2.Global(1, 0.0)
    with pytest.raises(UnsupportedError, match="has no queue for cuBLAS"):
        cublas.dot(opencl, core_dtype(x.dtype), 1000, x.buffer, y.buffer, False, total.buffer)
