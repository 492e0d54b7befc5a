// SPDX-License-Identifier: BSD-3-Clause
#include "jit/nvrtc/api.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/toolkit_places.hpp"
#include "base/vendor_library.hpp"

namespace op2::jit::nvrtc {
namespace {

using gpu::Library;
using gpu::success;

const char* const install_nvrtc =
    "install NVIDIA's run-time compiler (pip install nvidia-cuda-nvrtc, or the CUDA toolkit, and "
    "set CUDA_HOME if it is in an unusual place)";

}  // namespace

std::vector<std::string> candidates(const std::vector<std::string>& folders) {
  return toolkit_places({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
                        folders);
}

Library load_library(const std::vector<std::string>& candidates) {
  const VendorLibrary library("NVIDIA's run-time compiler, NVRTC,", candidates, install_nvrtc);
  Library nvrtc;
  nvrtc.name = "NVRTC";
  nvrtc.command = "nvrtc";
  nvrtc.file = "loop.cu";
  nvrtc.path = library.path();
  library.require(nvrtc.version, "nvrtcVersion");
  library.require(nvrtc.get_error_string, "nvrtcGetErrorString");
  library.require(nvrtc.get_num_supported_archs, "nvrtcGetNumSupportedArchs");
  library.require(nvrtc.get_supported_archs, "nvrtcGetSupportedArchs");
  library.require(nvrtc.create_program, "nvrtcCreateProgram");
  library.require(nvrtc.destroy_program, "nvrtcDestroyProgram");
  library.require(nvrtc.compile_program, "nvrtcCompileProgram");
  library.require(nvrtc.get_program_log_size, "nvrtcGetProgramLogSize");
  library.require(nvrtc.get_program_log, "nvrtcGetProgramLog");
  library.require(nvrtc.get_cubin_size, "nvrtcGetCUBINSize");
  library.require(nvrtc.get_cubin, "nvrtcGetCUBIN");
  library.require(nvrtc.get_ptx_size, "nvrtcGetPTXSize");
  library.require(nvrtc.get_ptx, "nvrtcGetPTX");

  int n_architectures = 0;
  if (nvrtc.version(&nvrtc.major, &nvrtc.minor) != success ||
      nvrtc.get_num_supported_archs(&n_architectures) != success || n_architectures < 1) {
    throw ToolchainError(fmt::format("{} does not say what it is", nvrtc.path), "", "", "");
  }
  nvrtc.architectures.resize(static_cast<std::size_t>(n_architectures));
  nvrtc.get_supported_archs(nvrtc.architectures.data());
  std::ranges::sort(nvrtc.architectures);
  return nvrtc;
}

}  // namespace op2::jit::nvrtc
