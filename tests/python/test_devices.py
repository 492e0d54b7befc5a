# SPDX-License-Identifier: BSD-3-Clause
"""Choosing a device, and what is said where there is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small_world import World, run_python

from pyop2cxx import op2
from pyop2cxx.backends._devices import choose_device, describe
from pyop2cxx.exceptions import ConfigurationError, OutOfMemoryError, UnsupportedError
from pyop2cxx.reports import machine
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")


def device(name: str, platform: str, *, is_cpu: bool = False) -> Any:
    return SimpleNamespace(
        name=name,
        platform=platform,
        is_cpu=is_cpu,
        memory_bytes=3 << 30,
        capability="OpenCL C 1.2",
        driver="7.0",
        n_units=4,
        float64=not is_cpu,
    )


DEVICES = [
    device("pthread-Xeon", "Portable Computing Language", is_cpu=True),
    device("GeForce", "NVIDIA CUDA"),
    device("H200", "NVIDIA CUDA"),
]


@pytest.mark.parametrize(
    ("platform", "wanted", "number"),
    [
        ("", "", 1),  # not the processor
        ("portable", "", 0),
        ("nvidia", "", 1),
        ("", "h200", 2),
        ("NVIDIA", "H200", 2),
        ("", "0", 0),
        ("nvidia", "2", 2),
    ],
)
def test_a_device_is_meant_by_number_or_by_part_of_its_name(
    platform: str, wanted: str, number: int
) -> None:
    assert choose_device(DEVICES, platform, wanted) == number


@pytest.mark.parametrize(("platform", "wanted"), [("", "3"), ("amd", ""), ("portable", "h200")])
def test_one_that_is_not_there_is_refused_with_a_list(platform: str, wanted: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"there is no .*there are: 0: pthread-Xeon .*H200"
    ):
        choose_device(DEVICES, platform, wanted)


def test_without_devices_none_can_be_chosen() -> None:
    with pytest.raises(ConfigurationError, match="there is no device"):
        choose_device([], "", "")


def test_one_line_says_what_a_device_is() -> None:
    assert describe(DEVICES[0]) == (
        "pthread-Xeon (Portable Computing Language), 3.0 GiB, OpenCL C 1.2, driver 7.0, 4 units, "
        "no float64"
    )


def test_a_number_may_be_given_as_a_number() -> None:
    op2.init(device=1)
    assert op2.configuration["device"] == "1"


def test_devices_of_this_machine_are_listed() -> None:
    """CI has PoCL; elsewhere the backend says what is missing."""
    (found,) = [backend for backend in op2.backends() if backend.name == "opencl"]
    if not found.available:
        pytest.skip(found.reason)
    report = machine.collect()["devices"]
    assert "opencl 0" in report
    assert report["opencl 0"]["memory_bytes"] > 0
    assert str(report["opencl 0"]["name"]) in found.details
    assert str(report["opencl 0"]["driver"]) in machine.as_text(machine.collect())


def test_a_device_is_opened_once() -> None:
    (found,) = [backend for backend in op2.backends() if backend.name == "opencl"]
    if not found.available:
        pytest.skip(found.reason)
    backend = runtime.engine.backend("opencl")
    assert runtime.engine.device(backend) is runtime.engine.device(backend)
    op2.init(device="no such device")
    with pytest.raises(ConfigurationError, match="there is no device 'no such device'"):
        runtime.engine.device(backend)


NEEDS_NO_DEVICE = """
from pyop2cxx import op2
import numpy as np
cells = op2.Set(3)
x = op2.Dat(cells, np.arange(3.0))
loop = op2.ParLoop(op2.Kernel("void f(double *x) { *x += 1; }", "f"), cells, x(op2.RW))
op2.init(backend="openmp")
loop.compute()
print(x.data_ro.tolist())
for backend in op2.backends():
    print(backend.name, backend.available, backend.reason)
