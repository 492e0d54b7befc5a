// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

/// `a[n * i + j]`
Expr entry(const std::string& array, int n, const std::string& i, const std::string& j) {
  return at(name(array), add(mul(lit(std::to_string(n)), name(i)), name(j)));
}

/// Whether the loop over `j`, the first one in a function that also declares arrays, is along rows.
bool is_row(Stmt over_j, const RowLimits& limits = {.steps = 6}) {
  const KernelBody body =
      kernel_with({function("k", {{"a", pointer()}, {"b", pointer()}, {"c", pointer()}},
                            {declare("row", array(number(), 8)),
                             declare("large", array(number(), 256)), declare("s", number()),
                             declare("table", array(array(number(), 8), 8)), std::move(over_j)})});
  return runs_along_rows(std::get<For>(body.entry().body.back().node), {}, limits);
}

bool is_row_of(Body body) {
  return is_row(loop("j", 8, std::move(body)));
}

const Expr product = mul(entry("a", 8, "i", "k"), entry("b", 8, "k", "j"));

TEST(RowLoops, SumInAnArrayOfTheirOwn) {
  EXPECT_TRUE(is_row_of({eval(update(BinaryOp::add, at(name("row"), name("j")), product))}));
  EXPECT_FALSE(is_row_of({eval(update(BinaryOp::add, at(name("large"), name("j")), product))}));
  EXPECT_FALSE(is_row_of({eval(update(BinaryOp::add, entry("c", 8, "i", "j"), product))}));
}

TEST(RowLoops, StoreWhatALoopInsideHasSummed) {
  const Stmt sum = loop("k", 8, {eval(update(BinaryOp::add, name("t"), product))});
  const Stmt start = declare("t", number(), lit("0.0"));
  EXPECT_TRUE(is_row_of({start, sum, eval(assign(entry("c", 8, "i", "j"), name("t")))}));
  // but not where it depends on this one, or sums in a variable that is not the loop's own
  Stmt triangle = sum;
  std::get<For>(triangle.node).condition = less(name("k"), name("j"));
  EXPECT_FALSE(is_row_of({start, triangle, eval(assign(entry("c", 8, "i", "j"), name("t")))}));
  EXPECT_FALSE(is_row_of({eval(update(BinaryOp::add, name("s"), product))}));
}

TEST(RowLoops, AccessesMoveByOneValueOrNone) {
  const auto stores = [](const Expr& value) {
    return is_row_of({eval(assign(at(name("c"), name("j")), mul(value, value)))});
  };
  EXPECT_TRUE(stores(entry("a", 8, "i", "j")));
  EXPECT_TRUE(stores(at(name("a"), name("i"))));
  EXPECT_FALSE(stores(entry("a", 8, "j", "i")));
  EXPECT_FALSE(stores(at(name("a"), mul(name("j"), name("j")))));
  EXPECT_FALSE(stores(at(name("c"), name("j"))));  // what is stored might be loaded again
  EXPECT_TRUE(stores(at(at(name("table"), name("i")), name("j"))));
  EXPECT_FALSE(stores(at(at(name("table"), name("j")), name("i"))));
  EXPECT_FALSE(is_row_of({eval(assign(entry("c", 8, "j", "i"), name("s")))}));
}

TEST(RowLoops, DoArithmeticAlone) {
  const Expr target = at(name("c"), name("j"));
  const Expr value = at(name("a"), name("j"));
  EXPECT_TRUE(is_row_of({eval(assign(target, add(value, lit("1.0"))))}));
  EXPECT_FALSE(is_row_of({eval(assign(target, call("exp", {value})))}));
  EXPECT_FALSE(is_row_of({branch(less(value, lit("0.0")), {eval(assign(target, value))})}));
  EXPECT_FALSE(
      is_row_of({eval(assign(target, ternary(less(value, lit("0.")), value, lit("0."))))}));
  EXPECT_FALSE(is_row_of(Body{}));
}

TEST(RowLoops, SumInArraysThatStayInRegisters) {
  const Stmt sums =
      loop("j", 8, {eval(update(BinaryOp::add, at(name("row"), name("j")), product))});
  EXPECT_TRUE(is_row(sums));
  EXPECT_TRUE(is_row(sums, {.steps = 6, .scalars = 8}));
  EXPECT_FALSE(is_row(sums, {.steps = 6, .scalars = 7}));
}

TEST(RowLoops, HaveConstantLength) {
  const Body body{eval(assign(at(name("c"), name("j")), at(name("a"), name("j"))))};
  EXPECT_TRUE(is_row(loop("j", 6, body)));
  EXPECT_FALSE(is_row(loop("j", 5, body)));
  Stmt unknown = loop("j", 8, body);
  std::get<For>(unknown.node).condition = less(name("j"), name("n"));
  EXPECT_FALSE(is_row(unknown));
  Stmt wide = loop("j", 16, body);
  std::get<For>(wide.node).step = update(BinaryOp::add, name("j"), lit("2"));
  EXPECT_FALSE(is_row(wide));
}

TEST(RowLoops, InnerLoopsAreSeen) {
  EXPECT_FALSE(has_inner_loop(std::get<For>(loop("i", 3, {}).node)));
  EXPECT_TRUE(has_inner_loop(std::get<For>(loop("i", 3, {loop("j", 3, {})}).node)));
}

}  // namespace
}  // namespace op2::kernel
