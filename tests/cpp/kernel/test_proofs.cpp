// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/proofs.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

/// The places with these subscripts, in the order of the text.
std::vector<const Expr*> places(const KernelBody& body) {
  std::vector<const Expr*> found;
  for_each_expr_in(body.entry().body, [&found](const Expr& expr) {
    if (std::holds_alternative<Index>(expr.node)) found.push_back(&expr);
  });
  return found;
}

TEST(Proofs, OfSubscripts) {
  const KernelBody body = kernel_with(
      {eval(assign(at("x", 0), at(name("y"), at("x", 1)))), eval(assign(at("x", 2), lit("0.")))});
  const KernelProofs proofs(body, {.extents = {2, 3}});
  const auto found = places(body);
  ASSERT_EQ(found.size(), 4);
  EXPECT_TRUE(proofs.is_inside(*found[0]));
  EXPECT_FALSE(proofs.is_inside(*found[1]));  // y[x[1]]
  EXPECT_TRUE(proofs.is_inside(*found[2]));
  EXPECT_FALSE(proofs.is_inside(*found[3]));
}

TEST(Proofs, OfWhereAScalarLies) {
  const KernelBody body = kernel_with(
      {declare("p", pointer(), ternary(less(at("y", 0), lit("0.")), name("x"), name("y"))),
       eval(assign(at("p", 0), lit("1."))), eval(assign(at("x", 0), lit("1."))),
       eval(assign(at("x", 0), lit("1.")))});
  const KernelProofs proofs(body, {.extents = {2, 3}});
  const auto found = places(body);
  EXPECT_EQ(proofs.object(*found[0])->name, "y");
  EXPECT_EQ(proofs.object(*found[1]), nullptr);
  EXPECT_EQ(proofs.object(*found[2])->parameter, 0);
  EXPECT_FALSE(proofs.is_set(*found[2]));
  EXPECT_TRUE(proofs.is_set(*found[3]));
  EXPECT_EQ(proofs.n_stored(0), 1);
}

TEST(Proofs, NothingIsProvenOfWhatRunsTooLong) {
  Stmt inner = loop("j", 1000, {eval(assign(at("x", 0), lit("1.")))});
  const KernelBody body = kernel_with({loop("i", 1000, {inner})});
  const KernelProofs proofs(body, {.extents = {2, 3}});
  EXPECT_FALSE(proofs.is_inside(*places(body)[0]));
  EXPECT_EQ(proofs.n_stored(0), 0);
}

}  // namespace
}  // namespace op2::kernel
