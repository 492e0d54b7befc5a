// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/abi.h"
#include "ir/kernel_ir.hpp"

namespace op2::exec {

/// @brief Something that runs a loop: what every provider returns and every backend launches.
///
/// Holds no mesh data: addresses arrive with each launch, as `arguments` describes.
struct Executable {
  op2_launch_v1 launch = nullptr;
  std::shared_ptr<const void> owner;      ///< keeps the code loaded
  std::vector<kir::Parameter> arguments;  ///< of argv: role, index, dtype
  kir::PlanSpec plan;
  kir::ScratchSpec scratch;
  kir::Items items = kir::Items::elements;
  std::string name;  ///< of the kernel, for messages and reports
  std::string strategy;
  bool is_parallel = false;  ///< opens a team of threads
};

}  // namespace op2::exec