op2.init(backend="opencl")
try:
    loop.compute()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_machine_without_the_loader_runs_openmp_and_says_what_to_install(tmp_path: Path) -> None:
    """The loader is hidden behind a file of its name that is none."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "libOpenCL.so.1").write_text("not a library, and longer than an ELF header is" * 9)
    found = run_python(NEEDS_NO_DEVICE, tmp_path, LD_LIBRARY_PATH=str(hidden))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("[1.0, 2.0, 3.0]\n")
    assert "openmp True" in found.stdout
    assert "opencl False the OpenCL loader was not found" in found.stdout
    assert "ToolchainError the OpenCL loader was not found" in found.stdout
    assert "libOpenCL.so.1" in found.stdout
    assert "apt-get install ocl-icd-libopencl1" in found.stdout


def test_a_machine_without_a_platform_says_so(tmp_path: Path) -> None:
    (tmp_path / "vendors").mkdir()
    found = run_python(
        NEEDS_NO_DEVICE,
        tmp_path,
        OCL_ICD_VENDORS=str(tmp_path / "vendors"),
        OPENCL_VENDOR_PATH=str(tmp_path / "vendors"),
    )
    assert found.returncode == 0, found.stderr
    if "opencl True" in found.stdout:
        pytest.skip("this machine's OpenCL loader finds drivers wherever it is told to look")
    assert "opencl False" in found.stdout
    if "loader was not found" not in found.stdout:
        assert "finds no OpenCL platform" in found.stdout
    assert "pocl-opencl-icd" in found.stdout


def test_static_mode_needs_no_device() -> None:
    op2.init(backend="opencl", static=True, device="no such device")
    assert "__kernel" in World().loop().generate()


FIRST = """
import threading
import numpy as np
from pyop2cxx import op2
from pyop2cxx.runtime import runtime

op2.init(backend=BACKEND)
cells = op2.Set(100, "cells")
ready = threading.Barrier(8)
failed = []

def work(i):
    ready.wait()
    try:
        dat = op2.Dat(cells, np.arange(100.0), name=f"dat{i}")
        code = f"void k{i}(double *x) {{ x[0] = x[0] * {i + 2} + 1; }}"
        for _ in range(2):
            op2.par_loop(op2.Kernel(code, f"k{i}"), cells, dat(op2.RW))
        once = np.arange(100.0) * (i + 2) + 1
        assert (dat.data_ro == once * (i + 2) + 1).all(), f"thread {i}: wrong values"
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed or "done", len(runtime.engine._devices))
"""


MIXED = """
import threading
import numpy as np
from pyop2cxx import op2
from pyop2cxx.runtime import runtime

op2.init(backend=BACKEND)
edges, nodes = op2.Set(60, "edges"), op2.Set(61, "nodes")
ends = op2.Map(edges, nodes, 2, np.stack([np.arange(60), np.arange(1, 61)], 1), "ends")
shared = op2.Dat(nodes, np.arange(61.0), name="shared")
ready = threading.Barrier(8)
failed = []

def sums(i):
    y, total = op2.Dat(nodes), op2.Global(1, 0.0)
    code = f"void k{i}(double *y, const double *x, double *t) {{ y[0] += x[1] + {i}; *t += x[0]; }}"
    args = y(op2.INC, ends), shared(op2.READ, ends), total(op2.INC)
    op2.par_loop(op2.Kernel(code, f"k{i}"), edges, *args)
    return [*y.data_ro, *total.data_ro] == [*np.arange(1.0, 61) + i, 0, 1770]

def copies(i):
    x = op2.Dat(nodes, np.arange(61.0) + i)
    x.to_device()
    x += shared
    x.to_host()
    return [*x.data_ro] == [*2 * np.arange(61.0) + i]

def norms(i):
    return shared.inner(shared) == 73810

def work(i):
    ready.wait()
    try:
        if not (sums, copies, norms)[i % 3](i):
            failed.append(i)
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed or "done", len(runtime.engine._devices))
"""


LISTED = """
import threading
from pyop2cxx import op2

ready = threading.Barrier(8)
found = []

