// SPDX-License-Identifier: BSD-3-Clause
#include "lower/private_bytes.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

constexpr Facts a_processor =
    Facts{.lanes = Lanes::grid}.on(/*is_processor=*/true, /*has_float64=*/true);

kernel::Stmt local_array(const std::string& name, std::int64_t extent, bool is_static = false) {
  kernel::Type type = kernel::scalar(kernel::Base::float64);
  type.derivation = {{.kind = kernel::Derivation::Kind::array, .extent = extent}};
  return {kernel::Declare{is_static, {{name, type, {}, testing::some_line}}}, testing::some_line};
}

/// A direct loop whose kernel has these statements, too.
ir::Loop loop_with(const kernel::Body& more) {
  ir::Loop loop = testing::make_loop({testing::direct("x", Access::rw)});
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel::Body& body = kernel->body->functions.back().body;
  body.insert(body.begin(), more.begin(), more.end());
  loop.members[0].kernel = std::move(kernel);
  return loop;
}

kir::Module made(const ir::Loop& loop, const Facts& facts) {
  const std::vector<MapFacts> maps = testing::no_facts(loop);
  return lower({loop, Strategy::direct, facts, maps, {}}, [](Stage, const kir::Module&) {});
}

int most_lanes(const ir::Loop& loop, const Facts& facts) {
  const kir::Module module = made(loop, facts);
  for (const kir::Function& function : module.functions) {
    if (function.is_kernel) return function.max_lanes;
  }
  return -1;
}

TEST(PrivateBytes, CountsArraysInAllBranchesButNoTables) {
  const kernel::Body nested{
      local_array("a", 10),
      {kernel::Block{{local_array("b", 5), local_array("c", 1000, /*is_static=*/true)}}, 1}};
  const kir::Module without = made(loop_with({}), a_processor);
  const kir::Module module = made(loop_with(nested), a_processor);
  ASSERT_EQ(module.functions.size(), 1U);
  EXPECT_EQ(
      private_bytes(module.functions[0], module) - private_bytes(without.functions[0], without),
      8 * 15);
}

TEST(PrivateBytes, ABlocksArraysFitOnOneStack) {
  EXPECT_EQ(most_lanes(loop_with({local_array("a", 20)}), a_processor), 0);
  EXPECT_EQ(most_lanes(loop_with({local_array("a", 10'000)}), a_processor), 8);
  EXPECT_EQ(most_lanes(loop_with({local_array("a", 200'000)}), a_processor), 1);
}

TEST(PrivateBytes, GpusHaveMemoryForThem) {
  EXPECT_EQ(most_lanes(loop_with({local_array("a", 10'000)}), testing::grid), 0);
  EXPECT_EQ(most_lanes(loop_with({local_array("a", 60'000)}), testing::grid), 0);
}

TEST(PrivateBytes, WhatFitsOnNoStackIsRefused) {
  try {
    (void)made(loop_with({local_array("a", 1'000'000)}), a_processor);
    FAIL() << "not refused";
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("par_loop 'res': the backend cannot run it: its arrays take 8.0 MB for one "
                        "element"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW((void)made(loop_with({local_array("a", std::int64_t{1} << 60)}), a_processor),
               UnsupportedError);
  EXPECT_THROW((void)made(loop_with({local_array("a", 70'000)}), testing::grid), UnsupportedError);
}

TEST(PrivateBytes, ThreadsOfTheHostHaveAStackForOneElement) {
  const kir::Module small = made(loop_with({local_array("a", 800'000)}), testing::threads);
  EXPECT_EQ(host_bytes(small), 6'400'000);
  try {
    (void)made(loop_with({local_array("a", 1'000'000)}), testing::threads);
    FAIL() << "not refused";
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("8.0 MB for one element, and threads have 7.3 MB"),
              std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("'element_stack_bytes'"), std::string::npos);
  }
}

}  // namespace
}  // namespace op2::lower
