// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief How many elements are computed side by side, and why.
struct LaneChoice {
  int lanes = 0;  ///< 0: one after the other
  std::string why;
};

/// @brief What the default rule asks of a loop.
struct LaneRule {
  std::int64_t least_operations;              ///< of one call of the kernel
  std::int64_t least_operations_a_scalar;     ///< that is gathered or scattered
  std::int64_t operations_a_scalar_for_wide;  ///< below it vectors have at most 32 bytes
};
[[nodiscard]] LaneRule lane_rule(const Request& request);

/// @brief What the default rule weighs; of a Group for one call of each kernel.
struct LaneWork {
  std::int64_t n_operations = 0;
  std::int64_t n_slow = 0;     ///< divisions and roots among them
  std::int64_t n_calls = 0;    ///< calls of functions with vector forms among them
  std::int64_t n_in_rows = 0;  ///< in loops that compilers vectorise, see kernel::runs_along_rows
  std::int64_t n_scalars = 0;  ///< gathered and scattered, not what members hand on
  int widest = 0;              ///< bytes of the widest value
};
/// @brief Nothing is known of an opaque kernel's operations: they count as none.
[[nodiscard]] LaneWork lane_work(const ir::Loop& loop, const Tuning& tuning);

/// @brief The user's choice, or the default rule's (docs/strategies.md). A Group goes on lanes if
/// that pays for the sum of its kernels, or for one of them alone: what it gains is lost otherwise.
/// @param[in] forced 0 or 1: none; nothing: the rule decides.
/// @param[in] vector_bytes Of the machine's widest vectors; 0 if that is not known.
/// @throws UnsupportedError if as many lanes as asked for are not possible, saying why.
[[nodiscard]] LaneChoice choose_lanes(const Request& request, std::optional<int> forced,
                                      int vector_bytes);

}  // namespace op2::lower
