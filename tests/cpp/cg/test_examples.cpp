// SPDX-License-Identifier: BSD-3-Clause
// The worked examples of the generation context's specification, in full.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "cg/context.hpp"

namespace op2::cg {
namespace {

constexpr std::array dialects{&c_dialect, &opencl_dialect, &cuda_dialect};

// The text of a function `void f()` around what `write` adds, without the frame and indentation.
template <class Write>
std::string body_of(const Dialect& dialect, Write write) {
  Context context(dialect, {.indent = 0});
  {
    const Scope function = context.function("void f()");
    write(context);
  }
  const std::string text = context.finish();
  const std::string head = "void f() {\n";
  EXPECT_TRUE(text.starts_with(head) && text.ends_with("}\n"));
  return text.substr(head.size(), text.size() - head.size() - 2);
}

std::string without_blank_lines(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string uint_of(const Dialect& dialect) {
  return std::string(dialect.type_name(DType::uint32));
}

void fetch_subgenerator(Context& context) {
  const Scope section = context.section("fetch", Reorder::direct);
  const std::string off =
      context.declare(uint_of(context.dialect()), "off", "m * lda + k", Sharing::not_nested);
  context.statement("a = A[" + off + "];");
}

void store_subgenerator(Context& context, Sharing sharing) {
  const Scope section = context.section("store", Reorder::direct);
  const std::string off =
      context.declare(uint_of(context.dialect()), "off", "m * ldc + n", sharing);
  context.statement("C[" + off + "] = c;");
}

TEST(Examples, OneReusesASharedVariable) {
  for (const auto dialect : dialects) {
    EXPECT_EQ(body_of(dialect(),
                      [](Context& context) {
                        fetch_subgenerator(context);
                        store_subgenerator(context, Sharing::not_nested);
                      }),
              uint_of(dialect()) +
                  " off = m * lda + k;\n"
                  "a = A[off];\n"
                  "off = m * ldc + n;\n"
                  "C[off] = c;\n");
  }
}

TEST(Examples, TwoOpensABraceScopeForAPrivateVariable) {
  for (const auto dialect : dialects) {
    EXPECT_EQ(body_of(dialect(),
                      [](Context& context) {
                        fetch_subgenerator(context);
                        store_subgenerator(context, Sharing::none);
                      }),
              uint_of(dialect()) +
                  " off = m * lda + k;\n"
                  "a = A[off];\n"
                  "{\n" +
                  uint_of(dialect()) +
                  " off = m * ldc + n;\n"
                  "C[off] = c;\n"
                  "}\n");
  }
}

TEST(Examples, ThreeHoistsOutOfTheLoop) {
  for (const auto dialect : dialects) {
    EXPECT_EQ(body_of(dialect(),
                      [](Context& context) {
                        context.begin_branch("for (i = 0; i < endi; i++)");
                        context.declare("uint4", "off", "{0, lda, lda*2, lda*3}",
                                        Sharing::not_nested, -1);
                        context.statement(
                            "a0 = A[off.x];\n"
                            "a1 = A[off.y];\n"
                            "a2 = A[off.z];\n"
                            "a3 = A[off.w];\n"
                            "off = off + 1;\n");
                        context.end_branch();
                      }),
              "uint4 off = {0, lda, lda*2, lda*3};\n"
              "for (i = 0; i < endi; i++) {\n"
              "a0 = A[off.x];\n"
              "a1 = A[off.y];\n"
              "a2 = A[off.z];\n"
              "a3 = A[off.w];\n"
              "off = off + 1;\n"
              "}\n");
  }
}

// --- Example 4: a block summation, written by a generator for one element ---

enum class Tags { none, disjoint };

// What the statements of element i touch. Tagged, A and B are told apart and so are their elements.
struct Element {
  Location source;
  Location target;
};

Element element(int i, Tags tags) {
  if (tags == Tags::none) return {Memory{}, Memory{}};
  return {Memory{"A", std::to_string(i)}, Memory{"B", std::to_string(i)}};
}

void square_sum(Context& context, Reorder reorder, int i, Tags tags) {
  const Scope section = context.section("square sum", reorder);
  Declaration declaration{.type = "float4", .sharing = Sharing::not_nested};
  for (int k = 0; k < 8; ++k)
    declaration.declarators.push_back({"tmp" + std::to_string(k), "", ""});
  const std::vector<std::string> tmp = context.declare(declaration);
  const std::string& x = tmp[static_cast<std::size_t>(i % 4)];
  const std::string& y = tmp[static_cast<std::size_t>(i % 4 + 4)];
  const std::string a = "A[ca.s" + std::to_string(i) + "]";
  const std::string b = "B[cb.s" + std::to_string(i) + "]";
  const auto [source, target] = element(i, tags);
  context.statement(StatementKind::fetch, x + " = " + a + ";\n" + y + " = " + b + ";\n",
                    {.reads = {source, target}, .writes = {Variable{x}, Variable{y}}});
  context.statement(
      StatementKind::arithm,
      x + " = mad(" + x + ", " + x + ", 0);\n" + y + " = mad(" + y + ", " + y + ", " + x + ");\n",
      {.reads = {Variable{x}, Variable{y}}, .writes = {Variable{x}, Variable{y}}});
  context.statement(StatementKind::store, b + " = " + y + ";\n",
                    {.reads = {Variable{y}}, .writes = {target}});
}

std::string block_sum(Reorder reorder, Tags tags) {
  return body_of(opencl_dialect(), [reorder, tags](Context& context) {
    context.statement(
        "uint8 ca = {0, lda, lda*2, lda*3, lda*4, lda*5, lda*6, lda*7};\n"
        "uint8 cb = {0, ldb, ldb*2, ldb*3, ldb*4, ldb*5, ldb*6, ldb*7};\n");
    for (int i = 0; i < 8; ++i) {
      square_sum(context, reorder, i, tags);
      if (i % 4 != 3) continue;
      context.flush();
      context.blank_line();
    }
  });
}

constexpr const char* merged_listing =
    "uint8 ca = {0, lda, lda*2, lda*3, lda*4, lda*5, lda*6, lda*7};\n"
    "uint8 cb = {0, ldb, ldb*2, ldb*3, ldb*4, ldb*5, ldb*6, ldb*7};\n"
    "float4 tmp0, tmp1, tmp2, tmp3, tmp4, tmp5, tmp6, tmp7;\n"
    "tmp0 = A[ca.s0];\n"
    "tmp4 = B[cb.s0];\n"
    "tmp1 = A[ca.s1];\n"
    "tmp5 = B[cb.s1];\n"
    "tmp2 = A[ca.s2];\n"
    "tmp6 = B[cb.s2];\n"
    "tmp3 = A[ca.s3];\n"
    "tmp7 = B[cb.s3];\n"
    "tmp0 = mad(tmp0, tmp0, 0);\n"
    "tmp4 = mad(tmp4, tmp4, tmp0);\n"
    "tmp1 = mad(tmp1, tmp1, 0);\n"
    "tmp5 = mad(tmp5, tmp5, tmp1);\n"
    "tmp2 = mad(tmp2, tmp2, 0);\n"
    "tmp6 = mad(tmp6, tmp6, tmp2);\n"
    "tmp3 = mad(tmp3, tmp3, 0);\n"
    "tmp7 = mad(tmp7, tmp7, tmp3);\n"
    "B[cb.s0] = tmp4;\n"
    "B[cb.s1] = tmp5;\n"
    "B[cb.s2] = tmp6;\n"
    "B[cb.s3] = tmp7;\n"
    "tmp0 = A[ca.s4];\n"
    "tmp4 = B[cb.s4];\n"
    "tmp1 = A[ca.s5];\n"
    "tmp5 = B[cb.s5];\n"
    "tmp2 = A[ca.s6];\n"
    "tmp6 = B[cb.s6];\n"
    "tmp3 = A[ca.s7];\n"
    "tmp7 = B[cb.s7];\n"
    "tmp0 = mad(tmp0, tmp0, 0);\n"
    "tmp4 = mad(tmp4, tmp4, tmp0);\n"
    "tmp1 = mad(tmp1, tmp1, 0);\n"
    "tmp5 = mad(tmp5, tmp5, tmp1);\n"
    "tmp2 = mad(tmp2, tmp2, 0);\n"
    "tmp6 = mad(tmp6, tmp6, tmp2);\n"
    "tmp3 = mad(tmp3, tmp3, 0);\n"
    "tmp7 = mad(tmp7, tmp7, tmp3);\n"
    "B[cb.s4] = tmp4;\n"
    "B[cb.s5] = tmp5;\n"
    "B[cb.s6] = tmp6;\n"
    "B[cb.s7] = tmp7;\n";

TEST(Examples, FourMergesClusteredSections) {
  EXPECT_EQ(without_blank_lines(block_sum(Reorder::merge_fas, Tags::none)), merged_listing);
}

TEST(Examples, FourMergesWhenTagsProveThatItMay) {
  EXPECT_EQ(without_blank_lines(block_sum(Reorder::merge_fas_checked, Tags::disjoint)),
            merged_listing);
}

TEST(Examples, FourStaysInOrderWhenMemoryMayAlias) {
  EXPECT_EQ(block_sum(Reorder::merge_fas_checked, Tags::none),
            block_sum(Reorder::direct, Tags::none));
}

}  // namespace
}  // namespace op2::cg
