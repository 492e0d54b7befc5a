// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/constants.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ast.hpp"
#include "base/error.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Type constant(Base base) {
  return {.base = base, .is_const = true, .derivation = {}};
}

const std::vector<Parameter>& constants() {
  static const std::vector<Parameter> all{{"eps", constant(Base::float64)},
                                          {"gam", constant(Base::float64)},
                                          {"qinf", pointer_to(constant(Base::float64))}};
  return all;
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(FreeNames, AreThoseDeclaredNowhere) {
  const KernelBody body = kernel_with(
      {function(
          "k", {{"x", pointer()}},
          {declare("a", whole(), name("b")), eval(add(at("t", 0), add(name("a"), name("c"))))})},
      {{.name = "t", .type = array(number(), 1), .value = name("d")}});
  EXPECT_EQ(free_names(body), (Names{"b", "c", "d"}));
}

TEST(BindConstants, AddsOneParameterAndTypes) {
  const auto [body, bound] = bind_constants(
      kernel_with(Body{eval(assign(at("x", 0), mul(name("gam"), at("qinf", 2))))}), constants());
  EXPECT_EQ(names_of(bound), (Names{"gam", "qinf"}));
  EXPECT_EQ(names_of(body.entry().parameters), (Names{"x", "y", "gam", "qinf"}));
  const Expr& value = std::get<Evaluate>(body.entry().body[0].node).value;
  EXPECT_EQ(value.operands[1].type, scalar(Base::float64));
  EXPECT_TRUE(free_names(body).empty());
}

TEST(BindConstants, LeavesKernelsAloneThatNeedNone) {
  const KernelBody before = kernel_with(Body{eval(assign(at("x", 0), lit("1.0")))});
  const auto [body, bound] = bind_constants(before, constants());
  EXPECT_EQ(body, before);
  EXPECT_TRUE(bound.empty());
}

TEST(BindConstants, PassesThroughFunctionsThatOnlyCall) {
  const auto [body, bound] = bind_constants(
      kernel_with({function("f", {}, {give(name("gam"))}), function("g", {}, {give(call("f", {}))}),
                   function("k", {{"x", pointer()}},
                            {eval(assign(at("x", 0), add(call("g", {}), name("eps"))))})}),
      constants());
  EXPECT_EQ(names_of(bound), (Names{"eps", "gam"}));
  EXPECT_EQ(names_of(body.functions[1].parameters), (Names{"gam"}));
  const auto& passed = std::get<Return>(body.functions[1].body[0].node).value->operands;
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_EQ(passed[0].node, ExprNode(Name{"gam"}));
  const Expr& value = std::get<Evaluate>(body.entry().body[0].node).value;
  EXPECT_EQ(value.operands[1].operands[0].operands.size(), 1U);
}

TEST(BindConstants, LocalsShadow) {
  const auto [body, bound] =
      bind_constants(kernel_with(Body{declare("gam", number(), lit("1.0")),
                                      eval(assign(at("x", 0), name("gam")))}),
                     constants());
  EXPECT_TRUE(bound.empty());
}

// double f() { return gam; }  void k(double *x) { double g = gam; { double gam = 2; x[0] = f(); } }
TEST(BindConstants, AShadowedConstantIsPassedOnUnderAnotherName) {
  const auto [body, bound] = bind_constants(
      kernel_with(
          {function("f", {}, {give(name("gam"))}),
           function(
               "k", {{"x", pointer()}},
               {declare("g", number(), name("gam")),
                {.node = Block{{declare("gam", number(), lit("2.0")),
                                eval(assign(at("x", 0), add(call("f", {}), name("gam"))))}}}})}),
      constants());
  EXPECT_EQ(names_of(bound), (Names{"gam"}));
  const FunctionDef& entry = body.entry();
  EXPECT_EQ(names_of(entry.parameters), (Names{"x", "gam_const"}));
  EXPECT_EQ(std::get<Declare>(entry.body[0].node).variables[0].value->node,
            ExprNode(Name{"gam_const"}));
  const auto& block = std::get<Block>(entry.body[1].node);
  const Expr& sum = std::get<Evaluate>(block.body[1].node).value.operands[1];
  EXPECT_EQ(sum.operands[0].operands[0].node, ExprNode(Name{"gam_const"}));
  EXPECT_EQ(sum.operands[1].node, ExprNode(Name{"gam"}));
}

TEST(BindConstants, AParameterOfThatNameIsNoUse) {
  const auto [body, bound] = bind_constants(
      kernel_with({function("k", {{"gam", pointer()}}, {eval(assign(at("gam", 0), lit("1.0")))})}),
      constants());
  EXPECT_TRUE(bound.empty());
}

TEST(BindConstants, TablesHideAndMayNotDependOnConstants) {
  const KernelBody hidden =
      kernel_with({function("k", {{"x", pointer()}}, {eval(assign(at("x", 0), name("gam")))})},
                  {{.name = "gam", .type = constant(Base::float64), .value = lit("1.0")}});
  EXPECT_TRUE(bind_constants(hidden, constants()).constants.empty());
  const KernelBody depends =
      kernel_with({function("k", {{"x", pointer()}}, {eval(assign(at("x", 0), name("t")))})},
                  {{.name = "t", .type = constant(Base::float64), .value = name("gam")}});
  try {
    (void)bind_constants(depends, constants());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel 'k'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("Const 'gam'"), std::string::npos);
  }
}

}  // namespace
}  // namespace op2::kernel
