// SPDX-License-Identifier: BSD-3-Clause
#include "kir/nodes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace op2::kir {
namespace {

std::optional<std::int64_t> constant(const Expr& expr) {
  const auto* value = std::get_if<Integer>(&expr.node);
  return value == nullptr ? std::nullopt : std::optional(value->value);
}

Expr binary(BinaryOp op, Expr left, Expr right) {
  return {Binary{op, {std::move(left), std::move(right)}}};
}

}  // namespace

Expr integer(std::int64_t value) {
  return {Integer{value}};
}
Expr name(std::string text) {
  return {Name{std::move(text)}};
}
Expr element(std::string array, Expr subscript) {
  return {Element{std::move(array), {std::move(subscript)}}};
}
Expr offset(std::string array, Expr subscript) {
  if (constant(subscript) == 0) return name(std::move(array));
  return {Offset{std::move(array), {std::move(subscript)}}};
}
Expr builtin(Builtin value) {
  return {value};
}
Expr scratch_at(Expr bytes) {
  return {ScratchAt{{std::move(bytes)}}};
}
Expr widen(Expr narrow) {
  return {Widen{{std::move(narrow)}}};
}
Expr minimum(Expr left, Expr right) {
  return {Minimum{{std::move(left), std::move(right)}}};
}
Expr select(Expr condition, Expr then, Expr otherwise) {
  return {Select{{std::move(condition), std::move(then), std::move(otherwise)}}};
}
Expr shuffle(Expr value, Expr lane, int width) {
  return {Shuffle{{std::move(value), std::move(lane)}, width}};
}
Expr blocks_for(Expr items) {
  return {BlocksFor{{std::move(items)}}};
}
Expr lane_of(std::string array, Expr subscript, Expr lane) {
  return {LaneOf{std::move(array), {std::move(subscript), std::move(lane)}}};
}
Expr less(Expr left, Expr right) {
  return binary(BinaryOp::less, std::move(left), std::move(right));
}
Expr equal(Expr left, Expr right) {
  return binary(BinaryOp::equal, std::move(left), std::move(right));
}

Expr operator+(Expr left, Expr right) {
  if (constant(left) == 0) return right;
  if (constant(right) == 0) return left;
  if (constant(left) && constant(right)) return integer(*constant(left) + *constant(right));
  return binary(BinaryOp::add, std::move(left), std::move(right));
}

Expr operator-(Expr left, Expr right) {
  if (constant(right) == 0) return left;
  return binary(BinaryOp::subtract, std::move(left), std::move(right));
}

Expr operator*(Expr left, Expr right) {
  if (constant(left) == 0 || constant(right) == 1) return left;
  if (constant(right) == 0 || constant(left) == 1) return right;
  if (constant(left) && constant(right)) return integer(*constant(left) * *constant(right));
  return binary(BinaryOp::multiply, std::move(left), std::move(right));
}

Expr operator/(Expr left, Expr right) {
  if (constant(right) == 1) return left;
  return binary(BinaryOp::divide, std::move(left), std::move(right));
}

Expr operator%(Expr left, Expr right) {
  if (constant(right) == 1) return integer(0);
  return binary(BinaryOp::modulo, std::move(left), std::move(right));
}

std::span<const std::string_view> local_names() {
  static constexpr auto names = std::to_array<std::string_view>(
      {"begin",     "end",        "n",       "i",      "c",          "k",          "t",
       "o",         "slot",       "n_slots", "colour", "block",      "target",     "first",
       "last",      "context",    "argv",    "argc",   "scratch",    "lane",       "chunk",
       "round",     "own_colour", "entry",   "row",    "level",      "n_levels",   "layer",
       "position",  "column",     "part",    "next",   "lane_first", "lane_items", "group",
       "side",      "at",         "across",  "code",   "place",      "n_here",     "thread",
       "n_threads", "past"});
  return names;
}

std::vector<RowPiece> row_pieces(int dim, int lanes) {
  std::vector<RowPiece> pieces;
  for (int begin = 0; begin < dim; begin += pieces.back().size) {
    int size = 1;
    while (2 * size <= dim - begin && 2 * size <= lanes) size *= 2;
    pieces.push_back({begin, size});
  }
  return pieces;
}

bool has_kernels(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const Function& function) { return function.is_kernel; });
}

bool opens_team(const Module& module) {
  return std::ranges::any_of(module.launch, [](const Stmt& statement) {
    return std::holds_alternative<Region>(statement.node);
  });
}

const Function& function_of(const Module& module, const std::string& name) {
  const auto found = std::ranges::find(module.functions, name, &Function::name);
  if (found == module.functions.end()) {
    throw InternalError("call of unknown function '" + name + "'");
  }
  return *found;
}

}  // namespace op2::kir
