// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace op2::exec {

/// @brief How many blocks of how many lanes run a kernel.
struct Grid {
  std::int64_t n_blocks = 1;
  int n_lanes = 1;
  bool operator==(const Grid&) const = default;
};

/// @brief An argument of a kernel: the handle of memory (null: a null pointer), or a number (C's
/// long).
using LaunchArgument = std::variant<void*, std::int64_t>;

/// @brief A function of a Program, launched by the host.
class DeviceKernel {
 public:
  DeviceKernel() = default;
  DeviceKernel(const DeviceKernel&) = delete;
  DeviceKernel& operator=(const DeviceKernel&) = delete;
  virtual ~DeviceKernel() = default;

  /// @brief The most lanes a block may have, as registers allow.
  [[nodiscard]] virtual int max_lanes() const = 0;
};

/// @brief Code loaded onto a device; implemented in runtime/<vendor>.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// @brief The kernel called @p name; lives as long as the Program.
  /// @throws InternalError if there is none.
  [[nodiscard]] virtual DeviceKernel& kernel(const std::string& name) = 0;

  /// @brief Blocks of @p n_lanes of a kernel held by a multiprocessor at a time, as registers and
  /// shared memory allow; 0: unknown.
  [[nodiscard]] virtual int resident_blocks(const std::string& /*name*/, int /*n_lanes*/) {
    return 0;
  }
};

}  // namespace op2::exec
