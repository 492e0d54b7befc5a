// SPDX-License-Identifier: BSD-3-Clause
#include "lower/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace op2::lower {
namespace {

// PoCL names files after kernels, and ends the program if the system does not take such a name.
constexpr std::size_t most_letters = 120;

}  // namespace

std::string Names::take(const std::string& wanted) {
  const std::string shortened = wanted.substr(0, most_letters);
  std::string name = shortened;
  for (int suffix = 1; std::find(used_.begin(), used_.end(), name) != used_.end(); ++suffix) {
    name = fmt::format("{}_{}", shortened, suffix);
  }
  used_.push_back(name);
  return name;
}

}  // namespace op2::lower
