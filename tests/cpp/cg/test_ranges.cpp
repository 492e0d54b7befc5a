// SPDX-License-Identifier: BSD-3-Clause
#include "cg/ranges.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using namespace kernel::ast;

kernel::Expr as_whole(kernel::Expr value) {
  return cast(kernel::scalar(kernel::Base::int32), std::move(value));
}

kernel::Expr is(kernel::Expr value, const char* constant) {
  return binary(kernel::BinaryOp::equal, std::move(value), lit(constant));
}

kernel::Stmt adds() {
  return eval(assign(at("x", 0), lit("1.")));
}

/// How many numbers are hidden.
int n_hidden(kernel::Body body, bool expects = true) {
  kernel::KernelBody made = kernel::infer_types(kernel_with(std::move(body)));
  EXPECT_EQ(has_ranges_to_hide(made), expects);
  hide_ranges(made);
  int n = 0;
  kernel::for_each_expr_in(made.entry().body, [&n](const kernel::Expr& expr) {
    const auto* made_call = std::get_if<kernel::Call>(&expr.node);
    n += made_call != nullptr && made_call->function == hides_range;
  });
  return n;
}

TEST(Ranges, OfASwitchAreHidden) {
  kernel::Switch node{as_whole(at("y", 0)), {}};
  node.cases.push_back({lit("0"), {adds()}});
  EXPECT_EQ(n_hidden({{.node = node, .line = 1}}), 1);
}

kernel::Stmt up_to(kernel::Expr bound) {
  kernel::Stmt found = loop("j", 2, {adds()});
  auto& node = std::get_if<kernel::For>(&found.node)->condition;
  node = binary(kernel::BinaryOp::less, name("j"), std::move(bound));
  return found;
}

TEST(Ranges, OfBoundsOfLoopsAreHidden) {
  const auto low_bits = [](kernel::Expr value) {
    return binary(kernel::BinaryOp::bit_and, std::move(value), lit("3"));
  };
  EXPECT_EQ(n_hidden({up_to(low_bits(as_whole(at("y", 0))))}), 1);
  EXPECT_EQ(n_hidden({loop("i", 4, {up_to(low_bits(name("i")))})}), 1);
  // what loops count stays visible, or triangular loops would not be unrolled
  EXPECT_EQ(n_hidden({loop("i", 4, {up_to(name("i"))})}, false), 0);
  EXPECT_EQ(n_hidden({up_to(lit("2"))}, false), 0);
}

TEST(Ranges, OfSeveralConstantsAreHidden) {
  EXPECT_EQ(n_hidden({branch(is(as_whole(at("y", 0)), "0"), {adds()}),
                      branch(is(as_whole(at("y", 0)), "1"), {adds()})}),
            2);
  // `if (n)` compares with 0, `1 == n` is `n == 1`
  EXPECT_EQ(
      n_hidden({branch(as_whole(at("y", 0)), {adds()}),
                branch(binary(kernel::BinaryOp::equal, lit("1"), as_whole(at("y", 0))), {adds()})}),
      2);
  // inside of each other: the switch's value is itself decided by a number
  kernel::Switch node{ternary(is(as_whole(at("y", 0)), "0"), as_whole(at("y", 1)), lit("2")), {}};
  node.cases.push_back({lit("2"), {adds()}});
  EXPECT_EQ(n_hidden({{.node = node, .line = 1}, branch(is(as_whole(at("y", 1)), "3"), {adds()})}),
            3);
}

TEST(Ranges, OfOneConstantAndOfRealNumbersStay) {
  EXPECT_EQ(n_hidden({branch(is(as_whole(at("y", 0)), "0"), {adds()}),
                      branch(is(as_whole(at("y", 0)), "0"), {adds()})},
                     false),
            0);
  EXPECT_EQ(
      n_hidden({branch(less(at("y", 0), lit("0.")), {adds()}), branch(is(at("y", 0), "1"), {})},
               false),
      0);
}

// such a loop need not be unrolled
TEST(Ranges, OfWhatALoopCountsAreHidden) {
  const auto counted = [](kernel::Body body) { return loop("i", 4, std::move(body)); };
  EXPECT_EQ(n_hidden({counted(
                {branch(is(name("i"), "0"), {adds()}), branch(is(name("i"), "1"), {adds()})})}),
            2);
}

}  // namespace
}  // namespace op2::cg
