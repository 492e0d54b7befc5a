// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>

#include "chain/rules.hpp"

namespace op2::chain {

/// Passes over the steps of a schedule that save reading and writing memory.

/// @brief What all of them need.
struct StorePass {
  const Known& known;
  const Rules& rules;
  const Passes& passes;
  Schedule& schedule;
};

/// @brief Pass `zero`: sums that start where memory holds 0 do not read it.
void find_zeros(const StorePass& pass);

/// @brief Pass `copy`: copies are not made if their readers can read the source.
/// @return The Dats that are read in place of a copy.
std::set<int> find_copies(const StorePass& pass);

/// @brief Pass `drop`: values that are overwritten before they are seen are not stored.
/// @param[in] kept Dats that must be stored.
void drop(const StorePass& pass, const std::set<int>& kept);

/// @brief True if the step does nothing with a Global but sum over all items.
[[nodiscard]] bool only_adds_up(const Known& known, const Step& step, int data);

}  // namespace op2::chain
