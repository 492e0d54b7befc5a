// SPDX-License-Identifier: BSD-3-Clause
#include "cg/adapt.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cg/kernel_printer.hpp"

namespace op2::cg {
namespace {

using kernel::Base;
using kernel::Expr;

Expr name_of(const std::string& name, kernel::Type type) {
  return {kernel::Name{name}, {}, std::move(type), 1};
}
Expr number_literal(const std::string& spelling, Base base = Base::int32) {
  return {kernel::Literal{spelling}, {}, kernel::scalar(base), 1};
}
Expr call_of(const std::string& function, std::vector<Expr> arguments, Base result) {
  return {kernel::Call{function}, std::move(arguments), kernel::scalar(result), 1};
}
Expr entry(Expr array, Expr index) {
  const kernel::Type type = kernel::element_of(array.type);
  return {kernel::Index{}, {std::move(array), std::move(index)}, type, 1};
}
Expr set_to(Expr target, Expr value) {
  const kernel::Type type = target.type;
  return {kernel::Assign{}, {std::move(target), std::move(value)}, type, 1};
}
kernel::Stmt evaluate(Expr value) {
  return {kernel::Evaluate{std::move(value)}, 1};
}

kernel::Type array_of(Base base, std::int64_t extent) {
  kernel::Type type = kernel::scalar(base);
  type.is_const = true;
  type.derivation = {{.kind = kernel::Derivation::Kind::array, .extent = extent}};
  return type;
}

const kernel::Type to_numbers = kernel::pointer_to(kernel::scalar(Base::float64));

kernel::FunctionDef function_of(const std::string& name, const std::string& parameter,
                                kernel::Body body) {
  kernel::FunctionDef out;
  out.name = name;
  out.result = kernel::scalar(Base::none);
  out.parameters = {{parameter, to_numbers, 1}};
  out.body = std::move(body);
  return out;
}

std::string adapted_text(const kernel::KernelBody& body, const Dialect& dialect) {
  kernel::Kernel kernel;
  kernel.name = body.entry().name;
  kernel.key = "k";
  kernel.body = body;
  Context context(dialect);
  (void)print_kernel(context, kernel);
  return context.finish();
}

/// `static const double w[2] = {1, 2}; x[0] = w[1];`, and then `inner(w)` if asked for.
kernel::KernelBody with_table(bool passes_it_on) {
  kernel::Variable table{
      "w", array_of(Base::float64, 2),
      Expr{kernel::InitList{}, {number_literal("1"), number_literal("2")}, {}, 1}, 1};
  const Expr use = name_of("w", table.type);
  kernel::Body body{{kernel::Declare{true, {table}}, 1},
                    evaluate(set_to(entry(name_of("x", to_numbers), number_literal("0")),
                                    entry(use, number_literal("1"))))};
  if (passes_it_on) body.push_back(evaluate(call_of("inner", {use}, Base::none)));
  kernel::FunctionDef inner = function_of("inner", "y", {});
  return {{}, {std::move(inner), function_of("k", "x", std::move(body))}};
}

TEST(Adapt, ATableIsKnownByItsNameAlone) {
  kernel::Variable table{
      "w", array_of(Base::float64, 2),
      Expr{kernel::InitList{}, {number_literal("1"), number_literal("2")}, {}, 1}, 1};
  const Expr call_inner = call_of("inner", {name_of("w", table.type)}, Base::none);
  const kernel::FunctionDef inner =
      function_of("inner", "w",
                  {evaluate(set_to(entry(name_of("w", to_numbers), number_literal("0")),
                                   number_literal("3")))});
  const kernel::KernelBody body{{table}, {inner, function_of("k", "x", {evaluate(call_inner)})}};
  const std::string text = adapted_text(body, opencl_dialect());
  EXPECT_NE(text.find("void inner(double *w) {\n  w[0] = 3;"), std::string::npos) << text;
  EXPECT_NE(text.find("__constant const double w_[2] = {1, 2};"), std::string::npos) << text;
  EXPECT_NE(text.find("inner(w__copy);"), std::string::npos) << text;
}

TEST(Adapt, StaticTablesMoveToFileScope) {
  EXPECT_EQ(adapted_text(with_table(false), opencl_dialect()),
            "__constant const double table_w[2] = {1, 2};\n"
            "\n"
            "static inline void inner(double *y) {\n"
            "}\n"
            "\n"
            "static inline void k(double *x) {\n"
            "  x[0] = table_w[1];\n"
            "}\n");
  EXPECT_EQ(adapted_text(with_table(false), cuda_dialect()).substr(0, 40),
            "static __constant__ const double table_w");
}

TEST(Adapt, OnlyWhatFitsGoesIntoConstantMemory) {
  kernel::KernelBody body = with_table(false);
  kernel::Variable large =
      std::get<kernel::Declare>(body.functions[1].body.front().node).variables[0];
  large.name = "large";
  large.type = array_of(Base::float64, 8000);
  kernel::Variable first = large;
  first.name = "first";
  first.type = array_of(Base::float64, 7600);
  body.tables = {large, first};
  const std::string text = adapted_text(body, cuda_dialect());
  EXPECT_NE(text.find("static __device__ const double large[8000]"), std::string::npos) << text;
  EXPECT_NE(text.find("static __constant__ const double first[7600]"), std::string::npos) << text;
  EXPECT_NE(text.find("static __constant__ const double table_w[2]"), std::string::npos) << text;
  const std::string opencl = adapted_text(body, opencl_dialect());
  EXPECT_NE(opencl.find("__constant const double large[8000]"), std::string::npos) << opencl;
}

TEST(Adapt, ATableWhoseAddressIsPassedOnIsCopiedWhereItMustBe) {
  const std::string text = adapted_text(with_table(true), opencl_dialect());
  EXPECT_NE(text.find("  const double table_w_copy[2] = {1, 2};\n"
                      "  x[0] = table_w_copy[1];\n"
                      "  inner(table_w_copy);\n"),
            std::string::npos)
      << text;
  const std::string cuda = adapted_text(with_table(true), cuda_dialect());
  EXPECT_NE(cuda.find("inner(table_w);"), std::string::npos) << cuda;
}

TEST(Adapt, LanesLookTablesUpWhereTheyAre) {
  kernel::KernelBody body = with_table(false);
  kernel::Body& statements = body.functions[1].body;
  const Expr table = name_of("w", array_of(Base::float64, 2));
  const Expr first = entry(table, number_literal("0"));
  const Expr address{kernel::Unary{kernel::UnaryOp::address},
                     {first},
                     kernel::pointer_to(kernel::scalar(Base::float64)),
                     1};
  Expr found = call_of("op2_lookup_float64x4",
                       {address, name_of("i", kernel::on_lanes(Base::int64, 4))}, Base::float64);
  found.type = kernel::on_lanes(Base::float64, 4);
  statements.push_back(evaluate(found));
  const std::string text = adapted_text(body, opencl_dialect());
  EXPECT_NE(text.find("op2_table_float64x4(&table_w[0], i);"), std::string::npos) << text;
  EXPECT_NE(text.find("op2_table_float64x4(const __constant double *from,"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("_copy"), std::string::npos) << text;
}

TEST(Adapt, WordsOfTheDialectAreRenamed) {
  const kernel::KernelBody body{
      {},
      {function_of("max", "global", {}),
       function_of("half", "x",
                   {evaluate(call_of("max", {name_of("x", to_numbers)}, Base::none))})}};
  EXPECT_EQ(adapted_text(body, opencl_dialect()),
            "static inline void max_(double *global_) {\n"
            "}\n"
            "\n"
            "static inline void half_(double *x) {\n"
            "  max_(x);\n"
            "}\n");
  EXPECT_EQ(adapted_text(body, cuda_dialect()),
            "static __device__ inline void max_(double *global) {\n"
            "}\n"
            "\n"
            "static __device__ inline void half(double *x) {\n"
            "  max_(x);\n"
            "}\n");
}

TEST(Adapt, FunctionsOfAKernelAreNotTakenForThoseOfTheLibrary) {
  for (const std::string name : {"abs", "fabsf", "isnan"}) {
    const Expr call = call_of(name, {name_of("x", to_numbers)}, Base::none);
    const kernel::KernelBody body{
        {}, {function_of(name, "a", {}), function_of("k", "x", {evaluate(call)})}};
    for (const Dialect& dialect : {opencl_dialect(), cuda_dialect()}) {
      const std::string text = adapted_text(body, dialect);
      EXPECT_NE(text.find("void " + name + "_(double *a)"), std::string::npos) << text;
      EXPECT_NE(text.find("  " + name + "_(x);"), std::string::npos) << text;
    }
    EXPECT_EQ(adapted(body, c_dialect()), body);
  }
}

TEST(Adapt, LibraryCallsGetTheTypesThatCConvertsTo) {
  const Expr x = entry(name_of("x", to_numbers), number_literal("0"));
  const auto printed = [&x](const Expr& value, const Dialect& dialect) {
    const std::string text =
        adapted_text({{}, {function_of("k", "x", {evaluate(set_to(x, value))})}}, dialect);
    const std::size_t at = text.find("x[0] = ") + 7;
    return text.substr(at, text.find(';') - at);
  };
  const Expr power = call_of("pow", {x, number_literal("2")}, Base::float64);
  EXPECT_EQ(printed(power, opencl_dialect()), "pow(x[0], (double)2)");
  EXPECT_EQ(printed(power, cuda_dialect()), "pow(x[0], (double)2)");
  const Expr single = call_of("fabsf", {x}, Base::float32);
  EXPECT_EQ(printed(single, opencl_dialect()), "fabs((float)x[0])");
  EXPECT_EQ(printed(single, cuda_dialect()), "fabsf((float)x[0])");
  const Expr magnitude = call_of("abs", {number_literal("3")}, Base::int32);
  EXPECT_EQ(printed(magnitude, opencl_dialect()), "(int)abs(3)");
  const Expr infinity = call_of("__builtin_inf", {}, Base::float64);
  EXPECT_EQ(printed(infinity, opencl_dialect()), "(double)INFINITY");
}

/// The function whose list `{item}` initialises an array of this type.
std::string text_of_list(kernel::Type type, Expr item) {
  kernel::Variable list{"r", std::move(type), Expr{kernel::InitList{}, {std::move(item)}, {}, 1},
                        1};
  return adapted_text(
      {{}, {function_of("k", "x", {{kernel::Declare{false, {std::move(list)}}, 1}})}},
      cuda_dialect());
}

TEST(Adapt, NumbersOfAListAreConvertedAndPointersAreNot) {
  kernel::Type numbers = array_of(Base::float64, 1);
  numbers.is_const = false;
  const std::string converted = text_of_list(numbers, name_of("n", kernel::scalar(Base::int32)));
  EXPECT_NE(converted.find("double r[1] = {(double)n};"), std::string::npos) << converted;
  kernel::Type pointers = numbers;
  pointers.derivation.push_back({.kind = kernel::Derivation::Kind::pointer});
  const std::string kept = text_of_list(pointers, name_of("x", to_numbers));
  EXPECT_NE(kept.find("double *r[1] = {x};"), std::string::npos) << kept;
}

TEST(Adapt, CKeepsItsKernels) {
  const kernel::KernelBody body = with_table(true);
  EXPECT_EQ(adapted(body, c_dialect()), body);
}

}  // namespace
}  // namespace op2::cg
