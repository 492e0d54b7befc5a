// SPDX-License-Identifier: BSD-3-Clause
#include "exec/build.hpp"

#include <gtest/gtest.h>

#include "../lower/loops.hpp"
#include "base/error.hpp"

namespace op2::exec {
namespace {

using lower::testing::direct;
using lower::testing::indirect;
using lower::testing::make_loop;

bool is_overwritten(const ir::Loop& loop, std::size_t i = 0) {
  return data_uses(loop).at(i).is_overwritten;
}

TEST(Build, WhatOnlyALaneCanDoIsNotLaunched) {
  kir::Module module;
  module.launch = {{kir::Barrier{}}};
  EXPECT_THROW((void)launch_program(module), InternalError);
  module.launch = {{kir::Decl{{}, "n", 0, {kir::builtin(kir::Builtin::lane_id)}}}};
  EXPECT_THROW((void)launch_program(module), InternalError);
}

TEST(Build, ADatThatIsWrittenCompletelyIsOverwritten) {
  const ir::Loop loop = make_loop({direct("x", Access::write, 3), direct("y", Access::inc),
                                   direct("z", Access::rw), direct("w", Access::read)});
  const std::vector<DataUse> uses = data_uses(loop);
  EXPECT_EQ(uses[0], (DataUse{Access::write, DType::float64, DType::float64, true}));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(uses[i].is_overwritten);
}

TEST(Build, WhatMayKeepOldValuesIsNotOverwritten) {
  const ir::Loop whole = make_loop({direct("x", Access::write, 3)});
  EXPECT_TRUE(is_overwritten(whole));
  EXPECT_FALSE(is_overwritten(lower::testing::with_opaque_kernel(whole)));
  ir::Loop subset = whole;
  subset.iteration.subset = true;
  EXPECT_FALSE(is_overwritten(subset));
  ir::Loop columns = whole;
  columns.iteration.layers = ir::Layers::constant;
  EXPECT_FALSE(is_overwritten(columns));
  ir::Loop view = whole;
  std::get<ir::DirectDat>(view.args[0]).stride = 4;
  EXPECT_FALSE(is_overwritten(view));
  ir::Loop more = whole;  // of which the kernel writes three
  std::get<ir::DirectDat>(more.args[0]).dim = 4;
  EXPECT_FALSE(is_overwritten(more));
  ir::Loop unseen = whole;  // its kernel assigns, and does not look at what it may read
  std::get<ir::DirectDat>(unseen.args[0]).access = Access::rw;
  EXPECT_TRUE(is_overwritten(unseen));
  EXPECT_FALSE(is_overwritten(make_loop({direct("x", Access::rw, 3)})));
  EXPECT_FALSE(is_overwritten(
      make_loop({indirect("x", Access::write, 0)}, lower::testing::edges_to_nodes())));
  EXPECT_FALSE(is_overwritten(
      make_loop({direct("x", Access::write, 1, {0, 0}), direct("y", Access::read, 1, {1, 0})})));
}

}  // namespace
}  // namespace op2::exec
