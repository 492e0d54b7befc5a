// SPDX-License-Identifier: BSD-3-Clause
#include "cg/wrap.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::cg {
namespace {

std::string repeated(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Wrap, WhatIsShortStays) {
  const std::string text = "  a = b;\n" + std::string(120, 'x') + "\n";
  EXPECT_EQ(wrapped(text), text);
  EXPECT_EQ(wrapped(""), "");
}

TEST(Wrap, BreaksWhereParenthesesAreFewest) {
  const std::string arguments = repeated("argument, ", 8);
  EXPECT_EQ(wrapped("  f(g(" + arguments + "last), 1, h(" + arguments + "last));\n"),
            "  f(g(" + arguments + "last), 1,\n      h(" + arguments + "last));\n");
}

TEST(Wrap, BreaksAgainAtTheSameIndent) {
  const std::string text = wrapped("  f(" + repeated("argument, ", 30) + "last);\n");
  EXPECT_EQ(text, "  f(" + repeated("argument, ", 10) + "argument,\n      " +
                      repeated("argument, ", 10) + "argument,\n      " + repeated("argument, ", 8) +
                      "last);\n");
}

TEST(Wrap, LeavesRoomForWhatFollows) {
  const std::string text = "for (long first = " + std::string(80, 'x') + "; i < n; ++i)\n";
  ASSERT_LE(text.size() - 1, 120U);
  EXPECT_EQ(wrapped(text), text);
  EXPECT_EQ(wrapped(text, 20),
            "for (long first = " + std::string(80, 'x') + "; i < n;\n    ++i)\n");
}

TEST(Wrap, BreaksBehindAParenthesisWhereThereIsNoOtherPlace) {
  const std::string calls = repeated("name_of_a_function(", 8);
  const std::string ends(8, ')');
  EXPECT_EQ(wrapped("  x += " + calls + "y" + ends + ";\n"),
            "  x += " + repeated("name_of_a_function(", 5) + "\n      " +
                repeated("name_of_a_function(", 3) + "y" + ends + ";\n");
  const std::string name(130, 'x');
  EXPECT_EQ(wrapped(name + "(a, b);\n"), name + "(a, b);\n");
  const std::string quoted = "print(\"" + repeated("(", 130) + "\");\n";
  EXPECT_EQ(wrapped(quoted), "print(\n    " + quoted.substr(6));
}

TEST(Wrap, NeverBreaksQuotesOrDirectives) {
  const std::string quoted = "f(\"" + repeated("a, \\\" ", 30) + "\");\n";
  EXPECT_EQ(wrapped(quoted), quoted);
  const std::string pragma = "#pragma " + repeated("word, ", 30) + "\n";
  EXPECT_EQ(wrapped(pragma), pragma);
  const std::string comment = "/* " + repeated("word, ", 30) + "*/\n";
  EXPECT_EQ(wrapped(comment), comment);
}

TEST(Wrap, TheRestOfACommentIsOne) {
  EXPECT_EQ(wrapped("  // " + repeated("word ", 25) + "end\n"),
            "  // " + repeated("word ", 22) + "word\n  // word word end\n");
}

TEST(Wrap, DoesNotTearComparisonsOfEquals) {
  const std::string left(70, 'x');
  EXPECT_EQ(wrapped("if (" + left + " == " + left + ")\n"),
            "if (" + left + "\n    == " + left + ")\n");
  EXPECT_EQ(wrapped("x = " + left + " + " + left + ";\n"),
            "x = " + left + "\n    + " + left + ";\n");
}

}  // namespace
}  // namespace op2::cg
