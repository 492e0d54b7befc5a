// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "chain/schedule.hpp"

namespace op2::chain {

/// @brief The entries of a chain, and facts about them for several passes.
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
  std::map<int, std::set<int>> shapes;  ///< [memory] Dats inside

  [[nodiscard]] const std::vector<ir::Operand>& args_of(std::size_t loop) const {
    return entries[loop].loop.args;
  }
  /// @brief True for an action: an entry without a kernel.
  [[nodiscard]] bool is_action(std::size_t loop) const {
    return entries[loop].loop.members.empty();
  }
  /// @brief True if a single argument of the loop, and a single Dat of the chain, lies in the
  /// memory.
  [[nodiscard]] bool is_alone(std::size_t loop, const ir::Alias& alias) const;
  /// @brief True if all of the Dat is written, and by the argument alone.
  [[nodiscard]] bool is_own(std::size_t loop, std::size_t arg) const;
  /// @brief True if the argument alone may change all of the Dat, and reads the old values.
  [[nodiscard]] bool is_changed(std::size_t loop, std::size_t arg) const;
  /// @brief True if the loop visits another Set and adds through a Map to @p set.
  [[nodiscard]] bool adds_to(std::size_t loop, int set) const;
  /// @brief True if the loop writes the Dat.
  [[nodiscard]] bool writes_to(std::size_t loop, int data) const;
  /// @brief The Set whose items the loop visits when inverted.
  [[nodiscard]] int target_set(std::size_t loop) const;

 private:
  // Slow answers, from the kernel.
  mutable std::vector<std::vector<std::optional<bool>>> defines_;  // [loop][arg]
  mutable std::vector<std::optional<int>> target_sets_;            // [loop]
};

}  // namespace op2::chain
