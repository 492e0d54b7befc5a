// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/cost.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

const Expr sum = assign(at("x", 0), add(at("x", 1), at("x", 2)));

std::int64_t cost(Body body) {
  return n_operations(kernel_with(std::move(body)));
}

TEST(Cost, CountsFloatingPointOnly) {
  EXPECT_EQ(cost({eval(sum)}), 1);
  EXPECT_EQ(cost({eval(update(BinaryOp::multiply, at("x", 0), lit("2.0")))}), 1);
  EXPECT_EQ(cost({eval(add(lit("1"), lit("2")))}), 0);
  EXPECT_EQ(cost({eval(call("sqrt", {add(at("x", 0), lit("1.0"))}))}), 2);
  EXPECT_EQ(cost({eval(call("fabs", {lit("1.0")})), eval(call("memcpy", {}))}), 1);
}

TEST(Cost, FunctionsWithVectorsRunAlongRows) {
  FunctionDef twice = function("twice", {{"x", pointer()}}, {eval(sum), eval(sum)});
  const auto work = [&twice] {
    return work_of(
        kernel_with(
            {twice, function("k", {{"x", pointer()}},
                             {eval(sum), loop("i", 5, {eval(call("twice", {name("x")}))})})}),
        {.steps = 100});
  };
  EXPECT_EQ(work().n_operations, 11);
  EXPECT_EQ(work().n_in_rows, 0);
  twice.vector_text = "...";
  EXPECT_EQ(work().n_operations, 11);
  EXPECT_EQ(work().n_in_rows, 10);
}

TEST(Cost, ComplexOperationsAreSeveral) {
  const auto cost_of = [](BinaryOp op) {
    const Type z = scalar(Base::complex128);
    return n_operations(
        kernel_with({function("k", {{"z", z}}, {eval(binary(op, name("z"), name("z")))})}));
  };
  EXPECT_EQ(cost_of(BinaryOp::add), 2);
  EXPECT_EQ(cost_of(BinaryOp::multiply), 6);
  EXPECT_EQ(cost_of(BinaryOp::divide), 11);
}

TEST(Cost, LoopsMultiplyAndBranchesTakeTheDearer) {
  EXPECT_EQ(cost({loop("i", 3, {loop("j", 4, {eval(sum)})})}), 12);
  EXPECT_EQ(cost({branch(less(at("x", 0), lit("0.")), {eval(sum)}, {eval(sum), eval(sum)})}), 2);
  EXPECT_EQ(cost({{.node = While{.condition = at("x", 0), .body = {eval(sum)}}}}), 1);
  const Type constant{.base = Base::int32, .is_const = true, .derivation = {}};
  Stmt counted = loop("i", 0, {eval(sum)});
  std::get<For>(counted.node).condition = less(name("i"), name("n"));
  EXPECT_EQ(cost({declare("n", constant, lit("5")), counted}), 5);
}

/// `for (int j = first; j < end; ++j) x[0] = x[1] + x[2];`
Stmt sums(const std::string& j, Expr first, Expr end) {
  return {.node = For{.init = {declare(j, whole(), std::move(first))},
                      .condition = less(name(j), std::move(end)),
                      .step = unary(UnaryOp::pre_increment, name(j)),
                      .body = {eval(sum)}}};
}

TEST(Cost, LoopsOfUnknownLengthAreTold) {
  const auto is_open = [](Body body) {
    return work_of(kernel_with(std::move(body)), {.steps = 1}).is_open;
  };
  Stmt unknown = loop("j", 0, {eval(sum)});
  std::get<For>(unknown.node).condition = less(name("j"), name("n"));
  EXPECT_TRUE(is_open({unknown}));
  EXPECT_TRUE(is_open({loop("i", 3, {unknown})}));
  EXPECT_TRUE(is_open({{.node = While{.condition = at("x", 0), .body = {eval(sum)}}}}));
  EXPECT_TRUE(is_open({branch(less(at("x", 0), lit("0.")), {unknown}, {eval(sum), eval(sum)})}));
  EXPECT_FALSE(is_open({loop("i", 4, {sums("j", lit("0"), name("i"))})}));
}

