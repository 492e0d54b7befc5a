// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/images.hpp"

#include <charconv>
#include <string_view>

namespace op2::runtime::cuda {
namespace {

/// 86 of "sm_86"; -1 of anything else.
int number_of(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  if (!name.starts_with(prefix)) return -1;
  int number = -1;
  const char* end = name.data() + name.size();
  const auto [rest, failure] = std::from_chars(name.data() + prefix.size(), end, number);
  return failure == std::errc() && rest == end ? number : -1;
}

}  // namespace

std::optional<std::size_t> fitting_image(const std::string& capability,
                                         const std::vector<std::string>& targets) {
  const int gpu = number_of(capability);
  int best = -1;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const int target = number_of(targets[i]);
    if (target < 0 || target / 10 != gpu / 10 || target > gpu || target <= best) continue;
    best = target;
    found = i;
  }
  return found;
}

}  // namespace op2::runtime::cuda
