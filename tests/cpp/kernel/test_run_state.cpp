// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/run_state.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

namespace op2::kernel::run_state {
namespace {

State state_with(std::int64_t value, std::set<std::int64_t> written) {
  State state;
  state.variables["i"] = value;
  state.written = {std::move(written)};
  return state;
}

TEST(RunState, AfterTwoPathsIsWhatBothKnow) {
  State left = state_with(2, {0, 1});
  State right = state_with(3, {1, 2});
  left.constant = {{{0, Constant(std::int64_t{4})}, {1, Constant(std::int64_t{5})}}};
  right.constant = {{{0, Constant(std::int64_t{4})}, {1, Constant(std::int64_t{6})}}};
  left.unset = {"a"};
  right.unset = {"b"};
  const Reached both = joined(left, right);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->written, (Written{{1}}));
  EXPECT_EQ(both->variables.at("i"), Value(Unknown{}));
  EXPECT_EQ(both->constant[0].size(), 1U);
  EXPECT_TRUE(both->constant[0].contains(0));
  EXPECT_EQ(both->unset, (std::set<std::string, std::less<>>{"a", "b"}));
}

TEST(RunState, AfterAPathThatIsNeverTakenIsThatOfTheOther) {
  const Reached only = joined(std::nullopt, state_with(2, {0}));
  ASSERT_TRUE(only.has_value());
  EXPECT_EQ(only->variables.at("i"), Value(std::int64_t{2}));
  EXPECT_FALSE(joined(std::nullopt, std::nullopt).has_value());
}

TEST(RunState, ConstantsAreNumbers) {
  EXPECT_EQ(constant_in(Value(std::int64_t{7})), Constant(std::int64_t{7}));
  EXPECT_EQ(constant_in(Value(Pointed{})), std::nullopt);
  EXPECT_EQ(followed(std::nullopt), Value(Unknown{.is_uniform = true}));
}

}  // namespace
}  // namespace op2::kernel::run_state
