// SPDX-License-Identifier: BSD-3-Clause
#include "exec/launch_program.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/error.hpp"

namespace op2::exec {
namespace {

/// Any program at all: what it computes does not matter here.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  LaunchProgram program() {
    LaunchProgram made;
    for (int n = below(4); n >= 0; --n) made.kernels.push_back({word(), below(1024)});
    n_kernels_ = static_cast<int>(made.kernels.size());
    made.steps = steps(3);
    return made;
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::string word() {
    std::string made;
    for (int n = below(6); n > 0; --n) made += "ab:()n1_"[below(8)];
    return made;
  }

  Value value(int depth) {
    const int kind = below(depth > 0 ? 8 : 4);
    switch (kind) {
      case 0:
        return {Number{std::uniform_int_distribution<std::int64_t>()(random_) - below(2) * 7}};
      case 1:
        return {Variable{word()}};
      case 2:
        return {IsThere{below(9)}};
      case 3:
        return {StrideOf{below(9)}};
      case 4:
        return {Entry{below(9), below(2) == 0 ? 4 : 8, {value(depth - 1)}}};
      case 5:
        return {Operation{static_cast<Operator>(below(8)), {value(depth - 1), value(depth - 1)}}};
      case 6:
        return {Choice{{value(depth - 1), value(depth - 1), value(depth - 1)}}};
      default:
        return {BlocksOf{{value(depth - 1)}}};
    }
  }

  Steps steps(int depth) {
    Steps made;
    for (int n = below(4); n > 0; --n) made.push_back(step(depth));
    return made;
  }

  Step step(int depth) {
    switch (below(depth > 0 ? 5 : 3)) {
      case 0:
        return {Set{word(), value(3)}};
      case 1:
        return {Allocate{below(5), 1 << below(5), value(2), below(2) == 0}};
      case 2:
        return {launch()};
      case 3:
        return {Repeat{word(), value(2), value(2), steps(depth - 1)}};
      default:
        return {When{value(2), steps(depth - 1)}};
    }
  }

  LaunchStep launch() {
    LaunchStep made{below(n_kernels_), static_cast<GridKind>(below(3)), value(2), {}};
    for (int n = below(4); n > 0; --n) {
      if (below(2) == 0) {
        made.arguments.emplace_back(MemorySlot{below(2) == 0, below(9)});
      } else {
        made.arguments.emplace_back(value(2));
      }
    }
    return made;
  }

  std::mt19937 random_;
  int n_kernels_ = 0;
};

TEST(LaunchProgram, IsReadAsItWasWritten) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const LaunchProgram program = Generator(seed).program();
    const std::string text = canonical(program);
    const LaunchProgram read = read_launch_program(text);
    ASSERT_EQ(read, program) << text;
    ASSERT_EQ(canonical(read), text);
  }
}

TEST(LaunchProgram, DifferentProgramsHaveDifferentTexts) {
  const LaunchProgram one = {{{"res", 0}}, {{LaunchStep{0, GridKind::items, {Number{1}}, {}}}}};
  LaunchProgram other = one;
  std::get<LaunchStep>(other.steps[0].node).grid = GridKind::blocks;
  EXPECT_NE(canonical(one), canonical(other));
}

TEST(LaunchProgram, DamagedTextIsRefused) {
  const std::string text = canonical(Generator(11).program());
  for (std::size_t n = 0; n < text.size(); ++n) {
    EXPECT_THROW((void)read_launch_program(text.substr(0, n)), UsageError) << n;
  }
  EXPECT_THROW((void)read_launch_program(text + "x"), UsageError);
  // whatever a byte becomes: an error, or a program, but nothing else
  for (std::size_t n = 0; n < text.size(); ++n) {
    for (const char byte : {'9', '(', ')', 's'}) {
      std::string damaged = text;
      damaged[n] = byte;
      try {
        (void)read_launch_program(damaged);
      } catch (const UsageError&) {
        continue;
      }
    }
  }
}

TEST(LaunchProgram, KnowsWhetherBlocksAreCounted) {
  const Value blocks = {BlocksOf{{{Number{3}}}}};
  const Value sum = {Operation{Operator::add, {{Number{1}}, blocks}}};
  EXPECT_TRUE(asks_for_blocks({{}, {{Set{"n", sum}}}}));
  EXPECT_TRUE(asks_for_blocks({{}, {{When{{Number{1}}, {{Set{"n", blocks}}}}}}}));
  EXPECT_TRUE(asks_for_blocks({{{"k", 0}}, {{LaunchStep{0, {}, {Number{1}}, {blocks}}}}}));
  EXPECT_FALSE(asks_for_blocks({{{"k", 0}}, {{LaunchStep{0, {}, {Number{1}}, {}}}}}));
}

}  // namespace
}  // namespace op2::exec
