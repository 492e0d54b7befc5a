// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contraction_terms.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

#include "kernel/unique_names.hpp"
#include "sums.hpp"

namespace op2::kernel {
namespace {

using namespace ast;
using contraction::Term;

std::vector<Term> terms_of(KernelBody body) {
  body = with_unique_names(std::move(body));
  FreshNames names(body);
  contraction::LoopNames loop_names(names);
  auto& first = std::get<For>(body.functions.back().body.front().node);
  const auto points = contraction::points_from(first, {});
  return points.loops.empty() ? std::vector<Term>{} : contraction::terms_in(points, {}, loop_names);
}

std::size_t n_terms(Body at_point) {
  return terms_of(over_points(std::move(at_point))).size();
}

TEST(Points, AreLoopsWithinEachOther) {
  KernelBody body = over_points({eval(assign(at("y", 0), name("q")))});
  auto& first = std::get<For>(body.functions.back().body.front().node);
  const auto points = contraction::points_from(first, {});
  ASSERT_EQ(points.ranges.size(), 2U);
  EXPECT_EQ(points.ranges[1], (contraction::Range{.name = "q", .n = 5}));
  EXPECT_EQ(points.body().size(), 1U);
}

TEST(TermsIn, FactorsAreSortedByTheLoopsTheyDependOn) {
  const auto terms =
      terms_of(over_points(evaluation(mul(unary(UnaryOp::minus, product()), at("x", 7)))));
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_FALSE(terms[0].is_transposed);
  EXPECT_EQ(terms[0].of_point.size(), 2U);
  EXPECT_EQ(terms[0].of_sum.size(), 1U);
  ASSERT_EQ(terms[0].groups.size(), 2U);
  EXPECT_EQ(terms[0].groups[0].over, (std::vector<contraction::Range>{{.name = "op2_i0", .n = 4}}));
  const auto tested =
      terms_of(over_points({transposed(lit("1.0")), eval(assign(at("x", 0), lit("1.0")))}));
  ASSERT_EQ(tested.size(), 1U);
  EXPECT_TRUE(tested[0].is_transposed);
}

TEST(TermsIn, ASummandThatChangesAtThePointsStays) {
  Body changed = evaluation(product());
  changed.push_back(eval(assign(at("x", 0), lit("1.0"))));
  EXPECT_EQ(n_terms(changed), 0U);
  EXPECT_EQ(n_terms(evaluation(mul(product(), name("s")))), 0U);
}

TEST(TermsIn, ATargetUsedInTheLoopsOfTheSumStays) {
  const auto with = [](Stmt more) {
    return Body{
        declare("s", number(), lit("0.0")),
        over_functions({eval(update(BinaryOp::add, name("s"), product())), std::move(more)}),
        eval(assign(pair("y", 5, "p", "q"), name("s")))};
  };
  EXPECT_EQ(n_terms(with(eval(assign(at("y", 30), name("s"))))), 0U);
  EXPECT_EQ(n_terms(with(eval(assign(name("s"), lit("0.0"))))), 0U);
  EXPECT_EQ(n_terms(with(eval(assign(at("y", 30), lit("0.0"))))), 1U);
}

TEST(TermsIn, ATransposedTargetReadAtThePointsStays) {
  EXPECT_EQ(n_terms({transposed(at("y", 3))}), 0U);
  EXPECT_EQ(n_terms({transposed(at("x", 3)), eval(assign(at("y", 3), lit("0.0")))}), 0U);
  EXPECT_EQ(n_terms({transposed(at("x", 3)), eval(assign(at("x", 3), lit("0.0")))}), 1U);
}

TEST(TermsIn, ATableNeedsOnePointLoopOfItsOwn) {
  EXPECT_EQ(n_terms(evaluation(mul(entry("p", "i"), entry("p", "j")))), 0U);
  EXPECT_EQ(n_terms(evaluation(mul(entry("p", "i"), entry("q", "i")))), 0U);
  const Expr both = at(at(name("T"), add(name("p"), name("q"))), name("j"));
  EXPECT_EQ(n_terms(evaluation(mul(entry("p", "i"), both))), 0U);
  EXPECT_EQ(n_terms(evaluation(mul(entry("p", "i"), entry("q", "j")))), 1U);
}

TEST(TermsIn, StatementsThatMayNotRunStay) {
  EXPECT_EQ(n_terms({branch(at("x", 0), evaluation(product()))}), 0U);
  Body left = evaluation(product());
  left.push_back(branch(at("x", 0), {Stmt{.node = Break{}}}));
  EXPECT_EQ(n_terms(left), 0U);
}

TEST(TermsIn, MemoryThatNamesDoNotTellStays) {
  Body pointed = evaluation(product());
  pointed.insert(pointed.begin(), declare("z", pointer(), name("x")));
  EXPECT_EQ(n_terms(pointed), 0U);
  Body called = evaluation(product());
  called.push_back(eval(call("f", {name("x")})));
  EXPECT_EQ(n_terms(called), 0U);
  called.back() = eval(assign(at("y", 30), call("sin", {at("x", 0)})));
  EXPECT_EQ(n_terms(called), 1U);
}

TEST(TermsIn, IntegersStay) {
  Body counted = {
      declare("n", whole(), lit("0")),
      over_functions({eval(update(BinaryOp::add, name("n"), mul(name("i"), name("j"))))})};
  EXPECT_EQ(n_terms(counted), 0U);
}

}  // namespace
}  // namespace op2::kernel
