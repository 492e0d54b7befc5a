// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checked_addresses.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"
#include "kernel/types.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Expr address(const std::string& of) {
  return unary(UnaryOp::address, name(of));
}

/// A kernel that declares `double t;`, does @p use, and sets x[0] = t.
KernelBody made(Stmt use) {
  FunctionDef fill =
      function("fill", {{.name = "p", .type = pointer()}}, {eval(assign(at("p", 0), lit("1.")))});
  KernelBody body =
      kernel_with({declare("t", number()), std::move(use), eval(assign(at("x", 0), name("t")))});
  body.functions.insert(body.functions.begin(), std::move(fill));
  return with_addressed_arrays(infer_types(std::move(body)));
}

const Variable& declared(const KernelBody& body) {
  return std::get<Declare>(body.entry().body.front().node).variables.front();
}

TEST(CheckedAddresses, WhatIsFilledThroughAPointerIsAnArray) {
  const KernelBody body = made(eval(call("fill", {address("t")})));
  EXPECT_TRUE(declared(body).type.is_array());
  EXPECT_EQ(n_scalars(declared(body).type), 1);
  const Expr& used = std::get<Evaluate>(body.entry().body.back().node).value.operands[1];
  EXPECT_TRUE(std::holds_alternative<Index>(used.node));
  EXPECT_TRUE(used.type.is_scalar());
}

TEST(CheckedAddresses, PointersOfTheFunctionAreFollowed) {
  EXPECT_TRUE(declared(made(declare("p", pointer(), address("t")))).type.is_array());
}

TEST(CheckedAddresses, WhatNobodyFollowsStays) {
  const Type bytes = pointer_to(scalar(Base::int8));
  const Expr as_bytes = cast(bytes, address("t"));
  EXPECT_TRUE(declared(made(declare("p", bytes, as_bytes))).type.is_scalar());
  EXPECT_TRUE(declared(made(eval(assign(name("t"), lit("1."))))).type.is_scalar());
}

TEST(CheckedAddresses, CastsOfPointersAreTakenOff) {
  const KernelBody body = infer_types(
      kernel_with({eval(call("memset", {cast(pointer_to(scalar(Base::none)), name("x"))}))}));
  const Expr& argument = std::get<Evaluate>(body.entry().body.front().node).value.operands.front();
  EXPECT_EQ(&without_casts(argument), &argument.operands[0]);
}

}  // namespace
}  // namespace op2::kernel
