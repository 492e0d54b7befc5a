// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/lane_functions.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/error.hpp"
#include "kernel/known_functions.hpp"

namespace op2::kernel {
namespace {

constexpr std::array<std::string_view, 14> op_names{
    "blend",    "any",      "lookup", "table",  "pick",  "put",  "add",
    "subtract", "multiply", "divide", "negate", "equal", "join", "spread"};
constexpr std::string_view prefix = "op2_";

std::optional<Base> base_from_text(std::string_view text) {
  for (auto i = static_cast<int>(Base::int8); i <= static_cast<int>(Base::complex128); ++i) {
    const auto base = static_cast<Base>(i);
    if (name_of(base) == text) return base;
  }
  return std::nullopt;
}

}  // namespace

std::string name_of(const LaneFunction& function) {
  const std::string_view what = function.op == LaneOp::call
                                    ? std::string_view(function.function)
                                    : op_names[static_cast<std::size_t>(function.op)];
  return fmt::format("{}{}_{}x{}", prefix, what, name_of(function.base), function.lanes);
}

std::optional<LaneFunction> lane_function(std::string_view name) {
  const auto underscore = name.rfind('_');
  const auto cross = name.rfind('x');
  if (!name.starts_with(prefix) || underscore < prefix.size() || cross == name.npos ||
      underscore == name.npos || cross < underscore) {
    return std::nullopt;
  }
  LaneFunction function;
  const std::string_view digits = name.substr(cross + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), function.lanes);
  if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  const std::string_view type = name.substr(underscore + 1, cross - underscore - 1);
  const std::string_view what = name.substr(prefix.size(), underscore - prefix.size());
  const auto base = base_from_text(type);
  if (!base) return std::nullopt;
  function.base = *base;
  for (std::size_t i = 0; i < op_names.size(); ++i) {
    if (what != op_names[i]) continue;
    function.op = static_cast<LaneOp>(i);
    return function;
  }
  if (known_function(what) == nullptr) return std::nullopt;
  function.function = what;
  return function;
}

Base part_base(Base base) {
  if (base == Base::complex64) return Base::float32;
  return base == Base::complex128 ? Base::float64 : base;
}

Base mask_base(Base base) {
  const auto dtype = dtype_of(part_base(base));
  if (!dtype) throw InternalError("mask_base: not a scalar");
  switch (size_of(*dtype)) {
    case 1:
      return Base::int8;
    case 2:
      return Base::int16;
    case 4:
      return Base::int32;
    default:
      return Base::int64;
  }
}

}  // namespace op2::kernel
