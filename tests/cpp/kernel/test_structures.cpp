// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/structures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ast.hpp"
#include "base/error.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Type structure(const std::string& tag) {
  Type type = scalar(Base::structure);
  type.tag = tag;
  return type;
}
Expr member(Expr of, std::string what) {
  return {.node = MemberOf{std::move(what)}, .operands = {std::move(of)}, .type = {}};
}
Expr list(std::vector<Expr> items) {
  return {.node = InitList{}, .operands = std::move(items), .type = {}};
}
Expr behind(Expr pointer) {
  return unary(UnaryOp::dereference, std::move(pointer));
}
Expr address_of(Expr place) {
  return unary(UnaryOp::address, std::move(place));
}

/// `struct V { double x; int n[2]; }`, and a structure that points to its own kind.
KernelBody with_structures(std::vector<FunctionDef> functions) {
  KernelBody body{.tables = {}, .functions = std::move(functions)};
  body.structures.push_back(
      {.name = "V", .members = {{"x", number(), 0}, {"n", array(whole(), 2), 0}}, .line = 0});
  body.structures.push_back(
      {.name = "L", .members = {{"next", pointer_to(structure("L")), 0}}, .line = 0});
  return infer_types(std::move(body));
}
FunctionDef kernel_of(Body body) {
  return function("k", {{"x", pointer(), 0}}, std::move(body));
}

