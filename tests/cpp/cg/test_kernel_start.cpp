// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_start.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lower/make.hpp"

namespace op2::cg {
namespace {

kir::Parameter array(const std::string& name, kir::Role role) {
  return {name, {DType::int32, true, true}, true, role};
}

/// `const int to = from[t];`
kir::Stmt read(const std::string& to, const std::string& from) {
  return {kir::Decl{{DType::int32, true}, to, 0, {kir::element(from, kir::name("t"))}}};
}

kir::Function kernel(kir::Block body) {
  kir::For loop{kir::Axis::grid, "t", kir::name("begin"), kir::name("end"), std::move(body)};
  return {"k",
          {array("neighbour", kir::Role::plan), array("map", kir::Role::map),
           array("q", kir::Role::data), array("partial", kir::Role::local)},
          {{std::move(loop)}},
          true};
}

TEST(KernelStart, StandsBehindWhatTheHostMakes) {
  EXPECT_EQ(n_before_start(kernel({read("a", "neighbour"), read("b", "map"), read("c", "q")})), 2U);
  EXPECT_EQ(n_before_start(kernel({read("c", "q"), read("a", "neighbour")})), 0U);
  EXPECT_EQ(n_before_start(kernel({read("a", "map"), read("c", "partial"), read("b", "map")})), 1U);
}

TEST(KernelStart, StandsInFrontWhereNothingIsReadAhead) {
  const kir::Stmt zero{kir::Decl{{DType::int32}, "sum", 0, {kir::integer(0)}}};
  EXPECT_EQ(n_before_start(kernel({zero, read("c", "q")})), 0U);
  EXPECT_EQ(n_before_start(kernel({read("a", "map")})), 0U);  // it is never reached
}

TEST(KernelStart, StandsInFrontWhereMoreThanALoopFollows) {
  kir::Function summed = kernel({read("a", "neighbour"), read("c", "q")});
  summed.body.push_back(read("b", "partial"));
  EXPECT_EQ(n_before_start(summed), 0U);
}

}  // namespace
}  // namespace op2::cg
