// SPDX-License-Identifier: BSD-3-Clause
#include "exec/launch_program.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

constexpr LaunchScope scope{9, 7};

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

  std::string variable() {
    return variables_.at(static_cast<std::size_t>(below(static_cast<int>(variables_.size()))));
  }

  std::string declared() {
    variables_.push_back(word());
    return variables_.back();
  }

  Value value(int depth) {
    const int kind = below(depth > 0 ? 8 : 4);
    switch (kind) {
      case 0:
        return {Number{std::uniform_int_distribution<std::int64_t>()(random_) - below(2) * 7}};
      case 1:
        return {Variable{variable()}};
      case 2:
        return {IsThere{below(9)}};
      case 3:
        return {StrideOf{below(7)}};
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
      case 0: {
        Value made = value(3);
        return {Set{declared(), std::move(made)}};
      }
      case 1:
        scratch_.push_back(below(5));
        return {Allocate{scratch_.back(), 1 << below(5), value(2), below(2) == 0}};
      case 2:
        return {launch()};
      case 3:
        return {repeat(depth)};
      default:
        return {When{value(2), steps(depth - 1)}};
    }
  }

  Repeat repeat(int depth) {
    Repeat made;
    made.begin = value(2);
    made.end = value(2);
    made.variable = declared();
    made.body = steps(depth - 1);
    return made;
  }

  LaunchStep launch() {
    LaunchStep made{below(n_kernels_), static_cast<GridKind>(below(3)), value(2), {}};
    for (int n = below(4); n > 0; --n) {
      if (below(2) == 0) {
        made.arguments.emplace_back(memory());
      } else {
        made.arguments.emplace_back(value(2));
      }
    }
    return made;
  }

  MemorySlot memory() {
    const int n = static_cast<int>(scratch_.size());
    if (n == 0 || below(2) == 0) return {false, below(9)};
    return {true, scratch_.at(static_cast<std::size_t>(below(n)))};
  }

  std::vector<std::string> variables_ = {"begin", "end"};
  std::vector<int> scratch_;
  std::mt19937 random_;
  int n_kernels_ = 0;
};

TEST(LaunchProgram, IsReadAsItWasWritten) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const LaunchProgram program = Generator(seed).program();
    const std::string text = canonical(program);
    const LaunchProgram read = read_launch_program(text, scope);
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
    EXPECT_THROW((void)read_launch_program(text.substr(0, n), scope), UsageError) << n;
  }
  EXPECT_THROW((void)read_launch_program(text + "x", scope), UsageError);
  // whatever a byte becomes: an error, or a program, but nothing else
  for (std::size_t n = 0; n < text.size(); ++n) {
    for (const char byte : {'9', '(', ')', 's'}) {
      std::string damaged = text;
      damaged[n] = byte;
      try {
        (void)read_launch_program(damaged, scope);
      } catch (const UsageError&) {
        continue;
      }
    }
  }
}

/// @p program with each number that is written in it replaced, one after the other.
std::vector<std::string> with_other_numbers(const std::string& text, const std::string& number) {
  std::vector<std::string> found;
  for (std::size_t at = text.find('n'); at != std::string::npos; at = text.find('n', at + 1)) {
    const std::size_t colon = text.find(':', at);
    if (colon == std::string::npos || colon == at + 1 || colon > at + 3) continue;
    const std::string length = text.substr(at + 1, colon - at - 1);
    if (length.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::size_t end = colon + 1 + static_cast<std::size_t>(std::stoi(length));
    if (end > text.size()) continue;
    found.push_back(text.substr(0, at) + "n" + std::to_string(number.size()) + ":" + number +
                    text.substr(end));
  }
  return found;
}

/// Whether everything that a program names by a number is there.
bool is_within(const LaunchProgram& program) {
  try {
    return read_launch_program(canonical(program), scope) == program;
  } catch (const UsageError&) {
    return false;
  }
}

TEST(LaunchProgram, NumbersOfWhatIsNotThereAreRefused) {
  const LaunchedKernel kernel{"res", 64};
  const auto launches = [&kernel](std::variant<MemorySlot, Value> argument) {
    LaunchStep step{0, GridKind::items, {Number{7}}, {}};
    step.arguments.push_back(std::move(argument));
    return LaunchProgram{{kernel}, {{Allocate{3, 8, {Number{1}}, false}}, {std::move(step)}}};
  };
  EXPECT_TRUE(is_within(launches(MemorySlot{false, 8})));
  EXPECT_TRUE(is_within(launches(MemorySlot{true, 3})));
  EXPECT_TRUE(is_within(launches(Value{IsThere{8}})));
  EXPECT_TRUE(is_within(launches(Value{StrideOf{6}})));
  EXPECT_TRUE(is_within(launches(Value{Entry{8, 4, {{Variable{"end"}}}}})));
  for (const int wrong : {-1, 9, 1 << 30}) {
    EXPECT_FALSE(is_within(launches(MemorySlot{false, wrong}))) << wrong;
    EXPECT_FALSE(is_within(launches(MemorySlot{true, wrong}))) << wrong;
    EXPECT_FALSE(is_within(launches(Value{IsThere{wrong}}))) << wrong;
    EXPECT_FALSE(is_within(launches(Value{StrideOf{wrong}}))) << wrong;
    EXPECT_FALSE(is_within(launches(Value{Entry{wrong, 4, {{Number{0}}}}}))) << wrong;
    EXPECT_FALSE(is_within({{kernel}, {{LaunchStep{wrong, GridKind::items, {Number{7}}, {}}}}}));
  }
  EXPECT_FALSE(is_within(launches(MemorySlot{true, 2})));
  EXPECT_FALSE(is_within(launches(Value{StrideOf{7}})));
  EXPECT_FALSE(is_within(launches(Value{Variable{"colour"}})));
  EXPECT_FALSE(is_within({{{"res", -1}}, {}}));
  EXPECT_FALSE(is_within({{}, {{Allocate{-1, 8, {Number{1}}, false}}}}));
  EXPECT_FALSE(is_within({{}, {{Allocate{0, -8, {Number{1}}, false}}}}));
  try {
    (void)read_launch_program(canonical(launches(MemorySlot{false, 9})), scope);
    ADD_FAILURE() << "it was read";
  } catch (const UsageError& error) {
    EXPECT_NE(
        std::string(error.what()).find("the number of an argument from 0 to 8 before at byte"),
        std::string::npos)
        << error.what();
  }
}

TEST(LaunchProgram, WhateverANumberBecomesItIsAnErrorOrAProgramOfWhatIsThere) {
  std::size_t n_refused = 0;
  std::size_t n_read = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = canonical(Generator(seed).program());
    for (const std::string number :
         {"-1", "0", "9", "1000", "2147483647", "2147483648", "9223372036854775807",
          "-9223372036854775808", "9223372036854775808", "00", "1e3"}) {
      for (const std::string& damaged : with_other_numbers(text, number)) {
        try {
          const LaunchProgram read = read_launch_program(damaged, scope);
          EXPECT_EQ(canonical(read), damaged);
          (void)asks_for_blocks(read);
          ++n_read;
        } catch (const UsageError&) {
          ++n_refused;
        }
      }
    }
  }
  EXPECT_GT(n_read, 1000U);
  EXPECT_GT(n_refused, 1000U);
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
