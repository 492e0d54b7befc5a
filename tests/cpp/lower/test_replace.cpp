// SPDX-License-Identifier: BSD-3-Clause
#include "lower/replace.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace op2::lower {
namespace {

using kir::integer;
using kir::name;

/// `x` becomes @p by.
Replacement x_is(const kir::Expr& by) {
  return [by](const kir::Expr& part) {
    const auto* variable = std::get_if<kir::Name>(&part.node);
    return variable != nullptr && variable->name == "x" ? std::optional(by) : std::nullopt;
  };
}

std::string dumped(kir::Block block) {
  kir::Module module;
  module.launch = std::move(block);
  return kir::dump(module);
}

TEST(Replace, ReachesEveryExpression) {
  const kir::Expr all = kir::select(
      kir::less(name("x"), kir::minimum(name("x"), integer(3))),
      kir::element("a", kir::widen(name("x"))),
      kir::lane_of("v", kir::shuffle(name("x"), name("x"), 4), kir::offset("x", name("x"))));
  const std::string text = kir::dump(replaced(all, x_is(name("y"))));
  EXPECT_EQ(text, "select((y < min(y, 3)), a[long(y)], v[shuffle4(y, y)][&x[y]])");
}

TEST(Replace, ArithmeticFoldsAndWhatWasPutInStays) {
  const kir::Expr sum = name("x") * integer(4) + integer(2);
  EXPECT_EQ(replaced(sum, x_is(integer(3))), integer(14));
  EXPECT_EQ(kir::dump(replaced(name("x"), x_is(name("x") + integer(1)))), "(x + 1)");
}

TEST(Replace, ReachesStatementsInsideStatements) {
  const kir::Assign assign{kir::element("a", name("x")), kir::Update::add, name("x")};
  const kir::Block block{
      {kir::Decl{{DType::int64}, "d", 0, {name("x")}}},
      {kir::For{kir::Axis::serial,
                "i",
                name("x"),
                name("x"),
                {{kir::If{kir::equal(name("x"), integer(0)), {{assign}}}},
                 {kir::Atomic{DType::int32, name("x"), kir::Update::add, name("x")}}}}}};
  const std::string text = dumped(replaced(block, x_is(name("y"))));
  EXPECT_EQ(text.find('x'), std::string::npos) << text;
}

TEST(Replace, SaysWhatItCannotLookInto) {
  const kir::Block block{{kir::CallUser{{name("x")}}}};
  EXPECT_THROW((void)replaced(block, x_is(name("y"))), InternalError);
}

}  // namespace
}  // namespace op2::lower
