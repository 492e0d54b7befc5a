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
  const std::string text = print_source(module, c_dialect(), false, "extern \"C\" ");
  const auto kernel = text.find("void res(");
  const auto wrapper = text.find("void wrap_res(");
  const auto launch = text.find("extern \"C\" int op2_launch_res(");
  EXPECT_LT(kernel, wrapper);
  EXPECT_LT(wrapper, launch);
  EXPECT_NE(launch, std::string::npos);
}

TEST(Source, EveryKernelIsCalledByItsOwnName) {
  kir::Module module = lower::testing::lowered(edge_loop(), Strategy::direct);
  auto other = std::make_shared<ir::Kernel>(*module.kernels.front());
  other->body->functions.back().name = "other";
  other->name = "other";
  other->key = "other";
  module.kernels.push_back(other);
  kir::for_each_stmt(module.functions.front().body, [](kir::Stmt& stmt) {
    if (auto* call = std::get_if<kir::CallUser>(&stmt.node)) call->kernel = 1;
  });
  const std::string text = print_source(module, c_dialect(), false, "");
  EXPECT_NE(text.find("void other("), std::string::npos);
  EXPECT_NE(text.find("    other(x_pack, y_pack);"), std::string::npos) << text;
}

TEST(Source, WhatIsLaunchedHasNoLaunchFunction) {
  const kir::Module module =
      lower::testing::lowered(edge_loop(), Strategy::direct, lower::testing::grid);
  EXPECT_EQ(print_source(module, cuda_dialect(), false, "").find("op2_launch"), std::string::npos);
}

}  // namespace
}  // namespace op2::cg
