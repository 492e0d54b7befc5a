// SPDX-License-Identifier: BSD-3-Clause
#include "jit/nvrtc/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/vendor_library.hpp"

namespace op2::jit::nvrtc {
namespace {

namespace fs = std::filesystem;

const char* const install_nvrtc =
    "install NVIDIA's run-time compiler (pip install nvidia-cuda-nvrtc, or the CUDA toolkit, and "
    "set CUDA_HOME if it is in an unusual place)";

constexpr std::array sonames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                "libnvrtc.so"};

void add_folder(const fs::path& folder, std::vector<std::string>& found) {
  for (const char* soname : sonames) {
    const fs::path path = folder / soname;
    std::error_code ignored;
    if (fs::exists(path, ignored)) found.push_back(path.string());
  }
}

/// The toolkits beside /usr/local/cuda, which may be missing itself; the newest first.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", failure)) {
    if (entry.path().filename().string().starts_with("cuda")) found.push_back(entry.path());
  }
  std::ranges::sort(found, std::ranges::greater());
  return found;
}

}  // namespace

std::vector<std::string> candidates(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    for (const char* folder : {"lib64", "lib"}) add_folder(fs::path(value) / folder, found);
  }
  found.insert(found.end(), sonames.begin(), sonames.end());
  for (const std::string& folder : folders) add_folder(folder, found);
  for (const fs::path& toolkit : toolkits()) {
    for (const char* folder : {"lib64", "lib"}) add_folder(toolkit / folder, found);
  }
  return found;
}

Library load_library(const std::vector<std::string>& candidates) {
  const VendorLibrary library("NVIDIA's run-time compiler, NVRTC,", candidates, install_nvrtc);
  Library nvrtc;
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
