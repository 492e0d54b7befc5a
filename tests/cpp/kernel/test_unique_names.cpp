// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/unique_names.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

TEST(UniqueNames, OnlyShadowingNamesChange) {
  using namespace ast;
  const FunctionDef before = function("k", {{"x", pointer()}},
                                      {declare("a", whole(), lit("0")),
                                       branch(name("a"), {declare("a", number()), eval(name("a"))}),
                                       branch(name("a"), {declare("x", whole()), eval(name("x"))}),
                                       eval(name("a")), eval(name("x"))});
  const FunctionDef after = with_unique_names(before);
  const FunctionDef expected =
      function("k", {{"x", pointer()}},
               {declare("a", whole(), lit("0")),
                branch(name("a"), {declare("a#2", number()), eval(name("a#2"))}),
                branch(name("a"), {declare("x#2", whole()), eval(name("x#2"))}), eval(name("a")),
                eval(name("x"))});
  EXPECT_EQ(after, expected);
}

TEST(UniqueNames, OfABodyAreNotThoseOfBlocksWithinIt) {
  using namespace ast;
  const Body body{
      declare("a", number()), {.node = Block{{declare("b", number())}}}, declare("c", number())};
  EXPECT_EQ(declared_names(body), (std::set<std::string>{"a", "c"}));
}

TEST(UniqueNames, NeighbouringLoopsGetNamesOfTheirOwn) {
  using namespace ast;
  const FunctionDef after =
      with_unique_names(function("k", {}, {loop("i", 2, {}), loop("i", 3, {})}));
  EXPECT_EQ(after.body[0], loop("i", 2, {}));
  EXPECT_EQ(after.body[1], loop("i#2", 3, {}));
}

}  // namespace
}  // namespace op2::kernel
