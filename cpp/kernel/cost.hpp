// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernel/body.hpp"
#include "kernel/rows.hpp"

namespace op2::kernel {

/// @brief What one call of a function computes.
struct Work {
  std::int64_t n_operations = 0;  ///< on floating-point numbers
  std::int64_t n_slow = 0;        ///< divisions and roots among them: units do not take one a cycle
  std::int64_t n_calls = 0;       ///< calls of functions with vector forms: KnownFunction
  std::int64_t n_in_rows = 0;     ///< those in loops that compilers vectorise: runs_along_rows()
  bool is_open = false;           ///< a loop of unknown length was counted once
  int float_bytes = 0;            ///< of the widest real number computed with; 0: none

  bool operator==(const Work&) const = default;
  Work& operator+=(const Work& more);
  [[nodiscard]] Work times(std::int64_t n) const;
};

/// @brief The work of one call of the entry function.
///
/// The dearer branch of an if counts. A loop counts in full if its bounds are constant or follow
/// from the variables of loops around it, any other loop once. A library function counts as one,
/// complex operations as the real ones they are made of.
/// @param[in] rows Which loops count as loops along rows.
[[nodiscard]] Work work_of(const KernelBody& body, const RowLimits& rows);

/// @brief Floating-point operations of one call of the entry function.
[[nodiscard]] std::int64_t n_operations(const KernelBody& body);

}  // namespace op2::kernel
