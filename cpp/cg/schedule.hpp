// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cg/statement.hpp"

namespace op2::cg {

/// @brief Whether two locations can be the same storage.
[[nodiscard]] bool may_overlap(const Location& a, const Location& b);

/// @brief Place of a step within a group of merged statements, in the order they are grouped.
enum class Role {
  declare,
  fetch,
  arithm,
  store,
  fence,  ///< Nothing crosses it.
};

/// @brief One piece of generated text with what the scheduler must know of it.
struct Step {
  std::string text;  ///< Indented, ends with a newline.
  Role role = Role::fence;
  std::optional<Effects> effects = {};  ///< Unknown if absent.
  int cluster = 0;                      ///< Neighbours of one cluster are merged; 0 stays in place.
  Reorder reorder = Reorder::direct;
};

/// @brief Order in which the steps of one cluster are printed.
///
/// - `direct`: as given.
/// - `merge_fas`: stable by role between fences. Declarations come first, but one whose initialiser
///   reads what an earlier step writes, or may write, starts a new group; one whose reads are
///   unknown is a fence.
/// - `merge_fas_checked`: stable list schedule that keeps every read-after-write, write-after-read
///   and write-after-write pair in order. A step without effects is a fence.
///
/// @return Indices into @p steps, a permutation.
[[nodiscard]] std::vector<std::size_t> schedule(std::span<const Step> steps, Reorder reorder);

/// @brief Text of a whole block: each run of neighbours of one cluster in its scheduled order.
[[nodiscard]] std::string merged_text(std::span<const Step> steps);

}  // namespace op2::cg
