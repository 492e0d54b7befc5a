// SPDX-License-Identifier: BSD-3-Clause
#include "base/plan_arrays.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace op2::abi {
namespace {

TEST(PlanArrays, EveryOneIsInTheTable) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(PlanArray::summand); ++i) {
    const ArrayFacts& facts = facts_of(static_cast<PlanArray>(i));
    EXPECT_EQ(static_cast<int>(facts.array), i);
    if (i == 0) continue;
    EXPECT_FALSE(facts.shape.empty() || facts.what.empty() || facts.dtype.empty()) << facts.name;
    names.insert(facts.name);
  }
  EXPECT_GE(names.size(), 20U);
}

}  // namespace
}  // namespace op2::abi
