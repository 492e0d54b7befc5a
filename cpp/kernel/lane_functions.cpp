// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/lane_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "kernel/known_functions.hpp"

namespace op2::kernel {
namespace {

constexpr std::array<std::string_view, 15> op_names{
    "blend",    "any",    "lookup", "table", "pick", "put",    "add",  "subtract",
    "multiply", "divide", "negate", "equal", "join", "spread", "power"};
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
  const std::string_view exponent =
      function.op == LaneOp::power ? std::string_view(function.function) : std::string_view();
  return fmt::format("{}{}{}_{}x{}", prefix, what, exponent, name_of(function.base),
                     function.lanes);
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
    const auto op = static_cast<LaneOp>(i);
    const bool has_exponent = op == LaneOp::power && what.starts_with(op_names[i]);
    if (what != op_names[i] && !has_exponent) continue;
    function.op = op;
    if (has_exponent) function.function = what.substr(op_names[i].size());
    return function;
  }
  if (known_function(what) == nullptr) return std::nullopt;
  function.function = what;
  return function;
}

std::string power_of_call(const Expr& expr) {
  constexpr std::array<std::string_view, 4> names{"pow", "powf", "__builtin_pow", "__builtin_powf"};
  const auto* call = std::get_if<Call>(&expr.node);
  if (call == nullptr || std::ranges::find(names, call->function) == names.end()) return "";
  const auto* exponent = std::get_if<Literal>(&expr.operands.at(1).node);
  if (exponent == nullptr) return "";
  const std::string& text = exponent->spelling;
  double value = 0;
  const char* const end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view suffix = std::string_view(text).substr(end - text.data());
  const bool has_few = value == 2 || value == 3 || value == 4;
  return has_few && (suffix.empty() || suffix == "f" || suffix == "F") ? fmt::format("{}", value)
                                                                       : "";
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
