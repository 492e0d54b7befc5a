// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/verify.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ast.hpp"
#include "base/error.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

// A plain kernel with one of most kinds of statements.
KernelBody whole_kernel() {
  return kernel_with(
      {{.name = "f",
        .result = number(),
        .parameters = {{"p", pointer()}},
        .body = {give(at("p", 0))}},
       function(
           "k", {{"x", pointer()}, {"y", pointer()}},
           {declare("a", number(), call("f", {name("x")})),
            loop("i", 3, {eval(assign(at(name("y"), name("i")), name("a")))}),
            branch(less(name("a"), lit("1.0")),
                   {eval(update(BinaryOp::add, at("y", 0), lit("1.0")))}),
            {.node = While{.condition = less(at("y", 0), lit("2.0")), .body = {{.node = Break{}}}}},
            {.node = Switch{.value = lit("1"),
                            .cases = {{.label = lit("1"), .body = {{.node = Break{}}}}}}},
            give()})});
}

struct Damage {
  std::string name;
  KernelForm form;  // the least that refuses
  std::function<void(Body&)> apply;
  std::string says;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

Expr with_type(Expr expr, const Type& type) {
  expr.type = type;
  return expr;
}
Expr count() {
  return {.node = Unary{UnaryOp::post_increment},
          .operands = {with_type(name("a"), number())},
          .type = number()};
}

class DamagedKernel : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedKernel, IsRefused) {
  KernelBody body = whole_kernel();
  GetParam().apply(body.functions.back().body);
  for (const KernelForm form : {KernelForm::user, KernelForm::named, KernelForm::plain}) {
    if (form < GetParam().form) {
      EXPECT_NO_THROW(verify(body, form));
      continue;
    }
    try {
      verify(body, form);
      FAIL() << "not refused";
    } catch (const InternalError& error) {
      EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
    }
  }
}

const std::vector<Damage> damages{
    {"missing_operand", KernelForm::user,
     [](Body& body) { std::get<If>(body[2].node).condition.operands.pop_back(); }, "operands"},
    {"wrong_type", KernelForm::user,
     [](Body& body) { std::get<If>(body[2].node).condition.type = number(); }, "types"},
    {"type_of_another_variable", KernelForm::user,
     [](Body& body) { std::get<Declare>(body[0].node).variables[0].type = whole(); }, "types"},
    {"statement_in_a_head", KernelForm::user,
     [](Body& body) { std::get<For>(body[1].node).init = {give()}; }, "a loop begins with"},
    {"declared_twice", KernelForm::named,
     [](Body& body) { body.push_back(declare("a", number())); }, "'a' is declared twice"},
    {"parameter_declared_again", KernelForm::named,
     [](Body& body) { std::get<If>(body[2].node).then_body.push_back(declare("x", number())); },
     "'x' is declared twice"},
    {"out_of_scope", KernelForm::named, [](Body& body) { body.push_back(eval(name("i"))); },
     "'i' is used where it is not visible"},
    {"effect_in_a_condition", KernelForm::plain,
     [](Body& body) { std::get<If>(body[2].node).condition = count(); }, "has an effect"},
    {"effect_in_a_test", KernelForm::plain,
     [](Body& body) { std::get<While>(body[3].node).condition = count(); }, "has an effect"},
    {"effect_in_an_initialiser", KernelForm::plain,
     [](Body& body) { std::get<Declare>(body[0].node).variables[0].value = count(); },
     "has an effect"},
    {"effect_in_a_value", KernelForm::plain,
     [](Body& body) {
       auto& update = std::get<If>(body[2].node).then_body[0];
       std::get<Evaluate>(update.node).value.operands[1] = count();
     },
     "has an effect"},
    {"effect_in_a_switch", KernelForm::plain,
     [](Body& body) { std::get<Switch>(body[4].node).value = count(); }, "has an effect"},
    {"comma_in_a_statement", KernelForm::plain,
     [](Body& body) {
       body.push_back(eval(
           {.node = Binary{BinaryOp::comma}, .operands = {count(), count()}, .type = number()}));
     },
     "has an effect"},
};

INSTANTIATE_TEST_SUITE_P(Verify, DamagedKernel, ::testing::ValuesIn(damages),
                         [](const auto& info) { return info.param.name; });

TEST(Verify, PlainKernelsHaveAllForms) {
  for (const KernelForm form : {KernelForm::user, KernelForm::named, KernelForm::plain}) {
    EXPECT_NO_THROW(verify(whole_kernel(), form));
  }
}

TEST(Verify, NamesThatNothingDeclaresAreTheCompilers) {
  EXPECT_NO_THROW(
      verify(kernel_with(Body{eval(assign(at("x", 0), name("c")))}), KernelForm::plain));
}

TEST(Verify, JumpsOutsideOfLoopsAreTheCompilers) {
  const KernelBody body = kernel_with(Body{{.node = Break{}}, {.node = Continue{}}});
  EXPECT_NO_THROW(verify(body, KernelForm::plain));
}

}  // namespace
}  // namespace op2::kernel
