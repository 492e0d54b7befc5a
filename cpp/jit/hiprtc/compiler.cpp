// SPDX-License-Identifier: BSD-3-Clause
#include "jit/hiprtc/compiler.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "base/vendor_library.hpp"
#include "jit/gpu/compilation.hpp"

namespace op2::jit::hiprtc {
namespace {

const char* const install_hiprtc =
    "install AMD's run-time compiler (Debian: apt-get install libamdhip64-5, which has it)";

/// Older releases have it in the run-time library itself.
std::vector<std::string> candidates() {
  return {"libhiprtc.so.7",
          "libhiprtc.so.6",
          "libhiprtc.so.5",
          "libhiprtc.so",
          "/opt/rocm/lib/libhiprtc.so",
          "libamdhip64.so.5",
          "libamdhip64.so"};
}

std::vector<std::string> default_options() {
  return {"-std=c++17", "-O3"};
}

}  // namespace

gpu::Library load_library(const std::vector<std::string>& candidates) {
  const VendorLibrary library("AMD's run-time compiler, hipRTC,", candidates, install_hiprtc);
  gpu::Library hiprtc;
  hiprtc.name = "hipRTC";
  hiprtc.command = "hiprtc";
  hiprtc.file = "loop.hip";
  hiprtc.path = library.path();
  library.require(hiprtc.version, "hiprtcVersion");
  library.require(hiprtc.get_error_string, "hiprtcGetErrorString");
  library.require(hiprtc.create_program, "hiprtcCreateProgram");
  library.require(hiprtc.destroy_program, "hiprtcDestroyProgram");
  library.require(hiprtc.compile_program, "hiprtcCompileProgram");
  library.require(hiprtc.get_program_log_size, "hiprtcGetProgramLogSize");
  library.require(hiprtc.get_program_log, "hiprtcGetProgramLog");
  library.require(hiprtc.get_cubin_size, "hiprtcGetCodeSize");
  library.require(hiprtc.get_cubin, "hiprtcGetCode");
  if (hiprtc.version(&hiprtc.major, &hiprtc.minor) != gpu::success) {
    throw ToolchainError(fmt::format("{} does not say what it is", hiprtc.path), "", "", "");
  }
  return hiprtc;
}

Compiler::Compiler(gpu::Library library, std::string device)
    : library_(std::move(library)), device_(std::move(device)) {}

std::string Compiler::identity() const {
  Canonical key;
  key.open("hiprtc").number(library_.major).number(library_.minor).text(library_.path);
  key.text(device_);
  for (const std::string& option : default_options()) key.text(option);
  return key.close().str();
}

std::string Compiler::compile(const std::string& source, const std::vector<std::string>& options) {
  std::vector<std::string> words = default_options();
  if (device_.starts_with("gfx")) words.push_back("--offload-arch=" + device_);
  words.insert(words.end(), options.begin(), options.end());
  gpu::Compilation compilation(library_, source);
  compilation.run(words);
  return compilation.cubin();
}

std::shared_ptr<DeviceCompiler> make_compiler(const std::string& device,
                                              const std::vector<std::string>& /*folders*/) {
  return std::make_shared<Compiler>(load_library(candidates()), device);
}

[[maybe_unused]] const bool is_registered = register_compiler("hip", make_compiler);

}  // namespace op2::jit::hiprtc
