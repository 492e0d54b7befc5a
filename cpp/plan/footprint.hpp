// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/conflict.hpp"

namespace op2::plan {

/// @brief Visits the conflicting targets of ranges of elements, in a single dense numbering.
///
/// The target sets of all conflict spaces are laid end to end: target t of a space with base b is b
/// + t. Entries outside the target set (negative ones) are skipped.
class Footprint {
 public:
  /// @param[in] conflicts As canonical() returns them.
  Footprint(const Elements& elements, const std::vector<Conflict>& conflicts);

  /// @brief Targets of all spaces together.
  [[nodiscard]] std::int64_t n_targets() const { return n_targets_; }

  /// @brief Call @p f(target) for every target of the elements at positions [begin, end).
  template <class F>
  void visit(std::int64_t begin, std::int64_t end, const F& f) const {
    for (const Part& part : parts_) {
      if (part.map->index_bytes() == 4) {
        visit_part(part, static_cast<const std::int32_t*>(part.map->values()), begin, end, f);
      } else {
        visit_part(part, static_cast<const std::int64_t*>(part.map->values()), begin, end, f);
      }
    }
  }

 private:
  struct Part {
    MapPointer map;
    int slot;  ///< or all_slots
    std::int64_t base;
  };

  template <class Index, class F>
  void visit_part(const Part& part, const Index* values, std::int64_t begin, std::int64_t end,
                  const F& f) const {
    // A single unsigned comparison tests both ends of the range.
    const mesh::MapTable& map = *part.map;
    const auto n_targets = static_cast<std::uint64_t>(map.n_targets());
    const auto take = [base = part.base, n_targets, &f](Index value) {
      const auto target = static_cast<std::int64_t>(value);
      if (static_cast<std::uint64_t>(target) < n_targets) f(base + target);
    };
    const auto take_rows = [&](std::int64_t first, std::int64_t last) {
      const std::int64_t stop = map.begin(last);
      for (std::int64_t i = map.begin(first); i < stop; ++i) take(values[i]);
    };
    if (!subset_ && part.slot == all_slots) return take_rows(begin, end);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t row = subset_ ? subset_->at(k, 0) : k;
      if (part.slot == all_slots) {
        take_rows(row, row + 1);
      } else {
        take(values[map.begin(row) + part.slot]);
      }
    }
  }

  MapPointer subset_;
  std::vector<Part> parts_;
  std::int64_t n_targets_ = 0;
};

}  // namespace op2::plan
