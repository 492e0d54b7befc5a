// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contractions.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kernel/cost.hpp"
#include "kernel/walk.hpp"
#include "sums.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

/// @brief The greatest number of tables in one product.
int most_tables(const KernelBody& body) {
  int most = 0;
  for_each_expr_in(body.entry().body, [&most](const Expr& expr) {
    int n = 0;
    for_each_expr(expr, [&n](const Expr& part) {
      const auto* found = std::get_if<Name>(&part.node);
      n += found != nullptr && found->name == "T" ? 1 : 0;
    });
    most = std::max(most, n);
  });
  return most;
}

TEST(Contracted, EvaluationsBecomeOneSumForEachDimension) {
  const KernelBody body = over_points(evaluation(product()));
  const auto made = contracted(body);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->done.n_sums, 1);
  EXPECT_EQ(made->done.before, n_operations(body));
  EXPECT_EQ(made->done.after, n_operations(made->body));
  // 5 * 4 sums of 4 products and 25 of 4, and an addition at each point, for 25 * 16 of three
  EXPECT_EQ(made->done.after, 2 * (20 * 4 + 25 * 4) + 25);
  EXPECT_EQ(most_tables(body), 2);
  EXPECT_EQ(most_tables(made->body), 1);
}

TEST(Contracted, EqualPartialSumsAreComputedOnce) {
  Body twice = evaluation(product());
  twice.insert(twice.begin() + 1, declare("t", number(), lit("0.0")));
  twice.push_back(
      over_functions({eval(update(BinaryOp::add, name("t"), mul(lit("2.0"), product())))}));
  twice.push_back(eval(update(BinaryOp::add, pair("y", 5, "p", "q"), name("t"))));
  const auto once = contracted(over_points(evaluation(product())));
  const auto both = contracted(over_points(twice));
  ASSERT_TRUE(once && both);
  EXPECT_EQ(both->done.n_sums, 2);
  EXPECT_EQ(both->done.after, once->done.after + 25 * 3);
}

TEST(Contracted, TransposedSumsAreAddedAfterTheLoopWithin) {
  const auto made = contracted(over_points({transposed(pair("x", 5, "p", "q"))}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->done.n_sums, 1);
  EXPECT_EQ(most_tables(made->body), 1);
  EXPECT_EQ(made->done.after, 2 * (5 * 4 * 5 + 5 * 16));
}

TEST(Contracted, TermsWithTheTablesOfAnotherAreAddedBefore) {
  const auto one = contracted(over_points({transposed(pair("x", 5, "p", "q"))}));
  const auto two =
      contracted(over_points({transposed(pair("x", 5, "p", "q")), transposed(lit("2.0"))}));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(two->done.n_sums, 2);
  EXPECT_EQ(two->done.after, one->done.after + 25);
}

TEST(Contracted, OtherKernelsStay) {
  EXPECT_FALSE(contracted(kernel_with({eval(assign(at("y", 0), at("x", 0)))})));
  EXPECT_FALSE(contracted(over_points(evaluation(pair("x", 4, "i", "j")))));
}

TEST(Contracted, SumsThatGainNothingStay) {
  const auto small = [](int n) {
    Body inner = {loop("i", 1, {loop("j", n, {eval(update(BinaryOp::add, name("s"), product()))})}),
                  eval(assign(pair("y", 5, "p", "q"), name("s")))};
    inner.insert(inner.begin(), declare("s", number(), lit("0.0")));
    return kernel_with({function("k", {{"x", pointer()}, {"y", pointer()}},
                                 {loop("p", 1, {loop("q", 5, std::move(inner))})})},
                       {table(5, 4)});
  };
  EXPECT_FALSE(contracted(small(1)));
  EXPECT_TRUE(contracted(small(4)));
}

}  // namespace
}  // namespace op2::kernel
