// SPDX-License-Identifier: BSD-3-Clause
#include "jit/opencl/compiler.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "base/user_folders.hpp"
#include "jit/probe.hpp"
#include "runtime/opencl/known_text.hpp"
#include "runtime/ptx.hpp"

namespace op2::jit::opencl {

using namespace runtime::opencl;  // NOLINT(google-build-using-namespace): the driver's words

namespace {

std::string identity_of(const Api& api, const FoundDevice& device) {
  Canonical key;
  key.open("opencl").text("signs of 16 bits kept");  // earlier programs had the faults
  for (const Count property : {query::platform_name, query::platform_version}) {
    key.text(text_of(api, device.platform, property));
  }
  for (const Count property :
       {query::device_name, query::device_version, query::driver_version, query::extensions}) {
    key.text(text_of(api, device.id, property));
  }
  return key.close().str();
}

/// PoCL ends the process where its linker is missing.
void require_linker() {
  try {
    (void)find_compiler(Language::c, "ld");
  } catch (const ToolchainError&) {
    throw ToolchainError(
        fmt::format(
            "PoCL, OpenCL on processors, links each kernel by 'ld', which is not in PATH={}; "
            "install it (Debian or Ubuntu: apt-get install binutils)",
            environment("PATH")),
        "ld", "", "");
  }
}

}  // namespace

Compiler::Compiler(std::shared_ptr<const Api> api, const FoundDevice& device)
    : api_(std::move(api)),
      device_(device),
      identity_(identity_of(*api_, device)),
      context_(context_of(api_, device)) {}

std::string Compiler::compile(const std::string& source, const std::vector<std::string>& options) {
  const bool is_pocl = keeps_programs(text_of(*api_, device_.platform, query::platform_name));
  if (is_pocl) require_linker();
  const char* text = source.c_str();
  const std::size_t n_bytes = source.size();
  Status status = code::success;
  Owned<ProgramId> program(
      api_->create_program_with_source(context_->get(), 1, &text, &n_bytes, &status),
      api_->release_program);
  check(status, "clCreateProgramWithSource");
  std::string words;
  for (const std::string& option : options) words += (words.empty() ? "" : " ") + option;
  const std::string command = fmt::format("clBuildProgram {}", words);
  status = api_->build_program(program.get(), 1, &device_.id, words.c_str(), nullptr, nullptr);
  if (status != code::success) {
    const std::string compiler =
        "the OpenCL compiler of " + text_of(*api_, device_.id, query::device_name);
    const std::string log = build_log(*api_, program.get(), device_.id);
    if (status == code::build_failure) throw rejected(compiler, command, log);
    throw broke(compiler, std::string(status_name(status)), command, log);
  }
  if (is_pocl) {
    std::string known = bytes_of({words, source});
    context_->keep(known, std::move(program));
    return known;
  }
  std::string binary = binary_of(*api_, program.get());
  // NVIDIA's driver hands over PTX, of which it makes machine code when it loads the program.
  if (auto kept = runtime::with_signs_kept(binary)) return *std::move(kept);
  return binary;
}

std::shared_ptr<DeviceCompiler> make_compiler(const std::string& device,
                                              const std::vector<std::string>& /*folders*/) {
  int index = -1;  // of no device
  std::from_chars(device.data(), device.data() + device.size(), index);
  std::shared_ptr<const Api> api = load_api();
  const FoundDevice found = device_number(*api, index);
  return std::make_shared<Compiler>(std::move(api), found);
}

[[maybe_unused]] const bool is_registered = register_compiler("opencl", make_compiler);

}  // namespace op2::jit::opencl
