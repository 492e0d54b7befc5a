// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_printer.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "../kernel/random_expressions.hpp"

namespace op2::cg {
namespace {

using namespace kernel::ast;
using kernel::Body;
using kernel::Kernel;

Kernel named(kernel::KernelBody body, std::string key) {
  Kernel kernel;
  kernel.name = body.entry().name;
  kernel.parameters = body.entry().parameters;
  kernel.body = std::move(body);
  kernel.key = std::move(key);
  return kernel;
}

std::string printed(const Kernel& kernel, const KernelStyle& style = {}) {
  Context context(c_dialect());
  print_kernel(context, kernel, style);
  return context.finish();
}

TEST(KernelPrinter, PrintsPrototypesTablesAndFunctions) {
  const kernel::Type constant{.base = kernel::Base::float64, .is_const = true, .derivation = {}};
  const Kernel kernel =
      named(kernel::ast::kernel_with(
                {function("f", {{"x", pointer()}}, {eval(assign(at("x", 0), name("t")))}),
                 function("k", {{"x", pointer()}},
                          {eval(call("f", {name("x")})),
                           eval(assign(at("x", 1), call("sqrt", {lit("2.0")})))})},
                {{.name = "t", .type = constant, .value = lit("1.0")}}),
            "k");
  EXPECT_EQ(printed(kernel),
            "double sqrt(double);\n"
            "static const double t = 1.0;\n"
            "\n"
            "static inline void f(double *x) {\n"
            "  x[0] = t;\n"
            "}\n"
            "\n"
            "static inline void k(double *x) {\n"
            "  f(x);\n"
            "  x[1] = sqrt(2.0);\n"
            "}\n");
  EXPECT_EQ(printed(kernel, {.prototypes = false}).find("sqrt(double)"), std::string::npos);
}

TEST(KernelPrinter, PrintsVectorsOfFunctionsForHosts) {
  kernel::FunctionDef copy = function("copy", {{"to", pointer()}, {"from", pointer()}},
                                      {eval(assign(at("to", 0), at("from", 0)))});
  copy.vector_text = "*(v2 *)$0 = *(const v2 *)$1;";
  const Kernel kernel = named(
      kernel::ast::kernel_with(
          {copy, function("k", {{"x", pointer()}}, {eval(call("copy", {name("x"), name("x")}))})},
          {}),
      "k");
  const std::string host = printed(kernel);
  EXPECT_NE(host.find("op2_wide static inline void copy(double *to, double *from) {\n"
                      "  *(v2 *)to = *(const v2 *)from;\n}\n"),
            std::string::npos)
      << host;
  EXPECT_EQ(host.find("to[0] = from[0];"), std::string::npos);
  Context context(opencl_dialect());
  print_kernel(context, kernel, {});
  const std::string device = context.finish();
  EXPECT_NE(device.find("to[0] = from[0];"), std::string::npos) << device;
  EXPECT_EQ(device.find("v2"), std::string::npos);
}

TEST(KernelPrinter, DefinesMinimaAndMaximaThatAreCalled) {
  const Kernel kernel =
      named(kernel::ast::kernel_with(
                {eval(assign(at("x", 0), call("fmin", {at("x", 1), lit("2.0")}))),
                 eval(assign(at("x", 1), call("__builtin_fmaxf", {at("x", 1), at("x", 0)})))}),
            "k");
  EXPECT_EQ(printed(kernel),
            "static inline float op2_fmaxf(float a, float b) {\n"
            "  const float found = a > b ? a : b;\n"
            "  return b != b ? a : found;\n"
            "}\n"
            "\n"
            "static inline double op2_fmin(double a, double b) {\n"
            "  const double found = a < b ? a : b;\n"
            "  return b != b ? a : found;\n"
            "}\n"
            "\n"
            "static inline void k(double *x, double *y) {\n"
            "  x[0] = op2_fmin(x[1], 2.0);\n"
            "  x[1] = op2_fmaxf(x[1], x[0]);\n"
            "}\n");
}

TEST(KernelPrinter, PutsABlockAroundWhatHidesTheCounterOfALoop) {
  const Kernel kernel = named(
      kernel::ast::kernel_with({loop("i", 2, {declare("i", number()), eval(name("i"))})}), "k");
  EXPECT_EQ(printed(kernel),
            "static inline void k(double *x, double *y) {\n"
            "  for (int i = 0; i < 2; ++i) {\n"
            "    {\n"
            "      double i;\n"
            "      i;\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(KernelPrinter, TellsTheCompilerWhatToUnroll) {
  kernel::Stmt steps = loop("i", 10, {eval(assign(at("x", 0), lit("1.0")))});
  std::get<kernel::For>(steps.node).is_unrolled = true;
  EXPECT_EQ(printed(named(kernel::ast::kernel_with({std::move(steps)}), "k")),
            "static inline void k(double *x, double *y) {\n"
            "  #pragma unroll\n"
            "  for (int i = 0; i < 10; ++i) {\n"
            "    x[0] = 1.0;\n"
            "  }\n"
            "}\n");
}

TEST(KernelPrinter, PrintsEveryStatement) {
  const kernel::Expr x = at("x", 0);
  const Kernel kernel = named(
      kernel::ast::kernel_with(kernel::Body{
          branch(x, {eval(x)}, {branch(x, {}, {give()})}),
          loop("i", 2, {{.node = kernel::Continue{}}}),
          {.node = kernel::For{}},
          {.node = kernel::While{.condition = assign(x, x), .body = {{.node = kernel::Break{}}}}},
          {.node = kernel::While{.condition = x, .body = {}, .is_do = true}},
          {.node =
               kernel::Switch{.value = lit("1"),
                              .cases = {{.label = lit("2"), .body = {{.node = kernel::Break{}}}},
                                        {.label = std::nullopt, .body = {}}}}},
          {.node = kernel::Block{{declare("a", array(number(), 2))}}}}),
      "k");
  EXPECT_EQ(printed(kernel),
            "static inline void k(double *x, double *y) {\n"
            "  if (x[0]) {\n"
            "    x[0];\n"
            "  } else if (x[0]) {\n"
            "  } else {\n"
            "    return;\n"
            "  }\n"
            "  for (int i = 0; i < 2; ++i) {\n"
            "    continue;\n"
            "  }\n"
            "  for (;;) {\n"
            "  }\n"
            "  while ((x[0] = x[0])) {\n"
            "    break;\n"
            "  }\n"
            "  do {\n"
            "  } while (x[0]);\n"
            "  switch (1) {\n"
            "    case 2:\n"
            "    break;\n"
            "    default: ;\n"
            "  }\n"
            "  {\n"
            "    double a[2];\n"
            "  }\n"
            "}\n");
}

TEST(KernelPrinter, TwoKernelsOfOneNameLiveInOneText) {
  const Kernel one = named(kernel::ast::kernel_with(kernel::Body{eval(at("x", 0))}), "one");
  const Kernel two = named(kernel::ast::kernel_with(kernel::Body{eval(at("x", 1))}), "two");
  Context context(c_dialect());
  const std::string first = print_kernel(context, one);
  const std::string second = print_kernel(context, two);
  EXPECT_EQ(first, "k");
  EXPECT_NE(second, "k");
  EXPECT_EQ(print_kernel(context, one), first);
  const std::string text = context.finish();
  EXPECT_NE(text.find("void " + second + "("), std::string::npos);
  EXPECT_EQ(text.find("x[0]"), text.rfind("x[0]"));
}

TEST(KernelPrinter, OpaqueTextIsVerbatim) {
  Kernel kernel;
  kernel.name = "jump";
  kernel.text = "void jump(double *x) { goto e; e: ; }";
  kernel.headers = {"<stdlib.h>"};
  EXPECT_EQ(printed(kernel), "#include <stdlib.h>\n" + kernel.text + "\n");
  EXPECT_NE(printed(kernel, {.line_markers = true}).find("#line 1 \"<kernel jump>\"\nvoid jump"),
            std::string::npos);
}

TEST(KernelPrinter, MarksLines) {
  const std::string text =
      printed(named(kernel::ast::kernel_with(kernel::Body{eval(at("x", 0), 12)}), "k"),
              {.line_markers = true});
  EXPECT_NE(text.find("#line 12 \"<kernel k>\"\n  x[0];"), std::string::npos);
}

TEST(KernelPrinter, VerbatimTextIsRenamedWhereGeneratedCodeNeedsItsName) {
  Kernel kernel;
  kernel.name = "target";
  kernel.text = "void target(double *x) {}\n";
  kernel.headers = {"\"a.h\""};
  Context context(c_dialect());
  EXPECT_EQ(print_kernel(context, kernel), "target_kernel");
  EXPECT_EQ(context.finish(),
            "#define target target_kernel\n#include \"a.h\"\nvoid target(double *x) {}\n"
            "#undef target\n");
  kernel.name = "other";
  EXPECT_EQ(printed(kernel), "#include \"a.h\"\nvoid target(double *x) {}\n");
}

TEST(KernelPrinter, NoShapeOfAnExpressionMisleadsIt) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Kernel kernel = named(RandomExpressions(seed).body(4, 1 + static_cast<int>(seed % 4)),
                                std::to_string(seed));
    for (const Dialect* dialect : {&c_dialect(), &opencl_dialect(), &cuda_dialect()}) {
      Context context(*dialect);
      try {
        print_kernel(context, kernel, {});
        EXPECT_NE(context.finish().find("k("), std::string::npos) << seed;
      } catch (const std::exception& error) {
        ADD_FAILURE() << dialect->name << ", seed " << seed << ": " << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace op2::cg