/// The kernel without structures is @p expected.
void expect_split(std::vector<FunctionDef> given, std::vector<FunctionDef> expected) {
  EXPECT_EQ(without_structures(with_structures(std::move(given))),
            kernel_with(std::move(expected)));
}
void expect_split(Body given, Body expected) {
  expect_split({kernel_of(std::move(given))}, {kernel_of(std::move(expected))});
}
std::string refusal(Body body) {
  try {
    (void)without_structures(with_structures({kernel_of(std::move(body))}));
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "";
}

TEST(KernelStructures, MembersAreVariables) {
  expect_split({declare("v", structure("V")), eval(assign(member(name("v"), "x"), lit("1.0"))),
                eval(assign(at(member(name("v"), "n"), lit("1")), lit("2")))},
               {declare("v_x", number()), declare("v_n", array(whole(), 2)),
                eval(assign(name("v_x"), lit("1.0"))), eval(assign(at("v_n", 1), lit("2")))});
}

TEST(KernelStructures, ArraysAndPointersAreThoseOfEachMember) {
  Type pairs = pointer_to(array(whole(), 2));
  expect_split({declare("v", array(structure("V"), 3)),
                declare("p", pointer_to(structure("V")), add(name("v"), lit("1"))),
                eval(assign(member(at("v", 2), "x"), member(behind(name("p")), "x"))),
                eval(unary(UnaryOp::pre_increment, name("p")))},
               {declare("v_x", array(number(), 3)), declare("v_n", array(array(whole(), 2), 3)),
                declare("p_x", pointer(), add(name("v_x"), lit("1"))),
                declare("p_n", std::move(pairs), add(name("v_n"), lit("1"))),
                eval(assign(at("v_x", 2), behind(name("p_x")))),
                eval(unary(UnaryOp::pre_increment, name("p_x"))),
                eval(unary(UnaryOp::pre_increment, name("p_n")))});
}

TEST(KernelStructures, ValuesAreCopiedMemberByMember) {
  expect_split(
      {declare("v", structure("V"), list({lit("1.0"), list({lit("2")})})),
       declare("w", structure("V"), name("v")), eval(assign(name("v"), name("w")))},
      {declare("v_x", number(), lit("1.0")), declare("v_n", array(whole(), 2), list({lit("2")})),
       declare("w_x", number(), name("v_x")), declare("w_n", array(whole(), 2)),
       eval(assign(at("w_n", 0), at("v_n", 0))), eval(assign(at("w_n", 1), at("v_n", 1))),
       eval(assign(name("v_x"), name("w_x"))), eval(assign(at("v_n", 0), at("w_n", 0))),
       eval(assign(at("v_n", 1), at("w_n", 1)))});
}

TEST(KernelStructures, WhatIsMadeInPlaceIsMadeBeforeItIsStored) {
  const Expr made =
      cast(structure("V"), list({member(name("v"), "x"), list({lit("1"), lit("2")})}));
  expect_split(
      {declare("v", structure("V")), eval(assign(name("v"), made))},
      {declare("op2_struct_x", number()), declare("op2_struct_n", array(whole(), 2)),
       declare("v_x", number()), declare("v_n", array(whole(), 2)),
       eval(assign(name("op2_struct_x"), name("v_x"))),
       eval(assign(at("op2_struct_n", 0), lit("1"))), eval(assign(at("op2_struct_n", 1), lit("2"))),
       eval(assign(name("v_x"), name("op2_struct_x"))),
       eval(assign(at("v_n", 0), at("op2_struct_n", 0))),
       eval(assign(at("v_n", 1), at("op2_struct_n", 1)))});
}

TEST(KernelStructures, ResultsComeThroughPointers) {
  FunctionDef given = function("same", {{"v", structure("V"), 0}}, {give(name("v"))});
  given.result = structure("V");
  const Type numbers = pointer_to(whole());
  FunctionDef same =
      function("same",
               {{"v_x", number(), 0},
                {"v_n_given", numbers, 0},
                {"op2_result_x", pointer(), 0},
                {"op2_result_n", numbers, 0}},
               {declare("v_n", array(whole(), 2)), eval(assign(at("v_n", 0), at("v_n_given", 0))),
                eval(assign(at("v_n", 1), at("v_n_given", 1))),
                eval(assign(behind(name("op2_result_x")), name("v_x"))),
                eval(assign(at("op2_result_n", 0), at("v_n", 0))),
                eval(assign(at("op2_result_n", 1), at("v_n", 1))), give()});
  const Expr called = call(
      "same", {name("v_x"), name("v_n"), address_of(name("op2_value1_x")), name("op2_value1_n")});
  expect_split(
      {given, kernel_of({declare("v", structure("V")),
                         eval(assign(at("x", 0), member(call("same", {name("v")}), "x")))})},
      {same,
       kernel_of({declare("v_x", number()), declare("v_n", array(whole(), 2)),
                  declare("op2_value1_x", number()), declare("op2_value1_n", array(whole(), 2)),
                  eval(called), eval(assign(at("x", 0), name("op2_value1_x")))})});
}

TEST(KernelStructures, WhatAChoiceMakesIsMadeInItsBranch) {
  const Expr made = cast(structure("V"), list({lit("1.0"), list({lit("2"), lit("3")})}));
  const KernelBody body = without_structures(with_structures({kernel_of(
      {declare("v", structure("V")),
       eval(assign(at("x", 0),
                   member(ternary(less(at("x", 1), lit("0.0")), made, name("v")), "x")))})}));
  const Body& split = body.entry().body;
  const auto& branch = std::get<If>(split[split.size() - 2].node);
  EXPECT_EQ(branch.then_body.size(), 6U);  // three scalars are made, and stored
  EXPECT_EQ(branch.else_body.size(), 3U);
  EXPECT_TRUE(body.structures.empty());
}

TEST(KernelStructures, StepsOfPointersToSomeMayHaveValues) {
  const Type pointer_to_v = pointer_to(structure("V"));
  expect_split(
      {declare("v", array(structure("V"), 2)), declare("p", pointer_to_v, name("v")),
       eval(assign(at("x", 0), member(behind(unary(UnaryOp::post_increment, name("p"))), "x")))},
      {declare("v_x", array(number(), 2)), declare("v_n", array(array(whole(), 2), 2)),
       declare("p_x", pointer(), name("v_x")),
       declare("p_n", pointer_to(array(whole(), 2)), name("v_n")),
       declare("op2_value1_x", pointer(), name("p_x")),
       declare("op2_value1_n", pointer_to(array(whole(), 2)), name("p_n")),
       eval(unary(UnaryOp::post_increment, name("p_x"))),
       eval(unary(UnaryOp::post_increment, name("p_n"))),
       eval(assign(at("x", 0), behind(name("op2_value1_x"))))});
}

TEST(KernelStructures, OneThatALoopDeclaresStandsInABlockWithTheLoop) {
  const auto forever = [](Body init) {
    return Stmt{.node = For{.init = std::move(init), .condition = {}, .step = {}, .body = {}}};
  };
  const Expr start = list({lit("0"), list({lit("0")})});
  expect_split({forever({declare("v", structure("V"), start)})},
               {Stmt{.node = Block{.body = {declare("v_x", number(), lit("0")),
                                            declare("v_n", array(whole(), 2), list({lit("0")})),
                                            forever({})}}}});
}

Expr size_of(Type type) {
  return {.node = SizeOf{std::move(type)}, .operands = {}, .type = {}};
}

TEST(KernelStructures, WholeOnesAreSetToZeroAndCopiedByTheirMembers) {
  const Type v = structure("V");
  expect_split(
      {declare("v", v), declare("w", v),
       eval(call("memset", {address_of(name("v")), lit("0"), size_of(v)})),
       eval(call("memcpy", {address_of(name("w")), address_of(name("v")), lit("16")}))},
      {declare("v_x", number()), declare("v_n", array(whole(), 2)), declare("w_x", number()),
       declare("w_n", array(whole(), 2)), eval(assign(name("v_x"), lit("0"))),
       eval(assign(at("v_n", 0), lit("0"))), eval(assign(at("v_n", 1), lit("0"))),
       eval(assign(name("w_x"), name("v_x"))), eval(assign(at("w_n", 0), at("v_n", 0))),
       eval(assign(at("w_n", 1), at("v_n", 1)))});
}

TEST(KernelStructures, ManyAreTreatedAMemberAtATime) {
  const Type v = structure("V");
  const Type untyped = pointer_to(scalar(Base::none));
  const auto bytes = [](const std::string& n, Type type) {
    return binary(BinaryOp::multiply, name(n), size_of(std::move(type)));
  };
  expect_split(
      {declare("v", array(v, 3)), declare("m", whole(), lit("2")),
       eval(call("memset", {cast(untyped, name("v")), lit("1"), bytes("m", v)})),
       eval(call("memmove", {name("v"), add(name("v"), lit("1")), bytes("m", v)}))},
      {declare("v_x", array(number(), 3)), declare("v_n", array(array(whole(), 2), 3)),
       declare("m", whole(), lit("2")),
       eval(call("memset", {name("v_x"), lit("1"), bytes("m", number())})),
       eval(call("memset", {name("v_n"), lit("1"), bytes("m", array(whole(), 2))})),
       eval(call("memmove", {name("v_x"), add(name("v_x"), lit("1")), bytes("m", number())})),
       eval(call("memmove",
                 {name("v_n"), add(name("v_n"), lit("1")), bytes("m", array(whole(), 2))}))});
}

TEST(KernelStructures, RefuseWhatIsUsedWhole) {
  const auto v = [] { return declare("v", structure("V")); };
  const auto zeros = [](Expr to, Expr bytes) {
    return call("memset", {std::move(to), lit("0"), std::move(bytes)});
  };
  EXPECT_EQ(refusal({v(), eval(zeros(address_of(name("v")), lit("8")), 7)}),
            "line 7: it calls 'memset' on a part of a struct");
  EXPECT_EQ(refusal({v(), eval(call("memcpy", {address_of(name("v")), name("x"), lit("16")}), 7)}),
            "line 7: it calls 'memcpy' on a struct and something else");
  EXPECT_EQ(refusal({v(), declare("p", pointer(), zeros(address_of(name("v")), lit("16")))}),
            "line 0: it calls 'memset' on a struct");
  EXPECT_EQ(
      refusal({v(),
               eval(call("memcmp", {address_of(name("v")), address_of(name("v")), lit("16")}), 7)}),
      "line 7: it calls 'memcmp' on a struct");
  EXPECT_EQ(refusal({declare("l", structure("L"))}), "line 0: a 'struct L' points to its own kind");
  EXPECT_EQ(refusal({declare("p", pointer_to(structure("V")),
                             cast(pointer_to(structure("V")), name("x")))}),
            "line 0: a pointer is cast to another type");
  EXPECT_EQ(refusal({eval(assign(name("x"), cast(pointer(), address_of(name("x")))))}), "");
}

TEST(KernelStructures, RefuseAKernelThatTakesOne) {
  const KernelBody body =
      with_structures({function("k", {{"v", pointer_to(structure("V")), 3}}, {})});
  EXPECT_THROW((void)without_structures(body), UnsupportedError);
}

TEST(KernelStructures, SizesAreThoseOfTheStructure) {
  expect_split({eval(assign(at("x", 0), size_of(structure("V"))))},
               {eval(assign(at("x", 0), lit("16ul")))});
}

}  // namespace
}  // namespace op2::kernel
