// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "ir/kir_verify.hpp"
#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using kir::Update;

kir::Rows rows_through(int arity, int dim) {
  return {DType::float64, dim, arity, "x", "x_map", kir::name("n")};
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

}  // namespace
}  // namespace op2::lower
