// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checks.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

CheckInput input(Access x, Access y) {
  return {.accesses = {x, y}, .run = {.extents = {2, 3}}};
}

CheckedBody checked(Body body, Access x = Access::rw, Access y = Access::read) {
  return with_checks(kernel_with(std::move(body)), input(x, y));
}

std::vector<std::string> names(const CheckedBody& made) {
  std::vector<std::string> found;
  for (const CheckSite& site : made.sites) {
    found.emplace_back(check_names[static_cast<std::size_t>(site.check)]);
  }
  return found;
}

std::vector<std::string> calls(const KernelBody& body) {
  std::vector<std::string> found;
  for (const FunctionDef& function : body.functions) {
    for_each_expr_in(function.body, [&found](const Expr& expr) {
      if (const auto* call = std::get_if<Call>(&expr.node)) found.push_back(call->function);
    });
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(Checks, WhatIsProvenIsNotWatched) {
  const CheckedBody made = checked({eval(assign(at("x", 1), at("y", 2)))});
  EXPECT_TRUE(made.sites.empty());
  EXPECT_FALSE(made.has_bits);
  EXPECT_EQ(made.entry, "op2_checked_k");
  EXPECT_EQ(made.body.entry().parameters.back().name, "op2_check");
  EXPECT_EQ(made.body.entry().parameters.size(), 3);
}

TEST(Checks, SubscriptsFromData) {
  const CheckedBody made =
      checked({eval(assign(at("x", 0), at(name("y"), cast(whole(), at("y", 0)))))});
  EXPECT_EQ(names(made), (Names{"truncation", "bounds"}));
  EXPECT_EQ(made.sites[1].parameter, 1);
  EXPECT_EQ(made.sites[1].extent, 3);
  EXPECT_EQ(calls(made.body), (Names{"op2_at", "op2_truncated"}));
}

TEST(Checks, WritesToWhatIsRead) {
  const CheckedBody made = checked({eval(assign(at("y", 0), lit("1.")))});
  EXPECT_EQ(names(made), (Names{"store"}));
  EXPECT_FALSE(made.has_bits);
}

TEST(Checks, IncrementsAreOnlyAddedTo) {
  const auto of = [](Stmt stmt) { return names(checked({std::move(stmt)}, Access::inc)); };
  EXPECT_EQ(of(eval(update(BinaryOp::add, at("x", 0), lit("1.")))), (Names{"made"}));
  EXPECT_EQ(of(eval(assign(at("x", 0), add(at("x", 0), at("y", 0))))), (Names{"made"}));
  EXPECT_EQ(of(eval(assign(at("x", 0), lit("1.")))), (Names{"store"}));
  EXPECT_EQ(of(eval(assign(at("x", 0), at("x", 1)))), (Names{"store", "load"}));
}

TEST(Checks, UnprovenWritesAreWatchedByBits) {
  const Expr data = less(at("y", 0), lit("0."));
  const CheckedBody some =
      checked({branch(data, {eval(assign(at("x", 0), lit("1.")))})}, Access::write);
  EXPECT_TRUE(some.has_bits);
  EXPECT_EQ(some.n_stored, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(some.body.entry().parameters.size(), 5);
  const CheckedBody all = checked(
      {eval(assign(at("x", 0), lit("1."))), eval(assign(at("x", 1), lit("1.")))}, Access::write);
  EXPECT_FALSE(all.has_bits);
}

TEST(Checks, ValuesThatAreMade) {
  EXPECT_EQ(names(checked({eval(assign(at("x", 0), mul(at("y", 0), at("y", 1))))})),
            (Names{"made"}));
  // a copy makes nothing, nor does what is infinite by name
  EXPECT_TRUE(checked({eval(assign(at("x", 0), at("y", 0)))}).sites.empty());
  EXPECT_TRUE(checked({eval(assign(at("x", 0), mul(at("y", 0), call("__builtin_inf", {}))))})
                  .sites.empty());
}

TEST(Checks, VariablesWithoutAValue) {
  const Expr data = less(at("y", 0), lit("0."));
  const CheckedBody made =
      checked({declare("t", number()), branch(data, {eval(assign(name("t"), lit("1.")))}),
               eval(assign(at("x", 0), name("t")))});
  EXPECT_EQ(names(made), (Names{"unset"}));
  EXPECT_EQ(made.sites[0].name, "t");
}

TEST(Checks, KernelsKeepOnlyWhatTheyCall) {
  const CheckedBody made =
      checked({eval(assign(at("x", 0), at(name("y"), cast(whole(), at("y", 0)))))});
  const KernelBody prelude = kernel_with({function("op2_report", {}, {}),
                                          function("op2_at", {}, {eval(call("op2_report", {}))}),
                                          function("op2_other", {}, {}), function("all", {}, {})});
  const KernelBody shell = kernel_with({function("k", {}, {eval(call(made.entry, {}))})});
  const KernelBody whole_kernel = checked_kernel(prelude, made, shell);
  Names functions;
  for (const FunctionDef& function : whole_kernel.functions) functions.push_back(function.name);
  EXPECT_EQ(functions, (Names{"op2_report", "op2_at", "op2_checked_k", "k"}));
}

std::optional<CheckedBody> suspicious(Body body, Access x, Access y = Access::read) {
  return with_suspicion(kernel_with(std::move(body)), input(x, y));
}

TEST(Suspicion, NeedsNoArgumentWhereNothingCanFail) {
  const auto made = suspicious({eval(assign(at("x", 1), at("y", 2)))}, Access::rw);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->sites.empty());
}

TEST(Suspicion, AddsUpDifferencesWithoutCallsOrBranches) {
  const auto made = suspicious(
      {eval(assign(at("x", 0), binary(BinaryOp::divide, at("y", 1), at("y", 2))))}, Access::rw);
  ASSERT_TRUE(made);
  EXPECT_EQ(names(*made), (Names{"made"}));
  EXPECT_EQ(calls(made->body), Names{});
  EXPECT_EQ(made->entry, "k");
  EXPECT_EQ(made->body.entry().parameters.back().type.base, Base::float64);
  int n_ternaries = 0;
  int n_sums = 0;
  for_each_expr_in(made->body.entry().body, [&n_ternaries, &n_sums](const Expr& expr) {
    n_ternaries += std::holds_alternative<Ternary>(expr.node) ? 1 : 0;
    const auto* assign = std::get_if<Assign>(&expr.node);
    n_sums += assign != nullptr && assign->op == BinaryOp::add ? 1 : 0;
  });
  EXPECT_EQ(n_ternaries, 0);
  EXPECT_EQ(n_sums, 1);
}

TEST(Suspicion, NobodyReadsWhatIsIncremented) {
  const Expr step =
      update(BinaryOp::add, at("x", 0), binary(BinaryOp::divide, at("y", 1), at("y", 2)));
  const auto made = suspicious({eval(step)}, Access::inc);
  ASSERT_TRUE(made);
  EXPECT_EQ(names(*made), (Names{"made"}));  // its sum may not be finite
  int n_uses = 0;
  for_each_expr_in(made->body.entry().body, [&n_uses](const Expr& expr) {
    const auto* found = std::get_if<Name>(&expr.node);
    n_uses += found != nullptr && found->name == "x" ? 1 : 0;
  });
  EXPECT_EQ(n_uses, 1);
}

TEST(Suspicion, IsNothingWhereOtherChecksMayFail) {
  EXPECT_FALSE(
      suspicious({eval(assign(at("x", 0), at(name("y"), cast(whole(), at("y", 0)))))}, Access::rw));
  EXPECT_FALSE(suspicious({eval(assign(at("x", 1), at("y", 2)))}, Access::write));
  EXPECT_FALSE(suspicious({eval(assign(at("y", 1), at("x", 1)))}, Access::rw));
}

}  // namespace
}  // namespace op2::kernel
