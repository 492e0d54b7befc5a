// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "chain/schedule.hpp"

namespace op2::chain {

/// @brief The entries of a chain, and facts about them that several passes ask for.
///
/// Loops are named by their number in the chain, arguments by their place in the loop. The chain
/// must outlive this object.
class Known {
 public:
  /// @param[in] chain See schedule().
  /// @param[in] pinned See schedule().
  Known(const std::vector<Entry>& chain, const std::vector<int>& pinned);

  const std::vector<Entry>& entries;
  const std::set<int> pinned;           ///< Dats without a second buffer
  int n_aliases = 0;                    ///< upper bound of all numbers of Dats and memory
  std::map<int, std::set<int>> shapes;  ///< [memory] Dats in it

  [[nodiscard]] const std::vector<ir::Operand>& args_of(std::size_t loop) const {
    return entries[loop].loop.args;
  }
  /// @brief True for an action: an entry without a kernel.
  [[nodiscard]] bool is_action(std::size_t loop) const {
    return entries[loop].loop.members.empty();
  }
  /// @brief True if one argument of the loop, and one Dat of the chain, lies in this memory.
  [[nodiscard]] bool is_alone(std::size_t loop, const ir::Alias& alias) const;
  /// @brief True if all of the Dat is written, and by this argument alone.
  [[nodiscard]] bool is_own(std::size_t loop, std::size_t arg) const;
  /// @brief True if this argument alone may change all of the Dat, and reads the old values.
  [[nodiscard]] bool is_changed(std::size_t loop, std::size_t arg) const;
  /// @brief True if the loop visits another Set and adds through a Map to this one.
  [[nodiscard]] bool adds_to(std::size_t loop, int set) const;
  /// @brief True if the loop writes this Dat.
  [[nodiscard]] bool writes_to(std::size_t loop, int data) const;
  /// @brief The Set whose items the loop visits when it is inverted.
  [[nodiscard]] int target_set(std::size_t loop) const;

 private:
  // Answers that look at the kernel, which takes long.
  mutable std::vector<std::vector<std::optional<bool>>> defines_;  // [loop][arg]
  mutable std::vector<std::optional<int>> target_sets_;            // [loop]
};

/// @brief The values that an argument refers to.
[[nodiscard]] ir::Alias& alias_in(ir::Arg& arg);

}  // namespace op2::chain
