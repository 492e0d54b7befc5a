// SPDX-License-Identifier: BSD-3-Clause
// Blocks, sections and clusters of a Body, through the context that owns it.
#include <gtest/gtest.h>

#include <string>

#include "cg/context.hpp"

namespace op2::cg {
namespace {

class Body : public ::testing::Test {
 protected:
  Context context{c_dialect(), {.indent = 0}};

  template <class Write>
  std::string body(Write write) {
    context.reset();
    {
      const Scope function = context.function("void f(int n)");
      write();
    }
    const std::string text = context.finish();
    const std::string head = "void f(int n) {\n";
    return text.substr(head.size(), text.size() - head.size() - 2);
  }

  // A store and then a fetch, which merging exchanges.
  void pair(const std::string& id) {
    context.statement(StatementKind::store, "s" + id + ";");
    context.statement(StatementKind::fetch, "f" + id + ";");
  }

  void section(const std::string& owner, const std::string& id,
               Reorder reorder = Reorder::merge_fas) {
    const Scope open = context.section(owner, reorder);
    pair(id);
  }
};

TEST_F(Body, MergesNeighboursOfOneOwnerAndPolicy) {
  EXPECT_EQ(body([this] {
              section("a", "1");
              section("a", "2");
            }),
            "f1;\nf2;\ns1;\ns2;\n");
}

TEST_F(Body, KeepsOwnersPoliciesAndParagraphsApart) {
  const std::string apart = "f1;\ns1;\nf2;\ns2;\n";
  EXPECT_EQ(body([this] {
              section("a", "1");
              section("b", "2");
            }),
            apart);
  EXPECT_EQ(body([this] {
              section("a", "1");
              section("a", "2", Reorder::direct);
            }),
            "f1;\ns1;\ns2;\nf2;\n");
  EXPECT_EQ(body([this] {
              section("a", "1");
              context.flush();
              section("a", "2");
            }),
            apart);
  EXPECT_EQ(body([this] {
              section("a", "1");
              context.statement("x;");
              section("a", "2");
            }),
            "f1;\ns1;\nx;\nf2;\ns2;\n");
}

TEST_F(Body, FlushesInsideASection) {
  EXPECT_EQ(body([this] {
              const Scope open = context.section("a", Reorder::merge_fas);
              pair("1");
              {
                const Scope inner = context.section("b", Reorder::merge_fas);
                context.flush();
              }
              pair("2");
            }),
            "f1;\ns1;\nf2;\ns2;\n");
}

TEST_F(Body, MergesInsideABranchButNotAcrossIt) {
  EXPECT_EQ(body([this] {
              const Scope open = context.section("a", Reorder::merge_fas);
              pair("1");
              context.begin_branch("if (n)");
              pair("2");
              context.else_branch("else");
              pair("3");
              context.end_branch();
              pair("4");
            }),
            "f1;\ns1;\nif (n) {\nf2;\ns2;\n} else {\nf3;\ns3;\n}\nf4;\ns4;\n");
}

TEST_F(Body, NestedSectionHasAPolicyOfItsOwn) {
  EXPECT_EQ(body([this] {
              const Scope open = context.section("a", Reorder::merge_fas);
              pair("1");
              section("b", "2", Reorder::direct);
              pair("3");
            }),
            "f1;\ns1;\ns2;\nf2;\nf3;\ns3;\n");
}

TEST_F(Body, CommentTravelsWithItsStatement) {
  EXPECT_EQ(body([this] {
              const Scope open = context.section("a", Reorder::merge_fas);
              context.comment("store");
              context.statement(StatementKind::store, "s;");
              context.comment("fetch");
              context.statement(StatementKind::fetch, "f;");
            }),
            "// fetch\nf;\n// store\ns;\n");
}

TEST_F(Body, PragmaPinsWhatFollows) {
  EXPECT_EQ(body([this] {
              const Scope open = context.section("a", Reorder::merge_fas);
              pair("1");
              context.pragma("omp atomic");
              pair("2");
            }),
            "f1;\ns1;\n#pragma omp atomic\ns2;\nf2;\n");
}

TEST_F(Body, BarrierIsAFenceForTheCheckedPolicy) {
  EXPECT_EQ(body([this] {
              const Scope open = context.section("a", Reorder::merge_fas_checked);
              const Effects store{{Variable{"x"}}, {Memory{"A", ""}}};
              const Effects fetch{{Memory{"B", ""}}, {Variable{"y"}}};
              context.statement(StatementKind::store, "*a = x;", store);
              context.statement(StatementKind::fetch, "y = *b;", fetch);
              context.barrier();
              context.statement(StatementKind::fetch, "z = *b;", fetch);
            }),
            "y = *b;\n*a = x;\n#pragma omp barrier\nz = *b;\n");
}

TEST_F(Body, BranchesEndInTheSectionThatOpenedThem) {
  const Scope function = context.function("void f(int n)");
  EXPECT_THROW(context.end_branch(), UsageError);
  context.begin_branch("if (n)");
  {
    const Scope open = context.section("a", Reorder::direct);
    EXPECT_THROW(context.end_branch(), UsageError);
    EXPECT_THROW(context.else_branch("else"), UsageError);
  }
  context.end_branch();
}

TEST_F(Body, SectionsEndInReverseOrderAndWithoutOpenBranches) {
  Scope function = context.function("void f(int n)");
  Scope outer = context.section("a", Reorder::direct);
  Scope inner = context.section("b", Reorder::direct);
  EXPECT_THROW(outer.end(), UsageError);
  context.begin_branch("if (n)");
  EXPECT_THROW(inner.end(), UsageError);
  EXPECT_THROW(function.end(), UsageError);
  context.end_branch();
  inner.end();
  outer.end();
  context.begin_branch("if (n)");
  EXPECT_THROW(function.end(), UsageError);
  context.end_branch();
  function.end();
}

}  // namespace
}  // namespace op2::cg
