// SPDX-License-Identifier: BSD-3-Clause
// Body::declare, through the context that owns the body.
#include <gtest/gtest.h>

#include <string>

#include "cg/context.hpp"

namespace op2::cg {
namespace {

class Declare : public ::testing::Test {
 protected:
  Context context{c_dialect(), {.indent = 0}};

  // What `write` adds to the body of `void f(int n)`.
  template <class Write>
  std::string body(Write write) {
    {
      const Scope function = context.function("void f(int n)");
      write();
    }
    const std::string text = context.finish();
    const std::string head = "void f(int n) {\n";
    const std::size_t at = text.find(head) + head.size();
    return text.substr(at, text.size() - at - 2);
  }

  std::string shared(std::string_view name, std::string_view init, Sharing sharing) {
    return context.declare("int", name, init, sharing);
  }

  std::string renamed(std::string_view type, std::string_view name, std::string_view init) {
    return context
        .declare({.type = std::string(type),
                  .declarators = {{.name = std::string(name), .init = std::string(init)}},
                  .conflict = Conflict::rename})
        .front();
  }
};

TEST_F(Declare, PrintsSeveralDeclaratorsOnOneLine) {
  EXPECT_EQ(body([this] {
              const Declaration declaration{
                  .type = "double",
                  .declarators = {{"a", "", ""}, {"b", "1.0", ""}, {"c", "", "[4]"}}};
              EXPECT_EQ(context.declare(declaration), (std::vector<std::string>{"a", "b", "c"}));
            }),
            "double a, b = 1.0, c[4];\n");
}

TEST_F(Declare, PrintsPointersOneByOne) {
  EXPECT_EQ(body([this] {
              context.declare(
                  {.type = "const double *", .declarators = {{"p", "x", ""}, {"q", "y", ""}}});
            }),
            "const double *p = x;\nconst double *q = y;\n");
}

TEST_F(Declare, NestedSectionSharesOnlyIfBothSidesAllowIt) {
  const auto nested_in = [this](Sharing outer, Sharing inner) {
    context.reset();
    return body([this, outer, inner] {
      const Scope a = context.section("a", Reorder::direct);
      shared("k", "0", outer);
      const Scope b = context.section("b", Reorder::direct);
      shared("k", "1", inner);
    });
  };
  const std::string reused = "int k = 0;\nk = 1;\n";
  const std::string apart = "int k = 0;\n{\nint k = 1;\n}\n";
  EXPECT_EQ(nested_in(Sharing::nested, Sharing::nested), reused);
  EXPECT_EQ(nested_in(Sharing::both, Sharing::nested), reused);
  EXPECT_EQ(nested_in(Sharing::nested, Sharing::not_nested), apart);
  EXPECT_EQ(nested_in(Sharing::not_nested, Sharing::not_nested), apart);
  EXPECT_EQ(nested_in(Sharing::none, Sharing::both), apart);
}

TEST_F(Declare, LaterSectionSharesOnlyIfBothSidesAllowIt) {
  const auto after = [this](Sharing first, Sharing second) {
    context.reset();
    return body([this, first, second] {
      {
        const Scope a = context.section("a", Reorder::direct);
        shared("k", "0", first);
      }
      const Scope b = context.section("b", Reorder::direct);
      shared("k", "1", second);
    });
  };
  const std::string reused = "int k = 0;\nk = 1;\n";
  const std::string apart = "int k = 0;\n{\nint k = 1;\n}\n";
  EXPECT_EQ(after(Sharing::not_nested, Sharing::both), reused);
  EXPECT_EQ(after(Sharing::nested, Sharing::nested), apart);
  EXPECT_EQ(after(Sharing::none, Sharing::both), apart);
}

TEST_F(Declare, SharesNothingOfAnotherTypeOrExtent) {
  EXPECT_EQ(body([this] {
              shared("k", "0", Sharing::both);
              context.declare("long", "k", "1", Sharing::both);
            }),
            "int k = 0;\n{\nlong k = 1;\n}\n");
}

TEST_F(Declare, ReusesAnArrayButCannotAssignIt) {
  EXPECT_EQ(body([this] {
              const auto array = [](const std::string& init) {
                return Declaration{
                    .type = "int", .declarators = {{"a", init, "[2]"}}, .sharing = Sharing::both};
              };
              context.declare(array(""));
              context.declare(array(""));
              context.declare(array("{1, 2}"));
            }),
            "int a[2];\n{\nint a[2] = {1, 2};\n}\n");
}

TEST_F(Declare, DoesNotAssignAConstant) {
  EXPECT_EQ(body([this] {
              for (const char* type : {"const int", "const int *"}) {
                const std::string name = type[9] == '\0' ? "k" : "p";
                context.declare(type, name, "a", Sharing::both);
                context.declare(type, name, "b", Sharing::both);
              }
            }),
            "const int k = a;\n{\nconst int k = b;\nconst int *p = a;\np = b;\n}\n");
}

TEST_F(Declare, KeepsClearOfParametersAndLoopCounters) {
  EXPECT_EQ(body([this] {
              EXPECT_EQ(renamed("int", "n", ""), "n_1");
              context.begin_branch("for (int i = 0; i < n; ++i)");
              EXPECT_EQ(renamed("int", "i", ""), "i_1");
              context.end_branch();
              EXPECT_EQ(renamed("int", "i", ""), "i");
            }),
            "int n_1;\nfor (int i = 0; i < n; ++i) {\nint i_1;\n}\nint i;\n");
}

TEST_F(Declare, HidesInABlockOfItsOwnWithoutMoreBraces) {
  EXPECT_EQ(body([this] {
              shared("k", "0", Sharing::none);
              context.begin_branch("if (n)");
              shared("k", "1", Sharing::none);
              context.end_branch();
            }),
            "int k = 0;\nif (n) {\nint k = 1;\n}\n");
}

TEST_F(Declare, BracesEndWithTheSection) {
  EXPECT_EQ(body([this] {
              shared("k", "0", Sharing::none);
              context.begin_branch("if (n)");
              {
                const Scope section = context.section("a", Reorder::direct);
                shared("k", "1", Sharing::none);
              }
              context.statement("n = k;");
              context.end_branch();
            }),
            "int k = 0;\nif (n) {\n{\nint k = 1;\n}\nn = k;\n}\n");
}

TEST_F(Declare, RenamesWhatItsOwnInitialiserReads) {
  EXPECT_EQ(body([this] {
              shared("k", "0", Sharing::none);
              EXPECT_EQ(shared("k", "k + 1", Sharing::none), "k_1");
            }),
            "int k = 0;\nint k_1 = k + 1;\n");
}

TEST_F(Declare, RenamesAgainstFunctionsAndReservedNames) {
  context.reserve("table");
  { const Scope helper = context.function("void helper()"); }
  EXPECT_EQ(body([this] {
              EXPECT_EQ(shared("helper", "0", Sharing::none), "helper_1");
              EXPECT_EQ(shared("table", "0", Sharing::none), "table_1");
            }),
            "int helper_1 = 0;\nint table_1 = 0;\n");
}

TEST_F(Declare, NeverRenamesIntoATakenName) {
  EXPECT_EQ(body([this] {
              context.declare("int", "k");
              const Declaration declaration{.type = "int",
                                            .declarators = {{"k", "", ""}, {"k_1", "", ""}},
                                            .conflict = Conflict::rename};
              EXPECT_EQ(context.declare(declaration), (std::vector<std::string>{"k_2", "k_1"}));
            }),
            "int k;\nint k_2, k_1;\n");
}

TEST_F(Declare, FindsARenamedVariableAgain) {
  EXPECT_EQ(body([this] {
              context.declare("long", "k");
              Declaration declaration{.type = "int",
                                      .declarators = {{"k", "1", ""}},
                                      .sharing = Sharing::both,
                                      .conflict = Conflict::rename};
              EXPECT_EQ(context.declare(declaration).front(), "k_1");
              EXPECT_EQ(context.declare(declaration).front(), "k_1");
            }),
            "long k;\nint k_1 = 1;\nk_1 = 1;\n");
}

// --- hoisting ---

TEST_F(Declare, HoistsOnceForALoop) {
  EXPECT_EQ(body([this] {
              context.begin_branch("while (n)");
              for (const char* owner : {"a", "b"}) {
                const Scope section = context.section(owner, Reorder::direct);
                context.declare("int", "off", "0", Sharing::not_nested, -1);
                context.statement("off += 1;");
              }
              context.end_branch();
            }),
            "int off = 0;\nwhile (n) {\noff += 1;\noff += 1;\n}\n");
}

TEST_F(Declare, InitialisesAgainBeforeTheNextLoop) {
  EXPECT_EQ(body([this] {
              for (int loop = 0; loop < 2; ++loop) {
                const Scope section = context.section("a", Reorder::direct);
                context.begin_branch("while (n)");
                context.declare("int", "off", "0", Sharing::not_nested, -1);
                context.end_branch();
              }
            }),
            "int off = 0;\nwhile (n) {\n}\noff = 0;\nwhile (n) {\n}\n");
}

TEST_F(Declare, RenamesAHoistedVariableInsteadOfDisturbingAnother) {
  EXPECT_EQ(body([this] {
              context.begin_branch("while (n)");
              const auto use = [this](const char* owner, const char* init, int scope) {
                const Scope section = context.section(owner, Reorder::direct);
                return context.declare("int", "off", init, Sharing::not_nested, scope);
              };
              EXPECT_EQ(use("a", "0", -1), "off");
              EXPECT_EQ(use("b", "7", -1), "off_1");
              // `off` keeps its value from one iteration to the next, so this is not it either.
              EXPECT_EQ(use("c", "9", 0), "off");
              context.end_branch();
            }),
            "int off = 0;\nint off_1 = 7;\nwhile (n) {\n{\nint off = 9;\n}\n}\n");
}

TEST_F(Declare, HoistsOutOfSeveralBranchesAndBraceScopes) {
  EXPECT_EQ(body([this] {
              context.begin_branch("while (n)");
              context.declare("int", "k");
              {
                const Scope section = context.section("a", Reorder::direct);
                context.declare("long", "k");
                context.begin_branch("if (k)");
                context.declare("int", "near", "1", Sharing::none, -1);
                context.declare("int", "far", "2", Sharing::none, -2);
                context.end_branch();
              }
              context.end_branch();
            }),
            "int far = 2;\nwhile (n) {\nint k;\n{\nlong k;\nint near = 1;\nif (k) {\n}\n}\n}\n");
}

TEST_F(Declare, HoistsBeforeAWholeChainAndItsPragma) {
  EXPECT_EQ(body([this] {
              context.comment("sign");
              context.pragma("omp masked");
              context.begin_branch("if (n > 0)");
              context.declare("int", "k", "0", Sharing::both, -1);
              context.else_branch("else");
              context.declare("int", "k", "0", Sharing::both, -1);
              context.end_branch();
            }),
            "int k = 0;\n// sign\n#pragma omp masked\nif (n > 0) {\n} else {\n}\n");
}

// --- declarations among merged statements ---

TEST_F(Declare, InitialiserWithUnknownReadsStaysInPlace) {
  const auto merged = [this](std::optional<std::vector<Location>> reads) {
    context.reset();
    return body([this, &reads] {
      const Scope section = context.section("a", Reorder::merge_fas);
      context.statement(StatementKind::store, "*p = x;", {{Variable{"x"}}, {Memory{}}});
      context.declare(
          {.type = "int", .declarators = {{"k", "g(n)", ""}}, .init_reads = std::move(reads)});
      context.statement(StatementKind::fetch, "y = *q;", {{Memory{}}, {Variable{"y"}}});
    });
  };
  EXPECT_EQ(merged(std::nullopt), "*p = x;\nint k = g(n);\ny = *q;\n");
  EXPECT_EQ(merged({{Variable{"n"}}}), "int k = g(n);\ny = *q;\n*p = x;\n");
}

TEST_F(Declare, ReinitialisationIsNotMergedByKind) {
  const auto twice = [this](Reorder reorder) {
    context.reset();
    return body([this, reorder] {
      for (const char* init : {"0", "1"}) {
        const Scope section = context.section("a", reorder);
        context.declare({.type = "int",
                         .declarators = {{"k", init, ""}},
                         .sharing = Sharing::not_nested,
                         .init_reads = std::vector<Location>{}});
        context.statement(StatementKind::store, "p[k] = 0;",
                          {{Variable{"k"}}, {Memory{"p", init}}});
      }
    });
  };
  const std::string in_order = "int k = 0;\np[k] = 0;\nk = 1;\np[k] = 0;\n";
  EXPECT_EQ(twice(Reorder::merge_fas), in_order);
  EXPECT_EQ(twice(Reorder::merge_fas_checked), in_order);
}

// --- errors ---

TEST_F(Declare, RejectsWhatIsNoDeclaration) {
  const Scope function = context.function("void f(int n)");
  EXPECT_THROW(context.declare("int", "a[3]"), UsageError);
  EXPECT_THROW(context.declare("int", "a", "0", Sharing::none, 1), UsageError);
  EXPECT_THROW(context.declare("int", "a", "0", Sharing::none, -1), UsageError);
  EXPECT_THROW(context.declare({.type = "int"}), UsageError);
  EXPECT_THROW(context.declare({.type = "int", .declarators = {{"a", "", ""}, {"a", "", ""}}}),
               UsageError);
}

}  // namespace
}  // namespace op2::cg
