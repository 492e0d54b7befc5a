// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "kir/verify.hpp"
#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using kir::Update;

kir::Rows rows_through(int arity, int dim) {
  return {DType::float64, dim, arity, "x", kir::MapRows{"x_map", kir::name("n")}};
}

std::string expanded(kir::Stmt stmt) {
  kir::Module module;
  module.launch = expand({std::move(stmt)}, {});
  EXPECT_TRUE(kir::is_expanded(module));
  return kir::dump(module);
}

std::string expanded(kir::Block block) {
  kir::Module module;
  module.launch = expand(std::move(block), {});
  return kir::dump(module);
}

TEST(Expand, AGatherIsOneStatementAScalarBehindAnOffsetToEachRow) {
  EXPECT_EQ(expanded(kir::Stmt{kir::Gather{"p", rows_through(2, 2)}}),
            "launch ()\n"
            "  decl const int64 p_from0 = (long(x_map[(n * 2)]) * 2)\n"
            "  p[0] = x[p_from0]\n"
            "  p[1] = x[(p_from0 + 1)]\n"
            "  decl const int64 p_from1 = (long(x_map[((n * 2) + 1)]) * 2)\n"
            "  p[2] = x[p_from1]\n"
            "  p[3] = x[(p_from1 + 1)]\n");
}

TEST(Expand, WhereALoopAlsoScattersRowsAreBehindPointers) {
  const kir::Scatter scatter{"r", rows_through(1, 1), Update::add, kir::Sync::none};
  EXPECT_EQ(expanded(kir::Block{{kir::Gather{"p", rows_through(1, 2)}}, {scatter}}),
            "launch ()\n"
            "  decl const float64* p_from0 = &x[(long(x_map[n]) * 2)]\n"
            "  p[0] = p_from0[0]\n"
            "  p[1] = p_from0[1]\n"
            "  decl float64* r_to0 = &x[long(x_map[n])]\n"
            "  r_to0[0] += r[0]\n");
}

TEST(Expand, LongRowsStayLoops) {
  EXPECT_EQ(expanded(kir::Stmt{kir::Gather{"p", rows_through(5, 100)}}),
            "launch ()\n"
            "  for serial i in [0, 5)\n"
            "    decl const int64 p_from = (long(x_map[((n * 5) + i)]) * 100)\n"
            "    for serial c in [0, 100)\n"
            "      p[((i * 100) + c)] = x[(p_from + c)]\n");
}

TEST(Expand, RowsWithoutComponentsMoveNothing) {
  EXPECT_EQ(expanded(kir::Stmt{kir::Gather{"p", rows_through(3, 0)}}), "launch ()\n");
  EXPECT_EQ(expanded(kir::Stmt{
                kir::Scatter{"p", rows_through(100, 0), kir::Update::add, kir::Sync::none}}),
            "launch ()\n");
}

/// A scatter of one scalar, without the line that declares `p_to0`.
std::string scattered(Update update, kir::Sync sync) {
  const std::string text = expanded(kir::Stmt{kir::Scatter{"p", rows_through(1, 1), update, sync}});
  const std::string row = "launch ()\n  decl float64* p_to0 = &x[long(x_map[n])]\n";
  EXPECT_TRUE(text.starts_with(row)) << text;
  return text.substr(row.size());
}

TEST(Expand, AScatterUpdates) {
  EXPECT_EQ(scattered(Update::set, kir::Sync::none), "  p_to0[0] = p[0]\n");
  EXPECT_EQ(scattered(Update::add, kir::Sync::none), "  p_to0[0] += p[0]\n");
}

TEST(Expand, ExtremaCompareValueFirstSoThatNansNeverEnter) {
  EXPECT_EQ(scattered(Update::min, kir::Sync::none),
            "  if (p[0] < p_to0[0])\n"
            "    p_to0[0] = p[0]\n");
  EXPECT_EQ(expanded({kir::Assign{kir::name("a"), Update::max, kir::name("b")}}),
            "launch ()\n"
            "  if (a < b)\n"
            "    a = b\n");
}

TEST(Expand, AtomicScattersKeepTheirUpdate) {
  EXPECT_EQ(scattered(Update::max, kir::Sync::atomic), "  atomic p_to0[0] max= p[0]\n");
}

TEST(Expand, ReachesEveryNestedBlock) {
  const kir::Block inner{{kir::Assign{kir::name("a"), Update::min, kir::name("b")}}};
  const kir::Block block =
      expand({{kir::Region{inner}},
              {kir::If{kir::name("c"), inner}},
              {kir::For{kir::Axis::thread, "k", kir::integer(0), kir::integer(2), inner}}},
             {});
  kir::Module module;
  module.launch = block;
  EXPECT_TRUE(kir::is_expanded(module));
  EXPECT_EQ(testing::count<kir::If>(block), 4);
  EXPECT_EQ(std::get<kir::For>(block[2].node).axis, kir::Axis::thread);
}

