// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/run.hpp"

namespace op2::kernel {

/// @brief A subscript that leaves its array, whatever the data.
struct OutOfBounds {
  int line = 0;
  std::string array;
  int parameter = -1;  ///< of the entry function; -1: a local array, a table or a Const
  std::int64_t index = 0;
  std::int64_t extent = 0;
  /// It stands under a condition on what is the same for all elements, such as `dim == 3` of a
  /// Const: the kernel may be right for the values that it runs with.
  bool is_guarded = false;
  bool operator==(const OutOfBounds&) const = default;
};

/// @brief Subscripts and dereferences with known indices outside of what they lead into, in the
/// order of the run; each line, array and index once.
[[nodiscard]] std::vector<OutOfBounds> out_of_bounds(const KernelBody& body, const RunInput& input);

}  // namespace op2::kernel
