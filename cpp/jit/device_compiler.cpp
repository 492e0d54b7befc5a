// SPDX-License-Identifier: BSD-3-Clause
#include "jit/device_compiler.hpp"

#include <fmt/format.h>

#include <map>

namespace op2::jit {
namespace {

std::map<std::string_view, MakeCompiler>& registered_compilers() {
  static std::map<std::string_view, MakeCompiler> all;
  return all;
}

}  // namespace

std::shared_ptr<DeviceCompiler> make_device_compiler(std::string_view vendor,
                                                     const std::string& device,
                                                     const std::vector<std::string>& folders) {
  const auto found = registered_compilers().find(vendor);
  if (found != registered_compilers().end()) return found->second(device, folders);
  throw ToolchainError(fmt::format("there is no compiler for devices of '{}'", vendor), "", "", "");
}

bool register_compiler(std::string_view vendor, MakeCompiler make) {
  return registered_compilers().emplace(vendor, make).second;
}

CompilationError rejected(const std::string& compiler, const std::string& command,
                          const std::string& log) {
  return {fmt::format("{} rejected a generated source\n  command: {}\n{}", compiler, command, log),
          command, log, ""};
}

ToolchainError broke(const std::string& compiler, const std::string& why,
                     const std::string& command, const std::string& log) {
  return {fmt::format("{} failed ({})\n  command: {}\n{}", compiler, why, command, log), command,
          log, ""};
}

}  // namespace op2::jit
