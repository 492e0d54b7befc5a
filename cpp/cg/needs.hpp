// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief What the text of a module may need before it: "float64", "complex", "int64_atomics",
/// "memory" (memcpy and its like), "ranges" (hide_ranges()), "last_block" (which block of a launch
/// is done last), "fetch" (indices that go past the caches).
[[nodiscard]] std::vector<std::string> needs(const kir::Module& module);

}  // namespace op2::cg
