// SPDX-License-Identifier: BSD-3-Clause
#include "cg/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../lower/loops.hpp"
#include "kernel/make.hpp"

namespace op2::cg {
namespace {

using lower::Strategy;
using lower::testing::direct;
using lower::testing::indirect;
using lower::testing::own_data;

std::vector<std::string> needs_of(const lower::testing::NamedArg& arg, Strategy strategy) {
  const bool has_map = std::holds_alternative<ir::IndirectDat>(arg.arg);
  const ir::Loop loop = lower::testing::make_loop(
      {arg}, has_map ? std::vector<ir::MapRef>{{2, 0}} : std::vector<ir::MapRef>{});
  std::vector<std::string> found =
      needs(lower::testing::lowered(loop, strategy, lower::testing::grid));
  std::sort(found.begin(), found.end());
  return found;
}

using Names = std::vector<std::string>;

TEST(Needs, FollowTheScalarsOfALoop) {
  const auto of = [](DType dtype) {
    return needs_of(direct("x", Access::read, 1, own_data, dtype), Strategy::direct);
  };
  EXPECT_EQ(of(DType::float32), Names{});
  EXPECT_EQ(of(DType::float64), Names{"float64"});
  EXPECT_EQ(of(DType::complex64), Names{"complex"});
  EXPECT_EQ(of(DType::complex128), (Names{"complex", "float64"}));
}

TEST(Needs, WideAtomics) {
  const auto of = [](DType dtype) {
    return needs_of(indirect("y", Access::inc, 0, 1, own_data, dtype), Strategy::atomic);
  };
  EXPECT_EQ(of(DType::int32), Names{});
  EXPECT_EQ(of(DType::int64), Names{"int64_atomics"});
  EXPECT_EQ(of(DType::float64), (Names{"float64", "int64_atomics"}));
  EXPECT_EQ(of(DType::complex64), Names{"complex"});
}

TEST(Needs, BlocksThatAreCountedAndIndicesThatAreFetched) {
  lower::Facts facts = lower::testing::grid;
  facts.fences = facts.fetches = true;
  const auto of = [&facts](const ir::Loop& loop, Strategy strategy) {
    return needs(lower::testing::lowered(loop, strategy, facts));
  };
  EXPECT_EQ(of(lower::testing::make_loop({lower::testing::global_reduce("s", Access::inc)}),
               Strategy::direct),
            (Names{"float64", "last_block"}));
  EXPECT_EQ(
      of(lower::testing::make_loop({indirect("x", Access::read, 0)}, {{2, 0}}), Strategy::direct),
      (Names{"float64", "fetch"}));
}

TEST(Needs, FunctionsThatMoveMemory) {
  ir::Loop loop = lower::testing::make_loop({direct("x", Access::write, 2)});
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  EXPECT_EQ(needs(lower::testing::lowered(loop, Strategy::direct)), Names{"float64"});
  kernel::Body& body = kernel->body->functions.back().body;
  for (const char* function : {"memset", "__builtin_memcpy"}) {
    body = {{kernel::Evaluate{kernel::make::call(function, {})}, lower::testing::some_line}};
    loop.members[0].kernel = std::make_shared<kernel::Kernel>(*kernel);
    EXPECT_EQ(needs(lower::testing::lowered(loop, Strategy::direct)), (Names{"float64", "memory"}));
  }
}

}  // namespace
}  // namespace op2::cg
