// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "base/access.hpp"

namespace op2::graph {

/// Nodes in an order where each node stands behind the nodes to wait for, and their uses of memory.

/// @brief A node's use of memory. Two numbers are equal if the memory may overlap.
struct Use {
  int memory = 0;
  Access access = Access::read;
  bool operator==(const Use&) const = default;
};

struct Node {
  std::vector<std::size_t> after;  ///< earlier nodes in the list to wait for
  std::vector<Use> uses;
};

/// @brief Two nodes without an order, although one writes memory used by the other.
struct Conflict {
  std::size_t earlier;
  std::size_t later;
  int memory;
  bool operator==(const Conflict&) const = default;
};

/// @brief Whether the results depend on the order of the two. Sums into the same values may change
/// places, and so may minima and maxima.
[[nodiscard]] bool conflicts(Access left, Access right);

/// @brief All pairs in conflict without a path between them, by `later`, then `earlier`; a pair
/// with several common places is listed once, with the first place.
/// @throws UsageError if a node waits for a later node.
[[nodiscard]] std::vector<Conflict> races(const std::vector<Node>& nodes);

/// @brief The edges that give all nodes the effect of running in sequence: for each of [nodes] the
/// nodes to wait for, ascending. Of the users of the same memory only the last ones are listed,
/// besides the nodes in `after`.
[[nodiscard]] std::vector<std::vector<std::size_t>> dependences(const std::vector<Node>& nodes);

/// @brief [nodes] the length of the longest path to each.
/// @throws UsageError as races().
[[nodiscard]] std::vector<std::size_t> levels(const std::vector<Node>& nodes);

}  // namespace op2::graph
