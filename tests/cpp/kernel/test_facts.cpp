// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/facts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Expr on_line(Expr expr, int line) {
  for (Expr& operand : expr.operands) operand = on_line(std::move(operand), line);
  expr.line = line;
  return expr;
}

Stmt at_line(int line, Expr expr) {
  return eval(on_line(std::move(expr), line), line);
}

TEST(ParameterFacts, SpeakOfAccesses) {
  ParameterFacts facts;
  EXPECT_TRUE(facts.commutes(Access::read));
  EXPECT_FALSE(facts.is_written());
  facts.lines = {0, 0, 7, 0, 0};  // an increment
  EXPECT_TRUE(facts.is_read());
  EXPECT_EQ(facts.first_write_line(), 7);
  EXPECT_TRUE(facts.commutes(Access::inc));
  EXPECT_FALSE(facts.commutes(Access::min));
  EXPECT_FALSE(facts.commutes(Access::rw));
  EXPECT_EQ(facts.foreign_read_line(Access::inc), 0);
  EXPECT_EQ(facts.foreign_read_line(Access::max), 7);
  facts.lines = {9, 5, 7, 0, 0};
  EXPECT_EQ(facts.first_write_line(), 5);
  EXPECT_EQ(facts.foreign_read_line(Access::inc), 9);
  EXPECT_FALSE(facts.commutes(Access::inc));
}

TEST(KernelFacts, NoteTheFirstLineOfEachUse) {
  const KernelFacts facts = kernel_facts(kernel_with(Body{
      at_line(2, update(BinaryOp::add, at("x", 0), at("y", 0))),
      at_line(3, assign(at("y", 1), lit("1.0"))), at_line(4, assign(at("y", 1), at("x", 0)))}));
  EXPECT_EQ(facts.parameters[0].lines, (std::array{4, 0, 2, 0, 0}));
  EXPECT_EQ(facts.parameters[1].lines, (std::array{2, 3, 0, 0, 0}));
}

TEST(KernelFacts, HelpersAreFollowed) {
  const FunctionDef helper =
      function("f", {{"to", pointer()}, {"from", pointer()}},
               {at_line(1, update(BinaryOp::add, at("to", 0), at("from", 0)))});
  const auto facts_with = [&helper](const char* first, const char* second) {
    return kernel_facts(
        kernel_with({helper, function("k", {{"x", pointer()}, {"y", pointer()}},
                                      {at_line(5, call("f", {name(first), name(second)}))})}));
  };
  const KernelFacts apart = facts_with("x", "y");
  EXPECT_TRUE(apart.parameters[0].commutes(Access::inc));
  EXPECT_FALSE(apart.parameters[1].is_written());
  const KernelFacts same = facts_with("x", "x");
  EXPECT_EQ(same.parameters[0].foreign_read_line(Access::inc), 1);
  EXPECT_FALSE(same.parameters[1].is_read());
}

TEST(KernelFacts, UnknownFunctionsMayDoAnything) {
  const KernelFacts facts = kernel_facts(kernel_with(Body{at_line(3, call("g", {name("x")}))}));
  EXPECT_FALSE(facts.is_pure());
  EXPECT_EQ(facts.unknown_functions, (std::vector<std::string>{"g"}));
  EXPECT_EQ(facts.parameters[0].lines, (std::array{3, 3, 0, 0, 0}));
  EXPECT_EQ(facts.parameters[1], ParameterFacts{});
}

TEST(KernelFacts, ShadowedNamesAreOtherVariables) {
  const KernelFacts facts = kernel_facts(kernel_with(Body{
      {.node = Block{{declare("x", array(number(), 2)), eval(assign(at("x", 0), lit("1.")))}}}}));
  EXPECT_FALSE(facts.parameters[0].is_written());
}

TEST(KernelFacts, GatherTheOtherPasses) {
  const KernelFacts facts = kernel_facts(kernel_with(
      Body{loop("i", 3, {eval(assign(at(name("x"), name("i")), mul(name("c"), lit("2."))))})}));
  EXPECT_EQ(facts.parameters[0].left.n_stored(), 3);
  EXPECT_EQ(facts.free_names, (std::vector<std::string>{"c"}));
  EXPECT_EQ(facts.n_operations, 0);  // the type of c is not known
}

}  // namespace
}  // namespace op2::kernel
