// SPDX-License-Identifier: BSD-3-Clause
#include "jit/device_compiler.hpp"

#include <fmt/format.h>

namespace op2::jit {

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
