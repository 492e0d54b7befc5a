// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>

#include "chain/rules.hpp"

namespace op2::chain {

/// Passes over the steps of a schedule, to save reads and writes of memory.

/// @brief The common input of these passes.
struct StorePass {
  const Known& known;
  const Rules& rules;
  const Passes& passes;
  Schedule& schedule;
};

/// @brief Pass `zero`: sums do not read a 0 in memory.
void find_zeros(const StorePass& pass);

/// @brief Pass `copy`: copies are not made if their readers can read the source.
/// @return The Dats read in place of a copy.
std::set<int> find_copies(const StorePass& pass);

/// @brief Pass `drop`: values overwritten before any read are not stored.
/// @param[in] kept Dats with a necessary store.
void drop(const StorePass& pass, const std::set<int>& kept);

/// @brief True if the step does nothing with a Global but sum over all items.
[[nodiscard]] bool only_adds_up(const Known& known, const Step& step, int data);

}  // namespace op2::chain
