// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief How a kernel of a grid is launched, for readers of its text, which has no launches: lines
/// of a comment. They are read off Module::launch, of which the runtime's program is made, too.
///
/// For each launch its number among all of the module and what it does, which may be repeated; on
/// how many lanes or blocks; what the kernel gets, where that has another name; and the arrays that
/// the launch reads itself, or that live from launch to launch, with their shapes.
[[nodiscard]] std::vector<std::string> launch_comment(const kir::Module& module,
                                                      const kir::Function& kernel);

}  // namespace op2::cg
