// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "base/access.hpp"

namespace op2::graph {

/// Nodes in an order in which each comes behind those that it waits for, and what they do to
/// memory.

/// @brief What a node does to memory. Two numbers are equal if the memory may overlap.
struct Use {
  int memory = 0;
  Access access = Access::read;
  bool operator==(const Use&) const = default;
};

struct Node {
  std::vector<std::size_t> after;  ///< nodes before it in the list that it waits for
  std::vector<Use> uses;
};

/// @brief Two nodes that nothing orders, although one writes what the other one uses.
struct Conflict {
  std::size_t earlier;
  std::size_t later;
  int memory;
  bool operator==(const Conflict&) const = default;
};

/// @brief Whether the results depend on which one is first. Sums into the same values may change
/// places, and so may minima and maxima.
[[nodiscard]] bool conflicts(Access left, Access right);

/// @brief All pairs that conflict and that no path orders, by `later`, then `earlier`; a pair that
/// meets in several places is there once, with the first of them.
/// @throws UsageError if a node waits for one that does not come before it.
[[nodiscard]] std::vector<Conflict> races(const std::vector<Node>& nodes);

/// @brief The edges that make the nodes do the same as one after the other: [nodes] those that each
/// must wait for, ascending. Of who used the same memory only the last ones are among them, and
/// what is in `after` already.
[[nodiscard]] std::vector<std::vector<std::size_t>> dependences(const std::vector<Node>& nodes);

/// @brief [nodes] the length of the longest path that leads to each.
/// @throws UsageError as races().
[[nodiscard]] std::vector<std::size_t> levels(const std::vector<Node>& nodes);

}  // namespace op2::graph
