// SPDX-License-Identifier: BSD-3-Clause
#include "libs/measured.hpp"

#include <bit>

namespace op2::libs {

Measured::Key Measured::key(const std::string& kind, std::int64_t size) {
  return {kind, std::bit_width(static_cast<std::uint64_t>(size))};
}

bool Measured::is_decided(const std::string& kind, std::int64_t size) const {
  const auto found = ways_.find(key(kind, size));
  if (found == ways_.end()) return false;
  return found->second.own.n_calls > n_trials && found->second.library.n_calls > n_trials;
}

bool Measured::takes_library(const std::string& kind, std::int64_t size) const {
  const auto found = ways_.find(key(kind, size));
  if (found == ways_.end()) return true;
  const auto& [own, library] = found->second;
  if (!is_decided(kind, size)) return library.n_calls <= own.n_calls;
  return library.least < own.least;
}

void Measured::note(const std::string& kind, std::int64_t size, bool was_library,
                    std::int64_t nanoseconds) {
  Ways& both = ways_[key(kind, size)];
  Way& way = was_library ? both.library : both.own;
  if (way.n_calls > n_trials) return;  // it is decided, or will be by the other
  const bool is_first_that_counts = ++way.n_calls == 2;
  if (is_first_that_counts || (way.n_calls > 2 && nanoseconds < way.least)) way.least = nanoseconds;
}

}  // namespace op2::libs
