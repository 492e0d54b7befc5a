# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA's run-time compiler needs no GPU; what is missing is said with what to install."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from pyop2cxx import _core
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import CompilationError, ToolchainError, UsageError

SOURCE = """
static double half(double x) { return 0.5 * x; }
extern "C" __global__ void scale(double *x, long n)
{
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) x[i] = half(x[i]);
}
"""


def service() -> _core.DeviceService:
    return _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 20,
        compile_timeout_seconds=60.0,
    )


def compiler(architecture: str) -> _core.DeviceCompiler:
    try:
        return nvrtc.compiler(architecture)
    except ToolchainError as error:
        pytest.skip(str(error))


def test_the_folders_of_an_installed_package_hold_the_library() -> None:
    try:
        metadata.version("nvidia-cuda-nvrtc")
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")
    assert any(list(Path(folder).glob("libnvrtc.so.*")) for folder in nvrtc.folders())


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_it_compiles_for_a_gpu_that_is_not_here(architecture: str) -> None:
    made = service().compile(compiler(architecture), SOURCE, [], "")
    assert made.origin == _core.jit.Origin.compiled


def test_each_architecture_has_its_own_code() -> None:
    assert compiler("sm_90").identity != compiler("sm_80").identity
    assert compiler("sm_90").identity == compiler("sm_90").identity


def test_a_rejected_source_is_shown_at_the_users_line() -> None:
    broken = '#line 3 "<kernel scale>"\nstatic double half(double x) { return y; }\n'
    with pytest.raises(CompilationError, match=r"<kernel scale>\(3\): error") as caught:
        service().compile(compiler("sm_90"), broken, ["-fmad=false"], "")
    assert '"y"' in caught.value.stderr
    assert "-fmad=false" in caught.value.command
    assert "-arch=sm_90" in caught.value.command


def test_what_is_no_architecture_is_refused() -> None:
    compiler("sm_90")
    with pytest.raises(UsageError, match="'gfx90a' is no GPU architecture"):
        nvrtc.compiler("gfx90a")


def has_gpu() -> bool:
    try:
        return bool(_core.vendor("cuda").list_devices())
    except ToolchainError:
        return False


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_what_to_install_or_to_look_at() -> None:
    wanted = "install NVIDIA's driver.*libcuda|NVIDIA's driver at .*nvidia-smi"
    with pytest.raises(ToolchainError, match=f"(?s){wanted}"):
        _core.vendor("cuda").list_devices()
    with pytest.raises(ToolchainError, match="NVIDIA's driver"):
        _core.vendor("cuda").open_device(0)


@pytest.mark.skipif(not has_gpu(), reason="there is no GPU")
def test_a_gpu_is_opened_by_its_number() -> None:
    devices = _core.vendor("cuda").list_devices()
    with pytest.raises(UsageError, match="there is no cuda device"):
        _core.vendor("cuda").open_device(len(devices))
    device = _core.vendor("cuda").open_device(0)
    assert device.info.backend == "cuda"
    assert device.info.capability.startswith("sm_")
    assert device.info.memory_bytes > 1 << 30
