# SPDX-License-Identifier: BSD-3-Clause
"""Memory is shared with other libraries."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import DataTypeError, DataValueError, UsageError
from pyop2cxx.interop import dlpack


@pytest.fixture(params=["Dat", "Global"])
def x(request: pytest.FixtureRequest) -> Any:
    where = op2.Set(3) if request.param == "Dat" else 3
    return getattr(op2, request.param)(where, [1.0, 2.0, 3.0], name="x")


def test_numpy_shares_values_of_the_host(x: Any) -> None:
    shared = np.from_dlpack(x)
    assert x.__dlpack_device__() == dlpack.HOST
    x.data[1] = 7
    assert shared.tolist() == [1, 7, 3]
    if shared.flags.writeable:
        shared[0] = 5
        assert x.data_ro[0] == 5


def test_sharing_counts_as_a_write(x: Any) -> None:
    np.from_dlpack(x)
    assert x.dat_version == 1


def test_a_copy_is_not_shared(x: Any) -> None:
    capsule = x.__dlpack__(copy=True)
    array = _core.exchange.from_capsule(capsule)
    assert array.address != x.buffer.address
    assert array.shape == [3]


def flags_of(capsule: Any) -> int:
    """The flags of a versioned capsule, read as a consumer in C does; 2: a copy was made."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    place = pointer(capsule, b"dltensor_versioned")
    return ctypes.c_uint64.from_address(place + 24).value  # behind version, context and deleter


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy has no flags")
def test_a_copy_is_marked_as_such(x: Any) -> None:
    assert flags_of(x.__dlpack__(max_version=(1, 0))) == 0
    assert flags_of(x.__dlpack__(max_version=(1, 0), copy=True)) == 2


@pytest.fixture(params=["sequential", "openmp", "opencl"])
def backend(request: pytest.FixtureRequest) -> Any:
    if not any(b.name == request.param and b.available for b in op2.backends()):
        pytest.skip(f"no {request.param} here")
    with op2.backend(request.param):
        yield request.param
    op2.exit()


def mean_of_squares(x: Any) -> Any:
    """Written for any library of the array API."""
    xp = x.__array_namespace__()
    return xp.mean(xp.square(x))


def test_consumers_of_the_array_api_share_values_after_loops(backend: str, x: Any) -> None:
    strict = pytest.importorskip("array_api_strict")
    on = x.dataset.set if isinstance(x, op2.Dat) else op2.Set(1)
    kernel = "void one_more(double *x) { for (int i = 0; i < %d; ++i) x[i] += 1; }"
    n = 1 if isinstance(x, op2.Dat) else 3
    access = op2.RW if isinstance(x, op2.Dat) else op2.INC
    op2.par_loop(op2.Kernel(kernel % n, "one_more"), on, x(access))
    theirs = strict.from_dlpack(x)
    assert float(mean_of_squares(theirs)) == pytest.approx(29 / 3)
    theirs[0] = 0.0
    assert x.data_ro.tolist() == [0, 3, 4]
    if hasattr(np.ndarray, "__array_namespace__"):
        assert float(mean_of_squares(x.data_ro)) == pytest.approx(25 / 3)


def test_arrays_of_the_array_api_are_used_in_place(backend: str) -> None:
    strict = pytest.importorskip("array_api_strict")
    theirs = strict.asarray([1.0, 2.0, 3.0])
    cells = op2.Set(3)
    x = op2.Dat(cells, theirs, copy=False)
    loop = op2.ParLoop(op2.Kernel("void twice(double *x) { *x *= 2; }", "twice"), cells, x(op2.RW))
    loop()
    assert np.shares_memory(x.data_ro, np.from_dlpack(theirs))
    assert np.from_dlpack(theirs).tolist() == [2, 4, 6]


def test_a_copy_of_an_array_is_an_error_or_is_said() -> None:
    strict = pytest.importorskip("array_api_strict")
    cells, integers = op2.Set(3), strict.asarray([1, 2, 3])
    with pytest.raises(DataValueError, match=r"copy=False, but .* it is of dtype int64, not"):
        op2.Dat(cells, integers, dtype="float64", copy=False)
    with pytest.warns(UserWarning, match="the Array is copied, because it is of dtype int64"):
        op2.Dat(cells, integers, dtype="float64")
    assert op2.Dat(cells, integers, dtype="float64", copy=True).data_ro.tolist() == [1, 2, 3]


def test_only_owned_values_are_shared() -> None:
    x = op2.Dat(op2.Set((1, 2, 4)) ** 2, np.arange(8.0))
    assert np.from_dlpack(x).tolist() == [[0, 1], [2, 3]]


def test_other_devices_get_nothing(x: Any) -> None:
    with pytest.raises(BufferError, match="'x'"):
        x.__dlpack__(dl_device=(2, 0))


