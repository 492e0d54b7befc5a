// SPDX-License-Identifier: BSD-3-Clause
#include "libs/choice.hpp"

#include <utility>

namespace op2::libs {

Decision Choice::decide(const std::string& operation, const std::string& dtype, std::int64_t size,
                        const std::string& veto) {
  const std::string kind = operation + dtype;
  Decision found{veto.empty(), false};
  const std::lock_guard lock(mutex_);
  std::string why = veto.empty() ? "" : library_ + ": " + veto;
  if (veto.empty()) {
    const bool is_decided = measured_.is_decided(kind, size);
    found.is_measured = !is_decided;
    found.by_library = measured_.takes_library(kind, size);
    if (!found.by_library) why = library_ + (is_decided ? ": cost" : ": measured in turns");
  }
  ++events_[{operation, dtype, found.by_library, std::move(why)}];
  return found;
}

void Choice::note(const std::string& operation, const std::string& dtype, std::int64_t size,
                  bool by_library, std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  measured_.note(operation + dtype, size, by_library, nanoseconds);
}

std::vector<ChoiceEvent> Choice::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<ChoiceEvent> found;
  for (const auto& [what, n_calls] : events_) {
    const auto& [operation, dtype, by_library, why] = what;
    found.push_back({operation, dtype, by_library, why, n_calls});
  }
  return found;
}

void Choice::clear_events() {
  const std::lock_guard lock(mutex_);
  events_.clear();
}

}  // namespace op2::libs
