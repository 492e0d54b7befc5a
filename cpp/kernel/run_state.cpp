// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/run_state.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace op2::kernel::run_state {
namespace {

Written intersection(const Written& left, const Written& right) {
  Written result(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::ranges::set_intersection(left[i], right[i], std::inserter(result[i], result[i].end()));
  }
  return result;
}

template <class Fact>
FactsOf<Fact> intersection(const FactsOf<Fact>& left, const FactsOf<Fact>& right) {
  FactsOf<Fact> result(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::ranges::set_intersection(
        left[i], right[i], std::inserter(result[i], result[i].end()),
        [](const auto& one, const auto& other) { return one.first < other.first; });
    std::erase_if(result[i],
                  [&](const auto& item) { return right[i].at(item.first) != item.second; });
  }
  return result;
}

}  // namespace

std::optional<Constant> constant_in(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return Constant(*whole);
  if (const auto* real = std::get_if<Real>(&value)) return Constant(*real);
  return std::nullopt;
}

Value followed(const std::optional<Constant>& constant) {
  if (!constant) return Unknown{.is_uniform = true};
  return std::visit([](const auto& known) -> Value { return known; }, *constant);
}

Reached joined(Reached left, Reached right) {
  if (!left) return right;
  if (!right) return left;
  left->written = intersection(left->written, right->written);
  left->constant = intersection(left->constant, right->constant);
  left->copied = intersection(left->copied, right->copied);
  left->unset.merge(right->unset);
  // a name that is not there is one at file scope
  std::erase_if(left->variables,
                [&right](const auto& item) { return !right->variables.contains(item.first); });
  for (auto& [name, value] : left->variables) {
    if (right->variables.at(name) != value) value = Unknown{};
  }
  return left;
}

}  // namespace op2::kernel::run_state
