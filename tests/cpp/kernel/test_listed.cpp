// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/listed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "ast.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

constexpr ListedRows pairs{.dim = 2, .stride = 3, .component = 1, .index = Base::int32};
constexpr ListedRows scalars{.dim = 1, .stride = 1, .component = 0, .index = Base::int64};

KernelBody reading(Body body) {
  return infer_types(
      kernel_with({function("k", {{"q", pointer()}, {"g", pointer()}}, std::move(body))}, {}));
}

/// The only value that is read in place: `g[0] = q[...]`, in a loop or not.
const Expr& place_in(const Body& body) {
  const Body* inner = &body;
  while (const auto* loop = std::get_if<For>(&inner->front().node)) inner = &loop->body;
  return std::get<Evaluate>(inner->front().node).value.operands[1].operands[1];
}

Expr listed(Expr row) {
  return make::cast(scalar(Base::int64), make::index(name("q_rows"), std::move(row)));
}

void expect_place(const std::optional<KernelBody>& made, const Expr& wanted) {
  ASSERT_TRUE(made);
  EXPECT_EQ(made->entry().parameters.back().name, "q_rows");
  // compared in a kernel, so that types are the same
  KernelBody other = *made;
  Body* inner = &other.functions.back().body;
  while (auto* loop = std::get_if<For>(&inner->front().node)) inner = &loop->body;
  std::get<Evaluate>(inner->front().node).value.operands[1].operands[1] = wanted;
  EXPECT_EQ(place_in(infer_types(std::move(other)).entry().body), place_in(made->entry().body));
}

TEST(WithList, ReadsScalarsByTheirNumbers) {
  const KernelBody body = reading({eval(assign(at("g", 0), at(name("q"), at("g", 1))))});
  expect_place(with_list(body, 0, scalars), listed(at("g", 1)));
}

TEST(WithList, TakesSubscriptsApart) {
  const auto at_place = [](Expr place) {
    return reading({loop("c", 2, {eval(assign(at("g", 0), at(name("q"), std::move(place))))})});
  };
  const auto row_and = [](Expr row, Expr component) {
    return make::sum(BinaryOp::add, make::times(listed(std::move(row)), 3), std::move(component));
  };
  expect_place(with_list(at_place(add(mul(lit("2"), name("i")), name("c"))), 0, pairs),
               row_and(name("i"), make::binary(BinaryOp::add, name("c"), make::number(1))));
  expect_place(with_list(at_place(add(mul(name("i"), lit("4")), lit("3"))), 0, pairs),
               row_and(make::sum(BinaryOp::add, make::times(name("i"), 2), make::number(1)),
                       make::number(2)));
  expect_place(with_list(at_place(lit("5")), 0, pairs), row_and(make::number(2), make::number(2)));
}

TEST(WithList, DividesWhereNothingElseIsKnown) {
  const KernelBody body = reading({eval(assign(at("g", 0), at(name("q"), name("i"))))});
  const Expr rest = make::binary(BinaryOp::modulo, name("i"), make::number(2));
  expect_place(with_list(body, 0, pairs),
               make::binary(BinaryOp::add, make::times(listed(make::over(name("i"), 2)), 3),
                            make::binary(BinaryOp::add, rest, make::number(1))));
}

TEST(WithList, PointsOutsideOfTheElement) {
  const auto made = with_list(reading({eval(assign(at("g", 0), at("q", 0)))}), 0, scalars);
  ASSERT_TRUE(made);
  const std::vector<Parameter>& parameters = made->entry().parameters;
  EXPECT_TRUE(parameters[0].type.is_const && parameters[0].type.is_outside);
  EXPECT_TRUE(parameters[2].type.is_const && parameters[2].type.is_outside);
  EXPECT_EQ(parameters[2].type.base, Base::int64);
  EXPECT_FALSE(parameters[1].type.is_outside);
}

TEST(WithList, IsNotPossibleWhereTheArrayIsMoreThanWhatIsReadOfIt) {
  const auto is_possible = [](Expr value) {
    return with_list(reading({eval(std::move(value))}), 0, scalars).has_value();
  };
  EXPECT_TRUE(is_possible(assign(at("g", 0), unary(UnaryOp::dereference, name("q")))));
  EXPECT_FALSE(is_possible(assign(at("q", 0), lit("1"))));
  EXPECT_FALSE(is_possible(assign(name("g"), name("q"))));
  EXPECT_FALSE(is_possible(call("f", {name("q")})));
  EXPECT_FALSE(is_possible(assign(name("g"), unary(UnaryOp::address, at("q", 3)))));
  EXPECT_FALSE(is_possible(at(add(name("q"), lit("1")), lit("0"))));
  EXPECT_FALSE(with_list(reading({}), 2, scalars));
}

}  // namespace
}  // namespace op2::kernel
