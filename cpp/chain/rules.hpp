// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "chain/known.hpp"

namespace op2::chain {

/// @brief Candidates for a single function.
struct Candidate {
  std::vector<std::size_t> loops;
  std::vector<std::size_t> inverted;  ///< places among them
  std::vector<Renamed> renamed;
  std::string why;  ///< the reason against the group; empty: allowed

  [[nodiscard]] bool inverts(std::size_t place) const {
    return std::ranges::find(inverted, place) != inverted.end();
  }
};

/// @brief The rules for loops in a common function, and for the necessary renaming.
class Rules {
 public:
  Rules(const Known& known, const Passes& passes) : known_(known), passes_(passes) {}

  /// @brief The Set whose items the group visits.
  [[nodiscard]] int set_of(const Candidate& group) const;
  /// @brief The group and a further loop behind, or the reason against the loop.
  [[nodiscard]] Candidate with(const Candidate& group, std::size_t loop) const;
  /// @brief A group over targets and a further loop with sums into the targets, in the order of the
  /// chain.
  [[nodiscard]] Candidate with_inverted(const Candidate& group, std::size_t loop) const;
  /// @brief The group with other loops; inverted loops stay inverted.
  [[nodiscard]] Candidate regrouped(const Candidate& group,
                                    const std::vector<std::size_t>& loops) const;
  /// @brief The loops as they would be run: inverted, and with second buffers.
  [[nodiscard]] std::vector<ir::Loop> members_of(const Candidate& group) const;

 private:
  /// A reason without dependences: Sets, lanes, inversion.
  std::string why_not_together(const Candidate& group, std::size_t loop) const;
  /// A member with a gain from lanes keeps the lanes: lanes must be possible for all members.
  std::string why_not_on_lanes(const Candidate& group) const;
  /// All inverted members must be invertible, and at least one member must be worth inverting
  /// alone.
  std::string why_not_inverted(const Candidate& group) const;
  /// Rename member after member, as if placed singly.
  void rename_all(Candidate& group) const;
  void rename_and_check(Candidate& group) const;
  /// The last member uses the second buffers written by members before.
  void follow_renamed(Candidate& group) const;
  /// Give a second buffer to each Dat written or changed completely by the last member and read
  /// through Maps by earlier members. Returns true if there is any.
  bool rename_in(Candidate& group) const;
  std::set<int> renamed_before(const Candidate& group) const;
  /// True if a member before the last reads the Dat through a Map.
  bool is_reached_elsewhere(const Candidate& group, int data) const;

  const Known& known_;
  const Passes passes_;
};

inline constexpr const char* is_switched_off = "the pass is switched off";

}  // namespace op2::chain
