// SPDX-License-Identifier: BSD-3-Clause
#include "cg/source.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "../lower/loops.hpp"

namespace op2::cg {
namespace {

using lower::Strategy;
using lower::testing::edge_loop;

TEST(Source, HoldsKernelsWrappersAndTheLaunch) {
  const kir::Module module = lower::testing::lowered(edge_loop(), Strategy::direct);
  const Sections text = print_source(module, c_dialect(), false, "extern \"C\" ");
  EXPECT_TRUE(text.kernels.starts_with("static inline void res(")) << text.kernels;
  EXPECT_EQ(text.kernels.find("wrap_res("), std::string::npos);
  EXPECT_TRUE(text.wrappers.starts_with("\nstatic __attribute__((noinline)) void wrap_res("))
      << text.wrappers;
  EXPECT_EQ(text.wrappers.find("op2_launch_res("), std::string::npos);
  EXPECT_TRUE(text.launch.starts_with("\n#define OP2_ONE_THREAD 1u\n")) << text.launch;
  EXPECT_NE(text.launch.find(" void op2_launch_res_stage("), std::string::npos) << text.launch;
  EXPECT_NE(text.launch.find("\nextern \"C\" int op2_launch_res("), std::string::npos);
}

TEST(Source, EveryKernelIsCalledByItsOwnName) {
  kir::Module module = lower::testing::lowered(edge_loop(), Strategy::direct);
  auto other = std::make_shared<kernel::Kernel>(*module.kernels.front());
  other->body->functions.back().name = "other";
  other->name = "other";
  other->key = "other";
  module.kernels.push_back(other);
  kir::for_each_stmt(module.functions.front().body, [](kir::Stmt& stmt) {
    if (auto* call = std::get_if<kir::CallUser>(&stmt.node)) call->kernel = 1;
  });
  const Sections text = print_source(module, c_dialect(), false, "");
  EXPECT_NE(text.kernels.find("void other("), std::string::npos);
  EXPECT_NE(text.wrappers.find("    other(x_pack, y_pack);"), std::string::npos) << text.wrappers;
}

TEST(Source, WhatIsLaunchedHasNoLaunchFunction) {
  const kir::Module module =
      lower::testing::lowered(edge_loop(), Strategy::direct, lower::testing::grid);
  EXPECT_EQ(print_source(module, cuda_dialect(), false, "").launch, "");
}

}  // namespace
}  // namespace op2::cg
