// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_start.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lower/make.hpp"

namespace op2::cg {
namespace {

kir::Parameter array_in_role(const std::string& name, kir::Role role) {
  return {name, {DType::int32, true, true}, true, role};
}

/// `const int to = from[t];`
kir::Stmt const_from(const std::string& to, const std::string& from) {
  return {kir::Decl{{DType::int32, true}, to, 0, {kir::element(from, kir::name("t"))}}};
}

kir::Function over_grid(kir::Block body) {
  kir::For loop{kir::Axis::grid, "t", kir::name("begin"), kir::name("end"), std::move(body)};
  return {"k",
          {array_in_role("neighbour", kir::Role::plan), array_in_role("map", kir::Role::map),
           array_in_role("q", kir::Role::data), array_in_role("partial", kir::Role::local)},
          {{std::move(loop)}},
          true};
}

TEST(KernelStart, StandsBehindWhatTheHostMakes) {
  EXPECT_EQ(n_before_start(over_grid(
                {const_from("a", "neighbour"), const_from("b", "map"), const_from("c", "q")})),
            2U);
  EXPECT_EQ(n_before_start(over_grid({const_from("c", "q"), const_from("a", "neighbour")})), 0U);
  EXPECT_EQ(n_before_start(over_grid(
                {const_from("a", "map"), const_from("c", "partial"), const_from("b", "map")})),
            1U);
}

TEST(KernelStart, StandsInFrontWhereNothingIsReadAhead) {
  const kir::Stmt zero{kir::Decl{{DType::int32}, "sum", 0, {kir::integer(0)}}};
  EXPECT_EQ(n_before_start(over_grid({zero, const_from("c", "q")})), 0U);
  EXPECT_EQ(n_before_start(over_grid({const_from("a", "map")})), 0U);  // it is never reached
}

TEST(KernelStart, StandsInFrontOfIndicesThatAreFetched) {
  const kir::Stmt fetch{kir::Intrinsic{kir::Instruction::fetch,
                                       {kir::name("row"), kir::offset("map", kir::name("t"))},
                                       {DType::int32}}};
  EXPECT_EQ(n_before_start(over_grid({const_from("a", "neighbour"), const_from("c", "q")})), 1U);
  EXPECT_EQ(n_before_start(over_grid({fetch, const_from("c", "q")})), 0U);
}

TEST(KernelStart, StandsInFrontWhereMoreThanALoopFollows) {
  kir::Function summed = over_grid({const_from("a", "neighbour"), const_from("c", "q")});
  summed.body.push_back(const_from("b", "partial"));
  EXPECT_EQ(n_before_start(summed), 0U);
}

}  // namespace
}  // namespace op2::cg
