// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "ast.hpp"
#include "kernel/checks.hpp"

namespace op2::kernel {
namespace {

using namespace ast;
using Names = std::vector<std::string>;

/// The checks around a call in a kernel with `double *x`, of which there are two.
Names checks_around(Expr value, Access access, Body first = {}) {
  first.push_back(eval(std::move(value)));
  const KernelBody made = kernel_with(
      {function("k", {{"x", pointer()}, {"n", pointer_to(whole())}}, std::move(first))});
  const CheckedBody checked =
      with_checks(made, {.accesses = {access, Access::rw}, .run = {.extents = {2, 1}}});
  Names found;
  for (const CheckSite& site : checked.sites) {
    found.emplace_back(check_names[static_cast<std::size_t>(site.check)]);
  }
  return found;
}

Expr cleared(Expr target, const std::string& n_bytes) {
  return call("memset", {std::move(target), lit("0"), lit(n_bytes)});
}

TEST(CheckedCalls, BytesThatAreSetAreStored) {
  EXPECT_EQ(checks_around(cleared(name("x"), "16"), Access::rw), Names{});
  EXPECT_EQ(checks_around(cleared(name("x"), "16"), Access::inc), (Names{"store"}));
  EXPECT_EQ(checks_around(cleared(name("x"), "16"), Access::read), (Names{"store"}));
}

TEST(CheckedCalls, BytesStayInside) {
  EXPECT_EQ(checks_around(cleared(name("x"), "24"), Access::rw), (Names{"bounds"}));
  EXPECT_EQ(checks_around(call("memset", {name("x"), lit("0"), at("n", 0)}), Access::rw),
            (Names{"bounds"}));
}

TEST(CheckedCalls, BytesThatAreCopiedHaveValues) {
  const Body local = {declare("w", array(number(), 2))};
  const auto copy = [](const char* to, const char* from) {
    return call("memcpy", {name(to), name(from), lit("16")});
  };
  EXPECT_EQ(checks_around(copy("w", "x"), Access::read, local), Names{});
  EXPECT_EQ(checks_around(copy("w", "x"), Access::inc, local), (Names{"load"}));
  EXPECT_EQ(checks_around(copy("x", "w"), Access::rw, local), (Names{"load"}));
}

TEST(CheckedCalls, TheLeastIntegerHasNoAbsoluteValue) {
  EXPECT_EQ(checks_around(assign(at("n", 0), call("abs", {at("n", 0)})), Access::rw),
            (Names{"overflow"}));
}

}  // namespace
}  // namespace op2::kernel
