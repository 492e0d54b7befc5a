// SPDX-License-Identifier: BSD-3-Clause
#include "cg/context.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace op2::cg {
namespace {

void write_helper(Context& context, const std::string& name) {
  const Scope helper = context.function(fmt::format("static int {}(int a)", name));
  context.statement("return a;");
}

TEST(Context, IndentsAFunction) {
  Context context(c_dialect(), {.indent = 4});
  {
    const Scope function = context.function("void f(int n)");
    context.comment("Sum.\nSlowly.");
    context.begin_branch("for (int i = 0; i < n; ++i)");
    context.statement("s += i;");
    context.end_branch();
    context.blank_line();
    context.begin_branch("do");
    context.statement("#line 3 \"k\"\nif (s)\n  --s;");
    context.end_branch("while (s);");
  }
  EXPECT_EQ(context.finish(),
            "void f(int n) {\n"
            "    // Sum.\n"
            "    // Slowly.\n"
            "    for (int i = 0; i < n; ++i) {\n"
            "        s += i;\n"
            "    }\n"
            "\n"
            "    do {\n"
            "#line 3 \"k\"\n"
            "        if (s)\n"
            "          --s;\n"
            "    } while (s);\n"
            "}\n");
}

TEST(Context, PutsTextBetweenFunctions) {
  Context context(c_dialect());
  context.top_level("typedef struct {\n  int x;\n} pair;");
  context.top_level("double sqrt(double);");
  { const Scope f = context.function("void f(void)"); }
  {
    const Scope g = context.function("void g(void)");
    context.top_level("static const int table[] = {1, 2};");
  }
  EXPECT_EQ(context.finish(),
            "typedef struct {\n  int x;\n} pair;\ndouble sqrt(double);\n\nvoid f(void) {\n}\n\n"
            "static const int table[] = {1, 2};\n\nvoid g(void) {\n}\n");
  EXPECT_EQ(context.size(), context.finish().size());
}

// --- helpers ---

TEST(Context, EmitsARequestedHelperOnceBeforeItsCaller) {
  Context context(c_dialect());
  {
    const Scope caller = context.function("int f(int n)");
    for (int i = 0; i < 3; ++i) {
      const std::string name = context.find_or_generate("identity of int", "same", write_helper);
      context.statement(fmt::format("n = {}(n);", name));
    }
  }
  EXPECT_EQ(context.finish(),
            "static int same(int a) {\n  return a;\n}\n\n"
            "int f(int n) {\n  n = same(n);\n  n = same(n);\n  n = same(n);\n}\n");
  EXPECT_EQ(context.size(), context.finish().size());
}

TEST(Context, EmitsHelpersOfHelpersFirst) {
  Context context(c_dialect(), {.indent = 0});
  {
    const Scope caller = context.function("void f(void)");
    context.find_or_generate("outer", "outer", [](Context& inner, const std::string& name) {
      const Scope helper = inner.function(fmt::format("int {}(int a)", name));
      EXPECT_EQ(inner.find_or_generate("leaf", "leaf", write_helper), "leaf");
      // A function may call itself.
      EXPECT_EQ(inner.find_or_generate("outer", "outer", write_helper), "outer");
    });
  }
  EXPECT_EQ(
      context.finish(),
      "static int leaf(int a) {\nreturn a;\n}\n\nint outer(int a) {\n}\n\nvoid f(void) {\n}\n");
}

TEST(Context, NamesAHelperClearOfFunctionsAndLocals) {
  Context context(c_dialect());
  { const Scope other = context.function("void other(void)"); }
  const Scope caller = context.function("void f(int n)");
  context.declare("int", "local");
  EXPECT_EQ(context.find_or_generate("a", "other", write_helper), "other_1");
  EXPECT_EQ(context.find_or_generate("b", "other", write_helper), "other_2");
  EXPECT_EQ(context.find_or_generate("c", "local", write_helper), "local_1");
  EXPECT_EQ(context.find_or_generate("d", "n", write_helper), "n_1");
}

TEST(Context, RejectsHelpersThatNeedEachOther) {
  Context context(c_dialect());
  const auto call = [](const std::string& callee, const auto& next) {
    return [callee, next](Context& inner, const std::string& name) {
      const Scope helper = inner.function(fmt::format("void {}(void)", name));
      inner.find_or_generate(callee, callee, next);
    };
  };
  EXPECT_THROW(context.find_or_generate("a", "a", call("b", call("a", write_helper))), UsageError);
  EXPECT_EQ(context.finish(), "");
  EXPECT_EQ(context.size(), 0U);
}

TEST(Context, WritesBarriersOfAWarpWhereALanguageHasThem) {
  const auto text = [](const Dialect& dialect) {
    Context context(dialect);
    context.use_warp_barriers();
    {
      const Scope function = context.function("void f(void)");
      context.barrier();
    }
    return context.finish();
  };
  EXPECT_EQ(text(cuda_dialect()), "void f(void) {\n  __syncwarp();\n}\n");
  EXPECT_EQ(text(c_dialect()), "void f(void) {\n  #pragma omp barrier\n}\n");
}

TEST(Context, RejectsAGeneratorThatDefinesNothing) {
  Context context(c_dialect());
  EXPECT_THROW(
      context.find_or_generate("a", "a", [](Context& /*context*/, const std::string& /*name*/) {}),
      UsageError);
  EXPECT_EQ(context.find_or_generate("a", "a", write_helper), "a");
}

TEST(Context, RejectsASecondFunctionOfAName) {
  Context context(c_dialect());
  write_helper(context, "f");
  EXPECT_THROW((void)context.function("void f(void)"), UsageError);
  context.reserve("g");
  EXPECT_THROW((void)context.function("void g(void)"), UsageError);
}

// --- size ---

// Everything that has a size of its own to get wrong.
void write_all(Context& context) {
  context.top_level("typedef int integer;");
  {
    const Scope f = context.function("void f(int n)");
    context.find_or_generate("helper", "helper", write_helper);
    context.top_level("extern int global;");
    for (int i = 0; i < 3; ++i) {
      const Scope section = context.section("a", Reorder::merge_fas);
      context.comment("step");
      context.statement(StatementKind::store, "*p = n;");
      context.statement(StatementKind::fetch, "n = *p;");
      context.declare("int", "k", "", Sharing::none);
      context.pragma("omp simd");
      context.begin_branch("if (n)");
      context.declare("int", "off", "0", Sharing::not_nested, -1);
      context.else_branch("else if (k)");
      context.declare("long", "k", "1");
      context.end_branch();
      context.barrier();
      context.flush();
    }
    context.begin_branch("do");
    context.comment("left over");
    context.end_branch("while (0);");
    context.blank_line();
  }
  const Scope g = context.function("void g(void)");
}

TEST(Context, MeasuresExactly) {
  Context real(c_dialect());
  Context measured(c_dialect(), {.measure = true});
  write_all(real);
  write_all(measured);
  EXPECT_GT(real.size(), 500U);
  EXPECT_EQ(real.finish().size(), real.size());
  EXPECT_EQ(measured.size(), real.size());
  EXPECT_EQ(measured.finish(), "");
}

TEST(Context, FitsItsOwnSizeAndNotAByteLess) {
  Context measured(c_dialect(), {.measure = true});
  write_all(measured);
  Context exact(c_dialect(), {.max_bytes = measured.size()});
  write_all(exact);
  EXPECT_EQ(exact.remaining(), 0U);
  for (std::size_t n_bytes = 0; n_bytes < measured.size(); ++n_bytes) {
    Context tight(c_dialect(), {.max_bytes = n_bytes});
    EXPECT_THROW(write_all(tight), BudgetError);
    EXPECT_EQ(tight.finish().size(), tight.size());
    EXPECT_LE(tight.size(), n_bytes);
  }
}

TEST(Context, OverBudgetReportsThePartialSizeAndAddsNothing) {
  Context context(c_dialect(), {.max_bytes = 40});
  {
    const Scope function = context.function("void f(void)");
    try {
      context.statement("a_statement_that_is_longer_than_that();");
      FAIL();
    } catch (const BudgetError& error) {
      EXPECT_EQ(error.n_bytes(), context.size());
    }
    EXPECT_EQ(context.remaining(), 40 - context.size());
    context.statement("loop();");
  }
  EXPECT_EQ(context.finish(), "void f(void) {\n  loop();\n}\n");
}

// --- life times ---

TEST(Context, DropsAFunctionWhoseGeneratorThrows) {
  Context context(c_dialect());
  write_helper(context, "before");
  const std::string text = context.finish();
  try {
    const Scope function = context.function("void f(void)");
    const Scope section = context.section("a", Reorder::direct);
    context.begin_branch("if (1)");
    throw std::runtime_error("generator");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(context.finish(), text);
    EXPECT_EQ(context.size(), text.size());
  }
  const Scope again = context.function("void f(void)");
}

TEST(Context, ClosesASectionWhoseGeneratorThrows) {
  Context context(c_dialect(), {.indent = 0});
  {
    const Scope function = context.function("void f(void)");
    try {
      const Scope section = context.section("a", Reorder::direct);
      context.begin_branch("if (1)");
      throw std::runtime_error("generator");
    } catch (const std::runtime_error&) {
      context.statement("after();");
    }
  }
  EXPECT_EQ(context.finish(), "void f(void) {\nif (1) {\n}\nafter();\n}\n");
}

TEST(Context, ReportsWhatOnlyADestructorSaw) {
  Context context(c_dialect());
  {
    const Scope function = context.function("void f(void)");
    const Scope section = context.section("a", Reorder::direct);
    context.begin_branch("if (1)");
  }
  EXPECT_THROW((void)context.finish(), UsageError);
  context.reset();
  EXPECT_EQ(context.finish(), "");
}

TEST(Context, FinishNeedsClosedFunctions) {
  Context context(c_dialect());
  Scope function = context.function("void f(void)");
  EXPECT_THROW((void)context.finish(), UsageError);
  function.end();
  EXPECT_EQ(context.finish(), "void f(void) {\n}\n");
}

TEST(Context, FunctionsEndInReverseOrder) {
  Context context(c_dialect());
  Scope outer = context.function("void f(void)");
  Scope section = context.section("a", Reorder::direct);
  Scope inner = context.function("void g(void)");
  EXPECT_THROW(outer.end(), UsageError);
  EXPECT_THROW(section.end(), UsageError);
  inner.end();
  section.end();
  outer.end();
}

TEST(Context, ResetVoidsOpenScopes) {
  Context context(c_dialect());
  Scope stale = context.function("void f(void)");
  context.reset();
  Scope fresh = context.function("void f(void)");
  stale.end();
  context.statement("a = 1;");
  fresh.end();
  EXPECT_EQ(context.finish(), "void f(void) {\n  a = 1;\n}\n");
}

TEST(Context, ScopesSurviveAMoveOfTheContext) {
  Context first(c_dialect());
  Scope function = first.function("void f(void)");
  Context second = std::move(first);
  second.statement("a = 1;");
  Scope moved = std::move(function);
  moved.end();
  EXPECT_EQ(second.finish(), "void f(void) {\n  a = 1;\n}\n");
}

TEST(Context, StatementsNeedAFunction) {
  Context context(c_dialect());
  EXPECT_THROW(context.statement("a = 1;"), UsageError);
  EXPECT_THROW(context.begin_branch("if (1)"), UsageError);
  EXPECT_THROW((void)context.section("a", Reorder::direct), UsageError);
}

// --- depth, and several contexts at once ---

void write_nest(Context& context, Context& other, int depth) {
  if (depth == 0) {
    context.statement("innermost = 1;");
    return;
  }
  const Scope section = context.section(fmt::format("s{}", depth % 3), Reorder::merge_fas_checked);
  const Scope helper = other.function(fmt::format("void g{}(void)", depth));
  context.begin_branch(fmt::format("for (int i = 0; i < {}; ++i)", depth));
  context.declare("int", "k", "0", Sharing::none);
  other.declare("int", "k", "0", Sharing::both);
  context.declare("int", "hoisted", fmt::format("{}", depth), Sharing::none, -1);
  write_nest(other, context, 0);
  write_nest(context, other, depth - 1);
  context.end_branch();
}

TEST(Context, NestsDeeplyBesideAnotherContext) {
  const auto count = [](const std::string& text, char c) {
    return std::count(text.begin(), text.end(), c);
  };
  Context context(c_dialect());
  Context other(opencl_dialect());
  {
    const Scope function = context.function("void f(void)");
    write_nest(context, other, 64);
  }
  const std::string text = context.finish();
  const std::string innermost = std::string(2 * 65, ' ') + "innermost = 1;\n";
  EXPECT_NE(text.find(innermost), std::string::npos);
  EXPECT_EQ(count(text, '{'), 65);
  EXPECT_EQ(count(text, '}'), 65);
  EXPECT_EQ(text.size(), context.size());
  // Functions of the other context opened from the outside in, so they end from the inside out.
  EXPECT_LT(other.finish().find("void g1("), other.finish().find("void g64("));
}

TEST(Context, NamesOfTablesAreTakenOnce) {
  Context context(c_dialect());
  EXPECT_EQ(context.take_name("t", {"t", "t_1"}), "t");
  EXPECT_EQ(context.take_name("t", {"t", "t_1"}), "t_2");
  EXPECT_EQ(context.take_name("t", {}), "t_1");
}

}  // namespace
}  // namespace op2::cg
