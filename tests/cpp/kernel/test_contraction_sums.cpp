// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contraction_sums.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "kernel/unique_names.hpp"
#include "sums.hpp"

namespace op2::kernel {
namespace {

using contraction::Sums;

/// @brief The sums of a kernel that consists of one nest, and the kernel.
struct SumsOfKernel {
  KernelBody body;
  FreshNames names;
  contraction::Points points;
  Sums sums;

  explicit SumsOfKernel(Body at_point)
      : body(with_unique_names(ast::over_points(std::move(at_point)))),
        names(body),
        points(
            contraction::points_from(std::get<For>(body.functions.back().body.front().node), {})),
        sums(made()) {}

  Sums made() {
    contraction::LoopNames loop_names(names);
    const auto terms = contraction::longest_terms(points, {}, loop_names);
    return {points, terms, names};
  }
};

TEST(Sums, OfAnEvaluationHaveAStageForEachDimension) {
  const SumsOfKernel found(ast::evaluation(ast::product()));
  ASSERT_EQ(found.sums.n_dims(), 2U);
  ASSERT_EQ(found.sums.stages(0).size(), 1U);
  ASSERT_EQ(found.sums.stages(1).size(), 1U);
  EXPECT_EQ(found.sums.stages(0)[0].array.size(), 4);  // functions of the inner dimension
  EXPECT_EQ(found.sums.stages(1)[0].array.size(), 1);
  EXPECT_EQ(found.sums.stages(0)[0].n_terms, 16);
  EXPECT_EQ(found.sums.stages(1)[0].source, found.sums.stages(0)[0].array.entry());
  EXPECT_EQ(found.sums.bytes(), 5 * 8);
  EXPECT_TRUE(found.sums.roots().empty());
}

TEST(Sums, OfATransposedTermAreATree) {
  SumsOfKernel found({ast::transposed(ast::at("x", 7))});
  ASSERT_EQ(found.points.ranges.size(), 2U);
  ASSERT_EQ(found.sums.roots().size(), 1U);
  const auto& outer = found.sums.roots().front().children;
  ASSERT_EQ(outer.size(), 1U);
  EXPECT_EQ(outer.front().array.size(), 4);
  ASSERT_EQ(outer.front().children.size(), 1U);
  EXPECT_EQ(outer.front().children.front().array.size(), 1);
  found.sums.replace_terms();
  const Body& left = found.points.body();
  ASSERT_EQ(left.size(), 1U);  // the value of the point
  EXPECT_TRUE(std::holds_alternative<Declare>(left.front().node));
}

}  // namespace
}  // namespace op2::kernel
