// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "chain/known.hpp"

namespace op2::chain {

/// @brief Loops that may become one function.
struct Candidate {
  std::vector<std::size_t> loops;
  std::vector<std::size_t> inverted;  ///< places among them
  std::vector<Renamed> renamed;
  std::string why;  ///< the reason against it; empty: it is allowed

  [[nodiscard]] bool inverts(std::size_t place) const {
    return std::ranges::find(inverted, place) != inverted.end();
  }
};

/// @brief Which loops may become one function, and what must be renamed for it.
class Rules {
 public:
  Rules(const Known& known, const Passes& passes) : known_(known), passes_(passes) {}

  /// @brief The Set whose items the group visits.
  [[nodiscard]] int set_of(const Candidate& group) const;
  /// @brief The group and one more loop after it, or the reason why not.
  [[nodiscard]] Candidate with(const Candidate& group, std::size_t loop) const;
  /// @brief A group that visits targets and one more loop that adds to them, in the order of the
  /// chain.
  [[nodiscard]] Candidate with_inverted(const Candidate& group, std::size_t loop) const;
  /// @brief The group with other loops; those that were inverted stay so.
  [[nodiscard]] Candidate regrouped(const Candidate& group,
                                    const std::vector<std::size_t>& loops) const;
  /// @brief The loops as they would be run: inverted, and with second buffers.
  [[nodiscard]] std::vector<ir::Loop> members_of(const Candidate& group) const;

 private:
  /// A reason that needs no dependences: Sets, lanes, inversion.
  std::string why_not_together(const Candidate& group, std::size_t loop) const;
  /// A member that gains from lanes keeps them: all members must be able to have them.
  std::string why_not_on_lanes(const Candidate& group) const;
  /// All inverted members must be able to be inverted, and one must be worth it alone.
  std::string why_not_inverted(const Candidate& group) const;
  /// Rename member after member, as if they had been placed one by one.
  void rename_all(Candidate& group) const;
  void rename_and_check(Candidate& group) const;
  /// The last member uses the second buffers that members before it write.
  void follow_renamed(Candidate& group) const;
  /// Give a second buffer to each Dat that the last member writes or changes completely and that
  /// members before it read through Maps. Returns true if there is one.
  bool rename_in(Candidate& group) const;
  std::set<int> renamed_before(const Candidate& group) const;
  /// True if a member before the last one reads the Dat through a Map.
  bool is_reached_elsewhere(const Candidate& group, int data) const;

  const Known& known_;
  const Passes passes_;
};

inline constexpr const char* is_switched_off = "the pass is switched off";

}  // namespace op2::chain
