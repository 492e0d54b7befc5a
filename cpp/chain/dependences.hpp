// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/loop.hpp"

namespace op2::chain {

/// The order between loops of a chain, and the consequences for groups of loops. Sets of loops are
/// bits, so all questions about a chain of some hundred loops cost a few words each.

/// @brief Loops of a chain, by their numbers.
class LoopSet {
 public:
  /// @param[in] n_loops Of the chain.
  explicit LoopSet(std::size_t n_loops) : words_((n_loops + bits - 1) / bits, 0) {}

  void insert(std::size_t loop) { words_[loop / bits] |= std::uint64_t{1} << (loop % bits); }

  [[nodiscard]] bool contains(std::size_t loop) const {
    return (words_[loop / bits] >> (loop % bits) & 1) != 0;
  }

  void insert_all(const LoopSet& other);                     ///< and the loops of @p other
  void erase_all(const LoopSet& other);                      ///< no loop of @p other remains
  [[nodiscard]] bool meets(const LoopSet& other) const;      ///< Is a loop in both?
  [[nodiscard]] bool is_within(const LoopSet& other) const;  ///< Are all in @p other?
  [[nodiscard]] bool operator==(const LoopSet& other) const = default;

 private:
  static constexpr std::size_t bits = 64;
  std::vector<std::uint64_t> words_;
};

/// @brief Whether @p later must come after @p earlier: a value used by either is written by the
/// other. Sums into the same Dat may change places, and so may minima and maxima.
[[nodiscard]] bool depends(const ir::Loop& earlier, const ir::Loop& later);

/// @brief For each loop of a chain the earlier loops with depends(), found in a time that grows
/// with the number of arguments.
[[nodiscard]] std::vector<LoopSet> all_dependences(const std::vector<const ir::Loop*>& chain);

/// @brief Groups of loops, and the order between groups.
class Groups {
 public:
  /// @param[in] needs As all_dependences().
  explicit Groups(std::vector<LoopSet> needs) : needs_(std::move(needs)) {}

  [[nodiscard]] std::size_t size() const { return groups_.size(); }

  void add(const std::vector<std::size_t>& loops);                     ///< a new group, the last
  void put(std::size_t group, const std::vector<std::size_t>& loops);  ///< other loops for a group
  void erase(std::size_t group);  ///< later groups get the number before theirs

  /// @brief Must something in @p later come after something in another group?
  [[nodiscard]] bool depends(std::size_t earlier, std::size_t later) const {
    return groups_[later].needs.meets(groups_[earlier].loops);
  }

  /// @brief For each group whether another group must come between the group and a loop without a
  /// group.
  [[nodiscard]] std::vector<bool> lead_around_to_loop(std::size_t loop) const {
    return lead_around_to(needs_[loop]);
  }

  /// @brief Does a path of dependences lead from group to group over a third group?
  [[nodiscard]] bool leads_around(std::size_t from, std::size_t to) const {
    return lead_around_to(groups_[to].needs)[from];
  }

  /// @brief Can the groups run in sequence?
  [[nodiscard]] bool has_order() const;

  /// @brief All groups in an order allowed by dependences; of several candidates for the next place
  /// the first.
  [[nodiscard]] std::vector<std::size_t> in_order() const;

 private:
  struct Group {
    LoopSet loops;
    LoopSet needs;  // loops that must come before a member, and are no members
  };

  Group made_of(const std::vector<std::size_t>& loops) const;
  std::vector<bool> lead_around_to(const LoopSet& needed) const;

  std::vector<LoopSet> needs_;  // [loop]
  std::vector<Group> groups_;
};

}  // namespace op2::chain
