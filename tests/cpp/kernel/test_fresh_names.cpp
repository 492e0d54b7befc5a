// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/fresh_names.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

KernelBody example() {
  KernelBody body = kernel_with({function(
      "k", {{"x", pointer()}},
      {declare("t", number(), call("f", {name("dt")})), eval(assign(at("x", 0), name("w")))})});
  body.tables.push_back({.name = "w", .type = number(), .value = lit("1.0")});
  return body;
}

TEST(FreshNames, OfABodyAreAllThatAppearInIt) {
  EXPECT_EQ(local_names(example()), (NameSet{"t", "x"}));
  EXPECT_EQ(names_in(example()), (NameSet{"dt", "f", "k", "t", "w", "x"}));
}

TEST(FreshNames, AreGivenOnce) {
  FreshNames names(example());
  EXPECT_EQ(names.take("v"), "v");
  EXPECT_EQ(names.take("v"), "v_");
  EXPECT_EQ(names.take("dt"), "dt_");
  EXPECT_TRUE(names.has("dt_"));
  EXPECT_FALSE(names.has("z"));
}

}  // namespace
}  // namespace op2::kernel
