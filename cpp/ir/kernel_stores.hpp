// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel_body.hpp"

namespace op2::ir {

/// @brief How much of each parameter is certainly written, whatever the data.
///
/// Runs the kernel abstractly: integers with known values are followed, so loops with constant
/// bounds run in full and subscripts are exact; where a condition depends on data, both branches
/// run and only what both write counts. Where it cannot tell, or takes too long, it says 0.
///
/// @return For each parameter of the entry function the largest n such that scalars 0 to n - 1
/// are written on every path.
[[nodiscard]] std::vector<std::int64_t> surely_stored(const KernelBody& body);

/// @brief How much of each parameter certainly holds 0 when the kernel returns. By the same run: a
/// scalar counts if the last that was stored there is a literal 0.
///
/// @return For each parameter of the entry function the largest n such that scalars 0 to n - 1 do.
[[nodiscard]] std::vector<std::int64_t> surely_zero(const KernelBody& body);

/// @brief What a parameter is a copy of when the kernel returns.
struct CopiedPrefix {
  int source = -1;     ///< a parameter of the entry function; -1: of none
  std::int64_t n = 0;  ///< scalars 0 to n - 1 hold what those of the source held when loaded
  bool operator==(const CopiedPrefix&) const = default;
};

/// @brief For each parameter of the entry function what it certainly is a copy of. By the same
/// run: a scalar counts if the last that was stored there was loaded from the same place of another
/// parameter, and not converted.
[[nodiscard]] std::vector<CopiedPrefix> surely_copied(const KernelBody& body);

}  // namespace op2::ir