def test_there_is_no_cuda_interface_on_the_host(x: Any) -> None:
    assert not hasattr(x, "__cuda_array_interface__")


class OnlyDlpack:
    """An array of a library that speaks nothing but DLPack, on the host."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)


def test_memory_of_the_host_is_taken_by_dlpack() -> None:
    values = np.arange(3.0)
    x = op2.Dat(op2.Set(3), OnlyDlpack(values))
    assert x.data_ro.tolist() == [0, 1, 2]
    assert np.shares_memory(x.data_ro, values)


class OnCuda:
    """An array on a GPU, as far as anyone can tell who does not look into it."""

    __cuda_array_interface__ = {  # noqa: RUF012
        "shape": (3,),
        "typestr": "<f8",
        "data": (4096, False),
        "version": 3,
    }


class OnCudaByDlpack(OnCuda):
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("nothing here may take it")


@pytest.mark.parametrize("kind", [OnCuda, OnCudaByDlpack])
@pytest.mark.parametrize("make", ["Dat", "Global"])
def test_memory_of_a_device_needs_its_backend(make: str, kind: type) -> None:
    where = op2.Set(3) if make == "Dat" else 3
    with pytest.raises(UsageError, match=r"'x'.* choose that backend .* or copy the array to the"):
        getattr(op2, make)(where, kind(), name="x")


def test_capsules_come_back_as_they_went() -> None:
    values = np.arange(6, dtype=np.int32).reshape(3, 2)
    array = _core.exchange.SharedArray(
        address=values.__array_interface__["data"][0],
        device_type=1,
        device_id=0,
        dtype="int32",
        shape=[3, 2],
        strides=[2, 1],
        is_read_only=False,
        owner=values,
    )
    for version in (None, (1, 0)):
        capsule = dlpack.device_capsule(array, version)
        again = _core.exchange.from_capsule(capsule)
        assert (again.address, again.shape, again.strides) == (array.address, [3, 2], [2, 1])
        assert again.is_contiguous
        with pytest.raises(UsageError, match="nobody has taken"):
            _core.exchange.from_capsule(capsule)


def test_the_cuda_interface_is_of_version_3() -> None:
    values = np.zeros((3, 2))
    array = _core.exchange.SharedArray(
        address=64,
        device_type=2,
        device_id=0,
        dtype="float64",
        shape=[3, 2],
        strides=[1, 3],
        is_read_only=False,
        owner=values,
    )
    assert dlpack.cuda_interface(array) == {
        "shape": (3, 2),
        "typestr": "<f8",
        "data": (64, False),
        "strides": (8, 24),
        "stream": None,
        "version": 3,
    }


def on_the_gpu(backend: str) -> Any:
    """CuPy, where a CUDA device and CuPy are; these tests run on the GPU machine."""
    cupy = pytest.importorskip("cupy")
    if not any(b.name == backend and b.available for b in op2.backends()):
        pytest.skip("there is no CUDA device")
    return cupy


@pytest.fixture
def cupy() -> Any:
    module = on_the_gpu("cuda")
    with op2.backend("cuda"):
        yield module


def test_cupy_and_loops_share_memory(cupy: Any) -> None:
    theirs = cupy.arange(4.0)
    x = op2.Dat(op2.Set(4), theirs, name="x")
    assert x.residence == "device"
    op2.par_loop(
        op2.Kernel("void add_one(double *x) { *x += 1; }", "add_one"), x.dataset.set, x(op2.RW)
    )
    for shared in (cupy.from_dlpack(x), cupy.asarray(x)):
        assert shared.data.ptr == theirs.data.ptr
        assert shared.tolist() == [1, 2, 3, 4]
    cupy.asarray(x)[0] = 9
    cupy.cuda.get_current_stream().synchronize()
    assert x.data_ro.tolist() == [9, 2, 3, 4]
    with pytest.raises(DataValueError, match="multiple of 16 bytes"):
        op2.Dat(op2.Set(3), theirs[1:])
    with pytest.raises(DataValueError, match="contiguous"):
        op2.Dat(op2.Set(2), theirs[::2])
    with pytest.raises((DataTypeError, DataValueError)):
        op2.Dat(op2.Set(4), theirs, dtype="float32")
    columns = op2.Dat(op2.Set(3) ** 2, np.arange(6.0), layout="soa")
    assert cupy.asarray(columns).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_torch_and_loops_share_memory(cupy: Any) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.arange(4, dtype=torch.float64, device="cuda")
    x = op2.Dat(op2.Set(4), theirs)
    assert torch.from_dlpack(x).data_ptr() == theirs.data_ptr()
    assert x.data_ro.tolist() == [0, 1, 2, 3]
