// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chain/dependences.hpp"
#include "chain/rules.hpp"

namespace op2::chain {

/// Passes that decide which loops of a chain become one function.

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
  /// @brief Record that a pass was applied to some loops and one more, or why it was not.
  void note(std::string pass, std::vector<std::size_t> loops, std::size_t loop, std::string why);
  /// @brief Record that a loop joined loops of an earlier repetition, if it did.
  void note_rotated(const std::vector<std::size_t>& loops, std::size_t loop);
  /// @brief True if one of the loops belongs to another repetition than this one.
  [[nodiscard]] bool is_of_other_repetition(const std::vector<std::size_t>& loops,
                                            std::size_t loop) const;
  /// @brief The first of the last groups that are asked. A loop asks a bounded number of groups,
  /// so that the work grows with the length of the chain; older data has left the caches.
  [[nodiscard]] std::size_t oldest_asked() const;
};

/// @brief Number of groups before a loop that it may join.
inline constexpr std::size_t most_groups_asked = 16;

/// @brief Pass `fuse` and `invert`: each loop joins the allowed group that moves most bytes.
void place(Grouping& grouping);

/// @brief Pass `fuse` again: a loop moves to another group if items then move fewer bytes. Loops
/// were placed before later ones were known.
void regroup(Grouping& grouping);

}  // namespace op2::chain
