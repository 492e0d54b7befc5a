// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chain/dependences.hpp"
#include "chain/rules.hpp"

namespace op2::chain {

/// Passes that decide on the loops of each function.

/// @brief The groups so far, their order, and the decisions made.
///
/// `groups` and `order` have the same groups in the same places.
class Grouping {
 public:
  Grouping(const Known& known, const Passes& passes);

  const Known& known;
  const Passes passes;
  const Rules rules;
  std::vector<Candidate> groups;
  Groups order;
  std::vector<Decision> decisions;

  void add(std::size_t loop);
  void put(std::size_t group, Candidate found);
  void erase(std::size_t group);
  /// @brief Record the application of a pass to some loops and a further loop, or the reason
  /// against the pass.
  void note(std::string pass, std::vector<std::size_t> loops, std::size_t loop, std::string why);
  /// @brief Record a loop among loops of an earlier repetition; other loops are not recorded.
  void note_rotated(const std::vector<std::size_t>& loops, std::size_t loop);
  /// @brief True if any of @p loops belongs to another repetition than @p loop.
  [[nodiscard]] bool is_of_other_repetition(const std::vector<std::size_t>& loops,
                                            std::size_t loop) const;
  /// @brief The first of the last groups to ask. A loop asks a bounded number of groups, so the
  /// work grows with the length of the chain only; older data has left the caches.
  [[nodiscard]] std::size_t oldest_asked() const;
};

/// @brief Number of earlier groups open to a loop.
inline constexpr std::size_t most_groups_asked = 16;

/// @brief Pass `fuse` and `invert`: each loop joins the allowed group that moves most bytes.
void place(Grouping& grouping);

/// @brief Pass `fuse` again: a loop moves to another group if items then move fewer bytes. Loops
/// were placed before later ones were known.
void regroup(Grouping& grouping);

}  // namespace op2::chain
