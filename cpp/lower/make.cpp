// SPDX-License-Identifier: BSD-3-Clause
#include "lower/make.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "kir/walk.hpp"

namespace op2::lower {

kir::Stmt index_decl(std::string name, kir::Expr value) {
  return {kir::Decl{index_type(), std::move(name), 0, {std::move(value)}}};
}

kir::Parameter number(std::string name) {
  return {std::move(name), {DType::int64}, false, kir::Role::local, 0};
}

kir::Stmt private_array(DType dtype, std::string name, int extent, bool starts_at_zero) {
  kir::Decl decl{{dtype}, std::move(name), std::max(extent, 1), {}};
  if (starts_at_zero) decl.value = kir::integer(0);
  return {std::move(decl)};
}

kir::Stmt serial(std::string index, int n, kir::Block body) {
  return {kir::For{kir::Axis::serial, std::move(index), kir::integer(0), kir::integer(n),
                   std::move(body)}};
}

kir::Stmt for_components(int n, kir::Block body) {
  return serial("c", n, std::move(body));
}

kir::Stmt for_components(int n, kir::Expr target, kir::Update update, kir::Expr value) {
  return {kir::Copy{n, std::move(target), update, std::move(value)}};
}

kir::Block for_arg(std::size_t arg, kir::Block block) {
  for (kir::Stmt& stmt : block) {
    std::visit(
        [arg](auto& node) {
          if constexpr (requires { node.arg; }) node.arg = static_cast<int>(arg);
        },
        stmt.node);
  }
  return block;
}

kir::Stmt folded(const std::string& data, const std::string& pack, const kir::VariableType& vectors,
                 int n, kir::Update update) {
  return {kir::Intrinsic{
      kir::Instruction::lane_fold, {kir::name(data), kir::name(pack)}, vectors, n, update}};
}

kir::Stmt converted_vectors(const std::string& to, const std::string& from,
                            const kir::VariableType& vectors, int n, DType dtype) {
  kir::Intrinsic convert{
      kir::Instruction::lane_convert, {kir::name(to), kir::name(from)}, vectors, n};
  convert.other = dtype;
  return {std::move(convert)};
}

kir::Block commented(std::string comment, kir::Block block) {
  if (!block.empty()) block.front().comment = std::move(comment);
  return block;
}

void append(kir::Block& out, kir::Block more) {
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

kir::Expr with(const kir::Expr& expr, const std::string& name, const kir::Expr& by) {
  return kir::map_expr(expr, [&](const kir::Expr& part) {
    const auto* variable = std::get_if<kir::Name>(&part.node);
    return variable != nullptr && variable->name == name ? std::optional(by) : std::nullopt;
  });
}

bool calls_kernel(const kir::Block& block) {
  return kir::any_stmt(block, [](const kir::Stmt& stmt) {
    return std::holds_alternative<kir::CallUser>(stmt.node);
  });
}

}  // namespace op2::lower