TEST(Cost, TheWidestNumbersComputedWithAreTold) {
  const auto bytes = [](Base base) {
    const Expr x = name("z");
    return work_of(kernel_with({function("k", {{"z", scalar(base)}}, {eval(add(x, x))})}),
                   {.steps = 1})
        .float_bytes;
  };
  EXPECT_EQ(bytes(Base::float32), 4);
  EXPECT_EQ(bytes(Base::float64), 8);
  EXPECT_EQ(bytes(Base::complex64), 4);
  EXPECT_EQ(bytes(Base::int64), 0);
}

TEST(Cost, BoundsMayFollowFromOuterLoops) {
  EXPECT_EQ(cost({loop("i", 4, {sums("j", lit("0"), name("i"))})}), 6);
  EXPECT_EQ(cost({loop("i", 4, {sums("j", add(name("i"), lit("1")), lit("4"))})}), 6);
  EXPECT_EQ(cost({loop("i", 4, {loop("j", 5, {sums("k", name("i"), name("j"))})})}),
            4 + 3 + 2 + 1 + 6 + 3 + 1);
  const Type constant{.base = Base::int32, .is_const = true, .derivation = {}};
  EXPECT_EQ(cost({loop("i", 4,
                       {declare("n", constant, mul(lit("2"), name("i"))),
                        sums("j", lit("0"), name("n"))})}),
            12);
  Stmt down = loop("i", 0, {sums("j", lit("0"), name("i"))});
  std::get<For>(down.node).init = {declare("i", whole(), lit("4"))};
  std::get<For>(down.node).condition = binary(BinaryOp::greater, name("i"), lit("0"));
  std::get<For>(down.node).step = unary(UnaryOp::pre_decrement, name("i"));
  EXPECT_EQ(cost({down}), 10);
  EXPECT_EQ(cost({loop("i", 4, {sums("j", lit("0"), name("n"))})}), 4);  // unknown: once
}

TEST(Cost, LongLoopsCountByTheirMiddle) {
  EXPECT_EQ(cost({loop("i", 100001, {sums("j", lit("0"), name("i"))})}), 100001LL * 50000);
}

TEST(Cost, DivisionsAndRootsAreSlow) {
  const Expr root =
      call("sqrt", {binary(BinaryOp::divide, at("x", 0), add(at("x", 1), at("x", 2)))});
  const Work found = work_of(kernel_with({loop("i", 3, {eval(root)})}), {.steps = 6});
  EXPECT_EQ(found, (Work{.n_operations = 9, .n_slow = 6, .float_bytes = 8}));
}

TEST(Cost, CallsOfFunctionsWithVectorFormsAreCounted) {
  const Work found = work_of(kernel_with({loop("i", 3, {eval(call("tanh", {at("x", 0)}))}),
                                          eval(call("floor", {at("x", 1)}))}),
                             {.steps = 6});
  EXPECT_EQ(found, (Work{.n_operations = 4, .n_calls = 3, .float_bytes = 8}));
}

TEST(Cost, LoopsAlongRowsAreCountedApart) {
  const Stmt row = loop(
      "j", 8, {eval(assign(at(name("y"), name("j")), mul(at(name("x"), name("j")), lit("2.0"))))});
  const KernelBody body = kernel_with({row, loop("i", 3, {row}), eval(sum)});
  EXPECT_EQ(work_of(body, {.steps = 6}),
            (Work{.n_operations = 33, .n_in_rows = 32, .float_bytes = 8}));
  EXPECT_EQ(work_of(body, {.steps = 9}), (Work{.n_operations = 33, .float_bytes = 8}));
}

TEST(Cost, HelpersCountAtEachCall) {
  const FunctionDef helper = function("f", {{"x", pointer()}}, {eval(sum)});
  const Stmt use = eval(call("f", {name("x")}));
  EXPECT_EQ(n_operations(kernel_with({helper, function("k", {{"x", pointer()}}, {use, use})})), 2);
}

}  // namespace
}  // namespace op2::kernel
