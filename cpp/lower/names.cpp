// SPDX-License-Identifier: BSD-3-Clause
#include "lower/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace op2::lower {

std::string Names::take(const std::string& wanted) {
  std::string name = wanted;
  for (int suffix = 1; std::find(used_.begin(), used_.end(), name) != used_.end(); ++suffix) {
    name = fmt::format("{}_{}", wanted, suffix);
  }
  used_.push_back(name);
  return name;
}

}  // namespace op2::lower
