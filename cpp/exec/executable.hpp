// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/abi.h"
#include "exec/program.hpp"
#include "ir/kernel_ir.hpp"

namespace op2::exec {

/// @brief What runs on a device instead of a launch function: kernels, and the small program that
/// says which of them run with what.
struct DeviceCode {
  std::shared_ptr<Program> program;
  std::vector<kir::Function> kernels;  ///< without bodies
  kir::Block launch;                   ///< Module::launch of a grid
  std::string suffix = {};             ///< of the kernels' names in the program, if it has others
};

/// @brief Something that runs a loop: what every provider returns and every backend launches.
///
/// Holds no mesh data: addresses arrive with each launch, as `arguments` describes.
struct Executable {
  op2_launch_v1 launch = nullptr;         ///< null: on a device
  std::shared_ptr<const void> owner;      ///< keeps the code loaded
  std::vector<kir::Parameter> arguments;  ///< of argv: role, index, dtype
  kir::PlanSpec plan;
  kir::ScratchSpec scratch;
  kir::Items items = kir::Items::elements;
  std::string name;  ///< of the kernel, for messages and reports
  std::string strategy;
  bool is_parallel = false;                            ///< opens a team of threads
  std::shared_ptr<const DeviceCode> device = nullptr;  ///< null: on the host
};

}  // namespace op2::exec
