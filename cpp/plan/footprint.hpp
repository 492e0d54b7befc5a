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
      if (part.index_bytes == 4) {
        visit_part(part, static_cast<const std::int32_t*>(part.values), begin, end, f);
      } else {
        visit_part(part, static_cast<const std::int64_t*>(part.values), begin, end, f);
      }
    }
  }

 private:
  struct Part {
    const void* values;
    int index_bytes;
    int arity;
    int slot_begin;
    int slot_end;
    std::int64_t base;
    std::int64_t n_targets;
  };

  template <class Index, class F>
  void visit_part(const Part& part, const Index* values, std::int64_t begin, std::int64_t end,
                  const F& f) const {
    // A single unsigned comparison tests both ends of the range.
    const auto n_targets = static_cast<std::uint64_t>(part.n_targets);
    const auto take = [base = part.base, n_targets, &f](Index value) {
      const auto target = static_cast<std::int64_t>(value);
      if (static_cast<std::uint64_t>(target) < n_targets) f(base + target);
    };
    if (!subset_ && part.slot_end - part.slot_begin == part.arity) {
      for (std::int64_t i = begin * part.arity; i < end * part.arity; ++i) take(values[i]);
      return;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t row = subset_ ? subset_->at(k, 0) : k;
      for (int slot = part.slot_begin; slot < part.slot_end; ++slot) {
        take(values[row * part.arity + slot]);
      }
    }
  }

  MapPointer subset_;
  std::vector<Part> parts_;
  std::int64_t n_targets_ = 0;
};

}  // namespace op2::plan
