// SPDX-License-Identifier: BSD-3-Clause
#include "cg/switches.hpp"

#include <gtest/gtest.h>

#include "../ir/ast.hpp"
#include "ir/kernel_types.hpp"

namespace op2::cg {
namespace {

using namespace ir::ast;

ir::Stmt choice(ir::Body first) {
  ir::Switch node{cast(ir::scalar(ir::Base::int32), at("y", 0)), {}};
  node.cases.push_back({lit("0"), std::move(first)});
  node.cases.push_back({std::nullopt, {eval(assign(at("x", 0), lit("1.")))}});
  return {.node = std::move(node), .line = 1};
}

ir::Stmt spelled_out(ir::Stmt stmt) {
  ir::KernelBody body = ir::infer_types(kernel({std::move(stmt)}));
  spell_out_switches(body);
  return body.entry().body.front();
}

TEST(Switches, AreRowsOfConditions) {
  const ir::Stmt made = spelled_out(choice({{.node = ir::Break{}, .line = 1}}));
  const auto* block = std::get_if<ir::Block>(&made.node);
  ASSERT_NE(block, nullptr);
  ASSERT_EQ(block->body.size(), 4);
  const auto& first = std::get<ir::If>(block->body[2].node);
  EXPECT_EQ(first.then_body.size(), 2);  // in, and out again
  const auto& second = std::get<ir::If>(block->body[3].node);
  EXPECT_EQ(second.then_body.size(), 2);  // in, and the assignment
}

TEST(Switches, ThoseLeftFromInsideStay) {
  const ir::Stmt leave = branch(less(at("y", 0), lit("0.")), {{.node = ir::Break{}, .line = 1}});
  EXPECT_TRUE(std::holds_alternative<ir::Switch>(spelled_out(choice({leave})).node));
  EXPECT_TRUE(std::holds_alternative<ir::Switch>(
      spelled_out(choice({declare("t", number(), lit("1."))})).node));
}

}  // namespace
}  // namespace op2::cg
