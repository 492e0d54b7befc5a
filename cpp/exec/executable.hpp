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

/// @brief What runs on a device instead of a launch function: kernels, and what says which of them
/// run with what.
struct DeviceCode {
  std::shared_ptr<Program> program;
  LaunchProgram launch;
};

/// @brief What a loop does with one of its arguments.
struct DataUse {
  Access access = Access::read;
  DType storage = DType::float64;  ///< in memory
  DType seen = DType::float64;     ///< by the kernel
  bool is_overwritten = false;     ///< whatever was there for an element: no path leaves any of it
  bool operator==(const DataUse&) const = default;
};

/// @brief Something that runs a loop: what every provider returns and every backend launches.
///
/// Holds no mesh data: addresses arrive with each launch, as `arguments` describes.
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

/// @brief Bytes of the places in matrices that a launch function reads; 0: it reads none.
[[nodiscard]] inline int position_bytes(const Executable& executable) {
  for (const abi::Parameter& one : executable.arguments) {
    if (one.role != abi::Role::matrix || one.index % 2 == 0) continue;
    return static_cast<int>(size_of(one.type.dtype));
  }
  return 0;
}

}  // namespace op2::exec
