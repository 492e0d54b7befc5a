// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/abi.h"
#include "base/abi_types.hpp"
#include "base/access.hpp"
#include "base/dtype.hpp"
#include "exec/launch_program.hpp"
#include "exec/program.hpp"

namespace op2::exec {

/// @brief The code of a loop on a device, in place of a launch function: kernels, and a program
/// with their launches and arguments.
struct DeviceCode {
  std::shared_ptr<Program> program;
  LaunchProgram launch;
};

/// @brief A loop's use of an argument.
struct DataUse {
  Access access = Access::read;
  DType storage = DType::float64;  ///< in memory
  DType seen = DType::float64;     ///< by the kernel
  bool is_overwritten = false;     ///< every path overwrites all old values of an element
  bool operator==(const DataUse&) const = default;
};

/// @brief A runnable loop: returned by every provider and launched by every backend.
///
/// Holds no mesh data: addresses arrive with each launch, as described by `arguments`.
struct Executable {
  op2_launch_v1 launch = nullptr;         ///< null: on a device
  std::shared_ptr<const void> owner;      ///< keeps the code loaded
  std::vector<abi::Parameter> arguments;  ///< of argv: role, index, dtype
  std::vector<DataUse> data;              ///< of the loop's arguments, by Parameter::index
  abi::PlanSpec plan;
  abi::ScratchSpec scratch;
  abi::Items items = abi::Items::elements;
  std::string name;  ///< of the kernel, for messages and reports
  std::string strategy;
  bool is_parallel = false;                            ///< opens a team of threads
  std::shared_ptr<const DeviceCode> device = nullptr;  ///< null: on the host
};

/// @brief Bytes of the places in matrices read by a launch function; 0: none are read.
[[nodiscard]] inline int position_bytes(const Executable& executable) {
  for (const abi::Parameter& one : executable.arguments) {
    if (one.role != abi::Role::matrix || one.index % abi::n_matrix_arrays != abi::positions) {
      continue;
    }
    return static_cast<int>(size_of(one.type.dtype));
  }
  return 0;
}

}  // namespace op2::exec