TEST(Expand, LeavesTheRestAsItIs) {
  const kir::Block block{{kir::Decl{{}, "a", 0, {}}},
                         {kir::CallUser{{kir::name("a")}}},
                         {kir::Call{"wrap", {}}},
                         {kir::Atomic{DType::int32, kir::name("a"), Update::add, kir::name("b")}},
                         {kir::Assign{kir::name("a"), Update::add, kir::name("b")}}};
  EXPECT_EQ(expand(block, {}), block);
}

/// `for (index = begin; index < begin + n; ++index) body`
kir::Stmt steps(const std::string& index, int begin, int n, kir::Block body) {
  return {kir::For{kir::Axis::serial, index, kir::integer(begin), kir::integer(begin + n),
                   std::move(body)}};
}

kir::Stmt decl_of(const std::string& name, kir::Expr value) {
  return {kir::Decl{{DType::int64, true, false}, name, 0, {std::move(value)}}};
}

TEST(Expand, ACopyIsALoopOverComponents) {
  const kir::Expr target = kir::element("y", kir::name("n") * kir::integer(2) + kir::name("c"));
  const kir::Expr value = kir::element("p", kir::name("c"));
  const auto copied = [&](int n, Update update) {
    return expanded(kir::Stmt{kir::Copy{n, target, update, value}});
  };
  EXPECT_EQ(copied(2, Update::add),
            "launch ()\n"
            "  for serial c in [0, 2)\n"
            "    y[((n * 2) + c)] += p[c]\n");
  EXPECT_EQ(copied(2, Update::min),
            "launch ()\n"
            "  for serial c in [0, 2)\n"
            "    if (p[c] < y[((n * 2) + c)])\n"
            "      y[((n * 2) + c)] = p[c]\n");
  EXPECT_EQ(copied(1, Update::set), "launch ()\n  y[(n * 2)] = p[0]\n");
  const kir::Block block = expand({{kir::Copy{2, target, Update::set, value}, "Why."}}, {});
  EXPECT_EQ(block.front().comment, "Why.");
}

TEST(Expand, ALoopOfOneStepIsItsBody) {
  const kir::Expr at = kir::name("c") * kir::integer(8) + kir::name("i");
  kir::Stmt set{kir::Assign{kir::element("y", at), Update::set, kir::name("c")}};
  EXPECT_EQ(expanded(steps("i", 2, 1, {steps("c", 0, 1, {set})})),
            "launch ()\n"
            "  y[2] = 0\n");
  EXPECT_TRUE(testing::contains(expanded(steps("i", 0, 2, {set})), "for serial i in [0, 2)\n"));
}

TEST(Expand, WhatSuchBodiesDeclareGetsNamesOfItsOwn) {
  const auto step = [](int begin) {
    return steps("i", begin, 1,
                 {decl_of("t", kir::name("i") * kir::name("n")),
                  {kir::Assign{kir::element("y", kir::name("i")), Update::add, kir::name("t")}}});
  };
  EXPECT_EQ(expanded({decl_of("t", kir::name("n")), step(3), steps("k", 0, 2, {step(4)}), step(5)}),
            "launch ()\n"
            "  decl const int64 t = n\n"
            "  decl const int64 t2 = (3 * n)\n"
            "  y[3] += t2\n"
            "  for serial k in [0, 2)\n"
            "    decl const int64 t3 = (4 * n)\n"
            "    y[4] += t3\n"
            "  decl const int64 t3 = (5 * n)\n"
            "  y[5] += t3\n");
}

TEST(Expand, AStepSharedByLanesStaysALoop) {
  kir::Stmt stmt{kir::Assign{kir::element("y", kir::name("i")), Update::set, kir::integer(0)}};
  EXPECT_TRUE(testing::contains(
      expanded({kir::For{kir::Axis::lane, "i", kir::integer(0), kir::integer(1), {stmt}}}),
      "for lane i in [0, 1)"));
}

TEST(Expand, CommentsStayWithTheFirstStatement) {
  kir::Stmt loop = steps("c", 0, 1, {{kir::Gather{"p", rows_through(1, 1)}}});
  loop.comment = "what it does";
  const kir::Block block = expand({std::move(loop)}, {});
  ASSERT_EQ(block.size(), 2U);
  EXPECT_EQ(block[0].comment, "what it does");
  EXPECT_EQ(block[1].comment, "");
}

}  // namespace
}  // namespace op2::lower
