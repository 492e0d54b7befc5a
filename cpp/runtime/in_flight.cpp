// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace op2::runtime {

void InFlight::add(const std::string& loop) {
  // The launches of one loop follow each other.
  if (n_added_ > 0 && names_[(n_added_ - 1) % most] == loop) return;
  names_[n_added_ % most] = loop;
  ++n_added_;
}

void InFlight::clear() {
  n_added_ = 0;
}

std::vector<std::string> InFlight::names() const {
  std::vector<std::string> found;
  for (std::size_t i = n_added_ - std::min(n_added_, most); i < n_added_; ++i) {
    const std::string quoted = fmt::format("'{}'", names_[i % most]);
    if (std::ranges::find(found, quoted) == found.end()) found.push_back(quoted);
  }
  return found;
}

bool InFlight::is_certain() const {
  return n_added_ <= most && names().size() == 1;
}

std::string InFlight::blame() const {
  const std::vector<std::string> found = names();
  if (found.empty()) return "no par_loop";
  if (is_certain()) return fmt::format("par_loop {}", found.front());
  return fmt::format("one of the par_loops {}{}", fmt::join(found, ", "),
                     n_added_ > most ? " or one before them" : "");
}

}  // namespace op2::runtime