def work():
    ready.wait()
    found.append(op2.backends())

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(found)))
"""


def test_threads_may_list_devices_at_once(tmp_path: Path) -> None:
    done = run_python(LISTED, tmp_path)
    assert (done.returncode, done.stdout) == (0, "8 1\n"), done.stderr


@pytest.mark.parametrize("program", [FIRST, MIXED], ids=["loops", "mixed"])
@pytest.mark.parametrize("backend", ["opencl", "cuda"])
def test_threads_that_use_a_device_first_open_one(
    tmp_path: Path, backend: str, program: str
) -> None:
    (found,) = [one for one in op2.backends() if one.name == backend]
    if not found.available:
        pytest.skip(found.reason)
    for attempt in range(3):  # how threads meet differs
        place = tmp_path / str(attempt)
        done = run_python(f"BACKEND = {backend!r}\n{program}", place)
        assert (done.returncode, done.stdout) == (0, "done 1\n"), done.stderr + done.stdout


@pytest.mark.parametrize("n", [50, 2_000, 10_000])
def test_large_arrays_of_a_kernel_fit_beside_those_of_its_block(backend: str, n: int) -> None:
    """PoCL puts the arrays of all lanes of a block on one stack, which has 8 MB as a rule."""
    code = f"""void k(double *x) {{
        double t[{n}];
        for (int i = 0; i < {n}; ++i) t[i] = x[0] + i;
        for (int i = 1; i < {n}; ++i) t[i] += 0.5 * t[(i * 7) % i];
        x[0] = t[{n - 1}] + t[{n // 2}];
    }}"""
    cells = op2.Set(300)
    found = op2.Dat(cells, np.arange(300.0))
    op2.par_loop(op2.Kernel(code, "k"), cells, found(op2.RW))
    expected = op2.Dat(cells, np.arange(300.0))
    with op2.backend("sequential"):
        op2.par_loop(op2.Kernel(code, "k"), cells, expected(op2.RW))
    np.testing.assert_allclose(found.data_ro, expected.data_ro, rtol=1e-12, err_msg=backend)


@pytest.mark.parametrize(
    ("name", "n", "size"), [("opencl", 500_000, "4.0"), ("cuda", 99_000, "0.8")]
)
def test_arrays_that_no_lane_has_room_for_are_refused(name: str, n: int, size: str) -> None:
    """Before anything is compiled, so that it needs no device."""
    cells = op2.Set(3)
    x = op2.Dat(cells, [1.0, 2.0, 3.0])
    code = f"void k(double *x) {{ double t[{n}]; t[(int)x[0]] = 2; x[0] = t[1]; }}"
    op2.init(static=True)
    said = rf"par_loop 'k': .*{size} MB for one element.*on the host"
    with op2.backend(name), pytest.raises(UnsupportedError, match=said):
        op2.ParLoop(op2.Kernel(code, "k"), cells, x(op2.RW)).generate()


@pytest.mark.parametrize("name", ["opencl", "cuda"])
def test_a_loop_that_does_not_fit_onto_the_device_changes_nothing(name: str) -> None:
    (found,) = [backend for backend in op2.backends() if backend.name == name]
    if not found.available:
        pytest.skip(found.reason)
    op2.init(backend=name, device_memory=20)
    cells = op2.Set(1_000_000, "cells")
    dats = [op2.Dat(cells, np.ones(cells.size), name=one) for one in "xyz"]
    kernel = op2.Kernel(
        "void add(double *x, const double *y, const double *z) { x[0] += y[0] + z[0]; }", "add"
    )
    arguments = (kernel, cells, dats[0](op2.RW), dats[1](op2.READ), dats[2](op2.READ))
    dats[1].to_device()
    with pytest.raises(OutOfMemoryError, match="Dat 'z' on Set 'cells'") as raised:
        op2.par_loop(*arguments)
    said = str(raised.value)
    assert "that init(device_memory=) allows" in said
    assert "It needs 16000000 more bytes there: Dat 'x' on Set 'cells' 8000000 bytes" in said
    assert "compute='float64' take half" in said
    assert "Nothing was changed" in said
    assert [dat.residence for dat in dats] == ["host", "both", "host"]
    with op2.backend("sequential"):
        op2.par_loop(*arguments)
    assert (dats[0].data_ro == 3.0).all()
    op2.init(device_memory=0)
    op2.par_loop(*arguments)
    assert (dats[0].data_ro == 5.0).all()
    with pytest.raises(ConfigurationError, match="'device_memory' must not be negative"):
        op2.init(device_memory=-1)


def test_large_scratch_memory_that_does_not_fit_changes_nothing() -> None:
    (found,) = [backend for backend in op2.backends() if backend.name == "opencl"]
    if not found.available:
        pytest.skip(found.reason)
    op2.init(backend="opencl", tuning={"kept_scratch_bytes": 0})
    cells, nodes = op2.Set(200_000, "cells"), op2.Set(200_001, "nodes")
    ends = np.stack([np.arange(cells.size), np.arange(cells.size) + 1], axis=1)
    to_nodes = op2.Map(cells, nodes, 2, ends, "to_nodes")
    old = np.full((nodes.size, 4), 7.0)
    x = op2.Dat(nodes**4, old.copy(), name="x")
    kernel = op2.Kernel(
        "void add(double x[2][4]) { for (int i = 0; i < 4; ++i) { x[0][i] += 1; x[1][i] += 2; } }",
        "add",
    )
    loop = op2.ParLoop(kernel, cells, x(op2.INC, to_nodes), strategy="scratch")
    op2.init(device_memory=18)  # Maps, plans and the Dat, but not each cell's results of 12.8 MB
    with pytest.raises(OutOfMemoryError, match="It needs 6400032 more bytes"):
        loop.compute()
    assert x.residence == "host"
    op2.init(device_memory=0)
    x.to_device()
    op2.init(device_memory=12)
    with pytest.raises(OutOfMemoryError, match=r"scratch of par_loop 'add\w*'"):
        loop.compute()
    assert x.residence == "both"
    op2.init(device_memory=0)
    loop.compute()
    assert (x.data_ro[1:-1] == 10.0).all()
